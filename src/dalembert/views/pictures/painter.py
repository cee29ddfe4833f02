"""Shaded triangles in a plane, sorted from back to front."""

from __future__ import annotations

from collections.abc import (
    Iterable,
    Sequence,
)
from typing import NamedTuple

import numpy as np

from dalembert.views.pictures.viewpoint import Camera
from dalembert.views.solids.solid_data import (
    Colour,
    Solid,
)
from dalembert.views.solids.triangles import (
    Triangles,
    triangles_of,
)

LIGHT = np.array([-0.42, 0.62, 0.66])  # towards the light: to the right, up, to the viewer
AMBIENT, DIFFUSE, GLOSS = 0.52, 0.54, 0.20
SHINE = 24  # exponent of the highlight


class ColouredSurface(NamedTuple):
    """Triangles in the world."""

    vertices: np.ndarray  # (V, 3) [m]
    faces: np.ndarray  # (F, 3)
    colours: np.ndarray  # (F, 4)

    @classmethod
    def joined(cls, parts: Iterable[tuple[Triangles, Colour]]) -> ColouredSurface:
        """The surface of many parts, each in one colour."""
        vertices, faces, colours = [np.zeros((0, 3))], [np.zeros((0, 3), int)], [np.zeros((0, 4))]
        count = 0
        for (points, triangles), colour in parts:
            vertices.append(points)
            faces.append(triangles + count)
            colours.append(np.tile(np.asarray(colour, dtype=float), (len(triangles), 1)))
            count += len(points)
        return cls(np.concatenate(vertices), np.concatenate(faces), np.concatenate(colours))

    def and_(self, other: ColouredSurface) -> ColouredSurface:
        """Both surfaces as one."""
        return ColouredSurface(
            np.concatenate([self.vertices, other.vertices]),
            np.concatenate([self.faces, other.faces + len(self.vertices)]),
            np.concatenate([self.colours, other.colours]),
        )


class BodySurfaces(NamedTuple):
    """Triangles of many solids, each riding on a body."""

    surface: ColouredSurface  # in the axes of the bodies
    bodies: np.ndarray  # (V,) index of the body of each vertex

    @classmethod
    def of(cls, solids: Sequence[Solid], bodies: Sequence[str], sides: int) -> BodySurfaces:
        """Surfaces of solids that are no meshes; `bodies` are names in the order of the poses."""
        index = {name: k for k, name in enumerate(bodies)}
        parts = [(triangles_of(solid, sides), solid.colour) for solid in solids]
        owners = [
            np.full(len(vertices), index[solid.body])
            for ((vertices, _), _), solid in zip(parts, solids, strict=True)
        ]
        return cls(ColouredSurface.joined(parts), np.concatenate([np.zeros(0, int), *owners]))

    def placed(self, poses: np.ndarray) -> ColouredSurface:
        """The surface in the world for poses (B, 3, 4) of the bodies."""
        own = poses[self.bodies]
        vertices = np.einsum("vij,vj->vi", own[:, :, :3], self.surface.vertices) + own[:, :, 3]
        return self.surface._replace(vertices=vertices)


class Painted(NamedTuple):
    """Triangles of a picture, from back to front."""

    corners: np.ndarray  # (P, 3, 2) [m]
    colours: np.ndarray  # (P, 4)


def painted(surface: ColouredSurface, camera: Camera) -> Painted:
    """Triangles that face the viewer, shaded, from back to front."""
    corners = surface.vertices[surface.faces]
    normals = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    lengths = np.linalg.norm(normals, axis=1)
    normals = normals / np.where(lengths > 0, lengths, 1)[:, None]
    seen = np.flatnonzero((normals @ camera.towards > 0) & (lengths > 0))
    depth = corners[seen].mean(axis=1) @ camera.towards
    chosen = seen[np.argsort(depth, kind="stable")]
    colours = shaded(surface.colours[chosen], normals[chosen], camera)
    return Painted(camera.seen(corners[chosen]), colours)


def shaded(colours: np.ndarray, normals: np.ndarray, camera: Camera) -> np.ndarray:
    """Colours (P, 4) of faces in the light."""
    axes = np.stack([camera.right, camera.up, camera.towards])
    light = LIGHT / np.linalg.norm(LIGHT) @ axes
    half = light + camera.towards
    half /= np.linalg.norm(half)
    diffuse = np.maximum(normals @ light, 0)[:, None]
    gloss = np.maximum(normals @ half, 0)[:, None] ** SHINE
    lit = colours.copy()
    lit[:, :3] = colours[:, :3] * (AMBIENT + DIFFUSE * diffuse) + GLOSS * gloss
    return np.clip(lit, 0, 1)
