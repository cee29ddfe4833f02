"""Pictures of a motion, by Matplotlib: shaded solids on a ground, at one scale, each with its time."""

from __future__ import annotations

from collections.abc import Iterator
from typing import (
    TYPE_CHECKING,
    Any,
)

import numpy as np

from dalembert.displays import visible
from dalembert.results.labels import library
from dalembert.views.figures.stick_figure import StickFigure
from dalembert.views.fonts import (
    EXTRA,
    fonts,
)
from dalembert.views.motions.motion_page import finite
from dalembert.views.pictures.drawn_shapes import (
    DrawnShape,
    Fineness,
    drawn_shapes,
)
from dalembert.views.pictures.ground import (
    grid_lines,
    height_of,
    hull,
)
from dalembert.views.pictures.painter import (
    BodySurfaces,
    ColouredSurface,
    painted,
)
from dalembert.views.pictures.pedestals import pedestal_below
from dalembert.views.pictures.scene import (
    BEAM,
    ROD,
)
from dalembert.views.pictures.viewpoint import (
    camera_of,
    upwards,
)
from dalembert.views.round_steps import round_length
from dalembert.views.solids.joint_shapes import ranges_of
from dalembert.views.solids.proportions import Proportions
from dalembert.views.solids.solid_data import (
    COLOURS,
    Colour,
)
from dalembert.views.solids.triangles import (
    Triangles,
    tube,
)

if TYPE_CHECKING:
    from dalembert.results.run import Run

FINE = 4  # points of the trace from one picture to the next
WIDTH, HEIGHT, DPI = 640, 480, 100  # of a picture [pixels]; even, as MP4 needs
SIDE, HEAD, FOOT = 0.05, 0.1, 0.13  # of a picture, left free around the motion
PAPER, INK, SOFT, LINE, TRACE, MARK = (
    "#fbfbf9",
    "#1b2733",
    "#76828e",
    "#dfe3e6",
    "#c4572a",
    "#7a3fa0",
)  # as in the page
AXES = ("#d62f2f", "#2c9a41", "#2f62d6")  # x, y, z
ROUNDS = 1  # in which triangles that pierce each other are split
SIDES = 18  # of a round solid
FINENESS = Fineness(((10_000, SIDES),), 4000)
SHADE = 0.14  # opacity of shadows
TINT = 0.55  # part of a trajectory's own colour in those of its solids, but of the first
EDGE = 0.6  # width of the edges that close gaps between triangles [points]


