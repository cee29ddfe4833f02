"""A mechanism as a system."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from functools import cached_property, partial
from importlib import import_module
from typing import Any

import numpy as np

from dalembert.expr import Expr, free_symbols
from dalembert.formulations import hamilton, newton_euler
from dalembert.formulations.hamilton.velocity_solver import SOLVERS
from dalembert.kinematics.forces import friction_force, passive_force
from dalembert.model.linkage import is_angular
from dalembert.model.mechanism import Mechanism
from dalembert.model.paths import canonical_text, numbers
from dalembert.systems.system import System
from dalembert.tracing.quantities import FORMULATIONS, QUANTITIES, known_formulation
from dalembert.tracing.quantity import Quantity
from dalembert.tracing.regrouping import accelerations


class MechanismSystem(System):
    """A mechanism with the functions of a formulation.

    M(q) qdd + C(q, qd) qd + g(q) = passive_force + tau
    """

    formulations: tuple[str, ...] = FORMULATIONS
    solvers = SOLVERS
    positive_definite = explained_by_code = True

    def __init__(self, mechanism: Mechanism, formulation: str = FORMULATIONS[0]):
        self.mechanism, self.formulation = mechanism, known_formulation(formulation)  # type: ignore[assignment]
        self.name, self.coordinate_names = mechanism.name, mechanism.coordinate_names

    @property
    def velocity_names(self) -> tuple[str, ...]:
        """Names of the entries of qd, qdd and tau."""
        return self._mechanism.velocity_names

    @property
    def source(self) -> Mechanism:
        """The mechanism."""
        return self._mechanism

    @property
    def _mechanism(self) -> Mechanism:
        assert self.mechanism is not None
        return self.mechanism

    def identity(self) -> str | None:
        """Text that is equal for mechanisms with the same equations."""
        return canonical_text(self._mechanism)

    # --- equations ---

    @cached_property
    def _accelerations(self) -> Callable[..., Any]:
        if self.formulation == FORMULATIONS[0]:
            return accelerations
        return import_module(f"dalembert.formulations.{self.formulation}").forward_dynamics  # type: ignore[no-any-return]

    def mass_matrix(self, q, t=0.0):
        """M(q) (nv, nv)."""
        return newton_euler.mass_matrix(self._mechanism, q)

    def bias_force(self, q, qd, t=0.0):
        """C qd + g and the forces of springs (nv,)."""
        rest = np.zeros(self.nv)
        return newton_euler.bias_force(self._mechanism, q, qd) - passive_force(
            self._mechanism, q, rest
        )

    def generalized_forces(self, q, qd, t=0.0):
        """Friction of the joints and damping of beams (nv,)."""
        return friction_force(self._mechanism, q, qd)

    def kinetic_energy(self, q, qd, t=0.0):
        """Kinetic energy [J]."""
        return newton_euler.kinetic_energy(self._mechanism, q, qd)

    def potential_energy(self, q, t=0.0):
        """Potential energy [J]."""
        return newton_euler.potential_energy(self._mechanism, q)

    def momenta(self, q, qd, t=0.0):
        """Momenta of the velocities (nv,)."""
        return hamilton.momenta(self._mechanism, q, qd)

    def inverse_dynamics(self, q, qd, qdd, t=0.0):
        """Forces of the accelerations (nv,)."""
        return newton_euler.inverse_dynamics(self._mechanism, q, qd, qdd)

    def forward_dynamics(self, q, qd, tau, t=0.0):
        """Accelerations of the forces (nv,)."""
        return self._accelerations(self._mechanism, q, qd, tau)

    def velocities(self, q, p, t=0.0, solver=None):
        """Velocities of the momenta (nv,)."""
        return hamilton.velocities(self._mechanism, q, p, solver=solver or SOLVERS[0])

    def momentum_rate(self, q, qd, p, t=0.0):
        """Rates of the momenta without tau (nv,)."""
        return hamilton.momentum_rate(self._mechanism, q, qd, p)

    def hamiltonian(self, q, p, t=0.0):
        """Energy as a function of momenta [J]."""
        return hamilton.hamiltonian(self._mechanism, q, p)

    def power(self, q, qd, tau, t=0.0):
        """Rate of the energy [W]."""
        return sum((tau + friction_force(self._mechanism, q, qd)) * qd)

    # --- coordinates ---

    @property
    def quaternions(self) -> Mapping[str, int]:
        """Offsets in q of the quaternions, by joint."""
        return self._mechanism.quaternions

    @property
    def angular_velocities(self) -> Mapping[str, int]:
        """Offsets in qd of the quaternions' angular velocities, by joint."""
        return {joint: self._mechanism.entries[joint].at_v.start for joint in self.quaternions}

    def rate(self, q, qd):
        """Rates of the coordinates (nq,)."""
        return self._mechanism.rate(q, qd)

    def integrate(self, q, step):
        """Coordinates after a step along the velocities."""
        return self._mechanism.integrate(q, step)

    def difference(self, q_1, q_0):
        """Step along the velocities from q_0 to q_1."""
        return self._mechanism.difference(q_1, q_0)

    def normalize(self, q):
        """Coordinates with quaternions of unit length."""
        return self._mechanism.normalize(q) if self.quaternions else q

    def neutral(self):
        """Coordinates to begin with (nq,)."""
        return self._mechanism.neutral()

    @property
    def coordinate_units(self) -> list[str]:
        """rad, m, or 1 of quaternions."""
        holders = self._mechanism.holders
        units = ["rad" if is_angular(c) else "m" for h in holders for c in h.type.coordinates]
        for at in self.quaternions.values():
            units[at : at + 4] = ["1"] * 4
        return units

    @property
    def velocity_units(self) -> list[str]:
        """Units of the entries of qd."""
        holders = self._mechanism.holders
        return ["rad/s" if is_angular(c) else "m/s" for h in holders for c in h.type.velocities]

    def check(self, q, qd):
        """Raise nothing: compiled forward dynamics checks shapes, numbers and quaternions."""

    # --- numbers, quantities, formulations ---

    def number(self, path: str) -> Any:
        """The number at a path."""
        return self._mechanism.number(path)

    def undetermined(self, inputs: Collection[str] = ()) -> list[str]:
        """Names of symbols without values, where numbers at some paths are inputs."""
        if not self._mechanism.symbols:
            return []
        entries = [x for path, x in numbers(self._mechanism) if path not in inputs]
        free = {s.name for x in entries if isinstance(x, Expr) for s in free_symbols(x)}
        return sorted(free.difference(inputs))

    def replace(self, values: Mapping[str, Any]) -> MechanismSystem:
        """The system with other numbers."""
        return (
            MechanismSystem(self._mechanism.replace(dict(values)), self.formulation)
            if values
            else self
        )

    @property
    def quantities(self) -> Mapping[str, Quantity]:
        """Quantities by name."""
        return {
            name: quantity._replace(function=partial(quantity.function, self._mechanism))
            for name, quantity in QUANTITIES.items()
        }

    def formulated(self, name: str) -> MechanismSystem:
        """The mechanism by another formulation."""
        return self if name == self.formulation else MechanismSystem(self._mechanism, name)
