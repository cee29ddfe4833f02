"""The model in tables: bodies, joints, limits, actuators, elastic links, constraints, frames."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any

import numpy as np

from dalembert.analysis.freedoms import degrees_of_freedom
from dalembert.closed_forms.printing.markup import Markup, element, joined
from dalembert.constraints.closures import Closure
from dalembert.errors import DalembertError
from dalembert.model.mechanism import Mechanism
from dalembert.model.origins import Origin
from dalembert.model.parts import Body, Joint
from dalembert.reports.report_parts import (
    Column,
    Provenance,
    ReportSection,
    is_there,
    note,
    number,
    numbers,
    paragraph,
    table,
)
from dalembert.systems.kinds import system_of

INERTIA = ("Ixx", "Ixy", "Iyy", "Ixz", "Iyz", "Izz")


def model_section(mechanism: Mechanism) -> ReportSection:
    """All parts of the model with their numbers."""
    content = [
        paragraph(
            "Lengths are in metres, angles in radians, masses in kilograms, moments of inertia in "
            "kg m² about the centre of mass in the axes of the body."
        ),
        *_tables(mechanism),
    ]
    read = f"read from {mechanism.file}" if mechanism.file else "as given in Python"
    provenance = Provenance("Numbers of the model", f"{read}; shown with four digits")
    return ReportSection("model", "Model", joined(content, "\n"), (provenance,))


def _tables(m: Mechanism) -> Iterator[Markup]:
    yield _bodies(m)
    yield _joints(m)
    yield from _joint_forces(m)
    if m.actuators:
        yield _actuators(m)
    if m.elastic_bodies:
        yield _elastic_bodies(m)
    if m.constraints:
        yield from _constraints(m)
    if m.frames:
        yield _frames(m)


def _bodies(m: Mechanism) -> Markup:
    moments = [Column(name, partial(_moment, k), True) for k, name in enumerate(INERTIA)]
    columns = [
        Column("body", lambda b: b.name),
        Column("mass", lambda b: number(b.mass), True),
        Column("centre of mass", _centre, True),
        *moments,
    ]
    return table(f"Bodies; the first, {m.bodies[0].name}, is the base", columns, m.bodies)


def _moment(k: int, body: Body) -> str:
    return _unless_zero(body.inertia[k])


def _centre(body: Body) -> str:
    return numbers(body.com) if is_there(body.mass) else ""


def _unless_zero(x: Any) -> str:
    return number(x) if is_there(x) else ""


def _joints(m: Mechanism) -> Markup:
    columns = [
        Column("joint", lambda j: j.name),
        Column("entry of qd", lambda j: _entries(m, j), True),
        Column("type", lambda j: j.type.name),
        Column("from", lambda j: j.parent),
        Column("to", lambda j: j.child),
        Column("axis", _axis),
        Column("origin", lambda j: _place(j.origin), True),
        Column("turned by", lambda j: _turn(j.origin)),
        Column("follows", _leader),
    ]
    return table("Joints, with the placement of each in its parent", columns, m.joints)


def _entries(m: Mechanism, joint: Joint) -> str:
    """Numbers of the joint's entries in qd, counted from 0; of a follower in brackets."""
    if joint.is_fixed:
        return ""
    at = m.entries[joint.name].at_v
    shown = f"{at.start}" if len(at) == 1 else f"{at.start} to {at.stop - 1}"
    return shown if joint.mimic is None else f"({shown})"


def _axis(joint: Joint) -> str:
    parts = []
    for name in joint.type.parameters:
        value = getattr(joint.type, name)
        text = numbers(value) if isinstance(value, tuple) else number(value)
        parts.append(text if name == "axis" else f"{name.replace('_', ' ')} {text}")
    return ", ".join(parts)


def _place(origin: Origin) -> str:
    return numbers(origin.xyz) if any(map(is_there, origin.xyz)) else ""


def _turn(origin: Origin) -> str:
    """Elementary rotations of a placement."""
    turns = [(axis, angle) for axis, angle in origin.rotations if is_there(angle)]
    return ", ".join(f"{_letter(axis)} {number(angle)}" for axis, angle in turns)


def _letter(axis: Any) -> str:
    return axis if isinstance(axis, str) else f"({numbers(axis)})"


