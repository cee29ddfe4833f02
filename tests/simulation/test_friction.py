"""Friction that sticks and joints that stop, against closed forms and enumerations."""

import itertools
import warnings
from dataclasses import replace

import numpy as np
import pytest
from scipy.optimize import brentq

import dalembert as da
from dalembert.model.joints import Prismatic, Revolute
from dalembert.model.mechanism import Mechanism
from dalembert.model.numbers import Literal
from dalembert.model.parts import Body, Joint, Limits, Mimic
from dalembert.native.propagator import StepControl
from dalembert.simulation.event_loop import EventLoop
from dalembert.simulation.first_order_system import FirstOrderSystem
from dalembert.simulation.method_choice import method_for
from dalembert.simulation.options import Contact, Model, Pace
from dalembert.simulation.reactions import Reactions
from methods import ADAPTIVE, EXACT, FIXED, each


def tolerance(method, rtol):
    """Options of a method: of fixed step it has no tolerance."""
    return {} if method in FIXED else {"rtol": rtol}


def slider(mass=2.0, axis=(1, 0, 0), **options):
    return Mechanism("slider", (Body("base"), Body("block", mass)), (
        Joint("slide", Prismatic(axis), "base", "block", **options),))


def arm(coulomb=0.3, lower=-1.0, upper=1.2):
    chain = da.planar_chain(2)
    return replace(chain, joints=tuple(j if j.is_fixed else replace(j, coulomb=coulomb, limits=Limits((lower,), (upper,)))
                                       for j in chain.joints))


# --- one slider (case O20 of the open cases: m 2 kg, F 3 N, push 2 N, 1 m/s) ---


@pytest.mark.parametrize("method", each(EXACT))
def test_a_slider_stops_when_and_where_it_must_and_then_rests(method):
    run = da.simulate(slider(coulomb=3), [0.0], [1.0], 3.0, control=[2.0], method=method, h=0.01)
    stop = run.changes[-1]
    assert run.reason == "finished" and run.friction == "stick"
    assert stop.mode == "sticks" and stop.entry == "slide" and abs(stop.t - 2.0) < 1e-13
    rests = run.times > 2.001
    assert (run.qd[rests] == 0).all() and (run.q[rests] == run.q[-1]).all() and abs(run.q[-1, 0] - 1) < 1e-13
    assert np.abs(run.reactions[rests] + 2.0).max() < 1e-12 and np.abs(run.reactions[run.times < 1.999] + 3.0).max() == 0
    assert (run.modes[rests] == 0).all() and (run.modes[run.times < 1.999] == 1).all()
    assert np.abs(run.power_balance).max() < 1e-13


@pytest.mark.parametrize("method", ["explicit_euler", "semi_implicit_euler"])
def test_methods_of_order_1_stop_it_with_their_own_error(method):
    run = da.simulate(slider(coulomb=3), [0.0], [1.0], 3.0, control=[2.0], method=method, h=0.01)
    assert abs(run.q[-1, 0] - 1) < 0.006 and run.qd[-1] == 0 and abs(run.changes[-1].t - 2) < 1e-12


def test_more_push_than_friction_moves_it():
    run = da.simulate(slider(coulomb=3), [0.0], [0.0], 2.0, control=[4.0])
    assert abs(run.qd[-1, 0] - 0.5 * 2.0) < 1e-13 and run.changes[-1].mode == "slides forward"
    back = da.simulate(slider(coulomb=3), [0.0], [0.0], 2.0, control=[-4.0])
    assert abs(back.qd[-1, 0] + 0.5 * 2.0) < 1e-13 and back.changes[-1].mode == "slides back"


def test_a_push_just_as_large_as_friction_moves_nothing():
    run = da.simulate(slider(coulomb=3), [0.0], [0.0], 2.0, control=[3.0])
    assert (run.q == 0).all() and len(run.changes) == 1


@pytest.mark.parametrize("method", [*ADAPTIVE, "radau5"])
def test_a_joint_that_sticks_costs_no_more_calls(method):
    calls = []

    def push(t, q, qd):
        calls.append(float(t))
        return np.array([2.0])

    run = da.simulate(slider(coulomb=3), [0.0], [1.0], 102.0, control=push, method=method, h=0.01)
    assert run.forces["control"] == "called" and run.qd[-1] == 0 and abs(run.q[-1, 0] - 1) < 1e-9
    assert sum(t > 2.0 for t in calls) < 400 and len(calls) < 700


