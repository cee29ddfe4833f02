"""The classical Runge-Kutta method: order 4."""

from __future__ import annotations

from dalembert.expr.scalars import Scalar
from dalembert.integrators.method_kinds import FixedStep, Rate, Vector


def step(f: Rate, t: Scalar, x: Vector, h: Scalar) -> Vector:
    """x(t + h) by four values of f (Kutta 1901)."""
    k1 = f(t, x)
    k2 = f(t + h / 2, x + h / 2 * k1)
    k3 = f(t + h / 2, x + h / 2 * k2)
    k4 = f(t + h, x + h * k3)
    return x + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4)


METHOD = FixedStep("rk4", 4, step)
