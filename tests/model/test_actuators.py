"""Actuators as data: limits at joints, paths, identity, edits, faults and doubts."""

import pickle

import numpy as np
import pytest

import dalembert as da
from geared_rotors import geared

MOTOR = da.Actuator("motor2", "q2", 100, 1e-4, "link1", effort=0.5, velocity=300.0)


def arm(*motors):
    return da.planar_chain(2).with_actuators(*motors or (MOTOR,))


def test_limits_are_the_smaller_of_joint_and_motors():
    joints = tuple(
        da.Joint(j.name, j.type, j.parent, j.child, j.origin, da.Limits(velocity=2.0, effort=80)) for j in da.planar_chain(2).joints)
    twice = [MOTOR, da.Actuator("second", "q2", -10, effort=1.0)]
    limited = da.Mechanism("arm", da.planar_chain(2).bodies, joints).with_actuators(*twice)
    np.testing.assert_array_equal(da.effort_limits(limited), [80, 60])
    np.testing.assert_array_equal(da.velocity_limits(limited), [2, 2])
    unlimited = limited.with_actuators(da.Actuator("third", "q2"))
    np.testing.assert_array_equal(da.effort_limits(unlimited), [80, 80])
    np.testing.assert_array_equal(da.effort_limits(limited.without("limits")), [np.inf, np.inf])
    np.testing.assert_array_equal(da.velocity_limits(arm()), [np.inf, 3])


def test_limits_of_a_follower_bound_its_leader():
    finger = da.Joint("tip", da.Revolute(), "link2", "nail", limits=da.Limits(velocity=1.0, effort=3), mimic=da.Mimic("q2", -2))
    chain = da.planar_chain(2)
    hand = da.Mechanism("hand", (*chain.bodies, da.Body("nail", 0.1)), (*chain.joints, finger))
    hand = hand.with_actuators(da.Actuator("motor", "tip", 5, effort=1.0))
    np.testing.assert_array_equal(da.velocity_limits(hand), [np.inf, 0.5])
    np.testing.assert_array_equal(da.effort_limits(hand), [np.inf, 10])


def test_numbers_have_paths_and_tell_mechanisms_apart():
    assert arm().replace({"motor2.rotor_inertia": 2e-4}).number("motor2.rotor_inertia") == 2e-4
    symbolic = arm().replace({"motor2.gear_ratio": da.symbol("n")})
    assert symbolic.symbols == ("n",) and symbolic.replace({"n": 100}) == arm()
    identities = {arm().identity(), arm().replace({"motor2.gear_ratio": 99}).identity(), da.planar_chain(2).identity()}
    assert len(identities) == 3
    stronger = arm(da.Actuator("motor2", "q2", 100, 1e-4, "link1", effort=5))
    assert stronger.identity() == arm().identity() and stronger != arm()      # no equation knows limits
    assert pickle.loads(pickle.dumps(arm())) == arm()


def test_edits_keep_actuators_or_lock_their_rotors():
    assert arm().lock({"q2": 0.3}).actuators == ()
    assert arm().lock(["q1"]).actuators == arm().floating().actuators == (MOTOR,)
    assert arm().without("actuators") == da.planar_chain(2)
    np.testing.assert_array_equal(da.mass_matrix(arm().without("rotors"), [0, 1]), da.mass_matrix(da.planar_chain(2), [0, 1]))
    both = arm().attach(arm(), "link2", name="second")
    assert [(a.name, a.joint, a.body) for a in both.actuators][1] == ("second_motor2", "second_q2", "second_link1")
    mechanism, _ = geared()
    names = mechanism.coordinate_names
    held = mechanism.lock({"a": 0.2})
    q = np.array([0.2, 0.1, -0.4, 0.5])
    M = da.mass_matrix(mechanism, q)[1:, 1:]
    assert names[0] == "a"
    np.testing.assert_allclose(da.mass_matrix(held, q[1:]), M, atol=1e-13)


