"""Diagrams of a run beside the robot, with the values at the time that is shown.

Curves stand still; a cursor and the numbers of the legend are a small text of their own that
follows the time.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from dalembert.closed_forms.printing.markup import element
from dalembert.results.record_selection import (
    thinned,
    trajectory,
)
from dalembert.views.diagrams.charts import (
    BOTTOM,
    MOST_POINTS,
    TOP,
    ChartAxes,
    chart_svg,
    legend,
    title,
)
from dalembert.views.diagrams.panels import (
    Panel,
    PanelData,
)
from dalembert.views.viewer.run_states import RunStates

WIDTH, HEIGHT = 340.0, 130.0  # of a diagram in its own units
EDGE = 8  # pixels beside a diagram
STYLE = "font:12px/1.4 system-ui,sans-serif;color:var(--mantine-color-text,currentColor)"
CURSOR = "border-left:1.5px solid currentColor;opacity:.7;pointer-events:none"


def diagrams_of(states: RunStates, row: int) -> list[Panel]:
    """Diagrams of coordinates, velocities, forces and energies of one trajectory."""
    run = trajectory(states.run, row) if states.run.q.ndim == 3 else states.run
    few, _ = thinned(run, MOST_POINTS)
    quantities = ["q", "qd", "tau", "energies"]
    if states.tau is None or not states.tau.any():
        quantities.remove("tau")
    return PanelData(few, degrees=True).panels(quantities)


def curves_html(panel: Panel) -> str:
    """The diagram without its cursor."""
    figure = element("figure", title(panel), chart_svg(panel, WIDTH, HEIGHT), style="margin:0")
    return str(element("div", figure, style=f"{STYLE};padding:6px {EDGE}px 0"))


def cursor_html(panel: Panel, t: float) -> str:
    """The cursor at a time, above the diagram that stands before it, and the values there."""
    axes = ChartAxes(panel, WIDTH, HEIGHT)
    shown = np.clip(t, axes.low_x, axes.high_x)
    place = (
        f"position:absolute;left:{100 * axes.right(shown) / WIDTH:.2f}%;"
        f"top:{100 * TOP / HEIGHT:.1f}%;bottom:{100 * BOTTOM / HEIGHT:.1f}%;{CURSOR}"
    )
    over = (
        f"position:absolute;bottom:100%;left:{EDGE}px;right:{EDGE}px;"
        f"aspect-ratio:{WIDTH:g}/{HEIGHT:g}"
    )
    cursor = element("div", element("div", style=place), style=over)
    values = legend(panel, values_at(panel, t))
    style = f"{STYLE};position:relative;padding:0 {EDGE}px 6px"
    return str(element("div", cursor, values, style=style))  # viser sends no text of another class


def values_at(panel: Panel, t: float) -> Sequence[float]:
    """Values of the curves at a time (entries,)."""
    return [float(np.interp(t, panel.x[0, :, 0], column)) for column in panel.y[0].T]
