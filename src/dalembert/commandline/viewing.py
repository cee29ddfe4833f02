"""`dalembert view`: a robot file, and a run of it, in the browser until Ctrl-C."""

from __future__ import annotations

import threading
import webbrowser
from collections.abc import Sequence
from pathlib import Path
from typing import (
    Any,
    NamedTuple,
)

from dalembert.commandline.application import UsageError
from dalembert.commandline.loading import RUNS
from dalembert.commandline.output import say
from dalembert.errors import MissingFileError


class Page(NamedTuple):
    """How the page is shown.

    port (0: any free one), host, dark, browser: whether to open one, mesh_folders: beside those of
    the robot file
    """

    port: int
    host: str
    dark: bool
    browser: bool
    mesh_folders: Sequence[Path]


def run_of(mechanism: Any, file: Path) -> Any:
    """The run of a file that `dalembert simulate --output` wrote.

    Raises
    ------
    UsageError, MissingFileError
        Its name has another ending; there is none.
    """
    from dalembert.results.run import Run

    if file.suffix.lower() not in RUNS:
        raise UsageError(
            f"{str(file)!r} is no run that can be shown: expected a name that ends in "
            f"{' or '.join(RUNS)}, as `dalembert simulate ... -o run.nc` writes it."
        )
    if not file.exists():
        raise MissingFileError("there is no such file.", str(file))
    return Run.load(mechanism, file)


def show(mechanism: Any, run: Any, page: Page) -> None:
    """Show the page until Ctrl-C."""
    from dalembert.views.viewer.browser_view import view

    viewer = view(
        mechanism,
        run,
        port=page.port,
        host=page.host,
        dark=page.dark,
        mesh_folders=page.mesh_folders,
    )
    with viewer:
        print(f"{viewer.url}  (Ctrl-C ends the viewer)", flush=True)
        if page.browser and not webbrowser.open(viewer.url):
            say("note", "no browser is found on this machine: open the address in one.")
        try:
            wait()
        except KeyboardInterrupt:
            print()


def wait() -> None:
    """Wait for Ctrl-C."""
    threading.Event().wait()
