"""Faults and doubts of a mechanism, all in this file; every finding says what, where, why and how
to fix it.
"""

from __future__ import annotations

import heapq
import math
from collections import defaultdict
from collections.abc import (
    Container,
    Iterable,
    Iterator,
    Sequence,
)
from functools import partial
from typing import Any

import numpy as np

from dalembert.model import pivots
from dalembert.model.elastic.beam_doubts import beam_doubts
from dalembert.model.elastic.beam_findings import beam_findings
from dalembert.model.elastic.transmissions import Transmission
from dalembert.model.findings import (
    MAX_LISTED,
    Finding,
    finding_of,
)
from dalembert.model.friction_laws import Stribeck
from dalembert.model.linkage import Linkage
from dalembert.model.masses import (
    inertia_findings,
    massless,
)
from dalembert.model.name_faults import (
    nameless,
    repeated_names,
    unknown,
)
from dalembert.model.numbered import Part
from dalembert.model.numbers import (
    Number,
    as_float,
    is_negative,
    is_symbolic,
)
from dalembert.model.origins import (
    NOWHERE,
    Source,
)
from dalembert.model.parts import (
    Body,
    Frame,
    Joint,
)
from dalembert.model.tree import Tree
from dalembert.model.units import unit_findings

_of_joint = partial(finding_of, "joint")

MAX_FOLLOWING = 100  # followers of followers in a row; their multipliers are multiplied exactly
MAX_LINKS = 20_000  # above it a file is hostile or wrong: the largest robot known to us has 120
UNIT_SLACK = 1e-6  # of an axis' length: files round components to 6 digits


def structure(
    name: str, bodies: Sequence[Body], joints: Sequence[Joint], frames: Sequence[Frame]
) -> list[Finding]:
    """Faults that leave no mechanism: names, connections, axes, limits, followers."""
    if not bodies:
        return [_of_mechanism(name, "it has no body.", "Give it at least one.")]
    if len(bodies) > MAX_LINKS:
        why = f"it has {len(bodies)} links, the limit MAX_LINKS is {MAX_LINKS}."
        return [_of_mechanism(name, why, "Split it.")]
    faults = _name_faults(bodies, joints, frames) + _connection_faults(bodies, joints)
    faults = faults or _tree_faults(name, bodies, joints)
    for joint in joints:
        faults += _joint_faults(joint)
    return faults or _follower_faults(joints) + _motor_faults(joints)


def coordinate_faults(mechanism: Linkage) -> list[Finding]:
    """Coordinates of one name: of a body or joint with several, and of a joint of that name."""
    names = mechanism.coordinate_names
    if len({*names}) == len(names):
        return []
    holders = defaultdict(list)
    for holder in mechanism.holders:
        noun = "body" if holder.is_body else "joint"
        for name in holder.named(holder.type.coordinates):
            holders[name].append(f"{noun} {holder.name!r}")
    return [
        _of_mechanism(
            mechanism.name,
            f"{' and '.join(sharing)} both have a coordinate {name!r}.",
            "Rename one of them.",
        )
        for name, sharing in holders.items()
        if len(sharing) > 1
    ]


def constraint_faults(mechanism: Linkage) -> list[Finding]:
    """Faults of constraints: names that are taken twice, frames and joints that are not there."""
    count = len(mechanism.constraints)
    if count > MAX_LINKS:
        why = f"it has {count} constraints, the limit MAX_LINKS is {MAX_LINKS}."
        return [_of_mechanism(mechanism.name, why, "Split it.")]
    faults = list(repeated_names("constraint", mechanism.constraints))
    faults += nameless("constraint", mechanism.constraints)
    if len(mechanism.principles) != len(mechanism.constraints):
        why = f"{count} constraints have {len(mechanism.principles)} principles."
        return [_of_mechanism(mechanism.name, why, "Make them by mechanism.constrained(...).")]
    # names that the mechanism keeps are those of its bodies in order, which it does not have yet
    frames = {part.name for part in (*mechanism.bodies, *mechanism.frames)}
    joints = {joint.name for joint in mechanism.joints}
    fixed = {joint.name for joint in mechanism.joints if joint.is_fixed}
    for constraint in mechanism.constraints:
        for joint in fixed.intersection(constraint.joints):
            why = f"it is about joint {joint!r}, which is fixed and has no coordinate."
            fix = "Leave the constraint out, or the joint free."
            faults.append(finding_of("constraint", constraint, why, fix))
        what = f"constraint {constraint.name!r}"
        for noun, known, names in (
            ("frame", frames, constraint.frames),
            ("joint", joints, constraint.joints),
        ):
            hints = len(faults) < MAX_LISTED
            faults += [
                unknown(what, noun, name, known, constraint.source, hints)
                for name in names
                if name not in known
            ]
        faults += _joined_with_itself(mechanism, constraint)
    return faults


