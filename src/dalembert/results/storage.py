"""Files of NetCDF 4 and folders of Zarr: their libraries, names, groups and errors."""

from __future__ import annotations

import shutil
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from dalembert.arguments import path_of
from dalembert.errors import DalembertError, DalembertWarning, DamagedStoreError, StoreError
from dalembert.results.disk import OWN, on_disk
from dalembert.results.labels import library
from dalembert.results.store_folder import StoreFolder

EXTRA = "files"
LIBRARIES = {
    ".nc": ("xarray", "h5netcdf"),
    ".zarr": ("xarray", "zarr"),
}  # by the ending of the name
# group whose attributes say how many records are written, and what to go on from
CONTINUATION = "continuation"
STORES = ("zarr.json", ".zgroup")  # files by which a folder is Zarr


def require(ending: str) -> None:
    """Find out whether the libraries for a kind of file are there, before there is something to
    lose.
    """
    for name in LIBRARIES[ending]:
        library(name, EXTRA)


def folder_of(given: Any, name: str = "store") -> Path:
    """A path where a folder of Zarr is or may be; `name` is that of the argument.

    Raises
    ------
    DalembertError, TypeError, ValueError
        There is something else; it is no path.
    """
    path = path_of(name, given)
    if path.exists() and not (
        path.is_dir()
        and (
            {item.name for item in path.iterdir()} <= {OWN}
            or any((path / s).exists() for s in STORES)
        )
    ):
        raise DalembertError(
            f"{str(path)!r} is there and no Zarr folder: give another name, or remove it."
        )
    return path


def fresh_folder(path: Path) -> Path:
    """A name beside a folder, where nothing is: a folder there takes the other's place when it is
    complete.
    """
    fresh = folder_of(f"{path.resolve()}.partial")
    if fresh.exists():  # of a process that was killed
        shutil.rmtree(fresh)
    return fresh


def put_in_place(fresh: Path, path: Path) -> None:
    """Replace a folder by another; a kill between leaves both under other names."""
    old = folder_of(f"{path}.old")
    if old.exists():
        shutil.rmtree(old)
    if path.exists():
        path.replace(old)
    fresh.replace(path)
    on_disk(path.parent)
    if old.exists():
        shutil.rmtree(old)


@contextmanager
def writing(path: Any) -> Iterator[None]:
    """Errors of the file system, such as a full disk, as a StoreError."""
    try:
        yield
    except OSError as error:
        raise StoreError(
            f"{str(path)!r} cannot be written: {error.strerror or error}.", str(path)
        ) from error


@contextmanager
def reading(path: Any) -> Iterator[None]:
    """Errors of the libraries that read a file or folder without checksums as a DamagedStoreError."""
    try:
        yield
    except (DalembertError, IndexError):
        raise
    except Exception as error:
        reason = f"{type(error).__name__}: {error}".partition("\n")[0]
        raise DamagedStoreError(
            f"{str(path)!r} is damaged, it cannot be read: {reason}.", str(path)
        ) from error


def checked_store(folder: StoreFolder, read_only: bool = True) -> Any:
    """A folder as a store of Zarr, which checks each file when it is read."""
    library("zarr", EXTRA)
    from dalembert.results.zarr_store import CheckedStore

    return CheckedStore(folder, read_only)


def group_of(folder: StoreFolder, read_only: bool = True) -> Any:
    """The group of Zarr in a folder; writes to it wait for the folder's commit."""
    zarr = library("zarr", EXTRA)
    with reading(folder.path):
        return zarr.open_group(
            checked_store(folder, read_only),
            mode="r" if read_only else "r+",
            use_consolidated=False,
        )


def warn_without_checksums(path: Path, writer: str) -> None:
    """Warn of a file or folder without checksums."""
    warnings.warn(
        DalembertWarning(
            f"{str(path)!r} has no checksums, as an earlier version wrote it: damage would not be "
            f"seen. Load it and write it again with {writer}."
        ),
        stacklevel=2,
    )
