"""Sweeps of a mechanism: each sample is what `simulate` gives for it alone."""

import dataclasses
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import dalembert as da
from dalembert.compiled import propagation
from dalembert.native import cache

ARM = da.planar_chain(2)


@pytest.fixture
def thread():
    with ThreadPoolExecutor(1) as executor:
        yield executor


def test_initial_states_and_options_are_those_of_simulate_to_the_last_bit(thread):
    grid = {"q[q1]": [0.3, -0.8, 1.1], "qd[1]": [0.0, 2.0], "method": ["rk4", "dopri5"]}
    found = da.sweep(ARM, grid, thread, t=0.5, q=[0.0, 0.4])
    for at in np.ndindex(found.shape):
        angle, rate, method = (values[k] for values, k in zip(grid.values(), at))
        run = da.simulate(ARM, [angle, 0.4], [0, rate], 0.5, method=method)
        for name, expected in (("q", run.q[-1]), ("qd", run.qd[-1]), ("time", 0.5), ("potential_energy", run.potential_energy[-1]),
                               ("steps", run.steps), ("energy_drift", run.energy_drift), ("reason", "finished")):
            assert np.array_equal(found[name][at], expected), (name, at)
    data = found.to_xarray()
    assert data["q"].dims == (*grid, "coordinate") and data["q"].sel(coordinate="q2").shape == found.shape


@pytest.mark.parametrize("options", [{}, {"stops": True}, {"method": "discrete_gradient"}])
def test_numbers_of_the_mechanism_are_those_of_simulate(thread, options):
    """As inputs to rounding; with discrete_gradient they are no inputs, and code is made for each."""
    grid = {"link2.mass": [1.0, 2.5], "q[q1]": [0.3, -0.8], "q2.viscous": [0.0, 0.2]}
    arm = dataclasses.replace(ARM, joints=tuple(dataclasses.replace(j, limits=da.Limits((-1.5,), (1.5,))) for j in ARM.joints))
    found = da.sweep(arm, grid, thread, t=0.3, q=[0.0, 0.4], collect="records", record=0.05, **options)
    for at in np.ndindex(found.shape):
        mass, angle, viscous = (values[k] for values, k in zip(grid.values(), at))
        run = da.simulate(arm.replace({"link2.mass": mass, "q2.viscous": viscous}), [angle, 0.4], [0, 0], 0.3, record=0.05, **options)
        for name in ("q", "qd", "kinetic_energy", "potential_energy", "work"):
            np.testing.assert_allclose(found[name][at], getattr(run, name), rtol=1e-12, atol=1e-11, err_msg=name)


def test_other_numbers_compile_nothing_and_do_not_depend_on_the_batch(thread, monkeypatch):
    masses = np.linspace(0.5, 3.0, 40)
    first, alone = (da.sweep(ARM, {"link2.mass": masses[:n]}, thread, t=0.1, batch=40) for n in (40, 1))      # kernels of lanes, and of one
    assert np.array_equal(first["q"][0], alone["q"][0])

    def refuse(*_):
        raise AssertionError("it compiles")

    monkeypatch.setattr(propagation, "propagation_of", refuse)
    monkeypatch.setattr(cache, "kept", refuse)
    for batch in (1, 7):
        again = da.sweep(ARM, {"link2.mass": masses[::-1]}, thread, t=0.1, batch=batch)
        assert not again.errors
        for name in ("q", "qd", "kinetic_energy", "energy_drift"):
            assert np.array_equal(first[name], again[name][::-1]), name


def test_a_number_that_is_none_fails_alone_with_its_reason(thread):
    grid = {"link2.mass": [1.0, -3.0, 2.0, 0.5, 4.0], "q2.viscous": [0.1, -0.1]}
    found = da.sweep(ARM, grid, thread, t=0.1, batch=10)
    assert list(found.errors) == [1, 2, 3, 5, 7, 9]
    for k, message in found.errors.items():
        says = "SingularMassMatrixError: joint 'q2' in row 0: the inertia of body 'link2'" if k == 2 else (
            "ModelError: joint 'q2': viscous is -0.1, below 0.")
        assert message.startswith(says), (k, message)


