"""Rows of constraints at a state: which depend on others, and which entries of qd are independent."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

DEPENDENT = 1e-9  # of a row's own length: what other rows leave of it is rounding


def metric_root(M: np.ndarray) -> np.ndarray:
    """W (n, n) with W W^T = M^-1; directions without inertia move as the lightest of the others."""
    values, vectors = np.linalg.eigh(M)
    floor = 1e-9 * values.max(initial=0.0) or 1.0
    return vectors / np.sqrt(np.maximum(values, floor))  # type: ignore[no-any-return]


class DependentRow(NamedTuple):
    """A row that follows from rows before it: its index, and theirs."""

    row: int
    others: tuple[int, ...]


def dependent_rows(J: np.ndarray, within: float = DEPENDENT) -> list[DependentRow]:
    """Rows of J (k, n) that are sums of rows before them; a row of zeros is a sum of none."""
    kept: list[int] = []
    basis: list[np.ndarray] = []
    found = []
    largest = np.abs(J).max(initial=0.0)
    for k, row in enumerate(J):
        left = row.copy()
        for _ in range(2):  # the second time for what rounding left
            for unit in basis:
                left = left - (left @ unit) * unit
        length = np.linalg.norm(left)
        if length > within * max(np.linalg.norm(row), 1e-3 * largest):
            kept.append(k)
            basis.append(left / length)
            continue
        factors = np.linalg.lstsq(J[kept].T, row, rcond=None)[0] if kept else np.zeros(0)
        used = np.abs(factors) > 1e-6 * np.abs(factors).max(initial=0.0)
        found.append(DependentRow(k, tuple(np.array(kept, int)[used].tolist())))
    return found


def independent_rows(J: np.ndarray, within: float = DEPENDENT) -> list[int]:
    """Rows of J (k, n) that are no sums of rows before them."""
    redundant = {found.row for found in dependent_rows(J, within)}
    return [k for k in range(len(J)) if k not in redundant]


def dependent_columns(
    J: np.ndarray, scale: np.ndarray, wanted: Sequence[int] = (), within: float = DEPENDENT
) -> list[int]:
    """Columns of J (k, n) that its rows determine from the others, as many as the rank.

    Elimination with complete pivoting, of columns divided by a scale; wanted columns are taken as
    pivots last, so that they stay independent where they can.
    """
    left = J / scale
    left = left / np.linalg.norm(left, axis=1, keepdims=True)
    largest = np.abs(left).max(initial=0.0)
    later = np.isin(np.arange(J.shape[1]), wanted)
    pivots: list[int] = []
    for allowed in (~later, later):
        for _ in range(len(J)):
            size = np.abs(left) * allowed
            row, column = np.unravel_index(int(np.argmax(size)), size.shape)
            if size[row, column] <= within * largest:
                break
            pivots.append(int(column))
            pivot = left[row] / left[row, column]
            left = left - np.outer(left[:, column], pivot)
            left[row] = 0.0
    return pivots
