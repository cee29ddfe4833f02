"""Faults of several parts of a file, told together."""

from __future__ import annotations

from collections.abc import (
    Callable,
    Iterable,
    Sequence,
)
from typing import TypeVar

from dalembert.errors import ReadError
from dalembert.model.findings import error_finding
from dalembert.model.parts import Body
from dalembert.model.validation import impossible_inertias

MAX_FAULTS = 100  # parts with a fault, after which the others are not looked at

S = TypeVar("S")
T = TypeVar("T")


class ReadFaults:
    """Collects the errors of parts that cannot be read."""

    def __init__(self) -> None:
        self.errors: list[ReadError] = []

    def each(self, read: Callable[[S], T], entries: Iterable[S]) -> list[T]:
        """The parts of entries, without those that cannot be read."""
        parts = []
        for entry in entries:
            try:
                parts.append(read(entry))
            except ReadError as error:
                self.errors.append(error)
                if len(self.errors) >= MAX_FAULTS:
                    break
        return parts

    def tell(self, bodies: Sequence[Body]) -> None:
        """Raise the first error, if there is any; all others, and inertias of the bodies that are
        impossible, are its findings.

        Raises
        ------
        ReadError
        """
        if not self.errors:
            return
        found = [*map(error_finding, self.errors), *impossible_inertias(bodies, ())]
        first = found[0]
        more = len(found) - 1
        if not more:
            raise self.errors[0]
        message = (
            f"{first.why} ({more} more: `dalembert check` lists {'them' if more > 1 else 'it'}.)"
        )
        raise ReadError(message, first.source.file, first.source.line, tuple(found))
