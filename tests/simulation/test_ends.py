"""Where runs end: at the state of a terminal event, or the last one that is known, from which other runs go on."""

from dataclasses import replace

import numpy as np
import pytest

import dalembert as da
from dalembert.model.joints import Prismatic
from dalembert.model.mechanism import Mechanism
from dalembert.model.parts import Body, Joint, Limits
from dalembert.results.record_selection import trajectory
from dalembert.sweeps import trials
from methods import EXACT, each

G = 9.81
DROP = Mechanism("drop", (Body("base"), Body("ball", 1)), (
    Joint("fall", Prismatic((0, 0, 1)), "base", "ball", limits=Limits((0,), (100,))),))
ARM = da.planar_chain(2)


def floor(t, q, qd):
    return q[0]


def floor_called(t, q, qd):
    return float(q[0])


def low(t, q, qd):
    return q[0] + 1.2


floor.terminal = floor_called.terminal = low.terminal = True


@pytest.mark.parametrize("floor", [floor, floor_called])
@pytest.mark.parametrize("method", each(EXACT))
def test_a_run_ends_in_the_state_of_its_terminal_event(method, floor):
    t = np.sqrt(2 / G)
    run = da.simulate(DROP, [1.0], [0.0], 4.0, events=floor, method=method, h=0.02, record=0.1)
    q, qd = run.final()
    assert abs(q[0]) < 1e-13 and abs(qd[0] + G * t) < 1e-12 and abs(run.end.t - t) < 1e-13
    assert run.times[-1] == run.end.t == run.events[0].t and np.array_equal(run.q[-1], q) and np.array_equal(run.qd[-1], qd)
    assert np.allclose(run.times[:-1], np.arange(len(run.times) - 1) * 0.1) and len(run.times) == 6
    assert np.abs(run.power_balance).max() < 1e-11 and len(run.work) == 6 and run.reason.startswith("event")


@pytest.mark.parametrize("method", ["rk4", "gauss4", "dopri5", "radau5"])
def test_each_of_many_ends_at_its_own_time(method):
    heights = np.array([[1.0], [2.5], [400.0]])
    run = da.simulate(DROP, heights, [0.0], 4.0, events=floor, method=method, h=0.02, record=0.1)
    t = np.minimum(np.sqrt(2 * heights[:, 0] / G), 4.0)
    q, qd = run.final()
    assert np.abs(run.end.t - t).max() < 1e-13 and np.abs(qd[:, 0] + G * t).max() < 1e-10
    assert np.abs(q[:, 0] - heights[:, 0] + G * t**2 / 2).max() < 1e-10
    assert np.array_equal(np.isnan(run.q[:, :, 0]), run.times > run.end.t[:, None])
    for k in range(3):
        alone = da.simulate(DROP, heights[k], [0.0], 4.0, events=floor, method=method, h=0.02, record=0.1)
        assert alone.end.t == run.end.t[k] and np.array_equal(alone.final()[1], qd[k]) and alone.steps == run.steps[k]


@pytest.mark.parametrize("at", [0.5, 1.0])
@pytest.mark.parametrize("method", ["rk4", "dopri5"])
def test_an_event_at_a_record_ends_there_once(at, method):
    def clock(t, q, qd):
        return t - at

    clock.terminal = True
    run = da.simulate(DROP, [1.0], [0.0], 1.0, events=clock, method=method, h=0.25, record=0.25)
    assert run.times.tolist() == np.arange(0, at + 0.1, 0.25).tolist() and run.end.t == at


@pytest.mark.parametrize("method, tolerance", [("rk4", 1e-9), ("gauss6", 1e-12), ("dop853", 1e-11)])
def test_a_run_goes_on_from_the_end_of_another_as_if_there_had_been_none(method, tolerance):
    options = {"method": method, "h": 2e-3} | ({"rtol": 1e-12} if method == "dop853" else {})
    starts = np.array([[0.3, -0.5], [-0.4, 0.2]])
    for q in (starts[0], starts):
        first = da.simulate(ARM, q, [0, 0], 3.0, events=low, **options)
        t = np.atleast_1d(first.end.t)
        for k in range(len(t)):
            q1, qd1 = (np.atleast_2d(v)[k] for v in first.final())
            second = da.simulate(ARM, q1, qd1, [float(t[k]), 3.0], **options)
            whole = da.simulate(ARM, np.atleast_2d(q)[k], [0, 0], [0.0, 3.0], **options)
            assert 0 < t[k] < 3 and np.abs(second.q[-1] - whole.q[-1]).max() < tolerance
        assert not da.simulate(ARM, *first.final(), 1e-3, events=low, **options).events      # it begins behind its event


