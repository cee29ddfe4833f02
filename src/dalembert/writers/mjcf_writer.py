"""Mechanisms as MJCF files, the format of MuJoCo."""

from __future__ import annotations

from dalembert.errors import ReadError
from dalembert.expr import known_zero
from dalembert.model.actuators import Actuator
from dalembert.model.joints import (
    Free,
)
from dalembert.model.mechanism import Mechanism
from dalembert.model.origins import Origin
from dalembert.model.parts import (
    Body,
    Joint,
)
from dalembert.writers.losses import Losses
from dalembert.writers.merged_bodies import (
    GivenJoint,
    Nesting,
    WeldGroups,
    in_axes_of,
)
from dalembert.writers.mjcf_equalities import SoftEqualities
from dalembert.writers.mjcf_joints import (
    JointElements,
    free_joint,
)
from dalembert.writers.mjcf_meshes import WrittenMeshes
from dalembert.writers.mjcf_shapes import geom_of
from dalembert.writers.mujoco_inertias import (
    LEAST_MASS,
    inertial,
    is_massless,
    is_refused,
    is_too_light,
)
from dalembert.writers.numerals import (
    decimal,
    decimals,
    quaternion_text,
)
from dalembert.writers.rigid_bodies import rigid
from dalembert.writers.spring_tendons import (
    bare_motors,
    put_springs,
    with_least_rotors,
)
from dalembert.writers.xml_elements import (
    XmlElement,
    document,
    xml_element,
)

WORLD = "world"  # the body of MuJoCo that does not move
MAX_LISTED = 3  # bodies named in an error


def mjcf_text(mechanism: Mechanism, losses: Losses) -> str:
    """The mechanism as MJCF; `losses` learns of all that MuJoCo cannot say, or says softly.

    Joints of several freedoms become several joints of a body, and so do those of bodies without
    mass, which MuJoCo refuses. Coordinates keep their names. Frames become sites; rotors armature;
    springs of flexible drives fixed tendons; followers, and constraints that MuJoCo has, become its
    soft equalities.

    Raises
    ------
    ReadError
        A joint is given by a Python function; a body that moves has an inertia that MuJoCo refuses;
        a name cannot stand in XML.
    """
    return document(_MjcfWriter(mechanism, losses).file())


