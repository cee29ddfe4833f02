"""Draw the pictures of README.md and of pages of docs: `python docs/pictures.py`."""

import base64
import io
import re
import shutil
import warnings
from contextlib import redirect_stdout
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from PIL import Image

import dalembert as da
from dalembert import (
    Mechanism,
    Run,
    data,
    generators,
    loops,
    placement,
    project,
    simulate,
    stability_map,
)
from dalembert.views.figures.stick_figure import figure_of
from dalembert.views.motions import animation, films
from dalembert.views.solids import solid_data

ROOT = Path(__file__).parents[1]
ACROSS = 3  # pictures in a row
PERIOD, RATE, KNOTS = 6.0, 20, 96  # of the eight [s], pictures per second, places on it
HAND = "panda_leftfinger"
GLASS = ["--no-sandbox", "--use-gl=angle", "--use-angle=swiftshader", "--enable-unsafe-swiftshader"]
STAGE = """() => {      // without scale and axes, in colours for any background, from a place that sways
  corner = () => {};
  document.documentElement.style.setProperty("--line", "#8b98a566");
  document.documentElement.style.setProperty("--trace", "#e0703c");
  document.querySelectorAll("header, form").forEach(part => part.style.display = "none");
  over = (n, k) => line(run.frames[n].map((_, i) => tip(n, i)), colour("trace"), 2.2);
  const [y, p] = run.view;
  window.shot = k => {
    at = k; yaw = y + 0.5 + 0.2 * Math.sin(2 * Math.PI * k / last); pitch = 0.3; aim();
    if (!k) { fit(); zoom = 0.94; }
    draw();
    return view.toDataURL("image/png");
  };
}"""
COLOURS = 96  # of a diagram: a small file


def said(page: str, until: str | None = None) -> dict[str, Any]:
    """Names of the snippets of a page, those before the text `until`."""
    text = (ROOT / page).read_text(encoding="utf-8")
    names: dict[str, Any] = {}
    with redirect_stdout(io.StringIO()):
        for code in re.findall(
            r"^```python\n(.*?)^```\n",
            text[: text.find(until) if until else None],
            re.DOTALL | re.MULTILINE,
        ):
            exec(code, names)
    return names


def swing() -> Figure:
    """The run of the README: its snippets up to the picture, whose last one plots."""
    return said("README.md", "docs/swing.png")["run"].plot()


def constraints() -> Figure:
    """The examples of docs/constraints.md and docs/program_control.md."""
    figure = Figure(figsize=(13, 6.6), layout="constrained")
    panels = figure.subplots(2, 4).ravel()
    page, control = said("docs/constraints.md"), said("docs/program_control.md")
    rod(panels[0], page["pendulum"])
    four_bar(panels[1], page["turn"])
    path(panels[2], page["glide"].q[:, 1:3], "Sleigh: path of the knife edge")
    path(panels[3], contact(page["wobble"]), "Coin: contact, centre (dotted)")
    path(panels[3], page["wobble"].q[:, 4:6], "Coin: contact, centre (dotted)", ":")
    tracks(panels[4], page["snake"])
    skates(panels[5], control["real"], control["best"])
    tip(panels[6], control["led"], control["q"], control["qd"])
    region(figure, panels[7], control["coupled"])
    return figure


def rod(axes: Axes, pendulum: Mechanism) -> None:
    """A pendulum from its end at rest, with the forces of its rod on the bob."""
    run = simulate(pendulum, *project(pendulum, [0.6, -0.3], [0, 0]), 0.9, record=0.1)
    force = run.multipliers[:, :1] * run.q / 0.7
    for x, y in run.q:
        axes.plot([0, x], [0, y], color="0.8", linewidth=1)
    axes.quiver(
        *run.q.T, *force.T, angles="xy", scale_units="xy", scale=60, color="C3", width=0.006
    )
    path(axes, run.q, "Pendulum: force of its rod", "o", markersize=4)


def four_bar(axes: Axes, run: Run) -> None:
    """A loop at some times, with the force of its pin on the rocker."""
    forces = run.observables["constraint_reactions"][:, 3:5]
    times = run.times[::250]
    figure = figure_of(run, times)
    pin = figure.closed[1]
    for k in range(len(times)):
        for first, second in figure.sticks:
            axes.plot(
                *figure.frames[0, k, [first, second], :2].T, color="C0", linewidth=1, alpha=0.4
            )
    ends = figure.frames[0, :, pin, :2]
    axes.quiver(
        *ends.T, *forces[::250].T, angles="xy", scale_units="xy", scale=30, color="C3", width=0.006
    )
    path(axes, ends, "Four-bar: force of its pin", ".")


def contact(run: Run) -> np.ndarray:
    """Places where a coin touches the table: the lowest of its rim."""
    (rolling,) = run.mechanism.constraints
    axis = placement(run.mechanism, run.q, "coin")[:, :3, 2]
    flat, height = axis[:, :2], axis[:, 2:]
    return run.q[:, 4:6] + rolling.radius[0] * height * flat / np.linalg.norm(flat, axis=1)[:, None]


