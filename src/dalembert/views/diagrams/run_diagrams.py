"""Diagrams of runs, by Matplotlib."""

from __future__ import annotations

import warnings
from collections.abc import (
    Iterator,
    Sequence,
)
from contextlib import contextmanager
from pathlib import Path
from typing import (
    TYPE_CHECKING,
    Any,
)

import numpy as np

from dalembert.arguments import (
    check_flag,
    path_of,
)
from dalembert.displays import visible
from dalembert.errors import (
    ShapeError,
    UnknownNameError,
)
from dalembert.results.labels import library
from dalembert.results.record_selection import thinned
from dalembert.views.diagrams.charts import CURVES
from dalembert.views.diagrams.panels import (
    QUANTITIES,
    TIME,
    Panel,
    PanelData,
    title_of,
)
from dalembert.views.fonts import (
    EXTRA,
    fonts,
)

if TYPE_CHECKING:
    from dalembert.results.run import Run

PLOTS = (".png", ".svg", ".pdf")
WIDTH, HEIGHT, DPI = 4.8, 2.9, 100  # inches of a panel; dots per inch
COLUMNS = 2  # panels in a row: 960 pixels
MOST_RECORDS = 20_000  # of a run in a diagram: beyond, every k-th
FAST = 100_000  # points of a panel up to which the best place for a legend is looked for
TICKS = 5  # of an axis, at most
NAMES_A_LINE = 6  # below all panels
QUIET = "0.5"  # grey of limits and notes


def plot(
    run: Run,
    names: Sequence[Any] = (),
    file: Any = None,
    degrees: bool = False,
    ax: Any = None,
) -> Any:
    """A `matplotlib.figure.Figure` of a run, or of some of its quantities and observables, saved
    where a file is given; see `Run.plot`.
    """
    check_flag("degrees", degrees)
    wanted, file = wanted_of(run, names, file)
    path = None if file is None else path_of("file", file)
    library("matplotlib", EXTRA)
    from dalembert.views.diagrams.shown_figure import ShownFigure

    if path is not None:
        _check_ending(path)
    thin, every = thinned(run, MOST_RECORDS)
    panels = PanelData(thin, degrees).panels(wanted)
    with styled() as letters:
        if path is not None and path.suffix.lower() == ".svg":
            letters = None  # text stays text in SVG, for any letters
        if ax is not None:
            axes = axes_of(ax, len(panels))
            figure = axes[0].figure
        else:
            figure = ShownFigure(_size(len(panels)), layout="constrained")
            axes = _grid(figure, len(panels))
            figure.suptitle(visible(title_of(thin, every), letters), fontsize=11)
        for panel, place in zip(panels, axes, strict=True):
            draw_panel(place, panel, letters)
        if ax is None:
            _names_below(figure, panels, axes)
        if path is not None:
            figure.savefig(path, dpi=DPI)
    return figure


def wanted_of(run: Run, names: Sequence[Any], file: Any) -> tuple[list[str], Any]:
    """Names of quantities and observables, and the file; a name with an ending that is neither is a
    file.

    Raises
    ------
    UnknownNameError
        Several names are neither, or a name without ending.
    """
    known = (*QUANTITIES, *run.observables)
    wanted = [str(name) for name in names if str(name) in known]
    others = [name for name in names if str(name) not in known]
    files = [name for name in (*others, file) if name is not None]
    unknown = [name for name in others if isinstance(name, str) and not Path(name).suffix]
    if unknown or len(files) > 1:
        raise UnknownNameError("observable", str((unknown or files)[0]), known)
    return wanted, files[0] if files else None


def _check_ending(path: Path) -> None:
    """See that Matplotlib writes such files."""
    known = library("matplotlib.backend_bases", EXTRA).FigureCanvasBase.get_supported_filetypes()
    if path.suffix[1:].lower() not in known:
        endings = ", ".join(f".{ending}" for ending in sorted(known))
        raise ValueError(f"{str(path)!r}: the name of a diagram ends in {endings}.")


def axes_of(ax: Any, count: int) -> list[Any]:
    """The given axes, in the order of the panels.

    Raises
    ------
    ShapeError
        Another number of them.
    """
    axes = list(np.ravel(np.array(ax, dtype=object)))
    for place in axes:
        if not hasattr(place, "figure"):
            kind = type(place).__name__
            raise TypeError(f"ax={place!r} ({kind}): expected axes, as of plt.subplots().")
    if len(axes) != count:
        raise ShapeError(
            f"ax= has {len(axes)} axes for {count} panels: name one quantity, as run.plot('q', "
            "ax=ax), or give a list.",
            "ax",
            (len(axes),),
            (count,),
        )
    return axes


