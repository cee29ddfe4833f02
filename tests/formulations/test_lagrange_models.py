"""Models of the source's sequel: operational space and flexible joints, each against the joint-space result."""

import warnings

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import dalembert as da
from dalembert import lagrange
from dalembert.spatial.vectors import Vector

RNG = np.random.default_rng(0)
OWN = 1e-12


# --- operational space ----------------------------------------------------------------------------------------------

def arm():
    return da.load("panda", passive=False, lock=["panda_finger_joint1"])


@pytest.mark.parametrize("axes", ["aligned", "local", "world"])
def test_a_force_at_the_frame_moves_it_as_the_operational_space_form_says(axes):
    m = arm()
    q, qd = m.random_state(3)
    o = lagrange.operational_space(m, q, qd, "panda_hand", axes)
    F = RNG.standard_normal(6) * 10
    qdd = da.forward_dynamics(m, q, qd, o.jacobian.T @ F)                                  # joint space
    a = o.jacobian @ qdd + o.jacobian_rate @ qd
    found = o.inertia @ a + o.coriolis_vector + o.gravity_vector
    scale = np.abs(o.inertia).max() * np.abs(a).max()
    assert np.abs(found - F).max() <= OWN * scale
    assert np.array_equal(o.inertia, o.inertia.T) and np.linalg.eigvalsh(o.inertia)[0] > 0


def test_dynamically_consistent_inverse_leaves_the_frame_alone():
    """J J_bar = 1; forces (1 - J^T J_bar^T) tau_0 of a redundant arm do not accelerate the frame, and others would."""
    m = arm()
    q, qd = m.random_state(3)
    o = lagrange.operational_space(m, q, qd, "panda_hand")
    J, tau0 = o.jacobian, np.random.default_rng(0).standard_normal(7)
    assert np.allclose(J @ o.inverse, np.eye(6), atol=1e-11)
    M_inv = da.inverse_mass_matrix(m, q)
    hidden = tau0 - J.T @ (o.inverse.T @ tau0)
    assert np.abs(hidden).max() > 0.01 and np.abs(J @ M_inv @ hidden).max() < 1e-11 * np.abs(J @ M_inv @ tau0).max()
    other = tau0 - J.T @ (np.linalg.pinv(J).T @ tau0)                                      # the kinematic inverse is not
    assert np.abs(J @ M_inv @ other).max() > 1e-3 * np.abs(J @ M_inv @ tau0).max()


def test_kinetic_energy_and_gravity_of_an_arm_that_is_not_redundant():
    m = da.planar_chain(2)
    q, qd = [0.4, 1.1], [0.7, -1.3]
    o = lagrange.operational_space(m, q, qd, "tip", rows=(3, 5))
    v = o.jacobian @ qd
    assert v @ o.inertia @ v / 2 == pytest.approx(da.kinetic_energy(m, q, qd), rel=1e-12)
    assert np.allclose(o.jacobian.T @ o.gravity_vector, da.gravity_vector(m, q), rtol=1e-11)
    assert np.allclose(o.jacobian.T @ (o.coriolis_vector + o.inertia @ o.jacobian_rate @ qd), da.coriolis_vector(m, q, qd))


def test_operational_space_on_batches_expressions_and_every_joint_type():
    m = da.random_tree(2, 5, ["spherical", "prismatic", "universal", "free"])
    q, qd = (np.array([m.random_state(s)[k] for s in range(3)]) for k in (0, 1))
    frame, rows = m.bodies[-1].name, (3, 4, 5)
    o = lagrange.operational_space(m, q, qd, frame, rows=rows)
    for k in range(3):
        single = lagrange.operational_space(m, q[k], qd[k], frame, rows=rows)
        assert all(np.allclose(a, b[k], rtol=1e-11, atol=1e-12) for a, b in zip(single, o))
    with da.Graph():
        s, v = da.symbols("q", m.nq), da.symbols("v", m.nv)
        traced = lagrange.operational_space(m, s, v, frame, rows=rows)
        at = dict(zip([*s, *v], [*q[0], *qd[0]]))
        assert np.allclose(np.array(da.evaluate(traced.coriolis_vector, at), float), o.coriolis_vector[0], rtol=1e-9)
        assert traced.singular_value is None


