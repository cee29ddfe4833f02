"""Shape functions of elastic bodies in TOML files: the key `modes` of a body, read and written.

A new family is a line of FAMILIES.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from functools import partial
from typing import (
    Any,
    NamedTuple,
)

from dalembert import beams
from dalembert.beams.finite_elements import (
    CUBIC,
    LINEAR,
)
from dalembert.beams.shape_functions import (
    DIRECTIONS,
    bends,
)
from dalembert.expr import Expr
from dalembert.model.elastic.beam import MOST_MODES
from dalembert.model.numbers import as_float
from dalembert.readers.toml_tables import Table

MOST_COEFFICIENTS = 100  # of a polynomial
RATIOS = ("mass_ratio", "inertia_ratio", "offset")  # of a load at the end of a beam
MOST_DEPTH = 8  # of families within joined ones
Entries = dict[str, Any]


class Family(NamedTuple):
    """A family of shape functions in a table.

    keys : beside `family`
    read : the functions of a table, in a direction
    written : entries of functions; None where they are of another family
    """

    keys: tuple[str, ...]
    read: Callable[[Table, str], beams.ShapeFunctions]
    written: Callable[[Any, str], Entries | None]


# --- families -------------------------------------------------------------------------------------


def _count(table: Table, key: str = "count") -> int:
    """A number of shape functions."""
    count = table.required(key)
    if isinstance(count, bool) or not isinstance(count, int):
        raise table.error(f"{key} is {count!r}; expected a whole number of modes.", key)
    if not 0 <= count <= MOST_MODES:
        raise table.error(f"{key} is {count}; expected 0 to {MOST_MODES} modes.", key)
    return count


def _counted(make: Callable[..., Any], has_direction: bool = True, others: int = 0) -> Family:
    """A family told by the number of its functions, of which some others come beside the count."""

    def made(count: int, direction: str) -> Any:
        """The functions of a number."""
        return make(count, direction) if has_direction else make(count)

    def read(table: Table, direction: str) -> Any:
        """The functions of a table."""
        return table.made("count", made, _count(table), direction)

    def written(functions: Any, direction: str) -> Entries | None:
        """The count, where the functions are of it."""
        count = functions.count - (others if bends(direction) else others // 2)
        if not 0 < count + others or count > MOST_MODES or count < 0:
            return None
        try:
            return {"count": count} if functions == made(count, direction) else None
        except ValueError:  # no family has this number
            return None

    return Family(("count",), read, written)


def _loaded(table: Table, direction: str) -> Any:
    ratios = {key: as_float(table.number(key, 0)) for key in RATIOS}
    if any(isinstance(ratio, Expr) for ratio in ratios.values()):
        raise table.error("a ratio of a load is a symbol; give a number.")
    make = partial(beams.clamped_loaded, direction=direction)
    return table.made("count", make, _count(table), **ratios)


def _waves(table: Table, direction: str) -> Any:
    expected = "a list of rows of 5 numbers"
    rows = table.checked_list("waves", table.required("waves"), None, expected)
    if len(rows) > MOST_MODES:
        raise table.error(f"{len(rows)} functions; at most {MOST_MODES} modes.", "waves")
    waves = [table.as_numbers("waves", row, 5, expected) for row in rows]
    if any(isinstance(x, Expr) for row in waves for x in row):
        raise table.error("a wave is a symbol; give a number.", "waves")
    return beams.Eigenfunctions(tuple(tuple(map(as_float, row)) for row in waves))


def _waves_entries(functions: Any, direction: str) -> Entries | None:
    return {"waves": functions.waves} if type(functions) is beams.Eigenfunctions else None


def _polynomials(table: Table, direction: str) -> Any:
    expected = "a list with the coefficients of each polynomial, as [[0, 0, 1], [0, 0, 3, -2]]"
    rows = table.checked_list("coefficients", table.required("coefficients"), None, expected)
    if len(rows) > MOST_MODES:
        raise table.error(f"{len(rows)} polynomials; at most {MOST_MODES} modes.", "coefficients")
    polynomials = []
    for row in rows:
        entries = table.checked_list("coefficients", row, None, expected)
        if len(entries) > MOST_COEFFICIENTS:
            why = f"a polynomial has {len(entries)} coefficients; at most {MOST_COEFFICIENTS}."
            raise table.error(why, "coefficients")
        polynomials.append(tuple(_coefficient(table, x) for x in entries))
    return beams.ShapePolynomials(tuple(polynomials))


def _coefficient(table: Table, value: Any) -> Any:
    number = table.as_number("coefficients", value)
    if isinstance(number, Expr):
        raise table.error("a coefficient is a symbol; give a number.", "coefficients")
    return number if isinstance(number, float) else Fraction(number)


def _polynomial_entries(functions: Any, direction: str) -> Entries | None:
    if type(functions) is not beams.ShapePolynomials:
        return None
    return {"coefficients": functions.coefficients}


def _hermite(table: Table, direction: str) -> Any:
    return table.made("elements", beams.hermite, _count(table, "elements"), direction)


def _hermite_entries(functions: Any, direction: str) -> Entries | None:
    if type(functions) is not beams.ElementFunctions:
        return None
    own = CUBIC if bends(direction) else LINEAR
    return {"elements": functions.elements} if functions.on_element == own else None


def _joined(table: Table, direction: str) -> Any:
    given = table.checked_list("of", table.required("of"), None, "a list of tables of families")
    if len(table.path) > MOST_DEPTH:
        raise table.error("joined families are nested too deeply.", "of")
    if len(given) > MOST_MODES:
        raise table.error(f"{len(given)} families; at most {MOST_MODES} modes.", "of")
    families = beams.joined(*(functions_of(table.table("of", x), direction) for x in given))
    if families.count > MOST_MODES:
        raise table.error(f"{families.count} functions; at most {MOST_MODES} modes.", "of")
    return families


def _joined_entries(functions: Any, direction: str) -> Entries | None:
    if type(functions) is not beams.JoinedFunctions:
        return None
    parts = [family_entries(each, direction) for each in functions.families]
    return None if None in parts else {"of": parts}


FAMILIES: dict[str, Family] = {
    "legendre": _counted(beams.legendre),
    "clamped_free": _counted(beams.clamped_free),
    "clamped_clamped": _counted(beams.clamped_clamped, has_direction=False),
    "pinned_pinned": _counted(beams.pinned_pinned, has_direction=False),
    "craig_bampton": _counted(beams.craig_bampton, others=2),
    "clamped_loaded": Family(("count", *RATIOS), _loaded, lambda functions, direction: None),
    "hermite": Family(("elements",), _hermite, _hermite_entries),
    "polynomials": Family(("coefficients",), _polynomials, _polynomial_entries),
    "eigenfunctions": Family(("waves",), _waves, _waves_entries),
    "joined": Family(("of",), _joined, _joined_entries),
}


# --- reading and writing --------------------------------------------------------------------------


def modes_of(table: Table) -> Any:
    """Modes of a body's table, as `Body` takes them; None where they are not told."""
    if "modes" not in table.data:
        return None
    if not isinstance(table.data["modes"], dict):
        return _count(table, "modes")
    modes = table.table("modes")
    modes.allow(*DIRECTIONS)
    return {direction: _of_direction(modes, direction) for direction in modes.data}


def _of_direction(modes: Table, direction: str) -> int | beams.ShapeFunctions:
    if not isinstance(modes.data[direction], dict):
        return _count(modes, direction)
    return functions_of(modes.table(direction), direction)


def functions_of(table: Table, direction: str) -> beams.ShapeFunctions:
    """Shape functions of a table with a family."""
    family = table.choice("family", tuple(FAMILIES), "legendre")
    table.allow("family", *FAMILIES[family].keys, of=f"modes of the family {family!r}")
    return FAMILIES[family].read(table, direction)


def family_entries(functions: beams.ShapeFunctions, direction: str) -> Entries | None:
    """The table of shape functions; None where they are of no family."""
    for name, family in FAMILIES.items():
        entries = family.written(functions, direction)
        if entries is not None:
            return {"family": name, **entries}
    return None
