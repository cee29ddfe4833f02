"""Diagrams as SVG without other libraries, small enough for notebooks: curves, ticks, names."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from dalembert.views.diagrams.panels import Panel
from dalembert.views.fonts import markup_text
from dalembert.views.pictures.svg_labels import shortened
from dalembert.views.round_steps import round_ticks

# Colours that stand out from light and from dark paper.
CURVES = (
    "#4383c4",
    "#e08a3c",
    "#3fa652",
    "#d8554f",
    "#9a68c0",
    "#9c7a63",
    "#d873b8",
    "#7f8c98",
)
WIDTH, HEIGHT = 330, 190  # of a diagram [pixels]
LEFT, RIGHT, TOP, BOTTOM = 52, 10, 40, 24  # free around the curves
TICKS = 4  # along an axis
MOST_POINTS = 300  # of a curve
MOST_TOGETHER = 12  # trajectories
NARROW = 1e-9  # range of an axis, of its values: below it the curve is a level line


def chart_svg(panel: Panel, width: float = WIDTH, height: float = HEIGHT) -> str:
    """A panel as an SVG within HTML, in the colour of the text around it.

    Examples
    --------
    >>> import dalembert as da
    >>> from dalembert.views.diagrams.panels import PanelData
    >>> run = da.simulate(da.planar_chain(1), [0.5], [0.0], 0.1)
    >>> chart_svg(PanelData(run).panels(["q"])[0]).startswith("<svg")
    True
    """
    frame = ChartFrame(panel, width, height)
    title = markup_text(panel.up)
    return "".join(
        [
            f'<svg viewBox="0 0 {width:g} {height:g}" width="{width:g}" height="{height:g}" '
            f'role="img" aria-label="{title} over {markup_text(panel.across)}" '
            'font-family="system-ui,sans-serif" font-size="11" fill="currentColor">',
            f'<text x="4" y="13" font-size="12">{title}</text>',
            *frame.grid(),
            *frame.curves(),
            *_names(panel, width),
            "</svg>",
        ]
    )


class ChartFrame:
    """The axes of a chart: values as pixels."""

    def __init__(self, panel: Panel, width: float, height: float):
        self.panel, self.width, self.height = panel, width, height
        y = panel.y[:MOST_TOGETHER]
        self.y = np.where(np.isfinite(y), y, np.nan) if panel.noise is None else 0 * y
        self.x = np.broadcast_to(panel.x[:MOST_TOGETHER], y.shape)
        scale = panel.scale if panel.noise is not None else None
        self.low_x, self.high_x = _range(self.x)
        self.low, self.high = (-scale, scale) if scale else _range(self.y)

    def right(self, x: np.ndarray) -> np.ndarray:
        """Pixels from the left."""
        part = (x - self.low_x) / (self.high_x - self.low_x)
        return LEFT + part * (self.width - LEFT - RIGHT)

    def down(self, y: np.ndarray) -> np.ndarray:
        """Pixels from the top."""
        part = (y - self.low) / (self.high - self.low)
        return self.height - BOTTOM - part * (self.height - TOP - BOTTOM)

    def grid(self) -> Iterator[str]:
        """Lines and numbers at round values."""
        end = self.width - RIGHT
        for value in round_ticks(self.low, self.high, TICKS):
            y = float(self.down(np.array(value)))
            yield (
                f'<path stroke="currentColor" stroke-opacity=".15" d="M{LEFT} {y:.1f}H{end:g}"/>'
                f'<text x="{LEFT - 6}" y="{y + 4:.1f}" text-anchor="end">{value:.6g}</text>'
            )
        bottom = self.height - BOTTOM
        for value in round_ticks(self.low_x, self.high_x, TICKS):
            x = float(self.right(np.array(value)))
            yield (
                f'<path stroke="currentColor" stroke-opacity=".15" d="M{x:.1f} {TOP}V{bottom:g}"/>'
                f'<text x="{x:.1f}" y="{bottom + 15:g}" text-anchor="middle">{value:.6g}</text>'
            )
        unit = self.panel.across.partition("[")[2].rstrip("]")
        yield f'<text x="4" y="{bottom + 15:g}">{markup_text(unit)}</text>'

    def curves(self) -> Iterator[str]:
        """A line for each entry of each trajectory; references are dashed."""
        count, records, entries = self.y.shape
        kept = np.unique(np.linspace(0, records - 1, MOST_POINTS).round().astype(int))
        opacity = 1.0 if count == 1 else 0.5
        for n in range(count):
            for k in range(entries):
                x, y = self.right(self.x[n, kept, k]), self.down(self.y[n, kept, k])
                yield _curve(x, y, k, f' stroke-width="1.6" opacity="{opacity}"')
        if self.panel.reference is not None:
            times, values = self.panel.reference
            for k in range(values.shape[-1]):
                inside = (values[:, k] >= self.low) & (values[:, k] <= self.high)
                x, y = self.right(times[inside]), self.down(values[inside, k])
                yield _curve(x, y, k, ' stroke-dasharray="5 4"')


def _curve(x: np.ndarray, y: np.ndarray, k: int, style: str) -> str:
    """A line through the points that are numbers."""
    points = " ".join(
        f"{a:.1f},{b:.1f}" for a, b in zip(x.tolist(), y.tolist(), strict=True) if b == b
    )
    colour = CURVES[k % len(CURVES)]
    return f'<polyline fill="none" stroke="{colour}"{style} points="{points}"/>'


def _range(values: np.ndarray) -> tuple[float, float]:
    """The range of values with a margin; about a level line it is as wide as its value."""
    finite = values[np.isfinite(values)]
    if not len(finite):
        return -1.0, 1.0
    low, high = float(finite.min()), float(finite.max())
    size = max(abs(low), abs(high))
    if high - low <= NARROW * size or high == low:
        margin = 0.5 * size or 1.0
    else:
        margin = 0.04 * (high - low)
    return low - margin, high + margin


def _names(panel: Panel, width: float) -> Iterator[str]:
    """Names of the entries in their colours, as many as have room; noise in words."""
    if panel.noise is not None:
        yield (
            f'<text x="{LEFT}" y="28" opacity=".7">0 within rounding, at most {panel.noise:.0e}'
            "</text>"
        )
        return
    x = float(LEFT)
    for k, name in enumerate(panel.names):
        text = shortened(name)
        x_end = x + 6.2 * len(text) + 14
        if x_end > width - 8:
            yield f'<text x="{x:.0f}" y="28">…</text>'
            return
        colour = CURVES[k % len(CURVES)]
        yield f'<text x="{x:.0f}" y="28" fill="{colour}">{markup_text(text)}</text>'
        x = x_end
