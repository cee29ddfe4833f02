"""Mechanisms as URDF files."""

from __future__ import annotations

from collections.abc import (
    Iterable,
    Iterator,
)
from itertools import count

from dalembert.errors import ReadError
from dalembert.expr import known_zero
from dalembert.model.actuators import Actuator
from dalembert.model.joints import (
    Fixed,
    Free,
    Planar,
)
from dalembert.model.linkage import GRAVITY
from dalembert.model.mechanism import Mechanism
from dalembert.model.numbers import (
    Number,
    as_float,
)
from dalembert.model.origins import Origin
from dalembert.model.parts import (
    Body,
    Frame,
    Joint,
    Mimic,
)
from dalembert.model.visuals import Visual
from dalembert.readers.read_file import MOMENTS
from dalembert.writers.driven_limits import driven_limits
from dalembert.writers.losses import Losses
from dalembert.writers.numerals import (
    UNLIMITED,
    decimal,
    decimals,
    direction,
    roll_pitch_yaw_of,
)
from dalembert.writers.rigid_bodies import rigid
from dalembert.writers.single_freedoms import (
    BOUNDS,
    SingleFreedom,
    numbers_of,
    single_freedoms,
)
from dalembert.writers.xml_elements import (
    XmlElement,
    document,
    xml_element,
)

SIMPLE = "transmission_interface/SimpleTransmission"
DRAKE = "http://drake.mit.edu"
BY_FORCE = "hardware_interface/EffortJointInterface"
Numbers = dict[str, Number | None]


def urdf_text(mechanism: Mechanism, losses: Losses) -> str:
    """The mechanism as URDF; `losses` learns of all that URDF cannot say.

    Joints of URDF's types are written as they are. A cylindrical or universal joint becomes a row
    of two joints with a link without mass between, a helical joint a turn with a slide that follows
    it; coordinates keep their names. Frames become links on fixed joints.

    Raises
    ------
    ReadError
        A joint is spherical, or given by a Python function; a name cannot stand in XML.
    """
    _note_what_is_no_tree(mechanism, losses)
    bare = rigid(mechanism, losses)
    return document(_UrdfWriter(bare, losses).robot())


def _note_what_is_no_tree(mechanism: Mechanism, losses: Losses) -> None:
    if mechanism.constraints:
        names = [constraint.name for constraint in mechanism.constraints]
        kept = "constraints, for which load(..., constraints='FILE.toml') takes a file beside it"
        losses.note(kept, *names)
    if [*map(as_float, mechanism.gravity)] != [*map(as_float, GRAVITY)]:
        gravity = decimals(mechanism.gravity).replace(" ", ", ")
        losses.note(f"gravity, to be set by .replace(gravity=({gravity}))")
    if mechanism.actuated is not None:
        losses.note("which joints are driven", *mechanism.actuated)


