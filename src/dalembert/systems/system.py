"""The interface of a system of equations of motion, over floats and expressions."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from dalembert.codegen.symbols import vector_of_symbols
from dalembert.errors import DalembertError, ParameterError, ShapeError, UnknownNameError
from dalembert.formulations.lagrange.regular import check_regular, singular
from dalembert.formulations.lagrange.symbolic_system import LagrangianSystem, lagrangian_system
from dalembert.model.mechanism import Mechanism
from dalembert.spatial import linear_algebra
from dalembert.tracing.quantity import Quantity

LAGRANGE, HAMILTON = "lagrange", "hamilton"  # names of state equations in (q, qd) and in (q, p)


class System(ABC):
    """Equations of motion in coordinates q (nq,) and velocities qd (nv,), at a time t [s].

        M(q, t) qdd + bias(q, qd, t) = Q(q, qd, t) + tau,        q' = rate(q, qd)

    A system of one's own gives `name`, `coordinate_names`, `mass_matrix`, `bias_force` and
    `potential_energy`: functions of one state, vectors of floats or expressions, written with
    da.sin, da.where, ... All else follows from these. Forces without a potential, velocities that
    are no rates of coordinates and explicit time have methods to override. `da.compile`,
    `da.equations`, `da.simulate`, `da.sweep` and the controllers take it as they take a mechanism.

    Attributes
    ----------
    name : str
    coordinate_names, velocity_names : names of the entries of q and qd; equal unless said
        otherwise.
    parameters : names of symbols without values.
    constraints : none, unless said otherwise.
    mechanism : the mechanism whose bodies, frames and joints these equations have, if there is one.
    formulations : names of the state equations that there are; the first is the default.
    positive_definite : whether M is positive wherever the system is.
    solvers : names of the ways in which `velocities` solves for them, if there are several.
    explained_by_code : whether compiled code itself finds states whose accelerations are not
        determined.

    Examples
    --------
    >>> import dalembert as da
    >>> class Slider(da.System):
    ...     name, coordinate_names = "slider", ("x",)
    ...
    ...     def mass_matrix(self, q, t=0.0):
    ...         return [[2.0]]
    ...
    ...     def bias_force(self, q, qd, t=0.0):
    ...         return [3.0 * q[0]]
    ...
    ...     def potential_energy(self, q, t=0.0):
    ...         return 1.5 * q[0] * q[0]
    >>> da.simulate(Slider(), [1.0], [0.0], 1.0).energy_drift < 1e-9
    True
    """

    name: str
    coordinate_names: tuple[str, ...]
    parameters: tuple[str, ...] = ()
    constraints: tuple[Any, ...] = ()
    mechanism: Mechanism | None = None
    formulations: tuple[str, ...] = (LAGRANGE, HAMILTON)
    solvers: tuple[str, ...] = ()
    positive_definite = False
    explained_by_code = False

    @property
    def velocity_names(self) -> tuple[str, ...]:
        """Names of the entries of qd, qdd and tau."""
        return self.coordinate_names

    @property
    def nq(self) -> int:
        """Number of coordinates."""
        return len(self.coordinate_names)

    @property
    def nv(self) -> int:
        """Number of velocities."""
        return len(self.velocity_names)

    @property
    def source(self) -> Any:
        """The object that a user has: a mechanism, a Lagrangian, or the system itself."""
        return self

    def identity(self) -> str | None:
        """Text that is equal for systems with equal equations; None: it cannot be told, and nothing
        is kept.
        """
        return None

    @property
    def changeable(self) -> tuple[Any, ...]:
        """Parts whose code or numbers may change between two runs: the system itself."""
        return (self,)

    # --- equations, at one state of floats or expressions ---

    @abstractmethod
    def mass_matrix(self, q: Any, t: Any = 0.0) -> Any:
        """M (nv, nv), symmetric."""

    @abstractmethod
    def bias_force(self, q: Any, qd: Any, t: Any = 0.0) -> Any:
        """All forces of inertia and of potentials but M qdd: (nv,)."""

    @abstractmethod
    def potential_energy(self, q: Any, t: Any = 0.0) -> Any:
        """Potential energy [J]."""

    def generalized_forces(self, q: Any, qd: Any, t: Any = 0.0) -> Any:
        """Q (nv,): forces of the system that have no potential."""
        return np.zeros(self.nv)

    def kinetic_energy(self, q: Any, qd: Any, t: Any = 0.0) -> Any:
        """1/2 qd^T M qd [J]."""
        return qd @ (np.asarray(self.mass_matrix(q, t)) @ qd) / 2

    def momenta(self, q: Any, qd: Any, t: Any = 0.0) -> Any:
        """p = M qd (nv,)."""
        return np.asarray(self.mass_matrix(q, t)) @ np.asarray(qd)

    def energy(self, q: Any, qd: Any, t: Any = 0.0) -> Any:
        """The energy that is constant where `power` is 0 [J]: T + Pi."""
        return self.kinetic_energy(q, qd, t) + self.potential_energy(q, t)

    def power(self, q: Any, qd: Any, tau: Any, t: Any = 0.0) -> Any:
        """Rate of the energy [W]: (Q + tau) . qd, and what depends on time."""
        return (np.asarray(self.generalized_forces(q, qd, t)) + tau) @ qd

    @property
    def is_autonomous(self) -> bool:
        """Whether the energy is a function of q and qd alone."""
        return True

    def inverse_dynamics(self, q: Any, qd: Any, qdd: Any, t: Any = 0.0) -> Any:
        """tau = M qdd + bias - Q (nv,)."""
        force = np.asarray(self.bias_force(q, qd, t)) - np.asarray(
            self.generalized_forces(q, qd, t)
        )
        return np.asarray(self.mass_matrix(q, t)) @ np.asarray(qdd) + force

    def forward_dynamics(self, q: Any, qd: Any, tau: Any, t: Any = 0.0) -> Any:
        """qdd = M^-1 (Q + tau - bias) (nv,).

        Raises
        ------
        SingularMassMatrixError
            M is singular within rounding; not looked at on expressions.
        """
        force = (
            np.asarray(tau)
            + self.generalized_forces(q, qd, t)
            - np.asarray(self.bias_force(q, qd, t))
        )
        return self._solved(self.mass_matrix(q, t), force)

    def velocities(self, q: Any, p: Any, t: Any = 0.0, solver: Any = None) -> Any:
        """qd of momenta (nv,), by one of `solvers`. Raises as `forward_dynamics`."""
        return self._solved(self.mass_matrix(q, t), np.asarray(p))

    def momentum_rate(self, q: Any, qd: Any, p: Any, t: Any = 0.0) -> Any:
        """p' without tau, with the velocities qd of the momenta p (nv,)."""
        raise NotImplementedError

    def hamiltonian(self, q: Any, p: Any, t: Any = 0.0) -> Any:
        """The energy as a function of momenta [J]."""
        return self.energy(q, self.velocities(q, p, t), t)

    def _solved(self, M: Any, b: Any) -> Any:
        """x of M x = b."""
        M, b = np.asarray(M), np.asarray(b)
        if M.dtype != object and b.dtype != object:
            check_regular(M, self.name, self.velocity_names)
            return np.linalg.solve(M, b)
        try:
            return linear_algebra.solve(M.tolist(), b.tolist())
        except linear_algebra.SingularMatrixError as error:
            raise singular(self.name, self.velocity_names, error.pivot, 0.0, None) from None

    # --- coordinates ---

    @property
    def quaternions(self) -> Mapping[str, int]:
        """Where in q each quaternion begins, by joint."""
        return {}

    @property
    def angular_velocities(self) -> Mapping[str, int]:
        """Where in qd the angular velocity of each quaternion begins, by joint."""
        return {}

    def rate(self, q: Any, qd: Any) -> Any:
        """q' (nq,)."""
        return qd

    def integrate(self, q: Any, step: Any) -> Any:
        """q moved by a step (nv,) along the velocities."""
        return q + step

    def difference(self, q_1: Any, q_0: Any) -> Any:
        """Step (nv,) from q_0 to q_1."""
        return np.asarray(q_1) - np.asarray(q_0)

    def normalize(self, q: Any) -> Any:
        """q with quaternions of unit length."""
        return q

    def neutral(self) -> np.ndarray:
        """Coordinates to begin with where none are given (nq,)."""
        return np.zeros(self.nq)

    @property
    def coordinate_units(self) -> list[str]:
        """Unit of each entry of q; empty where it is not known."""
        return [""] * self.nq

    @property
    def velocity_units(self) -> list[str]:
        """Unit of each entry of qd."""
        return [f"{unit}/s" if unit else "" for unit in self.coordinate_units]

    def check(self, q: Any, qd: Any) -> None:
        """Raise if these are no states, (nq,), (nv,) or (N, nq), (N, nv): ShapeError, ValueError,
        QuaternionError.
        """
        for name, vector, names in (
            ("q", q, self.coordinate_names),
            ("qd", qd, self.velocity_names),
        ):
            values = np.asarray(vector, dtype=float)
            if values.ndim not in (1, 2) or values.shape[-1] != len(names):
                shown = ", ".join(names[:4])
                raise ShapeError(
                    f"{name} has shape {values.shape}, expected ({len(names)},) or (N, "
                    f"{len(names)}): {self.name!r} has {len(names)} ({shown}).",
                    name,
                    values.shape,
                    (len(names),),
                )
            if not np.isfinite(values).all():
                raise ValueError(
                    f"{name} has the entry {values[~np.isfinite(values)][0]}, expected finite "
                    "numbers."
                )

    def check_determined(self, q: Any, qd: Any, t: Any = 0.0) -> None:
        """Raise a SingularMassMatrixError where accelerations of states (N, nq), (N, nv) are not
        determined.
        """
        for state in zip(q, qd, strict=True):
            self.forward_dynamics(*state, np.zeros(self.nv), t)

    # --- numbers ---

    def number(self, path: str) -> Any:
        """The number at a path; NaN for a parameter, which has none.

        Raises
        ------
        UnknownNameError
        """
        if path not in self.parameters:
            raise UnknownNameError("parameter", path, self.parameters)
        return float("nan")

    def replace(self, values: Mapping[str, Any]) -> System:
        """The system with other numbers, floats or expressions.

        Raises
        ------
        UnknownNameError, ParameterError
        """
        if values:
            raise ParameterError(
                f"{self.name!r} has no numbers that can be replaced: {', '.join(values)}.",
                tuple(values),
            )
        return self

    # --- quantities, and other forms of the same equations ---

    @property
    def observables(self) -> Mapping[str, Quantity]:
        """Quantities of q, qd, tau, t that runs record by name, in `Run.observables`; none, unless
        said otherwise.
        """
        return {}

    @property
    def quantities(self) -> Mapping[str, Quantity]:
        """Quantities by name: what compiles."""
        vector, energy = ("nv",), (("q", "qd", "t"), (), "J")
        return {
            "mass_matrix": Quantity(self.mass_matrix, ("q", "t"), ("nv", "nv")),
            "bias_force": Quantity(self.bias_force, ("q", "qd", "t"), vector),
            "generalized_forces": Quantity(self.generalized_forces, ("q", "qd", "t"), vector),
            "kinetic_energy": Quantity(self.kinetic_energy, *energy),
            "potential_energy": Quantity(self.potential_energy, ("q", "t"), (), "J"),
            "energy": Quantity(self.energy, *energy),
            "energy_rate": Quantity(self.power, ("q", "qd", "tau", "t"), (), "W"),
            "momenta": Quantity(self.momenta, ("q", "qd", "t"), vector),
            "inverse_dynamics": Quantity(self.inverse_dynamics, ("q", "qd", "qdd", "t"), vector),
            "forward_dynamics": Quantity(self.forward_dynamics, ("q", "qd", "tau", "t"), vector),
            **self.observables,
        }

    def traced(self, names: Sequence[str]) -> tuple[dict[str, np.ndarray], dict[str, Any]]:
        """Inputs of some quantities as arrays of symbols (t of one entry), and their expressions,
        in the current graph.
        """
        sizes = {"q": self.nq, "qd": self.nv, "qdd": self.nv, "tau": self.nv, "p": self.nv, "t": 1}
        if unknown := [name for name in names if name not in self.quantities]:
            raise UnknownNameError("quantity", unknown[0], tuple(self.quantities))
        wanted = {i for name in names for i in self.quantities[name].inputs}
        inputs = {name: vector_of_symbols(name, n) for name, n in sizes.items() if name in wanted}
        given = inputs | {"t": inputs["t"][0]} if "t" in inputs else inputs
        return inputs, {
            name: self.quantities[name].function(*(given[i] for i in self.quantities[name].inputs))
            for name in names
        }

    def formulated(self, name: str) -> System | None:
        """The system whose state equations have a name of `formulations`; None: they are those of
        its `lagrangian`.
        """
        return self if name == self.formulations[0] else None

    def lagrange_function(self, q: Any, qd: Any, t: Any = 0.0) -> Any:
        """L = T - Pi [J]."""
        return self.kinetic_energy(q, qd, t) - self.potential_energy(q, t)

    def lagrangian(self) -> LagrangianSystem:
        """The same equations as those of a Lagrangian function: for closed forms, and for momenta.

        Raises
        ------
        DalembertError
            Velocities are no rates of coordinates.
        """
        if self.nq != self.nv or self.quaternions:
            raise DalembertError(
                f"{self.name!r} has velocities that are no rates of its coordinates (quaternions), "
                "and no Lagrangian of q and qd."
            )
        return lagrangian_system(
            self.lagrange_function, self.coordinate_names, self.generalized_forces, self.name
        )
