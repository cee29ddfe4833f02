"""Forces that keep the constraints of a system, each by its principle.

M qdd + bias = Q + tau + J^T lambda + R,    J qdd = k

chetaev, gauss   J^T lambda, J = psi_qd
vakonomic        lambda = -mu', R = terms of the states mu of `vakonomic`
servo            R = B u along the actuators, of `led_outputs`
TwoWay           R = Phi_q^T mu, with equations of the generator and of the states mu
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from dalembert.constraints.programs import Servo, TwoWay
from dalembert.errors import ConstraintError, DalembertError
from dalembert.expr import Graph, symbol, symbols
from dalembert.model.constraint import PRINCIPLES, Constraint, ProgramConstraint
from dalembert.systems.led_outputs import Led, least_norm, led
from dalembert.systems.vakonomic import VakonomicTerms, vakonomic_terms

CHETAEV, VAKONOMIC, SERVO, GAUSS = PRINCIPLES
Vector = Any  # (n,) of floats or expressions


class ConstrainedMotion(NamedTuple):
    """Accelerations of a system, and the forces that keep its constraints.

    accelerations : qdd (nv,)
    multipliers : of the rows of constraints whose forces act along them (k,)
    controls : forces of the actuators of programs (m,)
    power : of all these forces, but for lambda^T J qd of rows that do no work [W]
    """

    accelerations: Vector
    multipliers: Vector
    controls: Vector
    power: Any


class State(NamedTuple):
    """A state and its time."""

    q: Vector
    qd: Vector
    t: Any


class LedOutputs(NamedTuple):
    """Outputs that actuators lead: J qdd = rate, with their names and relative degrees."""

    jacobian: Vector
    rate: Vector
    names: tuple[str, ...]
    degrees: tuple[int, ...]


class Principles:
    """Constraints of a system by the forces that keep them.

    Attributes
    ----------
    rows : `ConstraintSet` of those that multipliers of their rows keep
    vakonomic : those on velocities whose multipliers are states
    servos, couplings : programs
    driven : those whose rows the actuators keep
    """

    def __init__(self, constraint_set: Any):
        self.system = constraint_set.system
        self._kept = constraint_set
        declared: Sequence[Constraint] = self.system.constraints
        principles = self.system.principles or (CHETAEV,) * len(declared)
        self._principle = {
            c.name: principle for c, principle in zip(declared, principles, strict=True)
        }
        self.programs = [c for c in declared if isinstance(c, ProgramConstraint)]
        self.servos = [c for c in declared if isinstance(c, Servo)]
        self.couplings = [c for c in declared if isinstance(c, TwoWay)]
        self.vakonomic = [
            c
            for c in self._of(VAKONOMIC)
            if not c.is_holonomic and not isinstance(c, ProgramConstraint)
        ]
        self.driven = [c for c in self._of(SERVO) if not isinstance(c, ProgramConstraint)]

    def _of(self, principle: str) -> list[Constraint]:
        return [c for c in self.system.constraints if self._principle[c.name] == principle]

    @cached_property
    def rows(self) -> Any:
        """Constraints that multipliers of their rows keep."""
        if not self.driven:
            return self._kept
        return self._kept.some([c for c in self._kept.constraints if c not in self.driven])

    @property
    def act_otherwise(self) -> bool:
        """Whether there are forces beside those along rows."""
        return bool(self.servos or self.couplings or self.vakonomic or self.driven)

    def check_along_rows(self, purpose: str, actuators_too: bool = False) -> None:
        """Raise a DalembertError if forces of constraints do not act along their rows; forces of
        actuators, which keep servo constraints, may be meant as well.
        """
        if contacts := self._kept.one_sided:
            raise DalembertError(
                f"{purpose} of {self.system.name!r}: constraint {contacts[0].name!r} is one-sided, and "
                "closed or open as the applied forces say: da.least_constraint tells."
            )
        others = [*self.vakonomic, *self.couplings]
        if not actuators_too:
            others += [*self.servos, *self.driven]
        if others:
            name = others[0].name
            raise DalembertError(
                f"{purpose} of {self.system.name!r}: constraint {name!r} is kept by the principle "
                f"{self._principle[name]!r}, whose forces do not act along its rows."
            )

    # --- internal states ---

    @cached_property
    def start(self) -> dict[str, float]:
        """Internal states by name, and their values to begin with; NaN where there is none."""
        found: dict[str, float] = {}
        for constraint in self.system.constraints:
            for name, value in self._start_of(constraint).items():
                found[f"{constraint.name}.{name}"] = value
        return found

    def _start_of(self, constraint: Constraint) -> dict[str, float]:
        """Internal states of one constraint."""
        if isinstance(constraint, ProgramConstraint):
            return constraint.start(self.system)
        if constraint not in self.vakonomic:
            return {}
        m = len(self._kept.some([constraint]).labels)
        return dict.fromkeys(numbered("mu", m), float("nan"))

    def states_of(self, constraint: Constraint) -> Vector:
        """Internal states of one constraint."""
        names = [*self.start]
        at = [k for k, name in enumerate(names) if name.rpartition(".")[0] == constraint.name]
        values = np.asarray(self.system.internal_states)[at]
        if values.dtype != object and np.isnan(values).any():
            raise ConstraintError(
                f"multipliers of {constraint.name!r} are states without a default: simulate takes "
                "multipliers0=, compiled quantities internal_states=.",
                constraint.name,
            )
        return values

    # --- motion ---

    @cached_property
    def actuated(self) -> list[int]:
        """Entries of tau along which the actuators of programs act."""
        names = [name for servo in self.servos for name in servo.actuators]
        found = dict.fromkeys(k for name in names for k in self._entries(name))
        if self.driven:
            found |= dict.fromkeys(self.system.driven)
        if self.driven and not found:
            name = self.driven[0].name
            raise ConstraintError(
                f"constraint {name!r} of {self.system.name!r} is kept by driven joints (the principle "
                "'servo'), and actuated=[] says that there are none: name some.",
                name,
            )
        return [*found]

    def _entries(self, name: str) -> list[int]:
        """Entries of tau of an actuator: a joint, or one of its velocities."""
        known = self.system.velocity_names
        of_joint = [k for k, n in enumerate(known) if n == name or n.startswith(f"{name}.")]
        if not of_joint:
            raise ConstraintError(
                f"actuator {name!r} of {', '.join(s.name for s in self.servos)} is no joint that "
                f"moves ({', '.join(known[:6])}).",
                self.servos[0].name,
            )
        return of_joint

    def motion(
        self, force: Vector, q: Vector, qd: Vector, t: Any, **feedback: Any
    ) -> ConstrainedMotion:
        """Motion under Q + tau - bias at a state; feedback: options of accelerations along rows."""
        if self._kept.one_sided:
            raise DalembertError(
                f"{self.system.name!r} has one-sided constraints "
                f"({', '.join(c.name for c in self._kept.one_sided)}), whose accelerations are no "
                "smooth function of the state: take da.least_constraint at a state, or da.simulate."
            )
        state = State(np.asarray(q), np.asarray(qd), t)
        pull = self._coupling_force(state)
        terms = self._vakonomic_terms(state)
        inertia = None if terms is None else terms.inertia
        extra = pull if terms is None else pull + terms.force
        solver = self.rows.solver(
            q,
            qd,
            t,
            inertia,
            **feedback,
        )
        accelerations, multipliers = solver.accelerations(force + extra)
        controls = np.zeros(0)
        if self.actuated:
            controls = self._controls(state, accelerations, self._pushed(solver))
            push = self._unit_forces.T @ controls
            accelerations, multipliers = solver.accelerations(force + extra + push)
            extra = extra + push
        if inertia is not None:
            extra = extra - inertia @ accelerations
        power = extra @ state.qd - multipliers @ solver.rows.leftover
        return ConstrainedMotion(
            accelerations,
            multipliers,
            controls,
            power,
        )

    def _coupling_force(self, state: State) -> Vector:
        q, _, t = state
        force: Any = np.zeros(self.system.nv)
        for coupling in self.couplings:
            force = force + coupling.force(
                self.system,
                q,
                self.states_of(coupling),
                t,
            )
        return force

    def _vakonomic_terms(self, state: State) -> VakonomicTerms | None:
        if not self.vakonomic:
            return None
        mu = np.concatenate([self.states_of(c) for c in self.vakonomic])
        return vakonomic_terms(
            self.system,
            self.vakonomic,
            mu,
            *state,
        )

    # --- programs ---

    def _controls(self, state: State, accelerations: Vector, pushed: Vector) -> Vector:
        """Forces u of the actuators, with accelerations without them and C (nv, m)."""
        J, rate, names, _ = self.led(state)
        W = J @ pushed
        if len(names) > len(self.actuated):
            acting = ", ".join(self.system.velocity_names[k] for k in self.actuated)
            raise ConstraintError(
                f"{len(names)} outputs ({', '.join(names)}) are led by {len(self.actuated)} forces "
                f"({acting}): expected as many forces as outputs, or more.",
                names[0],
            )
        return least_norm(W, rate - J @ accelerations, names)

    def led(self, state: State) -> LedOutputs:
        """Rows of all outputs that actuators lead."""
        J, rates = [], []
        names: list[str] = []
        degrees: list[int] = []
        for constraint in (*self.servos, *self.driven):
            rows = self._led_by(constraint, state)
            J.append(rows.jacobian)
            rates.append(rows.rate)
            names += numbered(constraint.name, len(rows.rate))
            degrees += rows.degrees
        return LedOutputs(
            np.concatenate(J),
            np.concatenate(rates),
            tuple(names),
            tuple(degrees),
        )

    def pushed(self, state: State) -> Vector:
        """Accelerations that a force of 1 of each actuator adds at a state (nv, m)."""
        return self._pushed(self.rows.solver(*state))

    def _led_by(self, constraint: Constraint, state: State) -> Led:
        """Rows of one output."""
        q, qd, t = state
        if isinstance(constraint, Servo):
            states = self.states_of(constraint)
            return led(
                constraint,
                self.system,
                self._flow,
                q,
                qd,
                t,
                states,
            )
        rows = constraint.rates(
            self.system,
            q,
            qd,
            t,
        )
        return Led(rows.jacobian, rows.bias, (1 + constraint.is_holonomic,) * len(rows.bias))

    def _flow(self, q: Vector, qd: Vector, t: Any) -> tuple[Vector, Vector]:
        """Accelerations without the actuators' forces (nv,), and those of each of them (nv, m)."""
        solver = self.rows.solver(
            q,
            qd,
            t,
            None,
        )
        rest = np.zeros(self.system.nv)
        free, _ = solver.accelerations(
            self.system.applied(
                q,
                qd,
                rest,
                t,
            )
        )
        return free, self._pushed(solver)

    @property
    def _unit_forces(self) -> np.ndarray:
        """B^T: a force of 1 of each actuator (m, nv)."""
        return np.eye(self.system.nv)[self.actuated]

    def _pushed(self, solver: Any) -> Vector:
        """Accelerations that a force of 1 of each actuator adds (nv, m)."""
        columns = [solver.response_to(force) for force in self._unit_forces]
        return np.array(columns).T

    def internal_rates(self, motion: ConstrainedMotion, state: State) -> Vector:
        """Rates of the internal states."""
        rates: list[Any] = [np.zeros(0)]
        for constraint in self.system.constraints:
            if isinstance(constraint, Servo):
                rates.append(np.asarray(constraint.program.rate(self.states_of(constraint))))
            elif isinstance(constraint, TwoWay):
                states = self.states_of(constraint)
                rates.append(
                    constraint.state_rates(
                        self.system,
                        state.q,
                        state.qd,
                        states,
                        state.t,
                    )
                )
            elif constraint in self.vakonomic:
                rates.append(-np.asarray(motion.multipliers)[self._rows_of(constraint)])
        return np.concatenate(rates)

    def _rows_of(self, constraint: Constraint) -> slice:
        """Places of a constraint among the multipliers."""
        before = 0
        for other in self.rows.constraints:
            count = len(self._kept.some([other]).labels)
            if other is constraint:
                return slice(before, before + count)
            before += count
        raise AssertionError(constraint.name)

    def residuals(self, state: State) -> Vector:
        """Residuals of all programs (k,)."""
        q, qd, t = state
        parts = [
            c.residual(
                self.system,
                q,
                qd,
                self.states_of(c),
                t,
            )
            for c in self.programs
        ]
        return np.concatenate([np.zeros(0), *parts])

    @property
    def residual_labels(self) -> tuple[str, ...]:
        """Names of the residuals."""
        labels: list[str] = []
        with Graph():
            q, qd = symbols("q", self.system.nq), symbols("qd", self.system.nv)
            for c in self.programs:
                states = symbols("s", len(c.start(self.system)))
                count = len(
                    c.residual(
                        self.system,
                        q,
                        qd,
                        states,
                        symbol("t"),
                    )
                )
                labels += numbered(c.name, count)
        return tuple(labels)


def numbered(name: str, count: int) -> list[str]:
    """Names of several rows, or the name itself of one."""
    return [name] if count == 1 else [f"{name}[{k}]" for k in range(count)]
