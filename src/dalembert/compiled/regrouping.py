"""Exact regrouping of inertial parameters: mass that moves with the parent as well is given to the parent.

Points on the axis of a revolute joint move with its parent, so that a rod on the axis with the link's mass m, first moment
h_k and second moment J_kk along it (axis k) may be taken from the link and fixed to the parent. A link on a prismatic joint
turns with its parent, so that its second moments J may. Forces and accelerations stay as they are; the link's zeros save
operations (Gautier and Khalil, Direct calculation of minimum set of inertial parameters of serial robots, 1990).
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any

from dalembert.model.mechanism import Mechanism
from dalembert.model.tree import Tree
from dalembert.spatial.inertias import Inertia
from dalembert.spatial.rotations import coordinate_axis
from dalembert.spatial.vectors import AXES, ZERO, ZERO_MATRIX, Matrix


@dataclass(frozen=True)
class Regrouped(Mechanism):
    """A mechanism whose tree carries regrouped inertias: for quantities of forces and accelerations, not of energies."""

    @staticmethod
    def of(mechanism: Mechanism) -> Regrouped:
        return Regrouped(**{f.name: getattr(mechanism, f.name) for f in fields(mechanism)})

    def tree(self, graph: Any = None, exact: bool = False) -> Tree:
        """The kinematic tree with regrouped inertias."""
        return regrouped(super().tree(graph, exact))


def regrouped(tree: Tree) -> Tree:
    """A tree of the same motions with fewer nonzero inertial parameters."""
    twin = object.__new__(Tree)
    twin.__dict__ |= tree.__dict__
    inertia = twin.inertia = list(tree.inertia)
    for i in tree.inward():
        moved = carried_by_parent(tree.joint[i].type, inertia[i])
        if moved is not None:
            kept, given = moved
            inertia[i] = kept
            j = tree.parent[i]
            inertia[j] = inertia[j] + given.to_parent(tree.joint[i].origin)
    return twin


def carried_by_parent(joint_type: Any, body: Inertia) -> tuple[Inertia, Inertia] | None:
    """(what the link keeps, what its parent carries in the joint's frame), or None where nothing can be moved."""
    if joint_type.name in ("revolute", "continuous"):
        aligned = coordinate_axis(joint_type.axis)
        if aligned is None:
            return None
        k = aligned[0]
        rod = Matrix.outer(AXES[k], AXES[k]) * body.J[k][k]
        rows = [[0 if r == c == k else body.J[r][c] for c in range(3)] for r in range(3)]
        first = [0 if r == k else body.h[r] for r in range(3)]
        return Inertia(0, type(body.h)(first), Matrix(rows)), Inertia(body.m, AXES[k] * body.h[k], rod)
    if joint_type.name == "prismatic":
        return Inertia(body.m, body.h, ZERO_MATRIX), Inertia(0, ZERO, body.J)
    return None
