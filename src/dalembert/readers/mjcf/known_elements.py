"""Elements and attributes that the installed MuJoCo knows, as it prints them."""

from __future__ import annotations

import re
from functools import cache
from typing import Any

from dalembert.readers.mjcf.element_kinds import UNPRINTED

INDENT = 3  # blanks before a child
COLUMN = 30  # where attributes begin
ENTRY = re.compile(r"( *)([\w()]+) \([^)]*\)")


@cache
def known_elements() -> dict[tuple[str, str], tuple[str, ...]]:
    """Attributes by (parent, tag); of the world under 'body' too."""
    return parsed_schema(_printed())


def _printed() -> str:
    import mujoco

    printed: Any = mujoco.mj_printSchema(False, False)
    return str(printed)


def parsed_schema(text: str) -> dict[tuple[str, str], tuple[str, ...]]:
    """Attributes by (parent, tag) of a printed schema.

    Examples
    --------
    >>> from dalembert.readers.mjcf.known_elements import parsed_schema
    >>> parsed_schema("mujoco (!)                    model\\n   option (*)                 gravity wind")
    {('', 'mujoco'): ('model',), ('mujoco', 'option'): ('gravity', 'wind')}
    """
    known: dict[tuple[str, str], tuple[str, ...]] = {}
    path: list[str] = []
    for line in text.splitlines():
        entry = ENTRY.match(line)
        attributes = tuple(line[COLUMN:].split())
        if entry is None:
            _extend(known, path, attributes)
            continue
        depth = len(entry[1]) // INDENT
        tag = entry[2].replace("(world)body", "body")
        path = [*path[:depth], tag]
        parent = path[-2] if depth else ""
        known[parent, tag] = (*known.get((parent, tag), ()), *attributes)
    return known


def _extend(
    known: dict[tuple[str, str], tuple[str, ...]], path: list[str], attributes: tuple[str, ...]
) -> None:
    """Attributes that stand in further lines of an entry."""
    if path and attributes:
        parent = path[-2] if len(path) > 1 else ""
        known[parent, path[-1]] += attributes


def known_attributes(parent: str, tag: str) -> tuple[str, ...] | None:
    """Attributes of an element inside another; None if MuJoCo knows no such element there."""
    if tag in UNPRINTED:
        return UNPRINTED[tag]
    if tag in ("worldbody", "body"):
        return known_elements().get(("mujoco", "body"))
    if parent in ("worldbody", "frame", "replicate"):
        parent = "body"
    return known_elements().get((parent, tag))


def known_children(parent: str) -> list[str]:
    """Tags that MuJoCo knows inside an element."""
    if parent in ("worldbody", "frame", "replicate"):
        parent = "body"
    return [tag for of, tag in known_elements() if of == parent]
