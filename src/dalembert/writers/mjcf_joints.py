"""Joints as MuJoCo has them: several of a body, each a hinge, a slide, a ball, or a free joint."""

from __future__ import annotations

from collections.abc import (
    Container,
    Iterator,
    Mapping,
    Sequence,
)

from dalembert.errors import ReadError
from dalembert.expr import known_zero
from dalembert.model.joints import (
    Free,
    Spherical,
)
from dalembert.model.mechanism import Mechanism
from dalembert.model.numbers import Number
from dalembert.model.parts import Joint
from dalembert.spatial.vectors import AXES
from dalembert.writers.losses import Losses
from dalembert.writers.mjcf_equalities import SoftEqualities
from dalembert.writers.mujoco_inertias import LEAST
from dalembert.writers.numerals import (
    UNLIMITED,
    decimal,
    decimals,
)
from dalembert.writers.single_freedoms import (
    SingleFreedom,
    numbers_of,
    single_freedoms,
)
from dalembert.writers.xml_elements import (
    XmlElement,
    xml_element,
)

Numbers = Mapping[str, Number | None]


class JointElements:
    """Makes the elements of joints; equalities learn of followers. bare: motors whose rotors have
    the least mass and moments, which their armature is less.
    """

    def __init__(
        self,
        mechanism: Mechanism,
        losses: Losses,
        equalities: SoftEqualities,
        bare: Container[str] = (),
    ):
        self.losses = losses
        self.bare = bare
        self.equalities = equalities
        self.rotors: dict[str, Number] = {}  # inertia that actuators reflect to a joint
        for actuator in mechanism.actuators:
            reflected = actuator.gear_ratio * actuator.gear_ratio * actuator.rotor_inertia
            self.rotors[actuator.joint] = self.rotors.get(actuator.joint, 0) + reflected

    def of(self, joint: Joint) -> Iterator[XmlElement]:
        """Elements of a joint, in the order in which they move its child.

        Raises
        ------
        ReadError
            MuJoCo has no such joint.
        """
        if joint.is_fixed:
            return
        if joint.friction is not None:
            self.losses.note("laws of friction of joints", joint.name)
        row = single_freedoms(joint)
        if row is not None:
            for single in row:
                yield from self._single(joint, single)
        elif isinstance(joint.type, (Free, Spherical)):
            yield from self._turns_and_slides(joint)
        else:
            raise ReadError(f"joint {joint.name!r}: MuJoCo has no {joint.type.name} joint.")

    def _single(self, joint: Joint, single: SingleFreedom) -> Iterator[XmlElement]:
        kind = "hinge" if single.turns else "slide"
        axis = decimals(single.axis)
        yield xml_element(
            "joint", name=single.name, type=kind, axis=axis, **self._numbers(joint, single)
        )
        if single.pitch:
            slide = f"{single.name}.slide"
            yield xml_element("joint", name=slide, type="slide", axis=axis)
            self.equalities.follow(slide, single.name, single.pitch, 0)
        if joint.mimic is not None:
            mimic = joint.mimic
            self.equalities.follow(single.name, mimic.joint, mimic.multiplier, mimic.offset)

    def _numbers(self, joint: Joint, single: SingleFreedom) -> dict[str, str]:
        numbers = single.numbers
        texts = _resistance(numbers)
        rotor = _reflected(numbers) + self.rotors.get(joint.name, 0)
        if joint.name in self.bare and rotor > LEAST:
            rotor = rotor - LEAST
        if not known_zero(rotor):
            texts["armature"] = decimal(rotor)
        if not known_zero(numbers["stiffness"]):
            texts["stiffness"] = decimal(numbers["stiffness"])
            texts["springref"] = decimal(numbers["rest"])
        lower, upper = numbers["lower"], numbers["upper"]
        if lower is not None and lower == upper:
            self.losses.note("ranges of length 0 of joints", single.name)
        elif lower is not None or upper is not None:
            least = f"-{UNLIMITED}" if lower is None else decimal(lower)
            texts["range"] = f"{least} {UNLIMITED if upper is None else decimal(upper)}"
        if (effort := numbers["effort"]) is not None:
            if known_zero(effort):
                self.losses.note("limits of effort of 0, of joints", single.name)
            else:
                texts["actuatorfrcrange"] = f"{decimal(-effort)} {decimal(effort)}"
        if numbers["velocity"] is not None:
            self.losses.note("limits of velocity of joints", single.name)
        return texts

    def _turns_and_slides(self, joint: Joint) -> Iterator[XmlElement]:
        """A ball, after slides along the parent's axes where it is free."""
        numbers = [numbers_of(joint, k) for k in range(joint.type.nv)]
        turning, sliding = numbers[:3], numbers[3:]
        if sliding:
            for name, axis in zip(joint.type.coordinates[4:], AXES, strict=True):
                yield xml_element(
                    "joint",
                    name=f"{joint.name}.{name}",
                    type="slide",
                    axis=decimals(axis),
                    **_common(sliding, joint.name, self.losses),
                )
        yield xml_element(
            "joint", name=joint.name, type="ball", **_common(turning, joint.name, self.losses)
        )


def free_joint(joint: Joint, losses: Losses) -> Iterator[XmlElement]:
    """The joint of a body that floats in the world."""
    numbers = [numbers_of(joint, k) for k in range(joint.type.nv)]
    texts = _common(numbers, joint.name, losses)
    if texts:
        yield xml_element("joint", name=joint.name, type="free", **texts)
    else:
        yield xml_element("freejoint", name=joint.name)


def _common(numbers: Sequence[Numbers], name: str, losses: Losses) -> dict[str, str]:
    """Damping and friction that all freedoms have in common."""
    if any(entry != numbers[0] for entry in numbers):
        losses.note("numbers that differ by freedom, of joints", name)
        return {}
    if any(numbers[0][bound] is not None for bound in ("lower", "upper", "velocity", "effort")):
        losses.note("limits of joints", name)
    return _resistance(numbers[0])


def _resistance(numbers: Numbers) -> dict[str, str]:
    names = {"damping": numbers["viscous"], "frictionloss": numbers["coulomb"]}
    return {key: decimal(x) for key, x in names.items() if not known_zero(x)}


def _reflected(numbers: Numbers) -> Number:
    """Inertia of the rotor, seen at the joint."""
    ratio, inertia = numbers["gear_ratio"], numbers["rotor_inertia"]
    return ratio * ratio * inertia  # type: ignore[operator]
