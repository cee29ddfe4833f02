"""Every number of a mechanism by its path: 'hand.mass', 'hand.com[0]', 'hand.inertia[0,1]',
'elbow.origin[2]', ...

Of a body: mass, com[k], inertia[i,j]. Of a joint: origin[k] and rotation[k] (translation, and
angles of its constant rotations in their order), axis[k], pitch, and viscous, coulomb,
rotor_inertia, gear_ratio, stiffness, rest with [k] where the joint has several velocities;
multiplier and offset of a follower; static_ratio and stribeck_velocity of a law of friction. Of a
frame: origin[k], rotation[k]. Of the mechanism:
gravity[k].
"""

from __future__ import annotations

import re
from collections.abc import (
    Iterator,
    Mapping,
    Sequence,
)
from dataclasses import replace
from typing import (
    Any,
    TypeVar,
)

from dalembert.errors import (
    ParameterError,
    UnknownNameError,
)
from dalembert.expr import (
    Expr,
    free_symbols,
    import_nodes,
    substitute,
    symbol,
)
from dalembert.model.linkage import Linkage
from dalembert.model.numbered import (
    Part,
    indexed,
)
from dalembert.model.numbers import (
    Number,
    checked,
    checked_vector,
    exact_text,
    is_symbolic,
)
from dalembert.spatial.angles import PiMultiple

L = TypeVar("L", bound=Linkage)

GRAVITY = {path: k for k, path in enumerate(indexed("gravity", 3))}
AXIS = re.compile(r"axis(\[\d\])?\Z")


def numbers(mechanism: Linkage) -> Iterator[tuple[str, Number]]:
    """All (path, number) of a mechanism."""
    yield from zip(GRAVITY, mechanism.gravity, strict=True)
    for part in mechanism.parts:
        for name, value in part.numbers().items():
            yield f"{part.name}.{name}", value


def canonical_text(mechanism: Linkage) -> str | None:
    """All that the equations of a mechanism depend on, as text; None if a part of it has no
    identity.
    """
    if not type(mechanism).__module__.startswith("dalembert."):  # a subclass may do anything
        return None
    lines = [part.identity() for part in mechanism.parts]
    if None in lines:
        return None
    driven = repr((mechanism.principles, mechanism.actuated))
    head = [repr(mechanism.name), exact_text(mechanism.gravity), driven]
    return "\n".join([*head, *filter(None, lines)])


def number_at(mechanism: Linkage, path: str) -> Number:
    """The number at a path; a symbol of the mechanism by its name."""
    if isinstance(path, str) and path in GRAVITY:
        return mechanism.gravity[GRAVITY[path]]
    if _is_symbol(mechanism, path):
        return next(
            s
            for x in mechanism.values()
            if isinstance(x, Expr)
            for s in free_symbols(x)
            if s.name == path
        )
    part, name = _part_of(mechanism, path)
    return part.numbers()[name]


def check_inputs(mechanism: Linkage, paths: Sequence[str], of: str) -> None:
    """See that the numbers at some paths can be inputs of a simulation or of compiled code.

    Raises
    ------
    UnknownNameError, ParameterError
        There is no number of a path; it is a number of an axis, which is scaled to length 1, as
        symbols are not.

    Examples
    --------
    >>> import dalembert as da
    >>> check_inputs(da.planar_chain(1), ["link1.mass"], "a simulation")
    """
    for path in paths:
        if not is_symbolic(number_at(mechanism, path)) and AXIS.search(path):
            raise ParameterError(
                f"{path} cannot be an input of {of}, as axes are scaled to length 1: use "
                "mechanism.replace.",
                tuple(paths),
            )


def replaced(mechanism: L, values: Mapping[Any, Number] | None, gravity: Any = None) -> L:
    """The mechanism with values for its symbols, then with the numbers at some paths and gravity
    replaced.
    """
    values = {} if values is None else values
    if not isinstance(values, Mapping):
        raise TypeError(
            f"{values!r} ({type(values).__name__}) has no numbers by path: expected {{'hand.mass': "
            f"0.5, ...}}."
        )
    numbers = {
        _key(key): checked(value, str(_key(key)), angle=True) for key, value in values.items()
    }
    if len(numbers) < len(values):
        raise ValueError("a symbol has two values, by its name and by itself.")
    of_symbols = {key: value for key, value in numbers.items() if _is_symbol(mechanism, key)}
    if gravity is not None:
        entries = dict(zip(GRAVITY, checked_vector(gravity, 3, "gravity"), strict=True))
        if twice := [path for path in entries if path in numbers]:
            raise ValueError(f"{twice[0]} is replaced twice, by its path and by gravity=.")
        numbers |= entries
    changed = _evaluated(mechanism, of_symbols) if of_symbols else mechanism
    return _with_numbers(
        changed, {path: x for path, x in numbers.items() if path not in of_symbols}
    )


