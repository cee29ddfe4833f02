"""Systems of Hamilton's form, planar chains and systems with terms linear in the velocities, as
systems.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cached_property, partial
from typing import Any

import numpy as np

from dalembert.formulations import hamilton
from dalembert.formulations.hamilton.configurations import CanonicalSystem
from dalembert.formulations.hamilton.nonnatural import NonNatural
from dalembert.formulations.hamilton.trees import CanonicalMechanism
from dalembert.formulations.hamilton.velocity_solver import SOLVERS
from dalembert.formulations.lagrange.symbolic_system import LagrangianSystem
from dalembert.systems.mechanism_system import MechanismSystem
from dalembert.systems.system import HAMILTON, LAGRANGE, System
from dalembert.tracing.quantity import Quantity, described


class HamiltonianSystem(System):
    """L = 1/2 qd^T A(q) qd + a(q, t)^T qd + L0(q, t), with the momenta p = A qd + a.

    Accelerations are those of its Lagrangian; velocities of momenta come from the quadratic
    program.
    """

    formulations = (HAMILTON, LAGRANGE)
    solvers = SOLVERS
    positive_definite = True

    def __init__(self, form: CanonicalSystem):
        self._form, self.name = form, form.name
        inner: Any = form
        while isinstance(inner, NonNatural):
            inner = inner.system
        self._bodies = (
            MechanismSystem(inner.mechanism) if isinstance(inner, CanonicalMechanism) else None
        )
        numbered = tuple(f"q{k + 1}" for k in range(form.nq))
        self.coordinate_names = numbered if self._bodies is None else self._bodies.coordinate_names

    @property
    def source(self) -> CanonicalSystem:
        """The system in Hamilton's form."""
        return self._form

    @property
    def velocity_names(self) -> tuple[str, ...]:
        """Names of the entries of qd, qdd and tau."""
        return self.coordinate_names if self._bodies is None else self._bodies.velocity_names

    @cached_property
    def _lagrangian(self) -> LagrangianSystem:
        return super().lagrangian()

    def lagrangian(self) -> LagrangianSystem:
        """The Lagrangian of the same equations."""
        return self._lagrangian

    def lagrange_function(self, q, qd, t=0.0):
        """L = T - Pi, with the terms linear in qd [J]."""
        linear = hamilton.momenta(self._form, q, np.zeros(self.nv), t)
        kinetic = hamilton.kinetic_energy(self._form, q, qd)
        return kinetic + np.asarray(linear) @ qd - hamilton.potential_energy(self._form, q, t)

    def mass_matrix(self, q, t=0.0):
        """M(q) (nv, nv)."""
        return hamilton.mass_matrix(self._form, q)

    def bias_force(self, q, qd, t=0.0):
        """Forces of inertia and of potentials but M qdd (nv,)."""
        return self._lagrangian.bias_force(q, qd, t)

    def generalized_forces(self, q, qd, t=0.0):
        """Forces without a potential that belong to the system: p' at a state less dL/dq."""
        p = hamilton.momenta(self._form, q, qd, t)
        rest = hamilton.lie_poisson_term(self._form, q, qd, p, t) + hamilton.lagrangian_gradient(
            self._form, q, qd, t
        )
        return hamilton.momentum_rate(self._form, q, qd, p, t) - rest

    def potential_energy(self, q, t=0.0):
        """Potential energy [J]."""
        return hamilton.potential_energy(self._form, q, t)

    def kinetic_energy(self, q, qd, t=0.0):
        """1/2 qd^T A qd [J]."""
        return hamilton.kinetic_energy(self._form, q, qd)

    def momenta(self, q, qd, t=0.0):
        """p = A qd + a (nv,)."""
        return hamilton.momenta(self._form, q, qd, t)

    def velocities(self, q, p, t=0.0, solver=None):
        """z of A z = p - a (nv,), by one of the solvers."""
        return hamilton.velocities(self._form, q, p, t, solver or SOLVERS[0])

    def momentum_rate(self, q, qd, p, t=0.0):
        """Rates of the momenta without tau (nv,)."""
        return hamilton.momentum_rate(self._form, q, qd, p, t)

    def hamiltonian(self, q, p, t=0.0):
        """Energy as a function of momenta [J]."""
        return hamilton.hamiltonian(self._form, q, p, t)

    def power(self, q, qd, tau, t=0.0):
        """Rate of the energy [W]."""
        return hamilton.energy_rate(self._form, q, self.momenta(q, qd, t), tau, t=t)

    # --- coordinates: those of the bodies, where there are any ---

    @property
    def quaternions(self) -> Mapping[str, int]:
        """Offsets in q of the quaternions, by joint."""
        return {} if self._bodies is None else self._bodies.quaternions

    @property
    def angular_velocities(self) -> Mapping[str, int]:
        """Offsets in qd of the quaternions' angular velocities, by joint."""
        return {} if self._bodies is None else self._bodies.angular_velocities

    def rate(self, q, qd):
        """Rates of the coordinates (nq,)."""
        return qd if self._bodies is None else self._bodies.rate(q, qd)

    def integrate(self, q, step):
        """Coordinates after a step along the velocities."""
        return q + step if self._bodies is None else self._bodies.integrate(q, step)

    def difference(self, q_1, q_0):
        """Step along the velocities from q_0 to q_1."""
        return (
            super().difference(q_1, q_0)
            if self._bodies is None
            else self._bodies.difference(q_1, q_0)
        )

    def normalize(self, q):
        """Coordinates with quaternions of unit length."""
        return q if self._bodies is None else self._bodies.normalize(q)

    def neutral(self):
        """Coordinates to begin with (nq,)."""
        return super().neutral() if self._bodies is None else self._bodies.neutral()

    @property
    def coordinate_units(self) -> list[str]:
        """Units of the entries of q."""
        return ["rad"] * self.nq if self._bodies is None else self._bodies.coordinate_units

    @property
    def velocity_units(self) -> list[str]:
        """Units of the entries of qd."""
        return ["rad/s"] * self.nv if self._bodies is None else self._bodies.velocity_units

    @property
    def quantities(self) -> Mapping[str, Quantity]:
        """Quantities by name."""
        gradient = partial(hamilton.lagrangian_gradient, self._form)
        own: dict[str, tuple[Callable[..., Any], str]] = {
            "velocities": (self.velocities, "q p t"),
            "lagrangian_gradient": (gradient, "q qd t"),
            "momentum_rate": (self.momentum_rate, "q qd p t"),
            "hamiltonian": (self.hamiltonian, "q p t"),
        }
        found = {name: described(name, *function) for name, function in own.items()}
        return {**super().quantities, **found}


SYSTEM_OF = (CanonicalSystem, HamiltonianSystem)
