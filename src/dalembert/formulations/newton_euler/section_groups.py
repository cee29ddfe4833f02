"""Articulated bodies on the sections of a beam, which share its coordinates: they are eliminated
together, in the axes of the body that carries the beam.

    U = sum X^T I_A S,  D = sum S^T I_A S,  I_a = sum X^T I_A X - U D^-1 U^T,
    p_a = sum X^T p_A + U D^-1 u,  u = tau - sum S^T p_A,  qdd = D^-1 u - (U D^-1)^T a_carrier
"""

from __future__ import annotations

from collections.abc import (
    Mapping,
    Sequence,
)
from typing import NamedTuple

from dalembert.formulations.newton_euler.line_dynamics import line_inertia
from dalembert.model.elastic.line_masses import LineMass
from dalembert.model.tree import Tree
from dalembert.spatial.inertias import (
    NO_INERTIA,
    ArticulatedInertia,
)
from dalembert.spatial.ldl import (
    Check,
    Factors,
    factorised,
    inverted,
)
from dalembert.spatial.motion_force import (
    NO_FORCE,
    Force,
    Motion,
    combined,
)
from dalembert.spatial.transforms import Transform
from dalembert.spatial.vectors import Scalar


class SectionGroup(NamedTuple):
    """The sections of a beam in the tree: entries of its coordinates, bodies, their placements and
    motion subspaces, and the mass along its line.
    """

    dof: range
    bodies: tuple[int, ...]
    X: Sequence[Transform]
    S: Sequence[tuple[Motion, ...]]
    line: LineMass | None

    @staticmethod
    def of(tree: Tree, first: int, q: Sequence[Scalar]) -> SectionGroup:
        """The group of a beam by the first of its sections."""
        lines = [line for line in tree.lines if line.bodies[0] in tree.sections[first]]
        bodies = tuple(i for i in tree.sections[first] if i in tree.bodies)
        joints = [tree.joint[i] for i in bodies]
        return SectionGroup(
            tree.joint[first].dof,
            bodies,
            [j.placement(q) for j in joints],
            [j.subspace(q) for j in joints],
            lines[0] if lines else None,
        )

    def forces(self, of_bodies: Mapping[int, Force] | Sequence[Force]) -> Force:
        """Forces on the sections, on the carrier."""
        carried = [
            X.force_to_parent(of_bodies[i]) for i, X in zip(self.bodies, self.X, strict=True)
        ]
        return sum(carried, NO_FORCE)

    def along(self, of_bodies: Mapping[int, Force] | Sequence[Force]) -> list[Scalar]:
        """Forces on the sections, on the coordinates: sum S^T f."""
        totals: list[Scalar] = [0] * len(self.dof)
        for i, S in zip(self.bodies, self.S, strict=True):
            totals = [t + of_bodies[i].dot(s) for t, s in zip(totals, S, strict=True)]
        return totals

    def moved(self, carrier: Motion, rates: Sequence[Scalar]) -> dict[int, Motion]:
        """Motions of the sections from that of the carrier and of the coordinates."""
        return {
            i: X.motion_to_child(carrier) + combined(S, rates)
            for i, X, S in zip(self.bodies, self.X, self.S, strict=True)
        }


class FreedGroup(NamedTuple):
    """Inertia that articulated sections pass to the carrier, with V = U D^-1 and factors of D."""

    inertia: ArticulatedInertia
    V: tuple[Force, ...]
    D: Factors


def freed_group(
    tree: Tree,
    group: SectionGroup,
    q: Sequence[Scalar],
    I_A: Mapping[int, ArticulatedInertia] | Sequence,
    check: Check,
) -> FreedGroup:
    """The elimination of a beam's coordinates."""
    dof, n = group.dof, len(group.dof)
    D: list[list[Scalar]] = [[0] * n for _ in range(n)]
    U, total = [NO_FORCE] * n, ArticulatedInertia.of(NO_INERTIA)
    if group.line is not None:
        body, U, D = line_inertia(group.line, tree.joint[group.line.bodies[0]], q)
        total = ArticulatedInertia.of(body)
    for i, X, S in zip(group.bodies, group.X, group.S, strict=True):
        own = [I_A[i].apply(s) for s in S]
        carried = [X.force_to_parent(f) for f in own]
        U = [a + b for a, b in zip(U, carried, strict=True)]
        for r, s in enumerate(S):
            D[r] = [d + f.dot(s) for d, f in zip(D[r], own, strict=True)]
        total = total + I_A[i].to_parent(X)
    size = sum((D[k][k] for k in range(1, n)), D[0][0])
    factors = factorised(D, lambda r, pivot: check(dof[r], pivot, size))
    inverse = inverted(factors)
    V = tuple(combined(U, [inverse[r][c] for r in range(n)]) for c in range(n))
    return FreedGroup(total.minus(tuple(U), V, ()), V, factors)
