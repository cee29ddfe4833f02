"""Runs in the viewer, which is imported when one is first shown."""

from __future__ import annotations

from typing import (
    TYPE_CHECKING,
    Any,
)

from dalembert.errors import DalembertError

if TYPE_CHECKING:
    from dalembert.results.run import Run


def view_run(run: Run, **options: Any) -> Any:
    """Show a run with the mechanism of its first trajectory; see `Run.view` and `da.view`."""
    from dalembert.views.viewer.browser_view import view

    if run.system.mechanism is None:
        raise DalembertError(
            f"{run.system.name!r} has no bodies to show. run.plot() draws diagrams."
        )
    return view(run.own_mechanism(), run, **options)
