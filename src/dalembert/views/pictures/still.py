"""A still picture of a mechanism as SVG, without other libraries: shaded solids on the ground, with
names of joints and a scale.
"""

from __future__ import annotations

from collections.abc import (
    Iterator,
    Sequence,
)
from itertools import groupby
from typing import (
    Any,
    NamedTuple,
)

import numpy as np

from dalembert.arguments import path_of
from dalembert.closed_forms.printing.markup import html_text
from dalembert.displays import Picture
from dalembert.model.mechanism import Mechanism
from dalembert.model.parts import Frame
from dalembert.views.figures.plain_numbers import pose_of
from dalembert.views.pictures.drawn_shapes import Fineness
from dalembert.views.pictures.ground import (
    grid_lines,
    height_of,
    shadow,
)
from dalembert.views.pictures.painter import (
    Painted,
    painted,
)
from dalembert.views.pictures.scene import (
    Scene,
    scene_of,
)
from dalembert.views.pictures.svg_labels import (
    Anchor,
    Area,
    Covered,
    labels_of,
    room_of,
)
from dalembert.views.pictures.viewpoint import upwards
from dalembert.views.round_steps import round_length
from dalembert.views.solids.joint_shapes import WITHOUT
from dalembert.whole_files import whole_file

WIDTH, NARROWEST = 480, 120  # of a picture [pixels]
TALLEST, FLATTEST = 1.0, 0.5  # height of a picture, in widths
EDGE, FOOT = 18, 34  # pixels left free around the picture, and below for the scale
LEVELS = 6  # steps of a colour's 255 that look alike
MOST_NAMED, MOST_FRAMES = 14, 4  # more joints are not named, more frames are not shown
TRIAD = 0.09  # length of a frame's axes, of the size of the picture
AXIS_ROOM = 2.0  # pixels beside an axis
AXES = ("#e0524d", "#3fa652", "#4a7de0")  # x, y, z
FINENESS = Fineness(((30, 24), (60, 16), (120, 12), (10_000, 8)), 6000)
NAMESPACE = ' xmlns="http://www.w3.org/2000/svg"'
STYLE = (
    "<style>.dalembert-picture{color:#2a3642}@media all{.dalembert-picture{max-width:100%;height:auto}}"
    "@media(prefers-color-scheme:dark){.dalembert-picture{color:#dde4ea}}"
    ".dalembert-picture:root{color-scheme:light dark}</style>"  # as a page, it has the page's colour
)


class Window(NamedTuple):
    """Metres of a picture's plane as its pixels."""

    scale: float  # pixels per metre
    left: float  # [m]
    top: float  # [m]
    width: float
    height: float

    def at(self, points: np.ndarray) -> np.ndarray:
        """Points (..., 2) [m] as pixels from the upper left corner."""
        return (points - [self.left, self.top]) * [self.scale, -self.scale]


def picture(
    mechanism: Mechanism,
    q: Any = None,
    file: Any = None,
    width: float = WIDTH,
    labels: bool = True,
) -> Picture:
    """The picture, written where a file is given; see `Mechanism.picture`."""
    path = None if file is None else path_of("file", file)
    if path is not None and path.suffix.lower() != ".svg":
        raise ValueError(f"{str(path)!r}: the name of a picture ends in .svg.")
    if not (np.isfinite(width) and width >= NARROWEST):
        raise ValueError(f"width={width!r}: expected a number of pixels, {NARROWEST} or more.")
    text = Picture(picture_svg(mechanism, q, width, labels))
    if path is not None:
        with whole_file(path) as out:
            out.write(text)
    return text


def picture_svg(
    mechanism: Mechanism,
    q: Any = None,
    width: float = WIDTH,
    labels: bool = True,
    standalone: bool = True,
) -> str:
    """Picture of a mechanism at coordinates (nq,) as the text of an SVG; see `Mechanism.picture`.

    Names of joints are left out where there are more than `MOST_NAMED`. standalone: the picture has colours of its own for light and dark pages; else it takes the
    colour of the text around it, for SVG within HTML.

    Examples
    --------
    >>> import dalembert as da
    >>> picture_svg(da.planar_chain(2)).startswith("<svg")
    True
    """
    scene = scene_of(mechanism, q, FINENESS)
    triangles = painted(scene.surface, scene.camera)
    lines, step = _grid(scene)
    reserved = room_of(_named(scene)) if labels else 0.0
    window = window_of(triangles, lines, width, reserved)
    parts = [
        *_ground(scene, window, lines),
        *_solids(triangles, window),
        *map(_drawn_axis, _axes(scene, window)),
        *_scale(window, step),
        *(_names(scene, triangles, window) if labels else ()),
    ]
    return _document(scene, window, parts, standalone)


