"""Robot files as the commands load them."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from dalembert.commandline.application import UsageError
from dalembert.errors import (
    DalembertError,
    DalembertWarning,
    MissingFileError,
    ModelError,
)

RUNS = (".nc", ".zarr")  # endings of files of runs
MOST_NAMED = 4  # constraints in a note


def existing(name: str) -> Path:
    """The file or, where a plain name is no file, that of the embedded robot of this name.

    Raises
    ------
    UsageError
        It is a run.
    """
    from dalembert import data

    if Path(name).suffix.lower() in RUNS:
        raise UsageError(f"{name!r} is a run; FILE is the model, and comes first.")
    return data.resolved(Path(name))


def load(
    file: Path, quiet: bool = False, angle_tolerance: float | None = None, **options: Any
) -> Any:
    """The mechanism of a file; quiet where the command itself shows the findings.

    Raises
    ------
    ModelError, ReadError, MissingFileError
        As `da.load`.
    """
    import dalembert as da

    if angle_tolerance is not None:
        options["angle_tolerance"] = angle_tolerance
    with warnings.catch_warnings():
        if quiet:
            warnings.simplefilter("ignore", DalembertWarning)
        try:
            return da.load(file, **options)
        except ValueError as error:  # an option that is out of its range
            raise DalembertError(f"{error}") from None


def numeric(mechanism: Any) -> Any:
    """The mechanism, for what needs numbers; an error if it has symbols."""
    from dalembert.expr import free_symbols
    from dalembert.model.numbers import is_symbolic

    if symbols := free_symbols([x for x in mechanism.values() if is_symbolic(x)]):
        raise DalembertError(
            f"mechanism {mechanism.name!r} has symbols ({', '.join(s.name for s in symbols)}), and "
            "this command needs numbers. Put them into the file; `dalembert equations` takes "
            "symbols."
        )
    return mechanism


def tree_of(mechanism: Any) -> Any:
    """The mechanism for what looks at trees alone; a note where constraints are left out."""
    if not mechanism.constraints:
        return mechanism
    from dalembert.commandline.output import say

    names = ", ".join(constraint.name for constraint in mechanism.constraints[:MOST_NAMED])
    more = ", ..." if len(mechanism.constraints) > MOST_NAMED else ""
    say("note", f"constraints are left out here, this command looks at the tree: {names}{more}.")
    return mechanism.without("constraints")


def findings_of(
    file: Path,
    angle_tolerance: float | None,
    constraints: Path | None = None,
    mesh_folders: Sequence[Path] = (),
) -> list[Any]:
    """All findings about a file with its constraints, also one that cannot be read."""
    from dalembert.analysis.freedoms import constraint_findings
    from dalembert.model.findings import collapsed, error_finding

    try:
        options = {"constraints": constraints, "mesh_folders": mesh_folders}
        mechanism = load(file, True, angle_tolerance, **options)
        return [*mechanism.check(), *collapsed(constraint_findings(mechanism))]
    except MissingFileError:
        raise
    except ModelError as error:
        if error.findings:
            return collapsed(error.findings)
        return [error_finding(error, str(file))]
