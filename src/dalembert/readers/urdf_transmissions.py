"""Actuators of a URDF file: <transmission> elements that drive one joint through a gear.

Files say there what controllers need, and no mechanics but the gear: a transmission that cannot be
read is left out with a note. Drake's elements for the rotor are read too.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import (
    Iterable,
    Iterator,
    Mapping,
)

from dalembert.model.actuators import Actuator
from dalembert.model.numbers import Literal
from dalembert.model.parts import Joint
from dalembert.readers.unread import UnreadContent
from dalembert.readers.xml import Element

SIMPLE = "SimpleTransmission"
RATIO, RATIO_OF_DRAKE = "mechanicalReduction", "drake:gear_ratio"
ROTOR_OF_DRAKE = "drake:rotor_inertia"
ONE, NONE = Literal("1"), Literal("0")
RENAMED = (
    "an actuator with the name of a joint, or of another actuator, has an ending: "
    "NAME.motor, NAME_1."
)
MAX_NAME = 4096  # characters
SHOWN = 60  # characters of the file quoted in a note


class TransmissionFault(Exception):
    """A reason why a transmission is left out."""


class UrdfTransmissions:
    """Reads the transmissions of one robot; notes about them are content that is not read."""

    def __init__(self, joints: Iterable[Joint], unread: UnreadContent):
        self.joints: Mapping[str, Joint] = {joint.name: joint for joint in joints}
        self.unread = unread
        self.names: set[str] = {*self.joints}
        self.repeated: Counter[str] = Counter()

    def read(self, elements: Iterable[Element]) -> Iterator[Actuator]:
        """The actuators of transmissions, in their order."""
        for element in elements:
            try:
                yield self._actuator(element)
            except TransmissionFault as fault:
                self._note(f"a <transmission> is left out: {fault}", element)

    def _note(self, why: str, element: Element) -> None:
        self.unread.lose("actuators", "", element.source, why, "note")

    def _actuator(self, element: Element) -> Actuator:
        kind = _kind(element)
        if SIMPLE not in kind:
            raise TransmissionFault(f"its type is {kind[:SHOWN]!r}, and {SIMPLE} alone is read.")
        motor = _only(element, "actuator")
        joint = self._joint(_only(element, "joint"))
        gear, inertia = _gear(element, motor), _value(motor, ROTOR_OF_DRAKE, NONE)
        if float(gear) == 0:
            raise TransmissionFault(f"its <{RATIO}> is 0.")
        if float(inertia) < 0:
            raise TransmissionFault(f"its <{ROTOR_OF_DRAKE}> is below 0.")
        name = self._unused_name(motor)
        return Actuator(name, joint.name, gear, inertia, source=element.source)

    def _joint(self, element: Element) -> Joint:
        """The joint that a transmission names."""
        name = element.get("name") or ""
        joint = self.joints.get(name)
        if joint is None:
            raise TransmissionFault(f"there is no joint {name[:SHOWN]!r}.")
        if joint.is_fixed or (joint.type.nq, joint.type.nv) != (1, 1):
            raise TransmissionFault(f"joint {name[:SHOWN]!r} is {joint.type.name}.")
        return joint

    def _unused_name(self, motor: Element) -> str:
        """The name of an actuator, or one like it where a joint or another actuator has that name."""
        given = motor.get("name") or ""
        if not given.strip() or len(given) > MAX_NAME:
            raise TransmissionFault("its <actuator> has no name, or a very long one.")
        name = f"{given}.motor" if given in self.joints else given
        if name in self.names:
            self.repeated[name] += 1
            name = f"{name}_{self.repeated[name]}"
        if name in self.names:
            raise TransmissionFault("the name of its <actuator> is used by others.")
        self.names.add(name)
        if name != given:
            self._note(RENAMED, motor)
        return name


def _kind(element: Element) -> str:
    """Type of a transmission, in any of the ways to say it."""
    for tag in ("type", "plugin"):
        if (child := element.find(tag)) is not None and child.text:
            return child.text.strip()
    return (element.get("type") or SIMPLE).strip()


def _only(element: Element, tag: str) -> Element:
    """The only child of a tag."""
    children = element.all(tag)
    if len(children) != 1:
        raise TransmissionFault(f"it has {len(children)} <{tag}>, expected one.")
    return children[0]


def _gear(element: Element, motor: Element) -> Literal:
    """Turns of the motor per turn of the joint: Drake's, or the reduction of the actuator, of the
    joint, of the whole.
    """
    reduction = ONE
    for owner in (element, _only(element, "joint"), motor):
        reduction = _value(owner, RATIO, reduction)
    return _value(motor, RATIO_OF_DRAKE, reduction)


def _value(owner: Element, tag: str, default: Literal) -> Literal:
    """The number that a child of a tag has as its attribute `value`, or as its text."""
    child = owner.find(tag)
    if child is None:
        return default
    text = (child.get("value") or child.text).strip()
    try:
        value = Literal(text)
    except ValueError:
        raise TransmissionFault(f"its <{tag}> is {text[:SHOWN]!r}, no number.") from None
    if not math.isfinite(value):
        raise TransmissionFault(f"its <{tag}> is {text[:SHOWN]!r}, not finite.")
    return value
