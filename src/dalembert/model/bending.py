"""Kinematics of a bent beam: places and turns of its cross-sections by its coordinates."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

from dalembert.beams.beam_quadrature import (
    Rule,
    gauss,
)
from dalembert.beams.integrals import (
    TRANSCENDENTAL,
    breaks_of,
    cumulative_weights,
    degree_of,
    products_to,
    rule_of,
)
from dalembert.beams.shape_functions import (
    BEND_Y,
    BEND_Z,
    STRETCH,
    TWIST,
    ShapeFunctions,
)
from dalembert.model.beam import Shapes
from dalembert.spatial.turns import turned_axis
from dalembert.spatial.vectors import (
    AXES,
    ZERO,
    Scalar,
    Vector,
)

HALF = Fraction(1, 2)
SLOPES, CURVATURES = 1, 2  # derivatives by xi
MORE_POINTS = (
    4  # of quadrature than the shape functions need, where sines and cosines are integrated
)


@dataclass(frozen=True)
class Bending:
    """Displacements of the cross-sections of a beam, by its coordinates delta.

        v, w, twist, u (x) = sum_i delta_i phi_i(x / length)

    Lists of coordinates are of all directions, in their order; numbers or expressions.
    """

    shapes: Shapes
    kinematics: str

    @cached_property
    def count(self) -> int:
        """Number of coordinates."""
        return sum(functions.count for _, functions in self.shapes)

    @cached_property
    def names(self) -> tuple[str, ...]:
        """Names of the coordinates: bend_y1, bend_y2, ..."""
        return tuple(f"{d}{k + 1}" for d, f in self.shapes for k in range(f.count))

    @cached_property
    def at(self) -> dict[str, slice]:
        """Places of the directions among the coordinates."""
        places, start = {}, 0
        for direction, functions in self.shapes:
            places[direction] = slice(start, start + functions.count)
            start += functions.count
        return places

    @cached_property
    def breaks(self) -> tuple[Any, ...]:
        """Ends of the pieces on which all shape functions are smooth."""
        return breaks_of(*(f for _, f in self.shapes))

    @cached_property
    def degree(self) -> int | None:
        """Highest degree of the shape functions."""
        return degree_of(*(f for _, f in self.shapes))

    @cached_property
    def functions(self) -> dict[str, ShapeFunctions]:
        """Shape functions by direction."""
        return dict(self.shapes)

    @cached_property
    def axis(self) -> int | None:
        """The axis about which alone the cross-sections turn: 0, 1, 2 for x, y, z; None of several."""
        axes = [axis for direction, axis in _AXIS_OF.items() if direction in self.at]
        return axes[0] if len(axes) == 1 else None

    @property
    def is_polynomial(self) -> bool:
        """Whether places are polynomials of the coordinates, by products of shape functions."""
        return self.kinematics in ("first_order", "second_order")

    def slices(self, exact: bool) -> Rule:
        """Quadrature of the mass; exact for polynomials of the coordinates."""
        if self.is_polynomial and self.degree is not None:
            order = 1 if self.kinematics == "first_order" else 2
            return rule_of(self.breaks, max(2, 2 * order * (self.degree - order + 1)), exact)
        return self.nodes

    @cached_property
    def nodes(self) -> Rule:
        """Quadrature along the centre line."""
        points = TRANSCENDENTAL if self.degree is None else self.degree + MORE_POINTS
        return gauss(self.breaks, points)

    def displacement(
        self, direction: str, delta: Sequence[Scalar], xi: Any, derivative: int = 0
    ) -> Scalar:
        """Sum of shape functions, or of their derivatives by xi, at a place."""
        if direction not in self.at:
            return 0
        functions = self.functions[direction]
        rows = (functions.values, functions.slopes, functions.curvatures)[derivative](xi)
        return _sum(rows, delta[self.at[direction]])

    def rotation_vector(
        self, delta: Sequence[Scalar], length: Scalar, xi: Any, derivative: int = 0
    ) -> Vector:
        """theta = (twist, -w', v') of a cross-section, or its derivative by xi."""
        v, w = (self.displacement(d, delta, xi, 1 + derivative) / length for d in _BENDS)
        return Vector((self.displacement(TWIST, delta, xi, derivative), -w, v))

    def place(self, delta: Sequence[Scalar], length: Scalar, xi: Any) -> Vector:
        """Place r of a cross-section's centre, from the beam's start."""
        if self.is_polynomial:
            return self._straight(delta, length, xi) + self._shortened(delta, length, xi)
        weights = cumulative_weights(self.nodes.nodes, self.breaks, xi)
        total = ZERO
        for node, weight in zip(self.nodes.nodes, weights, strict=True):
            total = total + self.tangent(delta, length, node) * weight
        return total * length

    def tangent(self, delta: Sequence[Scalar], length: Scalar, xi: Any) -> Vector:
        """r' = (1 + u') exp([theta]x) e_x."""
        theta = self.rotation_vector(delta, length, xi)
        along = turned_axis(theta) if self.kinematics == "exact" else _third_order(theta)
        if STRETCH not in self.at:
            return along
        return along * (1 + self.displacement(STRETCH, delta, xi, SLOPES) / length)

    def _straight(self, delta: Sequence[Scalar], length: Scalar, xi: Any) -> Vector:
        x = length * xi + self.displacement(STRETCH, delta, xi)
        across = (self.displacement(d, delta, xi) for d in _BENDS)
        return Vector((x, *across))

    def _shortened(self, delta: Sequence[Scalar], length: Scalar, xi: Any) -> Vector:
        """Terms of the second order: -1/2 (v'^2 + w'^2), u' v' - 1/2 twist w', u' w' + 1/2 twist v',
        integrated.
        """
        if self.kinematics == "first_order":
            return ZERO
        bent = [self._product(d, d, delta, xi) for d in _BENDS]
        stretched = [self._product(STRETCH, d, delta, xi) for d in _BENDS]
        twisted = [self._product(TWIST, d, delta, xi) for d in _BENDS]
        return Vector(
            (
                _total(bent) * -HALF / length,
                _total([stretched[0] / length, twisted[1] * -HALF]),
                _total([stretched[1] / length, twisted[0] * HALF]),
            )
        )

    def _product(self, one: str, other: str, delta: Sequence[Scalar], xi: Any) -> Scalar:
        """delta^T (integral from 0 to xi of phi' psi'^T, of twist phi psi'^T) delta."""
        if one not in self.at or other not in self.at:
            return 0
        rows = self.functions[one].values if one == TWIST else self.functions[one].slopes
        columns = self.functions[other].slopes
        degree = None if self.degree is None else 2 * self.degree
        matrix = products_to(xi, rows, columns, self.breaks, degree)
        right = delta[self.at[other]]
        return _sum([_sum(row, right) for row in matrix], delta[self.at[one]])


_BENDS = (BEND_Y, BEND_Z)
_AXIS_OF = {TWIST: 0, BEND_Z: 1, BEND_Y: 2}


def _third_order(theta: Vector) -> Vector:
    """exp([theta]x) e_x without terms of the fourth order and more."""
    once = theta.cross(AXES[0])
    twice = theta.cross(once)
    return AXES[0] + once + twice * HALF + theta.cross(twice) * Fraction(1, 6)


def _sum(numbers: Sequence[Any], delta: Sequence[Scalar]) -> Scalar:
    total: Any = 0
    for number, x in zip(numbers, delta, strict=True):
        if number != 0:
            total = total + x * number
    return total


def _total(values: Sequence[Scalar]) -> Scalar:
    total: Any = 0
    for x in values:
        total = total + x
    return total
