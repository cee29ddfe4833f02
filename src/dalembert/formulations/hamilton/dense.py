"""The dense way: A formed and factored by Cholesky."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from dalembert.errors import SingularMassMatrixError
from dalembert.expr import Expr
from dalembert.model.pivots import first_singular
from dalembert.spatial import linear_algebra
from dalembert.spatial.vectors import Scalar


def stacked(rows: Any) -> np.ndarray:
    """Nested scalars as an array with the batch in front; object array of expressions and other scalars."""
    shape = np.broadcast_shapes(*(np.shape(x) for row in rows for x in row)) if len(rows) else ()
    if not shape:
        return np.array(rows)
    return np.moveaxis(np.array([[np.broadcast_to(x, shape) for x in row] for row in rows]), -1, 0)


def dense_solution(A: Sequence[Sequence[Scalar]], b: Sequence[Scalar], size: np.ndarray | None = None) -> list[Scalar]:
    """z with A z = b by A = L L^T; size: of the terms of the diagonal entries of A, by default these themselves.

    Raises SingularMassMatrixError where A is not positive definite within rounding (not checked on expressions).
    """
    if any(isinstance(x, Expr) for row in (*A, b) for x in row):
        return linear_algebra.solve_positive(A, list(b)).tolist()
    matrix, right = stacked(A).astype(float), stacked([[x] for x in b]).astype(float)
    try:
        L = np.linalg.cholesky(matrix)
        if first_singular(matrix, np.abs(np.einsum("...kk->...k", matrix)) if size is None else size):
            raise np.linalg.LinAlgError
    except np.linalg.LinAlgError:
        smallest = float(np.linalg.eigvalsh(matrix)[..., 0].min())
        raise SingularMassMatrixError(
            f"the mass matrix is not positive definite (smallest eigenvalue {smallest:.3g}): the momenta do not determine "
            "the velocities. Give every body that a joint moves an inertia.", pivot=smallest) from None
    z = np.linalg.solve(np.swapaxes(L, -1, -2), np.linalg.solve(L, right))[..., 0]
    return z.tolist() if z.ndim == 1 else list(z.T)
