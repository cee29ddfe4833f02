"""Triangular factors of a matrix over any scalar, without exchange of rows: for matrices whose
symmetric part is positive, or nearly so.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from dalembert.expr import absolute, known_zero, maximum


def _inverse(k: int, pivot: Any, largest: Any) -> Any:
    return 1 / pivot


class TriangularFactors(NamedTuple):
    """L U of a matrix (n, n), with a diagonal of 1 in L.

    entries : (n, n), those of L below the diagonal, and of U above
    inverse_pivots : (n,), inverses of the diagonal of U
    """

    entries: Any
    inverse_pivots: Any

    @classmethod
    def of(
        cls, matrix: Any, inverse: Callable[[int, Any, Any], Any] = _inverse
    ) -> TriangularFactors:
        """Factors by elimination; inverse(k, pivot, largest) -> 1 / pivot of row k, whose entry was as
        large as `largest` on the way.
        """
        rows = np.array(matrix, dtype=object)
        pivots = np.zeros(len(rows), dtype=object)
        for k, row in enumerate(rows):
            largest = absolute(row[k])
            for j in range(k):
                if known_zero(row[j]):
                    continue
                row[j] = row[j] * pivots[j]
                row[j + 1 :] = row[j + 1 :] - row[j] * rows[j, j + 1 :]
                largest = maximum(largest, absolute(row[k]))
            pivots[k] = inverse(k, row[k], largest)
        return cls(rows, pivots)

    def solved(self, right: Any) -> np.ndarray:
        """x (n,) or (n, m) with L U x = right."""
        x = np.array(right, dtype=object)
        n = len(x)
        for k in range(n):
            x[k] = x[k] - _dot(self.entries[k, :k], x[:k])
        for k in reversed(range(n)):
            x[k] = (x[k] - _dot(self.entries[k, k + 1 :], x[k + 1 :])) * self.inverse_pivots[k]
        return x


def _dot(row: Any, x: Any) -> Any:
    """Sum of the products with entries of a row that are not 0."""
    return sum(a * b for a, b in zip(row, x, strict=True) if not known_zero(a))
