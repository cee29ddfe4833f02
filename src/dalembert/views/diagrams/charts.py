"""Diagrams as SVG without other libraries, in the colour of the text around them: for notebooks,
reports and the viewer.
"""

from __future__ import annotations

from collections.abc import (
    Iterator,
    Sequence,
)

import numpy as np

from dalembert.closed_forms.printing.markup import (
    Markup,
    element,
    joined,
)
from dalembert.closed_forms.printing.number_text import number
from dalembert.displays import shortened
from dalembert.views.diagrams.panels import Panel
from dalembert.views.round_steps import round_ticks

# A contrast of 3 and more on white and on dark grey; within each half of them people with deficient
# colour vision tell them apart, and the second half is dashed.
CURVES = (
    "#3a6fdb",
    "#e4620c",
    "#1f9f69",
    "#b9449f",
    "#a98630",
    "#8468e6",
    "#a25a4e",
    "#1886b4",
)
DASHES = "6 3"
WIDTH, HEIGHT = 360.0, 170.0  # of a diagram in its own units
LEFT, RIGHT, TOP, BOTTOM = 52.0, 20.0, 8.0, 22.0  # free around the curves
TICKS = 5  # along an axis, about
MOST_POINTS = 300  # of a curve
MOST_TOGETHER = 12  # trajectories
NARROW = 1e-9  # range of an axis, of its values: below it the curve is a level line
FAINT = 0.16  # opacity of lines behind the curves


def chart(panel: Panel, width: float = WIDTH, height: float = HEIGHT) -> Markup:
    """A panel as a figure of HTML: title, diagram, names of the curves.

    Examples
    --------
    >>> import dalembert as da
    >>> from dalembert.views.diagrams.panels import PanelData
    >>> run = da.simulate(da.planar_chain(1), [0.5], [0.0], 0.1)
    >>> chart(PanelData(run).panels(["q"])[0]).startswith("<figure")
    True
    """
    parts = title(panel), chart_svg(panel, width, height), legend(panel)
    return element("figure", *parts, style="margin:0")


def title(panel: Panel) -> Markup:
    """The quantity, its unit, and how many of its trajectories are drawn."""
    noun, bracket, unit = panel.up.partition(" [")
    few = f", the first {MOST_TOGETHER} trajectories" if len(panel.y) > MOST_TOGETHER else ""
    return element("figcaption", element("b", noun), f"{bracket}{unit}{few}")


def chart_svg(panel: Panel, width: float = WIDTH, height: float = HEIGHT) -> Markup:
    """The curves of a panel between their axes, as wide as there is room."""
    axes = ChartAxes(panel, width, height)
    return element(
        "svg",
        *axes.grid(),
        *axes.curves(),
        viewBox=f"0 0 {width:g} {height:g}",
        role="img",
        aria_label=f"{panel.up} over {panel.across}{_ranges(panel)}",
        font_family="system-ui,sans-serif",
        font_size="11",
        fill="currentColor",
        style="display:block;width:100%;height:auto",
    )


def _ranges(panel: Panel) -> str:
    """The ranges of the curves in words."""
    if panel.noise is not None or not np.isfinite(panel.y).any(axis=(0, 1)).all():
        return ""
    least, most = np.nanmin(panel.y, axis=(0, 1)), np.nanmax(panel.y, axis=(0, 1))
    words = [
        f"{shortened(name)} from {number(low, 3)} to {number(high, 3)}"
        for name, low, high in zip(panel.names, least, most, strict=False)
    ]
    return f": {'; '.join(words)}" if words else ""


