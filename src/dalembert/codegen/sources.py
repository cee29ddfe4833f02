"""Source code of compiled quantities for other programs: text of files by their names, and the
files.
"""

from __future__ import annotations

import hashlib
import textwrap
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from dalembert.arguments import check_choice, path_of, refused
from dalembert.codegen.program import Program, results_and_status
from dalembert.codegen.targets.registry import TARGETS
from dalembert.codegen.targets.text import identifiers
from dalembert.errors import DalembertError, UnknownNameError
from dalembert.whole_files import whole_file

TESTED, SEED = 10, 0  # states that a test is made with
WIDTH = 110  # columns of a comment
LONGEST = 40  # characters of a prefix: names of files end at 255
DIGITS = 8  # digits that stand for the end of a longer name

DOUBTS = (
    "Status 1 + k: the inertia about entry k of qd, the first such, is divided by and not "
    "positive beyond doubt; status -1 - k: the quaternion that starts at entry k of q is not of "
    "unit length."
)

Vectors = Mapping[str, np.ndarray]


class Described(NamedTuple):
    """A program, lines about it for its reader, and inputs to test it with (rows, n), by name;
    others are drawn.
    """

    program: Program
    notes: Sequence[str]
    vectors: Vectors


def checked_names(names: Any) -> list[str]:
    """Names of quantities in order, each once.

    Raises
    ------
    UnknownNameError, TypeError, ValueError
        There is a text in place of a list; there is no list of texts; there is no name.
    """
    if isinstance(names, str):
        raise UnknownNameError("list of quantities", names, (f"[{names!r}]",))
    names = list(names) if isinstance(names, Iterable) else [names]
    if not all(isinstance(name, str) for name in names):
        raise refused("names", names, "quantities, as ['mass_matrix', 'jacobian:tool']")
    found = list(dict.fromkeys(names))
    if not found:
        raise ValueError(
            "names is empty: expected quantities, as ['mass_matrix', 'jacobian:tool']."
        )
    return found


def texts(functions: Mapping[str, Described], target: str, prefix: str) -> dict[str, str]:
    """Text of the files of some functions by file name; public names begin with the prefix, as an
    identifier, and `_`.

    Raises
    ------
    UnknownNameError, TypeError
        There is no such target; the prefix is no text.
    """
    if not isinstance(prefix, str):
        raise refused("prefix", prefix, "a text that names begin with, or None")
    check_choice("target", target, tuple(TARGETS))
    start = f"{_identifier(prefix)}_" if prefix else ""
    found: dict[str, str] = {}
    for identifier, described in zip(identifiers(functions), functions.values(), strict=True):
        found |= TARGETS[target].files(
            described.program, identifier, described.notes, _vectors(described), start
        )
    return found


def _vectors(described: Described) -> list[np.ndarray]:
    """Test inputs of a program: the states that are known, and random numbers."""
    rng = np.random.default_rng(SEED)
    return [
        described.vectors[port.name]
        if port.name in described.vectors
        else rng.standard_normal((TESTED, port.size))
        for port in described.program.inputs
    ]


def write(folder: Any, files: Mapping[str, str], overwrite: bool = False) -> list[Path]:
    """Write files to a folder, made if need be; their paths.

    Raises
    ------
    DalembertError
        A file is there with other text, and is not to be overwritten; nothing is written then.
    """
    place = path_of("folder", folder)
    paths = {place / name: text for name, text in files.items()}
    for path, text in paths.items():
        if (
            not overwrite
            and path.exists()
            and not (path.is_file() and path.read_bytes() == text.encode("ascii"))
        ):
            raise DalembertError(
                f"{str(path)!r} is there already with other text: give another folder or prefix= "
                "(--prefix), or overwrite=True (--force)."
            )
    place.mkdir(parents=True, exist_ok=True)
    for path, text in paths.items():
        with whole_file(path, "ascii") as out:
            out.write(text)
    return list(paths)


def notes(title: str, program: Program, names: Mapping[str, Sequence[str]]) -> list[str]:
    """Notes for a reader of the code: the quantity, order of the entries of each input, meaning of
    the status.
    """
    vectors: dict[tuple[str, ...], list[str]] = {}
    for port in program.inputs:
        if port.name in names:
            vectors.setdefault(tuple(names[port.name]), []).append(port.name)
    lines = textwrap.wrap(title, WIDTH, subsequent_indent="  ")
    for entries, ports in vectors.items():
        lines += textwrap.wrap(
            f"Entries of {', '.join(ports)}: {', '.join(entries)}.", WIDTH, subsequent_indent="  "
        )
    if results_and_status(program)[1]:
        lines += textwrap.wrap(DOUBTS, WIDTH, subsequent_indent="  ")
    return lines


def _identifier(prefix: str) -> str:
    """A prefix as an identifier; the end of a long prefix stays in digits, so that two of them stay
    two.
    """
    (found,) = identifiers([prefix[:LONGEST]])
    if len(prefix) > LONGEST:
        digits = hashlib.sha256(prefix.encode("utf-8", "surrogatepass")).hexdigest()
        found = f"{found[: LONGEST - DIGITS - 1]}_{digits[:DIGITS]}"
    return found
