"""The model in tables: bodies, joints, limits, actuators, elastic links, constraints, frames."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from dalembert.analysis.freedoms import degrees_of_freedom
from dalembert.closed_forms.printing.markup import Markup, element, joined
from dalembert.closed_forms.printing.number_text import number, numbers
from dalembert.constraints.closures import kind_text
from dalembert.errors import DalembertError
from dalembert.model.joint_texts import entries_text, parameters_text
from dalembert.model.mechanism import Mechanism
from dalembert.model.origins import Origin
from dalembert.model.parts import Body, Joint
from dalembert.reports.report_parts import (
    Provenance,
    ReportColumn,
    ReportSection,
    is_there,
    note,
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
            "kg m² about the centre of mass in the axes of the body, forces in newtons, torques in "
            "newton metres."
        ),
        *_tables(mechanism),
    ]
    read = f"read from {Path(mechanism.file).name}" if mechanism.file else "as given in Python"
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
    moments = [ReportColumn(name, partial(_moment, k), True) for k, name in enumerate(INERTIA)]
    columns = [
        ReportColumn("body", lambda b: b.name),
        ReportColumn("mass", lambda b: number(b.mass), True),
        ReportColumn("centre of mass", _centre, True),
        *moments,
    ]
    beams = "; masses of beams stand below" if m.elastic_bodies else ""
    return table(f"Bodies; the first, {m.bodies[0].name}, is the base{beams}", columns, m.bodies)


def _moment(k: int, body: Body) -> str:
    return _unless_zero(body.inertia[k])


def _centre(body: Body) -> str:
    return numbers(body.com) if is_there(body.mass) else ""


def _unless_zero(x: Any) -> str:
    return number(x) if is_there(x) else ""


def _joints(m: Mechanism) -> Markup:
    columns = [
        ReportColumn("joint", lambda j: j.name),
        ReportColumn("entry of qd", partial(entries_text, m), True),
        ReportColumn("type", lambda j: j.type.name),
        ReportColumn("from", lambda j: j.parent),
        ReportColumn("to", lambda j: j.child),
        ReportColumn("axis", lambda j: parameters_text(j, number), True),
        ReportColumn("origin", lambda j: _place(j.origin), True),
        ReportColumn("turned by", lambda j: _turn(j.origin)),
        ReportColumn("follows", _leader),
    ]
    return table("Joints, with the placement of each in its parent", columns, m.joints)


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
    factor = "" if joint.mimic.multiplier == 1 else f"{number(joint.mimic.multiplier)} "
    return f"{factor}q({joint.mimic.joint}){offset}"


def _joint_forces(m: Mechanism) -> Iterator[Markup]:
    """Limits, friction, springs and rotors, where there are any."""
    columns = [
        ReportColumn("joint", lambda j: j.name),
        ReportColumn("lowest", lambda j: _bound(j.limits.lower), True),
        ReportColumn("highest", lambda j: _bound(j.limits.upper), True),
        ReportColumn("speed", lambda j: _bound(j.limits.velocity), True),
        ReportColumn("effort", lambda j: _bound(j.limits.effort), True),
        ReportColumn("viscous friction", lambda j: _some(j.viscous), True),
        ReportColumn("Coulomb friction", lambda j: _some(j.coulomb), True),
        ReportColumn("stiffness", lambda j: _some(j.stiffness), True),
        ReportColumn("rest", lambda j: _some(j.rest), True),
        ReportColumn("rotor inertia", lambda j: _some(j.rotor_inertia), True),
        ReportColumn("driven through", _transmission),
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
        ReportColumn("actuator", lambda a: a.name),
        ReportColumn("joint", lambda a: a.joint),
        ReportColumn("gear ratio", lambda a: number(a.gear_ratio), True),
        ReportColumn("rotor inertia", lambda a: _unless_zero(a.rotor_inertia), True),
        ReportColumn("rides on", lambda a: a.body or ""),
        ReportColumn(
            "torque of the shaft", lambda a: "" if a.effort is None else number(a.effort), True
        ),
        ReportColumn(
            "speed of the shaft", lambda a: "" if a.velocity is None else number(a.velocity), True
        ),
    ]
    return table("Actuators", columns, m.actuators)


def _elastic_bodies(m: Mechanism) -> Markup:
    columns = [
        ReportColumn("elastic body", lambda b: b.name),
        ReportColumn("length", lambda b: number(b.beam.length), True),
        ReportColumn("mass of the beam", lambda b: number(b.beam.mass), True),
        ReportColumn("kinematics", lambda b: b.beam.kinematics),
        ReportColumn("shape functions", lambda b: ", ".join(direction for direction, _ in b.modes)),
        ReportColumn("elements", lambda b: str(b.elements), True),
    ]
    return table("Elastic links", columns, m.elastic_bodies)


def _constraints(m: Mechanism) -> Iterator[Markup]:
    """Constraints, and the degrees of freedom that they leave."""
    system = system_of(m)
    principles = dict(zip(m.constraints, m.principles, strict=True))
    columns = [
        ReportColumn("constraint", lambda c: c.name),
        ReportColumn("kind", kind_text),
        ReportColumn("between", lambda c: ", ".join((*c.frames, *c.joints))),
        ReportColumn("rows", lambda c: _rows(system, m, c), True),
        ReportColumn("principle", lambda c: principles[c]),
    ]
    yield table("Constraints", columns, m.constraints)
    if m.symbols:
        return
    try:
        words = str(degrees_of_freedom(m)).splitlines()
        yield element("div", *(element("p", part.strip()) for part in words), class_="words")
    except DalembertError as error:
        yield note(str(error))


def _rows(system: Any, m: Mechanism, constraint: Any) -> str:
    """Number of the rows of a constraint."""
    if m.symbols:
        return ""
    rows = constraint.rates(system, m.neutral(), np.zeros(m.nv))
    return str(len(rows.velocity))


def _frames(m: Mechanism) -> Markup:
    columns = [
        ReportColumn("frame", lambda f: f.name),
        ReportColumn("on", lambda f: f.body),
        ReportColumn("origin", lambda f: numbers(f.origin.xyz), True),
        ReportColumn("turned by", lambda f: _turn(f.origin)),
    ]
    return table("Frames", columns, m.frames)
