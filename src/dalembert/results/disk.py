"""Files on the disk: written whole, read, listed, and their digests."""

from __future__ import annotations

import errno
import hashlib
import os
import stat
from collections.abc import Iterable, Iterator
from pathlib import Path, PurePosixPath

OWN = ".dalembert"  # folder of the ledger and the journal
DIGEST = 16  # bytes of a digest
CLUTTER = (".DS_Store", "Thumbs.db", "desktop.ini")  # files that desktops leave in every folder


def digest(data: bytes) -> str:
    """Digest of bytes, 16 bytes of BLAKE2b in hexadecimal."""
    return hashlib.blake2b(data, digest_size=DIGEST).hexdigest()


def bytes_of(path: Path) -> bytes:
    """The bytes of a file; an OSError for a pipe or a device, whose bytes may never end."""
    descriptor = os.open(
        path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
    )
    with open(descriptor, "rb", closefd=True) as file:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise OSError(errno.EINVAL, "it is no file")
        return file.read()


def write(path: Path, key: str, data: bytes) -> None:
    """A file in a folder, there as a whole or not at all."""
    fresh, target = path / OWN / "new", path / key
    for place in (fresh, target):
        place.parent.mkdir(parents=True, exist_ok=True)
    fresh.unlink(missing_ok=True)  # a link there would lead elsewhere
    fresh.write_bytes(data)
    fresh.replace(target)


def on_disk(*paths: Path) -> None:
    """Wait until files, and the names in folders, are on the disk, where a loss of power leaves
    them.
    """
    for path in paths:
        is_folder = path.is_dir()
        if is_folder and os.name == "nt":  # Windows writes names by itself
            continue
        descriptor = os.open(path, os.O_RDONLY if is_folder else os.O_RDWR)
        try:
            os.fsync(descriptor)
        except OSError as error:
            if error.errno not in (errno.EINVAL, errno.ENOTSUP):  # of file systems that cannot
                raise
        finally:
            os.close(descriptor)


def folders_of(path: Path, keys: Iterable[str]) -> list[Path]:
    """The folder, and those inside it that hold files of these names."""
    inner = {parent for key in keys for parent in PurePosixPath(key).parents}
    return [
        path / parent for parent in sorted(inner | {PurePosixPath()}) if (path / parent).is_dir()
    ]


def files_in(path: Path) -> Iterator[str]:
    """Names of all files and links in a folder, but for its own and those of desktops."""
    for root, folders, files in os.walk(path):
        place = Path(root).relative_to(path)
        links = [name for name in folders if (Path(root) / name).is_symlink()]
        folders[:] = [name for name in folders if not (name == OWN and place == Path())]
        yield from (
            (place / name).as_posix()
            for name in (*files, *links)
            if name not in CLUTTER and not name.startswith((".nfs", "._"))
        )


def checked_key(key: str) -> str:
    """The name of a file inside the folder; a ValueError for any other."""
    parts = PurePosixPath(key).parts
    if (
        not parts
        or key != "/".join(parts)
        or ".." in parts
        or parts[0] in ("/", OWN)
        or "\\" in key
        or "\0" in key
    ):
        raise ValueError(f"{key!r} is no name of a file in the folder")
    return key
