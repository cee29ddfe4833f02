"""Linear systems with the mass matrix, by L^T diag(d) L from the last entry to the first, with the batch in front."""

from __future__ import annotations

from typing import Any

import numpy as np

from dalembert.expr import Expr
from dalembert.model.pivots import ROUNDING, guard, refuse


def factorised(M: np.ndarray, names: tuple[str, ...], what: tuple[str, ...]) -> tuple[np.ndarray, np.ndarray]:
    """L unit lower triangular and d > 0 with M = L^T diag(d) L.

    Pivot d_k is the inertia of velocity k when those before it are free. names[k] is its joint and what[k] the body, for
    the error where a pivot is not positive. Expressions are handed to `guards`.
    """
    n = M.shape[-1]
    A, L, d = M.copy(), np.zeros_like(M), np.zeros(M.shape[:-1], M.dtype)
    for k in reversed(range(n)):
        d[..., k] = A[..., k, k]
        _check(d[..., k], M, k, names[k], what[k])
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


def _check(pivot: np.ndarray, M: np.ndarray, k: int, joint: str, body: str) -> None:
    """Raise if pivot k is not positive within rounding of its diagonal entry, and of the squares that this is made of."""
    if pivot.dtype == object:
        for value in pivot.flat:
            if isinstance(value, Expr):
                guard(k, value)
        return
    diagonal = np.abs(np.einsum("...kk->...k", M))
    refuse(pivot <= np.maximum(ROUNDING * diagonal[..., k], ROUNDING**2 * diagonal.max(axis=-1)), pivot, joint, body)


def entry_names(tree: Any) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Joint and body of each entry of qd."""
    joints = {k: joint for joint in reversed(tree.joint[1:]) if not joint.is_follower for k in joint.dof}
    return tuple(joints[k].name for k in range(tree.nv)), tuple(joints[k].body for k in range(tree.nv))
