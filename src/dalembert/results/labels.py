"""Names of the numbers of a run, their units, and the libraries that only its outputs need."""

from __future__ import annotations

import importlib
import re
from typing import Any

from dalembert.displays import visible
from dalembert.errors import DalembertError
from dalembert.systems.system import System

UNKNOWN = ""  # unit of what a user's Lagrangian has


def force_units(system: System) -> list[str]:
    """Unit of each entry of tau: N m or N; unknown of a user's Lagrangian."""
    return [{"rad/s": "N m", "m/s": "N"}.get(unit, UNKNOWN) for unit in system.velocity_units]


def labelled(what: str, unit: str) -> str:
    """'coordinates [rad]', without brackets where the unit is unknown."""
    return f"{what} [{unit}]" if unit else what


FORMULA = re.compile(
    r"(\A|[;,|\"])(?=\s*['=+\-@\uFF1D\uFF0B\uFF0D\uFF20])"
)  # where a cell may begin as a formula


def header(name: str) -> str:
    """A name as the header of a column, which no spreadsheet takes for a formula.

    A name that begins with =, +, - or @ (also after a separator of cells or a quotation mark, also
    in full width) gets an apostrophe there, and so does one that begins with an apostrophe; line
    breaks and other invisible characters are spelled out.
    """
    return FORMULA.sub(r"\1'", visible(name))


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
        raise DalembertError(
            f"{name} is not installed: pip install 'dalembert[{extra}]'."
        ) from None
