"""Rotations by rotation vectors, in polynomials that have no singular point within a turn."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from math import factorial

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

TERMS = 14  # of the series: error 1e-17 at half a turn, 1e-8 at a turn


def series(square: Scalar, first: int, terms: int = TERMS) -> Scalar:
    """sum_k (-square)^k / (2 k + first)!: sin(t)/t, (1 - cos t)/t^2, (t - sin t)/t^3 for first = 1, 2,
    3 and square = t^2.
    """
    total: Scalar = 0
    for k in reversed(range(terms)):
        sign = -1 if k % 2 else 1
        total = total * square + Fraction(sign, factorial(2 * k + first))
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
    square = theta.dot(theta)
    K = theta.matrix()
    A, B = series(square, 1, terms), series(square, 2, terms)
    return Dense(IDENTITY + K * A + (K @ K) * B)


def rate_map(theta: Vector, rate: Vector, terms: int = TERMS) -> Vector:
    """Angular velocity in the turned axes from the rate of the rotation vector, T(theta) rate."""
    if only_axis(theta) is not None and only_axis(rate) == only_axis(theta):
        return rate
    square = theta.dot(theta)
    once = theta.cross(rate)
    B, C = series(square, 2, terms), series(square, 3, terms)
    return rate - once * B + theta.cross(once) * C


def turned_axis(theta: Vector, terms: int = TERMS) -> Vector:
    """exp([theta]x) e_x."""
    if (k := only_axis(theta)) is not None:
        return AxisTurn(k, cos(theta[k]), sin(theta[k])).to_parent(AXES[0])
    square = theta.dot(theta)
    once = theta.cross(AXES[0])
    twice = theta.cross(once)
    return AXES[0] + once * series(square, 1, terms) + twice * series(square, 2, terms)