def test_on_a_slope_it_stays_below_the_angle_of_friction_and_slides_above():
    for angle, stays in ((0.2, True), (0.4, False)):
        axis = (float(np.cos(angle)), 0.0, -float(np.sin(angle)))
        run = da.simulate(slider(coulomb=0.3 * 2 * 9.81, axis=axis), [0.0], [0.0], 1.0)      # angle of friction: 0.305 rad
        down = max(9.81 * np.sin(angle) - 0.3 * 9.81, 0.0)
        assert abs(run.qd[-1, 0] - down) < 1e-12 and (run.qd[-1, 0] == 0) == stays


def test_the_law_without_sticking_is_there_too():
    run = da.simulate(slider(coulomb=3), [0.0], [1.0], 3.0, control=[2.0], friction="sign", h=0.01)
    assert run.friction == "sign" and not run.changes and run.qd[-1] != 0 and np.abs(run.reactions[:100] + 3).max() == 0
    other = da.simulate(slider(coulomb=3), [0.0], [1.0], 3.0, control=[2.0], formulation="hamilton", h=0.01)
    assert other.friction == "sign" and "does not stick" in other.summary()
    with pytest.raises(da.UnknownNameError, match="stick, sign"):
        da.simulate(slider(coulomb=3), [0.0], [1.0], 3.0, friction="sticky")


@pytest.mark.parametrize("method", ["rk4", "dopri5"])
def test_changes_without_end_end_the_trajectory_with_a_warning(method):
    """A relay stronger than friction turns the slider round at once, whichever way it goes: no motion satisfies that."""
    def relay(t, q, qd):
        return [da.where(qd[0] > 0, -5.0, 5.0)]

    with pytest.warns(da.errors.DalembertWarning, match="the run ended early: events cluster: 100 within 0.01 s before "
                                                        "t = 0.25.* s, the last of slide"):
        run = da.simulate(slider(coulomb=3), [0.0], [1.0], 1.0, control=relay, method=method, h=0.01)
    assert run.reason.startswith("events cluster") and 0.249 <= run.times[-1] < 0.26      # (5 + 3)/2 m/s^2 from 1 m/s


# --- oscillators ---


@pytest.mark.parametrize("method", each(["rk4", "gauss6", "dopri5", "dop853"], ("rk4", "dopri5")))
def test_a_spring_with_dry_friction_loses_the_same_amplitude_each_half_turn(method):
    """x(n pi/w) = (-1)^n (x0 - 2 n F/k), until |k x| < F at rest (Den Hartog, Mechanical Vibrations, section 2.6)."""
    k, F, m, x0 = 50.0, 4.0, 2.0, 1.0
    w = np.sqrt(k / m)
    run = da.simulate(slider(m, coulomb=F, stiffness=k), [x0], [0.0], 8.0, method=method, h=2e-3, **tolerance(method, 1e-11))
    turns = [c for c in run.changes if c.t > 0]
    n = int(np.ceil((x0 * k / F - 1) / 2))
    assert len(turns) == n and np.abs([c.t - (i + 1) * np.pi / w for i, c in enumerate(turns)]).max() < 1e-8
    assert abs(run.q[-1, 0] - (-1) ** n * (x0 - 2 * n * F / k)) < 1e-8 and run.qd[-1] == 0 and turns[-1].mode == "sticks"
    assert np.abs(run.power_balance).max() < 1e-8


