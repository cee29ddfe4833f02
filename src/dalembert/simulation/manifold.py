"""States that a system may have: quaternions of unit length, and constraints met."""

from __future__ import annotations

from functools import cached_property, reduce
from typing import Any, NamedTuple

import numpy as np

from dalembert.expr import Expr, maximum, sqrt, substitute, symbols
from dalembert.integrators.method_kinds import DEPENDENT_ENTRIES, MET, PARTITIONING, SWITCHES
from dalembert.integrators.passage import RETURNS
from dalembert.simulation.elementwise import less, where
from dalembert.simulation.formulation import Formulation
from dalembert.simulation.mobility import projected_beside
from dalembert.spatial import linear_algebra
from dalembert.spatial.ldl import factorised, unchecked
from dalembert.systems.constraint_response import Response
from dalembert.systems.constraint_set import SWEEPS, ConstraintSet
from dalembert.systems.coordinate_partitioning import CoordinatePartitioning
from dalembert.systems.system import System

FAR = 5  # corrections of ends of steps, which may be far from the constraints, by directions there


class LinearisedMotion(NamedTuple):
    """Motion about a state.

    M, K, D : mass matrix, and minus derivatives of forces by coordinates and by velocities
    inertia : M and what forces add in a step
    response : of the constraints to forces along them, if there are any
    """

    M: np.ndarray
    K: np.ndarray
    D: np.ndarray
    inertia: np.ndarray
    response: Response | None

    @property
    def J(self) -> np.ndarray:
        """Jacobian of the constraints (k, nv)."""
        assert self.response is not None
        return self.response.rows.jacobian

    def corrected(self, residual: Any, drag: Any = 0.0) -> Any:
        """The change of accelerations that takes away a residual of these (nv,), less the drag."""
        return linear_algebra.solve(self.inertia, self.M @ residual - drag)

    def multipliers(self, residual: Any) -> Any:
        """Multipliers that change J qdd by a residual (k,)."""
        assert self.response is not None
        return self.response.multipliers(residual)

    def along(self, multipliers: Any) -> Any:
        """Accelerations of multipliers (nv,)."""
        assert self.response is not None
        return self.response.along(multipliers)


