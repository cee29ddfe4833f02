"""The package's own file format, TOML, read and written: docs/toml_format.md describes it.

It says everything a mechanism has, except joints and constraints given by Python functions. Decimals stay exact and
keep their text; a number may also be arithmetic in quotes: "pi/2", "2*l1".
"""

from __future__ import annotations

import json
import math
import re
from collections import Counter
from collections.abc import (
    Container,
    Iterator,
)
from typing import Any

from dalembert.errors import ReadError
from dalembert.model.elastic.flexible_drives import (
    FlexibleDrive,
    behind,
)
from dalembert.model.findings import Finding
from dalembert.model.friction_laws import Stribeck
from dalembert.model.joints import JOINT_TYPES
from dalembert.model.linkage import GRAVITY
from dalembert.model.mechanism import Mechanism
from dalembert.model.numbers import (
    Literal,
    Number,
)
from dalembert.model.parts import (
    PER_VELOCITY,
    Body,
    Joint,
    Limits,
    Mimic,
)
from dalembert.model.paths import numbers
from dalembert.readers.actuator_tables import (
    actuator_entries,
    actuators_of,
    joints_with_rotors,
)
from dalembert.readers.arithmetic import number_text
from dalembert.readers.beam_tables import (
    beam_entries,
    elastic_body,
    modes_entry,
)
from dalembert.readers.constraint_tables import (
    constraint_entries,
    constraints_of,
)
from dalembert.readers.formats import ReadingOptions
from dalembert.readers.mass_properties import tensor_entries
from dalembert.readers.read_faults import ReadFaults
from dalembert.readers.toml_tables import (
    PARTS,
    Table,
    document_of,
    frame_of,
    joint_type_of,
    origin_entry,
    origin_under,
    unless,
)
from dalembert.readers.transmission_tables import (
    drive_of,
    transmission_entry,
    transmission_of,
)
from dalembert.readers.visual_tables import (
    visual_entries,
    visuals_of,
)
from dalembert.spatial.angles import SNAP

MOMENTS = ("xx", "xy", "yy", "xz", "yz", "zz")  # the order of Body.inertia
BOUNDS = ("lower", "upper", "velocity", "effort")
JOINT_KEYS = (
    "name",
    "type",
    "parent",
    "child",
    "origin",
    "limits",
    *PER_VELOCITY,
    "friction",
    "mimic",
    "transmission",
)
FRICTION_LAWS = ("coulomb", "stribeck")
DEFAULTS = {name: 1 if name == "gear_ratio" else 0 for name in PER_VELOCITY}


# --- reading --------------------------------------------------------------------------------------------------------


def read(data: bytes, file: str, options: ReadingOptions) -> Mechanism:
    """Mechanism of a TOML file; see `formats.Reader`."""
    if options.angle_tolerance != SNAP:
        raise ReadError(
            "angle_tolerance= is for URDF, MJCF and SDF files; in TOML write multiples of pi as "
            '"pi/2".',
            file,
        )
    mechanism = read_toml(data, file)
    return mechanism.independent() if options.mimic == "independent" else mechanism


def read_toml(data: bytes | str, file: str = "") -> Mechanism:
    """Mechanism of a TOML file; symbols belong to the current graph.

    Parameters
    ----------
    data : bytes or str
        The file's content; bytes are UTF-8.
    file : str
        Name for messages.

    Raises
    ------
    ReadError, ModelError
        The file is not TOML, not in this format, or no sound mechanism; line and fix are named.
    """
    document = document_of(data, file)
    document.allow("name", "decimals", "gravity", "actuated", *PARTS)
    faults = ReadFaults()
    bodies = tuple(faults.each(_body, document.tables("body")))
    declared = actuators_of(document)
    joints, rotors, drives = _joints(document, joints_with_rotors(declared), faults)
    faults.tell(bodies)
    frames = tuple(map(frame_of, document.tables("frame")))
    found = constraints_of(document, joints)
    return Mechanism(
        document.text("name", "mechanism"),
        (*bodies, *rotors),
        joints,
        frames,
        document.vector("gravity", 3, GRAVITY),
        file=file,
        remarks=tuple(_without_inertia(document, bodies)),
        constraints=found.constraints,
        principles=found.principles,
        actuated=found.actuated,
        actuators=behind(declared, drives),
    )


def _body(table: Table) -> Body:
    name = table.name("body")
    table.allow("name", "mass", "com", "inertia", "modes", "elements", "beam", "visual")
    body = Body(
        name,
        table.number("mass", 0),
        table.vector("com", 3, (0, 0, 0)),
        _tensor(table),
        table.source,
        visuals=visuals_of(table),
    )
    return elastic_body(table, body)


