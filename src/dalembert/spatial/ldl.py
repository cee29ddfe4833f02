"""Symmetric systems over any scalar by A = L^T D L, from the last entry to the first.

Rows are lists of scalars: floats, exact numbers, expressions, or arrays (N,) of a batch. Entries
known to be 0 are left out: for the mass matrix of a tree, whose branches do not feel each other, L
then has no more entries than A (Featherstone, Rigid Body Dynamics Algorithms (2008), section 6.5).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np

from dalembert.expr import known_zero
from dalembert.spatial.vectors import Scalar

Rows = list[list[Scalar]]
Check = Callable[
    ..., None
]  # (k, pivot) or (k, pivot, size): raises where a pivot is not acceptable


class Factors(NamedTuple):
    """A = L^T D L with L unit lower triangular, whose ones are not stored."""

    L: Rows
    inverse_pivots: list[Scalar]  # 1 / D


def unchecked(k: int, pivot: Scalar, size: Scalar = None) -> None:
    """Accept every pivot: for matrices that are positive definite by themselves."""


def factorised(
    A: Sequence[Sequence[Scalar]], check: Check, free: Sequence[Scalar] | None = None
) -> Factors:
    """Factors of a symmetric positive definite A, of which the lower part is read.

    check(k, pivot) sees each pivot, from the last to the first: a_kk once the entries after k are
    eliminated. free: 1 of entries that are unknown, 0 of entries that are 0 in a solution, so that
    the factors are those of A without them.
    """
    n = len(A)
    L: Rows = [[0] * n for _ in range(n)]
    rest = [list(row) for row in A]  # of which entries up to k are what is left of A
    inverse_pivots: list[Scalar] = [0] * n
    for k in reversed(range(n)):
        check(k, rest[k][k])
        inverse_pivots[k] = (1 if free is None else free[k]) / rest[k][k]
        coupled = [i for i in range(k) if not known_zero(rest[k][i])]
        for i in coupled:
            L[k][i] = rest[k][i] * inverse_pivots[k]
        for i in coupled:
            for j in range(i + 1):
                rest[i][j] = rest[i][j] - L[k][i] * rest[k][j]
    return Factors(L, inverse_pivots)


def solved(factors: Factors, b: Sequence[Scalar]) -> list[Scalar]:
    """x with L^T D L x = b."""
    L, inverse_pivots = factors
    x = list(b)
    n = len(b)
    for k in reversed(range(n)):
        for i in range(k):
            x[i] = x[i] - L[k][i] * x[k]
    for k in range(n):
        x[k] = x[k] * inverse_pivots[k]
        for i in range(k):
            x[k] = x[k] - L[k][i] * x[i]
    return x


def inverted(factors: Factors) -> Rows:
    """Symmetric inverse of L^T D L: (1 - P) D^-1 (1 - P)^T."""
    P = couplings(factors)
    d = factors.inverse_pivots
    n = len(P)
    scaled = [
        [times(-p, x) for p, x in zip(row, d, strict=False)] + [d[k]] for k, row in enumerate(P)
    ]
    upper = {
        (r, c): total(scaled[c][r], ((-p, x) for p, x in zip(P[r], scaled[c], strict=False)))
        for c in range(n)
        for r in range(c + 1)
    }
    return [[upper[min(r, c), max(r, c)] for c in range(n)] for r in range(n)]


def couplings(factors: Factors) -> Rows:
    """Rows of P, strictly lower triangular, with L^-1 = 1 - P; like L it is zero between branches.

    In a mass matrix -P_ki is the acceleration of entry k outboard of i while i accelerates by 1 and
    all outboard of i move freely.
    """
    P: Rows = []
    for row in factors.L:
        k = len(P)
        P.append([total(row[i], ((-row[j], P[j][i]) for j in range(i + 1, k))) for i in range(k)])
    return P


def total(start: Scalar, products: Iterable[tuple[Scalar, Scalar]]) -> Scalar:
    """The start plus a sum of products; products with a factor known to be 0 are left out."""
    for a, b in products:
        if not (known_zero(a) or known_zero(b)):
            start = start + a * b
    return start


def times(a: Scalar, b: Scalar) -> Scalar:
    """The product, the number 0 where a factor is known to be 0."""
    return total(0, [(a, b)])


# --- between arrays with the batch in front and rows of scalars ------------------------------------------------------


def rows_of(A: np.ndarray) -> Rows:
    """Rows of scalars of a matrix (n, m) or of a batch (N, n, m)."""
    return A.tolist() if A.ndim == 2 else [list(row) for row in np.moveaxis(A, 0, -1)]


def stacked(rows: Sequence[Sequence[Any]]) -> np.ndarray:
    """Rows of scalars as an array, with the batch in front where some are arrays (N,)."""
    shape = np.broadcast_shapes(*(np.shape(x) for row in rows for x in row))
    if not shape:
        return np.array([list(row) for row in rows])
    return np.moveaxis(np.array([[np.broadcast_to(x, shape) for x in row] for row in rows]), -1, 0)
