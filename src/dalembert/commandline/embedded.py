"""The embedded robots as a table."""

from __future__ import annotations

from collections import Counter
from typing import Any

from rich.console import Console

from dalembert import data
from dalembert.commandline.loading import load
from dalembert.commandline.output import TableColumn, left, line, show_table
from dalembert.model.mechanism import Mechanism


def overview() -> list[dict[str, Any]]:
    """Name, coordinates, joints, description, licence, origin and file of each robot."""
    return [_entry(name) for name in data.names()]


def show_robots(out: Console) -> None:
    """Print the robots, a line each."""
    entries = overview()
    columns = {key: [str(entry[key]) for entry in entries] for key in entries[0]}
    numbers = [TableColumn(key, columns[key]) for key in ("nq", "nv")]
    texts = [left(key, columns[key]) for key in ("joints", "about", "licence", "origin")]
    show_table(out, [left("name", columns["name"], "bold")], [*numbers, *texts])
    line(out)
    line(out, "`dalembert info NAME` shows one; in Python da.load(NAME), and da.data.path(NAME).")


def _entry(name: str) -> dict[str, Any]:
    robot = data.about(name)
    mechanism = load(data.path(name), quiet=True)
    return {
        "name": name,
        "nq": mechanism.nq,
        "nv": mechanism.nv,
        "joints": _joints(mechanism),
        "about": robot.about,
        "licence": robot.licence,
        "origin": robot.origin,
        "file": str(data.path(name)),
    }


def _joints(mechanism: Mechanism) -> str:
    """Moving joints by type, as '7R 2P'."""
    letters = Counter(
        joint.type.name[0].upper() for joint in mechanism.joints if not joint.is_fixed
    )
    return " ".join(f"{count}{letter}" for letter, count in letters.items())
