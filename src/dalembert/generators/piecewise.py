"""Piecewise polynomials of time, and those through values with derivatives at given times."""

from __future__ import annotations

from copy import copy
from dataclasses import dataclass, field, replace
from math import factorial, perm
from typing import Any

import numpy as np

from dalembert.arguments import put, real_array
from dalembert.errors import ShapeError
from dalembert.expr import Expr, atan2, cos, sin
from dalembert.expr.node import select
from dalembert.generators.motion_data import as_column, increasing
from dalembert.generators.time_generator import TimeGenerator

TURN = 2 * np.pi
CHOICE = np.frompyfunc(select, 3, 1)  # of constants, which need no guards


@dataclass(frozen=True, eq=False)
class PiecewisePolynomial:
    """Polynomials of t - breaks[k] between breaks; before and after them the first and last value.

    A time at a break belongs to the piece after it; at the last break `end` holds.

    breaks : (K + 1,) array, increasing [s]
    coefficients : (K, d + 1, m) array, lowest power first
    end : (d + 1, m) array
        Coefficients about the last break of the piece before it.
    periodic : whether the pieces repeat for ever instead
    extended : whether the first and last polynomial go on instead
    """

    breaks: np.ndarray
    coefficients: np.ndarray
    end: np.ndarray
    periodic: bool = False
    extended: bool = False
    _starts: np.ndarray = field(init=False, repr=False)
    _pieces: np.ndarray = field(init=False, repr=False)
    _ends: np.ndarray = field(init=False, repr=False)

    def __post_init__(self) -> None:
        inner = [*self.coefficients, self.end]
        before = inner[0].copy()
        after = self.end.copy()
        if not self.extended:
            before[1:] = 0.0
            after[1:] = 0.0
        pieces = np.array([before, *inner, after])
        begin, finish = self.breaks[0], self.breaks[-1]
        starts = np.array([begin, *self.breaks, finish])
        ends = np.array([*self.breaks, np.nextafter(finish, np.inf)])
        put(self, _starts=starts, _pieces=pieces, _ends=ends)

    def values(self, t: Any, order: int) -> list[Any]:
        """[y, y', ..., y^(order)] at a time [s], each (m,), or (N, m) for times (N,)."""
        if self.periodic:
            t = self._wrapped(t)
        u = as_column(t - self._of_piece(t, self._starts))
        coefficients = np.moveaxis(self._of_piece(t, self._pieces), -2, 0)
        return [polynomial(coefficients, u, k) for k in range(order + 1)]

    def _of_piece(self, t: Any, table: np.ndarray) -> Any:
        """The entry of a table for the piece that a time lies in."""
        if isinstance(t, Expr):
            return _chosen(t, self._ends, table)
        which = np.searchsorted(self._ends, t, side="right")
        return table[which]

    def _wrapped(self, t: Any) -> Any:
        """The time within the first period."""
        begin = self.breaks[0]
        period = self.breaks[-1] - begin
        if not isinstance(t, Expr):
            return begin + np.mod(t - begin, period)
        angle = (t - begin) * (TURN / period)
        turned = atan2(-sin(angle), -cos(angle)) + np.pi  # 0 to 2 pi
        return begin + turned * (period / TURN)


def _chosen(t: Expr, ends: np.ndarray, table: np.ndarray) -> Any:
    """The entry of the piece whose end is the first after t, by bisection."""
    if len(table) == 1:
        return table[0]
    middle = len(table) // 2
    last = middle - 1
    early = _chosen(t, ends[:last], table[:middle])
    late = _chosen(t, ends[middle:], table[middle:])
    return CHOICE(t < float(ends[last]), early, late)


def polynomial(coefficients: np.ndarray, u: Any, order: int) -> Any:
    """A derivative of sum_k c_k u^k by Horner's rule, from coefficients (d + 1, ..., m)."""
    degree = len(coefficients) - 1
    if order > degree:
        return 0 * coefficients[0]
    value = perm(degree, order) * coefficients[degree]
    for k in range(degree - 1, order - 1, -1):
        value = value * u + perm(k, order) * coefficients[k]
    return value


