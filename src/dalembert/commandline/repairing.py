"""`dalembert repair`: changes of a file, their diff, and faults that stay."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from dalembert.commandline.application import UsageError
from dalembert.commandline.output import (
    line,
    message,
)
from dalembert.displays import visible
from dalembert.errors import DalembertError
from dalembert.model.findings import Finding
from dalembert.readers.load import content_of
from dalembert.writers.urdf_repair import (
    Repair,
    repair_urdf,
)

STYLES_OF_DIFF = {"+": "green", "-": "red", "@": "dim"}


def repaired(file: Path, masses: Mapping[str, float], from_shapes: bool) -> Repair:
    """The repair of a file; masses [kg] by names of links.

    Raises
    ------
    MissingFileError, ReadError
        There is no such file; it is no URDF.
    UnknownNameError, UsageError
        There is no such link; a mass is none.
    """
    data, _, _ = content_of(file)
    try:
        return repair_urdf(data, str(file), masses, from_shapes)
    except ValueError as error:
        if isinstance(error, DalembertError):
            raise
        raise UsageError(f"{error}") from None


def show(out: Any, repair: Repair, written: Path | None) -> None:
    """Print the changes, their diff, where they were written, and what is left."""
    for change in repair.changes:
        line(out, _with_line(change))
    if repair.changes:
        line(out)
        for text in repair.diff.split("\n"):
            line(
                out,
                text,
                STYLES_OF_DIFF.get(text[:1], "") if text[:3] not in ("+++", "---") else "bold",
            )
        line(out)
    for finding in repair.left:
        message(out, finding.severity, f"left as it is: {_with_line(finding)}")
    line(out, _summary(repair, written))


def _with_line(finding: Finding) -> str:
    """A finding with its line, without the file's name."""
    place = f" (line {finding.source.line})" if finding.source.line else ""
    return f"{finding.what}{place}: {finding.why} {finding.fix}".rstrip()


def _summary(repair: Repair, written: Path | None) -> str:
    if not repair.changes:
        return f"nothing repaired, {_left(repair)}" if repair.left else "nothing to repair"
    count = len(repair.changes)
    changed = f"{count} change{'s' * (count != 1)}"
    where = (
        f"written to {visible(written)}" if written else "nothing written: -o FILE or --write does"
    )
    return f"{changed}, {_left(repair)}; {where}"


def _left(repair: Repair) -> str:
    count = len(repair.left)
    return f"{count} finding{'s' * (count != 1)} left" if count else "no errors or warnings left"
