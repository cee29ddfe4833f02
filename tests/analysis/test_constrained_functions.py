"""Forces, accelerations, minimal form and linear models of mechanisms with loops, each against another way to it."""

import pickle

import numpy as np
import pytest

import dalembert as da
from dalembert import constraints
from dalembert.systems.driving_forces import driving_forces
from four_bars import four_bar_angles, loop, pinned, state, tree

TAU = np.array([0.3, 0.0, 0.1])


@pytest.fixture(scope="module")
def bar():
    return loop()


@pytest.fixture(scope="module")
def at(bar):
    return state(bar)


def test_minimal_form_gives_the_accelerations_of_the_multipliers(bar, at):
    form = da.minimal_form(bar, *at)
    B, M, bias = form
    v = np.linalg.solve(M, B.T @ TAU - bias)
    assert np.abs(B @ v + form.drift - da.forward_dynamics(bar, *at, TAU)).max() < 1e-12


def test_minimal_form_of_a_four_bar_is_its_closed_form(bar):
    """M of the crank alone: that of the energy at unit rate, with the rates of the closed form."""
    q, h = four_bar_angles(1.2), 1e-6
    rates = (four_bar_angles(1.2 + h) - four_bar_angles(1.2 - h)) / (2 * h)
    form = da.minimal_form(bar, q, np.zeros(3), independent=["a"])
    assert form.independent == ("a",) and np.abs(form.B[:, 0] - rates).max() < 1e-8
    assert abs(form.M[0, 0] / 2 - da.kinetic_energy(tree(), q, rates)) < 1e-8
    slope = (da.potential_energy(tree(), four_bar_angles(1.2 + h)) - da.potential_energy(tree(), four_bar_angles(1.2 - h))) / (2 * h)
    assert abs(form.bias[0] - slope) < 1e-7


def test_velocities_that_are_not_independent_are_refused(bar, at):
    with pytest.raises(da.ConstraintError, match="a, b of 'four-bar' are no independent velocities at this state: it has 1 freedoms"):
        da.minimal_form(bar, *at, independent=["a", "b"])
    with pytest.raises(da.UnknownNameError, match="crank"):
        da.minimal_form(bar, *at, independent=["crank"])


def test_constraints_of_time_drive_velocities_and_accelerations():
    cart = da.planar_chain(2).constrained(constraints.Holonomic("drive", lambda q, t: [q[0] - da.sin(2 * t)]))
    t = 0.3
    form = da.minimal_form(cart, [np.sin(2 * t), 0.4], [2 * np.cos(2 * t), 0.1], t)
    assert np.allclose(form.b, [2 * np.cos(2 * t), 0]) and np.allclose(form.drift, [-4 * np.sin(2 * t), 0])
    qdd = da.forward_dynamics(cart, [np.sin(2 * t), 0.4], [2 * np.cos(2 * t), 0.1], [0.0, 0.2], t=t)
    assert abs(qdd[0] + 4 * np.sin(2 * t)) < 1e-12


def test_inverse_dynamics_with_a_loop_undoes_forward_dynamics(bar, at):
    crank_driven = loop(actuated=["a"])
    qdd = da.forward_dynamics(bar, *at, [0.7, 0.0, 0.0])
    assert np.abs(da.inverse_dynamics(crank_driven, *at, qdd) - [0.7, 0, 0]).max() < 1e-12
    for mechanism in (bar, loop(actuated=["b", "d"])):
        tau = da.inverse_dynamics(mechanism, *at, qdd)
        assert np.abs(da.forward_dynamics(bar, *at, tau) - qdd).max() < 1e-12


def test_shared_drives_have_the_least_weighted_norm(bar, at):
    """With one freedom B: B^T tau is given, so that tau = W^-1 B (B^T W^-1 B)^-1 B^T tau."""
    qdd = da.forward_dynamics(bar, *at, [0.7, 0.0, 0.0])
    B = da.minimal_form(bar, *at).B
    w = np.array([1.0, 4.0, 0.5])
    expected = B[:, 0] / w * (B[0, 0] * 0.7) / (B[:, 0] ** 2 / w).sum()
    assert np.abs(da.inverse_dynamics(bar, *at, qdd, weights=w) - expected).max() < 1e-12
    by_name = da.inverse_dynamics(bar, *at, qdd, weights={"b": 4.0, "d": 0.5})
    assert np.abs(by_name - expected).max() < 1e-12
    with pytest.raises(da.ShapeError, match="expected 3 positive numbers, of the driven joints' entries: a, b, d"):
        da.inverse_dynamics(bar, *at, qdd, weights=[1.0, 2.0])


