"""Motions: as one HTML page that needs nothing else, as a GIF by Pillow, as an MP4 by ffmpeg."""

from __future__ import annotations

import html
import json
import re
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from dalembert.arguments import path_of
from dalembert.errors import DalembertError
from dalembert.results.labels import library
from dalembert.results.record_selection import thinned
from dalembert.views.beam_curves import POINTS
from dalembert.views.constraint_marks import ConstraintMarks
from dalembert.views.fonts import EXTRA, drawable, fonts
from dalembert.views.stick_figure import MOST_TOGETHER, StickFigure, figure_of, view_of

if TYPE_CHECKING:
    from dalembert.results.run import Run

PAGES, FILMS = (".html", ".htm"), (".gif", ".mp4")
MOST_RECORDS, MOST_NUMBERS = 1000, 1_500_000  # in a page: records beyond are thinned out
MOST_KNOTS = 100_000  # records that a film goes through
MOST_PICTURES = {".gif": 1500, ".mp4": 10_000}  # in a film; Pillow holds all of a GIF in memory
FINE = 4  # points of the trace from one picture to the next
FPS, FASTEST_GIF = 30.0, 50.0  # pictures per second; players slow down what is faster
WIDTH, HEIGHT, DPI = 640, 480, 100  # of a picture [pixels]; even, as MP4 needs
SIDE, HEAD, FOOT = 0.07, 0.13, 0.16  # of a picture, left free around the motion: frames' axes there
AXIS = 0.05  # length of a frame's axis, of the height
PAPER, INK, SOFT, STICK, MASS, MARK, FLOOR = (
    "#fbfbf9",
    "#1b2733",
    "#8a97a3",
    "#1f5fa8",
    "#c4572a",
    "#7a3fa0",
    "#edeeee",  # a shade of SOFT
)  # as in the page
AXES = ("#d62f2f", "#2c9a41", "#2f62d6")  # x, y, z
SHADES = 16  # between each colour of a GIF and the paper
FFMPEG = "ffmpeg"


def animate(
    run: Run,
    file: Any,
    fps: float = FPS,
    speed: float = 1.0,
    trace: str | None = None,
    magnify: float = 1.0,
) -> Path:
    """Write the motion as a page or a film, by the ending of the name; see `Run.animate`."""
    path, (run, _) = path_of("file", file), thinned(run, MOST_KNOTS)
    times = run.times
    ready(path, float(times[-1] - times[0]), fps, speed)
    if not (np.isfinite(magnify) and magnify > 0):
        raise ValueError(f"magnify={magnify!r}: expected a positive number.")
    if run.system.mechanism is None:
        raise DalembertError(
            f"{run.system.name!r} has no bodies to show. run.plot() draws diagrams."
        )
    if path.suffix.lower() in PAGES:
        _write_page(run, path, speed, trace, magnify)
        return path
    count = _count(float(times[-1] - times[0]), fps, speed)
    figure = figure_of(
        run, times[0] + np.arange((count - 1) * FINE + 1) * (speed / fps / FINE), trace, magnify
    )
    title = _title(run.system.name, speed, magnify)
    (_write_gif if path.suffix.lower() == ".gif" else _write_mp4)(
        _pictures(title, figure), path, fps
    )
    return path


def _title(name: str, speed: float, magnify: float) -> str:
    """The name, with all that is shown otherwise than it is."""
    notes = [f"{speed:g} x real time"] if speed != 1 else []
    notes += [f"deflections x {magnify:g}"] if magnify != 1 else []
    return f"{name} ({', '.join(notes)})" if notes else name


def ready(path: Path, duration: float, fps: float = FPS, speed: float = 1.0) -> None:
    """See that an animation of this name and duration [s] can be written.

    Raises
    ------
    ValueError, DalembertError
        The name has another ending; a number is none that works; a library or program is not
        installed.
    """
    ending = path.suffix.lower()
    if ending not in (*PAGES, *FILMS):
        raise ValueError(
            f"{str(path)!r}: the name of an animation ends in {', '.join((*PAGES, *FILMS))}."
        )
    if not (np.isfinite(fps) and fps > 0 and np.isfinite(speed) and speed > 0):
        raise ValueError(f"fps={fps!r}, speed={speed!r}: expected positive numbers.")
    if ending in PAGES:
        return
    library("matplotlib", EXTRA)
    if ending == ".gif" and fps > FASTEST_GIF:
        raise ValueError(
            f"fps={fps:g}: a GIF shows at most {FASTEST_GIF:g} pictures per second; give a smaller "
            "fps, or write .mp4."
        )
    if ending == ".mp4" and shutil.which(FFMPEG) is None:
        raise DalembertError(
            "ffmpeg is not installed, which writes .mp4: apt install ffmpeg, brew install ffmpeg, "
            "or see https://ffmpeg.org/download.html; .gif and .html do without."
        )
    if (count := _count(duration, fps, speed)) > MOST_PICTURES[ending]:
        raise ValueError(
            f"{str(path)!r}: {duration:g} s are {count} pictures, more than the "
            f"{MOST_PICTURES[ending]} of a {ending} film: give a larger speed than {speed:g}, a "
            f"smaller fps than {fps:g}, or write .html."
        )


