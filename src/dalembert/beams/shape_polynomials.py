"""ShapePolynomials as shape functions, exact in rational numbers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import isfinite, lcm
from typing import Any

from dalembert.arguments import refused
from dalembert.beams.shape_functions import (
    BEND_Y,
    ShapeFunctions,
    bends,
    check_count,
)

Coefficients = tuple[Fraction, ...]  # of powers of xi, from the constant upward


@dataclass(frozen=True)
class ShapePolynomials(ShapeFunctions):
    """ShapePolynomials phi_i(xi) = sum_k `coefficients[i][k]` xi^k.

    Parameters
    ----------
    coefficients : sequence of sequences of numbers
        Of each function, from the constant upward. Whole numbers and fractions stay exact.

    Raises
    ------
    TypeError, ValueError
        A coefficient is no number, or not finite; a function has none.

    Examples
    --------
    >>> import dalembert as da
    >>> da.beams.ShapePolynomials(((0, 0, 1),)).slopes(0.5)     # phi = xi^2
    [1.0]
    """

    coefficients: tuple[tuple[Any, ...], ...]

    def __post_init__(self) -> None:
        rows = tuple(map(_checked_row, self.coefficients))
        object.__setattr__(self, "coefficients", rows)

    @property
    def count(self) -> int:  # type: ignore[override]
        """Number of functions."""
        return len(self.coefficients)

    @property
    def degree(self) -> int:  # type: ignore[override]
        """Highest power."""
        return max((len(row) - 1 for row in self.coefficients), default=0)

    @cached_property
    def _derivatives(self) -> list[list[_Polynomial]]:
        rows = [self.coefficients]
        for _ in range(2):
            rows.append(tuple(map(_derived, rows[-1])))
        return [[_Polynomial(row) for row in of_order] for of_order in rows]

    def values(self, xi: Any) -> Sequence[Any]:
        """phi_i(xi)."""
        return [p(xi) for p in self._derivatives[0]]

    def slopes(self, xi: Any) -> Sequence[Any]:
        """d phi_i / d xi."""
        return [p(xi) for p in self._derivatives[1]]

    def curvatures(self, xi: Any) -> Sequence[Any]:
        """d^2 phi_i / d xi^2."""
        return [p(xi) for p in self._derivatives[2]]

    def identity(self) -> str:
        """The coefficients."""
        rows = "; ".join(" ".join(map(str, row)) for row in self.coefficients)
        return f"polynomials {rows}"


class _Polynomial:
    """A polynomial that is rounded once: of high degree its terms cancel."""

    def __init__(self, row: Coefficients):
        self.row = row
        self.is_rational = all(isinstance(c, (int, Fraction)) for c in row)
        if self.is_rational:
            self.denominator = lcm(*(Fraction(c).denominator for c in row))
            self.numerators = [int(c * self.denominator) for c in row]

    def __call__(self, xi: Any) -> Any:
        if isinstance(xi, float) and self.is_rational:
            return self._rounded(*xi.as_integer_ratio())
        total: Any = 0
        for c in reversed(self.row):
            total = total * xi + c
        return total

    def _rounded(self, numerator: int, denominator: int) -> float:
        """Horner's rule in whole numbers at a fraction, and one division."""
        total, scale = 0, 1
        for c in reversed(self.numerators):
            total = total * numerator + c * scale
            scale *= denominator
        return total * denominator / (scale * self.denominator)


def _checked_row(row: Sequence[Any]) -> tuple[Any, ...]:
    row = tuple(row)
    if not row:
        raise ValueError("a polynomial has no coefficient; give one or more, (0, 0, 1) is xi^2.")
    for c in row:
        if isinstance(c, bool) or not isinstance(c, (int, float, Fraction)):
            raise refused("a coefficient of a polynomial", c, "a number")
        if not isfinite(c):
            raise ValueError(f"a coefficient of a polynomial is {c}; give a finite number.")
    return row


def legendre(count: int, direction: str = BEND_Y) -> ShapePolynomials:
    """ShapePolynomials of a beam that is clamped at its start, whose strains are Legendre polynomials:
    the stiffness of a uniform beam is diagonal.

        bending: phi_i'' ~ P_(i-1),  twist and stretch: phi_i' ~ P_(i-1)

    A function that moves the end moves it by 1; others are scaled so that their strain is that of
    the first at the end.

    Parameters
    ----------
    count : int
        Number of functions.
    direction : str
        'bend_y', 'bend_z', 'twist' or 'stretch'.

    Returns
    -------
    ShapePolynomials
        Of the degrees 2 to count + 1; of twist and stretch 1 to count.

    Raises
    ------
    UnknownNameError, ValueError
        There is no such direction; the number is negative or above 64.

    Examples
    --------
    >>> import dalembert as da
    >>> [tuple(map(str, row)) for row in da.beams.legendre(2).coefficients]
    [('0', '0', '1'), ('0', '0', '3', '-2')]
    """
    twice = bends(direction)
    check_count("count", count, 0)
    rows = []
    for strain in _legendre_polynomials(count):
        row = _integrated(_integrated(strain)) if twice else _integrated(strain)
        end = sum(row)
        rows.append(tuple(c / end for c in row) if end else tuple(c * 2 for c in row))
    return ShapePolynomials(tuple(rows))


def _legendre_polynomials(count: int) -> list[Coefficients]:
    """P_0, P_1, ... of 2 xi - 1."""
    rows: list[Coefficients] = [(Fraction(1),), (Fraction(-1), Fraction(2))]
    for k in range(1, count - 1):
        shifted = _product(rows[1], rows[k])  # (2 xi - 1) P_k
        before = rows[k - 1] + (Fraction(0),) * 2
        pairs = zip(shifted, before, strict=True)
        rows.append(tuple(((2 * k + 1) * a - k * b) / (k + 1) for a, b in pairs))
    return rows[:count]


def _product(a: Coefficients, b: Coefficients) -> Coefficients:
    row = [Fraction(0)] * (len(a) + len(b) - 1)
    for i, x in enumerate(a):
        for k, y in enumerate(b):
            row[i + k] += x * y
    return tuple(row)


def _derived(row: Coefficients) -> Coefficients:
    return tuple(k * c for k, c in enumerate(row) if k) or (Fraction(0),)


def _integrated(row: Coefficients) -> Coefficients:
    return (Fraction(0), *(c / (k + 1) for k, c in enumerate(row)))
