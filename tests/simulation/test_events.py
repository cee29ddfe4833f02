"""Events of the user's functions: when, which, and what they end; progress and interruption."""

from dataclasses import replace

import numpy as np
import pytest

import dalembert as da
from dalembert.model.joints import Prismatic
from dalembert.model.mechanism import Mechanism
from dalembert.model.parts import Body, Joint
from dalembert.results import streaming
from methods import EXACT, each

G = 9.81


@pytest.fixture(scope="module")
def drop():
    """A point that falls: q = -g t^2/2, exact for every method of order 2 or more."""
    return Mechanism("drop", (Body("base"), Body("ball", 1)), (Joint("fall", Prismatic((0, 0, 1)), "base", "ball"),))


def at(level, **attributes):
    def g(t, q, qd):
        return q[0] - level

    g.__dict__ |= attributes
    return g


@pytest.mark.parametrize("method", each(EXACT, ("rk4", "gauss6", "dopri5", "dop853", "radau5")))
def test_an_event_is_found_to_the_last_digits_of_the_time(drop, method):
    """From 0 with 4 m/s up, through 0.3 m: t = (4 -+ sqrt(16 - 2 g 0.3))/g."""
    run = da.simulate(drop, [0.0], [4.0], 1.0, events=at(0.3), method=method, h=0.0137)
    right = (4 + np.array([-1, 1]) * np.sqrt(16 - 2 * G * 0.3)) / G
    assert [e.name for e in run.events] == ["g", "g"] and run.reason == "finished"
    assert np.abs([e.t for e in run.events] - right).max() < 2e-14
    for e in run.events:
        assert abs(e.q[0] - 0.3) < 1e-13 and abs(e.qd[0] - (4 - G * e.t)) < 1e-12
    plain = da.simulate(drop, [0.0], [4.0], 1.0, method=method, h=0.0137)
    assert np.abs(run.q - plain.q).max() < 1e-12 and np.array_equal(run.times, plain.times)


@pytest.mark.parametrize("method", ["rk4", "gauss4", "dopri5", "radau5"])
def test_functions_that_are_called_find_the_same_events(drop, method):
    def g(t, q, qd):
        return float(q[0]) - 0.3 if float(t) >= 0 else np.nan

    traced = da.simulate(drop, [0.0], [4.0], 1.0, events=at(0.3), method=method, h=0.01)
    called = da.simulate(drop, [0.0], [4.0], 1.0, events=g, method=method, h=0.01)
    assert np.abs([a.t - b.t for a, b in zip(traced.events, called.events, strict=True)]).max() < 1e-13
    assert np.abs(called.q - traced.q).max() < 1e-12


def test_direction_and_count_are_those_of_scipy(drop):
    run = da.simulate(drop, [0.0], [4.0], 1.0, events=[at(0.3, direction=1, name="up"), at(0.3, direction=-1, name="down")])
    assert [e.name for e in run.events] == ["up", "down"] and run.events[0].qd[0] > 0 > run.events[1].qd[0]
    run = da.simulate(drop, [0.0], [4.0], 1.0, events=at(0.3, terminal=True))
    assert len(run.events) == 1 and run.reason == f"event 'g' at t = {run.events[0].t:.9g} s"
    assert run.times[-1] == run.events[0].t and np.array_equal(run.final()[0], run.events[0].q)
    run = da.simulate(drop, [0.0], [4.0], 1.0, events=at(0.3, terminal=2))
    assert len(run.events) == 2 and "event" in run.reason
    assert da.simulate(drop, [0.0], [4.0], 1.0, events=at(0.3, terminal=3)).reason == "finished"


@pytest.mark.parametrize("method", ["rk4", "dopri5"])
def test_what_begins_at_zero_is_no_event_and_a_zero_on_the_grid_is_one(drop, method):
    assert not da.simulate(drop, [0.0], [-1.0], 1.0, events=at(0.0), method=method).events

    def clock(t, q, qd):
        return t - 0.5 + 0 * q[0]

    run = da.simulate(drop, [0.0], [0.0], 1.0, events=clock, h=0.25, record=0.25, method=method)
    assert [e.t for e in run.events] == [0.5]


