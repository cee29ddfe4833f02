"""Generators: closed forms, limits, continuity, derivatives against Taylor coefficients of mpmath, and use by controllers."""

import copy
import pickle

import mpmath
import numpy as np
import pytest

import dalembert as da
from dalembert import controllers
from dalembert import generators as g
from dalembert.generators.piecewise import moved
from dalembert.model.content import content

TIMES = np.array([0.0, 0.7, 1.5, 2.0, 3.2])
POINTS = np.array([[0.0, 1.0], [1.0, -0.5], [0.5, 0.3], [-0.4, 0.2], [0.0, 1.0]])
PATH = g.Spline(POINTS, TIMES, 5)
OF_TIME = {
    "Polynomial": g.Polynomial([[0.3, 1.0], [1.0, 0.0]], [[2.0, -1.0], [0.0, 0.5], [0.1, 0.0]], 1.7, begin=0.2),
    "Quintic": g.Quintic(POINTS, TIMES),
    "Trapezoid": g.Trapezoid([0.0, 1.0], [3.0, 0.0], velocity=[1.2, 2.0], acceleration=2.0, deceleration=1.0),
    "SCurve": g.SCurve([0.0, 1.0], [3.0, 0.0], velocity=[1.2, 2.0], acceleration=2.0, jerk=5.0, begin=0.1),
    "cubic": g.Spline(POINTS, TIMES, ends="natural"),
    "quintic": PATH,
    "periodic": g.Spline(POINTS, TIMES, 5, ends="periodic"),
    "Fourier": g.Fourier([0.2, 0.0], [[0.5, 0.1], [0.0, 0.3]], [[0.1, 0.2], [0.4, 0.0]], frequency=2.0),
    "Sinusoids": g.Sinusoids([0.1, 0.0], [1.0, 0.5], [1.0, 3.0], 0.4),
    "function": g.FunctionOfTime(lambda t: [da.exp(-t) * da.sin(3 * t), 1.0]),
    "Hold": g.Hold([0.3, -0.2]),
}
OF_STATE = {
    "SteadyAcceleration": g.SteadyAcceleration([1.0, -2.0], [0.1, 0.2], 0.5),
    "Harmonic": g.Harmonic([1.0, 2.0], 0.5, phase=0.3, center=0.1),
    "attracting": g.Harmonic(1.0, 1.0, attraction=0.5, initial=[0.1, 0.0]),
    "circle": g.LimitCycle(0.5, initial=[0.2, 0.1]),
    "ellipse": g.LimitCycle([0.5, 0.3], center=[1.0, 2.0], speed=0.4, clockwise=False, initial=[1.2, 2.1]),
    "own curve": g.LimitCycle(lambda X, Y: X**2 + Y**2 * da.exp(X), attraction=0.3, initial=[0.3, 0.4]),
    "Superellipse": g.Superellipse([0.4, 0.3], 6, speed=0.5, initial=[0.3, 0.25]),
    "path": g.PathWithTimeLaw(PATH, g.SCurve(0.0, 3.2, velocity=2.0, acceleration=3.0, jerk=10.0)),
    "path by length": g.PathByLength(lambda s: [2 * da.cos(s), da.sin(s)], g.Trapezoid(0.0, 2.0, velocity=1.0, acceleration=3.0), begin=0.1),
    "path of a state": g.PathWithTimeLaw(lambda s: [da.cos(s), da.sin(2 * s)], g.Harmonic(2.0, 0.7, phase=0.2)),
}
ALL = OF_TIME | OF_STATE
EACH = pytest.mark.parametrize("generator", ALL.values(), ids=ALL)


def timed(generator):
    """Whether the state is the time alone."""
    return isinstance(generator, g.TimeGenerator) or (isinstance(generator, g.PathWithTimeLaw) and timed(generator.law))


def ahead(generator, state, t):
    """State after a short time, by the classical method of order 4."""
    if timed(generator):
        return state + t
    steps = 40

    def rate(x):
        return np.asarray(generator.rate(x), float)

    for _ in range(steps):
        h = t / steps
        k1 = rate(state)
        k2 = rate(state + h / 2 * k1)
        k3 = rate(state + h / 2 * k2)
        k4 = rate(state + h * k3)
        state = state + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
    return state


def interior(generator):
    """A state away from breaks."""
    return np.array([0.8]) if timed(generator) else np.where(np.array(generator.state_names) == "t", 0.2, generator.state)


# --- what all have in common ---

@EACH
def test_each_derivative_is_the_rate_of_the_one_before_along_the_flow(generator):
    x, d = interior(generator), 1e-3
    rows = generator.derivatives(x, 4)
    for k in range(4):
        near = [generator.derivatives(ahead(generator, x, s * d), k)[k] for s in (-2, -1, 1, 2)]
        slope = (near[0] - 8 * near[1] + 8 * near[2] - near[3]) / (12 * d)      # of order 4
        assert np.abs(slope - rows[k + 1]).max() < 1e-7 * (1 + np.abs(rows[k + 1]).max()), k
    assert np.array_equal(rows[0], generator.derivatives(x, 0)[0]) and np.abs(rows[0] - generator.output(x)).max() < 1e-15


