"""The `Run` of trajectories that a method made: records, where each trajectory ended, and why."""

from __future__ import annotations

from typing import Any

import numpy as np

from dalembert.integrators import REASONS, Fixed, Method
from dalembert.integrators.methods import TOO_SMALL
from dalembert.native.propagator import Trajectories
from dalembert.results.ends import End, ends_of
from dalembert.results.records import FINISHED
from dalembert.results.run import Run
from dalembert.simulation.event_loop import ENDED, EventLoop
from dalembert.simulation.failures import force_without_number
from dalembert.simulation.first_order_system import FirstOrderSystem
from dalembert.simulation.interpreted_propagator import ATTEMPTS
from dalembert.simulation.options import rounding_of
from dalembert.simulation.sampled_loop import SampledLoop
from dalembert.systems.system import System

EXPLAINED = 4  # trajectories whose forces are looked at where they are no longer finite
BOUND = 1e100  # of a state: beyond it, energies are no numbers


def run_of(
    motion: FirstOrderSystem,
    way: Method,
    x0: np.ndarray,
    single: bool,
    times: np.ndarray,
    h: float,
    found: Trajectories,
    loop: EventLoop,
    sampling: SampledLoop | None,
) -> Run:
    """The records with the initial states in front, where each trajectory ended, and why."""
    x = np.concatenate([x0[:, None], found.x], axis=1)
    q, y, *_ = motion.split(x)
    qd = motion.formulation.recorded(times, q, y, motion.numbers)
    finished = _all_recorded(times - motion.begin, x, found, rounding_of(times))
    good: np.ndarray | None = None
    if finished and motion.system.positive_definite:
        place = np.full(len(x), len(times) - 1)
        t, reasons = times[place], [loop.reasons.get(k, FINISHED) for k in range(len(x))]
        steps, rejected = found.steps[:, -1].copy(), found.rejected[:, -1].copy()
    else:
        good, place, t, reasons = _early_ends(motion, way, x, qd, times, found, loop)
        steps, rejected = (  # up to the last record
            counts[np.arange(len(x)), place - 1] * (place > 0)
            for counts in (found.steps, found.rejected)
        )
    initial = loop.initial | (sampling.initial if sampling else {})
    recorded = {
        name: np.concatenate([initial[name][:, None], values], axis=1)
        for name, values in found.observables.items()
    }
    lanes = np.arange(len(x))
    last = x[lanes, place]
    end = None if single and good is None else _end_states(motion, t, last)
    if good is not None:
        x[~good] = qd[~good] = np.nan
        beyond = ~good
        beyond[lanes, place] = False  # observables at an end between two records are known
        for values in recorded.values():
            if values.dtype.kind == "f":
                values[beyond] = np.nan
    if single:
        until = slice(place[0] + 1)
        times, x, qd = np.concatenate([times[: place[0]], t]), x[0, until], qd[0, until]
        if end is not None:
            x[-1], qd[-1] = last[0], end.qd[0]
        recorded = {name: values[0, until] for name, values in recorded.items()}
        steps, rejected = steps[0], rejected[0]
    q, _, work, states = motion.split(x)
    return Run(
        motion.mechanism,
        times,
        q,
        qd,
        work,
        way.name,
        h,
        tuple(reasons),
        dict(motion.kinds),
        steps,
        rejected,
        states,
        motion.forces.applied,
        _in_order(loop.events),
        _in_order(loop.changes),
        motion.friction,
        motion.parameters,
        ended=None if single else end,
        declared=motion.observables,
        recorded=recorded | motion.formulation.recorded_counts,
    )


def _all_recorded(times: np.ndarray, x: np.ndarray, found: Trajectories, rounding: float) -> bool:
    """Whether all states x (N, K, nx) are numbers, those of their times (K,)."""
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
    motion: FirstOrderSystem,
    way: Method,
    x: np.ndarray,
    qd: np.ndarray,
    times: np.ndarray,
    found: Trajectories,
    loop: EventLoop,
) -> tuple[np.ndarray, np.ndarray, np.ndarray, list[str]]:
    """Of trajectories some of which ended early: whether each record was made, the places (N,) of
    their last states among the records, their times, and why they end.
    """
    goals, rounding = times - motion.begin, rounding_of(times)
    reached = np.concatenate([np.full((len(x), 1), goals[0]), found.t], axis=1)
    finite, good = (np.abs(x) < BOUND).all(axis=2), np.ones(reached.shape, dtype=bool)
    late = _lateness(goals, rounding) * (found.failed != ENDED)
    good[:, 1:] = found.t >= goals[1:] - late
    good = np.logical_and.accumulate(finite & good, axis=1)
    singular = _singular(motion, times, finite, good, motion.split(x)[0], qd)
    t, place = ends_of(times, reached + motion.begin, finite, good)
    reasons = [
        singular.get(k)
        or loop.reasons.get(k)
        or _reason(motion.system, t[k], good[k], finite[k], x[k], found.failed[k])
        for k in range(len(x))
    ]
    _explain(reasons, motion, way, x, goals, good, loop)
    return good, place, t, reasons


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
    reasons: list[str],
    motion: FirstOrderSystem,
    way: Method,
    x: np.ndarray,
    times: np.ndarray,
    good: np.ndarray,
    loop: EventLoop,
) -> None:
    """Say of some trajectories that ended without a finite number which force was none."""
    lost = [k for k, reason in enumerate(reasons) if "number" in reason]
    if not lost:
        return
    p = np.broadcast_to(loop.constants, (len(x), loop.constants.shape[-1]))
    for k in lost[:EXPLAINED]:
        if (kept := int(good[k].sum())) and k not in loop.reasons:
            ahead = float(times[min(kept, len(times) - 1)] - times[kept - 1])
            h = loop.h if isinstance(way, Fixed) else min(loop.h, ahead or loop.h)
            found = force_without_number(
                motion, way, x[k, kept - 1], float(times[kept - 1]), h, p[k], loop.tolerances
            )
            reasons[k] = f"{found}." if found else reasons[k]


def _in_order(found: list[Any]) -> tuple[Any, ...]:
    """By trajectory, then by time."""
    return tuple(sorted(found, key=lambda one: (one.trajectory, one.t)))
