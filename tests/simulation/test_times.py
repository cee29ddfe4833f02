"""Times: counted from the first of them, however late that is; the greatest step of methods that choose it."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import dalembert as da
from dalembert.model.joints import Prismatic
from dalembert.model.mechanism import Mechanism
from dalembert.model.parts import Body, Joint, Limits
from methods import each

LATE = 2.0**31                # s, about 68 years: a time whose digits end at 5e-7 s
METHODS = ["rk4", "gauss4", "dopri5", "dop853", "radau5"]


@pytest.fixture(scope="module")
def ball():
    return Mechanism("ball", (Body("base"), Body("ball", 1)), (
        Joint("y", Prismatic((0, 0, 1)), "base", "ball", limits=Limits((0,), None)),))


def steady(t, q, qd):
    """A force that knows the caller's time to a quarter of a second."""
    return [da.where(t - LATE < 0.25, 1.0, 3.0)]


def called(t, q, qd):
    return [1.0 if float(t) - LATE < 0.25 else 3.0]


@pytest.mark.parametrize("method", each(METHODS))
def test_a_late_motion_is_the_early_one(ball, method):
    """Forces that do not depend on time: the same to the last bit, events and impacts too."""
    given = {"method": method, "h": 0.01, "events": lambda t, q, qd: q[0] - 0.5, "stops": {"y": 0.5}}
    early, late = (da.simulate(ball, [1.0], [0.0], start + np.linspace(0, 1, 5), **given) for start in (0.0, LATE))
    assert late.reason == early.reason == "finished" and np.array_equal(late.q, early.q) and np.array_equal(late.qd, early.qd)
    assert np.array_equal(late.times, LATE + np.linspace(0, 1, 5)) and len(late.events) == len(early.events) > 0
    assert [e.t for e in late.events] == [LATE + e.t for e in early.events]
    assert [c.t for c in late.changes] == [LATE + c.t for c in early.changes] and len(late.changes) > 1


@pytest.mark.parametrize("method", each(METHODS))
def test_forces_and_events_are_given_the_callers_time(ball, method):
    """m v' = 1 - m g until a quarter of a second has passed, then 3 - m g; a clock that goes through 0 at a half."""
    times = LATE + np.linspace(0, 1, 5)

    def clock(t, q, qd):
        return t - LATE - 0.5

    for force in (steady, called):
        run = da.simulate(ball, [0.0], [9.0], times, method=method, h=1 / 64, control=force, events=clock)
        v = 9.0 - 9.81 + 0.25 * 1 + 0.75 * 3
        assert abs(run.qd[-1, 0] - v) < 0.05 and run.reason == "finished"
        assert [e.t for e in run.events] == [LATE + 0.5]


def test_a_motion_that_cannot_go_on_is_not_called_finished(ball):
    """A force that grows beyond numbers in 4e-7 s, where times end at 2e-7 s."""
    run = da.simulate(da.planar_chain(1), [0.3], [0.1], 1.7e9 + np.array([0, 0.5, 1]), method="dopri5",
                      control=lambda t, q, qd: [1e9 * q[0] ** 3 * qd[0] ** 2])
    assert run.reason.startswith("after t = 1.7e+09 s") and run.times[-1] < 1.7e9 + 1e-6 and not np.isnan(run.q).any()


def test_records_of_methods_of_fixed_step_may_be_as_uneven_as_late_times_are(ball):
    run = da.simulate(ball, [0.0], [0.0], 1.7e9 + 0.1 * np.arange(11), h=0.01)
    assert run.reason == "finished" and abs(run.q[-1, 0] + 9.81 / 2) < 1e-5


def test_the_beginning_of_a_long_run_may_take_small_steps(ball):
    """A damper that brings it to rest within microseconds, at the beginning of 1e10 s of rest."""
    run = da.simulate(ball, [0.0], [1.0], 1e10, method="radau5", record=1e10, rtol=1e-6, atol=1e-9, h=1e-9,
                      control=lambda t, q, qd: [9.81 - 1e6 * qd[0]])
    assert run.reason == "finished" and abs(run.q[-1, 0] - 1e-6) < 1e-9


# --- the greatest step ---


@pytest.mark.parametrize("method", ["dopri5", "dop853", "radau5"])
@pytest.mark.parametrize("traced", [True, False])
def test_no_step_is_longer_than_the_greatest(ball, method, traced):
    """A push of 10 N for 0.1 s after a long rest: unseen, unless steps are shorter."""
    def push(t, q, qd):
        return [9.81 + da.where(abs(t - 10) < 0.05, 10.0, 0.0)]

    push.traced = traced
    run = da.simulate(ball, [0.0], [0.0], 20.0, method=method, control=push, longest_step=0.04, record=10.0, rtol=1e-6)
    assert run.steps >= 500 and abs(run.qd[-1, 0] - 1.0) < 1e-3
    assert da.simulate(ball, [0.0], [0.0], 20.0, method=method, control=push, record=10.0, rtol=1e-6).steps < 100


def test_a_greatest_step_that_makes_no_sense_is_named(ball):
    with pytest.raises(ValueError, match="longest_step= is for methods that choose their step; 'rk4' has a fixed one: give h="):
        da.simulate(ball, [0.0], [0.0], 1.0, method="rk4", longest_step=0.1)
    assert da.simulate(ball, [0.0], [0.0], 1.0, longest_step=0.1).method == "dop853"
    for wrong in (0.0, -1.0, float("nan"), float("inf")):
        with pytest.raises(ValueError, match=r"longest_step=.*: expected a positive time \[s\]"):
            da.simulate(ball, [0.0], [0.0], 1.0, method="dopri5", longest_step=wrong)
    with pytest.raises(TypeError, match="longest_step='long'"):
        da.simulate(ball, [0.0], [0.0], 1.0, method="dopri5", longest_step="long")


def test_the_greatest_step_goes_through_parts_stores_and_sweeps(ball, tmp_path):
    given = {"method": "dopri5", "longest_step": 0.125, "record": 0.25, "h": 1.0}
    plain = da.simulate(ball, [1.0], [0.0], 1.0, **given)
    stored = da.simulate(ball, [1.0], [0.0], 1.0, store=tmp_path / "run.zarr", **given)
    assert plain.steps == stored.steps == 8 and np.array_equal(plain.q, stored.q)
    assert da.resume(ball, tmp_path / "run.zarr").steps == 8
    with pytest.raises(da.DalembertError, match="another longest_step"):
        da.simulate(ball, [1.0], [0.0], 1.0, store=tmp_path / "run.zarr", resume=True, **(given | {"longest_step": 0.2}))
    with ThreadPoolExecutor(1) as executor:
        found = da.sweep(ball, {"longest_step": [0.125, 0.25]}, executor, t=1.0, q=[1.0], method="dopri5", h=1.0)
    assert found["steps"].tolist() == [8, 4]
