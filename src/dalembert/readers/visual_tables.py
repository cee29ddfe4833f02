"""Shapes of bodies in TOML files: tables [[body.visual]], read and written."""

from __future__ import annotations

import re
from collections.abc import (
    Iterable,
    Iterator,
)
from dataclasses import replace
from typing import Any

from dalembert.model.numbers import is_symbolic
from dalembert.model.visuals import Visual
from dalembert.readers.toml_tables import (
    Table,
    origin_entry,
    origin_under,
    unless,
)

SIZE_KEYS: dict[str, tuple[tuple[str, int], ...]] = {  # keys of each kind, and their lengths
    "box": (("size", 3),),
    "sphere": (("radius", 1),),
    "ellipsoid": (("semi_axes", 3),),
    "cylinder": (("radius", 1), ("length", 1)),
    "capsule": (("radius", 1), ("length", 1)),
    "mesh": (("scale", 3),),
}
UNSCALED = (1, 1, 1)
HEADER = re.compile(r"[ \t]*\[\[[ \t]*body[ \t]*\.[ \t]*visual[ \t]*\]\]")
Entries = dict[str, Any]


def visuals_of(body: Table) -> tuple[Visual, ...]:
    """Shapes of a body's table."""
    return tuple(_visual(table) for table in _tables(body))


def _tables(body: Table) -> Iterator[Table]:
    """The tables [[body.visual]] of a body, each with the line of its header."""
    expected = "tables [[body.visual]]"
    listed = body.checked_list("visual", body.data.get("visual", []), None, expected)
    headers = body.lines.within(body.line, HEADER)
    for k, entry in enumerate(listed):
        table = body.table("visual", entry, expected)
        if len(headers) == len(listed):  # else a list of inline tables
            table = replace(table, line=headers[k], path=())
        yield table


def _visual(table: Table) -> Visual:
    kind = table.choice("kind", tuple(SIZE_KEYS))
    keys = [key for key, _ in SIZE_KEYS[kind]]
    file = ("mesh",) if kind == "mesh" else ()
    table.allow("kind", *keys, *file, "origin", "colour", "seen", of=f"a {kind}")
    origin = origin_under(table)
    _check_plain(table, "origin", origin.numbers().values())
    visual: Visual = table.made(
        keys[0],
        Visual,
        kind,
        _sizes(table, kind),
        origin,
        _colour(table),
        table.text("mesh") if kind == "mesh" else "",
        _seen(table),
        table.source,
    )
    return visual


def _sizes(table: Table, kind: str) -> tuple[Any, ...]:
    """Numbers of a shape in the order of a Visual."""
    if kind == "mesh" and "scale" not in table.data:
        return UNSCALED
    sizes: tuple[Any, ...] = ()
    for key, length in SIZE_KEYS[kind]:
        numbers = table.vector(key, 3) if length == 3 else (table.number(key),)
        _check_plain(table, key, numbers)
        sizes += numbers
    return sizes


def _check_plain(table: Table, key: str, numbers: Iterable[Any]) -> None:
    """Refuse symbols, which nothing could draw."""
    if any(map(is_symbolic, numbers)):
        raise table.error(f"{key} has symbols; a shape has plain numbers.", key)


def _colour(table: Table) -> tuple[Any, ...] | None:
    """Red, green, blue, and opacity where it is given."""
    if "colour" not in table.data:
        return None
    expected = "3 or 4 numbers from 0 to 1: red, green, blue, opacity"
    listed = table.checked_list("colour", table.data["colour"], None, expected)
    opacity = [1] if len(listed) == 3 else []
    colour = table.as_numbers("colour", [*listed, *opacity], 4, expected)
    _check_plain(table, "colour", colour)
    return colour


def _seen(table: Table) -> bool:
    seen = table.data.get("seen", True)
    if not isinstance(seen, bool):
        raise table.error(f"seen is {seen!r}; expected true or false.", "seen")
    return seen


def visual_entries(visual: Visual) -> Entries:
    """Entries of the table of a shape."""
    entries: Entries = {"kind": visual.kind}
    if visual.kind == "mesh":
        entries |= {"mesh": visual.mesh} | unless(UNSCALED, scale=visual.sizes)
    else:
        entries |= _size_entries(visual)
    entries |= origin_entry(visual.origin)
    entries |= unless(None, colour=visual.colour)
    return entries | unless(True, seen=visual.seen)


def _size_entries(visual: Visual) -> Entries:
    sizes = iter(visual.sizes)
    entries: Entries = {}
    for key, length in SIZE_KEYS[visual.kind]:
        numbers = tuple(next(sizes) for _ in range(length))
        entries[key] = numbers if length > 1 else numbers[0]
    return entries