def window_of(triangles: Painted, lines: np.ndarray, width: float, reserved: float = 0.0) -> Window:
    """The window in which a mechanism and the ground below it fill the picture but for some pixels
    on the right.
    """
    points = triangles.corners.reshape(-1, 2)
    if not len(points):
        points = np.array([[-0.5, -0.5], [0.5, 0.5]])
    low, high = points.min(axis=0), points.max(axis=0)
    if len(lines):
        flat = lines.reshape(-1, 2)
        low = np.minimum(low, low + 0.4 * (flat.min(axis=0) - low).clip(max=0))
        high = np.maximum(high, high + 0.4 * (flat.max(axis=0) - high).clip(min=0))
    extent = np.maximum(high - low, 1e-9 + 1e-3 * float((high - low).max()))
    reserved = min(reserved, width / 3)
    room = width - 2 * EDGE - reserved
    height = float(np.clip(extent[1] / extent[0] * room, FLATTEST * width, TALLEST * width))
    scale = float(min(room / extent[0], height / extent[1]))
    middle = (low + high) / 2
    left = float(middle[0] - (width - reserved) / 2 / scale)
    top = float(middle[1] + (height / 2 + EDGE) / scale)
    return Window(scale, left, top, width, height + EDGE + FOOT)


def _document(scene: Scene, window: Window, parts: Sequence[str], standalone: bool) -> str:
    """The SVG with its title, and with remarks about meshes that are not shown."""
    size = f"{window.width:.0f} {window.height:.0f}"
    title = html_text(scene.mechanism.name)
    remarks = html_text(" ".join(scene.remarks))
    return "".join(
        [
            f'<svg{NAMESPACE if standalone else ""} viewBox="0 0 {size}" ',
            f'width="{window.width:.0f}" height="{window.height:.0f}" role="img" ',
            f'aria-label="Picture of {title}" class="dalembert-picture" ',
            'font-family="system-ui,sans-serif"',
            ">" if standalone else ' style="max-width:100%;height:auto">',
            f"<title>{title}</title>",
            f"<desc>{remarks}</desc>" if remarks else "",
            STYLE if standalone else "",
            *parts,
            "</svg>",
        ]
    )


def path_of_points(points: np.ndarray, closed: bool = True) -> str:
    """A polygon (P, 2) as steps of a path, in tenths of a pixel."""
    tenths = np.rint(points * 10).astype(int)
    steps = np.diff(tenths, axis=0).tolist()
    start = "M{} {}".format(*tenths[0].tolist())
    return start + "l" + " ".join(f"{x} {y}" for x, y in steps) + ("z" if closed else "")


# --- ground ---


def _extent(scene: Scene) -> np.ndarray:
    """Points (P, 3) of all solids; the world's origin where nothing is drawn [m]."""
    return scene.surface.vertices if len(scene.surface.vertices) else np.zeros((1, 3))


def _grid(scene: Scene) -> tuple[np.ndarray, float]:
    """Lines (L, 2, 2) of the ground as it is seen [m], and their distance; of a plane in which all
    moves, squares behind it.
    """
    points = _extent(scene)
    if scene.camera.is_planar:
        lines, step = grid_lines(points, scene.camera.towards, 0.0)
    else:
        up = upwards(scene.mechanism)
        lines, step = grid_lines(points, up, height_of(points, up))
    return scene.camera.seen(lines), step


def _ground(scene: Scene, window: Window, lines: np.ndarray) -> Iterator[str]:
    """Grid, and the shadow of all solids on it."""
    paths = "".join(path_of_points(line, closed=False) for line in window.at(lines))
    yield (
        '<g transform="scale(.1)"><path fill="none" stroke="currentColor" stroke-opacity=".16" '
        f'stroke-width="8" d="{paths}"/>'
    )
    if not scene.camera.is_planar:
        up = upwards(scene.mechanism)
        height = height_of(_extent(scene), up)
        outlines = [shadow(part, scene.camera, up, height) for part in scene.shadows]
        paths = "".join(path_of_points(window.at(o)) for o in outlines if len(o) > 2)
        yield f'<path fill="#000" fill-opacity=".15" d="{paths}"/>'
    yield "</g>"


def _scale(window: Window, step: float) -> Iterator[str]:
    """A bar of the length of the grid's squares, or of a round part of the picture."""
    length = step
    while length * window.scale > 0.4 * window.width:
        length = round_length(0.5 * length)
    end = EDGE + length * window.scale
    y = window.height - 12
    yield (
        f'<path fill="none" stroke="currentColor" stroke-width="1.5" '
        f'd="M{EDGE} {y - 4:.1f}v8M{EDGE} {y:.1f}H{end:.1f}M{end:.1f} {y - 4:.1f}v8"/>'
        f'<text x="{end + 8:.1f}" y="{y + 4:.1f}" font-size="12" fill="currentColor">'
        f"{length:g} m</text>"
    )


# --- solids ---


