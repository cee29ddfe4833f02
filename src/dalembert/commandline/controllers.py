"""Controllers as typed: by name, with one set point and one number for all gains."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import dalembert as da
from dalembert.errors import UnknownNameError
from dalembert.model.mechanism import Mechanism

BANDWIDTH = 10.0  # rad/s, natural frequency of each joint in the loop


def _pd(mechanism: Mechanism, goal: np.ndarray, bandwidth: float) -> Any:
    inertia = _driven_inertia(mechanism, goal)
    if not mechanism.elastic_bodies:
        return da.controllers.PD(mechanism, goal, bandwidth**2 * inertia, 2 * bandwidth * inertia)
    bodies = sum(len(entry.at_v) for entry in mechanism.body_entries.values())
    joints = inertia[: mechanism.nv - bodies]  # entries of bodies come last
    posture = goal[: len(goal) - bodies]
    gains = bandwidth**2 * joints, 2 * bandwidth * joints
    return da.controllers.ElasticPD(mechanism, posture, *gains)


def _gravity_pd(mechanism: Mechanism, goal: np.ndarray, bandwidth: float) -> Any:
    inertia = _driven_inertia(mechanism, goal)
    return da.controllers.GravityPD(
        mechanism, goal, bandwidth**2 * inertia, 2 * bandwidth * inertia
    )


def _driven_inertia(mechanism: Mechanism, goal: np.ndarray) -> np.ndarray:
    """Inertia of each joint alone, for gains of critical damping; 0 of joints on springs."""
    inertia = np.diagonal(da.mass_matrix(mechanism, goal)).copy()
    for joint in mechanism.flexible_joints:
        inertia[mechanism.entries[joint.name].at_v] = 0.0
    return inertia


def _computed_torque(mechanism: Mechanism, goal: np.ndarray, bandwidth: float) -> Any:
    return da.controllers.ComputedTorque(mechanism, da.controllers.Hold(goal), bandwidth**2)


CONTROLLERS: dict[str, Callable[[Mechanism, np.ndarray, float], Any]] = {
    "pd": _pd,
    "gravity-pd": _gravity_pd,
    "computed-torque": _computed_torque,
}


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
    return CONTROLLERS[name](mechanism, goal, bandwidth)
