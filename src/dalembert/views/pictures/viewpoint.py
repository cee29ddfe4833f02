"""The place from which a mechanism is looked at: along the normal of a planar one, else obliquely."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from dalembert.model.constraint import FramePlace
from dalembert.model.joints import (
    Fixed,
    Free,
    Planar,
    Prismatic,
)
from dalembert.model.mechanism import Mechanism
from dalembert.views.figures.plain_numbers import (
    numbers_of,
    pose_of,
)
from dalembert.views.figures.stick_figure import (
    OBLIQUE,
    placements,
)

PARALLEL = 1e-6  # sine of the angle between axes that are parallel
FLOATING = (Free,)  # types of joints that are planar in no plane


class Camera(NamedTuple):
    """Parallel projection: unit vectors to the right and up in the picture; whether along the normal
    of a planar motion.
    """

    right: np.ndarray
    up: np.ndarray
    is_planar: bool = False

    @property
    def towards(self) -> np.ndarray:
        """Unit vector to the viewer."""
        return np.cross(self.right, self.up)

    def seen(self, points: np.ndarray) -> np.ndarray:
        """Points (..., 3) as (..., 2): along the picture's width and height [m]."""
        return np.stack([points @ self.right, points @ self.up], axis=-1)


def camera_of(mechanism: Mechanism, poses: np.ndarray) -> Camera:
    """The camera of a mechanism without symbols, with poses (B, 3, 4) of its bodies."""
    up = upwards(mechanism)
    normal = plane_normal(mechanism, poses)
    if normal is None:
        return oblique(up)
    if abs(normal @ up) > 1 - PARALLEL:
        return Camera(*_flat(normal, np.array([0.0, 1.0, 0.0])), is_planar=True)
    return Camera(*_flat(normal, up), is_planar=True)


def upwards(mechanism: Mechanism) -> np.ndarray:
    """Unit vector against gravity; z without gravity."""
    gravity = numbers_of(mechanism.gravity)
    size = np.linalg.norm(gravity)
    return -gravity / size if size > 0 else np.array([0.0, 0.0, 1.0])


def oblique(up: np.ndarray) -> Camera:
    """A camera that looks down at the ground from the side."""
    first, second = ground_axes(up)
    yaw, pitch = OBLIQUE
    right = -np.sin(yaw) * first + np.cos(yaw) * second
    level = np.cos(yaw) * first + np.sin(yaw) * second
    return Camera(right, np.cos(pitch) * up - np.sin(pitch) * level)


def ground_axes(up: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Two unit vectors along the ground: x and y below z."""
    first = np.eye(3)[0] if abs(up[0]) < 0.9 else np.eye(3)[1]
    first = first - up * (up @ first)
    first /= np.linalg.norm(first)
    return first, np.cross(up, first)


def _flat(normal: np.ndarray, up: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Right and up in the picture of a plane, whose normal may point either way."""
    k = int(np.argmax(np.abs(normal)))
    towards = normal * np.sign(normal[k]) * (1.0, -1.0, 1.0)[k]
    vertical = up - towards * (towards @ up)
    vertical /= np.linalg.norm(vertical)
    return np.cross(vertical, towards), vertical


def plane_normal(mechanism: Mechanism, poses: np.ndarray) -> np.ndarray | None:
    """Normal of the plane in which all bodies move, None if they do not."""
    index = {body.name: k for k, body in enumerate(mechanism.bodies)}
    turning: list[np.ndarray] = []
    sliding: list[np.ndarray] = []
    for joint in mechanism.joints:
        if isinstance(joint.type, Fixed):
            continue
        if (
            isinstance(joint.type, FLOATING)
            or getattr(joint.type, "nv", 0) > 1
            and not isinstance(joint.type, Planar)
        ):
            return None
        axis = numbers_of(getattr(joint.type, "axis", (0, 0, 0)))
        if not axis.any() or hasattr(joint.type, "pitch"):
            return None
        frame = poses[index[joint.parent], :, :3] @ pose_of(joint.origin)[:3, :3]
        direction = frame @ axis / np.linalg.norm(axis)
        (sliding if isinstance(joint.type, Prismatic) else turning).append(direction)
    if not turning:
        return _across(sliding)
    first = turning[0]
    parallel = all(np.linalg.norm(np.cross(first, axis)) < PARALLEL for axis in turning)
    across = all(abs(first @ axis) < PARALLEL for axis in sliding)
    return first if parallel and across else None


def _across(sliding: list[np.ndarray]) -> np.ndarray | None:
    """Normal of the plane of two slides, or of one that is not upright."""
    for axis in np.eye(3)[[1, 0, 2]]:
        if sliding and all(abs(axis @ direction) < PARALLEL for direction in sliding):
            return np.asarray(axis)
    return None


def body_poses(mechanism: Mechanism, q: np.ndarray) -> np.ndarray:
    """Poses (K, B, 3, 4) of all bodies at coordinates (K, nq)."""
    return placements(mechanism, q, [FramePlace(body.name) for body in mechanism.bodies])
