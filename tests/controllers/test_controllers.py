"""Controllers: closed loops as the theory has them, traced as called, power balance, limits, errors."""

import pickle

import numpy as np
import pytest
from scipy.integrate import cumulative_simpson

import dalembert as da
from dalembert import data
from dalembert.errors import DalembertError

c = da.controllers
SWING = c.Sinusoids([0.2, 0.1, -0.3], [0.5, 0.4, 0.3], [1.0, 2.0, 3.0], [0.0, 0.5, 1.0])
START = np.array([0.6, -0.4, 0.2]), np.array([0.3, 0.0, -0.5])


def rubbing(chain, **values):
    """The chain with numbers on each joint."""
    return chain.replace({f"{j.name}.{name}": value for j in chain.independent_joints for name, value in values.items()})


@pytest.fixture(scope="module")
def chain():
    """With springs, viscous friction and rotors."""
    return rubbing(da.planar_chain(3), viscous=0.2, stiffness=1.5, rest=0.1, rotor_inertia=0.05)


def every(chain):
    """One controller of each kind."""
    theta = da.regressor_parameters(chain)[1]
    known = {"PD": c.PD(chain, [0.3, -0.2, 0.1], 20, 5), "GravityPD": c.GravityPD(chain, [0.3, -0.2, 0.1], 20, 5),
             "ComputedTorque": c.ComputedTorque(chain, SWING, 30, 8), "FeedForward": c.FeedForward(chain, SWING, 30, 8),
             "Passivity": c.Passivity(chain, SWING, 8, 5),
             "AdaptivePassivity": c.AdaptivePassivity(chain, SWING, 8, 5, 0.5, 0.5 * theta)}
    return known | {f"Limited {name}": c.Limited(known[name], [6.0, np.inf, 2.0])
                    for name in ("ComputedTorque", "AdaptivePassivity")}


class OnlyNumbers:
    """A controller that cannot be traced."""

    def __init__(self, controller):
        self.controller, self.states = controller, getattr(controller, "states", ())

    def __call__(self, t, q, qd, *states):
        float(t), float(q[0])
        return self.controller(t, q, qd, *states)

    def rate(self, t, q, qd, states):
        return self.controller.rate(t, q, qd, states)


# --- references ---

QUINTIC = c.Quintic([[0, 1], [1, -1], [0.5, 0]], [0.5, 1.5, 2.0])


@pytest.mark.parametrize("reference", [c.Hold([0.1, 0.2]), c.Sinusoids([0.1, 0], [1, 2], [2, 3], 0.4), QUINTIC],
                         ids=["Hold", "Sinusoids", "Quintic"])
def test_velocity_and_acceleration_of_a_reference_are_the_derivatives_and_expressions_agree(reference):
    t = da.symbol("t")
    traced = [da.array(v) for v in reference(t)]
    for at in (0.2, 0.7, 1.2, 1.7, 2.5):
        values = [np.array([float(da.evaluate(x, {t: at})) if isinstance(x, da.Expr) else x for x in v]) for v in traced]
        for found, direct in zip(values, reference(at), strict=True):
            assert np.abs(found - (direct + np.zeros(2))).max() < 1e-14
        for k in (0, 1):
            rates = (np.asarray(reference(at + 1e-4)[k]) - reference(at - 1e-4)[k]) / 2e-4 + np.zeros(2)
            assert np.abs(rates - reference(at)[k + 1]).max() < 1e-5


def test_the_quintic_passes_its_points_at_rest():
    for point, at in zip(QUINTIC.points, QUINTIC.times, strict=True):
        for found, right in zip(QUINTIC(at), (point, 0, 0), strict=True):
            assert np.abs(found - right).max() < 1e-14
    assert np.abs(QUINTIC(0.0)[0] - QUINTIC.points[0]).max() == 0 and np.abs(QUINTIC(9.0)[0] - QUINTIC.points[-1]).max() < 1e-15


# --- closed loops ---

def test_computed_torque_makes_the_error_that_of_a_critically_damped_spring(chain):
    run = da.simulate(chain, *START, 2.0, control=c.ComputedTorque(chain, SWING, 36.0), h=5e-4)
    (q_r, qd_r, _), t = SWING(run.times[0]), run.times[:, None]
    e0, ed0, w = q_r - START[0], qd_r - START[1], 6.0
    right = (e0 + (ed0 + w * e0) * t) * np.exp(-w * t)
    assert np.abs(np.array([SWING(at)[0] for at in run.times]) - run.q - right).max() < 1e-9
    assert run.forces["control"] == "traced"


