"""Elements of XML with their places in its text, so that few change and all else stays."""

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
from typing import NamedTuple
from xml.sax.saxutils import (
    quoteattr,
    unescape,
)

TOKEN = re.compile(
    r"""<!--.*?-->|<!\[CDATA\[.*?\]\]>|<\?.*?\?>|<(?P<end>/?)(?P<tag>[^\s/>!?]+)"""
    r"""(?P<attributes>(?:"[^"]*"|'[^']*'|[^'">])*?)(?P<empty>/?)>""",
    re.DOTALL,
)
ATTRIBUTE = re.compile(r"""(?P<name>[^\s=]+)\s*=\s*(?P<value>"[^"]*"|'[^']*')""", re.DOTALL)
QUOTES = {"&quot;": '"', "&apos;": "'"}


class Attribute(NamedTuple):
    """The value of an attribute, and where it stands with its quotes."""

    value: str
    start: int
    end: int


@dataclass
class ElementSpan:
    """An element of a text: from `start` to `end`; its first tag ends at `open_end`."""

    tag: str
    attributes: dict[str, Attribute]
    line: int
    start: int
    open_end: int
    end: int = 0
    is_empty: bool = False
    children: list[ElementSpan] = field(default_factory=list)

    def get(self, name: str) -> str | None:
        """The value of an attribute."""
        attribute = self.attributes.get(name)
        return None if attribute is None else attribute.value

    def all(self, tag: str) -> list[ElementSpan]:
        """Children of a tag."""
        return [child for child in self.children if child.tag == tag]

    def find(self, tag: str) -> ElementSpan | None:
        """The first child of a tag."""
        return next(iter(self.all(tag)), None)


def spans_of(text: str) -> ElementSpan:
    """The root element of a text that is well-formed XML without document type."""
    root: ElementSpan | None = None
    stack: list[ElementSpan] = []
    line, counted = 1, 0
    for token in TOKEN.finditer(text):
        if token["tag"] is None:
            continue
        line += text.count("\n", counted, token.start())
        counted = token.start()
        if token["end"]:
            stack.pop().end = token.end()
            continue
        element = _opened(token, line)
        if stack:
            stack[-1].children.append(element)
        root = root or element
        if not element.is_empty:
            stack.append(element)
    assert root is not None
    return root


def _opened(token: re.Match[str], line: int) -> ElementSpan:
    at = token.start("attributes")
    attributes = {
        found["name"]: Attribute(
            unescape(found["value"][1:-1], QUOTES),
            at + found.start("value"),
            at + found.end("value"),
        )
        for found in ATTRIBUTE.finditer(token["attributes"])
    }
    empty = bool(token["empty"])
    start, end = token.span()
    return ElementSpan(token["tag"], attributes, line, start, end, end if empty else 0, empty)


class TextEdits:
    """Changes of a text, by places that do not overlap."""

    def __init__(self, text: str):
        self.text = text
        self.changes: list[tuple[int, int, str]] = []
        self.removed: set[int] = set()  # starts of elements

    def set(self, element: ElementSpan, name: str, value: str) -> None:
        """Give an attribute a value; a new one comes last."""
        known = element.attributes.get(name)
        if known is not None:
            self.changes.append((known.start, known.end, quoteattr(value)))
            return
        end = element.open_end - (2 if element.is_empty else 1)
        while self.text[end - 1].isspace():
            end -= 1
        self.changes.append((end, end, f" {name}={quoteattr(value)}"))

    def remove(self, element: ElementSpan) -> None:
        """Take an element out, with its line if nothing else stands there."""
        start, end = element.start, element.end
        line_start = self.text.rfind("\n", 0, start) + 1
        line_end = self.text.find("\n", end)
        line_end = len(self.text) if line_end < 0 else line_end + 1
        if not self.text[line_start:start].strip() and not self.text[end:line_end].strip():
            start, end = line_start, line_end
        self.changes.append((start, end, ""))
        self.removed.add(element.start)

    def add(self, parent: ElementSpan, text: str) -> None:
        """Put an element into another, after its last child that stays, indented as this is."""
        if parent.is_empty:
            at = parent.open_end - 2
            self.changes.append((at, parent.open_end, f">{text}</{parent.tag}>"))
            return
        kept = [child for child in parent.children if child.start not in self.removed]
        if not kept:
            self.changes.append((parent.open_end, parent.open_end, text))
            return
        last = kept[-1]
        line_start = self.text.rfind("\n", 0, last.start) + 1
        indent = self.text[line_start : last.start]
        break_ = f"\n{indent}" if not indent.strip() else ""
        self.changes.append((last.end, last.end, break_ + text))

    def result(self) -> str:
        """The text with all changes."""
        return "".join(_joined(self.text, self.changes))


def _joined(text: str, changes: Iterable[tuple[int, int, str]]) -> Iterator[str]:
    reached = 0
    for start, end, new in sorted(changes, key=lambda change: change[:2]):
        if start < reached:  # within an element that is taken out
            continue
        yield text[reached:start]
        yield new
        reached = end
    yield text[reached:]
