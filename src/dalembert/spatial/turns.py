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
    IDENTITY,
    ZERO,
    Scalar,
    Vector,
)

HALF = Fraction(1, 2)
TERMS = 13  # of the series: error 1e-16 at half a turn, 1e-10 at a turn
SMALL_TERMS = 8  # the same at a radian, 1e-13 at two


class AngleFunctions(NamedTuple):
    """Functions of a rotation by an angle t, without division by it (Stumpff functions of t^2), and
    their derivatives by t^2.

    sine : sin(t)/t; versine : (1 - cos t)/t^2; rest : (t - sin t)/t^3
    """

    sine: Scalar
    versine: Scalar
    rest: Scalar
    versine_change: Scalar
    rest_change: Scalar

    @staticmethod
    def of(square: Scalar, terms: int = TERMS) -> AngleFunctions:
        """By series of c_4 and c_5, c_n = sum_k (-t^2)^k / (2k + n)!, from t^2.

        c_n = 1/n! - t^2 c_{n+2},  dc_n/d(t^2) = (n c_{n+2} - c_{n+1}) / 2
        """
        fourth, fifth = (
            _series(square, [Fraction(1, factorial(2 * k + n)) for k in range(terms)])
            for n in (4, 5)
        )
        rest = Fraction(1, 6) - square * fifth
        versine = HALF - square * fourth
        return AngleFunctions(
            1 - square * rest,
            versine,
            rest,
            fourth - rest * HALF,
            (fifth * 3 - fourth) * HALF,
        )


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
    of = AngleFunctions.of(theta.dot(theta), terms)
    K = theta.matrix()
    return Dense(IDENTITY + K * of.sine + (K @ K) * of.versine)


def rate_map(theta: Vector, rate: Vector, terms: int = TERMS) -> Vector:
    """Angular velocity in the turned axes from the rate of the rotation vector, T(theta) rate."""
    if only_axis(theta) is not None and only_axis(rate) == only_axis(theta):
        return rate
    of = AngleFunctions.of(theta.dot(theta), terms)
    once = theta.cross(rate)
    return rate - once * of.versine + theta.cross(once) * of.rest


def rate_map_change(theta: Vector, rate: Vector, by: Vector, terms: int = TERMS) -> Vector:
    """Derivative of T(theta) rate along a direction of theta."""
    if only_axis(theta) is not None and only_axis(rate) == only_axis(theta) == only_axis(by):
        return ZERO
    of = AngleFunctions.of(theta.dot(theta), terms)
    along = theta.dot(by) * 2
    once, turned = theta.cross(rate), by.cross(rate)
    twice = by.cross(once) + theta.cross(turned)
    return (
        theta.cross(once) * (of.rest_change * along)
        + twice * of.rest
        - once * (of.versine_change * along)
        - turned * of.versine
    )
