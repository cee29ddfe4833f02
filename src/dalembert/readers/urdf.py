"""URDF robot files to mechanisms. The file is hostile input: nothing of it is evaluated, no other
file is opened.
"""

from __future__ import annotations

import re
import sys
from dataclasses import dataclass, field
from typing import Any, NoReturn

from dalembert.errors import ModelError, ReadError, nearest
from dalembert.model.findings import Finding, listed
from dalembert.model.joints import (
    Continuous,
    Fixed,
    Free,
    JointType,
    Planar,
    Prismatic,
    Revolute,
    Spherical,
)
from dalembert.model.linkage import GRAVITY
from dalembert.model.mechanism import Mechanism
from dalembert.model.numbers import Literal, Number
from dalembert.model.origins import Origin, Source
from dalembert.model.parts import Body, Joint, Limits, Mimic
from dalembert.model.units import beyond_a_turn, degrees_finding
from dalembert.model.validation import MAX_LINKS
from dalembert.readers.formats import ReadingOptions
from dalembert.readers.noise import Zeroed, noise_finding, without_noise
from dalembert.readers.unread import MAX_HINTS, MOMENTS, Unread, near
from dalembert.readers.urdf_transmissions import UrdfTransmissions
from dalembert.readers.urdf_visuals import UrdfVisuals
from dalembert.readers.xml import Element, parsed
from dalembert.spatial.angles import SNAP, snapped
from dalembert.spatial.rotations import Rotation
from dalembert.spatial.vectors import Matrix

MAX_ATTRIBUTE = 4096  # characters; the longest names and numbers known to us have 100
JOINT_KINDS: dict[str, type[JointType]] = {
    "fixed": Fixed,
    "revolute": Revolute,
    "continuous": Continuous,
    "prismatic": Prismatic,
    "planar": Planar,
    "floating": Free,
}
BEYOND_URDF: dict[str, type[JointType]] = {"spherical": Spherical}
AXIS_DEFAULT = (1, 0, 0)
UNLIMITED = sys.float_info.max  # a limit of this size says that there is none
XACRO = re.compile(r"\$(\{|\(|\\?\{)")  # arithmetic or a command of xacro in an attribute
EXPAND = "this is a source of xacro. Run `xacro FILE > robot.urdf` and load that."


def read(data: bytes, file: str, options: ReadingOptions) -> Mechanism:
    """Mechanism of a URDF file; see `formats.Reader`."""
    return read_urdf(
        data,
        file,
        encoding=options.encoding,
        mimic=options.mimic,
        exact_angles=options.exact_angles,
        angle_tolerance=options.angle_tolerance,
    )


def read_urdf(
    data: bytes,
    file: str = "",
    *,
    encoding: str | None = None,
    mimic: str = "exact",
    exact_angles: bool = True,
    angle_tolerance: float = SNAP,
) -> Mechanism:
    """Mechanism of a URDF file.

    Parameters
    ----------
    data : bytes
        The file. Its own declaration, or `encoding`, decides how it is decoded.
    file : str
        Name for messages.
    mimic : {'exact', 'independent'}
        Followers are reduced exactly, or become joints of their own.
    exact_angles : bool
        Angles within `angle_tolerance` of a multiple of pi/12 are read as that multiple, rounding
        noise as 0.
    angle_tolerance : float
        [rad]; a non-zero multiple of pi/12 may be as far away; 0 counts within 1e-9 rad.

    Raises
    ------
    ReadError, ModelError
        The file is not a sound URDF; line and fix are named.
    """
    robot, remarks, prefixed = parsed(data, file, encoding)
    if robot.tag != "robot":
        raise ReadError(
            f"the root element is <{robot.tag[:60]}>, expected <robot>.", file, robot.line
        )
    _refuse_xacro(robot, prefixed, file)
    return _Reader(file, angle_tolerance if exact_angles else None, mimic, remarks).mechanism(robot)


