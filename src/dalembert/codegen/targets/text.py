"""Common parts of targets written as text: infix operators, identifiers, and names of files as
harmless text.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import prod
from typing import NamedTuple

from dalembert.codegen.program import REPEATS, Loop, Program
from dalembert.expr.identifiers import safe_identifiers

INFIX = {
    "add": "+",
    "sub": "-",
    "mul": "*",
    "div": "/",
    "less": "<",
    "less_equal": "<=",
    "equal": "==",
}


def identifiers(names: Iterable[str], taken: Sequence[str] = ()) -> list[str]:
    """Safe identifiers of the names in order, also of equal ones; none of them is a taken word."""
    labels = list(taken)
    for name in names:
        while name in labels:
            name += "_"  # dropped again from the identifier, which gets a number instead
        labels.append(name)
    safe = safe_identifiers(labels)
    return [safe[label] for label in labels[len(taken) :]]


class ArrayArgument(NamedTuple):
    """An input or result of a written function; records are one for each goal."""

    identifier: str
    name: str
    shape: tuple[int, ...]
    records: bool = False

    @property
    def size(self) -> int:
        """Number of entries, of one record if there are several."""
        return prod(self.shape)


def parameters(
    program: Program, identifiers: Sequence[str], results: Sequence[int]
) -> tuple[list[ArrayArgument], list[ArrayArgument]]:
    """Inputs, and results of these numbers, by their identifiers."""
    inputs = zip(identifiers, program.inputs, strict=False)
    outputs = [(program.results[k], k < len(program.records)) for k in results]
    named = zip(identifiers[len(program.inputs) :], outputs, strict=True)
    return (
        [ArrayArgument(x, r.name, r.shape) for x, r in inputs],
        [ArrayArgument(x, r.name, r.shape, many) for x, (r, many) in named],
    )


def numbered(stem: str, names: Iterable[str]) -> str:
    """The stem, prolonged until none of the names is the stem and a number."""
    names = list(names)
    while any(name.startswith(stem) and name[len(stem) :].isdigit() for name in names):
        stem += stem[-1]
    return stem


def beside(program: Program) -> dict[str, str]:
    """Arguments of a written function behind its inputs, as far as a program needs them, and
    sentences about them: goals, number of repeats, functions outside.
    """
    found = {"goals": "numbers that records are made for"} if program.goals else {}
    items = program.every_item
    if any(isinstance(item, Loop) and item.most == REPEATS for item in items):
        found["repeats"] = "turns of loops whose number is not fixed"
    for callback in program.callbacks:
        sizes = ", ".join(str(register.size) for register in callback.takes[1:])
        about = f"function of a number and vectors of {sizes}, gives {callback.gives.size} numbers"
        found[f"call_{callback.function + 1}"] = about
    return found


def operand(x: float) -> str:
    """A finite double as Python and C99 read it back, in parentheses if it has a sign."""
    return f"({x!r})" if repr(x).startswith("-") else repr(x)


def known_as(identifier: str, name: str) -> str:
    """The identifier, and the name that it stands for if that is another."""
    return identifier if identifier == name else f"{identifier} ('{name}')"


def plain(text: str) -> str:
    """The text as one line of ASCII, the rest as Python's escapes."""
    return text.encode("unicode_escape").decode("ascii")
