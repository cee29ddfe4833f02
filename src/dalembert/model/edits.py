"""New mechanisms from old ones: locked joints, parts of the model left out."""

from __future__ import annotations

from collections import Counter
from collections.abc import (
    Iterator,
    Mapping,
    Sequence,
)
from dataclasses import replace
from typing import (
    Any,
    TypeVar,
)

import numpy as np

from dalembert.arguments import (
    check_text,
    shown,
)
from dalembert.errors import (
    ModelError,
    UnknownNameError,
)
from dalembert.expr import known_zero
from dalembert.model.actuators import (
    BOUNDS_OF_SHAFT,
    Actuator,
)
from dalembert.model.constraint import (
    Constraint,
    principles_of,
)
from dalembert.model.elastic.elastic_declarations import rigid_again, undamped
from dalembert.model.elastic.flexible_drives import (
    stiffly_driven,
    undamped_drives,
    with_spring_to,
)
from dalembert.model.findings import Finding
from dalembert.model.joints import (
    Fixed,
    Free,
    JointType,
)
from dalembert.model.linkage import Linkage
from dalembert.model.numbers import (
    Number,
    as_exact,
    as_float,
    checked_vector,
    several,
)
from dalembert.model.origins import Origin
from dalembert.model.parts import (
    Body,
    Joint,
    Limits,
)
from dalembert.spatial.rotations import axis_angle_of
from dalembert.spatial.screws import slides_come_first
from dalembert.spatial.vectors import (
    AXES,
    Vector,
)

L = TypeVar("L", bound=Linkage)
KINDS = (
    "friction",
    "springs",
    "rotors",
    "limits",
    "actuators",
    "constraints",
    "elasticity",
)


def without(mechanism: L, kinds: Sequence[str]) -> L:
    """The mechanism without friction, springs, rotors, limits, actuators, constraints or elasticity."""
    for kind in kinds:
        if kind not in KINDS:
            raise UnknownNameError("kind", kind, KINDS)
    _check_rotors(mechanism, kinds)
    changes: dict[str, Any] = {}
    mechanism = replace(mechanism, actuators=_actuators_without(mechanism, kinds))
    if "friction" in kinds:
        changes |= {"viscous": 0, "coulomb": 0, "friction": None}
        mechanism = undamped_drives(undamped(mechanism))
    if "springs" in kinds:
        changes |= {"stiffness": 0, "rest": 0}
    if "rotors" in kinds:
        changes |= {"rotor_inertia": 0, "gear_ratio": 1}
    if "limits" in kinds:
        changes |= {"limits": Limits()}
    if "constraints" in kinds:
        mechanism = replace(mechanism, constraints=(), principles=(), actuated=None)
    if "elasticity" in kinds:
        rigid = replace(mechanism, bodies=tuple(map(rigid_again, mechanism.bodies)))
        mechanism = _seen_by_functions(mechanism, stiffly_driven(rigid))
    return replace(mechanism, joints=tuple(replace(j, **changes) for j in mechanism.joints))


def _actuators_without(mechanism: Linkage, kinds: Sequence[str]) -> tuple[Actuator, ...]:
    """Actuators without rotors, limits, or none at all."""
    changes: dict[str, Any] = {}
    if "rotors" in kinds:
        changes |= {"rotor_inertia": 0}
    if "limits" in kinds:
        changes |= dict.fromkeys(BOUNDS_OF_SHAFT)
    if "actuators" in kinds:
        return ()
    return tuple(replace(actuator, **changes) for actuator in mechanism.actuators)


def _check_rotors(mechanism: Linkage, kinds: Sequence[str]) -> None:
    """Raise if motors behind springs are to have no inertia."""
    flexible = [joint.name for joint in mechanism.flexible_joints]
    if flexible and "rotors" in kinds and "elasticity" not in kinds:
        raise ModelError(
            f"motors of flexible joints ({', '.join(flexible)}) have no motion without their rotors' "
            "inertia: mechanism.without('elasticity', 'rotors')."
        )


def floating(mechanism: L) -> L:
    """The mechanism with its base on a free joint; the new names give way to those already there."""
    taken = set(mechanism.frame_names) | {j.name for j in mechanism.joints}

    def unused(name: str) -> str:
        """The name, or the first of name_2, name_3, ... that is not taken."""
        return next(
            n for n in (name, *(f"{name}_{k}" for k in range(2, len(taken) + 3))) if n not in taken
        )

    root = mechanism.bodies[0]
    free = Joint(unused("root_joint"), Free(), unused("world"), root.name, source=root.source)
    bodies = (Body(free.parent), *mechanism.bodies)
    return _seen_by_functions(
        mechanism, replace(mechanism, bodies=bodies, joints=(free, *mechanism.joints))
    )


