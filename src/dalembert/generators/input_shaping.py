"""Input shaping: programs that leave a vibration of known frequency at rest.

Singer and Seering, Preshaping command inputs to reduce system vibration, Journal of Dynamic
Systems, Measurement, and Control 112 (1990) 76-82.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from dalembert.arguments import check_instance, put, refused
from dalembert.generators.motion_data import coordinates, number, positive
from dalembert.generators.time_generator import TimeGenerator

TOTAL = 1e-9  # by how much the sum of the amplitudes may miss 1


@dataclass(frozen=True, eq=False)
class Shaper:
    """A row of impulses: convolved with a program, it delays parts of it.

        y(t) = sum_k amplitudes_k program(t - times_k),    sum_k amplitudes_k = 1

    `zv` and `zvd` make it for a vibration; shapers of several vibrations are multiplied.

    Parameters
    ----------
    times : (k,) array
        0 or more [s].
    amplitudes : (k,) array
        With the sum 1, so that the program ends where it did.

    Raises
    ------
    ShapeError, ValueError

    Examples
    --------
    >>> import dalembert as da
    >>> shaper = da.generators.zv(10.0) * da.generators.zv(40.0)
    >>> shaper.times.round(3), shaper.amplitudes
    (array([0.   , 0.079, 0.314, 0.393]), array([0.25, 0.25, 0.25, 0.25]))
    """

    times: Any
    amplitudes: Any

    def __post_init__(self) -> None:
        times = coordinates("times", self.times)
        amplitudes = coordinates("amplitudes", self.amplitudes)
        if times.shape != amplitudes.shape or not (times >= 0).all():
            raise ValueError(
                f"times {times.tolist()} and amplitudes {amplitudes.tolist()}: expected as many of "
                "both, and times of 0 or more."
            )
        if abs(amplitudes.sum() - 1) > TOTAL:
            raise ValueError(f"the sum of the amplitudes is {amplitudes.sum():.9g}, expected 1.")
        put(self, times=times, amplitudes=amplitudes)

    @property
    def delay(self) -> float:
        """Time by which the shaped program ends later [s]."""
        return float(self.times.max())

    def __mul__(self, other: Shaper) -> Shaper:
        """The shaper of the vibrations of both."""
        check_instance("a shaper", other, Shaper, "a Shaper, as da.generators.zv(10.0)")
        times = np.add.outer(self.times, other.times).ravel()
        order = np.argsort(times, kind="stable")
        amplitudes = np.multiply.outer(self.amplitudes, other.amplitudes).ravel()
        return Shaper(times[order], amplitudes[order])

    def residual(self, frequency: Any, damping_ratio: float = 0.0) -> Any:
        """Vibration that is left, as a part of that of the unshaped program.

            V = exp(-zeta w t_k) |sum_k A_k exp(zeta w t_k) exp(i w_d t_k)|,   t_k of the last impulse

        Parameters
        ----------
        frequency : float or (N,) array
            Undamped, w [rad/s].
        damping_ratio : float
            zeta, 0 or more and less than 1.

        Returns
        -------
        float or (N,) array

        Raises
        ------
        ValueError

        Examples
        --------
        >>> import dalembert as da
        >>> shaper = da.generators.zv(10.0)
        >>> shaper.residual([10.0, 11.0]).round(3)
        array([0.   , 0.156])
        """
        ratio = _checked_ratio(damping_ratio)
        w = np.asarray(frequency, dtype=float)[..., None]
        decay = ratio * w * (self.times - self.delay)
        turn = w * np.sqrt(1 - ratio * ratio) * self.times
        total = (self.amplitudes * np.exp(decay + 1j * turn)).sum(axis=-1)
        return np.abs(total)[()]


def zv(frequency: float, damping_ratio: float = 0.0) -> Shaper:
    """Shaper for zero vibration: two impulses, half a period apart.

        K = exp(-pi zeta / sqrt(1 - zeta^2)),    amplitudes (1, K) / (1 + K)

    Parameters
    ----------
    frequency : float
        Undamped, of the vibration [rad/s].
    damping_ratio : float
        0 or more and less than 1.

    Returns
    -------
    Shaper

    Raises
    ------
    ValueError, TypeError, ShapeError

    References
    ----------
    Singer and Seering (1990).

    Examples
    --------
    >>> import dalembert as da
    >>> da.generators.zv(10.0, 0.1).amplitudes.round(4)
    array([0.5783, 0.4217])
    """
    return _shaper(frequency, damping_ratio, (1, 1))


def zvd(frequency: float, damping_ratio: float = 0.0) -> Shaper:
    """Shaper for zero vibration and derivative: three impulses; an error of the frequency leaves a
    vibration of the second order only.

        amplitudes (1, 2 K, K^2) / (1 + K)^2

    Parameters
    ----------
    frequency : float
        Undamped, of the vibration [rad/s].
    damping_ratio : float
        0 or more and less than 1.

    Returns
    -------
    Shaper

    Raises
    ------
    ValueError, TypeError, ShapeError

    References
    ----------
    Singer and Seering (1990).

    Examples
    --------
    >>> import dalembert as da
    >>> [float(f(10.0).residual(11.0).round(3)) for f in (da.generators.zv, da.generators.zvd)]
    [0.156, 0.024]
    """
    return _shaper(frequency, damping_ratio, (1, 2, 1))


def _shaper(frequency: float, damping_ratio: float, binomial: tuple[int, ...]) -> Shaper:
    w = positive("frequency", frequency)
    ratio = _checked_ratio(damping_ratio)
    damped = np.sqrt(1 - ratio * ratio)
    K = np.exp(-np.pi * ratio / damped)
    steps = np.arange(len(binomial))
    amplitudes = np.array(binomial) * K**steps
    return Shaper(steps * np.pi / (w * damped), amplitudes / amplitudes.sum())


def _checked_ratio(value: Any) -> float:
    ratio = number("damping_ratio", value)
    if not 0 <= ratio < 1:
        raise ValueError(f"damping_ratio is {ratio:g}, expected 0 or more and less than 1.")
    return ratio


@dataclass(frozen=True, eq=False)
class Shaped(TimeGenerator):
    """A program of time through a shaper; its derivatives are exact.

    Before it begins the program must stay where it is, as programs from point to point do.

    Parameters
    ----------
    program : generator of time
    shaper : Shaper

    Raises
    ------
    TypeError

    Examples
    --------
    >>> import dalembert as da
    >>> move = da.generators.Polynomial([0.0], [1.0], duration=1.0)
    >>> shaped = da.generators.Shaped(move, da.generators.zv(2 * 3.141592653589793))
    >>> shaped(0.75)[0], shaped(2.0)[0]
    (array([0.5]), array([1.]))
    """

    program: TimeGenerator
    shaper: Shaper

    def __post_init__(self) -> None:
        if not isinstance(self.program, TimeGenerator):
            raise refused("program", self.program, "a generator of time")
        check_instance("shaper", self.shaper, Shaper, "a Shaper, as da.generators.zv(10.0)")

    def values(self, t: Any, order: int) -> list[Any]:
        """[y, y', ..., y^(order)] at a time [s], each (m,), or (N, m) for times (N,)."""
        pairs = zip(self.shaper.times.tolist(), self.shaper.amplitudes.tolist(), strict=True)
        parts = [
            [row * amplitude for row in self.program.values(t - delay, order)]
            for delay, amplitude in pairs
        ]
        return [sum(rows[1:], rows[0]) for rows in zip(*parts, strict=True)]
