"""Flexible joints inside any mechanism: against Spong's model on its own, closed forms, and every formulation."""

import pickle
from importlib import import_module

import numpy as np
import pytest
import sympy

import dalembert as da
from dalembert.readers.toml import read_toml, write_toml

STIFFNESS = {"q1": 500.0, "q2": 400.0, "q3": 300.0}
BEAM = da.Beam(1.0, EIy=120.0, mass_per_length=0.25, damping=da.Rayleigh(stiffness=1e-3))


def geared(n=3):
    numbers = {f"q{k}.{name}": x for k in range(1, n + 1) for name, x in (("rotor_inertia", k * 1e-4), ("gear_ratio", 100), ("viscous", 0.3), ("stiffness", 7.0 * k))}
    return da.planar_chain(n).replace(numbers)


def flexible_arm():
    return geared().with_flexible_joints(STIFFNESS, damping=0.5)


def both(seed=0):
    """The mechanism and Spong's model on its own, with a state."""
    mechanism, reference = flexible_arm(), da.lagrange.flexible_joints(geared(), STIFFNESS, 0.5)
    return mechanism, reference, *np.random.default_rng(seed).standard_normal((3, 6))


def test_names_are_those_of_flexible_joints_on_their_own():
    mechanism, reference, *_ = both()
    assert mechanism.coordinate_names == reference.coordinate_names == ("q1", "q2", "q3", "q1.motor", "q2.motor", "q3.motor")
    assert mechanism.check() == []


def test_equations_are_those_of_flexible_joints_on_their_own():
    mechanism, reference, q, qd, qdd = both()
    tau = np.array([2.0, -1.0, 0.5])
    np.testing.assert_allclose(da.mass_matrix(mechanism, q), reference.mass_matrix(q), atol=1e-14)
    np.testing.assert_allclose(da.coriolis_matrix(mechanism, q, qd), reference.coriolis_matrix(q, qd), atol=1e-14)
    np.testing.assert_allclose(da.gravity_vector(mechanism, q), reference.gravity_vector(q), atol=1e-13)
    np.testing.assert_allclose(da.inverse_dynamics(mechanism, q, qd, qdd), reference.inverse_dynamics(q, qd, qdd), atol=1e-12)
    accelerations = reference.forward_dynamics(q, qd, tau)
    np.testing.assert_allclose(da.forward_dynamics(mechanism, q, qd, [0, 0, 0, *tau]), accelerations, atol=1e-13 * abs(accelerations).max())
    np.testing.assert_allclose(da.potential_energy(mechanism, q), reference.potential_energy(q), rtol=1e-14)
    np.testing.assert_allclose(da.kinetic_energy(mechanism, q, qd), reference.kinetic_energy(q, qd), rtol=1e-14)


@pytest.mark.parametrize("formulation", ["lagrange", "hamilton", "elementary_motions"])
def test_formulations_agree(formulation):
    mechanism, _, q, qd, qdd = both(1)
    module = import_module(f"dalembert.formulations.{formulation}")
    tau = da.inverse_dynamics(mechanism, q, qd, qdd)
    if formulation == "hamilton":
        p = module.momenta(mechanism, q, qd)
        rate = module.momentum_rate(mechanism, q, qd, p)
        step = 1e-6
        moved = [da.momenta(mechanism, q + s * qd, qd + s * qdd) for s in (step, -step)]
        np.testing.assert_allclose(rate + tau, (moved[0] - moved[1]) / (2 * step), atol=1e-6)
        return
    np.testing.assert_allclose(module.forward_dynamics(mechanism, q, qd, tau), qdd, atol=1e-10)


