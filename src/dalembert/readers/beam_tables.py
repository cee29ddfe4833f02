"""Beams of elastic bodies in TOML files: the keys `beam` and `modes` of a body, read and written.

A new family of shape functions is a line of FAMILIES.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from typing import Any, NamedTuple

from dalembert.beams import ShapeFunctions, ShapePolynomials, legendre
from dalembert.beams.beam_properties import BeamProperty
from dalembert.beams.shape_functions import BEND_Y, DIRECTIONS
from dalembert.errors import ReadError
from dalembert.expr import Expr
from dalembert.model.beam import BENDS, KINEMATICS, MODES, MOST_MODES, SECTION, Beam
from dalembert.model.beam_damping import Rayleigh
from dalembert.model.elastic_declarations import ElasticDeclaration
from dalembert.model.numbered import named
from dalembert.model.parts import Body
from dalembert.readers.toml_tables import Table, origin_entry, origin_under, unless

BEAM_KEYS = ("length", *SECTION, "rotary_inertia", "origin", "kinematics", "damping")
MOST_COEFFICIENTS = 100  # of a polynomial
Entries = dict[str, Any]


class Family(NamedTuple):
    """A family of shape functions in a table.

    keys : beside `family`
    read : the functions of a table, in a direction
    written : entries of functions; None where they are of another family
    """

    keys: tuple[str, ...]
    read: Callable[[Table, str], ShapeFunctions]
    written: Callable[[ShapeFunctions, str], Entries | None]


# --- families -------------------------------------------------------------------------------------


def _count(table: Table, key: str) -> int:
    """A number of shape functions."""
    count = table.required(key)
    if isinstance(count, bool) or not isinstance(count, int):
        raise table.error(f"{key} is {count!r}; expected a whole number of modes.", key)
    if not 0 <= count <= MOST_MODES:
        raise table.error(f"{key} is {count}; expected 0 to {MOST_MODES} modes.", key)
    return count


def _legendre(table: Table, direction: str) -> ShapeFunctions:
    return legendre(_count(table, "count"), direction)


def _legendre_entries(functions: ShapeFunctions, direction: str) -> Entries | None:
    is_legendre = functions == legendre(functions.count, direction)
    return {"count": functions.count} if is_legendre else None


def _polynomials(table: Table, direction: str) -> ShapeFunctions:
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
    return ShapePolynomials(tuple(polynomials))


def _coefficient(table: Table, value: Any) -> Any:
    number = table.as_number("coefficients", value)
    if isinstance(number, Expr):
        raise table.error("a coefficient is a symbol; give a number.", "coefficients")
    return number if isinstance(number, float) else Fraction(number)


def _polynomial_entries(functions: ShapeFunctions, direction: str) -> Entries | None:
    if type(functions) is not ShapePolynomials:
        return None
    return {"coefficients": functions.coefficients}


FAMILIES: dict[str, Family] = {
    "legendre": Family(("count",), _legendre, _legendre_entries),
    "polynomials": Family(("coefficients",), _polynomials, _polynomial_entries),
}


# --- reading --------------------------------------------------------------------------------------


def modes_of(table: Table) -> Any:
    """Modes of a body's table, as `Body` takes them; None where they are not told."""
    if "modes" not in table.data:
        return None
    if not isinstance(table.data["modes"], dict):
        return _count(table, "modes")
    modes = table.table("modes")
    modes.allow(*DIRECTIONS)
    return {direction: _functions(modes, direction) for direction in modes.data}


def _functions(modes: Table, direction: str) -> int | ShapeFunctions:
    if not isinstance(modes.data[direction], dict):
        return _count(modes, direction)
    table = modes.table(direction)
    family = table.choice("family", tuple(FAMILIES), "legendre")
    table.allow("family", *FAMILIES[family].keys, of=f"modes of the family {family!r}")
    return FAMILIES[family].read(table, direction)


