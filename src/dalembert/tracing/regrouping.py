"""Equal mechanisms that take fewer operations: mass that moves with the parent as well is given to
the parent, and origins of links slide along joint axes.

Points on the axis of a revolute joint move with its parent, so that a rod on the axis with the
link's mass m, first moment h_k and second moment J_kk along it (axis k) may be taken from the link
and fixed to the parent. A link on a prismatic joint turns with its parent, so that its second
moments J may. Forces and accelerations stay as they are; the link's zeros save operations (Gautier
and Khalil, Direct calculation of minimum set of inertial parameters of serial robots, 1990).

Where on its joint's axis a link's origin lies is a matter of choice too. A shift moves entries from
the link's own place to those of its children, and may leave more of them zero.
"""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache
from typing import Any

import numpy as np

from dalembert.codegen.symbols import outlined
from dalembert.expr import count_operations, known_zero
from dalembert.formulations.newton_euler.forward import (
    forward_dynamics,
    forward_dynamics_by_factors,
)
from dalembert.model.mechanism import Mechanism
from dalembert.model.on_tree import OnTree
from dalembert.model.tree import Tree, TreeJoint
from dalembert.spatial.inertias import Inertia
from dalembert.spatial.rotations import coordinate_axis
from dalembert.spatial.screws import only_screw
from dalembert.spatial.transforms import Transform
from dalembert.spatial.vectors import AXES, ZERO, ZERO_MATRIX, Matrix, Vector

# velocities: beyond, articulated bodies always take fewer operations than factors of the mass
# matrix
FACTORS_UP_TO = 12
# moving bodies; around it both forms are as fast within a third, and scans compile six times faster
ROLLED_FROM = 96


def on_regrouped_tree(mechanism: Mechanism) -> Any:
    """The mechanism with regrouped inertias on shifted links: for forces and accelerations, not for
    energies or places.

    A mechanism of a class of a user's own, whose trees may be others, is taken as it is.
    """
    if not type(mechanism).__module__.startswith("dalembert."):
        return mechanism

    def tree_in(graph: Any) -> Tree:
        """The tree, regrouped."""
        return regrouped(slid(mechanism.tree(graph)))

    return OnTree(mechanism, tree_in if mechanism.changeable else lru_cache(maxsize=1)(tree_in))


def accelerations(
    mechanism: Mechanism, q: np.ndarray, qd: np.ndarray, tau: np.ndarray
) -> np.ndarray:
    """Forward dynamics on symbols: of the equal forms the one of fewest operations, or scans where
    these may be called.
    """
    if (trace := outlined.get()) and sum(
        not joint.is_fixed for joint in mechanism.joints
    ) >= ROLLED_FROM:
        from dalembert.tracing import rolled

        if rolled.covers(mechanism, ["forward_dynamics"]):
            scans = rolled.rolled(mechanism, ["forward_dynamics"])
            return trace.scanned(scans, q, qd, tau)[0]  # type: ignore[no-any-return]
    forms = (
        (forward_dynamics, forward_dynamics_by_factors)
        if mechanism.nv <= FACTORS_UP_TO
        else (forward_dynamics,)
    )
    found = [form(on_regrouped_tree(mechanism), q, qd, tau) for form in forms]
    return min(found, key=lambda qdd: sum(count_operations(list(qdd)).values()))


def regrouped(tree: Tree) -> Tree:
    """A tree of the same motions with fewer nonzero inertial parameters."""
    inertia = list(tree.inertia)
    for i in tree.inward():
        moved = carried_by_parent(tree.joint[i].type, inertia[i])
        if moved is not None:
            kept, given = moved
            inertia[i] = kept
            j = tree.parent[i]
            inertia[j] = inertia[j] + given.to_parent(tree.joint[i].origin)
    return tree.replace(inertia=inertia)


