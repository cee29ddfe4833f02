"""What the numbers of a run are called, their units, and the libraries that only its outputs need."""

from __future__ import annotations

import importlib
from typing import Any

from dalembert.errors import DalembertError
from dalembert.model.mechanism import Mechanism


def coordinate_units(mechanism: Mechanism) -> list[str]:
    """Unit of each entry of q: rad, m, or 1 of quaternions."""
    units = ["rad" if "angle" in c else "m" for j in mechanism.independent_joints for c in j.type.coordinates]
    for at in mechanism.quaternions.values():
        units[at:at + 4] = ["1"] * 4
    return units


def velocity_units(mechanism: Mechanism) -> list[str]:
    """Unit of each entry of qd: rad/s or m/s."""
    return ["rad/s" if "angular" in c else "m/s" for j in mechanism.independent_joints for c in j.type.velocities]


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
