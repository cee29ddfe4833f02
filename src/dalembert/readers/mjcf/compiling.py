"""MuJoCo compiles the model; its complaints in words of the file."""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from dalembert.errors import ReadError
from dalembert.model.findings import Finding
from dalembert.model.origins import (
    NOWHERE,
    Source,
)
from dalembert.readers.mjcf.canonical_xml import CanonicalModel
from dalembert.readers.mjcf.mesh_assets import (
    MeshAssets,
    MeshPlacement,
)
from dalembert.readers.mjcf.model_folder import ModelFolder

MISSING = "MJCF is read by the package mujoco: pip install 'dalembert[mjcf]'"
PLACE = re.compile(r",? *line (\d+)")
ELEMENT = re.compile(r" Element (name )?'(.{0,100})'(?:, id \d+)?$")
PARTS = ("body", "joint", "geom", "site", "tendon", "actuator", "equality", "mesh")
LISTS = {"body": "bodies", "equality": "equalities", "mesh": "meshes"}
MAX_JOINTS = 5000  # MuJoCo's time and memory grow with their square


@dataclass
class CompiledModel:
    """A model as MuJoCo has it, with names and sources of its parts by number.

    model: MjModel; spec: MjSpec; contacts: (contype, conaffinity) by number of the geom; meshes:
    file as it is written and placement by number of the mesh.
    """

    model: Any
    spec: Any
    file: str
    names: dict[str, dict[int, str]]
    sources: dict[str, dict[int, Source]]
    contacts: dict[int, tuple[int, int]]
    meshes: dict[int, tuple[str, MeshPlacement]]
    remarks: list[Finding]
    option: Source

    def name(self, part: str, number: int) -> str:
        """The name of a part; 'joint3' where the file has none."""
        return self.names[part].get(number) or f"{part}{number}"

    def source(self, part: str, number: int) -> Source:
        """File and line of a part."""
        return self.sources[part].get(number, NOWHERE)


def mujoco_module(file: str = "") -> Any:
    """The package mujoco.

    Raises
    ------
    ReadError
        It is not installed.
    """
    try:
        import mujoco
    except ImportError as error:
        raise ReadError(f"{MISSING} ({error}).", file) from None
    return mujoco


def compiled_model(canonical: CanonicalModel, folder: ModelFolder, file: str) -> CompiledModel:
    """The model, compiled.

    Raises
    ------
    ReadError
        MuJoCo refuses it, or a mesh is missing that an inertia needs.
    """
    mujoco = mujoco_module(file)
    assets = MeshAssets(canonical, folder)
    models = {name: canonical.text(name).encode() for name in canonical.starts if name}
    with _heard(mujoco, file) as heard, _translated(canonical, file):
        spec = mujoco.MjSpec.from_string(canonical.text(), include=models)
        _check_joints(spec, canonical)
        files = {mesh.name: canonical.meshes.get(mesh.file) for mesh in spec.meshes}
        assets.supply(spec)
        contacts = _without_contacts(spec)
        spec.compiler.fusestatic = False
        spec.compiler.discardvisual = False
        model = spec.compile()
    if model is None:
        raise ReadError("MuJoCo does not compile the model.", file)
    names, sources = _numbered(spec, canonical)
    sources["body"][0] = canonical.first("worldbody", file)
    meshes = {
        mesh.id: (
            assets.written(written) if (written := files[mesh.name]) else "",
            assets.placements[mesh.name],
        )
        for mesh in spec.meshes
    }
    return CompiledModel(
        model,
        spec,
        file,
        names,
        sources,
        {geom.id: pair for geom, pair in zip(spec.geoms, contacts, strict=True)},
        meshes,
        [*heard, *assets.remarks],
        canonical.first("option", file),
    )


def _check_joints(spec: Any, canonical: CanonicalModel) -> None:
    """Raise where a model has more joints than are compiled in useful time."""
    joints = spec.joints
    if len(joints) > MAX_JOINTS:
        source = _source(joints[MAX_JOINTS].info, canonical)
        why = f"{len(joints)} joints, the limit MAX_JOINTS is {MAX_JOINTS}."
        raise ReadError(why, source.file, source.line)


def _without_contacts(spec: Any) -> list[tuple[int, int]]:
    """(contype, conaffinity) of the geoms, which then have none: no hulls of meshes are made."""
    contacts = []
    for geom in spec.geoms:
        contacts.append((int(geom.contype), int(geom.conaffinity)))
        geom.contype = geom.conaffinity = 0
    return contacts


@contextmanager
def _heard(mujoco: Any, file: str) -> Iterator[list[Finding]]:
    """Findings of MuJoCo's warnings, which it would write to a file, and of things it gives up."""
    heard: list[Finding] = []

    def hear(severity: str, text: Any) -> None:
        """Add a finding."""
        said = " ".join(str(text).split())
        heard.append(Finding(severity, "MuJoCo says", f"{said}.", "", Source(file)))

    before = mujoco.get_mju_user_warning()
    mujoco.set_mju_user_warning(lambda text: hear("warning", text))
    try:
        with warnings.catch_warnings(record=True) as issued:
            warnings.simplefilter("always")
            yield heard
    finally:
        mujoco.set_mju_user_warning(before)
    for warning in issued:
        is_future = issubclass(warning.category, DeprecationWarning)
        hear("note" if is_future else "warning", warning.message)


@contextmanager
def _translated(canonical: CanonicalModel, file: str) -> Iterator[None]:
    """Errors of MuJoCo with the file and line of theirs."""
    try:
        yield
    except ReadError:
        raise
    except Exception as error:  # of several types, by its version
        message = " ".join(str(error).split())
        place = PLACE.search(message)
        source = canonical.source(int(place[1])) if place else Source(file)
        said = PLACE.sub("", message).removeprefix("XML Error: ").removeprefix("Error: ")
        said = ELEMENT.sub(_named, said.rstrip("."))
        raise ReadError(
            f"MuJoCo refuses the model: {said}.", source.file or file, source.line
        ) from None


def _named(element: re.Match[str]) -> str:
    """The element that MuJoCo names at the end of a complaint."""
    if not element[1]:
        return f" (<{element[2]}>)"
    return f" ({element[2]!r})" if element[2] else " (without name)"


def _numbered(spec: Any, canonical: CanonicalModel) -> tuple[dict[str, Any], dict[str, Any]]:
    """Names and sources by number, of each kind of part."""
    names: dict[str, dict[int, str]] = {}
    sources: dict[str, dict[int, Source]] = {}
    for part in PARTS:
        elements = getattr(spec, LISTS.get(part, f"{part}s"))
        names[part] = {element.id: element.name for element in elements}
        sources[part] = {element.id: _source(element.info, canonical) for element in elements}
    return names, sources


def _source(info: str, canonical: CanonicalModel) -> Source:
    """The source of an element of a spec, which says its line in the canonical text."""
    place = PLACE.search(info)
    return canonical.source(int(place[1])) if place else NOWHERE
