"""Faults of names: used twice, empty, or of parts that are not there."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import (
    Iterable,
    Iterator,
    Sequence,
)
from typing import Any

from dalembert.errors import nearest
from dalembert.model.findings import (
    MAX_LISTED,
    Finding,
)
from dalembert.model.origins import Source

MAX_NAME = 4096  # characters of a name; the longest known to us has 100
VOWELS = "aeiou"
MAX_COMPARED = 100  # characters of names compared for a hint: the time grows with their square


def nameless(noun: str, parts: Sequence[Any]) -> list[Finding]:
    """Parts whose name is empty, no text, or very long."""
    long = [part for part in parts if isinstance(part.name, str) and len(part.name) > MAX_NAME]
    return [
        Finding(
            "error",
            f"{noun} {part.name[:MAX_COMPARED]!r}...",
            f"its name has {len(part.name)} characters, the limit MAX_NAME is {MAX_NAME}.",
            "Give it a shorter name.",
            part.source,
        )
        for part in long
    ] + [
        Finding(
            "error",
            f"{'an' if noun[0] in VOWELS else 'a'} {noun} without a name",
            "its name is empty.",
            "Give it a name.",
            s,
        )
        for s in (p.source for p in parts if not isinstance(p.name, str) or not p.name.strip())
    ]


def repeated_names(noun: str, parts: Sequence[Any]) -> Iterator[Finding]:
    """Names that several parts have."""
    sources = defaultdict(list)
    for part in parts:
        sources[part.name].append(part.source)
    for name, uses in sources.items():
        if len(uses) > 1:
            lines = ", ".join(str(source) for source in uses[:MAX_LISTED] if str(source))
            why = f"the name is used {len(uses)} times" + (f" ({lines})." if lines else ".")
            yield Finding("error", f"{noun} {name!r}", why, "Rename all but one.", uses[1])


def unknown(
    what: str, noun: str, name: Any, names: Iterable[str], source: Source, hints: bool
) -> Finding:
    """The finding that a name does not exist; with a hint, which takes time, where faults are few."""
    shown = repr(name) if len(str(name)) <= MAX_COMPARED else f"{str(name)[:MAX_COMPARED]!r}..."
    why = f"it names the {noun} {shown}, which does not exist."
    return Finding("error", what, why, _hint(name, names) if hints else "", source)


def _hint(name: Any, names: Iterable[str]) -> str:
    short = [k for k in names if len(k) <= MAX_COMPARED]
    near = nearest(name, short) if isinstance(name, str) and len(name) <= MAX_COMPARED else ""
    if near:
        return f"Did you mean {near!r}?"
    return f"Known: {', '.join(map(repr, sorted(short)[:8]))}."
