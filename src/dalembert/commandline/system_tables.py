"""Tables of a mechanism as a system: elastic bodies, constraints, freedoms, quantities."""

from __future__ import annotations

import numpy as np
from rich.console import Console

from dalembert.analysis.freedoms import degrees_of_freedom
from dalembert.commandline.output import (
    TableColumn,
    left,
    line,
    show_table,
)
from dalembert.commandline.tables import number
from dalembert.constraints.closures import kind_text
from dalembert.errors import ConstraintError
from dalembert.model.elastic.beam import Beam
from dalembert.model.mechanism import Mechanism
from dalembert.systems.kinds import system_of


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
            left("kind", [kind_text(constraint) for constraint in constraints]),
            left("between", [", ".join((*c.frames, *c.joints)) for c in constraints]),
            TableColumn("rows", [str(count) for count in rows]),
            left("principle", mechanism.principles),
        ],
    )


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
