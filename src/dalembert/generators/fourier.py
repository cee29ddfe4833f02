"""Programs of sines and cosines: constants, a sinusoid for each coordinate, Fourier series."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from dalembert.arguments import check_whole, put, real_array, saying, vector
from dalembert.errors import ShapeError
from dalembert.expr import cos, sin
from dalembert.generators.motion_data import as_column, coordinates, per_coordinate, positive
from dalembert.generators.time_generator import TimeGenerator

MOST_HARMONICS = 100
SAMPLES = 100  # of a period for each harmonic, to find the largest deviation


@dataclass(frozen=True, eq=False)
class Hold(TimeGenerator):
    """A posture that does not change: q(t) = q.  q (n,) [rad, m].

    Examples
    --------
    >>> import dalembert as da
    >>> q, qd, qdd = da.controllers.Hold([0.5, 0.0])(1.0)
    >>> q
    array([0.5, 0. ])
    """

    q: Any

    def __post_init__(self) -> None:
        put(self, q=vector(self.q, "q", real_array("q", self.q).size))

    def values(self, t: Any, order: int) -> list[Any]:
        """[q, 0, ..., 0], each (n,)."""
        return [self.q, *(np.zeros_like(self.q) for _ in range(order))]


@dataclass(frozen=True, eq=False)
class Sinusoids(TimeGenerator):
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

    def __post_init__(self) -> None:
        n = real_array("center", self.center).size
        for name in ("center", "amplitude", "frequency", "phase"):
            put(self, **{name: per_coordinate(name, getattr(self, name), n)})

    def values(self, t: Any, order: int) -> list[Any]:
        """[q, qd, ..., q^(order)] at a time [s], each (n,), or (N, n) for times (N,)."""
        angle = self.frequency * as_column(t) + self.phase
        nothing = np.zeros_like(self.amplitude)
        rows = wave(nothing, self.amplitude, self.frequency, angle, order)
        return [self.center + rows[0], *rows[1:]]


@dataclass(frozen=True, eq=False)
class Fourier(TimeGenerator):
    """A finite Fourier series for each coordinate, all with the same period.

        y(t) = center + sum_k cosines_k cos(k w t) + sines_k sin(k w t),    k = 1, ..., K

    Parameters
    ----------
    center : number or (m,) array
        Mean [rad, m].
    cosines, sines : (K, m) arrays
        Amplitudes of the harmonics [rad, m]; a vector (K,) where m = 1.
    frequency : float
        w of the first harmonic [rad/s].

    Raises
    ------
    ShapeError, ValueError, TypeError
        Shapes do not fit; the frequency is not above 0.

    References
    ----------
    Swevers et al., Optimal robot excitation and identification (1997).

    Examples
    --------
    >>> import dalembert as da
    >>> wave = da.generators.Fourier([1.0], cosines=[0.5, 0.0], sines=[0.0, 0.25], frequency=2.0)
    >>> y, yd, ydd = wave(0.0)
    >>> y, yd, ydd
    (array([1.5]), array([1.]), array([-2.]))
    """

    center: Any
    cosines: Any
    sines: Any
    frequency: Any

    def __post_init__(self) -> None:
        center = coordinates("center", self.center)
        amplitudes = {
            "cosines": _harmonic_rows("cosines", self.cosines, center.size),
            "sines": _harmonic_rows("sines", self.sines, center.size),
        }
        shapes = [rows.shape for rows in amplitudes.values()]
        if shapes[0] != shapes[1]:
            raise ShapeError(
                f"cosines has {shapes[0][0]} harmonics and sines {shapes[1][0]}.",
                "sines",
                shapes[1],
                shapes[0],
            )
        frequency = positive("frequency", self.frequency)
        put(self, center=center, frequency=frequency, **amplitudes)

    @classmethod
    def excitation(
        cls, center: Any, amplitude: Any, period: float, harmonics: int = 5, seed: int = 0
    ) -> Fourier:
        """A random series for identification, which begins and ends each period at rest in its
        center: y - center, y' and y'' are 0 there.

        Parameters
        ----------
        center : number or (m,) array
            [rad, m]
        amplitude : number or (m,) array, >= 0
            Largest deviation of each coordinate from its center [rad, m].
        period : float
            [s]
        harmonics : int
            3 to 100.
        seed : int
            Of the random numbers.

        Raises
        ------
        ShapeError, ValueError, TypeError
            Shapes do not fit; the period is not above 0; harmonics are too few.

        Examples
        --------
        >>> import dalembert as da
        >>> wave = da.generators.Fourier.excitation([0.2, -0.1], 0.5, period=10.0)
        >>> y, yd, ydd = wave(0.0)
        >>> y.round(12), abs(yd).round(12), abs(ydd).round(12)
        (array([ 0.2, -0.1]), array([0., 0.]), array([0., 0.]))
        """
        check_whole("harmonics", harmonics, 3)
        check_whole("seed", seed, 0)
        if harmonics > MOST_HARMONICS:
            raise ValueError(saying("harmonics", harmonics, f"{MOST_HARMONICS} at most"))
        middle = coordinates("center", center)
        largest = per_coordinate("amplitude", amplitude, middle.size)
        w = 2 * np.pi / positive("period", period)
        k = np.arange(1.0, harmonics + 1)
        random = np.random.default_rng(seed)
        shape = (harmonics, middle.size)
        cosines = random.normal(size=shape) / k[:, None]
        cosines = _orthogonal(cosines, np.array([k**0, k**2]))  # y = 0 and y'' = 0
        sines = random.normal(size=shape) / k[:, None]
        sines = _orthogonal(sines, k[None])  # y' = 0
        deviation = cls(0 * middle, cosines, sines, w)
        times = np.linspace(0, 2 * np.pi / w, SAMPLES * harmonics)
        y = deviation.values(times, 0)[0]
        scale = largest / np.abs(y).max(axis=0)
        return cls(middle, cosines * scale, sines * scale, w)

    def values(self, t: Any, order: int) -> list[Any]:
        """[y, y', ..., y^(order)] at a time [s], each (m,), or (N, m) for times (N,)."""
        t = as_column(t)
        rows = [self.center, *(0 * self.center for _ in range(order))]
        w = 0.0
        for a, b in zip(self.cosines, self.sines, strict=True):
            w += self.frequency
            harmonic = wave(a, b, w, w * t, order)
            rows = [row + term for row, term in zip(rows, harmonic, strict=True)]
        return rows


def wave(a: Any, b: Any, frequency: Any, angle: Any, order: int) -> list[Any]:
    """a cos(angle) + b sin(angle) and its derivatives by time, where the angle grows with the
    frequency.
    """
    c = cos(angle)
    s = sin(angle)
    rows = []
    for _ in range(order + 1):
        rows.append(a * c + b * s)
        a, b = frequency * b, -frequency * a
    return rows


def _orthogonal(rows: np.ndarray, conditions: np.ndarray) -> np.ndarray:
    """The nearest rows with conditions @ rows = 0."""
    return rows - np.linalg.pinv(conditions) @ (conditions @ rows)


def _harmonic_rows(name: str, value: Any, m: int) -> np.ndarray:
    """Amplitudes (K, m), of one coordinate also as (K,).

    Raises
    ------
    ShapeError, ValueError, TypeError
    """
    rows = real_array(name, value)
    if rows.ndim == 1 and m == 1:
        rows = rows[:, None]
    if rows.ndim != 2 or rows.shape[1] != m or not len(rows):
        raise ShapeError(
            f"{name} has shape {rows.shape}, expected (K, {m}): a row for each harmonic.",
            name,
            rows.shape,
        )
    if not np.isfinite(rows).all():
        raise ValueError(f"{name} has entries that are not finite.")
    return rows
