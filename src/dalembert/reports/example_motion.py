"""The motion that a report shows where none is given: gentle, within limits, from a good posture."""

from __future__ import annotations

import warnings
from typing import Any, NamedTuple

import numpy as np

from dalembert.analysis.constrained_functions import inverse_dynamics
from dalembert.analysis.loop_closing import assemble, project
from dalembert.controllers import ComputedTorque, Sinusoids
from dalembert.errors import DalembertError, DalembertWarning
from dalembert.formulations import newton_euler
from dalembert.model.joints import Continuous, Free, Prismatic, Revolute
from dalembert.model.limit_vectors import (
    effort_limits,
    known,
    position_limits,
    velocity_limits,
)
from dalembert.model.magnitudes import check_magnitudes
from dalembert.model.mechanism import Mechanism
from dalembert.model.numbers import as_float
from dalembert.simulation.simulate import simulate
from dalembert.views.figures.posture import posture

FREQUENCY = 2.0  # rad/s, of the first joint; each further one is a little faster
FASTER = 0.15  # of the frequency, from joint to joint
FASTEST = 2.0  # times the frequency
AMPLITUDES = {"turn": 0.35, "slide": 0.06}  # [rad], [m]
SHARE_OF_SPEED, SHARE_OF_ROOM, SHARE_OF_EFFORT = 0.4, 0.6, 0.95  # of limits that are used
SHARES = (1.0, 0.5, 0.25, 0.1)  # of the amplitudes, until efforts are within limits
SAMPLES = 60  # times at which efforts are looked at
BANDWIDTH = 20.0  # rad/s, of the controller
DURATION, FALL = 4.0, 0.6  # s, of a motion, and of a throw
THROW, SPIN = 2.9, (1.2, 4.0, 1.0)  # m/s upwards, rad/s where limits are 1 rad/s or more
PUSH, AT_REST = 0.5, 1e-6  # rad/s, m/s
RECORDS = 400
MOST_FREEDOMS = 60  # beyond them no motion is simulated unasked
TINY = 1e-9  # N m, N
TRIED, SHARE_OF_WEIGHT = 31, 0.6  # positions of a joint; of a limit of effort, that weight takes
SIMPLE = (Revolute, Continuous, Prismatic)


class ExampleMotion(NamedTuple):
    """A run, how it came about in words, and the warnings that it gave."""

    run: Any
    words: str
    warnings: tuple[str, ...]


def example_motion(mechanism: Mechanism, q: Any, t: float | None) -> ExampleMotion:
    """A run of t seconds (some, where it is None) from a posture, the user's or a good one.

    Raises
    ------
    DalembertError
        The mechanism has symbols or too many freedoms; it cannot be simulated.
    """
    if mechanism.symbols:
        raise DalembertError("the mechanism has symbols, and a motion needs numbers.")
    if mechanism.nv > MOST_FREEDOMS:
        raise DalembertError(
            f"a motion of {mechanism.nv} velocities is not simulated unasked: give "
            "da.report(..., run=run)."
        )
    check_magnitudes(mechanism, "moved in an example")
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", DalembertWarning)
        run, words = _run(mechanism, q, t)
    said = [str(w.message) for w in caught if issubclass(w.category, DalembertWarning)]
    return ExampleMotion(run, words, tuple(said))


def _run(mechanism: Mechanism, q: Any, wanted: float | None) -> tuple[Any, str]:
    """The run, and how it came about."""
    start = posture(mechanism) if q is None else np.asarray(q, dtype=float)
    if _is_simple(mechanism):
        start = _within_reach(mechanism, start) if q is None else start
        return _driven(mechanism, start, DURATION if wanted is None else wanted)
    if mechanism.constraints:
        start = assemble(mechanism, start)
    if _is_afloat(mechanism):
        return _thrown(mechanism, start, wanted)
    return _released(mechanism, start, DURATION if wanted is None else wanted)


def _released(mechanism: Mechanism, start: np.ndarray, t: float) -> tuple[Any, str]:
    """A run from rest: free, or within stops and braked where it would pass limits."""
    rest, record = np.zeros(mechanism.nv), t / RECORDS
    run = simulate(mechanism, start, rest, t, record=record)
    if np.nanmax(np.abs(run.qd), initial=0.0) <= AT_REST:
        push = _allowed(mechanism, start, np.full(mechanism.nv, PUSH))
        words = f"As it stays at rest by itself, the mechanism is pushed, and moves for {t:g} s."
        return simulate(mechanism, start, push, t, record=record), words
    words = f"Released at rest, the mechanism moves under gravity and its springs for {t:g} s"
    if not run.limits_passed:
        return run, f"{words}."
    brakes = _brakes(mechanism, run)
    kept = simulate(
        mechanism,
        start,
        rest,
        t,
        control=lambda t, q, qd: -brakes * qd,
        stops=not mechanism.constraints or None,
        record=record,
    )
    return kept, f"{words}, stopped by its limits and braked so as to keep those of speed."


def _brakes(mechanism: Mechanism, run: Any) -> np.ndarray:
    """Forces of drives per unit of speed (nv,) that hold the weight at a share of the limits."""
    limits = velocity_limits(mechanism)
    weight = np.abs(newton_euler.gravity_vector(mechanism, run.q)).max(axis=0)
    total = max(float(weight.max()), TINY)
    is_limited = np.isfinite(limits) & (limits > 0)
    return np.where(is_limited, total / (SHARE_OF_SPEED * np.where(is_limited, limits, 1.0)), 0.0)


