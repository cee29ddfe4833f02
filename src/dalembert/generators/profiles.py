"""Straight motions from rest to rest in the least time that limits allow: trapezoid and S-curve."""

from __future__ import annotations

from dataclasses import dataclass, field
from math import cbrt, factorial, inf, sqrt
from typing import Any, NamedTuple

import numpy as np

from dalembert.arguments import put
from dalembert.errors import ShapeError
from dalembert.generators.motion_data import coordinates, limit, number, positive
from dalembert.generators.piecewise import PiecewisePolynomial, moved
from dalembert.generators.time_generator import TimeGenerator

HUGE = 1e100  # ratio of a limit and a way that is an error


class ProfilePhase(NamedTuple):
    """A part of a profile in which its highest derivative has a constant value."""

    value: float
    duration: float


@dataclass(frozen=True, eq=False)
class Profile(TimeGenerator):
    """A straight motion y = start + (end - start) s(t), s from 0 to 1: the base of both profiles.

    Coordinates begin and end together; limits of each are kept.
    """

    start: Any
    end: Any
    _travelled: PiecewisePolynomial = field(init=False, repr=False)

    def _distances(self) -> np.ndarray:
        """Put both points; |end - start|, (m,)."""
        start, end = coordinates("start", self.start), coordinates("end", self.end)
        if start.shape != end.shape:
            raise ShapeError(
                f"start has shape {start.shape} and end {end.shape}, expected the same.",
                "end",
                end.shape,
                start.shape,
            )
        put(self, start=start, end=end)
        return np.abs(end - start)

    def _put_phases(
        self, phases: list[ProfilePhase], order: int, begin: Any, duration: Any
    ) -> None:
        """Put s(t), of phases with constant s^(order), slowed down to the duration if it is given.

        Raises
        ------
        ValueError
            The duration is shorter than limits allow.
        """
        begin = number("begin", begin)
        least = sum(phase.duration for phase in phases)
        wanted = least if duration is None else positive("duration", duration)
        if wanted < least * (1 - 1e-12):
            raise ValueError(f"duration is {wanted:g} s, but the limits need {least:.6g} s.")
        if least:
            slower = wanted / least
            phases = [ProfilePhase(p.value / slower**order, p.duration * slower) for p in phases]
        put(self, begin=begin, duration=wanted)
        put(self, _travelled=integrated(phases, order, begin, begin + wanted))

    def values(self, t: Any, order: int) -> list[Any]:
        """[y, y', ..., y^(order)] at a time [s], each (m,), or (N, m) for times (N,)."""
        way = self.end - self.start
        rows = [way * s for s in self._travelled.values(t, order)]
        return [self.start + rows[0], *rows[1:]]


def integrated(
    phases: list[ProfilePhase], order: int, begin: float, finish: float
) -> PiecewisePolynomial:
    """s(t) of phases with constant s^(order), from s = s' = ... = 0 to s = 1, s' = ... = 0."""
    breaks = [begin]
    pieces = []
    end = np.zeros(order + 1)
    for value, duration in phases:
        if not duration:
            continue
        pieces.append(np.array([*end[:order], value / factorial(order)]))
        end = moved(pieces[-1], duration)
        breaks.append(breaks[-1] + duration)
    if pieces:
        breaks[-1] = finish
        end[:order] = np.eye(order)[0]
    rows = np.array(pieces).reshape(len(pieces), order + 1, 1)
    return PiecewisePolynomial(np.array(breaks), rows, end[:, None])


def least_ratio(limits: np.ndarray, distances: np.ndarray) -> float:
    """The limit of s that keeps those of all coordinates; infinite where none of them moves.

    Raises
    ------
    ValueError
        It is beyond all scales.
    """
    moving = distances > 0
    if not moving.any():
        return inf
    with np.errstate(over="ignore"):
        ratio = float((limits[moving] / distances[moving]).min())
    if not 1 / HUGE < ratio < HUGE:
        raise ValueError(
            f"a limit is {ratio:g} times the way from start to end; expected {1 / HUGE:g} to "
            f"{HUGE:g}: are the units right?"
        )
    return ratio


