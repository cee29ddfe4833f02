"""Stops that several joints meet together, many joints that bounce, and joints that cannot move."""

import numpy as np
import pytest

import dalembert as da
from dalembert.model.joints import Prismatic
from dalembert.model.mechanism import Mechanism
from dalembert.model.parts import Body, Joint, Limits
from methods import EVERY, each

G = 9.81
X, Z = (1, 0, 0), (0, 0, 1)


def sliders(lower=(0, 0), upper=(3, 1)):
    """A slider on a slider: M = [[3, 1], [1, 1]], without weight along x."""
    return Mechanism("two", (Body("base"), Body("one", 2), Body("two", 1)), (
        Joint("x1", Prismatic(X), "base", "one", limits=Limits((lower[0],), (upper[0],))),
        Joint("x2", Prismatic(X), "one", "two", limits=Limits((lower[1],), (upper[1],)))))


TWO = sliders()
HALF = {"x1": 0.5, "x2": 0.5}


def balls(n, restitution):
    m = Mechanism("balls", (Body("base"), *(Body(f"b{k}", 1) for k in range(n))), tuple(
        Joint(f"z{k}", Prismatic(Z), "base", f"b{k}", limits=Limits((0,), None)) for k in range(n)))
    return m, {f"z{k}": e for k, e in enumerate(np.broadcast_to(restitution, n).tolist())}


@pytest.mark.parametrize("method", each(EVERY))
def test_stops_that_are_met_together_are_met_in_one_impact(method):
    """Both at 0.5 s, or one of them a little later: (-e v1, -e v2), as from a start at both stops."""
    for late in (0.0, 1e-15, 1e-12, 1e-10) if method != "radau5" else (0.0, 1e-12):
        for q in ([2.8125 - 0.375 * late, 0.875], [2.8125, 0.875 - 0.25 * late]):
            run = da.simulate(TWO, q, [0.375, 0.25], 1.0, stops=HALF, method=method, h=0.01, record=0.1)
            assert np.abs(run.qd[-1] - [-0.1875, -0.125]).max() < 1e-12, (late, q)
            hits = [c for c in run.changes if c.impact]
            assert len(hits) == 2 and abs(hits[0].t - 0.5) < 1e-9 and np.abs([hits[0].impact - 0.375, hits[1].impact - 0.25]).max() < 1e-12
            assert np.abs(run.power_balance).max() < 1e-12
    at_once = da.simulate(TWO, [3.0, 1.0], [0.375, 0.25], 0.1, stops=HALF, method=method, h=0.01)
    assert np.abs(at_once.qd[-1] - [-0.1875, -0.125]).max() < 1e-14


@pytest.mark.parametrize("method", ["rk4", "dopri5"])
def test_called_forces_meet_the_same_impact_and_so_do_trajectories_side_by_side(method):
    def none(t, q, qd):
        return [0.0, 0.0] if float(t) >= 0 else [1.0, 1.0]

    run = da.simulate(TWO, [2.8125, 0.875], [0.375, 0.25], 1.0, control=none, stops=HALF, method=method, h=0.01, record=0.1)
    assert run.forces["control"] == "called" and np.abs(run.qd[-1] - [-0.1875, -0.125]).max() < 1e-12
    late = np.array([0.0, 1e-14, 1e-11, 0.1])
    many = da.simulate(TWO, np.column_stack([2.8125 + 0 * late, 0.875 - 0.25 * late]), [0.375, 0.25], 1.0, stops=HALF,
                       method=method, h=0.01, record=0.1)
    assert np.abs(many.qd[:3, -1] - [-0.1875, -0.125]).max() < 1e-12 and np.abs(many.qd[3, -1] - [-0.1875, -0.125]).max() > 0.05


