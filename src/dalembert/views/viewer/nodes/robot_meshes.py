"""Meshes of a mechanism, by body: from its files where there are any, else its solids."""

from __future__ import annotations

import itertools
import os
from collections import defaultdict
from collections.abc import Iterable
from typing import NamedTuple

import numpy as np

from dalembert.model.findings import Finding
from dalembert.model.mechanism import Mechanism
from dalembert.views.meshes.mesh_files import MeshFiles
from dalembert.views.meshes.mesh_surfaces import mesh_surfaces
from dalembert.views.solids.body_solids import solids_of
from dalembert.views.solids.joint_shapes import Ranges
from dalembert.views.solids.solid_data import Colour
from dalembert.views.solids.triangles import triangles_of
from dalembert.views.viewer.nodes.creases import creased

SIDES = 32  # of a round solid


class BodyMesh(NamedTuple):
    """Triangles of one colour on a body.

    body : index of the body
    vertices (V, 3) [m, in the body's axes], faces (F, 3)
    """

    body: int
    vertices: np.ndarray
    faces: np.ndarray
    colour: Colour


def robot_meshes(
    mechanism: Mechanism,
    mesh_folders: Iterable[str | os.PathLike[str]] = (),
    ranges: Ranges | None = None,
) -> tuple[list[BodyMesh], list[Finding]]:
    """Meshes of all bodies, few for each, and findings about files that are not shown.

    ranges are displacements [m] that the rails of prismatic joints cover, by joint.
    """
    files = MeshFiles(mechanism.file, mesh_folders)
    index = {body.name: k for k, body in enumerate(mechanism.bodies)}
    parts: list[BodyMesh] = []
    for body in mechanism.bodies:
        for surface in mesh_surfaces(body, files.parts):
            vertices, faces = creased(*surface.triangles)
            parts.append(BodyMesh(index[body.name], vertices, faces, surface.colour))
    shown = {part.body for part in parts}
    bent = {body.name for body in mechanism.elastic_bodies}
    for solid in solids_of(mechanism, ranges):
        if solid.kind == "mesh" or solid.role == "beam" and solid.body in bent:
            continue  # drawn above; beams that bend are tubes of their own
        if solid.role == "fallback" and index[solid.body] in shown:
            continue
        vertices, faces = triangles_of(solid, SIDES)
        parts.append(BodyMesh(index[solid.body], vertices, faces, solid.colour))
    return _joined(parts), files.findings()


def corners(meshes: Iterable[BodyMesh]) -> tuple[np.ndarray, np.ndarray]:
    """Corners (n, 3) of the boxes around meshes, in the axes of their bodies, and these (n,)."""
    boxes = []
    bodies = []
    for mesh in meshes:
        low, high = mesh.vertices.min(axis=0), mesh.vertices.max(axis=0)
        choice = np.array(list(itertools.product((0, 1), repeat=3)))
        boxes.append(low + choice * (high - low))
        bodies += [mesh.body] * 8
    return np.concatenate(boxes or [np.zeros((0, 3))]), np.array(bodies, dtype=int)


def _joined(parts: Iterable[BodyMesh]) -> list[BodyMesh]:
    """Meshes of the same body and colour as one."""
    alike: defaultdict[tuple[int, Colour], list[BodyMesh]] = defaultdict(list)
    for part in parts:
        alike[part.body, part.colour].append(part)
    joined = []
    for (body, colour), some in alike.items():
        starts = np.cumsum([0, *(len(part.vertices) for part in some)])
        faces = [part.faces + start for part, start in zip(some, starts, strict=False)]
        vertices = np.concatenate([part.vertices for part in some])
        joined.append(BodyMesh(body, vertices, np.concatenate(faces), colour))
    return joined
