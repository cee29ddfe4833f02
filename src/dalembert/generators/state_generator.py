"""Generators with states of their own, and those of second order."""

from __future__ import annotations

from abc import abstractmethod
from functools import cached_property
from typing import Any

import numpy as np

from dalembert.arguments import check_whole
from dalembert.errors import DalembertError
from dalembert.expr import array
from dalembert.generators.formula import Formula, total_derivatives
from dalembert.generators.generator import Generator, checked_state
from dalembert.generators.motion_data import increasing
from dalembert.generators.piecewise import Hermite
from dalembert.generators.time_generator import TimeGenerator
from dalembert.integrators import method, records
from dalembert.integrators.methods import REASONS

MOST_STEPS = 100_000  # between two times at which states are asked for
RTOL, ATOL = 1e-12, 1e-14  # of the states of a generator alone


class StateGenerator(Generator):
    """A generator with states of its own. Derived classes give `state`, `rate` and `output`.

    Derivatives are total ones along the flow, y' = (dy/dx) rate(x), from the expressions that
    `rate` and `output` write down.

    Examples
    --------
    >>> import numpy as np
    >>> import dalembert as da
    >>> class Pendulum(da.generators.StateGenerator):
    ...     state_names, state = ("angle", "speed"), np.array([0.5, 0.0])
    ...     def rate(self, state):
    ...         return [state[1], -9.81 * da.sin(state[0])]
    ...     def output(self, state):
    ...         return state[:1]
    >>> Pendulum().derivatives([0.0, 2.0], 3)[3]
    array([-19.62])
    """

    @cached_property
    def _formulas(self) -> dict[int, Formula]:
        """Formulas of y, y', ..., y^(order) by order."""
        return {}

    def derivatives(self, state: Any, order: int) -> list[np.ndarray]:
        """[y, y', ..., y^(order)], each (m,) or (N, m), along the flow from a state (n,) or
        (N, n).
        """
        check_whole("order", order, 0)
        x = checked_state(self, state)
        if order not in self._formulas:
            self._formulas[order] = total_derivatives(self.output, self.rate, x.shape[-1], order)
        formula = self._formulas[order]
        rows = formula(np.moveaxis(x, -1, 0))
        shape = (*x.shape[:-1], rows.shape[-1])  # of constants too
        orders = np.moveaxis(rows, -2, 0)
        return [np.array(np.broadcast_to(row, shape)) for row in orders]

    def states(self, times: Any) -> np.ndarray:
        """States (K, n) at times of shape (K,) [s], by dop853 at tight tolerances."""
        at = increasing("times", times, 1)
        begin = np.asarray(self.state, dtype=float)
        x = [begin]
        if len(at) == 1:
            return np.array(x)

        def rate(t: float, state: np.ndarray) -> np.ndarray:
            """Rates of a state, as floats."""
            return np.asarray(self.rate(state), dtype=float)

        pair = method("dop853")
        h = float(at[1] - at[0])
        found = records(pair, rate, begin, at, h, MOST_STEPS, RTOL, ATOL)
        for time, record in zip(at[1:], found, strict=False):
            if record.failed or record.t != time:
                reason = REASONS.get(record.failed, f"it needs more than {MOST_STEPS} steps")
                raise DalembertError(
                    f"{type(self).__name__} stops at t = {record.t:g} s, state "
                    f"{record.x.tolist()}: {reason}."
                )
            x.append(record.x)
        return np.array(x)

    def reference(self, times: Any) -> TimeGenerator:
        """The motion from the state of the beginning as a function of time: a reference of the
        controllers, by polynomials of degree five through y, y', y'' at times (K,) [s].

        Raises
        ------
        ShapeError, ValueError, DalembertError
            As for `states`; there are less than two times.

        Examples
        --------
        >>> import numpy as np
        >>> import dalembert as da
        >>> circle = da.generators.LimitCycle(0.5).reference(np.linspace(0, 1, 41))
        >>> q, qd, qdd = circle(0.123)
        >>> round(float(np.hypot(*q)), 6)
        0.5
        """
        at = increasing("times", times, 2)
        return Hermite(np.stack(self.sampled(at), axis=1), at)


class SecondOrderGenerator(StateGenerator):
    """A generator x'' = acceleration(x, x') of m coordinates; its state is (x, x'), its output x.

    Examples
    --------
    >>> import dalembert as da
    >>> da.generators.Harmonic(frequency=2.0, amplitude=0.5).acceleration([0.5], [0.0])
    array([-2.])
    """

    @abstractmethod
    def acceleration(self, x: Any, v: Any) -> np.ndarray:
        """x'' (m,) [per s^2] at x and v = x' of shape (m,), of floats or expressions.

        Examples
        --------
        >>> import dalembert as da
        >>> da.generators.SteadyAcceleration(3.0).acceleration([0.0], [0.0])
        array([3.])
        """

    @property
    def state_names(self) -> tuple[str, ...]:
        """Names of x and v."""
        m = len(self.state) // 2
        return tuple(f"{name}{k + 1}" if m > 1 else name for name in "xv" for k in range(m))

    def rate(self, state: Any) -> np.ndarray:
        """Rates (v, x'') of a state (2 m,)."""
        m = len(state) // 2
        x, v = array(state[:m]), array(state[m:])
        return array([*v, *self.acceleration(x, v)])

    def output(self, state: Any) -> np.ndarray:
        """The coordinates x of a state (2 m,): (m,)."""
        return array(state[: len(state) // 2])
