"""Robots inside the package, each in a folder with origin and licence; `da.load` takes their names."""

from __future__ import annotations

from pathlib import Path

from dalembert.arguments import check_choice
from dalembert.data.catalogue import (
    OWN,
    ROBOTS,
    EmbeddedRobot,
)
from dalembert.errors import MissingFileError, nearest

__all__ = ["about", "names", "path"]

FOLDER = Path(__file__).parent
FILES = {robot.file for robot in ROBOTS.values()}


def names() -> tuple[str, ...]:
    """Names of the embedded robots, which `da.load` takes in place of a file.

    Examples
    --------
    >>> import dalembert as da
    >>> da.data.names()[:3]
    ('panda', 'ur5', 'iiwa14')
    """
    return tuple(ROBOTS)


def path(name: str) -> Path:
    """File of an embedded robot.

    Raises
    ------
    UnknownNameError
        There is no such robot; the known ones are listed.

    Examples
    --------
    >>> import dalembert as da
    >>> da.data.path("panda").name
    'panda.urdf'
    """
    return FOLDER / about(name).file


def about(name: str) -> EmbeddedRobot:
    """File, description, licence and origin of an embedded robot.

    Raises
    ------
    UnknownNameError
        There is no such robot; the known ones are listed.

    Examples
    --------
    >>> import dalembert as da
    >>> robot = da.data.about("scara")
    >>> print(robot.about, robot.licence)
    SCARA arm BSD-3-Clause
    """
    check_choice("embedded robot", name, names())
    return ROBOTS[name]


def resolved(file: Path) -> Path:
    """The file or, where a plain name is no file, that of the embedded robot of this name; the names
    that messages give to files of embedded robots lead to them too.

    Raises
    ------
    MissingFileError
        A plain name is neither a file nor a robot; the known ones are listed.
    """
    if file.as_posix() in FILES and not file.is_file():
        return FOLDER / file
    is_name = not file.suffix and file.parent == Path()
    if is_name and file.name in ROBOTS and not file.is_file():
        return path(file.name)
    if not is_name or not _is_missing(file):
        return file
    near = nearest(file.name, ROBOTS)
    raise MissingFileError(
        f"there is no such file, and no embedded robot of that name (known: {', '.join(ROBOTS)})."
        + (f" Did you mean {near!r}?" if near else ""),
        str(file),
    )


def better_name(file: Path) -> str | None:
    """Name here of a robot of another project, whose file may name it 'physics'; None of other
    files.
    """
    return next(
        (name for name, robot in ROBOTS.items() if robot.origin != OWN and file == path(name)), None
    )


def name_in_messages(file: Path) -> str:
    """Name of a file as messages have it: of an embedded robot within their folder, as
    'ur5/ur5.urdf'.
    """
    return str(file.relative_to(FOLDER).as_posix() if file.is_relative_to(FOLDER) else file)


def _is_missing(file: Path) -> bool:
    """Whether the file does not exist; a file that cannot be looked at may exist."""
    try:
        file.stat()
    except (FileNotFoundError, ValueError):  # ValueError: a null character in the name
        return True
    except OSError:
        return False
    return False


def __dir__() -> list[str]:
    return __all__
