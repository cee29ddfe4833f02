"""Derivation context of a Lagrangian function L(q, qd, t): every quantity as expressions."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any, cast

import numpy as np

from dalembert.closed_forms.algebra.sums import object_array
from dalembert.closed_forms.derivation.constraint_expressions import ConstraintExpressions, Moment
from dalembert.closed_forms.derivation.coordinates import MotionNames
from dalembert.closed_forms.derivation.derivation_context import DerivationContext
from dalembert.errors import DalembertError
from dalembert.expr import Expr, derivative, gradient, substitute
from dalembert.formulations.lagrange.symbolic_system import LagrangianSystem
from dalembert.systems.kinds import system_of

# compiled quantities from which all others follow
DIRECT = (
    "lagrangian",
    "mass_matrix",
    "momenta",
    "energy",
    "bias_force",
    "generalized_forces",
)
# sums of products of rates
BY_RATES = (
    "lagrangian",
    "kinetic_energy",
    "momenta",
    "energy",
    "acceleration_energy",
    "equations_of_motion",
)


class ExpressionContext(DerivationContext):
    """Derivation context of quantities that are known as expressions of a Lagrangian's symbols.

    expressions: arrays by quantity.
    """

    expressions: dict[str, np.ndarray]

    def __init__(
        self,
        system: LagrangianSystem,
        motion: MotionNames,
        budget: int,
        letters: Sequence[str],
        parameters: Sequence[str] = (),
    ):
        self.system = system
        graph = cast(Any, system.symbols["t"]).graph
        super().__init__(graph, motion, budget)
        made = [*graph.leaves["symbol"]]
        # in the order in which the user made them
        self.parameters = [*parameters] or sorted(system.parameters, key=made.index)
        self.varying.add("t")
        self.choose_prefixes(self.parameters, letters)
        self.units = {"t": "s"}
        self.symbols = dict.fromkeys(self.parameters, "parameter") | {"t": "time"}
        self.values = {}

    @property
    def in_order(self) -> list[str]:
        """Parameters in the order in which factors are written."""
        return self.parameters

    def forms(self, quantity: str) -> np.ndarray:
        """Entries of a quantity in normal form.

        Raises
        ------
        TooLarge
        """
        entries = self.expressions[quantity]
        return object_array(self.normal.forms(entries.flat, quantity in BY_RATES), entries.shape)


class LagrangianContext(ExpressionContext):
    """Derivation context of a Lagrangian.

    is_quadratic: whether L is quadratic in the velocities; why_not: the error that says why it is
    not; rows: of its constraints, if it has any.
    """

    why_not: DalembertError

    def __init__(
        self,
        system: LagrangianSystem,
        budget: int,
        letters: Sequence[str],
        parameters: Sequence[str] = (),
    ):
        super().__init__(system, _motion_names(system), budget, letters, parameters)
        self.expressions = self._direct()
        try:
            self.expressions |= self._terms()
        except DalembertError as error:
            self.why_not = error
        self.is_quadratic = "christoffel" in self.expressions
        self.rows = self._constrained() if system.constraints else None

    def _constrained(self) -> ConstraintExpressions:
        """Rows of constraints; their forces come to the equations of motion."""
        system = self.system
        moment = Moment(*(cast(Any, system.symbols[key]) for key in Moment._fields))
        taken = {*self.varying, *self.parameters}
        rows = ConstraintExpressions.at(system_of(system), moment, taken)
        self.expressions |= rows.quantities
        equations = self.expressions["equations_of_motion"]
        self.expressions["equations_of_motion"] = equations - rows.forces
        self.symbols |= rows.meanings
        self.varying |= {*rows.meanings}
        self.motion = self.motion.with_rates(rows.rates)
        return rows

    def _direct(self) -> dict[str, np.ndarray]:
        """Quantities of any Lagrangian."""
        quantities = self.system.quantities
        found = {name: quantities[name].expressions for name in DIRECT}
        found["equations_of_motion"] = quantities["inverse_dynamics"].expressions
        return {name: np.asarray(x, dtype=object) for name, x in found.items()}

    def _terms(self) -> dict[str, np.ndarray]:
        """Terms of the equations of a Lagrangian that is quadratic in the velocities.

        Raises
        ------
        DalembertError
            It is not.
        """
        system = self.system
        q, qd, qdd, t = (cast(Any, system.symbols[key]) for key in ("q", "qd", "qdd", "t"))
        M, L, p, bias, forces = (
            self.expressions[name]
            for name in ("mass_matrix", "lagrangian", "momenta", "bias_force", "generalized_forces")
        )
        c = system.christoffel_symbols(q, t)
        C = system.coriolis_matrix(q, qd, t)
        at_rest = {x: 0 for x in qd}
        b = np.asarray(substitute(p, at_rest))
        potential: Any = 0 - cast(Any, substitute(L[()], at_rest))
        terms = {
            "christoffel": c,
            "coriolis_matrix": C,
            "coriolis_vector": C @ qd,
            "gyroscopic_matrix": system.gyroscopic_matrix(q, t),
            "linear_terms": b,
            "time_terms": np.asarray(derivative(M, t)) @ qd + np.asarray(derivative(b, t)),
            "kinetic_energy": qd @ (M @ qd) * Fraction(1, 2),
            "potential_energy": potential,
            "gravity_vector": gradient(potential, q),
            "equations_of_motion": M @ qdd + bias - forces,
        }
        return {name: np.asarray(x, dtype=object) for name, x in terms.items()}


def _motion_names(system: LagrangianSystem) -> MotionNames:
    """The names that the user gave to coordinates, with those of their rates."""
    q, qd, qdd = (
        tuple(x.name for x in cast(Sequence[Expr], system.symbols[key]))
        for key in ("q", "qd", "qdd")
    )
    rates = {name: (base, 1) for base, name in zip(q, qd, strict=True)}
    rates |= {name: (base, 2) for base, name in zip(q, qdd, strict=True)}
    return MotionNames(q, qd, qdd, rates, {}, {})