@pytest.mark.parametrize("method", each(["rk4", "gauss4", "dopri5", "dop853"]))
def test_stops_that_are_met_at_a_record_with_an_event_or_at_the_start_are_met_once(method):
    def half(t, q, qd):
        return t - 0.5

    for h, record in ((0.01, 0.1), (0.25, 0.25), (0.5, 0.5)):
        run = da.simulate(TWO, [2.8125, 0.875], [0.375, 0.25], 1.0, stops=HALF, events=half, method=method, h=h, record=record)
        assert np.abs(run.qd[-1] - [-0.1875, -0.125]).max() < 1e-12
        assert len(run.events) == 1 and abs(run.events[0].t - 0.5) < 1e-14
        assert sum(c.impact != 0 for c in run.changes) == 2


def test_a_terminal_event_at_a_stop_ends_before_the_impact_and_the_next_run_begins_with_it():
    def floor(t, q, qd):
        return q[0]

    m, stops = balls(1, 0.5)
    whole = da.simulate(m, [1.0], [0.0], 1.0, stops=stops)
    floor.terminal = True
    for method in ("rk4", "dopri5"):
        run = da.simulate(m, [1.0], [0.0], 1.0, stops=stops, events=floor, method=method, record=0.1)
        q, qd = run.final()
        assert q[0] == 0 and abs(qd[0] + np.sqrt(2 * G)) < 1e-12 and np.array_equal(run.events[0].qd, qd)
        on = da.simulate(m, q, qd, [float(run.end.t), 1.0], stops=stops, method=method)
        assert abs(on.q[-1, 0] - whole.q[-1, 0]) < 1e-12 and abs(on.qd[-1, 0] - whole.qd[-1, 0]) < 1e-12


@pytest.mark.parametrize("method", ["rk4", pytest.param("dopri5", marks=pytest.mark.slow)])
def test_many_balls_bounce_until_each_rests(method):
    """Bounces count for each joint by itself. All end at t (1 + e)/(1 - e), t the first fall, less flights that are none."""
    m, stops = balls(5, 0.9)
    t, h = np.sqrt(0.2 / G), 1e-3
    run = da.simulate(m, np.full(5, 0.1), np.zeros(5), 3.0, stops=stops, method=method, h=h, record=0.5)
    assert run.reason == "finished" and (run.q[-1] == 0).all() and (run.qd[-1] == 0).all()
    rest = [c.t for c in run.changes if c.mode == "stops"]
    assert len(rest) == 5 and np.abs(np.array(rest) - t * 1.9 / 0.1).max() < 0.01 * h / 0.1 + 1e-9


@pytest.mark.parametrize("e", [0.5, 0.9, pytest.param(0.98, marks=pytest.mark.slow)])
def test_a_ball_comes_to_rest_when_the_sum_of_its_flights_ends(e):
    m, stops = balls(1, e)
    t, h = np.sqrt(0.02 / G), 1e-3
    run = da.simulate(m, [0.01], [0.0], 5.0, stops=stops, h=h, record=1.0)
    last = run.changes[-1]
    assert last.mode == "stops" and -0.01 * h / (1 - e) - 1e-9 < last.t - t * (1 + e) / (1 - e) < 1e-9
    assert run.q[-1] == 0 and abs(run.work[-1] + G * 0.01) < 1e-12


def test_balls_of_different_restitution_rest_one_after_the_other():
    e = np.array([0.3, 0.6])
    m, stops = balls(2, e)
    run = da.simulate(m, np.full(2, 0.2), np.zeros(2), 3.0, stops=stops, record=0.5)
    rest = {c.entry: c.t for c in run.changes if c.mode == "stops"}
    assert np.abs(np.array([rest[f"z{k}"] for k in range(2)]) - np.sqrt(0.4 / G) * (1 + e) / (1 - e)).max() < 1e-4


