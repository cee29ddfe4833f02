"""Symplectic Euler: order 1; the energy of a conservative system stays bounded in (q, p), and where T + Pi separates."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from dalembert.integrators.fixed_point import FixedPoint, Solver


def step(f: Any, t: Any, x: Any, h: Any, *, nq: int, nv: int, move: Callable[[Any, Any], Any]) -> Any:
    """x = (q, qd, ...): first the velocities and what follows them, then q moved along the new velocities.

        qd(t + h) = qd + h qdd(t, q, qd),   q(t + h) = move(q, h qd(t + h))

    Hairer, Lubich, Wanner, Geometric Numerical Integration (2006), section I.1.2.
    """
    rest = x[nq:] + h * f(t, x)[nq:]
    return np.concatenate([move(x[:nq], h * rest[:nv]), rest])


def canonical_step(f: Any, t: Any, x: Any, h: Any, solve: Solver | None = None, *, nq: int, nv: int) -> Any:
    """x = (q, p, ...), any H(q, p): first the new momenta, from an equation; then everything moves at (q, new p).

        p(t + h) = p + h p'(t, q, p(t + h)),   q(t + h) = q + h q'(t, q, p(t + h))

    Hairer, Lubich, Wanner, Geometric Numerical Integration (2006), section VI.3.
    """
    end = nq + nv

    def increment(d: Any) -> Any:
        return h * f(t, np.concatenate([x[:nq], x[nq:end] + d[nq:end], x[end:]]))

    return x + (solve or FixedPoint())(increment, x, lambda d: d)