def _without_inertia(document: Table, bodies: Any) -> Iterator[Finding]:
    """Bodies with a mass and without the key `inertia`: a point mass says so by moments of 0."""
    for table, body in zip(document.tables("body"), bodies, strict=True):
        if "inertia" not in table.data and body.mass != 0:
            yield Finding(
                "error",
                f"body {body.name!r}",
                "it has a mass and no inertia;",
                "its moments are taken as 0. Give inertia = { xx = ..., yy = ..., zz = ... }, with 0 "
                "for each of a point mass.",
                table.source,
            )


def _tensor(table: Table) -> tuple[Number, ...]:
    """Inertia about the centre of mass, as a table of moments and products or as a 3x3 matrix."""
    value = table.data.get("inertia", {"xx": 0, "yy": 0, "zz": 0})
    if isinstance(value, dict):
        moments = table.table("inertia", value)
        moments.allow(*MOMENTS)
        return tuple(moments.number(key, 0 if key[0] != key[1] else None) for key in MOMENTS)
    rows = table.checked_list(
        "inertia", value, 3, "a table { xx = ..., yy = ..., zz = ... } or a 3x3 matrix"
    )
    matrix = [table.as_numbers("inertia", row, 3, "3 rows of 3 numbers") for row in rows]
    try:
        return tensor_entries(matrix, "inertia")
    except ValueError as error:
        raise table.error(str(error), "inertia") from None


def _joints(
    document: Table, with_rotors: Container[str], faults: ReadFaults
) -> tuple[tuple[Joint, ...], list[Body], dict[str, FlexibleDrive]]:
    """Joints of a file, motors that transmissions leave unsaid after all others, their rotors, and
    the drives that are made so.
    """

    def joint_and_drive(table: Table) -> tuple[Joint, FlexibleDrive | None]:
        """A joint, and the flexible drive that it is part of."""
        joint = _joint(table)
        drive = drive_of(table, joint, joint.name in with_rotors)
        return (joint if drive is None else drive.joint), drive

    made = faults.each(joint_and_drive, document.tables("joint"))
    joints = [joint for joint, _ in made]
    drives = {joint.name: drive for joint, drive in made if drive is not None}
    motors = (drive.motor for drive in drives.values())
    return (*joints, *motors), [drive.rotor for drive in drives.values()], drives


def _joint(table: Table) -> Joint:
    name = table.name("joint")
    joint_class = JOINT_TYPES[table.choice("type", tuple(JOINT_TYPES))]
    table.allow(*JOINT_KEYS, *joint_class.parameters, of=f"a {joint_class.name} joint")
    joint_type = joint_type_of(table)
    per_velocity: dict[str, Any] = {
        key: table.per_velocity(key, joint_type.nv, default) for key, default in DEFAULTS.items()
    }
    return Joint(
        name,
        joint_type,
        table.text("parent"),
        table.text("child"),
        origin_under(table),
        _limits(table, joint_type.nv),
        **per_velocity,
        mimic=_mimic(table),
        source=table.source,
        friction=_friction_law(table),
        transmission=transmission_of(table),
    )


def _mimic(table: Table) -> Mimic | None:
    if "mimic" not in table.data:
        return None
    leader = table.table("mimic")
    leader.allow("joint", "multiplier", "offset")
    return Mimic(leader.text("joint"), leader.number("multiplier", 1), leader.number("offset", 0))


def _friction_law(table: Table) -> Stribeck | None:
    """Law of dry friction, if it is another than Coulomb's."""
    if "friction" not in table.data:
        return None
    friction = table.table("friction")
    if friction.choice("law", FRICTION_LAWS) == "coulomb":
        friction.allow("law", of="Coulomb's law, whose force is the joint's key coulomb")
        return None
    friction.allow("law", *Stribeck._fields)
    return Stribeck(friction.number("static"), friction.number("velocity", 0))


def _limits(table: Table, nv: int) -> Limits:
    if "limits" not in table.data:
        return Limits()
    limits = table.table("limits")
    limits.allow(*BOUNDS)
    return Limits(
        *(
            limits.per_velocity(key, nv, angle=True) if key in limits.data else None
            for key in BOUNDS
        )
    )


# --- writing --------------------------------------------------------------------------------------------------------

BARE_KEY = re.compile(r"[A-Za-z0-9_-]+")
BARE_INTEGER = re.compile(r"0|-?[1-9][0-9]*")
BARE_DECIMAL = re.compile(r"[+-]?(?:0|[1-9][0-9]*)(?:\.[0-9]+(?:[eE][+-]?[0-9]+)?|[eE][+-]?[0-9]+)")


