"""Cross-sections and materials of beams in TOML files."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from dalembert import beams
from dalembert.beams.materials import MATERIALS
from dalembert.model.numbers import as_float
from dalembert.readers.toml_tables import Table

# Makers of sections, with the keys of their lengths.
SHAPES: dict[str, tuple[Callable[..., beams.CrossSection], tuple[str, ...]]] = {
    "rectangle": (beams.rectangle, ("height", "width")),
    "round_bar": (beams.round_bar, ("diameter",)),
    "tube": (beams.tube, ("diameter", "wall")),
    "box": (beams.box, ("height", "width", "wall")),
    "i_profile": (beams.i_profile, ("height", "width", "web", "flange")),
}
PROPERTIES = ("area", "Iy", "Iz", "J", "torsion_modulus")
MODULI = ("E", "rho", "nu", "G")
Entries = dict[str, Any]


def section_of(beam: Table) -> beams.CrossSection | None:
    """Section of a beam's table: a shape with its lengths, or areas and moments."""
    if "section" not in beam.data:
        return None
    table = beam.table("section")
    if "shape" in table.data:
        make, keys = SHAPES[table.choice("shape", tuple(SHAPES))]
        table.allow("shape", *keys, of=f"a section {table.data['shape']!r}")
        lengths = {key: as_float(table.number(key)) for key in keys}
        return table.made("", make, **lengths)  # type: ignore[no-any-return]
    table.allow("shape", *PROPERTIES, "outer", "is_round")
    numbers = {key: as_float(table.number(key)) for key in PROPERTIES if key in table.data}
    for key in ("area", "Iy", "Iz"):
        table.required(key)
    others: Entries = {"is_round": _is_round(table)}
    if "outer" in table.data:
        others["outer"] = tuple(map(as_float, table.vector("outer", 2)))
    return table.made("", beams.CrossSection, **numbers, **others)  # type: ignore[no-any-return]


def _is_round(table: Table) -> bool:
    value = table.data.get("is_round", False)
    if not isinstance(value, bool):
        raise table.error(f"is_round is {value!r}; expected true or false.", "is_round")
    return value


def material_of(beam: Table) -> beams.Material | None:
    """Material of a beam's table: a name, or moduli and density."""
    if "material" not in beam.data:
        return None
    if not isinstance(beam.data["material"], dict):
        return beams.material(beam.choice("material", tuple(MATERIALS)))
    table = beam.table("material")
    table.allow(*MODULI)
    for key in ("E", "rho"):
        table.required(key)
    numbers = {key: as_float(table.number(key)) for key in MODULI if key in table.data}
    return table.made("", beams.Material, **numbers)  # type: ignore[no-any-return]


def section_entries(section: beams.CrossSection | None) -> Entries:
    """The entry of a section, by its areas and moments."""
    if section is None:
        return {}
    entries = {key: x for key in PROPERTIES if (x := getattr(section, key)) is not None}
    if section.outer is not None:
        entries["outer"] = section.outer
    if section.is_round:
        entries["is_round"] = True
    return {"section": entries}
