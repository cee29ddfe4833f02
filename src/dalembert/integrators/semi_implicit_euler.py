"""Semi-implicit Euler in (q, qd): order 1; symplectic only where the mass matrix is constant."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from dalembert.expr.scalars import Scalar
from dalembert.integrators.method_kinds import GGL, MOMENTA, FixedStep, Rate, Vector
from dalembert.integrators.moving_coordinates import coordinates


def step(
    f: Rate, t: Scalar, x: Vector, h: Scalar, *, nq: int, nv: int, move: Callable[[Any, Any], Any]
) -> Vector:
    """x = (q, qd, ...): first the velocities and all that follows them, then q along the new
    velocities.

        qd(t + h) = qd + h qdd(t, q, qd),   q(t + h) = move(q, h qd(t + h))

    Velocities are no momenta: where M depends on q, or bodies turn freely, the energy is not
    bounded.

    Hairer, Lubich, Wanner, Geometric Numerical Integration (2006), section I.1.2.
    """
    rest = x[nq:] + h * f(t, x)[nq:]
    return np.concatenate([move(x[:nq], h * rest[:nv]), rest])


METHOD = FixedStep(
    "semi_implicit_euler",
    1,
    step,
    needs=coordinates("semi_implicit_euler"),
    refuses={
        MOMENTA: "semi_implicit_euler steps velocities, which a state (q, p) has not: take "
        "method='symplectic_euler', "
        "or a formulation in (q, qd).",
        GGL: "semi_implicit_euler moves coordinates along velocities alone, so that 'ggl' would change "
        "nothing: take 'projection' or 'baumgarte', or method='rk4'.",
    },
)
