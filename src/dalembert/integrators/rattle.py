"""RATTLE: order 2, symmetric, its ends on the constraints; symplectic where M is constant."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from dalembert.expr.scalars import Scalar
from dalembert.integrators.fixed_point import FixedPoint, Solver
from dalembert.integrators.method_kinds import (
    MOMENTA,
    NONHOLONOMIC,
    SOLUTION,
    Constrained,
    Manifold,
    Rate,
    Vector,
)
from dalembert.integrators.moving_coordinates import coordinates


def step(
    f: Rate,
    t: Scalar,
    x: Vector,
    h: Scalar,
    solve: Solver | None = None,
    *,
    nq: int,
    nv: int,
    move: Callable[[Any, Any], Any],
    manifold: Manifold | None = None,
) -> Vector:
    """Velocities v to the middle, coordinates to the end, velocities to the end.

        v_m = v + h/2 a(t, q, v_m) + M^-1 J^T(q) l,       phi(q_1) = 0,    q_1 = q moved along h v_m
        v_1 = v_m + h/2 a(t + h, q_1, v_m) + M^-1 J^T(q_1) m,              phi'(q_1, v_1) = 0

    The second half is the adjoint of the first, so that the order is even. Work and states of the
    controller go with the velocities. Without constraints it is Stoermer's and Verlet's method.

    Andersen, RATTLE: a velocity version of the SHAKE algorithm, J. Comput. Phys. 52 (1983) 24-34;
    Hairer, Lubich, Wanner, Geometric Numerical Integration (2006), section VII.1.4.
    """
    q = x[:nq]
    v = x[nq : nq + nv]
    constraints = manifold if manifold is not None and manifold.is_constrained else None
    begin = None if constraints is None else constraints.response(t, q, v)

    def on_constraints(constraints: Manifold, z: Any, free: Any) -> Any:
        """Velocities in the middle that lead to phi = 0, from those without constraints."""
        assert begin is not None
        pushed = begin.towards(begin.rows.jacobian @ (v + z - free))
        middle = free + pushed
        residual = constraints.position(t + h, move(q, h * middle))
        return middle - begin.towards(residual) / h

    def half(z: Any) -> Any:
        """The change of all but q to the middle, from such a change."""
        slope = h / 2 * f(t, np.concatenate([q, x[nq:] + z[nq:]]))[nq:]
        change = slope[:nv]
        if constraints is not None:
            change = on_constraints(constraints, z[nq : nq + nv], v + change) - v
        return np.concatenate([0 * q, change, slope[nv:]])

    middle = x[nq:] + (solve or FixedPoint())(half, x, lambda z: z)[nq:]
    q_1 = move(q, h * middle[:nv])
    new = middle + h / 2 * f(t + h, np.concatenate([q_1, middle]))[nq:]
    v_1 = new[:nv]
    if constraints is not None:
        end = constraints.response(t + h, q_1, v_1)
        v_1 = v_1 - end.towards(constraints.velocity(t + h, q_1, v_1))
    return np.concatenate([q_1, v_1, new[nv:]])


METHOD = Constrained(
    "rattle",
    2,
    step,
    memory={SOLUTION: 1},
    needs=coordinates("rattle"),
    refuses={
        NONHOLONOMIC: "rattle is for constraints on coordinates; one on velocities alone needs "
        "method='rk4' or 'dop853', which project.",
        MOMENTA: "rattle steps velocities, which a state (q, p) has not: take "
        "method='symplectic_euler' or 'implicit_midpoint', or a formulation in (q, qd).",
    },
)
