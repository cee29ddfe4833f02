"""Constraints in a stick figure: points that close loops, rods, rims of wheels, floors."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

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


class Floor(NamedTuple):
    """A plane that points of bodies keep to."""

    points: tuple[int, ...]
    origin: tuple[float, ...]  # [m]
    normal: tuple[float, ...]

    def corners(self, frames: np.ndarray) -> np.ndarray:
        """Corners (4, 3) of the part of the plane below the ways (..., F, 12) of its points [m]."""
        normal = np.array(self.normal) / np.linalg.norm(self.normal)
        tangents = np.linalg.svd(normal[None])[2][1:]
        ways = frames[..., list(self.points), :3].reshape(-1, 3) - self.origin
        flat = ways @ tangents.T
        margin = np.abs(ways @ normal).max() + 0.1 * np.ptp(flat, axis=0).max()
        (left, near), (right, far) = flat.min(axis=0) - margin, flat.max(axis=0) + margin
        square = np.array([[left, near], [right, near], [right, far], [left, far]])
        return np.array(self.origin) + square @ tangents  # type: ignore[no-any-return]


class ConstraintMarks(NamedTuple):
    """Points of constraints on bodies, and the lines between them; a point counts in `places`.

    places : on bodies
    closed : points that a constraint is about
    rods : pairs of points at a distance from each other
    rims : of bodies that roll
    floors : planes of points that keep to them
    """

    places: list[FramePlace]
    closed: list[int]
    rods: list[list[int]]
    rims: list[Rim]
    floors: list[Floor]

    @classmethod
    def of(cls, mechanism: Mechanism) -> ConstraintMarks:
        """Marks of the constraints that are about frames."""
        marks = cls([], [], [], [], [])
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
        surface = getattr(constraint, "surface", None)
        if hasattr(surface, "normal"):
            self._add_floor(surface, points)

    def _add_floor(self, surface: Any, points: Sequence[int]) -> None:
        """Put points on a plane, which others may be on already."""
        origin, normal = (
            tuple(map(as_float, vector)) for vector in (surface.point, surface.normal)
        )
        for k, floor in enumerate(self.floors):
            if (floor.origin, floor.normal) == (origin, normal):
                self.floors[k] = floor._replace(points=(*floor.points, *points))
                return
        self.floors.append(Floor(tuple(points), origin, normal))

    def moved(self, by: int) -> ConstraintMarks:
        """The marks where other points come first."""
        return ConstraintMarks(
            self.places,
            [point + by for point in self.closed],
            [[point + by for point in rod] for rod in self.rods],
            [rim._replace(point=rim.point + by) for rim in self.rims],
            [f._replace(points=tuple(p + by for p in f.points)) for f in self.floors],
        )


def _rims(point: int, radius: Any) -> list[Rim]:
    """The rim of a disc in the plane of x and y, or the three of an ellipsoid."""
    is_list = isinstance(radius, (tuple, list))
    axes = [as_float(x) for x in radius] if is_list else [as_float(radius)] * 2 + [0.0]
    return [Rim(point, (i, j), (axes[i], axes[j])) for i, j in PLANES if axes[i] and axes[j]]
