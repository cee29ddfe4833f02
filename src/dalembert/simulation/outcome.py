"""The `Run` of trajectories that a method made: records, where each trajectory ended, and why."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from dalembert.integrators import REASONS, FixedStep
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
    found: Trajectories,
) -> Run:
    """The records with the initial states in front, where each trajectory ended, and why."""
    motion, x = loop.motion, np.concatenate([start.x[:, None], found.x], axis=1)
    q, y, *_ = motion.split(x)
    qd = motion.formulation.recorded(times, q, y, motion.numbers)
    ends = _ends(loop, times, x, qd, found)
    x_end = x[np.arange(len(x)), ends.last]
    whole = start.single and ends.good is None
    end = None if whole else _end_states(motion, ends.t, x_end)
    steps, rejected = ends.counted(found.steps), ends.counted(found.rejected)
    rows = _RecordRows(
        x, qd, _observables(loop.initial | (sampled.initial if sampled else {}), found)
    )
    if ends.good is not None:
        rows.blank(ends.good, ends.last)
    if start.single:
        rows = rows.single(ends.last[0])
        if end is not None:
            rows.x[-1], rows.qd[-1] = x_end[0], end.qd[0]
        times = np.concatenate([times[: ends.last[0]], ends.t])
        steps, rejected = steps[0], rejected[0]
    q, _, work, states = motion.split(rows.x)
    return Run(
        motion.mechanism,
        times,
        q,
        rows.qd,
        work,
        loop.method.name,
        loop.pace.h,
        tuple(ends.reasons),
        dict(motion.kinds),
        steps,
        rejected,
        states,
        motion.forces.applied,
        _in_order(loop.events),
        _in_order(loop.changes),
        motion.friction,
        motion.parameters,
        ended=None if start.single else end,
        declared=motion.observables,
        recorded=rows.observables | motion.formulation.recorded_counts,
    )


def _observables(initial: dict[str, np.ndarray], found: Trajectories) -> dict[str, np.ndarray]:
    """Observables (N, K, ...) behind those at the beginning (N, ...)."""
    return {
        name: np.concatenate([initial[name][:, None], values], axis=1)
        for name, values in found.observables.items()
    }


def _ends(
    loop: EventLoop, times: np.ndarray, x: np.ndarray, qd: np.ndarray, found: Trajectories
) -> _Ends:
    """Places and reasons of the trajectories' ends."""
    motion, n = loop.motion, len(x)
    finished = _all_recorded(times - motion.begin, x, found, rounding_of(times))
    safe = motion.system.positive_definite and not motion.system.constraints
    if not (finished and safe):
        return _early_ends(loop, x, qd, times, found)
    last = np.full(n, len(times) - 1)
    return _Ends(None, last, times[last], [loop.reasons.get(k, FINISHED) for k in range(n)])


def _all_recorded(times: np.ndarray, x: np.ndarray, found: Trajectories, rounding: float) -> bool:
    """Whether all states x (N, K, nx) are numbers, with their times (K,)."""
    least, most = np.minimum.reduce(x, axis=None), np.maximum.reduce(x, axis=None)
    if not (-BOUND < least and most < BOUND) or np.count_nonzero(found.failed):  # NaN is not
        return False
    on_time = found.t >= times[1:] - _lateness(times, rounding)
    return np.count_nonzero(on_time) == on_time.size


def _lateness(times: np.ndarray, rounding: float) -> Any:
    """Time by which each record behind the first may be missed, (K - 1,) [s]."""
    return 1e-6 * (times[1:] - times[:-1]) + rounding


def _end_states(motion: FirstOrderSystem, t: np.ndarray, x: np.ndarray) -> End:
    """States x (N, nx) at the ends of trajectories, at times t (N,)."""
    q, y, work, states = motion.split(x)
    recorded = motion.formulation.recorded
    qd = recorded(t[:, None], q[:, None], y[:, None], motion.numbers)[:, 0]
    return End(t, q, qd, work, states)


def _early_ends(
    loop: EventLoop, x: np.ndarray, qd: np.ndarray, times: np.ndarray, found: Trajectories
) -> _Ends:
    """Ends of trajectories some of which ended early."""
    motion = loop.motion
    goals, rounding = times - motion.begin, rounding_of(times)
    reached = np.concatenate([np.full((len(x), 1), goals[0]), found.t], axis=1)
    finite, good = (np.abs(x) < BOUND).all(axis=2), np.ones(reached.shape, dtype=bool)
    late = _lateness(goals, rounding) * (found.failed != ENDED)
    good[:, 1:] = found.t >= goals[1:] - late
    good = np.logical_and.accumulate(finite & good, axis=1)
    singular = _singular(motion, times, finite, good, motion.split(x)[0], qd)
    t, last = ends_of(times, reached + motion.begin, finite, good)
    reasons = [
        singular.get(k)
        or loop.reasons.get(k)
        or _reason(motion.system, t[k], good[k], finite[k], x[k], found.failed[k])
        for k in range(len(x))
    ]
    _explain(reasons, loop, x, goals, good)
    numbers = np.broadcast_to(motion.numbers, (len(x), motion.numbers.shape[-1]))
    for k in (k for k, reason in enumerate(reasons) if reason != FINISHED):
        q, rates = motion.split(x[k, last[k]])[0], qd[k, last[k]]
        if k not in {**singular, **loop.reasons} and (
            row := motion.formulation.dependent_constraint(t[k], q, rates, numbers[k])
        ):
            reasons[k] += f" There the constraint {row!r} nearly follows from others."
    return _Ends(good, last, t, reasons)


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
    for k, kept in enumerate(good.sum(axis=1)):
        until = (
            min(kept + 1, len(times)) if finite[k, : kept + 1].all() else kept
        )  # with the state it could not leave
        stuck = motion.formulation.singular(
            times[:until], q[k, :until], qd[k, :until], kept < len(times), numbers[k]
        )
        if stuck is not None:
            good[k, stuck[0] :] = finite[k, stuck[0] :] = False
            reasons[k] = f"after t = {times[stuck[0] - 1]:g} s: {stuck[1]}."
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
        *(f"state {i} of the controller" for i in range(x.shape[-1] - system.nq - system.nv - 1)),
    ]
    return (
        f"{names[bad]} is no longer a number after t = {t:g} s: the step may be too long for a "
        "method of fixed step, or forces too large."
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
        if (count := int(good[k].sum())) and k not in loop.reasons:
            ahead = float(times[min(count, len(times) - 1)] - times[count - 1])
            fixed = isinstance(loop.method, FixedStep)
            h = loop.h if fixed else min(loop.h, ahead or loop.h)
            state = x[k, count - 1], float(times[count - 1])
            force = force_without_number(
                loop.motion, loop.method, *state, h, p[k], loop.control[:2]
            )
            reasons[k] = f"{force}." if force else reasons[k]


def _in_order(found: list[Any]) -> tuple[Any, ...]:
    """By trajectory, then by time."""
    return tuple(sorted(found, key=lambda one: (one.trajectory, one.t)))
