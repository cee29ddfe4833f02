"""Loops in pictures are closed: points of closures, rods, rims of wheels."""

import dataclasses
import json
import re

import numpy as np
import pytest

import dalembert as da
from dalembert.views.figures.constraint_marks import ConstraintMarks
from dalembert.views.figures.stick_figure import figure_of
from dalembert.views.motions import films


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
    film = films.Film(run, figure_of(run, run.times), "")
    rim, = film.rims()
    assert rim.shape == (1, len(run.times), 49, 3)
    radii = np.linalg.norm(rim[0, 0] - [0, 0.25, 0.2], axis=-1)
    np.testing.assert_allclose(radii, 0.2, rtol=1e-12)
    assert abs(rim[..., 2].min()) < 1e-3


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
    assert found["closed"] == figure.closed and found["rods"] == [] and found["frames"]["shape"][2] == len(found["names"]) + 2
    assert max(max(pair) for pair in found["sticks"]) == len(found["names"]) + 1


def test_a_film_shows_rods_and_rims():
    pytest.importorskip("matplotlib")
    governor = shown(*da.loops.flyball_governor())
    film = films.Film(governor, figure_of(governor, governor.times), "")
    assert len(film.surface(0, 0).faces) > len(film.surfaces.surface.faces)
    cart = shown(*da.loops.differential_drive())
    film = films.Film(cart, figure_of(cart, cart.times), "")
    mark = np.array([int(films.MARK[k:k + 2], 16) for k in (1, 3, 5)])
    assert (abs(next(film.pictures(1)).reshape(-1, 3).astype(int) - mark).max(axis=1) < 60).any()


@pytest.mark.parametrize("make", [da.loops.differential_drive, da.loops.flyball_governor], ids=lambda make: make.__name__)
def test_the_page_draws_constraints_within_its_stage(make, browser, tmp_path):
    from browser import open_page

    run = shown(*make())
    with open_page(browser, f"{run.animate(tmp_path / 'run.html').as_uri()}#0.01", width=640, height=560) as page:
        places = np.array(page.evaluate("reached.map(project)"))
        size = np.array(page.evaluate("[view.clientWidth, view.clientHeight]"))
    assert len(places) > 20 and places.min() >= 0 and (places <= size).all()
    assert (np.ptp(places, axis=0) / size).max() > 0.75
