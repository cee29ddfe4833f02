"""The pedestal below a base, where a motion goes deeper than the base and the ground is lower."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from dalembert.model.joints import (
    Free,
    Planar,
)
from dalembert.model.mechanism import Mechanism
from dalembert.views.pictures.drawn_shapes import DrawnShape
from dalembert.views.pictures.viewpoint import (
    ground_axes,
    upwards,
)
from dalembert.views.solids.solid_data import solid
from dalembert.views.solids.triangles import triangles_of

AFLOAT = (Free, Planar)  # types of joints of bodies that stand on nothing
SOLE = (
    0.1  # of the size: parts of the base that are so near to its lowest point stand on the pedestal
)
LOWEST, HIGHEST = 0.03, 0.55  # heights of pedestals, of the size of the motion


def pedestal_below(
    mechanism: Mechanism, shapes: Sequence[DrawnShape], points: np.ndarray, height: float
) -> tuple[DrawnShape, ...]:
    """A block from the ground up to the base; none where the points (P, 3) that the motion reaches
    lie in it, or where nothing stands on the base.
    """
    base = mechanism.bodies[0].name
    own = [shape.vertices for shape in shapes if shape.body == base]
    types = [joint.type for joint in mechanism.joints if joint.parent == base]
    if not own or all(isinstance(kind, AFLOAT) for kind in types):
        return ()
    axes = np.stack([*ground_axes(upwards(mechanism)), upwards(mechanism)])
    places = np.concatenate(own) @ axes.T
    size = float(np.ptp(points, axis=0).max())
    top = float(places[:, 2].min())
    if not LOWEST * size <= top - height <= HIGHEST * size:
        return ()
    sole = places[places[:, 2] < top + SOLE * size]
    low, high = sole.min(axis=0), sole.max(axis=0)
    low[2], high[2] = height, top
    around = points @ axes.T
    is_inside = (around > low) & (around < high - [0, 0, LOWEST * size / 2])
    if is_inside.all(axis=1).any():
        return ()
    pose = np.eye(4)
    pose[:3, :3] = axes.T
    pose[:3, 3] = axes.T @ (low + high) / 2
    block = solid(base, "pedestal", "box", pose, *(high - low))
    return (DrawnShape(base, *triangles_of(block), block.colour, block.role),)
