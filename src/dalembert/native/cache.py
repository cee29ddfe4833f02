"""Object code on disk, so that a second run neither traces nor compiles.

An entry is one file: a line of text, the digest of all that follows and of the entry's name; a line
of JSON, its ports; the code. Its name is the digest of all that the code depends on: mechanism,
quantities, options, processor, versions, and this package's own sources. Files are written whole
under another name and moved into place.

Entries are in a folder of their own inside the folder that the user names, and files there that are
not named like entries are left alone. Code from a file is run: so folders and files must be the
user's own and writable by nobody else, links are not followed, and the digest is compared before
anything else of a file is looked at. An entry that fails counts as absent.
"""

from __future__ import annotations

import hashlib
import json
import math
import os
import re
import stat
import sys
import tempfile
import time
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any

from dalembert.codegen.blocks import Port
from dalembert.codegen.program import Register
from dalembert.errors import DalembertWarning

VARIABLE = "DALEMBERT_CACHE"  # a folder, or 'off'
OWN = "kernels"  # folder of the entries inside that folder
MAX_BYTES = 256 * 2**20  # of all entries; a robot's quantities take some 5 MiB
LOOKS = 64  # a process looks through the folder after each 1/64 of MAX_BYTES that it wrote
SUFFIX, UNFINISHED = ".kernel", ".part"
OURS = re.compile(rf"[0-9a-f]{{64}}{re.escape(SUFFIX)}")
LEFT = re.compile(rf"dalembert-\w+{re.escape(UNFINISHED)}")  # files of processes that were killed
ABANDONED = 3600.0  # s: an unfinished file so old is nobody's any more
OTHERS = stat.S_IWGRP | stat.S_IWOTH

_unseen: float = (
    math.inf
)  # bytes that this process wrote since it looked; it looks after its first entry

Ports = tuple[Port | Register, ...]
Entry = tuple[Ports, Ports, bytes]  # inputs, outputs, code


@cache
def folder() -> Path | None:
    """The folder of the entries, made if need be; None if the cache is switched off or the folder
    cannot be trusted.
    """
    chosen = os.environ.get(VARIABLE, "")
    if chosen.lower() in ("off", "0"):
        return None
    path = Path(chosen)
    try:
        path = (path if chosen else _usual()).expanduser().absolute()
        path.mkdir(mode=0o700, parents=True, exist_ok=True)
        real = path.resolve()
        own = real / OWN
        own.mkdir(mode=0o700, exist_ok=True)
        why = _distrusted(own.lstat()) or _distrusted(real.lstat())
        why = why or (
            "others can move it" if any(map(_movable, {*path.parents, *real.parents})) else ""
        )
    except (OSError, RuntimeError) as error:  # the latter where ~ has no meaning
        why = f"it cannot be made ({getattr(error, 'strerror', None) or error})"
    if why:
        _warn(path, why)
        return None
    return own


def _usual() -> Path:
    import platformdirs

    return Path(platformdirs.user_cache_dir("dalembert", appauthor=False))


def _distrusted(state: os.stat_result) -> str:
    """Why code in a folder is not to be run: who can write there can put other code in its place."""
    if not stat.S_ISDIR(state.st_mode):
        return f"{OWN!r} in it is no folder"
    return "" if _only_mine(state) else "others can write to it"


def _movable(above: Path) -> bool:
    """Whether all users can rename what a folder holds; where its sticky bit is set, only owners
    can.
    """
    mode = above.stat().st_mode
    return hasattr(os, "getuid") and bool(mode & stat.S_IWOTH) and not mode & stat.S_ISVTX


def _only_mine(state: os.stat_result) -> bool:
    """Whether a file or folder is this user's, and nobody else can write to it."""
    return not hasattr(os, "getuid") or (state.st_uid == os.getuid() and not state.st_mode & OTHERS)


def _warn(path: Path, why: str) -> None:
    warnings.warn(
        f"compiled code is not kept: {path}: {why}. Set {VARIABLE} to a folder of your own, or to "
        "'off'.",
        DalembertWarning,
        stacklevel=2,
    )


@cache
def _warn_once(path: Path, why: str) -> None:
    _warn(path, why)


def digest(parts: Iterable[str]) -> str:
    """Name of an entry: all that its code depends on."""
    hashed = hashlib.sha256(_environment())
    for part in parts:
        data = part.encode("utf-8", "surrogatepass")
        hashed.update(len(data).to_bytes(8, "big") + data)
    return hashed.hexdigest()


@cache
def _environment() -> bytes:
    """Versions, processor and the package's own sources."""
    import llvmlite
    import llvmlite.binding as llvm

    hashed = hashlib.sha256()
    for text in (
        sys.version,
        llvmlite.__version__,
        str(llvm.llvm_version_info),
        llvm.get_host_cpu_name(),
        llvm.get_host_cpu_features().flatten(),
        llvm.get_process_triple(),
    ):
        hashed.update(text.encode() + b"\0")
    for folder, folders, files in os.walk(Path(__file__).parent.parent):
        folders.sort()
        for name in sorted(files):
            if name.endswith(".py"):
                with open(os.path.join(folder, name), "rb") as source:
                    hashed.update(source.read() + b"\0")
    return hashed.digest()


