"""The motion that a report shows where none is given: gentle, within limits, from a good posture."""

from __future__ import annotations

import warnings
from typing import Any, NamedTuple

import numpy as np

from dalembert.analysis.loop_closing import assemble
from dalembert.controllers import ComputedTorque, Sinusoids
from dalembert.errors import DalembertError, DalembertWarning
from dalembert.model.joints import Continuous, Free, Prismatic, Revolute
from dalembert.model.limit_vectors import velocity_limits
from dalembert.model.mechanism import Mechanism
from dalembert.model.numbers import as_float
from dalembert.simulation.simulate import simulate
from dalembert.views.posture import posture

FREQUENCY = 2.0  # rad/s, of the first joint; each further one is a little faster
FASTER = 0.15  # of the frequency, from joint to joint
AMPLITUDES = {"turn": 0.35, "slide": 0.06}  # [rad], [m]
SHARE_OF_SPEED, SHARE_OF_ROOM = 0.4, 0.6  # of the limits that the motion uses
BANDWIDTH = 20.0  # rad/s, of the controller
DURATION, FALL = 4.0, 0.6  # s, of a motion, and of a throw
THROW, SPIN = 2.9, (0.5, 1.6, 0.4)  # m/s upwards, rad/s
RECORDS = 400
MOST_FREEDOMS = 60  # beyond them no motion is simulated unasked
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
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", DalembertWarning)
        run, words = _run(mechanism, q, t)
    said = [str(w.message) for w in caught if issubclass(w.category, DalembertWarning)]
    return ExampleMotion(run, words, tuple(said))


def _run(mechanism: Mechanism, q: Any, wanted: float | None) -> tuple[Any, str]:
    start = posture(mechanism) if q is None else np.asarray(q, dtype=float)
    is_afloat = any(isinstance(joint.type, Free) for joint in mechanism.independent_joints)
    t = (FALL if is_afloat else DURATION) if wanted is None else wanted
    record = t / RECORDS
    if _is_simple(mechanism):
        path = _waves(mechanism, start)
        law = ComputedTorque(mechanism, path, BANDWIDTH**2)
        rates = path(0.0)[1]
        words = (
            f"Each joint follows a sinusoid about its start for {t:g} s, under a computed-torque "
            f"controller with a bandwidth of {BANDWIDTH:g} rad/s."
        )
        return simulate(mechanism, start, rates, t, control=law, record=record), words
    if mechanism.constraints:
        start = assemble(mechanism, start)
    if is_afloat:
        words = f"Thrown up, turning, without a drive and without contacts, for {t:g} s."
        return simulate(mechanism, start, _thrown(mechanism), t, record=record), words
    words = f"Released at rest, the mechanism moves under gravity and its springs for {t:g} s."
    return simulate(mechanism, start, np.zeros(mechanism.nv), t, record=record), words


def _thrown(mechanism: Mechanism) -> np.ndarray:
    """Velocities of a throw: up, and turning, of bodies on free joints."""
    qd = np.zeros(mechanism.nv)
    gravity = np.array([as_float(x) for x in mechanism.gravity])
    size = float(np.linalg.norm(gravity))
    up = -gravity / size if size else np.array([0.0, 0.0, 1.0])
    for joint in mechanism.independent_joints:
        if isinstance(joint.type, Free):
            at = mechanism.entries[joint.name].at_v
            qd[at.start : at.start + 3] = SPIN
            qd[at.start + 3 : at.stop] = THROW * up
    return qd


def _is_simple(mechanism: Mechanism) -> bool:
    """Whether all joints have one coordinate and a drive each, and nothing else moves."""
    others = mechanism.constraints or mechanism.elastic_bodies or mechanism.flexible_joints
    types = {type(joint.type) for joint in mechanism.independent_joints}
    return not others and types <= {*SIMPLE} and not _is_underactuated(mechanism)


def _is_underactuated(mechanism: Mechanism) -> bool:
    """Whether some joints have a limit of effort and others, which are free to move, have none."""
    efforts = [joint.limits.effort is not None for joint in mechanism.independent_joints]
    return any(efforts) and not all(efforts)


def _waves(mechanism: Mechanism, start: np.ndarray) -> Sinusoids:
    """Sinusoids about the start that stay within limits of position and speed."""
    speeds = velocity_limits(mechanism)
    frequencies = FREQUENCY * (1 + FASTER * np.arange(mechanism.nv))
    amplitudes = np.zeros(mechanism.nv)
    for joint in mechanism.independent_joints:
        k = mechanism.entries[joint.name].at_v.start
        amplitudes[k] = min(
            AMPLITUDES["slide" if isinstance(joint.type, Prismatic) else "turn"],
            SHARE_OF_SPEED * speeds[k] / frequencies[k],
            SHARE_OF_ROOM * _room(joint, start[k]),
        )
    return Sinusoids(start, amplitudes, frequencies)


def _room(joint: Any, q: float) -> float:
    """Distance to the nearer limit of a joint."""
    ends = [joint.limits.lower, joint.limits.upper]
    distances = [abs(as_float(end[0]) - q) for end in ends if end is not None]
    return min(distances, default=np.inf)
