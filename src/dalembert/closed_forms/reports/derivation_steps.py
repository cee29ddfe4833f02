"""Writer of all reports: sections, formulas, and a check of each before it is shown."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from copy import deepcopy
from typing import Any

import numpy as np

from dalembert.closed_forms.algebra.factored import factored
from dalembert.closed_forms.algebra.ring import TooLarge, terms_in
from dalembert.closed_forms.algebra.sums import Builder, Sum, object_array
from dalembert.closed_forms.derivation.selection import unused
from dalembert.closed_forms.printing.documents import (
    LATEX_STYLE,
    markdown_text,
    printed_lines,
    remark_of,
)
from dalembert.closed_forms.printing.names import ENTRY, free_prefix
from dalembert.closed_forms.printing.naming import taken_apart
from dalembert.closed_forms.printing.notation import LATEX, Printer
from dalembert.closed_forms.quantities.verification import STATES
from dalembert.expr import evaluate, symbol

REPORT = LATEX_STYLE._replace(text=markdown_text)
LONGEST = 60  # terms of a vector or matrix that is still written out
POLYNOMIAL = 2000  # terms of a polynomial on the way to it


class DerivationSteps:
    """A report being written for `eom`.

    mechanism, numbers: the mechanism with symbols, and the same with the numbers that they have in
    the checks; q, qd, qdd: its vectors as symbols; states: the same as numbers.
    """

    def __init__(self, eom: Any):
        self.eom = eom
        self.context = eom._context
        self.verifier = eom.verifier
        p = self.context
        self.target = Printer(LATEX, deepcopy(eom.printed_names), eom.digits)
        self.mechanism = p.symbolic.twin
        self.numbers = p.symbolic.with_numbers(self.verifier.values, self.verifier.mechanism)
        self.q, self.qd, self.qdd = p.symbolic.vectors
        self.states = {"q": self.verifier.q, "qd": self.verifier.qd, "qdd": self.verifier.qdd}
        self.point: dict[str, Any] = dict(self.verifier.point)
        self.taken = {*self.point, *p.symbols}
        self.prefix = free_prefix("z", self.taken)
        self._parts = 0
        self.lines: list[str] = []
        self.printed: set[str] = set()  # named parts of closed forms that stand in the report
        self.largest = 0.0
        self.normal = p.normal_in(p.symbols, POLYNOMIAL, p.angles)

    def new_symbol(self, name: str, values: Any) -> Any:
        """A symbol of this name, or one like it that is not taken, with its values at the states."""
        name = self.declare(name)
        self.point[name] = values
        self.normal.ring.variable(name)  # names are written in the order they were made
        return symbol(name, self.context.graph)

    def declare(self, name: str) -> str:
        """Take in a name, or one like it that is not taken; "omega_1_dot" is a rate."""
        symbol = taken_apart(name.removesuffix("_dot"))
        made = unused(name, self.taken)
        if not made.startswith(ENTRY):
            self.target.names.add(made, symbol._replace(dots=int(name.endswith("_dot"))))
        return made

    # --- text ---

    def section(self, title: str, *paragraphs: str) -> None:
        """A title and paragraphs; paragraphs that begin with a dollar are formulas."""
        self.text(f"## {title}", *paragraphs)

    def text(self, *paragraphs: str) -> None:
        """Paragraphs."""
        for text in paragraphs:
            self.lines += [text, ""]

    def formula(self, left: str, form: Sum) -> None:
        """left = form."""
        self.text(f"$${left} = {self.target.sum(form)}$$")

    # --- formulas, each checked ---

    def check(self, what: str, found: np.ndarray, right: Any) -> None:
        """Compare values of what is printed, (states, ...), with those of the formulation's
        function.

        Raises
        ------
        VerificationError
        """
        self.verifier.check(what, found, np.broadcast_to(right, np.shape(found)))
        self.largest = max(self.largest, self.verifier.difference(what))

    def values(self, forms: Sequence[Sum], parts: Mapping[str, Sum] | None = None) -> np.ndarray:
        """Values of forms at the states, (states, forms)."""
        expressions = Builder(self.context.graph, parts).array(object_array(forms, (len(forms),)))
        return np.broadcast_to(evaluate(expressions, self.point), (STATES, len(forms)))

    def array(self, left: str, expressions: Any, right: Any, instead: str = "") -> None:
        """left = a number, column or matrix; `instead` is written of it where that is too long.

        right: its values at the states by the formulation's function, (states, ...) or the same at
        all.
        """
        entries = np.asarray(expressions, dtype=object)
        forms = self.forms(entries)
        if forms is None:
            self.text(
                f"$${left} = {instead}$$" if instead else f"${left}$ is too long to write out."
            )
            return
        self.check(left, self.values(forms).reshape(STATES, *entries.shape), right)
        if any(f.terms for f in forms):
            self.text(f"$${left} = {self.laid_out(forms, entries.shape)}$$")

    def forms(self, entries: np.ndarray, longest: int = LONGEST) -> list[Sum] | None:
        """Forms of expressions; None where they are too long."""
        self.normal.ring.limit = min(POLYNOMIAL, 8 * longest)
        try:
            if terms_in(map(self.normal.scalar, entries.flat)) > 8 * longest:
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
        rows = (
            [texts[k : k + shape[-1]] for k in range(0, len(texts), shape[-1])]
            if len(shape) == 2
            else [[x] for x in texts]
        )
        body = r" \\ ".join(" & ".join(row) for row in rows)
        return rf"\begin{{pmatrix}} {body} \end{{pmatrix}}"

    def entries(self, letter: str, expressions: Any, right: Any, in_parts: bool = False) -> None:
        """A line for each entry that is not zero, in normal form, or with named parts, also where
        that is too long.
        """
        array = np.asarray(expressions, dtype=object)
        parts: dict[str, Sum] = {}
        forms = None if in_parts else self.forms(array, 20 * LONGEST)
        if forms is None:
            parts, forms = factored(
                [*array.flat], self.prefix, self.context.names[0], 1 + self._parts
            )
            self._parts += len(parts)
        self.check(letter, self.values(forms, parts).reshape(STATES, *array.shape), right)
        for name, form in parts.items():
            self.formula(self.target.name(name), form)
        for at, form in zip(np.ndindex(array.shape), forms, strict=True):
            if form.terms:
                self.formula(self.target.label(letter, *(k + 1 for k in at)), form)

    def sheet(self, quantity: str, right: Any = None, label: str = "") -> None:
        """The closed form of a quantity; checked beside `right`, too, where given."""
        if quantity not in self.eom.shown:
            self.text(f"The {self.eom.titles[quantity].lower()} are too long to print here.")
            return
        sheet = self.eom.sheet(quantity)
        if right is not None:
            self.check(quantity, self.verifier.evaluated(self.eom.entries(quantity)), right)
        self.text(*filter(None, [remark_of(self.eom, sheet, self.target, REPORT)]))
        if label:
            self.target.labels[sheet.letter] = label
        for left, terms in printed_lines(sheet, self.target, self.printed):
            self.text(f"$${left} = {self.target.joined(terms)}$$")

    def equations(self) -> None:
        """The equations of motion by the letters of their terms, and base parameters."""
        self.section("Equations of motion", r"$$\sum_j M_{kj} \ddot q_j + h_k + g_k = \tau_k$$")
        n = self.eom.mechanism.nv
        M, h, g = (
            self.eom.sheet(q).forms for q in ("mass_matrix", "coriolis_vector", "gravity_vector")
        )
        for k in range(n):
            terms = [
                f"{self.target.label('M', *sorted((k + 1, j + 1)))} \\, "
                f"{self.target.name(self.eom.accelerations[j])}"
                for j in range(n)
                if M[k, j].terms
            ]
            terms += [
                self.target.label(letter, k + 1) for letter, v in (("h", h), ("g", g)) if v[k].terms
            ]
            self.text(
                f"$${' + '.join(terms) or '0'} = {self.target.label(chr(92) + 'tau', k + 1)}$$"
            )
        if self.eom.groupings:
            self.section("Base parameters")
            for name, form in self.eom.groupings.items():
                self.formula(self.target.name(name), form)
