"""RATTLE: order 2, symmetric, its ends on the constraints; symplectic in (q, p), and in (q, qd)
where M is constant.
"""

from __future__ import annotations

from typing import Any

from dalembert.expr.scalars import Scalar
from dalembert.integrators.fixed_point import FixedPoint, Solver
from dalembert.integrators.method_kinds import (
    BAUMGARTE,
    GGL,
    MINIMAL,
    MULTIPLIERS,
    NONE,
    NONHOLONOMIC,
    PROJECTION,
    QUASI_MOMENTA,
    SOLUTION,
    Constrained,
    Manifold,
    Rate,
    Vector,
)
from dalembert.integrators.moving_coordinates import StateParts, coordinates, parts_of


def step(
    f: Rate,
    t: Scalar,
    x: Vector,
    h: Scalar,
    solve: Solver | None = None,
    *,
    parts: StateParts,
    canonical: bool = False,
    manifold: Manifold | None = None,
) -> Vector:
    """Velocities v or momenta p to the middle, coordinates to the end, the former to the end.

        p_m = p + h/2 p'(t, q, p_m) + J^T(q) l,     q_1 = q + h/2 (q'(q, p_m) + q'(q_1, p_m)),   phi(q_1) = 0
        p_1 = p_m + h/2 p'(t + h, q_1, p_m) + J^T(q_1) m,                        phi'(q_1, p_1) = 0

    With velocities q_1 is q moved along h v_m, and M^-1 J^T in place of J^T. The second half is the
    adjoint of the first, so that the order is even. Work and states of the controller go with the
    velocities. Without constraints it is Stoermer's and Verlet's method.

    Andersen, RATTLE: a velocity version of the SHAKE algorithm, J. Comput. Phys. 52 (1983) 24-34;
    Jay, Symplectic partitioned Runge-Kutta methods for constrained Hamiltonian systems, SIAM J. Numer.
    Anal. 33 (1996) 368-387; Hairer, Lubich, Wanner, Geometric Numerical Integration (2006), VII.1.4.
    """
    half = FirstHalf(f, t, x, h, parts, canonical, manifold)
    z = (solve or FixedPoint())(half.following, parts.rated(x), lambda z: z)
    middle = half.middle(z)
    q_1 = half.end(z)
    middle[parts.q] = q_1
    new = middle + h / 2 * f(t + h, middle)
    new[parts.q] = q_1
    if half.manifold is not None:
        y = new[parts.y]
        _, response = half.manifold.responses(t + h, q_1, y)
        residual = -half.manifold.velocity(t + h, q_1, y)
        new[parts.y] = y + half.manifold.impulse(response, residual)
    return new


class FirstHalf:
    """Equations of the first half of a step: of z (n,), changes of y to the middle and of q to the
    end; of multipliers, h^2 times their values.
    """

    def __init__(
        self,
        f: Rate,
        t: Scalar,
        x: Vector,
        h: Scalar,
        parts: StateParts,
        canonical: bool,
        manifold: Manifold | None,
    ):
        self.f, self.t, self.x, self.h = f, t, x, h
        self.parts, self.canonical = parts, canonical
        self.manifold = manifold if manifold is not None and manifold.is_constrained else None
        self.response: Any = None
        if self.manifold is not None:
            _, self.response = self.manifold.responses(t, x[parts.q], x[parts.y])

    def middle(self, z: Any) -> Any:
        """The state in the middle, with the coordinates of the beginning."""
        state = self.x + z
        state[self.parts.q] = self.x[self.parts.q]
        state[self.parts.multipliers] = z[self.parts.multipliers] / (self.h * self.h)
        return state

    def end(self, z: Any) -> Any:
        """Coordinates at the end."""
        q = self.x[self.parts.q]
        if self.canonical:
            return q + z[self.parts.q]
        v = self.x[self.parts.y] + z[self.parts.y]
        return self.parts.move(q, self.h * v)

    def following(self, z: Any) -> Any:
        """A better half: changes at the old one, then multipliers that lead to phi = 0."""
        parts = self.parts
        middle = self.middle(z)
        new = self.h / 2 * self.f(self.t, middle)
        new[parts.multipliers] = z[parts.multipliers]
        if self.canonical:
            new[parts.q] = self._moved(z, new)
        else:
            new[parts.q] = 0 * new[parts.q]
        if self.manifold is None:
            return new
        residual = -self.manifold.position(self.t + self.h, self.end(new))
        change = self.manifold.impulse(self.response, residual / self.h)
        new[parts.y] = new[parts.y] + change
        scaled = 2 * self.response.multipliers(residual)
        new[parts.multipliers] = new[parts.multipliers] + scaled
        if self.canonical:
            step = self.response.towards(residual)
            new[parts.q] = new[parts.q] + self.manifold.rate(self.x[parts.q], step)
        return new

    def _moved(self, z: Any, new: Any) -> Any:
        """The change of q at the mean of the rates at both ends, with momenta of the middle."""
        state = self.x + new
        state[self.parts.multipliers] = 0 * state[self.parts.multipliers]
        rates = 0
        for t, q in ((self.t, self.x[self.parts.q]), (self.t + self.h, self.end(z))):
            state[self.parts.q] = q
            rates = rates + self.f(t, state)[self.parts.q]
        return self.h / 2 * rates


def needs(unknowns: Any = None, canonical: bool = False, **known: Any) -> dict[str, Any]:
    """Options of the step: the parts of a state, and whether it has momenta."""
    parts = parts_of("rattle", coordinates("rattle")(**known), unknowns)
    return {"parts": parts, "canonical": canonical}


METHOD = Constrained(
    "rattle",
    2,
    step,
    memory={SOLUTION: 1},
    needs=needs,
    refuses={
        **dict.fromkeys(
            (BAUMGARTE, GGL, NONE, *MINIMAL),
            "rattle solves for ends of steps on the constraints: leave stabilisation= out, or take "
            "another method, such as 'rk4'.",
        ),
        NONHOLONOMIC: "rattle is for constraints on coordinates; one on velocities alone needs "
        "method='rk4' or 'dop853', which project.",
        QUASI_MOMENTA: "rattle is symplectic in canonical momenta, which spherical and free joints "
        "({joints}) have not: take a formulation in (q, qd).",
    },
    own={PROJECTION: (MULTIPLIERS,)},
)