def _key(key: Any) -> Any:
    """A path or the name of a symbol, which may be given by itself."""
    return key.name if isinstance(key, Expr) and key.op == "symbol" else key


def _is_symbol(mechanism: Linkage, key: Any) -> bool:
    """Whether a key is no path, but the name of a symbol."""
    return isinstance(key, str) and key in mechanism.symbols and _found(mechanism, key) is None


def _evaluated(mechanism: L, values: Mapping[str, Number]) -> L:
    """The mechanism with values for some of its symbols wherever they stand."""
    graph = next((x.graph for x in values.values() if isinstance(x, Expr)), None)

    def valued(path: str, x: Number) -> Number:
        """A number with the symbols' values in it."""
        if not isinstance(x, Expr) or values.keys().isdisjoint(s.name for s in free_symbols(x)):
            return x
        if x.op == "symbol":
            return values[x.name]
        moved = x if graph is None else import_nodes(x, graph)
        pairs = {
            symbol(name, moved.graph): float(v) if isinstance(v, PiMultiple) else v
            for name, v in values.items()
        }
        try:
            result = substitute(moved, pairs)
        except ArithmeticError as error:
            shown = ", ".join(f"{name} = {v}" for name, v in values.items())
            raise ValueError(f"{path} = {x} has no value at {shown}: {error}") from None
        return result.value if result.op in ("exact", "float") else result

    def changed(part: Part) -> Part:
        """A part with the symbols' values in its numbers."""
        numbers = part.numbers()
        new = {
            name: y
            for name, x in numbers.items()
            if (y := valued(f"{part.name}.{name}", x)) is not x
        }
        return part.with_numbers(new) if new else part

    fields = {field: tuple(map(changed, getattr(mechanism, field))) for field in mechanism.PARTS}
    gravity = tuple(valued(path, x) for path, x in zip(GRAVITY, mechanism.gravity, strict=True))
    return replace(mechanism, gravity=gravity, **fields)  # type: ignore[arg-type]


def _with_numbers(mechanism: L, values: Mapping[str, Number]) -> L:
    """The mechanism with other numbers at some paths."""
    gravity = list(mechanism.gravity)
    changes: dict[
        int, dict[str, Number]
    ] = {}  # by the part's id: parts of different kinds may have one name
    for path, value in values.items():
        if path in GRAVITY:
            gravity[GRAVITY[path]] = value
            continue
        part, name = _part_of(mechanism, path)
        of_part = changes.setdefault(id(part), {})
        if name in of_part:
            raise ValueError(f"{path} names a number that is already replaced, {part.name}.{name}.")
        of_part[name] = value
    fields = {
        field: tuple(
            p.with_numbers(changes[id(p)]) if id(p) in changes else p
            for p in getattr(mechanism, field)
        )
        for field in mechanism.PARTS
    }
    return replace(mechanism, gravity=tuple(gravity), **fields)  # type: ignore[arg-type]


def _part_of(mechanism: Linkage, path: Any) -> tuple[Part, str]:
    """Part and the name of its number that a path names."""
    if number := _found(mechanism, path):
        return number
    name, _, suffix = str(path).rpartition(".")
    if parts := mechanism.parts_named(name):
        raise UnknownNameError(
            f"number of {name!r}", suffix, tuple(s for p in parts for s in p.numbers())
        )
    raise UnknownNameError("path", path, (*mechanism.symbols, *(p for p, _ in numbers(mechanism))))


def _found(mechanism: Linkage, path: Any) -> tuple[Part, str] | None:
    """The same, or None; inertia[1,0] is inertia[0,1], viscous is viscous[0] of a joint with one
    velocity.
    """
    name, _, suffix = str(path).rpartition(".")
    suffix = suffix.replace(" ", "")
    if match := re.fullmatch(r"(\w+)\[(\d),(\d)\]", suffix):
        suffix = "{}[{},{}]".format(match[1], *sorted(match.groups()[1:]))
    for part in mechanism.parts_named(name):
        numbers = part.numbers()
        for candidate in (suffix, f"{suffix}[0]"):
            if candidate in numbers and (candidate == suffix or f"{suffix}[1]" not in numbers):
                return part, candidate
    return None