def test_compiled_code_and_derivatives_equal_plain_functions():
    mechanism, _, q, qd, qdd = both(2)
    dynamics = da.compile(mechanism)
    tau = da.inverse_dynamics(mechanism, q, qd, qdd)
    np.testing.assert_allclose(dynamics.inverse_dynamics(q, qd, qdd), tau, atol=1e-12)
    np.testing.assert_allclose(dynamics.forward_dynamics(q, qd, tau), qdd, atol=1e-10)
    exact = da.forward_dynamics_derivatives(mechanism, q, qd, tau)
    for found, f, x in ((exact.dqdd_dq, lambda q: da.forward_dynamics(mechanism, q, qd, tau), q), (exact.dqdd_dqd, lambda qd: da.forward_dynamics(mechanism, q, qd, tau), qd)):
        differences = np.array([(f(x + 1e-6 * e) - f(x - 1e-6 * e)) / 2e-6 for e in np.eye(6)]).T
        np.testing.assert_allclose(found, differences, atol=1e-8 * abs(found).max())


def test_a_pair_of_inertias_swings_at_the_closed_form():
    """Link and rotor alone on the spring: omega^2 = k (1/J + 1/B), and the motor locked: omega^2 = k / J."""
    link = da.Body("link", 1.0, (0, 0, 0), (0, 0, 0, 0, 0, 2.0))
    wheel = da.Mechanism("wheel", [da.Body("base"), link], [da.Joint("hinge", da.Revolute((0, 0, 1)), "base", "link", rotor_inertia=5e-3, gear_ratio=10)])
    flexible = wheel.with_flexible_joints({"hinge": 60.0})
    A = da.linearize(flexible, [0.0, 0.0], [0.0, 0.0], [0.0, 0.0]).A
    np.testing.assert_allclose(sorted(abs(np.linalg.eigvals(A).imag))[-1], np.sqrt(60.0 * (1 / 2.0 + 1 / 0.5)), rtol=1e-9)
    braked = flexible.lock("hinge.motor")
    A = da.linearize(braked, [0.0], [0.0], [0.0]).A
    np.testing.assert_allclose(abs(np.linalg.eigvals(A).imag), np.sqrt(30.0), rtol=1e-9)


def test_energy_lost_in_a_run_is_that_of_the_damper():
    mechanism = geared(1).with_flexible_joints({"q1": 500.0}, damping=2.0).replace({"q1.viscous": 0.0})
    run = da.simulate(mechanism, [0.2, 0.0], [0.0, 0.0], np.linspace(0, 0.5, 1001), method="dop853", rtol=1e-10)
    energy = [da.kinetic_energy(mechanism, q, qd) + da.potential_energy(mechanism, q) for q, qd in zip(run.q, run.qd, strict=True)]
    power = 2.0 * (run.qd[:, 0] - run.qd[:, 1]) ** 2
    lost = np.sum((power[1:] + power[:-1]) / 2 * np.diff(run.times))
    np.testing.assert_allclose(energy[0] - energy[-1], lost, rtol=1e-4)


def test_locked_ends_leave_a_spring():
    mechanism = geared(2).with_flexible_joints({"q2": 400.0}, damping=0.5)
    q, qd, tau = np.array([0.3, 0.7]), np.array([0.4, -0.2]), np.array([1.0, 2.0])
    braked = mechanism.lock({"q2.motor": 0.1})
    found = da.inverse_dynamics(braked, q, qd, tau)
    np.testing.assert_allclose(found, da.inverse_dynamics(mechanism, [*q, 0.1], [*qd, 0.0], [*tau, 0.0])[:2], atol=1e-12)
    fixed = mechanism.lock({"q2": 0.1})
    found = da.inverse_dynamics(fixed, q, qd, tau)
    np.testing.assert_allclose(found, da.inverse_dynamics(mechanism, [q[0], 0.1, q[1]], [qd[0], 0.0, qd[1]], [tau[0], 0.0, tau[1]])[[0, 2]], atol=1e-12)
    assert mechanism.lock(["q2", "q2.motor"]).coordinate_names == ("q1",)


