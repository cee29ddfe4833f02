"""Factors of the mass matrix of a tree by articulated bodies, in O(n) operations.

    M = L D L^T

L^-1 is a pass inward, which collects forces, and L^-T one outward, which collects accelerations.
Neither M nor L is formed: of a long chain they have no zeros.

Rodriguez, Jain and Kreutz-Delgado, Spatial operator algebra for multibody system dynamics, Journal
of the Astronautical Sciences 40 (1992) 27-50.
"""

from __future__ import annotations

from collections.abc import (
    Mapping,
    Sequence,
)
from typing import (
    Any,
    NamedTuple,
)

from dalembert.expr import known_zero
from dalembert.formulations.newton_euler.forward import freed_inertia
from dalembert.model.pivots import PivotCheck
from dalembert.model.tree import Tree
from dalembert.spatial.inertias import ArticulatedInertia
from dalembert.spatial.ldl import Check
from dalembert.spatial.motion_force import (
    NO_FORCE,
    NO_MOTION,
    Force,
    Motion,
    combined,
)
from dalembert.spatial.sparse_ldl import (
    SparseFactors,
    dot,
    gram,
)
from dalembert.spatial.transforms import Transform
from dalembert.spatial.vectors import Scalar


class JointFactors(NamedTuple):
    """A joint between articulated bodies.

    X, S : placement of its body in the parent, motion subspace
    V : U D^-1
    D : factors of S^T U
    """

    X: Transform
    S: tuple[Motion, ...]
    V: tuple[Force, ...]
    D: SparseFactors

    def inward(self, p: Force, b: Sequence[Scalar]) -> tuple[list[Scalar], Force]:
        """Entries of L^-1 b, and the force on the parent, in its axes, from that on the body."""
        u = [x - p.dot(s) for x, s in zip(b, self.S, strict=True)]
        p_a = p + combined(self.V, u)
        return self.D.reduced(u), self.X.force_to_parent(p_a)

    def outward(self, parent: Motion, y: Sequence[Scalar]) -> tuple[list[Scalar], Motion]:
        """Entries of L^-T y, and the acceleration of the body from that of its parent."""
        a = self.X.motion_to_child(parent)
        own = self.D.outward(y)
        x = [entry - v.dot(a) for entry, v in zip(own, self.V, strict=True)]
        return x, a + combined(self.S, x)


class ArticulatedFactors(NamedTuple):
    """M = L D L^T of a tree, with the interface of `spatial.sparse_ldl.SparseFactors`.

    joints : by body; nothing of the base
    """

    tree: Tree
    joints: Sequence[JointFactors | None]

    @classmethod
    def of(cls, tree: Tree, q: Sequence[Scalar], check: Check | None = None) -> ArticulatedFactors:
        """The factors at coordinates; check(k, pivot, size) sees each pivot.

        Raises
        ------
        SingularMassMatrixError
            By the check: the inertia about a joint is not positive.
        """
        check = check or PivotCheck.of_tree(tree, q, list)
        joints: list[JointFactors | None] = [None] * len(tree.parent)
        I_A = [ArticulatedInertia.of(inertia) for inertia in tree.inertia]
        for i in tree.inward():
            joint = tree.joint[i]
            X, S = joint.placement(q), joint.subspace(q)
            I_a, V, D = freed_inertia(tree, i, check, I_A[i], S)
            joints[i] = JointFactors(X, S, V, SparseFactors.of(D))
            if j := tree.parent[i]:
                I_A[j] = I_A[j] + I_a.to_parent(X)
        return cls(tree, joints)

    @property
    def order(self) -> Sequence[int]:
        """Rows in the order in which they are eliminated."""
        return range(self.tree.nv - 1, -1, -1)

    @property
    def inverse_pivots(self) -> list[Scalar]:
        """1 / D by row."""
        inverses: list[Scalar] = [0.0] * self.tree.nv
        for i in self.tree.outward():
            for k, x in zip(self.tree.joint[i].dof, self._joint(i).D.inverse_pivots, strict=True):
                inverses[k] = x
        return inverses

    def inward(self, b: Mapping[int, Scalar]) -> dict[int, Scalar]:
        """L^-1 b, by the entries that are not 0."""
        y: dict[int, Scalar] = {}
        p: dict[int, Force] = {}
        for i in self.tree.inward():
            dof = self.tree.joint[i].dof
            if i not in p and not any(k in b for k in dof):
                continue
            own = [b.get(k, 0.0) for k in dof]
            reduced, force = self._joint(i).inward(p.get(i, NO_FORCE), own)
            y |= {k: x for k, x in zip(dof, reduced, strict=True) if not known_zero(x)}
            j = self.tree.parent[i]
            p[j] = p[j] + force if j in p else force
        return y

    def reduced(self, b: Sequence[Scalar]) -> list[Scalar]:
        """L^-1 b of a vector without structure."""
        y = self.inward(dict(enumerate(b)))
        return [y.get(k, 0.0) for k in range(self.tree.nv)]

    def outward(self, y: Sequence[Scalar]) -> list[Scalar]:
        """L^-T y."""
        x: list[Scalar] = [0.0] * self.tree.nv
        a = {0: NO_MOTION}
        for i in self.tree.outward():
            dof = self.tree.joint[i].dof
            own = [y[k] for k in dof]
            x[dof.start : dof.stop], a[i] = self._joint(i).outward(a[self.tree.parent[i]], own)
        return x

    def scaled(self, b: Sequence[Scalar]) -> list[Scalar]:
        """D^-1 b."""
        return [x * inverse for x, inverse in zip(b, self.inverse_pivots, strict=True)]

    def solved(self, b: Sequence[Scalar]) -> list[Scalar]:
        """x of M x = b."""
        return self.outward(self.scaled(self.reduced(b)))

    def gram(self, rows: Sequence[Mapping[int, Scalar]]) -> list[Any]:
        """Rows {column: number} of V D^-1 V^T, with rows of V."""
        return gram(rows, self.inverse_pivots)

    def products(
        self, rows: Sequence[Mapping[int, Scalar]], vector: Sequence[Scalar]
    ) -> list[Scalar]:
        """V x, with rows of V."""
        return [dot(row, vector) for row in rows]

    def held(self, values: Sequence[Scalar]) -> Sequence[Scalar]:
        """Values of which many others are computed: as they are."""
        return values

    def _joint(self, i: int) -> Any:
        return self.joints[i]


def operations_of_factors(tree: Tree) -> int:
    """Products in the factorisation L^T D L of M: sum of d (d + 1) / 2 with d velocities below each
    on its way to the base.
    """
    depth = [0] * len(tree.parent)
    products = 0
    for i in tree.outward():
        depth[i] = depth[tree.parent[i]] + len(tree.joint[i].dof)
        for d in range(depth[tree.parent[i]], depth[i]):
            products += d * (d + 1) // 2
    return products
