"""The `Run` of trajectories that a method made: records, where each trajectory ended, and why."""

from __future__ import annotations

from operator import attrgetter
from typing import Any, NamedTuple

import numpy as np

from dalembert.integrators import REASONS, FixedStep
from dalembert.integrators.method_kinds import DEPENDENT_ENTRIES, SWITCHES
from dalembert.integrators.methods import TOO_SMALL
from dalembert.native.propagator import Trajectories
from dalembert.results.ends import End, ends_of
from dalembert.results.records import FINISHED
from dalembert.results.run import Run
from dalembert.simulation.event_handler import ENDED
from dalembert.simulation.event_loop import EventLoop
from dalembert.simulation.failures import force_without_number
from dalembert.simulation.first_order_system import FirstOrderSystem
from dalembert.simulation.options import ATTEMPTS, rounding_of
from dalembert.simulation.sampled_loop import SampledLoop
from dalembert.simulation.starts import BOUND, Start
from dalembert.systems.system import System

EXPLAINED = 4  # trajectories whose forces are looked at where they are no longer finite


class _Ends(NamedTuple):
    """Ends of N trajectories.

    Attributes
    ----------
    good : whether each record was made (N, K), if some were not
    last : places of their last states among the records (N,)
    t : times of these [s]
    reasons : why they end
    """

    good: np.ndarray | None
    last: np.ndarray
    t: np.ndarray
    reasons: list[str]

    def counted(self, counts: np.ndarray) -> np.ndarray:
        """Counts (N, K) up to the last record (N,)."""
        if self.good is None:
            return counts[:, -1].copy()
        return counts[np.arange(len(self.last)), self.last - 1] * (self.last > 0)


class _RecordRows(NamedTuple):
    """Records of N trajectories, (N, K, ...) each."""

    x: np.ndarray
    qd: np.ndarray
    observables: dict[str, np.ndarray]

    def blank(self, good: np.ndarray, last: np.ndarray) -> None:
        """Put NaN behind the last record; observables at an end between two records are known."""
        self.x[~good] = self.qd[~good] = np.nan
        beyond = ~good
        beyond[np.arange(len(good)), last] = False
        for values in self.observables.values():
            if values.dtype.kind == "f":
                values[beyond] = np.nan

    def single(self, last: int) -> _RecordRows:
        """Records of one trajectory up to the last, without N."""
        until = slice(last + 1)
        observables = {name: values[0, until] for name, values in self.observables.items()}
        return _RecordRows(self.x[0, until], self.qd[0, until], observables)


def run_of(
    loop: EventLoop,
    sampled: SampledLoop | None,
    start: Start,
    times: np.ndarray,
    trajectories: Trajectories,
) -> Run:
    """The records with the initial states in front, where each trajectory ended, and why."""
    motion = loop.motion
    x = np.concatenate([start.x[:, None], trajectories.x], axis=1)
    q, y, *_ = motion.split(x)
    qd = motion.formulation.recorded(times, q, y, motion.numbers)
    ends = _ends(loop, times, x, qd, trajectories)
    steps, rejected = ends.counted(trajectories.steps), ends.counted(trajectories.rejected)
    initial = loop.initial | (sampled.initial if sampled else {})
    recorded = _observables(initial, trajectories)
    if motion.system.internal_names:
        recorded["internal_states"] = motion.internal_in(x).copy()
    if SWITCHES in motion.unknowns:
        kept = motion.unknowns_in(x)
        recorded[DEPENDENT_ENTRIES] = np.rint(kept[DEPENDENT_ENTRIES])
        recorded[SWITCHES] = _counted(kept[SWITCHES][..., 0])
    rows = _RecordRows(x, qd, recorded)
    ended = None
    if ends.good is not None or not start.single:
        x_end = x[np.arange(len(x)), ends.last]  # a copy, before ends are blanked
        ended = _end_states(motion, ends.t, x_end)
    if ends.good is not None:
        rows.blank(ends.good, ends.last)
    if start.single:
        last = ends.last[0]
        rows = rows.single(last)
        times = np.concatenate([times[:last], ends.t])
        steps, rejected = steps[0], rejected[0]
        if ended is not None:  # the last record is the end
            rows.x[-1], rows.qd[-1] = x_end[0], ended.qd[0]
            ended = None
    q, _, work, states = motion.split(rows.x)
    return Run(
        times=times,
        q=q,
        qd=rows.qd,
        work=work,
        controller_states=states,
        steps=steps,
        rejected=rejected,
        reasons=tuple(ends.reasons),
        ended=ended,
        recorded=rows.observables | motion.formulation.recorded_counts,
        **_described(loop),
    )


