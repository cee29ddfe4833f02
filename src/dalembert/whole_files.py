"""Files of users, written as a whole or not at all."""

from __future__ import annotations

import errno
import os
import secrets
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TextIO

MODE = 0o666  # of a new file, before the user's mask


@contextmanager
def whole_file(path: Path, encoding: str = "utf-8") -> Iterator[TextIO]:
    """A stream whose text is the file at `path` as soon as it is complete; if writing fails, the
    file that was there stays. Permissions stay, and links are followed; line ends are written as
    they are given.

    Raises
    ------
    OSError
        The file may not be written to; its folder takes no new file.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> from dalembert.whole_files import whole_file
    >>> file = pathlib.Path(tempfile.mkdtemp()) / "note.txt"
    >>> with whole_file(file) as out:
    ...     _ = out.write("two rods")
    >>> file.read_text()
    'two rods'
    """
    target = Path(os.path.realpath(path))
    if target.exists() and not target.is_file():  # a pipe or a device; a folder is refused
        with target.open("w", encoding=encoding, newline="") as out:
            yield out
        return
    # its folder would let it be replaced all the same
    if target.exists() and not os.access(target, os.W_OK):
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(path))
    fresh = target.with_name(f".{secrets.token_hex(8)}.new")
    try:
        descriptor = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_EXCL, MODE)
    except OSError as error:
        error.filename = str(path)  # the name that the user knows
        raise
    try:
        with open(descriptor, "w", encoding=encoding, newline="") as out:
            yield out
            out.flush()
            os.fsync(descriptor)
        if target.exists():
            shutil.copymode(target, fresh)
        fresh.replace(target)
    except BaseException:
        fresh.unlink(missing_ok=True)
        raise
