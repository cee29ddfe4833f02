"""Pictures of vibrations: lines stand where the numbers are."""

import numpy as np
import pytest

import dalembert as da


@pytest.fixture(scope="module")
def arm():
    beam = da.Beam(0.8, EIz=129.4, mass_per_length=0.25)
    bodies = [da.Body("base"), *(da.Body(name, beam=beam, modes={"bend_y": 2}) for name in ("upper", "lower")), da.Body("load", 2.0)]
    z = da.Revolute((0, 0, 1))
    joints = [da.Joint("shoulder", z, "base", "upper"), da.Joint("elbow", z, "upper", "lower", da.Origin((0.8, 0, 0))), da.Joint("grip", da.Fixed(), "lower", "load", da.Origin((0.8, 0, 0)))]
    return da.Mechanism("arm", bodies, joints, gravity=(0, 0, 0))


@pytest.fixture
def axes():
    figure = pytest.importorskip("matplotlib.figure")
    return figure.Figure().subplots()


def test_mode_shapes_are_drawn_from_the_clamped_start_with_the_largest_displacement_asked_for(arm, axes):
    shapes = da.mode_shapes(arm, {"elbow": 1.0}, locked=["shoulder", "elbow"], count=2)
    lines = shapes.draw(axes, size=0.2)
    rest = axes.lines[0].get_xydata()
    extent = np.ptp(rest, axis=0).max()
    for line in lines:
        away = line.get_xydata() - rest
        np.testing.assert_allclose(away[0], 0, atol=1e-12)
        np.testing.assert_allclose(np.abs(away).max(), 0.2 * extent, rtol=1e-9)
    assert axes.get_xlabel() == "x [m]" and axes.get_ylabel() == "y [m]"
    assert [text.get_text() for text in axes.get_legend().get_texts()][1] == f"{shapes.frequencies[0]:.4g} rad/s"


def test_a_map_has_a_line_for_each_frequency_and_a_waterfall_for_each_configuration(arm, axes):
    chart = da.frequency_map(arm, {"elbow": np.linspace(0, 1, 5)}, locked=["shoulder", "elbow"])
    lines = chart.draw(axes, most=500.0)
    assert len(lines) == chart.frequencies.shape[1] and axes.get_ylim() == (0.0, 500.0)
    np.testing.assert_array_equal(lines[0].get_ydata(), chart.frequencies[:, 0])
    falls = chart.waterfall(axes, most=500.0)
    assert len(falls) == 5
    w, level = falls[2].get_data()
    near = np.abs(w - chart.frequencies[2, 1]) < 20
    assert abs(w[near][np.argmax(level[near])] - chart.frequencies[2, 1]) < 500 / 399      # the peak stands at the frequency
