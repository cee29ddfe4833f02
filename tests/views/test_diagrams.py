"""Diagrams: quantities by name, degrees, references, limits, rounding errors as zero, sizes that fit a page."""

import dataclasses

import numpy as np
import pytest

import dalembert as da
from dalembert.views.diagrams.panels import PanelData

ARM = da.planar_chain(2)
CONTROL = da.controllers.ComputedTorque(ARM, da.controllers.Hold([0.5, 0.0]), k_p=100.0)


@pytest.fixture(scope="module")
def run():
    return da.simulate(ARM, [0.3, -0.4], [0, 0], 0.5, record=0.01, control=CONTROL)


def test_quantities_are_drawn_by_name_into_axes_that_are_given(run):
    figures = pytest.importorskip("matplotlib.figure")
    figure = figures.Figure()
    first, second = figure.subplots(1, 2)
    assert run.plot("q", "tau", degrees=True, ax=[first, second]) is figure
    assert (first.get_ylabel(), second.get_ylabel()) == ("joint angles [deg]", "applied torques [N m]")
    np.testing.assert_allclose([line.get_ydata() for line in first.get_lines()[:2]], np.rad2deg(run.q.T))
    np.testing.assert_array_equal([line.get_ydata() for line in second.get_lines()], run.tau.T)
    with pytest.raises(da.ShapeError, match="1 axes for 2 panels"):
        run.plot("q", "qd", ax=first)
    with pytest.raises(da.UnknownNameError, match="'tua'.*Did you mean 'tau'"):
        run.plot("tua")


def test_figures_fit_a_page_and_their_ticks_do_not_touch(run):
    pytest.importorskip("matplotlib")
    from matplotlib.backends.backend_agg import FigureCanvasAgg

    figure = run.plot()
    canvas = FigureCanvasAgg(figure)
    canvas.draw()
    assert 900 <= figure.get_size_inches()[0] * 100 <= 1000
    for ax in figure.axes:
        for axis, side in ((ax.xaxis, 0), (ax.yaxis, 1)):
            boxes = [label.get_window_extent() for label in axis.get_ticklabels() if label.get_text()]
            spans = sorted((box.intervalx, box.intervaly)[side].tolist() for box in boxes)
            assert all(b[0] - a[1] > 2 for a, b in zip(spans, spans[1:], strict=False))


@pytest.mark.parametrize("control", [CONTROL, da.controllers.Limited(CONTROL, [1e3, 1e3]), da.controllers.GravityPD(ARM, [0.5, 0.0], 50.0, 20.0)],
                         ids=["tracking", "limited", "set point"])
def test_references_of_controllers_are_dashed(control):
    pytest.importorskip("matplotlib")
    run = da.simulate(ARM, [0.3, -0.4], [0, 0], 0.05, record=0.01, control=control)
    ax, = run.plot("q").axes
    dashed = [line for line in ax.get_lines() if line.get_linestyle() == "--"]
    assert [set(line.get_ydata()) for line in dashed] == [{0.5}, {0.0}]
    assert "reference" in [text.get_text() for text in ax.get_legend().get_texts()]


def test_runs_without_references_have_none(run):
    free = da.simulate(ARM, [0.3, -0.4], [0, 0], 0.05)
    assert all(panel.reference is None for panel in PanelData(free).panels(["q", "qd"]))
    panel, = PanelData(run).panels(["q"])
    assert panel.reference is not None


def test_limits_are_drawn_where_they_were_approached():
    limits = da.Limits(-1.0, 0.32, velocity=100.0, effort=20.0)
    joints = tuple(dataclasses.replace(joint, limits=limits) for joint in ARM.joints)
    run = da.simulate(dataclasses.replace(ARM, joints=joints), [0.3, -0.4], [0, 0], 0.05, record=0.01, control=CONTROL)
    of_q, of_qd, of_tau = (PanelData(run).panels([name])[0] for name in ("q", "qd", "tau"))
    assert of_q.limits == ((0, 0.32),) and of_qd.limits == () and (0, 20.0) in of_tau.limits
    assert PanelData(run, degrees=True).panels(["q"])[0].limits == ((0, pytest.approx(np.rad2deg(0.32))),)


def test_rounding_errors_are_drawn_as_zero_with_their_size():
    pytest.importorskip("matplotlib")
    run = da.simulate(da.planar_chain(1), [-np.pi / 2], [0.0], 0.1)
    assert 0 < np.abs(run.qd).max() < 1e-15
    ax, = run.plot("qd").axes
    assert not np.any(ax.get_lines()[0].get_ydata()) and ax.get_ylim() == (-1, 1)
    assert any("0 within rounding" in text.get_text() for text in ax.texts)
    drifting, = PanelData(da.simulate(da.planar_chain(1), [0.3], [0.0], 0.1)).panels(["power_balance"])
    assert drifting.noise is None
