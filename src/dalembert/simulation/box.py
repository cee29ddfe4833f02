"""Linear complementarity with bounds: the law of reactions that are limited, such as dry friction's and a stop's."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

MOST = 100               # exchanges per unknown, far beyond what happens
ROUNDING = 1e-12         # of the terms that a sum is made of


class Box(NamedTuple):
    """Reactions, accelerations, and where each reaction is: 0 between its bounds, -1 at the lower, 1 at the upper one."""

    reaction: np.ndarray
    acceleration: np.ndarray
    bound: np.ndarray


def box(A: np.ndarray, b: np.ndarray, lower: np.ndarray, upper: np.ndarray) -> Box:
    """The one solution of a = A r + b with r at its lower bound where a > 0, at its upper one where a < 0, else between.

        min 1/2 r^T A r + b^T r,   lower <= r <= upper,   A symmetric and positive definite; bounds may be infinite

    All unknowns that break their condition are exchanged as long as they become fewer, then the first of them alone, which
    ends for every such A.

    Judice, Pires, A block principal pivoting algorithm for large-scale strictly monotone linear complementarity problems,
    Computers Ops Res. 21 (1994) 587-596.
    """
    n = len(b)
    bound, fewest, patience = np.zeros(n, dtype=int), n + 1, 3
    for _ in range(MOST * (n + 1)):
        free = bound == 0
        r = np.where(bound < 0, lower, np.where(bound > 0, upper, 0.0))
        r[free] = np.linalg.solve(A[np.ix_(free, free)], -b[free] - A[np.ix_(free, ~free)] @ r[~free])
        a = np.where(free, 0.0, A @ r + b)
        small = ROUNDING * (np.abs(A) @ np.abs(r) + np.abs(b))
        slack = ROUNDING * np.abs(r)
        wanted = np.where(free, (r > upper + slack) * 1 - (r < lower - slack), np.where(bound * a > small, 0, bound))
        wrong = np.flatnonzero(wanted != bound)
        if not len(wrong):
            r = np.clip(r, lower, upper)
            return Box(r, np.where(np.abs(a) <= small, 0.0, a), bound)
        fewest, patience = (len(wrong), 3) if len(wrong) < fewest else (fewest, patience - 1)
        change = wrong if patience > 0 else wrong[:1]
        bound[change] = wanted[change]
    raise AssertionError(f"the exchange of {n} reactions does not end: A is not positive definite.")
