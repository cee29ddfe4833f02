"""How forces and accelerations vary with q and qd: derivatives by recursion over bodies."""

from __future__ import annotations

from collections.abc import (
    Mapping,
    Sequence,
)
from typing import NamedTuple

from dalembert.formulations.newton_euler.body_rates import (
    Rates,
    acceleration_field,
    base_rates,
    body_wrench,
    outward_step,
)
from dalembert.formulations.newton_euler.inverse import joint_motion, required_forces
from dalembert.formulations.newton_euler.mass_matrix import (
    composite_mass_matrix,
    composite_step,
)
from dalembert.kinematics.forces import (
    passive,
    stiffness_and_damping,
)
from dalembert.model.pivots import PivotCheck
from dalembert.model.tree import (
    Tree,
    TreeJoint,
)
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
from dalembert.spatial.motion_force import (
    NO_MOTION,
    Force,
    Motion,
    combined,
)
from dalembert.spatial.transforms import Transform
from dalembert.spatial.vectors import (
    Scalar,
    Vector,
)


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

    entry: int
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

    def __add__(self, other):  # type: ignore[override]
        return Carried(*(a + b for a, b in zip(self, other, strict=True)))

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


class Entries:
    """The matrices dtau/dq, dtau/dqd and M, filled entry by entry."""

    def __init__(self, n: int):
        self.by_q, self.by_qd, self.M = ([[0.0] * n for _ in range(n)] for _ in range(3))

    def add(self, row: int, column: int, by_q: Scalar, by_qd: Scalar, mass: Scalar) -> None:
        """Add to an entry of each matrix."""
        for matrix, value in ((self.by_q, by_q), (self.by_qd, by_qd), (self.M, mass)):
            matrix[row][column] = matrix[row][column] + value

    def add_within(self, freedoms: list[Freedom], carried: list[Carried], force: Force) -> None:
        """Add the joint forces of a joint by its own freedoms; force: of all bodies outboard."""
        for k, c in zip(freedoms, carried, strict=True):
            for m, r in enumerate(freedoms):
                turned = force.dot(k.dS[m]) if k.dS else 0
                by_q = c.by_q.dot(r.s) + turned
                by_qd = c.by_qd.dot(r.s)
                self.add(r.entry, k.entry, by_q, by_qd, c.momentum.dot(r.s))

    def add_between(self, outer: Mapping[int, Carried], inboard: list[Freedom]) -> None:
        """Add the joint forces of a joint and of freedoms outboard of it, by each other's freedoms."""
        for entry, c in outer.items():
            for k in inboard:
                mass = c.momentum.dot(k.s)
                self.add(entry, k.entry, c.change(k.by_q), c.change(k.by_qd), mass)
                self.add(k.entry, entry, c.by_q.dot(k.s), c.by_qd.dot(k.s), mass)


def _add(sums: dict[int, Carried], entry: int, carried: Carried) -> None:
    """Add what is carried by an entry: of followers and sections several bodies do."""
    sums[entry] = sums[entry] + carried if entry in sums else carried


def inverse_dynamics_variations(
    tree: Tree, q: Sequence[Scalar], qd: Sequence[Scalar], qdd: Sequence[Scalar]
) -> tuple[Rows, Rows, Rows]:
    """dtau/dq along the velocity directions, dtau/dqd, and the mass matrix (docs/newton_euler.md,
    section 6).
    """
    X = {}
    rates = {0: base_rates(tree.gravity)}
    v = {0: NO_MOTION}
    freedoms, force, flow = {}, {}, {}
    for i in tree.outward():  # motion; each body's own force and flow
        joint = tree.joint[i]
        j = tree.parent[i]
        X[i] = joint.placement(q)
        S, velocity, rate = joint_motion(tree, i, q, qd, qdd)
        rates[i] = outward_step(rates[j], X[i], velocity, rate)
        v_parent = X[i].motion_to_child(v[j])
        v[i] = v_parent + velocity
        freedoms[i] = joint_freedoms(joint, (q, qd, qdd), S, X[i], rates[j], v_parent, v[i])
        force[i], flow[i] = body_wrench(tree.inertia[i], rates[i]), Flow.of(tree.inertia[i], v[i])

    composite = list(tree.inertia)
    entries = Entries(tree.nv)
    outboard: list[dict[int, Carried]] = [{} for _ in composite]  # by entry, in the body's axes
    for i in tree.inward():  # all bodies outboard together
        entries.add_between(outboard[i], freedoms[i])
        carried = [Carried.of(freedom, composite[i], flow[i]) for freedom in freedoms[i]]
        entries.add_within(freedoms[i], carried, force[i])
        for k, c in zip(freedoms[i], carried, strict=True):
            turned = c._replace(by_q=c.by_q + k.s.cross_force(force[i]))
            _add(outboard[i], k.entry, turned)
        if j := tree.parent[i]:
            for entry, c in outboard[i].items():
                _add(outboard[j], entry, c.to_parent(X[i]))
            composite[j] = composite_step(composite[j], X[i], composite[i])
            flow[j] = flow[j] + flow[i].to_parent(X[i])
            force[j] = force[j] + X[i].force_to_parent(force[i])

    for row, column, stiffness, damping in stiffness_and_damping(tree, q, qd):
        entries.add(row, column, stiffness, damping, 0)
    for entry, rotor in enumerate(tree.rotor):
        entries.add(entry, entry, 0, 0, rotor)
    return entries.by_q, entries.by_qd, entries.M


def joint_freedoms(
    joint: TreeJoint,
    state: tuple[Sequence[Scalar], Sequence[Scalar], Sequence[Scalar]],
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
    q, qd, qdd = state
    w = X.R.to_child(parent.w)
    U = acceleration_field(X.R.to_child(parent.w), X.R.to_child(parent.dw))
    a = X.R.to_child(parent.a + parent.U @ X.p)
    twice_v = v_parent.linear + v_parent.linear
    sum_v = v_parent + v
    dS = joint.subspace_derivatives(q)
    S_rate = joint.subspace_rate(q, qd)
    freedoms = []
    for k, (entry, s) in enumerate(zip(joint.dof, S, strict=True)):
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
        freedoms.append(Freedom(entry, s, dS[k] if dS else None, by_q, by_qd))
    return freedoms


def forward_dynamics_variations(
    tree: Tree, q: Sequence[Scalar], qd: Sequence[Scalar], tau: Sequence[Scalar]
) -> tuple[Rows, Rows, Rows]:
    """dqdd/dq along the velocity directions, dqdd/dqd and dqdd/dtau."""
    M = composite_mass_matrix(tree, q)
    factors = factorised(M, PivotCheck.of_tree(tree, q, lambda: M))
    bias = required_forces(tree, q, qd, None, tree.gravity, {})
    yielded = passive(tree, q, qd)
    qdd = solved(factors, [t + p - b for t, p, b in zip(tau, yielded, bias, strict=True)])
    by_q, by_qd, _ = inverse_dynamics_variations(tree, q, qd, qdd)
    return yielding(factors, by_q), yielding(factors, by_qd), inverted(factors)


def yielding(factors: Factors, forces: Rows) -> Rows:
    """-M^-1 times each column: -(1 - P) D^-1 (1 - P)^T b; where b is zero on branches, so are the
    products left out.
    """
    P = couplings(factors)
    inverse_pivots = factors.inverse_pivots
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
