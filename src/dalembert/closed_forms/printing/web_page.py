"""Equations as a web page: MathML, definitions a click away, nothing from the network, no scripts."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from dalembert.closed_forms.algebra.sums import Sum
from dalembert.closed_forms.printing import documents, layout, legend
from dalembert.closed_forms.printing.arrangement import Arranged, Arrangement, arranged
from dalembert.closed_forms.printing.formula_links import Definition, formula_of, linked
from dalembert.closed_forms.printing.markup import Markup, element, html_text, joined
from dalembert.closed_forms.printing.notation import MATHML, TEXT
from dalembert.closed_forms.printing.style import PAGE, SCREEN_STYLE
from dalembert.displays import shortened

FORMULA = "<math>%s</math>"
WIDEST = 88  # characters of mathematics on a line of a page
NARROW = 26  # characters that fit on a line of a telephone
LONGEST_TEXT = 200  # characters of the meaning of a symbol
LONGEST_EQUATION = 200  # characters of a definition that is shown while its name is pointed at


class PageSection(NamedTuple):
    """A section of a page: the mark that links go to, its title, and its content."""

    key: str
    title: str
    content: Markup


def html(eom: Any, quantities: Sequence[str]) -> str:
    """A page with MathML that needs no network."""
    writer = EquationWriter(eom, quantities)
    sections = writer.sections()
    title = f"Equations of motion of {html_text(eom.name)}"
    links = [element("a", s.title, href=f"#{s.key}") for s in sections]
    body = [
        element("h1", Markup(title)),
        writer.law(),
        element("p", _unbroken(documents.checked(eom)), class_="note"),
        element("nav", joined(links, " "), aria_label="Contents"),
        *(section_of(s, "h2") for s in sections),
    ]
    page = PAGE.replace("@style@", SCREEN_STYLE).replace("@title@", title)
    return page.replace("@body@", element("main", joined(body, "\n")))


def section_of(section: PageSection, heading: str) -> Markup:
    """A section with its heading."""
    return element(
        "section",
        element(heading, section.title),
        Markup("\n"),
        section.content,
        id=section.key,
    )


def _unbroken(text: str) -> str:
    """A sentence whose numbers are not broken at their hyphens."""
    return text.replace("e-", "e\u2011")


class EquationWriter:
    """Sections on the quantities of closed forms, with links from names to their definitions.

    prefix: the beginning of all marks of the page that links go to.
    """

    def __init__(self, eom: Any, quantities: Sequence[str], prefix: str = ""):
        self.eom = eom
        self.prefix = prefix
        self.target = documents.printer(eom, MATHML)
        self.spoken = documents.printer(eom, TEXT)
        self.style = documents.Style(html_text, FORMULA, layout.mathml_width)
        self.arrangement = self._arrangement(quantities)
        self.marks = self._marks()
        self.said: set[str] = set()  # remarks on sheets that stand on the page
        self.defined = self._definitions_by_formula()

    def _arrangement(self, quantities: Iterable[str]) -> Arrangement:
        return arranged(self.eom, quantities, self.target, layout.mathml_width, WIDEST)

    # --- sections ---

    def sections(self) -> list[PageSection]:
        """The symbols, each quantity, base parameters and named parts."""
        found = [PageSection(f"{self.prefix}symbols", "Symbols", self._symbols())]
        for quantity in self.arrangement.quantities:
            key = self.prefix + quantity.sheet.quantity
            found.append(PageSection(key, quantity.sheet.title, self._quantity(quantity)))
        found += [*self._base_parameters(), *self._definitions(), *self._parameter_table()]
        return found

    def law(self) -> Markup:
        """The equations of motion in the letters of the quantities."""
        formula = FORMULA % documents.law(self.eom, self.target)
        spoken = documents.law(self.eom, self.spoken)
        return element("div", Markup(formula), class_="eq law", role="group", aria_label=spoken)

    def _quantity(self, quantity: Arranged) -> Markup:
        """Remark, matrix and lines of a quantity."""
        sheet = quantity.sheet
        if sheet.remark in self.said:
            sheet = replace(sheet, remark="")
        self.said.add(sheet.remark)
        remark = documents.remark_of(self.eom, sheet, self.target, self.style)
        content = [self._matrix(quantity)] if quantity.cells is not None else []
        content += [self._line(name, form) for name, form in quantity.lines]
        if quantity.is_zero:
            content = [element("p", "0")]
        if quantity.is_summary:
            count = len(quantity.lines)
            content = [_folded(f"Show {count} of them", content)]
        sentences = [element("p", Markup(documents.sentence(remark)), class_="note")]
        return joined([*(sentences if remark else []), *content], "\n")

    def _symbols(self) -> Markup:
        """Coordinates and their rates, and the parameters where they are few."""
        first, others = legend.parted(self.eom)
        short = documents.short_angles(self.eom, self.target, FORMULA)
        sentences = [element("p", Markup(f"Short forms: {x}"), class_="note") for x in short]
        if not others:
            return joined([self._table(first), *sentences], "\n")
        coordinates = [row for row in first if row.name in self.eom.coordinates]
        rates = [row for row in first if row.name not in self.eom.coordinates]
        folded = _folded(f"{len(rates)} velocities and accelerations", [self._table(rates)])
        link = element("a", f"{len(others)} parameters", href=f"#{self.prefix}parameters")
        listed = element("p", link, " are listed at the end.")
        return joined([self._table(coordinates), folded, *sentences, listed], "\n")

    def _parameter_table(self) -> list[PageSection]:
        _, parameters = legend.parted(self.eom)
        if not parameters:
            return []
        folded = _folded(f"Show {len(parameters)} parameters", [self._table(parameters)])
        return [PageSection(f"{self.prefix}parameters", "Parameters", folded)]

    def _table(self, rows: Sequence[legend.Row]) -> Markup:
        """Symbols with meaning, unit and number; columns without an entry are left out."""
        columns: list[tuple[str, Callable[[legend.Row], Any]]] = [
            ("symbol", lambda row: Markup(FORMULA % self.target.name(row.name))),
            ("name", lambda row: element("code", row.name)),
            ("meaning", lambda row: shortened(row.what, LONGEST_TEXT)),
            ("unit", lambda row: row.unit),
            ("number", lambda row: row.number),
        ]
        shown = [(head, cell) for head, cell in columns if any(cell(row) for row in rows)]
        head = element("tr", *(element("th", title, scope="col") for title, _ in shown))
        body = [
            element("tr", *(element("td", cell(row), class_=title) for title, cell in shown))
            for row in rows
        ]
        table = element("table", element("thead", head), element("tbody", *body))
        return element(
            "div", table, class_="wide", tabindex=0, role="group", aria_label="Table of symbols"
        )

    def _base_parameters(self) -> list[PageSection]:
        found = []
        for section in documents.groupings(self.eom, self.target, self.style):
            lines = [
                self._line(name, form) for name, form in self.eom.groupings.items() if form.terms
            ]
            content = [element("p", Markup(documents.sentence(section.remark)), class_="note")]
            content.append(_folded("Show their definitions", lines, "columns"))
            found.append(PageSection(f"{self.prefix}base", section.title, joined(content)))
        return found

    def _definitions(self) -> list[PageSection]:
        """Definitions of the named parts, in the order in which they can be computed."""
        definitions = self.arrangement.definitions
        if not definitions:
            return []
        names = [self.spoken.name(name) for name in definitions]
        note = (
            "Sums that occur several times have names, each in terms of symbols and of names "
            "before it."
        )
        lines = [self._line(name, form) for name, form in definitions.items()]
        folded = _folded(f"Definitions of {_range(names)}", lines, "columns")
        content = joined([element("p", note, class_="note"), folded])
        return [PageSection(f"{self.prefix}definitions", "Definitions", content)]

    # --- formulas ---

    def _marks(self) -> dict[str, str]:
        """Marks of the lines that define names."""
        names = [name for q in self.arrangement.quantities for name, _ in q.lines]
        names += self.arrangement.definitions
        names += [name for name, form in self.eom.groupings.items() if form.terms]
        return {name: f"{self.prefix}d{k}" for k, name in enumerate(dict.fromkeys(names), 1)}

    def _definitions_by_formula(self) -> dict[str, Definition]:
        """Definitions of names that have lines, by the names in MathML."""
        forms = {**self.eom.groupings, **self.arrangement.definitions}
        forms |= {name: form for q in self.arrangement.quantities for name, form in q.lines}
        found = {}
        for name, mark in self.marks.items():
            label = self.spoken.name(name)
            equation = f"{label} = {self.spoken.sum(forms[name])}"
            if len(equation) > LONGEST_EQUATION:
                equation = f"{equation[:LONGEST_EQUATION]} …"
            found[self.target.name(name)] = Definition(mark, label, equation)
        return found

    def _line(self, name: str, form: Sum) -> Markup:
        """An equation; each term is a formula of its own, so that lines are broken between terms."""
        left = f"<mrow>{self.target.name(name)}<mo rspace='0'>=</mo></mrow>"
        pieces = [formula_of(left)]
        widest = 0
        for k, (sign, term) in enumerate(self.target.signed_terms(form) or [("+", "<mn>0</mn>")]):
            for piece in layout.mathml_pieces(_mark(sign, k == 0) + term):
                widest = max(widest, layout.mathml_width(piece))
                pieces.append(linked(piece, self.defined))
        spoken = f"{self.spoken.name(name)} = {self.spoken.sum(form)}"
        return element(
            "div",
            Markup(" ".join(pieces)),
            id=self.marks.get(name),
            class_="eq",
            role="group",
            aria_label=spoken,
            tabindex=0 if widest > NARROW else None,
        )

    def _matrix(self, quantity: Arranged) -> Markup:
        """A matrix or vector with its letter."""
        letter = quantity.sheet.letter
        cells: Any = quantity.cells
        written = np.vectorize(self.target.sum, otypes=[object])
        matrix = layout.mathml_matrix(written(cells))
        formula = f"<mrow>{self.target.whole(letter)}<mo>=</mo>{matrix}</mrow>"
        rows = ["; ".join(map(self.spoken.sum, np.atleast_1d(row))) for row in cells]
        spoken = f"{self.spoken.whole(letter)} = rows: {'. '.join(rows)}"
        return element(
            "div",
            Markup(f'<math display="block">{formula}</math>'),
            class_="eq whole",
            role="group",
            aria_label=spoken,
            tabindex=0,
        )


def _mark(sign: str, is_first: bool) -> str:
    """The sign before a term, in MathML."""
    mark = "−" if sign == "-" else "+"
    if is_first:
        return "<mo>−</mo>" if sign == "-" else ""
    return f'<mo form="infix" lspace="0" rspace="0.22em">{mark}</mo>'


def _folded(summary: str, content: Sequence[Any], kind: str | None = None) -> Markup:
    """Content that is shown on demand, and in print."""
    inner = element("div", joined(content, "\n"), class_=kind)
    return element("details", element("summary", summary), inner)


def _range(names: Sequence[str]) -> str:
    """Names as text: the first and the last."""
    return names[0] if len(names) == 1 else f"{len(names)} names, {names[0]} to {names[-1]}"