class ChartAxes:
    """The axes of a diagram: values as units of the picture."""

    def __init__(self, panel: Panel, width: float, height: float):
        self.panel, self.width, self.height = panel, width, height
        y = panel.y[:MOST_TOGETHER]
        self.y = np.where(np.isfinite(y), y, np.nan) if panel.noise is None else 0 * y
        self.x = np.broadcast_to(panel.x[:MOST_TOGETHER], y.shape)
        scale = panel.scale if panel.noise is not None else None
        self.low_x, self.high_x = _range(self.x, 0.0)
        self.low, self.high = (-scale, scale) if scale else _range(self.y, 0.05)

    def right(self, x: np.ndarray) -> np.ndarray:
        """Units from the left."""
        part = (x - self.low_x) / (self.high_x - self.low_x)
        return LEFT + part * (self.width - LEFT - RIGHT)

    def down(self, y: np.ndarray) -> np.ndarray:
        """Units from the top."""
        part = (y - self.low) / (self.high - self.low)
        return self.height - BOTTOM - part * (self.height - TOP - BOTTOM)

    def grid(self) -> Iterator[Markup]:
        """Lines and numbers at round values; the line of 0 is a little stronger."""
        end, bottom = self.width - RIGHT, self.height - BOTTOM
        ticks = round_ticks(self.low, self.high, TICKS)
        for value, written in zip(ticks, _written(ticks), strict=True):
            y = float(self.down(np.array(value)))
            yield _line(f"M{LEFT:g} {y:.1f}H{end:g}", 2.5 * FAINT if value == 0 else FAINT)
            yield element("text", written, x=f"{LEFT - 6:g}", y=f"{y + 4:.1f}", text_anchor="end")
        ticks = round_ticks(self.low_x, self.high_x, TICKS)
        for value, written in zip(ticks, _written(ticks), strict=True):
            x = float(self.right(np.array(value)))
            yield _line(f"M{x:.1f} {TOP:g}V{bottom:g}", FAINT)
            unit = f" {self._unit()}" if value == ticks[-1] else ""
            yield element(
                "text", written + unit, x=f"{x:.1f}", y=f"{bottom + 15:g}", text_anchor="middle"
            )
        if self.panel.noise is not None:
            words = f"0 within rounding, at most {number(self.panel.noise, 1)}"
            yield element("text", words, x=f"{LEFT + 8:g}", y=f"{TOP + 14:g}", opacity=".75")

    def _unit(self) -> str:
        """The unit across."""
        return self.panel.across.partition("[")[2].rstrip("]")

    def curves(self) -> Iterator[Markup]:
        """A line for each entry of each trajectory, above broad and pale ones of references."""
        if self.panel.reference is not None:
            times, values = self.panel.reference
            for k, column in enumerate(values.T):
                inside = (column >= self.low) & (column <= self.high)
                x, y = self.right(times[inside]), self.down(column[inside])
                yield curve(x, y, k, stroke_dasharray=None, stroke_width="5", opacity=".3")
        count, records, entries = self.y.shape
        kept = np.unique(np.linspace(0, records - 1, MOST_POINTS).round().astype(int))
        opacity = "1" if count == 1 else ".5"
        for n in range(count):
            for k in range(entries):
                x, y = self.right(self.x[n, kept, k]), self.down(self.y[n, kept, k])
                yield curve(x, y, k, stroke_width="1.7", opacity=opacity)


def _line(way: str, opacity: float) -> Markup:
    """A thin line behind the curves."""
    return element("path", d=way, stroke="currentColor", stroke_opacity=f"{opacity:g}")


def _written(ticks: Sequence[float]) -> list[str]:
    """Round values in as many digits as tell them apart."""
    if len(ticks) < 2:
        return [number(tick, 6) for tick in ticks]
    largest = max(abs(ticks[0]), abs(ticks[-1]))
    digits = 1 + round(np.log10(max(largest / (ticks[1] - ticks[0]), 1.0)) + 0.5)
    return [number(tick, digits) for tick in ticks]


def curve(x: np.ndarray, y: np.ndarray, k: int, **style: str | None) -> Markup:
    """The line of entry k through the points that are numbers."""
    is_dashed = k % len(CURVES) >= len(CURVES) // 2
    style = {"stroke_dasharray": DASHES if is_dashed else None, **style}
    pairs = zip(x.tolist(), y.tolist(), strict=True)
    return element(
        "polyline",
        points=" ".join(f"{a:.1f},{b:.1f}" for a, b in pairs if b == b),
        fill="none",
        stroke=CURVES[k % len(CURVES)],
        stroke_linejoin="round",
        **style,
    )


def _range(values: np.ndarray, margin: float) -> tuple[float, float]:
    """The range of values with a margin; about a level line it is as wide as its value."""
    finite = values[np.isfinite(values)]
    if not len(finite):
        return -1.0, 1.0
    low, high = float(finite.min()), float(finite.max())
    size = max(abs(low), abs(high))
    edge = margin * (high - low)
    if high - low <= NARROW * size or high == low:
        edge = 0.5 * size or 1.0
    return low - edge, high + edge


def legend(panel: Panel, values: Sequence[float] | None = None) -> Markup:
    """Names of the entries beside pieces of their curves, and the values that they have."""
    if not len(panel.names):
        return Markup("")
    said = [""] * len(panel.names) if values is None else [number(x, 3) for x in values]
    names = [shortened(name) for name in panel.names]
    items = [
        element(
            "li",
            _sample(k),
            name,
            element("b", value, style="font-weight:600;margin-left:.5em") if value else "",
            style="white-space:nowrap",
        )
        for k, (name, value) in enumerate(zip(names, said, strict=True))
    ]
    style = (
        "display:flex;flex-wrap:wrap;gap:.1em 1.1em;list-style:none;margin:.2em 0 0;"
        f"padding:0 0 0 {100 * LEFT / WIDTH:.0f}%;font-size:.85em"
    )
    return element("ul", *items, style=style)


def _sample(k: int) -> Markup:
    """A piece of a curve."""
    line = curve(np.array([0.0, 22.0]), np.array([5.0, 5.0]), k, stroke_width="2.2")
    style = "width:22px;height:10px;margin-right:.4em"
    return element("svg", line, viewBox="0 0 22 10", aria_hidden="true", style=style)


def charts(panels: Sequence[Panel], width: float = WIDTH, height: float = HEIGHT) -> Markup:
    """Diagrams beside each other, as far as there is room."""
    return joined([chart(panel, width, height) for panel in panels], "\n")
