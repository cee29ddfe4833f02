"""Files that a model names: they are opened only inside the folder of the model."""

from __future__ import annotations

import os
from pathlib import (
    Path,
    PureWindowsPath,
)

from dalembert.errors import ReadError
from dalembert.model.origins import Source
from dalembert.readers.mesh_folders import resolved

MAX_INCLUDED_BYTES = 32 * 2**20  # of a file of XML
MAX_MESH_BYTES = 64 * 2**20  # of one mesh; MuJoCo reads at most some 20 MiB in useful time
MAX_MESHES_BYTES = 512 * 2**20  # of all meshes
SHOWN_OF_NAME = 80  # characters of a file's name in a message


class ModelFolder:
    """The folder of a model's file, none of a model that comes as bytes or text; and other folders
    that are given.
    """

    def __init__(self, file: str, others: tuple[str, ...] = ()):
        path = Path(file)
        is_file = not file.startswith("<") and path.is_file()
        self.root = path.resolve().parent if is_file else None
        self.others = tuple(Path(folder).resolve() for folder in others)
        self.allowed = (*((self.root,) if self.root else ()), *self.others)

    def find(self, name: str, beside: tuple[Path, ...] = ()) -> Path | None:
        """The file of a name, sought beside each of the folders, beside the model, then in the other
        folders; None if there is none inside these.
        """
        written = Path(PureWindowsPath(name).as_posix())
        if "\0" in name or _is_remote(written):
            return None
        for folder in (*beside, *self.allowed):
            path = resolved(folder / written)
            if path and self._is_inside(path) and os.path.isfile(path):
                return path
        return None

    def why_not(self, name: str) -> str:
        """The reason why a file is not opened, and what to do."""
        shown = repr(name[:SHOWN_OF_NAME])
        if self.root is None:
            return (
                f"{shown} is not opened: bytes and text have no folder. Load the file by its path, or "
                "name its folder by mesh_folders=."
            )
        written = Path(PureWindowsPath(name).as_posix())
        path = None if "\0" in name else resolved(self.root / written)
        if path is None or _is_remote(written) or not self._is_inside(path):
            return (
                f"{shown} lies outside the model's folder {str(self.root)!r}, where no file is "
                "opened. Name the folder that has it by mesh_folders=."
            )
        return f"there is no file {shown} in the model's folder {str(self.root)!r}."

    def _is_inside(self, path: Path) -> bool:
        """Whether a path, with all links followed, is in one of the folders."""
        return any(path.is_relative_to(root) for root in self.allowed)

    def content(self, path: Path, limit: int, source: Source) -> bytes:
        """The content of a file that `find` gave.

        Raises
        ------
        ReadError
            It cannot be read, or is larger than the limit.
        """
        try:
            with open(path, "rb") as stream:
                data = stream.read(limit + 1)
        except OSError as error:
            reason = f"{path.name!r} cannot be opened ({error.strerror})."
            raise ReadError(reason, source.file, source.line) from None
        if len(data) > limit:
            reason = f"{path.name!r} is larger than {limit // 2**20} MiB."
            raise ReadError(reason, source.file, source.line)
        return data


def _is_remote(path: Path) -> bool:
    """Whether a path names another machine, which Windows would ask as soon as it is resolved."""
    return path.as_posix().startswith("//")
