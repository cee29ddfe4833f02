"""Generators whose program is a function of time alone."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any

import numpy as np

from dalembert.arguments import check_whole
from dalembert.expr import array
from dalembert.generators.generator import Generator, checked_state
from dalembert.generators.motion_data import increasing


class TimeGenerator(Generator):
    """A generator whose program is a function of time alone: its state is (t,) and its rate (1,).

    Called with t, it gives (y, y', y''): a reference of the controllers. Derived classes give
    `values(t, order)`.

    Examples
    --------
    >>> import dalembert as da
    >>> move = da.generators.Polynomial([0.0], [1.0], duration=2.0)
    >>> q, qd, qdd = move(1.0)
    >>> q, qd
    (array([0.5]), array([0.9375]))
    """

    unchanging = True  # traced once

    @abstractmethod
    def values(self, t: Any, order: int) -> list[Any]:
        """[y, y', ..., y^(order)] at a time [s], each (m,), or (N, m) for times (N,).

        Examples
        --------
        >>> import dalembert as da
        >>> da.generators.Polynomial([0.0], [1.0], duration=2.0).values(2.0, 1)
        [array([1.]), array([0.])]
        """

    @property
    def state_names(self) -> tuple[str, ...]:
        """The state is the time."""
        return ("t",)

    @property
    def state(self) -> np.ndarray:
        """Time 0, (1,) [s]."""
        return np.zeros(1)

    def rate(self, state: Any) -> np.ndarray:
        """Time runs by itself: (1,), whatever the state (1,) is."""
        return np.ones(1)

    def output(self, state: Any) -> np.ndarray:
        """The program at the time of a state (1,): (m,)."""
        return array(self.values(state[0], 0)[0])

    def derivatives(self, state: Any, order: int) -> list[np.ndarray]:
        """[y, y', ..., y^(order)], each (m,) or (N, m), by the formula of each derivative."""
        check_whole("order", order, 0)
        times = checked_state(self, state)[..., 0]
        rows = self.values(times[()], order)
        shape = (*times.shape, np.shape(rows[0])[-1])
        rows = [np.array(np.broadcast_to(row, shape)) for row in rows]
        if times.dtype == object:
            rows = [array(row) for row in rows]
        return rows

    def states(self, times: Any) -> np.ndarray:
        """The times, of shape (K,) [s], themselves: (K, 1)."""
        return increasing("times", times, 1)[:, None]

    def __call__(self, t: Any) -> tuple[Any, Any, Any]:
        y, yd, ydd = self.values(t, 2)
        return y, yd, ydd
