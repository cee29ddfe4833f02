"""A mechanism with constraints as a system: loops, rolling, programs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from copy import copy
from dataclasses import replace
from functools import cached_property, partial
from importlib import import_module
from typing import Any

import numpy as np

from dalembert.codegen.symbols import vector_of_symbols
from dalembert.errors import DalembertError
from dalembert.expr import Expr
from dalembert.formulations import newton_euler
from dalembert.formulations.hamilton.trees import lie_poisson
from dalembert.formulations.lagrange.regular import check_regular_rows
from dalembert.formulations.newton_euler.mass_matrix import mass_matrix_entries
from dalembert.kinematics.forces import passive_force
from dalembert.model import masses, pivots
from dalembert.model.constraint import PRINCIPLES, Constraint
from dalembert.model.mechanism import Mechanism
from dalembert.spatial.sparse_ldl import eliminated
from dalembert.systems.constrained_derivatives import forward_dynamics_derivatives
from dalembert.systems.mechanism_system import MechanismSystem
from dalembert.systems.system import HAMILTON, System
from dalembert.tracing.long_trees import bias_of_tree, factors_of_tree, is_long
from dalembert.tracing.quantities import FORMULATIONS, OF_MOTION, QUANTITIES, known_quantity
from dalembert.tracing.quantity import Quantity, described
from dalembert.tracing.regrouping import on_regrouped_tree

DERIVATIVES = "forward_dynamics_derivatives"


class ConstrainedMechanism(MechanismSystem):
    """A mechanism with the functions of a formulation of its tree, and with constraints.

    M(q) qdd + C(q, qd) qd + g(q) = passive_force + tau + J^T lambda,    J qdd = bias
    """

    explained_by_code = False
    check = System.check
    forward_dynamics = System.forward_dynamics
    inverse_dynamics = System.inverse_dynamics
    power = System.power

    def __init__(
        self,
        mechanism: Mechanism,
        formulation: str = FORMULATIONS[0],
        inputs: Sequence[str] = (),
    ):
        super().__init__(mechanism, formulation)
        self.parameters = tuple(inputs)

    def __reduce__(self) -> Any:
        return ConstrainedMechanism, (self._mechanism, self.formulation, self.parameters)

    def with_inputs(self, paths: Sequence[str]) -> ConstrainedMechanism:
        """The system with numbers at some paths as inputs of its compiled quantities."""
        super().with_inputs(paths)
        return ConstrainedMechanism(self._mechanism, self.formulation, paths)

    def traced(self, names: Sequence[str]) -> tuple[dict[str, np.ndarray], dict[str, Any]]:
        """Inputs and expressions of some quantities."""
        if not self.parameters:
            return super().traced(names)
        values = vector_of_symbols("parameter", len(self.parameters))
        own = self.replace(dict(zip(self.parameters, values, strict=True)))
        inputs, outputs = own.traced(names)
        return {**inputs, "parameters": values}, outputs

    @property
    def constraints(self) -> tuple[Constraint, ...]:  # type: ignore[override]
        """Constraints of the mechanism."""
        return self._mechanism.constraints

    @property
    def principles(self) -> tuple[str, ...]:  # type: ignore[override]
        """Principles of the constraints."""
        return self._mechanism.principles

    def lie_poisson(self, qd, p):
        """ad*_qd p of spherical and free joints (nv,)."""
        tree, (qd, p), _ = self._mechanism.at(qd=qd, p=p)
        return np.array(lie_poisson(tree, qd, p), dtype=object)

    @cached_property
    def massless(self) -> bool:  # type: ignore[override]
        """Whether a joint at the end of a branch moves no inertia, so that loops determine its motion."""
        mechanism = self._mechanism
        findings = masses.massless(mechanism.bodies, mechanism.joints, rotors=mechanism.with_rotors)
        if any(finding.severity == "error" for finding in findings):
            return True
        if mechanism.symbols:
            return False
        tree, neutral = mechanism.tree(), mechanism.neutral().tolist()
        return pivots.moves_nothing(tree, neutral) or bool(pivots.undetermined(tree, neutral))

    @cached_property
    def driven(self) -> Sequence[int]:  # type: ignore[override]
        """Entries of tau that drives can give: not on flexible joints, nor on elastic bodies."""
        mechanism = self._mechanism
        if mechanism.actuated is None:
            drives = (j for j in mechanism.independent_joints if j.transmission is None)
            return [k for joint in drives for k in mechanism.entries[joint.name].at_v]
        return [k for name in mechanism.actuated for k in mechanism.entries[name].at_v]

    @property
    def _functions(self) -> Any:
        """Module of the formulation; of Hamilton's form, the one that states M and the bias."""
        name = FORMULATIONS[0] if self.formulation == HAMILTON else self.formulation
        return import_module(f"dalembert.formulations.{name}")

    @cached_property
    def _regrouped(self) -> Any:
        """The mechanism whose tree takes fewest operations; other formulations than Newton and
        Euler's take it as it is.
        """
        if self._functions is not newton_euler:
            return self._mechanism
        return on_regrouped_tree(self._mechanism)

    @cached_property
    def _is_long(self) -> bool:
        """Whether articulated bodies factorise M in fewer operations than M itself takes."""
        return self._functions is newton_euler and is_long(self._mechanism)

    def mass_matrix(self, q, t=0.0):
        """M(q) of the tree (nv, nv)."""
        return self._functions.mass_matrix(self._regrouped, q)

    def factors_of_inertia(self, q, t=0.0):
        """Factors of M(q) (nv, nv); of trees with long branches by articulated bodies."""
        if self._is_long:
            return factors_of_tree(self._mechanism, self._regrouped, q)
        if self._functions is not newton_euler:
            return System.factors_of_inertia(self, q, t)
        tree, (q,), _ = self._regrouped.at(q=q)
        rows = mass_matrix_entries(tree, q)
        if not any(isinstance(x, Expr) for row in rows for x in row.values()):
            check_regular_rows(rows, self.name, self.velocity_names)
        inward = range(self.nv - 1, -1, -1)
        return eliminated(rows, lambda k, pivot: 1 / pivot, inward)

    def bias_force(self, q, qd, t=0.0):
        """C qd + g and the forces of springs (nv,)."""
        rest = np.zeros(self.nv)
        own, mechanism = self._functions, self._regrouped
        if own is newton_euler:
            bias = bias_of_tree(self._mechanism, mechanism, q, qd)
        else:
            bias = own.coriolis_vector(mechanism, q, qd) + own.gravity_vector(mechanism, q)
        return bias - passive_force(self._mechanism, q, rest)

    def replace(self, values: Mapping[str, Any]) -> ConstrainedMechanism:
        """The system with other numbers."""
        if not values:
            return self
        own = ConstrainedMechanism(self._mechanism.replace(dict(values)), self.formulation)
        if own.source.symbols:  # inertias are not known
            own.__dict__["massless"] = self.massless or own.massless
        return own

    @property
    def quantities(self) -> Mapping[str, Quantity]:
        """Quantities of the tree, and those that constraints change, by name."""
        of_tree = {
            name: quantity for name, quantity in super().quantities.items() if name not in OF_MOTION
        }
        derivatives = described(
            DERIVATIVES, partial(forward_dynamics_derivatives, self), "q qd tau t"
        )
        return {**System.quantities.fget(self), **of_tree, DERIVATIVES: derivatives}  # type: ignore[attr-defined]

    def quantity(self, name: str) -> Quantity:
        """The quantity of a name; of the tree's by the formulation, with a frame where it takes one."""
        stem = name.partition(":")[0] if isinstance(name, str) else name
        if stem in OF_MOTION or stem not in QUANTITIES:
            return System.quantity(self, name)
        found, arguments = known_quantity(name, self._mechanism, self.formulation)

        def at(*inputs: Any) -> Any:
            """The quantity of the mechanism's frame."""
            return found.function(self._mechanism, *inputs, *arguments)

        return found._replace(function=at)

    def formulated(self, name: str) -> ConstrainedMechanism:
        """The mechanism by another formulation of its tree."""
        return self if name == self.formulation else ConstrainedMechanism(self._mechanism, name)


