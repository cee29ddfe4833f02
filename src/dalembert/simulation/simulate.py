"""`simulate`: trajectories of a mechanism."""

from __future__ import annotations

from typing import Any

import numpy as np

from dalembert.compiled.marching import Trajectories
from dalembert.errors import ShapeError
from dalembert.integrators import REASONS, Fixed, Method, records
from dalembert.integrators import method as known_method
from dalembert.integrators.methods import TOO_SMALL
from dalembert.model.mechanism import Mechanism
from dalembert.simulation.kept import dynamics_of
from dalembert.simulation.motion import Motion
from dalembert.simulation.run import FINISHED, Run

RECORDS = 1000               # of a duration, unless times or a spacing are given
STEP = 1e-3                  # s
ATTEMPTS = 1_000_000         # steps between two records of an adaptive method
TOO_MANY = 1e8               # numbers in all records: beyond it, ask for fewer
TOO_MANY_STEPS = 1e9         # minutes to hours that nothing could interrupt
BOUND = 1e100                # of a state: beyond it, energies are no numbers


def simulate(mechanism: Mechanism, q: Any, qd: Any, t: Any, control: Any = None, forces: Any = None, method: str = "rk4",
             h: float = STEP, rtol: float = 1e-9, atol: float = 1e-12, record: float | None = None, threads: int = 1) -> Run:
    """Trajectories of a mechanism under forces on its joints.

        M(q) qdd = control + forces + passive_force - C(q, qd) qd - g(q)

    Whole trajectories run in machine code, side by side in vector lanes, unless a force is a Python function that cannot
    be traced.

    Parameters
    ----------
    mechanism : Mechanism
    q, qd : (nq,), (nv,) or (N, nq), (N, nv) arrays
        Initial states [rad, m; rad/s, m/s].
    t : float or sequence of float
        Duration from 0, or the times of the records, the first of which is that of the initial state [s].
    control, forces : function (t, q, qd) -> (nv,), or numbers (nv,) or (N, nv), optional
        Actuator forces, and any other forces along qd [N m, N]. A controller may have states of its own: an attribute
        `states` (m,) or (N, m), their initial values, makes it a function of (t, q, qd, states), and its method `rate`
        of the same arguments gives their time derivative (m,).
    method : str
        'rk4' and other methods of fixed step, 'dopri5' and others that choose it; an unknown name lists them.
    h : float
        Step, shortened so that records fall on steps; of adaptive methods the first one [s].
    rtol, atol : float
        Tolerances of adaptive methods, relative and absolute.
    record : float, optional
        Spacing of the records if t is a duration [s]; by default a thousandth of it, or the step if that is longer.
    threads : int
        Over which several trajectories are split; results do not depend on it.

    Returns
    -------
    Run
        It ends early, with a reason, where a state is no longer finite or a step becomes too small.

    Raises
    ------
    ShapeError, ValueError, TypeError, QuaternionError, UnknownNameError, SingularMassMatrixError
        A state, time or option is none; accelerations are not determined at the start.
    """
    motion = Motion(mechanism, control, forces)
    way = known_method(method, nq=mechanism.nq, nv=mechanism.nv, move=mechanism.integrate,
                       quaternions=motion.quaternions, energy=motion.energy)
    x, single = _initial(motion, q, qd)
    times, steps, h = _times(t, h, record, isinstance(way, Fixed), x.size)
    dynamics_of(mechanism).forward_dynamics(*motion.split(x)[:2], np.zeros(mechanism.nv))
    repeats = steps if isinstance(way, Fixed) else ATTEMPTS
    if motion.traced:
        constants = motion.constants
        if constants.ndim == 2 and len(constants) not in (1, len(x)):
            raise ShapeError(f"forces for {len(constants)} trajectories, but there are {len(x)} initial states.", "control")
        found = motion.marching(way).run(x, times, h, constants, repeats, rtol, atol, threads)
    else:
        found = _called(motion, way, x, times, h, repeats, rtol, atol)
    return _run(motion, way, x, single, times, h, found)


def _initial(motion: Motion, q: Any, qd: Any) -> tuple[np.ndarray, bool]:
    """x (N, nx) at the start, and whether one state was given."""
    m = motion.mechanism
    m.at(q=q, qd=qd)                                              # shapes, numbers, quaternions
    q, qd = np.asarray(q, dtype=float), np.asarray(qd, dtype=float)
    single = q.ndim == qd.ndim == 1
    given = motion.constants
    rows = np.broadcast_shapes(q.shape[:-1], qd.shape[:-1], given.shape[:-1], motion.states.shape[:-1])
    single = single and not rows
    q, qd, states = (np.broadcast_to(v, (*(rows or (1,)), v.shape[-1])) for v in (q, qd, motion.states))
    return np.hstack([q, qd, np.zeros((len(q), 1)), states]), single


