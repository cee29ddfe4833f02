"""Topics of content of a file that is not used: pictures, contacts, and so on."""

from __future__ import annotations

from dalembert.readers.mjcf.element_kinds import (
    ACTUATORS,
    OTHER_ACTUATORS,
)

ELEMENTS = {  # topics of elements, with all that they have
    "of pictures": "camera hfield layer light material skin statistic texture visual",
    "of contacts and soft constraints": "contact exclude pair",
    "of MuJoCo's simulation": "compiler flag lengthrange option size",
    "of actuators": " ".join((*ACTUATORS, *OTHER_ACTUATORS)),
    "of sensors and other data": "custom extension keyframe sensor",
}
ATTRIBUTES = {
    "of pictures": "castshadow group hfield material normal rgba smoothnormal texcoord width",
    "of contacts and soft constraints": (
        "adhesion condim friction gap margin priority solimp solimpfriction solimplimit solmix "
        "solref solreffriction solreflimit surfacevel torquescale"
    ),
    "of sensors and other data": "user",
}
OTHER = "of other content"


def _by_name(topics: dict[str, str]) -> dict[str, str]:
    """Topics by names of elements or attributes."""
    return {name: topic for topic, names in topics.items() for name in names.split()}


OF_ELEMENTS, OF_ATTRIBUTES = map(_by_name, (ELEMENTS, ATTRIBUTES))


def topic_of(label: str) -> str:
    """The topic of a label, as 'geom friction' or 'actuator/muscle'."""
    element, _, attribute = label.partition(" ")
    tag = element.rpartition("/")[2]
    return f"not used {OF_ELEMENTS.get(tag) or OF_ATTRIBUTES.get(attribute) or OTHER}"


def shown(label: str) -> str:
    """'<geom>' of a label 'geom', '<geom> in <spatial>' of 'spatial/geom'."""
    parent, _, tag = label.rpartition("/")
    return f"<{tag}> in <{parent}>" if parent else f"<{tag}>"