def test_computed_torque_moves_a_panda_from_point_to_point():
    with pytest.warns(da.errors.DalembertWarning):
        arm = da.load(data.path("panda"), lock=["panda_finger_joint1"])
    q0, q1 = np.array([[0, -0.3, 0, -2.0, 0, 1.6, 0.8], [0.5, 0.2, -0.4, -1.5, 0.3, 2.0, 0.3]])
    reference = c.Quintic([q0, q1], [0, 0.8])
    run = da.simulate(arm, q0 + 0.01, 0 * q0, 1.0, control=c.ComputedTorque(arm, reference, 400.0))
    right = np.array([reference(t)[0] for t in run.times])
    assert np.abs(run.q[-1] - q1).max() < 1e-6 and run.energy_drift < 1e-8
    w, t = 20.0, run.times[:, None]
    assert np.abs(run.q - right - 0.01 * (1 + w * t) * np.exp(-w * t)).max() < 1e-7


def test_gravity_pd_reaches_its_set_point_with_quaternions_and_its_energy_never_grows():
    tree = da.random_tree(1, 3, ["spherical", "continuous", "prismatic"]).without("friction")
    q_ref, (q, qd) = tree.neutral(), tree.random_state(1)
    free = da.mass_matrix(tree, q_ref).diagonal()
    K_p = 10 * np.full(tree.nv, free.max())
    control = c.GravityPD(tree, q_ref, K_p, np.sqrt(K_p * free.max()))
    run = da.simulate(tree, q, qd, 12.0, control=control, method="dopri5", record=0.01)
    e = np.array([tree.difference(q_ref, x) for x in run.q])
    V = run.kinetic_energy + 0.5 * (e ** 2 @ K_p)
    assert run.reason == "finished" and run.forces["control"] == "traced"
    assert np.diff(V).max() < 1e-8 * V[0] and np.abs(e[-1]).max() < 1e-4 < np.abs(e[0]).max()


def test_pd_alone_stops_where_its_springs_carry_the_load(chain):
    control = c.PD(chain, [0.3, -0.2, 0.1], 40, [30, 15, 5])
    run = da.simulate(chain, *START, 25.0, control=control)
    q, qd = run.final()
    rest = np.zeros(3)
    assert np.abs(qd).max() < 1e-8
    assert np.abs(40 * (control.q_ref - q) - da.inverse_dynamics(chain, q, rest, rest)).max() < 1e-6
    assert np.abs(control.q_ref - q).max() > 1e-2
    with_gravity = da.simulate(chain, *START, 25.0, control=c.GravityPD(chain, control.q_ref, 40, [30, 15, 5]))
    assert np.abs(with_gravity.q[-1] - control.q_ref).max() < 1e-8


def test_feed_forward_tracks_exactly_from_the_reference_and_comes_back_to_it(chain):
    on, off = (da.simulate(chain, q, qd, 8.0, control=c.FeedForward(chain, SWING, 60, 30), h=2e-3)
               for q, qd in (SWING(0.0)[:2], START))
    right = np.array([SWING(t)[0] for t in on.times])
    assert np.abs(on.q - right).max() < 1e-8 and np.abs(off.q[-1] - right[-1]).max() < 1e-3 * np.abs(off.q[0] - right[0]).max()


def lyapunov(chain, run, controller, theta=None):
    """V of passivity-based control and -dV/dt = s^T K s at every record."""
    M = da.mass_matrix(chain, run.q)
    reference = [SWING(t) for t in run.times]
    s = run.qd - [qd + controller.L * (q - at) for (q, qd, _), at in zip(reference, run.q, strict=True)]
    V = 0.5 * np.einsum("ki,kij,kj->k", s, M, s)
    if theta is not None:
        V = V + 0.5 * (run.controller_states - theta) ** 2 @ (1 / controller.G)
    return V, s ** 2 @ controller.K


