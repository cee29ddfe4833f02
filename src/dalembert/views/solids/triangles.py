"""Solids as triangles: vertices in the body's axes and faces that run counterclockwise outside."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from functools import cache

import numpy as np

from dalembert.views.solids.solid_data import Solid

SIDES = 16  # of a round solid
CAP = 4  # rings of a hemisphere
BEVEL = 0.12  # of the smallest side of a box, of the radius of a cylinder
RING = 2.0  # radii between the rings along a straight part
SIGNS = np.array(list(itertools.product((-1, 1), repeat=3)))  # of the corners of a box

Triangles = tuple[np.ndarray, np.ndarray]


def triangles_of(solid: Solid, sides: int = SIDES) -> Triangles:
    """Surface of a solid: vertices (V, 3) in the body's axes [m], faces (F, 3) of indices.

    A mesh is given by `views.meshes.mesh_files`, not here: it has no triangles of its own.

    Examples
    --------
    >>> import numpy as np
    >>> from dalembert.views.solids.solid_data import Solid
    >>> vertices, faces = triangles_of(Solid("rod", "sphere", np.eye(4), (0.1,)), sides=8)
    >>> vertices.shape[1], bool(abs(np.linalg.norm(vertices, axis=1) - 0.1).max() < 1e-12)
    (3, True)
    """
    vertices, faces = _SURFACES[solid.kind](solid.sizes, sides)
    return vertices @ solid.pose[:3, :3].T + solid.pose[:3, 3], faces


def revolved(profile: np.ndarray, sides: int) -> Triangles:
    """Surface of a profile (z, r) turned about z; it begins and ends on the axis."""
    angles = 2 * np.pi / sides * np.arange(sides)
    around = np.stack([np.cos(angles), np.sin(angles)], axis=1)
    z, r = profile[1:-1].T
    rings = np.empty((len(z), sides, 3))
    rings[..., :2] = r[:, None, None] * around
    rings[..., 2] = z[:, None]
    ends = np.array([[0.0, 0.0, profile[0, 0]], [0.0, 0.0, profile[-1, 0]]])
    vertices = np.concatenate([rings.reshape(-1, 3), ends])
    return vertices, _revolved_faces(len(z), sides)


def _revolved_faces(rings: int, sides: int) -> np.ndarray:
    """Faces between rings, and fans about the two ends."""
    k = np.arange(sides)
    following = (k + 1) % sides
    faces = [np.stack([np.full(sides, rings * sides), following, k], axis=1)]
    for ring in range(rings - 1):
        low, high = ring * sides, (ring + 1) * sides
        faces.append(np.stack([low + k, low + following, high + following], axis=1))
        faces.append(np.stack([low + k, high + following, high + k], axis=1))
    last = (rings - 1) * sides
    faces.append(np.stack([last + k, last + following, np.full(sides, rings * sides + 1)], axis=1))
    return np.concatenate(faces)


def tube(points: np.ndarray, radius: float, sides: int = SIDES) -> Triangles:
    """Surface of a rod bent along points (P, 3), of which no two neighbours are equal."""
    ways = np.gradient(points, axis=0)
    ways /= np.maximum(np.linalg.norm(ways, axis=1), 1e-300)[:, None]
    side = np.eye(3)[int(np.argmin(np.abs(ways[0])))]
    angles = 2 * np.pi / sides * np.arange(sides)
    rings = []
    for point, way in zip(points, ways, strict=True):
        side = side - way * (way @ side)
        side /= np.linalg.norm(side)
        normal = np.cross(way, side)
        circle = np.cos(angles)[:, None] * side + np.sin(angles)[:, None] * normal
        rings.append(point + radius * circle)
    vertices = np.concatenate([*rings, points[[0, -1]]])
    return vertices, _revolved_faces(len(points), sides)


def _arc(radius: float, centre: float, begin: float, end: float, rings: int) -> np.ndarray:
    """Points (z, r) of a circle from one latitude to another [rad]."""
    latitude = np.linspace(begin, end, rings + 1)
    return np.stack([centre + radius * np.sin(latitude), radius * np.cos(latitude)], axis=1)


def _straight(first: float, second: float, length: float) -> np.ndarray:
    """Points (z, r) within the straight part between two radii, a ring every `RING` radii."""
    radius = max(first, second, 1e-9)
    count = min(int(length / (RING * radius)), 12)
    part = np.linspace(0, 1, count + 2)[1:-1]
    return np.stack([length * (part - 0.5), first + part * (second - first)], axis=1)


def _tapered(sizes: Sequence[float], sides: int) -> Triangles:
    """A capsule whose caps have two radii."""
    first, second, length = sizes
    slope = np.arcsin(np.clip((first - second) / max(length, 1e-12), -1, 1))
    low = _arc(first, -length / 2, -np.pi / 2, slope, CAP)
    high = _arc(second, length / 2, slope, np.pi / 2, CAP)
    return revolved(np.concatenate([low, _straight(first, second, length), high]), sides)


def _capsule(sizes: Sequence[float], sides: int) -> Triangles:
    radius, length = sizes
    return _tapered((radius, radius, length), sides)


def _cylinder(sizes: Sequence[float], sides: int) -> Triangles:
    radius, length = sizes
    edge = BEVEL * min(radius, length / 2)
    low = [(-length / 2, 0.0), (-length / 2, radius - edge), (edge - length / 2, radius)]
    if length < radius:  # a disc, whose faces other parts may stand on
        low[1:1] = [(-length / 2, 0.55 * radius)]
    high = [(-z, r) for z, r in reversed(low)]
    return revolved(np.concatenate([low, _straight(radius, radius, length), high]), sides)


def _ellipsoid(sizes: Sequence[float], sides: int) -> Triangles:
    vertices, faces = revolved(_arc(1.0, 0.0, -np.pi / 2, np.pi / 2, 2 * CAP), sides)
    return vertices * np.asarray(sizes), faces


def _sphere(sizes: Sequence[float], sides: int) -> Triangles:
    return _ellipsoid(tuple(sizes) * 3, sides)


def _box(sizes: Sequence[float], sides: int) -> Triangles:
    """A box with bevelled edges: each corner is a triangle with a vertex on each of three sides."""
    return _box_vertices(sizes), _box_faces().copy()


def _box_vertices(sizes: Sequence[float]) -> np.ndarray:
    """Corners (24, 3) on the sides across x, then across y, then across z."""
    half = np.asarray(sizes) / 2
    edge = BEVEL * half.min()
    return np.concatenate([SIGNS * (half - edge * (np.arange(3) != axis)) for axis in range(3)])


@cache
def _box_faces() -> np.ndarray:
    """Faces of every box."""
    at = {(axis, *sign): 8 * axis + k for axis in range(3) for k, sign in enumerate(SIGNS)}
    faces = [*_box_sides(at), *_box_edges(at), *_box_corners(at, SIGNS)]
    vertices = _box_vertices((1.0, 1.0, 1.0))
    return np.array([_outward(face, vertices) for face in faces])


def _box_sides(at: dict[tuple[int, ...], int]) -> list[tuple[int, ...]]:
    """Two triangles for each of the six sides."""
    faces: list[tuple[int, ...]] = []
    for axis in range(3):
        for sign in (-1, 1):
            a, b, c, d = (
                at[(axis, *np.insert(pair, axis, sign))]
                for pair in ((-1, -1), (1, -1), (1, 1), (-1, 1))
            )
            faces += [(a, b, c), (a, c, d)]
    return faces


def _box_edges(at: dict[tuple[int, ...], int]) -> list[tuple[int, ...]]:
    """Two triangles for the bevel of each of the twelve edges."""
    faces: list[tuple[int, ...]] = []
    for along in range(3):
        first, second = (along + 1) % 3, (along + 2) % 3
        for signs in ((-1, -1), (1, -1), (1, 1), (-1, 1)):
            low, high = (_corner(along, end, signs) for end in (-1, 1))
            a, b = at[(first, *low)], at[(first, *high)]
            c, d = at[(second, *high)], at[(second, *low)]
            faces += [(a, b, c), (a, c, d)]
    return faces


def _corner(along: int, end: int, signs: Sequence[int]) -> list[int]:
    """Signs of the corner at an end of an edge."""
    corner = [0, 0, 0]
    corner[along] = end
    corner[(along + 1) % 3], corner[(along + 2) % 3] = signs
    return corner


def _box_corners(at: dict[tuple[int, ...], int], signs: np.ndarray) -> list[tuple[int, ...]]:
    """The triangle of each of the eight corners."""
    return [tuple(at[(axis, *sign)] for axis in range(3)) for sign in signs]


def _outward(face: Sequence[int], vertices: np.ndarray) -> tuple[int, ...]:
    """The face of a solid about the origin with its normal to the outside."""
    a, b, c = vertices[list(face)]
    is_outward = np.cross(b - a, c - a) @ (a + b + c) > 0
    return tuple(face) if is_outward else (face[0], face[2], face[1])


_SURFACES = {
    "box": _box,
    "sphere": _sphere,
    "ellipsoid": _ellipsoid,
    "cylinder": _cylinder,
    "capsule": _capsule,
    "tapered": _tapered,
}
