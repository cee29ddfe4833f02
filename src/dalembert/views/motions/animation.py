"""Motions: as one HTML page that needs nothing else, as a GIF by Pillow, as an MP4 by ffmpeg."""

from __future__ import annotations

import shutil
import subprocess
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from dalembert.arguments import path_of
from dalembert.errors import DalembertError
from dalembert.results.labels import library
from dalembert.results.record_selection import thinned
from dalembert.views.figures.beam_curves import POINTS
from dalembert.views.figures.constraint_marks import ConstraintMarks
from dalembert.views.figures.stick_figure import MOST_TOGETHER, figure_of
from dalembert.views.fonts import EXTRA
from dalembert.views.motions.films import (
    FINE,
    HEIGHT,
    PAPER,
    WIDTH,
    Film,
)
from dalembert.views.motions.motion_page import write_page

if TYPE_CHECKING:
    from dalembert.results.run import Run

PAGES, FILMS = (".html", ".htm"), (".gif", ".mp4")
MOST_RECORDS, MOST_NUMBERS = 1001, 1_500_000  # in a page: records beyond are thinned out
MOST_KNOTS = 100_000  # records that a film goes through
MOST_PICTURES = {".gif": 1500, ".mp4": 10_000}  # in a film; Pillow holds all of a GIF in memory
FPS, FASTEST_GIF = 30.0, 50.0  # pictures per second; players slow down what is faster
PALETTE_PICTURES = 4  # whose colours a GIF has
DARKEST, LIGHTEST, SHADE_ROWS = 0.52, 1.06, 8  # of a solid's colour, in a palette; rows of each
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
    moments = times[0] + np.arange((count - 1) * FINE + 1) * (speed / fps / FINE)
    figure = figure_of(run, moments, trace, magnify)
    film = Film(run, figure, _title(run.system.name, speed, magnify))
    (_write_gif if path.suffix.lower() == ".gif" else _write_mp4)(film, path, fps)
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
    """The page with as many records as it can hold."""
    m = run.mechanism
    together = 1 if run.q.ndim == 2 else min(len(run.q), MOST_TOGETHER)
    places = len(m.frame_names) + len(ConstraintMarks.of(m).places)
    curves = POINTS * len(m.elastic_bodies)
    numbers = together * (9 * places + 3 * curves)
    count = min(len(run.times), MOST_RECORDS, max(2, MOST_NUMBERS // numbers))
    chosen = np.unique(np.linspace(0, len(run.times) - 1, count).round().astype(int))
    figure = figure_of(run, run.times[chosen], trace, magnify)
    write_page(run, figure, path, _title(m.name, 1.0, magnify), speed)


# --- films ---


def _write_gif(film: Film, path: Path, fps: float) -> None:
    """A GIF that repeats for ever; its delays are hundredths of a second, and keep step with the
    time on average.
    """
    Image = library("PIL.Image", EXTRA)
    palette = _palette(film)
    images = (
        Image.fromarray(picture).quantize(palette=palette, dither=Image.Dither.NONE)
        for picture in film.pictures()
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


def _palette(film: Film) -> Any:
    """Colours of some pictures of a film, and of all its solids; the paper keeps its own."""
    Image = library("PIL.Image", EXTRA)
    sheet = np.concatenate([*film.pictures(PALETTE_PICTURES)])
    colours = np.array([shape.colour[:3] for shape in film.shapes]).reshape(-1, 3)
    sheet = np.concatenate([sheet, shades(colours, sheet.shape[1])])
    image = Image.fromarray(sheet).quantize(255, method=Image.Quantize.MEDIANCUT)
    rgb = library("matplotlib.colors", EXTRA).to_rgb
    image.putpalette(image.getpalette()[: 3 * 255] + [round(255 * x) for x in rgb(PAPER)])
    return image


def shades(colours: np.ndarray, width: int) -> np.ndarray:
    """Rows (H, width, 3) of colours (C, 3) from 0 to 1 in light and shadow, so that a palette has
    them where they are rare in a picture.
    """
    light = np.linspace(DARKEST, LIGHTEST, width)[None, :, None]
    rows = np.unique(colours, axis=0)[:, None, :] * light
    return np.repeat((255 * np.clip(rows, 0, 1)).round().astype(np.uint8), SHADE_ROWS, axis=0)


def _write_mp4(film: Film, path: Path, fps: float) -> None:
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
            for picture in film.pictures():
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
