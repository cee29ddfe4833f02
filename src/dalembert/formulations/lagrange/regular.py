"""Mass matrices that are singular within rounding, whatever the units."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from dalembert.errors import SingularMassMatrixError
from dalembert.spatial import linear_algebra
from dalembert.spatial.sparse_ldl import linked

ROUNDING = (
    16 * np.finfo(float).eps
)  # singular value of the equilibrated mass matrix below which it is taken as 0


def solve_regular(M: np.ndarray, b: np.ndarray, system: str, names: Sequence[str]) -> np.ndarray:
    """x of M x = b: expressions, or floats (n, n), (n,) and batches (N, n, n), (N, n).

    Raises
    ------
    SingularMassMatrixError
        M is singular within rounding; of expressions, a pivot is 0.
    """
    if M.dtype != object and b.dtype != object:
        check_regular(M, system, names)
        return np.linalg.solve(M, b[..., None])[..., 0]
    try:
        return linear_algebra.solve(M.tolist(), b.tolist())
    except linear_algebra.SingularMatrixError as error:
        raise singular(system, names, error.pivot, 0.0, None) from None


def check_regular(M: np.ndarray, system: str, names: Sequence[str]) -> None:
    """Raise if a mass matrix (n, n) or (N, n, n), scaled so that units do not matter, is singular
    within rounding.

    Raises
    ------
    SingularMassMatrixError
        With the name of the coordinate that moves least inertia.
    """
    if not M.size:
        return
    diagonal = np.abs(np.einsum("...kk->...k", M))
    scale = np.where(diagonal > 0, diagonal, 1.0) ** -0.5
    _, values, right = np.linalg.svd(M * scale[..., :, None] * scale[..., None, :])
    least = ROUNDING * M.shape[-1] * np.maximum(values[..., 0], np.finfo(float).tiny)
    bad = np.atleast_1d(values[..., -1] <= least)
    if bad.any():
        row = int(np.argmax(bad))
        null = right[row, -1] if right.ndim == 3 else right[-1]
        value = float(np.atleast_1d(values[..., -1])[row])
        raise singular(
            system, names, int(np.argmax(np.abs(null))), value, row if M.ndim == 3 else None
        )


def check_regular_rows(
    rows: Sequence[Mapping[int, float]], system: str, names: Sequence[str]
) -> None:
    """The same of one mass matrix (n, n) by the entries of its rows, block by block.

    Raises
    ------
    SingularMassMatrixError
    """
    found = []
    for block in linked(rows):
        M = np.array([[rows[k].get(j, 0.0) for j in block] for k in block])
        scale = np.array([abs(rows[k][k]) or 1.0 for k in block]) ** -0.5
        _, values, right = np.linalg.svd(M * np.outer(scale, scale))
        found.append(
            (float(values[-1]), float(values[0]), block[int(np.argmax(np.abs(right[-1])))])
        )
    largest = max((value for _, value, _ in found), default=1.0)
    value, _, k = min(found, default=(1.0, 1.0, 0))
    if value <= ROUNDING * len(rows) * max(largest, np.finfo(float).tiny):
        raise singular(system, names, k, value, None)


def singular(
    system: str, names: Sequence[str], k: int, value: float, row: int | None
) -> SingularMassMatrixError:
    """The error of a mass matrix whose smallest singular value is that of coordinate k, in a row of
    a batch or not.
    """
    where = f" in row {row}" if row is not None else ""
    return SingularMassMatrixError(
        f"coordinate {names[k]!r}{where}: the mass matrix of {system!r} is singular (smallest "
        f"singular value {value:.3g} of its scaled form), so accelerations are not determined. "
        "Does the kinetic energy hold every velocity? A System whose constraints determine this motion "
        "says `massless = True`.",
        names[k],
        "",
        value,
        row,
    )
