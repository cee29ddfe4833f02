"""A motion as a film without scripts: outlines of solids, in pictures that a style sheet shows in turn."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from dalembert.closed_forms.printing.markup import Markup, element
from dalembert.views.pictures.drawn_shapes import Fineness
from dalembert.views.pictures.ground import hull
from dalembert.views.pictures.painter import BodySurfaces
from dalembert.views.pictures.scene import Scene, loose_parts, scene_of
from dalembert.views.pictures.viewpoint import body_poses
from dalembert.views.round_steps import round_length
from dalembert.views.solids.solid_data import COLOURS, Colour

PICTURES = 48  # of the film
GHOSTS = 5  # of these, shown faintly all the time
SIDES = 10  # of round solids
WIDTH, TALLEST, FLATTEST = 560.0, 420.0, 200.0  # of the picture in its own units
EDGE, FOOT = 22.0, 32.0  # left free around the motion, and below it for the scale
LEAST_DURATION = 0.5  # s
VISIBLE = 104 / PICTURES  # percent of the time that each is seen: no gap between two of them


class MovingShape(NamedTuple):
    """A solid in all pictures: its vertices (K, V, 3) [m], its colour."""

    vertices: np.ndarray
    colour: Colour


class Screen(NamedTuple):
    """Shapes as they are seen: (K, V, 2) in units of the picture, with depths (K, shapes)."""

    shapes: list[np.ndarray]
    depths: np.ndarray
    colours: list[str]
    scale: float  # units per metre
    height: float


def film(run: Any) -> Markup:
    """A figure with the film of a run of one trajectory."""
    wanted = np.linspace(float(run.times[0]), float(run.times[-1]), PICTURES)
    at = np.clip(np.searchsorted(run.times, wanted), 0, len(run.times) - 1)
    screen = _screen(run.own_mechanism(), run.q[at])
    duration = max(float(wanted[-1] - wanted[0]), LEAST_DURATION)
    ghosts = np.linspace(0, PICTURES - 1, GHOSTS).round().astype(int)
    label = (
        f"Film of the motion from {wanted[0]:g} s to {wanted[-1]:g} s; {GHOSTS} postures on the "
        "way are drawn faintly"
    )
    svg = element(
        "svg",
        *_scale(screen),
        *(element("path", d=_outline(screen, k), class_="ghost") for k in ghosts),
        *_trace(screen),
        *(_picture(screen, k, duration) for k in range(PICTURES)),
        viewBox=f"0 0 {WIDTH:g} {screen.height:g}",
        role="img",
        aria_label=label,
        class_="film",
        style=f"--length: {duration:.3g}s",
    )
    box = element("input", type="checkbox", class_="hold", id="hold")
    caption = element(
        "figcaption",
        f"The motion in real time, again and again; {GHOSTS} postures at equal intervals and the "
        "way of the part that comes farthest round are drawn all the time. ",
    )
    hold = element("label", " Hold the film", for_="hold")
    return element("figure", box, hold, svg, caption, class_="motion")


def _screen(mechanism: Any, q: np.ndarray) -> Screen:
    """Shapes on the plane of the camera, fitted into the picture."""
    scene = scene_of(mechanism, q[0], Fineness(((10_000, SIDES),), 3000))
    shapes = [*_solids(scene, q), *_loose(scene, q)]
    seen = [scene.camera.seen(shape.vertices) for shape in shapes]
    towards = scene.camera.towards
    depths = [(shape.vertices @ towards).mean(axis=1) for shape in shapes]
    low, high = _range(seen)
    extent = np.maximum(high - low, 1e-3 * max(float((high - low).max()), 1e-6))
    room = WIDTH - 2 * EDGE
    height = float(np.clip(extent[1] / extent[0] * room, FLATTEST, TALLEST))
    scale = float(min(room / extent[0], height / extent[1]))
    centre = np.array([WIDTH / 2, EDGE + height / 2])
    middle = (low + high) / 2
    placed = [(points - middle) * [scale, -scale] + centre for points in seen]
    colours = [_hexadecimal(shape.colour) for shape in shapes]
    return Screen(placed, np.array(depths).T, colours, scale, height + EDGE + FOOT)


def _range(seen: Sequence[np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
    """Corners of the window that holds all points."""
    points = [x.reshape(-1, 2) for x in seen] or [np.array([[-0.5, -0.5], [0.5, 0.5]])]
    joined = np.concatenate(points)
    return joined.min(axis=0), joined.max(axis=0)


def _solids(scene: Scene, q: np.ndarray) -> Iterator[MovingShape]:
    """Shapes that ride on bodies."""
    poses = body_poses(scene.mechanism, q)
    names = [body.name for body in scene.mechanism.bodies]
    for shape in scene.shapes:
        surfaces = BodySurfaces.of([shape], names)
        own = poses[:, surfaces.bodies]
        turned = np.einsum("kvij,vj->kvi", own[..., :3], surfaces.surface.vertices)
        yield MovingShape(turned + own[..., 3], shape.colour)


def _loose(scene: Scene, q: np.ndarray) -> Iterator[MovingShape]:
    """Bent beams, and rods of constraints."""
    pictures = [[*loose_parts(scene.mechanism, row, SIDES)] for row in q]
    for same in zip(*pictures, strict=True):
        vertices = np.stack([shape[0] for _, shape in same])
        yield MovingShape(vertices, COLOURS[same[0][0]])


def _hexadecimal(colour: Colour) -> str:
    return "#" + "".join(f"{round(255 * min(max(x, 0.0), 1.0)):02x}" for x in colour[:3])


# --- drawing ---


def _polygon(points: np.ndarray) -> str:
    """The outline of a convex shape as steps of a path."""
    outline = hull(points)
    return "M" + "L".join(f"{x:.1f} {y:.1f}" for x, y in outline) + "z"


def _outline(screen: Screen, k: int) -> str:
    """All shapes of a picture as one path."""
    return "".join(_polygon(shape[k]) for shape in screen.shapes)


def _picture(screen: Screen, k: int, duration: float) -> Markup:
    """A picture of the film, shown for its share of the time; near shapes cover far ones."""
    order = sorted(range(len(screen.shapes)), key=lambda s: screen.depths[k, s])
    paths = [
        element("path", d=_polygon(screen.shapes[s][k]), fill=screen.colours[s]) for s in order
    ]
    delay = (k / PICTURES - 1) * duration
    return element("g", *paths, style=f"animation-delay:{delay:.3f}s")


def _trace(screen: Screen) -> Iterator[Markup]:
    """The way of the middle of the shape that comes farthest round."""
    if not screen.shapes:
        return
    middles = np.stack([shape.mean(axis=1) for shape in screen.shapes])
    reach = np.linalg.norm(np.ptp(middles, axis=1), axis=-1)
    way = middles[int(reach.argmax())]
    yield element("path", d="M" + "L".join(f"{x:.1f} {y:.1f}" for x, y in way), class_="way")


def _scale(screen: Screen) -> Iterator[Markup]:
    """A bar of a round length."""
    length = round_length(0.3 * WIDTH / screen.scale)
    end = EDGE + length * screen.scale
    y = screen.height - 13
    yield element("path", d=f"M{EDGE:g} {y - 4:.1f}v8m0 -4H{end:.1f}m0 -4v8", class_="axis")
    yield element("text", f"{length:g} m", x=f"{end + 8:.1f}", y=f"{y + 4:.1f}", class_="scale")


FILM_STYLE = f"""@keyframes shown {{ 0% {{ visibility: visible; }} {VISIBLE:.4f}% {{ visibility: hidden; }} }}
.film g {{ visibility: hidden; animation: shown var(--length) steps(1) infinite; }}
.film g:first-of-type {{ visibility: visible; }}
.film g path {{ stroke: var(--card); stroke-width: .7; stroke-linejoin: round; }}
.hold:checked ~ .film g {{ animation-play-state: paused; }}
@media (prefers-reduced-motion: reduce) {{ .film g, .film g:first-of-type {{ animation: none; visibility: hidden; }} .film g:last-of-type {{ visibility: visible; }} }}
@media print {{ .film g, .film g:first-of-type {{ animation: none; visibility: hidden; }} .film g:last-of-type {{ visibility: visible; }} .hold, .hold + label {{ display: none; }} }}
"""
