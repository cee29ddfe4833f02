"""Motion on one-sided constraints phi >= 0, by Gauss's principle of least constraint.

    minimise (qdd - a)^T M (qdd - a)/2,  J qdd = k of two-sided rows,  J qdd >= k of contacts

Contacts are rows with phi = 0 and phi' = 0; their multipliers are 0 or more, and 0 where the row
leaves. A contact closes without rebound: the velocity behind it is the nearest one in the metric of
M that does not go on into it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from dalembert.analysis.states import checked_state
from dalembert.errors import ConstraintError, DalembertError
from dalembert.integrators import METHODS, Adaptive
from dalembert.integrators.method_kinds import PROJECTION, LinearlyImplicit
from dalembert.model.constraint import Constraint, ConstraintRates
from dalembert.results.observables import Observable
from dalembert.results.records import FINISHED, is_wanted_end
from dalembert.results.run import Run
from dalembert.simulation.lcp import UNBOUNDED, bounded
from dalembert.simulation.saturation import Saturation
from dalembert.spatial.arrays import Array, Values, in_order
from dalembert.systems.constrained_mechanism import with_constraints
from dalembert.systems.constraint_set import ConstraintSet
from dalembert.systems.kinds import system_of
from dalembert.systems.system import System

TOUCHING = 1e-9  # of phi and its rate, relative to their slopes: a contact is closed
PASSED = 1e-6  # of phi below 0: a contact that closed was not noticed
DEPENDENT = 1e-10  # of the largest singular value of the mobility of contacts
MOST = 10_000  # contacts that open and close
ADAPTIVE = "dop853"
CONTACT_FORCES = Observable(("contact",), description="multipliers of one-sided constraints")


class LeastConstraint(NamedTuple):
    """Accelerations of least constraint, and what keeps the constraints.

    accelerations : qdd (nv,) [rad/s^2, m/s^2]
    multipliers : of two-sided rows (k,)
    contact_forces : multipliers of one-sided rows (m,), 0 or more
    constraint : Gauss's measure (qdd - a)^T M (qdd - a)/2 of the deviation from the free
        accelerations a
    """

    accelerations: Array
    multipliers: Array
    contact_forces: Array
    constraint: float


def least_constraint(
    mechanism: Any, q: Values, qd: Values, tau: Values, t: float = 0.0
) -> LeastConstraint:
    """Accelerations by Gauss's principle of least constraint, with one-sided constraints.

    Parameters
    ----------
    mechanism : Mechanism, or another System, with constraints
    q, qd : (nq,), (nv,) arrays
        State that meets the constraints [rad, m; rad/s, m/s].
    tau : (nv,) array
        Applied forces [N m, N].
    t : float
        Time [s].

    Returns
    -------
    LeastConstraint

    Raises
    ------
    ConstraintError
        A state breaks a one-sided constraint, or goes on into it; contacts depend on each other.

    Examples
    --------
    >>> import dalembert as da
    >>> floor = da.constraints.Holonomic("floor", lambda q, t: [da.sin(q[0]) + 1], one_sided=True)
    >>> arm = da.planar_chain(1).constrained(floor, principle="gauss")
    >>> da.least_constraint(arm, [0.0], [0.0], [0.0]).accelerations.round(3)
    array([-14.715])
    """
    system = system_of(mechanism, "has no constraints")
    contacts = Contacts(system)
    q, qd = checked_state(contacts.base, q, qd)
    tau = np.asarray(in_order(tau, "tau", contacts.base.velocity_names), dtype=float)
    contacts.check_start(q, qd, t)
    force = contacts.base.applied(q, qd, tau, t)
    forces = contacts.forces(
        q,
        qd,
        t,
        force,
        contacts.touching(q, qd, t),
    )
    J = contacts.rates(q, qd, t).jacobian
    rows = ConstraintSet(contacts.base)
    solver = rows.solver(q, qd, t)
    qdd, multipliers = solver.accelerations(force + J.T @ forces)
    multipliers = np.array(solver.response.least(multipliers, rows.axes))
    M = np.asarray(contacts.base.mass_matrix(q, t), dtype=float)
    unconstrained = np.linalg.solve(M, np.asarray(force, dtype=float))
    away = qdd - unconstrained
    return LeastConstraint(qdd, multipliers, forces, float(away @ M @ away / 2))


class Contacts:
    """Contacts of a system at states of floats: its one-sided constraints.

    Attributes
    ----------
    base : the system without them
    constraints : the one-sided ones
    labels : names of their rows
    """

    def __init__(self, system: System):
        self.system = system
        kept = [
            (c, principle)
            for c, principle in zip(system.constraints, _principles(system), strict=True)
            if not c.one_sided
        ]
        two_sided, principles = zip(*kept, strict=True) if kept else ((), ())
        self.constraints = ConstraintSet(system).one_sided
        self.base = with_constraints(system, tuple(two_sided), tuple(principles))
        self._two_sided = tuple(two_sided)
        self._principles = tuple(principles)
        self.labels = ConstraintSet(system).some_labels(self.constraints)
        self._pieces: dict[tuple[int, ...], System] = {}

    def rates(self, q: Any, qd: Any, t: Any) -> ConstraintRates:
        """All one-sided rows."""
        return ConstraintSet(self.base).rates(q, qd, t, self.constraints)

    def positions(self, q: Any, t: Any) -> Any:
        """phi of all one-sided rows (m,)."""
        rows = [np.asarray(c.position(self.base, q, t)) for c in self.constraints]
        return np.concatenate([np.zeros(0), *rows])

    def with_closed(self, closed: Sequence[int]) -> System:
        """The system whose rows of some numbers are kept at 0."""
        key = tuple(closed)
        if key not in self._pieces:
            rows = tuple(_Row(self.constraints, k, self.labels[k]) for k in key)
            principles = (*self._principles, *["chetaev"] * len(rows))
            self._pieces[key] = with_constraints(self.system, (*self._two_sided, *rows), principles)
        return self._pieces[key]

    def touching(self, q: Array, qd: Array, t: float) -> list[int]:
        """Rows that are closed and do not separate."""
        rows = self.rates(q, qd, t)
        reach = np.abs(rows.jacobian).sum(axis=1)
        speed = 1 + np.abs(qd).max(initial=0.0)
        near = self.positions(q, t) <= TOUCHING * (1 + reach)
        slow = rows.velocity <= TOUCHING * (1 + reach * speed)
        return [int(k) for k in np.flatnonzero(near & slow)]

    def check_start(self, q: Array, qd: Array, t: float) -> None:
        """Raise a ConstraintError where a state breaks a constraint, or goes on into it."""
        rows = self.rates(q, qd, t)
        reach = np.abs(rows.jacobian).sum(axis=1)
        phi = self.positions(q, t)
        beyond = phi < -TOUCHING * (1 + reach)
        entering = (phi <= TOUCHING * (1 + reach)) & (
            rows.velocity < -TOUCHING * (1 + reach) * (1 + np.abs(qd).max(initial=0.0))
        )
        for wrong, values, said in ((beyond, phi, ""), (entering, rows.velocity, "the rate of ")):
            if wrong.any():
                k = int(np.argmax(wrong))
                raise ConstraintError(
                    f"{said}{self.labels[k]!r} of {self.system.name!r} is {values[k]:.3g} at t = "
                    f"{t:g} s, expected 0 or more: begin at a state that meets it.",
                    self.labels[k],
                )

    def forces(self, q: Array, qd: Array, t: float, force: Any, touching: Sequence[int]) -> Array:
        """Multipliers of all rows (m,) under Q + tau - bias, of those that touch 0 or more."""
        rows = self.rates(q, qd, t)
        solver = ConstraintSet(self.base).solver(q, qd, t)
        free, _ = solver.accelerations(force)
        away = rows.jacobian @ free - rows.bias
        return self._complementary(rows, solver, away, touching)

    def after_impact(self, q: Array, qd: Array, t: float) -> Array:
        """Velocities (nv,) nearest in the metric of M that enter no contact."""
        rows = self.rates(q, qd, t)
        reach = np.abs(rows.jacobian).sum(axis=1)
        closed = np.flatnonzero(self.positions(q, t) <= TOUCHING * (1 + reach))
        solver = ConstraintSet(self.base).solver(q, qd, t)
        impulses = self._complementary(rows, solver, rows.velocity, [int(k) for k in closed])
        return np.asarray(qd + solver.response_to(rows.jacobian.T @ impulses), dtype=float)

    def _complementary(
        self, rows: ConstraintRates, solver: Any, away: Array, chosen: Sequence[int]
    ) -> Array:
        """r (m,) of some rows with r >= 0, A r + away >= 0 and one of these 0 for each."""
        found = np.zeros(len(self.labels))
        if not chosen:
            return found
        J = np.asarray(rows.jacobian[chosen], dtype=float)
        A = J @ np.array([solver.response_to(row) for row in J], dtype=float).T
        values = np.linalg.svd(A, compute_uv=False)
        if values[-1] <= DEPENDENT * values[0]:
            names = ", ".join(self.labels[k] for k in chosen)
            raise ConstraintError(
                f"contacts of {self.system.name!r} depend on each other ({names}): their forces are not "
                "determined. Leave out those that follow from others.",
                self.labels[chosen[0]],
            )
        lower, upper = np.zeros(len(J)), np.full(len(J), UNBOUNDED)
        r, _ = bounded(
            A,
            np.asarray(away, float)[list(chosen)],
            lower,
            upper,
            np.ones(len(J)),
        )
        found[list(chosen)] = np.asarray(r, dtype=float)
        return found


@dataclass(frozen=True)
class _Row(Constraint):
    """A row of one-sided constraints, kept at 0."""

    constraints: tuple[Constraint, ...]
    index: int
    name: str
    count = 1

    def identity(self) -> str | None:
        """Row and constraints as text."""
        texts = [constraint.identity() for constraint in self.constraints]
        return None if None in texts else repr((texts, self.index))

    def position(self, system: Any, q: Any, t: Any = 0.0) -> Any:
        """phi (1,)."""
        rows = [np.asarray(c.position(system, q, t)) for c in self.constraints]
        return np.concatenate(rows)[self.index : self.index + 1]

    def rates(self, system: Any, q: Any, qd: Any, t: Any = 0.0) -> ConstraintRates:
        """Its rates."""
        rows = [c.rates(system, q, qd, t) for c in self.constraints]
        at = slice(self.index, self.index + 1)
        return ConstraintRates(*(np.concatenate(part)[at] for part in zip(*rows, strict=True)))


def _principles(system: System) -> tuple[str, ...]:
    return tuple(system.principles) or ("chetaev",) * len(system.constraints)


class _Instant(NamedTuple):
    """A state between two pieces, and the rows that are closed from there on."""

    t: float
    q: Array
    qd: Array
    closed: tuple[int, ...]


class ContactMotion:
    """Simulation on one-sided constraints: pieces with the same contacts, joined."""

    def __init__(self, system: System, simulation: Any):
        self.contacts = Contacts(system)
        self._simulation = simulation
        self._saturation = Saturation(system, simulation.actions.saturate)
        self._check(simulation)

    def _check(self, simulation: Any) -> None:
        """See that the options go with contacts that open and close."""
        name = simulation.stepping.method or ADAPTIVE
        refused = {
            "a method of fixed step (take 'dop853')": not isinstance(METHODS.get(name), Adaptive),
            "'rodas5p' (take 'dop853')": isinstance(METHODS.get(name), LinearlyImplicit),
            "store=": simulation.recording.store is not None,
            "parameters=": bool(simulation.model.parameters),
            "external_forces=": simulation.actions.external_forces is not None,
            "stops=": bool(simulation.contact.stops),
            "stabilisation=": simulation.constraining.stabilisation not in (None, PROJECTION),
            "a controller with states": np.size(getattr(simulation.actions.control, "states", ())),
            "events=": simulation.events is not None,
            "constraints with states (servo, TwoWay, vakonomic)": self.contacts.base.internal_names,
        }
        if found := [what for what, given in refused.items() if given]:
            raise DalembertError(
                f"{self.contacts.system.name!r} has one-sided constraints, which do not go with "
                f"{found[0]}."
            )

    def run(self, q: Values, qd: Values) -> Run:
        """The trajectory from one state.

        Raises
        ------
        ConstraintError
            The start breaks a constraint; a contact closed unnoticed.
        """
        q, qd = np.asarray(q, dtype=float), np.asarray(qd, dtype=float)
        if q.ndim != 1 or qd.ndim != 1:
            raise DalembertError("one-sided constraints take one trajectory: simulate one by one.")
        times = self._times()
        self.contacts.check_start(q, qd, times[0])
        instant = self._settled(float(times[0]), q, qd)
        records = _Joined(self.contacts, times)
        for _ in range(MOST):
            piece = self._piece(instant, records.left(instant.t))
            records.add(piece, instant)
            if records.is_done(piece):
                return records.run(self.contacts.system.source)
            instant = self._next(piece, instant, records)
        raise ConstraintError(
            f"contacts of {self.contacts.system.name!r} opened and closed {MOST} times before t = "
            f"{instant.t:g} s: end the motion earlier.",
            self.contacts.labels[0],
        )

    def _times(self) -> Array:
        """Times of the records [s]."""
        recording, stepping = self._simulation.recording, self._simulation.stepping
        method = METHODS[stepping.method or ADAPTIVE]
        schedule = recording.schedule(stepping.h, method, 1, np.inf)
        return np.asarray(schedule.times, dtype=float)

    def _piece(self, instant: _Instant, times: Array) -> Run:
        """The motion with the same contacts up to the next change, or to the end."""
        simulation = self._simulation
        system = self.contacts.with_closed(instant.closed)
        events = [*self._closings(instant), *self._openings(system, instant)]
        stepping = replace(simulation.stepping, method=simulation.stepping.method or ADAPTIVE)
        recording = replace(simulation.recording, t=times, record=None, progress=None)
        model = replace(simulation.model, mechanism=system.source)
        found: Run = replace(
            simulation, model=model, stepping=stepping, recording=recording, events=events
        ).run(instant.q, instant.qd)
        return found

    def _closings(self, instant: _Instant) -> list[Callable[..., Any]]:
        """Events of open rows that come to 0."""
        contacts = self.contacts

        def event(k: int) -> Callable[..., Any]:
            """phi of row k."""
            return _event(lambda t, q, qd: contacts.positions(q, t)[k], f"closes {k}")

        return [event(k) for k in range(len(contacts.labels)) if k not in instant.closed]

    def _openings(self, system: System, instant: _Instant) -> list[Callable[..., Any]]:
        """Events of closed rows whose multipliers come to 0."""
        first = len(ConstraintSet(system).labels) - len(instant.closed)
        force = self._tau

        def event(place: int, k: int) -> Callable[..., Any]:
            """The multiplier of row k."""
            return _event(
                lambda t, q, qd: system.multipliers(q, qd, force(t, q, qd), t)[place],
                f"opens {k}",
            )

        return [event(first + place, k) for place, k in enumerate(instant.closed)]

    def _tau(self, t: Any, q: Any, qd: Any) -> Any:
        """Control and forces at a state."""
        tau: Any = np.zeros(self.contacts.system.nv)
        actions = self._simulation.actions
        for given, limited in ((actions.control, self._saturation), (actions.forces, np.asarray)):
            if given is not None:
                tau = tau + limited(np.asarray(given(t, q, qd) if callable(given) else given))
        return tau

    def _settled(self, t: float, q: Array, qd: Array, released: Sequence[int] = ()) -> _Instant:
        """The state behind an impact, with the rows that stay closed."""
        qd = self.contacts.after_impact(q, qd, t)
        touching = [k for k in self.contacts.touching(q, qd, t) if k not in released]
        force = self.contacts.base.applied(q, qd, np.asarray(self._tau(t, q, qd), float), t)
        forces = self.contacts.forces(
            q,
            qd,
            t,
            force,
            touching,
        )
        closed = tuple(k for k in touching if forces[k] > 0)
        return _Instant(t, q, qd, closed)

    def _next(self, piece: Run, before: _Instant, records: _Joined) -> _Instant:
        """The state behind the change that ended a piece."""
        t, (q, qd) = float(piece.end.t), piece.final()
        happened = [e.name.split() for e in piece.events if abs(e.t - t) <= TOUCHING]
        released = [int(k) for what, k in happened if what == "opens"]
        phi = self.contacts.positions(q, t)
        if (phi < -PASSED).any():
            k = int(np.argmin(phi))
            raise ConstraintError(
                f"{self.contacts.labels[k]!r} of {self.contacts.system.name!r} is {phi[k]:.3g} at t = "
                f"{t:g} s: it closed and opened within a step. Give a shorter longest_step=.",
                self.contacts.labels[k],
            )
        instant = self._settled(t, np.asarray(q), np.asarray(qd), released)
        records.lose(piece, np.asarray(qd), instant)
        return instant


def _event(g: Callable[..., Any], name: str) -> Callable[..., Any]:
    """A function as an event that ends a piece where it falls through 0."""
    g.name, g.terminal, g.direction = name, True, -1  # type: ignore[attr-defined]
    return g


class _Joined:
    """Joined records of pieces."""

    def __init__(self, contacts: Contacts, times: Array):
        self._contacts, self._times = contacts, times
        self._rows: dict[str, list[Array]] = {
            name: [] for name in ("q", "qd", "work", "forces", "multipliers")
        }
        self._made = 0
        self._work = 0.0
        self._steps = np.zeros(2, dtype=int)
        self._last: Run | None = None

    def left(self, t: float) -> Array:
        """Times of a piece from t on: t itself, and the records that are not made."""
        left = self._times[self._made :]
        return left if self._made == 0 or left[0] <= t else np.concatenate([[t], left])

    def add(self, piece: Run, instant: _Instant) -> None:
        """Take the records of a piece at the times that are asked for."""
        wanted = self._times[self._made :]
        at = np.flatnonzero(np.isin(piece.times, wanted))
        multipliers = (
            piece.observables["multipliers"]
            if "multipliers" in piece.observables
            else np.zeros((len(piece.times), 0))
        )
        two_sided = multipliers.shape[1] - len(instant.closed)
        forces = np.zeros((len(piece.times), len(self._contacts.labels)))
        forces[:, list(instant.closed)] = multipliers[:, two_sided:]
        parts = {"q": piece.q, "qd": piece.qd, "work": piece.work + self._work, "forces": forces}
        for name, values in (parts | {"multipliers": multipliers[:, :two_sided]}).items():
            self._rows[name].append(np.asarray(values)[at])
        self._made += len(at)
        self._work += float(piece.work[-1])
        self._steps += [int(piece.steps), int(piece.rejected)]
        self._last = piece

    def lose(self, piece: Run, qd: Array, instant: _Instant) -> None:
        """Book the energy that an impact takes."""
        base = self._contacts.base
        before, after = (
            float(base.kinetic_energy(instant.q, x, instant.t)) for x in (qd, instant.qd)
        )
        self._work += after - before

    def is_done(self, piece: Run) -> bool:
        """Whether all records are made, or the motion cannot go on."""
        return self._made == len(self._times) or not is_wanted_end(piece.reason)

    def run(self, source: Any) -> Run:
        """The run of all pieces."""
        assert self._last is not None
        rows = {name: np.concatenate(parts) for name, parts in self._rows.items()}
        is_whole = self._made == len(self._times)
        declared = {"contact_forces": replace(CONTACT_FORCES, labels=self._contacts.labels)}
        recorded = {"contact_forces": rows["forces"]}
        if rows["multipliers"].shape[1]:
            recorded["multipliers"] = rows["multipliers"]
        return replace(
            self._last,
            mechanism=source,
            times=self._times[: self._made],
            q=rows["q"],
            qd=rows["qd"],
            work=rows["work"],
            steps=self._steps[0],
            rejected=self._steps[1],
            reasons=(FINISHED,) if is_whole else self._last.reasons,
            controller_states=None,
            events=(),
            declared=declared,
            recorded=recorded,
            ended=None,
        )