def test_singularities_are_errors_with_the_singular_value_and_near_ones_warnings():
    m = da.planar_chain(2)
    values = []
    for angle in (2e-3, 5e-4):
        values.append(lagrange.operational_space(m, [0.1, angle], [0, 0], "tip", rows=(3, 5)).singular_value)
    assert values[0] / values[1] == pytest.approx(4, rel=0.03)                            # linear in the distance
    with pytest.warns(da.DalembertWarning, match=r"frame 'tip'.*singular value 0.000\d+.*near a singularity"):
        lagrange.operational_space(m, [0.1, 1e-4], [0, 0], "tip", rows=(3, 5))
    with pytest.raises(da.SingularConfigurationError, match="in row 1: its motion along .*no finite inertia is felt") as error:
        lagrange.operational_space(m, [[0.1, 0.5], [0.0, 0.0]], [0, 0], "tip", rows=(3, 5))
    assert error.value.row == 1 and error.value.singular_value < 1e-7 and error.value.frame == "tip"
    with pytest.raises(da.SingularConfigurationError, match="angular [xz].*Leave such directions out of rows="):
        lagrange.operational_space(da.planar_chain(6), np.ones(6), np.zeros(6), "tip")
    straight = lagrange.operational_space(m, [0.0, 0.0], [0, 0], "tip", rows=(5,))       # what can be moved has its inertia
    assert straight.singular_value == pytest.approx(1)


# --- flexible joints ------------------------------------------------------------------------------------------------

AXES, GEARS, ROTORS = ((0, 0, 1), (0, 1, 0), (0.6, 0, 0.8)), (3.0, 5.0, 7.0), (0.01, 0.02, 0.03)
K, D = np.array([100.0, 200.0, 300.0]), np.array([0.1, 0.2, 0.3])


def lower(I):
    return tuple(float(I[i, j]) for i, j in ((0, 0), (1, 0), (1, 1), (2, 0), (2, 1), (2, 2)))


def robot_and_its_rotors():
    """A 3R arm whose motors are numbers of the joints, and the same arm with each rotor a body on a joint of its own.

    The rotor stands for no mass, only for I_m about its axis, which the first form adds to the link that carries it.
    """
    rng = np.random.default_rng(5)
    origins = [da.Origin((0.1 * k, 0.2, 0.3), (("x", 0.3 * k),)) for k in range(3)]
    plain, carrying, motors, rotors, joints = [da.Body("base")], [da.Body("base")], [], [], []
    for k in range(3):
        A = rng.uniform(-0.2, 0.2, (3, 3))
        I, mass, com = A @ A.T + 0.05 * np.eye(3), 1 + rng.random(), tuple(rng.uniform(-0.1, 0.1, 3))
        plain.append(da.Body(f"link{k}", mass, com, lower(I)))
        if k < 2:
            a = np.array(origins[k + 1].transform(float).R.to_parent(Vector(AXES[k + 1])), dtype=float)
            I = I + ROTORS[k + 1] * np.outer(a, a)
        carrying.append(da.Body(f"link{k}", mass, com, lower(I)))
        parent = "base" if k == 0 else f"link{k - 1}"
        joints.append(da.Joint(f"q{k}", da.Revolute(AXES[k]), parent, f"link{k}", origins[k]))
        motors.append(da.Joint(f"q{k}", da.Revolute(AXES[k]), parent, f"link{k}", origins[k],
                               rotor_inertia=ROTORS[k], gear_ratio=GEARS[k]))
        plain.append(da.Body(f"rotor{k}", 0, (0, 0, 0), lower(ROTORS[k] * np.outer(AXES[k], AXES[k]))))
        rotors.append(da.Joint(f"m{k}", da.Revolute(AXES[k]), parent, f"rotor{k}", origins[k]))
    return da.Mechanism("arm", carrying, motors), da.Mechanism("arm with rotors", plain, (*joints, *rotors))


def test_full_model_is_the_tree_with_each_rotor_a_body():
    """Newton-Euler of six bodies: motor turns are the gear ratios times theta; springs act between the pairs."""
    robot, tree = robot_and_its_rotors()
    system = lagrange.flexible_joints(robot, K, D, model="full")
    turns = np.array([1, 1, 1, *GEARS])
    places = [tree.velocity_names.index(n) for n in ("q0", "q1", "q2", "m0", "m1", "m2")]

    def of_tree(v):
        out = np.empty(6)
        out[places] = v * turns
        return out

    for _ in range(5):
        q, qd, qdd = RNG.standard_normal((3, 6))
        spring = K * (q[:3] - q[3:]) + D * (qd[:3] - qd[3:])
        expected = da.inverse_dynamics(tree, *map(of_tree, (q, qd, qdd)))[places] * turns + [*spring, *-spring]
        assert np.abs(system.inverse_dynamics(q, qd, qdd) - expected).max() <= OWN * np.abs(expected).max()
        M = da.mass_matrix(tree, of_tree(q))[np.ix_(places, places)] * np.outer(turns, turns)
        assert np.allclose(system.mass_matrix(q), M, rtol=0, atol=1e-13)
        C = da.coriolis_matrix(tree, of_tree(q), of_tree(qd))[np.ix_(places, places)] * np.outer(turns, turns)
        assert np.allclose(system.coriolis_matrix(q, qd), C, rtol=0, atol=1e-12)
        assert system.kinetic_energy(q, qd) == pytest.approx(da.kinetic_energy(tree, of_tree(q), of_tree(qd)), rel=1e-12)


