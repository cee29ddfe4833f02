"""Meshes of bodies as triangles, read from STL, OBJ and DAE files of the model's folders.

A mesh that cannot be shown is a finding, and no error: what draws it shows a shape in its place.
"""

from __future__ import annotations

import io
import os
import warnings
from collections.abc import (
    Callable,
    Iterable,
    Iterator,
)
from pathlib import Path
from typing import (
    Any,
    NamedTuple,
)

import numpy as np

from dalembert.errors import DalembertError
from dalembert.model.findings import Finding
from dalembert.model.numbers import as_float
from dalembert.model.origins import Source
from dalembert.model.visuals import Visual
from dalembert.readers.mesh_folders import (
    MeshError,
    MeshFolders,
    MissingMeshError,
)
from dalembert.views.meshes.coarsening import coarser

MAX_FACES = 100_000  # of a mesh as it is shown; finer ones are made coarser
MAX_READ_FACES = 5_000_000  # of a mesh as its file has it
MAX_MESHES = 2000  # files of a robot
FARTHEST = 1e9  # coordinate of a vertex, in the unit of its file: products of several stay numbers
MAX_TOTAL_BYTES = 512 * 2**20  # of the files of a robot
EXTRA = "Meshes are read by trimesh: pip install 'dalembert[view]'."


class MeshPart(NamedTuple):
    """Triangles of one colour.

    vertices (V, 3) [m, in the axes of the visual], faces (F, 3) counterclockwise seen from outside,
    colour (red, green, blue, opacity) or None
    """

    vertices: np.ndarray
    faces: np.ndarray
    colour: tuple[float, ...] | None


class MeshFiles:
    """Meshes of one model, each file read once, and findings about those that are not shown.

    Parameters
    ----------
    model_file : str
        The robot file, whose folder has the meshes.
    folders : paths
        Other folders in which meshes may be, each a package or a folder of packages.
    most_bytes : int, optional
        Of all files together, `MAX_TOTAL_BYTES` by default.
    """

    def __init__(
        self,
        model_file: str = "",
        folders: Iterable[str | os.PathLike[str]] = (),
        most_bytes: int | None = None,
    ):
        self.folders = MeshFolders(model_file, folders)
        self.most_bytes = MAX_TOTAL_BYTES if most_bytes is None else most_bytes
        self.parts_of_file: dict[Path, tuple[MeshPart, ...]] = {}
        self.bytes_read = 0
        self.missing: list[tuple[str, Source]] = []
        self.refused: dict[str, list[tuple[str, Source]]] = {}  # reason -> meshes
        self.coarser: list[tuple[str, Source]] = []

    def parts(self, visual: Visual) -> tuple[MeshPart, ...]:
        """Triangles of a visual of the kind 'mesh', with its factors; nothing where it cannot be shown.

        Raises
        ------
        DalembertError
            trimesh is not installed.
        """
        try:
            path = self.folders.path(visual.mesh)
            if path not in self.parts_of_file:
                self.parts_of_file[path] = self._read(path, visual)
        except MissingMeshError:
            self.missing.append((visual.mesh, visual.source))
            return ()
        except MeshError as error:
            self.refused.setdefault(error.why, []).append((visual.mesh, visual.source))
            return ()
        factors = [as_float(x) for x in visual.sizes]
        return tuple(_scaled(part, factors) for part in self.parts_of_file[path])

    def findings(self) -> list[Finding]:
        """Findings about meshes that are not shown, a finding for each reason, and about coarse ones."""
        kinds = [("warning", why, "", meshes) for why, meshes in self.refused.items()]
        if self.missing:
            fix = "mesh_folders= names other folders; a shape is shown in its place."
            kinds.insert(0, ("warning", "its file is not found.", fix, self.missing))
        if self.coarser:
            why = f"it has more than MAX_FACES = {MAX_FACES} triangles and is shown coarser."
            kinds.append(("note", why, "", self.coarser))
        return [_finding(*kind) for kind in kinds]

    def _read(self, path: Path, visual: Visual) -> tuple[MeshPart, ...]:
        suffix = path.suffix.lower()
        if suffix not in LOADERS:
            known = ", ".join(LOADERS)
            raise MeshError(
                f"its format {suffix[:10]!r} is not read (known: {known}).", visual.mesh
            )
        if len(self.parts_of_file) >= MAX_MESHES:
            raise MeshError(f"more than MAX_MESHES = {MAX_MESHES} files of meshes.", visual.mesh)
        data = self.folders.read(visual.mesh)
        self.bytes_read += len(data)
        if self.bytes_read > self.most_bytes:
            limit = f"{self.most_bytes // 2**20} MiB"
            raise MeshError(f"the meshes have more than {limit}.", visual.mesh)
        parts = _loaded(LOADERS[suffix], data, MeshSource(self.folders, path.parent))
        if sum(len(part.faces) for part in parts) > MAX_FACES:
            self.coarser.append((visual.mesh, visual.source))
            parts = _coarser(parts)
        return tuple(parts)


class MeshSource(NamedTuple):
    """Folder and files of a mesh, for files that it names in turn."""

    folders: MeshFolders
    folder: Path


Loader = Callable[[bytes, MeshSource], Iterator[MeshPart]]