class _UrdfWriter:
    """Makes the elements of one file."""

    def __init__(self, mechanism: Mechanism, losses: Losses):
        self.mechanism = mechanism
        self.losses = losses
        self.links = {*mechanism.frame_names}
        self.joints = {joint.name for joint in mechanism.joints}
        self.inner = {joint.child: joint for joint in mechanism.joints}
        self.driven = driven_limits(mechanism)

    def robot(self) -> XmlElement:
        """The whole file; each link stands before the joint that carries it."""
        robot = xml_element("robot", name=self.mechanism.name)
        for body in self.mechanism.bodies:
            robot.children.append(self._link(body))
            if body.name in self.inner:
                robot.extend(self._joint(self.inner[body.name]))
        for frame in self.mechanism.frames:
            robot.extend(self._frame(frame))
        for actuator in self.mechanism.actuators:
            robot.children.append(self._transmission(robot, actuator))
        return robot

    # --- links ---

    def _link(self, body: Body) -> XmlElement:
        link = xml_element("link", name=body.name)
        if any(x != 0 for x in (body.mass, *body.com, *body.inertia)):
            inertial = link.add("inertial")
            inertial.add("origin", xyz=decimals(body.com))
            inertial.add("mass", value=decimal(body.mass))
            moments = dict(zip(MOMENTS, map(decimal, body.inertia), strict=True))
            inertial.add("inertia", **moments)
        for visual in body.visuals:
            self._put_visual(link, body, visual)
        return link

    def _put_visual(self, link: XmlElement, body: Body, visual: Visual) -> None:
        shape = _geometry(visual)
        if shape is None:
            self.losses.note(f"shapes of kind {visual.kind} of bodies", body.name)
            return
        shown = link.add("visual" if visual.seen else "collision")
        shown.extend(_origin(visual.origin))
        shown.add("geometry").children.append(shape)
        if visual.colour is not None and visual.seen:
            shown.add("material", name="").add("color", rgba=decimals(visual.colour))

    def _frame(self, frame: Frame) -> Iterator[XmlElement]:
        yield xml_element("link", name=frame.name)
        name = _unused(frame.name, self.joints, "{}_frame")
        yield from self._fixed(name, frame.body, frame.name, frame.origin)

    def _transmission(self, robot: XmlElement, actuator: Actuator) -> XmlElement:
        """The <transmission> of a motor: its joint, its gear and, in Drake's words, its rotor."""
        made = xml_element("transmission", name=actuator.name)
        made.add("type").text = SIMPLE
        made.add("joint", name=actuator.joint).add("hardwareInterface").text = BY_FORCE
        motor = made.add("actuator", name=actuator.name)
        motor.add("mechanicalReduction").text = decimal(actuator.gear_ratio)
        if not known_zero(actuator.rotor_inertia):
            motor.add("drake:rotor_inertia", value=decimal(actuator.rotor_inertia))
            robot.attributes["xmlns:drake"] = DRAKE
        if actuator.body is not None:
            self.losses.note("bodies that carry rotors of actuators", actuator.name)
        return made

    # --- joints ---

    def _joint(self, joint: Joint) -> Iterator[XmlElement]:
        if isinstance(joint.type, Fixed):
            yield from self._fixed(joint.name, joint.parent, joint.child, joint.origin)
            return
        if isinstance(joint.type, (Free, Planar)):
            yield self._several(joint)
            return
        row = single_freedoms(joint)
        if row is None:
            raise ReadError(
                f"joint {joint.name!r}: URDF has no {joint.type.name} joint. Write .toml, or .xml "
                "(MJCF) where it is spherical."
            )
        yield from self._row(joint, row)

    def _fixed(self, name: str, parent: str, child: str, origin: Origin) -> Iterator[XmlElement]:
        yield _connection(name, "fixed", parent, child, origin)

    def _several(self, joint: Joint) -> XmlElement:
        """A floating or planar joint, whose numbers are the same for all freedoms."""
        kind = "floating" if isinstance(joint.type, Free) else "planar"
        made = _connection(joint.name, kind, joint.parent, joint.child, joint.origin)
        if isinstance(joint.type, Planar):
            made.add("axis", xyz=decimals(direction(joint.type.axis)))
        every = [numbers_of(joint, k) for k in range(joint.type.nv)]
        if any(numbers != every[0] for numbers in every):
            self.losses.note("numbers that differ by freedom, of joints", joint.name)
        elif kind == "planar":
            self._put_numbers(made, joint.name, every[0] | {"lower": None, "upper": None})
            if joint.limits.lower is not None or joint.limits.upper is not None:
                self.losses.note("limits of position of joints", joint.name)
        else:
            self._put_dynamics(made, joint.name, every[0])
        return made

    def _row(self, joint: Joint, row: list[SingleFreedom]) -> Iterator[XmlElement]:
        """Joints of one freedom in a row, with links without mass between them."""
        if joint.friction is not None:
            self.losses.note("laws of friction of joints", joint.name)
        steps = list(_with_slides(row))
        ends = [self._between(joint) for _ in steps[1:]]
        parents = [joint.parent, *ends]
        children = [*ends, joint.child]
        for k, (single, follows) in enumerate(steps):
            origin = joint.origin if k == 0 else Origin()
            mimic = joint.mimic if k == 0 else follows
            if k > 0:
                yield xml_element("link", name=parents[k])
            yield self._single(single, parents[k], children[k], origin, mimic)

    def _between(self, joint: Joint) -> str:
        """An unused name of a link within a joint."""
        return _unused(joint.name, self.links, "{}.between")

    def _single(
        self, single: SingleFreedom, parent: str, child: str, origin: Origin, mimic: Mimic | None
    ) -> XmlElement:
        single = single._replace(numbers=single.numbers | self.driven.get(single.name, {}))
        limited = single.numbers["lower"] is not None or single.numbers["upper"] is not None
        kind = ("revolute" if limited else "continuous") if single.turns else "prismatic"
        made = _connection(single.name, kind, parent, child, origin)
        made.add("axis", xyz=decimals(single.axis))
        self._put_numbers(made, single.name, single.numbers, bounded=kind != "continuous")
        if mimic is not None:
            offset = None if known_zero(mimic.offset) else decimal(mimic.offset)
            factor = decimal(mimic.multiplier)
            made.add("mimic", joint=mimic.joint, multiplier=factor, offset=offset)
        return made

    def _put_numbers(
        self, made: XmlElement, name: str, numbers: Numbers, bounded: bool = False
    ) -> None:
        """Limits, where there are any or the type must have them, and friction."""
        if bounded or any(numbers[bound] is not None for bound in BOUNDS):
            texts = {bound: _bound(numbers[bound]) for bound in BOUNDS}
            if bounded:
                texts["lower"] = texts["lower"].replace(UNLIMITED, f"-{UNLIMITED}")
            else:
                del texts["lower"], texts["upper"]
            made.add("limit", **texts)
        self._put_dynamics(made, name, numbers)

    def _put_dynamics(self, made: XmlElement, name: str, numbers: Numbers) -> None:
        given = {"damping": numbers["viscous"], "friction": numbers["coulomb"]}
        texts = {key: decimal(x) for key, x in given.items() if x is not None and x != 0}
        if texts:
            made.add("dynamics", **texts)
        if numbers["stiffness"]:
            self.losses.note("springs of joints", name)
        if numbers["rotor_inertia"]:
            self.losses.note("inertias of rotors of joints", name)