def _driven(mechanism: Mechanism, start: np.ndarray, t: float) -> tuple[Any, str]:
    """A run in which a controller moves all joints."""
    path = _within_efforts(mechanism, start, t)
    law = ComputedTorque(mechanism, path, BANDWIDTH**2)
    record = t / RECORDS
    # the law makes up for friction, which would stick and slip at each turn for nothing
    run = simulate(mechanism, start, path(0.0)[1], t, control=law, friction="sign", record=record)
    words = (
        f"Each joint follows a sinusoid about its start for {t:g} s, under a computed-torque "
        f"controller with a bandwidth of {BANDWIDTH:g} rad/s."
    )
    return run, words


def _thrown(mechanism: Mechanism, start: np.ndarray, wanted: float | None) -> tuple[Any, str]:
    """A run of bodies on free joints, set off up and turning, as far as constraints let them."""
    usual = DURATION if mechanism.constraints else FALL
    t = usual if wanted is None else wanted
    limits = velocity_limits(mechanism)
    fastest = float(np.min(limits[limits > 0], initial=1.0))
    gravity = np.array([as_float(x) for x in mechanism.gravity])
    size = float(np.linalg.norm(gravity))
    up = -gravity / size if size else np.array([0.0, 0.0, 1.0])
    qd = np.zeros(mechanism.nv)
    for joint in mechanism.independent_joints:
        if isinstance(joint.type, Free):
            at = mechanism.entries[joint.name].at_v
            qd[at.start : at.start + 3] = np.array(SPIN) * SHARE_OF_SPEED * fastest
            qd[at.start + 3 : at.stop] = THROW * up
    qd = _allowed(mechanism, start, qd)
    words = f"Set off turning, without drives and without contacts, for {t:g} s."
    return simulate(mechanism, start, qd, t, record=t / RECORDS), words


def _allowed(mechanism: Mechanism, q: np.ndarray, qd: np.ndarray) -> np.ndarray:
    """The velocities nearest to some that constraints allow."""
    if not mechanism.constraints:
        return qd
    return np.asarray(project(mechanism, q, qd)[1], dtype=float)


def _is_afloat(mechanism: Mechanism) -> bool:
    """Whether a body moves about on a free joint."""
    return any(isinstance(joint.type, Free) for joint in mechanism.independent_joints)


def _is_simple(mechanism: Mechanism) -> bool:
    """Whether all joints have one coordinate and a drive each, and nothing else moves."""
    others = mechanism.constraints or mechanism.elastic_bodies or mechanism.flexible_joints
    types = {type(joint.type) for joint in mechanism.independent_joints}
    return not others and types <= {*SIMPLE} and not _is_underactuated(mechanism)


def _is_underactuated(mechanism: Mechanism) -> bool:
    """Whether some joints have a limit of effort and others, which are free to move, have none."""
    efforts = [joint.limits.effort is not None for joint in mechanism.independent_joints]
    return any(efforts) and not all(efforts)


def _within_reach(mechanism: Mechanism, start: np.ndarray) -> np.ndarray:
    """A posture with joints turned, the most loaded first, until drives can hold its weight."""
    efforts = known(effort_limits(mechanism))
    q = start
    for _ in range(2 * mechanism.nv):
        loads = np.abs(newton_euler.gravity_vector(mechanism, q)) / efforts
        k = int(loads.argmax())
        if loads[k] <= SHARE_OF_WEIGHT:
            break
        tried = np.tile(q, (TRIED, 1))
        lower, upper = (limits[k] for limits in position_limits(mechanism))
        low, high = max(lower, q[k] - np.pi), min(upper, q[k] + np.pi)
        tried[:, k] = np.linspace(low, high, TRIED + 2)[1:-1]
        loads = np.abs(newton_euler.gravity_vector(mechanism, tried)) / efforts
        q = tried[int(loads.max(axis=1).argmin())]
    return q


def _within_efforts(mechanism: Mechanism, start: np.ndarray, t: float) -> Sinusoids:
    """The largest of some sinusoids that needs no more than the limits of effort, if one does."""
    limits = known(effort_limits(mechanism))
    for share in SHARES:
        path = _waves(mechanism, start, share)
        rows = path.values(np.linspace(0.0, t, SAMPLES), 2)
        efforts = np.abs(inverse_dynamics(mechanism, *rows)).max(axis=0)
        if (efforts <= SHARE_OF_EFFORT * limits).all():
            break
    return path


def _waves(mechanism: Mechanism, start: np.ndarray, share: float) -> Sinusoids:
    """Sinusoids about the start within limits of position and speed, or a share of them."""
    speeds = known(velocity_limits(mechanism))
    faster = min(FASTER, (FASTEST - 1) / max(mechanism.nv, 1))
    frequencies = FREQUENCY * (1 + faster * np.arange(mechanism.nv))
    amplitudes = np.zeros(mechanism.nv)
    for joint in mechanism.independent_joints:
        k = mechanism.entries[joint.name].at_v.start
        amplitudes[k] = min(
            AMPLITUDES["slide" if isinstance(joint.type, Prismatic) else "turn"],
            SHARE_OF_SPEED * speeds[k] / frequencies[k],
            SHARE_OF_ROOM * _room(joint, start[k]),
        )
    return Sinusoids(start, share * amplitudes, frequencies)


def _room(joint: Any, q: float) -> float:
    """Distance to the nearer limit of a joint."""
    ends = [joint.limits.lower, joint.limits.upper]
    distances = [abs(as_float(end[0]) - q) for end in ends if end is not None]
    return min(distances, default=np.inf)
