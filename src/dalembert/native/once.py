"""Values that are made once, whatever number of threads ask for them at the same time."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any, TypeVar

Value = TypeVar("Value")


def once(make: Callable[..., Value]) -> Callable[..., Value]:
    """A function of hashable arguments whose first value for some arguments is the value for ever.

    `functools.cache` gives each of several threads that meet a value of its own, and frees all but
    the last. Here threads that meet may each make a value, and all of them get the one that was
    stored first: no lock is held, which a process forked meanwhile could not release.
    """
    made: dict[tuple[Any, ...], Value] = {}

    @wraps(make)
    def value(*arguments: Any) -> Value:
        """The value for these arguments, made at the first call."""
        if arguments not in made:
            made.setdefault(arguments, make(*arguments))  # in one step of the interpreter
        return made[arguments]

    return value
