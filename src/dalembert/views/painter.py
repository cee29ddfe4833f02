"""Shaded solids in a plane: triangles projected along the line of sight, sorted from back to front."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from dalembert.views.solid_data import Solid
from dalembert.views.triangles import triangles_of

LIGHT = np.array([-0.42, 0.62, 0.66])  # towards the light: to the right, up, to the viewer
AMBIENT, DIFFUSE, GLOSS = 0.50, 0.55, 0.22
SHINE = 24  # exponent of the highlight


class Camera(NamedTuple):
    """Parallel projection: unit vectors to the right and up in the picture."""

    right: np.ndarray
    up: np.ndarray

    @property
    def towards(self) -> np.ndarray:
        """Unit vector to the viewer."""
        return np.cross(self.right, self.up)

    def seen(self, points: np.ndarray) -> np.ndarray:
        """Points (..., 3) as (..., 2): along the picture's width and height [m]."""
        return np.stack([points @ self.right, points @ self.up], axis=-1)


class Faces(NamedTuple):
    """Triangles of many solids, each riding on a body."""

    vertices: np.ndarray  # (V, 3) in the axes of their bodies [m]
    bodies: np.ndarray  # (V,) index of the body of each vertex
    faces: np.ndarray  # (F, 3)
    colours: np.ndarray  # (F, 4)

    @classmethod
    def of(cls, solids: Sequence[Solid], bodies: Sequence[str], sides: int) -> Faces:
        """Triangles of solids without meshes; `bodies` are names in the order of the poses."""
        index = {name: k for k, name in enumerate(bodies)}
        vertices, owners, faces, colours = [np.zeros((0, 3))], [], [np.zeros((0, 3), int)], []
        count = 0
        for solid in solids:
            points, triangles = triangles_of(solid, sides)
            vertices.append(points)
            faces.append(triangles + count)
            owners += [index[solid.body]] * len(points)
            colours += [solid.colour] * len(triangles)
            count += len(points)
        return cls(
            np.concatenate(vertices),
            np.array(owners, dtype=int),
            np.concatenate(faces),
            np.array(colours, dtype=float).reshape(-1, 4),
        )

    def placed(self, poses: np.ndarray) -> np.ndarray:
        """Vertices (V, 3) in the world for poses (B, 3, 4) of the bodies [m]."""
        own = poses[self.bodies]
        return np.einsum("vij,vj->vi", own[:, :, :3], self.vertices) + own[:, :, 3]


class Painted(NamedTuple):
    """Triangles of a picture, from back to front."""

    corners: np.ndarray  # (P, 3, 2) [m]
    colours: np.ndarray  # (P, 4)


def painted(faces: Faces, poses: np.ndarray, camera: Camera) -> Painted:
    """Triangles that face the viewer, shaded, from back to front."""
    corners = faces.placed(poses)[faces.faces]
    normals = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    lengths = np.linalg.norm(normals, axis=1)
    normals = normals / np.where(lengths > 0, lengths, 1)[:, None]
    seen = (normals @ camera.towards > 0) & (lengths > 0)
    depth = corners[seen].mean(axis=1) @ camera.towards
    order = np.argsort(depth, kind="stable")
    chosen = np.flatnonzero(seen)[order]
    colours = shaded(faces.colours[chosen], normals[chosen], camera)
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
