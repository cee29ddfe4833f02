"""What closed forms of any kind can do: be printed, written, and handed to other programs."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from dalembert.equations import documents, source
from dalembert.equations.desk import VerifiedDesk
from dalembert.equations.sheets import Sheet
from dalembert.errors import UnknownNameError
from dalembert.expr import Graph, free_symbols


class ClosedForms(ABC):
    """Equations of motion in closed form; arrays hold expressions (`Expr`) of one graph.

    Attributes
    ----------
    name : str
    coordinate_names : tuple of str
        What the coordinates are.
    coordinates, velocities, accelerations : tuple of str
        Printed names of the entries of q, qd and qdd.
    symbols : dict
        Printed name -> what it is.
    values : dict
        Printed name -> number, where there is one.
    why_factored : str
        Why forms are printed in factored form, with named parts; empty where they are printed in full.
    titles : dict
        Quantity -> title.
    law : pair
        The equations of motion: terms (letter, what it is a function of, what it is multiplied by), and names on the right.
    """

    name: str
    graph: Graph
    digits: int
    coordinate_names: Sequence[str]
    coordinates: tuple[str, ...]
    velocities: tuple[str, ...]
    accelerations: tuple[str, ...]
    symbols: dict[str, str]
    values: dict[str, float]
    why_factored: str
    minimal = True
    titles: ClassVar[dict[str, str]]
    law: tuple[Sequence[tuple[str, ...]], Sequence[str]]
    programmed: tuple[str, ...]      # what `python` and `to_sympy` give by default
    _desk: VerifiedDesk

    @property
    @abstractmethod
    def shown(self) -> tuple[str, ...]:
        """Quantities that are printed by default."""

    @property
    def groupings(self) -> dict[str, Any]:
        """Base parameters in print: name -> form; empty where inertial parameters are not grouped."""
        return {}

    def sheet(self, quantity: str) -> Sheet:
        """Forms and lines of a quantity as they are printed.

        Raises
        ------
        UnknownNameError
        """
        if quantity not in self.titles:
            raise UnknownNameError("quantity", quantity, tuple(self.titles))
        return self._desk.sheet(quantity)

    def entries(self, quantity: str) -> np.ndarray:
        """Expressions of a quantity's entries, an array of its shape; errors as for `sheet`."""
        self.sheet(quantity)
        return self._desk.expressions[quantity]

    # --- quantities as expressions ---

    @property
    def mass_matrix(self) -> np.ndarray:
        """M(q), (nv, nv)."""
        return self.entries("mass_matrix")

    @property
    def christoffel(self) -> np.ndarray:
        """Christoffel symbols c[i, j, k], (nv, nv, nv): C[k, j] = sum over i of c[i, j, k] qd[i]."""
        return self.entries("christoffel")

    @property
    def coriolis_matrix(self) -> np.ndarray:
        """C(q, qd), (nv, nv), of the Christoffel symbols."""
        return self.entries("coriolis_matrix")

    @property
    def coriolis_vector(self) -> np.ndarray:
        """C(q, qd) qd, (nv,)."""
        return self.entries("coriolis_vector")

    @property
    def gravity_vector(self) -> np.ndarray:
        """g(q), (nv,)."""
        return self.entries("gravity_vector")

    @property
    def kinetic_energy(self) -> Any:
        """T(q, qd)."""
        return self.entries("kinetic_energy")[()]

    @property
    def potential_energy(self) -> Any:
        """Potential energy of gravity and springs; of base parameters up to a constant."""
        return self.entries("potential_energy")[()]

    # --- what was found ---

    @property
    def verified(self) -> dict[str, float]:
        """Largest difference to the compiled function at random states, relative to the largest entry, by quantity."""
        return {q: gap for q, gap in self._desk.verifier.largest.items() if q in self.titles}

    @property
    def used_symbols(self) -> set[str]:
        """Names that occur in what has been derived so far."""
        return {s.name for a in self._desk.expressions.values() for s in free_symbols(a)}

    # --- output ---

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
        return source.python(self, quantities or self.programmed)

    def to_sympy(self, *quantities: str) -> Any:
        """SymPy matrices or expressions of some quantities as a dict (needs sympy); one quantity alone as itself."""
        names = quantities or self.programmed
        found = {name: source.sympy_of(self.entries(name)[()]) for name in names}
        return found[quantities[0]] if len(quantities) == 1 else found

    def write(self, file: str | Path, *quantities: str) -> Path:
        """Write a document: .html (opens offline), .tex, .md, .txt, .py, or .pdf where LaTeX is installed.

        Raises
        ------
        ValueError, DalembertError
            Another ending; there is no LaTeX, or it failed.
        """
        return documents.write(self, Path(file), quantities or self.shown)
