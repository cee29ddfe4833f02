"""Explicit Euler: order 1; energy grows."""

from __future__ import annotations

from typing import Any

from dalembert.integrators.kinds import Fixed


def step(f: Any, t: Any, x: Any, h: Any) -> Any:
    """x(t + h) = x + h f(t, x)."""
    return x + h * f(t, x)


METHOD = Fixed("explicit_euler", 1, step)
