"""Bounds of actuators."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from dalembert.arguments import check_function, put, real_array
from dalembert.controllers.checks import gains, is_unchanging
from dalembert.errors import public_names
from dalembert.expr import maximum, minimum


def bounded(tau: Any, limits: np.ndarray) -> np.ndarray:
    """Forces (nv,) of floats or expressions between -limits and limits (nv,)."""
    tau = np.array(tau)
    for k in np.flatnonzero(np.isfinite(limits)):
        limit = float(limits[k])
        tau[k] = minimum(maximum(tau[k], -limit), limit)
    return tau


@dataclass(frozen=True, eq=False)
class Limited:
    """Another controller within the limits of the actuators.

        tau_k = min(max(tau_k, -limit_k), limit_k)

    Stability is that of the other controller only while no limit is met. States of a controller are
    those of the limited one: estimates go on adapting at a limit.

    Parameters
    ----------
    controller : function (t, q, qd) -> (nv,), with or without states
    limits : (nv,) array, >= 0
        [N m, N]; infinite where there is none. `effort_limits(mechanism)` are those of its
        joints and actuators.

    Raises
    ------
    ShapeError, ValueError

    Examples
    --------
    >>> import dalembert as da
    >>> arm = da.planar_chain(2)
    >>> control = da.controllers.Limited(da.controllers.PD(arm, [1.0, 0.0], 100.0, 20.0), [10.0, 5.0])
    >>> control(0.0, [0.0, 0.0], [0.0, 0.0])
    array([10.,  0.])
    """

    controller: Callable[..., Any]
    limits: Any
    __dir__ = public_names

    def __post_init__(self) -> None:
        check_function("controller", self.controller, "(t, q, qd) -> forces")
        put(self, limits=gains(self.limits, "limits", real_array("limits", self.limits).size))

    @property
    def states(self) -> Any:
        """States of the controller."""
        return getattr(self.controller, "states", ())

    def rate(self, t: Any, q: np.ndarray, qd: np.ndarray, states: np.ndarray) -> Any:
        """Time derivative of the controller's states, (states,), at q (nq,) [rad, m], qd (nv,) [rad/s,
        m/s].

        Examples
        --------
        >>> import dalembert as da
        >>> arm = da.planar_chain(2)
        >>> reference = da.controllers.Hold([0.5, 0.0])
        >>> adaptive = da.controllers.AdaptivePassivity(arm, reference, K=10.0, L=5.0, G=0.1)
        >>> limited = da.controllers.Limited(adaptive, [10.0, 5.0])
        >>> limited.rate(0.0, [0.5, 0.0], [0.0, 0.0], limited.states).shape
        (20,)
        """
        return self.controller.rate(t, q, qd, states)  # type: ignore[attr-defined]

    @property
    def unchanging(self) -> bool:
        """Whether it is traced once: so is the limited one."""
        return is_unchanging(self.controller)

    def __call__(self, t: Any, q: np.ndarray, qd: np.ndarray, *states: np.ndarray) -> np.ndarray:
        return bounded(self.controller(t, q, qd, *states), self.limits)
