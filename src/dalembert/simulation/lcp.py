"""Linear complementarity with bounds: the law of reactions that are limited, such as dry friction's
and a stop's.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from dalembert.expr import absolute, array, maximum, minimum
from dalembert.integrators.choice import chosen
from dalembert.simulation.elementwise import at_most, less, where
from dalembert.simulation.repetition import Repeat, Vectors, repeated
from dalembert.spatial.ldl import factorised, solved, unchecked

UNBOUNDED = 1e300  # stands for an infinite bound
MOST = 100  # exchanges per unknown, far beyond what happens
ROUNDING = 1e-12  # of the terms that a sum is made of
PATIENCE = 3.0  # exchanges of all wrong unknowns together that do not make them fewer
CORRECTIONS = 3  # of reactions of a singular matrix
FREE, LOWER, UPPER = 0.0, -1.0, 1.0  # where an unknown is: between its bounds, or at one of them

Scalars = Sequence[Any] | np.ndarray


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
    lower, upper, asked = (array(list(v)) for v in (lower, upper, asked))

    def exchange(
        places: Scalars, progress: Scalars, _r: Scalars, _a: Scalars
    ) -> tuple[Vectors, Any]:
        """A pass of exchanges, and whether it changed anything."""
        place = array(list(places))
        free = asked * where(less(absolute(place), 0.5), 1.0, 0.0)
        at_bounds = where(less(place, -0.5), lower, where(less(0.5, place), upper, 0.0))
        r = balanced(A, b, free, at_bounds)
        rounding = ROUNDING * (absolute(A) @ absolute(r) + absolute(b))
        a = asked * (1 - free) * (A @ r + b)
        # a free unknown beyond a bound belongs there; one that moves away from its bound is free
        slack = ROUNDING * absolute(r)
        beyond = where(less(upper + slack, r), UPPER, where(less(r, lower - slack), LOWER, FREE))
        leaving = where(less(rounding, place * a), FREE, place)
        wanted = where(less(0.0, free), beyond, leaving)
        following, progress, last = _exchanged(place, wanted, progress)
        within = minimum(maximum(r, lower), upper)
        exact = where(at_most(absolute(a), rounding), 0.0, a)
        return (following, progress, within, exact), last

    start = [FREE] * n, [n + 1.0, PATIENCE], [0.0] * n, [0.0] * n
    *_, r, a = repeat(exchange, start, MOST * (n + 1))
    return asked * array(list(r)), array(list(a))


def semidefinite(
    A: np.ndarray, firm: Any, b: np.ndarray, *bounds: Any
) -> tuple[np.ndarray, np.ndarray]:
    """`bounded` for a matrix that may be singular, by a firm diagonal matrix beside it, or 0.

    Corrections take back what the diagonal does to r (proximal point; Rockafellar, SIAM J. Control
    14 (1976) 877-898).
    """
    r, a = bounded(A + firm, b, *bounds)
    if not is_firm(firm):
        return r, a
    for _ in range(CORRECTIONS):
        r, a = bounded(A + firm, b - firm @ r, *bounds)
    return r, a


def is_firm(firm: Any) -> bool:
    """Whether there is a diagonal matrix."""
    return isinstance(firm, np.ndarray)


def balanced(A: np.ndarray, b: np.ndarray, free: np.ndarray, r: np.ndarray) -> np.ndarray:
    """Reactions with which the free unknowns have the acceleration 0; the others keep theirs, r."""
    among_free = A * free[:, None] * free + np.diag(1 - free)
    L = factorised([list(row) for row in among_free], unchecked)
    return where(less(0.0, free), solved(L, list(free * (-b - A @ r))), r)


def _exchanged(
    place: np.ndarray, wanted: np.ndarray, progress: Scalars
) -> tuple[np.ndarray, list[Any], Any]:
    """The next places, the fewest wrong unknowns so far with the patience that is left, and 1 if
    none is wrong.
    """
    fewest, patience = progress
    wrong = absolute(wanted - place)
    count = sum(wrong)
    patience = chosen(count < fewest, PATIENCE, patience - 1)
    before = array([sum(wrong[:i]) for i in range(len(wrong))])
    first = where(less(0.0, before), 0.0, wrong)  # of the wrong ones, alone
    following = where(less(0.0, chosen(patience > 0, wrong, first)), wanted, place)
    return following, [minimum(count, fewest), patience], chosen(count > 0, 0.0, 1.0)
