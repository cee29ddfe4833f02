"""A model with the files that it includes as one tree of elements."""

from __future__ import annotations

from pathlib import Path

from dalembert.model.findings import Finding
from dalembert.readers.mjcf.model_folder import (
    MAX_INCLUDED_BYTES,
    ModelFolder,
)
from dalembert.readers.xml import (
    MAX_ELEMENTS,
    Element,
    parsed,
)

MAX_NESTED = 450  # elements inside one another, as bodies of a chain; MuJoCo has 500
MAX_INCLUDES = 1000  # files; each once, as MuJoCo has it


class IncludedFiles:
    """Opens the files of <include> elements, each once."""

    def __init__(self, folder: ModelFolder, file: str):
        self.folder, self.file = folder, file
        self.opened = {Path(file).resolve()} if folder.root else set()
        self.remarks: list[Finding] = []
        self.count = 0

    def expand(self, element: Element, depth: int = 0) -> Element:
        """The element with the content of files in place of each <include> inside."""
        self.count += 1
        if depth > MAX_NESTED or self.count > MAX_ELEMENTS:
            raise element.error("included files nest too deep, or have too many elements.")
        children: list[Element] = []
        for child in element:
            if child.tag == "include":
                children += self._included(child, depth)
            else:
                children.append(self.expand(child, depth + 1))
        element.children = children
        return element

    def shown(self, path: Path) -> str:
        """The name of a file for messages, written as that of the model is."""
        root = self.folder.root
        if root is None or not path.is_relative_to(root):
            return str(path)
        return str(Path(self.file).parent / path.relative_to(root))

    def _included(self, include: Element, depth: int) -> list[Element]:
        """Elements of the file of an <include>."""
        name = include.get("file")
        if not name:
            raise include.error("<include> has no file. Write <include file=.../>.")
        if "prefix" in include.attributes:
            raise include.error("<include prefix=...> is not read. Write the names in the file.")
        beside = () if include.file.startswith("<") else (Path(include.file).resolve().parent,)
        path = self.folder.find(name, beside)
        if path is None:
            raise include.error(f"<include>: {self.folder.why_not(name)}")
        if path in self.opened or len(self.opened) > MAX_INCLUDES:
            raise include.error(f"<include>: {name[:80]!r} is included a second time.")
        self.opened.add(path)
        data = self.folder.content(path, MAX_INCLUDED_BYTES, include.source)
        if not data.strip():
            raise include.error(f"<include>: {name[:80]!r} is empty.")
        root, remarks, _ = parsed(data, self.shown(path), depth=MAX_NESTED)
        self.remarks += remarks
        return self.expand(root, depth + 1).children