@EACH
def test_expressions_and_batches_agree_with_floats(generator):
    x = interior(generator)
    rows = generator.derivatives(x, 3)
    batch = generator.derivatives(np.array([x, x + 0.01, x]), 3)
    assert all(b.shape == (3, *r.shape) and np.abs(b[2] - r).max() < 1e-12 * (1 + np.abs(r).max()) for b, r in zip(batch, rows, strict=True))
    s = da.symbols("x", len(x))      # names that the generator may use itself
    values = {name: value for name, value in zip(s[::-1], x, strict=True)}
    for of_symbols, r in zip(generator.derivatives(s[::-1], 3), rows, strict=True):
        found = np.array([da.evaluate(e, values) if isinstance(e, da.Expr) else float(e) for e in of_symbols])
        assert np.abs(found - r).max() < 1e-12 * (1 + np.abs(r).max())


@EACH
def test_rate_and_output_compile(generator):
    x = interior(generator)
    n = len(x)
    compiled = da.function(lambda x: (np.asarray(generator.rate(x)), *generator.derivatives(x, 2)), x=(n,))
    rate, *rows = compiled(x)
    assert np.abs(rate - np.asarray(generator.rate(x), float)).max() < 1e-13
    assert all(np.abs(a - b).max() < 1e-12 * (1 + np.abs(b).max()) for a, b in zip(rows, generator.derivatives(x, 2), strict=True))


@EACH
def test_names_shapes_and_sampled_programs(generator):
    n = len(generator.state)
    assert len(generator.state_names) == n == len(generator.rate(generator.state))
    times = np.linspace(0.0, 2.0, 5)
    y, yd, ydd = generator.sampled(times)
    if timed(generator):
        alone = np.array(generator.derivatives([times[2]], 2))
        assert np.abs(alone - [row[2] for row in (y, yd, ydd)]).max() < 1e-13 * (1 + np.abs(alone).max())
    states = generator.states(times)
    assert states.shape == (5, n) and y.shape == yd.shape == ydd.shape == (5, len(generator.output(generator.state)))
    assert np.abs(states[0] - generator.state).max() < 1e-15 and np.abs(y[3] - generator.output(states[3])).max() < 1e-14
    velocity = generator.derivative()
    assert np.array_equal(velocity.derivatives(states, 1), [yd, ydd]) and np.array_equal(velocity.state, generator.state)
    assert np.abs(velocity.output(states[3]) - yd[3]).max() < 1e-12 and np.array_equal(velocity.states(times), states)


def test_generators_are_told_apart_by_what_they_hold_and_not_by_what_was_traced():
    for generator in ALL.values():
        before = content(generator)
        generator.derivatives(interior(generator), 3)
        assert before and content(generator) == before == content(copy.deepcopy(generator))
    assert len({content(generator) for generator in ALL.values()}) == len(ALL)
    assert content(g.Spline(POINTS, TIMES)) == content(g.Spline(POINTS, TIMES)) != content(g.Spline(POINTS + 1e-12, TIMES))


@EACH
def test_copies_move_alike(generator):
    x = interior(generator)
    generator.derivatives(x, 1)
    twin = copy.deepcopy(generator)
    assert np.array_equal(twin.derivatives(x, 2), generator.derivatives(x, 2))
    if "lambda" not in repr(generator):
        assert np.array_equal(pickle.loads(pickle.dumps(generator)).derivatives(x, 2), generator.derivatives(x, 2))


def test_derivatives_of_a_flow_are_taylor_coefficients_to_30_digits():
    """x'' = -w^2 x - mu (w^2 x^2 + x'^2 - w^2 a^2) x', by the recursion of its power series in mpmath."""
    with mpmath.workdps(30):
        w, a, mu = mpmath.mpf("1.5"), mpmath.mpf("0.8"), mpmath.mpf("0.6")
        x, v = [mpmath.mpf("0.3")], [mpmath.mpf("-0.2")]

        def product(p, q, k):
            return mpmath.fsum(p[i] * q[k - i] for i in range(k + 1))

        excess = []
        for k in range(8):
            excess.append(w**2 * product(x, x, k) + product(v, v, k) - (w**2 * a**2 if k == 0 else 0))
            x.append(v[k] / (k + 1))
            v.append((-w**2 * x[k] - mu * product(excess, v, k)) / (k + 1))
        right = np.array([float(c * mpmath.factorial(k)) for k, c in enumerate(x)])
    found = np.ravel(g.Harmonic(1.5, 0.8, attraction=0.6).derivatives([0.3, -0.2], 8))
    assert np.abs(found / right - 1).max() < 1e-13


