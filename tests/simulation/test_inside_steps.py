"""Stops, ends of friction and events inside steps: random motions whose impacts are known exactly, and hard cases by hand."""

import warnings
from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from scipy.optimize import brentq

import dalembert as da
import methods
from dalembert.integrators import search
from dalembert.model.joints import Prismatic
from dalembert.model.mechanism import Mechanism
from dalembert.model.parts import Body, Joint, Limits
from methods import EXACT, FIXED

G = 9.81
ADAPTIVE = [*methods.ADAPTIVE, *methods.EXTERNAL]


def ball(lower=-1000.0, upper=45.0):
    return Mechanism("ball", (Body("base"), Body("ball", 1)), (
        Joint("y", Prismatic((0, 0, 1)), "base", "ball", limits=Limits((lower,), (upper,))),))


BALL = ball()


def sledges(n, rng):
    """Blocks of 1 kg on rails of their own: none moves another; each between stops 0.5 to 2 m apart."""
    lower, upper = rng.uniform(-1, -0.25, n), rng.uniform(0.25, 1, n)
    bodies = [Body("base"), *(Body(f"block{k}", 1.0) for k in range(n))]
    joints = [Joint(f"x{k}", Prismatic((1, 0, 0)), "base", f"block{k}", limits=Limits((float(lower[k]),), (float(upper[k]),)))
              for k in range(n)]
    return Mechanism("sledges", tuple(bodies), tuple(joints)), lower, upper


def impacts_of(x, v, a, bounds, e, end):
    """Times and speeds of the impacts of one block under a constant acceleration, and the state at the end.

    None where flights become so short that the block is to rest.
    """
    found, t = [], 0.0
    while True:
        hits = []
        for bound, way in zip(bounds, (-1.0, 1.0), strict=True):
            for root in np.roots([a / 2, v, x - bound]):
                if abs(root.imag) < 1e-9 and root.real > 1e-12 and way * (v + a * root.real) > 0:
                    hits.append((float(root.real), bound))
        if not hits or t + min(hits)[0] > end:
            return found, x + v * (end - t) + a / 2 * (end - t) ** 2
        after, x = min(hits)
        speed = v + a * after
        if after < 0.02 or abs(speed) < 0.05:
            return None
        t, v = t + after, -e * speed
        found.append((t, abs(speed)))


def check_impacts(method, n, count, seed, **options):
    """Random blocks, with impacts at times that are known: all found, to rounding."""
    rng, e, end = np.random.default_rng(seed), 0.7, 1.5
    m, lower, upper = sledges(n, rng)
    x, v, a = rng.uniform(-0.2, 0.2, (count, n)), rng.uniform(-3, 3, (count, n)), rng.uniform(-9, 9, (count, n))
    level = 0.1
    run = da.simulate(m, x, v, end, control=a, method=method, stops=dict.fromkeys((j.name for j in m.joints), e),
                      events=lambda t, q, qd: q[0] - level, record=end / 3, **options)
    checked = 0
    for k in range(count):
        exact = [impacts_of(x[k, i], v[k, i], a[k, i], (lower[i], upper[i]), e, end) for i in range(n)]
        if any(one is None for one in exact):
            continue
        checked += 1
        for i, (right, last) in enumerate(exact):
            found = [(c.t, c.impact) for c in run.changes if c.trajectory == k and c.entry == f"x{i}" and c.impact]
            assert len(found) == len(right), (method, k, i, found, right)
            if right:
                assert np.abs(np.array(found)[:, 0] - np.array(right)[:, 0]).max() < 1e-9
                assert np.abs(np.abs(np.array(found)[:, 1]) - np.array(right)[:, 1]).max() < 1e-8
            assert abs(run.q[k, -1, i] - last) < 1e-8
        for event in (one for one in run.events if one.trajectory == k):
            assert abs(event.q[0] - level) < 1e-12
        path = [(x[k, 0], v[k, 0], 0.0)]
        passed = crossings(path[0], a[k, 0], exact[0][0], e, (lower[0], upper[0]), level, end)
        assert len([1 for one in run.events if one.trajectory == k]) == len(passed), (method, k, passed)
        times = [one.t for one in run.events if one.trajectory == k]
        assert not passed or np.abs(np.array(times) - passed).max() < 1e-8
    return checked


