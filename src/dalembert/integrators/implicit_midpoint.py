"""The implicit midpoint rule: order 2, symplectic and symmetric; keeps quadratic invariants."""

from __future__ import annotations

from dalembert.expr.scalars import Scalar
from dalembert.integrators.fixed_point import FixedPoint, Solver
from dalembert.integrators.method_kinds import SOLUTION, FixedStep, Rate, Vector


def step(f: Rate, t: Scalar, x: Vector, h: Scalar, solve: Solver | None = None) -> Vector:
    """x(t + h) = x + d,   d = h f(t + h/2, x + d/2).

    Hairer, Lubich, Wanner, Geometric Numerical Integration (2006), section II.1.
    """
    return x + (solve or FixedPoint())(lambda d: h * f(t + h / 2, x + d / 2), x, lambda d: d)


METHOD = FixedStep("implicit_midpoint", 2, step, memory={SOLUTION: 1})