@pytest.mark.parametrize(("method", "error"), [("rk4", 1e-10), pytest.param("gauss6", 1e-10, marks=pytest.mark.slow), ("dop853", 1e-9)])
def test_a_force_that_swings_sticks_and_slips_in_turn(method, error):
    """m v' = A sin(w t) - F from A sin(w t) = F until v = 0; then at rest, and back in the other half of the turn."""
    A, w, F, m = 5.0, 3.0, 3.0, 2.0
    t0 = np.arcsin(F / A) / w
    t1 = brentq(lambda t: A / w * (np.cos(w * t0) - np.cos(w * t)) - F * (t - t0), 0.6 * np.pi / w, 1.9 * np.pi / w, xtol=1e-15)
    assert A * abs(np.sin(w * t1)) < F                   # it sticks there
    t2 = t0 + np.pi / w
    run = da.simulate(slider(m, coulomb=F), [0.0], [0.0], 2.5, control=lambda t, q, qd: [A * da.sin(w * t)], method=method,
                      h=2e-3, **tolerance(method, 1e-11))
    found = [(c.mode, c.t) for c in run.changes]
    assert [mode for mode, _ in found[:5]] == ["sticks", "slides forward", "sticks", "slides back", "sticks"]
    assert np.abs(np.array([t for _, t in found[1:4]]) - [t0, t1, t2]).max() < error
    force = A * np.sin(w * run.times)
    rests = run.qd[:, 0] == 0
    assert np.abs(run.reactions[rests, 0] + force[rests]).max() < 1e-12 and np.abs(run.reactions).max() <= F * (1 + 1e-9)


# --- several joints ---


def test_what_each_joint_does_at_rest_is_the_one_case_that_is_consistent():
    """All 3^n cases of held, forward and back by the interpreted equations; just one keeps every reaction in its bounds."""
    rng = np.random.default_rng(4)
    seen = set()
    for seed in range(12):
        n = 3
        m = da.random_tree(seed, n, ["revolute", "prismatic"]).without("friction", "springs")
        friction = 2 + 8 * rng.random(n)
        m = replace(m, joints=tuple(j if j.is_fixed else replace(j, coulomb=float(friction[m.entries[j.name].at_v[0]]))
                                    for j in m.joints))
        law, smooth = Reactions(m, True, None), m.without("friction")
        q, qd = m.random_state(seed)[0], np.where(rng.random(n) < 0.3, rng.normal(size=n), 0.0)
        tau = 20 * rng.normal(size=n) + da.gravity_vector(m, q)
        M, bias = da.mass_matrix(smooth, q), da.bias_force(smooth, q, qd)
        found, consistent = law.transition(np.zeros(1), q[None], qd[None], tau[None], 1e-3).modes.reshape(4, n), []
        for case in itertools.product((0, 1, -1), repeat=n):
            way = np.where(qd != 0, np.sign(qd), case)
            held = way == 0
            free = np.flatnonzero(~held)
            qdd = np.zeros(n)
            qdd[free] = np.linalg.solve(M[np.ix_(free, free)], (tau - bias - friction * way)[free])
            r = M @ qdd + bias - tau
            if (np.abs(r[held]) <= friction[held]).all() and (way * qdd >= 0)[(qd == 0) & ~held].all():
                consistent.append(tuple(way))
        assert set(consistent) == {tuple(found[1])} and ((found[1] == 0) == (found[0] == 0)).all()
        seen |= set(itertools.chain(*consistent))
    assert seen == {0, 1, -1}


@pytest.mark.parametrize("method, bound", [("rk4", 1e-6), ("dopri5", 1e-8), *(pytest.param(*more, marks=pytest.mark.slow) for more in (
    ("gauss4", 1e-6), ("discrete_gradient", 1e-11)))])
def test_a_double_pendulum_that_rubs_and_hits_its_stops_balances_its_books(method, bound):
    run = da.simulate(arm(), [1.0, -0.5], [0, 0], 5.0, stops=True, method=method, h=1e-3, **tolerance(method, 1e-10))
    assert run.reason == "finished" and np.abs(run.power_balance).max() < bound
    assert sum(c.impact != 0 for c in run.changes) >= 3 and {"stops", "sticks"} <= {c.mode for c in run.changes}
    assert (np.diff(run.energy) < bound).all() and run.energy[-1] < run.energy[0] - 1
    assert (run.q >= -1).all() and (run.q <= 1.2).all()
    at_stop = (run.modes == 0) & ((run.q == -1) | (run.q == 1.2))
    assert at_stop.any() and (run.qd[run.modes == 0] == 0).all()
    outward = np.where(run.q == -1, 1, -1)
    assert (outward * run.reactions >= -0.3 - 1e-9)[at_stop].all()