def crossings(start, a, impacts, e, bounds, level, end):
    """Times at which a block passes a level between the stops."""
    (x, v, t), found = start, []
    for until, speed in [*impacts, (end, None)]:
        span = until - t
        found += [t + float(r.real) for r in sorted(np.roots([a / 2, v, x - level]), key=lambda r: r.real)
                  if abs(r.imag) < 1e-9 and 1e-12 < r.real < span]
        if speed is None:
            return found
        away = v + a * span
        x, v, t = bounds[1] if away > 0 else bounds[0], -e * away, until
    return found


@pytest.mark.parametrize("method", methods.each(["rk4", "gauss6", "lie_rk4", *ADAPTIVE]))
def test_impacts_and_events_are_those_of_an_exact_solution(method):
    options = {"rtol": 1e-6, "atol": 1e-6, "h": 1e-2} if method in ADAPTIVE else {"h": 0.05}
    assert check_impacts(method, *((1, 3) if method == "radau5" else (2, 8)), 5, **options) > 1


@pytest.mark.slow
@pytest.mark.parametrize("joints", [1, 2, 3, 4])
@pytest.mark.parametrize("method", EXACT)
def test_impacts_and_events_of_many_motions_are_those_of_exact_solutions(method, joints):
    for seed, tolerance in enumerate((1e-4, 1e-6, 1e-8, 1e-10, 1e-12)):
        steps = {"h": (0.3, 0.1, 0.05, 0.02, 0.01)[seed]}
        options = {"rtol": tolerance, "atol": tolerance, "h": 1e-2} if method in ADAPTIVE else steps
        assert check_impacts(method, joints, 10 if method == "radau5" else 60, seed, **options)


# --- coupled motions: the continuous extension stays between the stops ---


def _limited(chain):
    return replace(chain, joints=tuple(j if j.is_fixed else replace(j, limits=Limits((-1.0 - 0.1 * k,), (1.3 + 0.1 * k,)))
                                       for k, j in enumerate(chain.joints)))


def beyond(m, run):
    """How far records are outside of their limits."""
    limits = [j.limits for j in m.joints if not j.is_fixed]
    low, high = (np.array([float(getattr(own, side)[0]) for own in limits]) for side in ("lower", "upper"))
    q = run.q[np.isfinite(run.q).all(axis=-1)]
    return max((low - q).max(), (q - high).max())


def check_extension(method, n, count, seed, **options):
    """A chain that falls from stop to stop: what lies between its steps is between the stops."""
    rng, m, end = np.random.default_rng(seed), _limited(da.planar_chain(n)), 1.0
    q, qd = rng.uniform(-0.9, 0.9, (count, n)), rng.uniform(-4, 4, (count, n))
    h = options.get("h", 0.01)
    record = h if method in FIXED else end / 500
    with warnings.catch_warnings(action="ignore", category=da.errors.DalembertWarning):      # of accuracy and clusters
        run = da.simulate(m, q, qd, end, method=method, record=record, stops=dict.fromkeys(m.coordinate_names, 0.6), **options)
    assert beyond(m, run) < 1e-11, (method, seed)
    if method in FIXED:
        assert cubics_beyond(m, run) < 1e-11, (method, seed)
    return len([c for c in run.changes if c.impact])


def cubics_beyond(m, run):
    """How far the cubics through records are outside of the limits, where nothing happened in between."""
    worst = -1.0
    limits = [j.limits for j in m.joints if not j.is_fixed]
    for k in range(len(run.q)):
        times = np.array([c.t for c in run.changes if c.trajectory == k])
        for i in range(len(run.times) - 1):
            t, t1 = run.times[i], run.times[i + 1]
            if np.isnan(run.q[k, i + 1]).any() or ((times >= t - 1e-12) & (times <= t1 + 1e-12)).any():
                continue
            c = search.hermite(run.q[k, i], run.q[k, i + 1], run.qd[k, i], run.qd[k, i + 1], t1 - t)
            for j, own in enumerate(limits):
                p = np.polynomial.Polynomial([c[0][j], 3 * (c[1][j] - c[0][j]), 3 * (c[0][j] - 2 * c[1][j] + c[2][j]),
                                              c[3][j] - 3 * c[2][j] + 3 * c[1][j] - c[0][j]])
                places = [s.real for s in p.deriv().roots() if abs(s.imag) < 1e-9 and 0 < s.real < 1] + [1.0]
                values = p(np.array(places))
                worst = max(worst, float(own.lower[0]) - values.min(), values.max() - float(own.upper[0]))
    return worst


