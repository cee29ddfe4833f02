"""What moves, and in which variables: the equations of motion that a `Motion` is made of."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from functools import cached_property
from importlib import import_module
from typing import Any

import numpy as np

from dalembert.compiled.function import CompiledFunction, function
from dalembert.compiled.quantities import known_formulation
from dalembert.compiled.regrouping import accelerations
from dalembert.formulations import newton_euler
from dalembert.kinematics.forces import passive_force
from dalembert.model.mechanism import Mechanism
from dalembert.simulation.kept import dynamics_of, kept

Rates = tuple[np.ndarray, np.ndarray, Any]      # q', y' and the power [W]


class Form(ABC):
    """Equations of motion q' = ..., y' = ... of a system; y are its velocities qd, or its momenta p.

    Vectors are those of one state, of floats or expressions; states to begin with and records come in rows.

    Attributes
    ----------
    system : Mechanism or LagrangianSystem, with nq, nv, coordinate_names, velocity_names
    formulation : whose equations these are
    quaternions : names of joints and where in q their quaternions begin
    canonical : whether y are momenta
    """

    system: Any
    formulation: str
    quaternions: dict[str, int]
    canonical: bool = False

    @abstractmethod
    def check(self, q: Any, qd: Any) -> None:
        """Raise if these are no states: ShapeError, TypeError, ValueError, QuaternionError."""

    @abstractmethod
    def started(self, q: np.ndarray, qd: np.ndarray, t: float) -> np.ndarray:
        """y of states to begin with, (N, nv), at a time [s].

        Raises
        ------
        SingularMassMatrixError
            Accelerations or velocities are not determined there.
        """

    @abstractmethod
    def velocities(self, t: Any, q: np.ndarray, y: np.ndarray) -> np.ndarray:
        """qd at a state."""

    @abstractmethod
    def rates(self, t: Any, q: np.ndarray, y: np.ndarray, qd: np.ndarray, tau: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """q' and y' under forces tau along qd, with the velocities qd of the state."""

    @abstractmethod
    def power(self, t: Any, q: np.ndarray, qd: np.ndarray, tau: np.ndarray) -> Any:
        """Rate of the energy [W]: of tau, friction, and what depends on time."""

    @abstractmethod
    def energy(self, q: np.ndarray, y: np.ndarray) -> Any:
        """What is constant where `power` is 0 [J].

        Raises
        ------
        ValueError
            It is a function of time too.
        """

    @abstractmethod
    def called(self) -> tuple[Callable[..., np.ndarray], Callable[..., Rates]]:
        """Compiled: (t, q, y) -> qd, and (t, q, y, qd, tau) -> q', y', power."""

    @abstractmethod
    def recorded(self, t: np.ndarray, q: np.ndarray, y: np.ndarray) -> np.ndarray:
        """qd of records (..., nv) at times that go with them."""

    @abstractmethod
    def singular(self, t: np.ndarray, q: np.ndarray, qd: np.ndarray, stuck: bool) -> tuple[int, str] | None:
        """First of the records (K, ...) of a trajectory beyond a state whose accelerations are not determined, and why.

        stuck: it could not go on from the last record, which counts as such a state if it is close to one.
        """

    @abstractmethod
    def move(self, q: Any, step: Any) -> Any:
        """q moved along velocities by a step (nv,)."""

    @abstractmethod
    def normalize(self, q: np.ndarray) -> np.ndarray:
        """q with quaternions of unit length."""


class OfMechanism(Form):
    """What the forms of a mechanism share."""

    def __init__(self, mechanism: Mechanism, formulation: str):
        self.system, self.formulation, self.quaternions = mechanism, known_formulation(formulation), mechanism.quaternions

    @cached_property
    def _rubbing(self) -> Mechanism:
        """The mechanism whose passive forces are friction alone: springs are in the potential energy."""
        return self.system.without("springs")

    def check(self, q, qd):
        self.system.at(q=q, qd=qd)

    def power(self, t, q, qd, tau):
        return sum((tau + passive_force(self._rubbing, q, qd)) * qd)

    def singular(self, t, q, qd, stuck):
        return None                             # the mass matrix of bodies is positive wherever they are

    def move(self, q, step):
        return self.system.integrate(q, step)

    def normalize(self, q):
        return self.system.normalize(q) if self.quaternions else q


class Accelerations(OfMechanism):
    """A mechanism in (q, qd): accelerations by the forward dynamics of a formulation.

        M(q) qdd = tau + passive_force - C(q, qd) qd - g(q)
    """

    def __init__(self, mechanism: Mechanism, formulation: str = "newton_euler"):
        super().__init__(mechanism, formulation)
        self._accelerations = accelerations if formulation == "newton_euler" else import_module(
            f"dalembert.formulations.{formulation}").forward_dynamics

    def check(self, q, qd):
        dynamics_of(self.system).forward_dynamics(q, qd, np.zeros(self.system.nv))      # they are determined, too

    def started(self, q, qd, t):
        return qd

    def velocities(self, t, q, y):
        return y

    def rates(self, t, q, y, qd, tau):
        return self.system.rate(q, qd), self._accelerations(self.system, q, qd, tau)

    def energy(self, q, y):
        return newton_euler.kinetic_energy(self.system, q, y) + newton_euler.potential_energy(self.system, q)

    def called(self):
        dynamics = dynamics_of(self.system)

        def rates(t: float, q: np.ndarray, y: np.ndarray, qd: np.ndarray, tau: np.ndarray) -> Rates:
            return self.system.rate(q, qd), dynamics.forward_dynamics(q, qd, tau), self.power(t, q, qd, tau)

        return self.velocities, rates

    def recorded(self, t, q, y):
        return y


def compiled_velocities(form: Form) -> CompiledFunction:
    """(t, q, y) -> qd of a form whose equations are expressions; batches too."""
    return kept(form.system, ("velocities", form.formulation), lambda: function(
        form.velocities, t=(), q=form.system.nq, y=form.system.nv))


def compiled(form: Form) -> tuple[CompiledFunction, CompiledFunction]:
    """`called` of a form whose equations are expressions."""
    n, m = form.system.nq, form.system.nv

    def rates(t: Any, q: Any, y: Any, qd: Any, tau: Any) -> Rates:
        return *form.rates(t, q, y, qd, tau), form.power(t, q, qd, tau)

    return compiled_velocities(form), kept(form.system, ("rates", form.formulation), lambda: function(
        rates, t=(), q=n, y=m, qd=m, tau=m))


def along(times: np.ndarray, f: Callable[..., np.ndarray], *vectors: np.ndarray) -> np.ndarray:
    """f(t, *vectors) at records (..., entries); NaN where they are."""
    flat = [v.reshape(-1, v.shape[-1]) for v in vectors]
    t = np.broadcast_to(times, vectors[0].shape[:-1]).reshape(-1)
    good = np.all([np.isfinite(v).all(axis=-1) for v in flat], axis=0)
    found = np.asarray(f(t[good], *(v[good] for v in flat)))
    out = np.full((len(good), *found.shape[1:]), np.nan)
    out[good] = found
    return out.reshape(*vectors[0].shape[:-1], *found.shape[1:])
