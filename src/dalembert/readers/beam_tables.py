"""Beams of elastic bodies in TOML files: the keys `beam`, `modes` and `elements` of a body, read and
written.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from dalembert import beams
from dalembert.beams.beam_properties import BeamProperty
from dalembert.beams.shape_functions import (
    BEND_Y,
    ShapeFunctions,
)
from dalembert.errors import ReadError
from dalembert.model.elastic.beam import (
    BENDS,
    KINEMATICS,
    MODES,
    SECTION,
    Beam,
)
from dalembert.model.elastic.beam_damping import (
    BeamDamping,
    ModalDamping,
    Rayleigh,
)
from dalembert.model.elastic.elastic_declarations import ElasticDeclaration
from dalembert.model.parts import Body
from dalembert.readers.section_tables import (
    material_of,
    section_entries,
    section_of,
)
from dalembert.readers.shape_tables import (
    family_entries,
    modes_of,
)
from dalembert.readers.toml_tables import (
    Table,
    origin_entry,
    origin_under,
    unless,
)

BEAM_KEYS = (
    "length",
    *SECTION,
    "rotary_inertia",
    "section",
    "material",
    "origin",
    "kinematics",
    "damping",
)
MOST_VALUES = 100  # of a property along a beam
MOST_ELEMENTS = 1000  # of a beam
Entries = dict[str, Any]


# --- reading --------------------------------------------------------------------------------------


def beam_of(table: Table) -> Beam | None:
    """Beam of a body's table."""
    if "beam" not in table.data:
        return None
    beam = table.table("beam")
    beam.allow(*BEAM_KEYS)
    numbers: dict[str, Any] = {
        k: _property(beam, k, beam.data[k]) for k in SECTION if k in beam.data
    }
    if "rotary_inertia" in beam.data:
        numbers["rotary_inertia"] = _rotary_inertia(beam)
    numbers |= {
        "origin": origin_under(beam),
        "kinematics": beam.choice("kinematics", KINEMATICS, "second_order"),
        "damping": _damping(beam),
    }
    length, section, material = beam.number("length"), section_of(beam), material_of(beam)
    if material is None:
        return beam.made("", Beam, length, section=section, **numbers)  # type: ignore[no-any-return]
    if section is None:
        raise beam.error("it has a material and no section.", "material")
    return beam.made("", Beam.of_section, length, section, material, **numbers)  # type: ignore[no-any-return]


def _property(beam: Table, key: str, value: Any) -> Any:
    """A number, or numbers along the beam."""
    if not isinstance(value, dict):
        return beam.as_number(key, value)
    varying = beam.table(key, value)
    varying.allow("tapered", "pieces", of="a property that varies along the beam")
    if ("tapered" in value) == ("pieces" in value):
        raise beam.error(f"{key} has either tapered or pieces.", key)
    if "tapered" in value:
        return varying.made(
            "tapered", beams.tapered, *_numbers(varying, "tapered", value["tapered"])
        )
    expected = "a list of pairs [end, value], as [[0.4, 8], [1, [8, 2]]]"
    given = varying.checked_list("pieces", value["pieces"], None, expected)
    if len(given) > MOST_VALUES:
        raise varying.error(f"{len(given)} pieces; at most {MOST_VALUES}.", "pieces")
    pairs = []
    for pair in given:
        end, along = varying.checked_list("pieces", pair, 2, expected)
        is_list = isinstance(along, list)
        of_piece = (
            _numbers(varying, "pieces", along) if is_list else varying.as_number("pieces", along)
        )
        pairs.append((varying.as_number("pieces", end), of_piece))
    return varying.made("pieces", beams.pieces, pairs)


def _numbers(table: Table, key: str, values: Any) -> tuple[Any, ...]:
    given = table.checked_list(key, values, None, "a list of numbers along the beam")
    if len(given) > MOST_VALUES:
        raise table.error(f"{len(given)} numbers along the beam; at most {MOST_VALUES}.", key)
    return tuple(table.as_number(key, x) for x in given)


