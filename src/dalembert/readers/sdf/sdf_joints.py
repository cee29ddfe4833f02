"""Joints of SDF files: types with their axes, limits, friction and springs."""

from __future__ import annotations

import math
from typing import (
    Any,
    NamedTuple,
)

from dalembert.errors import nearest
from dalembert.expr import known_zero
from dalembert.model.joints import (
    Continuous,
    Fixed,
    Helical,
    JointType,
    Prismatic,
    Revolute,
    Spherical,
    Universal,
)
from dalembert.model.numbers import Number
from dalembert.model.parts import (
    Limits,
    Mimic,
)
from dalembert.readers.sdf.pose_graph import (
    MODEL,
    PoseGraph,
    turned,
)
from dalembert.readers.sdf.sdf_elements import SdfFile
from dalembert.readers.xml import (
    Element,
    quoted,
)

KINDS = (
    "revolute",
    "continuous",
    "prismatic",
    "fixed",
    "ball",
    "universal",
    "revolute2",
    "screw",
    "gearbox",
)
UNLIMITED = 1e16  # SDF's own size of a limit that is none
AXIS_DEFAULT = (0, 0, 1)
PARTS = (
    "parent", "child", "pose", "axis", "axis2", "thread_pitch", "screw_thread_pitch",
    "gearbox_ratio", "gearbox_reference_body",
)  # fmt: skip
OF_AXIS = ("xyz", "limit", "dynamics", "mimic", "use_parent_model_frame", "initial_position")
OF_LIMIT = ("lower", "upper", "effort", "velocity", "stiffness", "dissipation")
OF_DYNAMICS = ("damping", "friction", "spring_reference", "spring_stiffness")


class JointData(NamedTuple):
    """A joint's type and numbers, as `Joint` takes them."""

    type: JointType
    numbers: dict[str, Any]


