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
    _pieces: np.ndarray = field(init=False, repr=False)
    _ends: np.ndarray = field(init=False, repr=False)

    def __post_init__(self) -> None:
        K, rows, m = self.coefficients.shape
        pieces = np.zeros((K + 3, 1 + rows, m))  # row 0: where the piece begins
        pieces[1:-1, 0] = self.breaks[:, None]
        pieces[1:-2, 1:] = self.coefficients
        pieces[-2, 1:] = self.end
        powers = slice(None) if self.extended else slice(2)  # the start and the value alone
        pieces[0, powers] = pieces[1, powers]
        pieces[-1, powers] = pieces[-2, powers]
        after = np.nextafter(self.breaks[-1], np.inf)
        put(self, _pieces=pieces, _ends=np.array([*self.breaks, after]))

    def values(self, t: Any, order: int) -> list[Any]:
        """[y, y', ..., y^(order)] at a time [s], each (m,), or (N, m) for times (N,)."""
        t = self._wrapped(t) if self.periodic else t
        piece = self._piece(t)
        start, coefficients = piece[..., 0, :], np.moveaxis(piece[..., 1:, :], -2, 0)
        u = as_column(t) - start
        return [_polynomial(coefficients, u, k) for k in range(order + 1)]

    def _piece(self, t: Any) -> Any:
        """Start and coefficients of the piece that a time lies in."""
        if isinstance(t, Expr):
            return _chosen(t, self._ends, self._pieces)
        which = np.searchsorted(self._ends, t, side="right")
        return self._pieces[which]

    def _wrapped(self, t: Any) -> Any:
        """The time within the first period."""
        begin = self.breaks[0]
        period = self.breaks[-1] - begin
        if not isinstance(t, Expr):
            return begin + np.mod(t - begin, period)
        angle = (t - begin) * (TURN / period)
        return begin + (atan2(-sin(angle), -cos(angle)) + np.pi) * (period / TURN)


def _chosen(t: Expr, ends: np.ndarray, pieces: np.ndarray) -> Any:
    """The piece whose end is the first after t, by bisection."""
    if len(pieces) == 1:
        return pieces[0]
    middle = len(pieces) // 2
    early = _chosen(t, ends[: middle - 1], pieces[:middle])
    late = _chosen(t, ends[middle:], pieces[middle:])
    return CHOICE(t < float(ends[middle - 1]), early, late)


def _polynomial(coefficients: np.ndarray, u: Any, order: int) -> Any:
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
    k, l = len(start), len(end)
    powers = duration ** np.arange(k + l)[:, None]
    low = taylor(start)
    slopes = np.array([[perm(i, j) for i in range(k + l)] for j in range(l)], dtype=float)
    rest = np.linalg.solve(slopes[:, k:], end * powers[:l] - slopes[:, :k] @ (low * powers[:k]))
    return np.concatenate([low, rest / powers[k:]])


def through(rows: np.ndarray, times: np.ndarray, periodic: bool = False) -> PiecewisePolynomial:
    """Polynomials between knots with values and derivatives rows (K, p, m) at times (K,)."""
    pieces = [
        between(start, end, T)
        for start, end, T in zip(rows[:-1], rows[1:], np.diff(times), strict=True)
    ]
    end = moved(pieces[-1], times[-1] - times[-2])
    end[: rows.shape[1]] = taylor(rows[-1])  # without rounding
    return PiecewisePolynomial(times, np.array(pieces), end, periodic)


def moved(coefficients: np.ndarray, duration: float) -> np.ndarray:
    """Coefficients of the same polynomial about a later time."""
    derivatives = [_polynomial(coefficients, duration, n) for n in range(len(coefficients))]
    return np.array([y / factorial(n) for n, y in enumerate(derivatives)])


def taylor(derivatives: np.ndarray) -> np.ndarray:
    """Coefficients (k, m) from y, y', ..., (k, m)."""
    return derivatives / [[factorial(n)] for n in range(len(derivatives))]


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
