"""COLLADA files as triangles, through pycollada.

The file is hostile input. Before pycollada sees it, document types with their entities are refused,
and so are scenes that repeat their nodes again and again.
"""

from __future__ import annotations

import io
import re
from collections import defaultdict
from collections.abc import Iterator
from typing import Any
from xml.parsers import expat

import numpy as np

from dalembert.errors import DalembertError
from dalembert.readers.mesh_folders import MeshError

MAX_DEPTH = 100  # elements inside one another
MAX_ELEMENTS = 1_000_000
MAX_NODES = 100_000  # of a scene, with all that are repeated
EXTRA = "DAE files are read by pycollada: pip install 'dalembert[view]'."
BINDING = re.compile(
    rb'<instance_material\b[^<>]*?\btarget="#([^"]*)"[^<>]*?(?:/>|>.{0,4000}?</instance_material>)',
    re.DOTALL,
)
PARTS = ("geometry", "controller")  # of a scene, that have triangles


def triangles(data: bytes) -> Iterator[tuple[np.ndarray, np.ndarray, Any]]:
    """Vertices [m], faces and diffuse colour, or None, of each part of a scene.

    The axis that points up is not turned: robot files do that.

    Raises
    ------
    MeshError, DalembertError
        The file has entities, or too much of something; pycollada is not installed.
    """
    check(data)
    try:
        import collada
    except ImportError:
        raise DalembertError(EXTRA) from None
    document = _document(collada, data)
    if any("Material" in str(error) for error in document.errors):
        known = {material.id.encode() for material in document.materials}
        document = _document(collada, _without_other_materials(data, known))
    if document.scene is None:
        return
    unit = float(document.assetInfo.unitmeter or 1.0)
    for part in PARTS:
        for bound in document.scene.objects(part):
            for primitive in bound.primitives():
                yield from _of_primitive(primitive, unit)


def _document(collada: Any, data: bytes) -> Any:
    return collada.Collada(io.BytesIO(data), ignore=[collada.common.DaeError])


def _without_other_materials(data: bytes, known: set[bytes]) -> bytes:
    """The file without uses of materials that are broken: pycollada leaves out what has them."""
    return BINDING.sub(lambda use: use[0] if use[1] in known else b"", data)


def _of_primitive(primitive: Any, unit: float) -> Iterator[tuple[np.ndarray, np.ndarray, Any]]:
    if hasattr(primitive, "triangleset"):
        primitive = primitive.triangleset()
    faces = getattr(primitive, "vertex_index", None)
    if faces is None or primitive.vertex is None or np.shape(faces)[-1] != 3:
        return  # lines
    effect = getattr(primitive.material, "effect", None)
    diffuse = getattr(effect, "diffuse", None)
    is_colour = isinstance(diffuse, (tuple, list, np.ndarray))
    yield primitive.vertex * unit, faces, diffuse if is_colour else None


def check(data: bytes) -> None:
    """Refuse what no mesh needs: document types, depth, archives, repetition without bound.

    Raises
    ------
    MeshError
    """
    reader = _SceneReader()
    try:
        reader.parser.Parse(data, True)
    except (expat.ExpatError, ValueError, LookupError):
        raise MeshError("its file is no well-formed XML.") from None
    if reader.count_of_nodes() > MAX_NODES:
        raise MeshError(f"its scene has more than MAX_NODES = {MAX_NODES} nodes.")


class _SceneReader:
    """Counts elements, and notes which nodes a node repeats."""

    def __init__(self) -> None:
        self.depth = 0
        self.count = 0
        self.open: list[str] = []  # nodes around the place
        self.inside: defaultdict[str, list[str]] = defaultdict(list)  # node -> nodes in it
        self.parser: Any = expat.ParserCreate()
        self.parser.StartDoctypeDeclHandler = self.document_type
        self.parser.StartElementHandler = self.start
        self.parser.EndElementHandler = self.end

    def document_type(self, *about: Any) -> None:
        """Refuse document types, and entities with them."""
        raise MeshError("its file has a document type, whose entities are not read.")

    def start(self, tag: str, attributes: dict[str, str]) -> None:
        """Begin an element."""
        self.depth += 1
        self.count += 1
        if self.depth > MAX_DEPTH or self.count > MAX_ELEMENTS:
            limits = f"MAX_DEPTH = {MAX_DEPTH}, MAX_ELEMENTS = {MAX_ELEMENTS}"
            raise MeshError(f"its file is nested too deeply or has too many elements ({limits}).")
        local = tag.rpartition(":")[2]
        if local == "instance_node":
            self._inside(attributes.get("url", "").lstrip("#"))
        if local == "node":
            name = attributes.get("id") or f" {self.count}"  # no identifier begins with a blank
            self._inside(name)
            self.open.append(name)

    def end(self, tag: str) -> None:
        """End an element."""
        self.depth -= 1
        if tag.rpartition(":")[2] == "node":
            self.open.pop()

    def _inside(self, name: str) -> None:
        self.inside[self.open[-1] if self.open else ""].append(name)

    def count_of_nodes(self) -> int:
        """Nodes of all scenes with all repetitions; more than any limit where they go in a circle."""
        counts: dict[str, int] = {}
        stack = [("", False)]
        busy: set[str] = set()
        while stack:
            name, is_done = stack.pop()
            if is_done:
                busy.discard(name)
                counts[name] = 1 + sum(counts[part] for part in self.inside[name])
                continue
            if name in counts:
                continue
            busy.add(name)
            stack.append((name, True))
            for part in self.inside[name]:
                if part in busy:
                    raise MeshError("the nodes of its scene repeat each other in a circle.")
                stack.append((part, False))
        return counts[""]
