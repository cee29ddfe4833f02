"""Elements of HTML and SVG, in which every text that is no markup yet is escaped."""

from __future__ import annotations

from html import escape
from typing import Any

from dalembert.displays import visible

VOID = frozenset(("br", "hr", "img", "input", "link", "meta"))  # elements without an end


def html_text(text: object) -> str:
    """Any text for HTML and SVG; letters that cannot be seen are spelled out.

    Examples
    --------
    >>> html_text("<b>arm</b>")
    '&lt;b&gt;arm&lt;/b&gt;'
    """
    return escape(visible(text))


def html_lines(text: str) -> str:
    """Lines of any text for HTML."""
    return "\n".join(map(html_text, text.splitlines()))


class Markup(str):
    """A text that is HTML or SVG already."""

    __slots__ = ()


def escaped(child: Any) -> Markup:
    """A child of an element: markup as it is, all else as escaped text."""
    return child if isinstance(child, Markup) else Markup(html_text(child))


def joined(children: Any, between: str = "") -> Markup:
    """Children side by side."""
    return Markup(between.join(map(escaped, children)))


def element(tag: str, *children: Any, **attributes: Any) -> Markup:
    """An element; `class_` is the attribute class, `aria_label` aria-label; None leaves an
    attribute out, True gives it no value.
    """
    start = f"<{tag}{''.join(_attribute(*pair) for pair in attributes.items())}>"
    if tag in VOID:
        return Markup(start)
    return Markup(f"{start}{joined(children)}</{tag}>")


def _attribute(name: str, value: Any) -> str:
    if value is None or value is False:
        return ""
    written = name.rstrip("_").replace("_", "-")
    return f" {written}" if value is True else f' {written}="{html_text(value)}"'
