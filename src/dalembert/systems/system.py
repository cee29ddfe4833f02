"""The interface of a system of equations of motion, over floats and expressions."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Mapping, Sequence
from copy import copy
from functools import cached_property
from typing import Any

import numpy as np

from dalembert.codegen.symbols import vector_of_symbols
from dalembert.constraints.state_functions import functions_of
from dalembert.errors import (
    DalembertError,
    ParameterError,
    ShapeError,
    UnknownNameError,
    public_names,
)
from dalembert.formulations.lagrange.regular import check_regular, solve_regular
from dalembert.formulations.lagrange.symbolic_system import LagrangianSystem, lagrangian_system
from dalembert.model.constraint import Constraint
from dalembert.model.mechanism import Mechanism
from dalembert.spatial.ldl import factorised, unchecked
from dalembert.spatial.sparse_ldl import SparseFactors
from dalembert.spatial.vectors import Vector
from dalembert.systems.constraint_set import ConstraintSet
from dalembert.systems.driving_forces import driving_forces
from dalembert.systems.principles import ConstrainedMotion, State
from dalembert.systems.singular_start import check_start
from dalembert.tracing.quantity import Quantity, described

INTERNAL = "internal_states"  # input of quantities
# Quantities that depend on internal states, which act by forces.
DRIVEN = ("generalized_forces", "energy_rate", "inverse_dynamics", "forward_dynamics")
LAGRANGE, HAMILTON = "lagrange", "hamilton"  # names of state equations in (q, qd) and in (q, p)


class System(ABC):
    """Equations of motion in coordinates q (nq,) and velocities qd (nv,), at a time t [s].

        M(q, t) qdd + bias(q, qd, t) = Q(q, qd, t) + tau,        q' = rate(q, qd)

    A system of one's own gives `name`, `coordinate_names`, `mass_matrix`, `bias_force` and
    `potential_energy`: functions of one state, vectors of floats or expressions, written with
    da.sin, da.where, ... All else follows from these. Forces without a potential, velocities that
    are no rates of coordinates and explicit time have methods to override. `da.compile`,
    `da.equations`, `da.simulate`, `da.sweep` and the controllers take it as they take a mechanism.

    Vectors are q (nq,) [rad, m; unit quaternions], qd (nv,) [rad/s, m/s], qdd (nv,) [rad/s^2,
    m/s^2], tau (nv,) [N m, N], p (nv,) [kg m^2/s, kg m/s].

    Attributes
    ----------
    name : str
    coordinate_names, velocity_names : names of the entries of q and qd; equal unless said
        otherwise.
    parameters : names of symbols without values.
    constraints : rows that the motion keeps at 0, of `da.constraints`; none, unless said
        otherwise.
    principles : of each constraint 'chetaev', 'vakonomic', 'servo' or 'gauss'; empty: 'chetaev'.
    internal_names : names of states beside q and qd, which follow differential equations of their
        own (`internal_rates`) and act by forces; those of its constraints, unless said otherwise.
    internal_states : their values at which functions of the state are evaluated; those to begin
        with unless `with_internal` gives others. NaN: they have no default.
    mechanism : the mechanism whose bodies, frames and joints these equations have, if there is one.
    formulations : names of the state equations that there are; the first is the default.
    positive_definite : whether M is positive wherever the system is.
    massless : whether some velocities may move no inertia, so that M is singular, and move by
        constraints alone.
    solvers : names of the ways in which `velocities` solves for them, if there are several.
    explained_by_code : whether compiled code itself finds states whose accelerations are not
        determined.

    Raises
    ------
    ShapeError, ValueError, QuaternionError
        By `check`, which a run begins with: a vector has the wrong length, is not finite, or has a
        quaternion that is not of unit length.

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
    constraints: tuple[Constraint, ...] = ()
    principles: tuple[str, ...] = ()
    mechanism: Mechanism | None = None
    formulations: tuple[str, ...] = (LAGRANGE, HAMILTON)
    solvers: tuple[str, ...] = ()
    positive_definite = False
    massless: bool = False
    explained_by_code = False
    __dir__ = public_names

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

    @cached_property
    def internal_names(self) -> tuple[str, ...]:
        """Names of states beside q and qd: of programs, and multipliers of the vakonomic principle."""
        return tuple(self._constraint_set.principles.start) if self.constraints else ()

    @cached_property
    def internal_states(self) -> Any:
        """Internal states to begin with (n,)."""
        start = self._constraint_set.principles.start if self.constraints else {}
        return np.array([*start.values()])

    @property
    def _constraint_set(self) -> ConstraintSet:
        return ConstraintSet(self)

    @property
    def source(self) -> Any:
        """The object that a user has: a mechanism, a Lagrangian, or the system itself."""
        return self

    def identity(self) -> str | None:
        """Text that is equal for systems with equal equations; None: it cannot be told, and nothing
        is kept.

        Examples
        --------
        >>> import dalembert as da
        >>> from dalembert.systems.kinds import system_of
        >>> chain = system_of(da.planar_chain(2))
        >>> chain.identity() == system_of(da.planar_chain(2)).identity()
        True
        """
        return None

    @property
    def changeable(self) -> tuple[Any, ...]:
        """Parts whose code or numbers may change between two runs: the system itself."""
        return (self,)

    # --- equations, at one state of floats or expressions ---

    @abstractmethod
    def mass_matrix(self, q: Any, t: Any = 0.0) -> Any:
        """M(q, t), symmetric: (nv, nv) [kg m^2, kg m, kg].

        Examples
        --------
        >>> import dalembert as da
        >>> from dalembert.systems.kinds import system_of
        >>> system_of(da.planar_chain(1)).mass_matrix([0.5]).round(3)
        array([[0.333]])
        """

    @abstractmethod
    def bias_force(self, q: Any, qd: Any, t: Any = 0.0) -> Any:
        """All forces of inertia and of potentials but M qdd: (nv,) [N m, N].

        Examples
        --------
        >>> import dalembert as da
        >>> from dalembert.systems.kinds import system_of
        >>> system_of(da.planar_chain(1)).bias_force([0.0], [2.0]).round(3)
        array([4.905])
        """

    @abstractmethod
    def potential_energy(self, q: Any, t: Any = 0.0) -> Any:
        """Potential energy Pi(q, t): number [J].

        Examples
        --------
        >>> import dalembert as da
        >>> from dalembert.systems.kinds import system_of
        >>> round(float(system_of(da.planar_chain(1)).potential_energy([0.5])), 3)
        2.352
        """

    def generalized_forces(self, q: Any, qd: Any, t: Any = 0.0) -> Any:
        """Q(q, qd, t), forces of the system that have no potential: (nv,) [N m, N].

        Examples
        --------
        >>> import dalembert as da
        >>> from dalembert.systems.kinds import system_of
        >>> arm = da.planar_chain(1).replace({"q1.viscous": 0.5})
        >>> system_of(arm).generalized_forces([0.0], [2.0])
        array([-1.])
        """
        return np.zeros(self.nv)

    def kinetic_energy(self, q: Any, qd: Any, t: Any = 0.0) -> Any:
        """T = 1/2 qd^T M qd: number [J].

        Examples
        --------
        >>> import dalembert as da
        >>> from dalembert.systems.kinds import system_of
        >>> round(float(system_of(da.planar_chain(1)).kinetic_energy([0.0], [3.0])), 3)
        1.5
        """
        return qd @ (np.asarray(self.mass_matrix(q, t)) @ qd) / 2

    def internal_rates(self, q: Any, qd: Any, tau: Any, t: Any = 0.0) -> Any:
        """Rates of the internal states: (n,) [their units per s].

        Examples
        --------
        >>> import dalembert as da
        >>> from dalembert.systems.kinds import system_of
        >>> system_of(da.planar_chain(1)).internal_rates([0.0], [0.0], [0.0])
        array([], dtype=float64)
        """
        if not self.constraints:
            return np.zeros(0)
        motion = self._motion(q, qd, tau, t)
        return self._constraint_set.principles.internal_rates(motion, State(q, qd, t))

    def with_internal(self, states: Any) -> System:
        """The system at other internal states (n,), of floats or expressions.

        Examples
        --------
        >>> import dalembert as da
        >>> from dalembert.systems.kinds import system_of
        >>> system_of(da.planar_chain(1)).with_internal([]).internal_states
        []
        """
        own = copy(self)
        own.internal_states = states
        own.__dict__["internal_names"] = self.internal_names
        return own

    def momenta(self, q: Any, qd: Any, t: Any = 0.0) -> Any:
        """p = M qd: (nv,) [kg m^2/s, kg m/s].

        Examples
        --------
        >>> import dalembert as da
        >>> from dalembert.systems.kinds import system_of
        >>> system_of(da.planar_chain(1)).momenta([0.0], [3.0])
        array([1.])
        """
        return np.asarray(self.mass_matrix(q, t)) @ np.asarray(qd)

    def energy(self, q: Any, qd: Any, t: Any = 0.0) -> Any:
        """The energy T + Pi, constant where `power` is 0: number [J].

        Examples
        --------
        >>> import dalembert as da
        >>> from dalembert.systems.kinds import system_of
        >>> round(float(system_of(da.planar_chain(1)).energy([0.0], [3.0])), 3)
        1.5
        """
        return self.kinetic_energy(q, qd, t) + self.potential_energy(q, t)

    def power(self, q: Any, qd: Any, tau: Any, t: Any = 0.0) -> Any:
        """Rate of the energy, (Q + tau) . qd and what depends on time: number [W].

        Examples
        --------
        >>> import dalembert as da
        >>> import numpy as np
        >>> from dalembert.systems.kinds import system_of
        >>> arm = system_of(da.planar_chain(1))
        >>> float(arm.power(np.zeros(1), np.array([3.0]), np.array([2.0])))
        6.0
        """
        power = (np.asarray(self.generalized_forces(q, qd, t)) + tau) @ qd
        return power + self._power_of_constraints(q, qd, tau, t)

    def _power_of_constraints(self, q: Any, qd: Any, tau: Any, t: Any) -> Any:
        """Power of the forces that keep constraints [W]; the number 0 where these do no work."""
        if not self.constraints or not self._constraint_set.does_work:
            return 0
        return self._motion(q, qd, tau, t).power

    def _motion(self, q: Any, qd: Any, tau: Any, t: Any) -> ConstrainedMotion:
        """Accelerations with the forces that keep constraints."""
        force = self.applied(q, qd, tau, t)
        return self._constraint_set.principles.motion(force, q, qd, t)

    @property
    def is_autonomous(self) -> bool:
        """Whether the energy is a function of q and qd alone."""
        return True

    def inverse_dynamics(self, q: Any, qd: Any, qdd: Any, t: Any = 0.0) -> Any:
        """tau of M qdd + bias = Q + tau + J^T lambda: (nv,) [N m, N]; with constraints those of least
        norm over the driven entries.

        Raises
        ------
        ConstraintError
            The driven entries cannot hold it; not looked at on expressions.

        Examples
        --------
        >>> import dalembert as da
        >>> from dalembert.systems.kinds import system_of
        >>> system_of(da.planar_chain(1)).inverse_dynamics([0.0], [0.0], [3.0]).round(3)
        array([5.905])
        """
        force = self.required_force(q, qd, qdd, t)
        if not self.constraints:
            return force
        principles = self._constraint_set.principles
        principles.check_along_rows("inverse dynamics", actuators_too=True)
        J = principles.rows.rates(q, qd, t).jacobian
        return driving_forces(force, J, self.driven, explain=self.undriven)

    def required_force(self, q: Any, qd: Any, qdd: Any, t: Any = 0.0) -> Any:
        """M qdd + bias - Q, the forces of drives and constraints together: (nv,) [N m, N].

        Examples
        --------
        >>> import dalembert as da
        >>> from dalembert.systems.kinds import system_of
        >>> system_of(da.planar_chain(1)).required_force([0.0], [0.0], [3.0]).round(3)
        array([5.905])
        """
        bias = np.asarray(self.bias_force(q, qd, t))
        force = bias - np.asarray(self.generalized_forces(q, qd, t))
        return np.asarray(self.mass_matrix(q, t)) @ np.asarray(qdd) + force

    @property
    def driven(self) -> Sequence[int]:
        """Entries of tau that drives can give; all, unless said otherwise."""
        return range(self.nv)

    def undriven(self, rank: int, freedoms: int) -> str:
        """Message of a motion that the driven entries, of a rank for these freedoms, cannot hold.

        Examples
        --------
        >>> import dalembert as da
        >>> from dalembert.systems.kinds import system_of
        >>> system_of(da.planar_chain(2)).undriven(1, 2)[:44]
        "the driven joints of 'planar chain' (q1, q2)"
        """
        names = ", ".join(self.velocity_names[k] for k in self.driven)
        return (
            f"the driven joints of {self.name!r} ({names}) cannot hold this motion: their forces "
            f"have the rank {rank} at this state, for {freedoms} freedoms. Drive other joints, or "
            "more of them."
        )

    def forward_dynamics(self, q: Any, qd: Any, tau: Any, t: Any = 0.0) -> Any:
        """qdd = M^-1 (Q + tau - bias + J^T lambda): (nv,) [rad/s^2, m/s^2]; lambda of the constraints,
        if there are any.

        Raises
        ------
        SingularMassMatrixError
            M is singular within rounding; not looked at on expressions.
        ConstraintError
            Constraints depend on each other.

        Examples
        --------
        >>> import dalembert as da
        >>> from dalembert.systems.kinds import system_of
        >>> system_of(da.planar_chain(1)).forward_dynamics([0.0], [0.0], [0.0]).round(3)
        array([-14.715])
        """
        force = self.applied(q, qd, tau, t)
        if self.constraints:
            return ConstraintSet(self).accelerations(force, q, qd, t)[0]
        return self._solved(self.mass_matrix(q, t), force)

    def applied(self, q: Any, qd: Any, tau: Any, t: Any = 0.0) -> Any:
        """Q + tau - bias: (nv,) [N m, N], M qdd without forces of constraints.

        Examples
        --------
        >>> import dalembert as da
        >>> from dalembert.systems.kinds import system_of
        >>> system_of(da.planar_chain(1)).applied([0.0], [0.0], [3.0]).round(3)
        array([-1.905])
        """
        applied = np.asarray(tau) + self.generalized_forces(q, qd, t)
        return applied - np.asarray(self.bias_force(q, qd, t))

    def multipliers(self, q: Any, qd: Any, tau: Any, t: Any = 0.0) -> Any:
        """lambda of M qdd + bias = Q + tau + J^T lambda, for k rows of constraints: (k,) [N, N m];
        where rows follow from others, and lambda is not unique, that of least norm.

        Raises
        ------
        SingularMassMatrixError, ConstraintError
            M is singular within rounding; constraints contradict each other.

        Examples
        --------
        >>> import dalembert as da
        >>> from dalembert.systems.kinds import system_of
        >>> system_of(da.planar_chain(1)).constraints
        ()
        """
        force = self.applied(q, qd, tau, t)
        return self._constraint_set.multipliers(force, q, qd, t)

    def controls(self, q: Any, qd: Any, tau: Any, t: Any = 0.0) -> Any:
        """Forces u of the actuators that lead outputs along programs: (k,) [N m, N].

        Raises
        ------
        ConstraintError
            The actuators cannot lead an output at this state.

        Examples
        --------
        >>> import dalembert as da
        >>> from dalembert.systems.kinds import system_of
        >>> lift = da.generators.SteadyAcceleration(2.0)
        >>> servo = da.constraints.Servo("lift", "q1", lift, ["q1"], frequency=5.0)
        >>> arm = system_of(da.planar_chain(1).constrained(servo))
        >>> arm.controls([0.0], [0.0], [0.0]).round(3)
        array([5.572])
        """
        return self._motion(q, qd, tau, t).controls

    def program_residual(self, q: Any, qd: Any, t: Any = 0.0) -> Any:
        """Residuals of the relations to programs: (k,).

        Examples
        --------
        >>> import dalembert as da
        >>> from dalembert.systems.kinds import system_of
        >>> system_of(da.planar_chain(1)).program_residual([0.0], [0.0])
        array([], dtype=float64)
        """
        return self._constraint_set.principles.residuals(State(q, qd, t))

    def lie_poisson(self, qd: Any, p: Any) -> Any:
        """ad*_qd p: p x omega of each quaternion's angular velocity, 0 of rates of coordinates: (nv,)
        [N m].

        Examples
        --------
        >>> import dalembert as da
        >>> from dalembert.systems.kinds import system_of
        >>> system_of(da.planar_chain(1)).lie_poisson([1.0], [2.0])
        array([0], dtype=object)
        """
        found = np.zeros(self.nv, dtype=object)
        for at in self.angular_velocities.values():
            k = slice(at, at + 3)
            found[k] = list(Vector(p[k]).cross(Vector(qd[k])))
        return found

    def reactions(self, q: Any, qd: Any, tau: Any, t: Any = 0.0) -> dict[str, Any]:
        """Forces of constraints by name: wrenches (6,) on bodies, moment first, in the base's axes, or
        generalized forces J^T lambda (nv,) [N m, N]; `da.reactions` says which.

        Raises
        ------
        SingularMassMatrixError, ConstraintError
            M is singular within rounding; constraints depend on each other.

        Examples
        --------
        >>> import dalembert as da
        >>> from dalembert.systems.kinds import system_of
        >>> rod = da.planar_chain(1).constrained(da.constraints.Holonomic("stop", lambda q, t: [2 * q[0]]))
        >>> system_of(rod).reactions([0.0], [0.0], [0.0])["stop"].round(3)
        array([4.905])
        """
        multipliers = self.multipliers(q, qd, tau, t)
        return self._constraint_set.principles.rows.reactions(q, qd, t, multipliers)  # type: ignore[no-any-return]

    def factors_of_inertia(self, q: Any, t: Any = 0.0) -> Any:
        """Factors L D L^T of M(q, t) (nv, nv), a `SparseFactors` or what solves alike.

        Raises
        ------
        SingularMassMatrixError
            M is singular within rounding; not looked at on expressions.

        Examples
        --------
        >>> import dalembert as da
        >>> from dalembert.systems.kinds import system_of
        >>> float(round(system_of(da.planar_chain(1)).factors_of_inertia([0.5]).inverse_pivots[0], 6))
        3.0
        """
        M = np.asarray(self.mass_matrix(q, t))
        if M.dtype != object:
            check_regular(M, self.name, self.velocity_names)
        return SparseFactors.of(factorised(M.tolist(), unchecked))

    def project(self, q: Any, qd: Any, t: float = 0.0) -> tuple[np.ndarray, np.ndarray]:
        """A state (nq,), (nv,) near by that meets the constraints at t [s], moved in the metric of M.

        Raises
        ------
        ConstraintError
            There is none, or constraints depend on each other.

        Examples
        --------
        >>> import dalembert as da
        >>> from dalembert.systems.kinds import system_of
        >>> system_of(da.planar_chain(1)).project([0.5], [1.0])
        (array([0.5]), array([1.]))
        """
        q, qd = np.asarray(q, dtype=float), np.asarray(qd, dtype=float)
        return ConstraintSet(self).consistent(q, qd, t) if self.constraints else (q, qd)

    def velocities(self, q: Any, p: Any, t: Any = 0.0, solver: Any = None) -> Any:
        """qd = M^-1 p: (nv,) [rad/s, m/s], by one of `solvers`.

        Raises
        ------
        SingularMassMatrixError
            M is singular within rounding; not looked at on expressions.

        Examples
        --------
        >>> import dalembert as da
        >>> from dalembert.systems.kinds import system_of
        >>> system_of(da.planar_chain(1)).velocities([0.0], [1.0]).round(3)
        array([3.])
        """
        return self._solved(self.mass_matrix(q, t), p)

    def momentum_rate(self, q: Any, qd: Any, p: Any, t: Any = 0.0) -> Any:
        """p' without tau, with the velocities qd of the momenta p: (nv,) [N m, N].

        Raises
        ------
        NotImplementedError
            The system states no rate of momenta; its Lagrangian has it.

        Examples
        --------
        >>> import dalembert as da
        >>> from dalembert.systems.kinds import system_of
        >>> system_of(da.planar_chain(1)).momentum_rate([0.0], [3.0], [1.0]).round(3)
        array([-4.905])
        """
        raise NotImplementedError

    def hamiltonian(self, q: Any, p: Any, t: Any = 0.0) -> Any:
        """H(q, p, t), the energy as a function of momenta: number [J].

        Examples
        --------
        >>> import dalembert as da
        >>> from dalembert.systems.kinds import system_of
        >>> round(float(system_of(da.planar_chain(1)).hamiltonian([0.0], [1.0])), 3)
        1.5
        """
        return self.energy(q, self.velocities(q, p, t), t)

    def _solved(self, M: Any, b: Any) -> Any:
        """x of M x = b."""
        return solve_regular(np.asarray(M), np.asarray(b), self.name, self.velocity_names)

    # --- coordinates ---

    @property
    def quaternions(self) -> Mapping[str, int]:
        """Offsets in q of the quaternions, by joint."""
        return {}

    @property
    def angular_velocities(self) -> Mapping[str, int]:
        """Offsets in qd of the quaternions' angular velocities, by joint."""
        return {}

    def rate(self, q: Any, qd: Any) -> Any:
        """q' of the velocities qd: (nq,) [rad/s, m/s; 1/s of quaternions].

        Examples
        --------
        >>> import dalembert as da
        >>> from dalembert.systems.kinds import system_of
        >>> system_of(da.planar_chain(1)).rate([0.0], [3.0])
        array([3.])
        """
        return qd

    def integrate(self, q: Any, step: Any) -> Any:
        """q moved by a step (nv,) [rad, m] along the velocities: (nq,).

        Examples
        --------
        >>> import dalembert as da
        >>> from dalembert.systems.kinds import system_of
        >>> system_of(da.planar_chain(1)).integrate([0.25], [0.5])
        array([0.75])
        """
        return q + step

    def difference(self, q_1: Any, q_0: Any) -> Any:
        """Step from q_0 to q_1, both (nq,): (nv,) [rad, m].

        Examples
        --------
        >>> import dalembert as da
        >>> from dalembert.systems.kinds import system_of
        >>> system_of(da.planar_chain(1)).difference([0.75], [0.25])
        array([0.5])
        """
        return np.asarray(q_1) - np.asarray(q_0)

    def normalize(self, q: Any) -> Any:
        """q (nq,) with quaternions of unit length.

        Examples
        --------
        >>> import dalembert as da
        >>> from dalembert.systems.kinds import system_of
        >>> system_of(da.planar_chain(1)).normalize([0.25])
        [0.25]
        """
        return q

    def neutral(self) -> np.ndarray:
        """Coordinates to begin with where none are given: (nq,) [rad, m].

        Examples
        --------
        >>> import dalembert as da
        >>> from dalembert.systems.kinds import system_of
        >>> system_of(da.planar_chain(2)).neutral()
        array([0., 0.])
        """
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

        Examples
        --------
        >>> import dalembert as da
        >>> from dalembert.systems.kinds import system_of
        >>> system_of(da.planar_chain(1)).check([0.5], [1.0])      # a state: nothing is raised
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
        """Raise a SingularMassMatrixError or ConstraintError where accelerations of states (N, nq),
        (N, nv) are not determined, or where these do not meet the constraints.

        Examples
        --------
        >>> import dalembert as da
        >>> from dalembert.systems.kinds import system_of
        >>> system_of(da.planar_chain(1)).check_determined([[0.5]], [[1.0]])
        """
        for state in zip(q, qd, strict=True):
            self.forward_dynamics(*state, np.zeros(self.nv), t)
            if self.constraints:
                rows = ConstraintSet(self)
                rows.check(*state, t)
                check_start(rows, np.asarray(state[0]), np.asarray(state[1]), t)

    # --- numbers ---

    def number(self, path: str) -> Any:
        """The number at a path; NaN for a parameter, which has none.

        Raises
        ------
        UnknownNameError
            There is no number of that path.

        Examples
        --------
        >>> import dalembert as da
        >>> from dalembert.systems.kinds import system_of
        >>> system_of(da.planar_chain(1)).number("link1.com[0]")
        0.5
        """
        if path not in self.parameters:
            raise UnknownNameError("parameter", path, self.parameters)
        return float("nan")

    def undetermined(self, inputs: Collection[str] = ()) -> list[str]:
        """Names of symbols without values, where numbers at some paths are inputs.

        Examples
        --------
        >>> import dalembert as da
        >>> from dalembert.systems.kinds import system_of
        >>> system_of(da.planar_chain(1)).undetermined()
        []
        """
        return [name for name in self.parameters if name not in inputs]

    def with_inputs(self, paths: Sequence[str]) -> System:
        """The system with numbers at some paths as inputs of its compiled quantities.

        Raises
        ------
        UnknownNameError
            There is no number of a path.

        Examples
        --------
        >>> import dalembert as da
        >>> from dalembert.systems.kinds import system_of
        >>> system_of(da.planar_chain(1)).with_inputs([]).name
        'planar chain'
        """
        for path in paths:
            self.number(path)
        return self

    def replace(self, values: Mapping[str, Any]) -> System:
        """The system with other numbers, floats or expressions.

        Raises
        ------
        UnknownNameError, ParameterError
            There is no number of a path; the system has none that can be replaced.

        Examples
        --------
        >>> import dalembert as da
        >>> from dalembert.systems.kinds import system_of
        >>> system_of(da.planar_chain(1)).replace({"link1.mass": 2.0}).number("link1.mass")
        2.0
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
    def recorded(self) -> Mapping[str, Quantity]:
        """Quantities that runs record: `observables`, multipliers and residuals of constraints."""
        if not self.constraints:
            return self.observables
        return {**self._forces_of_constraints(), **self._of_rows(), **self.observables}

    def _of_rows(self) -> dict[str, Quantity]:
        """Jacobian and residuals of the rows of constraints, and reactions along them."""
        rows = self._constraint_set
        found: dict[str, Quantity] = {}
        if not rows.constraints:
            return found
        found["constraint_jacobian"] = Quantity(
            lambda q, qd, t: rows.rates(q, qd, t).jacobian,
            ("q", "qd", "t"),
            ("constraint", "nv"),
            "1, m",
            "J of J qdd = bias, derivative of the rows by qd",
        )
        if rows.holonomic:
            found["constraint_residual"] = Quantity(
                rows.position,
                ("q", "t"),
                ("holonomic",),
                rows.position_units,
                "residuals of holonomic constraints",
                rows.position_labels,
            )
        found["constraint_velocity"] = Quantity(
            lambda q, qd, t: rows.rates(q, qd, t).velocity,
            ("q", "qd", "t"),
            ("constraint",),
            rows.velocity_units,
            "residuals of constraints on velocities, and rates of those on coordinates",
            rows.labels,
        )
        return found

    def _forces_of_constraints(self) -> dict[str, Quantity]:
        """Multipliers, forces of the actuators of programs, and residuals of these."""
        principles = self._constraint_set.principles
        state = ("q", "qd", "tau", "t")
        found = {}
        if principles.rows.constraints:
            found["multipliers"] = Quantity(
                self.multipliers,
                state,
                ("constraint",),
                principles.rows.units,
                "multipliers of constraints, forces on the side of the applied ones",
                principles.rows.labels,
            )
            if not principles.vakonomic:  # whose forces have terms beside those along rows
                found["constraint_reactions"] = Quantity(
                    self._all_reactions,
                    state,
                    ("reaction",),
                    "N m, N",
                    "wrenches of constraints on bodies, in the base's axes, or generalized forces",
                    principles.rows.reaction_labels,
                )
        if principles.actuated:
            names = tuple(self.velocity_names[k] for k in principles.actuated)
            said = "forces of the actuators that lead outputs along programs"
            found["controls"] = Quantity(self.controls, state, ("actuator",), "N m, N", said, names)
        if principles.programs:
            found["program_residual"] = Quantity(
                self.program_residual,
                ("q", "qd", "t"),
                ("output",),
                "",
                "residuals of the relations to programs",
                principles.residual_labels,
            )
        if self.internal_names:
            return {name: self._of_internal(q.function.__name__, q) for name, q in found.items()}
        return found

    def _all_reactions(self, q: Any, qd: Any, tau: Any, t: Any) -> Any:
        """All reactions, in the order of the constraints."""
        return np.concatenate([*self.reactions(q, qd, tau, t).values()])

    @property
    def quantities(self) -> Mapping[str, Quantity]:
        """Quantities that compile, by name."""
        state = "q qd t"
        functions: dict[str, tuple[Callable[..., Any], str]] = {
            "mass_matrix": (self.mass_matrix, "q t"),
            "bias_force": (self.bias_force, state),
            "generalized_forces": (self.generalized_forces, state),
            "kinetic_energy": (self.kinetic_energy, state),
            "potential_energy": (self.potential_energy, "q t"),
            "energy": (self.energy, state),
            "energy_rate": (self.power, "q qd tau t"),
            "momenta": (self.momenta, state),
            "inverse_dynamics": (self.inverse_dynamics, "q qd qdd t"),
            "forward_dynamics": (self.forward_dynamics, "q qd tau t"),
        }
        of_states = {name: described(name, *function) for name, function in functions.items()}
        if self.internal_names:
            of_states |= {name: self._of_internal(name, of_states[name]) for name in DRIVEN}
        return {**of_states, **self.recorded}

    def _of_internal(self, name: str, quantity: Quantity) -> Quantity:
        """A quantity, named as the method that gives it, as a function of internal states too."""

        def at_internal(*given: Any) -> Any:
            """The quantity at internal states, which stand last."""
            *state, internal = given
            return getattr(self.with_internal(internal), name)(*state)

        return quantity._replace(function=at_internal, inputs=(*quantity.inputs, INTERNAL))

    def table(self) -> list[tuple[str, ...]]:
        """Name, inputs, results and description of each quantity.

        Examples
        --------
        >>> import dalembert as da
        >>> from dalembert.systems.kinds import system_of
        >>> system_of(da.planar_chain(1)).table()[0]
        ('inverse_dynamics', 'q, qd, qdd', '(nv,) [N m, N]', 'tau that gives qdd')
        """
        return [
            (f"{name}:FRAME" if q.framed else name, ", ".join(q.inputs), q.result, q.description)
            for name, q in self.quantities.items()
        ]

    def traced(self, names: Sequence[str]) -> tuple[dict[str, np.ndarray], dict[str, Any]]:
        """Inputs of some quantities as arrays of symbols, q (nq,), others (nv,), t (1,), and their
        expressions in the shapes of `quantities`, in the current graph.

        Raises
        ------
        UnknownNameError
            There is no quantity of a name.

        Examples
        --------
        >>> import dalembert as da
        >>> from dalembert.systems.kinds import system_of
        >>> with da.Graph():
        ...     inputs, outputs = system_of(da.planar_chain(1)).traced(["potential_energy"])
        >>> list(inputs), outputs["potential_energy"]
        (['q'], 4.905*sin(symbol('input q[0]')))
        """
        sizes = {"q": self.nq, "qd": self.nv, "qdd": self.nv, "tau": self.nv, "p": self.nv, "t": 1}
        sizes[INTERNAL] = len(self.internal_names)
        chosen = {name: self.quantity(name) for name in names}
        wanted = {i for quantity in chosen.values() for i in quantity.inputs}
        inputs = {name: vector_of_symbols(name, n) for name, n in sizes.items() if name in wanted}
        given = inputs | {"t": inputs["t"][0]} if "t" in inputs else inputs
        outputs: dict[str, Any] = {}
        for name, quantity in chosen.items():
            found = quantity.function(*(given[i] for i in quantity.inputs))
            if hasattr(found, "_fields"):
                outputs |= {f"{name}.{field}": x for field, x in found._asdict().items()}
            else:
                outputs[name] = found
        return inputs, outputs

    def quantity(self, name: str) -> Quantity:
        """The quantity of a name, with a frame where it takes one: 'placement:tool'.

        Raises
        ------
        UnknownNameError
            There is none.

        Examples
        --------
        >>> import dalembert as da
        >>> from dalembert.systems.kinds import system_of
        >>> system_of(da.planar_chain(1)).quantity("mass_matrix").unit
        'kg m^2, kg m, kg'
        """
        if name not in self.quantities:
            raise UnknownNameError("quantity", name, tuple(self.quantities))
        return self.quantities[name]

    def formulated(self, name: str) -> System | None:
        """The system whose state equations have a name of `formulations`; None: they are those of
        its `lagrangian`.

        Examples
        --------
        >>> import dalembert as da
        >>> from dalembert.systems.kinds import system_of
        >>> chain = system_of(da.planar_chain(1))
        >>> chain.formulated(chain.formulations[0]) is chain
        True
        """
        return self if name == self.formulations[0] else None

    def lagrange_function(self, q: Any, qd: Any, t: Any = 0.0) -> Any:
        """L = T - Pi: number [J].

        Examples
        --------
        >>> import dalembert as da
        >>> from dalembert.systems.kinds import system_of
        >>> round(float(system_of(da.planar_chain(1)).lagrange_function([0.0], [3.0])), 3)
        1.5
        """
        return self.kinetic_energy(q, qd, t) - self.potential_energy(q, t)

    def lagrangian(self) -> LagrangianSystem:
        """The same equations as those of a Lagrangian function: for closed forms, and for momenta.

        Raises
        ------
        DalembertError
            Velocities are no rates of coordinates.

        Examples
        --------
        >>> import dalembert as da
        >>> from dalembert.systems.kinds import system_of
        >>> system_of(da.planar_chain(1)).lagrangian().coordinate_names
        ('q1',)
        """
        if self.nq != self.nv or self.quaternions:
            raise DalembertError(
                f"{self.name!r} has velocities that are no rates of its coordinates (quaternions), "
                "and no Lagrangian of q and qd."
            )
        free = lagrangian_system(
            self.lagrange_function, self.coordinate_names, self.generalized_forces, self.name
        )
        rows: list[Constraint] = []
        principles: dict[str, str] = {}
        declared = self.principles or ("chetaev",) * len(self.constraints)
        for constraint, principle in zip(self.constraints, declared, strict=True):
            own = functions_of(constraint, self)
            rows += own
            principles |= {row.name: principle for row in own}
        return free.constrained(*rows, principle=principles)
