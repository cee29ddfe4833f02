"""All constraints of a system together: accelerations with multipliers, and projection.

    M qdd + bias = Q + tau + J^T lambda,    J qdd = k

Multipliers count as applied forces.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property, reduce
from itertools import compress
from typing import Any

import numpy as np

from dalembert.arguments import check_instance
from dalembert.codegen.symbols import vector_of_symbols
from dalembert.constraints.places import settings_shared
from dalembert.constraints.state_functions import does_work
from dalembert.errors import ConstraintError
from dalembert.expr import (
    Graph,
    absolute,
    known_zero,
    maximum,
    symbol,
)
from dalembert.formulations.lagrange.regular import check_regular
from dalembert.integrators.choice import chosen
from dalembert.model.constraint import Constraint, ConstraintRates, ProgramConstraint, check_names
from dalembert.spatial.ldl import Factors, factorised, unchecked
from dalembert.spatial.sparse_ldl import SparseFactors, entries_of
from dalembert.systems.constraint_response import Response, RowSolver
from dalembert.systems.principles import Principles

UNMET = 1e-9  # of a state: a residual of more is no rounding
OFF = 1e-6  # of a record: a residual of more is not that of a projection that went well
SWEEPS = 2  # corrections of coordinates and of velocities in a projection
EXPECTED = "a tuple of da.constraints.Holonomic and Velocity"
OF_WRENCH = ("moment_x", "moment_y", "moment_z", "force_x", "force_y", "force_z")
OF_MULTIPLIERS = {"m": "N", "rad": "N m"}  # units by those of rows; others are J/(unit)
MOST, CLOSE = 50, 1e-14  # corrections of a state from far away; the last one relative to the state

Vector = Any  # (n,) of floats or expressions


class ConstraintSet:
    """The rows of all constraints of a system, in their order.

    Attributes
    ----------
    constraints : those that a motion keeps by rows at 0, in the order of the system
    one_sided : those whose rows it keeps at 0 or more
    holonomic : those with a `position`, perhaps of their first rows alone
    """

    def __init__(self, system: Any, chosen: Sequence[Constraint] | None = None):
        self.system = system
        check_instance("constraints", system.constraints, (tuple, list), EXPECTED)
        for constraint in system.constraints:
            check_instance("an entry of constraints", constraint, Constraint, EXPECTED)
        declared = system.constraints if chosen is None else chosen
        rows = [c for c in declared if not isinstance(c, ProgramConstraint)]
        self.constraints = tuple(c for c in rows if not c.one_sided)
        self.one_sided = tuple(c for c in rows if c.one_sided)
        check_names(system.name, system.constraints)
        self.holonomic = tuple(c for c in self.constraints if c.has_position)

    def some(self, constraints: Sequence[Constraint]) -> ConstraintSet:
        """Some of the constraints alone."""
        return ConstraintSet(self.system, constraints)

    @cached_property
    def principles(self) -> Principles:
        """Constraints by the forces that keep them."""
        return Principles(self)

    @cached_property
    def labels(self) -> tuple[str, ...]:
        """Name of each row: of its constraint, with a number where it has several rows."""
        return tuple(name for constraint in self.constraints for name in self._names(constraint))

    @cached_property
    def position_labels(self) -> tuple[str, ...]:
        """Names of the rows that have a position."""
        return tuple(compress(self.labels, self.is_position))

    @cached_property
    def is_position(self) -> np.ndarray:
        """Whether each row has a position (k,)."""
        marks: list[bool] = []
        for constraint in self.constraints:
            count = len(self._names(constraint))
            first = count if constraint.is_holonomic else constraint.position_count
            marks += [k < first for k in range(count)]
        return np.array(marks, dtype=bool)

    def some_labels(self, constraints: Sequence[Constraint]) -> tuple[str, ...]:
        """Names of the rows of some constraints."""
        return tuple(name for constraint in constraints for name in self._names(constraint))

    def _names(self, constraint: Constraint) -> list[str]:
        """Names of the rows of a constraint."""
        count = self._count(constraint) if constraint.count is None else constraint.count
        numbered = [f"{constraint.name}[{k}]" for k in range(count)]
        return numbered if count > 1 else [constraint.name]

    def _count(self, constraint: Constraint) -> int:
        """Number of rows of a constraint at any state."""
        with Graph():
            q = vector_of_symbols("q", self.system.nq)
            qd = vector_of_symbols("qd", self.system.nv)
            return len(constraint.rates(self.system, q, qd, symbol("t")).velocity)

    @cached_property
    def reaction_labels(self) -> tuple[str, ...]:
        """Names of the entries of the reactions of all constraints."""
        return tuple(
            f"{constraint.name}.{entry}"
            for constraint in self.reacting
            for entry in (self.system.velocity_names if constraint.acts_on is None else OF_WRENCH)
        )

    @property
    def units(self) -> str:
        """Units of the multipliers, joined by commas."""
        rows = [unit for c in self.constraints for unit in c.unit.split(", ") if unit]
        return ", ".join(dict.fromkeys(OF_MULTIPLIERS.get(unit, f"J/({unit})") for unit in rows))

    @property
    def velocity_units(self) -> str:
        """Units of the rows on velocities, joined by commas."""
        rows = [
            f"{unit}/s" if constraint.has_position or unit in OF_MULTIPLIERS else unit
            for constraint in self.constraints
            for unit in constraint.unit.split(", ")
            if unit
        ]
        return ", ".join(dict.fromkeys(rows))

    @property
    def position_units(self) -> str:
        """Units of the rows that have a position, joined by commas."""
        rows = [unit for c in self.holonomic for unit in c.unit.split(", ") if unit]
        return ", ".join(dict.fromkeys(rows))

    def position(self, q: Vector, t: Any = 0.0) -> Vector:
        """phi of the holonomic rows."""
        with settings_shared():
            rows = [np.asarray(c.position(self.system, q, t)) for c in self.holonomic]
        return np.concatenate(rows or [np.zeros(0)])

    def rates(
        self, q: Vector, qd: Vector, t: Any, constraints: Sequence[Constraint] | None = None
    ) -> ConstraintRates:
        """Rows of all constraints, or of some."""
        chosen = self.constraints if constraints is None else constraints
        if not chosen:
            none = np.zeros(0)
            return ConstraintRates(none, np.zeros((0, self.system.nv)), none, none)
        with settings_shared():
            rows = [constraint.rates(self.system, q, qd, t) for constraint in chosen]
        return ConstraintRates(*map(np.concatenate, zip(*rows, strict=True)))

    def position_rates(self, q: Vector, qd: Vector, t: Any) -> ConstraintRates:
        """The rows that have a position."""
        return ConstraintRates(*(part[self.is_position] for part in self.rates(q, qd, t)))

    def reactions(self, q: Vector, qd: Vector, t: Any, multipliers: Vector) -> dict[str, Any]:
        """Force of the multipliers of each constraint that acts along its rows, by its name."""
        found: dict[str, Any] = {}
        start = 0
        for constraint in self.constraints:
            end = start + len(self._names(constraint))
            if constraint in self.reacting:
                own = multipliers[start:end]
                found[constraint.name] = constraint.reaction(self.system, q, qd, t, own)
            start = end
        return found

    @property
    def reacting(self) -> tuple[Constraint, ...]:
        """Constraints whose forces act along their rows: not those of multipliers that are states."""
        return tuple(c for c in self.constraints if c not in self.principles.vakonomic)

    @property
    def does_work(self) -> bool:
        """Whether constraints may do work: they move with time, or depend on velocities otherwise
        than linearly.
        """
        if self.principles.act_otherwise:
            return True
        with Graph():
            q = vector_of_symbols("q", self.system.nq)
            qd = vector_of_symbols("qd", self.system.nv)
            return does_work(self.rates(q, qd, symbol("t")))

    def response(
        self,
        inertia: SparseFactors | Factors,
        rows: ConstraintRates,
        of_positions: bool = False,
    ) -> Response:
        """Motion that forces along all rows cause, or along the rows of positions; rows that follow
        from others push nothing.
        """
        alike = self._alike_positions if of_positions else self._alike
        return Response.of(inertia, rows, alike)

    @cached_property
    def _alike(self) -> list[tuple[str, str]]:
        """Constraint and unit of each row; rows of one constraint and unit have a size in common."""
        alike: list[tuple[str, str]] = []
        for constraint in self.constraints:
            count = len(self._names(constraint))
            units = constraint.unit.split(", ")
            units = units if len(units) == count else [constraint.unit] * count
            alike += [(constraint.name, unit) for unit in units]
        return alike

    @cached_property
    def axes(self) -> list[tuple[str, str]]:
        """Constraint and unit of each row of a wrench, whose axes are free; other rows are each by
        itself.
        """
        wrenches = {c.name for c in self.constraints if c.acts_on is not None}
        return [
            (name, unit if name in wrenches else f"{unit}, {label}")
            for label, (name, unit) in zip(self.labels, self._alike, strict=True)
        ]

    @cached_property
    def _alike_positions(self) -> list[tuple[str, str]]:
        """Constraint and unit of the rows that have a position."""
        return [*compress(self._alike, self.is_position)]

    def inertia(self, q: Vector, t: Any) -> SparseFactors:
        """Factors of the mass matrix; where links have no mass, of M + s J^T J, with which motion along
        the constraints is the same.

        Raises
        ------
        SingularMassMatrixError
        """
        if not (self.system.massless and self.holonomic):
            return self.system.factors_of_inertia(q, t)  # type: ignore[no-any-return]
        M, J, share = self._stiffened(q, t)
        M = M + share * (J.T @ J)
        if M.dtype != object:
            check_regular(M, self.system.name, self.system.velocity_names)
        return SparseFactors.of(factorised(M.tolist(), unchecked))

    def _stiffened(self, q: Vector, t: Any) -> tuple[np.ndarray, np.ndarray, Any]:
        """M, J of the rows of positions, and s, by which J^T J is as large as M."""
        M = np.asarray(self.system.mass_matrix(q, t))
        J = self.position_rates(q, np.zeros(self.system.nv), t).jacobian
        return M, J, np.trace(M) / sum(x * x for x in np.ravel(J))

    def accelerations(
        self,
        force: Vector,
        q: Vector,
        qd: Vector,
        t: Any = 0.0,
        time_constant: float | None = None,
    ) -> tuple[Vector, Vector]:
        """qdd (nv,) and multipliers of `principles.rows` (k,) under Q + tau - bias.

        J M^-1 J^T lambda = k - J M^-1 force

        time_constant : T of Baumgarte's feedback [s], phi'' + 2/T phi' + phi/T^2 = 0 and
            psi' + psi/T = 0; without it residuals stay as they are

        Raises
        ------
        SingularMassMatrixError, ConstraintError
        """
        motion = self.principles.motion(force, q, qd, t, time_constant=time_constant)
        return motion.accelerations, motion.multipliers

    def multipliers(self, force: Vector, q: Vector, qd: Vector, t: Any = 0.0) -> Vector:
        """Multipliers (k,) under Q + tau - bias, of least norm, as `Response.least` has it, where
        rows follow from others.

        Raises
        ------
        SingularMassMatrixError, ConstraintError
        """
        motion = self.principles.motion(force, q, qd, t)
        rows = self.principles.rows
        response = rows.response(rows.inertia(q, t), rows.rates(q, qd, t))
        return np.array(response.least(motion.multipliers, rows.axes))

    def not_unique(self, q: Vector, qd: Vector, t: float = 0.0) -> tuple[str, ...]:
        """Names of the rows whose multipliers are not unique at a state of floats: rows that follow
        from others, and the others.
        """
        rows = self.principles.rows
        if not rows.constraints:
            return ()
        response = rows.response(rows.inertia(q, t), rows.rates(q, qd, t))
        return tuple(rows.labels[k] for k in response.dependent)

    def solver(
        self,
        q: Vector,
        qd: Vector,
        t: Any,
        added: Vector | None = None,
        time_constant: float | None = None,
    ) -> RowSolver:
        """Accelerations at a state under forces that multipliers of the rows bring.

        added: to the mass matrix (nv, nv); time_constant: as of `accelerations`.

        Raises
        ------
        SingularMassMatrixError, ConstraintError
        """
        inertia: SparseFactors | Factors = self.inertia(q, t)
        if added is not None and not all(known_zero(x) for x in np.ravel(added)):
            M = np.asarray(self.system.mass_matrix(q, t)) + added
            inertia = factorised(M.tolist(), unchecked)
        rows = self.rates(q, qd, t)
        bias = rows.bias
        if time_constant is not None:
            bias = bias - self._feedback(rows.velocity, q, t, time_constant)
        return RowSolver(self, self.response(inertia, rows), bias, self._share(q, t))

    def _share(self, q: Vector, t: Any) -> Vector | None:
        """s of each row of `inertia` (k,); None where all links have mass."""
        if not (self.system.massless and self.holonomic):
            return None
        return self._stiffened(q, t)[2] * self.is_position.astype(float)

    def check_accelerations(self, rows: ConstraintRates, bias: Vector, qdd: np.ndarray) -> None:
        """Raise a ConstraintError if accelerations of floats meet no row that follows from others."""
        if qdd.dtype == object or rows.jacobian.dtype == object:
            return
        terms = np.abs(rows.jacobian) @ np.abs(qdd) + np.abs(bias)
        off = np.abs(rows.jacobian @ qdd - bias)
        if (wrong := np.flatnonzero(off > OFF * (1.0 + terms))).size:
            raise self._inconsistent(rows, int(wrong[0]), float(off[wrong[0]]))

    def _inconsistent(self, rows: ConstraintRates, k: int, off: float) -> ConstraintError:
        """The error of a row that contradicts others, with the rank of all."""
        count, rank = len(rows.jacobian), int(np.linalg.matrix_rank(rows.jacobian, tol=UNMET))
        return ConstraintError(
            f"constraints of {self.system.name!r} contradict each other: {count} rows have the rank "
            f"{rank}, and accelerations that meet the others miss {self.labels[k]!r} by {off:.3g}. "
            "Leave it out, or make its program agree with theirs.",
            self.labels[k],
            rank,
        )

    def _feedback(self, velocity: Vector, q: Vector, t: Any, time_constant: float) -> Vector:
        """2/T phi' + phi/T^2 of holonomic rows, psi/T of others (k,)."""
        feedback = velocity / time_constant
        rows = self.is_position
        feedback[rows] = 2 * feedback[rows] + self.position(q, t) / time_constant**2
        return feedback

    # --- projection ---

    def responses(self, q: Vector, qd: Vector, t: Any) -> tuple[Response | None, Response]:
        """Motion that forces along the rows of positions, and along all rows, cause at a state."""
        inertia = self.inertia(q, t)
        whole = self.response(inertia, self.rates(q, qd, t))
        if not self.holonomic:
            return None, whole
        if all(constraint.is_holonomic for constraint in self.constraints):
            return whole, whole
        return self.response(inertia, self.position_rates(q, qd, t), True), whole

    def projected(
        self, q: Vector, qd: Vector, t: Any = 0.0, sweeps: int = SWEEPS
    ) -> tuple[Vector, Vector]:
        """The state nearby that meets positions, then velocities, in the metric of M.

        Directions are those of the first state, so that a residual r leaves r^(1 + sweeps).
        """
        if not self.constraints:
            return q, qd
        positions, whole = self.responses(q, qd, t)
        if positions is not None:
            for _ in range(sweeps):
                q = self.system.integrate(q, -positions.towards(self.position(q, t)))
        for _ in range(sweeps):
            qd = qd - whole.towards(self.rates(q, qd, t).velocity)
        return q, qd

    def consistent(self, q: Vector, qd: Vector, t: float = 0.0) -> tuple[Vector, Vector]:
        """A state of floats that meets the constraints to rounding, by Newton's iteration.

        Raises
        ------
        ConstraintError
            There is none near by.
        """
        state = np.concatenate([q, qd])
        scale = 1.0 + np.abs(state).max()
        for _ in range(MOST):
            q, qd = self.projected(q, qd, t, 1)
            q = self.system.normalize(q)
            before = state
            state = np.concatenate([q, qd])
            if np.abs(state - before).max() <= CLOSE * scale:
                return q, qd
        raise self.unmet(q, qd, t, "no state near by meets them")

    def is_met(self, q: Vector, qd: Vector, t: float = 0.0, within: float = UNMET) -> bool:
        """Whether a state of floats meets the constraints, relative to their slopes."""
        return bool(self.beyond_rounding(q, qd, t, within) <= 0)

    def beyond_rounding(self, q: Vector, qd: Vector, t: Any = 0.0, within: float = UNMET) -> Any:
        """By how much the largest residual of a state is beyond a part of the slopes of rows; 0 or
        less where they are met.
        """
        if not self.constraints:
            return -within
        rows = self.rates(q, qd, t)
        slopes = [entries_of(row).values() for row in rows.jacobian]
        reach = reduce(maximum, [sum(map(absolute, row)) for row in slopes])
        speed = reduce(maximum, absolute(np.asarray(qd)), 0.0)
        residuals = absolute(np.array([*self.position(q, t), *rows.velocity]))
        return reduce(maximum, residuals) - within * (1.0 + reach * (1.0 + speed))

    def check(self, q: Vector, qd: Vector, t: float = 0.0) -> None:
        """Raise a ConstraintError if a state of floats does not meet the constraints."""
        if not self.is_met(q, qd, t):
            raise self.unmet(q, qd, t, "begin at a state that meets it, as system.project gives it")

    def rank(self, q: Vector, qd: Vector, t: Any = 0.0) -> Any:
        """Number of rows that do not follow from others at a state."""
        response = self.response(self.inertia(q, t), self.rates(q, qd, t))
        return sum(chosen(x > 0, 1, 0) for x in response.mobility.inverse_pivots)

    def unmet(self, q: Vector, qd: Vector, t: float, why: str) -> ConstraintError:
        """The error of a state that does not meet the constraints."""
        residuals = [*self.position(q, t), *self.rates(q, qd, t).velocity]
        names = [*self.position_labels, *(f"the rate of {name}" for name in self.labels)]
        k = int(np.argmax(np.abs(np.array(residuals, float))))
        return ConstraintError(
            f"{names[k]!r} of {self.system.name!r} is {float(residuals[k]):.3g}, expected 0: {why}.",
            names[k],
        )
