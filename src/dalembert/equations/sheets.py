"""What is printed of a quantity: its lines, and the named parts that they use."""

from __future__ import annotations

from collections.abc import Container, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from dalembert.equations.forms import LONG, REPEATED, Sum, inner_sums, named
from dalembert.equations.printing import Printer


class Line(NamedTuple):
    """base with indices = form: M_12 = ..."""

    base: str
    numbers: tuple[int, ...]
    form: Sum


@dataclass(frozen=True)
class Sheet:
    """Entries of a quantity: an array of forms, its lines (of equal or zero entries one is enough), parts, remarks."""

    quantity: str
    title: str
    forms: np.ndarray
    lines: tuple[Line, ...]
    parts: tuple[tuple[str, Sum], ...] = ()
    remark: str = ""
    factored: bool = field(default=False)

    @property
    def terms(self) -> int:
        """Number of terms of all lines, parentheses multiplied out; for factored forms of all lines and parts as printed."""
        if self.factored:
            return sum(len(form.terms) for _, form in self.parts) + sum(len(x.form.terms) for x in self.lines)
        return sum(len(line.form) for line in self.lines)


def object_array(entries: Sequence[Any], shape: tuple[int, ...]) -> np.ndarray:
    """Entries in row-major order as an array of objects."""
    made = np.empty(len(entries), dtype=object)
    for k, x in enumerate(entries):
        made[k] = x
    return made.reshape(shape)


def with_names(lines: Iterable[Line], known: dict[Sum, str], prefix: str,
               varying: Container[str]) -> tuple[tuple[Line, ...], tuple[tuple[str, Sum], ...]]:
    """Lines with repeated sums of parameters as names k1, k2, ..., and the definitions that they use.

    `known` holds the names given so far, so that one sum has one name on all sheets; `varying`: names that are no
    parameters.
    """
    lines = tuple(lines)
    counts = inner_sums((line.form for line in lines), varying)
    for form, count in counts.items():
        if form not in known and (count >= REPEATED or count > 1 and len(form.terms) >= LONG):
            known[form] = f"{prefix}{len(known) + 1}"
    changed = tuple(Line(line.base, line.numbers, named(line.form, known, varying)) for line in lines)
    return changed, tuple((name, form) for form, name in known.items() if form in counts)


def printed_lines(sheet: Sheet, printer: Printer, label: str = "") -> list[tuple[str, list[tuple[str, str]]]]:
    """(left side, signed terms) of parts and lines; label: a letter in place of the lines' own."""
    parts = [(printer.name(name), printer.signed_terms(form)) for name, form in sheet.parts]
    return parts + [(printer.label(label or x.base, *x.numbers), printer.signed_terms(x.form)) for x in sheet.lines]
