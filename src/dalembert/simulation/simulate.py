"""`simulate`: trajectories of a mechanism."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from dalembert.errors import DalembertError, RememberingError
from dalembert.formulations.hamilton.velocity_solver import Solver
from dalembert.integrators import External, FixedStep, Method
from dalembert.integrators.fixed_point import HUGE
from dalembert.kinematics.forces import STICK
from dalembert.model.elastic.turn_limits import warn_of_turns
from dalembert.model.friction_laws import Stribeck
from dalembert.model.mechanism import Mechanism
from dalembert.native.propagator import Trajectories, joined
from dalembert.purity.examine import INSTEAD
from dalembert.results import streaming
from dalembert.results.run import Run
from dalembert.results.stored_calls import plain, stored_arguments
from dalembert.simulation.accuracy import warn_of_drift, warn_of_early_ends
from dalembert.simulation.contact_motion import ContactMotion
from dalembert.simulation.event_loop import EventLoop
from dalembert.simulation.failures import check_events, check_forces
from dalembert.simulation.first_order_system import FirstOrderSystem
from dalembert.simulation.formulation import formulation_for
from dalembert.simulation.loads import Given, loads_described
from dalembert.simulation.method_choice import method_for, stabilisation_for
from dalembert.simulation.options import (
    STEP,
    Actions,
    Constraining,
    Contact,
    Model,
    Recording,
    Schedule,
    Stepping,
)
from dalembert.simulation.outcome import run_of
from dalembert.simulation.pieces import Throttled
from dalembert.simulation.program_checks import check_programs, warn_of_efforts
from dalembert.simulation.progress import Progress, reported
from dalembert.simulation.sampled_law import Law
from dalembert.simulation.sampled_loop import SampledLoop
from dalembert.simulation.starts import Start, start_of
from dalembert.simulation.stiffness import (
    STIFF,
    Look,
    has_elastic_bodies,
    looks_at,
    needs_stiff_method,
    warn_of_step,
    warn_of_stiffness,
)
from dalembert.spatial.arrays import State, Values
from dalembert.systems.constraint_set import ConstraintSet
from dalembert.systems.kinds import OtherSystem, system_of
from dalembert.systems.system import System

Force = Callable[..., Any] | Values | None  # a function (t, q, qd) -> (nv,), or numbers
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
    multipliers0: Values | Mapping[str, float | Values] | None = None,
    stabilisation: str | None = None,
    time_constant: float | None = None,
    rho_inf: float | None = None,
    saturate: bool = False,
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
        'rk4' and other methods of fixed step, 'dopri5' and others that choose it, of which 'rodas5p'
        is for stiff systems; an unknown name lists them. By default 'rk4', or 'dop853' if a
        tolerance or longest_step is given, or there are constraints; 'rodas5p' if elastic bodies
        are so stiff that steps h of 'rk4' would diverge from the start.
    h : float
        Step, shortened so that records fall on steps; of adaptive methods the first one [s].
    rtol, atol : float, optional
        Tolerances of adaptive methods, relative and absolute [1e-9, 1e-12]; of 'rodas5p' [1e-6, a
        hundredth of rtol].
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
    multipliers0 : (k,) or (N, k) array, or {constraint: values}, optional
        Multipliers that are states, of constraints by the vakonomic principle and of
        `constraints.TwoWay`, at the start [N s, N m s]; they have no default.
    stabilisation : str, optional
        Of constraints: 'projection' of positions and velocities after each step (by default);
        'baumgarte', whose errors fade with a time constant; 'ggl', which corrects the velocities
        at which coordinates move (Gear, Gupta, Leimkuhler); 'none', for which errors grow;
        'null_space', which projects, with accelerations from equations without multipliers;
        'partitioning', for which dependent coordinates follow from independent ones, whose choice
        `Run.observables['dependent_entries']` tells, and its changes ['switches']; with
        'radau_iia' besides 'index2' and 'index3', for which, as for 'ggl', multipliers are unknowns
        of its stages; 'generalized_alpha' has 'index3' alone. `Run.residual` tells errors.
    time_constant : float, optional
        T of 'baumgarte' [s]: phi'' + 2/T phi' + phi/T^2 = 0.
    rho_inf : float, optional
        Of 'generalized_alpha', the share of infinitely fast vibrations that a step leaves [0.8].
    saturate : bool
        Whether the control stays within the limits of effort of joints and actuators,
        `effort_limits(mechanism)`; by default they are passed, and `Run.limits_passed` tells by how
        much.

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
    ConstraintError
        The start does not meet constraints; multipliers that are states are not given.

    Examples
    --------
    >>> import dalembert as da
    >>> arm = da.planar_chain(1)
    >>> run = da.simulate(arm, [0.5], [0.0], 1.0)
    >>> run.q.shape, run.reason, run.energy_drift < 1e-9
    ((1001, 1), 'finished', True)
    """
    simulation = Simulation(
        Model(mechanism, formulation, solver, parameters, multipliers0),
        Actions(control, forces, external_forces, saturate),
        Contact(friction, stops),
        Stepping(method, h, rtol, atol, longest_step, threads, rho_inf),
        Recording(t, record, progress, store, resume),
        Constraining(stabilisation, time_constant),
        events,
    )
    return simulation.run(q, qd)


