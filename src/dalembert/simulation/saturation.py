"""Controls within the limits of effort of joints and actuators: `simulate(saturate=True)`."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np

from dalembert.arguments import check_flag
from dalembert.controllers.limits import bounded
from dalembert.errors import (
    DalembertError,
    DalembertWarning,
    ModelError,
    ParameterError,
    caller_level,
)
from dalembert.model.limit_vectors import effort_limits
from dalembert.model.linkage import Linkage

GEARS = (".gear_ratio", ".multiplier")  # of actuators, and of the followers that they drive


class Saturation:
    """Largest forces of the control: (nv,) [N m, N], infinite where there is no limit; None: the
    control is free.

    Raises
    ------
    TypeError, DalembertError, ModelError, ParameterError
        `saturate` is no flag; the system is no mechanism; a limit is a symbol, is below 0, or
        depends on a number that is an input.

    Warns
    -----
    DalembertWarning
        No joint has a limit of effort.
    """

    def __init__(self, system: Any, saturate: bool, paths: Sequence[str] = ()):
        check_flag("saturate", saturate)
        self.limits = _limits(system, paths) if saturate else None

    def __call__(self, tau: Any) -> Any:
        """Forces (nv,) of floats or expressions, within the limits."""
        return tau if self.limits is None else bounded(tau, self.limits)

    def of_numbers(self, tau: np.ndarray) -> np.ndarray:
        """Forces (..., nv) of floats, within the limits."""
        return tau if self.limits is None else np.clip(tau, -self.limits, self.limits)

    @property
    def key(self) -> tuple[float, ...]:
        """Numbers that compiled code depends on."""
        return () if self.limits is None else tuple(self.limits.tolist())


def _limits(system: Any, paths: Sequence[str]) -> np.ndarray:
    """Limits of the efforts of a system."""
    mechanism = system.mechanism
    if mechanism is None:
        raise DalembertError(
            f"saturate=True takes limits of effort from joints and actuators, and {system.name!r} "
            "has none. Limit its control: control=da.controllers.Limited(control, limits)."
        )
    check_gears(mechanism, paths)
    limits = effort_limits(mechanism)
    if (limits < 0).any():
        k = int(np.argmin(limits))
        raise ModelError(
            f"saturate=True: the limit of effort of {mechanism.velocity_names[k]} is "
            f"{limits[k]:g}, below 0. Give its magnitude, or leave it out for none."
        )
    if not np.isfinite(limits).any():
        warnings.warn(
            f"saturate=True changes nothing: no joint and no actuator of {mechanism.name!r} has a "
            "limit of effort.",
            DalembertWarning,
            stacklevel=caller_level(),
        )
    return np.asarray(limits)


def check_gears(mechanism: Linkage, paths: Sequence[str]) -> None:
    """See that no limit of effort depends on the numbers at some paths.

    Raises
    ------
    ParameterError
    """
    gears = [path for path in paths if path.endswith(GEARS)]
    if gears and any(actuator.effort is not None for actuator in mechanism.actuators):
        raise ParameterError(
            f"{gears[0]} cannot be an input with saturate=True, as limits of effort depend on it: "
            "use mechanism.replace.",
            tuple(gears),
        )