def _counted(counts: np.ndarray) -> np.ndarray:
    """Counts (N, K) that never fall, from those at records within steps, which may be one too many."""
    later = np.rint(counts)[:, ::-1]
    return np.fmin.accumulate(later, axis=1)[:, ::-1]  # type: ignore[no-any-return]


def _described(loop: EventLoop) -> dict[str, Any]:
    """Fields of a run that say how it was made, and what happened on its way."""
    motion = loop.motion
    return {
        "mechanism": motion.mechanism,
        "parameters": motion.parameters,
        "method": loop.method.name,
        "h": loop.pace.h,
        "forces": dict(motion.kinds),
        "applied": motion.forces.applied,
        "saturated": motion.forces.saturation.limits is not None,
        "friction": motion.friction,
        "stabilisation": motion.stabilisation,
        "declared": motion.observables,
        "events": _in_order(loop.events),
        "changes": _in_order(loop.changes),
    }


def _observables(
    initial: dict[str, np.ndarray], trajectories: Trajectories
) -> dict[str, np.ndarray]:
    """Observables (N, K, ...) behind those at the beginning (N, ...)."""
    return {
        name: np.concatenate([initial[name][:, None], values], axis=1)
        for name, values in trajectories.observables.items()
    }


def _ends(
    loop: EventLoop, times: np.ndarray, x: np.ndarray, qd: np.ndarray, trajectories: Trajectories
) -> _Ends:
    """Places and reasons of the trajectories' ends."""
    motion = loop.motion
    finished = _all_recorded(times - motion.begin, x, trajectories, rounding_of(times))
    safe = motion.system.positive_definite and not motion.system.constraints
    if not (finished and safe):
        return _early_ends(loop, x, qd, times, trajectories)
    last = np.full(len(x), len(times) - 1)
    reasons = [loop.reasons.get(k, FINISHED) for k in range(len(x))]
    return _Ends(None, last, times[last], reasons)


def _all_recorded(
    times: np.ndarray, x: np.ndarray, trajectories: Trajectories, rounding: float
) -> bool:
    """Whether all states x (N, K, nx) are numbers, with their times (K,)."""
    least, most = np.minimum.reduce(x, axis=None), np.maximum.reduce(x, axis=None)
    bounded = -BOUND < least and most < BOUND  # not if one is NaN
    if not bounded or np.count_nonzero(trajectories.failed):
        return False
    on_time = trajectories.t >= times[1:] - _lateness(times, rounding)
    return np.count_nonzero(on_time) == on_time.size


def _lateness(times: np.ndarray, rounding: float) -> Any:
    """Time by which each record behind the first may be missed, (K - 1,) [s]."""
    return 1e-6 * (times[1:] - times[:-1]) + rounding


def _end_states(motion: FirstOrderSystem, t: np.ndarray, x: np.ndarray) -> End:
    """States x (N, nx) at the ends of trajectories, at times t (N,)."""
    q, y, work, states = motion.split(x)
    recorded = motion.formulation.recorded
    qd = recorded(t[:, None], q[:, None], y[:, None], motion.numbers)[:, 0]
    internal = motion.internal_in(x) if motion.system.internal_names else None
    return End(t, q, qd, work, states, internal)


def _early_ends(
    loop: EventLoop, x: np.ndarray, qd: np.ndarray, times: np.ndarray, trajectories: Trajectories
) -> _Ends:
    """Ends of trajectories some of which ended early."""
    motion = loop.motion
    failed = trajectories.failed
    goals = times - motion.begin
    reached = np.concatenate([np.full((len(x), 1), goals[0]), trajectories.t], axis=1)
    finite = (np.abs(x) < BOUND).all(axis=2)
    good = finite.copy()
    # An event ends a trajectory at its time exactly; others may miss a record by rounding.
    lateness = _lateness(goals, rounding_of(times)) * (failed != ENDED)
    good[:, 1:] &= trajectories.t >= goals[1:] - lateness
    good = np.logical_and.accumulate(good, axis=1)
    q, *_ = motion.split(x)
    singular = _singular(motion, times, finite, good, q, qd)
    t, last = ends_of(times, reached + motion.begin, finite, good)
    reasons = [
        singular.get(k)
        or loop.reasons.get(k)
        or _reason(motion.system, t[k], good[k], finite[k], x[k], failed[k])
        for k in range(len(x))
    ]
    _explain(reasons, loop, x, goals, good)
    for k, reason in enumerate(reasons):
        if reason != FINISHED and k not in singular and k not in loop.reasons:
            there = _singular_position(motion, k, t[k], q[k, last[k]], qd[k, last[k]])
            if there and isinstance(loop.method, FixedStep):
                there += " Take method='dop853', which passes it where the motion is determined."
            reasons[k] += there
    return _Ends(good, last, t, reasons)


