"""Mechanisms in Hamilton's form: momenta, gradient of the Lagrangian and the exact solution, each
one or two O(n) passes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any

import numpy as np

from dalembert.expr import Expr, Graph, count_operations, symbols
from dalembert.formulations.hamilton.configurations import (
    CanonicalSystem,
    Configuration,
    Operations,
    Scalars,
)
from dalembert.formulations.hamilton.dense import dense_solution
from dalembert.kinematics.forces import external_wrenches, passive, spring_energy
from dalembert.kinematics.poses import first_moments
from dalembert.model.mechanism import Mechanism
from dalembert.model.on_tree import OnTree
from dalembert.model.pivots import PivotCheck, sizes
from dalembert.model.tree import Tree
from dalembert.spatial.inertias import ArticulatedInertia
from dalembert.spatial.ldl import Factors, factorised, inverted, stacked
from dalembert.spatial.motion_force import NO_FORCE, NO_MOTION, Force, Motion, combined
from dalembert.spatial.vectors import Scalar, Vector, dot


class CanonicalMechanism(CanonicalSystem):
    """A mechanism; its momenta are those of bodies and rotors, its own forces friction and the
    external ones.
    """

    def __init__(self, mechanism: Any):
        self.mechanism = mechanism
        self.name = mechanism.name
        self.nq = mechanism.nq
        self.nv = mechanism.nv

    def at(self, t=0.0, external_forces=(), **vectors):
        """Configuration, checked scalars of the vectors, and the function that packs results."""
        tree, (*scalars, loads), pack = self.mechanism.at(
            **vectors, external_forces=external_forces
        )
        return (
            TreeConfiguration(tree, scalars[0], external_wrenches(tree, scalars[0], loads)),
            tuple(scalars),
            pack,
        )

    def configuration(self, q, t=0.0):
        """The mechanism at coordinates q."""
        graph = next((x.graph for x in q if hasattr(x, "graph")), None)
        return TreeConfiguration(self.mechanism.tree(graph), q)

    def rate(self, q, z):
        """qd of the velocities z, joint by joint, then body by body."""
        rates: list[Scalar] = []
        for holder in self.mechanism.holders:
            entry = holder.entry
            rates += holder.type.rate(q[entry.at_q], z[entry.at_v.start : entry.at_v.stop])
        return rates

    @cached_property
    def product_operations(self):  # type: ignore[override]
        """Operations of one product M(q) z, counted on symbols."""
        q, _ = self.mechanism.random_state(
            0
        )  # terms in q alone become numbers, and are not counted
        with Graph():
            count = count_operations(
                self.configuration(q.tolist()).product(list(symbols("z", self.nv)))
            )
        return Operations(count["mul"], count["add"], count["div"])


def system_of(system: Any) -> CanonicalSystem:
    """A mechanism as a system; systems are returned as they are."""
    if isinstance(system, CanonicalSystem):
        return system
    if isinstance(system, (Mechanism, OnTree)):
        return CanonicalMechanism(system)
    raise TypeError(
        f"{type(system).__name__} is no system: expected a da.Mechanism, "
        "hamilton.planar_chain(...) or hamilton.nonnatural(...)."
    )


def lie_poisson(tree: Tree, z: Scalars, p: Scalars) -> list[Scalar]:
    """-(z x* p) in the entries of spherical and free joints, whose velocities do not commute."""
    term: list[Scalar] = [0.0] * tree.nv
    for joint in tree.joint[1:]:
        if joint.type.quaternion_at is None:
            continue
        dof = slice(joint.dof.start, joint.dof.stop)
        # a spherical joint has angular entries alone
        angular, linear, moment, force = (
            Vector(entries) for x in (z, p) for entries in (x[dof][:3], [*x[dof][3:], 0, 0, 0][:3])
        )
        rate = Motion(angular, linear).cross_force(Force(moment, force))
        term[dof] = [-x for x in [*rate.moment, *rate.force][: len(joint.dof)]]
    return term


class TreeConfiguration(Configuration):
    """A tree at a configuration, in the bodies' axes.

    S[i] motion subspace, X[i] placement, v_i = X v_parent + S z_i, h_i = I_i v_i + sum over
    children X^T h_c.
    """

    def __init__(self, tree: Tree, q: Scalars, wrenches: Mapping[int, Force] | None = None):
        self.tree = tree
        self.q = q
        self.wrenches = wrenches or {}
        joints = tree.joint[1:]
        self.X = [None, *(joint.placement(q) for joint in joints)]
        self.S: list[Sequence[Motion]] = [(), *(joint.subspace(q) for joint in joints)]

    def velocities(self, z: Scalars) -> tuple[dict[int, Motion], dict[int, Motion]]:
        """Velocity of each body, and the part of it that its parent carries along."""
        v = {0: NO_MOTION}
        carried = {}
        for i in self.tree.outward():
            carried[i] = self.X[i].motion_to_child(v[self.tree.parent[i]])
            rates = self.tree.joint[i].velocities(z)
            v[i] = carried[i] + combined(self.S[i], rates)
        return v, carried

    def composite_momenta(self, v: Mapping[int, Motion]) -> dict[int, Force]:
        """Momentum h_i of each body and all that it carries."""
        return self._summed({i: self.tree.inertia[i].momentum(v[i]) for i in self.tree.outward()})

    def _summed(self, f: dict[int, Force]) -> dict[int, Force]:
        """Force or momentum of each body and all that it carries."""
        for i in self.tree.inward():
            if j := self.tree.parent[i]:
                f[j] = f[j] + self.X[i].force_to_parent(f[i])
        return f

    def product(self, z):
        """p_i = S_i^T h_i, and the rotors' momenta."""
        v, _ = self.velocities(z)
        rotors = [rotor * rate for rotor, rate in zip(self.tree.rotor, z, strict=True)]
        return self._along(self.composite_momenta(v), self.S, rotors)

    def gradient(self, z):
        """dL/dq = dK/dq - dPi/dq with dK/dq_i = h_i . (X v_parent x S_i + dS_i z_i): gravity and
        springs are in Pi.
        """
        springs = passive(self.tree, self.q, [0.0] * len(z))
        return [g + f for g, f in zip(self._without_springs(z), springs, strict=True)]

    def _without_springs(self, z: Scalars) -> list[Scalar]:
        """dL/dq of the bodies alone."""
        v, carried = self.velocities(z)
        turned = {i: self._turned(i, v[i], carried[i], z) for i in self.tree.outward()}
        return self._along(self.composite_momenta(v), turned, self._weights())

    def _turned(self, i: int, v: Motion, carried: Motion, z: Scalars) -> tuple[Motion, ...]:
        """How v_i changes along each freedom of joint i, z held."""
        rate = self.tree.joint[i].subspace_rate(self.q, z)
        if rate is None:
            return tuple(carried.cross(s) for s in self.S[i])
        # S_k' + S z x S_k = (dS/dq_k) z, and v is S z and the carried velocity
        return tuple(v.cross(s) + r for s, r in zip(self.S[i], rate, strict=True))

    def _weights(self) -> list[Scalar]:
        """Generalized forces of gravity, -dPi_g/dq, by the composite first moments of mass."""
        tree = self.tree
        g = {0: tree.gravity}
        m = [inertia.m for inertia in tree.inertia]
        c = [inertia.h for inertia in tree.inertia]
        for i in tree.outward():
            g[i] = self.X[i].R.to_child(g[tree.parent[i]])
        for i in tree.inward():
            if j := tree.parent[i]:
                X = self.X[i]
                m[j] = m[j] + m[i]
                c[j] = c[j] + X.R.to_parent(c[i]) + X.p * m[i]
        weights = {i: Force(c[i].cross(g[i]), g[i] * m[i]) for i in tree.outward()}
        return self._along(weights, self.S)

    def _along(
        self, f: Mapping[int, Force], directions: Any, start: Scalars | None = None
    ) -> list[Scalar]:
        """Each entry of `start`, plus f_i . direction for the freedoms of joint i."""
        total = [0.0] * self.tree.nv if start is None else list(start)
        for i in self.tree.outward():
            for k, s in zip(self.tree.joint[i].dof, directions[i], strict=True):
                total[k] = total[k] + f[i].dot(s)
        return total

    def lie_poisson(self, z, p):
        """-(z x* p) in the entries of spherical and free joints."""
        return lie_poisson(self.tree, z, p)

    def dissipative(self, z):
        """Friction of the joints and external forces; springs are in the potential."""
        total = passive(self.tree, self.q, z)
        springs = passive(self.tree, self.q, [0.0] * len(z))
        return self._with_external([f - s for f, s in zip(total, springs, strict=True)])

    def momentum_rate(self, z, p):
        """As the sum of the parts, with springs and friction in one."""
        bodies, joints = self._without_springs(z), passive(self.tree, self.q, z)
        terms = zip(bodies, joints, self.lie_poisson(z, p), strict=True)
        return self._with_external([a + b + c for a, b, c in terms])

    def _with_external(self, force: list[Scalar]) -> list[Scalar]:
        """The forces, and in addition the external ones on the bodies."""
        if not self.wrenches:
            return force
        f = {i: self.wrenches.get(i, NO_FORCE) for i in self.tree.outward()}
        return self._along(self._summed(f), self.S, force)

    @cached_property
    def potential(self):  # type: ignore[override]
        """Pi of gravity and springs, zero height at the world's origin."""
        _, moment = first_moments(self.tree, self.q)
        return spring_energy(self.tree, self.q, -self.tree.gravity.dot(moment))

    def matrix(self):
        """A by its columns A e_k, the lower triangle mirrored."""
        n = self.tree.nv
        columns = [self.product([int(i == k) for i in range(n)]) for k in range(n)]
        return [[columns[min(i, k)][max(i, k)] for i in range(n)] for k in range(n)]

    def solution(self, b):
        """The quadratic program as a dynamic program over the bodies' velocities: articulated
        inertias, momenta for forces.

            inward   U = I_A S,  D = S^T U + rotors,  gamma = b + S^T sigma;
                     to the parent I_A - U D^-1 U^T and sigma - U D^-1 gamma
            outward  z = D^-1 (gamma - U^T X v_parent), v = X v_parent + S z

        Followers and beams couple joints out of the recursion's order: then by the dense A.
        """
        tree = self.tree
        if tree.shares_entries:
            return dense_solution(self.matrix(), b, self.sizes())
        I_A = [ArticulatedInertia.of(inertia) for inertia in tree.inertia]
        check = PivotCheck.of_tree(
            tree, self.q, self.matrix, consequence="its velocity is not determined by the momenta"
        )
        sigma = [NO_FORCE] * (tree.n + 1)
        steps = {}
        for i in tree.inward():
            S = self.S[i]
            U = tuple(map(I_A[i].apply, S))
            D_inverse = inverted(self._joint_factors(i, U, I_A[i], check))
            V = tuple(combined(U, column) for column in zip(*D_inverse, strict=True))
            gamma = [b[k] + sigma[i].dot(s) for k, s in zip(tree.joint[i].dof, S, strict=True)]
            steps[i] = V, [dot(row, gamma) for row in D_inverse]
            if j := tree.parent[i]:
                I_A[j] = I_A[j] + I_A[i].minus(U, V, tree.freed(i)).to_parent(self.X[i])
                sigma[j] = sigma[j] + self.X[i].force_to_parent(sigma[i] - combined(V, gamma))

        v = {0: NO_MOTION}
        z = [0.0] * tree.nv
        for i in tree.outward():
            joint = tree.joint[i]
            V, rate = steps[i]
            carried = self.X[i].motion_to_child(v[tree.parent[i]])
            z[joint.dof.start : joint.dof.stop] = [
                r - u.dot(carried) for r, u in zip(rate, V, strict=True)
            ]
            v[i] = carried + combined(self.S[i], joint.velocities(z))
        return z

    def _joint_factors(
        self, i: int, U: tuple[Force, ...], I_A: ArticulatedInertia, check: PivotCheck
    ) -> Factors:
        """Factors of D = S^T U + rotors, each pivot judged by the size of the inertia."""
        dof = self.tree.joint[i].dof
        D = [[u.dot(s) for u in U] for s in self.S[i]]
        for r, k in enumerate(dof):
            D[r][r] = D[r][r] + self.tree.rotor[k]
        size = I_A.I.trace + I_A.M.trace
        return factorised(D, lambda r, pivot: check(dof[r], pivot, size))

    def sizes(self):
        """Sizes of the entries of the mass matrix's diagonal, against which pivots are judged; None
        for symbols.
        """
        if any(isinstance(x, Expr) for x in self.q):
            return None
        return stacked([sizes(self.tree, self.q)])[..., 0, :]

    def smallest_eigenvalue(self):
        """lambda_min of A itself, from the dense A: O(n^3), for studies."""
        return np.linalg.eigvalsh(stacked(self.matrix()))[..., 0]
