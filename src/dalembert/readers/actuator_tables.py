"""Actuators in TOML files: tables [[actuator]], read and written."""

from __future__ import annotations

from typing import Any

from dalembert.expr import known_zero
from dalembert.model.actuators import (
    BOUNDS_OF_SHAFT,
    Actuator,
)
from dalembert.readers.toml_tables import (
    Table,
    unless,
)

KEYS = ("name", "joint", "gear_ratio", "rotor_inertia", "body", "axis", *BOUNDS_OF_SHAFT)


def actuators_of(document: Table) -> tuple[Actuator, ...]:
    """Actuators of a file."""
    return tuple(map(_actuator, document.tables("actuator")))


def _actuator(table: Table) -> Actuator:
    name = table.name("actuator")
    table.allow(*KEYS)
    bounds = {key: table.number(key) for key in BOUNDS_OF_SHAFT if key in table.data}
    return Actuator(
        name,
        table.text("joint"),
        table.number("gear_ratio", 1),
        table.number("rotor_inertia", 0),
        table.text("body") if "body" in table.data else None,
        table.vector("axis", 3) if "axis" in table.data else None,
        **bounds,
        source=table.source,
    )


def joints_with_rotors(actuators: tuple[Actuator, ...]) -> frozenset[str]:
    """Names of the joints whose actuators have rotors."""
    return frozenset(a.joint for a in actuators if not known_zero(a.rotor_inertia))


def actuator_entries(actuator: Actuator) -> dict[str, Any]:
    """Entries of the table of an actuator."""
    optional = {key: getattr(actuator, key) for key in ("body", "axis", *BOUNDS_OF_SHAFT)}
    return (
        {"name": actuator.name, "joint": actuator.joint}
        | unless(1, gear_ratio=actuator.gear_ratio)
        | unless(0, rotor_inertia=actuator.rotor_inertia)
        | {key: value for key, value in optional.items() if value is not None}
    )
