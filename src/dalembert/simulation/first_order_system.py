"""The equations of motion as x' = f(t, x, p), compiled; forces that cannot be traced are called
from the machine code.

x = (q, y, w, s, z): coordinates, velocities qd or momenta p as the `Formulation` have it, the work
[J] that actuators, friction and the user's forces have done, so that the energy less w is constant
but for the integrator's error, the internal states of the system, and the states of the controller,
if there are any.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any

import numpy as np

from dalembert.compiled.memo import dynamics_of, kept
from dalembert.errors import DalembertError, ParameterError
from dalembert.expr import Expr, array, derivative, jacobian
from dalembert.integrators.method_kinds import BALANCED, BALANCING, DEPENDENT_ENTRIES, SWITCHES
from dalembert.kinematics.forces import SIGN, STICK, coulomb
from dalembert.model.friction_laws import Stribeck
from dalembert.model.parts import OF_FRICTION
from dalembert.purity.examine import Guard
from dalembert.results.observables import Observable, check_observables
from dalembert.simulation.applied_forces import CALLED, NONE, Force, Forces, beside
from dalembert.simulation.event_functions import EventFunctions
from dalembert.simulation.formulation import Formulation, Rates, formulation_of
from dalembert.simulation.inputs import numbers_of
from dalembert.simulation.internal_start import internal_start
from dalembert.simulation.machine_code import MachineCode
from dalembert.simulation.manifold import StateManifold, normalized
from dalembert.simulation.options import (
    DRY_FRICTION,
    NO_ACTIONS,
    Actions,
    Contact,
    Model,
)
from dalembert.simulation.reactions import reactions_of
from dalembert.simulation.sections import Sections
from dalembert.simulation.stabilisation import PROJECTED, Stabilisation
from dalembert.simulation.witnesses import Witnesses
from dalembert.systems.constraint_set import ConstraintSet
from dalembert.systems.system import System

MODES = Observable(
    ("velocity",),
    description="0 rests, 1 or -1 slides, 2 moves freely, 3 or -3 rests as others leave it no motion",
)
HELD_FORCES = Observable(("velocity",), "N m, N", "forces that a sampled controller held")
PARTITIONED = {
    DEPENDENT_ENTRIES: Observable(
        ("velocity",),
        description="velocities that follow from others: 2 by rows of positions, 1 by other rows",
    ),
    SWITCHES: Observable(
        description="how often other coordinates have become the independent ones"
    ),
}
INTERNAL_STATES = Observable(("internal_state",), description="internal states of the system")


class FirstOrderSystem:
    """Right-hand side for a system under forces along its velocities.

    Arguments are those of `simulate` in groups. Time is counted from `begin` [s], so that steps and times of
    events keep their digits however late a motion begins; forces and events are given the time of
    the caller, t + begin.

    Attributes
    ----------
    state : sections of x: q, y, work, internal states and the states of the controller; unknowns
        of a method that solves for multipliers of constraints
    unknowns : names of these unknowns
    internal : internal states to begin with, (n,) or (N, n)
    inputs : sections of p: `forces` given as numbers, `numbers` of the system that are inputs,
        `begin`; of a motion that is watched, `modes` of the reactions, if there are any, and
        `watching`: 1 or 0
    """

    def __init__(
        self,
        model: Model,
        actions: Actions = NO_ACTIONS,
        contact: Contact = DRY_FRICTION,
        events: Any = None,
        begin: float = 0.0,
        stabilisation: Stabilisation = PROJECTED,
    ):
        self.mechanism = model.mechanism
        paths, self.numbers = numbers_of(model.mechanism, model.parameters)
        self.formulation = formulation_of(
            model.mechanism, model.formulation, paths, model.solver, stabilisation
        )
        self.system = self.formulation.system
        rows = ConstraintSet(self.system)  # raises if a declaration is none
        check_observables(self.system)
        self.internal = internal_start(self.system, model.multipliers0)
        self.reactions = reactions_of(self.formulation, contact)
        self._check_principles(rows)
        if paths:
            self._check_inputs(contact.friction)
        self.begin = begin
        self.told: Callable[[float], object] = lambda t: None  # hears when `function` is called
        self.events = EventFunctions(events, self.system)
        self.forces = Forces(self.system, actions, paths)
        self.constants = beside(
            self.forces.constants, *([self.numbers] if paths else []), np.array([begin])
        )
        unknowns = stabilisation.lengths(self.system)
        self.unknowns = tuple(unknowns)
        self.state = Sections(
            q=self.system.nq,
            y=self.system.nv,
            work=1,
            internal=self.internal.shape[-1],
            controller=self.states.shape[-1],
            **unknowns,
        )
        self.inputs = Sections(
            forces=self.forces.constants.shape[-1],
            numbers=len(paths),
            begin=1,
            modes=4 * self.system.nv if self.reactions else 0,
            watching=int(self.is_watched),
        )

    def _check_principles(self, rows: ConstraintSet) -> None:
        """See that joints that stick or stop go with the forces of constraints."""
        if self.reactions and rows.principles.act_otherwise:
            raise DalembertError(
                f"{self.system.name!r} has constraints that are kept otherwise than by multipliers "
                "(servo, TwoWay or vakonomic), and joints that stick or stop, which do not go "
                "together: take friction='sign', and leave out stops=."
            )

    def _check_inputs(self, friction: str | Stribeck) -> None:
        """See that no number is an input that the law of reactions has as a float."""
        paths = self.formulation.paths
        bounds = [
            p
            for p in paths
            if p.rpartition(".")[2].startswith(("coulomb", *OF_FRICTION))
            or self.reactions
            and p.endswith((".multiplier", ".offset"))
        ]
        if bounds and (
            self.reactions or friction != SIGN and self.formulation.name == "newton_euler"
        ):
            raise ParameterError(
                f"{', '.join(bounds)} cannot be inputs of a simulation in which joints stick or "
                "stop: use mechanism.replace, or friction='sign' and no stops.",
                paths,
            )

    @property
    def traced(self) -> bool:
        """Whether all forces compile."""
        return CALLED not in self.kinds.values() and self.events.traced

    @property
    def guards(self) -> list[Guard]:
        """Memory that all functions can reach."""
        return [*self.forces.guards, *self.events.guards]

    def check_memory(
        self, times: np.ndarray, q: np.ndarray, qd: np.ndarray, states: np.ndarray | None
    ) -> None:
        """See that nothing changed on which functions depend, traced or called, at states of the
        run, (K,), (K, n) each.

        Raises
        ------
        RememberingError
        """
        rows = [
            (float(t), *row) for t, *row in zip(times, q, qd) if np.isfinite(np.hstack(row)).all()
        ]
        own = list(zip(rows, np.zeros((len(times), 0)) if states is None else states))
        for guard in self.guards if rows else ():
            with_states = self.states.size and guard.name in ("control", "rate")
            guard.check([(*row, z) for row, z in own] if with_states else rows)

    @property
    def kinds(self) -> dict[str, str]:
        """How each force is evaluated."""
        return self.forces.kinds

    @property
    def states(self) -> np.ndarray:
        """Initial values of the controller's states, (m,) or (N, m)."""
        return self.forces.states

    @property
    def friction(self) -> str:
        """The law of Coulomb friction, or none if there is no such friction."""
        if self.reactions and self.reactions.sticking:
            return STICK
        m = self.system.mechanism
        rubs = m is not None and kept(m, "rubs", lambda: coulomb(m).any())
        return SIGN if rubs or any(".coulomb" in path for path in self.formulation.paths) else NONE

    @property
    def stabilisation(self) -> str | None:
        """How it stays on its constraints; None without any."""
        return self.formulation.stabilisation.name if self.system.constraints else None

    @property
    def observables(self) -> dict[str, Observable]:
        """Declarations of the quantities that runs record beside those of the system."""
        declared = self.formulation.observables
        if self.is_watched:
            declared["modes"] = MODES
        if self.reactions:
            declared |= self.reactions.observables
        if self.forces.sampled:
            declared["held_forces"] = HELD_FORCES
        if names := self.system.internal_names:
            declared["internal_states"] = replace(INTERNAL_STATES, labels=names)
        if SWITCHES in self.unknowns:
            declared |= PARTITIONED
        return declared

    @property
    def is_watched(self) -> bool:
        """Whether steps are watched: for events, or for what friction and stops do."""
        return bool(self.reactions or self.events.functions)

    @property
    def extra(self) -> int:
        """Number of parameters behind the constants of a motion that is watched."""
        return self.inputs.size - self.constants.shape[-1]

    def modes(self, p: Any) -> Any:
        """Modes in parameters (..., n)."""
        return self.inputs.part(p, "modes")

    @property
    def parameters(self) -> dict[str, Any]:
        """The numbers of the mechanism that are inputs, by path: one, or one per trajectory (N,)."""
        return {path: self.numbers[..., k][()] for k, path in enumerate(self.formulation.paths)}

    def at(self, p: Any, x: Any = None) -> Formulation:
        """The equations with the numbers of the mechanism in parameters (n,), and with the internal
        states of x.
        """
        form = self.formulation.at(self.numbers_in(p))
        return form if x is None else form.with_internal(self.internal_in(x))

    def internal_in(self, x: Any) -> Any:
        """Internal states of the system in x (..., nx)."""
        return self.state.part(x, "internal")

    def numbers_in(self, p: Any) -> Any:
        """Numbers of the mechanism in parameters (..., n)."""
        return self.inputs.part(p, "numbers")

    def clock(self, t: Any, p: Any) -> Any:
        """The caller's time [s] at a time t of the motion, with parameters (..., n)."""
        return t + self.inputs.part(p, "begin")[..., 0]

    @property
    def nx(self) -> int:
        """Length of x."""
        return self.state.size

    @property
    def quaternions(self) -> list[tuple[int, int]]:
        """Offsets in x of each quaternion, and of its angular velocity (or momentum)."""
        turning = self.system.angular_velocities
        return [
            (at, self.system.nq + turning[joint])
            for joint, at in self.formulation.quaternions.items()
        ]

    def energy_at(self, q: np.ndarray, qd: np.ndarray, p: np.ndarray) -> Any:
        """Energy of states of a mechanism in (q, qd), (n,) or (N, n)."""
        if not self.formulation.paths:
            return self.formulation.energy(q, qd)
        dynamics = dynamics_of(self.mechanism, self.formulation.paths)
        numbers = self.numbers_in(p)
        return dynamics.kinetic_energy(q, qd, parameters=numbers) + dynamics.potential_energy(
            q, parameters=numbers
        )

    def split(self, x: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """q, y, work and states of the controller in x (..., nx)."""
        q, y, work, _, controller, *_ = self.state.parts(x)
        return q, y, work[..., 0], controller

    @property
    def unknown_places(self) -> dict[str, slice]:
        """Places in x of unknowns of a method beside q and y, by name."""
        return {name: self.state.slices[name] for name in self.unknowns}

    def unknowns_in(self, x: Any) -> dict[str, Any]:
        """Unknowns of a method beside these, by name, in x (..., nx)."""
        return {name: self.state.part(x, name) for name in self.unknowns}

    def function(self, p: np.ndarray) -> Callable[[float, np.ndarray], np.ndarray]:
        """f(t, x) on floats, for one trajectory, whose forces may be any Python functions; p (n,):
        its parameters.
        """
        if BALANCED in self.unknowns:
            return self._balanced(p)
        velocities, rates = self.formulation.called(self.numbers_in(p))
        if law := self.reactions:
            modes = self.modes(p)
            numbers = self.numbers_in(p)

            def rates(
                t: float,
                q: np.ndarray,
                y: np.ndarray,
                qd: np.ndarray,
                tau: np.ndarray,
                internal: np.ndarray,
                **unknowns: np.ndarray,
            ) -> Rates:
                """Rates under the law of contact."""
                return *law.called(t, q, qd, tau, modes, numbers), internal

        def f(t: float, x: np.ndarray) -> np.ndarray:
            """Rates of the whole state."""
            self.told(t)
            if not np.isfinite(x).all():
                return np.full(self.nx, np.nan)
            q, y, _, states = self.split(x)
            t = float(self.clock(t, p))
            q = self.system.normalize(q)
            unknowns = self.unknowns_in(x)
            q, y = self.formulation.completed(t, q, y, self.numbers_in(p), unknowns)
            qd = velocities(t, q, y)
            tau = self.forces(t, q, qd, p, states)
            if not np.isfinite(tau).all():  # as in machine code, no number follows
                return np.full(self.nx, np.nan)
            internal = self.internal_in(x)
            q_rate, y_rate, power, changes = rates(t, q, y, qd, tau, internal, **unknowns)
            own = self.forces.rates(t, q, qd, states)
            still = map(np.zeros_like, unknowns.values())
            return np.concatenate([q_rate, y_rate, [power], changes, own, *still])

        return f

    def _balanced(self, p: np.ndarray) -> Callable[[float, np.ndarray], np.ndarray]:
        """f(t, x) on floats, with the forces out of balance, whose forces may be any functions."""
        places = self.state.slices["controller"]

        def f(t: float, x: np.ndarray) -> np.ndarray:
            """Rates of the whole state, and forces out of balance."""
            self.told(t)
            q, qd, _, states = self.split(x)
            if not np.isfinite(x).all():
                return np.full(self.nx, np.nan)
            q, clock = self.system.normalize(q), float(self.clock(t, p))
            tau = self.forces(clock, q, qd, p, states)
            if not np.isfinite(tau).all():
                return np.full(self.nx, np.nan)
            rates = self.code.driven(t, x, p, tau)
            rates[places] = self.forces.rates(clock, q, qd, states)
            return rates  # type: ignore[no-any-return]

        return f

    def right_hand_side(
        self, t: Any, x: np.ndarray, p: np.ndarray, outside: Sequence[Force] = ()
    ) -> np.ndarray:
        """x' at one state, of floats or expressions.

        outside: stand-ins for the functions that are called with numbers, which are given unit
        quaternions.
        """
        called = dict(zip(self.forces.lengths, outside, strict=True)) if outside else {}
        q, y, _, states = self.split(normalized(self.formulation, x) if outside else x)
        form, clock = self.at(p, x), self.clock(t, p)
        unknowns = self.unknowns_in(x)
        q, y = form.stabilisation.completed(form.system, q, y, clock, unknowns)
        qd = form.velocities(clock, q, y)
        tau = self.forces(clock, q, qd, p, states, called)
        own = self.forces.rates(clock, q, qd, states, called)
        return self.driven(t, x, p, tau, own)

    def driven(self, t: Any, x: np.ndarray, p: np.ndarray, tau: Any, own: Any) -> np.ndarray:
        """x' under control and forces tau (nv,), with rates of the controller's states; of
        accelerations that are to be in balance, the forces that are not.
        """
        form = self.at(p, x)
        q, y, *_ = self.split(x)
        t = self.clock(t, p)
        unknowns = self.unknowns_in(x)
        q, y = form.stabilisation.completed(form.system, q, y, t, unknowns)
        qd = form.velocities(t, q, y)
        if self.reactions:
            q_rate, y_rate, power = self.reactions.at(self.numbers_in(p)).rates(
                t, q, qd, tau, self.modes(p)
            )
        else:
            q_rate, y_rate = form.rates(t, q, y, qd, tau, unknowns)
            power = form.power(t, q, qd, tau)
        internal = form.system.internal_rates(q, qd, tau, t)
        others = [0 * values for values in unknowns.values()]
        if BALANCED in unknowns:
            others = self._out_of_balance(form.system, (q, qd, t), tau, unknowns)
        return np.concatenate([q_rate, y_rate, [power], internal, own, *others])

    def _out_of_balance(
        self, system: System, state: tuple[Any, Any, Any], tau: Any, unknowns: Mapping[str, Any]
    ) -> list[np.ndarray]:
        """Forces that are out of balance (nv,), and accelerations off the constraints (k,)."""
        q, qd, t = state
        qdd = unknowns[BALANCED]
        if BALANCING not in unknowns:
            return [tau - np.asarray(system.inverse_dynamics(q, qd, qdd, t))]
        rows = ConstraintSet(system).rates(q, qd, t)
        force = tau + rows.jacobian.T @ unknowns[BALANCING]
        force = force - np.asarray(system.required_force(q, qd, qdd, t))
        return [force, rows.jacobian @ qdd - rows.bias]

    def inertia(self, t: Any, x: np.ndarray, p: np.ndarray) -> np.ndarray:
        """M at a state of floats or expressions; with constraints [[M, -J^T], [-J, 0]]."""
        q, y, *_ = self.split(x)
        system, clock = self.at(p, x).system, self.clock(t, p)
        M = np.asarray(system.mass_matrix(q, clock))
        if BALANCING not in self.unknowns:
            return M
        J = ConstraintSet(system).rates(q, y, clock).jacobian
        none = np.zeros((len(J), len(J)))
        return np.block([[M, -J.T], [-J, none]])

    def slopes(self, t: Any, x: np.ndarray, p: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Derivatives of `right_hand_side` by x (nx, nx) and by t (nx,), which are symbols; it is linear
        in accelerations and multipliers.
        """
        places = self.state.slices
        velocities = places["y"]
        start = places[BALANCED].start
        first = list(range(velocities.stop))
        moving = [*first, *range(velocities.stop + 1, start)]
        f = self.right_hand_side(t, x, p)
        columns = derivative(array([*f]), array([*x[moving], t]))
        J = np.zeros((self.nx, self.nx), dtype=object)
        J[:, moving] = columns[:, :-1]
        J[velocities, places[BALANCED]] = np.eye(self.system.nv)
        J[start:, start:] = -self.inertia(t, x, p)
        return J, columns[:, -1]

    def begin_unknowns(self, x: np.ndarray) -> None:
        """Set multipliers and accelerations in states to begin with (N, nx) to those that follow from
        these.
        """
        if not self.unknowns or BALANCED in self.unknowns:
            return  # its method brings them into balance
        p = np.broadcast_to(self.constants, (len(x), self.constants.shape[-1]))
        for row, own in zip(x, p, strict=True):
            tau = self.forces_of(np.zeros(1), row, own)
            form = self.at(own, row)
            t = self.clock(0.0, own)
            q, y, *_ = self.split(row)
            found = form.stabilisation.beginning(form.system, q, form.velocities(t, q, y), tau, t)
            for name, places in self.unknown_places.items():
                row[places] = found[name]

    def stiffness(self, t: Any, x: np.ndarray, p: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """-dF/dq (nv, nv) along velocities and -dF/dqd at a state of expressions (q, qd, ...), of
        forces F but those of inertia; of functions that are called they are not known, and 0.
        """
        system = self.at(p, x).system
        q, qd, _, states = self.split(x)
        t = self.clock(t, p)
        known = CALLED not in self.kinds.values()
        tau = self.forces(t, q, qd, p, states) if known else np.zeros(system.nv)
        resting = -np.asarray(system.bias_force(q, np.zeros(system.nv), t))
        force = array([*(np.asarray(system.generalized_forces(q, qd, t)) + tau)])
        along = array([*np.asarray(system.rate(q, qd))])
        K = -jacobian(array([*(resting + force)]), q) @ jacobian(along, qd)
        return K, -jacobian(force, qd)

    @cached_property
    def witnesses(self) -> Witnesses:
        """Functions that are watched in the steps."""
        return Witnesses(self)

    def velocities_in(self, t: Any, x: np.ndarray, p: np.ndarray) -> np.ndarray:
        """qd of one state, of floats or expressions."""
        q, y, *_ = self.split(x)
        if not self.formulation.canonical:
            return y
        if isinstance(q[0], Expr):
            return self.at(p).velocities(self.clock(t, p), q, y)
        return np.asarray(
            self.formulation.called(self.numbers_in(p))[0](float(self.clock(t, p)), q, y)
        )

    def forces_of(self, t: Any, x: Any, p: Any) -> Any:
        """Control and forces (nv,) at one state, t of one entry."""
        q, y, _, states = self.split(x)
        time = self.clock(t[0], p)
        return self.forces(time, q, self.at(p).velocities(time, q, y), p, states)

    @cached_property
    def manifold(self) -> StateManifold | None:
        """States that the system may have; None if these are all."""
        is_constrained = bool(ConstraintSet(self.system).constraints)
        if not (self.formulation.quaternions or is_constrained or self.unknowns):
            return None
        return StateManifold(self)

    @cached_property
    def code(self) -> MachineCode:
        """Machine code made of this motion."""
        return MachineCode(self)
