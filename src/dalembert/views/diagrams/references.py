"""References that controllers follow, and limits that joints come near, for diagrams."""

from __future__ import annotations

from typing import (
    TYPE_CHECKING,
    Any,
    NamedTuple,
)

import numpy as np

from dalembert.controllers.checks import followed
from dalembert.errors import DalembertError
from dalembert.model.numbers import as_float

if TYPE_CHECKING:
    from dalembert.results.run import Run

MOST_TIMES = 400  # at which a reference is evaluated
WRAPPERS = ("controller", "control", "law")  # attributes of a controller that hold another


class FollowedReference(NamedTuple):
    """A reference at some times."""

    times: np.ndarray  # (R,) [s]
    q: np.ndarray  # (R, nq)
    qd: np.ndarray  # (R, nv)


def reference_of(run: Run) -> FollowedReference | None:
    """The reference of a run's controller; None where it has none, or it is not known any more."""
    control = getattr(getattr(run.applied, "__self__", None), "control", None)
    while control is not None:
        if callable(getattr(control, "reference", None)):
            return _followed(run, control.reference)
        if getattr(control, "q_ref", None) is not None:
            return _held(run, np.asarray(control.q_ref, dtype=float))
        inner = (getattr(control, name, None) for name in WRAPPERS)
        control = next((found for found in inner if callable(found)), None)
    return None


def _followed(run: Run, reference: Any) -> FollowedReference | None:
    """A function of time at times spread over the run."""
    times = np.linspace(run.times[0], run.times[-1], min(len(run.times), MOST_TIMES))
    try:
        found = [followed(reference, float(t), run.system)[:2] for t in times]
        q, qd = (np.array([row[k] for row in found], dtype=float) for k in range(2))
    except (DalembertError, TypeError, ValueError, ArithmeticError):
        return None
    return FollowedReference(times, q, qd)


def _held(run: Run, q: np.ndarray) -> FollowedReference | None:
    """A posture."""
    if q.shape != (run.system.nq,):
        return None
    times = np.asarray(run.times)[[0, -1]]
    return FollowedReference(times, np.stack([q, q]), np.zeros((2, run.system.nv)))


class JointBounds(NamedTuple):
    """Limits of the entries of q, qd and tau; infinite where there are none."""

    lower: np.ndarray  # (nq,)
    upper: np.ndarray  # (nq,)
    velocity: np.ndarray  # (nv,)
    effort: np.ndarray  # (nv,)


def bounds_of(system: Any) -> JointBounds:
    """The limits of a mechanism's joints; of another system there are none."""
    bounds = JointBounds(
        np.full(system.nq, -np.inf),
        np.full(system.nq, np.inf),
        np.full(system.nv, np.inf),
        np.full(system.nv, np.inf),
    )
    if system.mechanism is None:
        return bounds
    for joint in system.mechanism.independent_joints:
        entry = system.mechanism.entries[joint.name]
        pairs = [("velocity", bounds.velocity, entry.at_v), ("effort", bounds.effort, entry.at_v)]
        if joint.type.nq == joint.type.nv:
            at_q = range(system.nq)[entry.at_q]
            pairs += [("lower", bounds.lower, at_q), ("upper", bounds.upper, at_q)]
        for name, array, at in pairs:
            limit = getattr(joint.limits, name)
            if limit is not None:
                array[list(at)] = [_number(x) for x in limit]
    return bounds


def _number(limit: Any) -> float:
    """A limit as a number; a symbol is no limit."""
    value = as_float(limit)
    return float(value) if isinstance(value, float) else float("nan")