def beam_of(table: Table) -> Beam | None:
    """Beam of a body's table."""
    if "beam" not in table.data:
        return None
    beam = table.table("beam")
    beam.allow(*BEAM_KEYS)
    section = {key: beam.number(key) for key in SECTION if key in beam.data}
    return beam.made(  # type: ignore[no-any-return]
        "",
        Beam,
        beam.number("length"),
        **section,
        rotary_inertia=beam.vector("rotary_inertia", 3, (0, 0, 0)),
        origin=origin_under(beam),
        kinematics=beam.choice("kinematics", KINEMATICS, "second_order"),
        damping=_damping(beam),
    )


def _damping(beam: Table) -> Rayleigh | None:
    if "damping" not in beam.data:
        return None
    damping = beam.table("damping")
    damping.allow("mass", "stiffness")
    numbers = damping.number("mass", 0), damping.number("stiffness", 0)
    return damping.made("", Rayleigh, *numbers)  # type: ignore[no-any-return]


def elastic_body(table: Table, body: Body) -> Body:
    """A body with the beam and modes of its table."""
    if not {"beam", "modes", "elements"} & table.data.keys():
        return body
    beam, modes, elements = beam_of(table), modes_of(table), table.data.get("elements", 1)
    return table.made(  # type: ignore[no-any-return]
        "beam", replace, body, beam=beam, modes=modes, elements=elements
    )


def declaration_of(table: Table) -> tuple[str, ElasticDeclaration]:
    """A body of a robot file declared elastic in a file beside it, by name."""
    name = table.name("body")
    table.allow("name", "beam", "modes", "elements", of="a body of the robot file beside this one")
    table.required("beam")
    beam = beam_of(table)
    assert beam is not None
    elements = table.data.get("elements", 1)
    return name, ElasticDeclaration(beam, modes_of(table), elements, table.source)


# --- writing --------------------------------------------------------------------------------------


def beam_entries(body: Body) -> Entries:
    """Entries of the table of a body's beam.

    Raises
    ------
    ReadError
        Its damping, or a property that varies, has no table.
    """
    beam = body.beam
    assert beam is not None
    section = {key: x for key in SECTION if (x := getattr(beam, key)) is not None}
    for key, value in (section | named("rotary_inertia", beam.rotary_inertia)).items():
        if isinstance(value, BeamProperty):
            raise _without_table(body, key, value)
    entries = {"length": beam.length, **section}
    entries |= unless((0, 0, 0), rotary_inertia=beam.rotary_inertia)
    entries |= origin_entry(beam.origin)
    entries |= unless("second_order", kinematics=beam.kinematics)
    damping = beam.damping
    if damping is None:
        return entries
    if not isinstance(damping, Rayleigh) or type(damping) is not Rayleigh:
        raise _without_table(body, "damping", damping)
    of_damping = unless(0, mass=damping.mass) | unless(0, stiffness=damping.stiffness)
    return entries | {"damping": of_damping}


def modes_entry(body: Body) -> Entries:
    """The entries `modes` and `elements` of a body: a number where both deflections alone have as
    many modes, nothing for the default.

    Raises
    ------
    ReadError
        Its shape functions have no table.
    """
    if body.beam is None:
        return {}
    modes = {direction: _written(body, f, direction) for direction, f in body.modes}
    elements = unless(1, elements=body.elements)
    if not modes:
        return {"modes": 0} | elements
    first = modes.get(BEND_Y)
    if isinstance(first, int) and modes == dict.fromkeys(BENDS, first):
        return unless(MODES, modes=first) | elements
    return {"modes": modes} | elements


def _written(body: Body, functions: ShapeFunctions, direction: str) -> int | Entries:
    for name, family in FAMILIES.items():
        entries = family.written(functions, direction)
        if entries is not None:
            return functions.count if name == "legendre" else {"family": name, **entries}
    raise _without_table(body, f"shape functions in {direction}", functions)


def _without_table(body: Body, what: str, value: Any) -> ReadError:
    return ReadError(
        f"body {body.name!r} cannot be written: its {what} of class {type(value).__name__} has no "
        "table. Keep it in Python."
    )
