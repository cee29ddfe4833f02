"""Meshes of bodies as coloured triangles in the axes of the bodies."""

from __future__ import annotations

from collections.abc import (
    Callable,
    Iterable,
    Iterator,
)
from typing import NamedTuple

from dalembert.model.parts import Body
from dalembert.model.visuals import Visual
from dalembert.views.figures.plain_numbers import (
    numbers_of,
    pose_of,
)
from dalembert.views.meshes.mesh_files import MeshPart
from dalembert.views.solids.solid_data import (
    COLOURS,
    Colour,
)
from dalembert.views.solids.triangles import Triangles


class MeshSurface(NamedTuple):
    """A part of a mesh in one colour."""

    body: str
    triangles: Triangles  # in the axes of the body [m]
    colour: Colour


def mesh_surfaces(
    body: Body, parts_of: Callable[[Visual], Iterable[MeshPart]]
) -> Iterator[MeshSurface]:
    """Surfaces of the meshes of a body that are seen; parts_of: the parts of each."""
    for visual in body.visuals:
        if not (visual.seen and visual.kind == "mesh"):
            continue
        pose = pose_of(visual.origin)
        for part in parts_of(visual):
            vertices = part.vertices @ pose[:3, :3].T + pose[:3, 3]
            yield MeshSurface(body.name, (vertices, part.faces), _colour(part, visual))


def _colour(part: MeshPart, visual: Visual) -> Colour:
    """The colour of a part in its file, else of its visual, else that of shapes without one."""
    if part.colour is None and visual.colour is None:
        return COLOURS["given"]
    red, green, blue, opacity = numbers_of(part.colour or visual.colour or ()).tolist()
    return red, green, blue, opacity