@dataclass(frozen=True)
class Simulation:
    """A simulation as it is asked for."""

    model: Model
    actions: Actions
    contact: Contact
    stepping: Stepping
    recording: Recording
    constraining: Constraining = Constraining()
    events: Any = None

    def run(self, q: Values, qd: Values) -> Run:
        """Trajectories from one state, or from one of each."""
        stepping, recording = self.stepping, self.recording
        system = system_of(self.model.mechanism, "cannot be simulated")
        if ConstraintSet(system).one_sided:
            return ContactMotion(system, self).run(q, qd)
        if system.constraints:
            stepping = stepping.on_constraints()
        motion, method, start = self._prepared(system, stepping, q, qd)
        if self._is_stiff(motion, method, start):
            stepping = replace(stepping, method=STIFF)
            motion, method, start = self._prepared(system, stepping, q, qd)
        control = stepping.control(method)
        check_programs(motion, start.x)
        check_forces(motion, start.x, 0.0)
        check_events(motion, start.x)
        schedule = recording.schedule(stepping.h, method, start.x.size, control.longest)
        if isinstance(method, FixedStep):
            self.constraining.check_step(method.name, schedule.pace.h)
        _check_trajectories(motion, len(start.x))
        warn_of_step(motion, method, start.x[0], schedule.pace.h)
        sampled = motion.forces.sampled
        loop = EventLoop(motion, method, schedule.pace, control, None if sampled else schedule.last)
        longest = stepping.h if isinstance(method, FixedStep) else schedule.pace.h
        sampling = SampledLoop(loop, sampled, Law(sampled, motion), longest) if sampled else None
        with reported(recording.progress) as shown:
            records = _Records(loop, sampling, start, schedule.times, shown)
            size = _size(schedule, method, start.x.size, recording.store is not None)
            if recording.store is None:
                run = records.all(size)
            else:
                run = self._streamed(motion, records, size, self._described(motion, q, qd))
        _check_memory(motion, run, sampling)
        warn_of_early_ends(run)
        warn_of_drift(run)
        warn_of_stiffness(motion, method, records.looks)
        if recording.store is None:
            warn_of_efforts(run)
            if (mechanism := motion.system.mechanism) is not None:
                warn_of_turns(mechanism, run.q, "in the run")
        return run

    def _is_stiff(self, motion: FirstOrderSystem, method: Method, start: Start) -> bool:
        """Whether no method is asked for, and elastic bodies are too stiff for the default one."""
        if self.stepping.method is not None or not has_elastic_bodies(motion.system):
            return False
        h = self.stepping.h
        if isinstance(method, FixedStep) and self.recording.is_even:
            h = self.recording.schedule(h, method, start.x.size, HUGE).pace.h
        return needs_stiff_method(motion, start.x[0], h)

    def _prepared(
        self, system: System, stepping: Stepping, q: Values, qd: Values
    ) -> tuple[FirstOrderSystem, Method, Start]:
        """The equations, the method, and the states to begin with."""
        model = self.model
        formulation = formulation_for(stepping.name, model.formulation)
        if formulation is not model.formulation:
            model = replace(model, formulation=formulation)
        stabilisation = stabilisation_for(system, stepping.name, self.constraining)
        motion = FirstOrderSystem(
            model, self.actions, self.contact, self.events, self.recording.begin, stabilisation
        )
        method = method_for(motion, stepping.name, stepping.rho_inf)
        return motion, method, start_of(motion, q, qd)

    def _streamed(
        self, motion: FirstOrderSystem, records: _Records, size: int, described: dict[str, Any]
    ) -> Run:
        """The run, written to a folder while it is computed."""
        run = streaming.streamed(
            motion.mechanism,
            self.recording.store,
            self.recording.resume,
            plain(motion.mechanism, described, motion.kinds),
            records.start.x,
            records.times,
            size,
            records.stretch,
        )
        declared = run.declared | motion.observables
        return replace(run, applied=motion.forces.applied, declared=declared)

    def _described(self, motion: FirstOrderSystem, q: Values, qd: Values) -> dict[str, Any]:
        """The arguments by name; in place of arguments that a file cannot keep, texts that tell
        them from others.
        """
        parts: list[Any] = [self.model, self.actions, self.contact, self.stepping]
        parts += [self.recording, self.constraining]
        arguments: dict[str, Any] = {"q": q, "qd": qd, "events": motion.events.names}
        for part in parts:
            arguments |= vars(part)
        arguments["saturate"] = self.actions.saturate or None
        numbers = {path: values.tolist() for path, values in motion.parameters.items()}
        arguments["parameters"] = numbers or None
        if motion.formulation.iteration:
            arguments["solver"] = motion.formulation.iteration.method
        if motion.forces.loads:
            arguments["external_forces"] = motion.forces.loads.described
        if motion.forces.sampled:
            arguments["sampled"] = motion.forces.sampled.described
        return arguments


