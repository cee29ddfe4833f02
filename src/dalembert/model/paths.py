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
from typing import TYPE_CHECKING, Any

from dalembert.errors import UnknownNameError
from dalembert.model.numbers import Number, checked, exact_text
from dalembert.model.parts import PER_VELOCITY, Body, Frame, Joint, Origin

if TYPE_CHECKING:
    from dalembert.model.mechanism import Mechanism

GRAVITY = {f"gravity[{k}]": k for k in range(3)}
TENSOR = {"0,0": 0, "0,1": 1, "1,1": 2, "0,2": 3, "1,2": 4, "2,2": 5}      # entry -> place in Body.inertia


def numbers(mechanism: Mechanism) -> Iterator[tuple[str, Number]]:
    """All (path, number) of a mechanism."""
    yield from zip(GRAVITY, mechanism.gravity, strict=True)
    for part in _parts(mechanism):
        for suffix, value in _slots(part).items():
            yield f"{part.name}.{suffix}", value


def values(mechanism: Mechanism) -> Iterator[Number]:
    """The numbers alone, in the same order; much faster, for mechanisms of many bodies."""
    yield from mechanism.gravity
    for part in _parts(mechanism):
        yield from _values(part)


def canonical_text(mechanism: Mechanism) -> str | None:
    """All that the equations of a mechanism depend on, as text; None if a part of it has no identity."""
    types = [j.type.identity() for j in mechanism.joints]
    if not type(mechanism).__module__.startswith("dalembert."):      # a subclass may do anything
        return None
    if None in types or not {*map(type, _parts(mechanism))} <= {Body, Joint, Frame}:
        return None
    lines = [repr(mechanism.name), exact_text(mechanism.gravity)]
    lines += [repr(b.name) + exact_text(_values(b)) for b in mechanism.bodies]
    lines += [repr((j.name, identity, j.parent, j.child, j.mimic and j.mimic.joint, _axes(j.origin)))
              + exact_text(_values(j)) for j, identity in zip(mechanism.joints, types, strict=True)]
    lines += [repr((f.name, f.body, _axes(f.origin))) + exact_text(_values(f)) for f in mechanism.frames]
    return "\n".join(lines)


def _axes(origin: Origin) -> list[str]:
    return [axis if isinstance(axis, str) else exact_text(axis) for axis, _ in origin.rotations]


def number_at(mechanism: Mechanism, path: str) -> Number:
    """The number at a path."""
    if isinstance(path, str) and path in GRAVITY:
        return mechanism.gravity[GRAVITY[path]]
    part, suffix = _part_of(mechanism, path)
    return _slots(part)[suffix]


def replaced(mechanism: Mechanism, values: Mapping[str, Number]) -> Mechanism:
    """The mechanism with the numbers at some paths replaced."""
    if not isinstance(values, Mapping):
        raise TypeError(f"{values!r} ({type(values).__name__}) has no numbers by path: expected {{'hand.mass': 0.5, ...}}.")
    gravity = list(mechanism.gravity)
    changes: dict[tuple[str, str], dict[str, Number]] = {}
    for path, value in values.items():
        value = checked(value, path, angle=True)
        if path in GRAVITY:
            gravity[GRAVITY[path]] = value
            continue
        part, suffix = _part_of(mechanism, path)
        of_part = changes.setdefault((type(part).__name__, part.name), {})
        if suffix in of_part:
            raise ValueError(f"{path} names a number that is already replaced, {part.name}.{suffix}.")
        of_part[suffix] = value

    def changed(parts):
        return tuple(_with(p, changes[key]) if (key := (type(p).__name__, p.name)) in changes else p for p in parts)

    return replace(mechanism, bodies=changed(mechanism.bodies), joints=changed(mechanism.joints),
                   frames=changed(mechanism.frames), gravity=tuple(gravity))


