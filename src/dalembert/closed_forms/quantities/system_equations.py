"""Closed forms of a user's own Lagrangian L(q, qd, t)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, cast

import numpy as np

from dalembert.closed_forms.derivation.lagrangian_context import LagrangianContext
from dalembert.closed_forms.printing.sheets import Sheet
from dalembert.closed_forms.quantities import accelerations, expression_sheets, multipliers
from dalembert.closed_forms.quantities.lagrangian_verification import LagrangianVerifier
from dalembert.closed_forms.quantities.linear import Movable
from dalembert.closed_forms.quantities.quantity_sheets import CHRISTOFFEL
from dalembert.closed_forms.quantities.verified_forms import ClosedForms, silent
from dalembert.codegen.symbols import without_collection
from dalembert.formulations.lagrange.symbolic_system import LagrangianSystem

# Quantity: title, and the letter of its entries.
QUANTITIES: dict[str, tuple[str, str]] = {
    "lagrangian": ("Lagrangian", "L"),
    "mass_matrix": ("Mass matrix", "M"),
    "christoffel": ("Christoffel symbols", "c"),
    "coriolis_matrix": ("Coriolis matrix", "C"),
    "coriolis_vector": ("Coriolis vector", "h"),
    "linear_terms": ("Terms of L linear in the velocities", "b"),
    "gyroscopic_matrix": ("Gyroscopic matrix of the linear terms", "N"),
    "time_terms": ("Forces of explicit time", "r"),
    "gravity_vector": ("Gradient of the potential energy", "g"),
    "bias_force": ("Bias force", "h"),
    "generalized_forces": ("Generalized forces", "Q"),
    "kinetic_energy": ("Kinetic energy", "T"),
    "potential_energy": ("Potential energy", r"\Pi"),
    "momenta": ("Momenta", "p"),
    "energy": ("Energy (Jacobi's function)", "E"),
    "equations_of_motion": ("Equations of motion", r"\tau"),
    "accelerations": ("Accelerations", r"\tau"),
}
OF_CONSTRAINTS = {**QUANTITIES, **multipliers.QUANTITIES}  # of a system that has some
SHOWN = (
    "mass_matrix",
    "coriolis_vector",
    "linear_terms",
    "gyroscopic_matrix",
    "time_terms",
    "gravity_vector",
    "generalized_forces",
    "equations_of_motion",
    "kinetic_energy",
    "potential_energy",
    "christoffel",
)
SHOWN_OTHERWISE = (
    "lagrangian",
    "momenta",
    "mass_matrix",
    "bias_force",
    "generalized_forces",
    "energy",
    "equations_of_motion",
)  # where L is not quadratic in the velocities

LAW = {
    "mass_matrix": ("M", "", "q_ddot"),
    "coriolis_vector": ("h", "q q_dot"),
    "gyroscopic_matrix": ("N", "", "q_dot"),
    "time_terms": ("r", ""),
    "gravity_vector": ("g", "q"),
    "bias_force": ("h", "q q_dot"),
}


class SystemEquations(Movable):
    """Closed forms of a `LagrangianSystem`, each entry compared with the function that `da.compile`
    makes.

        L = 1/2 qd^T M qd + b^T qd - Pi:    M qdd + h + N qd + r + g = Q + tau

    with h = C qd of the Christoffel symbols of M, N_kj = db_k/dq_j - db_j/dq_k, r = (dM/dt) qd +
    db/dt and g = dPi/dq. Where L is not quadratic in qd, there are `lagrangian`, `momenta`,
    `mass_matrix`, `bias_force`, `energy`, `generalized_forces` and `equations_of_motion` alone.
    With constraints there are J^T lambda on the right, with `constraints` (phi), `velocity_constraints`
    (psi), `constraint_jacobian` J, `constraint_bias` k of J qdd = k, and of one to three rows
    `multipliers`, which `accelerations` hold.
    What is no polynomial in sines, cosines and symbols (exp, roots, quotients, conditions) is
    printed as it is. `entries(name)` gives the expressions of any quantity in `titles`.
    """

    programmed = ("mass_matrix", "bias_force", "generalized_forces")

    def __init__(
        self,
        system: LagrangianSystem,
        budget: int,
        digits: int,
        progress: Callable[[str, float], None] = silent,
        parameters: Sequence[str] = (),
    ):
        self.system = system
        named = OF_CONSTRAINTS if system.constraints else QUANTITIES
        self.titles = {name: title for name, (title, _) in named.items()}  # type: ignore[misc]
        self.letters = {name: letter for name, (_, letter) in named.items()}  # type: ignore[misc]
        progress("derivation", 0.0)
        with cast(Any, system.symbols["t"]).graph, without_collection():
            context = LagrangianContext(system, budget, [*self.letters.values()], parameters)
            super().__init__(system, context, digits, progress)
            self.verifier  # noqa: B018  refuses a Lagrangian that has no finite values

    def _verifier(self) -> LagrangianVerifier:
        return LagrangianVerifier(self._context)

    @property
    def _origin(self) -> tuple[Any, ...]:
        p = self._context
        return SystemEquations, (self.system, p.budget, self.digits, silent, tuple(p.parameters))

    def _owner(self, quantity: str) -> ClosedForms:
        return self

    def _made(self, quantity: str) -> Sheet:
        """In normal form, or factored where that is too long."""
        p = self._context
        forces = [(-1, "bias_force"), (1, "generalized_forces")]
        if quantity == "multipliers" and p.rows is not None:
            return multipliers.made(self, p.rows, p.normal, forces)
        if quantity == "accelerations":
            if p.rows is not None:
                multipliers.check_along_rows(self.name, p.rows, quantity)
            forces += [(1, "constraint_forces")] if p.rows is not None else []
            return accelerations.made(self, p.normal, forces)
        if quantity not in p.expressions:
            raise p.why_not
        if quantity != "mass_matrix":
            self.sheet("mass_matrix")  # its length decides about all quantities
        christoffel = quantity == "christoffel"
        why = p.why_factored or (p.why_no_christoffel if christoffel else "")
        if why:
            return self.factored(quantity, p.expressions[quantity], why)
        sheet, why = expression_sheets.made(self, p, quantity, CHRISTOFFEL if christoffel else 1)
        if quantity == "mass_matrix":
            p.why_factored = why
        elif christoffel:
            p.why_no_christoffel = why
        return sheet

    def resting_force(self) -> np.ndarray:
        """h - Q with its dependence on qd: the joint forces that qdd = 0 needs."""
        return self.entries("bias_force") - self.entries("generalized_forces")

    @property
    def law(self) -> Any:  # type: ignore[override]
        """Terms that are not zero."""
        shown = self.shown
        left = [part for name, part in LAW.items() if name in shown]
        right: list[Any] = ["Q", "tau"]["generalized_forces" not in shown :]
        if self.system.constraints:
            right.append(("J", "lambda") if self._context.rows.are_along_rows else "R")
        return left, right

    @property
    def shown(self) -> tuple[str, ...]:
        """Quantities that are printed by default: not zero, without symbols that are too long."""
        p = self._context
        names: tuple[str, ...] = SHOWN if p.is_quadratic else SHOWN_OTHERWISE
        if p.rows is not None:
            place = names.index("equations_of_motion")
            names = (*names[:place], *multipliers.SHOWN, *names[place:])
        if "christoffel" in names and not p.why_no_christoffel:
            self.sheet("christoffel")
        return tuple(
            q
            for q in names
            if not (q == "christoffel" and (p.why_factored or p.why_no_christoffel))
            and any(f.terms for f in self.sheet(q).forms.flat)
        )
