"""Limits of position, velocity and effort in simulations: obeyed where asked for, told where passed."""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import numpy as np
import pytest

import dalembert as da

pytestmark = pytest.mark.usefixtures("quickly_compiled")
LIMITS = da.Limits(-0.4, 1.5, velocity=2.0, effort=12.0)
START = [0.0, 0.0], [0.0, 0.0]


def arm():
    """Limits on the first joint, a motor on the second."""
    chain = da.planar_chain(2)
    first, second = chain.joints
    motor = da.Actuator("motor", "q2", 50, effort=0.1)
    return replace(chain, joints=(replace(first, limits=LIMITS), second), actuators=(motor,))


ARM = arm()
PD = da.controllers.PD(ARM, [1.0, 0.0], 100.0, 20.0)


def spring(t, q, qd):
    return np.array([100 * (1 - q[0]) - 20 * qd[0], -60 * q[1] - 6 * qd[1]])


def called(t, q, qd):
    return spring(t, q, qd)


called.traced = False


class Integral:
    states = np.zeros(1)

    def __call__(self, t, q, qd, states):
        return np.array([50 * (1 - q[0]) + 10 * states[0] - 10 * qd[0], -6 * qd[1]])

    def rate(self, t, q, qd, states):
        return np.array([1 - q[0]])


CONTROLS = {
    "unchanging": PD, "traced": spring, "called": called, "with states": Integral(), "numbers": [50.0, -7.0],
    "sampled": da.controllers.Sampled.of(spring, 0.01), "sampled, called": da.controllers.Sampled.of(called, 0.01, delay=0.004),
}


@pytest.mark.parametrize("kind", CONTROLS)
def test_every_control_obeys_efforts(kind):
    control = CONTROLS[kind]
    free, limited = (da.simulate(ARM, *START, 0.1, control=control, record=0.005, saturate=s) for s in (False, True))
    limits = da.effort_limits(ARM)
    assert (np.abs(free.tau).max(axis=0) > limits + 1).any() and free.limits_passed
    assert (np.abs(limited.tau) <= limits).all() and np.abs(limited.tau[:, 0]).max() == 12
    assert np.abs(limited.q - free.q).max() > 1e-3 and np.abs(limited.power_balance).max() < 1e-6
    assert "limits of effort: obeyed, reached by q1 for 0." in limited.summary()
    if not isinstance(control, (list, da.controllers.Sampled)):
        own = da.simulate(ARM, *START, 0.1, control=da.controllers.Limited(control, limits), record=0.005)
        np.testing.assert_allclose(limited.q, own.q, rtol=1e-12, atol=1e-15)


def test_other_forces_are_no_efforts_of_drives():
    run = da.simulate(ARM, *START, 0.1, control=[5.0, 0.0], forces=[100.0, 0.0], record=0.01, saturate=True)
    assert run.tau[0, 0] == 105 and run.control_forces[0, 0] == 5
    assert [p.value for p in run.limit_peaks if p.kind == "effort"] == [5, 0]
    assert "limits of effort: obeyed, none reached" in run.summary()


def test_peaks_tell_where_when_and_how_long():
    times = np.linspace(0, 1, 101)
    run = da.simulate(ARM, *START, times, control=[30.0, 0.0])
    peaks = {p.kind: p for p in run.limit_peaks if p.name == "q1"}
    upper, velocity, effort = (peaks[kind] for kind in ("upper", "velocity", "effort"))
    at = run.qd[:, 0].argmax()
    assert (velocity.value, velocity.t, velocity.unit) == (run.qd[at, 0], times[at], "rad/s")
    assert velocity.duration == pytest.approx(0.01 * (np.abs(run.qd[:, 0]) > 2).sum(), abs=0.006)
    assert (effort.value, effort.limit, effort.duration) == (30, 12, pytest.approx(1))
    assert upper.value == run.q[:, 0].max() and upper.is_passed and not peaks["lower"].is_passed
    assert {p.kind for p in run.limits_passed} == {"upper", "velocity", "effort"}
    assert str(effort) == "q1 30 N m of 12 at 0 s"
    lines = run.summary().splitlines()
    assert any(line.startswith("passed limits of effort: q1 30 N m of 12 at 0 s") for line in lines)


