"""Equations of motion in closed form: derived, compacted, verified, and written for people."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import cached_property
from typing import Any

import numpy as np

from dalembert.compiled.calls import without_collection
from dalembert.compiled.quantities import known_formulation
from dalembert.equations.closed_forms import ClosedForms
from dalembert.equations.desk import VerifiedDesk
from dalembert.equations.making import MAKE, QUANTITIES
from dalembert.equations.problem import BaseParameter, Problem
from dalembert.equations.reports import report
from dalembert.equations.selection import Selection, select
from dalembert.equations.sheets import Sheet
from dalembert.equations.significance import Abbreviation, abbreviate
from dalembert.equations.systems import SystemEquations
from dalembert.equations.verification import MechanismVerifier
from dalembert.expr import free_symbols
from dalembert.formulations.lagrange.system import LagrangianSystem
from dalembert.model.mechanism import Mechanism

BUDGET = 2500              # terms of M in normal form that are still printed in full (a dense PUMA 560 has 800)
SHOWN = ("mass_matrix", "christoffel", "coriolis_vector", "gravity_vector", "kinetic_energy", "potential_energy")
Progress = Callable[[str, float], None]


def equations(mechanism: Mechanism | LagrangianSystem, symbols: str | Iterable[str] | None = None,
              grouped: bool | None = None, formulation: str = "newton_euler", budget: int = BUDGET, digits: int = 6,
              progress: Progress | None = None) -> Any:
    """The equations of motion of a mechanism, or of a user's Lagrangian, in closed form.

        M(q) qdd + C(q, qd) qd + g(q) = tau

    Parameters
    ----------
    mechanism : Mechanism or LagrangianSystem
        Symbols of a Lagrangian are its parameters: `symbols`, `grouped` and `formulation` are not for it.
    symbols : str or sequence, optional
        Numbers that become symbols: "all", "inertial" (masses, centres of mass, inertias, rotors; gravity), "geometry"
        (lengths), "gravity", paths ("elbow.origin[0]") and patterns ("*.mass"). Zeros stay zeros. By default the
        mechanism's own symbols alone, or "inertial" if it has none.
    grouped : bool, optional
        Print base parameters, the fewest combinations of inertial parameters that forces depend on (by default where
        all inertial numbers become symbols), instead of masses, centres of mass and inertias.
    formulation : str
        Whose compiled functions every entry is compared with, whose traced expressions are printed where forms in full
        would be too long, and whose steps the report shows; the closed forms themselves do not depend on it.
    budget : int
        Terms of the mass matrix above which quantities are printed in factored form, with named parts.
    digits : int
        Significant digits of numbers in print; expressions keep them exactly.
    progress : callable, optional
        Called with a text and the share done (0 to 1).

    Returns
    -------
    Equations or SystemEquations

    Raises
    ------
    UnknownNameError
        A path or pattern in `symbols` matches nothing; the formulation is unknown.

    References
    ----------
    docs/equations.md
    """
    progress = progress or (lambda text, done: None)
    if isinstance(mechanism, LagrangianSystem):
        if symbols is not None or grouped is not None or formulation != "newton_euler":
            raise TypeError(f"equations of the Lagrangian {mechanism.name!r}: its symbols are its parameters, which "
                            "system.replace gives values; symbols=, grouped= and formulation= are for mechanisms.")
        return SystemEquations(mechanism, budget, digits, progress)
    if not isinstance(mechanism, Mechanism):
        raise TypeError(f"equations of a {type(mechanism).__name__}: expected a Mechanism, as da.load and da.from_dh make, "
                        "or a LagrangianSystem.")
    known_formulation(formulation)
    return Equations(mechanism, select(mechanism, symbols, grouped), formulation, budget, digits, progress)


class Equations(ClosedForms):
    """Closed forms of a mechanism, each entry compared with the compiled function; see also `ClosedForms`.

    Attributes
    ----------
    symbols : dict
        Printed name -> path of the number in the mechanism ("-gravity[2]": the negative of it), or what it is.
    coordinates, velocities, accelerations : tuple of str
        q1, q2, ...; qd1, ...; qdd1, ...
    minimal : bool
        Whether the base parameters are as few as possible.
    """

    titles = QUANTITIES
    law = (("M", "q", "q_ddot"), ("h", "q q_dot"), ("g", "q")), ("tau",)
    programmed = ("mass_matrix", "coriolis_vector", "gravity_vector")

    def __init__(self, mechanism: Mechanism, selection: Selection, formulation: str, budget: int, digits: int,
                 progress: Progress):
        self.mechanism, self.formulation, self.budget, self.digits = mechanism, formulation, budget, digits
        self.name, self.coordinate_names = mechanism.name, mechanism.coordinate_names
        self._selection, self._progress = selection, progress
        progress("derivation", 0.0)
        with selection.graph, without_collection():
            p = self._problem = Problem(mechanism, selection, formulation, budget)
            self._desk = VerifiedDesk(p, MAKE, QUANTITIES, MechanismVerifier(p), progress)
        self.graph, self.symbols, self.values = selection.graph, p.symbols, p.values
        self.coordinates, self.velocities, self.accelerations = p.names
        self.minimal, self.why_factored = p.minimal, p.why_factored

    @property
    def base_parameters(self) -> tuple[BaseParameter, ...]:
        """The fewest combinations of inertial parameters that determine the forces."""
        return self._with_groups._problem.base_parameters

    @property
    def groupings(self) -> dict[str, Any]:
        """Base parameters in print: name -> form; empty where inertial parameters are not grouped."""
        return {p.name: self._problem.groupings[p.name] for p in self.base_parameters} if self._problem.grouped else {}

    @cached_property
    def _with_groups(self) -> Equations:
        """These, or the same with base parameters."""
        if self._problem.grouped:
            return self
        geometry = [path.lstrip("-") for path in self._selection.symbols.values()
                    if path.rpartition(".")[2].partition("[")[0] not in ("mass", "com", "inertia")]
        return Equations(self.mechanism, select(self.mechanism, geometry, True), self.formulation, self.budget,
                         self.digits, self._progress)

    @property
    def regressor(self) -> np.ndarray:
        """Y(q, qd, qdd), (nv, base parameters): tau = Y theta for the bodies alone."""
        return self.entries("regressor")

    def sheet(self, quantity: str) -> Sheet:
        """Forms and lines of a quantity as they are printed; the regressor always in base parameters.

        Raises
        ------
        UnknownNameError
        """
        return super().sheet(quantity) if quantity != "regressor" else self._with_groups._desk.sheet(quantity)

    def entries(self, quantity: str) -> np.ndarray:
        """Expressions of a quantity's entries, an array of its shape; errors as for `sheet`."""
        return super().entries(quantity) if quantity != "regressor" else self._with_groups._desk.entries(quantity)

    @property
    def used_symbols(self) -> set[str]:
        """Names that occur in what has been derived so far, and in base parameters that are printed."""
        groupings = [p.grouping for p in self.base_parameters] if self._problem.grouped else []
        return super().used_symbols | {s.name for s in free_symbols(groupings)}

    @property
    def shown(self) -> tuple[str, ...]:
        """Quantities that are printed by default: without Christoffel symbols where these are too long."""
        return tuple(q for q in SHOWN if q != "christoffel" or self._problem.christoffel_terms() is not None)

    def report(self) -> str:
        """The derivation by the chosen formulation, step by step, as Markdown with LaTeX formulas."""
        return report(self)

    def abbreviated(self, significance: float = 0.01, states: int = 200) -> Abbreviation:
        """Mass matrix and gravity vector without the terms that matter least; see `Abbreviation`."""
        return abbreviate(self, significance, states)
