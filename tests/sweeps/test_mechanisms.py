"""Sweeps of a mechanism: each sample is what `simulate` gives for it alone."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import dalembert as da

ARM = da.planar_chain(2)


@pytest.fixture
def thread():
    with ThreadPoolExecutor(1) as executor:
        yield executor


def test_initial_states_and_numbers_and_options_are_those_of_simulate(thread):
    grid = {"q[q1]": [0.3, -0.8, 1.1], "qd[1]": [0.0, 2.0], "link2.mass": [1.0, 2.5], "method": ["rk4", "dopri5"]}
    found = da.sweep(ARM, grid, thread, t=0.5, q=[0.0, 0.4])
    for at in np.ndindex(found.shape):
        angle, rate, mass, method = (values[k] for values, k in zip(grid.values(), at))
        run = da.simulate(ARM.replace({"link2.mass": mass}), [angle, 0.4], [0, rate], 0.5, method=method)
        for name, expected in (("q", run.q[-1]), ("qd", run.qd[-1]), ("time", 0.5), ("potential_energy", run.potential_energy[-1]),
                               ("steps", run.steps), ("energy_drift", run.energy_drift), ("reason", "finished")):
            assert np.array_equal(found[name][at], expected), (name, at)
    data = found.to_xarray()
    assert data["q"].dims == (*grid, "coordinate") and data["q"].sel(coordinate="q2").shape == found.shape


def test_whole_trajectories_are_kept_if_asked(thread, tmp_path):
    states = np.array([[0.1, 0.2], [0.5, -0.5]])
    found = da.sweep(ARM, {"q": states}, thread, t=0.2, record=0.02, collect="records", store=tmp_path / "s.zarr")
    for k, q in enumerate(states):
        run = da.simulate(ARM, q, [0, 0], 0.2, record=0.02)
        np.testing.assert_array_equal(found["q"][k], run.q)
        np.testing.assert_array_equal(found["time"][k], run.times)
        np.testing.assert_array_equal(found["work"][k], run.work)
    data = found.to_xarray()
    assert data["qd"].dims == ("initial_q", "record", "velocity")
    np.testing.assert_array_equal(data["initial_q_values"].values, states)


def test_a_function_of_the_run_finds_the_period_of_a_pendulum(thread):
    """Small swings of a uniform rod of length l about its end: 2 pi sqrt(2 l / 3 g)."""
    def period(run):
        q = run.q[:, 0]
        at = np.flatnonzero((q[:-1] > 0) != (q[1:] > 0))[:3]      # three passages: one period
        passages = run.times[at] - q[at] * (run.times[at + 1] - run.times[at]) / (q[at + 1] - q[at])
        return passages[2] - passages[0]

    gravity = np.array([1.62, 9.81, 24.79])
    found = da.sweep(da.planar_chain(1, length=3), {"gravity[2]": -gravity}, thread, q=[-np.pi / 2 + 1e-4], t=12.0, record=2e-3, collect=_from_below(period))
    expected = 2 * np.pi * np.sqrt(2 * 3 / (3 * gravity))
    np.testing.assert_allclose(found["result"], expected, rtol=1e-5)      # of the amplitude squared, and of the crossing


def _from_below(period):
    import dataclasses

    return lambda run: period(dataclasses.replace(run, q=run.q + np.pi / 2))


def test_a_trajectory_that_ends_early_is_no_error_and_says_why(thread):
    found = da.sweep(ARM, {"q[0]": [0.1, 0.2], "h": [1e-2, 1.0]}, thread, t=20.0, method="explicit_euler", control=_wild)
    assert not found.errors and (found["time"] < 20).all()
    for at in np.ndindex(2, 2):
        run = da.simulate(ARM, [[0.1, 0.2][at[0]], 0], [0, 0], 20.0, h=[1e-2, 1.0][at[1]], method="explicit_euler", control=_wild)
        assert found["reason"][at] == run.reason != "finished" and found["time"][at] == run.times[-1]


def _wild(t, q, qd):
    return 1e3 * qd


def test_a_state_that_is_none_fails_alone(thread):
    ball = da.random_tree(1, 1, ["spherical"])
    good = ball.neutral()
    found = da.sweep(ball, {"q": [good, 2 * good, good]}, thread, t=0.1)
    assert list(found.errors) == [1] and found.errors[1].startswith("QuaternionError: ")
    np.testing.assert_array_equal(found["q"][0], found["q"][2])


@pytest.mark.parametrize("grid, options, error, says", [
    ({"q[elbow]": [1]}, {"t": 1.0}, da.UnknownNameError, r"unknown entry of q 'elbow' \(known: q1, q2\)"),
    ({"link2.mas": [1]}, {"t": 1.0}, da.UnknownNameError, "Did you mean 'mass'"),
    ({"q[0]": [1]}, {}, ValueError, "t is missing"),
    ({"q[0]": [1]}, {"t": 1.0, "metod": "rk4"}, da.UnknownNameError, "Did you mean 'method'"),
    ({"q[0]": [1]}, {"t": 1.0, "collect": "all"}, ValueError, "collect='all': expected 'final', 'records'")])
def test_names_that_are_none_are_refused_at_once(grid, options, error, says, thread):
    with pytest.raises(error, match=says):
        da.sweep(ARM, grid, thread, **options)


def test_processes_give_the_same_to_the_last_bit(thread):
    grid = {"q[0]": np.linspace(-1, 1, 30), "link1.mass": [1.0, 3.0]}
    here, there = da.sweep(ARM, grid, thread, t=0.3), da.sweep(ARM, grid, t=0.3)
    for name in here.results:
        assert np.array_equal(here[name], there[name]), name
