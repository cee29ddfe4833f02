"""Meshes for MuJoCo: files where an inertia follows from them, a small solid in place of all others."""

from __future__ import annotations

from collections.abc import Iterator
from hashlib import sha256
from typing import (
    Any,
    NamedTuple,
)

import numpy as np

from dalembert.errors import ReadError
from dalembert.model.findings import Finding
from dalembert.readers.mjcf.canonical_xml import (
    CanonicalModel,
    MeshFile,
)
from dalembert.readers.mjcf.model_folder import (
    MAX_MESH_BYTES,
    MAX_MESHES_BYTES,
    ModelFolder,
)

# a tetrahedron; MuJoCo says where it puts its axes, so that they can be taken back
VERTICES = (0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1)
FACES = (0, 2, 1, 0, 1, 3, 1, 2, 3, 0, 3, 2)
FROM_INERTIAL, FROM_GEOMS = 0, 1  # mjtInertiaFromGeom
MESH = 7  # mjtGeom


class MeshPlacement(NamedTuple):
    """Factors of a mesh, and the origin and quaternion that are taken from its vertices."""

    scale: np.ndarray
    position: np.ndarray
    quaternion: np.ndarray


class MeshAssets:
    """Gives MuJoCo the meshes of a model."""

    def __init__(self, canonical: CanonicalModel, folder: ModelFolder):
        self.canonical, self.folder = canonical, folder
        self.total = 0
        self.placements: dict[str, MeshPlacement] = {}
        self.remarks: list[Finding] = []

    def supply(self, spec: Any) -> None:
        """Put contents and stand-ins into a parsed model.

        Raises
        ------
        ReadError
            A mesh is not to be had whose inertia a moving body needs.
        """
        owners = {geom.meshname: body for body, geom in _weighed(spec) if _moves(body)}
        fitted = {geom.meshname for geom in spec.geoms if _is_fitted(geom)}
        assets = {}
        for mesh in spec.meshes:
            self.placements[mesh.name] = _placement(mesh)
            written = self.canonical.meshes.get(mesh.file)
            if written is None:
                continue
            content = None
            if mesh.name in owners:
                content = self._needed(written, owners[mesh.name])
            elif mesh.name in fitted:
                content = self._content(written)
            if content is None:
                _stand_in(mesh)
                self._leave_fitted(spec, mesh.name, written)
            else:
                mesh.file = _name_of_content(content, written, self.placements[mesh.name])
                assets[mesh.file] = content
        for body, geom in _weighed(spec):
            if not _moves(body):
                geom.mass = 0
        spec.assets = assets

    def _leave_fitted(self, spec: Any, mesh: str, written: MeshFile) -> None:
        """Leave out geoms whose shape would be fitted to a mesh that is not there."""
        for geom in [geom for geom in spec.geoms if _is_fitted(geom) and geom.meshname == mesh]:
            what = f"geom {geom.name or 'without name'!r}"
            why = f"its shape is fitted to mesh {mesh!r}, whose file is not found; it is left out."
            self.remarks.append(Finding("note", what, why, "", written.source))
            spec.delete(geom)

    def written(self, mesh: MeshFile) -> str:
        """The file of a mesh below the model's folder, as the compiler's options say."""
        folders = mesh.document.of_compiler
        name = mesh.file.replace("\\", "/")
        if folders.get("strippath") == "true":
            name = name.rpartition("/")[2]
        if name.startswith("/"):
            return name
        folder = folders.get("meshdir", folders.get("assetdir", "")).replace("\\", "/")
        return "/".join(part.rstrip("/") for part in (mesh.document.base, folder, name) if part)

    def _needed(self, mesh: MeshFile, body: Any) -> bytes:
        """The file of a mesh that a moving body's inertia needs."""
        content = self._content(mesh)
        if content is None:
            why = (
                f"mesh {mesh.name!r}: {self.folder.why_not(self.written(mesh))} The inertia of body "
                f"{body.name or 'without name'!r} follows from it. Give the body an <inertial> to do "
                "without."
            )
            raise ReadError(why, mesh.source.file, mesh.source.line)
        return content

    def _content(self, mesh: MeshFile) -> bytes | None:
        """The file of a mesh; None if it is not found."""
        path = self.folder.find(self.written(mesh))
        if path is None:
            return None
        data = self.folder.content(path, MAX_MESH_BYTES, mesh.source)
        self.total += len(data)
        if self.total > MAX_MESHES_BYTES:
            why = f"meshes have more than {MAX_MESHES_BYTES // 2**20} MiB."
            raise ReadError(why, mesh.source.file, mesh.source.line)
        return data


def _weighed(spec: Any) -> Iterator[tuple[Any, Any]]:
    """(body, geom) of all geoms with a mesh whose mass counts."""
    lowest, highest = spec.compiler.inertiagrouprange
    for body in spec.bodies:
        rule = spec.compiler.inertiafromgeom
        if rule == FROM_INERTIAL or (body.explicitinertial and rule != FROM_GEOMS):
            continue
        for geom in body.geoms:
            massless = geom.mass == 0 or (np.isnan(geom.mass) and geom.density == 0)
            if geom.meshname and not massless and lowest <= geom.group <= highest:
                yield body, geom


def _is_fitted(geom: Any) -> bool:
    """Whether a geom of another type has the size of a mesh."""
    return bool(geom.meshname) and int(geom.type) != MESH


def _name_of_content(content: bytes, mesh: MeshFile, placement: MeshPlacement) -> str:
    """A name that no other mesh has: MuJoCo keeps meshes by name, whatever is taken from vertices."""
    numbers = b"".join(array.tobytes() for array in placement)
    return f"{sha256(content + numbers).hexdigest()}.{mesh.ending}"


def _moves(body: Any) -> bool:
    """Whether a joint is between the body and the world."""
    while body is not None and body.id != 0 and body.name != "world":
        if body.joints:
            return True
        body = body.parent
    return False


def _placement(mesh: Any) -> MeshPlacement:
    return MeshPlacement(
        np.array(mesh.scale, dtype=float),
        np.array(mesh.refpos, dtype=float),
        np.array(mesh.refquat, dtype=float),
    )


def _stand_in(mesh: Any) -> None:
    """Make the mesh a tetrahedron."""
    mesh.file = ""
    mesh.uservert = list(VERTICES)
    mesh.userface = list(FACES)
    mesh.scale = [1, 1, 1]
    mesh.refpos = [0, 0, 0]
    mesh.refquat = [1, 0, 0, 0]