class _Records:
    """Records of a simulation, as a loop makes them; `shown` hears how much is done, and the time."""

    def __init__(
        self,
        loop: EventLoop,
        sampling: SampledLoop | None,
        start: Start,
        times: Any,
        shown: Callable[[float, float], object],
    ):
        self.loop, self.sampling, self.start, self.times = loop, sampling, start, times
        self.looks: tuple[int, float, list[Look]] = 0, 0.0, []
        self._begin, self._shown = loop.motion.begin, shown
        self._duration = float(times[-1]) - self._begin
        loop.told = Throttled(lambda t: shown(t / self._duration, t + self._begin))

    def all(self, size: int) -> Run:
        """All records, made `size` at a time."""
        found = self._joined(size)  # without the parts, as large as the whole
        self.looks = looks_at(found)
        return run_of(self.loop, self.sampling, self.start, self.times, found)

    def _joined(self, size: int) -> Trajectories:
        """All records, `size` at a time, so that progress is seen and an interrupt heard in
        between.
        """
        parts, at, state = [], 1, None
        while at < len(self.times):
            times = self.times[at - 1 : at + size]
            parts.append(self._advance(self.start.x, times, state))
            state, at = parts[-1].state, at + size
        return joined(parts)

    def stretch(self, x: np.ndarray, times: np.ndarray, state: Any) -> tuple[Run, np.ndarray, Any]:
        """Records from x at times[0] to each later time, and where to go on."""
        events = len(self.loop.events)
        changes = len(self.loop.changes)
        found = self._advance(x, times, state)
        self.looks = looks_at(found)
        part = run_of(self.loop, self.sampling, self.start._replace(x=x), times, found)
        part = replace(
            part,
            events=tuple(self.loop.events[events:]),
            changes=tuple(self.loop.changes[changes:]),
        )
        return part, found.x[:, -1], found.state

    def _advance(self, x: np.ndarray, times: np.ndarray, state: Any) -> Trajectories:
        mover = self.sampling or self.loop
        found = mover.advance(x, times - self._begin, state, self._duration)
        self._shown((float(times[-1]) - self._begin) / self._duration, float(times[-1]))
        return found


def _size(schedule: Schedule, method: Method, numbers: int, stored: bool) -> int:
    """How many records, of so many numbers each, are made at a time."""
    times, pace = schedule.times, schedule.pace
    if isinstance(method, External) and not stored:
        return len(times)
    spacing = float(times[-1] - times[0]) / (len(times) - 1)
    steps = pace.repeats if isinstance(method, FixedStep) else max(1.0, spacing / pace.h)
    return streaming.records_of(numbers, numbers * steps)


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
    names = arguments.pop("events", None)
    _ = arguments.pop("sampled", None)
    arguments["saturate"] = bool(arguments.get("saturate"))
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
