"""How forces and accelerations vary with q and qd: derivatives by recursion over bodies."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from dalembert.formulations.newton_euler.inverse import (
    Rates,
    acceleration_field,
    base_rates,
    body_wrench,
    joint_motion,
    outward_step,
    required_forces,
)
from dalembert.formulations.newton_euler.mass_matrix import composite_mass_matrix, composite_step
from dalembert.kinematics.forces import passive, stiffness_and_damping
from dalembert.model.pivots import PivotCheck
from dalembert.model.tree import Tree, TreeJoint
from dalembert.spatial.flow import Flow
from dalembert.spatial.inertias import Inertia
from dalembert.spatial.ldl import (
    Factors,
    Rows,
    couplings,
    factorised,
    inverted,
    solved,
    times,
    total,
)
from dalembert.spatial.motion_force import NO_MOTION, Force, Motion, combined
from dalembert.spatial.transforms import Transform
from dalembert.spatial.vectors import Scalar, Vector


class Variation(NamedTuple):
    """How one freedom of a joint changes the accelerations of all points outboard, per unit of q_k
    or of qd_k.

    In axes that move with the points, the point r of velocity r' accelerates by d_v + d_omega x r +
    2 turn x r' more.
    """

    d: Motion
    turn: Vector

    def force(self, composite: Inertia, flow: Flow) -> Force:
        """Force that it takes, on all bodies outboard together."""
        return composite.momentum(self.d) + flow.coriolis_force(self.turn)


class Freedom(NamedTuple):
    """A freedom of a joint: its entry in qd, column s of S, derivatives of all columns along it,
    its variations.
    """

    at: int
    s: Motion
    dS: Sequence[Motion] | None
    by_q: Variation
    by_qd: Variation


class Carried(NamedTuple):
    """Forces of one freedom on their way to the base.

    `by_q` and `by_qd` are what its variations need on the bodies outboard. `momentum` = I^c s and
    the couple are what it feels of others: a variation (d, turn) of a joint inboard changes its
    joint force by momentum . d + couple . turn.
    """

    momentum: Force
    couple: Vector
    by_q: Force
    by_qd: Force

    @staticmethod
    def of(freedom: Freedom, composite: Inertia, flow: Flow) -> Carried:
        """At the joint itself, from the composite body outboard and its flow."""
        return Carried(
            composite.momentum(freedom.s),
            flow.coriolis_couple(freedom.s),
            freedom.by_q.force(composite, flow),
            freedom.by_qd.force(composite, flow),
        )

    def to_parent(self, X: Transform) -> Carried:
        """The same about the parent's origin, in its axes."""
        return Carried(
            X.force_to_parent(self.momentum),
            X.R.to_parent(self.couple),
            X.force_to_parent(self.by_q),
            X.force_to_parent(self.by_qd),
        )

    def change(self, inboard: Variation) -> Scalar:
        """Change of the freedom's joint force by a variation of a joint inboard."""
        return self.momentum.dot(inboard.d) + self.couple.dot(inboard.turn)


def inverse_dynamics_variations(
    tree: Tree, q: Sequence[Scalar], qd: Sequence[Scalar], qdd: Sequence[Scalar]
) -> tuple[Rows, Rows, Rows]:
    """dtau/dq along the velocity directions, dtau/dqd, and the mass matrix (docs/newton_euler.md,
    section 6).
    """
    dq, dqd, M = ([[0.0] * tree.nv for _ in range(tree.nv)] for _ in range(3))
    X, rates, v, freedoms, force, flow = (
        {},
        {0: base_rates(tree.gravity)},
        {0: NO_MOTION},
        {},
        {},
        {},
    )
    composite = list(tree.inertia)

    def add(matrix, row, column, value):
        """Add a value to an entry."""
        matrix[row][column] = matrix[row][column] + value

    for i in tree.outward():  # motion; each body's own force and flow
        joint, j = tree.joint[i], tree.parent[i]
        X[i] = joint.placement(q)
        S, velocity, rate = joint_motion(tree, i, q, qd, qdd)
        rates[i] = outward_step(rates[j], X[i], velocity, rate)
        v_parent = X[i].motion_to_child(v[j])
        v[i] = v_parent + velocity
        freedoms[i] = joint_freedoms(joint, q, qd, qdd, S, X[i], rates[j], v_parent, v[i])
        force[i], flow[i] = body_wrench(tree.inertia[i], rates[i]), Flow.of(tree.inertia[i], v[i])

    for i in tree.inward():  # of all bodies outboard together
        own = [Carried.of(freedom, composite[i], flow[i]) for freedom in freedoms[i]]
        for k, c in zip(freedoms[i], own, strict=True):
            for m, r in enumerate(freedoms[i]):
                add(M, r.at, k.at, c.momentum.dot(r.s))
                add(dq, r.at, k.at, c.by_q.dot(r.s) + (force[i].dot(k.dS[m]) if k.dS else 0))
                add(dqd, r.at, k.at, c.by_qd.dot(r.s))
        moved = [
            c._replace(by_q=c.by_q + k.s.cross_force(force[i]))
            for k, c in zip(freedoms[i], own, strict=True)
        ]
        child = i
        while j := tree.parent[child]:  # with each joint j on the way to the base
            moved, child = [c.to_parent(X[child]) for c in moved], j
            for r, c in zip(freedoms[i], moved, strict=True):
                for k in freedoms[j]:
                    for row, column in ((r.at, k.at), (k.at, r.at)):
                        add(M, row, column, c.momentum.dot(k.s))
                    add(dq, r.at, k.at, c.change(k.by_q))
                    add(dq, k.at, r.at, c.by_q.dot(k.s))
                    add(dqd, r.at, k.at, c.change(k.by_qd))
                    add(dqd, k.at, r.at, c.by_qd.dot(k.s))
        if j := tree.parent[i]:
            composite[j] = composite_step(composite[j], X[i], composite[i])
            flow[j] = flow[j] + flow[i].to_parent(X[i])
            force[j] = force[j] + X[i].force_to_parent(force[i])

    for matrix, diagonal in zip(
        (dq, dqd, M), (*stiffness_and_damping(tree), tree.rotor), strict=True
    ):
        for at, value in enumerate(diagonal):
            add(matrix, at, at, value)
    return dq, dqd, M


