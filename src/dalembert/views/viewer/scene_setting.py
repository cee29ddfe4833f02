"""The surroundings of a robot: the ground with its scale, light, and a camera that frames the motion."""

from __future__ import annotations

from typing import (
    Any,
    NamedTuple,
)

import numpy as np

from dalembert.views.viewer.escaped import number
from dalembert.views.viewer.quaternions import quaternion

STEPS = (1.0, 2.0, 5.0)  # sizes of a cell, times a power of 10 [m]
CELLS = 12  # along the motion
SCALE = 2  # cells that the scale is long
MARGIN = 1.2  # of the distance that just frames the motion
VIEW = np.array([0.9, -1.0, 0.55])  # from which a motion in space is seen: right, back, up
FRONT = 0.15  # of the height above a planar motion, of the distance to it
FLAT = 1e-3  # of the largest extent: a motion thinner than that is planar
UPRIGHT = 0.1  # cosine of the least angle between a plane's normal and the vertical
FOV = np.deg2rad(45)
LEAST = 0.05  # m, of a motion
DARK = {"cell": (66, 71, 79), "section": (96, 103, 113), "scale": (190, 198, 206)}
LIGHT = {"cell": (222, 226, 230), "section": (186, 193, 200), "scale": (90, 100, 110)}


class Surroundings(NamedTuple):
    """The place of a motion.

    low, high : (3,) corners of the box around it [m], in the axes
    axes : (3, 3) in columns: to the right, to the back, up, which is against gravity
    is_planar : whether the motion is thin along the second of the axes, and so seen from there
    """

    low: np.ndarray
    high: np.ndarray
    axes: np.ndarray
    is_planar: bool

    @classmethod
    def of(
        cls, origins: np.ndarray, hulls: np.ndarray, gravity: np.ndarray, turning: np.ndarray
    ) -> Surroundings:
        """The box around points of shapes.

        origins (n, 3) of bodies, hulls (m, 3), gravity (3,), axes of joints that turn (k, 3): the
        motion is planar where these are parallel, or else by the origins
        """
        axes, is_planar = _axes(origins, gravity, turning)
        points = np.concatenate([origins, hulls]) @ axes
        return cls(points.min(axis=0), points.max(axis=0), axes, is_planar)

    @property
    def centre(self) -> np.ndarray:
        """Middle of the box, in world axes [m]."""
        return np.asarray(self.axes @ (self.low + self.high) / 2)

    @property
    def radius(self) -> float:
        """Half of its diagonal [m]."""
        return max(float(np.linalg.norm(self.high - self.low)) / 2, LEAST)

    @property
    def ground(self) -> float:
        """Height of the ground: below all, or that of the origin [m]."""
        return min(0.0, float(self.low[2]))

    @property
    def cell(self) -> float:
        """Size of a cell of the ground: a round number [m]."""
        rough = 2 * self.radius / CELLS
        power = 10.0 ** np.floor(np.log10(rough))
        return float(power * next(step for step in (*STEPS, 10.0) if step * power >= rough))


def _axes(origins: np.ndarray, gravity: np.ndarray, turning: np.ndarray) -> tuple[np.ndarray, bool]:
    """To the right, to the back and up; and whether the back is across a planar motion."""
    size = float(np.linalg.norm(gravity))
    up = -gravity / size if size > 0 else np.array([0.0, 0.0, 1.0])
    across = _across(origins, turning)
    right = np.eye(3)[0] if abs(up[0]) < 0.9 else np.eye(3)[1]
    is_planar = False
    if across is not None and abs(float(across @ up)) < UPRIGHT:
        right = np.cross(across, up)
        is_planar = True
    right = right - up * (up @ right)
    right /= np.linalg.norm(right)
    if right[int(np.argmax(np.abs(right)))] < 0:
        right = -right
    return np.stack([right, np.cross(up, right), up], axis=1), is_planar


def _across(origins: np.ndarray, turning: np.ndarray) -> np.ndarray | None:
    """Unit vector across a planar motion; None of a motion in space."""
    if len(turning):
        is_parallel = np.linalg.norm(np.cross(turning, turning[0]), axis=1) < FLAT
        return np.asarray(turning[0]) if is_parallel.all() else None
    extent = np.ptp(origins, axis=0)
    thin = int(np.argmin(extent))
    is_thin = extent[thin] < FLAT * max(extent.max(), LEAST)
    return np.eye(3)[thin] if is_thin else None


def set_scene(server: Any, around: Surroundings, is_dark: bool) -> None:
    """Ground, its scale, and the camera."""
    cell = around.cell
    colours = DARK if is_dark else LIGHT
    server.scene.set_up_direction(around.axes[:, 2])
    server.scene.add_grid(
        "/ground",
        plane="xy",
        infinite_grid=True,
        cell_size=cell,
        section_size=5 * cell,
        cell_color=colours["cell"],
        section_color=colours["section"],
        cell_thickness=0.6,
        section_thickness=0.9,
        fade_distance=12 * around.radius,
        fade_strength=2.0,
        fade_from="origin",
        shadow_opacity=0.25,
        position=around.axes @ [0.0, 0.0, around.ground - 1e-3 * around.radius],
        wxyz=quaternion(around.axes),
    )
    _add_scale(server.scene, around, colours["scale"])
    _set_camera(server.initial_camera, around)


def _set_camera(camera: Any, around: Surroundings) -> None:
    view = np.array([0.0, -1.0, FRONT]) if around.is_planar else VIEW
    direction = around.axes @ (view / np.linalg.norm(view))
    distance = MARGIN * around.radius / np.sin(FOV / 2)
    camera.fov = FOV
    camera.near = distance / 200
    camera.far = 40 * distance
    camera.look_at = around.centre
    camera.position = around.centre + distance * direction


def _add_scale(scene: Any, around: Surroundings, colour: tuple[int, int, int]) -> None:
    """A bar on the ground, as long as its label says, before the motion."""
    length = SCALE * around.cell
    middle = (around.low[0] + around.high[0]) / 2
    front = around.low[1] - around.cell
    ticks = np.array([[-length / 2] * 2, [-length / 2] * 2, [length / 2] * 2])
    bar = np.zeros((3, 2, 3))
    bar[..., 0] = ticks
    bar[0, 1, 0] = length / 2
    bar[1:, 0, 1] = -0.25 * around.cell
    bar[1:, 1, 1] = 0.25 * around.cell
    bar += [middle, front, around.ground]
    lines = bar @ around.axes.T
    scene.add_line_segments("/scale", lines, colour, thickness=2.5, thickness_units="screen")
    label = around.axes @ [middle, front - 0.4 * around.cell, around.ground]
    text = f"{number(length, 3)} m"
    scene.add_label("/scale/label", text, position=label, anchor="top-center")