@pytest.mark.parametrize("seed", range(4))
def test_reduced_model_with_rigid_springs_is_the_joint_space_model(seed):
    """At theta = q the sum of both rows is the rigid mechanism's equation, rotors included."""
    m = da.random_tree(seed, 8)
    joints = [j.name for j in m.independent_joints if j.type.nv == 1 and j.type.name != "custom" and j.rotor_inertia[0]]
    if not joints:
        m = robot_and_its_rotors()[0]
    system = lagrange.flexible_joints(m, 50.0, joints=joints or None)
    q, qd = m.random_state(seed)
    qdd = RNG.standard_normal(m.nv)
    at_q, at_v = [[getattr(x, k) for x in system.motors] for k in ("at_q", "at_v")]
    stacked = system.inverse_dynamics([*q, *q[at_q]], [*qd, *qd[at_v]], [*qdd, *qdd[at_v]])
    total = stacked[:m.nv].copy()
    total[at_v] += stacked[m.nv:]
    expected = da.inverse_dynamics(m, q, qd, qdd)
    assert np.abs(total - expected).max() <= OWN * np.abs(expected).max()


@pytest.mark.parametrize("model", ["reduced", "full"])
def test_forward_dynamics_power_batches_and_expressions(model):
    robot, _ = robot_and_its_rotors()
    system = lagrange.flexible_joints(robot, K, D, model=model)
    q, qd = RNG.standard_normal((2, 4, 6))
    tau = RNG.standard_normal(3)
    qdd = system.forward_dynamics(q, qd, tau)
    assert np.allclose(system.inverse_dynamics(q, qd, qdd), [0, 0, 0, *tau], atol=1e-10)
    assert np.allclose(qdd[2], system.forward_dynamics(q[2], qd[2], tau), rtol=1e-11)
    h = 1e-4

    def energy(t):
        x, v = q[0] + t * qd[0] + t * t / 2 * qdd[0], qd[0] + t * qdd[0]
        return system.kinetic_energy(x, v) + system.potential_energy(x)

    rate = (8 * (energy(h) - energy(-h)) - energy(2 * h) + energy(-2 * h)) / (12 * h)
    power = tau @ qd[0, 3:] - D @ (qd[0, :3] - qd[0, 3:])**2
    assert rate == pytest.approx(power, abs=1e-7 * (1 + abs(energy(0))))
    C = system.coriolis_matrix(q[0], qd[0])
    M_rate = (system.mass_matrix(q[0] + h * qd[0]) - system.mass_matrix(q[0] - h * qd[0])) / (2 * h)
    assert np.abs(M_rate - C - C.T).max() < 1e-6
    with da.Graph():
        s, v = da.symbols("q", 6), da.symbols("v", 6)
        found = da.evaluate(system.forward_dynamics(s, v, tau), dict(zip([*s, *v], [*q[0], *qd[0]])))
        assert np.allclose(np.array(found, float), qdd[0], rtol=1e-10)


def test_models_differ_by_one_over_the_gear_ratio():
    """S / B = 1 / r: the link's accelerations of the two models approach each other as gears grow with r^2 I_m held."""
    robot, _ = robot_and_its_rotors()
    q, qd = RNG.standard_normal((2, 6))
    gaps = []
    for r in (10.0, 100.0, 1000.0):
        m = robot.replace({f"q{k}.gear_ratio": r for k in range(3)} | {f"q{k}.rotor_inertia": 0.5 / r**2 for k in range(3)})
        full, reduced = (lagrange.flexible_joints(m, K, model=x).forward_dynamics(q, qd, [1, 2, 3]) for x in ("full", "reduced"))
        gaps.append(np.abs(full - reduced).max())
    assert gaps[0] / gaps[1] == pytest.approx(10, rel=0.2) and gaps[1] / gaps[2] == pytest.approx(10, rel=0.02)


def test_eigenfrequency_of_one_flexible_joint_and_its_rest():
    """Link J and motor B on a spring, no gravity: w^2 = K (1/J + 1/B); with gravity the spring holds its load."""
    link = da.Body("link", 2, (0.3, 0, 0), (0, 0, 0.1, 0, 0, 0.1))
    joint = da.Joint("q", da.Revolute((0, -1, 0)), "base", "link", rotor_inertia=1e-4, gear_ratio=50)
    m = da.Mechanism("one", [da.Body("base"), link], [joint], gravity=(0, 0, 0))
    system = lagrange.flexible_joints(m, {"q": 400.0})
    J, B = 0.1 + 2 * 0.09, 0.25
    stiffness = np.array([[400.0, -400.0], [-400.0, 400.0]])
    w2 = np.linalg.eigvals(np.linalg.solve(system.mass_matrix([0, 0]), stiffness)).max()
    assert w2 == pytest.approx(400 * (1 / J + 1 / B))
    heavy = lagrange.flexible_joints(da.Mechanism("one", [da.Body("base"), link], [joint]), 400.0)
    rest = heavy.at_rest([0.2])
    load = 2 * 9.81 * 0.3 * np.cos(0.2)
    assert rest == pytest.approx([0.2, 0.2 + load / 400])
    assert heavy.forward_dynamics(rest, [0, 0], [load]) == pytest.approx([0, 0], abs=1e-12)
    assert heavy.coordinate_names == ("q", "q.motor") and heavy.velocity_names == ("q", "q.motor")
    assert heavy.spring_force(rest, [0, 0]) == pytest.approx([load])


