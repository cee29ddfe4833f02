"""Functions of states at the records of runs."""

from __future__ import annotations

from collections.abc import Callable
from math import prod

import numpy as np


def rows_of(numbers: np.ndarray, records: np.ndarray) -> np.ndarray:
    """Numbers of trajectories, (m,) or (N, m), at each of their records (..., entries)."""
    return np.broadcast_to(numbers[..., None, :], (*records.shape[:-1], numbers.shape[-1]))


def along(times: np.ndarray, f: Callable[..., np.ndarray], *vectors: np.ndarray) -> np.ndarray:
    """f(t, *vectors) at records (..., entries); NaN where they are."""
    flat = [v.reshape(prod(v.shape[:-1]), v.shape[-1]) for v in vectors]
    rows = vectors[0].shape[:-1]
    t = times if times.shape == rows == flat[0].shape[:1] else np.broadcast_to(times, rows).reshape(-1)
    if all(np.isfinite(v).all() for v in flat):
        found = np.asarray(f(t, *flat))
        return found.reshape(*rows, *found.shape[1:])
    good = np.all([np.isfinite(v).all(axis=-1) for v in flat], axis=0)
    found = np.asarray(f(t[good], *(v[good] for v in flat)))
    out = np.full((len(good), *found.shape[1:]), np.nan)
    out[good] = found
    return out.reshape(*rows, *found.shape[1:])
