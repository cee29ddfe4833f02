"""Generalized alpha: order 2, with numerical damping of fast vibrations; ends of steps meet
constraints on coordinates (index 3).
"""

from __future__ import annotations

from typing import Any

from dalembert.expr.scalars import Scalar
from dalembert.integrators.fixed_point import FixedPoint, Solver
from dalembert.integrators.method_kinds import (
    ACCELERATIONS,
    CONTACT,
    GENERAL,
    INDEX_2,
    INDEX_3,
    MOMENTA,
    MULTIPLIERS,
    SOLUTION,
    Constrained,
    Manifold,
    Rate,
    Vector,
)
from dalembert.integrators.moving_coordinates import StateParts, coordinates, parts_of

RHO_INF = 0.8  # amplitude that a step leaves of infinitely fast vibrations


def step(
    f: Rate,
    t: Scalar,
    x: Vector,
    h: Scalar,
    solve: Solver | None = None,
    *,
    parts: StateParts,
    rho_inf: float = RHO_INF,
    manifold: Manifold | None = None,
) -> Vector:
    """x(t + h) with multipliers such that phi(q_1) = 0, scaled by h^2 while they are solved for.

        (1 - alpha_m) a_1 + alpha_m a = (1 - alpha_f) v'_1 + alpha_f v'
        q_1 = q moved along h v + h^2 ((1/2 - beta) a + beta a_1)
        v_1 = v + h ((1 - gamma) a + gamma a_1),     M v'_1 = force_1 + J_1^T lambda_1

    Chung, Hulbert, J. Appl. Mech. 60 (1993) 371-375; Arnold, Bruls, Convergence of the
    generalized-alpha scheme for constrained mechanical systems, Multibody Syst. Dyn. 18 (2007)
    185-202; Bruls, Cardona, J. Comput. Nonlinear Dynam. 5 (2010) 031002, for rotations.
    """
    solver = solve or FixedPoint()
    end = EndOfStep(f, t, x, h, parts, rho_inf, manifold)
    return end.state(solver(end.following, parts.rated(x), lambda z: z))


class EndOfStep:
    """Equations of the end of a step: of z (n,), h times the rates there; of multipliers, h^2 times
    their values.
    """

    def __init__(
        self,
        f: Rate,
        t: Scalar,
        x: Vector,
        h: Scalar,
        parts: StateParts,
        rho_inf: float,
        manifold: Manifold | None,
    ):
        self.f, self.t, self.x, self.h, self.parts = f, t + h, x, h, parts
        self.manifold = manifold
        self.alpha_m = (2 * rho_inf - 1) / (rho_inf + 1)
        self.alpha_f = rho_inf / (rho_inf + 1)
        self.gamma = 0.5 + self.alpha_f - self.alpha_m
        self.beta = (0.5 + self.gamma) ** 2 / 4
        self.share = (1 - self.alpha_f) / (1 - self.alpha_m)  # of v'_1 in a_1
        self.begin = h * f(t, x)

    def state(self, z: Any) -> Any:
        """The state at the end."""
        parts, h = self.parts, self.h
        first = h * self.x[parts.accelerations]
        state = self.x + (self.begin + z) / 2  # of the work, and of states of the controller
        averaged = (1 - self.alpha_f) * z[parts.y] + self.alpha_f * self.begin[parts.y]
        last = (averaged - self.alpha_m * first) / (1 - self.alpha_m)
        v = self.x[parts.y]
        along = h * (v + (0.5 - self.beta) * first + self.beta * last)
        state[parts.q] = parts.move(self.x[parts.q], along)
        state[parts.y] = v + (1 - self.gamma) * first + self.gamma * last
        state[parts.accelerations] = last / h
        state[parts.multipliers] = z[parts.multipliers] / (h * h)
        return state

    def following(self, z: Any) -> Any:
        """A better end by Newton's iteration, with derivatives of all forces but those of inertia;
        then multipliers that meet the constraints.
        """
        parts, h = self.parts, self.h
        state = self.state(z)
        new = h * self.f(self.t, state)
        new[parts.q] = 0 * new[parts.q]
        new[parts.accelerations] = 0 * new[parts.accelerations]
        new[parts.multipliers] = z[parts.multipliers]
        if self.manifold is None:
            return new
        by_rate, by_place = h * self.gamma * self.share, h * h * self.beta * self.share
        linearised = self.manifold.linearised(self.t, state, by_rate, by_place)
        residual = new[parts.y] - z[parts.y]
        new[parts.y] = z[parts.y] + linearised.corrected(residual)
        if not self.manifold.is_constrained:
            return new
        slip = self._residual(self.manifold, self.state(new)) / self.share
        multipliers = linearised.multipliers(slip)
        new[parts.y] = new[parts.y] + linearised.along(multipliers)
        new[parts.multipliers] = new[parts.multipliers] + h * multipliers
        return new

    def _residual(self, manifold: Manifold, state: Any) -> Any:
        """The change of h J a_1 that meets the constraints (k,)."""
        q, v = state[self.parts.q], state[self.parts.y]
        residual = -manifold.velocity(self.t, q, v) / self.gamma
        rows = manifold.holonomic
        residual[rows] = -manifold.position(self.t, q) / (self.h * self.beta)
        return residual


def needs(unknowns: Any = None, rho_inf: float | None = None, **known: Any) -> dict[str, Any]:
    """Options of the step: the parts of a state, and the damping.

    Raises
    ------
    ValueError
        rho_inf is not from 0 to 1.
    """
    rho_inf = RHO_INF if rho_inf is None else rho_inf
    if not 0 <= rho_inf <= 1:
        raise ValueError(
            f"rho_inf={rho_inf:g}: expected 0 (infinitely fast vibrations vanish in a step) to 1 "
            "(nothing is damped)."
        )
    parts = parts_of("generalized_alpha", coordinates("generalized_alpha")(**known), unknowns)
    if parts.accelerations.stop == parts.accelerations.start:
        raise ValueError(
            "generalized_alpha must know where x has its accelerations: give unknowns=."
        )
    return {"parts": parts, "rho_inf": rho_inf}


METHOD = Constrained(
    "generalized_alpha",
    2,
    step,
    memory={SOLUTION: 1},
    needs=needs,
    refuses={
        **dict.fromkeys(
            (*GENERAL, INDEX_2),
            "generalized_alpha solves for ends of steps whose coordinates meet the constraints "
            "('index3'): leave stabilisation= out, or take another method, such as 'dop853'.",
        ),
        CONTACT: "generalized_alpha takes accelerations from step to step, which stops and friction "
        "that sticks interrupt: take method='dop853' or 'rattle', or friction='sign' without stops.",
        MOMENTA: "generalized_alpha steps velocities, which a state (q, p) has not: take a "
        "formulation in (q, qd).",
    },
    own={INDEX_3: (MULTIPLIERS, ACCELERATIONS)},
)
