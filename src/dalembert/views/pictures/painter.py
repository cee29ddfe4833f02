"""Shaded triangles in a plane, as far as they are seen, from back to front."""

from __future__ import annotations

from collections.abc import (
    Iterable,
    Sequence,
)
from typing import NamedTuple

import numpy as np

from dalembert.views.pictures.drawn_shapes import DrawnShape
from dalembert.views.pictures.viewpoint import Camera
from dalembert.views.pictures.visibility import (
    ACROSS,
    Order,
    seen_order,
)
from dalembert.views.solids.solid_data import Colour
from dalembert.views.solids.triangles import Triangles

LIGHT = np.array([-0.42, 0.62, 0.66])  # towards the light: to the right, up, to the viewer
AMBIENT, DIFFUSE, GLOSS = 0.52, 0.54, 0.20
SHINE = 24  # exponent of the highlight
ROUNDS = 3  # in which triangles that pierce each other are split


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
    """Triangles of many shapes, each riding on a body."""

    surface: ColouredSurface  # in the axes of the bodies
    bodies: np.ndarray  # (V,) index of the body of each vertex

    @classmethod
    def of(cls, shapes: Sequence[DrawnShape], bodies: Sequence[str]) -> BodySurfaces:
        """Surfaces of shapes; `bodies` are names in the order of the poses."""
        index = {name: k for k, name in enumerate(bodies)}
        parts = [((shape.vertices, shape.faces), shape.colour) for shape in shapes]
        owners = [np.full(len(shape.vertices), index[shape.body]) for shape in shapes]
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


def painted(
    surface: ColouredSurface, camera: Camera, across: int = ACROSS, rounds: int = ROUNDS
) -> Painted:
    """Shaded triangles that are seen, from back to front; where they pierce each other in smaller
    parts, split in so many rounds.
    """
    corners = surface.vertices[surface.faces]
    normals = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    lengths = np.linalg.norm(normals, axis=1)
    normals = normals / np.where(lengths > 0, lengths, 1)[:, None]
    facing = np.flatnonzero((normals @ camera.towards > 0) & (lengths > 0))
    colours = shaded(surface.colours[facing], normals[facing], camera)
    corners = corners[facing]
    for _ in range(rounds):
        order = _order(corners, colours, camera, across)
        if not order.is_torn.any():
            break
        corners, colours = _split(corners[order.seen], colours[order.seen], order.is_torn)
    order = _order(corners, colours, camera, across)
    return Painted(camera.seen(corners[order.seen]), colours[order.seen])


def _order(corners: np.ndarray, colours: np.ndarray, camera: Camera, across: int) -> Order:
    """The order of triangles (P, 3, 3) in the world."""
    is_opaque = colours[:, 3] >= 1
    return seen_order(camera.seen(corners), corners @ camera.towards, is_opaque, across)


def _split(
    corners: np.ndarray, colours: np.ndarray, chosen: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """The triangles with the chosen ones in four, by the middles of their sides."""
    a, b, c = corners[chosen].transpose(1, 0, 2)
    ab, bc, ca = (a + b) / 2, (b + c) / 2, (c + a) / 2
    parts = [(a, ab, ca), (ab, b, bc), (ca, bc, c), (ab, bc, ca)]
    quarters = [np.stack(part, axis=1) for part in parts]
    return (
        np.concatenate([corners[~chosen], *quarters]),
        np.concatenate([colours[~chosen], np.tile(colours[chosen], (4, 1))]),
    )


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