def slid(tree: Tree) -> Tree:
    """A tree of the same motions whose links' places have fewer entries that are not zero.

    From the base on, each link slides to where entries cost least: each entry of a link's place
    counts once for every link that is carried by it, of links on the base, which does not turn, not
    at all.
    """
    joint = list(tree.joint)
    inertia = list(tree.inertia)
    carried, children = [0] * len(tree.parent), [[] for _ in tree.parent]  # type: ignore[var-annotated]
    for i in tree.inward():
        carried[i] += 1
        carried[tree.parent[i]] += carried[i]
        children[tree.parent[i]].append(i)
    shift = [ZERO] * len(tree.parent)
    for i in tree.outward():
        if (axis := _axis(joint[i])) is not None:
            inside, outside = axis
            t = _cheapest(
                joint[i],
                axis,
                carried[i] if tree.parent[i] else 0,
                [(joint[c], carried[c]) for c in children[i]],
            )
            shift[i] = inside * t
            joint[i] = _moved(joint[i], outside * t)
            inertia[i] = inertia[i].to_parent(Transform(-shift[i]))
            for c in children[i]:
                joint[c] = _moved(joint[c], -shift[i])
    place = {name: (i, Transform(X.p - shift[i], X.R)) for name, (i, X) in tree.place.items()}
    return tree.replace(joint=joint, inertia=inertia, place=place)


def _cheapest(
    joint: TreeJoint,
    axis: tuple[Vector, Vector],
    weight: int,
    children: list[tuple[TreeJoint, int]],
) -> float:
    """How far a link slides; children are given with their weights, and will slide on."""
    inside, outside = axis

    def cost(t: float) -> int:
        """Entries that are not zero, with the origin moved by t."""
        found = weight * _entries(joint.origin.p + outside * t)
        for child, its_weight in children:
            p = child.origin.p - inside * t
            found += its_weight * min(_entries(p + n * s) for n, s in _slides(child, p))
        return found

    ways = [s for _, s in _slides(joint, joint.origin.p)]
    return min(
        ways + [t for child, _ in children if _plain(t := inside.dot(child.origin.p))], key=cost
    )


def _moved(joint: TreeJoint, by: Vector) -> TreeJoint:
    return replace(joint, origin=Transform(joint.origin.p + by, joint.origin.R))


def _axis(joint: TreeJoint) -> tuple[Vector, Vector] | None:
    """A joint's axis in the link's frame and in its parent's, where both are coordinate axes:
    shifts along others would not be exact.
    """
    row = joint.type.screws()
    if (
        not row
        or any(s.axis != row[0].axis for s in row)
        or (own := coordinate_axis(row[0].axis)) is None
    ):
        return None
    outside = joint.origin.R.to_parent(AXES[own[0]])
    return None if coordinate_axis(outside) is None else (AXES[own[0]], outside)


def _slides(joint: TreeJoint, place: Vector) -> list[tuple[Vector, float]]:
    """Shifts of a link along its joint's axis that are worth a try: none at all, and to where an
    entry is zero.
    """
    axis = _axis(joint)
    along = axis[1].dot(place) if axis else 0
    return [(ZERO, 0.0)] + ([(axis[1], -along)] if axis and _plain(along) else [])


def _plain(x: Any) -> bool:
    return isinstance(x, (int, float))


def _entries(place: Vector) -> int:
    return sum(not known_zero(x) for x in place)


def carried_by_parent(joint_type: Any, body: Inertia) -> tuple[Inertia, Inertia] | None:
    """(the part that the link keeps, the part that its parent carries in the joint's frame), or
    None where nothing can be moved.
    """
    screw = only_screw(joint_type.screws())
    if screw is None:
        return None
    if screw.turns:
        aligned = coordinate_axis(screw.axis)
        if aligned is None:
            return None
        k = aligned[0]
        rod = Matrix.outer(AXES[k], AXES[k]) * body.J[k][k]
        rows = [[0 if r == c == k else body.J[r][c] for c in range(3)] for r in range(3)]
        first = [0 if r == k else body.h[r] for r in range(3)]
        return Inertia(0, type(body.h)(first), Matrix(rows)), Inertia(
            body.m, AXES[k] * body.h[k], rod
        )
    return Inertia(body.m, body.h, ZERO_MATRIX), Inertia(0, ZERO, body.J)