def independent(mechanism: L) -> L:
    """The mechanism with followers made independent joints."""
    joints = tuple(replace(j, mimic=None) for j in mechanism.joints)
    return _seen_by_functions(mechanism, replace(mechanism, joints=joints))


def _seen_by_functions(before: Linkage, after: L) -> L:
    """A mechanism made from another, whose functions of all coordinates see the same ones.

    Raises
    ------
    ModelError
        Its constraints have such a function, and coordinates have changed.
    """
    if before.coordinate_names == after.coordinate_names:
        return after
    for constraint in before.constraints:
        if constraint.has_functions and not (constraint.frames or constraint.joints):
            raise ModelError(
                f"constraint {constraint.name!r} is a function of the coordinates of "
                f"{before.name!r}, which change. Change the mechanism first, "
                "mechanism.without('constraints'), and write the function for its new coordinates."
            )
    return after


def constrained(
    mechanism: L,
    constraints: Sequence[Constraint],
    principle: str | Mapping[str, str],
    actuated: Sequence[str] | None,
) -> L:
    """The mechanism with more constraints, and with driven joints."""
    principles = principles_of(constraints, principle)
    driven = mechanism.actuated
    if actuated is not None:
        driven = several(actuated, "actuated", "names of joints, as ['crank']")
        for name in driven:
            mechanism.joint(name)  # raises if there is none
        if len({*driven}) < len(driven):
            raise ValueError(f"actuated={shown(driven)}: a joint is named twice.")
    return replace(
        mechanism,
        constraints=(*mechanism.constraints, *constraints),
        principles=(*mechanism.principles, *principles),
        actuated=driven,
    )


def attached(mechanism: L, other: Body | Linkage, frame: str, name: str, origin: Any) -> L:
    """The mechanism with a body or another mechanism fixed to a frame of it."""
    frames = {f.name: f for f in mechanism.frames}
    if frame not in mechanism.frame_names:
        raise UnknownNameError("frame", frame, mechanism.frame_names)
    bodies, joints, points, remarks = _named_parts(other, name)
    more = _constraint_fields(mechanism, other, name)
    more["actuators"] = (*mechanism.actuators, *_named_actuators(other, name))
    base = bodies[0].name
    origin = origin if isinstance(origin, Origin) else Origin(origin)
    if (on := frames.get(frame)) is not None:
        frame, origin = on.body, on.origin * origin
    mount = Joint(f"{name or base}_mount", Fixed(), frame, base, origin, source=bodies[0].source)
    joints, remarks = (*mechanism.joints, mount, *joints), (*mechanism.remarks, *remarks)
    if isinstance(pulled := getattr(other, "gravity", None), tuple) and pulled != mechanism.gravity:
        remarks += (
            Finding(
                "note",
                f"mechanism {other.name!r}, which is attached",
                f"its gravity {pulled} is not used: gravity is {mechanism.gravity}.",
                "",
            ),
        )
    bodies, points = (*mechanism.bodies, *bodies), (*mechanism.frames, *points)
    _check_names([b.name for b in bodies] + [f.name for f in points], "frame")
    _check_names([j.name for j in joints], "joint")
    _check_names([a.name for a in more["actuators"]], "actuator")
    joined = replace(
        mechanism, bodies=bodies, joints=joints, frames=points, remarks=remarks, **more
    )
    if isinstance(other, Linkage):
        is_base = frame == mechanism.bodies[0].name and origin == Origin()
        _check_surfaces(other, is_base)
        _seen_by_functions(other, joined)
    return _seen_by_functions(mechanism, joined)


def _check_surfaces(attached: Linkage, is_base: bool) -> None:
    """Raise if bodies of an attached mechanism keep to surfaces of its base, which is moved."""
    for constraint in attached.constraints:
        if getattr(constraint, "surface", None) is not None and not is_base:
            raise ModelError(
                f"constraint {constraint.name!r} of {attached.name!r} keeps to a surface in the axes "
                "of its base, which is now on another frame. Attach it without('constraints'), and "
                "put the constraint on the whole mechanism."
            )