def test_drives_that_cannot_hold_a_motion_are_named():
    chain = da.planar_chain(4).constrained(
        constraints.Holonomic("gap", lambda q, t: [sum(da.cos(q[0] + q[1] + q[2] * k) for k in (0, 1)) - 1.5]), actuated=["q1", "q2"])
    q = da.assemble(chain, [0.4, 0.3, 0.2, 0.5])
    form = da.minimal_form(chain, q, np.zeros(4))
    with pytest.raises(da.ConstraintError, match=r"the driven joints of 'planar chain' \(q1, q2\) cannot hold .* rank 2 at this state, for 3"):
        da.inverse_dynamics(chain, q, np.zeros(4), form.drift)


def test_accelerations_that_break_a_loop_are_refused(bar, at):
    with pytest.raises(da.ConstraintError, match=r"qdd breaks 'gap\[\d\]' of 'four-bar': J qdd = .* Give qdd = B v' \+ drift"):
        da.inverse_dynamics(bar, *at, [1.0, 0.0, 0.0])


def test_statics_is_inverse_dynamics_at_rest(bar, at):
    """The crank's moment that holds the loop is the slope of its energy: virtual work."""
    h = 1e-6
    up, down = (da.potential_energy(tree(), four_bar_angles(1.2 + s * h)) for s in (1, -1))
    tau = da.inverse_dynamics(loop(actuated=["a"]), four_bar_angles(1.2), np.zeros(3), np.zeros(3))
    assert abs(tau[0] - (up - down) / (2 * h)) < 1e-7 and not tau[1:].any()


def test_drives_by_null_space_and_by_multipliers_agree():
    rng = np.random.default_rng(1)
    for driven in ([0, 1, 2, 3, 4], [0, 2, 3]):
        J, f, w = rng.standard_normal((2, 5)), rng.standard_normal(5), rng.uniform(0.5, 2, len(driven))
        traced = da.function(lambda J, f, driven=driven, w=w: driving_forces(f, J, driven, w), J=(2, 5), f=(5,))
        assert np.abs(traced(J, f) - driving_forces(f, J, driven, w)).max() < 1e-12


def test_external_forces_act_on_loops(bar, at):
    push = da.ExternalForce("rocker", force=(0.3, -0.2, 0), moment=(0, 0, 0.4), point=(0.1, 0.2, 0))
    J = da.jacobian(tree(), at[0], "rocker")
    p = da.placement(tree(), at[0], "rocker")[:3, :3] @ np.zeros(3) + [0.1, 0.2, 0]
    moment = np.array([0, 0, 0.4]) + np.cross(p, [0.3, -0.2, 0])
    external = J.T @ [*moment, 0.3, -0.2, 0]
    found = da.forward_dynamics(bar, *at, TAU, [push])
    assert np.abs(found - da.forward_dynamics(bar, *at, TAU + external)).max() < 1e-12
    assert np.abs(da.inverse_dynamics(loop(actuated=["a"]), *at, found, [push])
                  - da.inverse_dynamics(loop(actuated=["a"]), *at, da.forward_dynamics(bar, *at, TAU))).max() < 1e-10


def test_batches_are_their_rows(bar, at):
    q, qd = np.stack([at[0]] * 3), np.outer([1.0, 0.5, -1.0], at[1])
    rows = [da.forward_dynamics(bar, *row, TAU) for row in zip(q, qd)]
    assert np.array_equal(da.forward_dynamics(bar, q, qd, TAU), rows)
    assert da.forward_dynamics_derivatives(bar, q, qd, TAU).dqdd_dq.shape == (3, 3, 3)


def differences(f, x, h=1e-6):
    return np.stack([(f(x + h * e) - f(x - h * e)) / (2 * h) for e in np.eye(len(x))], -1)


@pytest.mark.parametrize("make", [loop, lambda: tree(viscous=0.2).constrained(*loop().constraints)])
def test_derivatives_are_differences(make, at):
    mechanism = make()
    found = da.forward_dynamics_derivatives(mechanism, *at, TAU)
    q, qd = at
    assert np.abs(found.dqdd_dq - differences(lambda x: da.forward_dynamics(mechanism, x, qd, TAU), q)).max() < 1e-7
    assert np.abs(found.dqdd_dqd - differences(lambda x: da.forward_dynamics(mechanism, q, x, TAU), qd)).max() < 1e-7
    assert np.abs(found.dqdd_dtau - differences(lambda x: da.forward_dynamics(mechanism, q, qd, x), TAU)).max() < 1e-7


def test_derivatives_along_quaternions_are_differences():
    """A free rod that glides in a plane by its end: psi depends on the quaternion."""
    def end(q, t):
        w, x, y, z = q[:4]
        return [q[6] + 0.5 * 2 * (x * z - w * y)]

    top = da.Body("top", 1.0, (0.1, 0, 0.2), (0.2, 0.01, 0.3, 0, 0.02, 0.25))
    rod = da.Mechanism("rod", (da.Body("base"), top), (da.Joint("free", da.Free(), "base", "top"),))
    rod = rod.constrained(constraints.Holonomic("end", end, "m"))
    q, qd = da.project(rod, *rod.random_state(3))
    tau = np.linspace(-1, 1, rod.nv)
    found = da.forward_dynamics_derivatives(rod, q, qd, tau)
    moved = differences(lambda step: da.forward_dynamics(rod, rod.integrate(q, step), qd, tau), np.zeros(rod.nv))
    assert np.abs(found.dqdd_dq - moved).max() < 1e-6


