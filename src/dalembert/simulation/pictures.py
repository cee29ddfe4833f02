"""Pictures of runs: diagrams by Matplotlib, and a moving stick figure as one HTML page that needs nothing else."""

from __future__ import annotations

import html
import json
import re
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from dalembert.errors import ShapeError
from dalembert.kinematics.poses import world_poses
from dalembert.model.mechanism import Mechanism
from dalembert.model.numbers import as_float
from dalembert.simulation.labels import coordinate_units, library, velocity_units
from dalembert.spatial.vectors import Matrix

if TYPE_CHECKING:
    from dalembert.simulation.run import Run

EXTRA = "plot"
PLOTS, PAGES = (".png", ".svg", ".pdf"), (".html", ".htm")
COLUMNS, WIDTH, HEIGHT = 2, 5.5, 3.0      # of a figure: panels side by side, and inches of one
MOST_NAMED, MOST_DRAWN = 12, 50           # entries in a legend, trajectories in a diagram
FAST = 100_000                            # points of a diagram up to which the best place for a legend is looked for
MOST_FRAMES, MOST_NUMBERS = 1000, 1_500_000      # in a page: records beyond are thinned out
FONTS = ("DejaVu Sans", "Noto Sans", "Noto Sans CJK SC", "Noto Sans CJK JP", "Source Han Sans SC", "WenQuanYi Zen Hei",
         "WenQuanYi Micro Hei", "Droid Sans Fallback", "Microsoft YaHei", "SimHei", "PingFang SC", "Hiragino Sans GB",
         "Yu Gothic", "Malgun Gothic", "Arial Unicode MS")      # whichever are installed, for letters of all scripts

Panel = tuple[str, str, Any, Any, Sequence[str]]


# --- diagrams ---

