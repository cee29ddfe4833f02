"""Every number of a mechanism by its path: 'hand.mass', 'hand.com[0]', 'hand.inertia[0,1]', 'elbow.origin[2]', ...

Of a body: mass, com[k], inertia[i,j]. Of a joint: origin[k] and rotation[k] (translation, and angles of its constant
rotations in their order), axis[k], pitch, and viscous, coulomb, rotor_inertia, gear_ratio, stiffness, rest with [k]
where the joint has several velocities; multiplier and offset of a follower. Of a frame: origin[k], rotation[k].
Of the mechanism: gravity[k].
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from dalembert.errors import UnknownNameError
from dalembert.model.numbered import Part, indexed
from dalembert.model.numbers import Number, checked, exact_text

if TYPE_CHECKING:
    from dalembert.model.mechanism import Mechanism

GRAVITY = {path: k for k, path in enumerate(indexed("gravity", 3))}


def numbers(mechanism: Mechanism) -> Iterator[tuple[str, Number]]:
    """All (path, number) of a mechanism."""
    yield from zip(GRAVITY, mechanism.gravity, strict=True)
    for part in mechanism.parts:
        for name, value in part.numbers().items():
            yield f"{part.name}.{name}", value


def values(mechanism: Mechanism) -> Iterator[Number]:
    """The numbers alone, in the same order."""
    yield from mechanism.gravity
    for part in mechanism.parts:
        yield from part.numbers().values()


def canonical_text(mechanism: Mechanism) -> str | None:
    """All that the equations of a mechanism depend on, as text; None if a part of it has no identity."""
    if not type(mechanism).__module__.startswith("dalembert."):      # a subclass may do anything
        return None
    lines = [part.identity() for part in mechanism.parts]
    if None in lines:
        return None
    return "\n".join([repr(mechanism.name), exact_text(mechanism.gravity), *map(str, lines)])


def number_at(mechanism: Mechanism, path: str) -> Number:
    """The number at a path."""
    if isinstance(path, str) and path in GRAVITY:
        return mechanism.gravity[GRAVITY[path]]
    part, name = _part_of(mechanism, path)
    return part.numbers()[name]


def replaced(mechanism: Mechanism, values: Mapping[str, Number]) -> Mechanism:
    """The mechanism with the numbers at some paths replaced."""
    if not isinstance(values, Mapping):
        raise TypeError(f"{values!r} ({type(values).__name__}) has no numbers by path: expected {{'hand.mass': 0.5, ...}}.")
    gravity = list(mechanism.gravity)
    changes: dict[int, dict[str, Number]] = {}      # by the part's id: parts of different kinds may have one name
    for path, value in values.items():
        value = checked(value, path, angle=True)
        if path in GRAVITY:
            gravity[GRAVITY[path]] = value
            continue
        part, name = _part_of(mechanism, path)
        of_part = changes.setdefault(id(part), {})
        if name in of_part:
            raise ValueError(f"{path} names a number that is already replaced, {part.name}.{name}.")
        of_part[name] = value
    fields = {field: tuple(p.with_numbers(changes[id(p)]) if id(p) in changes else p for p in getattr(mechanism, field))
              for field in mechanism.PARTS}
    return replace(mechanism, gravity=tuple(gravity), **fields)      # type: ignore[arg-type]


def _part_of(mechanism: Mechanism, path: str) -> tuple[Part, str]:
    """Part and the name of its number that a path names; inertia[1,0] is inertia[0,1], viscous is viscous[0] alone."""
    name, _, suffix = str(path).rpartition(".")
    suffix = suffix.replace(" ", "")
    if match := re.fullmatch(r"(\w+)\[(\d),(\d)\]", suffix):
        suffix = "{}[{},{}]".format(match[1], *sorted(match.groups()[1:]))
    parts = mechanism.parts_named(name)
    for part in parts:
        own = part.numbers()
        for candidate in (suffix, f"{suffix}[0]"):
            if candidate in own and (candidate == suffix or f"{suffix}[1]" not in own):
                return part, candidate
    if parts:
        raise UnknownNameError(f"number of {name!r}", suffix, tuple(s for p in parts for s in p.numbers()))
    raise UnknownNameError("path", path, tuple(p for p, _ in numbers(mechanism)))
