"""Line charts as SVG that take the colours of the page: time across, several curves, a legend."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from dalembert.closed_forms.printing.markup import Markup, element, joined
from dalembert.views.round_steps import round_ticks

WIDTH, HEIGHT = 460.0, 250.0  # of a chart in its own units
LEFT, RIGHT, TOP, BOTTOM = 58.0, 12.0, 14.0, 38.0  # margins around the axes
MOST_POINTS = 240  # of a curve
NOISE = 1e-10  # of the largest value of interest: variations below are drawn as nothing
DASHES = (None, "7 3", "2 3", "9 3 2 3")  # tell curves apart where colours do not


class Chart(NamedTuple):
    """Curves over time: values (K, curves), names; `scale` is the size beside which the variation
    of the values counts as noise.
    """

    title: str
    unit: str
    times: np.ndarray
    values: np.ndarray
    names: Sequence[str]
    scale: float = 0.0


class Axes(NamedTuple):
    """Window of the values, and its place in the picture."""

    across: tuple[float, float]
    up: tuple[float, float]

    def points(self, x: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Values in units of the picture."""
        (x0, x1), (y0, y1) = self.across, self.up
        right = LEFT + (x - x0) / (x1 - x0) * (WIDTH - LEFT - RIGHT)
        down = HEIGHT - BOTTOM - (y - y0) / (y1 - y0) * (HEIGHT - TOP - BOTTOM)
        return right, down


def drawn(chart: Chart) -> Markup:
    """A figure with the chart, its title and its legend."""
    axes = _axes(chart)
    label = f"{chart.title} over time: {_described(chart)}"
    picture = element(
        "svg",
        *_grid(axes, chart.unit),
        *_curves(chart, axes),
        viewBox=f"0 0 {WIDTH:g} {HEIGHT:g}",
        role="img",
        aria_label=label,
        class_="chart",
    )
    caption = element("figcaption", element("b", chart.title), f" [{chart.unit}]")
    legend = [_entry(k, name) for k, name in enumerate(chart.names)] if chart.names else []
    return element(
        "figure", caption, picture, element("ul", *legend, class_="legend") if legend else ""
    )


def _described(chart: Chart) -> str:
    """The ranges of the first curves in words."""
    names = chart.names or [chart.title]
    ranges = [
        f"{name} from {np.nanmin(column):.3g} to {np.nanmax(column):.3g} {chart.unit}"
        for name, column in zip(names, chart.values.T, strict=False)
    ]
    return "; ".join(ranges)


def _axes(chart: Chart) -> Axes:
    """A window around all values, not smaller than noise."""
    low, high = float(np.nanmin(chart.values)), float(np.nanmax(chart.values))
    least = max(NOISE * chart.scale, NOISE * max(abs(low), abs(high)), 1e-300)
    if high - low < least:
        middle = (high + low) / 2
        half = max(abs(middle) * 0.1, 10 * least)
        low, high = middle - half, middle + half
    edge = 0.05 * (high - low)
    start, end = float(chart.times[0]), float(chart.times[-1])
    return Axes((start, end if end > start else start + 1.0), (low - edge, high + edge))


def _grid(axes: Axes, unit: str) -> Iterator[Markup]:
    """Lines at the ticks, with their numbers."""
    left, right = LEFT, WIDTH - RIGHT
    top, bottom = TOP, HEIGHT - BOTTOM
    for value in round_ticks(*axes.up, 5):
        y = axes.points(np.zeros(1), np.array([value]))[1][0]
        yield element("path", d=f"M{left:.1f} {y:.1f}H{right:.1f}", class_=_line(value))
        yield element("text", _tick(value), x=f"{left - 6:.1f}", y=f"{y + 4:.1f}", class_="up")
    for value in round_ticks(*axes.across, 6):
        x = axes.points(np.array([value]), np.zeros(1))[0][0]
        yield element("path", d=f"M{x:.1f} {bottom:.1f}v4", class_="axis")
        yield element("text", _tick(value), x=f"{x:.1f}", y=f"{bottom + 17:.1f}", class_="across")
    yield element("path", d=f"M{left:.1f} {top:.1f}V{bottom:.1f}H{right:.1f}", class_="axis")
    middle = (left + right) / 2
    yield element("text", "time [s]", x=f"{middle:.1f}", y=f"{HEIGHT - 4:.1f}", class_="across")


def _line(value: float) -> str:
    return "zero" if value == 0 else "grid"


def _tick(value: float) -> str:
    return f"{value + 0.0:.4g}".replace("-", "\u2212")


def _curves(chart: Chart, axes: Axes) -> Iterator[Markup]:
    """A path for each curve."""
    every = max(1, -(-len(chart.times) // MOST_POINTS))
    times = chart.times[::every]
    for k, column in enumerate(chart.values[::every].T):
        x, y = axes.points(times, column)
        finite = np.isfinite(y)
        pairs = [f"{a:.1f} {b:.1f}" for a, b in zip(x[finite], y[finite], strict=True)]
        if pairs:
            yield element(
                "path", d="M" + "L".join(pairs), class_=f"curve c{k % 8}", stroke_dasharray=_dash(k)
            )


def _dash(k: int) -> str | None:
    return DASHES[k % len(DASHES)]


def _entry(k: int, name: str) -> Markup:
    """A line of the legend: a sample of the curve, and its name."""
    sample = element("path", d="M0 5H26", class_=f"curve c{k % 8}", stroke_dasharray=_dash(k))
    svg = element("svg", sample, viewBox="0 0 26 10", aria_hidden="true")
    return element("li", svg, name)


def charts(found: Sequence[Chart]) -> Markup:
    """Charts beside each other, as far as there is room."""
    return element("div", joined(map(drawn, found), "\n"), class_="charts")
