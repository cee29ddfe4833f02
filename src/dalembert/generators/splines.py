"""Splines through points: cubic, quintic or septic, with clamped, natural or periodic ends."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from dalembert.arguments import check_choice, put, real_array, vector
from dalembert.errors import ShapeError
from dalembert.generators.motion_data import check_degree, increasing
from dalembert.generators.piecewise import PiecewiseGenerator, between, polynomial, through

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
        rows = _Knots(points, times, p).rows(self.ends, clamps)
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


class _Ties(NamedTuple):
    """High derivatives y^(p), ..., y^(2p-2) at an end of a piece, by parts of what they follow from:
    values (p - 1, 1) and slopes y', ..., y^(p-1), (p - 1, p - 1), at its begin and at its end.
    """

    value: np.ndarray
    slopes: np.ndarray
    next_value: np.ndarray
    next_slopes: np.ndarray

    @classmethod
    def of(cls, coefficients: np.ndarray, u: float, p: int) -> _Ties:
        """Ties at u of a piece whose coefficients are linear in 2 p values and slopes."""
        rows = np.array([polynomial(coefficients, u, n) for n in range(p, 2 * p - 1)])
        return cls(*np.split(rows, [1, p, p + 1], axis=1))

    def by_values(self, first: np.ndarray, second: np.ndarray) -> np.ndarray:
        """The part that comes of values (m,) at both ends."""
        return self.value * first + self.next_value * second

    def by_slopes(self, first: np.ndarray, second: np.ndarray) -> np.ndarray:
        """The part that comes of slopes (p - 1, m) at both ends."""
        return self.slopes @ first + self.next_slopes @ second


class _Knots:
    """Linear equations for slopes D = y', ..., y^(p-1) at knots (K,), in units of the mean step.

    Continuity of high derivatives at a knot ties its slopes to those of its neighbours:

        lower_k D_k-1 + middle_k D_k + upper_k D_k+1 = right_k

    These are the normal equations of the least integral of (y^(p))^2: elimination needs no pivots.
    """

    def __init__(self, points: np.ndarray, times: np.ndarray, p: int):
        self.p = p
        self.points = points
        self.unit = (times[-1] - times[0]) / (len(times) - 1)
        self.begins = []
        self.ends = []
        first, second = np.split(np.eye(2 * p), 2)
        for step in np.diff(times) / self.unit:
            piece = between(first, second, step)
            self.begins.append(_Ties.of(piece, 0.0, p))
            self.ends.append(_Ties.of(piece, step, p))

    def rows(self, ends: str, clamps: list[np.ndarray]) -> np.ndarray:
        """Values and derivatives at the knots, (K, p, m)."""
        scales = self.unit ** np.arange(1, self.p)[:, None]
        if ends == "periodic":
            slopes = self._periodic()
        elif ends == "natural":
            slopes = self._natural()
        else:
            slopes = self._clamped(self.points, [clamp * scales for clamp in clamps])
        slopes = slopes / scales
        if ends == "clamped":
            slopes[[0, -1]] = clamps  # without rounding
        return np.concatenate([self.points[:, None], slopes], axis=1)

    def _equations(self, points: np.ndarray) -> _Equations:
        """Continuity at inner knots; first and last rows are 0."""
        K, m = points.shape
        equations = _Equations.zeros(K, self.p - 1, m)
        for k in range(1, K - 1):
            before = self.ends[k - 1]
            after = self.begins[k]
            equations.lower[k] = before.slopes
            equations.middle[k] = before.next_slopes - after.slopes
            equations.upper[k] = -after.next_slopes
            ahead = after.by_values(points[k], points[k + 1])
            equations.right[k] = ahead - before.by_values(points[k - 1], points[k])
        return equations

    def _clamped(self, points: np.ndarray, clamps: list[np.ndarray]) -> np.ndarray:
        """Slopes at the knots, (K, p - 1, m), with those at both ends given."""
        equations = self._equations(points)
        for end, clamp in zip((0, -1), clamps, strict=True):
            equations.middle[end] = np.eye(self.p - 1)
            equations.right[end] = clamp
        return equations.solved()

    def _natural(self) -> np.ndarray:
        """Slopes at the knots, with high derivatives 0 at both ends."""
        y = self.points
        equations = self._equations(y)
        first = self.begins[0]
        last = self.ends[-1]
        equations.middle[0] = first.slopes
        equations.upper[0] = first.next_slopes
        equations.right[0] = -first.by_values(y[0], y[1])
        equations.lower[-1] = last.slopes
        equations.middle[-1] = last.next_slopes
        equations.right[-1] = -last.by_values(y[-2], y[-1])
        return equations.solved()

    def _periodic(self) -> np.ndarray:
        """Slopes at the knots, the same at both ends and such that high derivatives fit there too.

        Linear in the slopes x at both ends: D = D(x = 0) + D(x = 1, y = 0) x.
        """
        y = self.points
        n = self.p - 1
        still = np.zeros((n, y.shape[1]))
        one = np.eye(n)
        own = self._clamped(y, [still, still])
        by_ends = self._clamped(np.zeros((len(y), n)), [one, one])
        jump = self._jump_by_slopes(own)
        jump += self.ends[-1].by_values(y[-2], y[-1])
        jump -= self.begins[0].by_values(y[0], y[1])
        slopes_at_ends = np.linalg.solve(self._jump_by_slopes(by_ends), -jump)
        return own + by_ends @ slopes_at_ends

    def _jump_by_slopes(self, D: np.ndarray) -> np.ndarray:
        """Jump of high derivatives from the last knot to the first one that comes of slopes."""
        at_end = self.ends[-1].by_slopes(D[-2], D[-1])
        return at_end - self.begins[0].by_slopes(D[0], D[1])


class _Equations(NamedTuple):
    """Block tridiagonal equations: blocks (K, n, n) and right sides (K, n, m)."""

    lower: np.ndarray
    middle: np.ndarray
    upper: np.ndarray
    right: np.ndarray

    @classmethod
    def zeros(cls, K: int, n: int, m: int) -> _Equations:
        """Equations to be filled."""
        lower, middle, upper = np.zeros((3, K, n, n))
        return cls(lower, middle, upper, np.zeros((K, n, m)))

    def solved(self) -> np.ndarray:
        """The solution (K, n, m), by elimination block by block."""
        lower, middle, upper, right = self
        for k in range(1, len(middle)):
            above = k - 1
            factor = np.linalg.solve(middle[above].T, lower[k].T).T
            middle[k] -= factor @ upper[above]
            right[k] -= factor @ right[above]
        solution = np.zeros_like(right)
        solution[-1] = np.linalg.solve(middle[-1], right[-1])
        for k in range(len(middle) - 2, -1, -1):
            known = right[k] - upper[k] @ solution[k + 1]
            solution[k] = np.linalg.solve(middle[k], known)
        return solution
