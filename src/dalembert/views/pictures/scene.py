"""A mechanism at one configuration as shaded surfaces: bodies, bent beams, rods of constraints."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from dalembert.errors import ShapeError
from dalembert.model.mechanism import Mechanism
from dalembert.views.figures.plain_numbers import with_numbers
from dalembert.views.figures.posture import posture
from dalembert.views.figures.stick_figure import (
    centre_lines,
    placements,
)
from dalembert.views.pictures.drawn_shapes import (
    DrawnShape,
    Fineness,
    drawn_shapes,
)
from dalembert.views.pictures.painter import (
    BodySurfaces,
    ColouredSurface,
)
from dalembert.views.pictures.viewpoint import (
    Camera,
    body_poses,
    camera_of,
)
from dalembert.views.solids.joint_shapes import ranges_of
from dalembert.views.solids.proportions import Proportions
from dalembert.views.solids.solid_data import COLOURS
from dalembert.views.solids.triangles import (
    Triangles,
    tube,
)

BEAM, ROD = 0.8, 0.55  # radii of a beam and of a rod, in those of a thin link
COARSE = Fineness(((10_000, 12),), 3000)


class Scene(NamedTuple):
    """A mechanism without symbols, its configuration, and what is drawn of it."""

    mechanism: Mechanism
    q: np.ndarray  # (nq,)
    poses: np.ndarray  # (B, 3, 4) of the bodies
    shapes: tuple[DrawnShape, ...]  # on bodies
    surface: ColouredSurface  # in the world
    camera: Camera
    shadows: list[np.ndarray]  # vertices of each convex part
    remarks: tuple[str, ...] = ()  # about meshes that are not shown


def scene_of(mechanism: Mechanism, q: object = None, fineness: Fineness = COARSE) -> Scene:
    """The scene of a mechanism at coordinates (nq,), by default at those of `posture`.

    Raises
    ------
    ShapeError, ValueError, QuaternionError
        q is no configuration.
    """
    plain = with_numbers(mechanism)
    coordinates = posture(plain) if q is None else np.asarray(q, dtype=float)
    if coordinates.ndim != 1:
        raise ShapeError(
            f"q has shape {coordinates.shape}, expected ({plain.nq},): a picture shows one "
            "configuration.",
            "q",
            coordinates.shape,
            (plain.nq,),
        )
    poses = body_poses(plain, coordinates[None])[0]
    shapes, sides, remarks = drawn_shapes(plain, fineness, ranges_of(plain, coordinates))
    names = [body.name for body in plain.bodies]
    parts = [(shape, COLOURS[role]) for role, shape in loose_parts(plain, coordinates, sides)]
    bodies = BodySurfaces.of(shapes, names).placed(poses)
    shadows = [shape[0] for shape, _ in parts]
    shadows += [BodySurfaces.of([shape], names).placed(poses).vertices for shape in shapes]
    return Scene(
        plain,
        coordinates,
        poses,
        shapes,
        bodies.and_(ColouredSurface.joined(parts)),
        camera_of(plain, poses),
        shadows,
        remarks,
    )


def loose_parts(mechanism: Mechanism, q: np.ndarray, sides: int) -> Iterator[tuple[str, Triangles]]:
    """Tubes along bent beams, and rods between points that constraints hold at a distance."""
    sizes = Proportions.of(mechanism)
    for curve in centre_lines(mechanism, q[None])[0]:
        yield "beam", tube(curve, BEAM * sizes.thin, sides)
    if sizes.marks.rods:
        points = placements(mechanism, q[None], sizes.marks.places)[0, :, :, 3]
        for first, second in sizes.marks.rods:
            yield "link", tube(points[[first, second]], ROD * sizes.thin, sides)
