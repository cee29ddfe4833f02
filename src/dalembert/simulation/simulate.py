"""`simulate`: trajectories of a mechanism."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from numbers import Real
from typing import Any, cast

import numpy as np

from dalembert.compiled.calls import thread_count
from dalembert.compiled.marching import Trajectories, joined
from dalembert.errors import DalembertError, RememberingError, ShapeError
from dalembert.integrators import METHODS, REASONS, External, Fixed, Method
from dalembert.integrators.fixed_point import HUGE
from dalembert.integrators.methods import TOO_SMALL
from dalembert.purity.examine import INSTEAD
from dalembert.simulation import streaming
from dalembert.simulation.accuracy import warn_of_drift
from dalembert.simulation.called import ATTEMPTS
from dalembert.simulation.choice import formulation_for
from dalembert.simulation.course import ENDED, Course, Pace
from dalembert.simulation.ends import End, ends_of
from dalembert.simulation.failures import check_forces, force_without_number
from dalembert.simulation.motion import Motion
from dalembert.simulation.pieces import Throttled
from dalembert.simulation.progress import Progress, reported
from dalembert.simulation.reactions import STICK
from dalembert.simulation.run import FINISHED, Run
from dalembert.simulation.sampling import Law, Sampling
from dalembert.simulation.starts import start_of
from dalembert.spatial.arrays import in_order

RECORDS = 1000               # of a duration, unless times or a spacing are given
STEP = 1e-3                  # s
RTOL, ATOL = 1e-9, 1e-12     # of adaptive methods
TOO_MANY = 1e8               # numbers in all records: beyond it, ask for fewer
MOST_RECORDS = 1e12          # in a folder
TOO_MANY_STEPS = 1e9         # minutes to hours that nothing could interrupt
EXPLAINED = 4                # trajectories whose forces are looked at where they are no longer finite
LOOKED_AT = 12               # records of a run at which functions that changed are tried again
BOUND = 1e100                # of a state: beyond it, energies are no numbers


def simulate(mechanism: Any, q: Any, qd: Any, t: Any, control: Any = None, forces: Any = None, method: str | None = None,
             h: float = STEP, rtol: float | None = None, atol: float | None = None, record: float | None = None,
             threads: int = 1, formulation: str | None = None, friction: str = STICK, stops: Any = None, events: Any = None,
             parameters: Mapping[str, Any] | None = None, progress: Progress = None, store: Any = None,
             resume: bool = False, longest_step: float | None = None) -> Run:
    """Trajectories of a mechanism under forces on its joints.

        M(q) qdd = control + forces + passive_force - C(q, qd) qd - g(q)

    Whole trajectories run in machine code, side by side in vector lanes; a force that is a Python function and cannot be
    traced is called from there, for one trajectory after the other.

    Parameters
    ----------
    mechanism : Mechanism or LagrangianSystem
    q, qd : (nq,), (nv,) or (N, nq), (N, nv) arrays
        Initial states [rad, m; rad/s, m/s].
    t : float or sequence of float
        Duration from 0, or the times of the records, the first of which is that of the initial state [s].
    control, forces : function (t, q, qd) -> (nv,), or numbers (nv,) or (N, nv), optional
        Actuator forces, and any other forces along qd [N m, N]. A controller may have states of its own: an attribute
        `states` (m,) or (N, m), their initial values, makes it a function of (t, q, qd, states), and its method `rate`
        of the same arguments gives their time derivative (m,).
    method : str, optional
        'rk4' and other methods of fixed step, 'dopri5' and others that choose it; an unknown name lists them. By default
        'rk4', or 'dop853' if a tolerance or longest_step is given.
    h : float
        Step, shortened so that records fall on steps; of adaptive methods the first one [s].
    rtol, atol : float, optional
        Tolerances of adaptive methods, relative and absolute [1e-9, 1e-12].
    longest_step : float, optional
        Greatest step of methods that choose it [s]: for forces that act for a short time in a long rest.
    record : float, optional
        Spacing of the records if t is a duration [s], at whose end there is one too; by default a thousandth of it, or
        the step if that is longer.
    threads : int
        Over which several trajectories are split; results do not depend on it.
    formulation : str, optional
        Whose equations are integrated: of a mechanism 'newton_euler' (by default) and others in (q, qd), or 'hamilton' in
        (q, p), where symplectic methods are symplectic; of a Lagrangian 'lagrange' (by default) or 'hamilton'. The method
        'symplectic_euler' has 'hamilton' by default.
    friction : str
        Coulomb friction that sticks, 'stick': of a joint at rest, any force up to its bound that keeps it there; or 'sign',
        -F sign(qd) and 0 at rest. Formulations other than 'newton_euler' have 'sign'.
    stops : bool or dict of joint name -> restitution, optional
        Joints that stop at their limits, where they stay if True, or bounce back with a part of their velocity from 0 to 1;
        by default motion goes through limits.
    events : function or sequence of functions (t, q, qd) -> number, optional
        Their zeros go to `Run.events`. As in SciPy, an attribute `terminal` (True, or a count) ends the trajectory there,
        and `direction` (1 or -1) counts rising or falling zeros alone. What begins at 0 is no event.
    parameters : {path: number or (N,)}, optional
        Numbers of the mechanism, by path ('payload.mass'), that are inputs of the compiled motion: one set for all
        trajectories, or one for each. Other values compile nothing anew.
    progress : bool or function (fraction done, t), optional
        True shows a bar.
    store : path, optional
        A folder of Zarr for the run, written while it is computed, in constant memory (needs the extra `files`); the Run
        that is returned reads from there what is looked at.
    resume : bool
        Go on with what is in the folder, if there is anything: every argument must be as it was (functions: of the same
        kind, traced or called), and the end is the same to the last bit.

    Returns
    -------
    Run
        It ends early, with a reason, where an event ends it, a state is no longer finite or a step becomes too small:
        one trajectory with a last record there, each of several as `Run.end` tells.

    Raises
    ------
    ShapeError, ValueError, TypeError, QuaternionError, UnknownNameError, SingularMassMatrixError
        A state, time or option is none; accelerations are not determined at the start.
    ParameterError, ModelError
        A number of the mechanism cannot be an input, or not with these options; a value makes no sense.
    """
    given = dict(locals())
    for name, value in (("t", t), ("h", h), ("rtol", rtol), ("atol", atol), ("record", record), ("threads", threads),
                        ("longest_step", longest_step)):
        _check_number(name, value)
    begin = float(np.ravel(t)[0]) if np.size(t) > 1 else 0.0
    _check_options(threads, store, resume)
    name, rtol, atol = _method("dop853" if method is None and longest_step is not None else method, rtol, atol)
    formulation = formulation_for(name, formulation)
    motion = Motion(mechanism, control, forces, formulation, friction, stops, events, parameters, begin)
    way = motion.method(name)
    longest = _longest(longest_step, way)
    numbers = {path: values.tolist() for path, values in motion.parameters.items()} or None
    given |= {"events": motion.watched.names, "parameters": numbers}
    if motion.forces.sampled:
        given["sampled"] = motion.forces.sampled.described
    x, single = _initial(motion, q, qd, begin)
    check_forces(motion, x, 0.0)
    times, pace, last = _times(t, h, record, way, x.size, store is not None)
    pace, duration = pace._replace(h=min(pace.h, longest)), float(times[-1]) - begin
    constants = motion.constants
    if constants.ndim == 2 and len(constants) not in (1, len(x)):
        raise ShapeError(f"forces or parameters for {len(constants)} trajectories, but there are {len(x)} initial states.",
                         "control")
    if len(x) > 1 and (shared := motion.forces.remembers):
        name, what = next(iter(shared.items()))
        raise RememberingError(f"{name} {what}, and {len(x)} trajectories would share its memory. {INSTEAD} It has one "
                               "memory for each trajectory.", name, what)
    work = x.size * (pace.repeats if isinstance(way, Fixed) else max(1.0, duration / (len(times) - 1) / pace.h))
    size = streaming.records_of(x.size, work) if not isinstance(way, External) or store is not None else len(times)
    sampled = motion.forces.sampled
    course = Course(motion, way, pace, rtol, atol, threads, longest, None if sampled else last)
    sampling = Sampling(course, sampled, Law(sampled, motion), way) if sampled else None
    mover = sampling or course

    def advance(x: np.ndarray, times: np.ndarray, state: Any) -> Trajectories:
        found = mover.advance(x, times - begin, state, duration)
        shown((float(times[-1]) - begin) / duration, float(times[-1]))
        return found

    def stretch(x: np.ndarray, times: np.ndarray, state: Any) -> tuple[Run, np.ndarray, Any]:
        seen = len(course.events), len(course.changes)
        found = advance(x, times, state)
        part = _run(motion, way, x, single, times, pace.h, found, course, sampling)
        part = replace(part, events=tuple(course.events[seen[0]:]), changes=tuple(course.changes[seen[1]:]))
        return part, found.x[:, -1], found.state

    with reported(progress) as shown:
        course.told = Throttled(lambda t: shown(t / duration, t + begin))
        if store is None:
            run = _run(motion, way, x, single, times, pace.h, _joined(advance, x, times, size), course, sampling)
        else:
            run = streaming.streamed(mechanism, store, resume, streaming.plain(mechanism, given, motion.kinds), x, times,
                                     size, stretch)
            run = replace(run, applied=motion.forces.applied, law=motion.reactions)
    _check_memory(motion, run, sampling)
    warn_of_drift(run)
    return run


def _joined(advance: Callable[[np.ndarray, np.ndarray, Any], Trajectories], x: np.ndarray, times: np.ndarray,
            size: int) -> Trajectories:
    """All records, `size` at a time, so that progress is seen and an interrupt heard in between."""
    parts, at, state = [], 1, None
    while at < len(times):
        parts.append(advance(x, times[at - 1:at + size], state))
        state, at = parts[-1].state, at + size
    return joined(parts)


def resume(mechanism: Any, store: Any, **given: Any) -> Run:
    """A run that was cut off, from the folder that `simulate(store=...)` wrote, on to its end, with the same bits.

    Parameters
    ----------
    mechanism : Mechanism or LagrangianSystem
        The one that was simulated.
    store : path
    given :
        Arguments of `simulate` that a file cannot keep: functions for control, forces or events, as they were; threads.

    Raises
    ------
    DalembertError
        There is no such run; the mechanism is another, or a function is missing or of another kind.
    """
    arguments = streaming.stored_arguments(store)
    names, _ = arguments.pop("events", None), arguments.pop("sampled", None)
    if names and "events" not in given:
        raise DalembertError(f"{str(store)!r} was simulated with events {', '.join(names)}: give them again, events=[...].")
    return simulate(mechanism, **(arguments | given), store=store, resume=True)


def _initial(motion: Motion, q: Any, qd: Any, t: float) -> tuple[np.ndarray, bool]:
    """x (N, nx) at the start, and whether one state was given."""
    q, qd = in_order(q, "q", motion.mechanism.coordinate_names), in_order(qd, "qd", motion.mechanism.velocity_names)
    motion.form.check(q, qd, motion.numbers)                      # shapes, numbers, quaternions
    q, qd = np.asarray(q, dtype=float), np.asarray(qd, dtype=float)
    for name, values in (("q", q), ("qd", qd)):
        if (large := np.argwhere(~(np.abs(values) < BOUND))).size:
            raise ValueError(f"{name}{large[0].tolist()} is {values[tuple(large[0])]:g}: energies of numbers beyond "
                             f"{BOUND:g} are none. Is it in radians, metres, and seconds?")
    q = start_of(motion.form.system, motion.reactions, q)
    single = q.ndim == qd.ndim == 1
    given = motion.constants
    rows = np.broadcast_shapes(q.shape[:-1], qd.shape[:-1], given.shape[:-1], motion.states.shape[:-1])
    if 0 in rows:
        raise ShapeError(f"there are 0 trajectories: q has shape {q.shape}, qd {qd.shape}, numbers of forces and parameters "
                         f"{given.shape}; expected one state, or N of them with N of at least 1.", "q", q.shape)
    single = single and not rows
    q, qd, states = (np.broadcast_to(v, (*(rows or (1,)), v.shape[-1])) for v in (q, qd, motion.states))
    return np.hstack([q, motion.form.started(q, qd, t, motion.numbers), np.zeros((len(q), 1)), states]), single


def _check_options(threads: Any, store: Any, resume: Any) -> None:
    thread_count(threads)
    if not isinstance(resume, (bool, np.bool_)):
        raise TypeError(f"resume={resume!r}: expected True or False.")
    if resume and store is None:
        raise ValueError("resume=True without store=: a run goes on from the folder that it was written to.")


def _method(name: str | None, rtol: float | None, atol: float | None) -> tuple[str, float, float]:
    """Name and tolerances of the method.

    Raises
    ------
    ValueError
        Tolerances are given for a method of fixed step; they are none.
    """
    if not isinstance(name, (str, type(None))):
        raise TypeError(f"method={name!r}: expected the name of a method, such as 'rk4'.")
    given = {option: value for option, value in (("rtol", rtol), ("atol", atol)) if value is not None}
    name = name or ("dop853" if given else "rk4")
    if given and isinstance(METHODS.get(name), Fixed):
        options = " and ".join(f"{option}={value:g}" for option, value in given.items())
        raise ValueError(f"{options} with method={name!r}, whose steps are fixed and have no tolerance: take an adaptive "
                         "method such as 'dop853', or give the step h=.")
    for option, value in given.items():
        if not (np.isfinite(value) and value >= 0):
            raise ValueError(f"{option}={value!r}: expected a tolerance of 0 or more.")
    if rtol == 0 == atol:
        raise ValueError("rtol=0 and atol=0 leave no error that a step may have: give one of them.")
    return name, RTOL if rtol is None else rtol, ATOL if atol is None else atol


def _check_number(name: str, value: Any) -> None:
    """See that an option is a real number: t one or several, record and longest_step one or None.

    Raises
    ------
    TypeError, ShapeError
        It is something else: a text, None, a bool, several; t is empty.
    """
    if name in ("record", "rtol", "atol", "longest_step") and value is None:
        return
    found = np.asarray(value)
    real = found.dtype.kind in "iuf" or all(isinstance(x, Real) and not isinstance(x, bool) for x in found.flat)
    if not real or name != "t" and found.ndim:
        expected = "a duration, or times [s]" if name == "t" else "one number"
        raise TypeError(f"{name}={value!r} ({type(value).__name__}): expected {expected}.")
    if not found.size:
        raise ShapeError(f"t has shape {found.shape}, no times: expected a duration, or the times of the records [s].", "t",
                         found.shape)


def _longest(longest_step: float | None, way: Method) -> float:
    """Greatest step of a method [s].

    Raises
    ------
    ValueError
        It is not positive and finite; the method has a fixed step.
    """
    if longest_step is None:
        return HUGE
    if isinstance(way, Fixed):
        raise ValueError(f"longest_step= is for methods that choose their step; {way.name!r} has a fixed one: give h=.")
    if not 0 < longest_step < HUGE:
        raise ValueError(f"longest_step={longest_step!r}: expected a positive time [s].")
    return float(longest_step)


def _times(t: Any, h: float, record: float | None, way: Method, size: int, stored: bool) -> tuple[Any, Pace, Pace | None]:
    """Times of the records, the pace between two of them, and that between the last two if it is another.

    Of a stored run there are as many times as are wanted.
    """
    given = np.atleast_1d(np.asarray(t, dtype=float))
    if given.ndim != 1 or not np.isfinite(given).all() or not (np.isfinite(h) and h > 0):
        raise ValueError(f"t={t!r}, h={h!r}: expected a duration or times [s], and a positive step.")
    fixed, times = isinstance(way, Fixed), cast(Any, given)
    if len(given) == 1:
        times = _evenly(float(given[0]), record, h if fixed else 0.0)
        if len(times) * size > TOO_MANY and not stored:
            raise ValueError(f"{len(times)} records are {len(times) * size:.3g} numbers, more than {TOO_MANY:.0e}: give "
                             "record= a larger spacing [s].")
        times = times if stored else times[:]
    elif record is not None:
        raise ValueError("record= is the spacing of the records of a duration; t gives their times already.")
    elif not (np.diff(given) > 0).all():
        raise ValueError("the times t must increase.")
    if not fixed:
        return times, Pace(min(h, float(times[-1] - times[0])), ATTEMPTS), None
    spacing, rest = (float(times[k] - times[k - 1]) for k in (1, -1))
    if len(given) > 1:
        spacing = rest = float(times[-1] - times[0]) / (len(times) - 1)
        if not np.allclose(np.diff(given), spacing, rtol=1e-9, atol=_rounding(given)):
            raise ValueError("methods of fixed step need times t at equal distances; give a duration, or use "
                             "method='dopri5'.")
    pace, last = _pace(spacing, h), _pace(rest, h)
    if pace.repeats * (len(times) - 1) > TOO_MANY_STEPS and not stored:
        raise ValueError(f"{pace.repeats * (len(times) - 1):.3g} steps of {h:g} s are more than {TOO_MANY_STEPS:.0e}: "
                         "give a larger h.")
    return times, pace, None if abs(rest - spacing) <= 1e-9 * spacing else last


def _pace(spacing: float, h: float) -> Pace:
    """As few equal steps of at most h as lead from record to record."""
    steps = max(1, int(np.ceil(spacing / h * (1 - 1e-9))))
    return Pace(spacing / steps, steps)


def _evenly(duration: float, record: float | None, least: float) -> streaming.Even:
    """Times at the spacing `record`, after the last of which a shorter one may lead to the end.

    By default a thousandth of the duration, or `least` if that is longer, about as long as divides it.
    """
    if not duration > 0:
        raise ValueError(f"t={duration!r}: expected a positive duration [s], or the times of the records.")
    if record is None:
        return streaming.Even(0.0, duration, max(1, round(duration / max(duration / RECORDS, least))) + 1)
    spacing = float(record)
    if not 0 < spacing < np.inf:
        raise ValueError(f"record={record!r}: expected a positive spacing [s].")
    if not (intervals := duration / spacing) < MOST_RECORDS:
        raise ValueError(f"record={record!r}: {intervals:.3g} records of {duration:g} s are more than {MOST_RECORDS:.0e}: "
                         "give a larger spacing [s].")
    if abs(intervals - round(intervals)) <= 1e-9 * intervals and intervals > 0.5:
        return streaming.Even(0.0, duration, round(intervals) + 1)
    return streaming.Even(0.0, duration, int(intervals) + 2, spacing)


def _run(motion: Motion, way: Method, x0: np.ndarray, single: bool, times: np.ndarray, h: float,
         found: Trajectories, course: Course, sampling: Sampling | None) -> Run:
    """The records with the initial states in front, where each trajectory ended, and why."""
    m = motion.mechanism
    x, reached = np.concatenate([x0[:, None], found.x], axis=1), np.insert(found.t, 0, times[0] - motion.begin, axis=1)
    goals = times - motion.begin
    finite, good = _recorded(goals, x, reached, found.failed, _rounding(times))
    q, y, *_ = motion.split(x)
    qd = motion.form.recorded(times, q, y, motion.numbers)
    singular = _singular(motion, times, finite, good, q, qd)
    t, place = ends_of(times, reached + motion.begin, finite, good)
    reasons = [singular.get(k) or course.reasons.get(k) or _reason(m, t[k], good[k], finite[k], x[k], found.failed[k])
               for k in range(len(x))]
    _explain(reasons, motion, way, x, goals, good, course)
    last = x[np.arange(len(x)), place]
    q_end, y_end, work_end, states_end = motion.split(last)
    qd_end = motion.form.recorded(t[:, None], q_end[:, None], y_end[:, None], motion.numbers)[:, 0]
    end = End(t, q_end, qd_end, work_end, states_end)
    steps, rejected = (np.where(place > 0, counts[np.arange(len(x)), np.maximum(place - 1, 0)], 0)
                       for counts in (found.steps, found.rejected))
    modes = None if found.modes is None else np.concatenate([course.initial[:, None], found.modes], axis=1)
    held = None if sampling is None else np.concatenate([sampling.initial[:, None], found.held], axis=1)
    if not good.all():
        x[~good] = qd[~good] = np.nan
        if held is not None and not single:
            held[~good] = np.nan
    if single:
        x[0, place[0]], qd[0, place[0]] = last[0], qd_end[0]
        x, qd, times = x[0, :place[0] + 1], qd[0, :place[0] + 1], np.append(times[:place[0]], t)
        modes, held = (None if rows is None else rows[0, :place[0] + 1] for rows in (modes, held))
        steps, rejected = steps[0], rejected[0]
    q, _, work, states = motion.split(x)
    return Run(m, times, q, qd, work, way.name, h, tuple(reasons), dict(motion.kinds), steps, rejected, states,
               motion.forces.applied, _in_order(course.events), _in_order(course.changes), modes, motion.friction,
               motion.reactions, motion.parameters, ended=None if single else end, held=held)


def _recorded(times: np.ndarray, x: np.ndarray, reached: np.ndarray, failed: np.ndarray,
              rounding: float) -> tuple[np.ndarray, np.ndarray]:
    """Whether the states x (N, K, nx) of times `reached` are numbers, and whether they are records at `times` (K,)."""
    on_time = np.ones(x.shape[:2], dtype=bool)
    on_time[:, 1:] = reached[:, 1:] >= times[1:] - np.where(failed == ENDED, 0.0, 1e-6 * np.diff(times) + rounding)
    finite = np.ones_like(on_time) if np.vdot(x, x) < BOUND else (np.abs(x) < BOUND).all(axis=2)      # NaN is not
    return finite, np.logical_and.accumulate(finite & on_time, axis=1)


def _singular(motion: Motion, times: np.ndarray, finite: np.ndarray, good: np.ndarray, q: np.ndarray,
              qd: np.ndarray) -> dict[int, str]:
    """Reasons of trajectories that came to a singular mass matrix, before which they end: no records from there on."""
    reasons = {}
    for k, kept in enumerate(good.sum(axis=1)):
        until = min(kept + 1, len(times)) if finite[k, :kept + 1].all() else kept      # with the state it could not leave
        stuck = motion.form.singular(times[:until], q[k, :until], qd[k, :until], kept < len(times))
        if stuck is not None:
            good[k, stuck[0]:] = finite[k, stuck[0]:] = False
            reasons[k] = f"after t = {times[stuck[0] - 1]:g} s: {stuck[1]}."
    return reasons


def _rounding(times: np.ndarray) -> float:
    """Error of differences of the caller's times [s]."""
    return float(4 * np.finfo(float).eps * np.abs(times).max())


