"""Equations on lines of a page: matrices where they fit, else one equation after the other, broken
at signs.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from itertools import pairwise
from xml.etree import ElementTree

import numpy as np

LINE = 69  # characters of mathematics on a line of a LaTeX article
TEXT_LINE = 100  # characters on a line of plain text
LONGEST_ROW = 10  # columns of amsmath's matrices
BREAKABLE = 12  # lines from which a display may go on on the next page
UNSEEN = re.compile(
    r"\\(?:begin|end)\{\w+\}|\\(?:text|math\w+|tfrac|d?dot|boldsymbol|operatorname)(?![a-z])|\\,|[{}_^$ ]"
)

DEPTH = {"{": 1, "}": -1, "\\begin{": 2, "\\end{": 0}  # of braces and surroundings after a mark

Equation = tuple[str, str]  # left and right side


def latex_width(formula: str) -> int:
    """Characters of a formula in LaTeX on paper, roughly."""
    shown = re.sub(
        r"\\(?!cos|sin|tan|exp|max|min)[A-Za-z]+|\\[^A-Za-z]", "x", UNSEEN.sub("", formula)
    )
    wide = sum(map(str.isupper, shown)) // 2 + 2 * len(re.findall(r" [-+=] ", formula))
    return len(shown) + wide + formula.count(r"\,") // 3


def mathml_width(formula: str) -> int:
    """Characters of a formula in MathML on the screen."""
    return len(re.sub("<[^>]*>", "", formula)) + 2 * len(re.findall("<mo>[−+=]", formula))


def fits(cells: np.ndarray, width: Callable[[str], int], line: int = LINE) -> bool:
    """Whether a matrix of formulas fits on a line."""
    if cells.ndim > 2 or not cells.size or max(cells.shape) > LONGEST_ROW:
        return False
    rows = cells.reshape(cells.shape[0], -1) if cells.ndim else cells.reshape(1, 1)
    columns = [max(map(width, column)) for column in rows.T]
    return sum(columns) + 3 * len(columns) + 8 <= line


def latex_matrix(cells: np.ndarray) -> str:
    """A matrix, or a vector as a column."""
    rows = cells.reshape(len(cells), -1)
    return r"\begin{pmatrix} " + r" \\ ".join(" & ".join(row) for row in rows) + r" \end{pmatrix}"


def text_matrix(cells: np.ndarray) -> list[str]:
    """Lines of a matrix, or of a vector as a column."""
    rows = cells.reshape(len(cells), -1)
    widths = [max(map(len, column)) for column in rows.T]
    return [
        "[ " + "  ".join(x.ljust(w) for x, w in zip(row, widths, strict=True)) + " ]"
        for row in rows
    ]


def mathml_matrix(cells: np.ndarray) -> str:
    """A matrix, or a vector as a column."""
    rows = cells.reshape(len(cells), -1)
    body = "".join("<mtr>" + "".join(f"<mtd>{x}</mtd>" for x in row) + "</mtr>" for row in rows)
    return f"<mrow><mo>(</mo><mtable>{body}</mtable><mo>)</mo></mrow>"


def mathml_pieces(formula: str, longest: int = LINE) -> list[str]:
    """A term in MathML; where it is longer than a line, cut at the signs in its longest
    parentheses.
    """
    if mathml_width(formula) <= longest:
        return [formula]
    row = ElementTree.fromstring(f"<mrow>{formula}</mrow>")
    sums = [x for x in row if x.tag == "mrow" and len(x) > 2 and x[0].text == "("]
    if not sums:
        return [formula]
    inner = max(sums, key=lambda x: len("".join(x.itertext())))
    flat = [y for x in row for y in (inner if x is inner else [x])]
    pieces: list[list[ElementTree.Element]] = [[]]
    for k, x in enumerate(flat):
        if x.tag == "mo" and x.text in ("+", "−") and x in inner and flat[k - 1].text != "(":
            x.attrib |= {"form": "infix", "lspace": "0", "rspace": "0.22em"}
            pieces.append([])
        pieces[-1].append(x)
    return ["".join(ElementTree.tostring(x, encoding="unicode") for x in piece) for piece in pieces]


def displayed(formula: str) -> str:
    """A formula on a line of its own."""
    return rf"\[ {formula} \]"


def aligned(equations: Sequence[Equation], within: bool = False) -> str:
    """Equations below each other, aligned at their signs of equality; within: for a display that is
    begun elsewhere.
    """
    lines = []
    for left, right in equations:
        first, *others = broken(right, max(LINE - latex_width(left) - 3, LINE // 2), LINE - 4)
        lines += [f"{left} &= {first}", *(rf"&\quad {part}" for part in others)]
    name = "aligned" if within else "align*"
    body = "\\begin{%s}\n%s\n\\end{%s}" % (name, " \\\\\n".join(lines), name)  # noqa: UP031
    return f"{{\\allowdisplaybreaks\n{body}}}" if len(lines) > BREAKABLE and not within else body


def broken(formula: str, first: int, other: int) -> list[str]:
    """A formula in parts of at most so many characters on the first line and the others, as far as
    its signs allow it: between terms, and only in a term that is longer than a line between the
    terms in its parentheses.
    """
    lines: list[str] = []
    line, width = "", 0
    for piece in _pieces(formula, other):
        size = latex_width(piece)
        if line and width + size > (other if lines else first):
            lines.append(line.strip())
            line, width = "", 0
        line, width = line + piece, width + size
    return [*lines, line.strip()]


def _pieces(formula: str, longest: int, depth: int = 0) -> list[str]:
    """A formula cut at its signs in so many parentheses; pieces that are longer are cut in more."""
    cuts, deepest = _signs(formula, depth)
    pieces = [formula[i:j] for i, j in pairwise([0, *cuts, len(formula)])]
    if depth >= deepest:
        return pieces
    return [
        part
        for piece in pieces
        for part in (
            _pieces(piece, longest, depth + 1) if latex_width(piece) > longest else [piece]
        )
    ]


def _signs(formula: str, allowed: int) -> tuple[list[int], int]:
    """Positions of + and - that are in no argument of a command and in so many parentheses at most;
    how deep these are.
    """
    places = []
    inside = 0
    depth = 0
    deepest = 0
    for match in re.finditer(r"\\begin\{|\\end\{|\\?[{}]| [-+] |[()]", formula):
        mark = match[0]
        inside += DEPTH.get(mark, 0)
        depth += (mark == "(") - (mark == ")")
        deepest = max(deepest, depth)
        if mark[0] == " " and inside == 0 and depth <= allowed and match.start():
            places.append(match.start())
    return places, deepest