@pytest.mark.parametrize("method", methods.each(["semi_implicit_euler", "rk4", "dopri5", "dop853"], ("semi_implicit_euler", "dop853")))
def test_what_lies_between_the_steps_of_a_chain_is_between_its_stops(method):
    options = {"rtol": 1e-4, "atol": 1e-4, "h": 1e-2} if method in ADAPTIVE else {"h": 0.02}
    assert check_extension(method, 1 if method == "dop853" else 2, 6, 1, **options) > 3


@pytest.mark.slow
@pytest.mark.parametrize("joints", [1, 2, 3, 4])
@pytest.mark.parametrize("method", [*FIXED, *ADAPTIVE])
def test_what_lies_between_the_steps_of_many_chains_is_between_their_stops(method, joints):
    for seed, tolerance in enumerate((1e-4, 1e-6, 1e-8, 1e-10, 1e-12)):
        steps = {"h": (0.05, 0.02, 0.01, 0.02, 0.05)[seed]}
        options = {"rtol": tolerance, "atol": tolerance, "h": 1e-2} if method in ADAPTIVE else steps
        assert check_extension(method, joints, 4 if method == "radau5" else 20, seed, **options)


# --- steps of the method itself that do not lead to what its extension meets ---


BLOCK = Mechanism("block", (Body("base"), Body("block", 1.0)), (
    Joint("x", Prismatic((1, 0, 0)), "base", "block", limits=Limits((-9.0,), (0.5,))),))


def one_step(method, x, v, h, push, e, traced):
    """A step h of the block, under a force that is a number, or a function that is called; and its impacts."""
    def called(t, q, qd):
        return [push]

    called.traced = False
    run = da.simulate(BLOCK, [x], [v], h, control=[push] if traced else called, method=method, h=h, record=h, stops={"x": e})
    return run, [(c.t, c.impact) for c in run.changes if c.impact]


@pytest.mark.parametrize("traced", [True, False])
def test_an_impact_is_found_where_a_part_of_an_implicit_step_cannot_be_made(traced):
    """A flight from a stop back to it, whose mean velocity is 0: there the discrete gradient has no direction."""
    run, ((t, speed),) = one_step("discrete_gradient", 0.5, -0.48, 0.25, 5.7, 0.7, traced)
    after = 0.25 - 2 * 0.48 / 5.7
    assert abs(t - 2 * 0.48 / 5.7) < 1e-13 and abs(speed - 0.48) < 1e-13
    assert abs(run.q[-1, 0] - (0.5 - 0.7 * 0.48 * after + 5.7 / 2 * after**2)) < 1e-13
    assert abs(run.work[-1] - 5.7 * (run.q[-1, 0] - 0.5) + 0.51 / 2 * 0.48**2) < 1e-12      # of the push, and of the impact


@pytest.mark.parametrize("traced", [True, False])
def test_a_step_that_cannot_be_made_behind_an_impact_ends_the_run_with_a_reason(traced):
    """A stiff spring at 0.75 s: the step of 1 s does not see it, what is left of it behind the impact at 0.5 s does."""
    def spring(t, q, qd):
        return [da.where(abs(t - 0.75) < 0.1, -1e4 * q[0], 0.0)]

    spring.traced = traced
    run = da.simulate(BLOCK, [0.0], [1.0], 2.0, control=spring, method="implicit_midpoint", h=1.0, record=1.0, stops={"x": 0.5})
    ((t, speed),) = [(c.t, c.impact) for c in run.changes if c.impact]
    assert abs(t - 0.5) < 1e-15 and speed == 1 and "does not settle" in run.reason
    assert abs(run.end.t - 0.5) < 1e-15 and run.end.q == 0.5 and run.end.qd == -0.5


@pytest.mark.parametrize("traced", [True, False])
@pytest.mark.parametrize(("method", "x"), [("explicit_euler", 0.39), ("semi_implicit_euler", 0.495)])
def test_a_stop_that_is_met_by_the_extension_alone_is_an_impact(method, x, traced):
    """Euler's coordinates reach the stop with a velocity that points away from it already."""
    run, ((t, speed),) = one_step(method, x, 6.0, 0.05, -400.0, 0.5, traced)
    assert 0 < t < 0.05 and speed > 0 and run.reason == "finished" and run.q.max() <= 0.5