def test_linear_model_of_a_loop_is_that_of_its_crank(bar):
    """z = (a, a rate): derivatives of the crank's own equation, by differences of the closed form."""
    def rate(z):
        q = four_bar_angles(z[0])
        qd = da.minimal_form(bar, q, np.zeros(3), independent=["a"]).B[:, 0] * z[1]
        return np.array([z[1], da.forward_dynamics(bar, q, qd, TAU)[0]])

    q = four_bar_angles(1.2)
    qd = 2.0 * da.minimal_form(bar, q, np.zeros(3), independent=["a"]).B[:, 0]
    model = da.linearize(bar, q, qd, TAU, independent=["a"])
    assert model.states == ("a", "a rate")
    assert np.abs(model.A - differences(rate, np.array([1.2, 2.0]))).max() < 1e-6
    A, B = model
    assert np.abs(B[1] - da.forward_dynamics_derivatives(bar, q, qd, TAU).dqdd_dtau[0]).max() < 1e-12


def test_linear_model_predicts_the_simulated_flow():
    """A knife edge with a heading: states near a state, after a short run, against exp(A t)."""
    joints = (da.Joint("x", da.Prismatic((1, 0, 0)), "base", "slide"), da.Joint("y", da.Prismatic((0, 1, 0)), "slide", "cart"),
              da.Joint("yaw", da.Revolute((0, 0, 1)), "cart", "skate"))
    bodies = da.Body("base"), da.Body("slide", 0.1), da.Body("cart", 0.1), da.Body("skate", 1.0, (0.2, 0, 0), (0, 0, 0.1, 0, 0, 0.1))
    knife = constraints.Velocity("knife", lambda q, qd, t: [da.sin(q[2]) * qd[0] - da.cos(q[2]) * qd[1]])
    sleigh = da.Mechanism("sleigh", bodies, joints, gravity=(0, 0, 0)).constrained(knife)
    q, qd = np.zeros(3), np.array([1.0, 0.0, 0.0])
    model = da.linearize(sleigh, q, qd, np.zeros(3))
    assert model.states == ("x", "y", "yaw", "x rate", "yaw rate")
    z, h, size = np.array([0.1, -0.2, 0.3, 0.2, -0.4]), 0.2, 1e-5
    dq, dqd = np.split(model.basis @ z * size, 2)
    run = da.simulate(sleigh, *da.project(sleigh, q + dq, qd + dqd), h, rtol=1e-11, atol=1e-13)
    base = da.simulate(sleigh, q, qd, h, rtol=1e-11, atol=1e-13)
    end = np.concatenate([run.q[-1] - base.q[-1], (run.qd[-1] - base.qd[-1])[[0, 2]]]) / size
    values, vectors = np.linalg.eig(model.A)
    expected = (vectors @ np.diag(np.exp(values * h)) @ np.linalg.pinv(vectors) @ z).real if np.linalg.matrix_rank(vectors) == 5 else series(model.A * h) @ z
    assert np.abs(end - expected).max() < 1e-4


def series(A):
    total = term = np.eye(len(A))
    for k in range(1, 25):
        term = term @ A / k
        total = total + term
    return total


def test_states_off_the_constraints_have_no_linear_model(bar):
    with pytest.raises(da.ConstraintError, match=r"'gap\[\d\]' of 'four-bar' is"):
        da.linearize(bar, [1.2, -0.5, 1.9], [0.0] * 3, TAU)


def test_functions_of_trees_are_as_before():
    arm, x = da.planar_chain(2), ([0.3, -0.2], [1.0, 0.5], [5.0, 1.0])
    from dalembert.formulations import newton_euler

    for name in ("forward_dynamics", "inverse_dynamics", "linearize", "forward_dynamics_derivatives", "inverse_dynamics_derivatives"):
        found, expected = getattr(da, name)(arm, *x), getattr(newton_euler, name)(arm, *x)
        assert all(np.array_equal(a, b) for a, b in zip(*(x if isinstance(x, tuple) else (x,) for x in (found, expected))))
        assert pickle.loads(pickle.dumps(getattr(da, name))) is getattr(da, name)


def test_derivatives_of_shared_drives_are_refused(bar, at):
    with pytest.raises(da.DalembertError, match=r"which has constraints: take those of its tree, mechanism.without\('constraints'\)"):
        da.inverse_dynamics_derivatives(bar, *at, TAU)
    assert not bar.without("constraints").constraints


