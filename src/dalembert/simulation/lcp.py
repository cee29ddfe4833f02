"""Linear complementarity with bounds: the law of reactions that are limited, such as dry friction's
and a stop's.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from dalembert.expr import absolute, array, maximum, minimum
from dalembert.integrators.choice import chosen
from dalembert.simulation.repetition import Repeat, Vectors, repeated
from dalembert.spatial.ldl import factorised, solved, unchecked

UNBOUNDED = 1e300  # stands for an infinite bound
MOST = 100  # exchanges per unknown, far beyond what happens
ROUNDING = 1e-12  # of the terms that a sum is made of
PATIENCE = 3.0  # exchanges of all wrong unknowns together that do not make them fewer
FREE, LOWER, UPPER = 0.0, -1.0, 1.0  # where an unknown is: between its bounds, or at one of them

Scalars = Sequence[Any]


def bounded(
    A: np.ndarray,
    b: np.ndarray,
    lower: Scalars,
    upper: Scalars,
    asked: Scalars,
    repeat: Repeat = repeated,
) -> tuple[np.ndarray, np.ndarray]:
    """Reactions r and accelerations a = A r + b, each reaction within its bounds and against its
    acceleration.

        r = lower where a > 0,   r = upper where a < 0,   lower <= r <= upper where a = 0

    This is the minimum of 1/2 r^T A r + b^T r over all lower <= r <= upper. Every unknown is free,
    or at one of its bounds. All unknowns that break their condition are exchanged at once as long
    as they become fewer; then the first of them alone, which ends for every A.

    Parameters
    ----------
    A : (n, n) symmetric and positive definite
    b : (n,)
    lower, upper : (n,); `UNBOUNDED` stands for infinity
    asked : (n,) 1, or 0 for an unknown that is left out: its r and a are 0
    repeat : `repeated` on numbers, `traced` on expressions

    References
    ----------
    Judice, Pires, A block principal pivoting algorithm for large-scale strictly monotone linear
    complementarity problems, Computers Ops Res. 21 (1994) 587-596.
    """
    n = len(b)

    def exchange(
        place: Scalars, progress: Scalars, _r: Scalars, _a: Scalars
    ) -> tuple[Vectors, Any]:
        free = [
            one * chosen(absolute(k) < 0.5, 1.0, 0.0) for k, one in zip(place, asked, strict=True)
        ]
        r = _balanced(A, b, free, _at_bounds(place, lower, upper))
        rounding = ROUNDING * (absolute(A) @ absolute(r) + absolute(b))
        a = array([one * (1 - f) * x for one, f, x in zip(asked, free, A @ r + b, strict=True)])
        wanted = [_place(*of) for of in zip(place, free, r, a, rounding, lower, upper, strict=True)]
        following, progress, last = _exchanged(place, wanted, progress)
        within = [
            minimum(maximum(x, low), high) for x, low, high in zip(r, lower, upper, strict=True)
        ]
        exact = [chosen(absolute(x) <= least, 0.0, x) for x, least in zip(a, rounding, strict=True)]
        return (following, progress, within, exact), last

    start = [FREE] * n, [n + 1.0, PATIENCE], [0.0] * n, [0.0] * n
    *_, r, a = repeat(exchange, start, MOST * (n + 1))
    return array([one * x for one, x in zip(asked, r, strict=True)]), array(list(a))


def _at_bounds(place: Scalars, lower: Scalars, upper: Scalars) -> np.ndarray:
    """Reactions of the unknowns at their bounds, 0 of the others."""
    return array(
        [
            chosen(k < -0.5, low, chosen(k > 0.5, high, 0.0))
            for k, low, high in zip(place, lower, upper, strict=True)
        ]
    )


def _balanced(A: np.ndarray, b: np.ndarray, free: Scalars, r: np.ndarray) -> np.ndarray:
    """Reactions with which the free unknowns have the acceleration 0; the others keep theirs, r."""
    n = len(b)
    among_free = [
        [A[i][j] * free[i] * free[j] + (1 - free[i] if i == j else 0.0) for j in range(n)]
        for i in range(n)
    ]
    left = [f * x for f, x in zip(free, -b - A @ r, strict=True)]
    y = solved(factorised(among_free, unchecked), left)
    return array([chosen(f > 0, own, other) for f, own, other in zip(free, y, r, strict=True)])


def _place(place: Any, free: Any, r: Any, a: Any, rounding: Any, lower: Any, upper: Any) -> Any:
    """Where an unknown belongs: a free one beyond a bound at that bound; one that moves away from
    its bound becomes free.
    """
    slack = ROUNDING * absolute(r)
    beyond = chosen(r > upper + slack, UPPER, chosen(r < lower - slack, LOWER, FREE))
    return chosen(free > 0, beyond, chosen(place * a > rounding, FREE, place))


def _exchanged(
    place: Scalars, wanted: Scalars, progress: Scalars
) -> tuple[list[Any], list[Any], Any]:
    """The next places, the fewest wrong unknowns so far with the patience that is left, and 1 if
    none is wrong.
    """
    fewest, patience = progress
    wrong = [absolute(new - old) for new, old in zip(wanted, place, strict=True)]
    count = sum(wrong)
    patience = chosen(count < fewest, PATIENCE, patience - 1)
    changes = [
        chosen(patience > 0, w, chosen(sum(wrong[:i]) > 0, 0.0, w)) for i, w in enumerate(wrong)
    ]
    following = [
        chosen(c > 0, new, old) for c, new, old in zip(changes, wanted, place, strict=True)
    ]
    return following, [minimum(count, fewest), patience], chosen(count > 0, 0.0, 1.0)
