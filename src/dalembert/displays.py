"""Functions that show something for methods of objects below them: a table, which `dalembert.views`
fills.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from importlib import import_module
from typing import Any

from dalembert.errors import DalembertWarning

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
