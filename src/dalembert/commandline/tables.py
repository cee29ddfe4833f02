"""Joints, vectors, matrices and findings as they are printed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from rich.console import Console

from dalembert.analysis.freedoms import degrees_of_freedom
from dalembert.commandline.output import TableColumn, left, line, message, show_table
from dalembert.constraints.closures import Closure
from dalembert.errors import ConstraintError
from dalembert.model.constraint import Constraint
from dalembert.model.elastic.beam import Beam
from dalembert.model.mechanism import Mechanism
from dalembert.model.numbers import Number, as_float, is_symbolic
from dalembert.model.parts import Joint
from dalembert.systems.kinds import system_of


def show_joints(out: Console, mechanism: Mechanism) -> None:
    """Joints with entries in qd, parent, child, axis, limits and friction."""
    joints = mechanism.joints
    keys = [
        TableColumn("qd", [_entries(mechanism, j) for j in joints]),
        left("joint", [j.name for j in joints]),
    ]
    show_table(
        out,
        keys,
        [
            left("type", [j.type.name for j in joints]),
            left("parent", [j.parent for j in joints]),
            left("child", [j.child for j in joints]),
            left("axis", [_axis(j) for j in joints]),
            left("limits", [_limits(j) for j in joints]),
            *_bounds("speed", [j.limits.velocity for j in joints]),
            *_bounds("effort", [j.limits.effort for j in joints]),
            left("friction", [_friction(j) for j in joints]),
        ],
    )


def show_elastic_bodies(out: Console, mechanism: Mechanism) -> None:
    """Elastic bodies with their beams, then their coordinates with entries in qd and units."""
    bodies = [(body, body.beam) for body in mechanism.elastic_bodies if body.beam is not None]
    show_table(
        out,
        [left("elastic body", [body.name for body, _ in bodies])],
        [
            TableColumn("length m", [number(beam.length) for _, beam in bodies]),
            TableColumn("beam kg", [_mass(beam) for _, beam in bodies]),
            left("kinematics", [beam.kinematics for _, beam in bodies]),
            left("damping", [_damping(beam) for _, beam in bodies]),
        ],
    )
    line(out)
    of_bodies = [k for entry in mechanism.body_entries.values() for k in entry.at_v]
    system = system_of(mechanism)
    units = [unit.removesuffix("/s") for unit in system.velocity_units]
    show_table(
        out,
        [
            TableColumn("qd", [str(k) for k in of_bodies]),
            left("coordinate", [mechanism.velocity_names[k] for k in of_bodies]),
        ],
        [left("unit", [units[k] for k in of_bodies])],
    )


def _mass(beam: Beam) -> str:
    return number(beam.mass)


def _damping(beam: Beam) -> str:
    """Numbers of a damping that are not 0."""
    if beam.damping is None:
        return "none"
    numbers = beam.damping.numbers().items()
    shown = [f"{name.removeprefix('damping_')} {number(x)}" for name, x in numbers if x != 0]
    return ", ".join(shown) or "none"


def show_constraints(out: Console, mechanism: Mechanism) -> None:
    """Constraints with kind, frames or joints, rows and principle."""
    constraints = mechanism.constraints
    system = system_of(mechanism)
    q, qd = mechanism.neutral(), np.zeros(mechanism.nv)
    rows = [len(constraint.rates(system, q, qd).velocity) for constraint in constraints]
    show_table(
        out,
        [left("constraint", [constraint.name for constraint in constraints])],
        [
            left("kind", [_kind(constraint) for constraint in constraints]),
            left("between", [", ".join((*c.frames, *c.joints)) for c in constraints]),
            TableColumn("rows", [str(count) for count in rows]),
            left("principle", mechanism.principles),
        ],
    )


def _kind(constraint: Constraint) -> str:
    """Class of a constraint, and the joint type that closes a loop."""
    kind = type(constraint).__name__
    return f"{kind}, {constraint.type.name}" if isinstance(constraint, Closure) else kind


def show_freedoms(out: Console, mechanism: Mechanism) -> None:
    """Print degrees of freedom and redundant rows, or the gap of loops that do not close."""
    if mechanism.symbols:
        return
    try:
        text = str(degrees_of_freedom(mechanism))
    except ConstraintError as error:
        text = str(error)
    for words in text.splitlines():
        line(out, words)


def show_quantities(out: Console, mechanism: Mechanism) -> None:
    """Quantities with inputs, shapes, units and a few words."""
    names, inputs, results, words = zip(*system_of(mechanism).table(), strict=True)
    rest = (("of", inputs), ("result", results), ("what it is", words))
    show_table(out, [left("quantity", names)], [left(title, texts) for title, texts in rest])
    line(out)


def _entries(mechanism: Mechanism, joint: Joint) -> str:
    """Numbers of the joint's entries in qd, counted from 0 as in Python; a follower's are in
    brackets.
    """
    if joint.is_fixed:
        return "-"
    dof = mechanism.entries[joint.name].at_v
    shown = f"{dof.start}" if len(dof) == 1 else f"{dof.start}-{dof.stop - 1}"
    return shown if joint.mimic is None else f"({shown})"


def _axis(joint: Joint) -> str:
    shown = []
    for name in joint.type.parameters:
        value = getattr(joint.type, name)
        text = " ".join(map(number, value)) if isinstance(value, tuple) else number(value)
        shown.append(text if name == "axis" else f"{name.replace('_', ' ')} {text}")
    return ", ".join(shown)


def _limits(joint: Joint) -> str:
    lower, upper = joint.limits.lower, joint.limits.upper
    if lower is None and upper is None:
        return ""
    ends = (
        tuple(map(number, end)) if end is not None else (none,) * joint.type.nv
        for end, none in ((lower, "-inf"), (upper, "inf"))
    )
    return ", ".join(f"{low} to {high}" for low, high in zip(*ends, strict=True))


def _bounds(title: str, bounds: Sequence[Any]) -> list[TableColumn]:
    """A column of largest speeds or forces; none where no joint has one."""
    shown = [_bound(bound) for bound in bounds]
    return [TableColumn(title, shown)] if any(shown) else []


def _bound(bound: Any) -> str:
    """A number, or the numbers of all entries of a joint."""
    if bound is None:
        return ""
    return ", ".join(map(number, bound)) if isinstance(bound, tuple) else number(bound)


def _friction(joint: Joint) -> str:
    parts = [("viscous", joint.viscous), ("Coulomb", joint.coulomb)]
    if joint.friction is not None:
        parts.append(("Stribeck", joint.friction))
    return ", ".join(
        f"{name} {' '.join(map(number, values))}"
        for name, values in parts
        if any(is_symbolic(x) or as_float(x) for x in values)
    )


def number(x: Number) -> str:
    """A number of a model with at most 6 digits, or its expression."""
    return str(x) if is_symbolic(x) else f"{as_float(x):.6g}"


def show_findings(out: Console, findings: Sequence[Any]) -> None:
    """Print findings, each in a line 'warning: what (file, line n): why fix'."""
    for finding in findings:
        message(out, finding.severity, finding)


def show_state(out: Console, mechanism: Mechanism, q: np.ndarray, **along_velocities: Any) -> None:
    """q and vectors along the velocities by name; q in a table of its own where its entries are
    others.
    """
    columns = {"q": q, **along_velocities} if mechanism.nq == mechanism.nv else along_velocities
    if mechanism.nq != mechanism.nv:
        _show_vectors(out, mechanism.coordinate_names, {"q": q})
    _show_vectors(out, mechanism.velocity_names, columns)


def _show_vectors(out: Console, names: Sequence[str], columns: dict[str, np.ndarray]) -> None:
    keys = [TableColumn("", [str(k) for k in range(len(names))], style="bold"), left("", names)]
    show_table(
        out,
        keys,
        [
            TableColumn(title, [f"{x + 0.0:.5g}" for x in column])
            for title, column in columns.items()
        ],
    )


def show_multipliers(
    out: Console, rows: Sequence[str], multipliers: np.ndarray, not_unique: Sequence[str]
) -> None:
    """Multipliers by the names of their rows, and which of them are not unique."""
    columns = [TableColumn("lambda", [f"{x + 0.0:.5g}" for x in multipliers])]
    if not_unique:
        notes = ["not unique, of least norm" if row in not_unique else "" for row in rows]
        columns.append(left("", notes))
    show_table(out, [left("row", rows)], columns)


def show_matrix(out: Console, matrix: np.ndarray) -> None:
    """A matrix with numbered rows and columns, four significant digits."""
    rows = TableColumn("", [str(k) for k in range(len(matrix))], style="bold")
    show_table(
        out,
        [rows],
        [
            TableColumn(str(k), [f"{x + 0.0:.4g}" for x in column])
            for k, column in enumerate(matrix.T)
        ],
    )
