"""Quantities as text, LaTeX and MathML to paste, and the sentences of documents."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from dalembert.closed_forms.algebra.sums import ZERO, Sum
from dalembert.closed_forms.printing import layout, legend
from dalembert.closed_forms.printing.arrangement import arranged
from dalembert.closed_forms.printing.names import ENTRY, entry_at
from dalembert.closed_forms.printing.naming import latex_text
from dalembert.closed_forms.printing.notation import LATEX, MATHML, TEXT, Notation, Printer
from dalembert.closed_forms.printing.sheets import Sheet

USED = {
    "mass_matrix": ("ij", "entries of the mass matrix"),
    "christoffel": ("ijk", "the Christoffel symbols"),
    "coriolis_vector": ("i", "entries of the Coriolis vector"),
    "gravity_vector": ("i", "entries of the gravity vector"),
    "passive_force": ("i", "forces of springs and friction"),
    "bias_force": ("i", "entries of the bias force"),
    "generalized_forces": ("i", "generalized forces"),
    "constraint_forces": ("i", "forces of the constraints"),
}
VECTORS = {
    "q": ("q", 0),
    "q_dot": ("q", 1),
    "q_ddot": ("q", 2),
    "u_dot": ("u", 1),
    "tau": (r"\tau", 0),
    "lambda": (r"\lambda", 0),
}  # letter and dots
MATRICES = ("placement", "jacobian")  # laid out in plain text, too
BY_ROWS = (
    "constraints",
    "velocity_constraints",
    "equations_of_motion",
    "accelerations",
    "multipliers",
    "rates",
)  # never as a column
Terms = list[tuple[str, str]]  # signs and texts of terms


class Style(NamedTuple):
    """How text with formulas is written.

    text: any text, with special characters escaped; formula: how one stands in text; width: of a
    formula, where matrices are wanted.
    """

    text: Callable[[str], str] = str
    formula: str = "%s"
    width: Callable[[str], int] | None = None


class Section(NamedTuple):
    """Section of a document on a quantity.

    lines: left sides and signed terms; whole: left side and entries of a matrix or vector, after
    the lines of its parts or, if it shows the names of its entries, before the lines.
    """

    key: str
    title: str
    remark: str
    lines: list[tuple[str, Terms]]
    whole: tuple[str, np.ndarray] | None = None
    comes_first: bool = False

    @property
    def sentences(self) -> list[str]:
        """The remark as a sentence, if there is one."""
        return [sentence(self.remark)] if self.remark else []

    def with_whole(self, blocks: list[str], whole: Callable[[str, np.ndarray], str]) -> list[str]:
        """Formulas of the lines, with that of the matrix or vector in its place."""
        if self.whole is None:
            return blocks
        formula = [whole(*self.whole)]
        return formula + blocks if self.comes_first else blocks + formula


LATEX_STYLE = Style(latex_text, "$%s$", layout.latex_width)


def printer(eom: Any, notation: Notation) -> Printer:
    """A printer for the names of `eom`."""
    return Printer(notation, eom.printed_names, eom.digits)


def printed_parts(sheet: Sheet, target: Printer, printed: set[str]) -> list[tuple[str, Terms]]:
    """(left side, signed terms) of the parts that the document has not printed yet."""
    found = [
        (target.name(name), target.signed_terms(form))
        for name, form in sheet.parts
        if name not in printed
    ]
    printed.update(name for name, _ in sheet.parts)
    return found


def printed_lines(sheet: Sheet, target: Printer, printed: set[str]) -> list[tuple[str, Terms]]:
    """The same of parts, among which stand entries that are parts of others, and of all other
    entries.
    """
    found = printed_parts(sheet, target, printed)
    for at, form in sheet.lines:
        name = sheet.left[at[0]] if sheet.left else entry_at(sheet.letter, at)
        if not sheet.factored or name not in printed:
            found.append((target.name(name), target.signed_terms(form)))
    if sheet.factored:
        printed.update(entry_at(sheet.letter, at) for at, _ in sheet.lines)
    return found


def length(eom: Any, sheet: Sheet) -> int:
    """Characters of a sheet's lines and parts in plain text."""
    target = printer(eom, TEXT)
    return sum(len(_equation(*line, target)) for line in printed_lines(sheet, target, set()))


def sections(eom: Any, quantities: Iterable[str], target: Printer, style: Style) -> list[Section]:
    """The sections of some quantities."""
    found, printed = [], set[str]()
    for sheet in [eom.sheet(name) for name in quantities]:
        before = set(printed)
        lines = printed_lines(sheet, target, printed)
        section = Section(sheet.quantity, sheet.title, remark_of(eom, sheet, target, style), lines)
        if (
            style.width is not None
            and sheet.forms.ndim in (1, 2)
            and sheet.forms.size > 1
            and sheet.quantity not in BY_ROWS
        ):
            section = _with_matrix(section, sheet, target, style.width, before)
        found.append(
            section if section.lines or section.whole else section._replace(lines=[("", [])])
        )
    return found


