"""Diagrams of runs, by Matplotlib."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from dalembert.arguments import path_of
from dalembert.errors import DalembertError, ShapeError
from dalembert.results.labels import force_units, labelled, library
from dalembert.results.record_selection import thinned
from dalembert.systems.system import System
from dalembert.views.fonts import EXTRA, drawable, fonts

if TYPE_CHECKING:
    from dalembert.results.run import Run

PLOTS = (".png", ".svg", ".pdf")
WIDTH, HEIGHT, DPI = 4.4, 2.7, 100  # inches of a panel; dots per inch
MOST_NAMED, MOST_DRAWN = 8, 50  # entries in a panel, trajectories in a diagram
MOST_RECORDS = 20_000  # of a run in a diagram: beyond, every k-th
FAST = 100_000  # points of a panel up to which the best place for a legend is looked for


class Panel(NamedTuple):
    """A diagram; x and y are (N, K, entries)."""

    across: str
    up: str
    x: np.ndarray
    y: np.ndarray
    names: Sequence[str]  # in the legend; none if that of its neighbour names the colours


def plot(run: Run, file: Any = None, observables: Sequence[str] = ()) -> Any:
    """A `matplotlib.figure.Figure` of a run, or of some of its observables, saved where a file is
    given; see `Run.plot`.
    """
    file = None if file is None else path_of("file", file)
    matplotlib = library("matplotlib", EXTRA)
    Figure = library("matplotlib.figure", EXTRA).Figure
    known = library("matplotlib.backend_bases", EXTRA).FigureCanvasBase.get_supported_filetypes()
    if file is not None and file.suffix[1:].lower() not in known:
        endings = ", ".join(f".{ending}" for ending in sorted(known))
        raise ValueError(f"{str(file)!r}: the name of a diagram ends in {endings}.")
    own, (run, every) = fonts(), thinned(run, MOST_RECORDS)
    with (
        matplotlib.rc_context(
            {
                "text.parse_math": False,
                "svg.fonttype": "none",
                "font.family": [f for f, _ in own],
                "axes.grid": True,
                "grid.alpha": 0.3,
                "font.size": 9,
            }
        ),
        warnings.catch_warnings(),
    ):
        warnings.filterwarnings("ignore", "Glyph .* missing from", UserWarning)
        rows: list[list[Panel | None]] = [[_observable(run, name)] for name in observables]
        rows = rows or [*_joint_rows(run), [_energies(run), _balance(run)]]
        columns = max(len(row) for row in rows)
        figure = Figure((columns * WIDTH, len(rows) * HEIGHT + 0.4), layout="constrained")
        svg = (
            file is not None and file.suffix.lower() == ".svg"
        )  # text stays text in SVG, for any letters
        letters = None if svg else set().union(*(found for _, found in own))
        grid = figure.add_gridspec(len(rows), 2 * columns)
        for k, row in enumerate(rows):
            span = 2 * columns // len(row) if row is rows[-1] else 2
            for j, panel in enumerate(row):
                if panel is not None:
                    _draw(figure.add_subplot(grid[k, span * j : span * (j + 1)]), panel, letters)
        figure.suptitle(drawable(_title(run, every), letters))
        if file is not None:
            figure.savefig(file, dpi=DPI)
    return figure


def _title(run: Run, every: int) -> str:
    count = "" if run.q.ndim == 2 else f", {len(run.q)} trajectories"
    drawn = (
        f" (the first {MOST_DRAWN} drawn)" if run.q.ndim == 3 and len(run.q) > MOST_DRAWN else ""
    )
    records = "" if every == 1 else f", one of {every} records drawn"
    return f"{run.system.name}, {run.method}{count}{drawn}{records}"


def _drawn(run: Run, values: np.ndarray) -> np.ndarray:
    """Values (N, K, ...) of the trajectories that are drawn."""
    return values[:MOST_DRAWN] if run.q.ndim == 3 else values[None]


def _joint_rows(run: Run) -> Iterator[list[Panel | None]]:
    """Coordinates, velocities, forces and phase portrait of up to `MOST_NAMED` entries with the
    same units.
    """
    m = run.system
    unit_q = m.coordinate_units
    unit_qd = m.velocity_units
    unit_tau = force_units(m)
    q = _drawn(run, run.q)
    qd = _drawn(run, run.qd)
    tau = _forces(run)
    t = run.times[None, :, None]
    for at_q, at_v, rates, is_body in _alike(m, unit_q, unit_qd):
        names = [m.coordinate_names[k] for k in at_q]
        along = [] if rates else [m.velocity_names[k] for k in at_v]  # the same names, then
        noun = "quaternions" if unit_q[at_q[0]] == "1" else "coordinates"
        coordinates = labelled("modal coordinates" if is_body else noun, unit_q[at_q[0]])
        velocities = labelled("velocities", unit_qd[at_v[0]])
        row: list[Panel | None] = [
            Panel("time [s]", coordinates, t, q[..., at_q], [] if rates else names),
            Panel("time [s]", velocities, t, qd[..., at_v], along),
        ]
        if tau is not None and is_body and not tau[..., at_v].any():
            row.append(None)  # no actuator acts on deflections
        elif tau is not None:
            row.append(
                Panel(
                    "time [s]",
                    labelled("applied forces", unit_tau[at_v[0]]),
                    t,
                    tau[..., at_v],
                    along,
                )
            )
        yield [
            *row,
            Panel(coordinates, velocities, q[..., at_q], qd[..., at_v], names) if rates else None,
        ]


def _alike(
    system: System, unit_q: Sequence[str], unit_qd: Sequence[str]
) -> list[tuple[list[int], list[int], bool, bool]]:
    """Entries of q and qd that share a row, whether these velocities are the rates of these
    coordinates, and whether they are of elastic bodies.
    """
    found: dict[tuple[str, str, bool, bool], list[tuple[list[int], list[int]]]] = {}
    for at_q, at_v, is_body in _joints(system):
        rates = len(at_q) == len(at_v)
        pairs = (
            [([k], [i]) for k, i in zip(at_q, at_v, strict=True)]
            if rates
            else [
                ([k for k in at_q if unit_q[k] == of_q], [i for i in at_v if unit_qd[i] == of_qd])
                for of_q, of_qd in (("1", "rad/s"), ("m", "m/s"))
            ]
        )  # a quaternion, and the position beside it
        for k, i in pairs:
            if k:
                found.setdefault((unit_q[k[0]], unit_qd[i[0]], rates, is_body), []).append((k, i))
    rows = []
    for (_, _, rates, is_body), parts in found.items():
        size = MOST_NAMED // len(parts[0][0])
        rows += [
            (sum((k for k, _ in some), []), sum((i for _, i in some), []), rates, is_body)
            for some in (parts[at : at + size] for at in range(0, len(parts), size))
        ]
    return rows


def _joints(system: System) -> list[tuple[Sequence[int], Sequence[int], bool]]:
    """Entries in q and qd of each joint or elastic body, or of each coordinate where there are none,
    and whether they are of a body.
    """
    mechanism = system.mechanism
    if mechanism is None:
        rates = system.nq == system.nv
        return (
            [([k], [k], False) for k in range(system.nq)]
            if rates
            else [(range(system.nq), range(system.nv), False)]
        )
    return [(range(mechanism.nq)[h.entry.at_q], h.entry.at_v, h.is_body) for h in mechanism.holders]


def _forces(run: Run) -> np.ndarray | None:
    """Control and forces, unless there are none or they are not known."""
    if set(run.forces.values()) == {"none"}:
        return None
    try:
        return _drawn(run, run.tau)
    except DalembertError:  # of a run read from a file
        return None


def _observable(run: Run, name: str) -> Panel:
    """An observable along time, its entries flattened.

    Raises
    ------
    ShapeError
        It has no value at each record.
    """
    declared = run.observables.declared[name]
    values = np.asarray(run.observables[name])
    if not declared.is_of_records:
        raise ShapeError(f"observable {name!r} is of the whole run: there is no diagram.", name)
    flat = values.reshape(*run.work.shape, -1)
    labels = declared.names(run.system)
    names = labels if len(labels) == flat.shape[-1] else [name] * (flat.shape[-1] == 1)
    said = labelled(declared.description or name, declared.unit)
    return Panel("time [s]", said, run.times[None, :, None], _drawn(run, flat), names)


def _energies(run: Run) -> Panel:
    values = {
        "kinetic": run.kinetic_energy,
        "potential": run.potential_energy,
        "total": run.energy,
        "work done": run.work,
    }
    return Panel(
        "time [s]",
        "energies [J]",
        run.times[None, :, None],
        _drawn(run, np.stack([*values.values()], axis=-1)),
        list(values),
    )


def _balance(run: Run) -> Panel:
    return Panel(
        "time [s]",
        "power balance [J]",
        run.times[None, :, None],
        _drawn(run, run.power_balance[..., None]),
        ["total energy less work"],
    )


def _draw(ax: Any, panel: Panel, letters: set[int] | None) -> None:
    """Draw a diagram: a colour for each entry, all trajectories in it."""
    y = panel.y
    x = np.broadcast_to(panel.x, y.shape)
    lines = [
        ax.plot(
            x[..., k].T,
            y[..., k].T,
            color=f"C{k}",
            linewidth=1.2,
            alpha=1.0 if len(y) == 1 else 0.4,
        )[0]
        for k in range(y.shape[-1])
    ]
    ax.set_xlabel(panel.across)
    ax.set_ylabel(panel.up)
    ax.locator_params(axis="x", nbins=6)
    if panel.names:
        legend = ax.legend(
            lines,
            [str(k) for k in range(len(lines))],
            fontsize="small",
            framealpha=0.6,
            handlelength=1.2,
            labelspacing=0.3,
            loc="best" if y.size < FAST else "upper right",
        )
        if panel.across != "time [s]":  # the legend speaks for the whole row
            legend.set(loc="center left", bbox_to_anchor=(1.0, 0.5))
        for text, name in zip(
            legend.get_texts(), panel.names, strict=True
        ):  # a legend leaves out names like '_a'
            text.set_text(drawable(name, letters))
