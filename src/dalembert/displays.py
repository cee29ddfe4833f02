"""Objects as users see them: functions behind methods of objects below them, a table that
`dalembert.views` fills; names in letters that can be seen, and short texts of dataclasses.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import MISSING, fields
from importlib import import_module
from typing import Any

from dalembert.errors import DalembertWarning

MOST_NUMBERS = 12  # of an array that is shown in full
LONGEST = 40  # letters of a name that is shown
DISPLAYS: dict[
    str, Callable[..., Any]
] = {}  # by the name of the method; the first argument is the object


def display(name: str) -> Callable[..., Any]:
    """The function behind a method that shows something; the package root imports by name what
    fills the table.
    """
    if name not in DISPLAYS:
        import_module("dalembert").import_views()
    return DISPLAYS[name]


def in_notebook(name: str, thing: Any) -> str | None:
    """Text of a display for notebooks, which never raise for a look at an object: None, where it
    cannot be drawn, makes them show its `repr`.

    Warns
    -----
    DalembertWarning
        It cannot be drawn; the fault is named.
    """
    try:
        text = display(name)(thing)
    except Exception as error:
        fault = f"{type(error).__name__}: {error}"
        warnings.warn(
            f"a {type(thing).__name__} is shown as text, as it cannot be drawn: {fault}",
            DalembertWarning,
            stacklevel=2,
        )
        return None
    return text if isinstance(text, str) else None


def brief_repr(self: Any) -> str:
    """`__repr__` of dataclasses: fields that are not at their defaults, large arrays by their
    shapes.
    """
    shown = []
    for field in fields(self):
        value = getattr(self, field.name)
        if field.repr and field.compare and not _is_default(value, field.default):
            shown.append(f"{field.name}={_brief(value)}")
    return f"{type(self).__name__}({', '.join(shown)})"


def _is_default(value: Any, default: Any) -> bool:
    """Whether a value, or each of its entries, is the default."""
    if isinstance(value, tuple) and not isinstance(default, tuple):
        return default is not MISSING and all(x == default for x in value)
    return value is default or type(value) is type(default) and bool(value == default)


def _brief(value: Any) -> str:
    """The text of a value; of a large array, and of such arrays by name, the shape."""
    if getattr(value, "size", 0) > MOST_NUMBERS:
        return f"<array {value.shape}>"
    if isinstance(value, dict):
        return f"{{{', '.join(f'{key!r}: {_brief(x)}' for key, x in value.items())}}}"
    return " ".join(repr(value).split())


def visible(text: object, letters: set[int] | None = None) -> str:
    r"""A text with invisible letters spelled out, and letters other than those of a font.

    Examples
    --------
    >>> print(visible("arm\u202e"))
    arm\u202e
    """
    return "".join(
        c
        if c.isprintable() and (letters is None or ord(c) in letters)
        else c.encode("unicode_escape").decode("ascii")
        for c in str(text)
    )


def shortened(name: str, longest: int = LONGEST) -> str:
    """A name in visible letters, the middle left out where it is long."""
    plain = visible(name)
    if len(plain) <= longest:
        return plain
    end = longest // 3
    return f"{plain[: longest - end - 1]}\u2026{plain[-end:]}"


class Picture(str):
    """The text of an SVG, which notebooks show as a picture.

    Examples
    --------
    >>> import dalembert as da
    >>> da.planar_chain(2).picture()[:4]
    '<svg'
    """

    __slots__ = ()

    def _repr_svg_(self) -> str:
        return str(self)
