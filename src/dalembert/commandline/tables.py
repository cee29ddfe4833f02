"""Joints, vectors, matrices and findings as they are printed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from rich.console import Console

from dalembert.commandline.output import TableColumn, left, message, show_table
from dalembert.model.joint_texts import entries_text, parameters_text
from dalembert.model.mechanism import Mechanism
from dalembert.model.numbers import Number, as_float, is_symbolic
from dalembert.model.parts import Joint


def show_joints(out: Console, mechanism: Mechanism) -> None:
    """Joints with entries in qd, parent, child, axis, limits and friction."""
    joints = mechanism.joints
    keys = [
        TableColumn("qd", [entries_text(mechanism, j) or "-" for j in joints]),
        left("joint", [j.name for j in joints]),
    ]
    show_table(
        out,
        keys,
        [
            left("type", [j.type.name for j in joints]),
            left("parent", [j.parent for j in joints]),
            left("child", [j.child for j in joints]),
            left("axis", [parameters_text(j, number) for j in joints]),
            left("limits", [_limits(j) for j in joints]),
            *_bounds("speed", [j.limits.velocity for j in joints]),
            *_bounds("effort", [j.limits.effort for j in joints]),
            left("friction", [_friction(j) for j in joints]),
        ],
    )


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