def test_in_momenta_the_end_has_velocities():
    run = da.simulate(ARM, [[0.3, -0.5], [-0.4, 0.2]], [0, 0], 3.0, events=low, method="dop853", rtol=1e-12,
                      formulation="hamilton")
    other = da.simulate(ARM, [[0.3, -0.5], [-0.4, 0.2]], [0, 0], 3.0, events=low, method="dop853", rtol=1e-12)
    assert np.abs(run.end.qd - other.end.qd).max() < 1e-9 and np.abs(run.end.t - other.end.t).max() < 1e-10


@pytest.mark.parametrize("starts", [[0.3, -0.5], [[0.3, -0.5], [-0.4, 0.2], [-1.5, 0.0]]])
def test_files_keep_where_runs_ended(starts, tmp_path):
    def high(t, q, qd):
        return q[0] - 0.2

    high.terminal = True
    options = {"events": [low, high], "method": "dopri5", "record": 0.01}
    run = da.simulate(ARM, starts, [0, 0], 2.0, **options)
    stored = da.simulate(ARM, starts, [0, 0], 2.0, store=tmp_path / "store.zarr", **options)
    run.to_netcdf(tmp_path / "run.nc"), run.to_zarr(tmp_path / "run.zarr")
    stored.to_netcdf(tmp_path / "stored.nc")
    for other in (stored, *(da.Run.load(ARM, tmp_path / name) for name in ("run.nc", "run.zarr", "store.zarr", "stored.nc"))):
        for name, values in run.end._asdict().items():
            assert np.array_equal(getattr(other.end, name), values), name
        assert other.reasons == run.reasons and np.array_equal(np.asarray(other.times), run.times)
    if run.q.ndim == 2:
        run.to_csv(tmp_path / "run.csv")
        assert float((tmp_path / "run.csv").read_text().splitlines()[-1].split(",")[0]) == run.events[-1].t
    assert da.simulate(ARM, starts, [0, 0], 2.0, store=tmp_path / "store.zarr", resume=True, **options).summary() == run.summary()


def test_a_failure_ends_in_the_last_state_that_is_known():
    """A force that grows beyond all bounds at 0.3 s; records only every 0.25 s."""
    def blows_up(t, q, qd):
        return [1 / (0.3 - t) ** 2]

    one = da.simulate(DROP, [0.0], [0.0], 1.0, control=blows_up, method="dopri5", record=0.25)
    many = da.simulate(DROP, [[0.0], [1.0]], [0.0], 1.0, control=blows_up, method="dopri5", record=0.25)
    assert 0.299 < one.times[-1] < 0.3 and len(one.times) == 3 and f"t = {one.times[-1]:g} s" in one.reason
    assert many.end.t[0] == one.times[-1] and np.array_equal(many.final()[1][0], one.final()[1])
    right = 1 / (0.3 - one.times[-1]) - 1 / 0.3 - G * one.times[-1]
    assert abs(one.final()[1][0] / right - 1) < 1e-3      # 0.3 - t is 7e-12, of rounded numbers


def test_a_sweep_collects_where_each_run_ended():
    heights = [0.5, 1.0, 90.0]
    run = da.simulate(DROP, [[h] for h in heights], [0.0], 4.0, events=floor)
    for k, h in enumerate(heights):
        found, t = trials.final(run, k), min(np.sqrt(2 * h / G), 4.0)
        assert abs(found["time"] - t) < 1e-12 and abs(found["qd"][1][0] + G * t) < 1e-11
        assert abs(found["kinetic_energy"] - (G * t) ** 2 / 2) < 1e-9 and found["energy_drift"] < 1e-12
        alone = trajectory(run, k)
        assert alone.times[-1] == run.end.t[k] == alone.end.t and np.array_equal(alone.final()[0], run.end.q[k])


def test_pictures_and_summary_take_a_last_record_between_the_others(tmp_path):
    pytest.importorskip("matplotlib")
    for q in ([1.0], [[1.0], [2.0]]):
        run = da.simulate(DROP, q, [0.0], 4.0, events=floor, record=0.1)
        run.plot(tmp_path / "run.png"), run.animate(tmp_path / "run.html")
        assert "event 'floor' at t = 0.4515" in run.summary()
    run = da.simulate(DROP, [1.0], [0.0], 4.0, events=floor, record=0.1)
    assert "0.451524 s, 6 records" in run.summary()


def test_states_of_a_controller_are_known_at_the_end():
    class Clock:
        states = np.zeros(1)

        def __call__(self, t, q, qd, z):
            return 0 * qd

        def rate(self, t, q, qd, z):
            return 1 + 0 * z

    run = da.simulate(DROP, [[1.0], [2.0]], [0.0], 4.0, control=Clock(), events=floor)
    assert np.abs(run.end.controller_states[:, 0] - run.end.t).max() < 1e-12
    assert replace(run, ended=None).end.t[0] < run.end.t[0]      # of a file that is older: the last record