def test_a_stiff_joint_moves_as_the_rigid_one():
    """Springs 100 times stiffer: the distance from the rigid motion shrinks as 1/K."""
    robot, _ = robot_and_its_rotors()

    def end(rates, x):
        done = solve_ivp(rates, (0, 0.3), x, method="DOP853", rtol=1e-10, atol=1e-12)
        assert done.success
        return done.y[:3, -1]

    tau, start = np.array([1.0, -0.5, 0.3]), np.array([0.1, 0.2, -0.3])
    dynamics = da.compile(robot)
    rigid = end(lambda t, x: [*x[3:], *dynamics.forward_dynamics(x[:3], x[3:], tau)], [*start, 0, 0, 0])
    gaps = []
    for k in (1e3, 1e5):
        system = lagrange.flexible_joints(robot, k, 2e-4 * k)
        compiled = da.function(lambda q, qd, s=system: s.forward_dynamics(q, qd, tau), q=(6,), qd=(6,))
        x = end(lambda t, x, f=compiled: [*x[6:], *f(x[:6], x[6:])], [*system.at_rest(start), *np.zeros(6)])
        gaps.append(np.abs(x - rigid).max())
    assert gaps[1] < 0.05 * gaps[0] < 0.05


def test_parts_of_a_robot_may_be_flexible_and_numbers_symbols():
    robot, _ = robot_and_its_rotors()
    system = lagrange.flexible_joints(robot, [100.0], joints=["q1"], model="full")
    assert system.coordinate_names == ("q0", "q1", "q2", "q1.motor")
    q, qd = RNG.standard_normal((2, 4))
    qdd = system.forward_dynamics(q, qd, [1, 2, 3])
    forces = system.inverse_dynamics(q, qd, qdd)
    assert forces == pytest.approx([1, 0, 3, 2], abs=1e-11)
    assert system.mass_matrix(q)[0, 0] == pytest.approx(da.mass_matrix(robot, q[:3])[0, 0])     # its rotor rides along
    with da.Graph():
        k = da.symbol("k")
        symbolic = lagrange.flexible_joints(robot, [k], joints=["q1"], model="full")
        found = np.array(da.evaluate(symbolic.forward_dynamics(q, qd, [1, 2, 3]), {k: 100.0}), float)
        assert np.allclose(found, qdd, rtol=1e-11)


@pytest.mark.parametrize("call, error, message", [
    (lambda m: lagrange.flexible_joints(m, 1.0, model="ful"), da.UnknownNameError, "Did you mean 'full'"),
    (lambda m: lagrange.flexible_joints(m, [1.0, 2.0]), da.ShapeError, "stiffness has 2 entries, expected 3: q0, q1, q2"),
    (lambda m: lagrange.flexible_joints(m, {"q0": 1.0}), da.DalembertError, "no value for the flexible joint 'q1'"),
    (lambda m: lagrange.flexible_joints(m, {"q9": 1.0}), da.UnknownNameError, "unknown flexible joint in stiffness 'q9'"),
    (lambda m: lagrange.flexible_joints(m, 0.0), da.DalembertError, "joint 'q0': the stiffness of a flexible joint is 0.0"),
    (lambda m: lagrange.flexible_joints(da.planar_chain(2), 1.0), da.DalembertError, "has no joint with a rotor inertia"),
    (lambda m: lagrange.flexible_joints(da.planar_chain(2), 1.0, joints=["q1"]), da.DalembertError, "'q1': the rotor inertia"),
    (lambda m: lagrange.flexible_joints(da.planar_chain(2).floating(), 1.0, joints=["base"]), da.UnknownNameError, "joint"),
    (lambda m: lagrange.flexible_joints(m, 1.0).mass_matrix([1, 2, 3]), da.ShapeError, r"q has shape \(3,\), expected \(6,\)"),
])
def test_faults_of_flexible_joints_are_errors(call, error, message):
    with warnings.catch_warnings(), pytest.raises(error, match=message):
        call(robot_and_its_rotors()[0])
