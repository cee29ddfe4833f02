"""Limits of joints together with those of the actuators that drive them, for formats in which
actuators have none.
"""

from __future__ import annotations

from collections.abc import Iterable
from math import inf

from dalembert.model.actuators import Actuator
from dalembert.model.mechanism import Mechanism
from dalembert.model.numbers import (
    Number,
    as_float,
)


def driven_limits(mechanism: Mechanism) -> dict[str, dict[str, Number | None]]:
    """Limits by the name of a joint of one freedom that has actuators.

    effort = min(limit of the joint, sum of |gear_ratio| effort of its actuators)
    velocity = min(limit of the joint, velocity / |gear_ratio| of each actuator)
    """
    by_joint: dict[str, list[Actuator]] = {}
    for actuator in mechanism.actuators:
        by_joint.setdefault(actuator.joint, []).append(actuator)
    limits = {}
    for name, actuators in by_joint.items():
        own = mechanism.joint(name).limits
        torque = sum(_geared(a) * _or_infinite(a.effort) for a in actuators)
        speeds = (_or_infinite(a.velocity) / _geared(a) for a in actuators)
        limits[name] = {
            "effort": _least(own.effort, [torque]),
            "velocity": _least(own.velocity, speeds),
        }
    return limits


def _geared(actuator: Actuator) -> float:
    return abs(as_float(actuator.gear_ratio))


def _or_infinite(bound: Number | None) -> float:
    return inf if bound is None else as_float(bound)


def _least(own: tuple[Number, ...] | None, others: Iterable[float]) -> Number | None:
    """The least bound; that of the joint as it is written, None where there is none."""
    least = min(others)
    if own is not None and as_float(own[0]) <= least:
        return own[0]
    return None if least == inf else least