def _size(count: int) -> tuple[float, float]:
    """Inches of a figure of so many panels."""
    columns = min(count, COLUMNS)
    return columns * WIDTH, -(-count // COLUMNS) * HEIGHT + 0.4


def _grid(figure: Any, count: int) -> list[Any]:
    """Axes from left to right and down; the last alone is as wide as the figure."""
    columns = min(count, COLUMNS)
    grid = figure.add_gridspec(-(-count // columns), columns)
    places = [grid[k // columns, k % columns] for k in range(count)]
    if columns > 1 and count % columns:
        places[-1] = grid[count // columns, :]
    return [figure.add_subplot(place) for place in places]


@contextmanager
def styled() -> Iterator[set[int] | None]:
    """The style of diagrams, with fonts for letters of all scripts, which it gives."""
    matplotlib = library("matplotlib", EXTRA)
    own = fonts()
    style = {
        "text.parse_math": False,
        "svg.fonttype": "none",
        "font.family": [name for name, _ in own],
        "font.size": 10,
        "axes.grid": True,
        "axes.spines.top": False,
        "axes.spines.right": False,
        "axes.formatter.limits": (-3, 4),
        "grid.alpha": 0.25,
    }
    with matplotlib.rc_context(style), warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Glyph .* missing from", UserWarning)
        yield set().union(*(found for _, found in own))


def draw_panel(ax: Any, panel: Panel, letters: set[int] | None) -> None:
    """Draw a diagram: a colour for each entry, all trajectories in it."""
    lines = _lines(ax, panel)
    ax.set_xlabel(panel.across)
    ax.set_ylabel(panel.up)
    ax.locator_params(axis="x", nbins=TICKS + 1)
    ax.locator_params(axis="y", nbins=TICKS)
    more = _references(ax, panel)
    if panel.noise is not None:
        _as_zero(ax, panel)
    if panel.names and panel.quantity not in ("qd", "tau"):  # the colours of its neighbours
        _legend(ax, panel, lines, more, letters)
    elif more:
        ax.legend(handles=more, fontsize="small", framealpha=0.7, handlelength=1.6)


def _lines(ax: Any, panel: Panel) -> list[Any]:
    """Curves; zero in place of rounding errors."""
    y = panel.y if panel.noise is None else np.where(np.isfinite(panel.y), 0.0, np.nan)
    x = np.broadcast_to(panel.x, y.shape)
    alpha = 1.0 if len(y) == 1 else 0.4
    return [
        ax.plot(
            x[..., k].T, y[..., k].T, color=CURVES[k % len(CURVES)], linewidth=1.5, alpha=alpha
        )[0]
        for k in range(y.shape[-1])
    ]


def _references(ax: Any, panel: Panel) -> list[Any]:
    """Dashed references and thin limits, in the colours of their entries; entries of a legend."""
    Line = library("matplotlib.lines", EXTRA).Line2D
    found = []
    if panel.reference is not None:
        times, values = panel.reference
        for k in range(values.shape[-1]):
            ax.plot(
                times, values[:, k], "--", color=CURVES[k % len(CURVES)], linewidth=1.0, alpha=0.8
            )
        found.append(Line([], [], linestyle="--", color=QUIET, linewidth=1.0, label="reference"))
    for k, limit in panel.limits:
        ax.axhline(limit, linestyle=":", color=CURVES[k % len(CURVES)], linewidth=1.0)
    if panel.limits:
        found.append(Line([], [], linestyle=":", color=QUIET, linewidth=1.0, label="limit"))
    return found


def _as_zero(ax: Any, panel: Panel) -> None:
    """Scale the axis of a quantity that is 0 but for rounding, and say how large that is."""
    scale = panel.scale
    ax.set_ylim(-scale, scale)
    unit = panel.up.partition("[")[2].rstrip("]")
    ax.text(
        0.5,
        0.56,
        f"0 within rounding: at most {panel.noise:.1e} {unit}".rstrip(),
        transform=ax.transAxes,
        ha="center",
        fontsize="small",
        color=QUIET,
    )


def _names_below(figure: Any, panels: Sequence[Panel], axes: Sequence[Any]) -> None:
    """Move the names beside a phase portrait below all panels, where they are those of all."""
    beside = [ax for panel, ax in zip(panels, axes, strict=True) if _is_beside(panel)]
    if len(beside) != 1 or len(beside[0].get_lines()) < 2 or len(panels) < 3:
        return
    legend = beside[0].get_legend()
    names = [text.get_text() for text in legend.get_texts()]
    lines = -(-len(names) // NAMES_A_LINE)
    figure.legend(
        legend.legend_handles,
        names,
        loc="outside lower center",
        ncols=-(-len(names) // lines),
        fontsize="small",
        frameon=False,
        handlelength=1.4,
    )
    legend.remove()


def _is_beside(panel: Panel) -> bool:
    """Whether the names of a panel's entries stand beside it: a phase portrait has no free corner."""
    return bool(panel.names) and panel.across != TIME


def _legend(
    ax: Any, panel: Panel, lines: list[Any], more: list[Any], letters: set[int] | None
) -> None:
    """Names of the entries; a legend leaves out names like '_a' unless they are put in later."""
    labels = [str(k) for k in range(len(lines))] + [line.get_label() for line in more]
    is_outside = _is_beside(panel)
    legend = ax.legend(
        [*lines, *more],
        labels,
        fontsize="small",
        framealpha=0.7,
        handlelength=1.4,
        labelspacing=0.3,
        ncols=2 if len(lines) > 4 and not is_outside else 1,
        loc="best" if panel.y.size < FAST else "upper right",
    )
    if is_outside:
        legend.set(loc="center left", bbox_to_anchor=(1.0, 0.5))
    texts = legend.get_texts()[: len(lines)]
    for text, name in zip(texts, panel.names, strict=True):
        text.set_text(visible(name, letters))