def _joined_with_itself(mechanism: Linkage, constraint: Any) -> list[Finding]:
    """The fault of a constraint between two frames of one body, which holds nothing that moves."""
    bodies = {frame.name: frame.body for frame in mechanism.frames}
    ends = [bodies.get(name, name) for name in constraint.frames]
    if len(ends) != 2 or ends[0] != ends[1]:
        return []
    why = f"it joins body {ends[0]!r} with itself."
    return [finding_of("constraint", constraint, why, "Name frames of two bodies.")]


def findings(
    bodies: Sequence[Body],
    joints: Sequence[Joint],
    frames: Sequence[Frame] = (),
    constrained: bool = False,
    rotors: Container[str] = (),
) -> list[Finding]:
    """Doubtful numbers of a mechanism of sound structure: axes, masses, limits, units; unchecked
    numbers. rotors: names of the joints whose actuators have rotors.
    """
    doubts: list[Finding] = []
    for joint in joints:
        doubts += _axis_lengths(joint)
        doubts += _impossible_limits(joint)
    doubts += _limits_of_zero(joints)
    doubts += inertia_findings(bodies, joints, _length(bodies, joints))
    doubts += massless(bodies, joints, constrained, rotors)
    doubts += unit_findings(bodies, joints, frames)
    doubts += beam_findings(bodies, joints, frames)
    doubts += beam_doubts(bodies)
    unchecked = [b for b in bodies if any(is_symbolic(x) for x in (b.mass, *b.com, *b.inertia))]
    if unchecked:
        bodies_are = "body" if len(unchecked) == 1 else "bodies"
        doubts.append(
            Finding(
                "note",
                f"{len(unchecked)} {bodies_are} with symbolic inertia ({_listed(unchecked, 3)})",
                "symbols cannot be checked.",
                "Check them once their values are known.",
            )
        )
    return doubts


def impossible_inertias(bodies: Sequence[Body], joints: Sequence[Joint]) -> list[Finding]:
    """Errors of masses and moments, which are told beside faults of structure."""
    found = inertia_findings(bodies, (), _length(bodies, joints))
    return [finding for finding in found if finding.severity == "error"]


def _of_mechanism(name: str, why: str, fix: str, source: Source = NOWHERE) -> Finding:
    return Finding("error", f"mechanism {name!r}", why, fix, source)


def _listed(parts: Sequence[Part], most: int) -> str:
    """Names of the first parts."""
    return ", ".join(repr(p.name) for p in parts[:most]) + (", ..." if len(parts) > most else "")


# --- structure ------------------------------------------------------------------------------------------------------


def _name_faults(
    bodies: Sequence[Body], joints: Sequence[Joint], frames: Sequence[Frame]
) -> list[Finding]:
    faults: list[Finding] = []
    for noun, parts in (("body", bodies), ("joint", joints), ("frame", frames)):
        faults += repeated_names(noun, parts)
        faults += nameless(noun, parts)
    names = {b.name for b in bodies}
    for frame in frames:
        if frame.name in names:
            faults.append(finding_of("frame", frame, "a body has the same name.", "Rename it."))
        if frame.body not in names:
            what = f"frame {frame.name!r}"
            hints = len(faults) < MAX_LISTED
            faults.append(unknown(what, "body", frame.body, names, frame.source, hints))
    return faults


