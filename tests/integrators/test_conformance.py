"""What every method of integration does in a simulation, for all that are listed; a new one is a file and a line."""

import heun
import numpy as np
import pytest

import dalembert as da
from dalembert.integrators import METHODS, FixedStep
from methods import EVERY, WITHOUT_CONTACT, tolerances

CHAIN, STATE = da.planar_chain(2), ([0.3, -0.8], [1.0, 0.5])
BALL = da.Mechanism("ball", (da.Body("base"), da.Body("ball", 1)), (da.Joint(
    "y", da.Prismatic((0, 0, 1)), "base", "ball", limits=da.Limits((0.0,), None)),))
G = 9.81


@pytest.fixture(params=dict.fromkeys([*EVERY, *WITHOUT_CONTACT, "heun"]))
def method(request, monkeypatch):
    """Name of a method: those of the package, and one that only the line below makes known."""
    monkeypatch.setitem(METHODS, "heun", heun.METHOD)
    return request.param


@pytest.fixture(scope="module")
def exact():
    return da.simulate(CHAIN, *STATE, 0.5, method="dop853", rtol=1e-13, atol=1e-14, record=0.5).final()


def test_it_is_listed_by_its_own_name(method):
    assert METHODS[method].name == method


def test_errors_fall_with_its_order_or_follow_the_tolerance(method, exact):
    def error(**options):
        run = da.simulate(CHAIN, *STATE, 0.5, method=method, record=0.5, **options)
        assert run.reason == "finished" and run.method == method
        return np.abs(np.subtract(run.final(), exact)).max()

    if isinstance(METHODS[method], FixedStep):
        order = METHODS[method].order
        h = {1: 1 / 512, 2: 1 / 128}.get(order, 1 / 40)
        coarse, fine = error(h=h), error(h=h / 2)
        assert 1e-12 < fine < 5e-2 and abs(np.log2(coarse / fine) - order) < 0.4
    else:
        for rtol in (1e-5, 1e-8):
            assert 1e-15 < error(**tolerances(method, rtol)) < 100 * rtol


def test_events_and_stops_are_found_and_nothing_falls_through(method):
    """From 1 m onto a floor: through half the height, then up again with half the speed; Euler's methods to their error."""
    slack = 0.05 if METHODS[method].order == 1 else 1e-9
    if method in WITHOUT_CONTACT:
        with pytest.raises(ValueError, match=f"{method} .* take method='dop853'"):
            da.simulate(BALL, [1.0], [0.0], 0.6, method=method, stops={"y": 0.5})
        return
    run = da.simulate(BALL, [1.0], [0.0], 0.6, method=method, h=0.01, stops={"y": 0.5}, events=lambda t, q, qd: q[0] - 0.5)
    hit, = [c for c in run.changes if c.impact]
    assert abs(run.events[0].t - np.sqrt(1 / G)) < slack and abs(run.events[0].q[0] - 0.5) < 1e-12
    assert abs(hit.t - np.sqrt(2 / G)) < slack and abs(abs(hit.impact) - np.sqrt(2 * G)) < 10 * slack
    assert (run.q >= 0).all() and run.reason == "finished"


def test_one_of_several_trajectories_has_the_bits_that_it_has_alone(method):
    options = {"method": method, "record": 0.05, **tolerances(method, 1e-6)}
    several = da.simulate(CHAIN, [[0.3, -0.8], [0.1, 0.2], [1.0, 0.5]], [0, 0], 0.1, **options)
    alone = da.simulate(CHAIN, [0.1, 0.2], [0, 0], 0.1, **options)
    assert np.array_equal(several.q[1], alone.q) and np.array_equal(several.qd[1], alone.qd)


def test_functions_that_are_called_give_the_motion_of_traced_ones(method):
    def push(t, q, qd):
        return [0.5 * da.sin(20 * t) - qd[0]]

    def called(t, q, qd):
        return [0.5 * np.sin(20 * float(t)) - float(qd[0])]

    options = {"method": method, "h": 0.01, "record": 0.05, **tolerances(method, 1e-6)}
    runs = [da.simulate(BALL, [1.0], [0.0], 0.1, control=force, **options) for force in (push, called)]
    assert [run.forces["control"] for run in runs] == ["traced", "called"]
    assert np.abs(runs[0].q - runs[1].q).max() < 1e-12
