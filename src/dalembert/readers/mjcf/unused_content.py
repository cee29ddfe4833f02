"""Findings about content of a file that is not used, by topic."""

from __future__ import annotations

from collections.abc import (
    Iterator,
    Mapping,
    Sequence,
)
from pathlib import Path

from dalembert.model.findings import Finding
from dalembert.model.origins import Source
from dalembert.readers.mjcf.canonical_xml import CanonicalModel
from dalembert.readers.mjcf.element_kinds import (
    ACTUATORS,
    LOST,
    OTHER_ACTUATORS,
)

MAX_UNUSED = 20  # kinds of content listed in one finding

ELEMENTS = {  # topics of elements, with all that they have
    "pictures": "camera hfield layer light material skin statistic texture visual",
    "contacts": "contact exclude pair",
    "simulation": "compiler flag lengthrange option size",
    "actuators": " ".join((*ACTUATORS, *OTHER_ACTUATORS)),
    "data": "custom extension keyframe sensor",
}
ATTRIBUTES = {
    "pictures": "castshadow group hfield material normal rgba smoothnormal texcoord width",
    "contacts": (
        "adhesion condim friction gap margin priority solimp solimpfriction solimplimit solmix "
        "solref solreffriction solreflimit surfacevel torquescale"
    ),
    "data": "user",
}
TOPICS = {
    "pictures": "of pictures",
    "contacts": "of contacts and soft constraints",
    "simulation": "of MuJoCo's simulation",
    "actuators": "of actuators",
    "data": "of sensors and other data",
    "": "of other content",
}


def unused_content(canonical: CanonicalModel) -> Iterator[Finding]:
    """An error for each kind of mechanics that is lost, a note for each topic of all else."""
    for label, sources in canonical.lost.items():
        why = "it is not read." + (f" It stands {len(sources)} times." if sources[1:] else "")
        yield Finding("error", _shown(label), why, LOST[label], sources[0])
    by_topic: dict[str, dict[str, list[Source]]] = {topic: {} for topic in TOPICS}
    for label, sources in canonical.unused.items():
        by_topic[_topic(label)][label] = sources
    for topic, unused in by_topic.items():
        if unused:
            yield _note(TOPICS[topic], unused)


def _topic(label: str) -> str:
    """The topic of a label, as 'geom friction' or 'actuator/muscle'."""
    element, _, attribute = label.partition(" ")
    tag = element.rpartition("/")[2]
    for topic, tags in ELEMENTS.items():
        if tag in tags.split():
            return topic
    for topic, names in ATTRIBUTES.items():
        if attribute in names.split():
            return topic
    return ""


def _note(topic: str, unused: Mapping[str, Sequence[Source]]) -> Finding:
    """The note on all content of a topic."""
    file = next(iter(unused.values()))[0].file
    texts = [_counted(label, sources, file) for label, sources in unused.items()]
    more = len(texts) - MAX_UNUSED
    listed = ", ".join(texts[:MAX_UNUSED]) + (f" and {more} more kinds" if more > 0 else "")
    first = min((s[0] for s in unused.values() if s[0].file == file), key=lambda s: s.line)
    return Finding("note", f"not used {topic}", f"{listed}.", "", first)


def _counted(label: str, sources: Sequence[Source], file: str) -> str:
    """A kind of content with its number and first place."""
    first = sources[0]
    place = f"line {first.line}"
    if first.file != file:
        place = f"{Path(first.file).name}, {place}"
    times = f"{len(sources)}, first in " if sources[1:] else ""
    return f"{_shown(label)} ({times}{place})"


def _shown(label: str) -> str:
    """'<geom>' of a label 'geom', '<geom> in <spatial>' of 'spatial/geom'."""
    parent, _, tag = label.rpartition("/")
    return f"<{tag}> in <{parent}>" if parent else f"<{tag}>"