def _connection_faults(bodies: Sequence[Body], joints: Sequence[Joint]) -> list[Finding]:
    """Faults of the joints' bodies."""
    faults: list[Finding] = []
    names = {b.name for b in bodies}
    joint_to: dict[str, Joint] = {}
    for joint in joints:
        for role, body in (("parent", joint.parent), ("child", joint.child)):
            if body not in names:
                what = f"joint {joint.name!r}"
                hints = len(faults) < MAX_LISTED
                faults.append(unknown(what, f"{role} body", body, names, joint.source, hints))
        if joint.parent == joint.child:
            why = f"it connects body {joint.child!r} to itself."
            faults.append(_of_joint(joint, why, "Name another parent."))
        elif joint.child in joint_to and joint.name != joint_to[joint.child].name:
            first = joint_to[joint.child].name
            why = f"it is the child of joints {first!r} and {joint.name!r}."
            fix = (
                "A tree has one joint per child: leave one out and close the loop by a constraint, "
                "da.constraints.Closure or [[constraint]] in TOML."
            )
            faults.append(Finding("error", f"body {joint.child!r}", why, fix, joint.source))
        joint_to.setdefault(joint.child, joint)
    return faults


def _tree_faults(mechanism: str, bodies: Sequence[Body], joints: Sequence[Joint]) -> list[Finding]:
    """Several roots, or a cycle."""
    children = {joint.child for joint in joints}
    roots = [b for b in bodies if b.name not in children]
    if len(roots) > 1:
        why = f"it has {len(roots)} bodies without a parent ({_listed(roots, 4)})."
        fix = "Connect them by joints: one body is the base."
        return [_of_mechanism(mechanism, why, fix, roots[1].source)]
    reached = _reached(joints, roots[0].name) if roots else set()
    stuck = [b for b in bodies if b.name not in reached]
    if not stuck:
        return []
    why, fix = "their joints form a cycle.", "Remove one joint of the cycle."
    return [Finding("error", f"bodies {_listed(stuck, 4)}", why, fix, stuck[0].source)]


def _reached(joints: Sequence[Joint], root: str) -> set[str]:
    below = defaultdict(list)
    for joint in joints:
        below[joint.parent].append(joint.child)
    seen, stack = {root}, [root]
    while stack:
        for child in below[stack.pop()]:
            if child not in seen:
                seen.add(child)
                stack.append(child)
    return seen


def _joint_faults(joint: Joint) -> Iterator[Finding]:
    yield from _axis_faults(joint)
    lower, upper = joint.limits.lower or (), joint.limits.upper or ()
    for low, high in zip(lower, upper):
        if not is_symbolic(low) and not is_symbolic(high) and as_float(low) > as_float(high):
            why = f"its lower limit {as_float(low):g} is above its upper limit {as_float(high):g}."
            yield _of_joint(joint, why, "Exchange them.")
    for name, part in (("stiffness", "spring"), ("rotor_inertia", "rotor")):
        if joint.type.nq != joint.type.nv and any(_nonzero(k) for k in getattr(joint, name)):
            why = f"a {joint.type.name} joint has no single coordinate for a {part}."
            yield _of_joint(joint, why, f"Leave out {name}.")
    if joint.transmission is not None:
        yield from _transmission_faults(joint, joint.transmission)
    for name in ("viscous", "coulomb", "rotor_inertia", "stiffness"):
        for value in getattr(joint, name):
            if is_negative(value):
                why = f"{name} is {as_float(value):g}, below 0."
                yield _of_joint(joint, why, "It would feed energy in; give its magnitude.")
    if joint.friction is not None:
        yield from _friction_faults(joint, joint.friction)
    if joint.mimic is not None and (joint.type.nq, joint.type.nv) != (1, 1):
        why = f"a {joint.type.name} joint cannot follow another."
        yield _of_joint(joint, why, "A follower has one coordinate.")


def _transmission_faults(joint: Joint, transmission: Transmission) -> Iterator[Finding]:
    if (joint.type.nq, joint.type.nv) != (1, 1) or joint.mimic is not None:
        kind = "follower" if joint.mimic is not None else f"{joint.type.name} joint"
        why = f"a {kind} has no transmission."
        yield _of_joint(joint, why, "A joint on a transmission has one coordinate of its own.")
    for name, least in (("stiffness", "not above 0"), ("damping", "below 0")):
        value = getattr(transmission, name)
        if is_negative(value) or name == "stiffness" and not _nonzero(value):
            why = f"{name} of its transmission is {as_float(value):g}, {least}."
            yield _of_joint(joint, why, "Give a positive number.")


