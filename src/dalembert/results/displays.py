"""Functions that show something for methods of objects below them: a table, which `dalembert.views`
fills.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any

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
