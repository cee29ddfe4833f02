"""Records of a simulation: states at times, energies, balance of power, and why it stopped."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import cached_property
from math import prod
from typing import TYPE_CHECKING, Any, NoReturn, TypeVar

import numpy as np

from dalembert.compiled.memo import dynamics_of
from dalembert.errors import DalembertError, UnknownNameError, public_names, unknown_attribute
from dalembert.kinematics.forces import SIGN, coulomb
from dalembert.results.ends import End, last_finite, last_records
from dalembert.results.events import Change, Event
from dalembert.results.observables import Observable, Observables, observables_of
from dalembert.results.solutions import Solutions
from dalembert.spatial.arrays import Array
from dalembert.systems.constraint_set import ConstraintSet
from dalembert.systems.kinds import system_of
from dalembert.systems.system import System

FINISHED = "finished"
EVENT = "event "  # with which the reason of a trajectory begins that a terminal event ended
NOT_UNIQUE = "of least norm, as rows depend on each other, and not unique:"


def is_wanted_end(reason: str) -> bool:
    """Whether a trajectory went on to its last time, or to an event that the caller calls terminal."""
    return reason == FINISHED or reason.startswith(EVENT)


@dataclass(frozen=True)
class Records:
    """Data of a run, and the quantities that follow from them; `Run` has its files, diagrams and
    films.
    """

    mechanism: Any  # as it was given to simulate
    times: Array  # (K,) [s]
    q: Array  # (K, nq) or (N, K, nq)
    qd: Array  # (K, nv) or (N, K, nv)
    work: Array  # (K,) or (N, K) [J]: done by actuators, friction and the user's forces
    method: str
    h: float  # step [s]; of adaptive methods, the first one
    reasons: tuple[str, ...]  # of each trajectory: 'finished', or what ended it and when
    forces: dict[str, str]  # how each force was evaluated: none, constant, traced or called
    steps: np.ndarray[tuple[int, ...], np.dtype[np.int64]] = field(
        repr=False
    )  # () or (N,): accepted
    rejected: np.ndarray[tuple[int, ...], np.dtype[np.int64]] = field(repr=False)
    controller_states: Array | None = field(
        default=None, repr=False
    )  # (K, m) or (N, K, m); m = 0 if it has none
    applied: Any = field(
        default=None, repr=False, compare=False
    )  # the function that `tau` evaluates
    events: tuple[Event, ...] = field(
        default=(), repr=False
    )  # (trajectory, t, q, qd, name), in order of time
    changes: tuple[Change, ...] = field(
        default=(), repr=False
    )  # changes of friction and stops, with their times
    friction: str | None = None  # Coulomb's: 'stick', 'sign' or 'none'; None: it is not known
    stabilisation: str | None = None  # of constraints; None: there are none
    parameters: dict[str, Any] = field(
        default_factory=dict, repr=False
    )  # path -> number that was an input, or (N,)
    dynamics: Any = field(
        default=None, repr=False, compare=False
    )  # compiled with them as inputs; None: the mechanism's
    ended: End | None = field(
        default=None, repr=False
    )  # of several trajectories: `end`; None: at records
    declared: dict[str, Observable] = field(
        default_factory=dict, repr=False
    )  # observables beside those of the system
    recorded: dict[str, Any] = field(
        default_factory=dict, repr=False
    )  # arrays of observables that were recorded while it went
    saturated: bool = False  # whether the control obeyed limits of effort

    _unlisted = (
        "applied declared dynamics ended held numbers own_mechanism quantity recorded".split()
    )
    __dir__ = public_names

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> NoReturn:
            raise unknown_attribute(self, name)

    @property
    def reason(self) -> str:
        """Why the run stopped; of several trajectories, of the first that did not finish."""
        return next((r for r in self.reasons if r != FINISHED), FINISHED)

    @cached_property
    def observables(self) -> Observables:
        """Quantities that were recorded, or follow from the records, by name: the system's own,
        `modes` and `reactions` of friction and stops, `held_forces` of a sampled controller,
        `solutions` of an iterative solver, `internal_states` of the system.
        """
        declared = observables_of(self.system) | self.declared
        if self.not_unique:
            name = "multipliers"
            words = f"{declared[name].description}; {NOT_UNIQUE} {', '.join(self.not_unique)}"
            declared[name] = replace(declared[name], description=words)
        return Observables(self, declared, self.recorded)

    @cached_property
    def not_unique(self) -> tuple[str, ...]:
        """Names of rows of constraints whose multipliers are not unique at the first record, the last
        or one between, of the first trajectory: rows that follow from others, and the others.
        """
        if not self.system.constraints:
            return ()
        rows = ConstraintSet(system_of(self.own_mechanism()))
        q, qd = (x.reshape(-1, *x.shape[-2:])[0] for x in (self.q, self.qd))
        looked_at = {0, len(self.times) // 2, len(self.times) - 1}
        states = [(q[k], qd[k], self.times[k]) for k in looked_at]
        finite = [state for state in states if np.isfinite(np.concatenate(state[:2])).all()]
        names = {name for state in finite for name in rows.not_unique(*state)}
        return tuple(label for label in rows.labels if label in names)

    @property
    def modes(self) -> Array | None:
        """Modes of friction and stops, shaped as qd: 0 rests, 1 or -1 slides, 2 moves freely; None
        where nothing was watched.
        """
        return self.recorded.get("modes")

    @property
    def multipliers(self) -> Array | None:
        """Multipliers of constraints (records, k) or (N, records, k), forces on the side of the
        applied ones, as they follow from the states; None without constraints. Those of the rows
        `not_unique` are of least norm.

        Raises
        ------
        DalembertError
            Forces are not known: files and copies of a run do not keep the functions that gave
            them.
        """
        return self._of_constraints("multipliers")

    @property
    def residual(self) -> Array | None:
        """Largest residual of the constraints on coordinates, shaped as `work`; None without
        constraints.
        """
        return self._largest_of_constraints("constraint_residual")

    @property
    def velocity_residual(self) -> Array | None:
        """Largest residual of the constraints on velocities, and of the rates of the others, shaped
        as `work`; None without constraints.
        """
        return self._largest_of_constraints("constraint_velocity")

    def _of_constraints(self, name: str) -> Array | None:
        return self.observables[name] if self.system.constraints else None

    def _largest_of_constraints(self, name: str) -> Array | None:
        if not self.system.constraints:
            return None
        if name not in self.observables:  # no constraints on coordinates
            return np.zeros_like(self.work)
        rows = np.abs(self.observables[name])
        return rows.max(axis=-1)  # type: ignore[no-any-return]

    @property
    def held(self) -> Array | None:
        """Forces of a sampled controller [N m, N], shaped as qd; None without one."""
        return self.recorded.get("held_forces")

    @property
    def internal_states(self) -> Array | None:
        """Internal states of the system, as multipliers of the vakonomic principle and states of
        generators: (K, n) or (N, K, n); None if it has none.
        """
        return self.recorded.get("internal_states")

    @property
    def solutions(self) -> Solutions | None:
        """Counts of an iterative `solver`; None without one."""
        if "solutions" not in self.recorded:
            return None
        solver = self.declared["solutions"].source
        return Solutions.of(solver, np.asarray(self.recorded["solutions"]))

    @cached_property
    def kinetic_energy(self) -> Array:
        """T [J], shaped as `work`; of a Lagrangian 1/2 qd^T M qd."""
        return self.quantity("kinetic_energy")

    @cached_property
    def potential_energy(self) -> Array:
        """Pi of gravity and springs [J], shaped as `work`; of a Lagrangian -L at qd = 0."""
        return self.quantity("potential_energy")

    @property
    def energy(self) -> Array:
        """T + Pi [J], shaped as `work`; of a Lagrangian Jacobi's function p . qd - L."""
        return self.kinetic_energy + self.potential_energy

    @property
    def power_balance(self) -> Array:
        """T + Pi less its first value and the work done [J]: the integrator's gain or loss."""
        energy = self.energy
        return energy - energy[..., :1] - self.work

    @cached_property
    def tau(self) -> Array:
        """Control, forces and external forces along qd [N m, N], shaped as qd; evaluated when first
        asked for.

        Of a sampled controller they are those that acted, from each time on.

        Raises
        ------
        DalembertError
            They are not known: files and copies of a run do not keep the functions that gave them.
        """
        return self._forces_at(self.times, self.q, self.qd, self.controller_states, self.held)

    @cached_property
    def control_forces(self) -> Array:
        """Forces of the control alone [N m, N], shaped as qd; evaluated when first asked for.

        Raises
        ------
        DalembertError
            They are not known: files and copies of a run keep no functions.
        """
        if self.held is not None:
            return np.where(np.isfinite(self.q[..., :1]), self.held, np.nan)
        if self.forces.get("control", "none") == "none":
            return np.zeros_like(self.qd)
        if self.applied is None:
            raise DalembertError(
                "the control of this run is not known: files and copies keep no functions. Ask "
                "for run.control_forces where it was simulated."
            )
        states = self.controller_states
        found: Array = self.applied(self.times, self.q, self.qd, states, ("control",))
        return found

    def _forces_at(
        self, times: Array, q: Array, qd: Array, states: Array | None, held: Array | None
    ) -> Array:
        """Forces tau on other states, beside those that a sampled controller holds there."""
        if set(self.forces.values()) == {"none"}:
            return np.zeros_like(qd)
        others = {kind for name, kind in self.forces.items() if name != "control"}
        if held is not None and others == {"none"}:
            return np.where(np.isfinite(q[..., :1]), held, np.nan)
        if self.applied is None:
            raise DalembertError(
                "the forces of this run are not known: files and copies keep no functions. Ask "
                "for run.tau where it was simulated."
            )
        applied: Array = self.applied(times, q, qd, states)
        return applied if held is None else applied + held

    @cached_property
    def reactions(self) -> Array:
        """Forces of Coulomb friction and stops on the joints [N m, N], shaped as qd.

        Raises
        ------
        DalembertError
            They stick or stop, and what they do is not known: files and copies do not keep it.
        """
        if "reactions" in self.observables:
            return self.observables["reactions"]
        if self.friction not in (SIGN, "none"):
            raise DalembertError(
                "the reactions of this run are not known: files and copies do not keep what "
                "joints did. Ask for run.reactions where it was simulated."
            )
        if self.friction == "none":
            return np.zeros_like(self.qd)
        if self.qd.ndim == 2 or not self.parameters:
            return -coulomb(self.own_mechanism()) * np.sign(self.qd)
        return np.stack(
            [-coulomb(self.own_mechanism(k)) * np.sign(qd) for k, qd in enumerate(self.qd)]
        )

    @cached_property
    def system(self) -> System:
        """The equations of motion of the mechanism."""
        return system_of(self.mechanism)

    def own_mechanism(self, trajectory: int = 0) -> Any:
        """The mechanism of a trajectory: with its numbers, if the run has `parameters`.

        Examples
        --------
        >>> import dalembert as da
        >>> run = da.simulate(da.planar_chain(1), [0.5], [0.0], 0.1, parameters={"link1.mass": 2.0})
        >>> float(run.own_mechanism().number("link1.mass"))
        2.0
        """
        if not self.parameters:
            return self.mechanism
        values = np.broadcast_to(
            self.numbers, (len(self.q) if self.q.ndim == 3 else 1, len(self.parameters))
        )[trajectory]
        return self.system.replace(dict(zip(self.parameters, values.tolist(), strict=True))).source

    @property
    def numbers(self) -> Array:
        """Values of the parameters, (m,) or (N, m)."""
        return (
            np.stack(np.broadcast_arrays(*self.parameters.values()), axis=-1)
            if self.parameters
            else np.zeros(0)
        )

    def __getstate__(self) -> dict[str, Any]:
        """All but the functions that moved the mechanism."""
        declared, recorded = self.observables.kept()
        state = self.__dict__ | {"applied": None, "declared": declared, "recorded": recorded}
        del state["observables"]
        return state

    @cached_property
    def momenta(self) -> Array:
        """Generalized momenta p = M qd, shaped as qd."""
        return self.quantity("momenta")

    @property
    def end(self) -> End:
        """Ends of the trajectories: t () or (N,) [s], q, qd, work, controller_states,
        internal_states, from which another run goes on.

        The last record, or the state between two records at which an event or a failure ended it.
        """
        if self.ended is not None:
            return self.ended
        states = self.controller_states, self.internal_states
        return last_records(self.times, self.q, self.qd, self.work, *states)

    def final(self) -> tuple[Array, Array]:
        """q (nq,) or (N, nq) [rad, m] and qd (nv,) or (N, nv) [rad/s, m/s] at the `end` of each
        trajectory: where another run goes on.

        Examples
        --------
        >>> import dalembert as da
        >>> q, qd = da.simulate(da.planar_chain(1), [0.5], [0.0], 0.1).final()
        >>> q.shape, qd.shape
        ((1,), (1,))
        """
        return self.end.q, self.end.qd

    @cached_property
    def end_energies(self) -> tuple[Array, Array]:
        """T and Pi [J] at the `end` of each trajectory, () or (N,) each."""
        t, q, qd, *_ = self.end
        t, q, qd = np.asarray(t)[..., None], q[..., None, :], qd[..., None, :]  # a record of each
        T, P = self._energies_at(t, q, qd)
        return T[..., 0], P[..., 0]

    @cached_property
    def end_observables(self) -> dict[str, Array]:
        """Observables of the system at the `end` of each trajectory, (...) or (N, ...) each."""
        names = self.system.recorded
        if not names:
            return {}
        times, q, qd, _, states, internal = (None if v is None else np.asarray(v) for v in self.end)
        assert times is not None and q is not None and qd is not None
        state = {"q": q[..., None, :], "qd": qd[..., None, :]}  # a record of each
        if internal is not None:
            state["internal_states"] = internal[..., None, :]
        if any("tau" in quantity.inputs for quantity in names.values()):
            held = None if self.held is None else last_finite(self.held)[..., None, :]
            states = None if states is None else states[..., None, :]
            state["tau"] = self._forces_at(times[..., None], state["q"], state["qd"], states, held)
        return {
            name: np.take(self.quantity(name, times[..., None], **state), 0, axis=times.ndim)
            for name in names
        }

    def _energies_at(
        self, times: np.ndarray, q: np.ndarray, qd: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """T and Pi [J] of other states."""
        names = "kinetic_energy", "potential_energy"
        T, P = (self.quantity(name, times, q=q, qd=qd) for name in names)
        return T, P

    def quantity(self, name: str, times: np.ndarray | None = None, **state: np.ndarray) -> Array:
        """A quantity of the system at every record, or at states of other times: (records, ...) or
        (N, records, ...), in the shape and unit of the plain function; NaN where a state is.

        Raises
        ------
        UnknownNameError, DalembertError
            There is none; it follows from forces, which are not known.

        Examples
        --------
        >>> import dalembert as da
        >>> run = da.simulate(da.planar_chain(1), [0.5], [0.0], 0.1)
        >>> run.quantity("momenta").shape
        (101, 1)
        """
        times = self.times if times is None else times
        if name not in self.system.quantities:
            raise UnknownNameError("quantity", name, tuple(self.system.quantities))
        inputs = self.system.quantities[name].inputs
        of_states = [i for i in inputs if i != "t"] or ["q"]  # whose NaN are those of the result
        vectors = [state[i] if i in state else getattr(self, i) for i in of_states]
        compiled = self.dynamics or dynamics_of(self.mechanism, tuple(self.parameters))
        function = getattr(compiled, name)

        def valued(t: np.ndarray, *rows: np.ndarray) -> np.ndarray:
            """The quantity at times and states."""
            known = dict(zip([*of_states, "parameters"], rows, strict=False)) | {"t": t}
            given = [known[i] for i in inputs]
            if not self.parameters:
                return np.asarray(function(*given))
            return np.asarray(function(*given, parameters=known["parameters"]))

        if self.parameters:
            vectors.append(rows_of(self.numbers, vectors[0]))
        return along(times, valued, *vectors)


Recorded = TypeVar("Recorded", bound=Records)


def rows_of(numbers: np.ndarray, records: np.ndarray) -> np.ndarray:
    """Numbers of trajectories, (m,) or (N, m), at each of their records (..., entries)."""
    return np.broadcast_to(numbers[..., None, :], (*records.shape[:-1], numbers.shape[-1]))


def along(times: np.ndarray, f: Callable[..., np.ndarray], *vectors: np.ndarray) -> np.ndarray:
    """f(t, *vectors) at records (..., entries); NaN where they are."""
    flat = [v.reshape(prod(v.shape[:-1]), v.shape[-1]) for v in vectors]
    rows = vectors[0].shape[:-1]
    t = (
        times
        if times.shape == rows == flat[0].shape[:1]
        else np.broadcast_to(times, rows).reshape(-1)
    )
    if all(np.isfinite(v).all() for v in flat):
        found = np.asarray(f(t, *flat))
        return found.reshape(*rows, *found.shape[1:])
    good = np.all([np.isfinite(v).all(axis=-1) for v in flat], axis=0)
    found = np.asarray(f(t[good], *(v[good] for v in flat)))
    out = np.full((len(good), *found.shape[1:]), np.nan)
    out[good] = found
    return out.reshape(*rows, *found.shape[1:])