def write_toml(mechanism: Mechanism) -> str:
    """The mechanism as TOML: `read_toml` gives an equal one back, in the graph of its symbols.

    What equals its default is left out. Where most of the numbers are floats, not decimals, the
    file says decimals = "double" and holds them as they are.

    Raises
    ------
    ReadError
        A joint is given by a Python function, or a number cannot be written.
    """
    classes = Counter(type(x) for _, x in numbers(mechanism))
    doubles = classes[float] > classes[Literal]
    decimals = {"decimals": "double"} if doubles else {}
    head = {"name": mechanism.name, **decimals, "gravity": mechanism.gravity}
    if mechanism.actuated is not None:
        head["actuated"] = mechanism.actuated
    tables = [
        ("", head),
        *(table for b in mechanism.bodies for table in _body_tables(b)),
        *(("[[joint]]\n", _joint_entries(j)) for j in mechanism.joints),
        *(
            ("[[frame]]\n", {"name": f.name, "body": f.body, **origin_entry(f.origin)})
            for f in mechanism.frames
        ),
        *(
            ("[[constraint]]\n", constraint_entries(constraint, principle))
            for constraint, principle in zip(
                mechanism.constraints, mechanism.principles, strict=True
            )
        ),
        *(("[[actuator]]\n", actuator_entries(a)) for a in mechanism.actuators),
    ]
    try:
        return "\n".join(
            header
            + "".join(f"{key} = {_value(value, doubles)}\n" for key, value in entries.items())
            for header, entries in tables
        )
    except ValueError as error:
        raise ReadError(f"mechanism {mechanism.name!r} cannot be written: {error}") from None


def _body_tables(body: Body) -> Iterator[tuple[str, dict[str, Any]]]:
    """The table of a body, then the tables of its beam and its shapes."""
    yield "[[body]]\n", _body_entries(body)
    if body.beam is not None:
        yield "[body.beam]\n", beam_entries(body)
    for visual in body.visuals:
        yield "[[body.visual]]\n", visual_entries(visual)


def _body_entries(body: Body) -> dict[str, Any]:
    moments = {
        key: x for key, x in zip(MOMENTS, body.inertia, strict=True) if key[0] == key[1] or x != 0
    }
    return (
        {"name": body.name}
        | unless(0, mass=body.mass)
        | unless((0, 0, 0), com=body.com)
        | ({"inertia": moments} if body.inertia != (0,) * 6 or body.mass != 0 else {})
        | modes_entry(body)
    )


def _joint_entries(joint: Joint) -> dict[str, Any]:
    joint_type = joint.type
    if JOINT_TYPES.get(joint_type.name) is not type(joint_type):
        raise ReadError(
            f"joint {joint.name!r} is given by a Python function and cannot be written. Keep it in "
            f"Python, or use one of the types {', '.join(JOINT_TYPES)}."
        )
    entries: dict[str, Any] = {
        "name": joint.name,
        "type": joint_type.name,
        "parent": joint.parent,
        "child": joint.child,
    }
    entries |= {key: getattr(joint_type, key) for key in joint_type.parameters}
    entries |= origin_entry(joint.origin)
    bounds = {key: getattr(joint.limits, key) for key in BOUNDS}
    bounds = {key: _short(bound) for key, bound in bounds.items() if bound is not None}
    entries |= unless({}, limits=bounds)
    for key, default in DEFAULTS.items():
        values = getattr(joint, key)
        if values != (default,) * len(values):
            entries[key] = _short(values)
    if joint.friction is not None:
        entries["friction"] = {"law": "stribeck", **joint.friction._asdict()}
    if joint.mimic is not None:
        entries["mimic"] = _mimic_entry(joint.mimic)
    if joint.transmission is not None:
        entries["transmission"] = transmission_entry(joint.transmission)
    return entries


def _mimic_entry(mimic: Mimic) -> dict[str, Any]:
    return (
        {"joint": mimic.joint}
        | unless(1, multiplier=mimic.multiplier)
        | unless(0, offset=mimic.offset)
    )


def _short(values: tuple[Number, ...]) -> Any:
    """The number that all entries have in common, or all of them."""
    return values[0] if values and all(x == values[0] for x in values) else values


def _key(key: str) -> str:
    """A key in TOML, in quotes where it is no bare one."""
    return key if BARE_KEY.fullmatch(key) else _value(key, False)


def _value(value: Any, doubles: bool) -> str:
    """A value in TOML; numbers in quotes where TOML, or what its decimals stand for here, has no
    such number.
    """
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
    if isinstance(value, (tuple, list)):
        return f"[{', '.join(_value(x, doubles) for x in value)}]"
    if isinstance(value, dict):
        entries = (f"{_key(key)} = {_value(x, doubles)}" for key, x in value.items())
        return "{ " + ", ".join(entries) + " }"
    text = (
        repr(value)
        if doubles and isinstance(value, float) and math.isfinite(value)
        else number_text(value)
    )
    bare = (
        BARE_INTEGER.fullmatch(text)
        or (not doubles or isinstance(value, float))
        and BARE_DECIMAL.fullmatch(text)
    )
    return text if bare else _value(text, doubles)
