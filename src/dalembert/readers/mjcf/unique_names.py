"""Names of parts, each once."""

from __future__ import annotations

from collections.abc import Iterable


class UniqueNames:
    """Names of one kind, each once."""

    def __init__(self, taken: Iterable[str]):
        self.taken = {*taken}

    def new(self, name: str) -> str:
        """The name, with a number behind it where it is taken."""
        unique, k = name, 2
        while unique in self.taken:
            unique, k = f"{name}_{k}", k + 1
        self.taken.add(unique)
        return unique
