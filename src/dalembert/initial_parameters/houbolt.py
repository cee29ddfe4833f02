"""Houbolt's differences, and their effect on a vibration."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np


class Levels(NamedTuple):
    """Values X(t), X(t - h), X(t - 2 h) of the last three levels, from which Houbolt's method goes
    on to t + h.
    """

    last: np.ndarray
    before: np.ndarray
    first: np.ndarray

    def advanced(self, new: np.ndarray) -> Levels:
        """Levels of the next step."""
        return Levels(new, self.last, self.before)

    def earlier(self) -> Levels:
        """Levels of the step before, along a straight line."""
        return Levels(self.before, self.first, 2 * self.first - self.before)

    def predicted(self) -> np.ndarray:
        """X(t + h) by a parabola through the levels."""
        return 3 * self.last - 3 * self.before + self.first

    def rate(self, new: np.ndarray, h: float) -> np.ndarray:
        """dX/dt at t + h, where X is new."""
        return (11 * new - 18 * self.last + 9 * self.before - 2 * self.first) / (6 * h)

    def curvature(self) -> np.ndarray:
        """Part of h^2 d2X/dt2 at t + h that does not depend on X(t + h); the other one is 2 X(t + h)."""
        return -5 * self.last + 4 * self.before - self.first


class NumericalDamping(NamedTuple):
    """Effect of a method on an undamped vibration.

    damping_ratio: of the vibration that the method makes of it [-]
    frequency_ratio: its frequency by the exact one [-]
    """

    damping_ratio: np.ndarray
    frequency_ratio: np.ndarray


def houbolt_damping(omega, h) -> NumericalDamping:
    """Numerical damping and lengthening of the period of Houbolt's method.

    The method makes x'' = -omega^2 x into (2 + omega^2 h^2) z^3 - 5 z^2 + 4 z - 1 = 0, where z is the
    factor of a step; the root of greatest modulus is the vibration.

    Parameters
    ----------
    omega : number or array (...)
        Angular frequency of the vibration [rad/s].
    h : number or array (...)
        Step [s].

    Returns
    -------
    NumericalDamping
        `damping_ratio` (...) and `frequency_ratio` (...) [-].

    Raises
    ------
    ValueError
        A frequency or a step is not positive.

    Examples
    --------
    A frequency of 279 rad/s in steps of 2.5 ms is no longer that frequency:

    >>> import dalembert as da
    >>> effect = da.houbolt_damping(278.96, 2.5e-3)
    >>> print(f"{effect.damping_ratio:.4f}, {effect.frequency_ratio:.4f}")
    0.0668, 0.8736

    References
    ----------
    Houbolt, A recurrence matrix solution for the dynamic response of elastic aircraft, Journal of
    the Aeronautical Sciences 17 (1950).
    """
    turned = np.multiply(omega, h)  # angle in a step
    if not np.all(turned > 0) or not np.all(np.greater(h, 0)):
        raise ValueError(f"omega={omega} and h={h}: expected a frequency and a step above 0.")
    z = np.vectorize(_principal_root, otypes=[complex])(turned)
    exponent = np.log(z)
    return NumericalDamping(-exponent.real / np.abs(exponent), np.abs(exponent.imag) / turned)


def _principal_root(turned: float) -> complex:
    """Factor of a step of the vibration."""
    roots = np.roots([2 + turned**2, -5, 4, -1])
    return roots[np.argmax(np.abs(roots) + 1e-9 * (roots.imag > 0))]
