"""Constraints in a stick figure: points that close loops, rods, and rims of wheels."""

from __future__ import annotations

from typing import Any, NamedTuple

from dalembert.model.constraint import Constraint, FramePlace
from dalembert.model.mechanism import Mechanism
from dalembert.model.numbers import as_float

ROLES = ("first", "second", "frame")  # fields of constraints that are places
PLANES = ((0, 1), (1, 2), (2, 0))  # of a frame's axes


class Rim(NamedTuple):
    """An ellipse about a point, in the plane of two axes of its frame."""

    point: int
    axes: tuple[int, int]
    radii: tuple[float, float]  # [m]


class ConstraintMarks(NamedTuple):
    """Points of constraints on bodies, and the lines between them; a point counts in `places`.

    places : on bodies
    closed : points that a constraint is about
    rods : pairs of points at a distance from each other
    rims : of bodies that roll
    """

    places: list[FramePlace]
    closed: list[int]
    rods: list[list[int]]
    rims: list[Rim]

    @classmethod
    def of(cls, mechanism: Mechanism) -> ConstraintMarks:
        """Marks of the constraints that are about frames."""
        marks = cls([], [], [], [])
        for constraint in mechanism.constraints:
            marks._add(constraint)
        return marks

    def _add(self, constraint: Constraint) -> None:
        given = [getattr(constraint, role, None) for role in ROLES]
        places = [place for place in given if isinstance(place, FramePlace)]
        points = [len(self.places) + k for k in range(len(places))]
        self.places.extend(places)
        if getattr(constraint, "length", None) is not None and len(points) == 2:
            self.rods.append(points)
        self.closed.extend(points)
        radius = getattr(constraint, "radius", None)
        if radius is not None and len(points) == 1:
            self.rims.extend(_rims(points[0], radius))

    def moved(self, by: int) -> ConstraintMarks:
        """The marks where other points come first."""
        return ConstraintMarks(
            self.places,
            [point + by for point in self.closed],
            [[point + by for point in rod] for rod in self.rods],
            [rim._replace(point=rim.point + by) for rim in self.rims],
        )


def _rims(point: int, radius: Any) -> list[Rim]:
    """The rim of a disc in the plane of x and y, or the three of an ellipsoid."""
    is_list = isinstance(radius, (tuple, list))
    axes = [as_float(x) for x in radius] if is_list else [as_float(radius)] * 2 + [0.0]
    return [Rim(point, (i, j), (axes[i], axes[j])) for i, j in PLANES if axes[i] and axes[j]]
