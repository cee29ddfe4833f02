"""Equations of the first order of a system: q' and y', y its velocities qd or its momenta p.

Vectors are those of one state, of floats or expressions; states to begin with and records come in
rows. Some numbers of the system may be inputs: `numbers` (m,) or, where states come in rows, (N,
m), of which `at` makes the equations.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from copy import copy
from functools import partial
from typing import Any

import numpy as np

from dalembert.compiled.memo import PLAIN, dynamics_of, kept, quantities_of
from dalembert.errors import DalembertError
from dalembert.formulations.hamilton.velocity_solver import Solver
from dalembert.integrators.method_kinds import BALANCED, DEPENDENT_ENTRIES, INDEX_3, MET
from dalembert.native.function import CompiledFunction, function
from dalembert.results.observables import Observable
from dalembert.results.records import along, rows_of
from dalembert.results.solutions import LABELS, Solutions
from dalembert.simulation.stabilisation import NO_UNKNOWNS, PROJECTED, Stabilisation
from dalembert.simulation.velocities import Iteration, added, iteration_of
from dalembert.systems.constraint_set import OFF, ConstraintSet
from dalembert.systems.kinds import formulated, system_of
from dalembert.systems.singular_start import near_by
from dalembert.systems.system import HAMILTON, System

Rates = tuple[np.ndarray, np.ndarray, Any, np.ndarray]  # q', y', the power [W], internal rates
NONE: np.ndarray = np.zeros(0)
ON_CONSTRAINTS = (*MET, INDEX_3)  # stabilisations that meet positions at every record
NEARLY = 1e-6  # of the smallest singular value of the mass matrix at the start
# error of velocities that come back from their momenta: the mass matrix is looked at again
DOUBTFUL = 1e-3


class Formulation(ABC):
    """q' = ..., y' = ... of a system.

    Attributes
    ----------
    system : System
    name : name of the equations
    canonical : whether y are momenta
    paths : of the numbers of the system that are inputs, (m,)
    stabilisation : how it stays on constraints
    iteration : of Hamilton's form for velocities, if they are not solved for directly
    counts : of its solutions so far
    """

    canonical: bool = False
    iteration: Solver | None = None
    counts: Solutions | None = None

    def __init__(
        self,
        system: System,
        name: str,
        paths: tuple[str, ...] = (),
        stabilisation: Stabilisation = PROJECTED,
    ):
        self.system, self.name, self.paths = system, name, paths
        self.stabilisation = stabilisation
        self.quaternions = system.quaternions

    @property
    def key(self) -> tuple[Any, ...]:
        """Equal for equal equations of one system."""
        return self.name, self.paths, *self.stabilisation.key

    def at(self, numbers: Any) -> Formulation:
        """The equations with these numbers, floats or expressions, which `velocities`, `rates`,
        `power`, `energy` need.
        """
        if not self.paths:
            return self
        twin = copy(self)
        twin.system, twin.paths = (
            self.system.replace(dict(zip(self.paths, numbers, strict=True))),
            (),
        )
        return twin

    def with_internal(self, states: Any) -> Formulation:
        """The equations at internal states of the system."""
        if not self.system.internal_names:
            return self
        twin = copy(self)
        twin.system = self.system.with_internal(states)
        return twin

    def check(self, q: Any, qd: Any, numbers: np.ndarray = NONE) -> None:
        """Raise if these are no states: ShapeError, TypeError, ValueError, QuaternionError."""
        self.system.check(q, qd)

    @abstractmethod
    def started(
        self,
        q: np.ndarray,
        qd: np.ndarray,
        t: float,
        numbers: np.ndarray = NONE,
        internal: np.ndarray = NONE,
    ) -> np.ndarray:
        """y of states to begin with, (N, nv), at a time [s]; internal: states (N, n).

        Raises
        ------
        SingularMassMatrixError
            Accelerations or velocities are not determined there.
        """

    @abstractmethod
    def velocities(self, t: Any, q: np.ndarray, y: np.ndarray) -> np.ndarray:
        """qd at a state."""

    @abstractmethod
    def rates(
        self,
        t: Any,
        q: np.ndarray,
        y: np.ndarray,
        qd: np.ndarray,
        tau: np.ndarray,
        unknowns: Mapping[str, Any] = NO_UNKNOWNS,
    ) -> tuple[np.ndarray, np.ndarray]:
        """q' and y' under forces tau along qd, with the velocities qd of the state, and unknowns
        that a method solves for.
        """

    @abstractmethod
    def energy(self, q: np.ndarray, y: np.ndarray) -> Any:
        """The energy [J], which is constant where `power` is 0.

        Raises
        ------
        ValueError
            It is a function of time too.
        """

    @abstractmethod
    def recorded(
        self, t: np.ndarray, q: np.ndarray, y: np.ndarray, numbers: np.ndarray = NONE
    ) -> np.ndarray:
        """qd of records (..., nv) at times that go with them."""

    def power(self, t: Any, q: np.ndarray, qd: np.ndarray, tau: np.ndarray) -> Any:
        """Rate of the energy [W]: of tau, friction, and what depends on time."""
        return self.system.power(q, qd, tau, t)

    def called(
        self, numbers: np.ndarray = NONE
    ) -> tuple[Callable[..., np.ndarray], Callable[..., Rates]]:
        """Compiled: (t, q, y) -> qd, and (t, q, y, qd, tau, internal, **unknowns) -> q', y', power,
        internal'.
        """
        n, m = self.system.nq, self.system.nv
        inputs: dict[str, Any] = {"t": (), "q": n, "y": m, "qd": m, "tau": m}
        inputs |= {"internal": len(self.system.internal_names), "numbers": len(self.paths)}
        inputs |= self.stabilisation.lengths(self.system)

        def rates(
            t: Any, q: Any, y: Any, qd: Any, tau: Any, internal: Any, numbers: Any, **unknowns: Any
        ) -> Rates:
            """Rates of q and y, the power, and rates of the internal states."""
            own = self.at(numbers).with_internal(internal)
            changes = own.rates(t, q, y, qd, tau, unknowns)
            return *changes, own.power(t, q, qd, tau), own.system.internal_rates(q, qd, tau, t)

        found = kept(self.system.source, ("rates", *self.key), lambda: function(rates, **inputs))
        return partial(self.compiled_velocities, numbers=numbers), partial(found, numbers=numbers)

    def completed(
        self, t: Any, q: Any, y: Any, numbers: Any, unknowns: Mapping[str, Any]
    ) -> tuple[Any, Any]:
        """Compiled: q and y at which forces are those of a state in a step."""
        if DEPENDENT_ENTRIES not in unknowns:
            return q, y
        lengths = self.stabilisation.lengths(self.system)

        def completed(t: Any, q: Any, y: Any, numbers: Any, **unknowns: Any) -> tuple[Any, Any]:
            """Both at one state."""
            form = self.at(numbers)
            return self.stabilisation.completed(form.system, q, y, t, unknowns)

        sizes: dict[str, Any] = {"t": (), "q": self.system.nq, "y": self.system.nv}
        sizes |= {"numbers": len(self.paths), **lengths}
        found = kept(
            self.system.source, ("completed", *self.key), lambda: function(completed, **sizes)
        )
        return found(t, q, y, numbers=numbers, **unknowns)  # type: ignore[no-any-return]

    @property
    def compiled_velocities(self) -> CompiledFunction:
        """(t, q, y, numbers) -> qd; batches too."""

        def velocities(t: Any, q: Any, y: Any, numbers: Any) -> np.ndarray:
            """Velocities of y."""
            return self.at(numbers).velocities(t, q, y)

        return kept(
            self.system.source,
            ("velocities", *self.key),
            lambda: function(  # type: ignore[no-any-return]
                velocities, t=(), q=self.system.nq, y=self.system.nv, numbers=len(self.paths)
            ),
        )

    @property
    def observables(self) -> dict[str, Observable]:
        """Declarations of the counts of an iteration, if there were any."""
        if self.counts is None:
            return {}
        said = "counts of the iteration for velocities of momenta, and its largest residual"
        return {
            "solutions": Observable(
                ("count",),
                description=said,
                labels=LABELS,
                is_of_records=False,
                total=Solutions.total,
                source=self.counts.solver,
            )
        }

    @property
    def recorded_counts(self) -> dict[str, np.ndarray]:
        """The counts so far, as runs record them."""
        return {} if self.counts is None else {"solutions": self.counts.counts}

    def check_energy(self) -> None:
        """Raise a ValueError if the energy is a function of time too."""
        if not self.system.is_autonomous:
            raise ValueError(
                f"the energy of {self.system.name!r} is a function of time too, which "
                "discrete_gradient does not keep: take another method."
            )

    def singular(
        self, t: np.ndarray, q: np.ndarray, qd: np.ndarray, stuck: bool, numbers: np.ndarray = NONE
    ) -> tuple[int, str] | None:
        """First of the records (K, ...) of a trajectory beyond a state whose accelerations are not
        determined, and why.

        stuck: it could not go on from the last record, which counts as such a state if it is close
        to one.
        """
        # a state that could not be left may be one of an earlier time than that of its record
        end = len(t) - stuck
        off = self._off_constraints(t[:end], q[:end], qd[:end], numbers)
        if off is not None:
            return off
        if self.system.positive_definite:
            return None
        mass_matrix = dynamics_of(self.at(numbers).system.source).mass_matrix
        inputs = self.system.quantities["mass_matrix"].inputs
        M = along(
            t,
            lambda t, q, qd: mass_matrix(
                **{k: v for k, v in (("q", q), ("qd", qd), ("t", t)) if k in inputs}
            ),
            q,
            qd,
        )
        signs = np.linalg.slogdet(M)[0]
        changed = np.flatnonzero(signs != signs[0])
        if changed.size:
            return int(changed[0]), self._says(*_singular_between(M[changed[0] - 1], M[changed[0]]))
        first = np.abs(np.diag(M[0]))
        scale = np.where(first > 0, first, 1.0) ** -0.5  # independent of the units
        values, right = np.linalg.svd(M[[0, -1]] * scale[:, None] * scale)[1:]
        if stuck and values[1, -1] < NEARLY * values[0, -1]:
            return len(M) - 1, self._says("nearly singular", right[1, -1])
        return None

    def _off_constraints(
        self, t: np.ndarray, q: np.ndarray, qd: np.ndarray, numbers: np.ndarray
    ) -> tuple[int, str] | None:
        """First of the records that does not meet the constraints on coordinates, and which one."""
        system = self.at(numbers).system
        rows = ConstraintSet(system)
        if not rows.holonomic or self.stabilisation.name not in ON_CONSTRAINTS:
            return None  # others tell their residuals
        residual = dynamics_of(system.source).constraint_residual
        phi = along(t, lambda t, q, qd: residual(q, t), q, qd)
        for k in np.flatnonzero(~(np.abs(phi).max(axis=-1) <= OFF)).tolist():
            if not rows.is_met(q[k], qd[k], t[k], OFF):
                error = rows.unmet(q[k], qd[k], t[k], "the step is too long, or no state meets it")
                return k, str(error).rstrip(".")
        return None

    def singular_position(
        self, t: float, q: np.ndarray, qd: np.ndarray, numbers: np.ndarray = NONE
    ) -> str:
        """Sentences about rows of constraints that nearly follow from others at a state; empty: none."""
        rows = ConstraintSet(self.at(numbers).system)
        return near_by(rows, q, qd, t) if rows.constraints else ""

    def _says(self, how: str, null: np.ndarray) -> str:
        name = self.system.coordinate_names[int(np.argmax(np.abs(null)))]
        return f"the mass matrix of {self.system.name!r} is {how}: coordinate {name!r}"


class StartCheck:
    """Compiled check of states that motions on constraints begin with."""

    def __init__(self) -> None:
        self.count = 0
        self._compiled: CompiledFunction | None = None
        self._usual = 0.0  # greatest rank of rows that was seen

    def are_sound(
        self, form: Formulation, q: np.ndarray, qd: np.ndarray, t: float, numbers: np.ndarray
    ) -> bool:
        """Whether states (N, ...) meet the constraints and have accelerations; the first few are
        not looked at.
        """
        self.count += len(q)
        if self.count <= PLAIN:
            return False
        if self._compiled is None:
            self._compiled = self._made(form)
        rows = np.broadcast_to(numbers, (len(q), len(form.paths)))
        try:
            beyond, rank, _ = self._compiled(np.full(len(q), t), q, qd, rows)
        except DalembertError:
            return False
        self._usual = max(self._usual, rank.max())
        return bool((beyond <= 0).all() and (rank == self._usual).all())

    def _made(self, form: Formulation) -> CompiledFunction:
        """By how much rows are beyond rounding, their rank, and accelerations."""

        def start(t: Any, q: Any, qd: Any, numbers: Any) -> tuple[Any, Any, Any]:
            """All of them at one state."""
            system = form.at(numbers).system
            rest = np.zeros(system.nv)
            rows = ConstraintSet(system)
            beyond = rows.beyond_rounding(q, qd, t)
            return beyond, rows.rank(q, qd, t), system.forward_dynamics(q, qd, rest, t)

        n, m = form.system.nq, form.system.nv
        return function(start, t=(), q=n, qd=m, numbers=len(form.paths))


class Accelerations(Formulation):
    """A system in (q, qd).

    q' = rate(q, qd),   qd' = M^-1 (Q + tau - bias)
    """

    def check(self, q, qd, numbers=NONE):
        """Raise if these are no states, or accelerations are not determined."""
        super().check(q, qd, numbers)
        if not self.system.explained_by_code:
            return
        source = self.system.source
        rest = np.zeros(self.system.nv)
        if self.paths:
            dynamics_of(source, self.paths).forward_dynamics(q, qd, rest, parameters=numbers)
        else:
            (accelerations,) = quantities_of(source, "forward_dynamics")
            accelerations(q, qd, rest)  # accelerations are determined, too

    def started(self, q, qd, t, numbers=NONE, internal=NONE):
        """Initial y: the velocities."""
        if not (self.system.explained_by_code or self._begins_well(q, qd, t, numbers)):
            m = len(self.paths)
            parts = (numbers, m), (internal, internal.shape[-1])
            rows = np.hstack([np.broadcast_to(values, (len(q), n)) for values, n in parts])
            for own in np.unique(rows, axis=0):
                same = (rows == own).all(axis=1)
                system = self.at(own[:m]).with_internal(own[m:]).system
                system.check_determined(q[same], qd[same], t)
        return qd

    def _begins_well(self, q: np.ndarray, qd: np.ndarray, t: float, numbers: np.ndarray) -> bool:
        """Whether states (N, ...) meet the constraints, by compiled code where it is worth compiling;
        no: they are to be looked at one by one.
        """
        if not self.system.constraints or self.system.internal_names:
            return False
        starts = kept(self.system.source, ("starts", *self.key), StartCheck)
        return starts.are_sound(self, q, qd, t, numbers)

    def velocities(self, t, q, y):
        """The velocities y themselves."""
        return y

    def rates(self, t, q, y, qd, tau, unknowns=NO_UNKNOWNS):
        """Rates of q and qd."""
        system = self.system
        if BALANCED in unknowns:
            return system.rate(q, qd), unknowns[BALANCED]
        if not system.constraints:
            return system.rate(q, qd), system.forward_dynamics(q, qd, tau, t)
        law = self.stabilisation
        moving = law.moving(system, q, qd, t, unknowns)
        return system.rate(q, moving), law.accelerations(system, q, qd, tau, t, unknowns)

    def energy(self, q, y):
        """Energy [J]."""
        self.check_energy()
        return self.system.energy(q, y)

    def called(self, numbers=NONE):
        """Velocities and rates by compiled functions."""
        if not self.system.explained_by_code:
            return super().called(numbers)
        own = self.at(numbers)
        dynamics = dynamics_of(self.system.source, self.paths)
        given = {"parameters": numbers} if self.paths else {}

        def rates(
            t: Any, q: Any, y: Any, qd: Any, tau: Any, internal: Any, **unknowns: Any
        ) -> Rates:
            """Rates of q and qd, and the power; without constraints nothing else is solved for."""
            return (
                own.system.rate(q, qd),
                dynamics.forward_dynamics(q, qd, tau, **given),
                own.power(t, q, qd, tau),
                internal,
            )

        return self.velocities, rates

    def recorded(self, t, q, y, numbers=NONE):
        """Velocities at the records."""
        return y


class Canonical(Formulation):
    """A system in (q, p); p are quasi-momenta of spherical and free joints.

    A(q) z = p,   q' = rate(q, z),   p' = dL/dq (q, z) + ad*_z p + Q + tau
    """

    canonical = True

    def __init__(
        self,
        system: System,
        name: str,
        paths: tuple[str, ...] = (),
        stabilisation: Stabilisation = PROJECTED,
        solver: str | Solver | None = None,
    ):
        super().__init__(system, name, paths, stabilisation)
        self.iteration = iteration_of(system, solver)
        self._direct = None if self.iteration else solver
        self._iterations: list[Iteration] = []

    @property
    def key(self):
        """Key of the compiled code."""
        return *super().key, self._direct

    @property
    def counts(self):  # type: ignore[override]
        """Counts of the iterations for the velocities."""
        return added([own.counts for own in self._iterations])

    def called(self, numbers=NONE):
        """Velocities and rates, called step by step."""
        velocities, rates = super().called(numbers)
        if self.iteration is None:
            return velocities, rates
        own = Iteration(self.iteration)
        system = self.at(numbers).system
        self._iterations.append(own)
        return lambda t, q, y: own.velocities(system, q, y, t), rates

    def started(self, q, qd, t, numbers=NONE, internal=NONE):
        """Initial y: the momenta."""
        sizes: dict[str, Any] = {
            "q": self.system.nq,
            "qd": self.system.nv,
            "t": (),
            "numbers": len(self.paths),
        }
        momenta = kept(
            self.system.source,
            ("momenta", self.paths),
            lambda: function(
                lambda q, qd, t, numbers: self.at(numbers).system.momenta(q, qd, t), **sizes
            ),
        )
        rows = np.broadcast_to(numbers, (len(q), len(self.paths)))
        times = np.full(len(q), t)
        back = self.compiled_velocities(times, q, momenta(q, np.ones_like(qd), times, rows), rows)
        p = momenta(q, qd, times, rows)
        if self.system.constraints:
            self._check_constraints(q, qd, t, rows)
        wrong = ~(np.abs(back - 1) <= DOUBTFUL).all(axis=1)
        for own, q_own, p_own in zip(rows[wrong], q[wrong], p[wrong], strict=True):
            self.at(own).system.velocities(
                q_own, p_own, t
            )  # raises where A is singular, and names the joint
        return p

    def _check_constraints(self, q: np.ndarray, qd: np.ndarray, t: float, rows: np.ndarray) -> None:
        """See that states (N, nq), (N, nv) with numbers (N, m) meet the constraints."""
        for own, q_own, qd_own in zip(rows, q, qd, strict=True):
            ConstraintSet(self.at(own).system).check(q_own, qd_own, t)

    def velocities(self, t, q, y):
        """Velocities of the momenta y."""
        return self.system.velocities(q, y, t, self._direct)

    def rates(self, t, q, y, qd, tau, unknowns=NO_UNKNOWNS):
        """Rates of q and p."""
        system = self.system
        rate = system.momentum_rate(q, qd, y, t) + tau
        if not system.constraints:
            return system.rate(q, qd), rate
        law = self.stabilisation
        moving = law.moving(system, q, qd, t, unknowns)
        reaction = law.reaction(system, q, qd, t, unknowns, tau)
        return system.rate(q, moving), rate + reaction

    def energy(self, q, y):
        """The function of Hamilton [J]."""
        self.check_energy()
        return self.system.hamiltonian(q, y)

    def recorded(self, t, q, y, numbers=NONE):
        """Velocities at the records."""
        return along(t, self.compiled_velocities, q, y, rows_of(numbers, q))


def formulation_for(method: str, formulation: str | None) -> str | None:
    """The formulation of a simulation; by default Hamilton's for a method whose state is (q, p)."""
    return HAMILTON if formulation is None and method == "symplectic_euler" else formulation


