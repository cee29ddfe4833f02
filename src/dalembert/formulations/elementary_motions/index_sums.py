"""The source's form: derivatives of the products B_i, and traces summed over the bodies (eqs. 5 to
13).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from dalembert.formulations.elementary_motions.matrices import Matrix4, trace, wrench_matrix
from dalembert.formulations.elementary_motions.sequence import Coefficients, MotionState, MotionTree
from dalembert.spatial.motion_force import Force
from dalembert.spatial.vectors import Scalar, Vector


class Sums:
    """Coefficients of the equations of motion at coordinates q, over freedoms (n^4 traces).

    a0[k, i] = sum_l S(B_l^i I_l B_l^kT),    c[k, j, i] = sum_l S(B_l^ji I_l B_l^kT),    a2[k] = -g . sum_l m_l B_l^k r_l
    """

    def __init__(self, sequence: MotionTree, q: Sequence[Scalar]):
        self.sequence = sequence
        self.state = sequence.at(q)
        self.B1 = first_derivatives(sequence, self.state)
        # B_l^i I_l
        self.inertial = {(l, i): B @ sequence.step[l].inertia for (l, i), B in self.B1.items()}

    def inertia(self) -> Coefficients:
        """a0[k, i] (eq. 5)."""
        a0: Coefficients = {}
        for (l, i), BI in self.inertial.items():
            for k in self.sequence.path[l]:
                if k <= i:
                    a0[k, i] = a0[i, k] = a0.get((k, i), 0) + trace(BI, self.B1[l, k])
        return a0

    def symbols(self) -> Coefficients:
        """Christoffel symbols [k, j, i], where B_l^ji is the derivative of B_l^j along i (eq. 6
        without sigma).
        """
        symbols: Coefficients = {}
        for (l, j, i), B in second_derivatives(self.sequence, self.state, self.B1).items():
            BI = B @ self.sequence.step[l].inertia
            for k in self.sequence.path[l]:
                symbols[k, j, i] = symbols.get((k, j, i), 0) + trace(BI, self.B1[l, k])
        step_of = self.sequence.step_of
        commuting = {(k, i, j): x for (k, j, i), x in symbols.items() if step_of[j] != step_of[i]}
        return symbols | commuting

    def gravity(self, gravity: Vector) -> Coefficients:
        """a2[k] (eq. 7); the last column of I_l is m_l r_l."""
        a2: Coefficients = {}
        for (_, k), BI in self.inertial.items():
            a2[k,] = a2.get((k,), 0) - gravity.dot(BI.last_column)
        return a2

    def applied(self, wrenches: Mapping[int, Force]) -> Coefficients:
        """Generalized forces S(B_l^k (B_l F_l)^T) of wrenches on bodies, about their origins in
        their axes.
        """
        Q: Coefficients = {}
        for body, wrench in wrenches.items():
            l = self.sequence.step_of_body[body]
            F = self.state.B[l] @ wrench_matrix(wrench)
            for k in self.sequence.path[l]:
                Q[k,] = Q.get((k,), 0) + trace(self.B1[l, k], F)
        return Q


def first_derivatives(sequence: MotionTree, state: MotionState) -> dict[tuple[int, int], Matrix4]:
    """B_l^j by (step l, freedom j on the way to it), others are zero (eq. 12, D right of T).

    B_l^j = B_p^j T_l  for j before step l, p the step before l;    B_l^j = B_l D_j  for a freedom of step l
    """
    B1: dict[tuple[int, int], Matrix4] = {}
    for l in sequence.outward():
        for j in sequence.before(l):
            B1[l, j] = B1[sequence.step[l].parent, j] @ state.T[l]
        for j in sequence.step[l].freedoms:
            B1[l, j] = state.B[l] @ state.D[j]
    return B1


def second_derivatives(
    sequence: MotionTree, state: MotionState, B1: dict[tuple[int, int], Matrix4]
) -> dict[tuple[int, int, int], Matrix4]:
    """B_l^jk, the derivative of B_l^j along k, by (l, j, k) with j before k, or both of one step in
    either order.

    B_l^jk = B_p^jk T_l  for both before step l;    B_l^jk = B_l^j D_k  for k alone of step l;
    B_l^jk = B_l (D_k D_j + dD_j/dk)  for both of step l: they need not commute
    """
    B2: dict[tuple[int, int, int], Matrix4] = {}
    for l in sequence.outward():
        freedoms = sequence.step[l].freedoms
        p = sequence.step[l].parent
        for j in sequence.before(l):
            for k in sequence.before(l):
                if (p, j, k) in B2:
                    B2[l, j, k] = B2[p, j, k] @ state.T[l]
            for k in freedoms:
                B2[l, j, k] = B1[l, j] @ state.D[k]
        for j in freedoms:
            for k in freedoms:
                B2[l, j, k] = state.B[l] @ state.second(j, k)
    return B2
