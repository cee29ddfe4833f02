"""Shape functions made from others, and from functions of a user's own."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from dalembert.beams.beam_quadrature import gauss
from dalembert.beams.eigenfunctions import clamped_clamped, pinned_pinned
from dalembert.beams.finite_elements import CUBIC
from dalembert.beams.integrals import breaks_of, degree_of, points_of
from dalembert.beams.shape_functions import (
    BEND_Y,
    TRANSCENDENTAL,
    ShapeFunctions,
    bends,
    check_count,
)
from dalembert.beams.shape_polynomials import ShapePolynomials
from dalembert.errors import ModelError

DEVIATION = 1e-6  # of the integral of a derivative, relative to the largest of its values
NAMES = ("values", "slopes", "curvatures")
Function = Callable[[Any], Sequence[Any]]


@dataclass(frozen=True)
class JoinedFunctions(ShapeFunctions):
    """Shape functions of several families, in their order.

    Examples
    --------
    >>> import dalembert as da
    >>> da.beams.joined(da.beams.legendre(1), da.beams.clamped_clamped(2)).count
    3
    """

    families: tuple[ShapeFunctions, ...]

    @property
    def count(self) -> int:  # type: ignore[override]
        """Number of functions."""
        return sum(family.count for family in self.families)

    @cached_property
    def breaks(self) -> tuple[Any, ...]:  # type: ignore[override]
        """Ends of the pieces on which all are smooth."""
        return breaks_of(*self.families)

    @cached_property
    def degree(self) -> int | None:  # type: ignore[override]
        """Highest degree; None: some are no polynomials."""
        return degree_of(*self.families)

    @cached_property
    def points(self) -> int:  # type: ignore[override]
        """Nodes of quadrature on a piece."""
        return points_of(*self.families)

    def values(self, xi: Any) -> Sequence[Any]:
        """phi_i(xi)."""
        return [x for family in self.families for x in family.values(xi)]

    def slopes(self, xi: Any) -> Sequence[Any]:
        """d phi_i / d xi."""
        return [x for family in self.families for x in family.slopes(xi)]

    def curvatures(self, xi: Any) -> Sequence[Any]:
        """d^2 phi_i / d xi^2."""
        return [x for family in self.families for x in family.curvatures(xi)]

    def identity(self) -> str | None:
        """Identities of the families; None where a family has none."""
        parts = [family.identity() for family in self.families]
        return None if None in parts else f"joined {parts}"


def joined(*families: ShapeFunctions) -> JoinedFunctions:
    """Shape functions of several families together, for example modes and a static deflection.

    Parameters
    ----------
    *families : ShapeFunctions

    Returns
    -------
    JoinedFunctions

    Examples
    --------
    >>> import dalembert as da
    >>> static = da.beams.ShapePolynomials(((0, 0, 3, -1),))     # a force at the end
    >>> da.beams.joined(static, da.beams.clamped_free(2)).count
    3
    """
    return JoinedFunctions(families)


def craig_bampton(count: int, direction: str = BEND_Y) -> ShapeFunctions:
    """Modes of Craig and Bampton of a uniform beam that is clamped at its start: boundary modes, unit
    displacements of the end, then fixed-interface modes, eigenfunctions with the end held.

    Bending has two boundary modes: deflection of the end [m], and its slope times the length [m];
    twist and stretch have one.

    Parameters
    ----------
    count : int
        Number of fixed-interface modes, 0 or more.
    direction : str
        'bend_y', 'bend_z', 'twist' or 'stretch'.

    Returns
    -------
    ShapeFunctions

    Raises
    ------
    UnknownNameError, ValueError
        There is no such direction; the number is negative or above 64.

    References
    ----------
    Craig, Bampton, AIAA Journal 6 (1968), 1313-1319.

    Examples
    --------
    >>> import dalembert as da
    >>> modes = da.beams.craig_bampton(2)
    >>> modes.count, [round(x, 12) + 0 for x in modes.values(1)]
    (4, [1, 0, 0.0, 0.0])
    """
    twice = bends(direction)
    check_count("count", count, 0)
    boundary = ShapePolynomials(CUBIC.coefficients[2:] if twice else ((0, 1),))
    if not count:
        return boundary
    return joined(boundary, clamped_clamped(count) if twice else pinned_pinned(count))


@dataclass(frozen=True)
class UserFunctions(ShapeFunctions):
    """Shape functions of a user's own.

    Examples
    --------
    >>> import dalembert as da
    >>> own = da.beams.functions(lambda x: [x**2], lambda x: [2 * x], lambda x: [2])
    >>> own.count
    1
    """

    functions: tuple[Function, Function, Function]
    breaks: tuple[Any, ...] = (0, 1)
    points: int = TRANSCENDENTAL

    @cached_property
    def count(self) -> int:  # type: ignore[override]
        """Number of functions."""
        return len(self.functions[0](0.5))

    def values(self, xi: Any) -> Sequence[Any]:
        """phi_i(xi)."""
        return self.functions[0](float(xi))

    def slopes(self, xi: Any) -> Sequence[Any]:
        """d phi_i / d xi."""
        return self.functions[1](float(xi))

    def curvatures(self, xi: Any) -> Sequence[Any]:
        """d^2 phi_i / d xi^2."""
        return self.functions[2](float(xi))

    def identity(self) -> None:
        """None: functions cannot be compared."""
        return


def functions(
    values: Function,
    slopes: Function,
    curvatures: Function,
    breaks: Sequence[float] = (0, 1),
    points: int = TRANSCENDENTAL,
) -> UserFunctions:
    """Shape functions of a user's own, with their derivatives.

    Parameters
    ----------
    values, slopes, curvatures : functions
        xi -> (n,) numbers: phi_i(xi), d phi_i / d xi, d^2 phi_i / d xi^2, for xi in [0, 1].
    breaks : sequence of float
        Ends of the pieces on which they are smooth, from 0 to 1.
    points : int
        Nodes of quadrature on a piece, for products of four of them.

    Returns
    -------
    UserFunctions

    Raises
    ------
    ValueError, ModelError
        The breaks do not rise from 0 to 1; the functions are not equally many; slopes or curvatures
        are not the derivatives.

    Examples
    --------
    >>> import dalembert as da
    >>> from math import cos, pi, sin
    >>> sine = da.beams.functions(lambda x: [sin(pi * x)], lambda x: [pi * cos(pi * x)], lambda x: [-pi**2 * sin(pi * x)])
    >>> sine.values(0.5)
    [1.0]
    """
    breaks = tuple(breaks)
    if breaks[:1] != (0,) or breaks[-1:] != (1,) or sorted({*breaks}) != [*breaks]:
        raise ValueError(f"breaks are {breaks}; give numbers that rise from 0 to 1.")
    check_count("points", points)
    own = UserFunctions((values, slopes, curvatures), breaks, points)
    _check_derivatives(own)
    return own


def _check_derivatives(own: UserFunctions) -> None:
    """Raise if integrals of slopes and curvatures over a piece are not differences of values and
    slopes.
    """
    for name, of, derivative in zip(NAMES, own.functions[:2], own.functions[1:], strict=False):
        for left, right in zip(own.breaks[:-1], own.breaks[1:], strict=True):
            inset = 1e-9 * (right - left)  # the functions may jump at breaks
            ends = (left + inset, right - inset)
            rule = gauss(ends, own.points)
            integral = sum(w * _row(derivative, x, own) for x, w in zip(*rule, strict=True))
            difference = _row(of, ends[1], own) - _row(of, ends[0], own)
            scale = max(1.0, *np.abs(difference), *np.abs(integral))
            worst = int(np.argmax(np.abs(integral - difference)))
            if not abs(integral - difference)[worst] <= DEVIATION * scale:
                after = NAMES[NAMES.index(name) + 1]
                raise ModelError(
                    f"{after} of shape function {worst + 1} are not the derivative of its {name}: "
                    f"between xi = {left:g} and {right:g} it changes by {difference[worst]:.9g}, "
                    f"their integral is {integral[worst]:.9g}. Give derivatives by xi, and breaks "
                    "where they jump."
                )


def _row(function: Function, xi: float, own: UserFunctions) -> np.ndarray:
    row = np.array(function(xi), dtype=float)
    if row.shape != (own.count,):
        raise ValueError(
            f"a shape function gives an array of shape {row.shape}, expected ({own.count},)."
        )
    return row
