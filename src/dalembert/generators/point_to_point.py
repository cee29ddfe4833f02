"""Programs from point to point: polynomials with boundary conditions of any order."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from dalembert.arguments import put, real_array
from dalembert.errors import ShapeError
from dalembert.generators.motion_data import check_degree, coordinates, increasing, number, positive
from dalembert.generators.piecewise import (
    PiecewiseGenerator,
    PiecewisePolynomial,
    between,
    moved,
    taylor,
    through,
)


@dataclass(frozen=True, eq=False)
class Polynomial(PiecewiseGenerator):
    """A polynomial from a point to another, with any number of derivatives given at both.

    Before it begins and after its end, the program stays at the first and last point.

    Parameters
    ----------
    start, end : number, (m,) array, or (k, m) and (l, m) arrays
        Points at rest [rad, m]; or y, y', ..., each a row: the degree is then k + l - 1.
    duration : float
        [s]
    degree : int, optional
        Of motions from rest to rest: 3, 5 (the default) or 7, with velocities, accelerations and
        jerks 0 in turn.
    begin : float
        Time at which it begins [s].

    Raises
    ------
    ShapeError, ValueError, TypeError
        Rows have other lengths; the duration is not above 0; the degree does not fit.

    References
    ----------
    Biagiotti and Melchiorri, Trajectory Planning for Automatic Machines and Robots (2008), 2.1.

    Examples
    --------
    >>> import dalembert as da
    >>> move = da.generators.Polynomial([0.0, 1.0], [2.0, 0.0], duration=4.0)
    >>> q, qd, qdd = move(2.0)
    >>> q, qd
    (array([1. , 0.5]), array([ 0.9375 , -0.46875]))
    >>> catch = da.generators.Polynomial([[0.0], [0.0]], [[1.0], [2.0], [0.0]], duration=1.0)
    >>> catch.degree, catch(1.0)[1]
    (4, array([2.]))
    """

    start: Any
    end: Any
    duration: float
    degree: Any = None
    begin: float = 0.0

    def __post_init__(self) -> None:
        given = [real_array("start", self.start), real_array("end", self.end)]
        first, last = self._rows(*given)
        if first.shape[1] != last.shape[1]:
            raise ShapeError(
                f"start has {first.shape[1]} coordinates and end {last.shape[1]}.",
                "end",
                given[1].shape,
            )
        duration, begin = positive("duration", self.duration), number("begin", self.begin)
        piece = between(first, last, duration)
        breaks = np.array([begin, begin + duration])
        end = moved(piece, duration)
        end[: len(last)] = taylor(last)  # without rounding
        put(
            self,
            start=given[0],
            end=given[1],
            duration=duration,
            degree=len(first) + len(last) - 1,
            begin=begin,
            _polynomial=PiecewisePolynomial(breaks, piece[None], end),
        )

    def _rows(self, start: np.ndarray, end: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Values and derivatives at both ends, (k, m) and (l, m)."""
        if start.ndim < 2 and end.ndim < 2:
            degree = 5 if self.degree is None else self.degree
            check_degree(degree, "from rest to rest; for others give rows y, y', ... at both ends")
            conditions = (degree + 1) // 2
            return _at_rest("start", start, conditions), _at_rest("end", end, conditions)
        rows = [_at_rest("start", start, 1), _at_rest("end", end, 1)]
        degree = len(rows[0]) + len(rows[1]) - 1
        if self.degree is not None and not np.array_equal(self.degree, degree):
            raise ValueError(
                f"degree is {self.degree!r}, but {len(rows[0])} rows at the start and "
                f"{len(rows[1])} at the end give {degree}."
            )
        return rows[0], rows[1]


def _at_rest(name: str, point: np.ndarray, conditions: int) -> np.ndarray:
    """Rows (k, m) as they are, or a point followed by derivatives 0."""
    if point.ndim > 2 or not point.size:
        raise ShapeError(
            f"{name} has shape {point.shape}, expected (m,) or rows (k, m) of y, y', ...",
            name,
            point.shape,
        )
    if point.ndim == 2:
        coordinates(name, point.ravel())
        return point
    rows = np.zeros((conditions, point.size))
    rows[0] = coordinates(name, point)
    return rows


@dataclass(frozen=True, eq=False)
class Quintic(PiecewiseGenerator):
    """From point to point, at rest in each: polynomials of degree five, whose velocity and
    acceleration begin and end at 0.

        q(t) = q_k + (q_k+1 - q_k) (10 u^3 - 15 u^4 + 6 u^5),    u = (t - t_k) / (t_k+1 - t_k);

    before the first time and after the last it stays. points (K, n) [rad, m], K >= 2; times (K,),
    growing [s].

    Craig, Introduction to Robotics (2005), eq. 7.13 and 7.14 with velocities and accelerations 0.

    Examples
    --------
    >>> import dalembert as da
    >>> move = da.controllers.Quintic([[0.0], [1.0]], [0.0, 2.0])
    >>> q, qd, qdd = move(1.0)
    >>> q, qd
    (array([0.5]), array([0.9375]))
    """

    points: Any
    times: Any

    def __post_init__(self) -> None:
        points = real_array("points", self.points)
        times = real_array("times", self.times)
        if points.ndim != 2 or len(points) < 2 or times.shape != (len(points),):
            raise ShapeError(
                f"points has shape {points.shape} and times {times.shape}, expected (K, n) and "
                "(K,), K >= 2.",
                "points",
                points.shape,
            )
        times = increasing("times", times, 2)
        if not np.isfinite(points).all():
            raise ValueError("points has entries that are not finite.")
        rows = np.zeros((len(times), 3, points.shape[1]))
        rows[:, 0] = points
        put(self, points=points, times=times, _polynomial=through(rows, times))