def _leader(joint: Joint) -> str:
    if joint.mimic is None:
        return ""
    offset = f" + {number(joint.mimic.offset)}" if is_there(joint.mimic.offset) else ""
    return f"{number(joint.mimic.multiplier)} q({joint.mimic.joint}){offset}"


def _joint_forces(m: Mechanism) -> Iterator[Markup]:
    """Limits, friction, springs and rotors, where there are any."""
    columns = [
        Column("joint", lambda j: j.name),
        Column("lowest", lambda j: _bound(j.limits.lower), True),
        Column("highest", lambda j: _bound(j.limits.upper), True),
        Column("speed", lambda j: _bound(j.limits.velocity), True),
        Column("effort", lambda j: _bound(j.limits.effort), True),
        Column("viscous friction", lambda j: _some(j.viscous), True),
        Column("Coulomb friction", lambda j: _some(j.coulomb), True),
        Column("stiffness", lambda j: _some(j.stiffness), True),
        Column("rest", lambda j: _some(j.rest), True),
        Column("rotor inertia", lambda j: _some(j.rotor_inertia), True),
        Column("driven through", _transmission),
    ]
    joints = [j for j in m.joints if any(str(c.cell(j)) for c in columns[1:])]
    if joints:
        yield table("Limits, friction, springs and rotors of joints", columns, joints)


def _bound(bound: Any) -> str:
    return "" if bound is None else numbers(bound)


def _some(entries: Sequence[Any]) -> str:
    return numbers(entries) if any(map(is_there, entries)) else ""


def _transmission(joint: Joint) -> str:
    through = joint.transmission
    if through is None:
        return ""
    return (
        f"{through.motor}: stiffness {number(through.stiffness)}, damping {number(through.damping)}"
    )


def _actuators(m: Mechanism) -> Markup:
    columns = [
        Column("actuator", lambda a: a.name),
        Column("joint", lambda a: a.joint),
        Column("gear ratio", lambda a: number(a.gear_ratio), True),
        Column("rotor inertia", lambda a: _unless_zero(a.rotor_inertia), True),
        Column("rides on", lambda a: a.body or ""),
        Column("torque of the shaft", lambda a: "" if a.effort is None else number(a.effort), True),
        Column(
            "speed of the shaft", lambda a: "" if a.velocity is None else number(a.velocity), True
        ),
    ]
    return table("Actuators", columns, m.actuators)


def _elastic_bodies(m: Mechanism) -> Markup:
    columns = [
        Column("elastic body", lambda b: b.name),
        Column("length", lambda b: number(b.beam.length), True),
        Column("mass of the beam", lambda b: number(b.beam.mass), True),
        Column("kinematics", lambda b: b.beam.kinematics),
        Column("shape functions", lambda b: ", ".join(direction for direction, _ in b.modes)),
        Column("elements", lambda b: str(b.elements), True),
    ]
    return table("Elastic links", columns, m.elastic_bodies)


def _constraints(m: Mechanism) -> Iterator[Markup]:
    """Constraints, and the degrees of freedom that they leave."""
    system = system_of(m)
    principles = dict(zip(m.constraints, m.principles, strict=True))
    columns = [
        Column("constraint", lambda c: c.name),
        Column("kind", _kind),
        Column("between", lambda c: ", ".join((*c.frames, *c.joints))),
        Column("rows", lambda c: _rows(system, m, c), True),
        Column("principle", lambda c: principles[c]),
    ]
    yield table("Constraints", columns, m.constraints)
    if m.symbols:
        return
    try:
        yield element("pre", str(degrees_of_freedom(m)))
    except DalembertError as error:
        yield note(str(error))


def _rows(system: Any, m: Mechanism, constraint: Any) -> str:
    """Number of the rows of a constraint."""
    if m.symbols:
        return ""
    rows = constraint.rates(system, m.neutral(), np.zeros(m.nv))
    return str(len(rows.velocity))


def _kind(constraint: Any) -> str:
    kind = type(constraint).__name__
    return f"{kind}, {constraint.type.name}" if isinstance(constraint, Closure) else kind


def _frames(m: Mechanism) -> Markup:
    columns = [
        Column("frame", lambda f: f.name),
        Column("on", lambda f: f.body),
        Column("origin", lambda f: numbers(f.origin.xyz), True),
        Column("turned by", lambda f: _turn(f.origin)),
    ]
    return table("Frames", columns, m.frames)
