"""Models inside the package, each in a folder of its own with origin and licence."""

from __future__ import annotations

from pathlib import Path

from dalembert.arguments import check_choice

__all__ = ["path"]

FILES = {"panda": "panda/panda.urdf"}


def path(name: str) -> Path:
    """File of an embedded model, for `dalembert.load`.

    Raises
    ------
    UnknownNameError
        There is no such model; the known ones are listed.

    Examples
    --------
    >>> import dalembert as da
    >>> da.data.path("panda").name
    'panda.urdf'
    """
    check_choice("embedded model", name, tuple(FILES))
    return Path(__file__).parent / FILES[name]


def __dir__() -> list[str]:
    return __all__