@pytest.mark.parametrize("adaptive", [False, True])
def test_passivity_based_control_loses_V_as_the_proof_says(chain, adaptive):
    theta = da.regressor_parameters(chain)[1] if adaptive else None
    G = np.linspace(0.2, 1.0, 30)
    control = c.AdaptivePassivity(chain, SWING, [8, 6, 4], 5, G) if adaptive else c.Passivity(chain, SWING, [8, 6, 4], 5)
    run = da.simulate(chain, *START, 2.0, control=control, h=5e-4, record=5e-4)
    V, lost = lyapunov(chain, run, control, theta)
    assert np.abs(V + cumulative_simpson(lost, x=run.times, initial=0) - V[0]).max() < 1e-7 * V[0]
    assert np.diff(V).max() < 1e-12 * V[0] and V[-1] < 0.9 * V[0]


def test_the_error_goes_to_zero_without_parameters_and_with_them(chain):
    two, reference = rubbing(da.planar_chain(2), viscous=0.2, rotor_inertia=0.05), c.Sinusoids([0.2, 0.1], [0.8, 0.6], [1, 2])
    for control, error in ((c.Passivity(two, reference, 30, 5), 1e-8),
                           (c.AdaptivePassivity(two, reference, 30, 5, 5.0), 1e-4)):      # unexcited directions come slowly
        run = da.simulate(two, START[0][:2], START[1][:2], 200.0, control=control, h=2e-3)
        e = np.abs(run.q - np.array([reference(t)[0] for t in run.times])).max(axis=1)
        assert run.reason == "finished" and e[run.times > 190].max() < error * e.max()


def test_adaptive_control_uses_no_mass_of_its_mechanism(chain):
    ignorant = chain.replace({f"{b.name}.mass": 9 for b in chain.bodies[1:]})
    blind, knowing = (da.simulate(chain, *START, 1.0, control=c.AdaptivePassivity(m, SWING, 30, 5, 20.0), h=2e-3)
                      for m in (ignorant, chain))
    assert np.abs(blind.q - knowing.q).max() < 1e-12


@pytest.mark.parametrize("name", ["PD", "GravityPD", "ComputedTorque", "FeedForward", "Passivity", "AdaptivePassivity",
                                  "Limited ComputedTorque", pytest.param("Limited AdaptivePassivity", marks=pytest.mark.slow)])
def test_traced_equals_called_and_the_power_balance_closes(chain, name):
    control = every(chain)[name]
    traced, called = (da.simulate(chain, *START, 0.05, control=by, h=5e-4) for by in (control, OnlyNumbers(control)))
    assert (traced.forces["control"], called.forces["control"]) == ("traced", "called")
    for values in ("q", "qd", "work", "controller_states"):
        assert np.abs(getattr(traced, values) - getattr(called, values)).max(initial=0) < 1e-9
    assert traced.energy_drift < 1e-6 and called.energy_drift < 1e-6
    again = pickle.loads(pickle.dumps(control))
    states = (control.states,) if np.size(getattr(control, "states", ())) else ()
    assert (again(0.1, *START, *states) == control(0.1, *START, *states)).all()


def test_traced_equals_called_with_quaternions():
    tree = da.random_tree(1, 2, ["spherical", "continuous"])
    control = c.GravityPD(tree, tree.neutral(), 10, 5)
    traced, called = (da.simulate(tree, *tree.random_state(1), 0.05, control=by) for by in (control, OnlyNumbers(control)))
    assert (traced.forces["control"], called.forces["control"]) == ("traced", "called")
    assert np.abs(traced.q - called.q).max() < 1e-9 and np.abs(traced.qd - called.qd).max() < 1e-9
    assert traced.energy_drift < 1e-6


def test_a_controller_of_the_package_is_traced_once_and_one_on_a_users_function_each_time(chain):
    calls, gain = [], [1.0]

    def reference(t):
        return gain[0] * np.ones(3), np.zeros(3), np.zeros(3)

    class Counted(c.Sinusoids):
        def __call__(self, t):
            calls.append(t)
            return super().__call__(t)

    control = c.Limited(c.ComputedTorque(chain, Counted([0.2, 0.1, -0.3], 0.1)), [50.0, 50.0, np.inf])
    first = da.simulate(chain, *START, 0.05, control=control)
    count = len(calls)
    again = da.simulate(chain, *START, 0.05, control=control)
    assert len(calls) == count and (again.q == first.q).all()
    with pytest.raises(ValueError, match="read-only"):
        control.limits[0] = 1.0
    users = c.ComputedTorque(chain, reference)
    one = da.simulate(chain, *START, 0.05, control=users)
    gain[0] = 2.0
    assert one.forces["control"] == "traced" and (da.simulate(chain, *START, 0.05, control=users).q[-1] != one.q[-1]).all()