class Film:
    """Pictures of a figure; things at rest are drawn once, the moving ones anew for each picture."""

    def __init__(self, run: Run, figure: StickFigure, title: str):
        library("matplotlib", EXTRA)
        self.figure = figure
        mechanism = run.own_mechanism()
        ranges = ranges_of(mechanism, finite(run))
        self.names = [body.name for body in mechanism.bodies]
        self._take(drawn_shapes(mechanism, FINENESS, ranges).shapes)
        self.thin = Proportions.of(mechanism).thin
        self.camera = camera_of(mechanism, self._poses(0, 0))
        self.up = upwards(mechanism)
        self.title = title
        self.reached = self._reached()
        self.height = height_of(self.reached, self.up)
        if not self.camera.is_planar:
            pedestal = pedestal_below(mechanism, self.shapes, self.reached, self.height)
            self._take((*self.shapes, *pedestal))

    def _take(self, shapes: tuple[DrawnShape, ...]) -> None:
        """Have these shapes on the bodies."""
        self.shapes = shapes
        self.surfaces = BodySurfaces.of(shapes, self.names)
        self.ends = np.cumsum([len(shape.vertices) for shape in shapes])

    def _poses(self, n: int, k: int) -> np.ndarray:
        """Poses (B, 3, 4) of the bodies of trajectory n at time k."""
        frames = self.figure.frames[n, k, : len(self.names)].reshape(-1, 4, 3)
        return np.concatenate([frames[:, 1:], frames[:, :1]], axis=1).transpose(0, 2, 1)

    def surface(self, n: int, k: int) -> ColouredSurface:
        """Solids, bent beams and rods of trajectory n at time k, in the world."""
        bodies = self.surfaces.placed(self._poses(n, k))
        both = bodies.and_(ColouredSurface.joined(self._loose(n, k)))
        if not n:
            return both
        rgb = np.array(library("matplotlib.colors", EXTRA).to_rgb(f"C{n}"))
        colours = both.colours.copy()
        colours[:, :3] += TINT * (rgb - colours[:, :3])
        return both._replace(colours=colours)

    def _loose(self, n: int, k: int) -> Iterator[tuple[Triangles, Colour]]:
        """Tubes along beams and rods."""
        for curve in self.figure.beams[n, k]:
            yield tube(curve, BEAM * self.thin, SIDES), COLOURS["beam"]
        for rod in self.figure.rods:
            ends = self.figure.frames[n, k, rod, :3]
            yield tube(ends, ROD * self.thin, SIDES), COLOURS["link"]

    def _reached(self) -> np.ndarray:
        """Points (P, 3) that the motion reaches: of solids at some times, of the trace at all."""
        count, times = self.figure.frames.shape[:2]
        some = np.unique(np.linspace(0, times - 1, 60).round().astype(int))
        points = [self.surface(n, k).vertices for n in range(count) for k in some]
        points += [self.figure.points[:, :, self.figure.trace].reshape(-1, 3)]
        points += [rim.reshape(-1, 3) for rim in self.rims()]
        return np.concatenate([*points, *self.figure.floors])

    def rims(self) -> list[np.ndarray]:
        """Points (N, K, 49, 3) of the rims of bodies that roll."""
        angle = np.linspace(0, 2 * np.pi, 49)[:, None]
        rims = []
        for point, (i, j), (a, b) in self.figure.rims:
            frame = self.figure.frames[:, :, point, None, :]
            first, second = (frame[..., 3 + 3 * k : 6 + 3 * k] for k in (i, j))
            circle = a * np.cos(angle) * first + b * np.sin(angle) * second
            rims.append(frame[..., :3] + circle)
        return rims

    def pictures(self, count: int | None = None) -> Iterator[np.ndarray]:
        """(HEIGHT, WIDTH, 3) bytes at every `FINE`-th time, or of so many of them spread over the
        motion.
        """
        matplotlib = library("matplotlib", EXTRA)
        Canvas = library("matplotlib.backends.backend_agg", EXTRA).FigureCanvasAgg
        own = fonts()
        names = [name for name, _ in own]
        style = {"text.parse_math": False, "font.family": names, "font.size": 10}
        times = np.arange(0, len(self.figure.times), FINE)
        if count is not None:
            times = times[np.unique(np.linspace(0, len(times) - 1, count).round().astype(int))]
        with matplotlib.rc_context(style):
            stage = Stage(self, set().union(*(found for _, found in own)))
            canvas = Canvas(stage.picture)
            canvas.draw()
            empty = canvas.copy_from_bbox(stage.picture.bbox)
            for k in times:
                canvas.restore_region(empty)
                stage.show(int(k))
                yield np.ascontiguousarray(np.asarray(canvas.buffer_rgba())[..., :3])


