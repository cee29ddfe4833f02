"""The ground of a picture: its height, a grid with lines at round distances, shadows of solids."""

from __future__ import annotations

import numpy as np

from dalembert.views.pictures.viewpoint import (
    Camera,
    ground_axes,
)
from dalembert.views.round_steps import round_step

LINES = 9  # of a grid across the mechanism, at most
MARGIN = 0.12  # of the size of the mechanism, beyond it on the ground
SUNK = 0.02  # of the size: a mechanism that goes this far below its base stands on no ground there


def height_of(points: np.ndarray, up: np.ndarray) -> float:
    """Height of the ground [m]: that of the base, or of the lowest place below it."""
    heights = points @ up
    size = float(np.ptp(points, axis=0).max(initial=0.0))
    lowest = float(heights.min(initial=0.0))
    return 0.0 if lowest > -SUNK * size else lowest


def grid_lines(points: np.ndarray, up: np.ndarray, height: float) -> tuple[np.ndarray, float]:
    """Lines (L, 2, 3) of the grid below points (..., 3), and the distance between them [m]."""
    flat = points.reshape(-1, 3)
    axes = np.stack(ground_axes(up))
    places = flat @ axes.T
    size = float(np.ptp(flat, axis=0).max(initial=0.0)) or 1.0
    margin = MARGIN * size
    low, high = places.min(axis=0) - margin, places.max(axis=0) + margin
    grow = np.maximum(0.55 * size - (high - low), 0) / 2
    low, high = low - grow, high + grow
    step = round_step(float((high - low).max()), LINES)
    first, last = np.floor(low / step), np.ceil(high / step)
    lines = []
    for k in range(2):
        for at in np.arange(first[k], last[k] + 1):
            ends = np.array([[at, first[1 - k]], [at, last[1 - k]]]) * step
            lines.append((ends if k == 0 else ends[:, ::-1]) @ axes + height * up)
    return np.array(lines), step


def shadow(vertices: np.ndarray, camera: Camera, up: np.ndarray, height: float) -> np.ndarray:
    """Outline (H, 2) of the shadow on the ground of a convex solid, as the camera sees it."""
    on_ground = vertices - ((vertices @ up) - height)[:, None] * up
    return hull(camera.seen(on_ground))


def hull(points: np.ndarray, directions: int = 32) -> np.ndarray:
    """Corners (H, 2) of the convex hull of points in a plane that are farthest in some directions,
    counterclockwise.
    """
    angles = 2 * np.pi / directions * np.arange(directions)
    farthest = np.argmax(points @ np.stack([np.cos(angles), np.sin(angles)]), axis=0)
    return points[farthest[farthest != np.roll(farthest, 1)]]