def _friction_faults(joint: Joint, law: Stribeck) -> Iterator[Finding]:
    bounds = (
        ("static", law.static, 1, "Friction at rest is no less than where it slides."),
        ("velocity", law.velocity, 0, "Give its magnitude; 0 where sliding friction is the same."),
    )
    for name, value, least, fix in bounds:
        if not is_symbolic(value) and as_float(value) < least:
            why = f"{name} of its law of friction is {as_float(value):g}, below {least}."
            yield _of_joint(joint, why, fix)
    if joint.mimic is not None:
        why = "it follows another joint and has a law of friction."
        yield _of_joint(joint, why, "Give the law to its leader, for which its friction counts.")


def _axis_faults(joint: Joint) -> Iterator[Finding]:
    missing = [name for name, axis in _axes(joint) if not any(axis)]
    for name in missing:
        why = f"{name} has length 0. A {joint.type.name} joint needs a direction,"
        yield _of_joint(joint, why, "for example [0, 0, 1].")
    turns = [s.axis for s in (joint.type.screws() or ()) if s.turns]
    if len(turns) == 2 and not missing and _parallel(*turns):
        why = "its two axes are parallel: it has one freedom, not two."
        yield _of_joint(joint, why, "Use a revolute joint, or turn one axis.")


def _axes(joint: Joint) -> Iterator[tuple[str, list[float]]]:
    """Vectors among a joint's numbers, by name, as far as they have no symbols."""
    for name in joint.type.parameters:
        axis = getattr(joint.type, name)
        if isinstance(axis, tuple) and not any(is_symbolic(a) for a in axis):
            yield name, [as_float(a) for a in axis]


def _parallel(a: Iterable[Number], b: Iterable[Number]) -> bool:
    if any(is_symbolic(x) for x in (*a, *b)):
        return False
    a, b = np.array([as_float(x) for x in a]), np.array([as_float(x) for x in b])
    return bool(
        np.linalg.norm(np.cross(a, b)) <= UNIT_SLACK * np.linalg.norm(a) * np.linalg.norm(b)
    )


def _nonzero(x: Number) -> bool:
    return is_symbolic(x) or as_float(x) != 0


def _follower_faults(joints: Sequence[Joint]) -> list[Finding]:
    faults: list[Finding] = []
    by_name = {j.name: j for j in joints}
    for joint in joints:
        if joint.mimic is not None:
            faults += _leader_faults(joint, by_name, hints=len(faults) < MAX_LISTED)
    return faults


def _motor_faults(joints: Sequence[Joint]) -> list[Finding]:
    """Faults of the motors behind transmissions."""
    faults: list[Finding] = []
    by_name = {j.name: j for j in joints}
    for joint in joints:
        if joint.transmission is None:
            continue
        name = joint.transmission.motor
        motor = by_name.get(name)
        if motor is None:
            what = f"joint {joint.name!r}"
            hints = len(faults) < MAX_LISTED
            faults.append(unknown(what, "motor", name, by_name, joint.source, hints))
        elif motor is joint:
            faults.append(_of_joint(joint, "it is its own motor.", "Name another joint."))
        elif motor.mimic is not None or motor.type.velocities != joint.type.velocities:
            kind = "a follower" if motor.mimic is not None else f"a {motor.type.name} joint"
            why = f"its motor {name!r} is {kind}."
            fix = f"The motor of a {joint.type.name} joint has one such coordinate of its own."
            faults.append(_of_joint(joint, why, fix))
    return faults