def _solids(triangles: Painted, window: Window) -> Iterator[str]:
    """Triangles from back to front; neighbours of one colour share a path."""
    colours = np.rint(triangles.colours[:, :3] * 255 / LEVELS).astype(int) * LEVELS
    colours = colours.clip(0, 255)
    corners = np.rint(window.at(triangles.corners) * 10).astype(int)
    (ax, ay), (bx, by) = ((corners[:, k] - corners[:, 0]).T for k in (1, 2))
    visible = np.flatnonzero(ax * by != ay * bx)
    keys = [(*c, a) for c, a in zip(colours.tolist(), triangles.colours[:, 3], strict=True)]
    yield '<g transform="scale(.1)" stroke-width="9" stroke-linejoin="round">'
    for key, alike in groupby(visible, key=keys.__getitem__):
        yield _path(key, corners[list(alike)])
    yield "</g>"


def _path(key: tuple[float, ...], corners: np.ndarray) -> str:
    """Triangles (P, 3, 2) of one colour and opacity.

    The colour is written twice, as programs that draw paper do not pass on `currentColor`.
    """
    red, green, blue, opacity = key
    colour = f"#{red:02x}{green:02x}{blue:02x}"
    faint = "" if opacity == 1 else f' opacity="{opacity:.2g}"'
    steps = np.concatenate([corners[:, :1], np.diff(corners, axis=1)], axis=1).reshape(-1, 6)
    path = "".join(["M{} {}l{} {} {} {}z".format(*row) for row in steps.tolist()])
    return f'<path fill="{colour}" stroke="{colour}"{faint} d="{path}"/>'


# --- frames and names ---


class Axis(NamedTuple):
    """An axis of a frame [pixels]."""

    start: np.ndarray
    end: np.ndarray
    colour: str

    @property
    def area(self) -> Area:
        """The rectangle about the axis, which names keep off."""
        low, high = np.minimum(self.start, self.end), np.maximum(self.start, self.end)
        return Area(*(low - AXIS_ROOM), *(high + AXIS_ROOM))


def _axes(scene: Scene, window: Window) -> Iterator[Axis]:
    """The axes of the frames that a mechanism names."""
    index = {body.name: k for k, body in enumerate(scene.mechanism.bodies)}
    length = TRIAD * (window.width - 2 * EDGE) / window.scale
    for frame in _frames(scene):
        pose = _world(scene.poses[index[frame.body]]) @ pose_of(frame.origin)
        start = window.at(scene.camera.seen(pose[:3, 3]))
        for k, colour in enumerate(AXES):
            end = window.at(scene.camera.seen(pose[:3, 3] + length * pose[:3, k]))
            if np.linalg.norm(end - start) > 2:
                yield Axis(start, end, colour)


def _drawn_axis(axis: Axis) -> str:
    (x, y), (end_x, end_y) = axis.start, axis.end
    return (
        f'<path stroke="{axis.colour}" stroke-width="2" stroke-linecap="round" '
        f'd="M{x:.1f} {y:.1f}L{end_x:.1f} {end_y:.1f}"/>'
    )


def _world(pose: np.ndarray) -> np.ndarray:
    """A pose (3, 4) as (4, 4)."""
    return np.vstack([pose, [0, 0, 0, 1]])


def _names(scene: Scene, triangles: Painted, window: Window) -> Iterator[str]:
    """Names of joints and frames beside the solids."""
    covered = Covered.of(window.at(triangles.corners), (window.width, window.height))
    lines = [axis.area for axis in _axes(scene, window)]
    return labels_of(_anchors(scene, window), covered, lines)


def _named(scene: Scene) -> list[str]:
    """Names of the joints and frames that have room in a picture."""
    joints = [j.name for j in scene.mechanism.joints if not isinstance(j.type, WITHOUT)]
    joints = joints if len(joints) <= MOST_NAMED else []
    return [*joints, *(frame.name for frame in _frames(scene))]


def _frames(scene: Scene) -> Sequence[Frame]:
    """Frames that are shown."""
    frames = scene.mechanism.frames
    return frames if len(frames) <= MOST_FRAMES else ()


def _anchors(scene: Scene, window: Window) -> list[Anchor]:
    """Places of joints and frames, with their names."""
    m = scene.mechanism
    index = {body.name: k for k, body in enumerate(m.bodies)}
    joints = [joint for joint in m.joints if not isinstance(joint.type, WITHOUT)]
    radii = {
        shape.body: float(np.linalg.norm(shape.vertices, axis=1).max())
        for shape in scene.shapes
        if shape.role == "joint"
    }
    found = []
    if len(joints) <= MOST_NAMED:
        for joint in joints:
            place = scene.poses[index[joint.child], :, 3]
            away = radii.get(joint.child, 0.0) * window.scale
            found.append(Anchor(joint.name, window.at(scene.camera.seen(place)), away))
    for frame in _frames(scene):
        pose = _world(scene.poses[index[frame.body]]) @ pose_of(frame.origin)
        found.append(Anchor(frame.name, window.at(scene.camera.seen(pose[:3, 3])), 4.0))
    return found