def test_a_users_generator_needs_its_state_rate_and_output():
    class VanDerPol(g.StateGenerator):
        state_names, state = ("x", "v"), np.array([2.0, 0.0])

        def rate(self, state):
            x, v = state
            return [v, (1 - x * x) * v - x]

        def output(self, state):
            return [state[0]]

    y = VanDerPol().sampled(np.linspace(0, 20, 201))[0]
    assert abs(np.abs(y[100:]).max() - 2.009) < 5e-3      # amplitude of the limit cycle, mu = 1: 2.00862


# --- accelerated and harmonic motion ---

def test_steady_acceleration_and_harmonic_motion_are_their_closed_forms():
    t = np.linspace(0.0, 10.0, 21)
    fall = g.SteadyAcceleration([-9.81, 1.0], [2.0, 0.0], [3.0, -1.0])
    assert np.abs(fall.sampled(t)[0] - ([2.0, 0.0] + np.outer(t, [3.0, -1.0]) + np.outer(t * t, [-9.81, 1.0]) / 2)).max() < 1e-11
    w, a, phase, center = np.array([1.0, 2.5]), np.array([0.5, 1.0]), np.array([0.3, -1.0]), np.array([0.1, 0.0])
    y, yd, ydd = g.Harmonic(w, a, phase, center).sampled(t)
    angle = np.outer(t, w) + phase
    assert np.abs(y - center - a * np.sin(angle)).max() < 1e-10 and np.abs(ydd + w * w * a * np.sin(angle)).max() < 1e-9
    assert np.abs(yd - a * w * np.cos(angle)).max() < 1e-10


def test_the_harmonic_limit_cycle_is_reached_as_its_source_says():
    """Amplitude 1 - 5e-12 at t = 60, 0.99 reached at t = 17.14, from (0.1, 0) with mu = 0.5, w = a = 1."""
    cycle = g.Harmonic(1.0, 1.0, attraction=0.5, initial=[0.1, 0.0])
    t = np.arange(0.0, 20.0, 0.01)
    amplitude = np.hypot(*cycle.states(t).T)
    assert abs(t[np.argmax(amplitude >= 0.99)] - 17.14) < 0.011
    assert abs(1 - np.hypot(*cycle.states([0.0, 60.0])[-1]) - 5e-12) < 5e-13
    exact = g.Harmonic(1.0, 1.0, attraction=0.5).sampled(np.linspace(0, 6, 7))[0][:, 0]
    assert np.abs(exact - np.sin(np.linspace(0, 6, 7))).max() < 1e-11


def test_the_second_order_form_is_the_rate_of_the_velocity():
    cycle = OF_STATE["attracting"]
    x, v = np.array([0.3]), np.array([-0.4])
    assert np.array_equal(cycle.rate([0.3, -0.4]), [-0.4, *cycle.acceleration(x, v)])
    assert cycle.acceleration(x, v) == pytest.approx(-0.3 - 0.5 * (0.09 + 0.16 - 1) * -0.4)


# --- limit cycles ---

def test_the_level_of_a_circle_follows_its_closed_form():
    """H' = -mu |grad H|^2 (H - 1) = -(4 mu / r^2) H (H - 1): a logistic curve."""
    r, mu, t = 0.7, 0.2, np.linspace(0, 3, 31)
    for H0 in (0.04, 2.25):
        ring = g.LimitCycle(r, attraction=mu, initial=[r * np.sqrt(H0), 0.0])
        X, Y = ring.states(t).T
        right = 1 / (1 + (1 / H0 - 1) * np.exp(-4 * mu * t / r**2))
        assert np.abs((X**2 + Y**2) / r**2 - right).max() < 1e-10
        turned = np.unwrap(np.arctan2(Y, X))
        assert np.abs(turned + 2 * t / r**2).max() < 1e-9      # clockwise


@pytest.mark.parametrize("exponent", [2, 4, 6, 8])
def test_the_level_set_of_a_superellipse_attracts_from_both_sides(exponent):
    for initial in ([0.3, 0.15], [0.42, 0.25]):
        curve = g.Superellipse([0.4, 0.3], exponent, attraction=0.5, initial=initial)
        X, Y = curve.states([0.0, 8 / exponent**2]).T
        levels = (X / 0.4) ** exponent + (Y / 0.3) ** exponent
        assert abs(levels[0] - 1) > 0.1 and abs(levels[-1] - 1) < 1e-9
    frame = g.Superellipse([0.4, 0.3], exponent)
    assert np.abs(frame.state - [0.4, 0.0]).max() < 1e-15


def test_a_given_speed_is_kept_along_the_curve():
    for clockwise in (True, False):
        curve = g.Superellipse([0.4, 0.3], 6, speed=0.5, clockwise=clockwise)
        y, yd, ydd = curve.sampled(np.linspace(0, 5, 101))
        assert np.abs(np.hypot(*yd.T) - 0.5).max() < 1e-9 and np.abs((yd * ydd).sum(axis=1)).max() < 1e-8
        area = (y[:-1, 0] * y[1:, 1] - y[:-1, 1] * y[1:, 0])
        assert (area < 0).all() if clockwise else (area > 0).all()
    ring = g.LimitCycle(0.5, speed=2.0)      # 4 rad/s
    assert np.abs(ring.states([0.0, np.pi / 2])[-1] - [0.5, 0.0]).max() < 1e-10


