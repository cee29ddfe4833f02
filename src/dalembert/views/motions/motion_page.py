"""The motion of a run as one HTML page that needs nothing else: data of its shapes and places for
`animation.html`, which draws them.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import (
    TYPE_CHECKING,
    Any,
)

import numpy as np

from dalembert.closed_forms.printing.markup import (
    html_lines,
    html_text,
)
from dalembert.displays import visible
from dalembert.model.mechanism import Mechanism
from dalembert.views.figures.stick_figure import StickFigure
from dalembert.views.motions.packed_numbers import (
    packed,
    whole_numbers,
)
from dalembert.views.pictures.drawn_shapes import (
    DrawnShape,
    Fineness,
    drawn_shapes,
)
from dalembert.views.pictures.ground import (
    grid_lines,
    height_of,
)
from dalembert.views.pictures.painter import BodySurfaces
from dalembert.views.pictures.pedestals import pedestal_below
from dalembert.views.pictures.scene import (
    BEAM,
    ROD,
)
from dalembert.views.pictures.still import picture_svg
from dalembert.views.pictures.viewpoint import (
    Camera,
    body_poses,
    camera_of,
    ground_axes,
    upwards,
)
from dalembert.views.solids.joint_shapes import (
    WITHOUT,
    ranges_of,
)
from dalembert.views.solids.proportions import Proportions
from dalembert.views.solids.solid_data import COLOURS
from dalembert.views.solids.triangles import tube
from dalembert.whole_files import whole_file

if TYPE_CHECKING:
    from dalembert.results.run import Run

SIDES = 18  # of a round solid
FINENESS = Fineness(((10_000, SIDES),), 14_000)
SAMPLES = 60  # configurations that the ground must reach below
ALONG_Z = np.array([[0.0, 0.0, -0.5], [0.0, 0.0, 0.5]])  # a rod of unit length [m]
PICTURE = 640  # width of the picture without scripts [pixels]


def write_page(run: Run, figure: StickFigure, path: Path, title: str, speed: float) -> None:
    """Write the page of a run with its figure at some times."""
    mechanism = run.own_mechanism()
    q = finite(run)
    shapes = drawn_shapes(mechanism, FINENESS, ranges_of(mechanism, q))
    data = {**motion_data(figure), **page_data(mechanism, shapes.shapes, q), "speed": speed}
    summary = "\n".join([run.summary(), *shapes.remarks])
    text = json.dumps(data, separators=(",", ":")).replace("<", "\\u003c")  # ends no script
    page = Path(__file__).with_name("animation.html").read_text(encoding="utf-8")
    filled = {
        "{{title}}": html_text(title),
        "{{summary}}": html_lines(summary),
        "{{picture}}": picture_svg(mechanism, q[0], PICTURE, standalone=False),
        "{{data}}": text,
    }
    with whole_file(path) as out:
        out.write(re.sub("|".join(filled), lambda found: filled[found[0]], page))


def finite(run: Run) -> np.ndarray:
    """Coordinates (K, nq) of all trajectories, of the records that they have."""
    q = run.q.reshape(-1, run.q.shape[-1])
    return np.asarray(q[np.isfinite(q).all(axis=1)])


def motion_data(figure: StickFigure) -> dict[str, Any]:
    """A figure as data: of its frames origins and two axes, of its centres of mass the places
    (N, B, 3) in their frames.
    """
    carried_by = np.array([frame for frame, _ in figure.weights], dtype=int)
    carriers = figure.frames[:, 0, carried_by]
    axes = carriers[..., 3:].reshape(*carriers.shape[:2], 3, 3)
    arms = figure.masses[:, 0] - carriers[..., :3]
    return {
        **figure._asdict(),
        "times": figure.times.tolist(),
        "frames": packed(figure.frames[..., :9]),
        "masses": np.einsum("nbij,nbj->nbi", axes, arms).tolist(),
        "floors": [corners.tolist() for corners in figure.floors],
        "beams": packed(figure.beams),
    }


def page_data(mechanism: Mechanism, shapes: Sequence[DrawnShape], q: np.ndarray) -> dict[str, Any]:
    """Shapes, camera and ground of a motion through coordinates (K, nq)."""
    names = [body.name for body in mechanism.bodies]
    chosen = q[np.unique(np.linspace(0, len(q) - 1, SAMPLES).round().astype(int))]
    poses = body_poses(mechanism, chosen)
    camera = camera_of(mechanism, poses[0])
    sizes = Proportions.of(mechanism)
    points = reached(shapes, names, poses)
    height = height_of(points, upwards(mechanism))
    if not camera.is_planar:
        shapes = [*shapes, *pedestal_below(mechanism, shapes, points, height)]
    return {
        "solids": [_shape(shape, names) for shape in shapes],
        "tube": _surface(*tube(ALONG_Z, 1.0, SIDES)),
        "radii": [BEAM * sizes.thin, ROD * sizes.thin],
        "colours": [list(COLOURS["beam"]), list(COLOURS["link"])],
        "labels": _labels(mechanism),
        **_stage(mechanism, camera, points, height),
    }


def reached(shapes: Sequence[DrawnShape], names: Sequence[str], poses: np.ndarray) -> np.ndarray:
    """Points (P, 3) of all shapes for poses (K, B, 3, 4); the bodies' origins without shapes."""
    surfaces = BodySurfaces.of(shapes, names)
    points = [surfaces.placed(pose).vertices for pose in poses]
    return np.concatenate([*points, poses[:, :, :, 3].reshape(-1, 3)])


def _stage(
    mechanism: Mechanism, camera: Camera, points: np.ndarray, height: float
) -> dict[str, Any]:
    """Camera and ground: squares below the motion, or behind a planar one."""
    up = upwards(mechanism)
    if camera.is_planar:
        lines, step = grid_lines(points, camera.towards, float((points @ camera.towards).min()))
    else:
        lines, step = grid_lines(points, up, height)
    first, second = ground_axes(up)
    yaw = float(np.arctan2(-camera.right @ first, camera.right @ second))
    pitch = float(np.arcsin(np.clip(camera.towards @ up, -1, 1)))
    return {
        "basis": [first.tolist(), second.tolist(), up.tolist()],
        "view": [yaw, pitch],
        "planar": camera.is_planar,
        "height": height,
        "grid": lines.round(6).tolist(),
        "step": step,
    }


def _labels(mechanism: Mechanism) -> list[list[Any]]:
    """Names of joints, at the frames of their children, and of frames."""
    index = {name: k for k, name in enumerate(mechanism.frame_names)}
    joints = [j for j in mechanism.joints if not isinstance(j.type, WITHOUT)]
    named = [[visible(joint.name), index[joint.child]] for joint in joints]
    return named + [[visible(f.name), index[f.name]] for f in mechanism.frames]


def _shape(shape: DrawnShape, names: Sequence[str]) -> dict[str, Any]:
    """A shape as data."""
    return {
        "body": names.index(shape.body),
        "colour": [round(x, 3) for x in shape.colour],
        **_surface(shape.vertices, shape.faces),
    }


def _surface(vertices: np.ndarray, faces: np.ndarray) -> dict[str, Any]:
    """Vertices (V, 3) and faces (F, 3) as data."""
    return {"vertices": packed(vertices), "faces": whole_numbers(faces)}