def _rotary_inertia(beam: Table) -> tuple[Any, ...]:
    expected = "a list of 3 numbers"
    given = beam.checked_list("rotary_inertia", beam.data["rotary_inertia"], 3, expected)
    return tuple(_property(beam, "rotary_inertia", x) for x in given)


def _damping(beam: Table) -> BeamDamping | None:
    if "damping" not in beam.data:
        return None
    damping = beam.table("damping")
    if "ratio" in damping.data:
        damping.allow("ratio", of="a damping by the ratio of modes")
        return damping.made("", ModalDamping, damping.number("ratio"))  # type: ignore[no-any-return]
    damping.allow("mass", "stiffness", "ratio")
    numbers = damping.number("mass", 0), damping.number("stiffness", 0)
    return damping.made("", Rayleigh, *numbers)  # type: ignore[no-any-return]


def _elements(table: Table) -> int:
    """Number of equal elements of a beam."""
    count = table.data.get("elements", 1)
    if isinstance(count, bool) or not isinstance(count, int) or not 1 <= count <= MOST_ELEMENTS:
        expected = f"a whole number from 1 to {MOST_ELEMENTS}"
        raise table.error(f"elements is {count!r}; expected {expected}.", "elements")
    return count


def elastic_body(table: Table, body: Body) -> Body:
    """A body with the beam and modes of its table."""
    if not {"beam", "modes", "elements"} & table.data.keys():
        return body
    beam, modes, elements = beam_of(table), modes_of(table), _elements(table)
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
    elements = _elements(table)
    return name, ElasticDeclaration(beam, modes_of(table), elements, table.source)


# --- writing --------------------------------------------------------------------------------------


def beam_entries(body: Body) -> Entries:
    """Entries of the table of a body's beam.

    Raises
    ------
    ReadError
        Its damping, or its section, has no table.
    """
    beam = body.beam
    assert beam is not None
    section = {key: _written(x) for key in SECTION if (x := getattr(beam, key)) is not None}
    entries = {"length": beam.length, **section}
    if beam.rotary_inertia != (0, 0, 0):
        entries["rotary_inertia"] = [_written(x) for x in beam.rotary_inertia]
    if callable(beam.section):
        raise _without_table(body, "section", beam.section)
    entries |= section_entries(beam.section)
    entries |= origin_entry(beam.origin)
    entries |= unless("second_order", kinematics=beam.kinematics)
    return entries | _damping_entry(body, beam.damping)


def _written(value: Any) -> Any:
    """A property as a number, or as numbers along the beam."""
    if not isinstance(value, BeamProperty):
        return value
    if value == BeamProperty((0, 1), value.values) and value.degree:
        return {"tapered": value.values[0]}
    ends = zip(value.breaks[1:], value.values, strict=True)
    return {"pieces": [[end, x[0] if len(x) == 1 else x] for end, x in ends]}


def _damping_entry(body: Body, damping: BeamDamping | None) -> Entries:
    if damping is None:
        return {}
    if isinstance(damping, Rayleigh) and type(damping) is Rayleigh:
        numbers = unless(0, mass=damping.mass) | unless(0, stiffness=damping.stiffness)
        return {"damping": numbers}
    if isinstance(damping, ModalDamping) and type(damping) is ModalDamping:
        return {"damping": {"ratio": damping.ratio}}
    raise _without_table(body, "damping", damping)


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
    modes = {direction: _modes(body, f, direction) for direction, f in body.modes}
    elements = unless(1, elements=body.elements)
    if not modes:
        return {"modes": 0} | elements
    first = modes.get(BEND_Y)
    if isinstance(first, int) and modes == dict.fromkeys(BENDS, first):
        return unless(MODES, modes=first) | elements
    return {"modes": modes} | elements


def _modes(body: Body, functions: ShapeFunctions, direction: str) -> int | Entries:
    entries = family_entries(functions, direction)
    if entries is None:
        raise _without_table(body, f"shape functions in {direction}", functions)
    return functions.count if entries["family"] == "legendre" else entries


def _without_table(body: Body, what: str, value: Any) -> ReadError:
    return ReadError(
        f"body {body.name!r} cannot be written: its {what} of class {type(value).__name__} has no "
        "table. Keep it in Python."
    )
