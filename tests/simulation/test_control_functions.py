"""The contract of functions of t, q, qd in `simulate`, for each of the engines that evaluate them."""

from types import SimpleNamespace

import numpy as np
import pytest

import dalembert as da
from dalembert.simulation.machine_code import MachineCode

CHAIN = da.planar_chain(2)
Q, QD = np.array([[0.3, 0.2], [-0.5, 0.6]]), np.array([[0.1, -0.2], [0.3, 0.5]])
OPTIONS = {"h": 5e-3, "record": 0.05}


@pytest.fixture(params=["traced", "called", "interpreted"])
def engine(request, monkeypatch):
    """What makes a function one of this engine, and the kind that runs tell."""
    def marked(f):
        f.traced = request.param == "traced"
        return f

    if request.param == "interpreted":
        monkeypatch.setattr(MachineCode, "compiles", lambda self, method: False)
    return SimpleNamespace(of=marked, kind="traced" if request.param == "traced" else "called", name=request.param)


def swing(t, q, qd):
    return -20 * q - 2 * qd + da.sin(3 * t)


@pytest.fixture(scope="module")
def expected():
    """The run of `swing`, from whose operations all engines compute."""
    return da.simulate(CHAIN, Q, QD, 0.3, control=swing, **OPTIONS)


@pytest.mark.parametrize("method", ["rk4", "dopri5"])
def test_all_engines_give_one_motion(engine, method):
    def control(t, q, qd):
        return swing(t, q, qd)

    same = da.simulate(CHAIN, Q, QD, 0.2, control=swing, method=method, **OPTIONS)
    run = da.simulate(CHAIN, Q, QD, 0.2, control=engine.of(control), method=method, **OPTIONS)
    assert run.forces["control"] == engine.kind and np.abs(run.q - same.q).max() < 1e-12
    assert np.array_equal(run.steps, same.steps)


def test_time_is_the_callers_and_forces_add_up(engine, expected):
    def control(t, q, qd):
        return swing(t - 100, q, qd) / 2

    def forces(t, q, qd):
        return swing(t - 100, q, qd) / 2

    run = da.simulate(CHAIN, Q, QD, 100 + expected.times, control=engine.of(control), forces=engine.of(forces), h=5e-3)
    assert np.abs(run.q - expected.q).max() < 1e-11


def test_arrays_are_the_functions_own(engine, expected):
    def control(t, q, qd):
        tau = swing(t, q, qd)
        q[:], qd[:] = 0.0, 7.0
        return tau

    assert np.abs(da.simulate(CHAIN, Q, QD, 0.3, control=engine.of(control), **OPTIONS).q - expected.q).max() < 1e-12


def test_quaternions_are_of_unit_length(engine):
    body = da.random_tree(8, 1, ["spherical"])
    q, qd = body.random_state(1)

    def length(t, q, qd):
        return [0.0, 0.0, sum(c * c for c in q)]

    def one(t, q, qd):
        return [0.0, 0.0, 1.0 + 0 * t]

    if engine.name == "traced":
        pytest.skip("it has those of the stages of a step")
    runs = [da.simulate(body, q, qd, 0.1, control=engine.of(f), h=0.01) for f in (length, one)]
    assert np.abs(runs[0].q - runs[1].q).max() < 1e-13


def test_states_of_a_controller_move_with_its_rate(engine):
    class Integral:
        states = np.array([[0.0, 0.0], [0.5, -0.5]])

        def __call__(self, t, q, qd, z):
            return -20 * q - 2 * qd - 5 * z

        def rate(self, t, q, qd, z):
            return 1 * q

    same = da.simulate(CHAIN, Q, QD, 0.2, control=Integral(), **OPTIONS)
    run = da.simulate(CHAIN, Q, QD, 0.2, control=engine.of(Integral()), **OPTIONS)
    assert np.abs(run.controller_states - same.controller_states).max() < 1e-12 and np.abs(run.q - same.q).max() < 1e-12
    alone = da.simulate(CHAIN, Q[0], QD[0], 0.2, control=engine.of(swing_again()), **OPTIONS)
    several = da.simulate(CHAIN, Q, QD, 0.2, control=engine.of(swing_again()), **OPTIONS)
    assert np.array_equal(alone.q, several.q[0])


def swing_again():
    def control(t, q, qd):
        return swing(t, q, qd)
    return control


@pytest.mark.parametrize(("wrong", "error", "message"), [
    (lambda t, q, qd: [1.0, 2.0, 3.0], da.ShapeError, r"control returned shape \(3,\), expected \(2,\)"),
    (lambda t, q, qd: None, TypeError, "control returned None"),
    (lambda t, q, qd: 1j * q, TypeError, "control returned complex numbers"),
    (lambda t, q: q, TypeError, "control")])
def test_what_is_no_force_is_named(engine, wrong, error, message):
    with pytest.raises(error, match=message):
        da.simulate(CHAIN, Q, QD, 0.1, control=engine.of(wrong), **OPTIONS)


def test_an_error_that_a_function_raises_comes_through(engine):
    def control(t, q, qd):
        if not isinstance(t, da.Expr) and 0.06 < t < 0.1:
            raise LookupError("on its way")
        return swing(t, q, qd)

    if engine.name == "traced":
        pytest.skip("it is not called on its way")
    with pytest.raises(LookupError, match="on its way"):
        da.simulate(CHAIN, Q[0], QD[0], 0.3, control=engine.of(control), **OPTIONS)


def test_a_force_that_is_not_finite_ends_the_run_and_is_named(engine):
    def control(t, q, qd):
        return q / (da.maximum(0.1 - t, 0.0) + 0.0 * q)

    with np.errstate(all="ignore"):
        run = da.simulate(CHAIN, Q[0], QD[0], 0.3, control=engine.of(control), **OPTIONS)
    assert run.reason != "finished" and "control" in run.reason and run.times[-1] <= 0.15


def test_a_function_that_remembers_is_refused(engine):
    calls = []

    def control(t, q, qd):
        calls.append(1)
        return -float(len(calls)) * q

    if engine.name == "traced":
        with pytest.raises(da.RememberingError, match="control"):
            da.simulate(CHAIN, Q[0], QD[0], 0.1, control=engine.of(control), **OPTIONS)
    else:      # its user insists, for one trajectory
        with pytest.warns(da.DalembertWarning, match="control"):
            da.simulate(CHAIN, Q[0], QD[0], 0.1, control=engine.of(control), **OPTIONS)
        with pytest.raises(da.RememberingError, match="2 trajectories would share its memory"), pytest.warns(da.DalembertWarning):
            da.simulate(CHAIN, Q, QD, 0.1, control=engine.of(control), **OPTIONS)


def test_events_are_those_of_every_engine(engine):
    def height(t, q, qd):
        return q[0] - 0.2

    same = da.simulate(CHAIN, Q, QD, 0.2, control=swing, events=height, h=0.01, record=0.1)
    run = da.simulate(CHAIN, Q, QD, 0.2, control=engine.of(swing_again()), events=engine.of(height), h=0.01, record=0.1)
    assert len(run.events) == len(same.events) > 0
    assert np.abs(np.array([e.t for e in run.events]) - [e.t for e in same.events]).max() < 1e-10
