"""Checks of arguments at the door of public functions; messages name the argument and the expected
kind.
"""

from __future__ import annotations

import os
import sys
from numbers import Integral, Real
from pathlib import Path
from typing import Any

import numpy as np

from dalembert.errors import ShapeError, UnknownNameError

LONGEST = 60  # characters of a value in a message


def shown(value: Any) -> str:
    """A value and its class, shortened, for a message."""
    try:
        text = repr(value)
    except Exception:  # of a class whose text cannot be made
        text = "a value"
    text = " ".join(text.split())
    short = text if len(text) <= LONGEST else f"{text[:LONGEST]}..."
    return f"{short} ({type(value).__name__})"


def refused(name: str, value: Any, expected: str) -> TypeError:
    """The error of an argument of another kind."""
    return TypeError(saying(name, value, expected))


def saying(name: str, value: Any, expected: str) -> str:
    """The sentence for an argument, `h='x' (str): expected ...`, or for a part that is no name of
    Python.
    """
    if name.isidentifier():
        return f"{name}={shown(value)}: expected {expected}."
    return f"{name} is {shown(value)}; expected {expected}."


def check_choice(what: str, value: Any, known: tuple[str, ...]) -> None:
    """See that a value is one of some texts.

    Raises
    ------
    UnknownNameError
        It is another, or no text; the message lists them.
    """
    if not isinstance(value, str) or value not in known:
        raise UnknownNameError(what, value, known, len(known))


def check_text(name: str, value: Any) -> None:
    """See that an argument is a text.

    Raises
    ------
    TypeError
    """
    if not isinstance(value, str):
        raise refused(name, value, "a text")


def check_flag(name: str, value: Any) -> None:
    """See that an argument is True or False; numbers and texts are not.

    Raises
    ------
    TypeError
    """
    if not isinstance(value, (bool, np.bool_)):
        raise refused(name, value, "True or False")


def check_whole(name: str, value: Any, least: int) -> None:
    """See that an argument is a whole number, at least `least`.

    Raises
    ------
    ValueError
    """
    if isinstance(value, bool) or not isinstance(value, Integral) or value < least:
        raise ValueError(saying(name, value, f"a whole number, {least} or more"))


def real_array(name: str, value: Any) -> np.ndarray:
    """Real numbers, nested in lists or not, as an array of floats.

    Raises
    ------
    TypeError, ValueError
        There are texts, truth values, complex numbers, masked entries, or lists of several lengths;
        a number is beyond doubles.
    """
    expected = "real numbers, in rows of one length"
    masked = sys.modules.get("numpy.ma")  # imported where masked arrays are, and only there
    if masked is not None and masked.is_masked(value):
        raise refused(name, value, f"{expected}, none of them masked")
    try:
        found = np.asarray(value)
    except ValueError:  # rows of several lengths
        raise refused(name, value, expected) from None
    is_real = (
        found.dtype.kind in "iuf"
        or found.dtype == object
        and all(isinstance(x, Real) and not isinstance(x, bool) for x in found.flat)
    )
    if not is_real:
        raise refused(name, value, expected)
    try:
        return found.astype(float)
    except OverflowError:
        raise ValueError(f"{name} is beyond the range of doubles, 1.8e308.") from None


def vector(given: Any, name: str, n: int) -> np.ndarray:
    """(n,) finite floats.

    Raises
    ------
    ShapeError, ValueError
        There are not n; one is not finite.
    """
    found = real_array(name, given)
    if found.shape != (n,):
        raise ShapeError(
            f"{name} has shape {found.shape}, expected ({n},).", name, found.shape, (n,)
        )
    if not np.isfinite(found).all():
        raise ValueError(
            f"{name} has the entry {found[~np.isfinite(found)][0]}, expected finite numbers."
        )
    return found


def put(frozen: Any, **values: Any) -> None:
    """Set fields of a frozen object while it is made; arrays become read-only."""
    for name, value in values.items():
        if isinstance(value, np.ndarray):
            value.flags.writeable = False
        object.__setattr__(frozen, name, value)


def check_function(name: str, value: Any, signature: str) -> None:
    """See that an argument can be called.

    Raises
    ------
    TypeError
    """
    if not callable(value):
        raise refused(name, value, f"a function {signature}")


def check_instance(name: str, value: Any, kind: type | tuple[type, ...], expected: str) -> None:
    """See that an argument is of a class.

    Raises
    ------
    TypeError
    """
    if not isinstance(value, kind):
        raise refused(name, value, expected)


def path_of(name: str, value: Any) -> Path:
    """A path given as text or as an object of a path.

    Raises
    ------
    TypeError, ValueError
        It is neither; the text is empty, or names no file.
    """
    given = os.fspath(value) if isinstance(value, (str, os.PathLike)) else value
    if not isinstance(given, str):
        raise refused(name, value, "a path, as 'folder/name'")
    if not given or "\0" in given:
        raise ValueError(
            f"{name} is {given!r}, which names nothing; expected a path, as 'folder/name'."
        )
    try:
        os.fsencode(given)
    except UnicodeEncodeError:
        raise ValueError(
            f"{name} is {given!r}, whose letters no file system takes; expected another path."
        ) from None
    return Path(given)
