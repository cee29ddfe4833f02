"""Loops in pictures are closed: points of closures, rods, rims of wheels."""

import dataclasses
import json
import re
import shutil
import subprocess

import numpy as np
import pytest

import dalembert as da
from dalembert.views import animation
from dalembert.views.constraint_marks import ConstraintMarks
from dalembert.views.stick_figure import figure_of


def shown(mechanism, q):
    return da.simulate(mechanism, q, np.zeros(mechanism.nv), 0.02, record=0.01, method="dop853")


@pytest.fixture(scope="module")
def four_bar():
    return shown(*da.loops.four_bar())


def test_the_loop_is_closed_by_sticks_to_its_mark(four_bar):
    figure = figure_of(four_bar, four_bar.times)
    first, second = figure.closed
    assert np.abs(figure.frames[:, :, first, :3] - figure.frames[:, :, second, :3]).max() < 1e-9
    index = figure.names.index
    assert [index("coupler"), first] in figure.sticks and [index("rocker"), second] in figure.sticks
    assert (figure.rods, figure.rims) == ([], []) and first >= len(figure.names)
    at = da.placement(four_bar.mechanism, four_bar.q, "rocker")
    expected = at[:, :3, 3] + 0.8 * at[:, :3, 0]
    np.testing.assert_allclose(figure.frames[0, :, second, :3], expected, atol=1e-12)


def test_distances_are_rods():
    run = shown(*da.loops.flyball_governor())
    figure = figure_of(run, run.times)
    assert len(figure.rods) == 2 and {p for rod in figure.rods for p in rod} == set(figure.closed)
    for a, b in figure.rods:
        lengths = np.linalg.norm(figure.frames[0, :, a, :3] - figure.frames[0, :, b, :3], axis=-1)
        np.testing.assert_allclose(lengths, 0.5, atol=1e-9)


def test_wheels_are_rims_that_touch_the_floor():
    mechanism, q = da.loops.differential_drive(wheel_radius=0.2)
    marks = ConstraintMarks.of(mechanism)
    assert [(rim.axes, rim.radii) for rim in marks.rims] == [((0, 1), (0.2, 0.2))] * 2
    one_wheel = dataclasses.replace(mechanism, constraints=mechanism.constraints[:1], principles=("chetaev",))
    run = shown(one_wheel, q)
    scene = animation._Scene("", figure_of(run, run.times))
    rim, = scene.rims
    assert rim.shape == (1, len(run.times), 49, 2)
    right, up = scene.right, scene.up
    centre = np.array([0, 0.25, 0.2])
    radii = np.linalg.norm(rim[0, 0] - [centre @ right, centre @ up], axis=-1)
    assert radii.max() <= 0.2 + 1e-9 and radii.max() > 0.15


def test_a_cart_on_a_plane_hangs_on_no_stick():
    run = shown(*da.loops.differential_drive())
    figure = figure_of(run, run.times)
    base = figure.names.index(run.mechanism.bodies[0].name)
    assert base not in {point for pair in figure.sticks for point in pair} and figure.sticks


def test_a_ball_has_three_rims():
    rolling = da.constraints.Rolling("roll", "ball", (0.1, 0.2, 0.3), ((0, 0, 0), (0, 0, 1)))
    ball = da.Mechanism("ball", (da.Body("floor"), da.Body("ball", 1.0, (0, 0, 0), (1, 0, 1, 0, 0, 1))),
                        (da.Joint("free", da.Free(), "floor", "ball"),)).constrained(rolling)
    assert [rim.radii for rim in ConstraintMarks.of(ball).rims] == [(0.1, 0.2), (0.2, 0.3), (0.3, 0.1)]


def test_the_page_holds_the_marks(four_bar, tmp_path):
    page = four_bar.animate(tmp_path / "run.html").read_text(encoding="utf-8")
    found = json.loads(re.search(r"^const run = (.*);$", page, re.MULTILINE)[1])
    figure = figure_of(four_bar, four_bar.times)
    assert found["closed"] == figure.closed and found["rods"] == [] and len(found["frames"][0][0]) == len(found["names"]) + 2
    assert max(max(pair) for pair in found["sticks"]) == len(found["names"]) + 1


def test_a_film_shows_the_marks_in_their_colour(four_bar, tmp_path):
    pytest.importorskip("PIL")
    from PIL import Image

    four_bar.animate(tmp_path / "run.gif", fps=50)
    with Image.open(tmp_path / "run.gif") as image:
        pixels = np.asarray(image.convert("RGB")).reshape(-1, 3)
    mark = tuple(int(animation.MARK[k:k + 2], 16) for k in (1, 3, 5))
    assert (pixels == mark).all(axis=1).any()


STUB = """
const drawn = [], places = [], put = (x, y) => places.push([x, y]);
const context = {setTransform() {}, clearRect() {}, beginPath() {}, moveTo: put, lineTo: put, arc: put, fillText() {},
  stroke() { drawn.push(context.strokeStyle); }, fill() { drawn.push("fill " + context.fillStyle); }}, elements = {};
const document = {documentElement: {}, body: {}, getElementById: id => elements[id] ??= {checked: true, value: "0", append() {},
  getContext: () => context, clientWidth: 640, clientHeight: 480, width: 0, height: 0, addEventListener() {}}};
const window = {devicePixelRatio: 1}, location = {hash: "#0.01"}, getComputedStyle = () => ({getPropertyValue: name => name});
class Option {}
const requestAnimationFrame = () => {};
"""


def drawn_by_page(run, folder, what):
    """Strokes and fills of the page's script at its first picture, or the places that it draws at [pixels]."""
    page = run.animate(folder / "run.html").read_text(encoding="utf-8")
    script = re.search(r"<script>(.*)</script>", page, re.DOTALL)[1].replace('"use strict";', "")
    file = folder / "page.js"
    file.write_text(STUB + script + f"\nconsole.log(JSON.stringify({what}))")
    return json.loads(subprocess.run(["node", file], capture_output=True, text=True, check=True).stdout)


NODE = pytest.mark.skipif(shutil.which("node") is None, reason="no interpreter of JavaScript")


@NODE
def test_the_script_of_the_page_draws_rings_rims_and_floors(tmp_path):
    drawn = drawn_by_page(shown(*da.loops.differential_drive()), tmp_path, "drawn")
    assert drawn.count("--mark") == 4 and drawn.count("fill --soft") == 1      # two rings, two rims; one floor


@NODE
@pytest.mark.parametrize("make", [da.loops.four_bar, da.loops.differential_drive, da.loops.stewart_platform, da.loops.flyball_governor,
                                  da.loops.n_four_bar], ids=lambda make: make.__name__)
def test_the_page_draws_nothing_beyond_its_canvas(make, tmp_path):
    places = np.array(drawn_by_page(shown(*make(3) if make is da.loops.n_four_bar else make()), tmp_path, "places"))
    assert len(places) > 20 and places.min() >= 0 and (places <= [640, 480]).all()
    assert (np.ptp(places, axis=0) / [640, 480]).max() > 0.45      # and does not waste it