def kept(parts: Sequence[str], make: Callable[[], Entry]) -> Entry:
    """The entry of what its code depends on; made if it is not there."""
    name = digest(parts)
    found = read(name)
    if found is None:
        found = make()
        write(name, *found)
    return found


def read(name: str) -> Entry | None:
    """(inputs, outputs, code) of an entry, or None if it is absent, damaged or may be somebody
    else's.
    """
    path = _path(name)
    if path is None:
        return None
    try:
        data = _trusted_bytes(path)
        seal, _, rest = data.partition(b"\n")
        if seal != _seal(name, rest):
            return None
        head, _, code = rest.partition(b"\n")
        ports = json.loads(head)
        inputs, outputs = (
            tuple(Port(p, tuple(shape)) for p, shape in ports[role])
            for role in ("inputs", "outputs")
        )
    except (OSError, ValueError, KeyError, TypeError):
        return None
    with suppress(OSError):  # in a folder that can only be read
        os.utime(path)  # lately used ones are kept longest
    return inputs, outputs, code


def _trusted_bytes(path: Path) -> bytes:
    """Content of a file of this user's, no link, that nobody else can write to."""
    descriptor = os.open(
        path,
        os.O_RDONLY
        | getattr(os, "O_NOFOLLOW", 0)
        | getattr(os, "O_NONBLOCK", 0)
        | getattr(os, "O_BINARY", 0),
    )
    state = os.fstat(descriptor)
    if not stat.S_ISREG(state.st_mode) or not _only_mine(state):
        os.close(descriptor)
        raise PermissionError(f"{path} is no file of this user's alone")
    with os.fdopen(descriptor, "rb") as file:
        return file.read()


def _seal(name: str, rest: bytes) -> bytes:
    """First line of an entry."""
    return hashlib.sha256(name.encode() + b"\n" + rest).hexdigest().encode()


def write(name: str, inputs: Ports, outputs: Ports, code: bytes) -> None:
    """Keep an entry; failing to is no error, and what was there stays whole."""
    path = _path(name)
    if path is None:
        return
    ports = {"inputs": inputs, "outputs": outputs}
    head = json.dumps({role: [(p.name, p.shape) for p in those] for role, those in ports.items()})
    rest = head.encode() + b"\n" + code
    temporary = ""
    try:
        descriptor, temporary = tempfile.mkstemp(
            dir=path.parent, prefix="dalembert-", suffix=UNFINISHED
        )
        with os.fdopen(descriptor, "wb") as file:
            file.write(_seal(name, rest) + b"\n" + rest)
        os.replace(temporary, path)
        _bounded(len(rest))
    except OSError as error:
        _removed(Path(temporary) if temporary else None)
        _warn_once(path.parent, f"writing failed ({error.strerror})")


def _entries(pattern: re.Pattern[str] = OURS) -> Iterator[tuple[Path, os.stat_result]]:
    """Files of the cache's own, by their names: no folders and no links."""
    path = folder()
    for file in path.iterdir() if path else ():
        if pattern.fullmatch(file.name):
            try:
                state = file.lstat()
            except OSError:
                continue  # another process removed it
            if stat.S_ISREG(state.st_mode):
                yield file, state


def _removed(file: Path | None) -> bool:
    """Remove a file; whether it was there."""
    try:
        if file:
            file.unlink()
        return bool(file)
    except OSError:
        return False


def _bounded(written: int) -> None:
    """Look through the folder now and then, as looking after each of N entries takes time N**2."""
    global _unseen
    _unseen += written
    if _unseen * LOOKS >= MAX_BYTES:
        _unseen = 0
        _pruned()


def _pruned() -> None:
    """Remove the entries used longest ago beyond MAX_BYTES, and what killed processes left long
    ago.
    """
    for file, state in _entries(LEFT):
        if time.time() - state.st_mtime > ABANDONED:
            _removed(file)
    known = sorted(_entries(), key=lambda entry: entry[1].st_mtime)
    total = sum(state.st_size for _, state in known)
    for file, state in known:
        if total <= MAX_BYTES:
            break
        _removed(file)
        total -= state.st_size


def contents() -> tuple[Path | None, int, int]:
    """(folder, number of entries, bytes)."""
    sizes = [state.st_size for _, state in _entries()]
    return folder(), len(sizes), sum(sizes)


def clear() -> int:
    """Remove all entries, and what unfinished writing left; their number."""
    files: list[Any] = [*_entries(), *_entries(LEFT)]
    return sum(_removed(file) for file, _ in files)


def _path(name: str) -> Path | None:
    path = folder()
    return path / (name + SUFFIX) if path else None