@pytest.mark.parametrize("method", each(["rk4", "gauss6"]))
def test_methods_agree_on_the_double_pendulum(method):
    run, other = (da.simulate(arm(), [1.0, -0.5], [0, 0], 4.0, stops=True, method=m, h=1e-3, record=0.1, **tolerance(m, 1e-12))
                  for m in (method, "dop853"))
    assert [c.mode for c in run.changes] == [c.mode for c in other.changes]
    assert np.abs(run.q - other.q).max() < 1e-7
    assert np.abs(np.array([c.t for c in run.changes]) - [c.t for c in other.changes]).max() < 1e-8


def test_spherical_and_free_joints_rub_entry_by_entry():
    m = da.random_tree(3, 2, ["free", "spherical", "planar"]).without("springs")
    m = replace(m, joints=tuple(j if j.is_fixed else replace(j, coulomb=4.0) for j in m.joints))
    q, qd = m.random_state(3)
    run = da.simulate(m, q, 0.3 * qd, 1.0, h=2e-3)
    assert run.reason == "finished" and np.abs(run.power_balance).max() < 1e-7 and (run.modes == 0).any()
    assert (run.qd[run.modes == 0] == 0).all() and np.abs(run.reactions).max() <= 4 * (1 + 1e-9)


def test_friction_and_stops_of_a_follower_count_for_its_leader():
    """q2 = -2 q1 + 0.1 with 3 N, and 1 N of the leader's own: 1 + 2 * 3 N; q2 <= 0.9 stops q1 at -0.4."""
    m = Mechanism("pair", (Body("base"), Body("a", 1), Body("b", 1)), (
        Joint("one", Prismatic((1, 0, 0)), "base", "a", coulomb=1),
        Joint("two", Prismatic((0, 1, 0)), "base", "b", coulomb=3, limits=Limits(None, (0.9,)), mimic=Mimic("one", -2, 0.1))))
    assert (da.simulate(m, [0.0], [0.0], 0.1, control=[6.999]).q == 0).all()
    run = da.simulate(m, [0.0], [0.0], 1.0, control=[-12.0], stops=True)
    assert run.changes[0].mode == "slides back" and abs(run.q[-1, 0] + 0.4) < 1e-15 and run.qd[-1] == 0
    assert abs(run.changes[1].impact + np.sqrt(2 * 0.4 * (12 - 7) / (1 + 4))) < 1e-12      # inertia 1 + 2^2


# --- stops ---


def ball(upper=None):
    return slider(1.0, axis=(0, 0, 1), limits=Limits((0,), upper))


@pytest.mark.parametrize("method", each(EXACT, ("rk4", "gauss4", "dopri5")))
def test_a_ball_bounces_when_it_must_and_comes_to_rest(method):
    """From 1 m with restitution e: flights of 2 e^n v/g; all of them end at v/g (1 + 2 e/(1 - e))."""
    g, e, v = 9.81, 0.7, np.sqrt(2 * 9.81)
    flights = 2 * v / g * e ** np.arange(1, 12)
    right = v / g + np.concatenate([[0], np.cumsum(flights)])
    run = da.simulate(ball(), [1.0], [0.0], 4.0, stops={"slide": e}, method=method)
    hits = [c for c in run.changes if c.impact]
    assert np.abs([c.t for c in hits[:12]] - right).max() < 1e-12
    assert np.abs([c.impact for c in hits[:12]] + v * e ** np.arange(12)).max() < 1e-12
    assert abs(hits[-1].t - v / g * (1 + 2 * e / (1 - e))) < 1e-3 and hits[-1].mode == "stops"
    assert (run.q >= 0).all() and run.q[-1] == 0 and run.qd[-1] == 0 and abs(run.reactions[-1, 0] - g) < 1e-12
    assert np.abs(run.power_balance).max() < 1e-12 and abs(run.work[-1] + g) < 1e-12      # what the impacts took: m g 1 m


