"""Equations of motion in closed form: derived, compacted, verified, and written for people."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from dalembert.compiled.calls import without_collection
from dalembert.compiled.quantities import known_formulation
from dalembert.equations import documents, source
from dalembert.equations.desk import VerifiedDesk
from dalembert.equations.making import QUANTITIES
from dalembert.equations.problem import BaseParameter, Problem
from dalembert.equations.report import report
from dalembert.equations.selection import Selection, select
from dalembert.equations.sheets import Sheet
from dalembert.equations.significance import Abbreviation, abbreviate
from dalembert.errors import UnknownNameError
from dalembert.expr import free_symbols
from dalembert.model.mechanism import Mechanism

BUDGET = 2500              # terms of M in normal form that are still printed in full (a dense PUMA 560 has 800)
SHOWN = ("mass_matrix", "christoffel", "coriolis_vector", "gravity_vector", "kinetic_energy", "potential_energy")
Progress = Callable[[str, float], None]


def equations(mechanism: Mechanism, symbols: str | Iterable[str] | None = None, grouped: bool | None = None,
              formulation: str = "newton_euler", budget: int = BUDGET, digits: int = 6,
              progress: Progress | None = None) -> Equations:
    """The equations of motion of a mechanism in closed form.

        M(q) qdd + C(q, qd) qd + g(q) = tau

    Parameters
    ----------
    mechanism : Mechanism
    symbols : str or sequence, optional
        Numbers that become symbols: "all", "inertial" (masses, centres of mass, inertias, rotors; gravity), "geometry"
        (lengths), "gravity", paths ("elbow.origin[0]") and patterns ("*.mass"). Zeros stay zeros. By default the
        mechanism's own symbols alone, or "inertial" if it has none.
    grouped : bool, optional
        Print base parameters, the fewest combinations of inertial parameters that forces depend on (by default where
        all inertial numbers become symbols), instead of masses, centres of mass and inertias.
    formulation : str
        Whose compiled functions every entry is compared with, and whose traced expressions are printed where forms in full
        would be too long; the closed forms themselves do not depend on it.
    budget : int
        Terms of the mass matrix above which quantities are printed in factored form, with named parts.
    digits : int
        Significant digits of numbers in print; expressions keep them exactly.
    progress : callable, optional
        Called with a text and the share done (0 to 1).

    Returns
    -------
    Equations

    Raises
    ------
    UnknownNameError
        A path or pattern in `symbols` matches nothing; the formulation is unknown.

    References
    ----------
    docs/equations.md
    """
    if not isinstance(mechanism, Mechanism):
        raise TypeError(f"equations of a {type(mechanism).__name__}: expected a Mechanism, as da.load and da.from_dh make.")
    known_formulation(formulation)
    return Equations(mechanism, select(mechanism, symbols, grouped), formulation, budget, digits,
                     progress or (lambda text, done: None))


class Equations:
    """Closed forms; arrays hold expressions (`Expr`) of one graph, and each was compared with the compiled function.

    Attributes
    ----------
    symbols : dict
        Printed name -> path of the number in the mechanism ("-gravity[2]": the negative of it), or what it is.
    values : dict
        Printed name -> number, where the mechanism has one.
    coordinates, velocities, accelerations : tuple of str
        Printed names of the entries of q, qd and qdd: q1, q2, ...; qd1, ...; qdd1, ...
    minimal : bool
        Whether the base parameters are as few as possible.
    why_factored : str
        Why forms are printed in factored form, with named parts; empty where they are printed in full.
    """

    def __init__(self, mechanism: Mechanism, selection: Selection, formulation: str, budget: int, digits: int,
                 progress: Progress):
        self.mechanism, self.formulation, self.budget, self.digits = mechanism, formulation, budget, digits
        self._selection, self._progress = selection, progress
        progress("derivation", 0.0)
        with selection.graph, without_collection():
            self._problem = Problem(mechanism, selection, formulation, budget)
            self._desk = VerifiedDesk(self._problem, progress)
        self.graph, self.symbols, self.values = selection.graph, self._problem.symbols, self._problem.values
        self.coordinates, self.velocities, self.accelerations = self._problem.names
        self.minimal, self.why_factored = self._problem.minimal, self._problem.why_factored

    @property
    def base_parameters(self) -> tuple[BaseParameter, ...]:
        """The fewest combinations of inertial parameters that determine the forces."""
        return self._problem.base_parameters if self._problem.grouped else self._with_groups.base_parameters

    @property
    def groupings(self) -> dict[str, Any]:
        """Base parameters in print: name -> form; empty where inertial parameters are not grouped."""
        return {p.name: self._problem.groupings[p.name] for p in self.base_parameters} if self._problem.grouped else {}

    @cached_property
    def _with_groups(self) -> Equations:
        """The same with base parameters."""
        geometry = [path.lstrip("-") for path in self._selection.symbols.values()
                    if path.rpartition(".")[2].partition("[")[0] not in ("mass", "com", "inertia")]
        return Equations(self.mechanism, select(self.mechanism, geometry, True), self.formulation, self.budget,
                         self.digits, self._progress)

    # --- quantities as expressions ---

    @property
    def mass_matrix(self) -> np.ndarray:
        """M(q), (nv, nv)."""
        return self._desk.entries("mass_matrix")

    @property
    def christoffel(self) -> np.ndarray:
        """Christoffel symbols c[i, j, k], (nv, nv, nv): C[k, j] = sum over i of c[i, j, k] qd[i]."""
        return self._desk.entries("christoffel")

    @property
    def coriolis_matrix(self) -> np.ndarray:
        """C(q, qd), (nv, nv), of the Christoffel symbols."""
        return self._desk.entries("coriolis_matrix")

    @property
    def coriolis_vector(self) -> np.ndarray:
        """C(q, qd) qd, (nv,)."""
        return self._desk.entries("coriolis_vector")

    @property
    def gravity_vector(self) -> np.ndarray:
        """g(q), (nv,)."""
        return self._desk.entries("gravity_vector")

    @property
    def kinetic_energy(self) -> Any:
        """T(q, qd)."""
        return self._desk.entries("kinetic_energy")[()]

    @property
    def potential_energy(self) -> Any:
        """Potential energy of gravity and springs; with base parameters up to a constant."""
        return self._desk.entries("potential_energy")[()]

    @property
    def regressor(self) -> np.ndarray:
        """Y(q, qd, qdd), (nv, base parameters): tau = Y theta for the bodies alone."""
        return self._desk.entries("regressor") if self._problem.grouped else self._with_groups.regressor

    def sheet(self, quantity: str) -> Sheet:
        """Forms and lines of a quantity as they are printed.

        Raises
        ------
        UnknownNameError
        """
        if quantity not in QUANTITIES:
            raise UnknownNameError("quantity", quantity, tuple(QUANTITIES))
        if quantity == "regressor" and not self._problem.grouped:
            return self._with_groups.sheet(quantity)
        return self._desk.sheet(quantity)

    @property
    def verified(self) -> dict[str, float]:
        """Largest difference to the compiled function at random states, relative to the largest entry, by quantity."""
        return {q: gap for q, gap in self._desk.verifier.largest.items() if q in QUANTITIES}

    @property
    def used_symbols(self) -> set[str]:
        """Names that occur in what has been derived so far."""
        arrays = [*self._desk.expressions.values()]
        arrays += [np.array([p.grouping for p in self.base_parameters], dtype=object)] if self._problem.grouped else []
        return {s.name for a in arrays for s in free_symbols(a)}

    # --- output ---

    @property
    def shown(self) -> tuple[str, ...]:
        """Quantities that are printed by default: without Christoffel symbols where these are too long."""
        return tuple(q for q in SHOWN if q != "christoffel" or self._problem.christoffel_terms() is not None)

    def text(self, *quantities: str) -> str:
        """Plain text of some quantities (default: all that are usually printed)."""
        return documents.text(self, quantities or self.shown)

    def latex(self, *quantities: str) -> str:
        """LaTeX of some quantities, for amsmath: no document around it."""
        return documents.latex(self, quantities or self.shown)

    def mathml(self, *quantities: str) -> str:
        """MathML of some quantities: one <math> element per equation."""
        return documents.mathml(self, quantities or self.shown)

    def python(self, *quantities: str) -> str:
        """Python source: one function per quantity, in terms of the printed names."""
        return source.python(self, quantities or ("mass_matrix", "gravity_vector", "coriolis_vector"))

    def to_sympy(self, *quantities: str) -> Any:
        """SymPy matrices or expressions of some quantities as a dict (needs sympy); one quantity alone as itself."""
        names = quantities or ("mass_matrix", "coriolis_vector", "gravity_vector")
        found = {name: source.sympy_of(getattr(self, name)) for name in names}
        return found[quantities[0]] if len(quantities) == 1 else found

    def report(self) -> str:
        """The derivation for this mechanism, step by step, as Markdown with LaTeX formulas."""
        return report(self)

    def abbreviated(self, significance: float = 0.01, states: int = 200) -> Abbreviation:
        """Mass matrix and gravity vector without the terms that matter least; see `Abbreviation`."""
        return abbreviate(self, significance, states)

    def write(self, file: str | Path, *quantities: str) -> Path:
        """Write a document: .html (opens offline), .tex, .md, .txt, .py, or .pdf where LaTeX is installed.

        Raises
        ------
        ValueError, DalembertError
            Another ending; there is no LaTeX, or it failed.
        """
        return documents.write(self, Path(file), quantities or self.shown)
