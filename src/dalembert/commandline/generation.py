"""Source code of a mechanism's functions, for `dalembert codegen`."""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
from rich.console import Console

from dalembert.codegen import c, numpy_source
from dalembert.codegen.program import STATUS, Program
from dalembert.codegen.rolled import Rolled
from dalembert.codegen.text import identifiers
from dalembert.commandline.output import line
from dalembert.compiled.quantities import traced
from dalembert.model.mechanism import Mechanism

WIDTH = 110      # columns of a comment
Notes = Sequence[str]


def write(out: Console, mechanism: Mechanism, target: str, functions: Sequence[str], folder: Path) -> None:
    """Write the files of each function to the folder and print their names.

    Raises
    ------
    UnknownNameError, OSError
        A quantity or frame is unknown; a file cannot be written. Nothing is written before all code is generated.
    """
    functions = list(dict.fromkeys(name.strip() for name in functions))
    programs = {name: traced(mechanism, [name]) for name in functions}
    texts: dict[str, str] = {}
    for name, identifier in zip(functions, identifiers(functions), strict=True):
        texts |= TARGETS[target](mechanism, programs[name], identifier, _notes(mechanism, programs[name], name))
    folder.mkdir(parents=True, exist_ok=True)
    for file, text in texts.items():
        (folder / file).write_text(text, encoding="ascii", newline="\n")
        line(out, folder / file)


def _c(mechanism: Mechanism, program: Program | Rolled, name: str, notes: Notes) -> dict[str, str]:
    pairs = [mechanism.random_state(seed) for seed in range(c.VECTORS)]
    states = dict(zip(("q", "qd"), map(np.array, zip(*pairs, strict=True)), strict=True))
    rng = np.random.default_rng(c.SEED)
    vectors = [states.get(port.name, rng.standard_normal((c.VECTORS, port.size))) for port in program.inputs]
    return c.files(program, name, notes, vectors)


def _numpy(mechanism: Mechanism, program: Program | Rolled, name: str, notes: Notes) -> dict[str, str]:
    return {f"{name}.py": numpy_source.source(program, name, notes)}


TARGETS: dict[str, Callable[[Mechanism, Program | Rolled, str, Notes], dict[str, str]]] = {"c": _c, "numpy": _numpy}


def _notes(mechanism: Mechanism, program: Program | Rolled, function: str) -> list[str]:
    """What a reader of the code needs: function, mechanism, units, order of the entries."""
    names = {"q": mechanism.coordinate_names, **dict.fromkeys(("qd", "qdd", "tau"), mechanism.velocity_names)}
    vectors: dict[tuple[str, ...], list[str]] = {}
    for port in program.inputs:
        vectors.setdefault(tuple(names[port.name]), []).append(port.name)
    notes = [f"{function} of the mechanism '{mechanism.name}'; SI units, angles in radians."]
    for entries, ports in vectors.items():
        notes += textwrap.wrap(f"Entries of {', '.join(ports)}: {', '.join(entries)}.", WIDTH, subsequent_indent="  ")
    if any(port.name == STATUS for port in program.outputs):
        notes += textwrap.wrap(
            f"{STATUS}: 0 where the results are valid; 1 + k where the inertia about entry k of qd, the first such, is not "
            "positive beyond doubt; -1 - k where the quaternion at entry k of q is not of unit length.", WIDTH,
            subsequent_indent="  ")
    return notes
