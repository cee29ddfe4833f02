"""The composite form: operators in base coordinates and the pseudo-inertia of everything outboard."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from dalembert.formulations.elementary_motions.matrices import carried, congruent, trace, wrench_matrix
from dalembert.formulations.elementary_motions.sequence import MotionTree
from dalembert.spatial.motion_force import Force
from dalembert.spatial.vectors import Scalar, Vector


class Composite:
    """Coefficients of the equations of motion at coordinates q, over freedoms (n^3 traces).

        D^_j = B_j D_j B_j^-1,    P_l = sum of B I B^T of step l and all outboard of it;
        B_l^j = D^_j B_l,    B_l^ji = D^_j D^_i B_l  for j before i: the smaller index on the left
    """

    def __init__(self, sequence: MotionTree, q: Sequence[Scalar]):
        self.sequence, self.state = sequence, sequence.at(q)
        B, step = self.state.B, sequence.step
        self.D = {j: carried(B[l], self.state.D[j]) for j, l in enumerate(sequence.step_of)}
        self.rate = {(j, i): carried(B[l], dD) for (j, i), dD in self.state.rate.items()
                     if not step[l := sequence.step_of[j]].is_constant}
        self.P = {l: congruent(B[l], step[l].inertia) for l in sequence.outward()}
        for l in sequence.inward():
            if p := step[l].parent:
                self.P[p] = self.P[p] + self.P[l]
        self.DP = {j: self.D[j] @ self.P[l] for j, l in enumerate(sequence.step_of)}

    def inertia(self) -> dict[tuple[int, ...], Scalar]:
        """a0[k, i] = S(D^_i P_i D^_k^T), k before i or of its step."""
        a0: dict[tuple[int, ...], Scalar] = {}
        for i, l in enumerate(self.sequence.step_of):
            for k in self.sequence.path[l]:
                if k <= i:
                    a0[k, i] = a0[i, k] = trace(self.DP[i], self.D[k])
        return a0

    def gravity(self, gravity: Vector) -> dict[tuple[int, ...], Scalar]:
        """a2[k] = -g . (last column of D^_k P_k)."""
        return {(k,): -gravity.dot(DP.last_column) for k, DP in self.DP.items()}

    def applied(self, wrenches: Mapping[int, Force]) -> dict[tuple[int, ...], Scalar]:
        """Generalized forces S(D^_k (B_l F_l B_l^T)^T) of wrenches on bodies, about their origins in their axes."""
        Q: dict[tuple[int, ...], Scalar] = {}
        for body, wrench in wrenches.items():
            l = self.sequence.step_of_body[body]
            B = self.state.B[l]
            F = B @ wrench_matrix(wrench) @ B.T
            for k in self.sequence.path[l]:
                Q[k,] = Q.get((k,), 0) + trace(self.D[k], F)
        return Q

    def symbols(self) -> dict[tuple[int, ...], Scalar]:
        """Christoffel symbols [k, j, i] = S(B^ji P B^kT), where B^ji is the derivative of B^j along i.

        As the 3x3 part of D^_j is skew, S(D^_j D^_i P D^_k^T) changes sign when i and k are exchanged: about half of the
        symbols need no trace.
        """
        step_of, found = self.sequence.step_of, {}

        def put(k, j, i, value):                                     # of two steps: both orders of differentiation
            found[k, j, i] = found[k, i, j] = value

        for i, l in enumerate(step_of):
            for j in self.sequence.before(l):
                second = self.D[j] @ self.DP[i]                      # D^_j D^_i P
                for k in self.sequence.path[l]:
                    if k >= i:
                        break
                    value = trace(second, self.D[k])
                    put(k, j, i, value)
                    if step_of[k] > step_of[j]:
                        put(i, j, k, -value)
                    elif step_of[k] == step_of[j]:
                        found[i, k, j] = (trace(self.rate[k, j], self.DP[i]) if (k, j) in self.rate else 0) - value
            for j in self.sequence.step[l].freedoms:
                found |= self._within_step(l, j, i)
        return found

    def _within_step(self, l: int, j: int, i: int) -> dict[tuple[int, ...], Scalar]:
        """Symbols [k, j, i] of two freedoms of step l, k on the way to it: B^ji = B (D_i D_j + dD_j/di)."""
        second, changing = self.D[i] @ self.D[j], (j, i) in self.rate
        if changing:
            second = second + self.rate[j, i]
        inertial = second @ self.P[l]
        return {(k, j, i): trace(inertial, self.D[k]) for k in self.sequence.path[l] if changing or k != j}