def _constraint_fields(mechanism: Linkage, other: Body | Linkage, name: str) -> dict[str, Any]:
    """Constraints and driven joints of a mechanism to which another is attached."""
    if isinstance(other, Body):
        return {}

    def new(old: str) -> str:
        """The name of a part in the mechanism that it is attached to."""
        return f"{name}_{old}" if name else old

    def driven(own: Linkage) -> tuple[str, ...]:
        """Names of the driven joints."""
        if own.actuated is not None:
            return own.actuated
        return tuple(j.name for j in own.independent_joints if j.transmission is None)

    some = mechanism.actuated is not None or other.actuated is not None
    return {
        "constraints": (*mechanism.constraints, *(c.renamed(new) for c in other.constraints)),
        "principles": mechanism.principles + other.principles,
        "actuated": (*driven(mechanism), *map(new, driven(other))) if some else None,
    }


def _named_actuators(other: Body | Linkage, name: str) -> Iterator[Actuator]:
    """Actuators of a mechanism that is attached, under their new names."""
    if isinstance(other, Body):
        return

    def new(old: str) -> str:
        """The name of a part in the mechanism that it is attached to."""
        return f"{name}_{old}" if name else old

    for actuator in other.actuators:
        body = None if actuator.body is None else new(actuator.body)
        yield replace(actuator, name=new(actuator.name), joint=new(actuator.joint), body=body)


def _named_parts(other: Body | Linkage, name: str) -> tuple[Any, Any, Any, Any]:
    """Bodies, the base first, joints, frames and remarks of what is attached, under their new
    names.
    """
    if isinstance(other, Body):
        return (replace(other, name=name or other.name),), (), (), ()

    def new(old: str) -> str:
        """The name of a part in the mechanism that it is attached to."""
        return f"{name}_{old}" if name else old

    def of_joint(joint: Joint) -> Joint:
        """A joint with the new names of itself, its bodies and its leader."""
        mimic = joint.mimic and replace(joint.mimic, joint=new(joint.mimic.joint))
        through = joint.transmission
        if through is not None:
            through = replace(through, motor=new(through.motor))
        return replace(
            joint,
            name=new(joint.name),
            parent=new(joint.parent),
            child=new(joint.child),
            mimic=mimic,
            transmission=through,
        )

    return (
        tuple(replace(b, name=new(b.name)) for b in other.bodies),
        tuple(map(of_joint, other.joints)),
        tuple(replace(f, name=new(f.name), body=new(f.body)) for f in other.frames),
        other.remarks,
    )


def _check_names(names: Sequence[str], kind: str) -> None:
    twice = [name for name, count in Counter(names).items() if count > 1]
    if twice:
        shown = ", ".join(map(repr, twice[:3]))
        raise ModelError(
            f"{kind}s named {shown} are in both: attach(..., name='tool') puts a name "
            "before those of a mechanism and gives a body that name."
        )


def locked(mechanism: L, joints: Mapping[str, Any] | Sequence[str]) -> L:
    """The mechanism with some joints fixed at values, and some elastic bodies rigid; followers of a
    locked joint are locked with it.
    """
    typed = [joints] if isinstance(joints, str) else joints
    names = several(typed, "lock", "names of joints, or {name: value}")
    for name in names:
        check_text("a joint to lock", name)
    given = joints if isinstance(joints, Mapping) else dict.fromkeys(names)
    elastic = [name for name in given if _is_elastic(mechanism, name)]
    for name in elastic:
        _check_straight(mechanism, name, given[name])
    bodies = (rigid_again(b) if b.name in elastic else b for b in mechanism.bodies)
    values = _locked_values(mechanism, {n: x for n, x in given.items() if n not in elastic})
    fixed = _with_locked(mechanism.joints, values)
    driven = mechanism.actuated and tuple(n for n in mechanism.actuated if n not in values)
    changed = replace(
        mechanism,
        bodies=tuple(bodies),
        joints=tuple(fixed),
        actuated=driven,
        actuators=tuple(a for a in mechanism.actuators if a.joint not in values),
    )
    return _seen_by_functions(mechanism, changed)


def _with_locked(joints: Sequence[Joint], values: Mapping[str, list[Number]]) -> Iterator[Joint]:
    """Joints, some of them fixed at values; a spring remains of a transmission to one of them."""
    held_at = [
        (joint.transmission, values[joint.name][0])
        for joint in joints
        if joint.transmission is not None and joint.name in values
    ]
    for joint in joints:
        if joint.name in values:
            yield _fixed_at(joint, values[joint.name])
            continue
        for transmission, value in held_at:
            if transmission.motor == joint.name:
                joint = with_spring_to(joint, transmission, value)
        through = joint.transmission
        if through is not None and through.motor in values:
            sprung = with_spring_to(joint, through, values[through.motor][0])
            joint = replace(sprung, transmission=None)
        yield joint


