"""Kinematics of a bent beam: places and turns of its cross-sections by its coordinates."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from dalembert.beams.beam_properties import BeamProperty
from dalembert.beams.beam_quadrature import (
    Rule,
    gauss,
    radau,
)
from dalembert.beams.integrals import (
    breaks_of,
    degree_of,
    points_of,
    rule_of,
)
from dalembert.beams.shape_functions import (
    BEND_Y,
    BEND_Z,
    TWIST,
    ShapeFunctions,
)
from dalembert.model.elastic.beam import Shapes
from dalembert.spatial.vectors import (
    Scalar,
    Vector,
)

AXIS_OF = {TWIST: 0, BEND_Z: 1, BEND_Y: 2}  # of the turns by displacements
BENDS = (BEND_Y, BEND_Z)
# Points of quadrature beside the degree of the shape functions, where sines and cosines are
# integrated: errors of places are a hundredth of those of the number of modes (a soft pendulum with 3
# and 5 modes, bent by 2.5 rad: 4e-5 of the length beside 1e-1 and 8e-3).
MORE_POINTS = 2
LEAST_POINTS = 6  # a full circle by a mode of constant curvature closes to 1e-6 of the length


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

    def names(self, elements: int = 1) -> tuple[str, ...]:
        """Names of the coordinates of some elements: bend_y1, bend_y2, ..., numbered through."""
        return tuple(
            f"{direction}{element * functions.count + k + 1}"
            for element in range(elements)
            for direction, functions in self.shapes
            for k in range(functions.count)
        )

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
    def points(self) -> int:
        """Nodes of quadrature on a piece, of functions that are no polynomials."""
        return points_of(*(f for _, f in self.shapes))

    @cached_property
    def functions(self) -> dict[str, ShapeFunctions]:
        """Shape functions by direction."""
        return dict(self.shapes)

    @cached_property
    def turning(self) -> tuple[str, ...]:
        """Directions whose displacements turn the cross-sections, by axis."""
        return tuple(direction for direction in AXIS_OF if direction in self.at)

    @property
    def axis(self) -> int | None:
        """The axis about which alone the cross-sections turn: 0, 1, 2 for x, y, z; None of several."""
        return AXIS_OF[self.turning[0]] if len(self.turning) == 1 else None

    @property
    def is_polynomial(self) -> bool:
        """Whether places are polynomials of the coordinates, by products of shape functions."""
        return self.kinematics in ("first_order", "second_order")

    @property
    def is_curved(self) -> bool:
        """Whether its curvature is no linear function of the coordinates: where large turns about
        several axes are.
        """
        return not self.is_polynomial and len(self.turning) > 1

    @property
    def couples_twist(self) -> bool:
        """Whether its strain energy is linear elasticity with terms of the third order: where it
        bends about both axes and twists, in the second order.
        """
        return self.kinematics == "second_order" and len(self.turning) == len(AXIS_OF)

    def slices(self, exact: bool, varying: Sequence[BeamProperty] = ()) -> Rule:
        """Quadrature of the mass, of properties that vary; exact for polynomials of the coordinates."""
        if not self.is_polynomial or self.degree is None:
            return self.along(varying)
        breaks, more = self._pieces(varying)
        return rule_of(breaks, max(2, 2 * (self._tangent_degree + 1)) + more, exact)

    def turning_slices(self, exact: bool, varying: Sequence[BeamProperty]) -> Rule:
        """Quadrature of the rotary inertia. Where places are of the second order: exact to that order,
        and to 1e-9 of the kinetic energy beyond.
        """
        if not self.is_polynomial or self.degree is None:
            return self.along(varying)
        breaks, more = self._pieces(varying)
        return rule_of(breaks, 2 * (self._turn_degree + 1) + more, exact)

    @cached_property
    def nodes(self) -> Rule:
        """Quadrature along the centre line; exact at its nodes for polynomials of the coordinates."""
        if not self.is_polynomial or self.degree is None:
            return gauss(self.breaks, self._points)
        # at the start, where most beams are clamped, the tangent is constant
        return radau(self.breaks, self._tangent_degree + 1)

    def along(self, varying: Sequence[BeamProperty]) -> Rule:
        """Quadrature along the centre line, of properties that vary."""
        breaks, more = self._pieces(varying)
        return gauss(breaks, self._points + more)

    def _pieces(self, varying: Sequence[BeamProperty]) -> tuple[tuple[Any, ...], int]:
        """Ends of the pieces on which shape functions and properties are smooth, and the highest
        degree of these.
        """
        breaks = {*self.breaks, *(x for v in varying for x in v.breaks)}
        return tuple(sorted(breaks)), max((v.degree for v in varying), default=0)

    @property
    def _tangent_degree(self) -> int:
        """Degree of tangents along the beam, of polynomials of the coordinates."""
        order = 1 if self.kinematics == "first_order" else 2  # in slopes, and twist
        return order * self._turn_degree

    @property
    def _turn_degree(self) -> int:
        """Degree of slopes and twist."""
        assert self.degree is not None
        return self.degree - (TWIST not in self.at)

    @property
    def _points(self) -> int:
        if self.degree is None:
            return self.points
        return max(self.degree + MORE_POINTS, LEAST_POINTS)

    def displacement(
        self, direction: str, delta: Sequence[Scalar], xi: Any, derivative: int = 0
    ) -> Scalar:
        """Sum of shape functions, or of their derivatives by xi, at a place."""
        if direction not in self.at:
            return 0
        functions = self.functions[direction]
        rows = (functions.values, functions.slopes, functions.curvatures)[derivative](xi)
        return total_of(rows, delta[self.at[direction]])

    def rotation_vector(
        self, delta: Sequence[Scalar], length: Scalar, xi: Any, derivative: int = 0
    ) -> Vector:
        """theta = (twist, -w', v') of a cross-section, or its derivative by xi."""
        v, w = (self.displacement(d, delta, xi, 1 + derivative) / length for d in BENDS)
        return Vector((self.displacement(TWIST, delta, xi, derivative), -w, v))

    def turns_by(self, direction: str, xi: Any, derivative: int = 0) -> list[Any]:
        """Turns of a cross-section about its axis by unit displacements of a direction, or their
        derivatives by xi; of bending times the length. Of stretch: u'.
        """
        functions = self.functions[direction]
        orders = (functions.values, functions.slopes, functions.curvatures)
        numbers = orders[derivative + (direction != TWIST)](xi)
        return [-x for x in numbers] if direction == BEND_Z else list(numbers)

    def is_still(self, xi: Any) -> bool:
        """Whether a cross-section neither moves nor turns, as at a clamped start."""
        turned = (x for d in self.turning for x in self.turns_by(d, xi))
        moved = (x for _, functions in self.shapes for x in functions.values(xi))
        return not any(turned) and not any(moved)


def on_axes(turning: Sequence[str], components: Sequence[Any]) -> Vector:
    """The vector with components about the axes of some directions."""
    vector: list[Any] = [0, 0, 0]
    for direction, x in zip(turning, components, strict=True):
        vector[AXIS_OF[direction]] = x
    return Vector(vector)


def total_of(numbers: Sequence[Any], values: Sequence[Scalar]) -> Scalar:
    """Sum of values times numbers; terms that are zero are left out."""
    total: Any = 0
    for number, x in zip(numbers, values, strict=True):
        if number != 0:
            total = total + x * number
    return total
