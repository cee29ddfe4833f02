"""Explicit Euler: order 1; energy grows."""

from __future__ import annotations

from typing import Any

from dalembert.integrators.method_kinds import FixedStep


def step(f: Any, t: Any, x: Any, h: Any) -> Any:
    """x(t + h) = x + h f(t, x)."""
    return x + h * f(t, x)


METHOD = FixedStep("explicit_euler", 1, step)
