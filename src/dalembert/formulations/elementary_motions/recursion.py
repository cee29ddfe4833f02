"""The O(n) recursion of the trace method: inverse dynamics in the same matrices."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from dalembert.formulations.elementary_motions.matrices import (
    IDENTITY4,
    ZERO4,
    Matrix4,
    operator_of,
    trace,
    wrench_matrix,
)
from dalembert.formulations.elementary_motions.sequence import MotionState, MotionTree
from dalembert.spatial.motion_force import Force, Motion
from dalembert.spatial.vectors import ZERO, Scalar, Vector

BaseMotion = tuple[Matrix4, Matrix4, Matrix4]  # B_0, its rate and its acceleration
AT_REST: BaseMotion = (IDENTITY4, ZERO4, ZERO4)


def required_forces(
    sequence: MotionTree,
    q: Sequence[Scalar],
    qd: Sequence[Scalar],
    qdd: Sequence[Scalar] | None,
    gravity: Vector,
    wrenches: Mapping[int, Force],
    base: BaseMotion = AT_REST,
) -> list[Scalar]:
    """Forces that the motion of the bodies needs, without rotors, springs and friction (qdd None:
    zero).

    Outward, p the step before i, with T' = T W and T'' = T (W^2 + W') of its joint; gravity is an
    acceleration of the base:

        B_i = B_p T,    B_i' = B_p' T + B_i W,    B_i'' = B_p'' T + 2 B_p' T W + B_i (W^2 + W'),    B_0'' -= (0, g)

    Inward, with the wrenches on the bodies as matrices F:

        K_i = I_i B_i''^T - (B_i F_i)^T + sum T_c K_c,    Q_j = S(B_i D_j K_i)
    """
    state = sequence.at(q, base[0])
    rate = {0: base[1]}
    second = {0: base[2] + operator_of(Motion(ZERO, -gravity))}
    loads = {sequence.step_of_body[body]: wrench_matrix(f) for body, f in wrenches.items()}
    K: dict[int, Matrix4] = {0: ZERO4}
    Q: list[Scalar] = [0.0] * sequence.nv

    for i in sequence.outward():  # parents before children
        p = sequence.step[i].parent
        T = state.T[i]
        B = state.B[i]
        W, W_rate = joint_rates(sequence, state, i, qd, qdd)
        carried = rate[p] @ T
        rate[i] = carried + B @ W
        second[i] = second[p] @ T + carried @ W * 2 + B @ (W @ W + W_rate)
        K[i] = sequence.step[i].inertia @ second[i].T
        if i in loads:
            K[i] = K[i] + -(B @ loads[i]).T

    for i in sequence.inward():  # children before parents
        for j in sequence.step[i].freedoms:
            k = sequence.entry[j]
            Q[k] = Q[k] + trace(state.B[i] @ state.D[j], K[i].T)
        if p := sequence.step[i].parent:
            K[p] = K[p] + state.T[i] @ K[i]
    return Q


def joint_rates(
    sequence: MotionTree,
    state: MotionState,
    i: int,
    qd: Sequence[Scalar],
    qdd: Sequence[Scalar] | None,
) -> tuple[Matrix4, Matrix4]:
    """W = sum D_j qd_j of step i, and its rate W' = sum (D_j qdd_j + dD_j/dm qd_j qd_m)."""
    W, W_rate = ZERO4, ZERO4
    step = sequence.step[i]
    for j, a in zip(step.freedoms, step.entries, strict=True):
        W = W + state.D[j] * qd[a]
        if qdd is not None:
            W_rate = W_rate + state.D[j] * qdd[a]
        if not step.is_constant:
            for m, b in zip(step.freedoms, step.entries, strict=True):
                W_rate = W_rate + state.rate[j, m] * (qd[a] * qd[b])
    return W, W_rate


def gravity_forces(sequence: MotionTree, q: Sequence[Scalar]) -> list[Scalar]:
    """a2: the same pass inward for the moments alone.

    h_i = m_i (r_i, 1) + sum T_c h_c,    Q_j = -g . B_i D_j h_i
    """
    state = sequence.at(q)
    gravity = sequence.tree.gravity
    h = {0: (0, 0, 0, 0)} | {i: step.inertia.T[3] for i, step in sequence.step.items()}
    Q: list[Scalar] = [0.0] * sequence.nv
    for i in sequence.inward():
        for j in sequence.step[i].freedoms:
            k = sequence.entry[j]
            arm = (state.B[i] @ state.D[j]).times(h[i])
            Q[k] = Q[k] - gravity.dot(arm)
        p = sequence.step[i].parent
        h[p] = tuple(a + b for a, b in zip(h[p], state.T[i].times(h[i]), strict=True))
    return Q
