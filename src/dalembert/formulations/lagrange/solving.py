"""Linear systems with the mass matrix, by L^T diag(d) L from the last entry to the first, with the batch in front."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from dalembert.expr import Expr
from dalembert.model import pivots
from dalembert.model.pivots import SUSPICIOUS, first_singular, guard, refuse


def factorised(M: np.ndarray, names: tuple[str, ...], what: tuple[str, ...],
               sizes: Callable[[], np.ndarray] | None = None) -> tuple[np.ndarray, np.ndarray]:
    """L unit lower triangular and d > 0 with M = L^T diag(d) L.

    Pivot d_k is the inertia of velocity k when those before it are free. names[k] is its joint and what[k] the body, for
    the error where a pivot is no more than its rounding error; `sizes` gives those of the terms of the diagonal entries of
    M, by default these themselves. Expressions are handed to `guards`.
    """
    n, looked, size = M.shape[-1], False, np.zeros(0)
    if M.dtype != object:
        size = np.abs(np.einsum("...kk->...k", M)) if sizes is None else sizes()
    A, L, d = M.copy(), np.zeros_like(M), np.zeros(M.shape[:-1], M.dtype)
    for k in reversed(range(n)):
        d[..., k] = A[..., k, k]
        if not looked and _is_suspicious(d[..., k], size[..., k:k + 1], k):
            looked = True
            if found := first_singular(M, size):
                refuse(found.bad, found.pivot, names[found.k], what[found.k])
        if looked:
            refuse(d[..., k] <= 0, d[..., k], names[k], what[k])
        row = A[..., k, :k]
        L[..., k, :k], L[..., k, k] = row / d[..., k, None], 1.0
        A[..., :k, :k] = A[..., :k, :k] - row[..., :, None] * L[..., k, None, :k]
    return L, d


def solved(factors: tuple[np.ndarray, np.ndarray], b: np.ndarray) -> np.ndarray:
    """x with L^T diag(d) L x = b, for b (..., n, m)."""
    L, d = factors
    n = L.shape[-1]
    shape = np.broadcast_shapes(L.shape[:-2], b.shape[:-2]) + b.shape[-2:]
    x = np.array(np.broadcast_to(b, shape), dtype=np.result_type(L, b))
    for k in reversed(range(n)):
        x[..., :k, :] = x[..., :k, :] - L[..., k, :k, None] * x[..., k, None, :]
    x = x / d[..., :, None]
    for k in range(n):
        x[..., k, :] = x[..., k, :] - (L[..., k, None, :k] @ x[..., :k, :])[..., 0, :] if k else x[..., k, :]
    return x


def _is_suspicious(pivot: np.ndarray, size: np.ndarray, k: int) -> bool:
    """Whether a pivot may be rounding error; expressions are handed to `guards`."""
    if pivot.dtype != object:
        return not (pivot > SUSPICIOUS * size[..., 0]).all()
    for value in pivot.flat:
        if isinstance(value, Expr):
            guard(k, value)
    return False


def entry_sizes(geometry: Any) -> np.ndarray:
    """Sizes of the terms of the diagonal entries of M, (nv,) or (N, nv)."""
    return pivots.stacked([pivots.sizes(geometry.tree, geometry.q)])[..., 0, :]


def entry_names(tree: Any) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Joint and body of each entry of qd."""
    joints = {k: joint for joint in reversed(tree.joint[1:]) if not joint.is_follower for k in joint.dof}
    return tuple(joints[k].name for k in range(tree.nv)), tuple(joints[k].body for k in range(tree.nv))
