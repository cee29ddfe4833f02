"""A motion as a film without scripts: pictures of thick links that style sheets show in turn."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from dalembert.closed_forms.printing.markup import Markup, element
from dalembert.views.stick_figure import StickFigure, figure_of, view_of

PICTURES = 48  # of the film
GHOSTS = 5  # of these, shown faintly all the time
WIDTH, TALLEST, FLATTEST = 560.0, 420.0, 220.0  # of the picture in its own units
EDGE, FOOT = 26.0, 30.0  # left free around the motion, and below it for the scale
LEAST = 1.5  # length of a stick that is drawn, in units of the picture


class Screen(NamedTuple):
    """A plane on which a motion is seen: the points of all pictures in units of the picture."""

    figure: StickFigure
    points: np.ndarray  # (K, P, 2)
    beams: np.ndarray  # (K, beams, points, 2)
    scale: float  # units per metre
    height: float


def film(run: Any) -> Markup:
    """A figure with the film of the first trajectory of a run."""
    times = np.linspace(float(run.times[0]), float(run.times[-1]), PICTURES)
    screen = _screen(figure_of(run, times))
    duration = max(float(times[-1] - times[0]), 0.5)
    pictures = [_picture(screen, k, duration) for k in range(PICTURES)]
    ghosts = [
        element("path", d=_skeleton(screen, k), class_="ghost")
        for k in np.linspace(0, PICTURES - 1, GHOSTS).round().astype(int)
    ]
    label = (
        f"Film of the motion from {times[0]:g} s to {times[-1]:g} s; {GHOSTS} postures on the way "
        "are drawn faintly"
    )
    svg = element(
        "svg",
        *_ground(screen),
        *ghosts,
        *_trace(screen),
        *pictures,
        viewBox=f"0 0 {WIDTH:g} {screen.height:g}",
        role="img",
        aria_label=label,
        class_="film",
        style=f"--length: {duration:.3g}s",
    )
    box = element("input", type="checkbox", class_="hold", id="hold")
    hold = element("label", " hold the film", for_="hold")
    caption = element(
        "figcaption",
        f"The motion in real time, again and again, in {PICTURES} pictures; faint: {GHOSTS} "
        "postures at equal intervals; line: the way of the point that comes farthest round.",
    )
    return element("figure", box, hold, svg, caption, class_="motion")


def _screen(figure: StickFigure) -> Screen:
    """The plane that shows most of the motion, fitted into the picture."""
    right, up = view_of(figure.points)
    plane = np.stack([right, up], axis=-1)
    points = figure.points[0] @ plane
    beams = figure.beams[0] @ plane
    everything = np.concatenate([points.reshape(-1, 2), beams.reshape(-1, 2)])
    low, high = everything.min(axis=0), everything.max(axis=0)
    extent = np.maximum(high - low, 1e-3 * max(float((high - low).max()), 1e-6))
    room = WIDTH - 2 * EDGE
    height = float(np.clip(extent[1] / extent[0] * room, FLATTEST, TALLEST))
    scale = float(min(room / extent[0], height / extent[1]))
    middle = (low + high) / 2
    centre = np.array([WIDTH / 2, EDGE + height / 2])
    flipped = np.array([scale, -scale])
    return Screen(
        figure,
        (points - middle) * flipped + centre,
        (beams - middle) * flipped + centre,
        scale,
        height + EDGE + FOOT,
    )


def _skeleton(screen: Screen, k: int) -> str:
    """All links of a picture as one path."""
    points = screen.points[k]
    pairs = [*screen.figure.sticks, *screen.figure.rods]
    lines = [points[[i, j]] for i, j in pairs]
    long = [line for line in lines if np.linalg.norm(line[1] - line[0]) > LEAST]
    return "".join(map(_polyline, [*long, *screen.beams[k]])) or _polyline(points[:1])


def _polyline(points: np.ndarray) -> str:
    steps = "L".join(f"{x:.1f} {y:.1f}" for x, y in points)
    return f"M{steps}" if len(points) > 1 else f"M{steps}h.1"


def _joints(screen: Screen, k: int) -> str:
    """Places of bodies and of constraints as dots of one path."""
    shown = [*range(1, screen.figure.bodies), *screen.figure.closed]
    return "".join(_polyline(screen.points[k][[i]]) for i in shown)


def _picture(screen: Screen, k: int, duration: float) -> Markup:
    """One picture of the film, shown for its share of the time."""
    delay = (k / PICTURES - 1) * duration
    return element(
        "g",
        element("path", d=_skeleton(screen, k), class_="link"),
        element("path", d=_joints(screen, k), class_="hinge"),
        style=f"animation-delay:{delay:.3f}s",
    )


def _trace(screen: Screen) -> Iterator[Markup]:
    """The way of the point that comes farthest round."""
    yield element("path", d=_polyline(screen.points[:, screen.figure.trace]), class_="way")


def _ground(screen: Screen) -> Iterator[Markup]:
    """A bar of a round length."""
    length = _round_length(0.3 * WIDTH / screen.scale)
    end = EDGE + length * screen.scale
    y = screen.height - 12
    yield element("path", d=f"M{EDGE:g} {y - 4:.1f}v8m0 -4H{end:.1f}m0 -4v8", class_="axis")
    yield element("text", f"{length:g} m", x=f"{end + 8:.1f}", y=f"{y + 4:.1f}", class_="scale")


def _round_length(most: float) -> float:
    """The largest of 1, 2, 5 times a power of ten that is not beyond a length."""
    power = 10.0 ** np.floor(np.log10(most))
    choices: Sequence[float] = (1.0, 2.0, 5.0)
    return float(max(d * power for d in choices if d * power <= most * (1 + 1e-9)))


FILM_STYLE = f"""@keyframes shown {{ 0% {{ visibility: visible; }} {100 / PICTURES:.4f}% {{ visibility: hidden; }} }}
.film g {{ visibility: hidden; animation: shown var(--length) steps(1) infinite; }}
.film g:last-of-type {{ visibility: hidden; }}
.hold:checked ~ .film g {{ animation-play-state: paused; }}
@media (prefers-reduced-motion: reduce) {{ .film g {{ animation: none; }} .film g:last-of-type {{ visibility: visible; }} }}
@media print {{ .film g {{ animation: none; }} .film g:last-of-type {{ visibility: visible; }} .hold, .hold + label {{ display: none; }} }}
"""