def between(start: np.ndarray, end: np.ndarray, duration: float) -> np.ndarray:
    """Coefficients (k + l, m) of the polynomial with y, y', ... = start (k, m) at 0 and end (l, m)
    at the duration.
    """
    k = len(start)
    number = k + len(end)
    units = duration ** np.arange(number)[:, None]  # times in units of the duration
    low = taylor(start)
    at_end = np.array([_slopes(number, j) for j in range(len(end))])
    by_low, by_high = np.split(at_end, [k], axis=1)
    missing = end * units[: len(end)] - by_low @ (low * units[:k])
    high = np.linalg.solve(by_high, missing)
    return np.concatenate([low, high / units[k:]])


def _slopes(number: int, order: int) -> list[float]:
    """Derivatives of 1, u, u^2, ... of an order at u = 1."""
    return [float(perm(power, order)) for power in range(number)]


def through(rows: np.ndarray, times: np.ndarray, periodic: bool = False) -> PiecewisePolynomial:
    """Polynomials between knots with values and derivatives rows (K, p, m) at times (K,)."""
    durations = np.diff(times)
    pieces = []
    for k, duration in enumerate(durations):
        pieces.append(between(rows[k], rows[k + 1], duration))
    end = moved(pieces[-1], durations[-1])
    end[: rows.shape[1]] = taylor(rows[-1])  # without rounding
    return PiecewisePolynomial(times, np.array(pieces), end, periodic)


def moved(coefficients: np.ndarray, duration: float) -> np.ndarray:
    """Coefficients of the same polynomial about a later time."""
    orders = range(len(coefficients))
    derivatives = [polynomial(coefficients, duration, n) for n in orders]
    return taylor(np.array(derivatives))


def taylor(derivatives: np.ndarray) -> np.ndarray:
    """Coefficients (k, m) from y, y', ..., (k, m)."""
    k = len(derivatives)
    factorials = np.array([float(factorial(n)) for n in range(k)])
    return derivatives / factorials.reshape(k, *(1,) * (derivatives.ndim - 1))


@dataclass(frozen=True, eq=False)
class PiecewiseGenerator(TimeGenerator):
    """A generator whose program is a piecewise polynomial of time."""

    _polynomial: PiecewisePolynomial = field(init=False, repr=False)

    def values(self, t: Any, order: int) -> list[Any]:
        """[y, y', ..., y^(order)] at a time [s], each (m,), or (N, m) for times (N,)."""
        return self._polynomial.values(t, order)

    @property
    def breaks(self) -> np.ndarray:
        """Times between pieces, (K + 1,) [s]."""
        return self._polynomial.breaks

    def extended(self) -> PiecewiseGenerator:
        """The same program, which goes on before its begin and after its end by the polynomials
        there instead of staying.

        Examples
        --------
        >>> import dalembert as da
        >>> line = da.generators.Polynomial([[0.0]], [[1.0]], duration=2.0)
        >>> line(3.0)[0], line.extended()(3.0)[0]
        (array([1.]), array([1.5]))
        """
        twin = copy(self)
        put(twin, _polynomial=replace(self._polynomial, extended=True))
        return twin


@dataclass(frozen=True, eq=False)
class Hermite(PiecewiseGenerator):
    """Polynomials through values with derivatives at given times, each piece by itself.

    Before the first time and after the last, the program stays at the first and last value.

    Parameters
    ----------
    values_at : (K, p, m) array, K >= 2
        y, y', ..., y^(p-1) at each time; pieces have degree 2 p - 1.
    times : (K,) array, increasing [s]

    Raises
    ------
    ShapeError, ValueError
        Shapes do not fit; a number is not finite; times do not increase.

    Examples
    --------
    >>> import dalembert as da
    >>> move = da.generators.Hermite([[[0.0], [0.0]], [[1.0], [0.5]]], times=[0.0, 2.0])
    >>> move.values(1.0, 1)
    [array([0.375]), array([0.625])]
    """

    values_at: Any
    times: Any

    def __post_init__(self) -> None:
        times = increasing("times", self.times, 2)
        rows = real_array("values_at", self.values_at)
        if rows.ndim != 3 or len(rows) != len(times) or 0 in rows.shape:
            raise ShapeError(
                f"values_at has shape {rows.shape}, expected ({len(times)}, p, m): y, y', ... at "
                "each time.",
                "values_at",
                rows.shape,
            )
        if not np.isfinite(rows).all():
            raise ValueError("values_at has entries that are not finite.")
        put(self, values_at=rows, times=times, _polynomial=through(rows, times))
