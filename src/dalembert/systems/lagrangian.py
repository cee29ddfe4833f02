"""A Lagrangian of one's own as a system."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from dalembert.errors import UnknownNameError
from dalembert.expr import free_symbols
from dalembert.formulations.lagrange.symbolic_system import LagrangianSystem
from dalembert.systems.system import System
from dalembert.tracing.quantity import Quantity, described

CHANGED = (
    "inverse_dynamics",
    "forward_dynamics",
    "energy_rate",
)  # quantities of a Lagrangian that constraints change


class LagrangianEquations(System):
    """A `LagrangianSystem` L(q, qd, t) with its generalized forces.

    Its energy is the function of Jacobi h = p . qd - L, which changes by the power of the forces
    less dL/dt.
    """

    def __init__(self, lagrangian: LagrangianSystem):
        self._own = lagrangian
        self.name = lagrangian.name
        self.coordinate_names = lagrangian.coordinate_names
        self.parameters = lagrangian.parameters
        self.constraints = lagrangian.constraints
        self.principles = lagrangian.principles

    @property
    def source(self) -> LagrangianSystem:
        """The Lagrangian."""
        return self._own

    def identity(self) -> str:
        """Text that is equal for equal equations."""
        return self._own.identity()

    def mass_matrix(self, q, t=0.0):
        """M = d2L/dqd2 (nv, nv)."""
        return self._own.mass_matrix(q, t=t)

    def bias_force(self, q, qd, t=0.0):
        """Forces of inertia and of potentials but M qdd (nv,)."""
        return self._own.bias_force(q, qd, t)

    def potential_energy(self, q, t=0.0):
        """-L at qd = 0 [J]."""
        return self._own.potential_energy(q, t=t)

    def generalized_forces(self, q, qd, t=0.0):
        """Forces without a potential (nv,)."""
        return self._own.generalized_forces(q, qd, t)

    def kinetic_energy(self, q, qd, t=0.0):
        """Kinetic energy [J]."""
        return self._own.kinetic_energy(q, qd, t)

    def momenta(self, q, qd, t=0.0):
        """p = dL/dqd (nv,)."""
        return self._own.momenta(q, qd, t)

    def energy(self, q, qd, t=0.0):
        """Jacobi's function p . qd - L [J]."""
        return self._own.energy(q, qd, t)

    def power(self, q, qd, tau, t=0.0):
        """Rate of the energy [W]."""
        return self._own.energy_rate(q, qd, tau, t) + self._power_of_constraints(q, qd, tau, t)

    @property
    def is_autonomous(self) -> bool:
        """Whether the energy is a function of q and qd alone."""
        return not any(
            s.name == "t" for s in free_symbols(self._own.quantities["energy"].expressions)
        )

    def inverse_dynamics(self, q, qd, qdd, t=0.0):
        """Forces of the accelerations (nv,), beside those of constraints."""
        if self.constraints:
            return super().inverse_dynamics(q, qd, qdd, t)
        return self._own.inverse_dynamics(q, qd, qdd, t)

    def forward_dynamics(self, q, qd, tau, t=0.0):
        """Accelerations of the forces (nv,), with those of constraints."""
        if self.constraints:
            return super().forward_dynamics(q, qd, tau, t)
        return self._own.forward_dynamics(q, qd, tau, t)

    def velocities(self, q, p, t=0.0, solver=None):
        """Velocities of the momenta (nv,)."""
        return self._own.velocities(q, p, t)

    def momentum_rate(self, q, qd, p, t=0.0):
        """dL/dq + Q (nv,)."""
        return self._own.lagrangian_gradient(q, qd, t) + self._own.generalized_forces(q, qd, t)

    def check(self, q, qd):
        """Raise if these are no states."""
        if self.parameters:  # the values of a batch are not known
            super().check(q, qd)
        else:
            self._own.lagrangian(q, qd)

    def check_determined(self, q, qd, t=0.0):
        """Raise where accelerations are not determined."""
        if self.constraints:
            super().check_determined(q, qd, t)
        else:
            self._own.forward_dynamics(q, qd, np.zeros(self.nv), t)

    def replace(self, values: Mapping[str, Any]) -> LagrangianEquations:
        """The system with other numbers."""
        return LagrangianEquations(self._own.replace(values)) if values else self

    @property
    def quantities(self) -> Mapping[str, Quantity]:
        """Quantities by name; with constraints, theirs in place of the Lagrangian's."""
        found = {
            name: described(name, getattr(self._own, name), " ".join(quantity.inputs))
            for name, quantity in self._own.quantities.items()
        }
        if not self.constraints:
            return found
        return {**found, **self._of_constraints}

    @property
    def _of_constraints(self) -> dict[str, Quantity]:
        """Quantities that constraints have, or change."""
        of_system = super().quantities
        return {
            name: quantity
            for name, quantity in of_system.items()
            if name in CHANGED or name not in self._own.quantities
        }

    def traced(self, names: Sequence[str]) -> tuple[dict[str, np.ndarray], dict[str, Any]]:
        """Inputs and expressions of some quantities, in the graph of the Lagrangian."""
        quantities = self.quantities
        if unknown := [name for name in names if name not in quantities]:
            raise UnknownNameError("quantity", unknown[0], tuple(quantities))
        ours = self._of_constraints if self.constraints else {}
        parameters, outputs = self._own.traced([name for name in names if name not in ours])
        symbols: dict[str, Any] = self._own.symbols
        for name in names:
            if name in ours:
                arguments = [symbols[i] for i in quantities[name].inputs]
                outputs[name] = quantities[name].function(*arguments)
        wanted = {i for name in names for i in quantities[name].inputs}
        inputs: dict[str, np.ndarray] = {
            name: np.atleast_1d(np.array(symbols[name], dtype=object))
            for name in ("q", "qd", "qdd", "tau", "p", "t")
            if name in wanted
        }
        if "parameters" in parameters:
            inputs["parameters"] = parameters["parameters"]
        return inputs, {name: outputs[name] for name in names}

    def formulated(self, name: str) -> LagrangianEquations:
        """The system itself, whatever the name."""
        return self

    def lagrangian(self) -> LagrangianSystem:
        """The Lagrangian itself."""
        return self._own


SYSTEM_OF = (LagrangianSystem, LagrangianEquations)
