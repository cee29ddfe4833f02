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
from dalembert.views.pictures.ground import (
    grid_lines,
    height_of,
)
from dalembert.views.pictures.painter import BodySurfaces
from dalembert.views.pictures.scene import (
    BEAM,
    ROD,
    drawn,
)
from dalembert.views.pictures.still import picture_svg
from dalembert.views.pictures.viewpoint import (
    Camera,
    body_poses,
    camera_of,
    ground_axes,
    upwards,
)
from dalembert.views.solids.body_solids import solids_of
from dalembert.views.solids.joint_shapes import (
    WITHOUT,
    ranges_of,
)
from dalembert.views.solids.proportions import Proportions
from dalembert.views.solids.solid_data import (
    COLOURS,
    Solid,
)
from dalembert.views.solids.triangles import (
    Triangles,
    triangles_of,
    tube,
)

if TYPE_CHECKING:
    from dalembert.results.run import Run

SIDES = 18  # of a round solid
FINENESS = 2e-4  # of the size of a mechanism: places of vertices
SAMPLES = 60  # configurations that the ground must reach below
ALONG_Z = np.array([[0.0, 0.0, -0.5], [0.0, 0.0, 0.5]])  # a rod of unit length [m]
PICTURE = 640  # width of the picture without scripts [pixels]


def write_page(run: Run, figure: StickFigure, path: Path, title: str, speed: float) -> None:
    """Write the page of a run with its figure at some times."""
    mechanism = run.own_mechanism()
    q = finite(run)
    data = {**figure.as_json(), **shapes_of(mechanism, q), "speed": speed}
    text = json.dumps(data, separators=(",", ":")).replace("<", "\\u003c")  # ends no script
    page = Path(__file__).with_name("animation.html").read_text(encoding="utf-8")
    filled = {
        "{{title}}": html_text(title),
        "{{summary}}": html_lines(run.summary()),
        "{{picture}}": picture_svg(mechanism, q[0], PICTURE, standalone=False),
        "{{data}}": text,
    }
    path.write_text(
        re.sub("|".join(filled), lambda found: filled[found[0]], page), encoding="utf-8"
    )


def finite(run: Run) -> np.ndarray:
    """Coordinates (K, nq) of all trajectories, of the records that they have."""
    q = run.q.reshape(-1, run.q.shape[-1])
    return np.asarray(q[np.isfinite(q).all(axis=1)])


def shapes_of(mechanism: Mechanism, q: np.ndarray) -> dict[str, Any]:
    """Solids, camera and ground of a motion through coordinates (K, nq)."""
    solids = [s for s in solids_of(mechanism, ranges_of(mechanism, q)) if drawn(s)]
    names = [body.name for body in mechanism.bodies]
    chosen = q[np.unique(np.linspace(0, len(q) - 1, SAMPLES).round().astype(int))]
    poses = body_poses(mechanism, chosen)
    camera = camera_of(mechanism, poses[0])
    sizes = Proportions.of(mechanism)
    unit = FINENESS * sizes.reach
    return {
        "solids": [_solid(solid, names, unit) for solid in solids],
        "tube": _surface(tube(ALONG_Z, 1.0, SIDES), unit),
        "unit": unit,
        "radii": [BEAM * sizes.thin, ROD * sizes.thin],
        "colours": [list(COLOURS["beam"]), list(COLOURS["link"])],
        "labels": _labels(mechanism),
        **_stage(mechanism, camera, reached(solids, names, poses)),
    }


def reached(solids: Sequence[Solid], names: Sequence[str], poses: np.ndarray) -> np.ndarray:
    """Points (P, 3) of all solids for poses (K, B, 3, 4); the bodies' origins without solids."""
    surfaces = BodySurfaces.of(solids, names, 6)
    points = [surfaces.placed(pose).vertices for pose in poses]
    return np.concatenate([*points, poses[:, :, :, 3].reshape(-1, 3)])


def _stage(mechanism: Mechanism, camera: Camera, points: np.ndarray) -> dict[str, Any]:
    """Camera and ground: squares below the motion, or behind a planar one."""
    up = upwards(mechanism)
    height = height_of(points, up)
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


def _solid(solid: Solid, names: Sequence[str], unit: float) -> dict[str, Any]:
    """A solid as data."""
    return {
        "body": names.index(solid.body),
        "colour": [round(x, 3) for x in solid.colour],
        **_surface(triangles_of(solid, SIDES), unit),
    }


def _surface(triangles: Triangles, unit: float) -> dict[str, Any]:
    """Vertices in units, and faces, in rows."""
    vertices, faces = triangles
    numbers = (vertices / unit).round().astype(int)
    return {"vertices": numbers.ravel().tolist(), "faces": faces.ravel().tolist()}
