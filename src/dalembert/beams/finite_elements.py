"""Finite elements along a beam as shape functions."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from dalembert.beams.shape_functions import BEND_Y, ShapeFunctions, bends, check_count
from dalembert.beams.shape_polynomials import ShapePolynomials

# Cubic functions of an element on [0, 1]: value and slope of its start, then of its end.
CUBIC = ShapePolynomials(((1, 0, -3, 2), (0, 1, -2, 1), (0, 0, 3, -2), (0, 0, -1, 1)))
LINEAR = ShapePolynomials(((1, -1), (0, 1)))


@dataclass(frozen=True)
class ElementFunctions(ShapeFunctions):
    """Shape functions of equal elements of a beam that is clamped at its start; their coordinates
    are the values at the nodes.

    Parameters
    ----------
    elements : int
        Number of elements.
    on_element : ShapePolynomials
        Functions of an element on [0, 1], half of them of each of its nodes; slopes are by xi.

    Examples
    --------
    >>> import dalembert as da
    >>> da.beams.hermite(2).values(1)      # deflection and slope of the middle and of the end
    [0, Fraction(0, 1), 1, Fraction(0, 1)]
    """

    elements: int
    on_element: ShapePolynomials

    @property
    def count(self) -> int:  # type: ignore[override]
        """Number of functions."""
        return self.elements * self._per_node

    @property
    def breaks(self) -> tuple[Any, ...]:  # type: ignore[override]
        """The nodes."""
        return tuple(Fraction(k, self.elements) for k in range(self.elements + 1))

    @property
    def degree(self) -> int:  # type: ignore[override]
        """Highest power."""
        return self.on_element.degree

    @property
    def _per_node(self) -> int:
        return self.on_element.count // 2

    def values(self, xi: Any) -> Sequence[Any]:
        """phi_i(xi)."""
        return self._derivatives(xi, 0)

    def slopes(self, xi: Any) -> Sequence[Any]:
        """d phi_i / d xi."""
        return self._derivatives(xi, 1)

    def curvatures(self, xi: Any) -> Sequence[Any]:
        """d^2 phi_i / d xi^2; at a node those of the element behind it."""
        return self._derivatives(xi, 2)

    def _derivatives(self, xi: Any, order: int) -> list[Any]:
        """Values of the element's functions at the places of its nodes, zeros elsewhere."""
        element = min(bisect_right(self.breaks, xi) - 1, self.elements - 1)
        s = xi * self.elements - element
        functions = self.on_element
        values = (functions.values, functions.slopes, functions.curvatures)[order](s)
        result: list[Any] = [0] * (self.count + self._per_node)
        for k, x in enumerate(values):
            power = order - k % self._per_node  # the slope of a node is by xi too
            scale = self.elements**power if power >= 0 else Fraction(1, self.elements**-power)
            result[element * self._per_node + k] = x * scale
        return result[self._per_node :]

    def identity(self) -> str:
        """The elements."""
        return f"{self.elements} elements of {self.on_element.identity()}"


def hermite(elements: int, direction: str = BEND_Y) -> ElementFunctions:
    """Finite elements of equal length: cubic Hermite elements of bending, linear ones of twist and
    stretch.

    Coordinates are, node by node from the first behind the clamped start, the deflection [m] and
    the slope times the length of the beam [m]; of twist and stretch the displacement alone.

    Parameters
    ----------
    elements : int
        Number of elements.
    direction : str
        'bend_y', 'bend_z', 'twist' or 'stretch'.

    Returns
    -------
    ElementFunctions

    Raises
    ------
    UnknownNameError, ValueError
        There is no such direction; the number is below 1 or above 64.

    Examples
    --------
    >>> import dalembert as da
    >>> da.beams.hermite(4).count, da.beams.hermite(4, "twist").count
    (8, 4)
    """
    twice = bends(direction)
    check_count("elements", elements)
    return ElementFunctions(elements, CUBIC if twice else LINEAR)