def tracks(axes: Axes, run: Run) -> None:
    """Ways of both axles of a snakeboard, across at a larger scale than along."""
    for end in ("front", "back"):
        way = placement(run.mechanism, run.q, end)[:, :2, 3]
        path(axes, way, "Snakeboard: ways of its axles", label=end)
    axes.set_aspect("auto")
    axes.legend(fontsize=7)


def skates(axes: Axes, real: Mechanism, best: Mechanism) -> None:
    """A skate on an incline by two principles."""
    for system, mu, line in ((real, None, "-"), (best, [0.0], ":"), (best, [0.3], "--")):
        run = simulate(system, [0, 0, 0], [0, 0, 1], 10.0, multipliers0=mu, record=0.01)
        label = "d'Alembert-Chetaev" if mu is None else f"vakonomic, μ(0) = {mu[0]:g}"
        path(axes, run.q[:, :2], "Skate on an incline, x downhill", line, label=label)
    axes.legend(fontsize=7)


def tip(axes: Axes, arm: Mechanism, q: np.ndarray, qd: np.ndarray) -> None:
    """The tip of an arm under a servo constraint, from a start beside its program."""
    run = simulate(arm, q + [0.1, -0.1], qd, 5.0, record=0.002)
    path(
        axes, placement(run.mechanism, run.q, "tip")[:, :2, 3], "Servo: tip of an arm, started off"
    )


def region(figure: Figure, axes: Axes, coupled: Mechanism) -> None:
    """The stable region of a program that feels the reaction."""
    numbers = {"speed.alpha": np.linspace(-6, 4, 61), "speed.c": np.linspace(-3, 4, 61)}
    chart = stability_map(coupled, [0.0], [1.0], numbers, [0.0, 0.0, 0.0])
    figure.colorbar(chart.draw(axes), ax=axes, label="growth [1/s]")
    axes.set(xlabel="α", ylabel="c [1/s]", title="Two-way program: stable where blue")


def path(axes: Axes, points: np.ndarray, title: str, line: str = "-", **style: Any) -> None:
    """A curve in a plane at one scale."""
    axes.plot(*points.T, line, linewidth=1.2, **style)
    axes.set(xlabel="x [m]", ylabel="y [m]", title=title)
    axes.set_aspect("equal", adjustable="datalim")


def programs() -> Figure:
    """Motions that tend to a nearly rectangular curve, and an S-curve with its derivatives."""
    figure = Figure(figsize=(9, 3.6), layout="constrained")
    plane, profile = figure.subplots(1, 2, width_ratios=(1, 1.3))
    for initial in ([0.05, 0.02], [-0.1, -0.15], [0.5, 0.35], [-0.5, 0.3]):
        curve = generators.Superellipse([0.4, 0.3], 6, attraction=0.2, speed=0.5, initial=initial)
        X, Y = curve.states(np.linspace(0, 5, 501)).T
        plane.plot(X, Y, linewidth=1)
        plane.plot(*initial, "k.", markersize=4)
    plane.set(xlabel="X [m]", ylabel="Y [m]", title="Superellipse, n = 6", aspect="equal")
    move = generators.SCurve(0.0, 1.0, velocity=1.5, acceleration=4.0, jerk=40.0)
    times = np.linspace(-0.1, move.duration + 0.1, 1001)
    rows = move.derivatives(times[:, None], 3)
    names = ("y / 1 m", "y' / 1.5 m/s", "y'' / 4 m/s²", "y''' / 40 m/s³")
    for name, row, limit in zip(names, rows, (1, 1.5, 4, 40), strict=True):
        profile.plot(times, row[:, 0] / limit, label=name, linewidth=1)
    profile.set(xlabel="t [s]", title="S-curve")
    profile.legend(fontsize="small")
    return figure


