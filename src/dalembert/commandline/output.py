"""Output on a console: texts taken literally, a line per message, tables that never break a cell."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import NamedTuple, TextIO

from rich.cells import cell_len
from rich.console import Console
from rich.table import Table
from rich.text import Text

from dalembert.displays import visible

UNWRAPPED = 100_000  # columns of an output that is not a terminal: nothing is wrapped there
GAP = 2  # spaces between columns
STYLES = {"error": "red", "warning": "yellow", "note": "dim", "PASS": "green", "FAIL": "bold red"}


def console(stream: TextIO) -> Console:
    """A console that takes texts literally, and does not wrap what is piped."""
    width = None if stream.isatty() else UNWRAPPED
    return Console(file=stream, width=width, markup=False, emoji=False, highlight=False)


def line(out: Console, text: object = "", style: str = "") -> None:
    """Print a line, which a terminal may break but this program does not."""
    out.print(Text(visible(text), style=style), soft_wrap=True)


def message(out: Console, severity: str, text: object) -> None:
    """The line 'severity: text'."""
    out.print(Text.assemble((f"{severity}: ", STYLES[severity]), visible(text)), soft_wrap=True)


def say(severity: str, text: object) -> None:
    """The same on the standard error."""
    message(console(sys.stderr), severity, text)


@contextmanager
def progress_bar() -> Iterator[Callable[[float, float], None] | None]:
    """A bar on the standard error, if that is a terminal: a function to call with the part done and
    the time reached [s].
    """
    if not sys.stderr.isatty():
        yield None
        return
    from rich.progress import (
        BarColumn,
        Progress,
        TaskProgressColumn,
        TextColumn,
        TimeRemainingColumn,
    )

    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        TaskProgressColumn(),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=console(sys.stderr), transient=True) as bar:
        task = bar.add_task("t = 0 s", total=1.0)
        yield lambda done, t: bar.update(task, completed=done, description=f"t = {t:.4g} s")


class TableColumn(NamedTuple):
    """A column of a table: its title and one text per row."""

    title: str
    cells: Sequence[str]
    right: bool = True
    style: str = ""

    @property
    def width(self) -> int:
        """Cells of the widest text."""
        return max(map(cell_len, (self.title, *self.cells)))


def left(title: str, cells: Sequence[object], style: str = "") -> TableColumn:
    """A column of texts, aligned to the left."""
    return TableColumn(title, [visible(c) for c in cells], False, style)


def show_table(out: Console, keys: Sequence[TableColumn], columns: Sequence[TableColumn]) -> None:
    """Print a table; where the console is too narrow, in blocks of columns that each repeat the
    keys.
    """
    for block, chosen in enumerate(_blocks(columns, out.width - sum(k.width + GAP for k in keys))):
        if block:
            line(out)
        made = Table(box=None, pad_edge=False, header_style="bold", padding=(0, GAP, 0, 0))
        for column in (*keys, *chosen):
            made.add_column(
                column.title,
                justify="right" if column.right else "left",
                style=column.style,
                no_wrap=True,
                min_width=min(column.width, out.width),
            )
        for row in zip(*(column.cells for column in (*keys, *chosen)), strict=True):
            made.add_row(*(Text(cell, style=STYLES.get(cell, "")) for cell in row))
        out.print(made)


def _blocks(columns: Sequence[TableColumn], width: int) -> list[list[TableColumn]]:
    """Columns in runs that fit the width; at least one column each."""
    blocks: list[list[TableColumn]] = [[]]
    room = width
    for column in columns:
        if blocks[-1] and column.width > room:
            blocks.append([])
            room = width
        blocks[-1].append(column)
        room -= column.width + GAP
    return blocks
