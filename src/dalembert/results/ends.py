"""Ends of trajectories: at the last record, or between two records where an event or a failure
ended them.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from dalembert.spatial.arrays import Array


class End(NamedTuple):
    """Times and states at the end of one trajectory, or of N."""

    t: Array  # () or (N,) [s]
    q: Array  # (nq,) or (N, nq)
    qd: Array  # (nv,) or (N, nv)
    work: Array  # () or (N,) [J]
    controller_states: Array | None = None  # (m,) or (N, m)
    internal_states: Array | None = None  # (n,) or (N, n)

    def where(self, chosen: np.ndarray, other: End) -> End:
        """Ends of N trajectories: these where `chosen` (N,) holds, and those of `other` elsewhere."""

        def merged(own: Any, others: Any) -> Any:
            """The first values in the chosen rows, the second elsewhere."""
            if own is None:
                return None
            rows = chosen.reshape(-1, *[1] * (np.ndim(own) - 1))
            return np.where(rows, own, others)

        values: list[Any] = [merged(own, others) for own, others in zip(self, other, strict=True)]
        return End(*values)

    def trajectory(self, k: int) -> End:
        """The end of trajectory k of N."""
        values: list[Any] = [None if values is None else values[k] for values in self]
        return End(*values)


def last_records(
    times: np.ndarray, q: Any, qd: Any, work: Any, states: Any, internal: Any = None
) -> End:
    """The last record of one trajectory, or of each of N the last that holds numbers."""
    if q.ndim == 2:
        state, inner = (None if v is None else v[-1] for v in (states, internal))
        return End(times[-1], q[-1], qd[-1], work[-1], state, inner)
    last = np.maximum(np.isfinite(np.asarray(work)).sum(axis=1) - 1, 0)
    rows = np.arange(len(last))

    def at_last(records: Any) -> Any:
        """The last record of each trajectory."""
        return np.asarray(records)[rows, last]

    state, inner = (None if v is None else at_last(v) for v in (states, internal))
    return End(np.asarray(times)[last], at_last(q), at_last(qd), at_last(work), state, inner)


def last_finite(records: Any) -> np.ndarray:
    """The last of the records (K, n) or (N, K, n) that holds numbers."""
    values = np.asarray(records)
    if values.ndim == 2:
        return values[-1]
    last = np.maximum(np.isfinite(values).all(axis=2).sum(axis=1) - 1, 0)
    return values[np.arange(len(values)), last]


def ends_of(
    times: np.ndarray, reached: np.ndarray, finite: np.ndarray, good: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Times (N,) at which trajectories end, and the places (N,) of their last states among records
    (N, K).

    The first record that a trajectory has not made holds where it stays, at the time that it
    `reached`. That is the end, if it lies behind the last record that was made.

    Parameters
    ----------
    times : (K,) of the records [s]
    reached : (N, K) times that the states of the records belong to [s]
    finite, good : (N, K) whether they are numbers, and whether they are records
    """
    rows = np.arange(len(good))
    last = good.sum(axis=1) - 1
    following = np.minimum(last + 1, len(times) - 1)
    stayed = finite[rows, following] & ~good[rows, following]
    stayed_at = reached[rows, following]
    is_behind = stayed & (stayed_at > times[last])
    ends = np.where(is_behind, stayed_at, times[last])
    return ends, np.where(is_behind, following, last)
