"""`simulate`: trajectories of a mechanism."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from dalembert.errors import DalembertError, RememberingError, ShapeError
from dalembert.formulations.hamilton.velocity_solver import Solver
from dalembert.integrators import External, Fixed
from dalembert.kinematics.forces import STICK
from dalembert.model.mechanism import Mechanism
from dalembert.native.propagator import Trajectories, joined
from dalembert.purity.examine import INSTEAD
from dalembert.results import streaming
from dalembert.results.run import Run
from dalembert.results.stored_calls import plain, stored_arguments
from dalembert.simulation.accuracy import warn_of_drift
from dalembert.simulation.event_loop import EventLoop, Pace
from dalembert.simulation.failures import check_events, check_forces
from dalembert.simulation.first_order_system import FirstOrderSystem
from dalembert.simulation.formulation import formulation_for
from dalembert.simulation.friction import Stribeck
from dalembert.simulation.loads import Given, loads_described
from dalembert.simulation.options import (
    check_number,
    check_options,
    greatest_step,
    method_and_tolerances,
    record_times,
)
from dalembert.simulation.outcome import BOUND, run_of
from dalembert.simulation.pieces import Throttled
from dalembert.simulation.progress import Progress, reported
from dalembert.simulation.sampled_loop import Law, SampledLoop
from dalembert.simulation.starts import start_of
from dalembert.spatial.arrays import State, Values, in_order
from dalembert.systems.kinds import OtherSystem

Force = Callable[..., Any] | Values | None  # a function (t, q, qd) -> (nv,), or numbers
STEP = 1e-3  # s
LOOKED_AT = 12  # records of a run at which functions that changed are tried again


def simulate(
    mechanism: Mechanism | OtherSystem,
    q: Values,
    qd: Values,
    t: float | State,
    control: Force = None,
    forces: Force = None,
    method: str | None = None,
    h: float = STEP,
    rtol: float | None = None,
    atol: float | None = None,
    record: float | None = None,
    threads: int = 1,
    formulation: str | None = None,
    friction: str | Stribeck = STICK,
    stops: bool | Mapping[str, float] | None = None,
    events: Callable[..., Any] | Sequence[Callable[..., Any]] | None = None,
    parameters: Mapping[str, float | Values] | None = None,
    progress: Progress = None,
    store: str | os.PathLike[str] | None = None,
    resume: bool = False,
    longest_step: float | None = None,
    external_forces: Given | None = None,
    solver: str | Solver | None = None,
) -> Run:
    """Trajectories of a mechanism under forces on its joints.

        M(q) qdd = control + forces + sum_i J_i(q)^T f_i + passive_force - C(q, qd) qd - g(q)

    Whole trajectories run in machine code, side by side in vector lanes; a force that is a Python
    function and cannot be traced is called from there, for one trajectory after the other.

    Parameters
    ----------
    mechanism : Mechanism, LagrangianSystem, FlexibleJoints, or another System
    q, qd : (nq,), (nv,) or (N, nq), (N, nv) arrays
        Initial states [rad, m; rad/s, m/s].
    t : float or sequence of float
        Duration from 0, or the times of the records, the first of which is that of the initial
        state [s].
    control, forces : function (t, q, qd) -> (nv,), or numbers (nv,) or (N, nv), optional
        Actuator forces, and any other forces along qd [N m, N]. A controller may have states of its
        own: an attribute `states` (m,) or (N, m), their initial values, makes it a function of (t,
        q, qd, states), and its method `rate` of the same arguments gives their time derivative
        (m,).
    method : str, optional
        'rk4' and other methods of fixed step, 'dopri5' and others that choose it; an unknown name
        lists them. By default 'rk4', or 'dop853' if a tolerance or longest_step is given.
    h : float
        Step, shortened so that records fall on steps; of adaptive methods the first one [s].
    rtol, atol : float, optional
        Tolerances of adaptive methods, relative and absolute [1e-9, 1e-12].
    longest_step : float, optional
        Greatest step of methods that choose it [s]: for forces that act for a short time in a long
        rest.
    record : float, optional
        Spacing of the records if t is a duration [s], at whose end there is one too; by default a
        thousandth of it, or the step if that is longer.
    threads : int
        Over which several trajectories are split; results do not depend on it.
    formulation : str, optional
        Whose equations are integrated: of a mechanism 'newton_euler' (by default) and others in (q,
        qd), or 'hamilton' in (q, p), where symplectic methods are symplectic; of a Lagrangian
        'lagrange' (by default) or 'hamilton'. The method 'symplectic_euler' has 'hamilton' by
        default.
    friction : str or Stribeck
        Coulomb friction that sticks, 'stick': of a joint at rest, any force up to its bound that
        keeps it there; or 'sign', -F sign(qd) and 0 at rest; or `Stribeck`, which is larger at rest
        than where it slides. Formulations other than 'newton_euler' have 'sign'.
    stops : bool or dict of joint name -> restitution, optional
        Joints that stop at their limits, where they stay if True, or bounce back with a part of
        their velocity from 0 to 1; by default motion goes through limits.
    events : function or sequence of functions (t, q, qd) -> number, optional
        Their zeros go to `Run.events`. As in SciPy, an attribute `terminal` (True, or a count) ends
        the trajectory there, and `direction` (1 or -1) counts rising or falling zeros alone. What
        begins at 0 is no event.
    parameters : {path: number or (N,)}, optional
        Numbers of the mechanism, by path ('payload.mass'), that are inputs of the compiled motion:
        one set for all trajectories, or one for each. Other values compile nothing anew.
    progress : bool or function (fraction done, t), optional
        True shows a bar.
    store : path, optional
        A folder of Zarr for the run, written while it is computed, in constant memory (needs the
        extra `files`); the Run that is returned reads from there what is looked at.
    resume : bool
        Go on with what is in the folder, if there is anything: every argument must be as it was
        (functions: of the same kind, traced or called), and the end is the same to the last bit.

    external_forces : sequence of ExternalForce, or function (t, q, qd) that returns it, optional
        Forces f_i on frames of a mechanism; vectors of numbers are (3,), or (N, 3) for N
        trajectories.
    solver : str or hamilton.Solver, optional
        Of the velocities in Hamilton's form: 'sweep' (by default), 'cholesky', or an iteration from
        the velocities before, 'minimal_residuals' or 'conjugate_directions', which runs in Python
        and leaves its counts in `Run.solutions`.

    Returns
    -------
    Run
        It ends early, with a reason, where an event ends it, a state is no longer finite or a step
        becomes too small: one trajectory with a last record there, each of several as `Run.end`
        tells.

    Raises
    ------
    ShapeError, ValueError, TypeError, QuaternionError, UnknownNameError, SingularMassMatrixError
        A state, time or option is none; accelerations are not determined at the start.
    ParameterError, ModelError
        A number of the mechanism cannot be an input, or not with these options; a value makes no
        sense.

    Examples
    --------
    >>> import dalembert as da
    >>> arm = da.planar_chain(1)
    >>> run = da.simulate(arm, [0.5], [0.0], 1.0)
    >>> run.q.shape, run.reason, run.energy_drift < 1e-9
    ((1001, 1), 'finished', True)
    """
    given = dict(locals())
    for name, value in (
        ("t", t),
        ("h", h),
        ("rtol", rtol),
        ("atol", atol),
        ("record", record),
        ("threads", threads),
        ("longest_step", longest_step),
    ):
        check_number(name, value)
    instants = np.ravel(np.asarray(t))
    begin = float(instants[0]) if len(instants) > 1 else 0.0
    check_options(threads, store, resume)
    name, rtol, atol = method_and_tolerances(
        "dop853" if method is None and longest_step is not None else method, rtol, atol
    )
    formulation = formulation_for(name, formulation)
    motion = FirstOrderSystem(
        mechanism,
        control,
        forces,
        formulation,
        friction,
        stops,
        events,
        parameters,
        begin,
        external_forces,
        solver,
    )
    way = motion.method(name)
    longest = greatest_step(longest_step, way)
    numbers = {path: values.tolist() for path, values in motion.parameters.items()} or None
    given |= {"events": motion.events.names, "parameters": numbers}
    if motion.formulation.iteration:
        given["solver"] = motion.formulation.iteration.method
    if motion.forces.loads:
        given["external_forces"] = motion.forces.loads.described
    if motion.forces.sampled:
        given["sampled"] = motion.forces.sampled.described
    x, single = _initial(motion, q, qd, begin)
    check_forces(motion, x, 0.0)
    check_events(motion, x)
    times, pace, last = record_times(t, h, record, way, x.size, store is not None)
    pace, duration = Pace(min(pace.h, longest), pace.repeats), float(times[-1]) - begin
    _check_trajectories(motion, len(x))
    work = x.size * (
        pace.repeats if isinstance(way, Fixed) else max(1.0, duration / (len(times) - 1) / pace.h)
    )
    size = (
        streaming.records_of(x.size, work)
        if not isinstance(way, External) or store is not None
        else len(times)
    )
    sampled = motion.forces.sampled
    loop = EventLoop(motion, way, pace, rtol, atol, threads, longest, None if sampled else last)
    step = h if isinstance(way, Fixed) else pace.h
    sampling = SampledLoop(loop, sampled, Law(sampled, motion), way, step) if sampled else None
    mover = sampling or loop

    def advance(x: np.ndarray, times: np.ndarray, state: Any) -> Trajectories:
        found = mover.advance(x, times - begin, state, duration)
        shown((float(times[-1]) - begin) / duration, float(times[-1]))
        return found

    def stretch(x: np.ndarray, times: np.ndarray, state: Any) -> tuple[Run, np.ndarray, Any]:
        seen = len(loop.events), len(loop.changes)
        found = advance(x, times, state)
        part = run_of(motion, way, x, single, times, pace.h, found, loop, sampling)
        part = replace(
            part, events=tuple(loop.events[seen[0] :]), changes=tuple(loop.changes[seen[1] :])
        )
        return part, found.x[:, -1], found.state

    with reported(progress) as shown:
        loop.told = Throttled(lambda t: shown(t / duration, t + begin))
        if store is None:
            run = run_of(
                motion,
                way,
                x,
                single,
                times,
                pace.h,
                _joined(advance, x, times, size),
                loop,
                sampling,
            )
        else:
            run = streaming.streamed(
                mechanism,
                store,
                resume,
                plain(mechanism, given, motion.kinds),
                x,
                times,
                size,
                stretch,
            )
            run = replace(
                run,
                applied=motion.forces.applied,
                declared=run.declared | motion.observables,
            )
    _check_memory(motion, run, sampling)
    warn_of_drift(run)
    return run


def _check_trajectories(motion: FirstOrderSystem, count: int) -> None:
    """See that several trajectories share no memory.

    Raises
    ------
    RememberingError
    """
    if count > 1 and (shared := motion.forces.remembers):
        name, what = next(iter(shared.items()))
        raise RememberingError(
            f"{name} {what}, and {count} trajectories would share its memory. {INSTEAD} It has one "
            "memory for each trajectory.",
            name,
            what,
        )


def _joined(
    advance: Callable[[np.ndarray, np.ndarray, Any], Trajectories],
    x: np.ndarray,
    times: np.ndarray,
    size: int,
) -> Trajectories:
    """All records, `size` at a time, so that progress is seen and an interrupt heard in between."""
    parts, at, state = [], 1, None
    while at < len(times):
        parts.append(advance(x, times[at - 1 : at + size], state))
        state, at = parts[-1].state, at + size
    return joined(parts)


def resume(mechanism: Mechanism | OtherSystem, store: str | os.PathLike[str], **given: Any) -> Run:
    """A run that was cut off, from the folder that `simulate(store=...)` wrote, on to its end, with
    the same bits.

    Parameters
    ----------
    mechanism : Mechanism or LagrangianSystem
        The one that was simulated.
    store : path
    given :
        Arguments of `simulate` that a file cannot keep: functions for control, forces or events, as
        they were; threads.

    Raises
    ------
    DalembertError
        There is no such run; the mechanism is another, or a function is missing or of another kind.

    Examples
    --------
    >>> import dalembert as da
    >>> import tempfile, pathlib
    >>> arm, folder = da.planar_chain(1), pathlib.Path(tempfile.mkdtemp()) / "run.zarr"
    >>> run = da.simulate(arm, [0.5], [0.0], 0.1, store=folder)
    >>> da.resume(arm, folder).times[-1]
    array(0.1)
    """
    arguments = stored_arguments(store)
    names, _ = arguments.pop("events", None), arguments.pop("sampled", None)
    if isinstance(arguments.get("friction"), list):
        arguments["friction"] = Stribeck(*arguments["friction"])
    if arguments.get("external_forces"):
        arguments["external_forces"] = loads_described(arguments["external_forces"])
    if names and "events" not in given:
        raise DalembertError(
            f"{str(store)!r} was simulated with events {', '.join(names)}: give them again, "
            "events=[...]."
        )
    return simulate(mechanism, **(arguments | given), store=store, resume=True)


def _initial(motion: FirstOrderSystem, q: Any, qd: Any, t: float) -> tuple[np.ndarray, bool]:
    """x (N, nx) at the start, and whether one state was given."""
    q, qd = (
        in_order(q, "q", motion.system.coordinate_names),
        in_order(qd, "qd", motion.system.velocity_names),
    )
    q, qd = _array(q), _array(qd)
    motion.formulation.check(q, qd, motion.numbers)  # shapes, numbers, quaternions
    q, qd = np.asarray(q, dtype=float), np.asarray(qd, dtype=float)
    for name, values in (("q", q), ("qd", qd)):
        if not np.maximum.reduce(np.abs(values), axis=None, initial=0.0) < BOUND:
            large = np.argwhere(~(np.abs(values) < BOUND))
            raise ValueError(
                f"{name}{large[0].tolist()} is {values[tuple(large[0])]:g}: energies of numbers "
                f"beyond {BOUND:g} are none. Is it in radians, metres, and seconds?"
            )
    q = start_of(motion.system, motion.reactions, q)
    single = q.ndim == qd.ndim == 1
    given = motion.constants
    counts = _counts(
        {"q": q, "qd": qd, "forces or parameters": given, "states of the controller": motion.states}
    )
    if 0 in counts:
        raise ShapeError(
            f"there are 0 trajectories: q has shape {q.shape}, qd {qd.shape}, numbers of forces "
            f"and parameters {given.shape}; expected one state, or N of them with N of at least 1.",
            "q",
            q.shape,
        )
    x = np.zeros((max(counts, default=1), motion.nx))
    q_start, y_start, _, states = motion.split(x)  # views
    q_start[:], y_start[:], states[:] = q, qd, motion.states
    y_start[:] = motion.formulation.started(q_start, y_start, t, motion.numbers)
    return x, single and not counts


def _counts(given: Mapping[str, np.ndarray]) -> set[int]:
    """Numbers of trajectories that all is given for, if not once: 1 and another, at most."""
    counts = {name: len(values) for name, values in given.items() if values.ndim == 2}
    if len({*counts.values()} - {0, 1}) > 1:
        said = ", ".join(
            f"{name} for {count} (shape {given[name].shape})" for name, count in counts.items()
        )
        raise ShapeError(
            f"numbers of trajectories differ: {said}. Give each once, or for every trajectory.",
            next(iter(counts)),
        )
    return {*counts.values()}


def _array(values: Any) -> Any:
    """A list of numbers as an array, which kernels take at once; anything else as it is."""
    is_list = isinstance(values, (list, tuple)) and all(type(x) in (int, float) for x in values)
    return np.array(values, dtype=float) if is_list else values


def _check_memory(motion: FirstOrderSystem, run: Run, sampling: SampledLoop | None) -> None:
    """See that nothing changed on which functions depend at some states of the run."""
    guards = [*motion.guards, *([sampling.law.guard] if sampling else [])]
    if not any(guard.is_changed for guard in guards):
        return
    at = slice(None, None, max(1, len(run.times) // LOOKED_AT))
    for row in ((...,),) if run.q.ndim == 2 else ((0,), (len(run.q) - 1,)):
        z = (
            None
            if run.controller_states is None
            else run.controller_states[(*row, at, slice(None))]
        )
        states = run.times[at], run.q[(*row, at, slice(None))], run.qd[(*row, at, slice(None))]
        motion.check_memory(*states, z)
        if sampling:
            sampling.law.check_memory(*states)