@pytest.mark.parametrize("method", ["rk4", "dopri5"])
def test_of_several_events_in_a_step_the_earliest_comes_first(drop, method):
    levels = [-0.30, -0.10, -0.20, -0.15]
    run = da.simulate(drop, [0.0], [0.0], 1.0, events=[at(v, name=str(v)) for v in levels], h=0.5, record=0.5, method=method)
    assert [e.name for e in run.events] == ["-0.1", "-0.15", "-0.2", "-0.3"]
    assert np.abs([e.t - np.sqrt(-2 * float(e.name) / G) for e in run.events]).max() < 1e-14


def test_events_of_many_end_each_of_them_alone(drop):
    v = np.linspace(1, 5, 11)[:, None]
    run = da.simulate(drop, [0.0], v, 1.0, events=at(0.3, terminal=True))
    rises = v[:, 0] ** 2 > 2 * G * 0.3
    assert [r != "finished" for r in run.reasons] == rises.tolist() and len(run.events) == rises.sum()
    for e in run.events:
        ended = np.isnan(run.q[e.trajectory, :, 0])
        assert (ended == (run.times > e.t)).all()


def test_in_momenta_events_are_given_velocities():
    m = da.planar_chain(2)

    def still(t, q, qd):
        return qd[0]

    a, b = (da.simulate(m, [1.0, 0.5], [0, 0], 1.5, events=still, method="dop853", rtol=1e-12, formulation=f)
            for f in ("newton_euler", "hamilton"))
    assert len(a.events) == len(b.events) > 0
    assert max(abs(x.t - y.t) for x, y in zip(a.events, b.events, strict=True)) < 1e-9


def test_events_that_make_no_sense_are_named(drop):
    with pytest.raises(TypeError, match="events= holds a int"):
        da.simulate(drop, [0.0], [0.0], 1.0, events=[3])
    with pytest.raises(ValueError, match="direction of the event 'g' is 2"):
        da.simulate(drop, [0.0], [0.0], 1.0, events=at(0.3, direction=2))
    with pytest.raises(TypeError, match="progress=3"):
        da.simulate(drop, [0.0], [0.0], 1.0, progress=3)


def test_progress_is_told_and_an_interrupt_comes_through(drop, monkeypatch):
    monkeypatch.setattr(streaming, "WORK", 1000)
    seen = []
    run = da.simulate(drop, [0.0], [0.0], 1.0, progress=lambda done, t: seen.append((done, t)))
    assert len(seen) > 2 and seen == sorted(seen) and seen[-1] == (1.0, 1.0)
    assert np.array_equal(run.q, da.simulate(drop, [0.0], [0.0], 1.0, progress=True).q)
    monkeypatch.undo()
    assert np.array_equal(run.q, da.simulate(drop, [0.0], [0.0], 1.0).q)      # nothing depends on the parts

    def interrupt(done, t):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        da.simulate(drop, [0.0], [0.0], 1.0, progress=interrupt)


@pytest.mark.parametrize("method", each(["rk4", "gauss4", "dopri5", "dop853"], ("rk4", "dopri5")))
def test_parts_change_nothing_with_events_and_friction(method, monkeypatch):
    m = da.planar_chain(2)
    options = {"events": lambda t, q, qd: q[0], "method": method, "h": 5e-3} | ({"rtol": 1e-8} if method == "dopri5" else {})
    whole = da.simulate(m, [1.0, 0.3], [0, 0], 2.0, **options)
    monkeypatch.setattr(streaming, "WORK", 500)
    parts = da.simulate(m, [1.0, 0.3], [0, 0], 2.0, **options)
    assert np.array_equal(whole.q, parts.q) and [e.t for e in whole.events] == [e.t for e in parts.events] != []


# --- events without a value ---


def called_root(x):
    return float(np.sqrt(x)) if x >= 0 else np.nan