def _leader_faults(follower: Joint, joints: dict[str, Joint], hints: bool) -> list[Finding]:
    """Faults of the joints that a follower follows, up to the independent one."""
    chain, last = {follower.name: follower}, follower
    while last.mimic is not None:
        name = last.mimic.joint
        if name not in joints:
            what = f"joint {last.name!r}"
            return [unknown(what, "joint to follow", name, joints, last.source, hints)]
        if len(chain) > MAX_FOLLOWING:
            why = (
                f"more than MAX_FOLLOWING = {MAX_FOLLOWING} followers stand between it and an "
                "independent joint."
            )
            return [_of_joint(follower, why, "Let it follow that one.")]
        if name in chain:
            why = f"it follows itself ({' -> '.join([*chain, name])})."
            return [_of_joint(follower, why, "One joint of the chain must be independent.")]
        chain[name] = last = joints[name]
    if (last.type.nq, last.type.nv) == (1, 1):
        return []
    why = f"it follows {last.name!r}, a {last.type.name} joint."
    return [_of_joint(follower, why, "A leader has one coordinate.")]


def topological_order(
    bodies: Sequence[Body], joints: Sequence[Joint]
) -> tuple[tuple[Body, ...], tuple[Joint, ...]]:
    """Bodies and joints with parents first, ties by the order given."""
    below = defaultdict(list)
    children = set()
    for k, joint in enumerate(joints):
        below[joint.parent].append(k)
        children.add(joint.child)
    by_name = {b.name: b for b in bodies}
    root = next(b for b in bodies if b.name not in children)
    ready = list(below[root.name])
    ordered = []
    heapq.heapify(ready)
    while ready:
        joint = joints[heapq.heappop(ready)]
        ordered.append(joint)
        for k in below[joint.child]:
            heapq.heappush(ready, k)
    return (root, *(by_name[j.child] for j in ordered)), tuple(ordered)


# --- numbers --------------------------------------------------------------------------------------------------------


def _axis_lengths(joint: Joint) -> Iterator[Finding]:
    for name, axis in _axes(joint):
        length = math.hypot(*axis)
        if abs(length - 1) > UNIT_SLACK:
            why = f"{name} has length {length:.9g};"
            yield _of_joint(joint, why, "it is scaled to 1.", "warning")


def _impossible_limits(joint: Joint) -> Iterator[Finding]:
    for name in ("velocity", "effort"):
        for bound in getattr(joint.limits, name) or ():
            if is_negative(bound):
                why = f"its {name} limit is {as_float(bound):g}, below 0."
                yield _of_joint(joint, why, "Give its magnitude, or leave it out for none.")


def _limits_of_zero(joints: Sequence[Joint]) -> list[Finding]:
    """Exporters write 0 for limits that nobody gave."""
    still = [
        j
        for j in joints
        if not all(map(_nonzero, (*(j.limits.velocity or ()), *(j.limits.effort or ()))))
    ]
    if not still:
        return []
    what = f"{len(still)} joint{'' if len(still) == 1 else 's'} ({_listed(still, 3)})"
    why = "a limit of velocity or effort is 0, with which nothing moves."
    return [Finding("note", what, why, "Leave it out if there is none.", still[0].source)]


def _length(bodies, joints):
    """The model's size: its longest origin or distance of a centre of mass [m]."""
    vectors = [*(b.com for b in bodies), *(j.origin.xyz for j in joints)]
    return max(
        (abs(as_float(x)) for vector in vectors for x in vector if not is_symbolic(x)), default=0.0
    )


def undetermined(tree: Tree, q: Sequence[float], bodies: Sequence[Body]) -> list[Finding]:
    """Bodies without inertia in a direction in which their joint moves them, like a thin rod on a
    ball joint.
    """
    doubts = []
    sources = {body.name: body.source for body in bodies}
    for joint, body, _, direction in pivots.undetermined(tree, q):
        turn = direction[:3]
        slide = direction[3:]
        motion = f"about ({_shown(turn)})" if any(turn) else f"along ({_shown(slide)})"
        doubts.append(
            Finding(
                "warning",
                f"body {body!r}",
                f"joint {joint!r} moves it {motion}, where its inertia is 0 within rounding: "
                "accelerations are not determined, so forward dynamics will refuse.",
                "Give it the inertia that it has there (a rod of radius r has m r^2/2), give the "
                "joint a rotor_inertia, or take a joint that does not move it so.",
                sources[body],
            )
        )
    return doubts


def _shown(vector: Sequence[float]) -> str:
    return ", ".join(f"{x + 0.0:.3g}" for x in np.where(np.abs(vector) < 1e-9, 0.0, vector))
