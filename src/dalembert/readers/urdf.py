"""URDF robot files to mechanisms. The file is hostile input: nothing of it is evaluated, no other
file is opened.
"""

from __future__ import annotations

import sys

from dalembert.errors import nearest
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
from dalembert.model.numbers import Number
from dalembert.model.parts import Body, Joint, Limits, Mimic
from dalembert.model.units import beyond_a_turn, degrees_finding
from dalembert.readers.formats import ReadingOptions
from dalembert.readers.read_faults import ReadFaults
from dalembert.readers.read_file import (
    MOMENTS,
    causes_named,
    limited,
    turned_tensor,
)
from dalembert.readers.urdf_content import UrdfContent
from dalembert.readers.urdf_elements import (
    UrdfFile,
    end_of,
    meant,
    number,
    required,
    vector,
)
from dalembert.readers.urdf_transmissions import UrdfTransmissions
from dalembert.readers.urdf_visuals import UrdfVisuals
from dalembert.readers.xacro import refuse_xacro
from dalembert.readers.xml import Element, parsed, quoted
from dalembert.spatial.angles import SNAP

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
    document = parsed(data, file, encoding)
    robot = document.root
    if robot.tag != "robot":
        raise robot.error(
            f"the root element is <{robot.tag[:60]}>, expected <robot> of URDF, <mujoco> of MJCF, "
            "or <sdf>."
        )
    refuse_xacro(document, file)
    read_file = UrdfFile(file, angle_tolerance if exact_angles else None, document.remarks)
    return _Reader(read_file, mimic).mechanism(robot)


