"""Radau IIA with three stages: order 5, for stiff constraints of index 2 and 3, whose multipliers are
unknowns of each stage.
"""

from __future__ import annotations

from math import sqrt
from typing import Any

import numpy as np

from dalembert.expr.scalars import Scalar
from dalembert.integrators import collocation
from dalembert.integrators.fixed_point import FixedPoint, Solver
from dalembert.integrators.method_kinds import (
    GGL,
    INDEX_2,
    INDEX_3,
    MINIMAL,
    MULTIPLIERS,
    PROJECTION,
    SLIPS,
    SOLUTION,
    Constrained,
    Manifold,
    Rate,
    Vector,
)
from dalembert.integrators.moving_coordinates import StateParts, coordinates, parts_of

R = sqrt(6)
C = ((4 - R) / 10, (4 + R) / 10, 1.0)
A = (
    ((88 - 7 * R) / 360, (296 - 169 * R) / 1800, (-2 + 3 * R) / 225),
    ((296 + 169 * R) / 1800, (88 + 7 * R) / 360, (-2 - 3 * R) / 225),
    ((16 - R) / 36, (16 + R) / 36, 1 / 9),
)
B = A[-1]
AHEAD = collocation.continued(C)
INVERSE = np.linalg.inv(np.array(A))
STAGES = len(C)


def _lower(A: np.ndarray) -> np.ndarray:
    """L of A = L U, U with a diagonal of 1 (Crout)."""
    L = np.zeros_like(A)
    U = np.eye(len(A))
    for k in range(len(A)):
        L[k:, k] = A[k:, k] - L[k:, :k] @ U[:k, k]
        U[k, k + 1 :] = (A[k, k + 1 :] - L[k, :k] @ U[:k, k + 1 :]) / L[k, k]
    return L


LOWER = _lower(np.array(A))  # in place of A in Newton's iteration
LOWER_2 = LOWER @ LOWER


def step(
    f: Rate,
    t: Scalar,
    x: Vector,
    h: Scalar,
    solve: Solver | None = None,
    *,
    parts: StateParts,
    stabilisation: str,
    canonical: bool = False,
    manifold: Manifold | None = None,
) -> Vector:
    """x(t + h) by collocation at the nodes of Radau, the last of which is the end.

        v_i = v + h sum_j a_ij v'_j,   M v'_i = force_i + J_i^T lambda_i
        q_i = q + h sum_j a_ij q'_j,   q'_i = v_i, or v_i + M^-1 J_i^T mu_i

    The multipliers are such that each stage meets phi = 0 (index 3), phi' = 0 (index 2), or both with
    mu (Gear, Gupta, Leimkuhler). Else f knows the constraint forces, and the end is brought back.
    Newton's iteration, with derivatives of all forces but those of inertia, has the lower factor of
    a_ij in place of a_ij.

    Hairer, Lubich, Roche, The Numerical Solution of Differential-Algebraic Systems by Runge-Kutta
    Methods (1989); Hairer, Wanner, Solving Ordinary Differential Equations II (1996), section VII.4;
    van der Houwen, de Swart, Triangularly implicit iteration methods for ODE-IVP solvers, SIAM J. Sci.
    Comput. 18 (1997) 41-55.
    """
    solver = solve or FixedPoint()
    if manifold is None:
        return collocation.step(f, t, x, h, C, A, B, AHEAD, solver)
    if canonical or not manifold.is_constrained:
        return manifold(t + h, collocation.step(f, t, x, h, C, A, B, AHEAD, solver))
    stages = Stages(f, t, x, h, parts, stabilisation, manifold)
    z = solver(stages.following, parts.rated(x), stages.continued, STAGES)
    end = stages.state(z.reshape(STAGES, len(x)), STAGES - 1)
    return end if stabilisation in OWN else manifold(t + h, end)