# --- the examples ---


@pytest.mark.parametrize(("method", "traced"), [
    ("rk4", True), ("dop853", True), ("dopri5", False), *(pytest.param(m, True, marks=pytest.mark.slow) for m in ("dopri5", "radau5"))])
def test_a_ball_meets_its_ceiling_and_passes_its_levels(method, traced):
    """Up with 30 m/s: at 45 m after (30 - sqrt(900 - 90 g))/g = 2.6366 s, with sqrt(900 - 90 g) = 4.135 m/s."""
    def force(t, q, qd):
        return [0.0]

    force.traced = traced
    speed = np.sqrt(900 - 90 * G)
    options = {"method": method, "control": force, **({"h": 0.01} if method == "rk4" else {})}
    run = da.simulate(BALL, [0.0], [30.0], 6.0, stops={"y": 0.5}, **options)
    (hit,) = [c for c in run.changes if c.impact]
    assert abs(hit.t - (30 - speed) / G) < 1e-9 and abs(abs(hit.impact) - speed) < 1e-8
    run = da.simulate(BALL, [0.0], [30.0], 6.0, events=lambda t, q, qd: q[0] - 45, **options)
    assert np.abs(np.array([e.t for e in run.events]) - (30 + np.array([-1, 1]) * speed) / G).max() < 1e-9
    run = da.simulate(BALL, [0.0], [30.0], 4.5, events=lambda t, q, qd: da.sin(np.pi * t), **options)
    assert np.abs(np.array([e.t for e in run.events]) - np.arange(1, 5)).max() < 1e-13


@pytest.mark.parametrize("method", ["rk4", "dopri5"])
def test_zeros_a_twentieth_of_a_step_apart_are_told_apart(method):
    """sin(pi t/d) with d = h/20, from a time between zeros; steps of a ball that falls are as long as they may be."""
    h = 0.5
    d = h / 20
    options = {"h": h} if method == "rk4" else {"longest_step": h, "h": h, "rtol": 1e-3, "atol": 1e-3}
    run = da.simulate(BALL, [0.0], [0.0], 1.0, method=method, record=h, **options,
                      events=lambda t, q, qd: da.sin(np.pi * (t + 0.3 * d) / d))
    right = (np.arange(1, 41) - 0.3) * d
    assert len(run.events) == len(right) and np.abs([e.t for e in run.events] - right).max() < 1e-13


@pytest.mark.parametrize("method", ["rk4", "dopri5"])
def test_three_zeros_of_a_cubic_in_one_step_are_found_in_order(method):
    def cubic(direction):
        def g(t, q, qd):
            return (t - 0.2) * (t - 0.31) * (t - 0.74)

        g.direction, g.name = direction, str(direction)
        return g

    run = da.simulate(BALL, [0.0], [0.0], 1.0, method=method, h=1.0, record=1.0, events=[cubic(k) for k in (0, 1, -1)])
    for direction, right in ((0, [0.2, 0.31, 0.74]), (1, [0.2, 0.74]), (-1, [0.31])):
        times = [e.t for e in run.events if e.name == str(direction)]
        assert len(times) == len(right) and np.abs(np.array(times) - right).max() < 1e-14


@pytest.mark.parametrize("method", methods.each(["rk4", *ADAPTIVE]))
def test_events_change_nothing(method):
    """Steps with and without events are the same; radau5 begins anew behind them."""
    m = da.planar_chain(1)
    options = {"method": method, **({"h": 0.01} if method == "rk4" else {"rtol": 1e-5})}
    plain = da.simulate(m, [1.0], [0], 2.0, **options)
    run = da.simulate(m, [1.0], [0], 2.0, events=[lambda t, q, qd: q[0] * qd[0], lambda t, q, qd: qd[0]], **options)
    assert len(run.events) > 2
    assert run.steps == plain.steps and np.abs(run.q - plain.q).max() < 1e-10 if method != "radau5" else True


