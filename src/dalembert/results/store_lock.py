"""Lock of a folder, for a single writer: it ends with its process, however that ends."""

from __future__ import annotations

import os
import socket
import warnings
import weakref
from pathlib import Path
from typing import Any

from dalembert.errors import DalembertWarning, LockedStoreError, StoreError

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]

NO_LINK = getattr(os, "O_NOFOLLOW", 0)  # the end of a link is not ours to write
FAR = 2**30  # the byte that Windows locks: others can read the text before it

_held: weakref.WeakSet[StoreLock] = weakref.WeakSet()


class StoreLock:
    """The right to write a folder, until `release`: the file `NAME.lock` beside it, locked by the
    operating system.

    The system frees the lock when the process ends, also by a kill: a file that is left behind
    locks nothing.

    Raises
    ------
    LockedStoreError
        Another process, or another call in this one, writes the folder.
    """

    def __init__(self, folder: Any):
        self.folder = Path(folder)
        self.file = lock_file(folder)
        try:
            self.file.parent.mkdir(parents=True, exist_ok=True)
            self._descriptor = self._locked()
            os.ftruncate(self._descriptor, 0)
            os.write(self._descriptor, f"{os.getpid()} {socket.gethostname()}\n".encode())
        except OSError as error:
            raise StoreError(
                f"{str(folder)!r} cannot be written: {error.strerror or error} "
                f"({str(self.file)!r}).",
                str(folder),
            ) from error
        _held.add(self)

    def _locked(self) -> int:
        """A descriptor of the file, locked."""
        while True:
            descriptor = os.open(self.file, os.O_RDWR | os.O_CREAT | NO_LINK, 0o666)
            try:
                _lock(descriptor)
            except BlockingIOError:
                raise self._refused(descriptor) from None
            except OSError as error:  # a file system without locks
                warnings.warn(
                    DalembertWarning(
                        f"{str(self.folder)!r} cannot be locked ({error.strerror}): see that no "
                        "other process writes it."
                    ),
                    stacklevel=2,
                )
                return descriptor
            if _is_same_file(descriptor, self.file):
                return descriptor
            os.close(descriptor)  # its holder removed it meanwhile

    def _refused(self, descriptor: int) -> LockedStoreError:
        pid, _, host = os.read(descriptor, 1000).decode(errors="replace").strip().partition(" ")
        os.close(descriptor)
        known = pid.isdigit() and bool(host)
        holder = f"process {pid} on {host}" if known else "another process"
        return LockedStoreError(
            f"{str(self.folder)!r} is being written by {holder}: wait until it has ended, or end "
            "it. Only one process writes a folder at a time.",
            str(self.folder),
            int(pid) if known else 0,
            host,
        )

    def release(self) -> None:
        """Give the right back and remove the file."""
        if self._descriptor >= 0:
            self.file.unlink(missing_ok=True)
            self._close()

    def _close(self) -> None:
        if self._descriptor >= 0:
            os.close(self._descriptor)
            self._descriptor = -1

    def __enter__(self) -> StoreLock:
        return self

    def __exit__(self, *error: Any) -> None:
        self.release()


def lock_file(folder: Any) -> Path:
    """The file beside a folder whose lock is the right to write it."""
    path = Path(folder).resolve()
    return path.with_name(f"{path.name}.lock")


def _lock(descriptor: int) -> None:
    if fcntl is not None:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        return
    import msvcrt

    os.lseek(descriptor, FAR, os.SEEK_SET)
    try:
        msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)  # type: ignore[attr-defined]
    except OSError:
        raise BlockingIOError from None
    finally:
        os.lseek(descriptor, 0, os.SEEK_SET)


def _is_same_file(descriptor: int, path: Path) -> bool:
    try:
        return os.path.samestat(os.fstat(descriptor), path.stat())
    except FileNotFoundError:
        return False


def _close_all() -> None:
    """In a child that was forked: a worker that outlives its parent must not keep the parent's
    locks.
    """
    for lock in list(_held):
        lock._close()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_close_all)