def test_a_function_is_given_a_run_of_its_own_mechanism(thread):
    """Heights of the centre of mass by the run's mechanism are those of its potential energy."""
    def heights(run):
        m = run.mechanism
        weight = sum(float(b.mass) for b in m.bodies) * 9.81
        centre = da.center_of_mass(m, run.q) @ [0, 0, weight] if m.gravity[2] else None
        return {"difference": np.abs(np.ptp(centre) - np.ptp(run.potential_energy)), "range": np.ptp(centre),
                "mass": m.number("link2.mass"), "own": run.parameters["link2.mass"]}

    found = da.sweep(ARM, {"link2.mass": [0.5, 2.0, 3.0]}, thread, t=0.5, collect=heights)
    assert found["difference"].max() < 1e-10 and found["range"].min() > 0.1
    assert found["mass"].tolist() == found["own"].tolist() == [0.5, 2.0, 3.0]


def test_what_happens_in_a_trajectory_is_given_to_its_function(thread):
    def falling(t, q, qd):
        return q[0]

    def when(run):
        assert all(event.trajectory == 0 for event in run.events)
        return run.events[0].t

    masses = [0.5, 2.0, 4.0]
    found = da.sweep(ARM, {"link2.mass": masses}, thread, t=1.0, q=[0.3, 0.5], events=falling, collect=when, batch=3)
    expected = [da.simulate(ARM.replace({"link2.mass": m}), [0.3, 0.5], [0, 0], 1.0, events=falling).events[0].t for m in masses]
    np.testing.assert_allclose(found["result"], expected, rtol=1e-12)
    assert np.ptp(expected) > 1e-3


def test_a_lagrangian_with_parameters_oscillates_as_its_closed_form_says(thread):
    """x = x0 cos(sqrt(c/m) t)."""
    m, c = da.symbol("m"), da.symbol("c")
    spring = da.lagrangian_system(lambda q, qd, t: m * qd[0] ** 2 / 2 - c * q[0] ** 2 / 2, "x")
    masses, stiffness, starts = np.array([1.0, 2.0]), np.array([1.0, 4.0]), np.array([1.0, -0.5, 2.0])
    found = da.sweep(spring, {"m": masses, "c": stiffness, "q[x]": starts}, thread, t=1.0)
    expected = np.cos(np.sqrt(stiffness[:, None] / masses[:, None, None])) * starts
    np.testing.assert_allclose(found["q"][..., 0], expected, atol=1e-11)
    free = spring.replace({"m": 1.0, "c": 1.0})
    for formulation in ("lagrange", "hamilton"):
        swung = da.sweep(free, {"q": starts[:, None]}, thread, t=1.0, formulation=formulation)
        np.testing.assert_allclose(swung["q"][:, 0], np.cos(1.0) * starts, atol=1e-11)
    with pytest.raises(da.UnknownNameError, match=r"unknown parameter 'k' \(known: "):
        da.sweep(spring, {"k": [1.0]}, thread, t=1.0)


def test_a_sweep_of_a_lagrangian_knows_its_folder(thread, tmp_path):
    def spring(stiffness):
        return da.lagrangian_system(lambda q, qd, t: qd[0] ** 2 / 2 - stiffness * q[0] ** 2 / 2, "x")

    call = {"samples": {"q[x]": [1.0, 2.0]}, "executor": thread, "t": 0.1, "store": tmp_path / "s.zarr"}
    assert [da.sweep(spring(3.0), **call).computed for _ in range(2)] == [2, 0]
    with pytest.raises(da.DalembertError, match="another sweep: the function is not the same"):
        da.sweep(spring(4.0), **call)


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


def test_options_that_differ_in_a_digit_or_far_inside_are_not_the_same(thread):
    """NumPy prints 8 digits, and of long arrays the ends."""
    arm, t = da.planar_chain(2), np.linspace(0, 1, 1500)
    push = np.zeros((1500, 2))
    push[700:800, 0] = 3.0
    still, pushed = (da.controllers.Samples(t, tau) for tau in (0 * push, push))
    soft, hard = (da.controllers.Samples(t[:2], np.full((2, 2), 1 + e)) for e in (0, 1e-9))
    some, others = np.linspace(0, 1, 2001), np.linspace(0, 1, 2001)
    others[1000] += 1e-4
    for name, values, rest in (("control", (still, pushed, soft, hard), {"t": 1.0}),
                               ("t", (some, others), {"method": "dopri5", "collect": "records"})):
        samples = [{name: value} for value in values]
        found = da.sweep(arm, samples, thread, q=[0.1, 0.2], **rest)
        single = [da.sweep(arm, [sample], thread, q=[0.1, 0.2], **rest)["q"][0] for sample in samples]
        np.testing.assert_array_equal(found["q"], single)
        assert not any((a == b).all() for a, b in zip(single, single[1:]))
