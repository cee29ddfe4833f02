"""Controllers as typed: by name, with one set point and one number for all gains."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import dalembert as da
from dalembert.errors import DalembertError, UnknownNameError
from dalembert.model.mechanism import Mechanism

BANDWIDTH = 10.0  # rad/s, natural frequency of each joint in the loop


def _pd(kind: Any, mechanism: Mechanism, goal: np.ndarray, bandwidth: float) -> Any:
    # each joint alone: critically damped at the set point
    inertia = np.diagonal(da.mass_matrix(mechanism, goal)).copy()
    for entry in mechanism.body_entries.values():  # no drive acts on bent links
        inertia[entry.at_v] = 0.0
    return kind(mechanism, goal, bandwidth**2 * inertia, 2 * bandwidth * inertia)


def _computed_torque(mechanism: Mechanism, goal: np.ndarray, bandwidth: float) -> Any:
    return da.controllers.ComputedTorque(mechanism, da.controllers.Hold(goal), bandwidth**2)


CONTROLLERS: dict[str, Callable[[Mechanism, np.ndarray, float], Any]] = {
    "pd": lambda *given: _pd(da.controllers.PD, *given),
    "gravity-pd": lambda *given: _pd(da.controllers.GravityPD, *given),
    "computed-torque": _computed_torque,
}

OF_ALL_COORDINATES = ("gravity-pd", "computed-torque")  # forces that elastic bodies cannot have


def controller(
    name: str, mechanism: Mechanism, goal: np.ndarray, bandwidth: float = BANDWIDTH
) -> Any:
    """The controller of this name that goes to a posture (nq,), each joint as fast as `bandwidth`
    [rad/s] says.

    Raises
    ------
    UnknownNameError, DalembertError
        There is no such controller; it cannot have the mechanism's joints.
    """
    if name not in CONTROLLERS:
        raise UnknownNameError("controller", name, tuple(CONTROLLERS))
    if name in OF_ALL_COORDINATES and mechanism.elastic_bodies:
        bodies = ", ".join(body.name for body in mechanism.elastic_bodies)
        raise DalembertError(
            f"controller {name!r} drives every coordinate, and those of elastic bodies ({bodies}) have "
            "no drive. Take 'pd', or controllers in Python."
        )
    return CONTROLLERS[name](mechanism, goal, bandwidth)
