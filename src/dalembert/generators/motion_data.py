"""Numbers of generators: times, points and limits, checked where they are given."""

from __future__ import annotations

from numbers import Integral
from typing import Any

import numpy as np

from dalembert.arguments import real_array, saying, vector
from dalembert.errors import ShapeError

DEGREES = (3, 5, 7)


def number(name: str, value: Any) -> float:
    """A finite number.

    Raises
    ------
    TypeError, ValueError, ShapeError
    """
    found = real_array(name, value)
    if found.ndim:
        raise ShapeError(
            f"{name} has shape {found.shape}, expected one number.", name, found.shape, ()
        )
    if not np.isfinite(found):
        raise ValueError(f"{name} is {found}, expected a finite number.")
    return float(found)


def positive(name: str, value: Any) -> float:
    """A number above 0.

    Raises
    ------
    TypeError, ValueError, ShapeError
    """
    found = number(name, value)
    if not found > 0:
        raise ValueError(f"{name} is {found:g}, expected a number above 0.")
    return found


def coordinates(name: str, value: Any) -> np.ndarray:
    """A number or a vector of finite numbers, as (m,).

    Raises
    ------
    TypeError, ValueError, ShapeError
    """
    found = np.atleast_1d(real_array(name, value))
    if found.ndim > 1 or not found.size:
        raise ShapeError(
            f"{name} has shape {found.shape}, expected a number or (m,), m >= 1.", name, found.shape
        )
    return vector(found, name, found.size)


def per_coordinate(name: str, value: Any, m: int) -> np.ndarray:
    """A number for all coordinates, or one for each, as (m,).

    Raises
    ------
    TypeError, ValueError, ShapeError
    """
    found = real_array(name, value)
    return vector(np.full(m, found) if found.ndim == 0 else found, name, m)


def limit(name: str, value: Any, m: int) -> np.ndarray:
    """A limit above 0 for all coordinates, or one for each, as (m,).

    Raises
    ------
    TypeError, ValueError, ShapeError
    """
    found = per_coordinate(name, value, m)
    if not (found > 0).all():
        k = int(np.argmin(found > 0))
        raise ValueError(
            f"{name}[{k}] is {found[k]:g}: limits are numbers above 0, the same both ways."
        )
    return found


def increasing(name: str, times: Any, least: int) -> np.ndarray:
    """At least so many times [s] that increase, as (K,) of floats.

    Raises
    ------
    ShapeError, ValueError
    """
    found = real_array(name, times)
    if found.ndim != 1 or len(found) < least:
        raise ShapeError(
            f"{name} has shape {found.shape}, expected (K,), K >= {least}.", name, found.shape
        )
    if not np.isfinite(found).all():
        raise ValueError(f"{name} has the entry {found[~np.isfinite(found)][0]}, expected numbers.")
    if not (np.diff(found) > 0).all():
        k = int(np.argmin(np.diff(found) > 0))
        raise ValueError(
            f"{name}[{k + 1}] is {found[k + 1]:g}, not after {name}[{k}] = {found[k]:g}: times "
            "must increase."
        )
    return found


def check_degree(degree: Any, use: str) -> None:
    """See that a degree is one of cubic, quintic and septic polynomials.

    Raises
    ------
    ValueError
    """
    is_whole = isinstance(degree, Integral) and not isinstance(degree, bool)
    if not is_whole or degree not in DEGREES:
        raise ValueError(saying("degree", degree, f"3, 5 or 7 {use}"))


def as_column(t: Any) -> Any:
    """Times (N,) as (N, 1), to be combined with rows of coordinates; scalars as they are."""
    return t[..., None] if isinstance(t, np.ndarray) else t
