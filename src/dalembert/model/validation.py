"""Faults and doubts of a mechanism, all in this file; every finding says what, where, why and how
to fix it.
"""

from __future__ import annotations

import heapq
import math
from collections import defaultdict
from collections.abc import Sequence

import numpy as np

from dalembert.errors import nearest
from dalembert.model import pivots
from dalembert.model.findings import MAX_LISTED, Finding
from dalembert.model.joints import Fixed
from dalembert.model.masses import inertia_findings, massless
from dalembert.model.numbers import Number, as_float, is_symbolic
from dalembert.model.parts import Body, Frame, Joint
from dalembert.model.tree import Tree
from dalembert.model.units import unit_findings

MAX_COMPARED = 100  # characters of names compared for a hint: the time grows with their square
MAX_FOLLOWING = 100  # followers of followers in a row; their multipliers are multiplied exactly
MAX_LINKS = 20_000  # above it a file is hostile or wrong: the largest robot known to us has 120
UNIT_SLACK = 1e-6  # of an axis' length: files round components to 6 digits


def structure(
    name: str, bodies: Sequence[Body], joints: Sequence[Joint], frames: Sequence[Frame]
) -> list[Finding]:
    """Faults that leave no mechanism: names, connections, axes, limits, followers."""
    if not bodies:
        return [Finding("error", f"mechanism {name!r}", "it has no body.", "Give it at least one.")]
    if len(bodies) > MAX_LINKS:
        return [
            Finding(
                "error",
                f"mechanism {name!r}",
                f"it has {len(bodies)} links, the limit MAX_LINKS is {MAX_LINKS}.",
                "Split it.",
            )
        ]
    found = _name_faults(bodies, joints, frames) or _connection_faults(name, bodies, joints)
    for joint in joints:
        found += _joint_faults(joint)
    if not found:
        found += _follower_faults(joints)
    return found


def findings(
    bodies: Sequence[Body], joints: Sequence[Joint], frames: Sequence[Frame] = ()
) -> list[Finding]:
    """Doubtful numbers of a mechanism of sound structure: axes, masses, limits, units; unchecked
    numbers.
    """
    found: list[Finding] = []
    for joint in joints:
        found += _axis_lengths(joint)
        found += _impossible_limits(joint)
    found += _limits_of_zero(joints)
    found += inertia_findings(bodies, joints, _length(bodies, joints))
    found += massless(bodies, joints)
    found += unit_findings(bodies, joints, frames)
    unchecked = [
        b.name for b in bodies if any(is_symbolic(x) for x in (b.mass, *b.com, *b.inertia))
    ]
    if unchecked:
        found.append(
            Finding(
                "note",
                f"{len(unchecked)} bod{'y' if len(unchecked) == 1 else 'ies'} with symbolic "
                "inertia ("
                + ", ".join(map(repr, unchecked[:3]))
                + (", ...)" if len(unchecked) > 3 else ")"),
                "symbols cannot be checked.",
                "Check them once their values are known.",
            )
        )
    return found


# --- structure ------------------------------------------------------------------------------------------------------


def _name_faults(bodies, joints, frames):
    found = []
    for kind, parts in (("body", bodies), ("joint", joints), ("frame", frames)):
        sources = defaultdict(list)
        for part in parts:
            sources[part.name].append(part.source)
        for name, at in sources.items():
            if len(at) > 1:
                places = ", ".join(str(source) for source in at[:MAX_LISTED] if str(source))
                found.append(
                    Finding(
                        "error",
                        f"{kind} {name!r}",
                        f"the name is used {len(at)} times" + (f" ({places})." if places else "."),
                        "Rename all but one.",
                        at[1],
                    )
                )
        found += [
            Finding(
                "error",
                f"a {kind} without a name",
                "its name is empty.",
                "Give it a name.",
                p.source,
            )
            for p in parts
            if not isinstance(p.name, str) or not p.name.strip()
        ]
    known = {b.name for b in bodies}
    for frame in frames:
        if frame.name in known:
            found.append(
                Finding(
                    "error",
                    f"frame {frame.name!r}",
                    "a body has the same name.",
                    "Rename it.",
                    frame.source,
                )
            )
        if frame.body not in known:
            _note_unknown(found, f"frame {frame.name!r}", "body", frame.body, known, frame.source)
    return found


def _note_unknown(found, what, kind, name, known, source):
    """Add the finding that a name does not exist, with a hint while there are few of them."""
    hint = _hint(name, known) if len(found) < MAX_LISTED else ""
    found.append(
        Finding("error", what, f"it names the {kind} {name!r}, which does not exist.", hint, source)
    )