@dataclass(frozen=True, eq=False)
class Trapezoid(Profile):
    """Straight from rest to rest with a trapezoid of velocity, in the least time.

    A short way has a triangle: the velocity limit is not met. Coordinates move along the straight
    line together, so that the slowest one meets its limits and the others stay below theirs.

    Parameters
    ----------
    start, end : number or (m,) array
        Points [rad, m].
    velocity, acceleration : number or (m,) array, > 0
        Limits [rad/s, m/s; per s].
    deceleration : number or (m,) array, > 0, optional
        Limit on the way to rest; by default the acceleration.
    duration : float, optional
        Longer than the least time [s]: the motion is slowed down.
    begin : float
        Time at which it begins [s].

    Raises
    ------
    ShapeError, ValueError, TypeError
        Shapes do not fit; a limit is not above 0; the duration is too short.

    References
    ----------
    Biagiotti and Melchiorri, Trajectory Planning for Automatic Machines and Robots (2008), 3.2.

    Examples
    --------
    >>> import dalembert as da
    >>> move = da.generators.Trapezoid([0.0, 0.0], [3.0, 1.0], velocity=1.0, acceleration=1.0)
    >>> move.duration
    4.0
    >>> q, qd, qdd = move(2.0)
    >>> q, qd
    (array([1.5, 0.5]), array([1.        , 0.33333333]))
    """

    velocity: Any
    acceleration: Any
    deceleration: Any = None
    duration: Any = None
    begin: float = 0.0

    def __post_init__(self) -> None:
        distances = self._distances()
        m = distances.size
        given = self.acceleration if self.deceleration is None else self.deceleration
        limits = {
            "velocity": limit("velocity", self.velocity, m),
            "acceleration": limit("acceleration", self.acceleration, m),
            "deceleration": limit("deceleration", given, m),
        }
        put(self, **limits)
        v, a, d = (least_ratio(x, distances) for x in limits.values())
        phases = trapezoid_phases(v, a, d) if distances.any() else []
        self._put_phases(phases, 2, self.begin, self.duration)


def trapezoid_phases(v: float, a: float, d: float) -> list[ProfilePhase]:
    """Phases of s'' that move s from 0 to 1 in the least time, |s'| <= v, -d <= s'' <= a."""
    peak = min(v, sqrt(2 * a * d / (a + d)))
    cruise = 1 / peak - peak / (2 * a) - peak / (2 * d)
    return [
        ProfilePhase(a, peak / a),
        ProfilePhase(0.0, max(cruise, 0.0)),
        ProfilePhase(-d, peak / d),
    ]


@dataclass(frozen=True, eq=False)
class SCurve(Profile):
    """Straight from rest to rest with limited jerk, in the least time (double S, seven phases).

    On a short way the limits of velocity, or of velocity and acceleration, are not met, and phases
    are left out. Coordinates move along the straight line together.

    Parameters
    ----------
    start, end : number or (m,) array
        Points [rad, m].
    velocity, acceleration, jerk : number or (m,) array, > 0
        Limits [rad/s, m/s; per s; per s^2].
    duration : float, optional
        Longer than the least time [s]: the motion is slowed down.
    begin : float
        Time at which it begins [s].

    Raises
    ------
    ShapeError, ValueError, TypeError
        Shapes do not fit; a limit is not above 0; the duration is too short.

    References
    ----------
    Biagiotti and Melchiorri, Trajectory Planning for Automatic Machines and Robots (2008), 3.4.

    Examples
    --------
    >>> import dalembert as da
    >>> move = da.generators.SCurve(0.0, 4.0, velocity=1.0, acceleration=1.0, jerk=2.0)
    >>> move.duration
    5.5
    >>> q, qd, qdd = move(0.5)
    >>> qd, qdd
    (array([0.25]), array([1.]))
    """

    velocity: Any
    acceleration: Any
    jerk: Any
    duration: Any = None
    begin: float = 0.0

    def __post_init__(self) -> None:
        distances = self._distances()
        m = distances.size
        limits = {
            name: limit(name, getattr(self, name), m)
            for name in ("velocity", "acceleration", "jerk")
        }
        put(self, **limits)
        v, a, j = (least_ratio(x, distances) for x in limits.values())
        phases = double_s_phases(v, a, j) if distances.any() else []
        self._put_phases(phases, 3, self.begin, self.duration)


def double_s_phases(v: float, a: float, j: float) -> list[ProfilePhase]:
    """Phases of s''' that move s from 0 to 1 in the least time, |s'| <= v, |s''| <= a, |s'''| <= j.

    Either way the acceleration grows for a time T_j and speeding up takes T_a; then s' is constant
    for T_v:

        s' meets v:   T_j = min(a/j, sqrt(v/j)),    T_a = T_j + v/(j T_j),  T_v = 1/v - T_a
        s' does not:  T_j = min(a/j, cbrt(1/(2j))), T_a = T_j/2 + sqrt(T_j^2/4 + 1/(j T_j))
    """
    T_j = min(a / j, sqrt(v / j))
    T_a = T_j + v / (j * T_j)
    T_v = 1 / v - T_a
    if T_v < 0:
        T_j = min(a / j, cbrt(1 / (2 * j)))
        T_a = T_j / 2 + sqrt(T_j * T_j / 4 + 1 / (j * T_j))
        T_v = 0.0
    flat = max(T_a - 2 * T_j, 0.0)  # of the acceleration
    up = [ProfilePhase(j, T_j), ProfilePhase(0.0, flat), ProfilePhase(-j, T_j)]
    down = [ProfilePhase(-j, T_j), ProfilePhase(0.0, flat), ProfilePhase(j, T_j)]
    return [*up, ProfilePhase(0.0, T_v), *down]
