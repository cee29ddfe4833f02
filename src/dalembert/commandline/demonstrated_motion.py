"""The motion that `dalembert demo` shows: from one posture to another, within limits."""

from __future__ import annotations

from typing import (
    Any,
    NamedTuple,
)

import numpy as np

import dalembert as da
from dalembert.commandline.controllers import controller
from dalembert.model.limit_vectors import known
from dalembert.model.mechanism import Mechanism

DURATION, LONGEST = 2.0, 30.0  # of the motion, at least and at most [s]
STRETCH = 1.2  # factor of the duration where a force is too large
SHARE = 0.6  # of a limit of speed that the motion takes
PEAK_RATE = 15 / 8  # greatest rate of a polynomial of degree five from 0 to 1 in unit time
BANDWIDTH = 6.0  # of controllers [rad/s]
LOOKED_AT = 40  # times at which forces are looked at


class DemonstratedMotion(NamedTuple):
    """A control, its duration [s], and words that say it."""

    control: Any
    duration: float
    words: str


def demonstrated(mechanism: Mechanism, start: np.ndarray, goal: np.ndarray) -> DemonstratedMotion:
    """The motion from rest in one posture to rest in another: along polynomials of degree five where
    all coordinates are driven and none is a quaternion, else by PD control.
    """
    drives_all = not mechanism.elastic_bodies and not mechanism.flexible_joints
    if drives_all and not mechanism.quaternions and not mechanism.constraints:
        path, duration = _program(mechanism, start, goal)
        law = da.controllers.ComputedTorque(mechanism, path, k_p=BANDWIDTH**2)
        words = "along polynomials of degree five, by computed torque"
        return DemonstratedMotion(law, duration, words)
    name, words = (
        ("gravity-pd", "with gravity compensation") if drives_all else ("pd", "of the drives")
    )
    law = controller(name, mechanism, goal, BANDWIDTH)
    return DemonstratedMotion(law, DURATION, f"by PD control {words}")


def _program(mechanism: Mechanism, start: np.ndarray, goal: np.ndarray) -> tuple[Any, float]:
    """The path, as slow as limits of speed and effort want it, and its duration [s]."""
    step = mechanism.difference(goal, start)
    times = PEAK_RATE * np.abs(step) / (SHARE * known(da.velocity_limits(mechanism)))
    duration = float(np.clip(times.max(), DURATION, LONGEST))
    efforts = known(da.effort_limits(mechanism))
    while True:
        path = da.controllers.Quintic([start, start + step], [0.0, duration])
        if duration * STRETCH > LONGEST or (_forces(mechanism, path, duration) < efforts).all():
            return path, duration
        duration *= STRETCH


def _forces(mechanism: Mechanism, path: Any, duration: float) -> np.ndarray:
    """Largest forces along a path (nv,) [N m, N]."""
    times = np.linspace(0.0, duration, LOOKED_AT)
    q, qd, qdd = (np.array(rows) for rows in zip(*map(path, times), strict=True))
    forces: np.ndarray = np.abs(da.inverse_dynamics(mechanism, q, qd, qdd)).max(axis=0)
    return forces
