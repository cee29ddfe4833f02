"""Sharp edges of meshes: vertices stand once for each smooth side, so that shading does not round
the edges off.
"""

from __future__ import annotations

import numpy as np

CREASE = np.deg2rad(35.0)  # between normals of neighbours, from which on an edge is sharp


def creased(vertices: np.ndarray, faces: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The mesh with vertices on sharp edges repeated, once for each smooth side."""
    if not len(faces):
        return vertices, faces
    sides = _smooth_sides(vertices, faces)
    pairs = np.stack([faces.ravel(), np.repeat(sides, 3)], axis=1)
    unique, corners = np.unique(pairs, axis=0, return_inverse=True)
    return vertices[unique[:, 0]], corners.reshape(-1, 3)


def _smooth_sides(vertices: np.ndarray, faces: np.ndarray) -> np.ndarray:
    """The number of the smooth side of each face: the least index of its faces."""
    first, second = _smooth_neighbours(vertices, faces)
    sides = np.arange(len(faces))
    while True:
        low = np.minimum(sides[first], sides[second])
        following = sides.copy()
        np.minimum.at(following, first, low)
        np.minimum.at(following, second, low)
        following = following[following]  # of the side that a side has joined
        if np.array_equal(following, sides):
            return sides
        sides = following


def _smooth_neighbours(vertices: np.ndarray, faces: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Pairs of faces that share an edge which is not sharp."""
    a, b, c = (vertices[faces[:, k]] for k in range(3))
    normals = np.cross(b - a, c - a)
    lengths = np.linalg.norm(normals, axis=1, keepdims=True)
    normals = normals / np.where(lengths > 0, lengths, 1.0)
    edges = np.sort(faces[:, [0, 1, 1, 2, 2, 0]].reshape(-1, 2), axis=1)
    owners = np.repeat(np.arange(len(faces)), 3)
    order = np.lexsort(edges.T)
    edges, owners = edges[order], owners[order]
    is_shared = (edges[1:] == edges[:-1]).all(axis=1)
    first, second = owners[:-1][is_shared], owners[1:][is_shared]
    is_smooth = np.einsum("ij,ij->i", normals[first], normals[second]) > np.cos(CREASE)
    return first[is_smooth], second[is_smooth]
