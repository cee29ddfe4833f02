"""Objects that have numbers with names ('mass', 'com[0]', 'origin[2]', ...): parts of a mechanism,
and their own parts.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from functools import cache
from typing import TypeVar

from dalembert.model.numbers import Number, exact_text

Self = TypeVar("Self", bound="Numbered")


class Numbered(ABC):
    """Frozen data with numbers that are told by name, can be replaced, and tell it apart from
    others.
    """

    @abstractmethod
    def numbers(self) -> dict[str, Number]:
        """Its numbers by name, in a fixed order.

        Examples
        --------
        >>> import dalembert as da
        >>> da.Frame("tool", "hand", da.Origin((0, 0, 0.1))).numbers()
        {'origin[0]': 0, 'origin[1]': 0, 'origin[2]': 0.1}
        """

    @abstractmethod
    def with_numbers(self: Self, numbers: Mapping[str, Number]) -> Self:
        """The same with these numbers in place of its own; names that are not its own are passed
        over.

        Examples
        --------
        >>> import dalembert as da
        >>> da.Frame("tool", "hand").with_numbers({"origin[2]": 0.1}).origin.xyz
        (0, 0, 0.1)
        """

    @abstractmethod
    def identity(self) -> str | None:
        """Text that is equal for two of them if, and only if, the equations are; None where that
        cannot be told.

        Examples
        --------
        >>> import dalembert as da
        >>> da.Body("rod", 1.0).identity() == da.Body("rod", 2.0).identity()
        False
        """


class Part(Numbered):
    """A named part of a mechanism: its numbers have the paths 'name.number'."""

    name: str


@cache
def indexed(name: str, count: int) -> tuple[str, ...]:
    """'com[0]', 'com[1]', ..."""
    return tuple(f"{name}[{k}]" for k in range(count))


def named(name: str, values: Sequence[Number]) -> dict[str, Number]:
    """The entries of a vector by name."""
    return dict(zip(indexed(name, len(values)), values, strict=True))


def entries(numbers: Mapping[str, Number], name: str, count: int) -> tuple[Number, ...]:
    """The vector that `named` took apart."""
    return tuple(numbers[key] for key in indexed(name, count))


def numbers_as_text(numbered: Numbered) -> str:
    """All numbers with what they are, as a part of an identity."""
    return exact_text([*numbered.numbers().values()])