def test_rigid_transmissions_give_the_mechanism_back():
    rigid, before = flexible_arm().without("elasticity"), geared()
    assert rigid.coordinate_names == before.coordinate_names
    q, qd, qdd = np.random.default_rng(0).standard_normal((3, 3))
    np.testing.assert_allclose(da.inverse_dynamics(rigid, q, qd, qdd), da.inverse_dynamics(before, q, qd, qdd), atol=1e-12)
    np.testing.assert_allclose(da.forward_dynamics(rigid, q, qd, qdd), da.forward_dynamics(before, q, qd, qdd), atol=1e-11)
    with pytest.raises(da.ModelError, match=r"motors of flexible joints \(q1, q2, q3\) have no motion without"):
        flexible_arm().without("rotors")
    assert flexible_arm().without("elasticity", "rotors").coordinate_names == before.coordinate_names


def test_limits_friction_and_drives_stand_where_they_act():
    arm = da.planar_chain(1).replace({"q1.rotor_inertia": 1e-4})
    limited = da.Mechanism("arm", arm.bodies, [da.Joint("q1", arm.joint("q1").type, "base", "link1", limits=da.Limits(-1, 2, 3, 80), coulomb=0.4, rotor_inertia=1e-4)])
    flexible = limited.constrained(actuated=["q1"]).with_flexible_joints({"q1": 500.0})
    link, motor = flexible.joint("q1"), flexible.joint("q1.motor")
    assert (link.limits.lower, link.limits.effort, link.coulomb) == ((-1,), None, (0.4,))
    assert (motor.limits.lower, motor.limits.velocity, motor.limits.effort, motor.coulomb) == (None, (3,), (80,), (0,))
    np.testing.assert_array_equal(da.controllers.effort_limits(flexible), [np.inf, 80])
    assert flexible.actuated == ("q1.motor",) and flexible.without("elasticity").actuated == ("q1",)


def test_numbers_have_paths_and_tell_mechanisms_apart():
    mechanism = flexible_arm()
    stiffer = mechanism.replace({"q2.transmission_stiffness": 900.0, "q1.transmission_damping": 0.0})
    assert stiffer.joint("q2").transmission == da.Transmission("q2.motor", 900.0, 0.5) and stiffer.number("q1.transmission_damping") == 0.0
    others = [stiffer, mechanism.replace({"q2.motor.rotor_inertia": 1e-3}), geared(), geared().with_flexible_joints({"q1": 500.0}, 0.5)]
    identities = [m.identity() for m in (mechanism, *others)]
    assert None not in identities and len({*identities}) == 5
    assert pickle.loads(pickle.dumps(mechanism)) == mechanism
    symbolic = geared(1).with_flexible_joints({"q1": da.symbol("k")})
    assert symbolic.symbols == ("k",) and symbolic.replace({"k": 500.0}).number("q1.transmission_stiffness") == 500.0


def test_closed_forms_have_the_spring():
    k, J = da.symbols("k J")
    flexible = da.planar_chain(1).replace({"q1.rotor_inertia": J}).with_flexible_joints({"q1": k}, damping=da.symbol("d"))
    equations = da.equations(flexible)
    q1, q2, qd1, qd2, k, d = sympy.symbols("q1 q2 qd1 qd2 k d")
    force = sympy.sympify(str(equations.entries("passive_force")[0]))
    assert sympy.simplify(force - k * (q2 - q1) - d * (qd2 - qd1)) == 0


