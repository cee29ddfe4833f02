"""Triangles of tubes and arrows along curves, with the same faces wherever the curve goes."""

from __future__ import annotations

import numpy as np

from dalembert.views.solids.solid_data import along

SIDES = 12  # of a tube
ARC = 24  # points of an arrow that turns
HEAD = 2.6  # radius of the head of an arrow, of its shaft's
TIP = 5.0  # length of the head, of the shaft's radius
MOST_OF_HEAD = 0.6  # of the length of an arrow


def tube(rings: int, sides: int = SIDES) -> np.ndarray:
    """Faces (F, 3) of a tube of so many rings, closed by fans about the last two vertices."""
    k = np.arange(sides)
    following = (k + 1) % sides
    start, end = rings * sides, rings * sides + 1
    faces = [np.stack([np.full(sides, start), following, k], axis=1)]
    for ring in range(rings - 1):
        low, high = ring * sides, (ring + 1) * sides
        faces.append(np.stack([low + k, low + following, high + following], axis=1))
        faces.append(np.stack([low + k, high + following, high + k], axis=1))
    last = (rings - 1) * sides
    faces.append(np.stack([last + k, last + following, np.full(sides, end)], axis=1))
    return np.concatenate(faces)


def tube_vertices(
    centres: np.ndarray, across: np.ndarray, radii: np.ndarray, sides: int = SIDES
) -> np.ndarray:
    """Vertices of a tube: rings about centres (n, 3) [m] in the planes of `across` (n, 3, 2), then
    the middles of its ends.
    """
    angles = 2 * np.pi / sides * np.arange(sides)
    circle = np.stack([np.cos(angles), np.sin(angles)])
    rings = centres[:, :, None] + radii[:, None, None] * (across @ circle)
    points = rings.transpose(0, 2, 1).reshape(-1, 3)
    return np.concatenate([points, centres[:1], centres[-1:]])


def arrow_faces(points: int) -> np.ndarray:
    """Faces of an arrow along so many points."""
    return tube(points + 2)


def arrow_vertices(points: np.ndarray, radius: float) -> np.ndarray:
    """Vertices of an arrow along points (n, 3) whose last two are on its head's axis.

    The shaft goes to the last point but the head's length; the head is a cone beyond.
    """
    ways = np.diff(points, axis=0)
    lengths = np.linalg.norm(ways, axis=1)
    total = float(lengths.sum())
    head = min(TIP * radius, MOST_OF_HEAD * total)
    distance = np.concatenate([[0.0], np.cumsum(lengths)])
    stops = np.linspace(0.0, total - head, len(points))
    shaft = np.stack([np.interp(stops, distance, points[:, k]) for k in range(3)], axis=1)
    centres = np.concatenate([shaft, shaft[-1:], points[-1:]])
    directions = np.gradient(shaft, axis=0)
    directions = np.concatenate([directions, [points[-1] - shaft[-1]] * 2])
    radii = np.full(len(centres), radius)
    radii[-2:] = HEAD * radius, 0.0
    return tube_vertices(centres, _across(directions), radii)


def _across(directions: np.ndarray) -> np.ndarray:
    """Two unit vectors across each direction, carried on from one to the next: (n, 3, 2)."""
    frame = along(directions[0])
    rows = []
    for direction in directions:
        length = np.linalg.norm(direction)
        if length > 0:
            z = direction / length
            x = frame[:, 0] - z * (z @ frame[:, 0])
            x /= np.linalg.norm(x)
            frame = np.stack([x, np.cross(z, x), z], axis=1)
        rows.append(frame[:, :2])
    return np.array(rows)


def straight(start: np.ndarray, end: np.ndarray) -> np.ndarray:
    """Points (4, 3) from one to another."""
    return np.linspace(start, end, 4)


def arc(centre: np.ndarray, axis: np.ndarray, radius: float, angle: float) -> np.ndarray:
    """Points (ARC, 3) about an axis: from an end, counterclockwise for a positive angle [rad]."""
    frame = along(axis)
    turns = np.linspace(0.0, angle, ARC) - angle / 2
    ring = np.outer(np.cos(turns), frame[:, 0]) + np.outer(np.sin(turns), frame[:, 1])
    return centre + radius * ring