def _with_matrix(
    section: Section, sheet: Sheet, target: Printer, width: Callable[[str], int], printed: set[str]
) -> Section:
    """The section with the matrix in place of its lines, where that fits on a line, else with one
    of the entries' names.
    """
    letter = target.whole(sheet.letter)
    parts = printed_parts(sheet, target, printed)
    named = {name for name, _ in sheet.parts}

    def formula(at: tuple[int, ...], form: Sum) -> str:
        """An entry by its name, or its form."""
        name = entry_at(sheet.letter, at)
        return target.name(name) if name in named else target.sum(form)

    cells = _cells(sheet, target, formula)
    if layout.fits(cells, width):
        return section._replace(lines=parts, whole=(letter, cells))
    cells = _cells(sheet, target, lambda at, _: target.label(sheet.letter, *(k + 1 for k in at)))
    if sheet.forms.ndim == 2 and layout.fits(cells, width):
        return section._replace(whole=(letter, cells), comes_first=True)
    return section


def _cells(
    sheet: Sheet, target: Printer, written: Callable[[tuple[int, ...], Sum], str]
) -> np.ndarray:
    """Entries of a matrix or vector as formulas."""
    cells = np.full(sheet.forms.shape, target.sum(ZERO), dtype=object)
    for at, form in sheet.lines:
        cells[at] = written(at, form)
        if sheet.is_symmetric:
            cells[at[::-1]] = cells[at]
    return cells


def remark_of(eom: Any, sheet: Sheet, target: Printer, style: Style) -> str:
    """The remark on a sheet, and what the entries in its lines are."""
    found = [style.text(sheet.remark)] if sheet.remark else []
    for quantity in _used(eom, sheet):
        letters, what = USED[quantity]
        found.append(f"{style.formula % target.label(eom.letters[quantity], *letters)}: {what}")
    return "; ".join(found)


def _used(eom: Any, sheet: Sheet) -> list[str]:
    """Quantities whose entries stand in lines and parts of a sheet of another one."""
    letters = {name.split(ENTRY)[1] for name, _ in sheet.parts if name.startswith(ENTRY)} - {
        sheet.letter
    }
    return [
        quantity
        for quantity in USED
        if quantity in sheet.uses or eom.letters.get(quantity) in letters
    ]


def groupings(eom: Any, target: Printer, style: Style) -> list[Section]:
    """A section on base parameters, where there are any."""
    if not eom.groupings:
        return []
    lines = [
        (target.name(name), target.signed_terms(form))
        for name, form in eom.groupings.items()
        if form.terms
    ]
    none = [name for name, form in eom.groupings.items() if not form.terms]
    fewest = "" if eom.minimal else " (not all as few as possible)"
    remark = (
        f"{len(eom.groupings)} combinations{fewest} of the inertial parameters of the links about "
        "their joint frames' origins determine all forces"
        + (f"; zero here: {', '.join(none)}" if none else "")
    )
    return [Section("base", "Base parameters", style.text(remark), lines)]


def sentence(remark: str) -> str:
    """A remark with a capital letter, where it begins with a word, and a full stop."""
    first = remark[:1].upper() if remark[1:2].islower() and remark[:1].isalpha() else remark[:1]
    return f"{first}{remark[1:]}."


# --- text and formulas -----------------------------------------------------------------------------------------------


def text(eom: Any, quantities: Sequence[str]) -> str:
    """Plain text: a title and lines per quantity."""
    target = printer(eom, TEXT)
    found = []
    for section in sections(eom, quantities, target, Style()):
        title = section.title + (f" ({section.remark})" if section.remark else "")
        lines = [_equation(left, terms, target) for left, terms in section.lines]
        if section.key.partition(":")[0] in MATRICES:
            lines = _text_matrix(eom.sheet(section.key), target) or lines
        found.append("".join(f"{line}\n" for line in (title, *lines)))
    return "\n".join(found)


def latex(eom: Any, quantities: Sequence[str]) -> str:
    """LaTeX for amsmath: matrices where they fit on a line, else aligned equations; titles as
    comments.
    """
    target = printer(eom, LATEX)
    shown = sections(eom, quantities, target, LATEX_STYLE)
    found = "\n".join(
        f"% {section.title}"
        + (f" ({section.remark})" if section.remark else "")
        + "\n"
        + "\n".join(latex_blocks(section, target))
        + "\n"
        for section in shown
    )
    foreign = "".join(dict.fromkeys(c for c in found if not c.isascii()))
    return (f"% LuaLaTeX or XeLaTeX with a font for {foreign}\n" if foreign else "") + found


def latex_blocks(section: Section, target: Printer, within: bool = False) -> list[str]:
    """Displayed formulas of a section; within: without the marks that begin a display."""

    def display(formula: str) -> str:
        """A formula, displayed unless a display is begun."""
        return formula if within else layout.displayed(formula)

    equations = [(left, target.joined(terms)) for left, terms in section.lines if left]
    blocks = []
    if len(equations) == 1 and layout.latex_width("=".join(equations[0])) < layout.LINE:
        blocks = [display(" = ".join(equations[0]))]
    elif equations:
        blocks = [layout.aligned(equations, within)]
    blocks = section.with_whole(
        blocks, lambda left, cells: display(f"{left} = {layout.latex_matrix(cells)}")
    )
    return blocks or [display("0")]