def test_redundant_rows_change_no_minimal_form(bar, at):
    one, two = da.minimal_form(bar, *at, independent=["a"]), da.minimal_form(pinned(), *at, independent=["a"])
    assert np.abs(one.M - two.M).max() < 1e-12 and np.abs(one.bias - two.bias).max() < 1e-12


def test_functions_of_trees_refuse_loops_that_they_would_leave_out(bar, at):
    arm = da.Mechanism("arm", bar.bodies, bar.joints).constrained(*bar.constraints)
    hold = da.controllers.Hold([0.0] * 3)
    for call in (lambda: da.lagrange.forward_dynamics(bar, *at, TAU), lambda: da.hamilton.state_equations(bar, *at),
                 lambda: da.lagrange.operational_space(bar, *at, "rocker"), lambda: da.lagrange.flexible_joints(arm, 100.0),
                 lambda: da.controllers.Passivity(bar, hold, K=1.0, L=1.0)):
        with pytest.raises(da.DalembertError, match=r"knows no constraints, and '[\w-]+' has gap: .* mechanism.without\('constraints'\)"):
            call()


def test_computed_torque_of_a_driven_crank_follows_its_reference():
    """The law asks the loop's own inverse dynamics: the crank alone is driven, and follows."""
    bar = pinned(actuated=["a"])
    q0 = four_bar_angles(1.2)
    law = da.controllers.ComputedTorque(bar, da.controllers.Hold(four_bar_angles(1.5)), k_p=25.0, k_d=10.0)
    run = da.simulate(bar, q0, np.zeros(3), 3.0, control=law)
    assert np.abs(run.q[-1] - four_bar_angles(1.5)).max() < 1e-4 and np.abs(run.tau[:, 1:]).max() == 0


def test_forces_that_do_not_act_along_rows_are_not_mistaken_for_such():
    knife = constraints.Velocity("knife", lambda q, qd, t: [da.sin(q[0]) * qd[0] - qd[1]])
    vakonomic = da.planar_chain(2).constrained(knife, principle="vakonomic")
    at, rest = ([0.1, 0.2], [0.1, 0.00998]), [0.0, 0.0]
    with pytest.raises(da.DalembertError, match=r"accelerations of 'planar chain' depend on knife.*, which have no value: simulate\("):
        da.forward_dynamics(vakonomic, *at, rest)
    for function in (da.inverse_dynamics, da.linearize, da.forward_dynamics_derivatives):
        with pytest.raises(da.DalembertError, match="constraint 'knife' is kept by the principle 'vakonomic', whose forces do not act along"):
            function(vakonomic, *da.project(vakonomic, *at), rest)


def test_a_servo_constraint_takes_its_force_from_tau():
    """The second joint follows sin t by its own motor: inverse dynamics is that of the tree."""
    program = constraints.Holonomic("program", lambda q, t: [q[1] - da.sin(t)])
    led = da.planar_chain(2).constrained(program, principle="servo", actuated=["q1", "q2"])
    q, qd, qdd = [0.1, 0.0], [0.2, 1.0], [0.3, 0.0]
    assert np.abs(da.inverse_dynamics(led, q, qd, qdd) - da.inverse_dynamics(da.planar_chain(2), q, qd, qdd)).max() < 1e-13
    assert da.minimal_form(led, q, qd).independent == ("q1", "q2")


def test_a_lagrangian_on_a_circle_is_a_pendulum():
    """A point on a rod, from its Lagrangian with constraints: q'' = -g cos(angle) along the circle."""
    point = da.lagrangian_system(lambda q, qd, t: (qd[0]**2 + qd[1]**2) / 2 - 9.81 * q[1], "x y", name="point")
    rod = point.constrained(constraints.Holonomic("rod", lambda q, t: [q[0]**2 + q[1]**2 - 1], "m^2"))
    q, qd = da.project(rod, [0.6, -0.9], [1.0, 0.0])
    form = da.minimal_form(rod, q, qd)
    qdd = form.B @ np.linalg.solve(form.M, -form.bias) + form.drift
    along, across = np.array([-q[1], q[0]]), q
    assert abs(qdd @ along + 9.81 * q[0]) < 1e-12 and abs(qdd @ across + qd @ qd) < 1e-12
    compiled = da.compile(rod)
    assert np.abs(compiled.forward_dynamics(q, qd, [0.0, 0.0]) - qdd).max() < 1e-12
    assert np.abs(compiled.inverse_dynamics(q, qd, qdd)).max() < 1e-12 and int(da.degrees_of_freedom(rod)) == 1
    with pytest.raises(da.DalembertError, match="forward_dynamics of a LagrangianSystem knows no constraints, and 'point' has rod"):
        rod.forward_dynamics(q, qd, [0.0, 0.0])
