"""Symplectic Euler in (q, p): order 1; the energy of a conservative system stays bounded."""

from __future__ import annotations

from typing import Any

import numpy as np

from dalembert.integrators.fixed_point import FixedPoint, Solver


def step(f: Any, t: Any, x: Any, h: Any, solve: Solver | None = None, *, nq: int, nv: int) -> Any:
    """x = (q, p, ...), any H(q, p): first the new momenta, from an equation; then everything moves at (q, new p).

        p(t + h) = p + h p'(t, q, p(t + h)),   q(t + h) = q + h q'(t, q, p(t + h))

    Hairer, Lubich, Wanner, Geometric Numerical Integration (2006), section VI.3.
    """
    end = nq + nv

    def increment(d: Any) -> Any:
        return h * f(t, np.concatenate([x[:nq], x[nq:end] + d[nq:end], x[end:]]))

    return x + (solve or FixedPoint())(increment, x, lambda d: d)