def test_elastic_links_flexible_joints_and_a_loop_in_one_mechanism():
    chain = geared(2).without("springs").elastic({"link1": BEAM, "link2": BEAM}, {"bend_z": 1}).with_flexible_joints({"q1": 500.0, "q2": 300.0}, 0.2)
    assert chain.coordinate_names == ("q1", "q2", "q1.motor", "q2.motor", "link1.bend_z1", "link2.bend_z1")
    q, qd = chain.random_state(0)
    qdd = np.linspace(-1, 1, 6)
    tau = da.inverse_dynamics(chain, q, qd, qdd)
    np.testing.assert_allclose(da.forward_dynamics(chain, q, qd, tau), qdd, atol=1e-8)
    np.testing.assert_allclose(da.compile(chain).forward_dynamics(q, qd, tau), qdd, atol=1e-8)
    rod = chain.constrained(da.constraints.Distance("rod", "tip", ("base", (2.0, 0, 1.0)), 1.5))
    q = da.assemble(rod, [0.1, 0.5, 0.1, 0.5, 0.0, 0.0])
    rest, drive = np.zeros(6), np.array([0, 0, 3.0, -1.0, 0, 0])
    qdd = da.forward_dynamics(rod, q, rest, drive)
    J = da.constraint_jacobian(rod, q)
    np.testing.assert_allclose(J @ qdd, 0, atol=1e-9)
    np.testing.assert_allclose(da.inverse_dynamics(chain, q, rest, qdd) - drive, J.T @ da.multipliers(rod, q, rest, drive), atol=1e-9)


def test_an_attached_arm_takes_its_motors_along():
    cart = da.Mechanism("cart", [da.Body("rail"), da.Body("cart", 3, (0, 0, 0), (1, 0, 1, 0, 0, 1))], [da.Joint("slide", da.Prismatic((1, 0, 0)), "rail", "cart")])
    joined = cart.attach(geared(1).with_flexible_joints({"q1": 500.0}), "cart", name="left")
    assert joined.joint("left_q1").transmission.motor == "left_q1.motor" and joined.nq == 3
    assert flexible_arm().floating().joint("q1").transmission.motor == "q1.motor"


def test_pd_on_the_motor_holds_a_bent_arm_on_a_flexible_joint():
    arm = geared(1).without("springs").elastic({"link1": BEAM}, {"bend_z": 2}).with_flexible_joints({"q1": 50.0}, 0.5)
    control = da.controllers.ElasticPD(arm, [0.0, 0.4], K_p=[0.0, 80.0], K_d=[0.0, 8.0])
    q = control.q_equilibrium
    tau = control(0.0, q, np.zeros(4))
    assert abs(tau[0]) < 1e-12 and q[1] == 0.4 and q[0] < 0.4      # it sags on the spring
    np.testing.assert_allclose(da.inverse_dynamics(arm, q, np.zeros(4), np.zeros(4)), tau, atol=1e-10)
    with pytest.raises(da.ModelError, match="gains of joint 'q1' are not 0"):
        da.controllers.ElasticPD(arm, [0.0, 0.4], K_p=80.0, K_d=8.0)


def test_static_deflection_winds_the_springs():
    """Of the motors held; the moment of the springs is that of the weight."""
    arm = geared(2).without("springs").with_flexible_joints({"q1": 500.0, "q2": 400.0})
    found = da.static_deflection(arm, [0.0, 0.0, 0.2, -0.3])
    wound = found.q[2:] - found.q[:2]
    np.testing.assert_allclose(np.array([500.0, 400.0]) * wound, da.gravity_vector(arm, found.q)[:2], rtol=1e-9)
    np.testing.assert_allclose(found.tau, [0, 0, *da.gravity_vector(arm, found.q)[:2]], atol=1e-8)


# --- files ---

SHORT = """\
[[body]]
name = "base"
[[body]]
name = "rod"
mass = 1
inertia = { xx = 0, yy = 0.1, zz = 0.1 }
[[joint]]
name = "hinge"
type = "revolute"
parent = "base"
child = "rod"
axis = [0, 1, 0]
rotor_inertia = 1e-4
gear_ratio = 100
transmission = { stiffness = 500, damping = "d" }
"""


def test_files_name_the_motor_or_leave_it_to_the_reader():
    mechanism = read_toml(SHORT)
    assert mechanism.coordinate_names == ("hinge", "hinge.motor") and mechanism.symbols == ("d",)
    rigid = read_toml(SHORT.replace("transmission = { stiffness = 500, damping = \"d\" }", ""))
    with mechanism._graph:
        assert rigid.with_flexible_joints({"hinge": 500}, da.symbol("d")) == mechanism
        assert "transmission = { motor = \"hinge.motor\", stiffness = 500, damping = \"d\" }" in write_toml(mechanism)
        assert read_toml(write_toml(mechanism)) == mechanism
    assert read_toml(write_toml(flexible_arm())) == flexible_arm()


