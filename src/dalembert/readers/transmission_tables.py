"""Elastic transmissions in TOML files: the key `transmission` of a joint, read and written."""

from __future__ import annotations

from collections.abc import Container
from dataclasses import replace
from typing import Any

from dalembert.model.elastic.flexible_drives import FlexibleDrive
from dalembert.model.elastic.transmissions import Transmission
from dalembert.model.parts import Joint
from dalembert.readers.toml_tables import (
    Table,
    unless,
)

KEYS = ("motor", "stiffness", "damping")
DECLARED = ("name", "rotor_inertia", "gear_ratio", "transmission")


def transmission_of(table: Table) -> Transmission | None:
    """Transmission of a joint's table that names its motor."""
    if "transmission" not in table.data:
        return None
    transmission = _opened(table)
    if "motor" not in transmission.data:
        return None
    numbers = transmission.number("stiffness"), transmission.number("damping", 0)
    return Transmission(transmission.text("motor"), *numbers)


def drive_of(table: Table, joint: Joint, has_rotor: bool = False) -> FlexibleDrive | None:
    """The drive of a joint whose table has a transmission without the name of a motor; has_rotor:
    its actuator has one.
    """
    if "transmission" not in table.data:
        return None
    transmission = _opened(table)
    if "motor" in transmission.data:
        return None
    numbers = transmission.number("stiffness"), transmission.number("damping", 0)
    drive: FlexibleDrive = table.made("transmission", FlexibleDrive.of, joint, *numbers, has_rotor)
    return drive


def _opened(table: Table) -> Table:
    transmission = table.table("transmission")
    transmission.allow(*KEYS)
    return transmission


def declared_drive(
    table: Table, joints: dict[str, Joint], with_rotors: Container[str]
) -> FlexibleDrive:
    """A joint of a robot file that is flexible by a file beside it, by name; with_rotors: names of
    joints whose actuators have rotors.
    """
    name = table.name("joint")
    table.allow(*DECLARED, of="a joint of the robot file beside this one")
    joint = joints[table.as_choice("name", name, tuple(joints))]
    table.required("transmission")
    changes: dict[str, Any] = {
        key: table.per_velocity(key, joint.type.nv)
        for key in ("rotor_inertia", "gear_ratio")
        if key in table.data
    }
    changed = table.made("", replace, joint, **changes)
    drive = drive_of(table, changed, joint.name in with_rotors)
    if drive is None:
        raise table.error("its motor is made here: leave out the key 'motor'.", "transmission")
    return drive


def transmission_entry(transmission: Transmission) -> dict[str, Any]:
    """Entries of the table of a transmission."""
    entries = {"motor": transmission.motor, "stiffness": transmission.stiffness}
    return entries | unless(0, damping=transmission.damping)
