"""Linear systems of small size over any scalar: float, exact number, expression, or batch array of
shape (N,).

Matrices and vectors are nested lists, or arrays, of scalars; a float array as an entry of a list is
a batch, which is computed lane by lane. Rows are exchanged by the size of the pivot among numbers,
and lane by lane in batches; among expressions the first pivot that is not the constant 0 is taken,
as nothing else is known of their values. Results are float arrays, or object arrays of exact
numbers, expressions or batches.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np

from dalembert.errors import DalembertError, ShapeError
from dalembert.expr import Expr, known_zero

Rows = list[list[Any]]


class SingularMatrixError(DalembertError, ArithmeticError):
    """A pivot of an elimination is 0; `pivot` is its index, `value` its value."""

    def __init__(self, message: str, pivot: int = 0, value: Any = 0):
        super().__init__(message)
        self.pivot, self.value = pivot, value


def solve(A: Any, b: Any) -> np.ndarray:
    """x with A x = b, by Gaussian elimination.

    Parameters
    ----------
    A : (n, n) matrix of scalars
    b : (n,) or (n, m) right-hand sides

    Returns
    -------
    x : array of the shape of b

    Raises
    ------
    ShapeError
        A is not square or b does not fit.
    SingularMatrixError
        A pivot is 0 after exchanging rows.
    """
    rows, right, is_vector = _checked(A, b)
    n = len(rows)
    augmented = [left + r for left, r in zip(rows, right, strict=True)]
    for k in range(n):
        _exchange_rows(augmented, k)
        pivot = augmented[k][k]
        _require_pivot(pivot, k)
        for row in augmented[k + 1 :]:
            if not known_zero(row[k]):
                factor = row[k] / pivot
                row[k + 1 :] = [
                    x - factor * y for x, y in zip(row[k + 1 :], augmented[k][k + 1 :], strict=True)
                ]
    return _result(_back_substituted(augmented, [row[n:] for row in augmented]), is_vector)


def inverse(A: Any) -> np.ndarray:
    """The inverse of an (n, n) matrix; errors as `solve`."""
    return solve(A, _identity(len(A)))


def _checked(A: Any, b: Any) -> tuple[Rows, Rows, bool]:
    """Rows of A, rows of b as a matrix, and whether b is a vector; numbers of one kind throughout."""
    rows = [list(row) for row in A]
    right = list(b)
    n = len(rows)
    if n == 0 or any(len(row) != n for row in rows):
        shape = (n, len(rows[0]) if rows else 0)
        raise ShapeError(
            f"the matrix has shape {shape}, expected a square one.", "A", shape, (n, n)
        )
    if len(right) != n:
        raise ShapeError(
            f"the right-hand side has {len(right)} rows, expected {n}, as the matrix.",
            "b",
            np.shape(right)[:1],
            (n,),
        )
    is_vector = not (
        isinstance(b, np.ndarray) and b.ndim == 2 or isinstance(right[0], (list, tuple))
    )
    columns = [[x] for x in right] if is_vector else [list(row) for row in right]
    number = _number_kind([x for row in rows + columns for x in row])
    rows, columns = ([[number(x) for x in row] for row in matrix] for matrix in (rows, columns))
    return rows, columns, is_vector


def _number_kind(scalars: list[Any]) -> Any:
    """Conversion of a system's numbers: exact ones stay exact unless a float or a batch takes part."""
    inexact = any(isinstance(x, (float, np.floating, np.ndarray)) for x in scalars)
    convert = float if inexact and not any(type(x) is Expr for x in scalars) else _exact
    return lambda x: x if type(x) is Expr or isinstance(x, np.ndarray) else convert(x)


def _exact(x: Any) -> Any:
    return (
        x
        if isinstance(x, (float, Fraction))
        else Fraction(int(x))
        if isinstance(x, (int, np.integer))
        else float(x)
    )


def _identity(n: int) -> Rows:
    return [[int(i == j) for j in range(n)] for i in range(n)]


def _dot(a: Any, b: Any) -> Any:
    """Sum of the products of the entries of a with as many of b."""
    return sum(x * y for x, y in zip(a, b, strict=False))


def _exchange_rows(rows: Rows, k: int) -> None:
    """The best pivot of column k, from row k down, into row k."""
    candidates = [row[k] for row in rows[k:]]
    if any(isinstance(x, np.ndarray) for x in candidates):
        for i in range(k + 1, len(rows)):  # lanes may need different rows
            larger = np.abs(rows[i][k]) > np.abs(rows[k][k])
            upper = [np.where(larger, y, x) for x, y in zip(rows[k], rows[i], strict=True)]
            rows[i] = [np.where(larger, x, y) for x, y in zip(rows[k], rows[i], strict=True)]
            rows[k] = upper
        return
    if any(type(x) is Expr for x in candidates):
        best = next((i for i, x in enumerate(candidates) if not known_zero(x)), 0)
    else:
        best = max(range(len(candidates)), key=lambda i: abs(candidates[i]))
    rows[k], rows[k + best] = rows[k + best], rows[k]


def _require_pivot(pivot: Any, k: int) -> None:
    if type(pivot) is Expr:
        if pivot.op not in ("exact", "float"):
            return
        pivot = pivot.value
    if isinstance(pivot, np.ndarray) and not pivot.size:
        return
    worst = pivot if not isinstance(pivot, np.ndarray) else pivot[np.argmin(abs(pivot))]
    if worst == 0 or worst != worst:
        raise SingularMatrixError(f"the matrix is singular: pivot {k} is {worst}.", k, worst)


def _back_substituted(upper: Rows, right: Rows) -> Rows:
    """x of U x = right, with the upper triangle of the rows given."""
    x: Rows = [[]] * len(right)
    for i in reversed(range(len(right))):
        known = upper[i][i + 1 : len(right)]
        x[i] = [
            (r - _dot(known, [row[c] for row in x[i + 1 :]])) / upper[i][i]
            for c, r in enumerate(right[i])
        ]
    return x


def _result(rows: Rows, is_vector: bool = False) -> np.ndarray:
    """The rows as an array, of floats if all entries are; a vector from a single column."""
    entries = [x for row in rows for x in row]
    if all(isinstance(x, float) for x in entries):
        result = np.array(entries, dtype=float)
    else:
        result = np.empty(len(entries), dtype=object)
        for i, x in enumerate(entries):  # entry by entry, as a batch is an entry
            result[i] = x
    return result if is_vector else result.reshape(len(rows), -1)
