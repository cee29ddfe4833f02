"""Bent links in stick figures: centre lines, parts that stand on them, magnified deflections."""

import json
import re

import numpy as np
import pytest

import dalembert as da
from dalembert.views.figures.stick_figure import figure_of


@pytest.fixture(scope="module")
def run():
    beam = da.Beam(0.8, EIz=12.0, mass_per_length=0.25)
    bodies = [da.Body("base"), da.Body("link", beam=beam, modes={"bend_y": 2}), da.Body("tip mass", 0.5), da.Body("box", 0.1)]
    joints = [da.Joint("hinge", da.Revolute((0, 0, 1)), "base", "link"), da.Joint("grip", da.Fixed(), "link", "tip mass", da.Origin((0.8, 0, 0))),
              da.Joint("side", da.Fixed(), "link", "box", da.Origin((0.4, 0.1, 0)))]
    arm = da.Mechanism("elastic arm", bodies, joints, gravity=(0, -9.81, 0))
    return da.simulate(arm, [0.3, 0.05, 0.02], [0.0] * 3, 0.2, record=0.02)


def test_the_centre_line_goes_from_the_start_to_the_frames_that_it_carries(run):
    figure = figure_of(run, run.times)
    assert figure.beams.shape == (1, len(run.times), 1, 17, 3)
    link, mass = (figure.names.index(name) for name in ("link", "tip mass"))
    np.testing.assert_allclose(figure.beams[0, :, 0, 0], figure.frames[0, :, link, :3], atol=1e-14)
    np.testing.assert_allclose(figure.beams[0, :, 0, -1], figure.frames[0, :, mass, :3], atol=1e-14)


def test_its_points_are_those_of_frames_on_the_link(run):
    middle = da.Frame("middle", "link", da.Origin((0.4, 0, 0)))
    arm = da.Mechanism("arm", run.mechanism.bodies, run.mechanism.joints, [middle], gravity=(0, -9.81, 0))
    np.testing.assert_allclose(figure_of(run, run.times).beams[0, :, 0, 8], da.placement(arm, run.q, "middle")[:, :3, 3], atol=1e-14)


def test_parts_off_the_centre_line_stand_on_a_stick_from_it(run):
    figure = figure_of(run, run.times)
    box = figure.names.index("box")
    (foot,) = [a for a, b in figure.sticks if b == box]
    np.testing.assert_allclose(figure.frames[0, :, foot, :3], figure.beams[0, :, 0, 8], atol=1e-14)
    np.testing.assert_allclose(np.linalg.norm(figure.frames[0, :, box, :3] - figure.frames[0, :, foot, :3], axis=-1), 0.1, rtol=1e-12)
    assert not any({a, b} == {figure.names.index("link"), figure.names.index("tip mass")} for a, b in figure.sticks)


def test_deflections_are_magnified_on_request(run, tmp_path):
    plain, large = (figure_of(run, run.times, magnify=factor).beams[0, 0, 0] for factor in (1, 4))
    straight = np.array([np.cos(0.3), np.sin(0.3), 0])
    across = np.array([-np.sin(0.3), np.cos(0.3), 0])
    np.testing.assert_allclose((large @ across)[1:], 4 * (plain @ across)[1:], rtol=1e-12)
    assert (large @ straight)[-1] < (plain @ straight)[-1] < 0.8
    page = run.animate(tmp_path / "r.html", magnify=4).read_text(encoding="utf-8")
    data = json.loads(re.search(r"const run = (\{.*\});", page)[1])
    assert "deflections x 4" in page and data["beams"]["shape"][2:] == [1, 17]
    for magnify in (0, -1, float("nan")):
        with pytest.raises(ValueError, match="magnify"):
            run.animate(tmp_path / "r.html", magnify=magnify)


def test_films_show_bent_links(run, tmp_path):
    pytest.importorskip("matplotlib")
    assert run.animate(tmp_path / "r.gif", fps=10, magnify=2).stat().st_size > 1000


def test_diagrams_have_a_row_of_modal_coordinates(run):
    pytest.importorskip("matplotlib")
    labels = [ax.get_ylabel() for ax in run.plot().axes]
    assert "joint angles [rad]" in labels and "modal coordinates [m]" in labels
