"""Meshes of a mechanism as pictures, pages and films show them: coarse, each file read once."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import NamedTuple

import numpy as np

from dalembert.errors import (
    DalembertError,
    DalembertWarning,
)
from dalembert.model.mechanism import Mechanism
from dalembert.model.numbers import as_float
from dalembert.model.visuals import Visual
from dalembert.readers.mesh_folders import MeshError
from dalembert.views.meshes.coarsening import coarser
from dalembert.views.meshes.mesh_files import (
    MeshFiles,
    MeshPart,
    coarser_part,
)
from dalembert.views.meshes.mesh_surfaces import (
    MeshSurface,
    mesh_surfaces,
)

FINEST = 5000  # triangles of a part of a mesh that are kept
FEWEST = 40  # triangles of a part of a mesh, whatever its share
MOST_KEPT = 300  # meshes, of all mechanisms
MOST_BYTES = 48 * 2**20  # of the files of a picture

MeshKey = tuple[Path, int, int, tuple[float, ...]]
_KEPT: dict[MeshKey, tuple[MeshPart, ...]] = {}


class PictureMeshes(NamedTuple):
    """Surfaces of all meshes that can be shown, and remarks about the others."""

    surfaces: tuple[MeshSurface, ...]
    bodies: frozenset[str]  # whose meshes are shown
    remarks: tuple[str, ...]


def picture_meshes(mechanism: Mechanism, most: int) -> PictureMeshes:
    """Meshes of a mechanism without symbols with so many triangles in all, or `FEWEST` for each
    part.

    Warns
    -----
    DalembertWarning
        A file is there, but cannot be shown.
    """
    files = MeshFiles(mechanism.file, most_bytes=MOST_BYTES)
    surfaces: list[MeshSurface] = []
    remarks: list[str] = []
    try:
        for body in mechanism.bodies:
            surfaces += mesh_surfaces(body, lambda visual: _parts(visual, files))
    except DalembertError as error:  # a library is not installed
        surfaces.clear()
        remarks.append(str(error))
    is_fault = bool(remarks or files.refused)
    remarks += [f"{finding.what}: {finding.why}" for finding in files.findings()]
    if is_fault:
        warnings.warn(f"meshes are drawn as plain shapes: {' '.join(remarks)}", DalembertWarning, 2)
    shown = frozenset(surface.body for surface in surfaces)
    return PictureMeshes(_shared(surfaces, most), shown, tuple(remarks))


def _parts(visual: Visual, files: MeshFiles) -> tuple[MeshPart, ...]:
    """Coarse parts of a mesh; of a file that has not changed they are kept."""
    key = _key(visual, files)
    kept = None if key is None else _KEPT.get(key)
    if kept is not None:
        return kept
    parts = tuple(coarser_part(part, FINEST) for part in files.parts(visual))
    if key is not None and parts:
        while len(_KEPT) >= MOST_KEPT:
            _KEPT.pop([*_KEPT][0], None)  # other threads may keep meshes as well
        _KEPT[key] = parts
    return parts


def _key(visual: Visual, files: MeshFiles) -> MeshKey | None:
    """Path, state and factors of the mesh of a visual; None where its file is not found."""
    try:
        path = files.folders.path(visual.mesh)
        state = path.stat()
    except (MeshError, OSError):
        return None
    return path, state.st_mtime_ns, state.st_size, tuple(as_float(x) for x in visual.sizes)


def _shared(surfaces: list[MeshSurface], most: int) -> tuple[MeshSurface, ...]:
    """The surfaces, each with a share of the triangles by its size."""
    sizes = [float(np.linalg.norm(np.ptp(s.triangles[0], axis=0))) for s in surfaces]
    total = sum(sizes) or 1.0
    shares = [max(int(most * size / total), FEWEST) for size in sizes]
    return tuple(
        surface._replace(triangles=coarser(surface.triangles, share))
        for surface, share in zip(surfaces, shares, strict=True)
    )
