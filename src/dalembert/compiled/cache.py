"""Object code on disk, so that a second run neither traces nor compiles.

An entry is one file: a line of JSON (ports, and the digest of the code), then the code. Its name is the digest of all
that the code depends on: mechanism, quantities, options, processor, versions, and this package's own sources. Files are
written whole under another name and moved into place, and checked when read: a damaged one counts as absent. Since code
from the folder is run, the folder must be the user's own and writable by nobody else.
"""

from __future__ import annotations

import hashlib
import json
import os
import sys
import tempfile
import warnings
from collections.abc import Callable, Iterable, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from dalembert.codegen.program import Port
from dalembert.errors import DalembertWarning

VARIABLE = "DALEMBERT_CACHE"            # a folder, or 'off'
MAX_BYTES = 256 * 2**20                 # of all entries; a robot's quantities take some 5 MiB
SUFFIX = ".kernel"

Entry = tuple[tuple[Port, ...], tuple[Port, ...], bytes]      # inputs, outputs, code


@cache
def folder() -> Path | None:
    """The cache's folder, made if need be; None if it is switched off or cannot be trusted."""
    chosen = os.environ.get(VARIABLE, "")
    if chosen.lower() in ("off", "0"):
        return None
    if not chosen:
        import platformdirs

        chosen = platformdirs.user_cache_dir("dalembert", appauthor=False)
    path = Path(chosen)
    try:
        path.mkdir(mode=0o700, parents=True, exist_ok=True)
        state = path.stat()
    except OSError as error:
        _warn(path, f"it cannot be made ({error.strerror})")
        return None
    if hasattr(os, "getuid") and (state.st_uid != os.getuid() or state.st_mode & 0o022):
        _warn(path, "others can write to it")
        return None
    return path


def _warn(path: Path, why: str) -> None:
    warnings.warn(f"compiled code is not kept: {path}: {why}. Set {VARIABLE} to a folder of your own, or to 'off'.",
                  DalembertWarning, stacklevel=2)


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
    for text in (sys.version, llvmlite.__version__, str(llvm.llvm_version_info), llvm.get_host_cpu_name(),
                 llvm.get_host_cpu_features().flatten(), llvm.get_process_triple()):
        hashed.update(text.encode() + b"\0")
    for source in sorted(Path(__file__).parent.parent.rglob("*.py")):
        hashed.update(source.read_bytes() + b"\0")
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
    """(inputs, outputs, code) of an entry, or None if it is absent or damaged."""
    path = _path(name)
    if path is None:
        return None
    try:
        head, _, code = path.read_bytes().partition(b"\n")
        data = json.loads(head)
        if data["code"] != hashlib.sha256(code).hexdigest():
            return None
        inputs, outputs = (tuple(Port(p, tuple(shape)) for p, shape in data[role]) for role in ("inputs", "outputs"))
        os.utime(path)                                    # lately used ones are kept longest
        return inputs, outputs, code
    except (OSError, ValueError, KeyError, TypeError):
        return None


def write(name: str, inputs: tuple[Port, ...], outputs: tuple[Port, ...], code: bytes) -> None:
    """Keep an entry; failing to is no error, and what was there stays whole."""
    path = _path(name)
    if path is None:
        return
    head = json.dumps({"inputs": inputs, "outputs": outputs, "code": hashlib.sha256(code).hexdigest()})
    try:
        descriptor, temporary = tempfile.mkstemp(dir=path.parent, suffix=".part")
        with os.fdopen(descriptor, "wb") as file:
            file.write(head.encode() + b"\n" + code)
        os.replace(temporary, path)
        _bounded(path.parent)
    except OSError as error:
        _warn(path.parent, f"writing failed ({error.strerror})")


def _bounded(path: Path) -> None:
    """Remove the entries used longest ago beyond MAX_BYTES, and what killed processes left."""
    known: list[tuple[float, int, Any]] = []
    for file in path.iterdir():
        try:
            state = file.stat()
            known.append((state.st_mtime, state.st_size, file))
        except OSError:
            continue                                      # another process removed it
    total = sum(size for _, size, _ in known)
    for _, size, file in sorted(known, key=lambda k: k[0]):
        if total <= MAX_BYTES:
            break
        file.unlink(missing_ok=True)
        total -= size


def contents() -> tuple[Path | None, int, int]:
    """(folder, number of entries, bytes)."""
    path = folder()
    sizes = [f.stat().st_size for f in path.glob("*" + SUFFIX)] if path else []
    return path, len(sizes), sum(sizes)


def clear() -> int:
    """Remove all entries; their number."""
    path = folder()
    files = [f for f in path.iterdir() if f.suffix in (SUFFIX, ".part")] if path else []
    for file in files:
        file.unlink(missing_ok=True)
    return len(files)


def _path(name: str) -> Path | None:
    path = folder()
    return path / (name + SUFFIX) if path else None