class StateManifold:
    """An `integrators.method_kinds.Manifold` in x = (q, y, ...), with the numbers and the clock of a
    motion.

    motion : the first-order system
    p : its parameters (n,), of floats or expressions; to be `bound` where they are not known yet
    """

    def __init__(self, motion: Any, p: Any = None):
        self._motion, self._p = motion, p
        self.is_constrained = bool(ConstraintSet(motion.system).constraints)
        self._projects = motion.formulation.stabilisation.name in MET
        self._parts = motion.formulation.stabilisation.name == PARTITIONING
        self.least: Any = 1.0  # margin of states whose rates were asked for in a step

    def bound(self, p: Any) -> StateManifold:
        """The manifold with parameters."""
        return StateManifold(self._motion, p)

    @cached_property
    def holonomic(self) -> np.ndarray:
        """Whether each row of constraints holds coordinates (k,)."""
        return ConstraintSet(self._motion.system).is_position

    @property
    def _system(self) -> System:
        return self._motion.at(self._p).system  # type: ignore[no-any-return]

    @property
    def _constraints(self) -> ConstraintSet:
        return ConstraintSet(self._system)

    def __call__(self, t: Any, x: Any) -> Any:
        return self._corrected(t, x, FAR)

    def returned(self, t: Any, x: Any) -> Any:
        """The state after one correction of positions and velocities towards the nearest one."""
        return self._corrected(t, x, 1)

    def _corrected(self, t: Any, x: Any, sweeps: int) -> Any:
        x = self.normalized(x)
        if not (self.is_constrained and self._projects):
            return x
        if self._parts:
            return self._completed(t, x, sweeps)
        q, y, *others = self._motion.state.parts(x)
        clock = self._clock(t)
        if law := self._motion.reactions:
            moving = law.moving(self._motion.modes(self._p))
            state = projected_beside(self._constraints, moving, q, y, clock)
            return np.concatenate([*state, *others])
        qd = self.velocities(t, q, y)
        q, qd = self._constraints.projected(q, qd, clock, sweeps)
        if self._motion.formulation.canonical:
            return np.concatenate([q, self._system.momenta(q, qd, clock), *others])
        return np.concatenate([q, qd, *others])

    def _completed(self, t: Any, x: Any, sweeps: int) -> Any:
        """The state whose dependent entries follow from the others; which these are is chosen anew."""
        q, y, *_ = self._motion.state.parts(x)
        clock = self._clock(t)
        entries = self._entries(x)
        q, qd = entries.completed(q, y, clock, sweeps)
        marks = entries.chosen(q, qd, clock)
        changes = np.abs(marks - entries.marks)
        switched = where(less(0.5, reduce(maximum, changes)), 1.0, 0.0)
        x = x.copy()
        places = self._motion.state.slices
        x[places["q"]], x[places["y"]] = q, qd
        x[places[DEPENDENT_ENTRIES]] = marks
        x[places[SWITCHES]] = x[places[SWITCHES]] + switched
        return x

    def _entries(self, x: Any) -> CoordinatePartitioning:
        """Independent and dependent entries of a state."""
        return CoordinatePartitioning(
            self._constraints, self._motion.state.part(x, DEPENDENT_ENTRIES)
        )

    def met(self, t: Any, x: Any, errors: Any = ()) -> tuple[Any, Any]:
        """The state nearby, and the errors of x; with coordinate partitioning those of dependent
        entries follow from the others.
        """
        there = self(t, x)
        return there, tuple(self._along(t, x, error) for error in errors)

    def _along(self, t: Any, x: Any, error: Any) -> Any:
        """The part of an error that is left once dependent entries are solved for."""
        if not (self._parts and self._system.nq == self._system.nv):
            return error
        q, y, *_ = self._motion.state.parts(x)
        e_q, e_y, *others = self._motion.state.parts(error)
        entries, clock = self._entries(x), self._clock(t)
        parts = [entries.along(change, q, y, clock) for change in (e_q, e_y)]
        return np.concatenate([*parts, *others])

    @property
    def lands(self) -> bool:
        """Whether ends of steps are projected onto constraints; not beside joints that stick or stop."""
        projects = self._projects and not self._parts
        return self.is_constrained and projects and not self._motion.reactions

    def landed(self, t: Any, x: Any, errors: Any = ()) -> list[Any]:
        """Margin of the constraints, the state nearby that is one, then the parts of errors of x that
        projection leaves.
        """
        margin, near, *along = self.approached(t, x, errors)
        return [margin, self._corrected(t, near, SWEEPS), *along]

    def approached(self, t: Any, x: Any, errors: Any = ()) -> list[Any]:
        """Margin of the constraints, a state nearer to them, then the parts of errors of x that
        projection leaves; of momenta as they are.
        """
        x = self.normalized(x)
        q, y, *beside = self._motion.state.parts(x)
        positions, whole = self.responses(t, q, y)
        along = []
        for error in errors:
            e_q, e_y, *others = self._motion.state.parts(error)
            if positions is not None:
                e_q = e_q - self.rate(q, positions.towards(self._off(positions, t, q, e_q)))
            if not self._motion.formulation.canonical:
                e_y = e_y - whole.towards(whole.rates(e_y))
            along.append(np.concatenate([e_q, e_y, *others]))
        if self._motion.formulation.canonical:
            return [whole.margin, x, *along]
        if positions is not None:
            q = self._system.integrate(q, -positions.towards(self.position(t, q)))
        y = y - whole.towards(whole.rows.velocity)
        return [whole.margin, np.concatenate([q, y, *beside]), *along]

    def _off(self, positions: Response, t: Any, q: Any, change: Any) -> Any:
        """Change of phi by a small change of q."""
        if len(change) == self._system.nv and not self._system.quaternions:
            return positions.rates(change)
        return self.position(t, q + change) - self.position(t, q)

    def margin(self, t: Any, x: Any) -> Any:
        """1 where rows are independent, and 0 where one comes to follow from others."""
        q, y, *_ = self._motion.state.parts(self.normalized(x))
        return self.responses(t, q, y)[1].margin

    def crossing(self, f: Any, crossed: Any) -> Any:
        """f of the states nearby that meet the constraints, if `crossed` is above 0; `least` becomes
        the least margin of all of them.
        """
        self.least = 1.0
        times = RETURNS if crossed > 0 else 0

        def watched(t: Any, x: Any) -> Any:
            """f of the state nearby."""
            for _ in range(times):
                x = self.returned(t, x)
            self.least = min(self.least, self.margin(t, x))
            return f(t, x)

        return watched

    def normalized(self, x: Any) -> Any:
        """x, or q, with quaternions of unit length."""
        return normalized(self._motion.formulation, x)

    def rate(self, q: Any, qd: Any) -> Any:
        """Rates of coordinates (nq,)."""
        return np.asarray(self._system.rate(q, qd))

    def velocities(self, t: Any, q: Any, y: Any) -> Any:
        """qd of a state."""
        return self._motion.at(self._p).velocities(self._clock(t), q, y)

    def position(self, t: Any, q: Any) -> Any:
        """phi of holonomic constraints, with quaternions of unit length."""
        return self._constraints.position(self.normalized(q), self._clock(t))

    def velocity(self, t: Any, q: Any, y: Any) -> Any:
        """phi' and psi of all constraints (k,)."""
        q = self.normalized(q)
        qd = self.velocities(t, q, y)
        return self._constraints.rates(q, qd, self._clock(t)).velocity

    def responses(self, t: Any, q: Any, y: Any) -> tuple[Response | None, Response]:
        """Motion that forces along rows of positions, and along all rows, cause at a state."""
        q = self.normalized(q)
        qd = self.velocities(t, q, y)
        return self._constraints.responses(q, qd, self._clock(t))

    def impulse(self, response: Response, residual: Any) -> Any:
        """The change of y that changes J qd by a residual (k,)."""
        if self._motion.formulation.canonical:
            return response.rows.jacobian.T @ response.multipliers(residual)
        return response.towards(residual)

    def push(self, response: Response, ahead: Response) -> Any:
        """The change of velocities (nv,), along forces of constraints at one state, that meets the
        constraints at a state near by.
        """
        directions = response.directions
        pivots = np.array(response.mobility.inverse_pivots)
        kept = where(less(0.0, pivots), 1.0, 0.0)  # rows that do not follow from others
        mobility = kept[:, None] * (ahead.rows.jacobian @ directions) * kept
        mobility = mobility + np.diag(1 - kept)
        multipliers = linear_algebra.solve(mobility, -kept * ahead.rows.velocity)
        return directions @ np.asarray(multipliers)

    def linearised(self, t: Any, x: Any, by_rate: Any, by_place: Any) -> LinearisedMotion:
        """The motion about a state, for steps in which velocities change by `by_rate` and coordinates
        by `by_place` of accelerations.
        """
        p = self._p
        q, y, *_ = self._motion.state.parts(x)
        system, clock = self._motion.at(p, x).system, self._clock(t)
        M = np.asarray(system.mass_matrix(q, clock))
        K, D = self._stiffness(t, x)
        inertia = M + by_rate * D + by_place * K
        response = None
        if self.is_constrained:
            rows = ConstraintSet(system)
            symmetric = ((inertia + inertia.T) / 2).tolist()
            factors = factorised(symmetric, unchecked)
            response = rows.response(factors, rows.rates(q, y, clock))
        return LinearisedMotion(M, K, D, inertia, response)

    def _stiffness(self, t: Any, x: Any) -> tuple[Any, Any]:
        """-dF/dq (nv, nv) along velocities and -dF/dqd of forces F but those of inertia."""
        motion, p = self._motion, self._p
        graph = next((value.graph for value in x if isinstance(value, Expr)), None)
        if graph is None:
            return motion.code.stiffness(t, x, p)  # type: ignore[no-any-return]
        at = np.array(symbols("stiff at", motion.nx, graph), dtype=object)
        values = dict(zip(at, x, strict=True))
        K, D = motion.stiffness(t, at, p)
        return np.asarray(substitute(K, values)), np.asarray(substitute(D, values))

    def _clock(self, t: Any) -> Any:
        return self._motion.clock(t, self._p)


def normalized(formulation: Formulation, x: np.ndarray) -> np.ndarray:
    """x with quaternions of unit length."""
    if not formulation.quaternions:
        return x
    x = x.copy()
    for at in formulation.quaternions.values():
        x[at : at + 4] = x[at : at + 4] / sqrt(sum(c * c for c in x[at : at + 4]))
    return x
