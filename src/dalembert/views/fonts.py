"""Letters in pictures: whichever fonts are installed, and what no font can show spelled out."""

from __future__ import annotations

import html

from dalembert.results.labels import library

EXTRA = "plot"
FONTS = (
    "DejaVu Sans",
    "Noto Sans",
    "Noto Sans CJK SC",
    "Noto Sans CJK JP",
    "Source Han Sans SC",
    "WenQuanYi Zen Hei",
    "WenQuanYi Micro Hei",
    "Droid Sans Fallback",
    "Microsoft YaHei",
    "SimHei",
    "PingFang SC",
    "Hiragino Sans GB",
    "Yu Gothic",
    "Malgun Gothic",
    "Arial Unicode MS",
)  # for letters of all scripts


def fonts() -> list[tuple[str, set[int]]]:
    """Fonts of `FONTS` that are installed, with the letters they have."""
    manager = library("matplotlib.font_manager", EXTRA)
    there = set(manager.get_font_names())
    return [
        (name, set(manager.get_font(manager.findfont(name)).get_charmap()))
        for name in FONTS
        if name in there
    ]


def markup_text(text: str) -> str:
    """The text within HTML or SVG, as text, with invisible characters spelled out."""
    return html.escape(drawable(text, None))


def markup_lines(text: str) -> str:
    """Lines of text within HTML, as text."""
    return "\n".join(map(markup_text, text.splitlines()))


def drawable(text: str, letters: set[int] | None) -> str:
    """The text with what no font can show spelled out: invisible characters, and letters other than
    those there are.
    """
    return "".join(
        c
        if c.isprintable() and (letters is None or ord(c) in letters)
        else c.encode("unicode_escape").decode("ascii")
        for c in text
    )
