"""Explicit Euler: order 1; energy grows."""

from __future__ import annotations

from dalembert.expr.scalars import Scalar
from dalembert.integrators.method_kinds import FixedStep, Rate, Vector


def step(f: Rate, t: Scalar, x: Vector, h: Scalar) -> Vector:
    """x(t + h) = x + h f(t, x)."""
    return x + h * f(t, x)


METHOD = FixedStep("explicit_euler", 1, step)