class SdfJoints:
    """Reads the joints of one model."""

    def __init__(self, file: SdfFile, graph: PoseGraph, version: tuple[int, ...], mimic: str):
        self.file = file
        self.graph = graph
        self.version = version
        self.mimic = mimic

    def kind(self, joint: Element) -> str:
        """The type of a joint by its name.

        Raises
        ------
        ReadError
            SDF has no such type.
        """
        kind = joint.get("type") or ""
        if kind not in KINDS:
            similar = nearest(kind[:60].lower(), KINDS)
            hint = f" Did you mean {similar!r}?" if similar else ""
            owner = f"joint {joint.get('name')!r}"
            raise joint.error(
                f"{owner}: unknown joint type {quoted(kind, 60)} (known: {', '.join(KINDS)}).{hint}"
            )
        return kind

    def data(self, joint: Element) -> JointData:
        """Type and numbers of a joint that is no gearbox."""
        self.file.take(joint, *PARTS)
        kind = self.kind(joint)
        if kind in ("fixed", "ball"):
            return JointData(Fixed() if kind == "fixed" else Spherical(), {})
        first = joint.find("axis")
        axis = self.axis(joint, first)
        if kind in ("universal", "revolute2"):
            second = joint.find("axis2")
            of_both = (self._numbers(joint, part, True) for part in (first, second))
            return JointData(Universal(axis, self.axis(joint, second)), _side_by_side(*of_both))
        numbers = self._numbers(joint, first, kind != "continuous")
        if kind == "screw":
            return JointData(Helical(axis, self._pitch(joint)), numbers)
        types = {"revolute": Revolute, "continuous": Continuous, "prismatic": Prismatic}
        return JointData(types[kind](axis), numbers)

    def axis(self, joint: Element, element: Element | None) -> tuple[Number, ...]:
        """An axis in the joint's frame."""
        owner = f"joint {joint.get('name')!r}"
        if element is None:
            why, fix = "it has no <axis>;", "read as 0 0 1, the default of SDF."
            self.file.remark("warning", owner, why, fix, joint)
            return AXIS_DEFAULT
        self.file.take(element, *OF_AXIS)
        xyz = element.find("xyz")
        if xyz is None:
            return AXIS_DEFAULT
        vector = self.file.numbers(xyz, 3, owner)
        within = xyz.get("expressed_in") or ""
        if not within and self._is_of_model(element):
            within = MODEL
        if not within:
            return vector
        name = joint.get("name") or ""
        return turned(self.graph.place(name), self.graph.place(within), vector)

    def _is_of_model(self, axis: Element) -> bool:
        """Whether an axis of an old file is in the model's axes."""
        return self.version < (1, 5) or self.file.flag(axis, "use_parent_model_frame")

    def _numbers(self, joint: Element, axis: Element | None, bounded: bool) -> dict[str, Any]:
        owner = f"joint {joint.get('name')!r}"
        if axis is None:
            return {}
        numbers: dict[str, Any] = {"limits": self._limits(axis, owner, bounded)}
        dynamics = axis.find("dynamics")
        if dynamics is not None:
            self.file.take(dynamics, *OF_DYNAMICS)
            given = zip(("viscous", "coulomb", "rest", "stiffness"), OF_DYNAMICS, strict=True)
            numbers |= {key: self.file.number(dynamics, tag, 0, owner) for key, tag in given}
        numbers["mimic"] = self._mimic(axis, owner)
        return numbers

    def _limits(self, axis: Element, owner: str, bounded: bool) -> Limits:
        limit = axis.find("limit")
        if limit is None:
            return Limits()
        self.file.take(limit, *OF_LIMIT)
        bounds = [self.file.bound(limit, tag, owner) for tag in OF_LIMIT[:4]]
        lower, upper = (None if x is None or abs(x) >= UNLIMITED else x for x in bounds[:2])
        effort, velocity = (None if x is None or x < 0 or x >= UNLIMITED else x for x in bounds[2:])
        if not bounded:
            lower = upper = None
        if lower is not None and lower == upper:
            why = f"both limits are {lower};"
            self.file.remark("note", owner, why, "read as no limit.", limit)
            lower = upper = None
        return Limits(lower, upper, velocity, effort)

    def _mimic(self, axis: Element, owner: str) -> Mimic | None:
        mimic = axis.find("mimic")
        if mimic is None:
            return None
        leader = mimic.get("joint") or ""
        if self.mimic == "independent":
            why = f"it follows {leader!r};"
            self.file.remark("note", owner, why, "made independent, as asked.", mimic)
            return None
        factor = self.file.number(mimic, "multiplier", 1, owner)
        reference = self.file.number(mimic, "reference", 0, owner)
        offset = self.file.number(mimic, "offset", 0, owner)
        return Mimic(leader, factor, offset - factor * reference)

    def _pitch(self, joint: Element) -> Number:
        """Slide of a screw [m/rad]: of meters a turn, or of the left-handed radians a meter of old
        files.
        """
        owner = f"joint {joint.get('name')!r}"
        if joint.find("screw_thread_pitch") is not None:
            a_turn = self.file.number(joint, "screw_thread_pitch", 1, owner)
            return float(a_turn) / (2 * math.pi)
        old = self.file.number(joint, "thread_pitch", 1, owner)
        if known_zero(old):
            raise joint.error(f"{owner}: <thread_pitch> is 0.")
        return -1 / old


def _side_by_side(first: dict[str, Any], second: dict[str, Any]) -> dict[str, Any]:
    """Numbers of two axes as pairs; limits where both axes have them."""
    names = ("viscous", "coulomb", "rest", "stiffness")
    pairs: dict[str, Any] = {key: (first.get(key, 0), second.get(key, 0)) for key in names}
    limits = (first.get("limits", Limits()), second.get("limits", Limits()))
    bounds = {}
    for name in ("lower", "upper", "velocity", "effort"):
        both = tuple(getattr(limit, name) for limit in limits)
        if None not in both:
            bounds[name] = both
    return pairs | {"limits": Limits(**bounds)}