def _part_of(mechanism: Mechanism, path: str) -> tuple[Any, str]:
    """Part and normalised suffix that a path names."""
    name, _, suffix = str(path).rpartition(".")
    suffix = suffix.replace(" ", "")
    if match := re.fullmatch(r"inertia\[([012]),([012])\]", suffix):
        suffix = "inertia[{},{}]".format(*sorted(match.groups()))
    parts = [p for table in (mechanism._bodies, mechanism._joints, {f.name: f for f in mechanism.frames})
             if (p := table.get(name)) is not None]
    for part in parts:
        slots = _slots(part)
        for candidate in (suffix, suffix + "[0]"):
            if candidate in slots and (candidate == suffix or suffix + "[1]" not in slots):
                return part, candidate
    if parts:
        raise UnknownNameError(f"number of {name!r}", suffix, tuple(s for p in parts for s in _slots(p)))
    raise UnknownNameError("path", path, tuple(p for p, _ in numbers(mechanism)))


def _parts(mechanism: Mechanism) -> tuple[Any, ...]:
    return *mechanism.bodies, *mechanism.joints, *mechanism.frames


def _slots(part: Any) -> dict[str, Number]:
    """Suffix -> number for one part."""
    if isinstance(part, Body):
        suffixes = ["mass", *(f"com[{k}]" for k in range(3)), *(f"inertia[{at}]" for at in TENSOR)]
    else:
        suffixes = [*(f"origin[{k}]" for k in range(3)), *(f"rotation[{k}]" for k in range(len(part.origin.rotations)))]
    if isinstance(part, Joint):
        for name in part.type.parameters:
            value = getattr(part.type, name)
            suffixes += [f"{name}[{k}]" for k in range(len(value))] if isinstance(value, tuple) else [name]
        suffixes += [f"{name}[{k}]" for name in PER_VELOCITY for k in range(part.type.nv)]
        suffixes += ["multiplier", "offset"] if part.mimic else []
    return dict(zip(suffixes, _values(part), strict=True))


def _values(part: Any) -> list[Number]:
    """Numbers of one part, in the order of its suffixes."""
    if isinstance(part, Body):
        return [part.mass, *part.com, *part.inertia]
    found = [*part.origin.xyz, *(angle for _, angle in part.origin.rotations)]
    if isinstance(part, Joint):
        for name in part.type.parameters:
            value = getattr(part.type, name)
            found += value if isinstance(value, tuple) else (value,)
        for name in PER_VELOCITY:
            found += getattr(part, name)
        if part.mimic:
            found += part.mimic.multiplier, part.mimic.offset
    return found


def _with(part: Any, changes: Mapping[str, Number]) -> Any:
    """One part with some of its numbers replaced."""
    slots = _slots(part) | dict(changes)

    def row(name: str, length: int) -> tuple[Number, ...]:
        return tuple(slots[f"{name}[{k}]"] for k in range(length))

    if isinstance(part, Body):
        return replace(part, mass=slots["mass"], com=row("com", 3),
                       inertia=tuple(slots[f"inertia[{at}]"] for at in TENSOR))
    turns = tuple((axis, slots[f"rotation[{k}]"]) for k, (axis, _) in enumerate(part.origin.rotations))
    origin = replace(part.origin, xyz=row("origin", 3), rotations=turns)
    if isinstance(part, Frame):
        return replace(part, origin=origin)
    assert isinstance(part, Joint)
    own: dict[str, Any] = {name: row(name, 3) if isinstance(getattr(part.type, name), tuple) else slots[name]
                           for name in part.type.parameters}
    kind: Any = part.type
    per_velocity: dict[str, Any] = {name: row(name, part.type.nv) for name in PER_VELOCITY}
    mimic = part.mimic and replace(part.mimic, multiplier=slots["multiplier"], offset=slots["offset"])
    return replace(part, type=replace(kind, **own) if own else kind, origin=origin, mimic=mimic, **per_velocity)