def joint_freedoms(
    joint: TreeJoint,
    q: Sequence[Scalar],
    qd: Sequence[Scalar],
    qdd: Sequence[Scalar],
    S: Sequence[Motion],
    X: Transform,
    parent: Rates,
    v_parent: Motion,
    v: Motion,
) -> list[Freedom]:
    """Freedoms of a joint from the motion of its parent, all in the child's axes and about its
    origin.

        by q:   turn = omega_p x s_omega,   d = a_p x s + v_p x (v_p x s) = (U_p s_omega; U_p s_v + a x s_omega + 2 v x turn)
        by qd:  turn = s_omega,             d = (v_p + v) x s

    with the spatial a_p, or the acceleration a of the parent's point at the origin and its v. Where
    S depends on q, with dS the derivative along the freedom, by q also turn += (dS qd)_omega, d +=
    dS qdd + d(S' qd) + (v_p + v) x dS qd, and by qd d += dS qd + S'.
    """
    w, U = (
        X.R.to_child(parent.w),
        acceleration_field(X.R.to_child(parent.w), X.R.to_child(parent.dw)),
    )
    a, twice_v = X.R.to_child(parent.a + parent.U @ X.p), v_parent.linear + v_parent.linear
    sum_v, dS, S_rate = v_parent + v, joint.subspace_derivatives(q), joint.subspace_rate(q, qd)
    freedoms = []
    for k, (at, s) in enumerate(zip(joint.dof, S, strict=True)):
        turn = w.cross(s.angular)
        by_q = Variation(
            Motion(U @ s.angular, U @ s.linear + a.cross(s.angular) + twice_v.cross(turn)), turn
        )
        by_qd = Variation(sum_v.cross(s), s.angular)
        if dS and S_rate:
            change = combined(dS[k], joint.velocities(qd))
            rate = (
                combined(dS[k], joint.velocities(qdd)) + joint.subspace_rate_derivatives(q, qd)[k]
            )
            by_q = Variation(by_q.d + rate + sum_v.cross(change), turn + change.angular)
            by_qd = by_qd._replace(d=by_qd.d + change + S_rate[k])
        freedoms.append(Freedom(at, s, dS[k] if dS else None, by_q, by_qd))
    return freedoms


def forward_dynamics_variations(
    tree: Tree, q: Sequence[Scalar], qd: Sequence[Scalar], tau: Sequence[Scalar]
) -> tuple[Rows, Rows, Rows]:
    """dqdd/dq along the velocity directions, dqdd/dqd and dqdd/dtau."""
    M = composite_mass_matrix(tree, q)
    factors = factorised(M, PivotCheck.of_tree(tree, q, lambda: M))
    bias, given = required_forces(tree, q, qd, None, tree.gravity, {}), passive(tree, q, qd)
    qdd = solved(factors, [t + p - b for t, p, b in zip(tau, given, bias, strict=True)])
    by_q, by_qd, _ = inverse_dynamics_variations(tree, q, qd, qdd)
    return yielding(factors, by_q), yielding(factors, by_qd), inverted(factors)


def yielding(factors: Factors, forces: Rows) -> Rows:
    """-M^-1 times each column: -(1 - P) D^-1 (1 - P)^T b; where b is zero on branches, so are the
    products left out.
    """
    P, inverse_pivots = couplings(factors), factors.inverse_pivots
    n, columns = len(P), []
    for b in zip(*forces, strict=True):
        z = [
            times(inverse_pivots[k], total(-b[k], ((P[r][k], b[r]) for r in range(k + 1, n))))
            for k in range(n)
        ]
        columns.append(
            [total(z[k], ((-p, x) for p, x in zip(P[k], z, strict=False))) for k in range(n)]
        )
    return [list(row) for row in zip(*columns, strict=True)]
