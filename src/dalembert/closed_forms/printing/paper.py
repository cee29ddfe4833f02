"""Equations on paper: documents in LaTeX, and in Markdown with LaTeX formulas."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from dalembert.closed_forms.algebra.sums import Sum
from dalembert.closed_forms.printing import documents, layout, legend
from dalembert.closed_forms.printing.arrangement import Arranged, Arrangement, arranged
from dalembert.closed_forms.printing.naming import latex_text
from dalembert.closed_forms.printing.notation import LATEX, Printer
from dalembert.closed_forms.printing.style import LATEX_HEAD

DEFINED = (
    "Sums that occur several times have names, each in terms of symbols and of names before it."
)


class Heading:
    """Titles of sections in a document."""

    def __init__(self, pattern: str, style: documents.Style):
        self.pattern, self.style = pattern, style

    def of(self, title: str) -> str:
        """A title as the document sets it."""
        return self.pattern % self.style.text(title)


def tex(eom: Any, quantities: Sequence[str]) -> str:
    """A LaTeX document for any engine; pdfLaTeX shows letters that it has no fonts for by their
    Unicode numbers.
    """
    target = documents.printer(eom, LATEX)
    style = documents.LATEX_STYLE
    arrangement = arranged(eom, quantities, target, layout.latex_width)  # verified by now
    heading = Heading(r"\subsection*{%s}", style)
    first, parameters = legend.parted(eom)
    body = [
        rf"\section*{{Equations of motion of {latex_text(eom.name)}}}",
        layout.displayed(documents.law(eom, target)),
        latex_text(documents.checked(eom)),
        heading.of("Symbols"),
        *documents.short_angles(eom, target, "$%s$"),
        *_symbol_table(first, target),
        *_blocks(eom, arrangement, heading, target),
    ]
    if parameters:
        body += [heading.of("Parameters"), *_symbol_table(parameters, target)]
    content = "\n".join(body)
    declared = "".join(
        rf"\DeclareUnicodeCharacter{{{ord(c):04X}}}{{\textlangle {ord(c):X}\textrangle}}" + "\n"
        for c in sorted(set(content))
        if not c.isascii()
    )
    return LATEX_HEAD.replace("@declared@", declared) + content + "\n\\end{document}\n"


def _symbol_table(listed: Sequence[legend.Row], target: Printer) -> list[str]:
    rows = [
        rf"${target.name(row.name)}$ & \texttt{{{latex_text(row.name)}}} & {latex_text(row.what)} & "
        rf"{latex_unit(row.unit)} & {row.number} \\"
        for row in listed
    ]
    return [r"\begin{longtable}{llp{8cm}ll}", *rows, r"\end{longtable}"]


def latex_unit(unit: str) -> str:
    """A unit in LaTeX: kg m², rad/s²."""
    return unit.replace("²", r"$^{2}$").replace(" ", r"\,")


def markdown(eom: Any, quantities: Sequence[str]) -> str:
    """Markdown with LaTeX formulas between dollars."""
    target = documents.printer(eom, LATEX)
    style = documents.LATEX_STYLE._replace(text=documents.markdown_text)
    arrangement = arranged(eom, quantities, target, layout.latex_width)  # verified by now
    heading = Heading("## %s", style)
    first, parameters = legend.parted(eom)
    blocks = [
        f"# Equations of motion of {style.text(eom.name)}",
        f"$${documents.law(eom, target)}$$",
        documents.checked(eom),
        heading.of("Symbols"),
        *documents.short_angles(eom, target, "$%s$"),
        _markdown_table(first, target, style),
        *_blocks(eom, arrangement, heading, target, within="$$%s$$"),
    ]
    if parameters:
        blocks += [heading.of("Parameters"), _markdown_table(parameters, target, style)]
    return "\n\n".join(blocks) + "\n"


def _markdown_table(listed: Sequence[legend.Row], target: Printer, style: documents.Style) -> str:
    """Names with what they are, units and numbers."""
    table = ["| symbol | name | is | unit | number |", "| --- | --- | --- | --- | --- |"]
    table += [
        f"| ${_in_table(target.name(row.name))}$ | {style.text(row.name)} | "
        f"{style.text(row.what)} | {row.unit} | {row.number} |"
        for row in listed
    ]
    return "\n".join(table)


def _in_table(formula: str) -> str:
    return formula.replace("|", r"\vert ")


def _blocks(
    eom: Any, arrangement: Arrangement, heading: Heading, target: Printer, within: str = ""
) -> list[str]:
    """Title, remark and formulas of each quantity, base parameters, and definitions of parts."""
    found = []
    for quantity in arrangement.quantities:
        remark = documents.remark_of(eom, quantity.sheet, target, heading.style)
        found.append(heading.of(quantity.sheet.title))
        found += [documents.sentence(remark)] if remark else []
        found += _quantity(quantity, target, within)
    for section in documents.groupings(eom, target, heading.style):
        found += [heading.of(section.title), *section.sentences]
        found += _displayed(_equations(eom.groupings, target), within)
    if arrangement.definitions:
        found += [heading.of("Definitions"), DEFINED]
        found += _displayed(_equations(arrangement.definitions, target), within)
    return found


def _equations(forms: dict[str, Sum], target: Printer) -> list[layout.Equation]:
    return [(target.name(name), target.sum(form)) for name, form in forms.items() if form.terms]


def _quantity(quantity: Arranged, target: Printer, within: str) -> list[str]:
    """The matrix or vector, then the lines."""
    found = []
    if quantity.cells is not None:
        written = np.vectorize(target.sum, otypes=[object])(quantity.cells)
        whole = f"{target.whole(quantity.sheet.letter)} = {layout.latex_matrix(written)}"
        found.append(within % whole if within else layout.displayed(whole))
    elif quantity.is_zero:
        found.append(within % "0" if within else layout.displayed("0"))
    return found + _displayed(_equations(dict(quantity.lines), target), within)


def _displayed(equations: list[layout.Equation], within: str) -> list[str]:
    """Equations as one display; within: the marks that begin and end a display, if not LaTeX's."""
    if not equations:
        return []
    whole = " = ".join(equations[0])
    if len(equations) == 1 and layout.latex_width(whole) < layout.LINE:
        return [within % whole if within else layout.displayed(whole)]
    aligned = layout.aligned(equations, bool(within))
    return [within % aligned if within else aligned]
