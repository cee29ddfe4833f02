"""XML that is written: elements of checked texts, and their document."""

from __future__ import annotations

import re
from xml.etree import ElementTree

from dalembert.errors import ReadError

FORBIDDEN = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
INDENT = "  "


def element(tag: str, **attributes: str | None) -> ElementTree.Element:
    """An element with the attributes that are given; a name 'class_' is the attribute 'class'."""
    given = {name.rstrip("_"): text for name, text in attributes.items() if text is not None}
    for name, text in given.items():
        if FORBIDDEN.search(text):
            raise ReadError(
                f"{name} {text[:60]!r} of <{tag}> has a character that XML cannot hold. Rename it."
            )
    return ElementTree.Element(tag, given)


def below(parent: ElementTree.Element, tag: str, **attributes: str | None) -> ElementTree.Element:
    """A new element inside another."""
    child = element(tag, **attributes)
    parent.append(child)
    return child


def document(root: ElementTree.Element) -> str:
    """The text of a file."""
    ElementTree.indent(root, INDENT)
    body = ElementTree.tostring(root, encoding="unicode").replace(" />", "/>")
    return f'<?xml version="1.0"?>\n{body}\n'
