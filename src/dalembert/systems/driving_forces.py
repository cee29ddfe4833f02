"""Forces of driven joints that hold a motion against constraints, of least weighted norm.

    S^T u + J^T lambda = f,    sum w u^2 least

f are the forces that the motion needs, u those of the drives, S picks the driven entries.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from dalembert.errors import ConstraintError
from dalembert.expr import known_zero
from dalembert.model.constraint import ConstraintRates
from dalembert.spatial.ldl import factorised, unchecked
from dalembert.systems.constraint_response import Response

NULL = 1e-10  # singular value, relative to the largest, below which it is taken as 0
UNHELD = 1e-9  # share of the forces that drives leave, above which they do not hold the motion


def null_space(J: np.ndarray) -> np.ndarray:
    """Orthonormal basis (n, d) of the null space of floats J (k, n)."""
    if not len(J):
        return np.eye(J.shape[1])
    _, values, right = np.linalg.svd(J)
    largest = values.max(initial=0.0)
    rank = int((values > NULL * largest).sum())
    return right[rank:].T


def driving_forces(
    required: np.ndarray,
    J: np.ndarray,
    driven: Sequence[int],
    weights: np.ndarray | None = None,
    explain: Callable[[int, int], str] = "rank {} of {}".format,
) -> np.ndarray:
    """Forces (nv,) of the driven entries that leave the rest to the constraints.

    Of floats by the null space of J. Of expressions by the equations of the minimum with the matrix H = S^T W^-1 S + J^T J, which is positive
    definite where the drives determine the motion:

        H mu + J^T nu = f,    J mu = 0,    u = W^-1 S mu

    Raises
    ------
    ConstraintError
        The driven joints cannot hold it; `explain(rank, freedoms)` is its message. Not looked at on
        expressions.
    """
    inverse = np.zeros(len(required))
    inverse[list(driven)] = 1.0 if weights is None else 1.0 / np.asarray(weights)
    if required.dtype != object and J.dtype != object:
        return _by_null_space(required, null_space(J), np.sqrt(inverse), explain)
    return _by_multipliers(required, J, inverse)


def _by_null_space(
    required: np.ndarray, N: np.ndarray, root: np.ndarray, explain: Callable[[int, int], str]
) -> np.ndarray:
    """Solution of N^T S^T u = N^T f of least norm."""
    needed = N.T @ required
    reach = N.T * root
    scaled, _, rank, _ = np.linalg.lstsq(reach, needed, rcond=NULL)
    missing = np.abs(reach @ scaled - needed).max(initial=0.0)
    size = 1.0 + np.abs(required).max(initial=0.0)
    if missing > UNHELD * size:
        raise ConstraintError(explain(int(rank), N.shape[1]), rank=int(rank))
    return root * scaled


def _by_multipliers(required: np.ndarray, J: np.ndarray, inverse: np.ndarray) -> np.ndarray:
    """The same for expressions, by two positive definite systems."""
    n = len(required)
    H = [
        [_product(J[:, i], J[:, j]) + (inverse[i] if i == j else 0.0) for j in range(n)]
        for i in range(n)
    ]
    none = np.zeros(len(J))
    rows = ConstraintRates(none, J, none, none)
    alone = [(str(k), "") for k in range(len(J))]  # each row has a size of its own
    response = Response.of(factorised(H, unchecked), rows, alone)
    free = np.array(response.inertia.solved(list(required)))
    nu = response.multipliers(J @ free)
    return inverse * (free - response.along(nu))


def _product(a: Any, b: Any) -> Any:
    """Scalar product without terms known to be 0."""
    return sum(x * y for x, y in zip(a, b, strict=True) if not (known_zero(x) or known_zero(y)))
