"""Models that a model attaches, each a document of its own."""

from __future__ import annotations

from pathlib import Path

from dalembert.errors import ReadError
from dalembert.readers.mjcf.canonical_xml import (
    CanonicalModel,
    ModelFile,
)
from dalembert.readers.mjcf.includes import (
    MAX_NESTED,
    IncludedFiles,
)
from dalembert.readers.mjcf.model_folder import MAX_INCLUDED_BYTES
from dalembert.readers.xml import (
    Element,
    parsed,
)


def add_attached(canonical: CanonicalModel, included: IncludedFiles) -> None:
    """Add the documents of all models that are attached; their remarks go to those of the model.

    Raises
    ------
    ReadError
        A file is not to be had in the folder of the model, is none of MJCF, or copies are too many.
    """
    for alias, model in list(canonical.models.items()):
        path = included.folder.find(model.file)
        if path is None:
            raise _error(f"<model>: {included.folder.why_not(model.file)}", model)
        root, own = _document(path, model, included)
        canonical.begin(alias, _base(path, included))
        before = canonical.count
        canonical.add(own.expand(root))
        included.remarks += own.remarks
        size = canonical.count - before
        times = canonical.attached[model.name or root.get("model") or ""]
        canonical.repeat(size * max(times - 1, 0), "<attach>", model.source)


def _document(
    path: Path, model: ModelFile, included: IncludedFiles
) -> tuple[Element, IncludedFiles]:
    """The root of a model's file, and what opens the files that it includes."""
    data = included.folder.content(path, MAX_INCLUDED_BYTES, model.source)
    file = included.shown(path)
    if not data.strip():
        raise _error(f"<model>: {model.file[:80]!r} is empty.", model)
    root, remarks, _ = parsed(data, file, depth=MAX_NESTED)
    if root.tag != "mujoco":
        raise _error(
            f"<model>: the root element of {model.file[:80]!r} is <{root.tag[:60]}>.", model
        )
    own = IncludedFiles(included.folder, file)
    own.remarks += remarks
    return root, own


def _base(path: Path, included: IncludedFiles) -> str:
    """The folder of a file, from that of the model."""
    root = included.folder.root
    folder = path.parent
    if root is None or not folder.is_relative_to(root):
        return str(folder)
    base = folder.relative_to(root).as_posix()
    return "" if base == "." else base


def _error(message: str, model: ModelFile) -> ReadError:
    return ReadError(message, model.source.file, model.source.line)
