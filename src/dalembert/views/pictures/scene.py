"""A mechanism at one configuration as shaded surfaces: bodies, bent beams, rods of constraints."""

from __future__ import annotations

from collections.abc import (
    Iterator,
    Sequence,
)
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
from dalembert.views.pictures.painter import (
    BodySurfaces,
    ColouredSurface,
)
from dalembert.views.pictures.viewpoint import (
    Camera,
    body_poses,
    camera_of,
)
from dalembert.views.solids.body_solids import solids_of
from dalembert.views.solids.joint_shapes import ranges_of
from dalembert.views.solids.proportions import Proportions
from dalembert.views.solids.solid_data import (
    COLOURS,
    Solid,
)
from dalembert.views.solids.triangles import (
    Triangles,
    tube,
)

BEAM, ROD = 0.8, 0.55  # radii of a beam and of a rod, in those of a thin link


class Scene(NamedTuple):
    """A mechanism without symbols, its configuration, and what is drawn of it."""

    mechanism: Mechanism
    q: np.ndarray  # (nq,)
    poses: np.ndarray  # (B, 3, 4) of the bodies
    solids: tuple[Solid, ...]  # shapes on bodies
    surface: ColouredSurface  # in the world
    camera: Camera
    shadows: list[np.ndarray]  # vertices of each convex part


def scene_of(
    mechanism: Mechanism, q: object = None, sides_of: Sequence[tuple[int, int]] = ((10_000, 12),)
) -> Scene:
    """The scene of a mechanism at coordinates (nq,), by default at those of `posture`; a round
    solid has as many sides as `sides_of` says for so many solids.

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
    solids = tuple(s for s in solids_of(plain, ranges_of(plain, coordinates)) if drawn(s))
    sides = next(sides for most, sides in sides_of if len(solids) <= most)
    names = [body.name for body in plain.bodies]
    parts = [(shape, COLOURS[role]) for role, shape in loose_parts(plain, coordinates, sides)]
    bodies = BodySurfaces.of(solids, names, sides).placed(poses)
    shadows = [shape[0] for shape, _ in parts]
    shadows += _placed_parts(solids, names, poses, sides)
    return Scene(
        plain,
        coordinates,
        poses,
        solids,
        bodies.and_(ColouredSurface.joined(parts)),
        camera_of(plain, poses),
        shadows,
    )


def drawn(solid: Solid) -> bool:
    """Whether a solid rides on its body as it is: no mesh, no beam that bends."""
    return solid.kind != "mesh" and solid.role != "beam"


def _placed_parts(
    solids: tuple[Solid, ...], names: list[str], poses: np.ndarray, sides: int
) -> list[np.ndarray]:
    """Vertices of each solid in the world."""
    return [BodySurfaces.of([s], names, sides).placed(poses).vertices for s in solids]


def loose_parts(mechanism: Mechanism, q: np.ndarray, sides: int) -> Iterator[tuple[str, Triangles]]:
    """Tubes along bent beams, and rods between points that constraints hold at a distance."""
    sizes = Proportions.of(mechanism)
    for curve in centre_lines(mechanism, q[None])[0]:
        yield "beam", tube(curve, BEAM * sizes.thin, sides)
    if sizes.marks.rods:
        points = placements(mechanism, q[None], sizes.marks.places)[0, :, :, 3]
        for first, second in sizes.marks.rods:
            yield "link", tube(points[[first, second]], ROD * sizes.thin, sides)
