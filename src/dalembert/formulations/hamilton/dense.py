"""The dense way: A formed and factored by Cholesky."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from dalembert.errors import SingularMassMatrixError
from dalembert.expr import Expr
from dalembert.model.pivots import first_singular
from dalembert.spatial.ldl import factorised, solved, stacked
from dalembert.spatial.vectors import Scalar


def dense_solution(
    A: Sequence[Sequence[Scalar]], b: Sequence[Scalar], size: np.ndarray | None = None
) -> list[Scalar]:
    """z with A z = b by A = L L^T; size: of the terms of the diagonal entries of A, by default
    these themselves.

    Raises SingularMassMatrixError where A is not positive definite within rounding (not checked on
    expressions).
    """
    if any(isinstance(x, Expr) for row in (*A, b) for x in row):
        return solved(factorised(A, _check_constant), b)
    matrix = stacked(A).astype(float)
    right = stacked([[x] for x in b]).astype(float)
    try:
        L = np.linalg.cholesky(matrix)
        if first_singular(
            matrix, np.abs(np.einsum("...kk->...k", matrix)) if size is None else size
        ):
            raise np.linalg.LinAlgError
    except np.linalg.LinAlgError:
        raise _indefinite("eigenvalue", float(np.linalg.eigvalsh(matrix)[..., 0].min())) from None
    z = np.linalg.solve(np.swapaxes(L, -1, -2), np.linalg.solve(L, right))[..., 0]
    return z.tolist() if z.ndim == 1 else list(z.T)


def _check_constant(k: int, pivot: Scalar) -> None:
    """Refuse pivots of expressions that are constants and not positive: of others nothing is known."""
    value = pivot.value if isinstance(pivot, Expr) and pivot.op in ("exact", "float") else pivot
    if not isinstance(value, Expr) and not value > 0:
        raise _indefinite("pivot", float(value))


def _indefinite(name: str, smallest: float) -> SingularMassMatrixError:
    return SingularMassMatrixError(
        f"the mass matrix is not positive definite (smallest {name} {smallest:.3g}): the momenta "
        "do not determine the velocities. Give every body that a joint moves an inertia.",
        pivot=smallest,
    )
