"""The report on a model, for `dalembert report`."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from rich.console import Console

from dalembert.commandline.output import console, line
from dalembert.commandline.typed_vectors import typed_vector
from dalembert.model.mechanism import Mechanism
from dalembert.reports.report_file import report
from dalembert.views.figures.posture import posture


def write_report(
    out: Console,
    mechanism: Mechanism,
    file: Path,
    without: str | None,
    q: str | None,
    t: float | None,
) -> None:
    """Write the page, with a line on the terminal that says what is being done, and print its name.

    Raises
    ------
    UnknownNameError, ValueError, OSError, VectorError
        There is no such section; the name has another ending; it cannot be written; q is none.
    """
    sections = [name.strip() for name in (without or "").split(",") if name.strip()]
    start = None if q is None else _typed_start(mechanism, q)
    with _progress_line() as progress:
        path = report(mechanism, file, without=sections, q=start, t=t, progress=progress)
    line(out, path)


def _typed_start(mechanism: Mechanism, q: str) -> object:
    """Coordinates as typed, all or some of a good posture."""
    names = mechanism.coordinate_names
    return typed_vector(q, "--q", names, posture(mechanism), mechanism)


@contextmanager
def _progress_line() -> Iterator[Callable[[str], None]]:
    """A line on the standard error that a next one replaces, where that is a terminal."""
    if not sys.stderr.isatty():
        yield lambda text: None
        return
    with console(sys.stderr).status("report") as status:
        yield lambda text: status.update(f"report: {text}")
