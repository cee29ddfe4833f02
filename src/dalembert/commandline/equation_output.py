"""Equations of motion in closed form, for `dalembert equations`."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn

from dalembert.closed_forms.equations import Equations, equations
from dalembert.closed_forms.quantities.frames import described
from dalembert.closed_forms.quantities.quantity_sheets import QUANTITIES
from dalembert.commandline.output import console, line
from dalembert.errors import UnknownNameError
from dalembert.model.mechanism import Mechanism

FORMATS: dict[str, Callable[[Equations, Sequence[str]], str]] = {
    "text": lambda eom, names: eom.text(*names),
    "latex": lambda eom, names: eom.latex(*names),
    "mathml": lambda eom, names: eom.mathml(*names),
    "python": lambda eom, names: eom.python(*names),
    "sympy": lambda eom, names: _sympy_text(eom, names),
    "report": lambda eom, names: eom.report(),
}


def show(
    out: Console,
    mechanism: Mechanism,
    symbols: Sequence[str],
    quantities: Sequence[str],
    form: str,
    file: Path | None,
    budget: int,
    formulation: str,
) -> None:
    """Print closed forms, or write a document if there is a file. All of them as text have a
    legend.

    Raises
    ------
    UnknownNameError
        A quantity, path or pattern is unknown.
    """
    for name in quantities:
        if described(mechanism, name) is None and name not in QUANTITIES:
            raise UnknownNameError("quantity", name, tuple(QUANTITIES))
    with _bar() as progress:
        eom = equations(
            mechanism, symbols or None, formulation=formulation, budget=budget, progress=progress
        )
        names = tuple(quantities) or eom.shown
        if file is not None:
            eom.write(file, *names)
        text = "" if file is not None else FORMATS[form](eom, names)
        if text and form == "text" and not quantities:
            text += f"\n{eom.legend()}"
    if file is not None:
        line(out, file)
    else:
        out.out(text, end="", highlight=False)


@contextmanager
def _bar() -> Any:
    """A progress bar on the standard error where that is a terminal."""
    with Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        console=console(sys.stderr),
        transient=True,
        disable=not sys.stderr.isatty(),
    ) as bar:
        task = bar.add_task("derivation", total=1.0)
        yield lambda text, done: bar.update(task, description=text, completed=done)


def _sympy_text(eom: Equations, names: Sequence[str]) -> str:
    return "".join(f"{name} = {eom.to_sympy(name)}\n" for name in names)
