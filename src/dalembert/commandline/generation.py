"""Source code of a mechanism's functions, for `dalembert codegen`."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from rich.console import Console

import dalembert as da
from dalembert.codegen.sources import TARGETS
from dalembert.commandline.output import line
from dalembert.model.mechanism import Mechanism

__all__ = ["TARGETS", "write"]


def write(
    out: Console,
    mechanism: Mechanism,
    target: str,
    names: Sequence[str],
    folder: Path,
    prefix: str | None = None,
    overwrite: bool = False,
) -> None:
    """Write the files of each quantity to the folder and print their names.

    Raises
    ------
    UnknownNameError, DalembertError, OSError
        A quantity or frame is unknown; a file is there with other text, or cannot be written.
        Nothing is written before all code is generated.
    """
    for path in da.compile(mechanism).write(folder, target, names, prefix, overwrite):
        line(out, path)