class Stages:
    """Equations of the stages z (3 n,), h times the rates; of unknowns, h^2 times their values."""

    def __init__(
        self,
        f: Rate,
        t: Scalar,
        x: Vector,
        h: Scalar,
        parts: StateParts,
        stabilisation: str,
        manifold: Manifold,
    ):
        self.f, self.x, self.h, self.parts = f, x, h, parts
        self.stabilisation, self.manifold = stabilisation, manifold
        self.times = [t + c * h for c in C]

    def state(self, z: Any, stage: int) -> Any:
        """The state of a stage."""
        state = self.x + _weighted(A[stage], z)
        for places in self.parts.unknowns:
            state[places] = z[stage][places] / (self.h * self.h)
        return state

    def continued(self, z: Any) -> Any:
        """The stages of the next step, continued from these."""
        z = z.reshape(STAGES, len(self.x))
        return np.concatenate([_weighted(row, z) for row in AHEAD])

    def following(self, z: Any) -> Any:
        """Better stages: by Newton's iteration without constraint forces, then with multipliers."""
        old = z.reshape(STAGES, len(self.x))
        states = [self.state(old, i) for i in range(STAGES)]
        new = [self.h * self.f(t, x) for t, x in zip(self.times, states, strict=True)]
        for i in range(STAGES):
            for places in self.parts.unknowns:
                new[i][places] = old[i][places]
        motions = [self._linearised(i, state) for i, state in enumerate(states)]
        self._correct(old, new, motions)
        self._move(new, states)
        if self.stabilisation in OWN:
            self._push(new, states, motions)
        if self.stabilisation == GGL and self.manifold.holonomic.any():
            self._shift(new, states)
        return np.concatenate(new)

    def _linearised(self, stage: int, state: Any) -> Any:
        """The motion about a stage."""
        by_rate = self.h * LOWER[stage, stage]
        by_place = self.h * self.h * LOWER_2[stage, stage]
        return self.manifold.linearised(self.times[stage], state, by_rate, by_place)

    def _correct(self, old: Any, new: list[Any], motions: list[Any]) -> None:
        """Newton's step of the velocities' rates, stage by stage; where f agrees with the constraints,
        so does the step.
        """
        y, h = self.parts.y, self.h
        changes: list[Any] = []
        for i, motion in enumerate(motions):
            drag = 0.0
            for j, change in enumerate(changes):
                drag = drag + h * LOWER[i, j] * (motion.D @ change)
                drag = drag + h * h * LOWER_2[i, j] * (motion.K @ change)
            residual = new[i][y] - old[i][y]
            change = motion.corrected(residual, drag)
            if self.stabilisation not in OWN:
                multipliers = motion.multipliers(motion.J @ (residual - change))
                change = change + motion.along(multipliers)
            changes.append(change)
            new[i][y] = old[i][y] + change

    def _move(self, new: list[Any], states: list[Any]) -> None:
        """Coordinates move at the new velocities, not at those of the states."""
        q, y = self.parts.q, self.parts.y
        for i, state in enumerate(states):
            gained = self._at(new, i, y) - state[y]
            new[i][q] = new[i][q] + self.h * self.manifold.rate(state[q], gained)

    def _push(self, new: list[Any], states: list[Any], motions: list[Any]) -> None:
        """Multipliers change velocities, and coordinates with them."""
        q, y = self.parts.q, self.parts.y
        pushes = []
        for z, motion, slip in zip(new, motions, self._slips(new), strict=True):
            multipliers = motion.multipliers(slip)
            pushes.append(motion.along(multipliers))
            z[y] = z[y] + pushes[-1]
            places = self.parts.multipliers
            z[places] = z[places] + self.h * multipliers
        for i, state in enumerate(states):
            gained = _weighted(A[i], pushes)
            new[i][q] = new[i][q] + self.h * self.manifold.rate(state[q], gained)

    def _shift(self, new: list[Any], states: list[Any]) -> None:
        """Multipliers mu change the rates of coordinates."""
        q, y = self.parts.q, self.parts.y
        phi = [self.manifold.position(t, self._at(new, i, q)) for i, t in enumerate(self.times)]
        for i, state in enumerate(states):
            response, _ = self.manifold.responses(self.times[i], state[q], state[y])
            residual = -_weighted(INVERSE[i], phi)
            new[i][q] = new[i][q] + self.manifold.rate(state[q], response.towards(residual))
            slips = self.h * response.multipliers(residual)
            new[i][self.parts.slips] = new[i][self.parts.slips] + slips

    def _slips(self, new: list[Any]) -> list[Any]:
        """Changes of h J v' that meet the constraints, of each stage (k,)."""
        q, y = self.parts.q, self.parts.y
        at = [(self._at(new, i, q), self._at(new, i, y)) for i in range(STAGES)]
        psi = [self.manifold.velocity(t, *own) for t, own in zip(self.times, at, strict=True)]
        slips = [-_weighted(row, psi) for row in INVERSE]
        if self.stabilisation != INDEX_3:
            return slips
        rows = self.manifold.holonomic
        phi = [self.manifold.position(t, own[0]) for t, own in zip(self.times, at, strict=True)]
        for slip, row in zip(slips, INVERSE @ INVERSE, strict=True):
            slip[rows] = -_weighted(row, phi) / self.h
        return slips

    def _at(self, new: list[Any], stage: int, places: slice) -> Any:
        """Entries of the state of a stage."""
        return self.x[places] + _weighted(A[stage], [z[places] for z in new])


def _weighted(weights: Any, k: Any) -> Any:
    return sum(w * ki for w, ki in zip(weights, k, strict=True))


def needs(
    stabilisation: str = PROJECTION,
    unknowns: Any = None,
    canonical: bool = False,
    **known: Any,
) -> dict[str, Any]:
    """Options of the step: the parts of a state, whether it has momenta, and how constraints are
    met.
    """
    parts = parts_of("radau_iia", coordinates("radau_iia")(**known), unknowns)
    return {"parts": parts, "stabilisation": stabilisation, "canonical": canonical}


OWN = {GGL: (MULTIPLIERS, SLIPS), INDEX_2: (MULTIPLIERS,), INDEX_3: (MULTIPLIERS,)}
METHOD = Constrained(
    "radau_iia",
    5,
    step,
    memory={SOLUTION: STAGES},
    needs=needs,
    refuses=dict.fromkeys(
        MINIMAL,
        "radau_iia solves for multipliers or projects: take 'projection', 'ggl', 'index2' or "
        "'index3', or another method, such as 'gauss4'.",
    ),
    own=OWN,
)
