"""Constraints in TOML files: tables [[constraint]], read and written by kind.

A new kind is a row of KINDS: the class of `da.constraints`, and how each field is read and written.
"""

from __future__ import annotations

from collections.abc import (
    Callable,
    Mapping,
    Sequence,
)
from dataclasses import replace
from typing import (
    Any,
    NamedTuple,
)

from dalembert import constraints
from dalembert.errors import ReadError
from dalembert.generators.splines import ENDS
from dalembert.model.constraint import (
    PRINCIPLES,
    Constraint,
    FramePlace,
    principles_of,
)
from dalembert.model.elastic.elastic_declarations import (
    ElasticDeclaration,
    declared,
)
from dalembert.model.elastic.flexible_drives import (
    FlexibleDrive,
    put_in,
)
from dalembert.model.joints import (
    JOINT_TYPES,
    JointType,
)
from dalembert.model.mechanism import Mechanism
from dalembert.model.numbers import (
    Number,
    as_float,
)
from dalembert.model.parts import (
    Frame,
    Joint,
)
from dalembert.readers.actuator_tables import actuators_of
from dalembert.readers.beam_tables import declaration_of
from dalembert.readers.program_tables import (
    output_entry,
    output_of,
    program_entries,
    program_of,
)
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
from dalembert.readers.transmission_tables import declared_drive

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

    maker : method of the class that makes it of these fields, where these are others than its own
    """

    constraint: str
    fields: Mapping[str, FieldForm]
    maker: str = ""

    def read(self, name: str, kind: str, table: Table) -> Constraint:
        """The constraint of a table."""
        keys = [key for form in self.fields.values() for key in form.keys(table)]
        table.allow(*EVERY, *keys, of=f"a {kind}")
        values = {field: form.read(table) for field, form in self.fields.items()}
        kind_class = getattr(constraints, self.constraint)
        make = getattr(kind_class, self.maker) if self.maker else kind_class
        constraint = table.made("", make, name, **values)
        return replace(constraint, source=table.source)  # type: ignore[no-any-return]

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
        values = {name: getattr(joint_type, name) for name in joint_type.parameters}
        return {"type": joint_type.name, **values}

    return FieldForm(keys, joint_type_of, written)


def _factors() -> FieldForm:
    """Factors of the coordinates of joints."""

    def read(table: Table) -> dict[str, Number]:
        """Number by joint."""
        factors = table.table("factors", table.required("factors"))
        return {joint: factors.number(joint) for joint in factors.data}

    return _keyed("factors", read)._replace(written=lambda value: {"factors": dict(value)})


def _unit() -> FieldForm:
    """Unit of a sum of coordinates, where it is told."""
    form = _keyed("unit", lambda table: table.text("unit", "") if "unit" in table.data else "")
    return form._replace(written=lambda value: unless("", unit=value))


def _radius() -> FieldForm:
    """Radius of a disc, or semi-axes of an ellipsoid."""

    def read(table: Table) -> Any:
        """A number or three."""
        if isinstance(table.required("radius"), list):
            return table.vector("radius", 3)
        return table.number("radius")

    def written(axes: Any) -> Entries:
        """A single number for a thin disc."""
        first, second, third = axes
        return {"radius": first if first == second and third == 0 else axes}

    return _keyed("radius", read)._replace(written=written)


def _surface() -> FieldForm:
    """A plane by a point and its normal."""

    def read(table: Table) -> Any:
        """Point and normal."""
        plane = table.table("surface", table.required("surface"))
        plane.allow("point", "normal")
        return plane.vector("point", 3, (0, 0, 0)), plane.vector("normal", 3)

    def written(surface: Any) -> Entries:
        """Point, if it is not the origin, and normal."""
        if surface.has_functions:
            raise ValueError("its surface is given by a Python function")
        point = unless((0, 0, 0), point=surface.point)
        return {"surface": {**point, "normal": surface.normal}}

    return _keyed("surface", read)._replace(written=written)


def _profile() -> FieldForm:
    """Profile of a cam: a table of points, or coefficients of a polynomial."""
    keys = ("points", "ends", "polynomial")

    def read(table: Table) -> Any:
        """The profile of the keys that are there."""
        profile = table.table("profile", table.required("profile"))
        profile.allow(*keys)
        if "polynomial" in profile.data:
            profile.allow("polynomial", of="a profile with a polynomial")
            given = profile.checked_list("polynomial", profile.data["polynomial"], None, "numbers")
            coefficients = [profile.as_number("polynomial", x) for x in given]
            return profile.made("polynomial", constraints.ProfilePolynomial, coefficients)
        expected = "a list of pairs [driver, follower]"
        given = profile.checked_list("points", profile.required("points"), None, expected)
        points = [profile.as_numbers("points", pair, 2, expected) for pair in given]
        ends = profile.choice("ends", ENDS, "natural")
        return profile.made("points", constraints.ProfileTable, points, ends)

    def written(profile: Any) -> Entries:
        """Entries by the kind of profile."""
        if isinstance(profile, constraints.ProfilePolynomial):
            return {"profile": {"polynomial": profile.coefficients}}
        if isinstance(profile, constraints.ProfileTable):
            ends = unless("natural", ends=profile.ends)
            return {"profile": {"points": profile.points, **ends}}
        raise ValueError("its profile is given by a Python function")

    return _keyed("profile", read)._replace(written=written)


def _program() -> FieldForm:
    """The generator of a program."""
    form = _keyed("program", program_of)
    return form._replace(written=lambda value: {"program": program_entries(value)})


def _output() -> FieldForm:
    """The output that a program leads."""
    form = _keyed("output", output_of)
    return form._replace(written=lambda value: {"output": output_entry(value)})


def _actuators() -> FieldForm:
    """Names of joints that act."""

    def read(table: Table) -> tuple[str, ...]:
        """The names."""
        expected = "names of joints"
        names = table.checked_list("actuators", table.required("actuators"), None, expected)
        return tuple(table.as_text("actuators", name) for name in names)

    return _keyed("actuators", read)._replace(written=lambda value: {"actuators": list(value)})


def _state() -> FieldForm:
    """State of a generator at the start, where it is told."""

    def read(table: Table) -> Any:
        """Numbers, or nothing."""
        if "initial" not in table.data:
            return None
        given = table.checked_list("initial", table.data["initial"], None, "numbers")
        return tuple(as_float(table.as_number("initial", x)) for x in given)

    def written(value: Any) -> Entries:
        """Numbers, if there are any."""
        return {} if value is None else {"initial": [float(x) for x in value]}

    return _keyed("initial", read)._replace(written=written)


def _flag(key: str) -> FieldForm:
    """A truth value, false where it is left out."""

    def read(table: Table) -> bool:
        """The value."""
        value = table.data.get(key, False)
        if not isinstance(value, bool):
            raise table.error(f"{key} is {value!r}; expected true or false.", key)
        return value

    return _keyed(key, read)._replace(written=lambda value: unless(False, **{key: value}))


def _pair(maker: str, *keys: str) -> ConstraintKind:
    """A coupling of two joints by one number."""
    first, second, number = keys
    fields = {first: _joint(first), second: _joint(second), number: _number(number)}
    return ConstraintKind("Coupling", {**fields, "offset": _number("offset", 0)}, maker)


KINDS: dict[str, ConstraintKind] = {
    "closure": ConstraintKind(
        "Closure",
        {"type": _joint_type(), "first": _frame("first"), "second": _frame("second")},
    ),
    "distance": ConstraintKind(
        "Distance",
        {"first": _frame("first"), "second": _frame("second"), "length": _number("length")},
    ),
    "coupling": ConstraintKind(
        "Coupling",
        {"factors": _factors(), "offset": _number("offset", 0), "unit": _unit()},
    ),
    "gear": _pair("gear", "driver", "driven", "ratio"),
    "rack": _pair("rack", "pinion", "rack", "radius"),
    "screw": _pair("screw", "turn", "slide", "pitch"),
    "cam": ConstraintKind(
        "Cam",
        {
            "driver": _joint("driver"),
            "follower": _joint("follower"),
            "profile": _profile(),
            "unit": _unit(),
        },
    ),
    "rolling": ConstraintKind(
        "Rolling", {"frame": _frame("frame"), "radius": _radius(), "surface": _surface()}
    ),
    "point_contact": ConstraintKind(
        "PointContact", {"frame": _frame("frame"), "surface": _surface()}
    ),
    "knife": ConstraintKind("Knife", {"frame": _frame("frame"), "axis": _vector("axis")}),
    "servo": ConstraintKind(
        "Servo",
        {
            "output": _output(),
            "program": _program(),
            "actuators": _actuators(),
            "initial": _state(),
            "frequency": _number("frequency"),
            "damping": _number("damping", 1),
            "allow_unstable": _flag("allow_unstable"),
        },
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
    told = [table.choice("principle", PRINCIPLES, PRINCIPLES[0]) for table in tables]
    names = [constraint.name for constraint in read]
    principles = principles_of(read, dict(zip(names, told, strict=True)))
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
    """A mechanism with the elastic bodies, actuators, flexible joints, frames, constraints and driven
    joints of a TOML file.

    Raises
    ------
    ReadError, ModelError
        The file is not TOML, or says something else; a body, frame or joint is not there.
    """
    document = document_of(data, file)
    document.allow(
        "decimals",
        "actuated",
        "body",
        "joint",
        "frame",
        "constraint",
        "actuator",
        of="a file beside a robot file",
    )
    mechanism = declared(mechanism, _declarations(document, mechanism))
    mechanism = mechanism.with_actuators(*actuators_of(document))
    mechanism = put_in(mechanism, _drives(document, mechanism))
    found = constraints_of(document, mechanism.joints)
    frames: list[Frame] = [frame_of(table) for table in document.tables("frame")]
    return found.put_on(replace(mechanism, frames=(*mechanism.frames, *frames)))


def _declarations(document: Table, mechanism: Mechanism) -> dict[str, ElasticDeclaration]:
    """Bodies of a robot file that are declared elastic, each once."""
    bodies = {body.name: body for body in mechanism.bodies}
    declarations: dict[str, ElasticDeclaration] = {}
    for table in document.tables("body"):
        name, declaration = declaration_of(table)
        table.as_choice("name", name, tuple(bodies))
        if name in declarations:
            raise table.error("it is declared twice.", "name")
        table.made("beam", declaration.of, bodies[name])
        declarations[name] = declaration
    return declarations


def _drives(document: Table, mechanism: Mechanism) -> dict[str, FlexibleDrive]:
    """Drives of joints of a robot file that are declared flexible, each once."""
    joints = {joint.name: joint for joint in mechanism.joints}
    drives: dict[str, FlexibleDrive] = {}
    for table in document.tables("joint"):
        drive = declared_drive(table, joints, mechanism.with_rotors)
        if drive.joint.name in drives:
            raise table.error("it is declared twice.", "name")
        drives[drive.joint.name] = drive
    return drives


# --- writing --------------------------------------------------------------------------------------


def constraint_entries(constraint: Constraint, principle: str) -> Entries:
    """Entries of the table of a constraint.

    Raises
    ------
    ReadError
        A function of Python is part of it.
    """
    why = f"a {type(constraint).__name__} has no table"
    for kind, form in KINDS.items():
        is_of_kind = type(constraint) is getattr(constraints, form.constraint)
        if is_of_kind and not form.maker:
            head = {"name": constraint.name, "kind": kind}
            told = PRINCIPLES[0] if constraint.principle else principle
            named = unless(PRINCIPLES[0], principle=told)
            try:
                return head | named | form.written(constraint)
            except ValueError as error:
                why = str(error)
    raise ReadError(
        f"constraint {constraint.name!r} cannot be written: {why}. Keep it in Python, or use one of "
        f"the kinds {', '.join(KINDS)}."
    )