def formulation_of(
    source: Any,
    formulation: str | None = None,
    paths: tuple[str, ...] = (),
    solver: str | Solver | None = None,
    stabilisation: Stabilisation = PROJECTED,
) -> Formulation:
    """Equations of a system by the name of a formulation; by default its natural one.

    paths: of the system's numbers that are inputs. solver: for velocities of momenta, with the
    formulation 'hamilton'. stabilisation: how it stays on constraints.

    Raises
    ------
    UnknownNameError, TypeError, ValueError
        There is no such formulation; the system is none; it has parameters without values, or no
        momenta.
    """
    system = system_of(source, "cannot be simulated")
    if missing := system.undetermined(paths):
        kind = "system" if system.mechanism is None else "mechanism"
        raise ValueError(
            f"{system.name!r} has parameters without values: {', '.join(missing)}. Give them by "
            f"{kind}.replace({{name: value}}), or simulate(..., parameters={{name: value}})."
        )
    name = system.formulations[0] if formulation is None else formulation
    chosen = formulated(system, name)
    if name == HAMILTON:
        return Canonical(chosen, name, paths, stabilisation, solver)
    if solver is not None:
        raise ValueError(
            f"solver= is for velocities of momenta: take formulation='hamilton', not {name!r}."
        )
    return Accelerations(chosen, name, paths, stabilisation)


def _singular_between(before: np.ndarray, after: np.ndarray) -> tuple[str, np.ndarray]:
    """The word for the mass matrix between two of different signs, and the velocities that have no
    inertia there.
    """
    low = 0.0
    high = 1.0
    sign = np.linalg.slogdet(before)[0]
    for _ in range(40):
        middle = (low + high) / 2
        same = np.linalg.slogdet(before + middle * (after - before))[0] == sign
        low, high = (middle, high) if same else (low, middle)
    return "singular", np.linalg.svd(before + high * (after - before))[2][-1]