def _is_elastic(mechanism: Linkage, name: str) -> bool:
    """Whether a name is that of an elastic body, and of no joint."""
    is_joint = any(isinstance(part, Joint) for part in mechanism.parts_named(name))
    return name in mechanism.body_entries and not is_joint


def _check_straight(mechanism: Linkage, body: str, value: Any) -> None:
    """Raise if an elastic body is to be locked in another shape than the straight one."""
    names = mechanism.body_entries[body].at_v
    values = [0] if value is None else np.ravel(np.asarray(value, dtype=object)).tolist()
    if len(values) not in (1, len(names)):
        raise ModelError(
            f"lock of body {body!r} has {len(values)} values, expected {len(names)} or a single 0."
        )
    if not all(map(known_zero, checked_vector(values, len(values), f"lock of body {body!r}"))):
        raise ModelError(
            f"lock of body {body!r}: an elastic body is locked straight, at 0. For a bent rigid link "
            "give a body of its own."
        )


def _locked_values(mechanism: Linkage, given: Mapping[str, Any]) -> dict[str, list[Number]]:
    """Coordinates of locked joints and of their followers, by name."""
    values = {name: _coordinates(mechanism.joint(name), value) for name, value in given.items()}
    q: list[Number] = mechanism.neutral().tolist()
    for name, coordinates in values.items():
        q[mechanism.entries[name].at_q] = coordinates
    mechanism.check_quaternions("lock", [as_float(x) for x in q])
    leaders = {mechanism.entries[name].at_v: coordinates for name, coordinates in values.items()}
    for name, entry in mechanism.entries.items():
        if entry.is_follower and entry.at_v in leaders:
            values[name] = [entry.factor * leaders[entry.at_v][0] + entry.offset]
    return values


def _coordinates(joint: Joint, value: Any) -> list[Number]:
    """Coordinates at which a joint is locked, from a number or several; None is neutral."""
    if joint.mimic is not None:
        raise ModelError(
            f"joint {joint.name!r} follows {joint.mimic.joint!r}: lock that one, the follower comes "
            "with it."
        )
    if joint.is_fixed:
        raise ModelError(f"joint {joint.name!r} is fixed already: leave it out.")
    if value is None:
        value = joint.type.neutral()
    value = value.tolist() if isinstance(value, np.ndarray) else value
    numbers = list(value) if isinstance(value, (list, tuple)) else [value]
    if len(numbers) != joint.type.nq:
        raise ModelError(
            f"lock of joint {joint.name!r} has {len(numbers)} values, expected {joint.type.nq} "
            f"({', '.join(joint.type.coordinates)})."
        )
    return list(checked_vector(numbers, joint.type.nq, f"lock of joint {joint.name!r}"))


def _fixed_at(joint: Joint, q: list[Number]) -> Joint:
    """A fixed joint that holds the child where the joint's coordinates place it; exact for
    single-axis joints.
    """
    xyz, turns = _placement(joint.type, q)
    origin = joint.origin * Origin((0, 0, 0) if xyz is None else tuple(xyz), turns)
    return Joint(joint.name, Fixed(), joint.parent, joint.child, origin, source=joint.source)


def _placement(
    joint_type: JointType, q: list[Number]
) -> tuple[Vector | None, tuple[tuple[Any, Number], ...]]:
    """Translation and constant rotations of a joint at q."""
    row = joint_type.converted(as_exact).screws()
    if row is None or not slides_come_first(row):
        X = joint_type.placement([as_float(x) for x in q])
        axis, angle = axis_angle_of(X.R.matrix())
        return X.p, ((tuple(axis), angle),)
    slides = [
        s.axis * (s.pitch * q[s.at] if s.turns else q[s.at])
        for s in row
        if not s.turns or not known_zero(s.pitch)
    ]
    return sum(slides[1:], slides[0]) if slides else None, tuple(
        _turn(s.axis, q[s.at]) for s in row if s.turns
    )


def _turn(axis, angle: Number) -> tuple[Any, Number]:
    for letter, unit in zip("xyz", AXES, strict=True):
        if tuple(axis) == tuple(unit):
            return letter, angle
    return tuple(axis), angle
