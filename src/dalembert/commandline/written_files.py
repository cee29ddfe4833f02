"""Files that a command will write, looked at before it computes for them."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from dalembert.commandline import VectorError


def check_writable(option: str, path: Path | None, endings: Sequence[str] = ()) -> None:
    """See that the name of a file ends as it must, and that its folder is there.

    Raises
    ------
    VectorError
    """
    if path is None:
        return
    if endings and path.suffix.lower() not in endings:
        raise VectorError(
            f"{option} {str(path)!r}: the name must end in {', '.join(endings)}.", option
        )
    if not os.path.isdir(path.parent):  # also where it may not be looked at
        raise VectorError(
            f"{option} {str(path)!r}: there is no folder {str(path.parent)!r}.", option
        )