def elastic_links() -> Figure:
    """The run and the vibrations of docs/elastic_pictures.md."""
    page = said("docs/elastic_pictures.md", "![")
    figure = Figure(figsize=(13, 3.6), layout="constrained")
    panels = figure.subplots(1, 4)
    run = page["run"]
    times = run.times[:: len(run.times) // 12]
    seen = figure_of(run, times, magnify=3.0)
    for k in range(len(times)):
        for points in seen.beams[0, k]:
            shade = 0.25 + 0.75 * k / len(times)
            panels[0].plot(*points[:, :2].T, color="C0", linewidth=1.5, alpha=shade)
    trace = figure_of(run, run.times, magnify=3.0)
    path(panels[0], trace.points[0, :, trace.trace, :2], "2 s of motion, deflections x 3")
    page["shapes"].draw(panels[1])
    page["chart"].draw(panels[2], most=500.0)
    page["chart"].waterfall(panels[3], most=500.0)
    return figure


def usual_loops() -> Image.Image:
    """The generators of `da.loops`, as films show them."""
    makers = [getattr(loops, name) for name in loops.__all__ if name != "Assembly"]
    tiles = [still(*(make(3) if make is loops.n_four_bar else make())) for make in makers]
    width, height = tiles[0].size
    rows = -(-len(tiles) // ACROSS)
    sheet = Image.new("RGB", (ACROSS * width, rows * height), films.PAPER)
    for k, tile in enumerate(tiles):
        row, column = divmod(k, ACROSS)
        sheet.paste(tile, (column * width, row * height))
    return sheet


def still(mechanism: Mechanism, q: np.ndarray) -> Image.Image:
    """A mechanism at rest in its start."""
    run = simulate(mechanism, q, np.zeros(mechanism.nv), 1e-3, method="dop853")
    picture = next(films.Film(run, figure_of(run, run.times[:1]), mechanism.name).pictures(1))
    return Image.fromarray(picture).resize((480, 360), Image.Resampling.LANCZOS)


def eight() -> Run:
    """A Panda under computed torque, whose hand writes an eight; a period of 6 s."""
    panda = da.load(data.path("panda"), lock=["panda_finger_joint1"])
    turn = 2 * np.pi / PERIOD
    angles = 2 * np.pi / KNOTS * np.arange(KNOTS)
    across, up = 0.26 * np.sin(angles), 0.15 * np.sin(2 * angles)
    places = np.stack([0.42 - 0.08 * np.cos(2 * angles), across, 0.52 + up], axis=1)
    q = followed(panda, places)
    spectrum = np.fft.rfft(q, axis=0) / KNOTS
    waves = [(k, 2 * spectrum[k].real, -2 * spectrum[k].imag) for k in range(1, 6)]

    def reference(t):
        """The first harmonics of the way of the joints, and their derivatives."""
        rows = [spectrum[0].real, 0 * spectrum[0].real, 0 * spectrum[0].real]
        for k, a, b in waves:
            w = k * turn
            c, s = da.cos(w * t), da.sin(w * t)
            rows[0] = rows[0] + a * c + b * s
            rows[1] = rows[1] + w * (b * c - a * s)
            rows[2] = rows[2] - w * w * (a * c + b * s)
        return rows

    start, speed, _ = reference(0.0)
    law = da.controllers.ComputedTorque(panda, reference, k_p=100.0)
    return simulate(panda, start, speed, t=PERIOD, control=law, record=1 / RATE)


def followed(arm: Mechanism, places: np.ndarray) -> np.ndarray:
    """Configurations (K, nq) whose hand is at places that close a loop, near a posture (damped least
    squares).
    """
    rest = q = np.array([0, -0.5, 0, -2.2, 0, 1.7, 0.8])
    found = []
    for place in [*places, *places]:  # the second round is periodic
        for _ in range(30):
            error = place - placement(arm, q, HAND)[:3, 3]
            J = da.jacobian(arm, q, HAND)[3:]
            inverse = J.T @ np.linalg.inv(J @ J.T + 1e-4 * np.eye(3))
            q = q + inverse @ error + 0.1 * (rest - q) @ (np.eye(len(q)) - inverse @ J).T
        found.append(q)
    return np.array(found[len(places) :])


def moving(run: Run, file: str) -> None:
    """A film of a run's page, without background, as an animated WebP; needs Playwright."""
    from playwright.sync_api import sync_playwright

    with TemporaryDirectory() as folder, sync_playwright() as playwright:
        page_file = run.animate(Path(folder) / "run.html", trace=HAND)
        session = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=GLASS)
        page = session.new_page(viewport={"width": 600, "height": 560})
        page.goto(f"{page_file.as_uri()}#0")
        page.evaluate(STAGE)
        count = len(run.times) - 1
        shots = [page.evaluate("k => shot(k)", k).partition(",")[2] for k in range(count)]
        session.close()
    images = [Image.open(io.BytesIO(base64.b64decode(shot))).convert("RGBA") for shot in shots]
    box = (0, 10, *images[0].size)
    first, *rest = [image.crop(box) for image in images]
    first.save(
        ROOT / "docs" / file,
        save_all=True,
        append_images=rest,
        duration=1000 // RATE,
        loop=0,
        quality=66,
        method=4,
    )


def save(figure: Figure, file: str) -> None:
    """Write a figure with few colours."""
    drawn = io.BytesIO()
    figure.savefig(drawn, format="png", dpi=80)
    write(Image.open(drawn).convert("RGB"), file)


def write(image: Image.Image, file: str, colours: int = COLOURS) -> None:
    """Write a picture with few colours."""
    image.quantize(colours).save(ROOT / "docs" / file, optimize=True)


def with_shades(image: Image.Image) -> Image.Image:
    """The picture in 255 colours, with those of all solids, which are rare in it."""
    solids = np.array([colour[:3] for colour in solid_data.COLOURS.values()])
    sheet = np.concatenate([np.asarray(image), animation.shades(solids, image.width)])
    return image.quantize(
        palette=Image.fromarray(sheet).quantize(255), dither=Image.Dither.NONE
    ).convert("RGB")


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    save(swing(), "swing.png")
    save(programs(), "generators.png")
    save(constraints(), "constraints.png")
    write(with_shades(usual_loops()), "loops.png", 255)
    save(elastic_links(), "elastic_pictures.png")
    moving(eight(), "first.webp")