def _count(duration: float, fps: float, speed: float) -> int:
    """Pictures of a film that shows the motion `speed` times as fast as it is."""
    return int(np.floor(duration * fps / speed * (1 + 1e-12))) + 1


# --- page ---


def _write_page(run: Run, path: Path, speed: float, trace: str | None, magnify: float) -> None:
    """The page: the figure as data in `animation.html`, which draws it."""
    m = run.mechanism
    together = 1 if run.q.ndim == 2 else min(len(run.q), MOST_TOGETHER)
    places = len(m.frame_names) + len(ConstraintMarks.of(m).places)
    curves = POINTS * len(m.elastic_bodies)
    numbers = together * (12 * places + 3 * (len(m.bodies) + curves))
    count = min(len(run.times), MOST_RECORDS, max(2, MOST_NUMBERS // numbers))
    chosen = np.unique(np.linspace(0, len(run.times) - 1, count).round().astype(int))
    figure = figure_of(run, run.times[chosen], trace, magnify)
    data = json.dumps({**figure.as_json(), "speed": speed}, separators=(",", ":"))
    page = Path(__file__).with_name("animation.html").read_text(encoding="utf-8")
    filled = {
        "{{title}}": html.escape(_title(m.name, 1.0, magnify)),
        "{{data}}": data.replace("<", "\\u003c"),
    }  # no name ends the script
    path.write_text(
        re.sub("|".join(filled), lambda found: filled[found[0]], page), encoding="utf-8"
    )


# --- films ---


def _write_gif(pictures: Iterator[np.ndarray], path: Path, fps: float) -> None:
    """A GIF that repeats for ever; its delays are hundredths of a second, and keep step with the
    time on average.
    """
    Image = library("PIL.Image", EXTRA)
    palette = Image.new("P", (1, 1))
    palette.putpalette(_palette())
    images = (
        Image.fromarray(p).quantize(palette=palette, dither=Image.Dither.NONE) for p in pictures
    )
    first, *rest = images
    ends = np.round(100 / fps * np.arange(len(rest) + 2)).astype(int)
    first.save(
        path,
        save_all=True,
        append_images=rest,
        duration=(10 * np.diff(ends)).tolist(),
        loop=0,
        optimize=False,
    )


def _palette() -> list[int]:
    """Every colour of a picture in shades to the paper, for smooth lines."""
    rgb = library("matplotlib.colors", EXTRA).to_rgb
    paper = np.array(rgb(PAPER))
    inks = [INK, SOFT, STICK, MASS, MARK, *AXES, *(f"C{k}" for k in range(1, MOST_TOGETHER))]
    shades = [
        paper + (np.array(rgb(ink)) - paper) * k / SHADES
        for ink in inks
        for k in range(1, SHADES + 1)
    ]
    return (255 * np.array([paper, *shades])).round().astype(int).ravel().tolist()


def _write_mp4(pictures: Iterator[np.ndarray], path: Path, fps: float) -> None:
    """An MP4 (H.264 where this ffmpeg has it), from pictures piped to ffmpeg."""
    command = [
        FFMPEG,
        "-loglevel",
        "error",
        "-y",
        "-f",
        "rawvideo",
        "-pix_fmt",
        "rgb24",
        "-s",
        f"{WIDTH}x{HEIGHT}",
        "-r",
        f"{fps:.12g}",
        "-i",
        "-",
        "-pix_fmt",
        "yuv420p",
        "-movflags",
        "+faststart",
        str(path.absolute()),
    ]
    with (
        tempfile.TemporaryFile() as said,
        subprocess.Popen(command, stdin=subprocess.PIPE, stderr=said) as program,
    ):
        assert program.stdin is not None
        try:
            for picture in pictures:
                program.stdin.write(picture.tobytes())
            program.stdin.close()
        except BrokenPipeError:  # the program has ended, and says why
            pass
        except BaseException:
            program.kill()
            raise
        if program.wait() != 0:
            said.seek(0)
            lines = said.read().decode(errors="replace").strip().splitlines() or ["no word"]
            raise DalembertError(
                f"{str(path)!r}: ffmpeg failed with exit code {program.returncode}: {lines[-1]}"
            )


def _pictures(title: str, figure: StickFigure) -> Iterator[np.ndarray]:
    """The figure at every `FINE`-th time as (HEIGHT, WIDTH, 3) bytes, seen from one place that
    shows all of the motion.
    """
    matplotlib = library("matplotlib", EXTRA)
    Canvas = library("matplotlib.backends.backend_agg", EXTRA).FigureCanvasAgg
    own = fonts()
    style = {"text.parse_math": False, "font.family": [name for name, _ in own], "font.size": 10}
    with matplotlib.rc_context(style):
        scene = _Scene(drawable(title, set().union(*(found for _, found in own))), figure)
        canvas = Canvas(scene.picture)
        canvas.draw()
        empty = canvas.copy_from_bbox(scene.picture.bbox)
        for k in range(0, len(figure.times), FINE):
            canvas.restore_region(empty)
            scene.show(k)
            yield np.ascontiguousarray(np.asarray(canvas.buffer_rgba())[..., :3])


class _Scene:
    """The figure in Matplotlib: things at rest are drawn once, the moving ones anew for each
    picture.
    """

    def __init__(self, title: str, figure: StickFigure):
        self.right, self.up = view_of(figure.points)
        self.figure, self.points, self.times = figure, self._seen(figure.points), figure.times
        self.picture = library("matplotlib.figure", EXTRA).Figure(
            (WIDTH / DPI, HEIGHT / DPI), dpi=DPI, facecolor=PAPER
        )
        self.ax = self.picture.add_axes((0.0, 0.0, 1.0, 1.0))
        self.ax.set_axis_off()
        self.rims = self._rims()
        self.beams = self._seen(figure.beams)
        size = self._fit()
        named = figure.frames[:, :, : len(figure.names)]
        axes = self._seen(named[..., 3:].reshape(*named.shape[:3], 3, 3))
        self.axes = self.points[:, :, : len(figure.names), None, :] + AXIS * size * axes
        self._stand_still(title, size)
        self.moving = [self._trajectory(n) for n in range(len(self.points))]
        self.clock = self.ax.text(
            0.5, 0.04, "", transform=self.ax.transAxes, color=INK, ha="center", animated=True
        )

    def _seen(self, vectors: np.ndarray) -> np.ndarray:
        """(..., 3) as (..., 2): along the picture's width and height."""
        return np.stack([vectors @ self.right, vectors @ self.up], axis=-1)

    def _rims(self) -> list[np.ndarray]:
        """Points (N, K, 49, 2) of the rims of bodies that roll."""
        angle = np.linspace(0, 2 * np.pi, 49)[:, None]
        rims = []
        for point, (i, j), (a, b) in self.figure.rims:
            frame = self.figure.frames[:, :, point, None, :]
            first, second = (frame[..., 3 + 3 * k : 6 + 3 * k] for k in (i, j))
            circle = a * np.cos(angle) * first + b * np.sin(angle) * second
            rims.append(self._seen(frame[..., :3] + circle))
        return rims

    def _fit(self) -> float:
        """Set the window to the whole motion, at one scale in all directions; its size [m]."""
        ground = [self._seen(corners) for corners in self.figure.floors]
        drawn = np.concatenate(
            [x.reshape(-1, 2) for x in (self.points, self.beams, *self.rims, *ground)]
        )
        low, high = (f(drawn, axis=0) for f in (np.min, np.max))
        middle = (low + high) / 2
        extent = np.maximum(high - low, 1e-3 * max((high - low).max(), 1e-3))
        room = np.array([WIDTH * (1 - 2 * SIDE), HEIGHT * (1 - HEAD - FOOT)])
        metres = (extent / room).max()  # per pixel
        # a title above, clock and scale below
        middle = middle - [0, metres * HEIGHT * (FOOT - HEAD) / 2]
        self.ax.set_xlim(middle[0] - metres * WIDTH / 2, middle[0] + metres * WIDTH / 2)
        self.ax.set_ylim(middle[1] - metres * HEIGHT / 2, middle[1] + metres * HEIGHT / 2)
        return float(metres * HEIGHT)

    def _stand_still(self, title: str, size: float) -> None:
        """Floors, title, a scale, and the directions of the world's axes."""
        for corners in self.figure.floors:
            self.ax.fill(*self._seen(corners).T, color=FLOOR, zorder=0)
        here = {"transform": self.ax.transAxes, "color": INK}
        self.ax.text(0.5, 0.96, title, ha="center", va="top", **here)
        width = size * WIDTH / HEIGHT
        length = max(
            d * 10.0**e
            for e in (np.floor(np.log10(width)) + [-2, -1, 0])
            for d in (1, 2, 5)
            if d * 10.0**e <= 0.2 * width
        )
        self.ax.plot(
            [0.04, 0.04 + length / width],
            [0.05, 0.05],
            color=INK,
            linewidth=2,
            transform=self.ax.transAxes,
        )
        self.ax.text(0.04, 0.065, f"{length:g} m", fontsize="small", **here)
        for axis, name, colour in zip(self._seen(np.eye(3)), "xyz", AXES, strict=True):
            if np.linalg.norm(axis) > 0.05:  # not along the line of sight
                tip = np.array([0.92, 0.07]) + 0.05 * axis * [HEIGHT / WIDTH, 1]
                self.ax.plot(
                    [0.92, tip[0]],
                    [0.07, tip[1]],
                    color=colour,
                    linewidth=1.5,
                    transform=self.ax.transAxes,
                )
                label = tip + 0.022 * axis * [HEIGHT / WIDTH, 1] / np.linalg.norm(axis)
                self.ax.text(
                    *label,
                    name,
                    fontsize="small",
                    ha="center",
                    va="center",
                    transform=self.ax.transAxes,
                    color=colour,
                )

    def _trajectory(self, n: int) -> tuple[Any, ...]:
        """Moving things of a trajectory, from back to front: trace, axes, sticks, rods and rims,
        joints, points of constraints, centres of mass.
        """
        lines = library("matplotlib.collections", EXTRA).LineCollection
        colour = STICK if n == 0 else f"C{n}"
        weights = np.array([w for _, w in self.figure.weights])
        sizes = (3 + 5 * np.cbrt(weights / weights.max(initial=1e-12))) ** 2
        (trace,) = self.ax.plot([], [], color=colour, alpha=0.6, linewidth=1, animated=True)
        axes = lines([], colors=AXES, linewidths=1, animated=True)
        sticks = lines([], colors=colour, linewidths=3, capstyle="round", animated=True)
        bonds = lines([], colors=MARK, linewidths=1.5, animated=True)
        arms = lines([], colors=colour, linewidths=1.5, animated=True)
        (joints,) = self.ax.plot([], [], "o", color=INK, markersize=3.5, animated=True)
        (rings,) = self.ax.plot(
            [], [], "o", color=MARK, markersize=8, fillstyle="none", animated=True
        )
        masses = self.ax.scatter(
            np.zeros(len(sizes)), np.zeros(len(sizes)), s=sizes, color=MASS, zorder=3, animated=True
        )
        for collection in (axes, sticks, bonds, arms):
            self.ax.add_collection(collection, autolim=False)
        return trace, axes, sticks, bonds, arms, joints, rings, masses

    def show(self, k: int) -> None:
        """Draw the figure at time k."""
        named, frames = len(self.figure.names), self.figure.frames.shape[2]
        for n, moving in enumerate(self.moving):
            trace, axes, sticks, bonds, arms, joints, rings, masses = moving
            points = self.points[n, k]
            trace.set_data(*self.points[n, : k + 1, self.figure.trace].T)
            axes.set_segments(
                [(points[f], end) for f in range(named) for end in self.axes[n, k, f]]
            )
            sticks.set_segments([*(points[pair] for pair in self.figure.sticks), *self.beams[n, k]])
            rods = [points[pair] for pair in self.figure.rods]
            bonds.set_segments([*rods, *(rim[n, k] for rim in self.rims)])
            arms.set_segments(
                [
                    (points[int(f)], points[frames + i])
                    for i, (f, _) in enumerate(self.figure.weights)
                ]
            )
            joints.set_data(*points[: self.figure.bodies].T)
            rings.set_data(*points[self.figure.closed].T)
            masses.set_offsets(points[frames:])
            for artist in moving:
                self.ax.draw_artist(artist)
        self.clock.set_text(f"t = {self.times[k]:.2f} s")
        self.ax.draw_artist(self.clock)