class _Reader:
    """Collects parts and remarks of one file."""

    def __init__(self, file: UrdfFile, mimic: str):
        self.file = file
        self.mimic = mimic
        self.content = UrdfContent(file.unread)

    def mechanism(self, robot: Element) -> Mechanism:
        """The mechanism of a <robot>."""
        links = limited(robot, "link")
        connections = limited(robot, "joint")
        if not links:
            raise robot.error(f"the robot has no <link>.{meant(robot, 'link')}")
        if not (robot.get("name") or "").strip():
            self.file.remark("note", "<robot>", "it has no name;", "called 'robot'.", robot)
        self.visuals = UrdfVisuals(robot, self.file.unread)
        self.content.note(robot, "robot")
        faults = ReadFaults()
        bodies = faults.each(self._body, links)
        joints = faults.each(self._joint, connections)
        faults.tell(bodies)
        bodies, joints = self.file.without_noise(bodies, joints)
        transmissions = UrdfTransmissions(joints, self.file.unread)
        actuators = tuple(transmissions.read(limited(robot, "transmission")))
        remarks = tuple(self.file.findings())
        with causes_named(remarks):
            return Mechanism(
                robot.get("name") or "robot",
                tuple(bodies),
                tuple(joints),
                gravity=GRAVITY,
                file=self.file.name,
                remarks=remarks,
                actuators=actuators,
            )

    # --- links ---

    def _body(self, element: Element) -> Body:
        name = self.file.identifier(element)
        source = element.source
        owner = f"link {name!r}"
        self.content.note(element, owner)
        inertial = element.find("inertial")
        visuals = self.visuals.of(element)
        if inertial is None:
            return Body(name, source=source, visuals=visuals)
        origin = self.file.pose(inertial.find("origin"), owner)
        if (angle := beyond_a_turn(angle for _, angle in origin.rotations)) is not None:
            why = "the origin of its inertia turns by"
            self.file.remarks.append(degrees_finding(owner, why, angle, inertial.source))
        mass = self._mass(inertial, owner)
        tensor = turned_tensor(self._tensor(inertial, owner), origin)
        return Body(name, mass, origin.xyz, tensor, source, visuals=visuals)

    def _mass(self, inertial: Element, owner: str) -> Number:
        element = inertial.find("mass")
        if element is None:
            self.file.remark(
                "error",
                owner,
                f"it has no <mass>;{meant(inertial, 'mass')}",
                "taken as 0.",
                inertial,
            )
            return 0
        return number(element, "value", where=owner)

    def _tensor(self, inertial: Element, owner: str) -> tuple[Number, ...]:
        element = inertial.find("inertia")
        if element is None:
            self.file.remark(
                "error",
                owner,
                f"it has no <inertia>;{meant(inertial, 'inertia')}",
                "its moments are taken as 0.",
                inertial,
            )
            return (0,) * 6
        missing = [m for m in MOMENTS if element.get(m) is None]
        if missing:
            severity = "error" if {"ixx", "iyy", "izz"} & {*missing} else "warning"
            self.file.remark(
                severity, owner, f"<inertia> lacks {', '.join(missing)};", "taken as 0.", element
            )
        return tuple(number(element, m, 0, owner) for m in MOMENTS)

    # --- joints ---

    def _joint(self, element: Element) -> Joint:
        name = self.file.identifier(element)
        source = element.source
        owner = f"joint {name!r}"
        self.content.note(element, owner)
        joint_class = self._joint_class(element, owner)
        parent, child = (end_of(element, role, owner) for role in ("parent", "child"))
        has_axis = "axis" in joint_class.parameters
        axis = self._axis(element, owner, has_axis)
        joint_type = joint_class(axis) if has_axis else joint_class()  # type: ignore[call-arg]
        origin = self.file.pose(element.find("origin"), owner)
        viscous, coulomb = self._friction(element, joint_type, owner)
        return Joint(
            name,
            joint_type,
            parent,
            child,
            origin,
            self._limits(element, joint_type, owner),
            viscous=viscous,
            coulomb=coulomb,
            mimic=self._mimic(element, joint_type, owner),
            source=source,
        )

    def _joint_class(self, element: Element, owner: str) -> type[JointType]:
        type_name = required(element, "type", owner)
        if type_name in BEYOND_URDF:
            why = f"URDF has no {type_name} joints, but Bullet and MuJoCo read them;"
            self.file.remark("note", owner, why, "so does this reader.", element)
            return BEYOND_URDF[type_name]
        if type_name not in JOINT_KINDS:
            similar = nearest(type_name[:60].lower(), JOINT_KINDS)
            hint = f" Did you mean {similar!r}?" if similar else ""
            raise element.error(
                f"{owner}: unknown joint type {quoted(type_name, 60)} "
                f"(known: {', '.join(JOINT_KINDS)}).{hint}"
            )
        return JOINT_KINDS[type_name]

    def _axis(self, element: Element, owner: str, needed: bool) -> tuple[Number, ...]:
        axis = element.find("axis")
        if not needed:  # exporters write zero axes on fixed joints: never looked at
            self.content.note_vain(element, "axis")
            return AXIS_DEFAULT
        if axis is None:
            self.file.remark(
                "note",
                owner,
                "it has no <axis>;",
                "read as (1, 0, 0), the default of URDF.",
                element,
            )
            return AXIS_DEFAULT
        return vector(axis, "xyz", f"axis of {owner}")

    def _friction(
        self, element: Element, joint_type: JointType, owner: str
    ) -> tuple[Number, Number]:
        dynamics = element.find("dynamics")
        if dynamics is None or not joint_type.nv:
            self.content.note_vain(element, "dynamics")
            return 0, 0
        viscous = number(dynamics, "damping", 0, owner)
        coulomb = number(dynamics, "friction", 0, owner)
        return viscous, coulomb

    def _limits(self, element: Element, joint_type: JointType, owner: str) -> Limits:
        if not joint_type.nv or joint_type.nq != joint_type.nv:
            self.content.note_vain(element, "limit")
            return Limits()
        limit = element.find("limit")
        bounded = joint_type.name in ("revolute", "prismatic")
        if limit is None:
            if bounded:
                self.file.remark(
                    "warning", owner, "it has no <limit>;", "it is read without limits.", element
                )
            return Limits()

        def bound(attribute: str) -> tuple[Number, ...] | None:
            """A limit of every freedom; None if it is not given."""
            if limit.get(attribute) is None:
                return None
            value = number(limit, attribute, where=owner)
            return None if abs(float(value)) == UNLIMITED else (value,) * joint_type.nv

        lower, upper, velocity, effort = map(bound, ("lower", "upper", "velocity", "effort"))
        if bounded:
            self._missing("warning", limit, owner, "lower", "upper")
        elif lower or upper:
            self.content.note_vain(element, "limit", " with lower or upper")
            lower = upper = None
        self._missing("note", limit, owner, "velocity", "effort")
        # a range of length 0, mostly of two zeros, would fix the joint
        if lower is not None and lower == upper:
            self.file.remark(
                "note", owner, f"both limits are {lower[0]};", "read as no limit.", limit
            )
            lower = upper = None
        return Limits(lower, upper, velocity, effort)

    def _missing(self, severity: str, limit: Element, owner: str, *bounds: str) -> None:
        """Remark on the bounds of a <limit> that are not there."""
        if missing := " and ".join(name for name in bounds if limit.get(name) is None):
            self.file.remark(
                severity, owner, f"its <limit> has no {missing};", "read as no limit there.", limit
            )

    def _mimic(self, element: Element, joint_type: JointType, owner: str) -> Mimic | None:
        mimic = element.find("mimic")
        if mimic is None:
            return None
        leader = required(mimic, "joint", owner)
        if not joint_type.nv:
            self.file.remark(
                "warning",
                owner,
                f"it is fixed and is to follow {leader!r};",
                "its <mimic> is not used.",
                mimic,
            )
            return None
        if self.mimic == "independent":
            self.file.remark(
                "note", owner, f"it follows {leader!r};", "made independent, as asked.", mimic
            )
            return None
        fix = "reduced exactly, it has no entry in q."
        limit = element.find("limit")
        if limit is not None and limit.get("effort") is not None:
            fix += " Its limit of effort bounds no drive, which is that of its leader."
        self.file.remark("note", owner, f"it follows {leader!r}:", fix, mimic)
        return Mimic(
            leader,
            number(mimic, "multiplier", 1, owner),
            number(mimic, "offset", 0, owner),
        )