def test_of_several_trajectories_the_worst_is_told():
    run = da.simulate(ARM, [[0, 0], [0, 0]], [[0.5, 0], [-3, 0]], 0.05, record=0.01)
    (passed,) = run.limits_passed
    assert (passed.kind, passed.name, passed.trajectory) == ("velocity", "q1", 1) and passed.value >= 3
    assert "limits of position: none passed" in run.summary()


def test_a_lower_limit_above_zero_is_a_lower_limit():
    joint = replace(ARM.joints[0], limits=da.Limits(0.1, 1.0))
    run = da.simulate(replace(ARM, joints=(joint, ARM.joints[1])), *START, 0.01)
    assert [(p.kind, p.limit) for p in run.limits_passed] == [("lower", 0.1)]


def test_files_say_that_efforts_are_not_known(tmp_path):
    run = da.simulate(ARM, *START, 0.05, control=PD, record=0.01, saturate=True)
    loaded = da.Run.load(ARM, run.to_zarr(tmp_path / "run.zarr"))
    told = [line for line in loaded.summary().splitlines() if "effort" in line]
    assert loaded.saturated and told == ["limits of effort: obeyed; not known whether they were reached, as files keep no control"]
    free = da.simulate(ARM, *START, 0.05, control=PD, record=0.01)
    assert "limits of effort: not known whether they were passed" in da.Run.load(ARM, free.to_zarr(tmp_path / "free.zarr")).summary()
    streamed = da.simulate(ARM, *START, 0.05, control=PD, record=0.01, saturate=True, store=tmp_path / "stored.zarr")
    np.testing.assert_array_equal(streamed.q[...], run.q)
    again = da.resume(ARM, tmp_path / "stored.zarr", control=PD)
    assert again.saturated and again.limits_passed == run.limits_passed


def most(run):
    return float(np.abs(run.tau).max())


def test_a_sweep_saturates():
    found = da.sweep(ARM, {"q[q1]": [0.0, 0.5]}, t=0.05, control=PD, saturate=True, collect=most, executor=ThreadPoolExecutor(1))
    assert (np.asarray(found["result"]) == 12).all()
    geared = da.sweep(ARM, {"motor.gear_ratio": [20, 50]}, t=0.05, control=[0.0, 9.0], saturate=True, collect=most, executor=ThreadPoolExecutor(1))
    np.testing.assert_allclose(geared["result"], [2, 5])


def test_what_has_no_limits_says_so():
    with pytest.warns(da.DalembertWarning, match="no joint and no actuator"):
        free = da.simulate(da.planar_chain(1), [0.1], [0], 0.01, saturate=True)
    assert "limits" not in free.summary()
    system = da.lagrangian_system(lambda q, qd, t: qd[0] ** 2 / 2, "x")
    with pytest.raises(da.DalembertError, match="has none. Limit its control"):
        da.simulate(system, [0], [0], 0.01, saturate=True)
    with pytest.raises(TypeError, match="saturate"):
        da.simulate(ARM, *START, 0.01, saturate="yes")
    with pytest.raises(da.ParameterError, match="motor.gear_ratio cannot be an input"):
        da.simulate(ARM, *START, 0.01, saturate=True, parameters={"motor.gear_ratio": 40})


@pytest.mark.filterwarnings("ignore:joint 'j'")      # its limit is below 0
def test_a_limit_below_0_is_refused():
    joint = da.Joint("j", da.Revolute((0, 1, 0)), "base", "rod", limits=da.Limits(effort=-5))
    arm = da.Mechanism("p", [da.Body("base"), da.Body("rod", 1.0, (0.5, 0, 0), (0, 0, 0.1, 0, 0, 0.1))], [joint])
    with pytest.raises(da.ModelError, match="saturate=True: the limit of effort of j is -5, below 0. Give its magnitude"):
        da.simulate(arm, [0.1], [0], 0.01, saturate=True)