def _finding(severity: str, why: str, fix: str, meshes: list[tuple[str, Source]]) -> Finding:
    name, source = meshes[0]
    more = len(meshes) - 1
    others = f" and {more} more" if more else ""
    return Finding(severity, f"mesh {name[:80]!r}{others}", why, fix, source)


def _loaded(load: Loader, data: bytes, source: MeshSource) -> list[MeshPart]:
    """Parts that a loader makes, checked: libraries fail in many ways on files that are broken."""
    parts: list[MeshPart] = []
    faces = 0
    try:
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            for part in load(data, source):
                faces += len(part.faces)
                if faces > MAX_READ_FACES:
                    raise MeshError(
                        f"it has more than MAX_READ_FACES = {MAX_READ_FACES} triangles."
                    )
                parts.append(_checked(part))
    except (DalembertError, KeyboardInterrupt):
        raise
    except (Exception, RecursionError) as error:
        raise MeshError(f"its file is broken ({type(error).__name__}).") from None
    if not any(len(part.faces) for part in parts):
        raise MeshError("its file has no triangles.")
    return parts


def _checked(part: MeshPart) -> MeshPart:
    vertices = np.ascontiguousarray(part.vertices, dtype=float).reshape(-1, 3)
    faces = np.ascontiguousarray(part.faces, dtype=np.int64).reshape(-1, 3)
    if not np.isfinite(vertices).all():
        raise MeshError("its file has vertices that are no numbers.")
    if np.abs(vertices).max(initial=0.0) > FARTHEST:
        raise MeshError(f"its file has vertices beyond FARTHEST = {FARTHEST:g}.")
    if len(faces) and not (0 <= faces.min() and faces.max() < len(vertices)):
        raise MeshError("its file has triangles of vertices that are not there.")
    return part._replace(vertices=vertices, faces=faces)


def _scaled(part: MeshPart, factors: list[float]) -> MeshPart:
    """The part with its factors; a mirror turns its triangles round."""
    faces = part.faces[:, ::-1] if np.prod(factors) < 0 else part.faces
    return part._replace(vertices=part.vertices * factors, faces=faces)


# --- coarser meshes -------------------------------------------------------------------------------


def _coarser(parts: list[MeshPart]) -> list[MeshPart]:
    """Parts with few enough faces, each with its share of them."""
    share = MAX_FACES / sum(len(part.faces) for part in parts)
    return [coarser_part(part, int(share * len(part.faces))) for part in parts]


def coarser_part(part: MeshPart, most: int) -> MeshPart:
    """A part with so many faces at most."""
    vertices, faces = coarser((part.vertices, part.faces), most)
    return part._replace(vertices=vertices, faces=faces)


# --- formats --------------------------------------------------------------------------------------


def _trimesh() -> Any:
    try:
        import trimesh
    except ImportError:
        raise DalembertError(EXTRA) from None
    return trimesh


def _stl(data: bytes, source: MeshSource) -> Iterator[MeshPart]:
    """Triangles of an STL file."""
    mesh = _trimesh().load_mesh(io.BytesIO(data), file_type="stl", process=False)
    mesh.merge_vertices()
    yield MeshPart(mesh.vertices, mesh.faces, None)


def _obj(data: bytes, source: MeshSource) -> Iterator[MeshPart]:
    """Triangles of an OBJ file, in the colours of its material file."""
    scene = _trimesh().load_scene(
        io.BytesIO(data), file_type="obj", resolver=MaterialFiles(source), process=False
    )
    for mesh in scene.dump():
        if hasattr(mesh, "faces"):
            yield MeshPart(mesh.vertices, mesh.faces, _obj_colour(mesh))


def _obj_colour(mesh: Any) -> tuple[float, ...] | None:
    material = getattr(mesh.visual, "material", None)
    diffuse = getattr(material, "diffuse", None)
    if diffuse is None or getattr(material, "name", None) is None:
        return None
    return _colour(np.asarray(diffuse, dtype=float) / 255)


class MaterialFiles:
    """Files that an OBJ file names, for trimesh: colours of materials, and no pictures."""

    def __init__(self, source: MeshSource):
        self.source = source

    def get(self, name: str) -> bytes:
        """Content of a material file in the folders of the model.

        Raises
        ------
        MeshError
        """
        name = name.strip()
        if not name.lower().endswith(".mtl"):
            raise MeshError("pictures are not read.", name)
        return self.source.folders.read(name, self.source.folder)

    __getitem__ = get


def _dae(data: bytes, source: MeshSource) -> Iterator[MeshPart]:
    """Triangles of a COLLADA file, in metres and in the colours of its materials."""
    from dalembert.views.meshes.collada_files import triangles

    for vertices, faces, diffuse in triangles(data):
        yield MeshPart(vertices, faces, None if diffuse is None else _colour(diffuse))


def _colour(numbers: Any) -> tuple[float, ...] | None:
    values = [float(x) for x in np.clip(np.asarray(numbers, dtype=float).ravel(), 0, 1)]
    if len(values) < 3 or not np.isfinite(values).all():
        return None
    return (*values[:3], 1.0)


LOADERS: dict[str, Loader] = {".stl": _stl, ".obj": _obj, ".dae": _dae}
