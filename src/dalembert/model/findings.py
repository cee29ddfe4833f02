"""A finding about a mechanism or its file, and lists of them in words."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

from dalembert.errors import ModelError, ReadError
from dalembert.model.origins import NOWHERE, Source

MAX_LISTED = 5  # findings written out in one message; the rest is counted
MAX_ALIKE = 20  # findings of one cause that are told apart; more become one
VARIABLE = re.compile(
    r"'(?:[^'\\]|\\.)*'|[-+]?[0-9][0-9.e+-]*"
)  # names and numbers, in which like findings differ


@dataclass(frozen=True)
class Finding:
    """severity: 'error', 'warning' or 'note'.

    Examples
    --------
    >>> import dalembert as da
    >>> print(da.Finding("error", "body 'rod'", "its mass is negative", "give a mass above 0"))
    body 'rod': its mass is negative give a mass above 0
    """

    severity: str
    what: str
    why: str
    fix: str
    source: Source = NOWHERE

    def __str__(self) -> str:
        place = f" ({self.source})" if str(self.source) else ""
        return f"{self.what}{place}: {self.why} {self.fix}".rstrip()

    def as_dict(self) -> dict[str, Any]:
        """The finding as a dictionary, for `dalembert check --json`.

        Examples
        --------
        >>> import dalembert as da
        >>> da.Finding("note", "joint 'q1'", "it has no limits.", "").as_dict()["severity"]
        'note'
        """
        data = asdict(self)
        source = data.pop("source")
        return {
            "severity": self.severity,
            "what": self.what,
            "file": source["file"],
            "line": source["line"],
            "why": self.why,
            "fix": self.fix,
        }


def finding_of(noun: str, part: Any, why: str, fix: str, severity: str = "error") -> Finding:
    """A finding about a part of a mechanism, at the place where the part is written."""
    return Finding(severity, f"{noun} {part.name!r}", why, fix, part.source)


def error_finding(error: ModelError, file: str = "") -> Finding:
    """The finding of an error about a file, whose name counts where the error says none."""
    source = Source(error.file, error.line) if isinstance(error, ReadError) else Source(file)
    return Finding("error", "file", str(error).removeprefix(f"{source}: "), "", source)


def listed(found: Sequence[Finding]) -> str:
    """The first findings in one line; the rest is counted."""
    found = collapsed(found)
    more = len(found) - MAX_LISTED
    return "; ".join(map(str, found[:MAX_LISTED])) + (f"; and {more} more" if more > 0 else "")


def collapsed(found: Sequence[Finding]) -> list[Finding]:
    """Findings in their order; more than MAX_ALIKE of one cause become one, the first, with the
    number of the others.
    """
    causes: dict[tuple[str, str], list[Finding]] = {}
    for finding in found:
        causes.setdefault(
            (finding.severity, VARIABLE.sub("#", f"{finding.why} {finding.fix}")), []
        ).append(finding)
    result: list[Finding] = []
    for alike in causes.values():
        if len(alike) > MAX_ALIKE:
            first = alike[0]
            what = f"{first.what} and {len(alike) - 1} more alike"
            alike = [replace(first, what=what)]
        result += alike
    order = {id(finding): k for k, finding in enumerate(found)}
    return (
        sorted(result, key=lambda finding: order.get(id(finding), -1))
        if len(causes) > 1
        else result
    )