# --- from point to point ---

@pytest.mark.parametrize("degree, form", [(3, lambda u: 3 * u**2 - 2 * u**3), (5, lambda u: 10 * u**3 - 15 * u**4 + 6 * u**5),
                                          (7, lambda u: 35 * u**4 - 84 * u**5 + 70 * u**6 - 20 * u**7)])
def test_polynomials_from_rest_to_rest_are_those_of_the_textbook(degree, form):
    move = g.Polynomial([1.0, 0.0], [3.0, -1.0], 2.5, degree, begin=0.5)
    t = np.linspace(0.5, 3.0, 26)
    assert np.abs(move.sampled(t)[0] - ([1.0, 0.0] + np.outer(form((t - 0.5) / 2.5), [2.0, -1.0]))).max() < 4e-13      # powers up to u^7 cancel
    for at, point in ((0.5, [1.0, 0.0]), (3.0, [3.0, -1.0])):
        rows = move.derivatives([at], (degree - 1) // 2)
        assert np.array_equal(rows[0], point) and all(np.array_equal(row, [0, 0]) for row in rows[1:])
    assert np.array_equal(move.output([-1.0]), [1.0, 0.0]) and np.array_equal(move.output([9.0]), [3.0, -1.0])


def test_boundary_conditions_of_any_order_hold_at_both_ends():
    rng = np.random.default_rng(3)
    for k, l in ((1, 1), (2, 1), (1, 4), (4, 3), (5, 5)):
        start, end = rng.normal(size=(k, 2)), rng.normal(size=(l, 2))
        move = g.Polynomial(start, end, 1.3, begin=-0.4)
        assert move.degree == k + l - 1
        assert np.array_equal(move.derivatives([-0.4], k - 1), start) and np.abs(np.array(move.derivatives([0.9], l - 1)) - end).max() < 1e-14
        before = np.array(move.derivatives([0.9 - 1e-9], l - 1))
        assert np.abs(before - end).max() < 1e-6 * (1 + np.abs(move.derivatives([0.9], l)).max())


def limits_kept(move, limits, extra=200):
    """Greatest |y^(k)| / limit_k over many times and at all breaks, for k = 1, 2, ..."""
    breaks = move._travelled.breaks
    t = np.unique(np.concatenate([np.linspace(breaks[0] - 0.1, breaks[-1] + 0.1, extra), breaks, breaks + 1e-12, breaks - 1e-12]))
    rows = move.derivatives(t[:, None], len(limits))
    return [float((np.abs(row) / limit).max()) for row, limit in zip(rows[1:], limits, strict=True)]


@pytest.mark.parametrize("distance, met", [(10.0, (True, True)), (1.0, (True, False)), (0.02, (False, False))])
def test_an_s_curve_keeps_its_limits_is_continuous_and_meets_those_it_can(distance, met):
    """Whether limits of acceleration and velocity are met, for a long, a middle and a short way."""
    v, a, j = 2.0, 3.0, 20.0
    move = g.SCurve(0.5, 0.5 - distance, v, a, j, begin=0.3)
    kept = limits_kept(move, [v, a, j])
    assert all(0 < k < 1 + 1e-12 for k in kept) and kept[2] > 1 - 1e-12
    assert (kept[1] > 1 - 1e-12, kept[0] > 1 - 1e-12) == met
    end = 0.3 + move.duration
    for b in move._travelled.breaks:      # y, y', y'' are continuous
        before, after = (np.array(move.derivatives([b + s], 2)) for s in (-1e-9, 1e-9))
        assert np.abs(before - after).max() < 2.1e-9 * j
    assert np.array_equal(np.ravel(move.derivatives([end], 2)), [0.5 - distance, 0, 0])
    assert abs(move.output([end - 1e-7])[0] - (0.5 - distance)) < 1e-14


def test_durations_of_profiles_are_the_least_ones_of_the_textbook():
    """Long ways: d/v + v/a (+ a/j); short ones: 2 sqrt(d/a), 4 cbrt(d/2j)."""
    v, a, j = 2.0, 3.0, 20.0
    assert g.Trapezoid(0.0, 10.0, v, a).duration == pytest.approx(10 / v + v / a, abs=1e-13)
    assert g.Trapezoid(0.0, 0.5, v, a).duration == pytest.approx(2 * np.sqrt(0.5 / a), abs=1e-14)
    assert g.SCurve(0.0, 10.0, v, a, j).duration == pytest.approx(10 / v + v / a + a / j, abs=1e-13)
    assert g.SCurve(0.0, 1e-3, v, a, j).duration == pytest.approx(4 * np.cbrt(1e-3 / (2 * j)), abs=1e-14)
    gentle = g.SCurve(0.0, 10.0, v, a, 1.0)      # a is never met: 2 (d / 2 v + sqrt(v / j))
    assert gentle.duration == pytest.approx(10 / v + 2 * np.sqrt(v / 1.0), abs=1e-13) and limits_kept(gentle, [a])[0] < 1
    for d in np.logspace(-9, 5, 29):      # no jump in between, and T grows with the way
        near = [g.SCurve(0.0, d * s, v, a, j).duration for s in (1 - 1e-9, 1, 1 + 1e-9)]
        assert near[0] < near[1] < near[2] < near[0] * (1 + 1e-8)


def test_coordinates_of_a_profile_move_on_a_line_and_the_slowest_meets_its_limits():
    start, end, v, a, d = np.array([0.0, 1.0, 2.0]), np.array([4.0, -1.0, 2.0]), [1.0, 5.0, 1.0], [2.0, 0.7, 1.0], [1.0, 2.0, 1.0]
    move = g.Trapezoid(start, end, v, a, d)
    t = np.linspace(-0.5, move.duration + 0.5, 301)
    y, yd, ydd = move.derivatives(t[:, None], 2)
    s = (y[:, 0] - start[0]) / (end - start)[0]
    assert np.abs(y - start - s[:, None] * (end - start)).max() < 1e-13
    assert (np.abs(yd) <= np.array(v) + 1e-12).all() and (np.abs(ydd) <= np.maximum(a, d) + 1e-12).all()
    assert np.abs(yd[:, 0]).max() > 1 - 1e-12
    speeding, braking = ydd[:, 0] > 1e-9, ydd[:, 0] < -1e-9
    assert (np.abs(ydd[speeding]) <= np.array(a) + 1e-12).all() and (np.abs(ydd[braking]) <= np.array(d) + 1e-12).all()
    slow = g.Trapezoid(start, end, v, a, d, duration=2 * move.duration)
    assert slow.duration == 2 * move.duration and np.abs(slow.output([move.duration]) - move.output([move.duration / 2])).max() < 1e-14
    still = g.SCurve(start, start, 1.0, 1.0, 1.0)
    assert still.duration == 0 and np.array_equal(still(3.0), [start, 0 * start, 0 * start])


# --- splines ---

@pytest.mark.parametrize("ends", ["clamped", "natural", "periodic"])
def test_cubic_splines_are_those_of_scipy(ends):
    interpolate = pytest.importorskip("scipy.interpolate")
    spline = g.Spline(POINTS, TIMES, 3, ends)
    right = interpolate.CubicSpline(TIMES, POINTS, bc_type=ends)
    t = np.linspace(0, 3.2, 65)
    for k, row in enumerate(spline.derivatives(t[:, None], 2)):
        assert np.abs(row - right(t, k)).max() < 1e-12


@pytest.mark.parametrize("degree", [3, 5, 7])
def test_splines_pass_their_points_smoothly_and_meet_their_ends(degree):
    p = (degree + 1) // 2
    for ends in ("clamped", "natural", "periodic"):
        spline = g.Spline(POINTS, TIMES, degree, ends)
        assert np.abs(spline.derivatives(TIMES[:, None], 0)[0] - POINTS).max() < 1e-14
        for b in TIMES[1:-1]:
            before, after = (np.array(spline.derivatives([b + s], 2 * p - 2)) for s in (-1e-10, 0.0))
            jump = np.array(spline.derivatives([b], 2 * p - 1))[1:]
            assert (np.abs(before - after).max(axis=1) < 1e-8 * (1 + np.abs(jump).max(axis=1))).all()
        first, last = (np.array(spline.derivatives([at], 2 * p - 2)) for at in (0.0, 3.2))
        scale = np.abs(spline.derivatives(np.linspace(0, 3, 31)[:, None], 2 * p - 2)).max(axis=(1, 2))
        if ends == "periodic":
            assert (np.abs(first - last).max(axis=1) < 1e-11 * scale).all()
            assert np.abs(spline.output([1.1 + 320.0]) - spline.output([1.1])).max() < 1e-11
            assert np.abs(spline.output([1.1 - 6.4]) - spline.output([1.1])).max() < 1e-13
        else:
            zero = first[1:p] if ends == "clamped" else first[p:]
            assert (np.abs(zero).max(axis=1) < 1e-11 * (scale[1:p] if ends == "clamped" else scale[p:])).all()
            assert np.array_equal(spline.output([-1.0]), POINTS[0]) and np.array_equal(spline.output([5.0]), POINTS[-1])


def test_a_spline_with_the_derivatives_of_a_polynomial_is_that_polynomial():
    for degree in (3, 5, 7):
        coefficients = np.random.default_rng(degree).normal(size=degree + 1)
        p = np.polynomial.Polynomial(coefficients)
        rows = [[[p.deriv(k)(at)] for k in range(1, (degree + 1) // 2)] for at in (0.0, 3.2)]
        spline = g.Spline(p(TIMES)[:, None], TIMES, degree, start=rows[0], end=rows[1])
        t = np.linspace(0, 3.2, 33)
        assert np.abs(spline.derivatives(t[:, None], 0)[0][:, 0] - p(t)).max() < 1e-11 * np.abs(p(t)).max()


@pytest.mark.parametrize("ends", ["clamped", "natural", "periodic"])
def test_uneven_and_many_knots_are_no_matter(ends):
    """Steps from 1e-4 to 1; 1000 knots, checked by continuity of all derivatives."""
    rng = np.random.default_rng(2)
    for K, steps in ((30, 10 ** rng.uniform(-4, 0, 29)), (1000, rng.uniform(0.5, 1.5, 999))):
        times = np.concatenate([[0], np.cumsum(steps)])
        points = np.cumsum(rng.normal(size=(K, 1)) * np.concatenate([[0], steps])[:, None], axis=0)
        points[-1] = points[0]
        for degree in (3, 5):
            spline = g.Spline(points, times, degree, ends)
            pieces = spline._polynomial.coefficients
            for k in range(0, K - 2, 7):
                end = moved(pieces[k], steps[k])[:-1]
                size = np.abs(pieces[k : k + 2] * np.maximum(*steps[k : k + 2]) ** np.arange(degree + 1)[:, None]).max()
                jump = (end - pieces[k + 1][:-1]) * np.minimum(*steps[k : k + 2]) ** np.arange(degree)[:, None]
                assert np.abs(jump).max() < 1e-11 * size


def test_knots_close_together_and_many_keep_their_digits():
    t = np.linspace(0, 1e-3, 120)
    spline = g.Spline(np.sin(2e3 * np.pi * t)[:, None], t, 5, "periodic")
    between = np.linspace(0, 1e-3, 777)
    for k, right in enumerate((np.sin, np.cos, lambda x: -np.sin(x))):
        scale = (2e3 * np.pi) ** k
        assert np.abs(spline.derivatives(between[:, None], k)[k][:, 0] / scale - right(2e3 * np.pi * between)).max() < 3e-7 * 10**-(3 - k)


@EACH
def test_piecewise_programs_stay_at_their_ends_or_go_on(generator):
    if not hasattr(generator, "extended") or generator is OF_TIME["periodic"]:
        return
    breaks = generator.breaks
    for end, outside, step in ((breaks[0], breaks[0] - 0.1, -0.1), (breaks[-1], breaks[-1] + 0.1, 0.1)):
        staying, still = generator.derivatives([outside], 1)
        assert np.array_equal(staying, generator.output([end])) and not still.any()
        inside = generator.derivatives([end], 7)
        series = sum(row * step**k / np.prod(np.arange(1.0, k + 1)) for k, row in enumerate(inside))
        assert np.abs(generator.extended().output([outside]) - series).max() < 1e-12


# --- series, and paths with a time law ---

def test_a_fourier_series_is_its_sum_and_excitation_begins_at_rest():
    t = np.linspace(-1, 4, 51)
    series = OF_TIME["Fourier"]
    right = 0.2 + 0.5 * np.cos(2 * t) + 0.1 * np.sin(2 * t) + 0.4 * np.sin(4 * t)
    assert np.abs(series.derivatives(t[:, None], 0)[0][:, 0] - right).max() < 1e-14
    wave = g.Fourier.excitation([0.2, -0.1, 0.0], [0.5, 0.3, 1.0], period=8.0, harmonics=5, seed=4)
    for at in (0.0, 8.0, 24.0):
        y, yd, ydd = wave(at)
        assert np.abs(y - [0.2, -0.1, 0.0]).max() < 1e-12 and np.abs(yd).max() < 1e-12 and np.abs(ydd).max() < 1e-11
    y = wave.derivatives(np.linspace(0, 8, 5001)[:, None], 0)[0]
    assert np.abs(np.abs(y - wave.center).max(axis=0) - [0.5, 0.3, 1.0]).max() < 1e-3
    assert not np.array_equal(wave.cosines, g.Fourier.excitation([0.2, -0.1, 0.0], [0.5, 0.3, 1.0], 8.0, seed=5).cosines)


def test_a_path_with_a_time_law_has_the_speed_of_its_law():
    law = g.SCurve(0.0, 3.0, velocity=1.0, acceleration=2.0, jerk=8.0)
    circle = g.PathWithTimeLaw(lambda s: [2 * da.cos(s / 2), 2 * da.sin(s / 2)], law)      # s is the arc length
    t = np.linspace(0.01, law.duration - 0.01, 60)
    y, yd, ydd = circle.sampled(np.array([0.0, *t]))
    s, sd, sdd = law.sampled(np.array([0.0, *t]))
    assert np.abs(np.hypot(*yd.T) - sd[:, 0]).max() < 1e-14
    assert np.abs(np.hypot(*ydd.T) - np.hypot(sdd, sd * sd / 2)[:, 0]).max() < 1e-13      # along, and towards the middle


def test_a_path_by_its_length_has_the_speed_of_its_law_and_ends_where_it_is_said():
    path = g.Spline(POINTS, TIMES, ends="natural")
    law = g.SCurve(0.0, g.path_length(path, 0.0, 3.2), velocity=1.0, acceleration=3.0, jerk=20.0)
    move = g.PathByLength(path, law)
    times = np.linspace(0, law.duration, 40)
    y, yd, ydd = move.sampled(times)
    assert np.abs(np.hypot(*yd.T) - law.sampled(times)[1][:, 0]).max() < 1e-12
    assert np.abs(y[-1] - POINTS[-1]).max() < 1e-8 and np.abs(move.states(times)[-1, 0] - 3.2) < 1e-8      # steps pass over knots
    parabola = g.path_length(lambda s: [s, s * s], -1.0, 2.0)      # s sqrt(1 + 4 s^2) / 2 + asinh(2 s) / 4
    assert abs(parabola - sum(np.sqrt(1 + 4 * s * s) * s / 2 + np.arcsinh(2 * s) / 4 for s in (1.0, 2.0))) < 1e-11


# --- as references of controllers ---

def test_a_generator_of_time_is_a_reference_that_is_traced():
    arm = da.planar_chain(2)
    law = g.SCurve([0.1, -0.2], [0.9, 0.4], velocity=2.0, acceleration=8.0, jerk=60.0)
    control = controllers.ComputedTorque(arm, law, 100.0)
    run = da.simulate(arm, law.start, [0, 0], 1.0, control=control, h=1e-3)
    assert run.forces["control"] == "traced" and control.unchanging
    assert np.abs(run.q - law.derivatives(run.times[:, None], 0)[0]).max() < 1e-7


def test_a_generator_of_state_becomes_a_reference_by_its_motion():
    arm = da.planar_chain(2)
    cycle = g.LimitCycle(0.3, speed=0.6, initial=[0.1, 0.0])
    path = cycle.reference(np.linspace(0, 2, 41))
    t = np.linspace(0, 2, 81)
    y, yd, ydd = cycle.sampled(t)
    assert np.abs(path.derivatives(t[:, None], 2)[0] - y).max() < 1e-6 and np.abs(path.derivatives(t[:, None], 2)[1] - yd).max() < 1e-4
    run = da.simulate(arm, y[0], yd[0], 2.0, control=controllers.ComputedTorque(arm, path, 100.0), h=2e-3, record=0.1)
    assert run.forces["control"] == "traced" and np.abs(run.q[-1] - y[-1]).max() < 1e-6


# --- errors ---

@pytest.mark.parametrize("make, message", [
    (lambda: g.Polynomial([0.0], [1.0], 0.0), "duration is 0, expected a number above 0"),
    (lambda: g.Polynomial([0.0], [1.0], 1.0, 4), r"degree=4 \(int\): expected 3, 5 or 7"),
    (lambda: g.Polynomial([[0.0], [1.0]], [[1.0]], 1.0, 5), "degree is 5, but 2 rows at the start and 1 at the end give 2"),
    (lambda: g.Polynomial([0.0, 1.0], [1.0], 1.0), "start has 2 coordinates and end 1"),
    (lambda: g.Polynomial([np.nan], [1.0], 1.0), "start has the entry nan"),
    (lambda: g.Trapezoid(0.0, 1.0, -1.0, 1.0), r"velocity\[0\] is -1: limits are numbers above 0"),
    (lambda: g.SCurve([0.0, 0.0], [1.0, 1.0], 1.0, [1.0, 0.0], 1.0), r"acceleration\[1\] is 0: limits"),
    (lambda: g.SCurve([0.0, 0.0], [1.0], 1.0, 1.0, 1.0), r"start has shape \(2,\) and end \(1,\)"),
    (lambda: g.Trapezoid(0.0, 1.0, 1.0, 1.0, duration=1.0), "duration is 1 s, but the limits need 2 s"),
    (lambda: g.Spline([[0.0], [1.0]], [0.0, 0.0]), r"times\[1\] is 0, not after times\[0\] = 0: times must increase"),
    (lambda: g.Spline([[0.0], [1.0], [2.0]], [0.0, 1.0, 2.0], ends="periodic"), r"the curve is not closed: its last point \[2.0\]"),
    (lambda: g.Spline([[0.0], [1.0]], [0.0, 1.0], 5, "natural"), "2 points for a spline of degree 5 with natural ends, which needs 3"),
    (lambda: g.Spline([[0.0], [1.0]], [0.0, 1.0], 4), r"degree=4 \(int\): expected 3, 5 or 7"),
    (lambda: g.Spline([[0.0], [1.0]], [0.0, 1.0], 3, "natural", start=[0.0]), "start gives derivatives, but the ends are 'natural'"),
    (lambda: g.Spline([[0.0], [1.0]], [0.0, 1.0], 5, start=[0.0]), r"start has shape \(1,\), expected \(2, 1\)"),
    (lambda: g.Fourier([0.0, 0.0], [[1.0]], [[1.0]], 1.0), r"cosines has shape \(1, 1\), expected \(K, 2\)"),
    (lambda: g.Fourier(0.0, [1.0], [1.0, 2.0], 1.0), "cosines has 1 harmonics and sines 2"),
    (lambda: g.Fourier(0.0, [1.0], [1.0], 0.0), "frequency is 0"),
    (lambda: g.Harmonic(-1.0, 1.0), r"frequency\[0\] is -1"),
    (lambda: g.Harmonic(1.0, 1.0, attraction=-0.1), "attraction is -0.1: below 0 the cycle repels"),
    (lambda: g.Harmonic([1.0, 1.0], 1.0, initial=[0.0, 1.0]), r"initial has shape \(2,\), expected \(4,\)"),
    (lambda: g.Superellipse([1.0, 1.0], 5), r"exponent=5 .*: \(X/A\)\^n \+ \(Y/B\)\^n = 1 is closed for even n alone"),
    (lambda: g.Superellipse([1.0, -1.0], 4), r"semi_axes\[1\] is -1"),
    (lambda: g.LimitCycle(lambda X, Y: Y - X**2 + 0.5), "is not closed about its center"),
    (lambda: g.LimitCycle(lambda X, Y: X**2 + Y**2, center=[0.0]), r"center has shape \(1,\), expected \(2,\)"),
    (lambda: g.LimitCycle(lambda X, Y: (X - 3)**2 + Y**2), "H is 9.00001 at the center .*give a center= inside"),
    (lambda: g.LimitCycle(1.0, initial=[0.0, 0.0]), r"initial is \[0.0, 0.0\], where the gradient of H is \[0.0, 0.0\]"),
    (lambda: g.LimitCycle(1.0, speed=-1.0), "speed is -1, expected a number above 0"),
    (lambda: g.LimitCycle(1.0, attraction=-1.0), "attraction is -1: below 0 the curve repels"),
    (lambda: g.LimitCycle(lambda X, Y: [X, Y]), r"the curve returned H of shape \(2,\), expected one number"),
    (lambda: g.PathWithTimeLaw(lambda s: [s], g.Hold([0.0, 1.0])), r"the law has outputs of shape \(2,\), expected one"),
    (lambda: g.PathWithTimeLaw(lambda s: 2 * s, g.Polynomial(0.0, 1.0, 1.0)), r"the program has shape \(\), expected \(1,\)"),
    (lambda: g.PathByLength(PATH, g.Polynomial(0.0, 1.0, 1.0)), "the tangent of the path is 0 at s = 0.*take natural ones"),
    (lambda: g.path_length(lambda s: [s], 1.0, 1.0), "end is 1, expected a number after start = 1"),
    (lambda: g.SteadyAcceleration([]), r"value has shape \(0,\), expected a number or \(m,\), m >= 1"),
    (lambda: g.Trapezoid(0.0, 1e-200, 1.0, 1.0), "a limit is 1e\\+200 times the way from start to end"),
    (lambda: g.Hermite([[[0.0]]], [0.0, 1.0]), r"values_at has shape \(1, 1, 1\), expected \(2, p, m\)"),
    (lambda: g.Hold([0.0]).derivatives([0.0, 1.0], 1), r"state has shape \(2,\), expected \(1,\) or \(N, 1\): t of Hold"),
    (lambda: g.Hold([0.0]).derivatives([0.0], -1), "order=-1 .*expected a whole number, 0 or more"),
    (lambda: g.LimitCycle(1.0).states([0.0, 2.0, 1.0]), r"times\[2\] is 1, not after times\[1\] = 2"),
    (lambda: g.LimitCycle(1.0).reference([0.0]), r"times has shape \(1,\), expected \(K,\), K >= 2"),
])
def test_what_is_no_program_is_refused_with_numbers(make, message):
    with pytest.raises(ValueError, match=message):
        make()


def test_what_is_of_another_kind_is_refused():
    with pytest.raises(TypeError, match="law=1.0 .*expected a generator whose output moves along the path"):
        g.PathWithTimeLaw(lambda s: [s], 1.0)
    with pytest.raises(TypeError, match="function=3 .*expected a function t -> y, or a generator of time"):
        g.PathWithTimeLaw(3, g.Polynomial(0.0, 1.0, 1.0))
    with pytest.raises(TypeError, match="the curve takes"):
        g.LimitCycle(lambda X: X)
    with pytest.raises(da.UnknownNameError, match="unknown ends of a spline 'free'"):
        g.Spline([[0.0], [1.0]], [0.0, 1.0], ends="free")


def test_a_state_that_grows_beyond_all_bounds_says_when():
    class Explosion(g.StateGenerator):
        state_names, state = ("x",), np.array([1.0])

        def rate(self, state):
            return [state[0] * state[0]]

        def output(self, state):
            return state

    with pytest.raises(da.DalembertError, match=r"Explosion stops at t = (1|0.99\d*) s"):
        Explosion().states([0.0, 2.0])
