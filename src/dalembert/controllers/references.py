"""References: functions t -> (q, qd, qdd) that run on floats and on expressions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from dalembert.arguments import real_array
from dalembert.controllers.checks import put, vector
from dalembert.errors import ShapeError, public_names
from dalembert.expr import cos, maximum, minimum, sin


@dataclass(frozen=True, eq=False)
class Hold:
    """A posture that does not change: q(t) = q.  q (n,) [rad, m].

    Examples
    --------
    >>> import dalembert as da
    >>> q, qd, qdd = da.controllers.Hold([0.5, 0.0])(1.0)
    >>> q
    array([0.5, 0. ])
    """

    q: Any
    unchanging = True  # traced once
    __dir__ = public_names

    def __post_init__(self) -> None:
        put(self, q=vector(self.q, "q", real_array("q", self.q).size))

    def __call__(self, t: Any) -> tuple[Any, Any, Any]:
        return self.q, 0 * self.q, 0 * self.q


@dataclass(frozen=True, eq=False)
class Sinusoids:
    """Each coordinate on a sinusoid of its own.

        q_k(t) = center_k + amplitude_k sin(frequency_k t + phase_k)

    center, amplitude (n,) [rad, m]; frequency, phase: one number or (n,) [rad/s, rad].

    Examples
    --------
    >>> import dalembert as da
    >>> q, qd, qdd = da.controllers.Sinusoids([0.0], [0.5], frequency=2.0)(0.0)
    >>> qd
    array([1.])
    """

    center: Any
    amplitude: Any
    frequency: Any = 1.0
    phase: Any = 0.0
    unchanging = True
    __dir__ = public_names

    def __post_init__(self) -> None:
        n = real_array("center", self.center).size
        for name in ("center", "amplitude", "frequency", "phase"):
            value = real_array(name, getattr(self, name))
            put(self, **{name: vector(np.full(n, value) if value.ndim == 0 else value, name, n)})

    def __call__(self, t: Any) -> tuple[Any, Any, Any]:
        w, A = self.frequency, self.amplitude
        angle = w * t + self.phase
        return self.center + A * sin(angle), w * A * cos(angle), -w * w * A * sin(angle)


@dataclass(frozen=True, eq=False)
class Quintic:
    """From point to point, at rest in each: polynomials of degree five, whose velocity and
    acceleration begin and end at 0.

        q(t) = q_0 + sum_k (q_k - q_k-1) r(u_k),    r(u) = 10 u^3 - 15 u^4 + 6 u^5,
        u_k = min(max((t - t_k-1) / (t_k - t_k-1), 0), 1)

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
    unchanging = True
    __dir__ = public_names

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
        if not np.isfinite(points).all() or not (np.diff(times) > 0).all():
            raise ValueError(f"times {times.tolist()} must increase, and points be finite.")
        put(self, points=points, times=times)

    def __call__(self, t: Any) -> tuple[Any, Any, Any]:
        q = self.points[0]
        qd = 0.0
        qdd = 0.0
        for d, t0, T in zip(
            np.diff(self.points, axis=0), self.times, np.diff(self.times), strict=False
        ):
            u = minimum(maximum((t - t0) / T, 0), 1)  # at both ends the polynomials below are 0
            v = 1 - u
            q = q + d * (u * u * u * (10 - 15 * u + 6 * u * u))
            qd = qd + d * (30 * u * u * v * v / T)
            qdd = qdd + d * (60 * u * v * (v - u) / T**2)
        return q, qd, qdd
