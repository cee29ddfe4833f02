"""Draw the pictures of README.md, docs/generators.md and docs/loops.md: `python docs/pictures.py`."""

import io
import re
import warnings
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure
from PIL import Image

from dalembert import Mechanism, generators, loops, simulate
from dalembert.views import animation
from dalembert.views.stick_figure import figure_of

ROOT = Path(__file__).parents[1]
ACROSS = 4  # pictures in a row
COLOURS = 48  # of a diagram: a small file


def swing() -> Figure:
    """The run of the README: its snippets up to the picture, whose last one plots."""
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    names: dict = {}
    for code in re.findall(
        r"^```python\n(.*?)^```\n", text[: text.index("docs/swing.png")], re.DOTALL | re.MULTILINE
    ):
        exec(code, names)
    return names["run"].plot()


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


def usual_loops() -> Image.Image:
    """The generators of `da.loops`, as films show them."""
    makers = [getattr(loops, name) for name in loops.__all__ if name != "Assembly"]
    tiles = [still(*(make(3) if make is loops.n_four_bar else make())) for make in makers]
    width, height = tiles[0].size
    rows = -(-len(tiles) // ACROSS)
    sheet = Image.new("RGB", (ACROSS * width, rows * height), animation.PAPER)
    for k, tile in enumerate(tiles):
        row, column = divmod(k, ACROSS)
        sheet.paste(tile, (column * width, row * height))
    return sheet


def still(mechanism: Mechanism, q: np.ndarray) -> Image.Image:
    """A mechanism at rest in its start."""
    run = simulate(mechanism, q, np.zeros(mechanism.nv), 1e-3, method="dop853")
    picture = next(animation._pictures(mechanism.name, figure_of(run, run.times[:1])))
    image = Image.fromarray(picture)
    # without clock, scale and axes below
    return image.crop((0, 0, image.width, int(0.83 * image.height))).resize((400, 249))


def save(figure: Figure, file: str) -> None:
    """Write a figure with few colours."""
    drawn = io.BytesIO()
    figure.savefig(drawn, format="png", dpi=80)
    write(Image.open(drawn).convert("RGB"), file)


def write(image: Image.Image, file: str) -> None:
    """Write a picture with few colours."""
    image.quantize(COLOURS).save(ROOT / "docs" / file, optimize=True)


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    save(swing(), "swing.png")
    save(programs(), "generators.png")
    write(usual_loops(), "loops.png")
