"""Expressions in print: scalars, vectors and matrices as a textbook has them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from numbers import Real
from typing import Any

import numpy as np

from dalembert.arguments import check_instance, check_text, check_whole, refused
from dalembert.closed_forms.algebra.factored import Parts
from dalembert.closed_forms.algebra.polynomials import Normal
from dalembert.closed_forms.algebra.ring import TooLarge, terms_in
from dalembert.closed_forms.algebra.sums import Builder, Sum, factors_in, object_array
from dalembert.closed_forms.printing import layout
from dalembert.closed_forms.printing.names import Names, free_prefix
from dalembert.closed_forms.printing.notation import LATEX, TEXT, Notation, Printer
from dalembert.errors import DalembertError, ShapeError
from dalembert.expr import Expr, evaluate, free_symbols
from dalembert.model.numbers import several

LONGEST = 400  # terms of an expression that is still written out
POLYNOMIAL = 4000  # terms of a polynomial on the way to it
SHORT = 60  # factors of entries that never have named parts
FEW = 9  # coordinates q1 ... q9 make short angles: c12 is never cos(q12)
STATES, SEED, TOLERANCE = 4, 1743, 1e-9


def text(expression: Any, coordinates: Sequence[Any] | str | None = None, digits: int = 6) -> str:
    """Expressions in plain text: products and sums in the order of a textbook, c12 for cos(q1 +
    q2).

    Parameters
    ----------
    expression : Expr, number, or sequence of these
        A scalar, a vector or a matrix.
    coordinates : sequence of symbols or names, or names in a text, optional
        Whose sines and cosines are short, if they are numbered (theta1, theta2, ...); by default q1
        to q9.
    digits : int
        Significant digits of numbers; whole numbers and fractions are exact.

    Returns
    -------
    str
        One line, or one for each row; a matrix that is too wide has a line for each entry that is
        not zero. What is too long has named parts on lines before.

    Raises
    ------
    ShapeError
        More than two axes.

    Examples
    --------
    >>> import dalembert as da
    >>> q = da.symbols("q1 q2")
    >>> da.text(da.cos(q[0] + q[1]) * 2)
    '2 c12'
    """
    written = Written(expression, coordinates, digits, TEXT)
    lines = [f"{left} = {right}" for left, right in written.parts]
    cells = written.cells
    if cells.ndim == 0:
        return "\n".join([*lines, cells.item()])
    if layout.fits(cells, len, layout.TEXT_LINE) or not cells.size:
        return "\n".join([*lines, *(layout.text_matrix(cells) if cells.size else ["[ ]"])])
    named = (
        f"[{','.join(str(k + 1) for k in at)}] = {x}" for at, x in np.ndenumerate(cells) if x != "0"
    )
    return "\n".join([*lines, *named])


def latex(expression: Any, coordinates: Sequence[Any] | str | None = None, digits: int = 6) -> str:
    r"""Expressions in LaTeX mathematics for amsmath, without dollars: a formula, or a pmatrix; see
    `text`.

    What is too long is in `aligned`, with named parts.

    Raises
    ------
    ShapeError
        More than two axes.

    Examples
    --------
    >>> import dalembert as da
    >>> q = da.symbols("q1 q2")
    >>> print(da.latex(da.sin(q[0]) / 2))
    \tfrac{1}{2} \, s_{1}
    """
    written = Written(expression, coordinates, digits, LATEX)
    cells = written.cells
    whole = str(cells.item()) if cells.ndim == 0 else layout.latex_matrix(cells)
    if not written.parts:
        return whole
    return layout.aligned([*written.parts, ("", whole)], within=True)


class Written:
    """An expression as texts.

    cells: an array of formulas; parts: left and right sides of named parts.
    """

    def __init__(
        self,
        expression: Any,
        coordinates: Sequence[Any] | str | None,
        digits: int,
        notation: Notation,
    ):
        check_whole("digits", digits, 1)
        try:
            entries = np.array(expression, dtype=object)
        except ValueError:
            raise refused(
                "the expression", expression, "an expression, a vector or a matrix"
            ) from None
        if entries.ndim > 2:
            raise ShapeError(
                f"an expression with {entries.ndim} axes cannot be printed, a scalar, a vector or "
                "a matrix can: print its parts."
            )
        for x in entries.flat:
            check_instance(
                "an entry of the expression", x, (Expr, Real, np.bool_), "a number or an expression"
            )
            if isinstance(x, (float, np.floating)) and not np.isfinite(x):
                raise ValueError(
                    f"an entry of the expression is {x}; expected finite numbers and expressions."
                )
        used = _symbols_in(entries)
        angles = _coordinates(coordinates)
        names = Names(angles, {}, used)
        forms, parts = _forms(entries, angles, used)
        _check(entries, forms, parts)
        printer = Printer(notation, names, digits)
        self.parts = [(printer.name(name), printer.sum(form)) for name, form in parts.items()]
        self.cells = object_array([printer.sum(form) for form in forms], entries.shape)


def _coordinates(given: Sequence[Any] | str | None) -> list[str]:
    if given is None:
        return [f"q{k}" for k in range(1, FEW + 1)]
    if isinstance(given, str):
        given = given.replace(",", " ").split()
    names = [
        x.name if isinstance(x, Expr) and x.op == "symbol" else x
        for x in several(given, "coordinates", "symbols or names, as 'q1 q2'")
    ]
    for name in names:
        check_text("a coordinate", name)
    return names


def _symbols_in(entries: np.ndarray) -> list[str]:
    """Names of the symbols in the order in which they were made."""
    found = {s.name: s for x in entries.flat if isinstance(x, Expr) for s in free_symbols(x)}
    if not found:
        return []
    made = next(iter(found.values())).graph.leaves["symbol"]
    return [name for name in made if name in found]


def _forms(
    entries: np.ndarray, angles: Sequence[str], used: Sequence[str]
) -> tuple[list[Sum], dict[str, Sum]]:
    """Forms of all entries, and named parts where they are long."""
    normal = Normal({"q": angles}, POLYNOMIAL)
    for name in used:
        if name not in angles:
            normal.ring.variable(name)
    full = None
    try:
        if terms_in(normal.scalar(x) for x in entries.flat) <= LONGEST:
            full = normal.forms(entries.flat)
    except TooLarge:
        pass
    if full is not None and (size := sum(map(factors_in, full))) <= SHORT:
        return full, {}
    parts = Parts(free_prefix("p", used), angles)
    forms = parts.forms([*entries.flat])
    needed = parts.needed(forms)
    if full is not None and size <= 2 * sum(map(factors_in, [*forms, *needed.values()])):
        return full, {}
    return forms, needed


def _check(entries: np.ndarray, forms: Iterable[Sum], parts: dict[str, Sum]) -> None:
    """Compare the forms with the expressions at random numbers, where these are finite."""
    expressions = [x for x in entries.flat if isinstance(x, Expr)]
    if not expressions:
        return
    used = _symbols_in(entries)
    point = dict(
        zip(used, np.random.default_rng(SEED).uniform(0.2, 1.4, (len(used), STATES)), strict=True)
    )
    made = Builder(expressions[0].graph, parts).array(object_array([*forms], (entries.size,)))
    found, right = (
        np.broadcast_to(evaluate(x, point), (STATES, entries.size))
        for x in (made, entries.reshape(-1))
    )
    gap = np.abs(found - right)
    finite = np.isfinite(right)
    scale = max(float(np.abs(right[finite]).max(initial=0.0)), 1.0)
    if not (gap[finite] <= TOLERANCE * scale).all():
        raise DalembertError(
            f"an expression and its print differ by {gap[finite].max():.3g}; this is a fault of "
            "dalembert, please report it."
        )
