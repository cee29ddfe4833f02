"""Pieces that the sections of a report share: tables, numbers, sentences, and how numbers came
about.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from dalembert.closed_forms.printing.markup import Markup, element, joined
from dalembert.displays import shortened
from dalembert.model.mechanism import Mechanism
from dalembert.model.numbers import as_float, is_symbolic

FOLDED_FROM = 26  # rows from which a table is shown on demand
MOST_ROWS = 500  # of a table
LONGEST = 200  # letters of a name in it
MOST_FREEDOMS = 100  # of mechanisms that are checked and measured unasked


class Provenance(NamedTuple):
    """How numbers of a report were obtained."""

    numbers: str
    method: str
    seconds: float | None = None


class ReportSection(NamedTuple):
    """A section: the mark that links go to, its title, its content, and where its numbers are from.

    verdict: a few words for the head of the page, and whether they are good news.
    """

    key: str
    title: str
    content: Markup
    provenance: tuple[Provenance, ...] = ()
    verdict: tuple[str, bool] | None = None


class ReportColumn(NamedTuple):
    """A column of a table: its title, and the content of a cell by the object of the row."""

    title: str
    cell: Callable[[Any], Any]
    is_number: bool = False


def is_too_large(mechanism: Mechanism, what: str) -> str:
    """Why the mechanism is not checked or measured unasked; nothing of one that is."""
    if mechanism.nv <= MOST_FREEDOMS:
        return ""
    return f"{what} up to {MOST_FREEDOMS} velocities; this mechanism has {mechanism.nv}."


def is_there(x: Any) -> bool:
    """Whether a number is a symbol or not zero."""
    return is_symbolic(x) or as_float(x) != 0


def paragraph(*children: Any) -> Markup:
    """A paragraph."""
    return element("p", *children)


def note(*children: Any) -> Markup:
    """A paragraph beside the main line."""
    return element("p", *children, class_="note")


def verdict(holds: bool, good: str, poor: str) -> Markup:
    """Words with a sign and a colour: none of them alone says it."""
    sign = "\u2713" if holds else "\u2717"
    return element("span", f"{sign} {good if holds else poor}", class_="good" if holds else "poor")


def table(caption: str, columns: Sequence[ReportColumn], rows: Sequence[Any]) -> Markup:
    """A table in a box that scrolls, without the columns that are empty; long ones are folded."""
    if len(rows) > MOST_ROWS:
        caption = f"{caption}; the first {MOST_ROWS} of {len(rows)}"
        rows = rows[:MOST_ROWS]
    cells = {column: [_bounded(column.cell(row)) for row in rows] for column in columns}
    shown = [column for column in columns if any(str(cell) for cell in cells[column])]
    head = element("tr", *(_head(column) for column in shown))
    body = [
        element("tr", *(_cell(column, cells[column][k], column is shown[0]) for column in shown))
        for k in range(len(rows))
    ]
    content = element(
        "table",
        element("thead", head),
        element("tbody", joined(body, "\n")),
    )
    box = element("div", content, class_="wide", tabindex=0, role="group", aria_label=caption)
    if len(rows) < FOLDED_FROM:
        return joined([element("p", caption, class_="caption"), box])
    summary = element("summary", f"{caption}: show {len(rows)} rows")
    return element("details", summary, box)


def _bounded(content: Any) -> Any:
    """A text of bounded length; markup as it is."""
    return content if isinstance(content, Markup) else shortened(str(content), LONGEST)


def _head(column: ReportColumn) -> Markup:
    kind = "number" if column.is_number else None
    return element("th", column.title, scope="col", class_=kind)


def _cell(column: ReportColumn, content: Any, is_first: bool) -> Markup:
    kind = "number" if column.is_number else None
    if is_first:
        return element("th", content, scope="row", class_=kind)
    return element("td", content, class_=kind)


def list_of_facts(facts: Sequence[tuple[str, Any]]) -> Markup:
    """Names and values side by side."""
    pairs = [element("div", element("dt", name), element("dd", value)) for name, value in facts]
    return element("dl", *pairs, class_="facts")


def counted(count: int, noun: str, plural: str = "") -> str:
    """A number with its noun."""
    return f"{count} {noun if count == 1 else plural or noun + 's'}"


def largest(values: Any) -> float:
    """The largest absolute value; 0 of none."""
    return float(np.nanmax(np.abs(values), initial=0.0)) if np.size(values) else 0.0