def system_of_mechanism(mechanism: Mechanism) -> MechanismSystem:
    """The system that stands for a mechanism, with constraints or without."""
    return (ConstrainedMechanism if mechanism.constraints else MechanismSystem)(mechanism)


def with_constraints(
    system: System, constraints: tuple[Constraint, ...], principles: tuple[str, ...] = ()
) -> System:
    """The system with other constraints in place of its own, and the principle of each; none: that of
    d'Alembert and Chetaev.

    Raises
    ------
    DalembertError
        Its constraints are part of a Lagrangian.
    """
    principles = principles or (PRINCIPLES[0],) * len(constraints)
    if isinstance(system, ConstrainedMechanism):
        changes = {"constraints": constraints, "principles": principles}
        mechanism = replace(system.source, **changes)  # type: ignore[arg-type]
        if not constraints:
            return MechanismSystem(mechanism, system.formulation)
        return ConstrainedMechanism(mechanism, system.formulation)
    if system.source is not system:
        raise DalembertError(
            f"constraints of {system.name!r} are part of its Lagrangian, and cannot come and go: give "
            "them to a mechanism or to a System of your own."
        )
    own = copy(system)
    for name in ("internal_names", "internal_states"):
        own.__dict__.pop(name, None)
    own.constraints, own.principles = constraints, principles
    return own


SYSTEM_OF = (Mechanism, system_of_mechanism)
