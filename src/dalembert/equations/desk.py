"""Sheets as they are asked for, each verified before anyone sees it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, cast

import numpy as np

from dalembert.compiled.calls import without_collection
from dalembert.equations.forms import Builder, Sum
from dalembert.equations.sheets import Sheet, object_array
from dalembert.equations.verification import Verifier
from dalembert.expr.node import constant


class VerifiedDesk:
    """Makes sheets and their expressions, and compares entries and printed lines with compiled functions.

    make: by quantity a function of (problem, desk) that makes its sheet; titles: by quantity.
    """

    def __init__(self, problem: Any, make: Mapping[str, Callable[..., Sheet]], titles: Mapping[str, str], verifier: Verifier,
                 progress: Callable[[str, float], None]):
        self.problem, self.make, self.titles, self.verifier, self._progress = problem, make, titles, verifier, progress
        self.group_names: dict[Sum, str] = {}
        self.parts_made = 0
        self.expressions: dict[str, np.ndarray] = {}
        self._sheets: dict[str, Sheet] = {}

    def progress(self, done: float) -> None:
        """Say how much of a long step is done."""
        self._progress("Christoffel symbols", done)

    def entries(self, quantity: str) -> np.ndarray:
        """Expressions of a quantity's entries."""
        self.sheet(quantity)
        return self.expressions[quantity]

    def sheet(self, quantity: str) -> Sheet:
        """The sheet of a quantity.

        Raises
        ------
        VerificationError, TooLarge
        """
        if quantity not in self._sheets:
            with self.problem.graph, without_collection():
                self._progress(self.titles[quantity].lower(), list(self.titles).index(quantity) / len(self.titles))
                sheet = self.make[quantity](self.problem, self)
                builder = Builder(self.problem.graph, self._definitions(sheet))
                found = self._built(builder, [*sheet.forms.flat]).reshape(sheet.forms.shape)
                self.verifier.compare(quantity, found)
                self._verify_lines(sheet, builder, found)
                self.expressions[quantity], self._sheets[quantity] = found, sheet
        return self._sheets[quantity]

    def names_of_groups(self) -> list[tuple[str, Sum]]:
        """Names given to repeated sums, and the sums."""
        return [(name, form) for form, name in self.group_names.items()]

    def _definitions(self, sheet: Sheet) -> dict[str, Sum]:
        """Forms of all names on a sheet that are not symbols: repeated sums, parts, entries M:1:2 and c:1:2:3."""
        found = dict([*self.names_of_groups(), *sheet.parts])
        for base, quantity in (("M", "mass_matrix"), ("c", "christoffel")):
            if quantity in self._sheets:
                other = self._sheets[quantity]
                for at in np.ndindex(other.forms.shape):
                    found[":".join([base, *(str(k + 1) for k in at)])] = cast(Any, other.forms[at])
                found |= dict(other.parts)
        return found

    def _built(self, builder: Builder, forms: list[Sum]) -> np.ndarray:
        built = {form: constant(builder.expression(form), self.problem.graph) for form in dict.fromkeys(forms)}
        return object_array([built[form] for form in forms], (len(forms),))

    def _verify_lines(self, sheet: Sheet, builder: Builder, found: np.ndarray) -> None:
        """Lines that are written with names give the entries that were verified."""
        lines = [line for line in sheet.lines if line.form is not sheet.forms[tuple(k - 1 for k in line.numbers)]]
        if lines:
            expressions = self._built(builder, [line.form for line in lines])
            entries = object_array([found[tuple(k - 1 for k in line.numbers)] for line in lines], (len(lines),))
            right = self.verifier.evaluated(entries)
            self.verifier.check(f"lines of {sheet.quantity}", self.verifier.evaluated(expressions), right)
