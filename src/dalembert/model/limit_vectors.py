"""Limits of joints and of their actuators, a number for each entry of qd."""

from __future__ import annotations

from typing import Any

import numpy as np

from dalembert.arguments import check_instance
from dalembert.model.linkage import (
    Entry,
    Linkage,
)
from dalembert.model.numbers import as_float
from dalembert.spatial.arrays import VectorArray


def effort_limits(mechanism: Linkage) -> VectorArray:
    """The largest forces that drives give: (nv,) [N m, N], infinite where there is no limit.

        effort_k = min(limit of the joint, sum of |gear_ratio| effort of its actuators)

    Forces of a follower's actuators act on its leader, times the multiplier.

    Raises
    ------
    TypeError
        A limit is a symbol.

    Examples
    --------
    >>> import dalembert as da
    >>> arm = da.planar_chain(2).with_actuators(da.Actuator("motor", "q2", 100, effort=0.5))
    >>> da.effort_limits(arm)
    array([inf, 50.])
    """
    _check(mechanism)
    limits = _of_joints(mechanism, "effort")
    torques: dict[int, float] = {}
    for actuator in mechanism.actuators:
        entry = mechanism.entries[actuator.joint]
        effort = np.inf if actuator.effort is None else as_float(actuator.effort)
        k = entry.at_v.start
        torques[k] = torques.get(k, 0.0) + _turns(actuator, entry) * effort
    for k, torque in torques.items():
        limits[k] = min(limits[k], torque)
    return limits


def velocity_limits(mechanism: Linkage) -> VectorArray:
    """The largest velocities of joints: (nv,) [rad/s, m/s], infinite where there is no limit.

        velocity_k = min(limit of the joint, velocity / |gear_ratio| of its actuators)

    Limits of followers bound their leaders.

    Raises
    ------
    TypeError
        A limit is a symbol.

    Examples
    --------
    >>> import dalembert as da
    >>> arm = da.planar_chain(2).with_actuators(da.Actuator("motor", "q2", 100, velocity=400.0))
    >>> da.velocity_limits(arm)
    array([inf,  4.])
    """
    _check(mechanism)
    limits = _of_joints(mechanism, "velocity")
    for joint in mechanism.joints:
        if joint.mimic is not None and joint.limits.velocity is not None:
            entry = mechanism.entries[joint.name]
            _lower(limits, entry, joint.limits.velocity[0], abs(as_float(entry.factor)))
    for actuator in mechanism.actuators:
        if actuator.velocity is not None:
            entry = mechanism.entries[actuator.joint]
            _lower(limits, entry, actuator.velocity, _turns(actuator, entry))
    return limits


def _check(mechanism: Any) -> None:
    check_instance("mechanism", mechanism, Linkage, "a Mechanism, as da.load makes")


def _of_joints(mechanism: Linkage, name: str) -> VectorArray:
    """Limits of the independent joints alone."""
    limits = np.full(mechanism.nv, np.inf)
    for joint in mechanism.independent_joints:
        bounds = getattr(joint.limits, name)
        if bounds is not None:
            at = mechanism.entries[joint.name].at_v
            limits[at.start : at.stop] = [as_float(x) for x in bounds]
    return limits


def _turns(actuator: Any, entry: Entry) -> float:
    """Turns of the motor for each unit of the entry of its joint."""
    return abs(as_float(actuator.gear_ratio) * as_float(entry.factor))


def _lower(limits: VectorArray, entry: Entry, bound: Any, ratio: float) -> None:
    """Lower the limit of an entry to bound / ratio."""
    k = entry.at_v.start
    if ratio > 0:
        limits[k] = min(limits[k], as_float(bound) / ratio)