def _times(t: Any, h: float, record: float | None, fixed: bool, size: int) -> tuple[np.ndarray, int, float]:
    """Times of the records, steps between two of them, and the step."""
    given = np.atleast_1d(np.asarray(t, dtype=float))
    if given.ndim != 1 or not np.isfinite(given).all() or not (np.isfinite(h) and h > 0):
        raise ValueError(f"t={t!r}, h={h!r}: expected a duration or times [s], and a positive step.")
    if len(given) == 1:
        duration = float(given[0])
        if not duration > 0:
            raise ValueError(f"t={t!r}: expected a positive duration [s], or the times of the records.")
        spacing = max(duration / RECORDS, h if fixed else 0.0) if record is None else float(record)
        if not 0 < spacing:
            raise ValueError(f"record={record!r}: expected a positive spacing [s].")
        count = max(1, round(duration / spacing)) + 1
        if count * size > TOO_MANY:
            raise ValueError(f"{count} records are {count * size:.3g} numbers, more than {TOO_MANY:.0e}: give record= a "
                             "larger spacing [s].")
        times = np.linspace(0.0, duration, count)
    else:
        times = given
        if record is not None:
            raise ValueError("record= is the spacing of the records of a duration; t gives their times already.")
        if not (np.diff(times) > 0).all():
            raise ValueError("the times t must increase.")
    if not fixed:
        return times, 0, min(h, float(times[1] - times[0]))
    spacing = float(times[-1] - times[0]) / (len(times) - 1)
    if not np.allclose(np.diff(times), spacing, rtol=1e-9, atol=0):
        raise ValueError("methods of fixed step need times t at equal distances; give a duration, or use method='dopri5'.")
    steps = max(1, int(np.ceil(spacing / h * (1 - 1e-9))))
    if steps * (len(times) - 1) > TOO_MANY_STEPS:
        raise ValueError(f"{steps * (len(times) - 1):.3g} steps of {h:g} s are more than {TOO_MANY_STEPS:.0e}: give a "
                         "larger h.")
    return times, steps, spacing / steps


def _called(motion: Motion, way: Method, x0: np.ndarray, times: np.ndarray, h: float, repeats: int, rtol: float,
            atol: float) -> Trajectories:
    """The method in Python, for forces that must be called with numbers."""
    n, k = len(x0), len(times) - 1
    t, x = np.zeros((n, k)), np.full((n, k, motion.nx), np.nan)
    steps, rejected, failed = (np.zeros((n, k)) for _ in range(3))
    for row in range(n):
        f = motion.function(row)
        for at, record in enumerate(records(way, f, x0[row], times, h, repeats, rtol, atol, motion.projected)):
            t[row, at], x[row, at], steps[row, at] = record.t, record.x, record.steps
            rejected[row, at], failed[row, at] = record.rejected, record.failed
    return Trajectories(t, x, steps, rejected, failed)


def _run(motion: Motion, way: Method, x0: np.ndarray, single: bool, times: np.ndarray, h: float,
         found: Trajectories) -> Run:
    """The records with the initial states in front, and why each trajectory stopped."""
    m = motion.mechanism
    x = np.concatenate([x0[:, None], found.x], axis=1)
    reached = np.hstack([np.ones((len(x), 1), bool), found.t >= times[1:] - 1e-9 * np.abs(times[1:])])
    finite = (np.abs(x) < BOUND).all(axis=2)                       # NaN is not
    good = np.logical_and.accumulate(finite & reached, axis=1)
    failed = found.failed if found.failed is not None else np.zeros_like(found.t)
    reasons = tuple(_reason(m, times, good[k], finite[k], x[k], failed[k]) for k in range(len(x)))
    x[~good] = np.nan
    last = good.sum(axis=1) - 2                                   # of the records behind the first
    counts = [np.where(last >= 0, np.take_along_axis(c, np.maximum(last, 0)[:, None], axis=1)[:, 0], 0)
              for c in (found.steps, found.rejected)]
    if single:
        kept = int(good[0].sum())
        x, times, counts = x[0, :kept], times[:kept], [c[0] for c in counts]
    q, qd, work, states = motion.split(x)
    return Run(m, times, q, qd, work, way.name, h, reasons, dict(motion.kinds), counts[0],
               counts[1], states)


def _reason(mechanism: Mechanism, times: np.ndarray, good: np.ndarray, finite: np.ndarray, x: np.ndarray,
            failed: np.ndarray) -> str:
    if good.all():
        return FINISHED
    k = int(np.argmin(good))
    if finite[k]:
        return f"after t = {times[k - 1]:g} s: {REASONS.get(failed[k - 1], REASONS[TOO_SMALL])}."
    bad = int(np.argmax(~(np.abs(x[k]) < BOUND)))
    names = [*mechanism.coordinate_names, *(f"the rate of {n}" for n in mechanism.velocity_names), "the work",
             *(f"state {i} of the controller" for i in range(x.shape[-1] - mechanism.nq - mechanism.nv - 1))]
    return (f"{names[bad]} is no longer a number after t = {times[k - 1]:g} s: the step may be too long for a method of "
            "fixed step, or forces too large.")