@pytest.mark.parametrize("method", ["rk4", "dopri5", "radau5"])
@pytest.mark.parametrize("traced", [True, False])
def test_a_run_ends_with_a_reason_where_an_event_has_no_value_any_more(drop, method, traced):
    """sqrt(1.005 s - t) - 1/2 passes 0 at 0.755 s; the end is named, and lies close behind 1.005 s."""
    root = da.sqrt if traced else called_root

    def late(t, q, qd):
        return root(1.005 - t) - 0.5

    def never(t, q, qd):
        return q[0] + 1000 + 0 * t

    late.traced = traced
    run = da.simulate(drop, [0.0], [1.0], 2.0, method=method, h=0.01, record=0.1, events=[never, late])
    assert run.reason.startswith(f"the event 'late' {'has no value' if traced else 'gave nan'} at t = 1.0")
    assert "with q = [" in run.reason and 1.005 < run.end.t < 1.2
    assert [e.t for e in run.events] == pytest.approx([0.755], abs=1e-12)


@pytest.mark.parametrize("traced", [True, False])
def test_an_event_must_have_a_value_where_a_run_begins(drop, traced):
    root = da.sqrt if traced else called_root

    def early(t, q, qd):
        return root(q[0]) - 0.5

    early.traced = traced
    with pytest.raises(ValueError, match=r"'early' .* at t = 3 s, with q = \[-1.0\], qd = \[2.0\].*a number"):
        da.simulate(drop, [-1.0], [2.0], (3.0, 4.0), method="rk4", h=0.1, events=early)
    run = da.simulate(drop, [[1.0], [-1.0]], [[0.0], [0.0]], 0.3, method="rk4", h=0.1, record=0.1, events=early)
    assert run.end.t[1] == 0 and run.end.t[0] > 0.25 and np.isnan(run.q[1, 1:]).all()
    assert "'early'" in run.reason


@pytest.mark.parametrize("method", ["rk4", "dopri5"])
def test_an_event_may_have_no_value_beyond_a_stop(drop, method):
    """sqrt of the height: a step goes on below the floor, a motion does not."""
    m = replace(drop, joints=tuple(replace(j, limits=da.Limits((0.0,), (9.0,))) for j in drop.joints))
    run = da.simulate(m, [1.0], [0.0], 1.0, method=method, h=0.05, record=0.05, stops={"fall": 0.8},
                      events=lambda t, q, qd: da.sqrt(q[0]) - 0.5)
    assert run.reason == "finished" and len(run.events) == 2 and len([c for c in run.changes if c.impact]) == 1


@pytest.mark.parametrize("traced", [True, False])
@pytest.mark.parametrize("method", ["dop853", "dopri5", "rk4"])
def test_records_within_the_step_that_a_terminal_event_ends_are_those_of_the_motion(method, traced):
    """A fall of 1 m: steps of an adaptive method are as long as all of it."""
    falling = da.lagrangian_system(lambda q, qd, t: qd[0] ** 2 / 2 - 9.81 * q[0], "y")

    def ground(t, q, qd):
        return q[0]

    ground.terminal, ground.traced = True, traced
    times = np.linspace(0, 1, 21)
    run = da.simulate(falling, [1.0], [0.0], times, events=ground, method=method, h=1e-3)
    assert run.times[-1] == pytest.approx(np.sqrt(2 / 9.81), abs=1e-12) and len(run.times) == 11
    np.testing.assert_allclose(run.q[:, 0], 1 - 9.81 * run.times ** 2 / 2, atol=1e-10)
    several = da.simulate(falling, [[1.0], [0.5]], [[0.0], [0.0]], times, events=ground, method=method, h=1e-3)
    for q, start in zip(several.q[..., 0], (1.0, 0.5)):
        known = np.isfinite(q)
        assert known.sum() == 1 + int(np.sqrt(2 * start / 9.81) / 0.05)
        np.testing.assert_allclose(q[known], start - 9.81 * times[known] ** 2 / 2, atol=1e-10)
