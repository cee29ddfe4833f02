"""Quantities as a document shows them: a matrix where it fits, long entries below it by name, and
the definitions of named parts at the end.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

import numpy as np

from dalembert.closed_forms.algebra.sums import ZERO, Name, Sum, single
from dalembert.closed_forms.printing import layout
from dalembert.closed_forms.printing.names import ENTRY, entry_at
from dalembert.closed_forms.printing.notation import Printer
from dalembert.closed_forms.printing.sheets import Sheet

ROWS = (
    "constraints",
    "velocity_constraints",
    "equations_of_motion",
    "accelerations",
    "multipliers",
    "rates",
)  # quantities that are equations, and no columns
CELLS = (30, 24, 18, 14, 11, 8, 0)  # characters up to which an entry may stand in a matrix
SUMMARIES = ("christoffel",)  # quantities that a page shows on demand

Defined = dict[str, Sum]  # name -> form


class Arranged(NamedTuple):
    """A quantity in a document.

    lines: names on the left sides and forms; cells: entries of the matrix or vector, as forms or
    as names of lines; None where there is none.
    """

    sheet: Sheet
    lines: tuple[tuple[str, Sum], ...]
    cells: np.ndarray | None = None

    @property
    def is_zero(self) -> bool:
        """Whether nothing of the quantity is printed."""
        return not self.lines and self.cells is None

    @property
    def is_summary(self) -> bool:
        """Whether a page shows the quantity on demand."""
        return self.sheet.quantity in SUMMARIES


class Arrangement(NamedTuple):
    """All quantities of a document, and the definitions of their named parts."""

    quantities: tuple[Arranged, ...]
    definitions: Defined


def arranged(
    eom: Any,
    quantities: Iterable[str],
    target: Printer,
    width: Callable[[str], int],
    line: int = layout.LINE,
) -> Arrangement:
    """Quantities in their order; `width` of a formula of the target, `line` the widest formula."""
    sheets = [eom.sheet(name) for name in quantities]
    own_letters = {sheet.letter for sheet in sheets}
    printed: set[str] = set()
    definitions: Defined = {}
    found = []
    for sheet in sheets:
        shared = _shared_parts(eom, sheet, own_letters)
        for name, form in shared.items():
            definitions.setdefault(name, form)
        lines = _lines(sheet, shared, printed)
        found.append(_with_cells(sheet, lines, target, width, line))
        printed.update(name for name, _ in lines)
    return Arrangement(tuple(found), definitions)


def _shared_parts(eom: Any, sheet: Sheet, letters: set[str]) -> Defined:
    """Parts of a sheet that are no entries of the document's quantities, and no determinants."""
    owner = eom._owner(sheet.quantity)
    shared = {*owner.groups.definitions, *owner.parts.definitions}
    return {
        name: form for name, form in sheet.parts if name in shared and not _is_entry(name, letters)
    }


def _is_entry(name: str, letters: set[str]) -> bool:
    return name.startswith(ENTRY) and name.split(ENTRY)[1] in letters


def _lines(sheet: Sheet, shared: Defined, printed: set[str]) -> tuple[tuple[str, Sum], ...]:
    """Parts that belong to the sheet alone, then its entries in order."""
    forms = dict(sheet.parts)
    names = [_name(sheet, at) for at, _ in sheet.lines]
    first = [name for name in forms if name not in shared and name not in names]
    lines = {name: forms[name] for name in first if name not in printed}
    for name, (_, form) in zip(names, sheet.lines, strict=True):
        if not sheet.factored or name not in printed:
            lines[name] = forms.get(name, form)
    return tuple(lines.items())


def _name(sheet: Sheet, at: tuple[int, ...]) -> str:
    """The left side of an entry's line."""
    return sheet.left[at[0]] if sheet.left else entry_at(sheet.letter, at)


def _with_cells(
    sheet: Sheet,
    lines: tuple[tuple[str, Sum], ...],
    target: Printer,
    width: Callable[[str], int],
    line: int,
) -> Arranged:
    """The quantity with its matrix, in which the longest entries stand by their names."""
    shape = sheet.forms.shape
    is_array = len(shape) in (1, 2) and sheet.forms.size > 1
    if not is_array or sheet.quantity in ROWS:
        return Arranged(sheet, lines)
    forms = dict(lines)
    sizes = {name: width(target.sum(form)) for name, form in lines}
    caps = (line, *CELLS) if len(shape) == 2 else (line,)
    for cap in caps:
        named = {name for name, size in sizes.items() if size > cap}
        cells = _cells(sheet, {**forms, **{name: _by_name(name) for name in named}})
        written = np.vectorize(target.sum, otypes=[object])(cells)
        if layout.fits(written, width, line) and (cap < line or not named):
            entries = {entry_at(sheet.letter, at) for at, _ in sheet.lines}
            below = tuple(pair for pair in lines if pair[0] in named or pair[0] not in entries)
            return Arranged(sheet, below, cells)
    return Arranged(sheet, lines)


def _cells(sheet: Sheet, shown: Defined) -> np.ndarray:
    """Entries of the matrix or vector as the forms that are shown in it."""
    cells = np.full(sheet.forms.shape, ZERO, dtype=object)
    for at, _ in sheet.lines:
        name = _name(sheet, at)
        cells[at] = shown.get(name, _by_name(name))
        if sheet.is_symmetric:
            cells[at[::-1]] = cells[at]
    return cells


def _by_name(name: str) -> Sum:
    return Sum((single(Name(name)),))
