"""Limits of joints and of their actuators, a number for each entry of qd."""

from __future__ import annotations

from typing import Any

import numpy as np

from dalembert.arguments import check_instance
from dalembert.errors import ModelError
from dalembert.model.actuators import Actuator
from dalembert.model.linkage import (
    Entry,
    Linkage,
)
from dalembert.model.numbered import Part
from dalembert.model.numbers import (
    as_float,
    is_symbolic,
)
from dalembert.model.parts import Joint
from dalembert.spatial.arrays import VectorArray


def effort_limits(mechanism: Linkage) -> VectorArray:
    """The largest forces that drives give: (nv,) [N m, N], infinite where there is no limit.

        effort_k = min(limit of the joint, sum of |gear_ratio| effort of its actuators)

    Forces of a follower's actuators act on its leader, times the multiplier.

    Raises
    ------
    ModelError
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
        effort = np.inf if actuator.effort is None else _number(actuator.effort, actuator)
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
    ModelError
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
            bound = _number(joint.limits.velocity[0], joint)
            _lower(limits, entry, bound, abs(_number(entry.factor, joint)))
    for actuator in mechanism.actuators:
        if actuator.velocity is not None:
            entry = mechanism.entries[actuator.joint]
            bound = _number(actuator.velocity, actuator)
            _lower(limits, entry, bound, _turns(actuator, entry))
    return limits


def position_limits(mechanism: Linkage) -> tuple[VectorArray, VectorArray]:
    """Lower and upper limits of coordinates: (nq,) each [rad, m], infinite where there is none.

    Limits of followers bound their leaders.

    Raises
    ------
    ModelError
        A limit is a symbol.

    Examples
    --------
    >>> import dalembert as da
    >>> da.position_limits(da.planar_chain(1))
    (array([-inf]), array([inf]))
    """
    _check(mechanism)
    lower, upper = np.full(mechanism.nq, -np.inf), np.full(mechanism.nq, np.inf)
    for joint in mechanism.joints:
        if joint.is_fixed or joint.type.nq != joint.type.nv:
            continue
        entry = mechanism.entries[joint.name]
        factor, offset = (_number(x, joint) for x in (entry.factor, entry.offset))
        if factor == 0:
            continue
        low = (_bounds(joint, joint.limits.lower, -np.inf) - offset) / factor
        high = (_bounds(joint, joint.limits.upper, np.inf) - offset) / factor
        lower[entry.at_q] = np.maximum(lower[entry.at_q], np.minimum(low, high))
        upper[entry.at_q] = np.minimum(upper[entry.at_q], np.maximum(low, high))
    return lower, upper


def known(limits: VectorArray) -> VectorArray:
    """Limits of speed or effort (nv,), infinite where they are 0, as files have it that know none.

    Examples
    --------
    >>> import numpy as np
    >>> known(np.array([2.0, 0.0]))
    array([ 2., inf])
    """
    return np.where(limits > 0, limits, np.inf)


def _bounds(joint: Joint, bounds: Any, default: float) -> VectorArray:
    """Bounds of the coordinates of a joint, or infinite ones."""
    if bounds is None:
        return np.full(joint.type.nq, default)
    return np.array([_number(x, joint) for x in bounds])


def _check(mechanism: Any) -> None:
    check_instance("mechanism", mechanism, Linkage, "a Mechanism, as da.load makes")


def _of_joints(mechanism: Linkage, name: str) -> VectorArray:
    """Limits of the independent joints alone."""
    limits = np.full(mechanism.nv, np.inf)
    for joint in mechanism.independent_joints:
        bounds = getattr(joint.limits, name)
        if bounds is not None:
            at = mechanism.entries[joint.name].at_v
            limits[at.start : at.stop] = [_number(x, joint) for x in bounds]
    return limits


def _number(x: Any, part: Part) -> float:
    """A number of a joint or an actuator."""
    if is_symbolic(x):
        noun = type(part).__name__.lower()
        raise ModelError(f"{noun} {part.name!r} has a limit or ratio {x}, which is no number.")
    return float(as_float(x))


def _turns(actuator: Actuator, entry: Entry) -> float:
    """Turns of the motor for each unit of the entry of its joint."""
    return abs(_number(actuator.gear_ratio, actuator) * _number(entry.factor, actuator))


def _lower(limits: VectorArray, entry: Entry, bound: float, ratio: float) -> None:
    """Lower the limit of an entry to bound / ratio."""
    k = entry.at_v.start
    if ratio > 0:
        limits[k] = min(limits[k], bound / ratio)