@pytest.mark.parametrize(("old", "new", "message"), [
    ("stiffness = 500", "stiffness = 0", "stiffness of its transmission is 0, not above 0"),
    ("stiffness = 500", "stiffness = -5", "stiffness of its transmission is -5, not above 0"),
    ('damping = "d"', "damping = -1", "damping of its transmission is -1, below 0"),
    ("stiffness = 500, ", "", r"line 15: .*transmission: the key 'stiffness' is missing"),
    ("stiffness = 500", "stiffness = nan", "line 15: .*'nan' is not a decimal"),
    ("stiffness = 500", "stifness = 500", r"line 15: .*unknown key 'stifness' .*Did you mean 'stiffness'\?"),
    ("stiffness = 500", 'motor = "hing", stiffness = 500', "names the motor 'hing', which does not exist. Did you mean 'hinge'"),
    ("stiffness = 500", 'motor = "hinge", stiffness = 500', "it is its own motor"),
    ("rotor_inertia = 1e-4", "", "line 15: .*joint 'hinge' has no rotor inertia"),
    ('type = "revolute"', 'type = "planar"', "a flexible joint has one freedom"),
    ('{ stiffness = 500, damping = "d" }', "500", "line 15: .*transmission is 500; expected a table"),
])
def test_faults_of_transmissions_are_named(old, new, message):
    with pytest.raises(da.ModelError, match=message):
        read_toml(SHORT.replace(old, new), "arm.toml")


def test_joints_of_a_urdf_file_are_declared_flexible_beside_it():
    urdf = ('<robot name="arm"><link name="base"/><link name="rod"><inertial><mass value="1"/><inertia ixx="0.1" ixy="0" ixz="0" iyy="0.1" iyz="0" izz="0.1"/>'
            '</inertial></link><joint name="hinge" type="continuous"><parent link="base"/><child link="rod"/></joint></robot>')
    beside = '[[joint]]\nname = "hinge"\nrotor_inertia = 1e-4\ngear_ratio = 100\ntransmission = { stiffness = 500 }\n'
    arm = da.load(urdf, constraints=beside)
    assert arm.coordinate_names == ("hinge", "hinge.motor") and arm.joint("hinge.motor").gear_ratio == (100,)
    for old, new, message in (('"hinge"', '"hing"', "line 2: .*unknown name 'hing'"), ("gear_ratio", "gear", "line 4: .*unknown key 'gear' for a joint of the robot file"),
                              ("stiffness = 500", 'stiffness = 500, motor = "m"', "line 5: .*leave out the key 'motor'"),
                              ("transmission = { stiffness = 500 }", "", "the key 'transmission' is missing"),
                              ("rotor_inertia = 1e-4", "", "no rotor inertia")):
        with pytest.raises(da.ModelError, match=message):
            da.load(urdf, constraints=beside.replace(old, new))


@pytest.mark.parametrize(("change", "message"), [
    (lambda m: m.with_flexible_joints({"q1": 1.0}), "joint 'q1' is flexible already"),
    (lambda m: m.with_flexible_joints({"q4": 1.0}), "q4"),
    (lambda m: m.floating().with_flexible_joints({"root_joint": 1.0}), "joint 'root_joint' is free: a flexible joint has one freedom"),
    (lambda m: geared().with_flexible_joints({"q1": 1.0}, {"q2": 1.0}), "flexible joint"),
    (lambda m: geared().with_flexible_joints({"q1": -1.0}), "stiffness of its transmission is -1"),
    (lambda m: da.planar_chain(1).with_flexible_joints({"q1": 1.0}), "no rotor inertia"),
])
def test_drives_that_make_no_sense_are_refused(change, message):
    with pytest.raises(da.DalembertError, match=message):
        change(flexible_arm())
