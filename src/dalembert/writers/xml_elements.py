"""XML that is written: elements of checked texts, and their document."""

from __future__ import annotations

import re
from collections.abc import (
    Iterable,
    Iterator,
)
from dataclasses import (
    dataclass,
    field,
)
from xml.sax.saxutils import (
    escape,
    quoteattr,
)

from dalembert.errors import ReadError

FORBIDDEN = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
INDENT = "  "
MAX_INDENTED = 40  # depth up to which elements are indented: a chain of 10 000 bodies is as deep


@dataclass
class XmlElement:
    """An element of a file that is written."""

    tag: str
    attributes: dict[str, str]
    children: list[XmlElement] = field(default_factory=list)
    text: str = ""

    def add(self, tag: str, **attributes: str | None) -> XmlElement:
        """A new element inside this one, with the attributes that are given."""
        child = xml_element(tag, **attributes)
        self.children.append(child)
        return child

    def extend(self, children: Iterable[XmlElement]) -> None:
        """Put elements inside this one."""
        self.children += children

    @property
    def begin(self) -> str:
        """The tag, without its end."""
        return f"<{self.tag}" + "".join(f" {k}={quoteattr(v)}" for k, v in self.attributes.items())


def xml_element(tag: str, **attributes: str | None) -> XmlElement:
    """An element with the attributes that are given; of 'class_' the name is 'class'.

    Raises
    ------
    ReadError
        A text has a character that XML cannot hold.
    """
    given = {name.rstrip("_"): text for name, text in attributes.items() if text is not None}
    for name, text in given.items():
        if FORBIDDEN.search(text):
            raise ReadError(
                f"{name} {text[:60]!r} of <{tag}> has a character that XML cannot hold. Rename it."
            )
    return XmlElement(tag, given)


def document(root: XmlElement) -> str:
    """The text of a file."""
    return "\n".join(('<?xml version="1.0"?>', *_lines(root), ""))


def _lines(root: XmlElement) -> Iterator[str]:
    """Lines of an element, which may be nested as deeply as a chain of bodies is long."""
    stack: list[tuple[XmlElement | str, int]] = [(root, 0)]
    while stack:
        item, depth = stack.pop()
        indent = INDENT * min(depth, MAX_INDENTED)
        if isinstance(item, str):
            yield indent + item
        elif item.text:
            yield f"{indent}{item.begin}>{escape(item.text)}</{item.tag}>"
        elif not item.children:
            yield f"{indent}{item.begin}/>"
        else:
            yield f"{indent}{item.begin}>"
            stack.append((f"</{item.tag}>", depth))
            stack += [(child, depth + 1) for child in reversed(item.children)]