def _reason(mechanism: Any, t: float, good: np.ndarray, finite: np.ndarray, x: np.ndarray, failed: np.ndarray) -> str:
    """Why a trajectory ends at t [s]."""
    if good.all():
        return FINISHED
    k = int(np.argmin(good))
    if finite[k] and not failed[k - 1]:
        return (f"after t = {t:g} s: {ATTEMPTS} steps did not reach the next record: forces that jump or swing, or a stiff "
                "system, need short steps. Take larger tolerances, method='radau5', or more records.")
    if finite[k]:
        return f"after t = {t:g} s: {REASONS.get(failed[k - 1], REASONS[TOO_SMALL])}."
    bad = int(np.argmax(~(np.abs(x[k]) < BOUND)))
    names = [*mechanism.coordinate_names, *(f"the rate of {n}" for n in mechanism.velocity_names), "the work",
             *(f"state {i} of the controller" for i in range(x.shape[-1] - mechanism.nq - mechanism.nv - 1))]
    return (f"{names[bad]} is no longer a number after t = {t:g} s: the step may be too long for a method of "
            "fixed step, or forces too large.")


def _explain(reasons: list[str], motion: Motion, way: Method, x: np.ndarray, times: np.ndarray, good: np.ndarray,
             course: Course) -> None:
    """Say of some trajectories that ended without a finite number which force was none."""
    lost = [k for k, reason in enumerate(reasons) if "number" in reason]
    p = np.broadcast_to(course.constants, (len(x), course.constants.shape[-1]))
    for k in lost[:EXPLAINED]:
        if (kept := int(good[k].sum())) and k not in course.reasons:
            ahead = float(times[min(kept, len(times) - 1)] - times[kept - 1])
            h = course.h if isinstance(way, Fixed) else min(course.h, ahead or course.h)
            found = force_without_number(motion, way, x[k, kept - 1], float(times[kept - 1]), h, p[k], course.tolerances)
            reasons[k] = f"{found}." if found else reasons[k]


def _check_memory(motion: Motion, run: Run, sampling: Sampling | None) -> None:
    """See that functions that were called did not change at some states of the run."""
    at = slice(None, None, max(1, len(run.times) // LOOKED_AT))
    for row in ((...,),) if run.q.ndim == 2 else ((0,), (len(run.q) - 1,)):
        z = None if run.controller_states is None else run.controller_states[(*row, at, slice(None))]
        states = run.times[at], run.q[(*row, at, slice(None))], run.qd[(*row, at, slice(None))]
        motion.check_memory(*states, z)
        if sampling:
            sampling.law.check_memory(*states)


def _in_order(found: list[Any]) -> tuple[Any, ...]:
    """By trajectory, then by time."""
    return tuple(sorted(found, key=lambda one: (one.trajectory, one.t)))