def _hint(name, known):
    short = [k for k in known if len(k) <= MAX_COMPARED]
    near = nearest(name, short) if isinstance(name, str) and len(name) <= MAX_COMPARED else ""
    return (
        f"Did you mean {near!r}?" if near else f"Known: {', '.join(map(repr, sorted(short)[:8]))}."
    )


def _connection_faults(mechanism, bodies, joints):
    found: list[Finding] = []
    known = {b.name for b in bodies}
    children: dict[str, Joint] = {}
    for joint in joints:
        for role in ("parent", "child"):
            if getattr(joint, role) not in known:
                _note_unknown(
                    found,
                    f"joint {joint.name!r}",
                    f"{role} body",
                    getattr(joint, role),
                    known,
                    joint.source,
                )
        if joint.parent == joint.child:
            found.append(
                Finding(
                    "error",
                    f"joint {joint.name!r}",
                    f"it connects body {joint.child!r} to itself.",
                    "Name another parent.",
                    joint.source,
                )
            )
        elif joint.child in children:
            found.append(
                Finding(
                    "error",
                    f"body {joint.child!r}",
                    f"it is the child of joints {children[joint.child].name!r} and {joint.name!r}.",
                    "A tree has one joint per child; closed loops are not supported yet.",
                    joint.source,
                )
            )
        children.setdefault(joint.child, joint)
    if found:
        return found
    roots = [b for b in bodies if b.name not in children]
    if len(roots) > 1:
        found.append(
            Finding(
                "error",
                f"mechanism {mechanism!r}",
                f"it has {len(roots)} bodies without a parent "
                f"({', '.join(repr(b.name) for b in roots[:4])}"
                + (", ...)." if len(roots) > 4 else ")."),
                "Connect them by joints: one body is the base.",
                roots[1].source,
            )
        )
    reached = _reached(joints, roots[0].name) if roots else set()
    stuck = [b for b in bodies if b.name not in reached]
    if len(roots) <= 1 and stuck:
        found.append(
            Finding(
                "error",
                f"bodies {', '.join(repr(b.name) for b in stuck[:4])}"
                + (", ..." if len(stuck) > 4 else ""),
                "their joints form a cycle.",
                "Remove one joint of the cycle.",
                stuck[0].source,
            )
        )
    return found


def _reached(joints, root):
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


def _joint_faults(joint):
    found = []
    what = f"joint {joint.name!r}"
    for parameter in joint.type.parameters:
        value = getattr(joint.type, parameter)
        if (
            isinstance(value, tuple)
            and not any(is_symbolic(a) for a in value)
            and not any(as_float(a) for a in value)
        ):
            found.append(
                Finding(
                    "error",
                    what,
                    f"{parameter} has length 0. A {joint.type.name} joint needs a direction,",
                    "for example [0, 0, 1].",
                    joint.source,
                )
            )
    turns = [s.axis for s in (joint.type.screws() or ()) if s.turns]
    if len(turns) == 2 and not found and _parallel(*turns):
        found.append(
            Finding(
                "error",
                what,
                "its two axes are parallel: it has one freedom, not two.",
                "Use a revolute joint, or turn one axis.",
                joint.source,
            )
        )
    lower, upper = joint.limits.lower, joint.limits.upper
    if lower is not None and upper is not None:
        for low, high in zip(lower, upper, strict=True):
            if not is_symbolic(low) and not is_symbolic(high) and as_float(low) > as_float(high):
                found.append(
                    Finding(
                        "error",
                        what,
                        f"its lower limit {as_float(low):g} is above its upper limit "
                        f"{as_float(high):g}.",
                        "Exchange them.",
                        joint.source,
                    )
                )
    for name, part in (("stiffness", "spring"), ("rotor_inertia", "rotor")):
        if joint.type.nq != joint.type.nv and any(_nonzero(k) for k in getattr(joint, name)):
            found.append(
                Finding(
                    "error",
                    what,
                    f"a {joint.type.name} joint has no single coordinate for a {part}.",
                    f"Leave out {name}.",
                    joint.source,
                )
            )
    for name in ("viscous", "coulomb", "rotor_inertia", "stiffness"):
        for value in getattr(joint, name):
            if not is_symbolic(value) and as_float(value) < 0:
                found.append(
                    Finding(
                        "error",
                        what,
                        f"{name} is {as_float(value):g}, below 0.",
                        "It would feed energy in; give its magnitude.",
                        joint.source,
                    )
                )
    if joint.mimic is not None and (joint.type.nq, joint.type.nv) != (1, 1):
        found.append(
            Finding(
                "error",
                what,
                f"a {joint.type.name} joint cannot follow another.",
                "A follower has one coordinate.",
                joint.source,
            )
        )
    return found


