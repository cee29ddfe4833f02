"""Meshes of bodies as assets of MJCF files, as far as their files are found where a model may have
them.
"""

from __future__ import annotations

from pathlib import Path

from dalembert.model.visuals import Visual
from dalembert.readers.mesh_folders import (
    MeshError,
    MeshFolders,
)
from dalembert.writers.numerals import decimals
from dalembert.writers.xml_elements import (
    xml_element,
)

MAX_FACES = 200_000  # of an STL file; MuJoCo refuses more
STL_HEADER, STL_FACE = 84, 50  # bytes of a binary STL file: before its faces, and of each face


class WrittenMeshes:
    """The <asset> of a file: each mesh once by its file and factors."""

    def __init__(self, model_file: str):
        self.folders = MeshFolders(model_file)
        self.section = xml_element("asset")
        self.names: dict[tuple[Path, str], str] = {}

    def name_of(self, visual: Visual) -> str | None:
        """The name of the asset of a mesh; None where MuJoCo would not read its file."""
        try:
            path = self.folders.path(visual.mesh)
        except MeshError:
            return None
        if not _is_taken(path):
            return None
        scale = decimals(visual.sizes)
        key = (path, scale)
        if key not in self.names:
            self.names[key] = f"mesh{len(self.names) + 1}"
            given = scale if any(x != 1 for x in visual.sizes) else None
            self.section.add(
                "mesh", name=self.names[key], file=str(path), scale=given, inertia="shell"
            )
        return self.names[key]


def _is_taken(path: Path) -> bool:
    """Whether MuJoCo reads a file: OBJ, or binary STL of not too many faces."""
    ending = path.suffix.lower()
    if ending != ".stl":
        return ending == ".obj"
    with path.open("rb") as stream:
        header = stream.read(STL_HEADER)
    faces = int.from_bytes(header[-4:], "little")
    return 0 < faces <= MAX_FACES and path.stat().st_size == STL_HEADER + faces * STL_FACE
