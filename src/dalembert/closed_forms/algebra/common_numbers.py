"""Numbers that the terms of a sum have in common."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from math import gcd, lcm
from typing import Any

from dalembert.closed_forms.algebra.ring import plain

SMALL = 10  # denominators up to this one are printed as fractions and pulled out of sums


def common_number(numbers: Sequence[Any]) -> Any:
    """The greatest number that small fractions are multiples of, or the size that all numbers have;
    with the sign of the first. Multiples of the numbers have the same multiple of it.
    """
    size: Any = 1
    if all(map(_is_small, numbers)):
        size = _greatest(numbers)
    elif len({*map(abs, numbers)}) == 1:
        size = abs(numbers[0])
    return -size if numbers[0] < 0 else size


def readable_number(numbers: Sequence[Any]) -> Any:
    """The number that is best written before parentheses, with the sign of the first: with the
    numbers that are left it has the fewest fractions, as in g (2/5 - x) in place of
    1/5 g (2 - 5 x).
    """
    sizes = {1, *(abs(x) for x in numbers if _is_small(x))}
    if all(map(_is_small, numbers)):
        sizes.add(_greatest(numbers))
    size = min(
        sizes,
        key=lambda size: (_effort(size, numbers), size.denominator, -_ones(size, numbers), size),
    )
    return -size if numbers[0] < 0 else size


def _is_small(x: Any) -> bool:
    return isinstance(x, (int, Fraction)) and x.denominator <= SMALL


def _greatest(numbers: Sequence[Any]) -> Any:
    """The greatest number that all are multiples of."""
    above = gcd(*(x.numerator for x in numbers))
    below = lcm(*(x.denominator for x in numbers))
    return above if below == 1 else plain(Fraction(above, below))


def _effort(size: Any, numbers: Sequence[Any]) -> int:
    """How much there is to read of a number and of those that it leaves within parentheses."""
    return _weight(size) + sum(_weight(abs(Fraction(x) / Fraction(size))) for x in numbers)


def _ones(size: Any, numbers: Sequence[Any]) -> int:
    """How many numbers are not written within parentheses."""
    return sum(abs(x) == size for x in numbers)


def _weight(x: Any) -> int:
    """How much there is to read of a factor: nothing, a whole number, a fraction, a decimal."""
    if x == 1:
        return 0
    if x.denominator == 1:
        return 1
    return 2 if _is_small(x) else 3