def _parallel(a, b) -> bool:
    if any(is_symbolic(x) for x in (*a, *b)):
        return False
    a, b = np.array([as_float(x) for x in a]), np.array([as_float(x) for x in b])
    return bool(
        np.linalg.norm(np.cross(a, b)) <= UNIT_SLACK * np.linalg.norm(a) * np.linalg.norm(b)
    )


def _nonzero(x: Number) -> bool:
    return is_symbolic(x) or as_float(x) != 0


def _follower_faults(joints):
    found: list[Finding] = []
    known = {j.name: j for j in joints}
    for joint in joints:
        if joint.mimic is None:
            continue
        seen, at = {joint.name: True}, joint  # in order
        while at.mimic is not None:
            leader = known.get(at.mimic.joint)
            if leader is None:
                _note_unknown(
                    found, f"joint {at.name!r}", "joint to follow", at.mimic.joint, known, at.source
                )
                break
            if len(seen) > MAX_FOLLOWING:
                found.append(
                    Finding(
                        "error",
                        f"joint {joint.name!r}",
                        f"more than MAX_FOLLOWING = {MAX_FOLLOWING} followers stand between it and "
                        "an independent joint.",
                        "Let it follow that one.",
                        joint.source,
                    )
                )
                break
            if leader.name in seen:
                found.append(
                    Finding(
                        "error",
                        f"joint {joint.name!r}",
                        f"it follows itself ({' -> '.join([*seen, leader.name])}).",
                        "One joint of the chain must be independent.",
                        joint.source,
                    )
                )
                break
            seen[leader.name] = True
            at = leader
        else:
            if (at.type.nq, at.type.nv) != (1, 1) or isinstance(at.type, Fixed):
                found.append(
                    Finding(
                        "error",
                        f"joint {joint.name!r}",
                        f"it follows {at.name!r}, a {at.type.name} joint.",
                        "A leader has one coordinate.",
                        joint.source,
                    )
                )
    return found


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
    ready, ordered = list(below[root.name]), []
    heapq.heapify(ready)
    while ready:
        joint = joints[heapq.heappop(ready)]
        ordered.append(joint)
        for k in below[joint.child]:
            heapq.heappush(ready, k)
    return (root, *(by_name[j.child] for j in ordered)), tuple(ordered)


# --- numbers --------------------------------------------------------------------------------------------------------


def _axis_lengths(joint):
    found = []
    for parameter in joint.type.parameters:
        value = getattr(joint.type, parameter)
        if isinstance(value, tuple) and not any(is_symbolic(a) for a in value):
            length = math.hypot(*(as_float(a) for a in value))
            if abs(length - 1) > UNIT_SLACK:
                found.append(
                    Finding(
                        "warning",
                        f"joint {joint.name!r}",
                        f"{parameter} has length {length:.9g};",
                        "it is scaled to 1.",
                        joint.source,
                    )
                )
    return found


def _impossible_limits(joint):
    found = []
    for name in ("velocity", "effort"):
        for bound in getattr(joint.limits, name) or ():
            if not is_symbolic(bound) and as_float(bound) < 0:
                found.append(
                    Finding(
                        "error",
                        f"joint {joint.name!r}",
                        f"its {name} limit is {as_float(bound):g}, below 0.",
                        "Give its magnitude, or leave it out for none.",
                        joint.source,
                    )
                )
    return found


def _limits_of_zero(joints):
    """Exporters write 0 for limits that nobody gave."""
    still = [
        j
        for j in joints
        if any(
            not is_symbolic(x) and as_float(x) == 0
            for bounds in (j.limits.velocity, j.limits.effort)
            for x in bounds or ()
        )
    ]
    if not still:
        return []
    names = ", ".join(repr(j.name) for j in still[:3]) + (", ..." if len(still) > 3 else "")
    return [
        Finding(
            "note",
            f"{len(still)} joint{'' if len(still) == 1 else 's'} ({names})",
            "a limit of velocity or effort is 0, with which nothing moves.",
            "Leave it out if there is none.",
            still[0].source,
        )
    ]


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
    found = []
    sources = {body.name: body.source for body in bodies}
    for joint, body, _, direction in pivots.undetermined(tree, q):
        turn, slide = direction[:3], direction[3:]
        way = f"about ({_shown(turn)})" if any(turn) else f"along ({_shown(slide)})"
        found.append(
            Finding(
                "warning",
                f"body {body!r}",
                f"joint {joint!r} moves it {way}, where its inertia is 0 within rounding: "
                "accelerations are not determined, so forward dynamics will refuse.",
                "Give it the inertia that it has there (a rod of radius r has m r^2/2), give the "
                "joint a rotor_inertia, or take a joint that does not move it so.",
                sources[body],
            )
        )
    return found


def _shown(vector: Sequence[float]) -> str:
    return ", ".join(f"{x + 0.0:.3g}" for x in np.where(np.abs(vector) < 1e-9, 0.0, vector))