def test_without_restitution_it_stays_and_without_loss_it_bounces_for_ever():
    run = da.simulate(ball(), [1.0], [0.0], 2.0, stops=True)
    assert [c.mode for c in run.changes] == ["moves", "stops"] and (run.q[run.times > 0.46] == 0).all()
    run = da.simulate(ball(), [1.0], [0.0], 20.0, stops={"slide": 1.0}, h=5e-3)
    assert len(run.changes) == 1 + int(20 / np.sqrt(8 / 9.81) + 0.5) and abs(run.energy[-1] - 9.81) < 1e-9


def test_without_stops_motion_goes_through_limits():
    run = da.simulate(ball(), [1.0], [0.0], 1.0)
    assert run.q[-1] < -3 and not run.changes and run.friction == "none"


def test_a_joint_at_its_stop_leaves_when_it_is_pulled():
    run = da.simulate(ball(), [0.0], [0.0], 2.0, stops=True, control=lambda t, q, qd: [9.81 * 2 * t])
    (held, leaves) = run.changes
    assert held.mode == "stops" and leaves.mode == "moves" and abs(leaves.t - 0.5) < 1e-9
    s = run.times[-1] - 0.5
    assert abs(run.q[-1, 0] - 9.81 * s**3 / 3) < 1e-9


def test_an_impact_moves_the_joints_that_only_friction_held():
    """Newton's law at one stop: the impulse p = -(1 + e) v/A there, and M^-1 p everywhere."""
    m = arm(coulomb=50.0)
    law = Reactions(m, True, {"q1": 0.5})
    q, qd = np.array([1.2, 0.3]), np.array([2.0, 0.0])
    settled = law.transition(np.zeros(1), q[None], qd[None], np.zeros((1, 2)), 1e-3)
    N = np.linalg.inv(da.mass_matrix(m, q))
    assert np.abs(settled.qd - (qd + N[:, 0] * -(1 + 0.5) * 2.0 / N[0, 0])).max() < 1e-14
    assert settled.qd[0, 1] != 0 and abs(settled.qd[0, 0] + 1.0) < 1e-14 and settled.impacts.tolist() == [[2, 0]] and settled.energy < 0


def test_stops_that_make_no_sense_are_named():
    with pytest.raises(ValueError, match=r"joint 'slide' begins at -1, beyond its stops at 0 and inf"):
        da.simulate(ball(), [-1.0], [0.0], 1.0, stops=True)
    with pytest.raises(da.UnknownNameError, match="joint"):
        da.simulate(ball(), [1.0], [0.0], 1.0, stops={"slyde": 0.5})
    with pytest.raises(ValueError, match="restitution of joint 'slide' is 1.5"):
        da.simulate(ball(), [1.0], [0.0], 1.0, stops={"slide": 1.5})
    with pytest.raises(ValueError, match="'slide' has no limits"):
        da.simulate(slider(), [1.0], [0.0], 1.0, stops={"slide": 0.5})
    with pytest.raises(ValueError, match="stops need the formulation 'newton_euler'"):
        da.simulate(ball(), [1.0], [0.0], 1.0, stops=True, formulation="hamilton")


# --- many at once, and in parts ---


@pytest.mark.parametrize("method", ["rk4", "dopri5", *(pytest.param(m, marks=pytest.mark.slow) for m in (
    "lie_rk4", "gauss4", "discrete_gradient", "dop853"))])
def test_each_of_many_does_what_it_does_alone(method):
    def level(t, q, qd):
        return q[0] + 0.2

    rng = np.random.default_rng(0)
    q, qd = rng.uniform(-0.9, 1.1, (9, 2)), rng.normal(size=(9, 2))
    options = {"stops": {"q1": 0.5, "q2": 0.0}, "events": level, "method": method, "h": 5e-3, **tolerance(method, 1e-8)}
    many = da.simulate(arm(), q, qd, 0.6, **options)
    assert len(many.events) > 4 and len(many.changes) > 30
    for k in (2, 8):
        one = da.simulate(arm(), q[k], qd[k], 0.6, **options)
        assert np.array_equal(one.q, many.q[k]) and np.array_equal(one.qd, many.qd[k]) and np.array_equal(one.modes, many.modes[k])
        assert [c[1:] for c in one.changes] == [c[1:] for c in many.changes if c.trajectory == k]
        assert [e.t for e in one.events] == [e.t for e in many.events if e.trajectory == k]
    assert np.array_equal(da.simulate(arm(), q, qd, 0.6, threads=2, **options).q, many.q)


