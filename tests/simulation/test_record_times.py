"""Records stand where they were asked for, and at the end."""

import numpy as np
import pytest

import dalembert as da
from dalembert.simulation.simulate import resume

METHODS = ["rk4", "gauss4", "dopri5", "radau5"]
CHAIN = da.planar_chain(1)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize(("duration", "record", "times"), [
    (2.5, 1.0, [0, 1, 2, 2.5]), (1.0, 0.3, [0, 0.3, 0.6, 0.9, 1.0]), (1.0, 0.25, [0, 0.25, 0.5, 0.75, 1]),
    (1.0, 1 / 3, [0, 1 / 3, 2 / 3, 1]), (0.5, 2.0, [0, 0.5]), (1.0, 1.0, [0, 1]), (0.7, 0.1, np.arange(8) / 10),
    (1.0, 0.0999, [*(np.arange(11) * 0.0999), 1.0])])
def test_records_have_the_spacing_that_was_asked_for_and_the_rest_is_shorter(method, duration, record, times):
    run = da.simulate(CHAIN, [1.0], [0.0], duration, record=record, method=method, h=0.01)
    right = da.simulate(CHAIN, [1.0], [0.0], run.times, method="dop853", rtol=1e-11)
    assert np.abs(run.times - times).max() < 1e-15 and run.times[-1] == duration and run.reason == "finished"
    assert np.abs(run.q - right.q).max() < 1e-5
    assert method == "radau5" or run.steps >= duration / 0.01 * (1 - 1e-9) or method == "dopri5"


def test_steps_of_the_last_interval_are_as_long_as_the_others_or_shorter():
    run = da.simulate(CHAIN, [1.0], [0.0], 1.0, record=0.3, h=0.07)
    assert run.steps == 3 * 5 + 2 and run.h == pytest.approx(0.06)      # 0.3 / 5, then 0.1 / 2


def test_events_stops_and_ensembles_go_through_the_last_interval():
    def level(t, q, qd):
        return q[0] - 0.25

    m = da.Mechanism("ball", (da.Body("base"), da.Body("ball", 1.0)), (
        da.Joint("y", da.Prismatic((0, 0, 1)), "base", "ball", limits=da.Limits((0,), (9,))),))
    q, options = [[1.0], [0.7], [0.2]], {"stops": {"y": 0.7}, "events": level}
    odd = da.simulate(m, q, [[0.0]], 1.3, record=0.4, h=1e-3, **options)
    even = da.simulate(m, q, [[0.0]], 1.3, record=0.1, h=1e-3, **options)
    assert np.abs(odd.q - even.q[:, [0, 4, 8, 12, 13]]).max() < 1e-10 and len(odd.events) == len(even.events) > 3
    assert np.abs(np.subtract([e.t for e in odd.events], [e.t for e in even.events])).max() < 1e-10
    assert [c[2:4] for c in odd.changes] == [c[2:4] for c in even.changes]
    assert np.array_equal(odd.steps, [1300] * 3)


@pytest.mark.parametrize("method", ["rk4", "gauss4", "dopri5"])
def test_a_run_in_a_folder_has_the_same_last_interval(tmp_path, method):
    pytest.importorskip("zarr")
    options = {"record": 0.3, "method": method, "h": 0.01}
    run = da.simulate(CHAIN, [1.0], [0.0], 1.0, **options)
    stored = da.simulate(CHAIN, [1.0], [0.0], 1.0, store=tmp_path / "run.zarr", **options)
    again = resume(CHAIN, tmp_path / "run.zarr")
    for other in (stored, again):
        assert np.array_equal(other.q[:], run.q) and np.array_equal(other.times[:], run.times) and other.steps == run.steps


@pytest.mark.parametrize("record", [1e-300, 5e-324, 1e-13, 0.0, -1.0, np.nan, np.inf])
def test_a_spacing_that_makes_no_sense_is_refused(record):
    with pytest.raises(ValueError, match="record="):
        da.simulate(CHAIN, [1.0], [0.0], 1.0, record=record)
