"""Rotations by rotation vectors, in polynomials that have no singular point within a turn."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from math import factorial
from typing import NamedTuple

from dalembert.expr import (
    cos,
    known_zero,
    sin,
)
from dalembert.spatial.rotations import (
    NO_ROTATION,
    AxisTurn,
    Dense,
    Rotation,
)
from dalembert.spatial.vectors import (
    AXES,
    IDENTITY,
    Scalar,
    Vector,
)

HALF = Fraction(1, 2)
TERMS = 10  # of the series: error 1e-15 at half a turn, 1e-9 at a turn
SMALL_TERMS = 7  # the same at a radian, 1e-12 at two


class HalfTurn(NamedTuple):
    """Functions of a rotation by an angle t, without division by it.

    sine : sin(t)/t; versine : (1 - cos t)/t^2; rest : (t - sin t)/t^3
    """

    sine: Scalar
    versine: Scalar
    rest: Scalar

    @staticmethod
    def of(square: Scalar, terms: int = TERMS) -> HalfTurn:
        """By series of c = cos(t/2), s = sin(t/2)/(t/2) in (t/2)^2, from t^2."""
        h = square * Fraction(1, 4)
        c = _series(h, [Fraction(1, factorial(2 * k)) for k in range(terms)])
        s = _series(h, [Fraction(1, factorial(2 * k + 1)) for k in range(terms)])
        by_h = _series(h, [Fraction(-k - 1, factorial(2 * k + 3)) for k in range(terms - 1)])
        versine = s * s * HALF
        return HalfTurn(c * s, versine, (c * by_h + versine) * HALF)


def _series(h: Scalar, coefficients: Sequence[Fraction]) -> Scalar:
    """sum_k (-h)^k c_k."""
    total: Scalar = 0
    for k, c in reversed(list(enumerate(coefficients))):
        total = total * h + (-c if k % 2 else c)
    return total


def only_axis(theta: Sequence[Scalar]) -> int | None:
    """The axis of a rotation vector along a coordinate axis, or None."""
    moving = [k for k, x in enumerate(theta) if not known_zero(x)]
    return moving[0] if len(moving) == 1 else None


def turn_by(theta: Vector, terms: int = TERMS) -> Rotation:
    """exp([theta]x)."""
    if all(map(known_zero, theta)):
        return NO_ROTATION
    if (k := only_axis(theta)) is not None:
        return AxisTurn(k, cos(theta[k]), sin(theta[k]))
    half = HalfTurn.of(theta.dot(theta), terms)
    K = theta.matrix()
    return Dense(IDENTITY + K * half.sine + (K @ K) * half.versine)


def rate_map(theta: Vector, rate: Vector, terms: int = TERMS) -> Vector:
    """Angular velocity in the turned axes from the rate of the rotation vector, T(theta) rate."""
    if only_axis(theta) is not None and only_axis(rate) == only_axis(theta):
        return rate
    half = HalfTurn.of(theta.dot(theta), terms)
    once = theta.cross(rate)
    return rate - once * half.versine + theta.cross(once) * half.rest


def turned_axis(theta: Vector, terms: int = TERMS) -> Vector:
    """exp([theta]x) e_x."""
    if (k := only_axis(theta)) is not None:
        return AxisTurn(k, cos(theta[k]), sin(theta[k])).to_parent(AXES[0])
    half = HalfTurn.of(theta.dot(theta), terms)
    once = theta.cross(AXES[0])
    return AXES[0] + once * half.sine + theta.cross(once) * half.versine
