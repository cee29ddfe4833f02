"""Files that robot files name, found in the folders of the model alone.

A robot file is hostile input: a name leads to a file only inside the folder of the model, the root
of its package, or folders that the user gives; no name leads to the network.
"""

from __future__ import annotations

import os
import re
import stat
from collections.abc import (
    Iterable,
    Iterator,
)
from pathlib import (
    Path,
    PurePosixPath,
)

from dalembert.arguments import path_of
from dalembert.errors import DalembertError, MissingFileError

MAX_MESH_BYTES = 64 * 2**20  # the largest mesh of a robot known to us has 25 MiB
MAX_NAME = 4096  # characters of the name of a file
MANIFEST = "package.xml"  # in the root of a package of ROS
PACKAGES = ("package", "model")  # schemes whose first part is the name of a package
SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*)://(.*)", re.DOTALL)
DRIVE = re.compile(r"[A-Za-z]:")
LEAST_DEPTH = 3  # parts of the path of a package's root: '/home' or '/tmp' are none


class MeshError(DalembertError):
    """A mesh that is not shown: why, and the name that stands in the file."""

    def __init__(self, why: str, name: str = ""):
        super().__init__(why)
        self.why = why
        self.name = name


class MissingMeshError(MeshError):
    """A mesh whose file is not there."""


def folders_of(given: Iterable[str | os.PathLike[str]]) -> list[Path]:
    """Folders that the user gives.

    Raises
    ------
    TypeError, MissingFileError
        One is no path; there is no such folder.
    """
    folders = [path_of("a folder of meshes", folder) for folder in given]
    for folder in folders:
        if not folder.is_dir():
            raise MissingFileError("there is no such folder of meshes.", str(folder))
    return folders


class MeshFolders:
    """The folders in which files of a model are looked for.

    model_file: the robot file; a text that is no file has no folder. folders: other folders, each a
    package or a folder of packages.
    """

    def __init__(self, model_file: str = "", folders: Iterable[str | os.PathLike[str]] = ()):
        self.given = [folder.resolve() for folder in folders_of(folders)]
        is_file = bool(model_file) and Path(model_file).is_file()
        self.home = Path(model_file).resolve().parent if is_file else None

    def read(self, name: str, beside: Path | None = None) -> bytes:
        """Content of the file of that name; relative names are `beside` another file of the model.

        Raises
        ------
        MeshError
            The file is not there, not within the folders, too large, or cannot be read.
        """
        return _content(self.path(name, beside), name)

    def path(self, name: str, beside: Path | None = None) -> Path:
        """The file of that name, with all links followed.

        Raises
        ------
        MeshError
        """
        package, inner = _parts(name)
        outside: Path | None = None
        for candidate in self._candidates(package, inner, beside):
            path = resolved(candidate)
            if path is None or not os.path.exists(path):  # False too of a name that is too long
                continue
            if any(path.is_relative_to(root) for root in self._roots(package)):
                return path
            outside = path
        if outside is not None:
            raise MeshError(
                "its file is outside the folder of the model, its package and mesh_folders=.", name
            )
        raise MissingMeshError("its file is not found.", name)

    def _candidates(self, package: str, inner: str, beside: Path | None) -> Iterator[Path]:
        """Places where a file may be, the likeliest first."""
        bases = [base for base in (beside, self.home, *self.given) if base is not None]
        if package:
            for root in self._package_roots(package):
                yield root / inner
            for base in bases:
                if base.name == package:
                    yield base / inner
                yield base / package / inner
        for base in bases:
            yield base / inner

    def _roots(self, package: str) -> Iterator[Path]:
        """Folders within which files may be."""
        if self.home is not None:
            yield self.home
        yield from self._package_roots(package)
        yield from self.given

    def _package_roots(self, package: str) -> Iterator[Path]:
        """The nearest folders around the model of a package's name, and with a manifest."""
        ancestors = [folder for folder in _ancestors(self.home) if _may_be_package(folder)]
        named = (folder for folder in ancestors if package and folder.name == package)
        declared = (folder for folder in ancestors if (folder / MANIFEST).is_file())
        for found in (next(named, None), next(declared, None)):
            if found is not None:
                yield found


def _parts(name: str) -> tuple[str, str]:
    """Package and path inside of the name of a file; no package of a path that stands alone."""
    if not name or len(name) > MAX_NAME or "\0" in name:
        raise MeshError("its name is none of a file.", name)
    package = ""
    inner = name.replace("\\", "/")
    if match := SCHEME.match(inner):
        scheme, inner = match[1].lower(), match[2]
        if scheme in PACKAGES:
            package, _, inner = inner.lstrip("/").partition("/")
        elif scheme != "file":
            raise MeshError(
                f"its address begins with {scheme[:20]}://, and only files are read.", name
            )
    if inner.startswith("//"):
        raise MeshError("its path leads to another machine, and only files here are read.", name)
    if DRIVE.match(inner) or package in (".", ".."):
        raise MeshError("its path is absolute, or its package has no name.", name)
    return package, str(PurePosixPath(inner))


def _ancestors(folder: Path | None) -> list[Path]:
    return [] if folder is None else [folder, *folder.parents]


def _may_be_package(folder: Path) -> bool:
    """Whether a folder may be a package: the home folder and the folders around it are none."""
    return len(folder.parts) >= LEAST_DEPTH and not Path.home().is_relative_to(folder)


def resolved(path: Path) -> Path | None:
    """The path with all links followed; None where it cannot be."""
    try:
        return path.resolve()
    except (OSError, RuntimeError, ValueError):  # circles of links, names that no system has
        return None


def _content(path: Path, name: str) -> bytes:
    """Bytes of an ordinary file; pipes and devices are none."""
    try:
        descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0))
        with open(descriptor, "rb") as stream:
            state = os.fstat(descriptor)
            if not stat.S_ISREG(state.st_mode):
                raise MeshError("its name is that of no ordinary file.", name)
            if state.st_size > MAX_MESH_BYTES:
                limit = f"MAX_MESH_BYTES = {MAX_MESH_BYTES // 2**20} MiB"
                raise MeshError(f"its file has {state.st_size} bytes, more than {limit}.", name)
            return stream.read(MAX_MESH_BYTES + 1)
    except OSError as error:
        raise MeshError(f"its file cannot be read ({error.strerror}).", name) from None