def test_limits_hold_and_compose(chain):
    inner = c.ComputedTorque(chain, c.Hold([1.0, 0.5, -0.5]), 400.0)
    control = c.Limited(inner, [30.0, np.inf, 0.5])
    free, tau = inner(0.0, *START), control(0.0, *START)
    assert np.abs(free[[0, 2]]).min() > 0.5 and abs(tau[2]) == 0.5 and tau[1] == free[1]
    assert tau[0] == np.clip(free[0], -30, 30)
    run = da.simulate(chain, *START, 0.5, control=control)
    assert np.abs(run.q[-1] - da.simulate(chain, *START, 0.5, control=inner).q[-1]).max() > 1e-2
    arm = da.load(data.path("panda"), lock=["panda_finger_joint1"])
    assert c.effort_limits(arm).tolist() == [87, 87, 87, 87, 12, 12, 12]
    assert np.isinf(c.effort_limits(chain)).all()


# --- controllers with states of their own ---

@pytest.mark.parametrize(("between", "method", "areas"), [("linear", "rk4", [0.5, 0.125, -0.125, 0.625, 1.0]),
                                                          ("hold", "explicit_euler", [0.25, 0.75, -0.5, -0.5, 1.0])])
def test_forces_from_a_table_push_as_their_integral_says(between, method, areas):
    """m v' = f(t): methods whose stages see no jump find the area of the table exactly."""
    m = da.Mechanism("rail", (da.Body("base"), da.Body("cart", mass=2.0)),
                     (da.Joint("x", da.Prismatic((1, 0, 0)), "base", "cart"),), gravity=(0, 0, 0))
    table = c.Samples([0.0, 0.25, 0.5, 1.0], [[1.0], [3.0], [-2.0], [4.0]], between)
    run = da.simulate(m, [0.0], [0.0], np.linspace(0, 1.25, 6), control=table, method=method, h=0.25)
    assert run.forces["control"] == "called"
    assert np.allclose(2 * run.qd[1:, 0], np.cumsum(areas), rtol=0, atol=1e-14)
    assert [table(t, None, None)[0] for t in (-1.0, 0.25, 9.0)] == [1.0, 3.0, 4.0]


class Integral:
    """PID toward 0 on an axis: with K_p = K_i = K_d = k and mass m, m x''' + k x'' + k x' + k x = 0."""

    states = np.zeros(1)

    def __call__(self, t, q, qd, states):
        return -3.0 * (q + qd + states)

    def rate(self, t, q, qd, states):
        return q


def test_states_of_a_users_controller_follow_their_rates():
    cart = da.random_tree(4, 1, ["prismatic"]).without("friction", "springs", "rotors")
    cart = cart.replace({f"gravity[{k}]": 0 for k in range(3)})
    mass = float(da.mass_matrix(cart, [0.0])[0, 0])
    run = da.simulate(cart, [1.0], [0.0], 3.0, control=Integral())
    A = np.array([[0, 1, 0], [-3 / mass, -3 / mass, -3 / mass], [1, 0, 0]])
    roots, modes = np.linalg.eig(A)
    right = (modes @ (np.exp(np.outer(roots, run.times)) * np.linalg.solve(modes, [1, 0, 0])[:, None])).real.T
    assert np.abs(np.column_stack([run.q, run.qd, run.controller_states]) - right).max() < 1e-8
    called = da.simulate(cart, [1.0], [0.0], 0.1, control=OnlyNumbers(Integral()))
    assert called.forces["control"] == "called" and np.abs(called.controller_states[-1] - np.interp(
        0.1, run.times, run.controller_states[:, 0])).max() < 1e-5


def test_each_trajectory_may_start_with_states_of_its_own(chain):
    one = c.AdaptivePassivity(chain, SWING, 8, 5, 0.5)
    both = OnlyStates(one, np.array([one.states, one.states + 0.1]))
    run = da.simulate(chain, *START, 0.1, control=both)
    assert run.controller_states.shape == (2, len(run.times), 30)
    single = da.simulate(chain, *START, 0.1, control=one)
    assert np.abs(run.q[0] - single.q).max() < 1e-12 < np.abs(run.q[1] - single.q).max()
    assert da.simulate(chain, *START, 0.1).controller_states.shape == (101, 0)


