"""Content of files that is not read: each kind once, with its number and first place."""

from __future__ import annotations

from collections.abc import (
    Iterator,
    Mapping,
    Sequence,
)
from dataclasses import (
    dataclass,
    field,
    replace,
)
from pathlib import Path

from dalembert.model.findings import Finding
from dalembert.model.origins import Source

MAX_UNUSED = 20  # kinds of content that findings list; the rest is counted
MAX_KINDS = 1000  # kinds that are told apart while reading
SHOWN = 60  # characters of a label
OTHERS = "others"  # the label of the rest
NOT_USED = "not used"

Places = list[Source]


@dataclass
class UnreadContent:
    """Collects content that is not read.

    causes : findings without a place, as of mechanics that is lost, and the places of each
    unused : places by severity and topic, as ('note', 'not used of pictures'), then by label
    """

    causes: dict[Finding, Places] = field(default_factory=dict)
    unused: dict[tuple[str, str], dict[str, Places]] = field(default_factory=dict)

    def lose(
        self,
        what: str,
        fix: str,
        source: Source,
        why: str = "it is not read.",
        severity: str = "error",
    ) -> None:
        """Remember content that has a finding of its own, as mechanics that is lost has."""
        cause = Finding(severity, what, why, fix)
        if cause not in self.causes and len(self.causes) >= MAX_KINDS:
            cause = Finding(severity, OTHERS, why, "")
        self.causes.setdefault(cause, []).append(source)

    def leave(
        self, label: str, source: Source, severity: str = "note", topic: str = NOT_USED
    ) -> None:
        """Remember content that is listed with others."""
        labels = self.unused.setdefault((severity, topic), {})
        known = label in labels or len(labels) < MAX_KINDS
        labels.setdefault(label if known else OTHERS, []).append(source)

    def findings(self) -> Iterator[Finding]:
        """A finding for each cause; for all else, a finding for each severity and topic."""
        for severity in ("error", "warning", "note"):
            causes = [cause for cause in self.causes if cause.severity == severity]
            yield from map(self._told, causes[:MAX_UNUSED])
            if more := causes[MAX_UNUSED:]:
                what = f"{len(more)} more kinds of content"
                yield Finding(severity, what, "are not read.", "", self.causes[more[0]][0])
        for (severity, topic), labels in self.unused.items():
            yield _list_of(severity, topic, labels)

    def _told(self, cause: Finding) -> Finding:
        """The finding of a cause, with its number and first place."""
        places = self.causes[cause]
        times = f" It stands {len(places)} times." if places[1:] else ""
        return replace(cause, why=f"{cause.why}{times}", source=places[0])


def _list_of(severity: str, topic: str, labels: Mapping[str, Sequence[Source]]) -> Finding:
    """The finding on all content of a topic; its place is the first one in the first file."""
    file = next(iter(labels.values()))[0].file
    texts = [_counted(label, places, file) for label, places in labels.items()]
    more = len(texts) - MAX_UNUSED
    listed = ", ".join(texts[:MAX_UNUSED]) + (f" and {more} more kinds" if more > 0 else "")
    firsts = (places[0] for places in labels.values() if places[0].file == file)
    return Finding(severity, topic, f"{listed}.", "", min(firsts, key=lambda place: place.line))


def _counted(label: str, places: Sequence[Source], file: str) -> str:
    """A kind of content with its number and first place."""
    first = places[0]
    place = f"line {first.line}"
    if first.file != file:
        place = f"{Path(first.file).name}, {place}"
    times = f"{len(places)}, first in " if places[1:] else ""
    return f"{label[:SHOWN]} ({times}{place})"