class Stage:
    """A figure of Matplotlib in which a film is drawn."""

    def __init__(self, film: Film, letters: set[int]):
        self.film, self.camera = film, film.camera
        self.picture = library("matplotlib.figure", EXTRA).Figure(
            (WIDTH / DPI, HEIGHT / DPI), dpi=DPI, facecolor=PAPER
        )
        self.ax = self.picture.add_axes((0.0, 0.0, 1.0, 1.0))
        self.ax.set_axis_off()
        self.metres = self._fit()
        self._stand_still(visible(film.title, letters))
        self.clock = self.ax.text(
            0.5, 0.035, "", transform=self.ax.transAxes, color=INK, ha="center", animated=True
        )

    def _fit(self) -> float:
        """Set the window to the whole motion, at one scale in all directions; its width [m]."""
        seen = self.camera.seen(self.film.reached)
        low, high = seen.min(axis=0), seen.max(axis=0)
        extent = np.maximum(high - low, 1e-3 * max((high - low).max(), 1e-3))
        room = np.array([WIDTH * (1 - 2 * SIDE), HEIGHT * (1 - HEAD - FOOT)])
        metres = float((extent / room).max())  # per pixel
        middle = (low + high) / 2 - [0, metres * HEIGHT * (FOOT - HEAD) / 2]
        half = metres * np.array([WIDTH, HEIGHT]) / 2
        self.ax.set_xlim(middle[0] - half[0], middle[0] + half[0])
        self.ax.set_ylim(middle[1] - half[1], middle[1] + half[1])
        return metres * WIDTH

    def _stand_still(self, title: str) -> None:
        """Ground, floors, title, a scale, and the directions of the world's axes."""
        lines = library("matplotlib.collections", EXTRA).LineCollection
        film = self.film
        if self.camera.is_planar:
            grid, step = grid_lines(film.reached, self.camera.towards, 0.0)
        else:
            grid, step = grid_lines(film.reached, film.up, film.height)
        self.ax.add_collection(
            lines(self.camera.seen(grid), colors=LINE, linewidths=0.8, zorder=0), autolim=False
        )
        for corners in film.figure.floors:
            self.ax.fill(*self.camera.seen(corners).T, color=SOFT, alpha=0.13, zorder=0)
        self.ax.text(
            0.5, 0.965, title, ha="center", va="top", transform=self.ax.transAxes, color=INK
        )
        self._scale(step)
        self._triad()

    def _scale(self, step: float) -> None:
        """A bar as long as the squares of the ground."""
        while step > 0.3 * self.metres:
            step = round_length(step / 2)
        at = self.ax.transAxes
        ends = [0.04, 0.04 + step / self.metres]
        self.ax.plot(ends, [0.045, 0.045], color=INK, linewidth=2, transform=at)
        self.ax.text(0.04, 0.06, f"{step:g} m", fontsize="small", color=INK, transform=at)

    def _triad(self) -> None:
        """Directions of the world's axes that are not along the line of sight."""
        flat = [HEIGHT / WIDTH, 1]
        for axis, name, colour in zip(self.camera.seen(np.eye(3)), "xyz", AXES, strict=True):
            if np.linalg.norm(axis) > 0.05:
                start = np.array([0.92, 0.07])
                end = start + 0.05 * axis * flat
                ends = np.stack([start, end])
                at = self.ax.transAxes
                self.ax.plot(*ends.T, color=colour, linewidth=1.5, transform=at)
                place = end + 0.022 * axis * flat / np.linalg.norm(axis)
                self.ax.text(
                    *place,
                    name,
                    fontsize="small",
                    ha="center",
                    va="center",
                    transform=at,
                    color=colour,
                )

    def show(self, k: int) -> None:
        """Draw the motion at time k: shadows, rims, solids, traces, the time."""
        surfaces = [self.film.surface(n, k) for n in range(len(self.film.figure.frames))]
        artists = [*self._shadows(surfaces), *self._rims(k), self._solids(surfaces)]
        artists += [self._trace(n, k) for n in range(len(surfaces))]
        for artist in artists:
            self.ax.add_artist(artist)
            self.ax.draw_artist(artist)
            artist.remove()
        self.clock.set_text(f"t = {self.film.figure.times[k]:.2f} s")
        self.ax.draw_artist(self.clock)

    def _solids(self, surfaces: list[ColouredSurface]) -> Any:
        """Shaded triangles of all trajectories."""
        together = surfaces[0]
        for surface in surfaces[1:]:
            together = together.and_(surface)
        triangles = painted(together, self.camera, HEIGHT, ROUNDS)
        polygons = library("matplotlib.collections", EXTRA).PolyCollection
        return polygons(
            triangles.corners,
            facecolors=triangles.colours,
            edgecolors=triangles.colours,
            linewidths=EDGE,
        )

    def _shadows(self, surfaces: list[ColouredSurface]) -> Iterator[Any]:
        """Outlines of all solids on the ground, as one shape."""
        if self.camera.is_planar or self.film.figure.floors or not self.film.shapes:
            return
        Path = library("matplotlib.path", EXTRA).Path
        PathPatch = library("matplotlib.patches", EXTRA).PathPatch
        film = self.film
        outlines = []
        for surface in surfaces:
            flat = surface.vertices - (surface.vertices @ film.up - film.height)[:, None] * film.up
            seen = self.camera.seen(flat)
            for part in np.split(seen[: film.ends[-1]], film.ends[:-1]):
                outline = hull(part)
                if len(outline) > 2:
                    outlines.append(Path(np.vstack([outline, outline[:1]]), closed=True))
        if outlines:
            whole = Path.make_compound_path(*outlines)
            yield PathPatch(whole, facecolor="black", alpha=SHADE, linewidth=0)

    def _rims(self, k: int) -> Iterator[Any]:
        """Rims of bodies that roll."""
        lines = library("matplotlib.collections", EXTRA).LineCollection
        rims = [self.camera.seen(rim[n, k]) for rim in self.film.rims() for n in range(len(rim))]
        if rims:
            yield lines(rims, colors=MARK, linewidths=1.5)

    def _trace(self, n: int, k: int) -> Any:
        """The way of the tip until time k."""
        Line = library("matplotlib.lines", EXTRA).Line2D
        points = self.film.figure.points[n, : k + 1, self.film.figure.trace]
        colour = TRACE if n == 0 else f"C{n}"
        return Line(*self.camera.seen(points).T, color=colour, linewidth=1.3, alpha=0.85)