@pytest.mark.parametrize("method", ["rk4", "gauss4", "dopri5", "radau5"])
def test_a_joint_whose_stops_are_one_place_is_held_there(method):
    """Its reaction takes the push and the rest of the motion, of whatever sign."""
    m = sliders(lower=(0, 0.4), upper=(3, 0.4))
    run = da.simulate(m, [1.0, 0.4], [0.3, 0.0], 2.0, control=[1.5, -2.0], stops={"x1": 1.0, "x2": 0.5}, method=method, h=0.01,
                      record=0.1)
    assert run.reason == "finished" and (run.q[:, 1] == 0.4).all() and (run.qd[:, 1] == 0).all()
    first = run.times < 1.5
    assert np.abs(run.q[first, 0] - (1 + 0.3 * run.times[first] + 0.25 * run.times[first] ** 2)).max() < 1e-9      # 1.5 N, 3 kg
    assert np.abs(run.reactions[first, 1] - (0.5 + 2.0)).max() < 1e-9                                             # 1 kg at 0.5 m/s^2
    assert np.abs(run.power_balance).max() < 1e-9 and run.changes[1].mode == "stops"
    hit = da.simulate(m, [1.0, 0.4], [0.3, 0.6], 0.1, stops={"x1": 1.0, "x2": 0.5}, method=method, h=0.01)
    assert np.abs(hit.qd[-1] - [0.5, 0.0]).max() < 1e-12      # momentum of both: 3 * 0.3 + 0.6 = 3 v
    other = da.simulate(m, [1.0, 0.4], [0.3, -0.6], 0.1, stops={"x1": 1.0, "x2": 0.5}, method=method, h=0.01)
    assert np.abs(other.qd[-1] - [0.1, 0.0]).max() < 1e-12


@pytest.mark.parametrize("gap", [1e-3, 1e-6, 1e-9, 1e-15])
def test_a_joint_with_little_play_rattles_until_it_rests_and_ends_nothing(gap):
    m = sliders(upper=(30, gap))
    for e in (0.0, 0.9, 1.0):
        run = da.simulate(m, [1.0, 0.0], [0.1, 0.5], 0.3, stops={"x1": 0.5, "x2": e}, h=0.01, record=0.1)
        assert run.reason == "finished" and (run.q[:, 1] >= 0).all() and (run.q[:, 1] <= gap).all()
        assert np.abs(run.power_balance).max() < 1e-12 and abs(run.qd[-1] @ [3, 1] - 0.8) < 1e-12      # momentum
        assert run.kinetic_energy[-1] <= run.kinetic_energy[0] * (1 + 1e-12)


def test_a_start_that_misses_its_stop_by_rounding_is_at_it():
    run = da.simulate(sliders(upper=(0.3, 1)), [0.1 + 0.2, 0.5], [0.4, 0.0], 0.1, stops=HALF)
    assert run.changes[0].impact == 0.4 and (run.q[1:, 0] < 0.3).all()
    with pytest.raises(ValueError, match="beyond its stops"):
        da.simulate(sliders(upper=(0.3, 1)), [0.3 + 1e-9, 0.5], [0.4, 0.0], 0.1, stops=HALF)


def test_a_stack_collapses_to_rest():
    """Bodies on bodies on the floor, each apart from the next by a joint with a stop: impacts accumulate in all of them."""
    m = Mechanism("stack", (Body("base"), *(Body(f"b{k}", 1.0) for k in range(3))), tuple(
        Joint(f"z{k}", Prismatic(Z), "base" if k == 0 else f"b{k - 1}", f"b{k}", limits=Limits((0,), None)) for k in range(3)))
    for e in (0.0, 0.7):
        run = da.simulate(m, [0.1, 0.05, 0.02], [0.0, 0.0, 0.0], 4.0, stops={f"z{k}": e for k in range(3)}, record=0.5)
        assert run.reason == "finished" and (run.q[-1] == 0).all() and (run.qd[-1] == 0).all()
        assert np.abs(run.power_balance).max() < 1e-9 and np.abs(run.reactions[-1] - G * np.array([3, 2, 1])).max() < 1e-9