class OnlyStates:
    """A controller with other initial states."""

    def __init__(self, controller, states):
        self.controller, self.states = controller, states

    def __call__(self, *state):
        return self.controller(*state)

    def rate(self, *state):
        return self.controller.rate(*state)


def test_a_rate_of_another_length_is_an_error(chain):
    class Wrong(Integral):
        def rate(self, t, q, qd, states):
            return [*q, 1.0]

    with pytest.raises(da.ShapeError, match=r"rate returned shape \(4,\), expected \(1,\): one rate per state"):
        da.simulate(chain, *START, 0.1, control=Wrong())


# --- errors ---

@pytest.mark.parametrize(("make", "message"), [
    (lambda m: c.PD(m, [0, 0], 1, 1), r"q_ref has shape \(2,\), expected \(3,\)"),
    (lambda m: c.PD(m, [0, 0, 0], [1, 2], 1), r"K_p has shape \(2,\), expected one number or \(3,\)"),
    (lambda m: c.GravityPD(m, [0, 0, 0], [1, -2, 1], 1), r"K_p\[1\] is -2, expected a number of at least 0"),
    (lambda m: c.GravityPD(m, [0, np.nan, 0], 1, 1), "q_ref has the entry nan"),
    (lambda m: c.ComputedTorque(m, c.Hold([0, 0]), 1), r"the reference returned shapes \(2,\), \(2,\), \(2,\), expected q, qd"),
    (lambda m: c.AdaptivePassivity(m, SWING, 1, 1, 0.0), r"G\[0\] is 0, expected"),
    (lambda m: c.AdaptivePassivity(m, SWING, 1, 1, 1, [1.0]), r"estimates has shape \(1,\), expected \(30,\)"),
    (lambda m: c.Quintic([[0, 1]], [0]), "K >= 2"),
    (lambda m: c.Quintic([[0], [1]], [1, 1]), "must increase"),
    (lambda m: c.Samples([0, 1], [[1.0]]), r"times has shape \(2,\) and values \(1, 1\)"),
    (lambda m: c.Samples([0, 0], [[1.0], [2.0]]), "times must increase"),
    (lambda m: c.Samples([0], [[1.0]], "cubic"), "expected one of 'linear', 'hold'"),
    (lambda m: c.Limited(c.PD(m, [0, 0, 0], 1, 1), [1, -1, 1]), r"limits\[1\] is -1"),
])
def test_wrong_numbers_are_refused_where_they_are_given(chain, make, message):
    with pytest.raises(ValueError, match=message):
        make(chain)


def test_tracking_refuses_quaternions_and_names_the_joint():
    tree = da.random_tree(1, 2, ["spherical", "revolute"])
    for make in (lambda: c.ComputedTorque(tree, c.Hold(tree.neutral())), lambda: c.FeedForward(tree, c.Hold([0]), 1, 1),
                 lambda: c.Passivity(tree, c.Hold([0]), 1, 1), lambda: c.AdaptivePassivity(tree, c.Hold([0]), 1, 1, 1)):
        with pytest.raises(DalembertError, match="joint '.*' of mechanism '.*' has a quaternion: use controllers.PD"):
            make()
    with pytest.raises(da.QuaternionError):
        c.PD(tree, np.zeros(tree.nq), 1, 1)


def test_states_of_a_controller_are_a_vector():
    class Answers:
        """Has every attribute, as objects that stand for others in tests do."""

        def __getattr__(self, name):
            return 0.1

        def __call__(self, t, q, qd):
            return [-q[0]]

    with pytest.raises(TypeError, match="control.states is 0.1: expected the initial values of the controller's states"):
        da.simulate(da.planar_chain(1), [0.1], [0], 0.1, control=Answers())


def test_a_goal_that_looks_like_degrees_is_asked_about_once():
    arm = da.planar_chain(2)
    path = da.controllers.Quintic([[0, 0], [90, 45]], [0, 1])
    for make in (
        lambda: da.controllers.PD(arm, [90, 0], K_p=1.0, K_d=1.0), lambda: da.controllers.ComputedTorque(arm, path),
        lambda: da.controllers.FeedForward(arm, da.controllers.Hold([0, 90]), K_p=1.0, K_d=1.0),
    ):
        with pytest.warns(da.errors.DalembertWarning, match="is at 90 rad, .* Are these degrees") as told:
            make()
        assert len(told) == 1
