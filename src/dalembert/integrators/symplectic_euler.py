"""Symplectic Euler: order 1; the energy of a conservative system stays bounded where T + Pi separates."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np


def step(f: Any, t: Any, x: Any, h: Any, *, nq: int, nv: int, move: Callable[[Any, Any], Any]) -> Any:
    """x = (q, qd, ...): first the velocities and what follows them, then q moved along the new velocities.

        qd(t + h) = qd + h qdd(t, q, qd),   q(t + h) = move(q, h qd(t + h))

    Hairer, Lubich, Wanner, Geometric Numerical Integration (2006), section I.1.2.
    """
    rest = x[nq:] + h * f(t, x)[nq:]
    return np.concatenate([move(x[:nq], h * rest[:nv]), rest])
