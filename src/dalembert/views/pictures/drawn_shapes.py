"""Bodies as pictures, pages and films draw them: solids and meshes as coloured triangles."""

from __future__ import annotations

from collections.abc import (
    Iterator,
    Sequence,
)
from typing import NamedTuple

import numpy as np

from dalembert.model.mechanism import Mechanism
from dalembert.views.meshes.picture_meshes import (
    PictureMeshes,
    picture_meshes,
)
from dalembert.views.solids.body_solids import solids_of
from dalembert.views.solids.joint_shapes import Ranges
from dalembert.views.solids.solid_data import (
    Colour,
    Solid,
)
from dalembert.views.solids.triangles import triangles_of

WHITEST = 0.9  # of a colour's parts: white parts stand out from white paper


class DrawnShape(NamedTuple):
    """A surface that rides on a body.

    vertices (V, 3) [m, in the axes of the body], faces (F, 3), role as of a `Solid`
    """

    body: str
    vertices: np.ndarray
    faces: np.ndarray
    colour: Colour
    role: str


class Fineness(NamedTuple):
    """Sides of round solids, (most solids, sides) in ascending order, of which the last serves for
    more; triangles of all meshes.
    """

    sides: Sequence[tuple[int, int]]
    mesh_faces: int

    def sides_of(self, count: int) -> int:
        """Sides of each of so many solids."""
        return next((sides for most, sides in self.sides if count <= most), self.sides[-1][1])


class DrawnShapes(NamedTuple):
    """Shapes of a mechanism, the sides that round ones have, and remarks about meshes not shown."""

    shapes: tuple[DrawnShape, ...]
    sides: int
    remarks: tuple[str, ...]


def drawn_shapes(
    mechanism: Mechanism, fineness: Fineness, ranges: Ranges | None = None
) -> DrawnShapes:
    """Shapes of a mechanism without symbols, but for beams that bend; `ranges` as of `solids_of`.

    Examples
    --------
    >>> import dalembert as da
    >>> drawn_shapes(da.planar_chain(1), Fineness([(100, 8)], 1000)).shapes[0].body
    'base'
    """
    every = solids_of(mechanism, ranges)
    has_meshes = any(solid.kind == "mesh" for solid in every)
    meshes = picture_meshes(mechanism, fineness.mesh_faces) if has_meshes else NO_MESHES
    solids = [solid for solid in every if _is_drawn(solid, meshes)]
    sides = fineness.sides_of(len(solids))
    return DrawnShapes((*_of_meshes(meshes), *_of_solids(solids, sides)), sides, meshes.remarks)


NO_MESHES = PictureMeshes((), frozenset(), ())


def _is_drawn(solid: Solid, meshes: PictureMeshes) -> bool:
    """Whether a solid rides on its body as it is: no mesh, nor in its place, no bent beam."""
    is_hidden = solid.role == "fallback" and solid.body in meshes.bodies
    return solid.kind != "mesh" and solid.role != "beam" and not is_hidden


def _of_solids(solids: Sequence[Solid], sides: int) -> Iterator[DrawnShape]:
    for solid in solids:
        vertices, faces = triangles_of(solid, sides)
        yield DrawnShape(solid.body, vertices, faces, _dimmed(solid.colour), solid.role)


def _of_meshes(meshes: PictureMeshes) -> Iterator[DrawnShape]:
    for surface in meshes.surfaces:
        vertices, faces = surface.triangles
        yield DrawnShape(surface.body, vertices, faces, _dimmed(surface.colour), "given")


def _dimmed(colour: Colour) -> Colour:
    """The colour, less white."""
    red, green, blue, opacity = colour
    return min(red, WHITEST), min(green, WHITEST), min(blue, WHITEST), opacity
