"""The composite form: operators in base coordinates and the pseudo-inertia of everything outboard."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import product

from dalembert.formulations.elementary_motions.matrices import (
    Matrix4,
    about,
    carried,
    congruent,
    shift,
    trace,
    turned,
    wrench_matrix,
)
from dalembert.formulations.elementary_motions.sequence import Coefficients, MotionTree
from dalembert.spatial.motion_force import Force
from dalembert.spatial.vectors import Scalar, Vector


class Composite:
    """Coefficients of the equations of motion at coordinates q, over freedoms (n^3 traces).

        D^_j = B_j D_j B_j^-1,    P_l = sum of B I B^T of step l and all outboard of it;
        B_l^j = D^_j B_l,    B_l^ji = D^_j D^_i B_l  for j before i: the smaller index on the left

    The traces do not change when the base's origin is moved, to another point for each of them:
    those with P_l take the origin of step l, in the base's axes, so that levers stay short wherever
    the mechanism stands. D[l][j] is D^_j and rate[l][j, i] its derivative about that point, B_l =
    [[R, 0], [0, 1]] there.
    """

    def __init__(self, sequence: MotionTree, q: Sequence[Scalar]):
        self.sequence = sequence
        self.state = sequence.at(q)
        self.R = {l: turned(B) for l, B in self.state.B.items()}
        self.D: dict[int, dict[int, Matrix4]] = {0: {}}
        self.rate: dict[int, dict[tuple[int, int], Matrix4]] = {0: {}}
        lever = {l: self._outward(l) for l in sequence.outward()}
        self.P = {l: congruent(self.R[l], step.inertia) for l, step in sequence.step.items()}
        for l in sequence.inward():
            if p := sequence.step[l].parent:
                self.P[p] = self.P[p] + congruent(shift(lever[l]), self.P[l])
        self.DP = {j: self.D[l][j] @ self.P[l] for j, l in enumerate(sequence.step_of)}

    def _outward(self, l: int) -> Vector:
        """D and rate of step l by its parent's; the lever, from the parent's origin to its own in
        the base's axes.
        """
        step = self.sequence.step[l]
        offset = (*self.state.T[l].last_column, 0)
        lever = Vector(self.R[step.parent].times(offset)[:3])
        # of the freedoms before: the same motions about the new origin
        self.D[l] = {j: about(lever, D) for j, D in self.D[step.parent].items()}
        self.rate[l] = {pair: about(lever, D) for pair, D in self.rate[step.parent].items()}
        # of the step's freedoms
        self.D[l] |= {j: carried(self.R[l], self.state.D[j]) for j in step.freedoms}
        if not step.is_constant:
            for pair in product(step.freedoms, step.freedoms):
                self.rate[l][pair] = carried(self.R[l], self.state.rate[pair])
        return lever

    def inertia(self) -> Coefficients:
        """a0[k, i] = S(D^_i P_i D^_k^T), k before i or of its step."""
        a0: Coefficients = {}
        for i, l in enumerate(self.sequence.step_of):
            for k in self.sequence.path[l]:
                if k <= i:
                    a0[k, i] = a0[i, k] = trace(self.DP[i], self.D[l][k])
        return a0

    def gravity(self, gravity: Vector) -> Coefficients:
        """a2[k] = -g . (last column of D^_k P_k)."""
        return {(k,): -gravity.dot(DP.last_column) for k, DP in self.DP.items()}

    def applied(self, wrenches: Mapping[int, Force]) -> Coefficients:
        """Generalized forces S(D^_k (B_l F_l B_l^T)^T) of wrenches on bodies, about their origins
        in their axes.
        """
        Q: Coefficients = {}
        for body, wrench in wrenches.items():
            l = self.sequence.step_of_body[body]
            R = self.R[l]
            F = R @ wrench_matrix(wrench) @ R.T
            for k in self.sequence.path[l]:
                Q[k,] = Q.get((k,), 0) + trace(self.D[l][k], F)
        return Q

    def symbols(self) -> Coefficients:
        """Christoffel symbols [k, j, i] = S(B^ji P B^kT), where B^ji is the derivative of B^j along
        i.

        As the 3x3 part of D^_j is skew, S(D^_j D^_i P D^_k^T) changes sign when i and k are
        exchanged: about half of the symbols need no trace.
        """
        step_of = self.sequence.step_of
        symbols: Coefficients = {}

        def put(k, j, i, value):
            """Store a symbol of two steps, under both orders of differentiation."""
            symbols[k, j, i] = symbols[k, i, j] = value

        for i, l in enumerate(step_of):
            D = self.D[l]
            rate = self.rate[l]
            for j in self.sequence.before(l):
                second = D[j] @ self.DP[i]  # D^_j D^_i P
                for k in self.sequence.path[l]:
                    if k >= i:
                        break
                    value = trace(second, D[k])
                    put(k, j, i, value)
                    if step_of[k] > step_of[j]:
                        put(i, j, k, -value)
                    elif step_of[k] == step_of[j]:
                        change = trace(rate[k, j], self.DP[i]) if (k, j) in rate else 0
                        symbols[i, k, j] = change - value
            for j in self.sequence.step[l].freedoms:
                symbols |= self._within_step(l, j, i)
        return symbols

    def _within_step(self, l: int, j: int, i: int) -> Coefficients:
        """Symbols [k, j, i] of two freedoms of step l, k on the way to it: B^ji = B (D_i D_j +
        dD_j/di).
        """
        D = self.D[l]
        rate = self.rate[l]
        second = D[i] @ D[j]
        changing = (j, i) in rate
        if changing:
            second = second + rate[j, i]
        inertial = second @ self.P[l]
        return {
            (k, j, i): trace(inertial, D[k]) for k in self.sequence.path[l] if changing or k != j
        }
