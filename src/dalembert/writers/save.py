"""`save`: a mechanism to a file, in the format that the ending of its name tells."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

from dalembert.arguments import (
    check_flag,
    path_of,
)
from dalembert.errors import ReadError
from dalembert.model.magnitudes import check_magnitudes
from dalembert.model.mechanism import Mechanism
from dalembert.readers.toml import write_toml
from dalembert.whole_files import whole_file
from dalembert.writers.losses import Losses
from dalembert.writers.mjcf_writer import mjcf_text
from dalembert.writers.numerals import check_numeric
from dalembert.writers.urdf_writer import urdf_text

WRITERS: dict[str, tuple[str, Callable[[Mechanism, Losses], str]]] = {
    ".urdf": ("URDF", urdf_text),
    ".xml": ("MJCF", mjcf_text),
    ".mjcf": ("MJCF", mjcf_text),
}
ENDINGS = (".toml", *WRITERS)


def save(mechanism: Mechanism, file: str | os.PathLike, strict: bool = False) -> Path:
    """Write a mechanism: TOML, which says everything, URDF, or MJCF, the format of MuJoCo.

    A file that is there is replaced when the new one is complete, and keeps its permissions.

    Parameters
    ----------
    mechanism : Mechanism
    file : path
        Its ending is .toml, .urdf, or .xml or .mjcf (MJCF). `load` gives an equal mechanism back
        from TOML, one with the same equations from URDF.
    strict : bool
        Refuse to write what the format cannot say all of; otherwise a warning lists it.

    Returns
    -------
    path : Path
        The file.

    Raises
    ------
    ReadError
        The ending is another; a joint is given by a Python function; numbers have symbols, a joint
        or a name has no form in the format; with `strict`, something would be lost.

    Warns
    -----
    DalembertWarning
        Once, of all that the file does not say: springs, rotors, constraints, ...

    Examples
    --------
    >>> import dalembert as da
    >>> import tempfile, pathlib
    >>> file = pathlib.Path(tempfile.mkdtemp()) / "arm.toml"
    >>> da.load(da.save(da.planar_chain(2), file)) == da.planar_chain(2)
    True
    """
    check_flag("strict", strict)
    path = path_of("file", file)
    ending = path.suffix.lower()
    if ending not in ENDINGS:
        raise ReadError(
            f"mechanisms are written as {', '.join(ENDINGS)}, not as "
            f"{path.suffix or 'a file without suffix'}.",
            str(path),
        )
    _write(path, write_toml(mechanism) if ending == ".toml" else _told(mechanism, path, strict))
    return path


def _told(mechanism: Mechanism, path: Path, strict: bool) -> str:
    """The text of another format than TOML, after a warning of what it cannot say."""
    name, text_of = WRITERS[path.suffix.lower()]
    check_numeric(mechanism, str(path))
    check_magnitudes(mechanism, f"written as {name}")
    losses = Losses(name, mechanism.name)
    text = text_of(mechanism, losses)
    losses.tell(str(path), strict)
    return text


def _write(path: Path, text: str) -> None:
    try:
        with whole_file(path) as out:
            out.write(text)
    except OSError as error:
        raise ReadError(f"cannot be written ({error.strerror}).", str(path)) from None