def test_motors_move_behind_transmissions_with_their_joints():
    flexible = arm().with_flexible_joints({"q2": 500.0})
    assert [(a.name, a.joint) for a in flexible.actuators] == [("motor2", "q2.motor")]
    coupled = da.mass_matrix(flexible, [0, 0, 0])
    np.testing.assert_allclose(coupled[[0, 2], 2], [100 * 1e-4, 100**2 * 1e-4])      # Spong's model without its simplification
    np.testing.assert_array_equal(da.effort_limits(flexible), [np.inf, np.inf, 50])


def test_a_rotor_on_the_child_of_its_joint_stays_there_behind_a_transmission():
    motor = da.Actuator("m", "q2", 8, 1e-3, "link2")
    M = da.mass_matrix(arm(motor).with_flexible_joints({"q2": 500.0}), [0.3, 0.7, 0.2])
    plain = da.mass_matrix(da.planar_chain(2), [0.3, 0.7])
    np.testing.assert_allclose(M, np.block([[plain, np.full((2, 1), 8e-3)], [np.full((1, 2), 8e-3), 8**2 * 1e-3]]), atol=1e-14)


def test_rotors_behind_springs_are_the_full_model_of_flexible_joints():
    chain = da.planar_chain(2)
    numbers = {f"q{k}.{name}": x for k in (1, 2) for name, x in (("rotor_inertia", 2e-4), ("gear_ratio", 20))}
    full = da.lagrange.flexible_joints(chain.replace(numbers), 500.0, model="full")
    motors = [da.Actuator(f"m{k}", f"q{k}", 20, 2e-4, body) for k, body in ((1, "base"), (2, "link1"))]
    flexible = chain.with_actuators(*motors).with_flexible_joints({"q1": 500.0, "q2": 500.0})
    q, qd, qdd = np.random.default_rng(4).standard_normal((3, 4))
    np.testing.assert_allclose(da.mass_matrix(flexible, q), full.mass_matrix(q), atol=1e-14)
    np.testing.assert_allclose(da.inverse_dynamics(flexible, q, qd, qdd), full.inverse_dynamics(q, qd, qdd), atol=1e-12)


FAULTS = {
    "joint 'q3', which does not exist": da.Actuator("m", "q3"),
    "body 'link3', which does not exist": da.Actuator("m", "q1", body="link3"),
    "a joint has the same name": da.Actuator("q1", "q1"),
    "gear_ratio is 0": da.Actuator("m", "q1", 0),
    "rotor_inertia is -1, below 0": da.Actuator("m", "q1", 1, -1),
    "effort is -2, below 0": da.Actuator("m", "q1", effort=-2),
    "axis has length 0": da.Actuator("m", "q1", axis=(0, 0, 0)),
    "does not connect": da.Actuator("m", "q2", body="base"),
    "name is used 2 times": MOTOR,
}


@pytest.mark.parametrize("message", FAULTS)
def test_faults_say_which_actuator(message):
    with pytest.raises(da.ModelError, match=message):
        arm(MOTOR, FAULTS[message])


def test_an_actuator_needs_a_joint_with_a_single_coordinate():
    with pytest.raises(da.ModelError, match="root_joint' is free, with several coordinates"):
        da.planar_chain(1).floating().with_actuators(da.Actuator("m", "root_joint"))
    mounted = da.planar_chain(1).attach(da.Body("box", 1), "link1")
    with pytest.raises(da.ModelError, match="box_mount' is fixed"):
        mounted.with_actuators(da.Actuator("m", "box_mount"))


def test_rotors_that_count_twice_or_are_too_heavy_are_doubtful():
    with pytest.warns(da.DalembertWarning, match="both count"):
        arm().replace({"q2.rotor_inertia": 1e-3})
    with pytest.warns(da.DalembertWarning, match="rotor has 1 kg m.2 about its axis, more than the body 'link1'"):
        arm().replace({"motor2.rotor_inertia": 1})


def test_a_motor_gives_a_body_without_mass_its_motion():
    bare = da.Mechanism("shaft", (da.Body("base"), da.Body("shaft")), (da.Joint("turn", da.Revolute(), "base", "shaft"),), actuators=(da.Actuator("m", "turn", 10, 0.01),))
    assert da.forward_dynamics(bare, [0], [0], [2.0]) == [2.0]
