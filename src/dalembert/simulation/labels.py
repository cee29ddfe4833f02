"""What the numbers of a run are called, their units, and the libraries that only its outputs need."""

from __future__ import annotations

import importlib
from typing import Any

from dalembert.errors import DalembertError
from dalembert.model.mechanism import Mechanism

UNKNOWN = ""      # unit of what a user's Lagrangian has


def coordinate_units(mechanism: Any) -> list[str]:
    """Unit of each entry of q: rad, m, or 1 of quaternions; unknown of a user's Lagrangian."""
    if not isinstance(mechanism, Mechanism):
        return [UNKNOWN] * mechanism.nq
    units = ["rad" if "angle" in c else "m" for j in mechanism.independent_joints for c in j.type.coordinates]
    for at in mechanism.quaternions.values():
        units[at:at + 4] = ["1"] * 4
    return units


def velocity_units(mechanism: Any) -> list[str]:
    """Unit of each entry of qd: rad/s or m/s; unknown of a user's Lagrangian."""
    if not isinstance(mechanism, Mechanism):
        return [UNKNOWN] * mechanism.nv
    return ["rad/s" if "angular" in c else "m/s" for j in mechanism.independent_joints for c in j.type.velocities]


def force_units(mechanism: Any) -> list[str]:
    """Unit of each entry of tau: N m or N; unknown of a user's Lagrangian."""
    return [{"rad/s": "N m", "m/s": "N"}.get(unit, UNKNOWN) for unit in velocity_units(mechanism)]


def labelled(what: str, unit: str) -> str:
    """'coordinates [rad]', without brackets where the unit is unknown."""
    return f"{what} [{unit}]" if unit else what


def library(name: str, extra: str) -> Any:
    """A module that an optional extra of this package brings.

    Raises
    ------
    DalembertError
        It is not installed; the message names the extra.
    """
    try:
        return importlib.import_module(name)
    except ImportError:
        raise DalembertError(f"{name} is not installed: pip install 'dalembert[{extra}]'.") from None
