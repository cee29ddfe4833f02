"""What the reports of all formulations are written with: sections, formulas, and a check of each before it is shown."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from dalembert.equations.documents import markdown_text, printer, sentence
from dalembert.equations.factored import factored
from dalembert.equations.forms import Builder, Sum
from dalembert.equations.naming import latex_name
from dalembert.equations.normal import Normal
from dalembert.equations.printing import LatexPrinter
from dalembert.equations.problem import free_prefix
from dalembert.equations.ring import TooLarge
from dalembert.equations.selection import unused
from dalembert.equations.sheets import object_array, printed_lines
from dalembert.equations.verification import STATES
from dalembert.expr import evaluate, symbol
from dalembert.expr.node import constant

LONGEST = 60         # terms of a vector or matrix that is still written out
POLYNOMIAL = 2000    # terms of a polynomial on the way to it


class Steps:
    """A report being written for `eom`.

    mechanism, numbers: the mechanism with symbols, and the same with the numbers that they have in the checks; q, qd, qdd:
    its vectors as symbols; states: the same as numbers.
    """

    def __init__(self, eom: Any):
        self.eom, self.problem, self.verifier = eom, eom._problem, eom._desk.verifier
        p = self.problem
        self.target = printer(eom, LatexPrinter)
        self.mechanism, self.numbers = p.twin, p.twin_of_numbers(self.verifier.values, self.verifier.mechanism)
        self.q, self.qd, self.qdd = p.vectors
        self.states = {"q": self.verifier.q, "qd": self.verifier.qd, "qdd": self.verifier.qdd}
        self.point: dict[str, Any] = dict(self.verifier.point)
        self.taken = {*self.point, *p.symbols}
        self.prefix, self._parts = free_prefix("z", self.taken), 0
        self.lines: list[str] = []
        self.largest = 0.0
        self.normal = self._normal()

    def _normal(self) -> Normal:
        """Normal forms in the angle sums of the runs of parallel axes."""
        angles = [link.angle for link in self.problem.links if link.angle] if self.problem.derived else []
        normal = Normal(self.problem.by_kind, POLYNOMIAL, angles)
        for name in self.problem.symbols:
            normal.ring.variable(name)
        return normal

    def new_symbol(self, name: str, values: Any) -> Any:
        """A symbol of this name, or one like it that is not taken, with its values at the states."""
        name = unused(name, self.taken)
        self.point[name] = values
        self.normal.ring.variable(name)                          # names are written in the order they were made
        return symbol(name, self.problem.graph)

    def new_symbols(self, names: Sequence[str], values: np.ndarray) -> np.ndarray:
        """The same for an array of them, values (states, ...)."""
        return object_array([self.new_symbol(name, values[:, k]) for k, name in enumerate(names)], (len(names),))

    # --- text ---

    def section(self, title: str, *paragraphs: str) -> None:
        """A title and paragraphs; those that begin with a dollar are formulas."""
        self.lines += [f"## {title}", ""]
        for text in paragraphs:
            self.lines += [text, ""]

    def text(self, *paragraphs: str) -> None:
        """Paragraphs."""
        for text in paragraphs:
            self.lines += [text, ""]

    def coordinates(self) -> None:
        """The names of the coordinates."""
        pairs = zip(self.eom.coordinates, self.eom.coordinate_names, strict=True)
        rows = [f"${latex_name(name)}$: {markdown_text(entry)}" for name, entry in pairs]
        self.section("Coordinates", "; ".join(rows) + ".")

    def document(self) -> str:
        """The whole report."""
        worst = max(self.largest, *self.eom.verified.values(), 0.0)
        head = [f"# Derivation by {self.eom.formulation}: the equations of motion of {markdown_text(self.eom.name)}", "",
                "Every formula was evaluated at random states beside the function that it stands for; largest relative "
                f"difference {worst:.0e}.", ""]
        return "\n".join(head + self.lines) + "\n"

    # --- formulas, each checked ---

    def check(self, what: str, found: np.ndarray, right: Any) -> None:
        """Compare values of what is printed, (states, ...), with those of the formulation's function.

        Raises
        ------
        VerificationError
        """
        self.verifier.check(what, found, np.broadcast_to(right, np.shape(found)))
        self.largest = max(self.largest, self.verifier.largest[what])

    def values(self, forms: Sequence[Sum], parts: Mapping[str, Sum] | None = None) -> np.ndarray:
        """Values of forms at the states, (states, forms)."""
        builder = Builder(self.problem.graph, parts)
        expressions = object_array([constant(builder.expression(f), self.problem.graph) for f in forms], (len(forms),))
        return np.broadcast_to(evaluate(expressions, self.point), (STATES, len(forms)))

    def array(self, left: str, expressions: Any, right: Any, instead: str = "") -> None:
        """left = a number, column or matrix; `instead` is written of it where that is too long.

        right: its values at the states by the formulation's function, (states, ...) or the same at all.
        """
        entries = np.asarray(expressions, dtype=object)
        forms = self.forms(entries)
        if forms is None:
            self.text(f"$${left} = {instead}$$" if instead else f"${left}$ is too long to write out.")
            return
        self.check(left, self.values(forms).reshape(STATES, *entries.shape), right)
        if any(f.terms for f in forms):
            self.text(f"$${left} = {self.laid_out(forms, entries.shape)}$$")

    def forms(self, entries: np.ndarray, longest: int = LONGEST) -> list[Sum] | None:
        """Forms of expressions; None where they are too long."""
        self.normal.ring.limit = min(POLYNOMIAL, 8 * longest)
        try:
            if self.normal.size(entries.flat) > 8 * longest:
                return None
            forms = self.normal.forms(entries.flat)
        except TooLarge:
            return None
        return forms if sum(len(f.terms) for f in forms) <= longest else None

    def laid_out(self, forms: Sequence[Sum], shape: tuple[int, ...]) -> str:
        """A formula, or a matrix of them; a vector is a column."""
        texts = [self.target.sum(f) for f in forms]
        if not shape:
            return texts[0]
        rows = [texts[k:k + shape[-1]] for k in range(0, len(texts), shape[-1])] if len(shape) == 2 else [[x] for x in texts]
        body = r" \\ ".join(" & ".join(row) for row in rows)
        return rf"\begin{{pmatrix}} {body} \end{{pmatrix}}"

    def entries(self, letter: str, expressions: Any, right: Any, in_parts: bool = False) -> None:
        """One line for each entry that is not zero, in normal form, or with named parts, also where that is too long."""
        array = np.asarray(expressions, dtype=object)
        parts: dict[str, Sum] = {}
        forms = None if in_parts else self.forms(array, 20 * LONGEST)
        if forms is None:
            parts, forms = factored([*array.flat], self.prefix, self.problem.names[0], 1 + self._parts)
            self._parts += len(parts)
        self.check(letter, self.values(forms, parts).reshape(STATES, *array.shape), right)
        for name, form in parts.items():
            self.text(f"$${latex_name(name)} = {self.target.sum(form)}$$")
        for at, form in zip(np.ndindex(array.shape), forms, strict=True):
            if form.terms:
                self.text(f"$${self.target.label(letter, *(k + 1 for k in at))} = {self.target.sum(form)}$$")

    def sheet(self, quantity: str, right: Any = None, label: str = "") -> None:
        """The closed form of a quantity; checked beside `right`, too, where given."""
        if quantity not in self.eom.shown:
            self.text(f"The {self.eom.titles[quantity].lower()} are too long to print here.")
            return
        sheet = self.eom.sheet(quantity)
        if right is not None:
            self.check(quantity, self.verifier.evaluated(self.eom.entries(quantity)), right)
        self.text(*([sentence(sheet.remark)] if sheet.remark else []))
        for left, terms in printed_lines(sheet, self.target, label):
            self.text(f"$${left} = {self.target.joined(terms)}$$")

    def equations(self, title: str = "Equations of motion") -> None:
        """The equations of motion by the letters of their terms, and base parameters."""
        self.section(title, r"$$\sum_j M_{kj} \ddot q_j + h_k + g_k = \tau_k$$")
        n = self.eom.mechanism.nv
        M, h, g = (self.eom.sheet(q).forms for q in ("mass_matrix", "coriolis_vector", "gravity_vector"))
        for k in range(n):
            terms = [f"{self.target.label('M', *sorted((k + 1, j + 1)))} \\, {latex_name(self.eom.accelerations[j])}"
                     for j in range(n) if M[k, j].terms]
            terms += [self.target.label(letter, k + 1) for letter, v in (("h", h), ("g", g)) if v[k].terms]
            self.text(f"$${' + '.join(terms) or '0'} = {self.target.label(chr(92) + 'tau', k + 1)}$$")
        if self.eom.groupings:
            self.section("Base parameters")
            for name, form in self.eom.groupings.items():
                self.text(f"$${latex_name(name)} = {self.target.sum(form)}$$")