def mathml(eom: Any, quantities: Sequence[str]) -> str:
    """A <math> element per line."""
    target = printer(eom, MATHML)
    return "\n".join(
        f'<math xmlns="http://www.w3.org/1998/Math/MathML"><mrow>{left}<mo>=</mo>{target.joined(terms)}</mrow></math>'
        for section in sections(eom, quantities, target, Style())
        for left, terms in section.lines
        if left
    )


def _text_matrix(sheet: Sheet, target: Printer) -> list[str]:
    """A matrix in plain text, or nothing where it is too wide."""
    cells = _cells(sheet, target, lambda _, form: target.sum(form))
    if sheet.parts or not layout.fits(cells, len, layout.TEXT_LINE):
        return []
    return [f"{target.whole(sheet.letter)} =", *layout.text_matrix(cells)]


def _equation(left: str, terms: Terms, target: Printer) -> str:
    return f"{left} = {target.joined(terms)}" if left else target.joined(terms)


# --- whole documents -------------------------------------------------------------------------------------------------


def checked(eom: Any) -> str:
    """Result of the verification, in a sentence."""
    worst = max(eom.verified.values(), default=0.0)
    return f"Every entry was compared with the compiled function at random states; largest relative difference {worst:.0e}."


def law(eom: Any, target: Printer) -> str:
    """The equations of motion with the letters of the quantities: M(q) qdd + h(q, qd) + g(q) = tau."""
    notation = target.notation
    left, right = eom.law

    def vector(name: str) -> str:
        """A vector of the law."""
        letter, dots = VECTORS.get(name, (name, 0))
        return notation.whole(target.names, letter, dots)

    def transposed(letter: str, factor: str) -> str:
        """The transpose of a matrix times a vector."""
        matrix = notation.power(target.whole(letter), notation.number("T"))
        return notation.times.join([matrix, vector(factor)])

    terms = []
    for letter, arguments, *factor in left:
        function = target.whole(letter)
        if arguments:
            names = map(vector, arguments.split())
            function += notation.parentheses % notation.comma.join(names)
        terms.append(("+", notation.times.join([function, *map(vector, factor)])))
    forces = [("+", vector(x) if isinstance(x, str) else transposed(*x)) for x in right]
    return notation.equation % (target.joined(terms), target.joined(forces))


def short_angles(eom: Any, target: Printer, formula: str) -> list[str]:
    """A sentence of formulas that say what c12 is, if there are such angles."""
    equations = (target.notation.equation % pair for pair in legend.angles(eom, target))
    listed = ", ".join(formula % equation for equation in equations)
    return [f"{listed}."] if listed else []


def plain(eom: Any, quantities: Sequence[str]) -> str:
    """A document in plain text: the law, the symbols, quantities, base parameters, named parts."""
    target = printer(eom, TEXT)
    arrangement = arranged(eom, quantities, target, len, layout.TEXT_LINE)
    head = _on_lines([f"Equations of motion of {eom.name}", law(eom, target), checked(eom)])
    blocks = [head, legend_text(eom)]
    for quantity in arrangement.quantities:
        remark = remark_of(eom, quantity.sheet, target, Style())
        lines = [quantity.sheet.title + (f" ({remark})" if remark else "")]
        if quantity.cells is not None:
            cells = np.vectorize(target.sum, otypes=[object])(quantity.cells)
            lines += [f"{target.whole(quantity.sheet.letter)} =", *layout.text_matrix(cells)]
        lines += _defined(dict(quantity.lines), target) or (["0"] if quantity.is_zero else [])
        blocks.append(_on_lines(lines))
    for section in groupings(eom, target, Style()):
        lines = _defined(eom.groupings, target)
        blocks.append(_on_lines([f"{section.title} ({section.remark})", *lines]))
    if arrangement.definitions:
        lines = _defined(arrangement.definitions, target)
        blocks.append(_on_lines(["Definitions", *lines]))
    return "\n".join(blocks)


def _defined(forms: Mapping[str, Sum], target: Printer) -> list[str]:
    """A line for each name and form that is not zero."""
    return [
        f"{target.name(name)} = {target.sum(form)}" for name, form in forms.items() if form.terms
    ]


def _on_lines(lines: Iterable[str]) -> str:
    return "".join(f"{line}\n" for line in lines)


def legend_text(eom: Any) -> str:
    """The legend as plain text."""
    target = printer(eom, TEXT)
    lines = ["Symbols"]
    table = [(target.name(row.name), row.what, row.unit, row.number) for row in legend.rows(eom)]
    widths = [max(map(len, column)) for column in zip(*table, strict=True)]
    for row in table:
        lines.append("  ".join(map(str.ljust, row, widths)).rstrip())
    lines += [f"{short} = {full}" for short, full in legend.angles(eom, target)]
    return _on_lines(lines)


def markdown_text(text: str) -> str:
    """Any text for Markdown, with every special character escaped."""
    return "".join(
        f"\\{c}" if c in "\\`*_{}[]<>#!|$" else c if c.isprintable() else f"\\<{ord(c):x}\\>"
        for c in text
    )