def _refuse_xacro(robot: Element, prefixed: dict[str, int], file: str) -> None:
    """Error for elements that only xacro knows: they stand for others."""
    prefixes = {"xacro"} | {
        name.partition(":")[2]
        for name, space in robot.attributes.items()
        if name.startswith("xmlns:") and space.rstrip("/").endswith("xacro")
    }
    for tag, line in prefixed.items():
        prefix, _, name = tag.partition(":")
        if prefix in prefixes:
            raise ReadError(f"<xacro:{name[:60]}> is not expanded: {EXPAND}", file, line)


@dataclass
class _Reader:
    """Collects parts and remarks of one file."""

    file: str
    tolerance: float | None  # of angles; None: numbers as they are
    mimic: str
    remarks: list[Finding]
    unread: Unread = field(init=False)
    visuals: UrdfVisuals = field(init=False)
    angles: list[tuple[float, int]] = field(default_factory=list)  # difference [rad], line
    zeroed: list[Zeroed] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.unread = Unread(self.file)

    def mechanism(self, robot: Element) -> Mechanism:
        """The mechanism of a <robot>."""
        links = self._all(robot, "link")
        connections = self._all(robot, "joint")
        if not links:
            self._fail(f"the robot has no <link>.{_meant(robot, 'link')}", robot)
        if not (robot.get("name") or "").strip():
            self._remark("note", "<robot>", "it has no name;", "called 'robot'.", robot)
        self.visuals = UrdfVisuals(robot, self.file)
        self.unread.note(robot, "robot")
        bodies = [self._body(link) for link in links]
        joints = [self._joint(connection) for connection in connections]
        if self.tolerance is not None:
            bodies, joints, zeroed = without_noise(bodies, joints)
            self.zeroed += zeroed
        transmissions = UrdfTransmissions(joints, self.file)
        actuators = tuple(transmissions.read(self._all(robot, "transmission")))
        self._summarise()
        self.remarks += transmissions.findings()
        try:
            return Mechanism(
                robot.get("name") or "robot",
                tuple(bodies),
                tuple(joints),
                gravity=GRAVITY,
                file=self.file,
                remarks=tuple(self.remarks),
                actuators=actuators,
            )
        except ModelError as error:
            # errors about content that was not read may name the cause
            findings = [*error.findings, *(f for f in self.remarks if f.severity == "error")]
            raise ModelError(listed(findings), tuple(findings)) from None

    def _all(self, robot: Element, tag: str) -> list[Element]:
        """Elements of a tag; at most MAX_LINKS, which bounds the time of all that follows."""
        elements = robot.all(tag)
        if len(elements) > MAX_LINKS:
            self._fail(
                f"{len(elements)} {tag}s, the limit MAX_LINKS is {MAX_LINKS}.", elements[MAX_LINKS]
            )
        return elements

    # --- links ---

    def _body(self, element: Element) -> Body:
        name = self._name(element)
        source = self._source(element)
        owner = f"link {name!r}"
        self.unread.note(element, owner)
        inertial = element.find("inertial")
        visuals = self.visuals.of(element)
        if inertial is None:
            return Body(name, source=source, visuals=visuals)
        xyz, turns = self._pose(inertial.find("origin"), owner)
        if (angle := beyond_a_turn(angle for _, angle in turns)) is not None:
            self.remarks.append(
                degrees_finding(
                    owner, "the origin of its inertia turns by", angle, self._source(inertial)
                )
            )
        mass = self._mass(inertial, owner)
        tensor = self._tensor(inertial, owner)
        if turns:
            rotation = Origin((0, 0, 0), turns).transform(_plain).R
            tensor = _rotated(rotation, tensor)
        return Body(name, mass, xyz, tensor, source, visuals=visuals)

    def _mass(self, inertial: Element, owner: str) -> Number:
        element = inertial.find("mass")
        if element is None:
            self._remark(
                "error",
                owner,
                f"it has no <mass>;{_meant(inertial, 'mass')}",
                "taken as 0.",
                inertial,
            )
            return 0
        return self._number(element, "value", where=owner)

    def _tensor(self, inertial: Element, owner: str) -> tuple[Number, ...]:
        element = inertial.find("inertia")
        if element is None:
            self._remark(
                "error",
                owner,
                f"it has no <inertia>;{_meant(inertial, 'inertia')}",
                "its moments are taken as 0.",
                inertial,
            )
            return (0,) * 6
        missing = [m for m in MOMENTS if element.get(m) is None]
        if missing:
            severity = "error" if {"ixx", "iyy", "izz"} & {*missing} else "warning"
            self._remark(
                severity, owner, f"<inertia> lacks {', '.join(missing)};", "taken as 0.", element
            )
        return tuple(self._number(element, m, 0, owner) for m in MOMENTS)

    # --- joints ---

    def _joint(self, element: Element) -> Joint:
        name = self._name(element)
        source = self._source(element)
        owner = f"joint {name!r}"
        self.unread.note(element, owner)
        joint_class = self._joint_class(element, owner)
        parent, child = (
            self._required(self._child(element, role, owner), "link", owner)
            for role in ("parent", "child")
        )
        has_axis = "axis" in joint_class.parameters
        axis = self._axis(element, owner, has_axis)
        joint_type = joint_class(axis) if has_axis else joint_class()  # type: ignore[call-arg]
        xyz, turns = self._pose(element.find("origin"), owner)
        viscous, coulomb = self._friction(element, joint_type, owner)
        return Joint(
            name,
            joint_type,
            parent,
            child,
            Origin(xyz, turns),
            self._limits(element, joint_type, owner),
            viscous=viscous,
            coulomb=coulomb,
            mimic=self._mimic(element, joint_type, owner),
            source=source,
        )

    def _joint_class(self, element: Element, owner: str) -> type[JointType]:
        type_name = self._required(element, "type", owner)
        if type_name in BEYOND_URDF:
            why = f"URDF has no {type_name} joints, but Bullet and MuJoCo read them;"
            self._remark("note", owner, why, "so does this reader.", element)
            return BEYOND_URDF[type_name]
        if type_name not in JOINT_KINDS:
            similar = nearest(type_name[:60].lower(), JOINT_KINDS)
            hint = f" Did you mean {similar!r}?" if similar else ""
            self._fail(
                f"{owner}: unknown joint type {_short(type_name)} "
                f"(known: {', '.join(JOINT_KINDS)}).{hint}",
                element,
            )
        return JOINT_KINDS[type_name]

    def _axis(self, element: Element, owner: str, needed: bool) -> tuple[Number, ...]:
        axis = element.find("axis")
        if not needed:  # exporters write zero axes on fixed joints: never looked at
            self.unread.note_vain(element, "axis")
            return AXIS_DEFAULT
        if axis is None:
            self._remark(
                "note",
                owner,
                "it has no <axis>;",
                "read as (1, 0, 0), the default of URDF.",
                element,
            )
            return AXIS_DEFAULT
        return self._vector(axis, "xyz", f"axis of {owner}")

    def _friction(
        self, element: Element, joint_type: JointType, owner: str
    ) -> tuple[Number, Number]:
        dynamics = element.find("dynamics")
        if dynamics is None or not joint_type.nv:
            self.unread.note_vain(element, "dynamics")
            return 0, 0
        viscous = self._number(dynamics, "damping", 0, owner)
        coulomb = self._number(dynamics, "friction", 0, owner)
        return viscous, coulomb

    def _limits(self, element: Element, joint_type: JointType, owner: str) -> Limits:
        if not joint_type.nv or joint_type.nq != joint_type.nv:
            self.unread.note_vain(element, "limit")
            return Limits()
        limit = element.find("limit")
        bounded = joint_type.name in ("revolute", "prismatic")
        if limit is None:
            if bounded:
                self._remark(
                    "warning", owner, "it has no <limit>;", "it is read without limits.", element
                )
            return Limits()

        def bound(attribute: str) -> tuple[Number, ...] | None:
            """A limit of every freedom; None if it is not given."""
            if limit.get(attribute) is None:
                return None
            value = self._number(limit, attribute, where=owner)
            return None if abs(float(value)) == UNLIMITED else (value,) * joint_type.nv

        lower, upper, velocity, effort = map(bound, ("lower", "upper", "velocity", "effort"))
        if bounded:
            self._missing("warning", limit, owner, "lower", "upper")
        elif lower or upper:
            self.unread.note_vain(element, "limit", " with lower or upper")
            lower = upper = None
        self._missing("note", limit, owner, "velocity", "effort")
        # a range of length 0, mostly of two zeros, would fix the joint
        if lower is not None and lower == upper:
            self._remark("note", owner, f"both limits are {lower[0]};", "read as no limit.", limit)
            lower = upper = None
        return Limits(lower, upper, velocity, effort)

    def _missing(self, severity: str, limit: Element, owner: str, *bounds: str) -> None:
        """Remark on the bounds of a <limit> that are not there."""
        if missing := " and ".join(name for name in bounds if limit.get(name) is None):
            self._remark(
                severity, owner, f"its <limit> has no {missing};", "read as no limit there.", limit
            )

    def _mimic(self, element: Element, joint_type: JointType, owner: str) -> Mimic | None:
        mimic = element.find("mimic")
        if mimic is None:
            return None
        leader = self._required(mimic, "joint", owner)
        if not joint_type.nv:
            self._remark(
                "warning",
                owner,
                f"it is fixed and is to follow {leader!r};",
                "its <mimic> is not used.",
                mimic,
            )
            return None
        if self.mimic == "independent":
            self._remark(
                "note", owner, f"it follows {leader!r};", "made independent, as asked.", mimic
            )
            return None
        self._remark(
            "note",
            owner,
            f"it follows {leader!r}:",
            "reduced exactly, it has no entry in q.",
            mimic,
        )
        return Mimic(
            leader,
            self._number(mimic, "multiplier", 1, owner),
            self._number(mimic, "offset", 0, owner),
        )

    # --- numbers, attributes, places ---

    def _name(self, element: Element) -> str:
        name = self._required(element, "name")
        if XACRO.search(name):
            self._remark(
                "warning",
                f"{element.tag} {_short(name)}",
                "its name has arithmetic or a command of xacro,",
                f"which is not expanded: {EXPAND}",
                element,
            )
        return name

    def _pose(
        self, element: Element | None, owner: str
    ) -> tuple[tuple[Number, ...], tuple[tuple[str, Number], ...]]:
        if element is None:
            return (0, 0, 0), ()
        xyz, angles = (
            self._vector(element, a, f"origin of {owner}")
            if element.get(a) is not None
            else (0, 0, 0)
            for a in ("xyz", "rpy")
        )
        roll, pitch, yaw = (self._angle(a, element.line, owner) for a in angles)
        return xyz, Origin.rpy(xyz, roll, pitch, yaw).rotations

    def _angle(self, angle: Number, line: int, owner: str) -> Number:
        if self.tolerance is None or angle == 0:
            return angle
        if abs(angle) <= SNAP:
            self.zeroed.append(Zeroed(float(angle), f"{owner}, rpy", Source(self.file, line)))
            return 0
        multiple = snapped(float(angle), self.tolerance)
        if multiple is None:
            return angle
        self.angles.append((float(angle) - float(multiple), line))
        return multiple

    def _vector(self, element: Element, attribute: str, owner: str) -> tuple[Number, ...]:
        text = self._required(element, attribute, owner)
        numbers = text.split()
        if len(numbers) != 3:
            self._refuse_expression(text, element, attribute, owner)
            count = (
                "commas"
                if "," in text
                else f"{len(numbers)} number{'' if len(numbers) == 1 else 's'}"
            )
            self._fail(
                f"{owner}: {attribute}={_short(text)} has {count}, expected 3 numbers separated by "
                "spaces.",
                element,
            )
        return tuple(self._literal(p, element, attribute, owner) for p in numbers)

    def _number(
        self, element: Element, attribute: str, default: Number | None = None, where: str = ""
    ) -> Number:
        if element.get(attribute) is None and default is not None:
            return default
        return self._literal(
            self._required(element, attribute, where).strip(), element, attribute, where
        )

    def _literal(self, text: str, element: Element, attribute: str, where: str) -> Literal:
        try:
            return Literal(text)
        except ValueError as error:
            self._refuse_expression(text, element, attribute, where)
            hint = (
                ". Separate numbers by spaces, and write decimals with a point"
                if "," in text
                else ""
            )
            self._fail(f"{where}: <{element.tag}> {attribute}: {error}{hint}.", element)

    def _refuse_expression(self, text: str, element: Element, attribute: str, where: str) -> None:
        if XACRO.search(text):
            self._fail(
                f"{where}: <{element.tag}> {attribute}={_short(text)} is not expanded: {EXPAND}",
                element,
            )

    def _child(self, element: Element, tag: str, owner: str) -> Element:
        child = element.find(tag)
        if child is None:
            self._fail(f"{owner} has no <{tag} link=...>.{_meant(element, tag)}", element)
        return child

    def _required(self, element: Element, attribute: str, where: str = "") -> str:
        value = element.get(attribute)
        of = f"{where}: " if where else ""
        if value is None:
            similar = next(
                (a for a in list(element.attributes)[:MAX_HINTS] if near(a, (attribute,))), None
            )
            meant = f" Did you mean it by {similar!r}?" if similar else ""
            text = element.text[:60]
            written = (
                f' It has the text {text!r}; write <{element.tag} {attribute}="..."/>.'
                if text
                else ""
            )
            self._fail(
                f"{of}<{element.tag}> has no attribute {attribute!r}.{meant}{written}", element
            )
        if not value.strip():
            self._fail(f"{of}<{element.tag}> has an empty attribute {attribute!r}.", element)
        if len(value) > MAX_ATTRIBUTE:
            self._fail(
                f"{of}<{element.tag} {attribute}> has {len(value)} characters, the limit "
                f"MAX_ATTRIBUTE is {MAX_ATTRIBUTE}.",
                element,
            )
        return value

    def _source(self, element: Element) -> Source:
        return Source(self.file, element.line)

    def _fail(self, message: str, element: Element) -> NoReturn:
        raise ReadError(message, self.file, element.line)

    # --- what is said about the file ---

    def _remark(self, severity: str, owner: str, why: str, fix: str, element: Element) -> None:
        self.remarks.append(Finding(severity, owner, why, fix, self._source(element)))

    def _summarise(self) -> None:
        """Findings for all that is not read, for shapes that are left out, for all angles read as
        multiples of pi, for all noise read as 0.
        """
        self.remarks += self.unread.findings()
        self.remarks += self.visuals.findings()
        if self.angles:
            worst, line = max(self.angles, key=lambda angle: abs(angle[0]))
            why = f"read as exact multiples of pi/12; the largest difference is {worst:.2g} rad."
            self.remarks.append(
                Finding(
                    "note",
                    f"{len(self.angles)} angle{'s' * (len(self.angles) != 1)}",
                    why,
                    "exact_angles=False keeps the decimals.",
                    Source(self.file, line),
                )
            )
        if self.zeroed:
            self.remarks.append(noise_finding(self.zeroed))


def _meant(parent: Element, tag: str) -> str:
    """A hint at a child whose tag is like the one that is missing."""
    first: dict[str, Element] = {}
    for child in parent:
        first.setdefault(child.tag, child)
    similar = next(
        (child for child in list(first.values())[:MAX_HINTS] if near(child.tag, (tag,))), None
    )
    return f" Did you mean it by <{similar.tag[:60]}> in line {similar.line}?" if similar else ""


def _short(text: str | None) -> str:
    """An attribute as shown in messages."""
    text = text or ""
    return repr(text if len(text) <= 60 else text[:57] + "...")


def _plain(x: Any) -> Any:
    return x


def _rotated(rotation: Rotation, tensor: tuple[Number, ...]) -> tuple[Number, ...]:
    """R I R^T: the inertia tensor in the link's axes; the centre of mass is not turned."""
    I = rotation.conjugate_symmetric(Matrix.symmetric(*tensor))
    return I[0][0], I[0][1], I[1][1], I[0][2], I[1][2], I[2][2]
