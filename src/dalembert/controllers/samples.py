"""Feed-forward from a table: forces that were measured or planned, as a function of time."""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from dalembert.arguments import put, real_array, shown
from dalembert.errors import ShapeError

BETWEEN = ("linear", "hold")


@dataclass(frozen=True, eq=False)
class Samples:
    """Forces tau(t) from samples: times (K,), growing [s]; values (K, nv) [N m, N].

    between 'linear' interpolates, 'hold' keeps each value until the next time, as a digital
    controller does. Before the first time and after the last, the first and last values hold. A
    look into a table cannot be traced: `simulate` calls it. Methods of fixed step keep their order
    where steps end at the times of a held table.

    Examples
    --------
    >>> import dalembert as da
    >>> force = da.controllers.Samples([0.0, 1.0], [[0.0], [4.0]])
    >>> force(0.25, [0.0], [0.0])
    array([1.])
    """

    times: Any
    values: Any
    between: str = "linear"
    _starts: list[float] = field(init=False, repr=False)
    _slopes: np.ndarray = field(init=False, repr=False)

    def __post_init__(self) -> None:
        times = real_array("times", self.times)
        values = real_array("values", self.values)
        if times.ndim != 1 or not len(times) or values.ndim != 2 or len(values) != len(times):
            raise ShapeError(
                f"times has shape {times.shape} and values {values.shape}, expected (K,) and (K, "
                "nv).",
                "values",
                values.shape,
            )
        if not (
            np.isfinite(values).all() and np.isfinite(times).all() and (np.diff(times) > 0).all()
        ):
            raise ValueError("times must increase, and times and values be finite.")
        if not isinstance(self.between, str) or self.between not in BETWEEN:
            raise ValueError(
                f"between is {shown(self.between)}; expected one of "
                f"{', '.join(map(repr, BETWEEN))}."
            )
        slopes = np.zeros_like(values)
        if self.between == "linear":
            slopes[:-1] = np.diff(values, axis=0) / np.diff(times)[:, None]
        put(self, times=times, values=values, _starts=times.tolist(), _slopes=slopes)

    def __call__(self, t: float, q: np.ndarray, qd: np.ndarray) -> np.ndarray:
        k = max(bisect_right(self._starts, float(t)) - 1, 0)
        return self.values[k] + max(t - self._starts[k], 0.0) * self._slopes[k]