@pytest.mark.parametrize("method", methods.each(["rk4", "dopri5", "radau5"], ("rk4", "dopri5")))
def test_a_ball_that_leaves_its_floor_comes_back_in_the_same_step(method):
    """From rest on the floor under a push for a while: what begins at a stop counts when it comes back."""
    options = {"h": 0.5, "record": 0.5} if method == "rk4" else {"h": 0.5, "rtol": 1e-3, "atol": 1e-3}
    run = da.simulate(ball(0.0, 45.0), [0.0], [2.0], 1.45, method=method, stops={"y": 0.9}, **options)
    hits = [c for c in run.changes if c.impact]
    times = np.cumsum(2 * 2.0 * 0.9 ** np.arange(4) / G)
    assert np.abs(np.array([c.t for c in hits[:4]]) - times).max() < 1e-9


@pytest.mark.parametrize("method", methods.each(["rk4", "dopri5", "dop853"]))
def test_a_stop_that_is_touched_is_met_or_passed_by_rounding(method):
    """Thrown to just its ceiling, and 1e-9 m more or less."""
    m = ball(upper=1.0)
    for miss in (-1e-9, 1e-9):
        v = np.sqrt(2 * G * (1.0 + miss))
        options = {"h": 0.3, "record": 0.3} if method not in ADAPTIVE else {"rtol": 1e-9}
        run = da.simulate(m, [0.0], [v], 0.9, method=method, stops={"y": 0.5}, **options)
        hits = [c for c in run.changes if c.t > 0]
        assert len(hits) == (miss > 0) and run.reason == "finished" and run.q.max() <= 1.0
    run = da.simulate(m, [0.0], [np.sqrt(2 * G)], 0.9, method=method, stops={"y": 0.5}, **options)
    assert run.reason == "finished" and run.q.max() <= 1.0


@pytest.mark.parametrize("method", ["rk4", "dop853"])
def test_a_rest_ends_where_a_push_goes_beyond_friction_for_a_moment(method):
    """A sin(w t) above the friction F for a tenth of a second, while steps would be as long as the rest."""
    m = Mechanism("slider", (Body("base"), Body("block", 1.0)), (
        Joint("x", Prismatic((1, 0, 0)), "base", "block", coulomb=3.0),))
    A, w = 3.2, 2 * np.pi / 5
    options = {"h": 0.05} if method == "rk4" else {"rtol": 1e-8}
    run = da.simulate(m, [0.0], [0.0], 10.0, method=method, control=lambda t, q, qd: [A * da.sin(w * t)], **options)
    begin = np.arcsin(3 / A) / w
    end = brentq(lambda t: A / w * (np.cos(w * begin) - np.cos(w * t)) - 3 * (t - begin), begin + 0.3, 2.4)
    times = [c.t for c in run.changes if c.t > 0]
    right = [begin, end, begin + 2.5, end + 2.5, begin + 5, end + 5, begin + 7.5, end + 7.5]
    assert len(times) == len(right) and np.abs(np.array(times) - right).max() < 1e-6


TOP = Mechanism("top", (Body("base"), Body("top", 1.0, (0, 0, 0), (1.0, 0, 2.0, 0, 0, 3.0))), (
    Joint("turn", da.Spherical(), "base", "top"),))


@cache
def top_run(**options):
    events = [lambda t, q, qd: q[1] * q[2], lambda t, q, qd: qd[0], lambda t, q, qd: qd[2] - 0.85]
    return da.simulate(TOP, [1, 0, 0, 0], [1.2, 0.1, 0.9], 12.0, events=events, **options)


@pytest.mark.parametrize(("method", "formulation"), [
    ("rk4", "newton_euler"), ("dopri5", "hamilton"), ("gauss4", "hamilton")])
def test_events_of_quaternions_and_rates_are_found_inside_steps(method, formulation):
    """A free top: events of attitude and rate, beside those of short steps."""
    fine = top_run(method="dop853", rtol=1e-12, longest_step=0.02)
    options = {"h": 0.1, "record": 0.1} if method in ("rk4", "gauss4") else {"rtol": 1e-8}
    run = top_run(method=method, formulation=formulation, **options)
    assert [e.name for e in run.events] == [e.name for e in fine.events] and len(fine.events) > 6
    assert np.abs(np.array([a.t - b.t for a, b in zip(run.events, fine.events, strict=True)])).max() < 1e-2
