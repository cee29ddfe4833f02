"""Geoms of a compiled model as shapes of bodies."""

from __future__ import annotations

from typing import Any

import numpy as np

from dalembert.model.origins import Origin
from dalembert.model.visuals import Visual
from dalembert.readers.mjcf.compiling import CompiledModel
from dalembert.readers.mjcf.exact_numbers import (
    AngleReading,
    conjugate,
    exact_vector,
    quaternion_times,
    rotation_matrix,
)

SPHERE, CAPSULE, ELLIPSOID, CYLINDER, BOX, MESH = range(2, 8)  # mjtGeom
UNCOLOURED = (0.5, 0.5, 0.5, 1.0)  # of geoms that are given no colour
HIDDEN = 3  # the first of the groups that MuJoCo's viewer does not show


def visuals_of_geoms(
    compiled: CompiledModel, reading: AngleReading
) -> tuple[dict[int, tuple[Visual, ...]], list[int]]:
    """Shapes by number of the body, and the geoms that have none: planes, height fields."""
    model = compiled.model
    skins = {int(model.geom_bodyid[g]) for g in range(model.ngeom) if _is_skin(compiled, g)}
    shapes: dict[int, list[Visual]] = {}
    without = []
    for g in range(model.ngeom):
        body = int(model.geom_bodyid[g])
        sizes = _sizes(compiled, g)
        if sizes is None:
            without.append(g)
            continue
        kind, numbers, mesh = sizes
        is_collision = body in skins and sum(compiled.contacts[g]) > 0
        shape = Visual(
            kind,
            exact_vector(numbers),
            _origin(compiled, g, reading),
            _colour(model, g),
            mesh,
            bool(model.geom_group[g] < HIDDEN and not is_collision),
            compiled.source("geom", g),
        )
        shapes.setdefault(body, []).append(shape)
    return {body: tuple(of_body) for body, of_body in shapes.items()}, without


def _is_skin(compiled: CompiledModel, g: int) -> bool:
    """Whether a geom is a mesh that touches nothing, which is there to be seen."""
    model = compiled.model
    is_mesh = model.geom_type[g] == MESH and model.geom_group[g] < HIDDEN
    return bool(is_mesh and sum(compiled.contacts[g]) == 0)


def _sizes(compiled: CompiledModel, g: int) -> tuple[str, Any, str] | None:
    """Kind, sizes and mesh of a shape; None where there is no such kind."""
    model = compiled.model
    x, y, z = model.geom_size[g]
    kind = int(model.geom_type[g])
    if kind == MESH:
        number = int(model.geom_dataid[g])
        file, placement = compiled.meshes[number]
        return ("mesh", placement.scale, file) if file else None
    return {
        SPHERE: ("sphere", (x,), ""),
        CAPSULE: ("capsule", (x, 2 * y), ""),
        ELLIPSOID: ("ellipsoid", (x, y, z), ""),
        CYLINDER: ("cylinder", (x, 2 * y), ""),
        BOX: ("box", (2 * x, 2 * y, 2 * z), ""),
    }.get(kind)


def _origin(compiled: CompiledModel, g: int, reading: AngleReading) -> Origin:
    """The place of a shape in the axes of its body; of a mesh, that of the axes of its file."""
    model = compiled.model
    position, quaternion = np.array(model.geom_pos[g]), np.array(model.geom_quat[g])
    if model.geom_type[g] != MESH:
        return reading.origin(position, quaternion)
    number = int(model.geom_dataid[g])
    _, placement = compiled.meshes[number]
    quaternion = quaternion_times(quaternion, conjugate(model.mesh_quat[number]))
    position = position - rotation_matrix(quaternion) @ model.mesh_pos[number]
    quaternion = quaternion_times(quaternion, conjugate(placement.quaternion))
    moved = rotation_matrix(quaternion) @ (placement.scale * placement.position)
    return reading.origin(position - moved, quaternion)


def _colour(model: Any, g: int) -> tuple[float, ...] | None:
    """Red, green, blue and opacity of a geom or its material, as they are in the file."""
    material = int(model.geom_matid[g])
    own = tuple(round(float(x), 6) for x in model.geom_rgba[g])
    if own != UNCOLOURED:
        return own
    if material < 0:
        return None
    return tuple(round(float(x), 6) for x in model.mat_rgba[material])