def plot(run: Run, file: Any = None) -> Any:
    """A `matplotlib.figure.Figure` of a run, saved where a file is given; see `Run.plot`."""
    matplotlib = library("matplotlib", EXTRA)
    Figure = library("matplotlib.figure", EXTRA).Figure
    fonts = _fonts()
    with matplotlib.rc_context({"text.parse_math": False, "svg.fonttype": "none", "font.family": [f for f, _ in fonts],
                                "axes.grid": True, "grid.alpha": 0.3}), warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Glyph .* missing from", UserWarning)
        panels = _panels(run)
        rows = -(-len(panels) // COLUMNS)
        figure = Figure(figsize=(COLUMNS * WIDTH, rows * HEIGHT + 0.5), layout="constrained")
        axes = figure.subplots(rows, COLUMNS, squeeze=False).ravel()
        svg = file is not None and Path(file).suffix.lower() == ".svg"      # there text stays text, for any letters
        letters = None if svg else set().union(*(found for _, found in fonts))
        for ax, panel in zip(axes, panels, strict=False):
            _draw(ax, *panel, letters)
        for ax in axes[len(panels):]:
            ax.remove()
        figure.suptitle(_drawable(_title(run), letters))
        if file is not None:
            figure.savefig(file, dpi=120)
    return figure


def _title(run: Run) -> str:
    count = "" if run.q.ndim == 2 else f", {len(run.q)} trajectories"
    drawn = f" (the first {MOST_DRAWN} drawn)" if run.q.ndim == 3 and len(run.q) > MOST_DRAWN else ""
    return f"{run.mechanism.name}, {run.method}{count}{drawn}"


def _panels(run: Run) -> list[Panel]:
    """(x label, y label, x, y, names) of each diagram; x and y are (N, K, entries)."""
    def drawn(values: np.ndarray) -> np.ndarray:
        return values[:MOST_DRAWN] if run.q.ndim == 3 else values[None]

    m, t, q, qd = run.mechanism, run.times[None, :, None], drawn(run.q), drawn(run.qd)
    panels: list[Panel] = [
        ("time [s]", f"{what} [{unit}]", t, values[..., at], [names[k] for k in at])
        for what, values, names, units in (("coordinates", q, m.coordinate_names, coordinate_units(m)),
                                           ("velocities", qd, m.velocity_names, velocity_units(m)))
        for unit, at in _groups(units)]
    energies = drawn(np.stack([run.kinetic_energy, run.potential_energy, run.energy, run.work], axis=-1))
    balance = drawn(run.power_balance[..., None])
    panels += [("time [s]", "energies [J]", t, energies, ["kinetic", "potential", "total", "work"]),
               ("time [s]", "power balance [J]", t, balance, ["total energy less work"])]
    pairs = [(k, i) for j in m.independent_joints if j.type.nq == j.type.nv
             for k, i in zip(range(m.nq)[m.entries[j.name].at_q], m.entries[j.name].at_v, strict=True)]
    units = coordinate_units(m)
    for unit, at in _groups([units[k] for k, _ in pairs]):
        chosen = [pairs[k] for k in at]
        panels.append((f"coordinates [{unit}]", f"velocities [{unit}/s]", q[..., [k for k, _ in chosen]],
                       qd[..., [i for _, i in chosen]], [m.coordinate_names[k] for k, _ in chosen]))
    return panels


def _groups(units: Sequence[str]) -> list[tuple[str, list[int]]]:
    """Each unit with the entries that have it."""
    return [(unit, [k for k, u in enumerate(units) if u == unit]) for unit in dict.fromkeys(units)]


def _draw(ax: Any, across: str, up: str, x: np.ndarray, y: np.ndarray, names: Sequence[str],
          letters: Any) -> None:
    """One diagram: a colour for each entry, all trajectories in it."""
    x = np.broadcast_to(x, y.shape)
    lines = []
    for k in range(y.shape[-1]):
        drawn = ax.plot(x[..., k].T, y[..., k].T, color=f"C{k % 10}", linewidth=1.2, alpha=1.0 if len(y) == 1 else 0.4)
        lines.append(drawn[0])
    ax.set_xlabel(across)
    ax.set_ylabel(up)
    named, few = lines[:MOST_NAMED], len(lines) * y.shape[0] * y.shape[1] < FAST
    legend = ax.legend(named, [str(k) for k in range(len(named))], fontsize="x-small", loc="best" if few else "upper right")
    for text, name in zip(legend.get_texts(), names[:MOST_NAMED], strict=True):      # a legend leaves out names like '_a'
        text.set_text(_drawable(name, letters))
    if len(lines) > MOST_NAMED:
        text.set_text(f"{text.get_text()} and {len(lines) - MOST_NAMED} more")


def _fonts() -> list[tuple[str, set[int]]]:
    """Fonts of `FONTS` that are installed, with the letters they have."""
    manager = library("matplotlib.font_manager", EXTRA)
    there = set(manager.get_font_names())
    return [(name, set(manager.get_font(manager.findfont(name)).get_charmap())) for name in FONTS if name in there]


def _drawable(text: str, letters: set[int] | None) -> str:
    """The text with what no font can show spelled out: invisible characters, and letters other than those there are."""
    return "".join(c if c.isprintable() and (letters is None or ord(c) in letters)
                   else c.encode("unicode_escape").decode("ascii") for c in text)


# --- motion ---

def animate(run: Run, file: Any) -> Path:
    """Write a page that shows the motion; see `Run.animate`."""
    path = Path(file)
    if path.suffix.lower() not in PAGES:
        raise ValueError(f"{str(path)!r}: an animation is a page, its name ends in {' or '.join(PAGES)}.")
    if run.q.ndim != 2:
        raise ShapeError(f"an animation shows one trajectory, not {len(run.q)}: simulate one alone.", "q", run.q.shape)
    page = Path(__file__).with_name("animation.html").read_text(encoding="utf-8")
    data = json.dumps(figure_of(run), separators=(",", ":")).replace("<", "\\u003c")      # no name ends the script
    filled = {"{{title}}": html.escape(run.mechanism.name), "{{data}}": data}
    path.write_text(re.sub("|".join(filled), lambda found: filled[found[0]], page), encoding="utf-8")
    return path


def figure_of(run: Run) -> dict[str, Any]:
    """The stick figure: frames (points with axes) and centres of mass at each record, and what is joined by lines.

    times (K,) [s]; frames (K, F, 12): origin [m], then the frame's axes in world axes; masses (K, B, 3): centres of mass
    [m]; sticks: pairs of frames; weights: the frame each centre of mass belongs to, and the mass [kg].
    """
    m = run.mechanism
    bodies = [b for b in m.bodies if as_float(b.mass) > 0]
    names = list(m.frame_names)
    index = {name: k for k, name in enumerate(names)}
    numbers = 12 * len(names) + 3 * len(bodies)
    count = min(len(run.times), MOST_FRAMES, max(2, MOST_NUMBERS // numbers))
    chosen = np.unique(np.linspace(0, len(run.times) - 1, count).round().astype(int))
    T = placements(m, run.q[chosen], names)
    com = [T[:, index[b.name], :, :3] @ [as_float(x) for x in b.com] + T[:, index[b.name], :, 3] for b in bodies]
    masses = np.stack(com, axis=1) if com else np.zeros((len(chosen), 0, 3))
    frames = np.concatenate([T[..., 3], *(T[..., k] for k in range(3))], axis=-1)
    sticks = [[index[j.parent], index[j.child]] for j in m.joints] + [[index[f.body], index[f.name]] for f in m.frames]
    return {"names": names, "times": run.times[chosen].tolist(), "frames": _rounded(frames), "masses": _rounded(masses),
            "sticks": sticks, "weights": [[index[b.name], as_float(b.mass)] for b in bodies], "bodies": len(m.bodies)}


def placements(mechanism: Mechanism, q: np.ndarray, names: Sequence[str]) -> np.ndarray:
    """Placements (K, F, 3, 4) = [R, p] of links and frames in the world, of all in one pass."""
    tree, (scalars,), pack = mechanism.at(q=q)
    poses, rows = world_poses(tree, scalars), []
    for name in names:
        i, X = tree.place[name]
        pose = poses[i]
        p, R = pose.point_to_parent(X.p), Matrix(X.R.to_child(row) for row in pose.R.matrix())
        rows.append([[*R[k], p[k]] for k in range(3)])
    return np.asarray(pack(rows))


def _rounded(values: np.ndarray) -> list[Any]:
    """Numbers to 1e-5 of the largest, as short texts in JSON."""
    largest = float(np.abs(values).max(initial=0.0))
    return values.round(5 if largest == 0 else max(0, 5 - int(np.floor(np.log10(largest))))).tolist()
