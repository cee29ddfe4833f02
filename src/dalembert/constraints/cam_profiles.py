"""Profiles of cams as data: a curve through points, a polynomial."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from dalembert.arguments import check_choice, refused
from dalembert.generators.splines import ENDS, Spline
from dalembert.model.numbers import Number, as_float, checked, checked_vector, several


@dataclass(frozen=True)
class ProfileTable:
    """The smooth curve through points (driver, follower): a cubic spline.

    points : pairs [rad or m]; the driver's coordinates increase
    ends : 'natural', 'clamped' (level at both ends) or 'periodic', which repeats for ever; beyond
        the ends of others the profile stays at its last value

    Raises
    ------
    TypeError, ValueError, ShapeError
        Points are no pairs of numbers, too few, or not in order; a periodic curve is not closed.

    Examples
    --------
    >>> import dalembert as da
    >>> lift = da.constraints.ProfileTable([(0, 0), (1.5, 0.01), (3, 0)], "clamped")
    >>> round(float(lift(1.5)), 6)
    0.01
    """

    points: Any
    ends: str = "natural"

    def __post_init__(self) -> None:
        check_choice("ends of a profile", self.ends, ENDS)
        given = several(self.points, "points of a profile", "pairs (driver, follower)")
        pairs = tuple(checked_vector(pair, 2, "a point of a profile") for pair in given)
        drivers = [as_float(driver) for driver, _ in pairs]
        for before, after in itertools.pairwise(drivers):
            if not after > before:
                raise ValueError(
                    f"points of a profile: the driver's coordinate {after:g} stands after "
                    f"{before:g}, expected increasing ones."
                )
        object.__setattr__(self, "points", pairs)
        _ = self._spline  # refuses points that make no curve

    @cached_property
    def _spline(self) -> Spline:
        drivers = [as_float(driver) for driver, _ in self.points]
        followers = [[as_float(follower)] for _, follower in self.points]
        return Spline(followers, drivers, ends=self.ends)

    def __call__(self, driver: Any) -> Any:
        """The follower's coordinate, or its expression."""
        return self._spline.output([driver])[0]

    def __getstate__(self) -> dict[str, Any]:
        return {"points": self.points, "ends": self.ends}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)


@dataclass(frozen=True)
class ProfilePolynomial:
    """A polynomial of the driver's coordinate: the sum of coefficients[k] * driver**k.

    coefficients : from the constant one upwards

    Raises
    ------
    TypeError, ValueError
        A coefficient is no number; there is none.

    Examples
    --------
    >>> import dalembert as da
    >>> da.constraints.ProfilePolynomial([0.1, 0, 2])(3.0)
    18.1
    """

    coefficients: Any

    def __post_init__(self) -> None:
        what = "coefficients of a profile"
        given: Sequence[Number] = several(self.coefficients, what, "numbers, from the constant one")
        if not given:
            raise refused(what, self.coefficients, "numbers, from the constant one")
        numbers = tuple(checked(c, "a coefficient of a profile") for c in given)
        object.__setattr__(self, "coefficients", numbers)

    def __call__(self, driver: Any) -> Any:
        """The follower's coordinate, or its expression."""
        value: Any = 0.0
        for coefficient in reversed(self.coefficients):
            value = value * driver + as_float(coefficient)
        return value
