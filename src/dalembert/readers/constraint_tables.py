"""Constraints in TOML files: tables [[constraint]], read and written by kind.

A new kind is a row of KINDS: the class of `da.constraints`, and how each field is read and written.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from dalembert import constraints
from dalembert.errors import ModelError, ReadError
from dalembert.model.constraint import PRINCIPLES, Constraint, FramePlace
from dalembert.model.joints import JOINT_TYPES, JointType
from dalembert.model.mechanism import Mechanism
from dalembert.model.numbers import Number
from dalembert.model.parts import Frame, Joint
from dalembert.readers.toml_tables import (
    ORIGIN_KEYS,
    Table,
    document_of,
    frame_of,
    joint_type_of,
    origin_entries,
    origin_of,
    unless,
)

EVERY = ("name", "kind", "principle")  # keys of every constraint
Entries = dict[str, Any]


class FieldForm(NamedTuple):
    """How a field of a constraint stands in its table.

    keys : the keys that it takes there
    read : the value from a table
    written : the entries of a value
    """

    keys: Callable[[Table], tuple[str, ...]]
    read: Callable[[Table], Any]
    written: Callable[[Any], Entries]


class ConstraintKind(NamedTuple):
    """A kind of table: the class of its constraint, and the fields beside the name.

    arguments : fields of the class, of the values that the table has, where these are others
    """

    constraint: str
    fields: Mapping[str, FieldForm]
    arguments: Callable[..., dict[str, Any]] | None = None

    def read(self, name: str, kind: str, table: Table) -> Constraint:
        """The constraint of a table."""
        keys = [key for form in self.fields.values() for key in form.keys(table)]
        table.allow(*EVERY, *keys, of=f"a {kind}")
        values = {field: form.read(table) for field, form in self.fields.items()}
        if self.arguments is not None:
            values = self.arguments(**values)
        made = getattr(constraints, self.constraint)
        try:
            return made(name, **values, source=table.source)  # type: ignore[no-any-return]
        except (TypeError, ValueError, ModelError) as error:
            raise table.error(f"{error}") from None

    def written(self, constraint: Constraint) -> Entries:
        """Entries of a constraint of this kind."""
        entries: Entries = {}
        for field, form in self.fields.items():
            entries |= form.written(getattr(constraint, field))
        return entries


# --- fields ---------------------------------------------------------------------------------------


def _keyed(key: str, read: Callable[[Table], Any]) -> FieldForm:
    """A field that stands as it is under one key."""
    return FieldForm(lambda table: (key,), read, lambda value: {key: value})


def _number(key: str, default: Number | None = None) -> FieldForm:
    """A number; left out where it is the default."""
    form = _keyed(key, lambda table: table.number(key, default))
    return form._replace(written=lambda value: unless(default, **{key: value}))


def _vector(key: str) -> FieldForm:
    """Three numbers."""
    return _keyed(key, lambda table: table.vector(key, 3))


def _joint(key: str) -> FieldForm:
    """The name of a joint."""
    return _keyed(key, lambda table: table.text(key))


def _frame(key: str) -> FieldForm:
    """A frame: its name, or a body with an origin on it."""

    def read(table: Table) -> FramePlace:
        """The place under the key."""
        value = table.required(key)
        if isinstance(value, str):
            return FramePlace(table.text(key))
        place = table.table(key, value, "{ body = ..., xyz = [...] } or the name of a frame")
        place.allow("body", *ORIGIN_KEYS)
        return FramePlace(place.text("body"), origin_of(place))

    def written(place: FramePlace) -> Entries:
        """The name alone where the origin is that of the frame."""
        origin = origin_entries(place.origin)
        return {key: {"body": place.body, **origin} if origin else place.body}

    return _keyed(key, read)._replace(written=written)


def _joint_type() -> FieldForm:
    """Type of the joint that closes a loop, with its axes."""

    def keys(table: Table) -> tuple[str, ...]:
        """Keys of the type."""
        return ("type", *JOINT_TYPES[table.choice("type", tuple(JOINT_TYPES))].parameters)

    def written(joint_type: JointType) -> Entries:
        """Name and parameters."""
        if JOINT_TYPES.get(joint_type.name) is not type(joint_type):
            raise ValueError("its joint type is given by a Python function")
        values = {name: getattr(joint_type, name) for name in joint_type.parameters}
        return {"type": joint_type.name, **values}

    return FieldForm(keys, joint_type_of, written)


KINDS: dict[str, ConstraintKind] = {
    "closure": ConstraintKind(
        "Closure",
        {"type": _joint_type(), "first": _frame("first"), "second": _frame("second")},
    ),
}


# --- reading --------------------------------------------------------------------------------------


class ConstraintTables(NamedTuple):
    """Constraints of a file with their principles, and the driven joints if it names them."""

    constraints: tuple[Constraint, ...]
    principles: tuple[str, ...]
    actuated: tuple[str, ...] | None

    def put_on(self, mechanism: Mechanism) -> Mechanism:
        """The mechanism with them."""
        chosen = dict(zip((c.name for c in self.constraints), self.principles, strict=True))
        return mechanism.constrained(*self.constraints, principle=chosen, actuated=self.actuated)


def constraints_of(document: Table, joints: Sequence[Joint]) -> ConstraintTables:
    """Constraints of a file about a mechanism with these joints."""
    tables = [*document.tables("constraint")]
    read = tuple(map(_constraint, tables))
    principles = tuple(table.choice("principle", PRINCIPLES, PRINCIPLES[0]) for table in tables)
    actuated = None
    if "actuated" in document.data:
        names = document.checked_list(
            "actuated", document.data["actuated"], None, "names of joints"
        )
        known = tuple(joint.name for joint in joints)
        actuated = tuple(document.as_choice("actuated", name, known) for name in names)
    return ConstraintTables(read, principles, actuated)


def _constraint(table: Table) -> Constraint:
    name = table.name("constraint")
    kind = table.choice("kind", tuple(KINDS))
    return KINDS[kind].read(name, kind, table)


def with_constraints(mechanism: Mechanism, data: bytes, file: str) -> Mechanism:
    """A mechanism with the frames, constraints and driven joints of a TOML file.

    Raises
    ------
    ReadError, ModelError
        The file is not TOML, or says something else; a frame or joint is not there.
    """
    document = document_of(data, file)
    document.allow("decimals", "actuated", "frame", "constraint", of="a file of constraints")
    found = constraints_of(document, mechanism.joints)
    frames: list[Frame] = [frame_of(table) for table in document.tables("frame")]
    return found.put_on(replace(mechanism, frames=(*mechanism.frames, *frames)))


# --- writing --------------------------------------------------------------------------------------


def constraint_entries(constraint: Constraint, principle: str) -> Entries:
    """Entries of the table of a constraint.

    Raises
    ------
    ReadError
        A function of Python is part of it.
    """
    for kind, form in KINDS.items():
        is_of_kind = type(constraint) is getattr(constraints, form.constraint)
        if form.arguments is None and is_of_kind and not constraint.has_functions:
            head = {"name": constraint.name, "kind": kind}
            named = unless(PRINCIPLES[0], principle=principle)
            return head | named | form.written(constraint)
    raise ReadError(
        f"constraint {constraint.name!r} is given by a Python function and cannot be written. Keep "
        f"it in Python, or use one of the kinds {', '.join(KINDS)}."
    )
