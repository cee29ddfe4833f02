"""Fonts of pictures, for letters of all scripts."""

from __future__ import annotations

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
