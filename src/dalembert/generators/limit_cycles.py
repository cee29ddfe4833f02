"""Limit cycles in the plane: closed curves H(X, Y) = 1 that attract."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from dalembert.arguments import check_flag, check_whole, put, real_array, shown, vector
from dalembert.errors import ShapeError
from dalembert.expr import Graph, array, gradient, hypot, symbols
from dalembert.generators.formula import Formula
from dalembert.generators.motion_data import limit, number, positive
from dalembert.generators.state_generator import StateGenerator
from dalembert.purity.examine import check_arguments

RAYS = 72  # from the center, which a closed curve meets
RADII = np.logspace(-6, 6, 481)  # distances on a ray at which H is looked at
LARGEST_EXPONENT = 16  # whose power is a product
HALVINGS = 60  # to find the curve on a ray


@dataclass(frozen=True, eq=False)
class AttractingCurve(StateGenerator):
    """Motion in the plane that tends to a closed curve H = 1; the state and the output are (X, Y).

        X' =  H_Y - mu H_X (H - 1)
        Y' = -H_X - mu H_Y (H - 1)

    so that H' = -mu |grad H|^2 (H - 1). With a speed s both are multiplied by s / |grad H|: the
    point runs along the curve with that speed. Derived classes give `level`.

    Parameters
    ----------
    center : (2,) array
        Point inside the curve, from which X and Y of H count [m].
    attraction : number >= 0
        mu
    speed : number > 0, optional
        Along the curve [m/s].
    clockwise : bool
        Whether the curve is run through clockwise; otherwise the first terms change their signs.
    initial : (2,) array, optional
        State at the beginning; by default the point of the curve on the ray from the center
        along X.
    """

    center: Any = field(default=(0.0, 0.0), kw_only=True)
    attraction: float = field(default=1.0, kw_only=True)
    speed: Any = field(default=None, kw_only=True)
    clockwise: bool = field(default=True, kw_only=True)
    initial: Any = field(default=None, kw_only=True)
    state_names = ("X", "Y")

    @abstractmethod
    def level(self, X: Any, Y: Any) -> Any:
        """H at a point, of floats or expressions [m]: 1 on the curve, less inside.

        Examples
        --------
        >>> import dalembert as da
        >>> float(da.generators.LimitCycle((2.0, 1.0)).level(2.0, 0.5))
        1.25
        """

    @property
    def state(self) -> np.ndarray:
        """The point at the beginning, (2,) [m]."""
        return self.initial.copy()

    def rate(self, state: Any) -> np.ndarray:
        """Velocity at a point (2,): (2,) [m/s]."""
        H, H_X, H_Y = self._level_and_slopes(state)
        way = 1.0 if self.clockwise else -1.0
        pull = self.attraction * (H - 1.0)
        velocity = array([way * H_Y - pull * H_X, -way * H_X - pull * H_Y])
        return velocity if self.speed is None else velocity * (self.speed / hypot(H_X, H_Y))

    def output(self, state: Any) -> np.ndarray:
        """The point itself, (2,)."""
        return array(state)

    @cached_property
    def _level_and_slopes(self) -> Formula:
        """H, H_X and H_Y as a function of the state."""
        with Graph():
            names = symbols("x", 2)
            H = array(self.level(*names))
            if H.shape:
                raise ShapeError(
                    f"the curve returned H of shape {H.shape}, expected one number.", "H", H.shape
                )
            return Formula(list(names), array([H[()], *gradient(H[()], names)]))

    def _check(self) -> None:
        """Put numbers that all curves have; find the curve, and where a motion begins.

        Raises
        ------
        ShapeError, ValueError, TypeError
            A number has the wrong sign or length; the curve is not closed about its center.
        """
        put(self, center=vector(self.center, "center", 2))
        put(self, attraction=number("attraction", self.attraction))
        if self.attraction < 0:
            raise ValueError(f"attraction is {self.attraction:g}: below 0 the curve repels.")
        if self.speed is not None:
            put(self, speed=positive("speed", self.speed))
        check_flag("clockwise", self.clockwise)
        begin = self._point_on_curve()
        if self.initial is None:
            put(self, initial=begin)
            return
        initial = vector(self.initial, "initial", 2)
        slopes = self._level_and_slopes(initial)[1:]
        if not np.abs(slopes).max() > 0:
            raise ValueError(
                f"initial is {initial.tolist()}, where the gradient of H is {slopes.tolist()}: no "
                "motion begins there."
            )
        put(self, initial=initial)

    def _levels(self, radii: Any, angles: Any) -> np.ndarray:
        """H at distances and angles from the center."""
        X = self.center[0] + radii * np.cos(angles)
        Y = self.center[1] + radii * np.sin(angles)
        return self._level_and_slopes([X, Y])[..., 0]

    def _point_on_curve(self) -> np.ndarray:
        """The point of the curve on the ray from the center along X, (2,).

        Raises
        ------
        ValueError
            A ray from the center does not meet the curve.
        """
        angles = 2 * np.pi * np.arange(RAYS)[:, None] / RAYS
        radii, angles = np.broadcast_arrays(RADII, angles)
        levels = np.broadcast_to(self._levels(radii, angles), radii.shape)
        center = self.center.tolist()
        if not (levels[:, 0] < 1).all():
            raise ValueError(
                f"H is {levels[:, 0].max():g} at the center {center}, expected less than 1 inside "
                "of the curve: give a center= inside."
            )
        outside = levels >= 1
        missed = ~outside.any(axis=1)
        if missed.any():
            raise ValueError(
                f"the curve H = 1 is not closed about its center {center}: the ray at "
                f"{np.degrees(angles[missed, 0][0]):g} degrees does not meet it."
            )
        return self._bisected(int(outside[0].argmax()))

    def _bisected(self, k: int) -> np.ndarray:
        """The point of the curve between two of the distances along X."""
        low, high = RADII[k - 1], RADII[k]
        for _ in range(HALVINGS):
            middle = (low + high) / 2
            inside = self._levels(middle, 0.0) < 1
            low, high = (middle, high) if inside else (low, middle)
        return self.center + [high, 0.0]


@dataclass(frozen=True, eq=False)
class LimitCycle(AttractingCurve):
    """Motion in the plane that tends to a circle, an ellipse or a closed curve of one's own.

        X' =  H_Y - mu H_X (H - 1)
        Y' = -H_X - mu H_Y (H - 1)

    Parameters
    ----------
    curve : number, (2,) array, or function (X, Y) -> H
        Radius of a circle; semi-axes of an ellipse [m]; or H, written with `da.sin`, ..., which is
        1 on the curve and less inside: traced once.
    center : (2,) array
        Point inside the curve, from which X and Y of H count [m].
    attraction : number >= 0
        mu
    speed : number > 0, optional
        Speed along the curve [m/s]: both rates are multiplied by speed / |grad H|.
    clockwise : bool
        Otherwise the first terms change their signs.
    initial : (2,) array, optional
        State (X, Y) at the beginning; by default the point of the curve on the ray from the center
        along X.

    Raises
    ------
    ShapeError, ValueError, TypeError
        A number has the wrong sign or length; the curve is not closed about its center.

    Examples
    --------
    >>> import dalembert as da
    >>> ring = da.generators.LimitCycle(0.5, speed=2.0)
    >>> ring.derivatives(ring.state, 1)[1].round(12)
    array([ 0., -2.])
    >>> egg = da.generators.LimitCycle(lambda X, Y: X**2 + Y**2 * da.exp(X), initial=[0.1, 0.0])
    >>> X, Y = egg.states([0.0, 20.0])[-1]
    >>> round(float(egg.level(X, Y)), 9)
    1.0
    """

    curve: Any

    def __post_init__(self) -> None:
        if callable(self.curve):
            check_arguments(self.curve, "the curve", ("X", "Y"))
        else:
            axes = real_array("curve", self.curve)
            if axes.shape not in ((), (2,)):
                raise ShapeError(
                    f"curve has shape {axes.shape}, expected a radius, two semi-axes or a function "
                    "(X, Y) -> H.",
                    "curve",
                    axes.shape,
                )
            put(self, curve=limit("curve", axes, 2))
        self._check()

    def level(self, X: Any, Y: Any) -> Any:
        """H at a point, of floats or expressions [m]: 1 on the curve, less inside."""
        u, v = X - self.center[0], Y - self.center[1]
        if callable(self.curve):
            return self.curve(u, v)
        A, B = self.curve
        return (u / A) * (u / A) + (v / B) * (v / B)


@dataclass(frozen=True, eq=False)
class Superellipse(AttractingCurve):
    """Motion in the plane that tends to a nearly rectangular curve.

        H = (X/A)^n + (Y/B)^n
        X' =  H_Y - mu H_X (H - 1)
        Y' = -H_X - mu H_Y (H - 1)

    Parameters
    ----------
    semi_axes : (2,) array, > 0
        A and B [m].
    exponent : even int, 2 to 16
        n: 2 is an ellipse, 4 to 8 are near a rectangle. Larger ones are stiff.
    center : (2,) array
        Point from which X and Y of H count [m].
    attraction : number >= 0
        mu
    speed : number > 0, optional
        Speed along the curve [m/s]: both rates are multiplied by speed / |grad H|.
    clockwise : bool
        Otherwise the first terms change their signs.
    initial : (2,) array, optional
        State (X, Y) at the beginning; by default (A, 0) from the center.

    Raises
    ------
    ShapeError, ValueError, TypeError
        A number has the wrong sign or length; the exponent is odd.

    Examples
    --------
    >>> import dalembert as da
    >>> frame = da.generators.Superellipse([0.4, 0.3], exponent=6, center=[1.2, 0.0])
    >>> frame.state.round(12), frame.rate([1.6, 0.0])[1].round(12)
    (array([1.6, 0. ]), np.float64(-15.0))
    """

    semi_axes: Any
    exponent: int = 6

    def __post_init__(self) -> None:
        check_whole("exponent", self.exponent, 2)
        if self.exponent % 2 or self.exponent > LARGEST_EXPONENT:
            raise ValueError(
                f"exponent={shown(self.exponent)}: (X/A)^n + (Y/B)^n = 1 is closed for even n "
                f"alone, as 4, 6 or 8; {LARGEST_EXPONENT} at most."
            )
        put(self, semi_axes=limit("semi_axes", self.semi_axes, 2))
        self._check()

    def level(self, X: Any, Y: Any) -> Any:
        """H at a point, of floats or expressions [m]: 1 on the curve, less inside."""
        A, B = self.semi_axes
        u, v = (X - self.center[0]) / A, (Y - self.center[1]) / B
        return u**self.exponent + v**self.exponent