class _MjcfWriter:
    """Makes the elements of one file."""

    def __init__(self, mechanism: Mechanism, losses: Losses):
        self.given = mechanism
        whole = rigid(mechanism, losses) if mechanism.elastic_bodies else mechanism
        motors = bare_motors(whole)
        self.mechanism = with_least_rotors(whole, motors) if motors else whole
        self.losses = losses
        self.groups = WeldGroups(self.mechanism)
        self.nestings: dict[str, Nesting] = {}
        self.world = xml_element("worldbody")
        self.meshes = WrittenMeshes(mechanism.file)
        self.equalities = SoftEqualities(losses)
        bare = frozenset(motors.values())
        self.joints = JointElements(self.mechanism, losses, self.equalities, bare)

    def file(self) -> XmlElement:
        """The whole file."""
        self._check_inertias()
        root = xml_element("mujoco", model=self.mechanism.name)
        root.add("compiler", angle="radian", autolimits="true", inertiafromgeom="false")
        root.add("option", gravity=decimals(self.mechanism.gravity))
        self._put_bodies()
        if self.meshes.section.children:
            root.children.append(self.meshes.section)
        root.children.append(self.world)
        for frame in self.mechanism.frames:
            self._put_site(frame.name, frame.body, frame.origin)
        put_springs(self.mechanism, self.equalities.tendons)
        self._put_constraints()
        root.extend(self.equalities.sections())
        root.extend(self._actuators())
        return root

    def _check_inertias(self) -> None:
        """Raise for bodies that MuJoCo would refuse."""
        moving = [b for b in self.mechanism.bodies if not self.groups.is_still(b.name)]
        self._refuse(
            [b.name for b in moving if is_refused(b) or self.groups.has_moments_alone(b.name)],
            "no distribution of mass has their inertia. Give a mass above 0 where it is missing, and "
            "save mechanism.repaired().",
        )
        self._refuse(
            [body.name for body in moving if is_too_light(body)],
            f"their masses are below {LEAST_MASS:g} kg. Give a mass that is larger, or 0.",
        )
        alone = [name for name in self.groups.inner if self.groups.is_massless(name)]
        self._refuse(
            [name for name in alone if not self.groups.gives_joints_away(name)],
            "they have no mass, and there is no single body that could take their joints. Give them "
            "a mass.",
        )

    def _refuse(self, names: list[str], why: str) -> None:
        if names:
            more = f" and {len(names) - MAX_LISTED} more" if len(names) > MAX_LISTED else ""
            listed = ", ".join(map(repr, names[:MAX_LISTED]))
            raise ReadError(f"MuJoCo refuses moving bodies {listed}{more}: {why}")

    # --- bodies ---

    def _put_bodies(self) -> None:
        base, *others = self.mechanism.bodies
        if WORLD in [body.name for body in others]:
            raise ReadError(f"body {WORLD!r}: MuJoCo keeps this name for its own. Rename the body.")
        element = self.world if base.name == WORLD else self.world.add("body", name=base.name)
        self.nestings[base.name] = Nesting(element)
        self._fill(element, base)
        for joint, body in zip(self.mechanism.joints, others, strict=True):
            self._put_body(joint, body)
        merged = [b.name for b in others if self._is_merged(b.name)]
        if merged:
            self.losses.note("bodies without mass, whose joints are of the next body", *merged)

    def _put_body(self, joint: Joint, body: Body) -> None:
        around = self.nestings[joint.parent]
        origin = around.origin * joint.origin
        if self._is_merged(body.name):
            own = [] if joint.is_fixed else [GivenJoint(joint, origin)]
            self.nestings[body.name] = Nesting(around.element, origin, [*around.joints, *own])
            return
        if self._is_root(joint):
            element = self.world.add("body", name=body.name)
            element.extend(free_joint(joint, self.losses))
        else:
            element = around.element.add("body", name=body.name, **_place(origin))
            for carried in around.joints:
                self._put_carried(element, carried, origin)
            element.extend(self.joints.of(joint))
        self.nestings[body.name] = Nesting(element)
        self._fill(element, body)

    def _is_merged(self, body: str) -> bool:
        return self.groups.gives_joints_away(body)

    def _is_root(self, joint: Joint) -> bool:
        """Whether a joint is MuJoCo's free joint, whose coordinates are of the world."""
        is_base = joint.parent == self.mechanism.bodies[0].name
        return isinstance(joint.type, Free) and is_base and not _place(joint.origin)

    def _put_carried(self, element: XmlElement, carried: GivenJoint, origin: Origin) -> None:
        """The joints of a body without mass, in the axes of the body that has them."""
        for made in self.joints.of(carried.joint):
            axis = [float(x) for x in made.attributes["axis"].split()]
            turned, place = in_axes_of(origin, carried, axis)
            made.attributes |= {"axis": decimals(turned), "pos": decimals(place)}
            element.children.append(made)

    def _fill(self, element: XmlElement, body: Body) -> None:
        """Put inertia and shapes into the element of a body."""
        if element is not self.world:
            if self.groups.is_still(body.name) and is_refused(body):
                self.losses.note("impossible inertias of bodies that stand still", body.name)
            elif not is_massless(body):
                element.children.append(inertial(body))
        for visual in body.visuals:
            geom = geom_of(visual, self.meshes)
            if geom is None:
                self.losses.note(
                    "meshes that are not found, or no STL and OBJ, of bodies", body.name
                )
            else:
                element.children.append(geom)

    def _put_site(self, name: str, body: str, origin: Origin) -> bool:
        """A site on a body, if the body has an element of its own."""
        if self._is_merged(body):
            self.losses.note("frames on bodies without mass", name)
            return False
        self.nestings[body].element.add("site", name=name, **_place(origin))
        return True

    # --- constraints and actuators ---

    def _put_constraints(self) -> None:
        frames = {frame.name: frame for frame in self.mechanism.frames}
        for constraint in self.given.constraints:
            sites = self.equalities.sites_of(constraint)
            on_bodies = []
            for name, place in sites:
                frame = frames.get(place.body)
                body = place.body if frame is None else frame.body
                origin = place.origin if frame is None else frame.origin * place.origin
                on_bodies.append((name, body, origin))
            if all(not self._is_merged(body) for _, body, _ in on_bodies):
                for name, body, origin in on_bodies:
                    self._put_site(name, body, origin)
                self.equalities.put(constraint)
            else:
                self.losses.note("constraints on bodies without mass", constraint.name)

    def _actuators(self) -> list[XmlElement]:
        """The motors; a shaft's torque is the control."""
        section = xml_element("actuator")
        for actuator in self.mechanism.actuators:
            section.add(
                "motor",
                name=actuator.name,
                joint=actuator.joint,
                gear=decimal(actuator.gear_ratio),
                ctrlrange=self._range_of(actuator),
            )
            if actuator.velocity is not None:
                self.losses.note("limits of velocity of actuators", actuator.name)
            if actuator.body is not None and not known_zero(actuator.rotor_inertia):
                self.losses.note("rotors that turn with their bodies, of actuators", actuator.name)
        return [section] if section.children else []

    def _range_of(self, actuator: Actuator) -> str | None:
        """The range of control; None without any, and for one of length 0, which MuJoCo has not."""
        effort = actuator.effort
        if effort is None:
            return None
        if known_zero(effort):
            self.losses.note("limits of effort of 0, of actuators", actuator.name)
            return None
        return f"{decimal(-effort)} {decimal(effort)}"


def _place(origin: Origin) -> dict[str, str]:
    """The attributes pos and quat of a placement, as far as it is any."""
    place = {}
    if not all(map(known_zero, origin.xyz)):
        place["pos"] = decimals(origin.xyz)
    if not all(known_zero(angle) for _, angle in origin.rotations):
        place["quat"] = quaternion_text(origin)
    return place
