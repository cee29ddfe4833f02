"""Errors and warnings: each says what, where and how to fix it, and carries its data as attributes."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence
from types import ModuleType
from typing import Any

ELSEWHERE = {  # names of other tools in small letters, and the names here; "" has no counterpart
    "aba": "forward_dynamics",
    "accel": "forward_dynamics",
    "bdf": "rodas5p",
    "christoffel": "lagrange",
    "christoffel_symbols": "lagrange",
    "crba": "mass_matrix",
    "dof": "nv",
    "euler": "explicit_euler",
    "fk": "placement",
    "fkine": "placement",
    "forward_kinematics": "placement",
    "gravload": "gravity_vector",
    "inertia_matrix": "mass_matrix",
    "inverse_kinematics": "",
    "joint_names": "velocity_names",
    "links": "bodies",
    "lsoda": "rodas5p",
    "m": "mass_matrix",
    "ode15s": "rodas5p",
    "ode45": "dopri5",
    "radau": "radau5",
    "rk23": "dopri5",
    "rk45": "dopri5",
    "rne": "inverse_dynamics",
    "rnea": "inverse_dynamics",
    "save": "to_netcdf",
    "t": "times",
    "time": "times",
    "to_latex": "latex",
}
MOST_LISTED = 12  # known names in a message
PACKAGE = __name__.partition(".")[0]
INSIDE = (PACKAGE, "dataclasses")  # callers that a warning does not point to


def nearest(name: object, known: Iterable[str], cutoff: float = 0.6) -> str:
    """The known name that is most like another, else but for capitals, or '' if none is."""
    from difflib import get_close_matches

    names = list(known)
    if near := get_close_matches(str(name), names, 1, cutoff):
        return near[0]
    lower = {other.lower(): other for other in names}
    near = get_close_matches(str(name).lower(), list(lower), 1, cutoff)
    return lower[near[0]] if near else ""


class DalembertError(Exception):
    """Base of every error that this package raises on purpose."""


class ModelError(DalembertError):
    """A mechanism cannot be built as described.

    Attributes
    ----------
    findings : tuple of Finding
        What is wrong, where, why and how to fix it, one entry each.
    """

    def __init__(self, message: str, findings: tuple[Any, ...] = ()):
        super().__init__(message)
        self.findings = tuple(findings)


class ReadError(ModelError):
    """A file or text cannot be read as a mechanism; `file` and `line` say where (line 0: unknown)."""

    def __init__(self, message: str, file: str = "", line: int = 0, findings: tuple[Any, ...] = ()):
        place = f"{file}, line {line}: " if file and line else f"{file}: " if file else ""
        super().__init__(place + message, findings)
        self.file, self.line = file, line


class MissingFileError(ReadError, FileNotFoundError):
    """A file that does not exist."""


class ShapeError(DalembertError, ValueError):
    """A vector has the wrong shape; `name`, `shape` and `expected` say which."""

    def __init__(
        self,
        message: str,
        name: str = "",
        shape: tuple[int, ...] = (),
        expected: tuple[int, ...] = (),
    ):
        super().__init__(message)
        self.name, self.shape, self.expected = name, shape, expected


class UnknownNameError(DalembertError, KeyError):
    """A name is not in the mechanism; `name` and `known` say which and what there is."""

    def __init__(self, what: str, name: str, known: tuple[str, ...], most: int = MOST_LISTED):
        near = _meant(name, known) or nearest(name, known)
        listed = ", ".join(known[:most]) + (", ..." if len(known) > most else "")
        message = f"unknown {what} {name!r} (known: {listed})." + (
            f" Did you mean {near!r}?" if near else ""
        )
        super().__init__(message)
        self.message, self.name, self.known = message, name, known

    def __str__(self) -> str:  # KeyError would print the repr of the message
        return self.message

    def __reduce__(self):
        return (_unpickled_unknown_name, (self.message, self.name, self.known))


def _unpickled_unknown_name(message, name, known):
    error = UnknownNameError("name", name, known)
    error.message = message
    return error


class SingularMassMatrixError(DalembertError, ArithmeticError):
    """The (articulated) inertia about a joint is not positive: accelerations are not determined.

    Attributes: `joint`, `body`, `pivot` [kg m^2 or kg], `row` of the batch (None for a single
    state).
    """

    def __init__(
        self,
        message: str,
        joint: str = "",
        body: str = "",
        pivot: float = 0.0,
        row: int | None = None,
    ):
        super().__init__(message)
        self.joint, self.body, self.pivot, self.row = joint, body, pivot, row


class EquilibriumError(DalembertError, ArithmeticError):
    """A static equilibrium is not found, or it is not stable.

    Attributes: `residual` [N m, N], largest force that is left; `load_factor`, part of the loads in
    equilibrium; `critical_load_factor`, part at which the stiffness is lost (None: not known); `row`
    of the batch (None for a single state).
    """

    def __init__(
        self,
        message: str,
        residual: float = 0.0,
        load_factor: float = 1.0,
        critical_load_factor: float | None = None,
        row: int | None = None,
    ):
        super().__init__(message)
        self.residual, self.load_factor, self.row = residual, load_factor, row
        self.critical_load_factor = critical_load_factor


class SingularConfigurationError(DalembertError, ArithmeticError):
    """A frame cannot be moved in some direction.

    Attributes: `frame`, `singular_value`, `direction` (one weight per row asked for), `row` of the
    batch or None.
    """

    def __init__(
        self,
        message: str,
        frame: str = "",
        singular_value: float = 0.0,
        direction: tuple[float, ...] = (),
        row: int | None = None,
    ):
        super().__init__(message)
        self.frame = frame
        self.singular_value = singular_value
        self.direction = direction
        self.row = row


class ConstraintError(DalembertError, ArithmeticError):
    """Constraints depend on each other, or a state does not meet them.

    Attributes: `constraint` (name of the row), `rank` of the rows where they depend on each other.
    """

    def __init__(self, message: str, constraint: str = "", rank: int | None = None):
        super().__init__(message)
        self.constraint, self.rank = constraint, rank


class OverflowedError(DalembertError, ArithmeticError):
    """A result is not finite although all inputs are; `index` says which entry."""

    def __init__(self, message: str, index: tuple[int, ...] = ()):
        super().__init__(message)
        self.index = index


class ParameterError(DalembertError, ValueError):
    """A number of a mechanism cannot be an input of a simulation; `paths` are those that were to
    be.
    """

    def __init__(self, message: str, paths: tuple[str, ...] = ()):
        super().__init__(message)
        self.paths = paths


class StoreError(DalembertError):
    """A folder of results cannot be read or written; `folder` is its name."""

    def __init__(self, message: str, folder: str = ""):
        super().__init__(message)
        self.folder = folder


class DamagedStoreError(StoreError):
    """A folder or file of results is not as it was written: `file` in it, which holds `part`."""

    def __init__(self, message: str, folder: str = "", file: str = "", part: str = ""):
        super().__init__(message, folder)
        self.file, self.part = file, part


class LockedStoreError(StoreError):
    """Another process writes a folder of results: `pid` on `host` (0 and '' where they are not
    known).
    """

    def __init__(self, message: str, folder: str = "", pid: int = 0, host: str = ""):
        super().__init__(message, folder)
        self.pid, self.host = pid, host


class QuaternionError(DalembertError, ValueError):
    """The quaternion of a joint is not of unit length; `joint` and `norm` say which."""

    def __init__(self, message: str, joint: str = "", norm: float = 0.0):
        super().__init__(message)
        self.joint, self.norm = joint, norm


class RememberingError(DalembertError, ValueError):
    """A function is no function of its arguments alone; `name` and `remembers` say which and what
    it remembers or reads.
    """

    def __init__(self, message: str, name: str = "", remembers: str = ""):
        super().__init__(message)
        self.name, self.remembers = name, remembers


class DalembertWarning(UserWarning):
    """Base of every warning of this package: input that was ignored, repaired or is doubtful."""


def unknown_attribute(owner: Any, name: str) -> AttributeError:
    """The error for a misspelt attribute of an object or module; it names the nearest public one."""
    if name in vars(type(owner)):
        object.__getattribute__(
            owner, name
        )  # a property that failed on an attribute: its own error
    kind = (
        f"module {owner.__name__!r}"
        if isinstance(owner, ModuleType)
        else f"{type(owner).__name__!r} object"
    )
    near = "" if name.startswith("_") else _instead(owner, name)
    text = f"{kind} has no attribute {name!r}." + (f" Did you mean {near}?" if near else "")
    return AttributeError(
        text, name=name, obj=None
    )  # of no object: a traceback would suggest the name once more


def _instead(owner: Any, name: str) -> str:
    """The attribute, or the function of the package, that a misspelt attribute may stand for."""
    if ELSEWHERE.get(name.lower()) == "":
        return ""
    known = dir(owner)
    public = sys.modules[PACKAGE].__all__
    for names, shown in ((known, "{!r}"), (public, "da.{}(...)")):
        if here := _meant(name, names):
            return shown.format(here)
    return repr(near) if (near := nearest(name, known)) else ""


def _meant(name: object, known: Sequence[str]) -> str:
    """A known name that is the same, or means the same in other tools; '' if there is none."""
    if not isinstance(name, str):
        return ""
    other = ELSEWHERE.get(name.lower(), "")
    return other if other in known else name if name in known else ""


def public_names(self: Any) -> list[str]:
    """Public names of an object, without its `_unlisted`: `__dir__`, which completion reads."""
    return [
        name
        for name in object.__dir__(self)
        if not name.startswith("_") and name not in getattr(self, "_unlisted", ())
    ]


def caller_level() -> int:
    """`stacklevel` of the nearest caller outside this package, for the caller of this function."""
    frame: Any = sys._getframe(1)
    level = 1
    while frame is not None and frame.f_globals.get("__name__", "").partition(".")[0] in INSIDE:
        frame, level = frame.f_back, level + 1
    return level
