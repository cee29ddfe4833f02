"""How a run was called, as its folder keeps it: a run goes on only as it began."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np

from dalembert.errors import DalembertError, DamagedStoreError
from dalembert.model.content import content
from dalembert.results import storage, store_folder
from dalembert.results.recorder import ARGUMENTS

CALLED = ("arguments", "kinds", "functions")  # its parts
WITHOUT = (
    "mechanism",
    "store",
    "resume",
    "threads",
    "progress",
)  # of the arguments: what a run does not depend on


def plain(mechanism: Any, arguments: dict[str, Any], kinds: dict[str, str]) -> dict[str, Any]:
    """The arguments of `simulate` as JSON has them; of forces how they are evaluated, and what the
    mechanism is.
    """
    found = {
        name: np.asarray(value).tolist()
        for name, value in arguments.items()
        if name not in WITHOUT and (name not in kinds or kinds[name] == "constant")
    }
    functions = {
        name: content(value)
        for name, value in arguments.items()
        if name in kinds and callable(value)
    }
    known = {
        "arguments": found,
        "kinds": kinds,
        "mechanism": content(mechanism),
        "functions": functions,
    }
    return json.loads(
        json.dumps(known, default=lambda value: getattr(value, "__name__", type(value).__name__))
    )


def compare(path: Path, called: dict[str, Any]) -> None:
    """See that a run was called in the same way."""
    stored = _called(path)
    for name in {**stored["kinds"], **called["kinds"]}:
        before, now = (kinds.get(name, "none") for kinds in (stored["kinds"], called["kinds"]))
        if before != now:
            raise DalembertError(
                f"{str(path)!r} was simulated with {name} that was {before}, not {now}: give the "
                "same again."
            )
    other = [
        name
        for name in {**called["arguments"], **stored["arguments"]}
        if called["arguments"].get(name) != stored["arguments"].get(name)
    ]
    other += ["mechanism"] if called["mechanism"] != stored["mechanism"] else []
    for name, text in called[
        "functions"
    ].items():  # None where a function cannot be told from others
        before = stored.get("functions", {}).get(name)
        other += [name] if None not in (text, before) and text != before else []
    if other:
        raise DalembertError(
            f"{str(path)!r} was simulated with another {', '.join(sorted(other))}: it goes on only "
            "as it began. Give another name, or remove it."
        )


def stored_arguments(folder: Any) -> dict[str, Any]:
    """The arguments that the run in a folder was called with, but for functions."""
    path = storage.folder_of(folder)
    if not path.exists():
        raise DalembertError(f"there is no run {str(path)!r}.")
    return dict(_called(path)["arguments"])


def _called(path: Path) -> dict[str, Any]:
    storage.require(".zarr")
    attributes = storage.group_of(store_folder.opened(path)).attrs
    if ARGUMENTS not in attributes:
        raise DalembertError(
            f"{str(path)!r} is no run of simulate(store=...): there is nothing to go on with."
        )
    called = attributes[ARGUMENTS]
    if not (
        isinstance(called, dict) and all(isinstance(called.get(part), dict) for part in CALLED)
    ):
        raise DamagedStoreError(
            f"{str(path)!r} is damaged: how the run was called is not as it was written.", str(path)
        )
    return called
