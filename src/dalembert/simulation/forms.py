"""What moves, and in which variables: the equations of motion that a `Motion` is made of."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from copy import copy
from functools import cached_property, partial
from importlib import import_module
from math import prod
from typing import Any

import numpy as np

from dalembert.compiled.function import CompiledFunction, function
from dalembert.formulations import newton_euler
from dalembert.kinematics.forces import passive_force
from dalembert.model.mechanism import Mechanism
from dalembert.simulation.kept import dynamics_of, kept
from dalembert.tracing.quantities import known_formulation
from dalembert.tracing.regrouping import accelerations

Rates = tuple[np.ndarray, np.ndarray, Any]      # q', y' and the power [W]
NONE = np.zeros(0)


class Form(ABC):
    """Equations of motion q' = ..., y' = ... of a system; y are its velocities qd, or its momenta p.

    Vectors are those of one state, of floats or expressions; states to begin with and records come in rows. Some numbers of
    the system may be inputs: `numbers` (m,) or, where states come in rows, (N, m), of which `at` makes the equations.

    Attributes
    ----------
    system : Mechanism or LagrangianSystem, with nq, nv, coordinate_names, velocity_names
    formulation : whose equations these are
    quaternions : names of joints and where in q their quaternions begin
    canonical : whether y are momenta
    paths : of the numbers of the system that are inputs, (m,)
    """

    system: Any
    formulation: str
    quaternions: dict[str, int]
    canonical: bool = False
    paths: tuple[str, ...] = ()

    def at(self, numbers: Any) -> Form:
        """The equations with these numbers, floats or expressions, which `velocities`, `rates`, `power`, `energy` need."""
        assert not self.paths
        return self

    @abstractmethod
    def check(self, q: Any, qd: Any, numbers: np.ndarray = NONE) -> None:
        """Raise if these are no states: ShapeError, TypeError, ValueError, QuaternionError."""

    @abstractmethod
    def started(self, q: np.ndarray, qd: np.ndarray, t: float, numbers: np.ndarray = NONE) -> np.ndarray:
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
    def called(self, numbers: np.ndarray = NONE) -> tuple[Callable[..., np.ndarray], Callable[..., Rates]]:
        """Compiled: (t, q, y) -> qd, and (t, q, y, qd, tau) -> q', y', power."""

    @abstractmethod
    def recorded(self, t: np.ndarray, q: np.ndarray, y: np.ndarray, numbers: np.ndarray = NONE) -> np.ndarray:
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

    def __init__(self, mechanism: Mechanism, formulation: str, paths: tuple[str, ...] = ()):
        self.system, self.formulation, self.quaternions = mechanism, known_formulation(formulation), mechanism.quaternions
        self.paths = paths

    def at(self, numbers):
        if not self.paths:
            return self
        twin = copy(self)
        twin.__dict__.pop("_rubbing", None)
        twin.system, twin.paths = self.system.replace(dict(zip(self.paths, numbers, strict=True))), ()
        return twin

    @cached_property
    def _rubbing(self) -> Mechanism:
        """The mechanism whose passive forces are friction alone: springs are in the potential energy."""
        return self.system.without("springs")

    def check(self, q, qd, numbers=NONE):
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

    def __init__(self, mechanism: Mechanism, formulation: str = "newton_euler", paths: tuple[str, ...] = ()):
        super().__init__(mechanism, formulation, paths)
        self._accelerations = accelerations if formulation == "newton_euler" else import_module(
            f"dalembert.formulations.{formulation}").forward_dynamics

    def check(self, q, qd, numbers=NONE):
        dynamics, given = dynamics_of(self.system, self.paths), {"parameters": numbers} if self.paths else {}
        dynamics.forward_dynamics(q, qd, np.zeros(self.system.nv), **given)      # they are determined, too

    def started(self, q, qd, t, numbers=NONE):
        return qd

    def velocities(self, t, q, y):
        return y

    def rates(self, t, q, y, qd, tau):
        return self.system.rate(q, qd), self._accelerations(self.system, q, qd, tau)

    def energy(self, q, y):
        return newton_euler.kinetic_energy(self.system, q, y) + newton_euler.potential_energy(self.system, q)

    def called(self, numbers=NONE):
        form, dynamics, given = self.at(numbers), dynamics_of(self.system, self.paths), {}
        if self.paths:
            given["parameters"] = numbers

        def rates(t: float, q: np.ndarray, y: np.ndarray, qd: np.ndarray, tau: np.ndarray) -> Rates:
            return form.system.rate(q, qd), dynamics.forward_dynamics(q, qd, tau, **given), form.power(t, q, qd, tau)

        return self.velocities, rates

    def recorded(self, t, q, y, numbers=NONE):
        return y


def compiled_velocities(form: Form) -> CompiledFunction:
    """(t, q, y, numbers) -> qd of a form whose equations are expressions; batches too."""
    def velocities(t: Any, q: Any, y: Any, numbers: Any) -> np.ndarray:
        return form.at(numbers).velocities(t, q, y)

    return kept(form.system, ("velocities", form.formulation, form.paths), lambda: function(
        velocities, t=(), q=form.system.nq, y=form.system.nv, numbers=len(form.paths)))


def compiled(form: Form, numbers: np.ndarray) -> tuple[Callable[..., np.ndarray], Callable[..., Rates]]:
    """`called` of a form whose equations are expressions."""
    n, m = form.system.nq, form.system.nv

    def rates(t: Any, q: Any, y: Any, qd: Any, tau: Any, numbers: Any) -> Rates:
        own = form.at(numbers)
        return *own.rates(t, q, y, qd, tau), own.power(t, q, qd, tau)

    found = kept(form.system, ("rates", form.formulation, form.paths), lambda: function(
        rates, t=(), q=n, y=m, qd=m, tau=m, numbers=len(form.paths)))
    return partial(compiled_velocities(form), numbers=numbers), partial(found, numbers=numbers)


def rows_of(numbers: np.ndarray, records: np.ndarray) -> np.ndarray:
    """Numbers of trajectories, (m,) or (N, m), at each of their records (..., entries)."""
    return np.broadcast_to(numbers[..., None, :], (*records.shape[:-1], numbers.shape[-1]))


def along(times: np.ndarray, f: Callable[..., np.ndarray], *vectors: np.ndarray) -> np.ndarray:
    """f(t, *vectors) at records (..., entries); NaN where they are."""
    flat = [v.reshape(prod(v.shape[:-1]), v.shape[-1]) for v in vectors]
    rows = vectors[0].shape[:-1]
    t = times if times.shape == rows == flat[0].shape[:1] else np.broadcast_to(times, rows).reshape(-1)
    good = np.all([np.isfinite(v).all(axis=-1) for v in flat], axis=0)
    if good.all():
        found = np.asarray(f(t, *flat))
        return found.reshape(*vectors[0].shape[:-1], *found.shape[1:])
    found = np.asarray(f(t[good], *(v[good] for v in flat)))
    out = np.full((len(good), *found.shape[1:]), np.nan)
    out[good] = found
    return out.reshape(*vectors[0].shape[:-1], *found.shape[1:])
