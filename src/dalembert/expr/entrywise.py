"""Vectors that are told once, for all entries, how these are computed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any


class Entrywise:
    """A vector that functions of scalars are applied to as a whole; `tracing.entry_vectors` has one."""

    def entrywise(self, function: Callable[..., Any], *operands: Any) -> Any:
        """The vector of a function of the entries of operands, some of which are vectors."""
        raise NotImplementedError

    def total(self) -> Any:
        """Sum of the entries."""
        raise NotImplementedError

    def largest(self) -> Any:
        """Greatest absolute value of the entries."""
        raise NotImplementedError


def entrywise(function: Callable[..., Any], *operands: Any) -> Any:
    """A function of entries by the vector among the operands; None without a vector."""
    vector = next((x for x in operands if isinstance(x, Entrywise)), None)
    return None if vector is None else vector.entrywise(function, *operands)
