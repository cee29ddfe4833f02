"""Splines through points: cubic, quintic or septic, with clamped, natural or periodic ends."""

from __future__ import annotations

from dataclasses import dataclass
from math import perm
from typing import Any

import numpy as np

from dalembert.arguments import check_choice, put, real_array, vector
from dalembert.errors import ShapeError
from dalembert.generators.motion_data import check_degree, increasing
from dalembert.generators.piecewise import PiecewiseGenerator, between, through

ENDS = ("clamped", "natural", "periodic")


@dataclass(frozen=True, eq=False)
class Spline(PiecewiseGenerator):
    """The smoothest piecewise polynomial through points: of degree 2 p - 1, with 2 p - 2 continuous
    derivatives.

    Before the first time and after the last, the program stays at the first and last point; a
    periodic one repeats for ever.

    Parameters
    ----------
    points : (K, m) array
        [rad, m]
    times : (K,) array, increasing [s]
    degree : 3, 5 or 7
        Cubic: the acceleration is continuous; quintic: the snap too.
    ends : 'clamped', 'natural' or 'periodic'
        Clamped: y', ..., y^(p-1) are given at both ends. Natural: y^(p), ..., y^(2p-2) are 0 there.
        Periodic: the first point is the last one, and all derivatives fit.
    start, end : (p - 1, m) array, optional
        y', ..., y^(p-1) of clamped ends, by default 0.

    Raises
    ------
    ShapeError, ValueError, TypeError, UnknownNameError
        Shapes do not fit; times do not increase; a periodic curve is not closed; points are too
        few.

    References
    ----------
    de Boor, A Practical Guide to Splines (1978), IV; Biagiotti and Melchiorri (2008), 4.4.

    Examples
    --------
    >>> import dalembert as da
    >>> path = da.generators.Spline([[0.0], [1.0], [0.0]], times=[0.0, 1.0, 2.0])
    >>> q, qd, qdd = path(1.0)
    >>> q, qd, qdd
    (array([1.]), array([0.]), array([-6.]))
    """

    points: Any
    times: Any
    degree: int = 3
    ends: str = "clamped"
    start: Any = None
    end: Any = None

    def __post_init__(self) -> None:
        check_choice("ends of a spline", self.ends, ENDS)
        check_degree(self.degree, "for a spline")
        times = increasing("times", self.times, 2)
        points = self._points(times)
        p = (self.degree + 1) // 2
        clamps = [self._clamp(name, p, points.shape[1]) for name in ("start", "end")]
        system = _Knots(times, p)
        rows = system.rows(points, self.ends, clamps)
        put(
            self,
            points=points,
            times=times,
            _polynomial=through(rows, times, self.ends == "periodic"),
        )

    def _points(self, times: np.ndarray) -> np.ndarray:
        """The points, (K, m), checked."""
        points = real_array("points", self.points)
        least = {"clamped": 2, "natural": (self.degree + 1) // 2, "periodic": 3}[self.ends]
        if points.ndim != 2 or len(points) != len(times) or not points.size:
            raise ShapeError(
                f"points has shape {points.shape}, expected ({len(times)}, m): one for each time.",
                "points",
                points.shape,
            )
        if len(points) < least:
            raise ShapeError(
                f"{len(points)} points for a spline of degree {self.degree} with {self.ends} ends, "
                f"which needs {least}.",
                "points",
                points.shape,
            )
        vector(points.ravel(), "points", points.size)
        gap = np.abs(points[-1] - points[0]).max()
        if self.ends == "periodic" and gap > 1e-9 * np.abs(points).max():
            raise ValueError(
                f"the curve is not closed: its last point {points[-1].tolist()} differs from the "
                f"first one {points[0].tolist()} by {gap:g}; periodic ends need equal ones."
            )
        return points

    def _clamp(self, name: str, p: int, m: int) -> np.ndarray:
        """Derivatives y', ..., y^(p-1) at an end, (p - 1, m)."""
        given = getattr(self, name)
        if given is None:
            return np.zeros((p - 1, m))
        if self.ends != "clamped":
            raise ValueError(f"{name} gives derivatives, but the ends are {self.ends!r}.")
        rows = real_array(name, given)
        rows = rows[None] if rows.ndim == 1 and p == 2 else rows
        if rows.shape != (p - 1, m):
            raise ShapeError(
                f"{name} has shape {rows.shape}, expected ({p - 1}, {m}): y' "
                f"{'and higher derivatives ' if p > 2 else ''}at that end.",
                name,
                rows.shape,
                (p - 1, m),
            )
        vector(rows.ravel(), name, rows.size)
        put(self, **{name: rows})
        return rows


class _Knots:
    """Linear equations for derivatives y', ..., y^(p-1) at knots (K,), in units of the mean step.

    Unknowns are those of the first knot, then those of the second, and so on. A piece is linear in
    the values and derivatives at its ends.
    """

    def __init__(self, times: np.ndarray, p: int):
        self.p = p
        self.unit = (times[-1] - times[0]) / (len(times) - 1)
        self.steps = np.diff(times) / self.unit
        identity = np.eye(2 * p)
        self.pieces = [between(identity[:p], identity[p:], T) for T in self.steps]

    def high(self, piece: int, u: float) -> np.ndarray:
        """y^(p), ..., y^(2p-2) at u of a piece, (p - 1, 2 p), by values and derivatives at its
        ends.
        """
        p, coefficients = self.p, self.pieces[piece]
        rows = [
            sum(perm(k, n) * u ** (k - n) * coefficients[k] for k in range(n, 2 * p))
            for n in range(p, 2 * p - 1)
        ]
        return np.array(rows)

    def rows(self, points: np.ndarray, ends: str, clamps: list[np.ndarray]) -> np.ndarray:
        """Values and derivatives at the knots, (K, p, m)."""
        p, (K, m) = self.p, points.shape
        scales = self.unit ** np.arange(1, p)[:, None]
        equations = _Equations(K, p, m)
        for k in range(1, K - 1):
            equations.add(
                [(k - 1, self.high(k - 1, self.steps[k - 1])), (k, -self.high(k, 0.0))], points
            )
        first, last = self.high(0, 0.0), self.high(K - 2, self.steps[-1])
        if ends == "periodic":
            equations.add([(K - 2, last), (0, -first)], points)
            equations.equal(0, K - 1)
        elif ends == "natural":
            equations.add([(0, first)], points)
            equations.add([(K - 2, last)], points)
        else:
            equations.give(0, clamps[0] * scales)
            equations.give(K - 1, clamps[1] * scales)
        derivatives = equations.solved() / scales
        if ends == "clamped":
            derivatives[[0, -1]] = clamps  # without rounding
        return np.concatenate([points[:, None], derivatives], axis=1)


class _Equations:
    """Equations A x = b, filled from above, for p - 1 derivatives at each of K knots."""

    def __init__(self, K: int, p: int, m: int):
        self.p = p
        self.A = np.zeros((K, p - 1, K, p - 1))
        self.b = np.zeros((K, p - 1, m))
        self.filled = 0

    def add(self, terms: list[tuple[int, np.ndarray]], points: np.ndarray) -> None:
        """The sum of rows of pieces is 0; a row (p - 1, 2 p) is of the ends of a piece."""
        p, A, b = self.p, self.A[self.filled], self.b[self.filled]
        for piece, rows in terms:
            A[:, piece] += rows[:, 1:p]
            A[:, piece + 1] += rows[:, p + 1 :]
            b -= rows[:, :1] * points[piece] + rows[:, p : p + 1] * points[piece + 1]
        self.filled += 1

    def equal(self, first: int, last: int) -> None:
        """Derivatives at two knots are the same."""
        self.A[self.filled, :, first] = np.eye(self.p - 1)
        self.A[self.filled, :, last] = -np.eye(self.p - 1)
        self.filled += 1

    def give(self, knot: int, derivatives: np.ndarray) -> None:
        """Derivatives at a knot are given."""
        self.A[self.filled, :, knot] = np.eye(self.p - 1)
        self.b[self.filled] = derivatives
        self.filled += 1

    def solved(self) -> np.ndarray:
        """The derivatives, (K, p - 1, m)."""
        n = self.filled * (self.p - 1)
        A, b = self.A.reshape(n, n), self.b.reshape(n, -1)
        scale = np.abs(A).max(axis=1, keepdims=True)
        return np.linalg.solve(A / scale, b / scale).reshape(self.b.shape)