def _bound(bound: Number | None) -> str:
    return UNLIMITED if bound is None else decimal(bound)


def _with_slides(row: Iterable[SingleFreedom]) -> Iterator[tuple[SingleFreedom, Mimic | None]]:
    """Hinges and slides; after a hinge with a pitch, the slide that follows it."""
    for single in row:
        yield single._replace(pitch=0), None
        if single.pitch:
            slide = f"{single.name}.slide"
            still = dict.fromkeys(single.numbers, 0) | dict.fromkeys(BOUNDS)
            follower = SingleFreedom(slide, False, single.axis, still)
            yield follower, Mimic(single.name, single.pitch)


def _connection(name: str, kind: str, parent: str, child: str, origin: Origin) -> XmlElement:
    made = xml_element("joint", name=name, type=kind)
    made.add("parent", link=parent)
    made.add("child", link=child)
    made.extend(_origin(origin))
    return made


def _origin(origin: Origin) -> Iterator[XmlElement]:
    """The <origin> of a placement, if it is any."""
    angles = roll_pitch_yaw_of(origin)
    turned = any(not known_zero(x) for x in angles)
    if turned or any(not known_zero(x) for x in origin.xyz):
        rpy = decimals(angles) if turned else None
        yield xml_element("origin", xyz=decimals(origin.xyz), rpy=rpy)


def _geometry(visual: Visual) -> XmlElement | None:
    """The shape of a visual; None where URDF has none of its kind."""
    sizes = [decimal(x) for x in visual.sizes]
    if visual.kind == "box":
        return xml_element("box", size=" ".join(sizes))
    if visual.kind == "sphere":
        return xml_element("sphere", radius=sizes[0])
    if visual.kind in ("cylinder", "capsule"):
        return xml_element(visual.kind, radius=sizes[0], length=sizes[1])
    if visual.kind == "mesh":
        scale = " ".join(sizes) if any(x != 1 for x in visual.sizes) else None
        return xml_element("mesh", filename=visual.mesh, scale=scale)
    return None


def _unused(name: str, taken: set[str], pattern: str) -> str:
    """The name, or one after the pattern with a number, that is not taken; it is then."""
    first = pattern.format(name)
    names = (first if k == 1 else f"{first}{k}" for k in count(1))
    chosen = next(candidate for candidate in names if candidate not in taken)
    taken.add(chosen)
    return chosen
