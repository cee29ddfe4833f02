"""The surroundings of a robot: the ground with its scale, light, and a camera that frames the motion."""

from __future__ import annotations

from typing import (
    Any,
    NamedTuple,
)

import numpy as np

from dalembert.closed_forms.printing.number_text import number
from dalembert.views.viewer.quaternions import quaternion

STEPS = (1.0, 2.0, 5.0)  # sizes of a cell, times a power of 10 [m]
CELLS = 12  # along the motion
SCALE = 2  # cells that the scale is long
FILLED = 0.86  # of a picture's width and height, by the motion
VIEW = np.array([0.9, -1.0, 0.55])  # from which a motion in space is seen: right, back, up
FRONT = 0.15  # of the height above a planar motion, of the distance to it
UPRIGHT = 0.1  # cosine of the least angle between a plane's normal and the vertical
FOV = np.deg2rad(45)
LEAST = 0.05  # m, of a motion
WIDE = 1.5  # width of a picture over its height, before a window is known
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
        cls, points: np.ndarray, up: np.ndarray, normal: np.ndarray | None = None
    ) -> Surroundings:
        """The box around points (n, 3) of shapes [m].

        up : (3,) unit vector against gravity
        normal : (3,) of a planar motion
        """
        axes, is_planar = _axes(up, normal)
        points = points @ axes
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


def _axes(up: np.ndarray, normal: np.ndarray | None) -> tuple[np.ndarray, bool]:
    """To the right, to the back and up; and whether the back is across a planar motion."""
    is_planar = normal is not None and abs(float(normal @ up)) < UPRIGHT
    if normal is not None and is_planar:
        right = np.cross(normal, up)
    else:
        right = np.eye(3)[0] if abs(up[0]) < 0.9 else np.eye(3)[1]
    right = right - up * (up @ right)
    right /= np.linalg.norm(right)
    if right[int(np.argmax(np.abs(right)))] < 0:
        right = -right
    return np.stack([right, np.cross(up, right), up], axis=1), is_planar


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
    set_camera(server.initial_camera, around)


def set_camera(
    camera: Any, around: Surroundings, aspect: float = WIDE, covered: float = 0.0
) -> None:
    """Let a picture, so many times as wide as high, show the motion and the scale before it, above
    the part of its height that is covered.
    """
    position, target = framed(around, aspect, covered)
    camera.fov = FOV
    camera.near = around.radius / 100
    camera.far = 100 * around.radius
    camera.position = position
    camera.look_at = target


def framed(
    around: Surroundings, aspect: float, covered: float = 0.0
) -> tuple[np.ndarray, np.ndarray]:
    """Place of the nearest camera that has the motion in its picture, and the point it looks at [m].

    With x to the right and z towards the camera, a point is left of the right edge, whose slope is
    t, where x + t z <= p_x + t p_z; the other edges are alike.
    """
    view = np.array([0.0, -1.0, FRONT]) if around.is_planar else VIEW
    towards = view / np.linalg.norm(view)
    right = np.cross([0.0, 0.0, 1.0], towards)
    right /= np.linalg.norm(right)
    eyes = np.stack([right, np.cross(towards, right), towards], axis=1)
    points = _shown_points(around) @ eyes
    slope = FILLED * np.tan(FOV / 2)
    sideways = _between_edges(points[:, [0, 2]], slope * aspect, slope * aspect)
    upwards = _between_edges(points[:, [1, 2]], slope * (1 - 2 * covered), slope)
    z = max(sideways.least, upwards.least)
    x, y = sideways.place(z), upwards.place(z)
    middle = points[:, 2].mean()
    to_world = around.axes @ eyes
    return to_world @ [x, y, z], to_world @ [x, y, middle]


class Edges(NamedTuple):
    """Two edges of a picture, by the least of p_x + t p_z and of s p_z - p_x that they allow."""

    slopes: tuple[float, float]  # s, t
    bounds: tuple[float, float]  # of s p_z - p_x, of p_x + t p_z

    @property
    def least(self) -> float:
        """The least p_z."""
        return sum(self.bounds) / sum(self.slopes)

    def place(self, z: float) -> float:
        """The p_x at p_z = z, in the middle between its bounds."""
        (s, t), (low, high) = self.slopes, self.bounds
        return (high - t * z + s * z - low) / 2


def _between_edges(points: np.ndarray, s: float, t: float) -> Edges:
    """Edges around points (n, 2), x and z, with slopes s on the side of -x and t on that of x."""
    x, z = points.T
    return Edges((s, t), (float((s * z - x).max()), float((x + t * z).max())))


def _shown_points(around: Surroundings) -> np.ndarray:
    """Corners of the box around a motion, and ends of the scale, in the axes of its place [m]."""
    bounds = np.stack([around.low, around.high])
    corners = [[bounds[i, 0], bounds[j, 1], bounds[k, 2]] for i, j, k in np.ndindex(2, 2, 2)]
    middle, front = _scale_at(around)
    half = SCALE * around.cell / 2
    before = front - around.cell / 2  # with its label
    scale = [[middle + x, before, around.ground] for x in (-half, half)]
    return np.array([*corners, *scale])


def _scale_at(around: Surroundings) -> tuple[float, float]:
    """Middle of the scale to the right, and its place to the back [m]."""
    return float(around.low[0] + around.high[0]) / 2, float(around.low[1]) - around.cell


def _add_scale(scene: Any, around: Surroundings, colour: tuple[int, int, int]) -> None:
    """A bar on the ground, as long as its label says, before the motion."""
    length = SCALE * around.cell
    middle, front = _scale_at(around)
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