def _singular_position(
    motion: FirstOrderSystem, k: int, t: float, q: np.ndarray, qd: np.ndarray
) -> str:
    """Sentences about the singular position near which trajectory k ends."""
    numbers = np.atleast_2d(motion.numbers)
    return motion.formulation.singular_position(t, q, qd, numbers[k % len(numbers)])


def _singular(
    motion: FirstOrderSystem,
    times: np.ndarray,
    finite: np.ndarray,
    good: np.ndarray,
    q: np.ndarray,
    qd: np.ndarray,
) -> dict[int, str]:
    """Reasons of trajectories that came to a singular mass matrix, before which they end: no
    records from there on.
    """
    reasons = {}
    numbers = np.broadcast_to(motion.numbers, (len(good), motion.numbers.shape[-1]))
    for k, count in enumerate(good.sum(axis=1)):
        is_early = count < len(times)
        # with the state that it could not leave
        until = count + 1 if is_early and finite[k, : count + 1].all() else count
        singular = motion.formulation.singular(
            times[:until], q[k, :until], qd[k, :until], is_early, numbers[k]
        )
        if singular is not None:
            first, why = singular
            good[k, first:] = finite[k, first:] = False
            reasons[k] = f"after t = {times[first - 1]:g} s: {why}."
    return reasons


def _reason(
    system: System,
    t: float,
    good: np.ndarray,
    finite: np.ndarray,
    x: np.ndarray,
    failed: np.ndarray,
) -> str:
    """Why a trajectory ends at t [s]."""
    if good.all():
        return FINISHED
    k = int(np.argmin(good))
    if finite[k] and not failed[k - 1]:
        return (
            f"after t = {t:g} s: {ATTEMPTS} steps did not reach the next record: forces that jump "
            "or swing, or a stiff system, need short steps. Take larger tolerances, "
            "method='radau5', or more records."
        )
    if finite[k]:
        return f"after t = {t:g} s: {REASONS.get(failed[k - 1], REASONS[TOO_SMALL])}."
    bad = int(np.argmax(~(np.abs(x[k]) < BOUND)))
    names = [
        *system.coordinate_names,
        *(f"the rate of {n}" for n in system.velocity_names),
        "the work",
        *(f"the internal state {name!r}" for name in system.internal_names),
    ]
    names += [f"state {i} of the controller" for i in range(x.shape[-1] - len(names))]
    return (
        f"{names[bad]} is no longer a number after t = {t:g} s: the step may be too long for a "
        "method of fixed step, or forces too large. Take a smaller h=, or method='dop853'."
    )


def _explain(
    reasons: list[str], loop: EventLoop, x: np.ndarray, times: np.ndarray, good: np.ndarray
) -> None:
    """Say of some trajectories that ended without a finite number which force was none."""
    lost = [k for k, reason in enumerate(reasons) if "number" in reason]
    if not lost:
        return
    p = np.broadcast_to(loop.constants, (len(x), loop.constants.shape[-1]))
    for k in lost[:EXPLAINED]:
        count = int(good[k].sum())
        if not count or k in loop.reasons:
            continue
        last = count - 1
        h = loop.h
        ahead = float(times[min(count, len(times) - 1)] - times[last])
        if ahead and not isinstance(loop.method, FixedStep):
            h = min(h, ahead)
        state = x[k, last], float(times[last])
        force = force_without_number(loop.motion, loop.method, *state, h, p[k], loop.control[:2])
        if force:
            reasons[k] = f"{force}."


def _in_order(happenings: list[Any]) -> tuple[Any, ...]:
    """By trajectory, then by time."""
    return tuple(sorted(happenings, key=attrgetter("trajectory", "t")))