@pytest.mark.parametrize("method", ["rk4", "gauss4", "dopri5"])
def test_a_loop_in_parts_is_the_loop_in_one(method):
    q, qd = np.array([[1.0, -0.5], [0.5, 0.2], [-0.3, 0.9]]), np.zeros((3, 2))
    motion = FirstOrderSystem(Model(arm()), contact=Contact(stops=True))
    x, times = np.hstack([q, qd, np.zeros((3, 1))]), np.linspace(0, 1.5, 16)

    def loop():
        return EventLoop(motion, method_for(motion, method), Pace(0.01, 10 if method != "dopri5" else 10_000), StepControl(1e-8, 1e-10))

    whole, parts, state = loop().advance(x, times, end=1.5), [], None
    for at in (0, 4, 5, 11):
        end = {0: 4, 4: 5, 5: 11, 11: 15}[at]
        parts.append(loop().advance(x, times[at:end + 1], state, end=1.5))      # a new one each time: as after a kill
        state = parts[-1].state
    assert np.array_equal(np.concatenate([p.x for p in parts], axis=1), whole.x)
    assert np.array_equal(np.concatenate([p.observables["modes"] for p in parts], axis=1), whole.observables["modes"])


def test_what_neither_rubs_nor_stops_is_compiled_as_before():
    m = da.random_tree(3, 1, ["revolute"]).without("friction")
    texts = {FirstOrderSystem(Model(m), contact=c).code.propagator(method_for(FirstOrderSystem(Model(m)), "rk4")).program.text()
             for c in (Contact(), Contact("sign"), Contact(stops=False))}
    assert len(texts) == 1 and FirstOrderSystem(Model(m)).extra == 0


def test_a_control_with_states_and_called_functions_sticks_too():
    class Integral:
        states = np.zeros(1)

        def __call__(self, t, q, qd, z):
            return np.array([float(z[0])])

        def rate(self, t, q, qd, z):
            return np.array([6.0 if float(t) < 4 else 0.0])

    run = da.simulate(slider(coulomb=3), [0.0], [0.0], 0.7, control=Integral(), h=0.01)      # z = 6 t: it moves after 0.5 s
    assert run.forces["control"] == "called" and abs(run.changes[1].t - 0.5) < 1e-8
    assert abs(run.qd[-1, 0] - 6 * 0.2**2 / 4) < 1e-9


def test_a_sticking_hinge_holds_a_pendulum_up():
    hinge = Mechanism("hinge", (Body("base"), Body("bar", 1.0, (0.5, 0, 0), (0.01, 0, 0.01, 0, 0, 0.01))), (
        Joint("hinge", Revolute((0, 1, 0)), "base", "bar", coulomb=5.0),))
    run = da.simulate(hinge, [0.0], [0.0], 1.0)
    assert (run.q == 0).all() and abs(abs(run.reactions[-1, 0]) - 9.81 * 0.5) < 1e-12
    assert da.simulate(hinge, [0.0], [0.0], 1.0, friction="sign").q[-1] != 0


@pytest.mark.parametrize("limit, start, warned", [("1.57", np.pi / 2, True), ("3.14159", np.pi, True), (1.0, 1 + 1e-12, False)])
def test_a_start_that_misses_a_stop_by_rounding_begins_at_it(limit, start, warned):
    stop = Literal(limit) if isinstance(limit, str) else limit
    link = da.planar_chain(1)
    link = replace(link, joints=(replace(link.joints[0], limits=da.Limits((-4,), (stop,))),))
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        run = da.simulate(link, [start], [0], 0.1, h=0.01, stops=True)
    assert run.q[0, 0] == float(limit) and start > float(limit)
    assert any("beyond its stop at" in str(w.message) for w in caught) == warned
    with pytest.raises(ValueError, match="joint 'q1' begins at .*, beyond its stops"):
        da.simulate(link, [float(limit) + 0.02], [0], 0.1, h=0.01, stops=True)
