"""Where a function first goes through 0 within a step."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from dalembert.expr import absolute, maximum, minimum
from dalembert.integrators.choice import chosen

EPS = np.finfo(float).eps
LEAST = 1e-300           # depth that is not 0
HUGE = 1e300


def resolution(t: Any, length: Any) -> Any:
    """Two units in the last place of the times in a step from t: a crossing is not known better [s]."""
    return 2 * EPS * (absolute(t) + length)


def begun(end: Any, at_end: Any) -> tuple[Any, Any, Any, Any, Any]:
    """The bracket (0, end] of a crossing, as `narrowed` has it; at s = 0 nothing has happened."""
    return end, at_end, 0 * end, -maximum(absolute(at_end), LEAST), 0.5 + 0 * end


def narrowed(a: Any, fa: Any, b: Any, fb: Any, s: Any, f: Any, width: Any) -> tuple[Any, Any, Any, Any, Any]:
    """The bracket a, b with values fa, fb of different sides, and the part of it at which to look next, after f at s.

    By inverse quadratic interpolation where that is safe, else by halves, over any scalar and arrays; width: to be reached.

    Chandrupatla, A new hybrid quadratic/bisection algorithm for finding the zero of a nonlinear function, Advances in
    Engineering Software 28 (1997) 145-149.
    """
    same = absolute(chosen(f >= 0, 1.0, 0.0) - chosen(fa >= 0, 1.0, 0.0)) < 0.5
    c, fc, b, fb = chosen(same, a, b), chosen(same, fa, fb), chosen(same, b, a), chosen(same, fb, fa)
    with np.errstate(all="ignore"):
        xi, phi = (s - b) / (c - b), (f - fb) / (fc - fb)
        inverse = f / (fb - f) * fc / (fb - fc) + (c - s) / (b - s) * f / (fc - f) * fb / (fc - fb)
        least = minimum(0.5, 0.5 * width / absolute(b - s))
        safe = chosen(phi * phi < xi, chosen((1 - phi) * (1 - phi) < 1 - xi, absolute(inverse), HUGE), HUGE) < HUGE
    return s, f, b, fb, minimum(maximum(chosen(safe, inverse, 0.5), least), 1 - least)


def crossing(depth: Callable[[np.ndarray, np.ndarray], np.ndarray], end: np.ndarray, at_end: np.ndarray,
             width: np.ndarray) -> np.ndarray:
    """The first s in (0, end], to a width, from which on depth(s) >= 0; at_end = depth(end) >= 0. Arrays (n,).

    depth(rows, s) is asked for some of the rows. At s = 0 nothing has happened, whatever depth says there.
    """
    a, fa, b, fb, part = begun(end, at_end)
    while len(rows := np.flatnonzero(np.abs(b - a) > width)):
        s = a[rows] + part[rows] * (b[rows] - a[rows])
        found = narrowed(a[rows], fa[rows], b[rows], fb[rows], s, depth(rows, s), width[rows])
        for values, new in zip((a, fa, b, fb, part), found, strict=True):
            values[rows] = new
    return np.where(fa >= 0, a, b)
