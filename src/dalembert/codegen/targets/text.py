"""What targets written as text share: infix operators, identifiers, and names of files as harmless
text.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

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


def numbered(stem: str, names: Iterable[str]) -> str:
    """The stem, prolonged until none of the names is the stem and a number."""
    names = list(names)
    while any(name.startswith(stem) and name[len(stem) :].isdigit() for name in names):
        stem += stem[-1]
    return stem


def operand(x: float) -> str:
    """A finite double as Python and C99 read it back, in parentheses if it has a sign."""
    return f"({x!r})" if repr(x).startswith("-") else repr(x)


def known_as(identifier: str, name: str) -> str:
    """The identifier, and the name that it stands for if that is another."""
    return identifier if identifier == name else f"{identifier} ('{name}')"


def plain(text: str) -> str:
    """The text as one line of ASCII, the rest as Python's escapes."""
    return text.encode("unicode_escape").decode("ascii")
