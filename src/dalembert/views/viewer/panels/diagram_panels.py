"""Diagrams of a run beside the robot: curves in SVG with the values at the time that is shown.

Curves stand still; a cursor and the numbers of the legend are a small text of their own that
follows the time.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import (
    Any,
    NamedTuple,
)

import numpy as np

from dalembert.results.labels import force_units
from dalembert.views.viewer.escaped import (
    number,
    short,
    text,
)
from dalembert.views.viewer.run_states import RunStates

MOST_CURVES = 8  # in a diagram
MOST_POINTS = 400  # of a curve
HEIGHT = 120  # pixels of a diagram
LEFT, RIGHT = 54, 18  # pixels beside it, for numbers
LEAST_TICKS = 3
COLOURS = ("#2a78c8", "#e0713a", "#2c9a6b", "#b8559c", "#8a6d3b", "#5a63c0", "#c23b4b", "#4e8d99")
SMALL = "font:11px/1.35 system-ui,sans-serif;color:var(--mantine-color-text,currentColor)"
NOISE = 1e-9  # of the largest value: a range that small is none
ROUNDING = 1e-12  # in the unit: values that are all smaller are 0
DEGREES = 180 / np.pi


class PanelDiagram(NamedTuple):
    """A diagram: values (K, curves) of one unit over times (K,)."""

    title: str
    unit: str
    names: tuple[str, ...]
    times: np.ndarray
    values: np.ndarray

    @property
    def bounds(self) -> tuple[float, float]:
        """Least and largest value of the axis, of some height where all values are equal."""
        finite = self.values[np.isfinite(self.values)]
        low, high = (float(finite.min()), float(finite.max())) if finite.size else (0.0, 0.0)
        size = max(abs(low), abs(high)) or 1.0
        if high - low < NOISE * size:
            return low - 0.5 * size, high + 0.5 * size
        margin = 0.06 * (high - low)
        return low - margin, high + margin

    def values_at(self, t: float) -> np.ndarray:
        """Values at a time (curves,)."""
        return np.array([np.interp(t, self.times, curve) for curve in self.values.T])


def diagrams_of(states: RunStates, trajectory: int) -> list[PanelDiagram]:
    """Diagrams of coordinates, velocities, forces and energies of one trajectory."""
    run = states.run
    system = run.system
    velocity_units = system.velocity_units
    sheets = [
        ("coordinates", system.coordinate_names, system.coordinate_units, states.q),
        ("velocities", system.velocity_names, velocity_units, states.qd),
    ]
    if states.tau is not None and states.tau.any():
        sheets.append(("applied forces", system.velocity_names, force_units(system), states.tau))
    keep = _thinned(len(states.times))
    times = states.times[keep]
    found: list[PanelDiagram] = []
    for title, names, units, values in sheets:
        of_one = values[trajectory][keep]
        found += _by_unit(title, tuple(names), tuple(units), times, of_one)
    return [*found, _energies(run, trajectory, keep, times)]


def _thinned(count: int) -> np.ndarray:
    """Indices of so many records as a diagram shows."""
    return np.unique(np.linspace(0, count - 1, min(count, MOST_POINTS)).round().astype(int))


def _by_unit(
    title: str,
    names: tuple[str, ...],
    units: tuple[str, ...],
    times: np.ndarray,
    values: np.ndarray,
) -> Iterator[PanelDiagram]:
    """Diagrams of entries with the same unit, some to each; angles in degrees."""
    for unit in dict.fromkeys(units):
        entries = [k for k, other in enumerate(units) if other == unit]
        factor = DEGREES if unit.startswith("rad") else 1.0
        said = unit.replace("rad", "°", 1) if factor != 1.0 else unit
        for start in range(0, len(entries), MOST_CURVES):
            some = entries[start : start + MOST_CURVES]
            named = tuple(names[k] for k in some)
            noun = "quaternions" if unit == "1" else title
            yield PanelDiagram(noun, said, named, times, _rounded(factor * values[:, some]))


def _rounded(values: np.ndarray) -> np.ndarray:
    """Values, or zeros in place of nothing but rounding errors."""
    return np.zeros_like(values) if np.abs(values).max(initial=0.0) < ROUNDING else values


def _energies(run: Any, trajectory: int, keep: np.ndarray, times: np.ndarray) -> PanelDiagram:
    named = {
        "kinetic": run.kinetic_energy,
        "potential": run.potential_energy,
        "total": run.energy,
        "work done": run.work,
    }
    rows = [np.asarray(values) for values in named.values()]
    of_one = np.stack([row[trajectory] if row.ndim == 2 else row for row in rows], axis=1)
    return PanelDiagram("energies", "J", tuple(named), times, of_one[keep])


def curves_html(diagram: PanelDiagram) -> str:
    """The diagram without its cursor."""
    low, high = diagram.bounds
    begin, end = float(diagram.times[0]), float(diagram.times[-1])
    span = max(end - begin, 1e-12)
    x = 1000 * (diagram.times - begin) / span
    y = 1000 * (high - diagram.values) / (high - low)
    curves = "".join(
        f'<polyline points="{_points(x, y[:, k])}" fill="none" stroke="{COLOURS[k]}" '
        'stroke-width="1.6" stroke-linejoin="round" vector-effect="non-scaling-stroke"/>'
        for k in range(y.shape[1])
    )
    title = (
        f"{text(diagram.title)} [{text(diagram.unit)}]" if diagram.unit != "1" else "quaternions"
    )
    return (
        f'<div style="{SMALL};padding:6px 0 0"><b style="font-weight:600;margin-left:10px">{title}</b>'
        f'<div style="position:relative;height:{HEIGHT}px;margin:4px {RIGHT}px 0 {LEFT}px">'
        f'<svg viewBox="0 0 1000 1000" preserveAspectRatio="none" role="img" aria-label="{title}" '
        'style="position:absolute;inset:0;width:100%;height:100%;overflow:visible">'
        f"{_lines(low, high)}{curves}</svg>{_numbers(low, high)}</div>"
        f'<div style="display:flex;justify-content:space-between;margin:2px {RIGHT}px 0 {LEFT}px;'
        f'opacity:.75"><span>{number(begin, 3)}</span><span>{number(end, 3)} s</span></div></div>'
    )


def _points(x: np.ndarray, y: np.ndarray) -> str:
    is_there = np.isfinite(y)
    return " ".join(f"{a:.1f},{b:.1f}" for a, b in zip(x[is_there], y[is_there], strict=True))


def _ticks(low: float, high: float) -> list[float]:
    """Round numbers within a range: as few as there are, but three."""
    power = 10.0 ** np.floor(np.log10(high - low))
    ticks: list[float] = []
    for size in (5.0, 2.0, 1.0, 0.5, 0.2):
        step = float(size * power)
        ticks = [float(k * step) for k in range(int(np.ceil(low / step)), int(high // step) + 1)]
        if len(ticks) >= LEAST_TICKS:
            break
    return ticks


def _lines(low: float, high: float) -> str:
    """Level lines at round numbers, the line of 0 a little stronger."""
    lines = []
    for value in _ticks(low, high):
        y = 1000 * (high - value) / (high - low)
        strength = 0.45 if value == 0 else 0.16
        lines.append(
            f'<line x1="0" x2="1000" y1="{y:.1f}" y2="{y:.1f}" stroke="currentColor" '
            f'stroke-opacity="{strength}" stroke-width="1" vector-effect="non-scaling-stroke"/>'
        )
    return "".join(lines)


def _numbers(low: float, high: float) -> str:
    """Round numbers to the left of their lines."""
    return "".join(
        f'<span style="position:absolute;right:100%;margin-right:5px;opacity:.75;'
        f'top:{100 * (high - value) / (high - low):.2f}%;transform:translateY(-50%)">'
        f"{number(value, 3)}</span>"
        for value in _ticks(low, high)
    )


def cursor_html(diagram: PanelDiagram, t: float) -> str:
    """The cursor at a time, above the diagram that stands before it, and the values there."""
    begin, end = float(diagram.times[0]), float(diagram.times[-1])
    part = float(np.clip((t - begin) / max(end - begin, 1e-12), 0, 1))
    values = diagram.values_at(t)
    legend = "".join(
        f'<span style="white-space:nowrap"><span style="color:{COLOURS[k]}">\u25cf</span> '
        f'{text(short(name))}\u2002<b style="font-weight:600">{number(values[k], 3)}</b></span>'
        for k, name in enumerate(diagram.names)
    )
    return (
        f'<div style="{SMALL};position:relative">'
        f'<div style="position:absolute;bottom:100%;margin-bottom:{CURSOR}px;height:{HEIGHT}px;'
        f"left:calc({LEFT}px + (100% - {LEFT + RIGHT}px) * {part:.5f});width:0;"
        'border-left:1.5px solid currentColor;opacity:.7;pointer-events:none"></div>'
        f'<div style="display:flex;flex-wrap:wrap;gap:2px 12px;margin:0 {RIGHT}px 6px {LEFT}px">'
        f"{legend}</div></div>"
    )


CURSOR = 17  # pixels from the legend up to the diagram, over the line of times
