"""Mechanisms written as URDF read back with the same equations; all that URDF cannot say is in one warning."""

import warnings
from dataclasses import replace

import numpy as np
import pytest

import dalembert as da

KINDS = ("fixed", "revolute", "continuous", "prismatic", "helical", "cylindrical", "universal", "planar", "free", "follower")
TOLERANCE = 1e-13      # of the largest entry: decimals are exact, products are formed in another order


def written(mechanism, tmp_path, lossless=False, name="robot.urdf"):
    """The mechanism after it was written and read."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        da.save(mechanism, tmp_path / name, strict=lossless)
        return da.load(tmp_path / name)


def same_equations(back, mechanism, passive=True):
    assert back.coordinate_names == mechanism.coordinate_names
    q, qd = mechanism.random_state(1)
    pairs = [(f(back, *state), f(mechanism, *state))
             for f, state in ((da.mass_matrix, (q,)), (da.bias_force, (q, qd)), (da.passive_force, (q, qd)))[:2 + passive]]
    pairs += [(da.placement(back, q, name), da.placement(mechanism, q, name)) for name in mechanism.frame_names]
    for ours, theirs in pairs:
        assert np.abs(ours - theirs).max(initial=0) <= TOLERANCE * max(1, np.abs(theirs).max(initial=0))


@pytest.mark.parametrize("seed", range(4))
def test_random_trees_keep_their_equations(seed, tmp_path):
    tree = da.random_tree(seed, 9, KINDS).without("springs", "rotors").replace(gravity=(0, 0, -9.81))
    alike = tuple(replace(j, viscous=j.viscous[0], coulomb=j.coulomb[0]) if j.type.nv else j for j in tree.joints)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        tree = replace(tree, joints=alike)
    same_equations(written(tree, tmp_path, lossless=True), tree)


@pytest.mark.parametrize("robot", ["panda", "kinova", "stanford_arm", "solo12"])
def test_robots_keep_their_equations_their_limits_and_the_texts_of_their_numbers(robot, tmp_path):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        arm = da.load(robot)
    back = written(arm, tmp_path, lossless=True)
    assert back == arm
    same_equations(back, arm)
    assert [repr(x) for x in back.values() if x != 0] == [repr(x) for x in arm.values() if x != 0]


def test_what_urdf_cannot_say_is_one_warning_with_names(tmp_path):
    arm = da.planar_chain(2, gravity=(0, -9.81, 0)).replace({"q1.stiffness": 3, "q2.rotor_inertia": 1e-4})
    arm = arm.constrained(da.constraints.Closure("pin", da.Spherical(), "tip", "base"))
    with pytest.warns(da.DalembertWarning) as caught:
        da.save(arm, tmp_path / "arm.urdf")
    message, = (str(w.message) for w in caught)
    for part in ("constraints", "'pin'", "springs of joints ('q1')", "rotors of joints ('q2')", ".replace(gravity=(0, -9.81, 0))", ".toml"):
        assert part in message
    with pytest.raises(da.ReadError, match="springs"):
        da.save(arm, tmp_path / "not.urdf", strict=True)
    assert not (tmp_path / "not.urdf").exists()


@pytest.mark.parametrize("limits, kind", [(da.Limits(), "continuous"), (da.Limits(upper=2), "revolute"), (da.Limits(-1, 2, effort=3), "revolute")])
def test_limits_that_are_not_there_stay_away(limits, kind, tmp_path):
    hinge, slide = (da.Joint(f"j{k}", t, "base", f"b{k}", limits=limits) for k, t in enumerate((da.Revolute(), da.Prismatic())))
    bodies = (da.Body("base"), *(da.Body(f"b{k}", 1, inertia=(1, 0, 1, 0, 0, 1)) for k in (0, 1)))
    back = written(da.Mechanism("m", bodies, (hinge, slide)), tmp_path, lossless=True)
    assert [j.limits for j in back.joints] == [j.limits for j in (hinge, slide)] and back.joints[0].type.name == kind
    assert not [f for f in back.check() if f.severity != "note"]


def test_names_are_escaped_and_those_that_xml_cannot_hold_are_refused(tmp_path):
    arm = da.planar_chain(1)
    named = replace(arm, name='<a> & "b"\n\'c\'', frames=(da.Frame("q1", "link1"), da.Frame("плечо <&>", "link1")))
    back = written(named, tmp_path)
    assert back.name == named.name and back.frame_names == named.frame_names
    with pytest.raises(da.ReadError, match="cannot hold"):
        da.save(replace(arm, name="a\x07b"), tmp_path / "bell.urdf")


def test_joints_and_numbers_that_urdf_has_not_are_refused(tmp_path):
    with pytest.raises(da.ReadError, match="URDF has no spherical joint"):
        da.save(da.random_tree(1, 1, "spherical"), tmp_path / "ball.urdf")
    with pytest.raises(da.ReadError, match="symbols .m."):
        da.save(da.planar_chain(1, mass=da.symbol("m")), tmp_path / "symbols.urdf")
    with pytest.raises(da.ReadError, match="limits of 'motor' are symbols"):
        da.save(da.planar_chain(1).with_actuators(da.Actuator("motor", "q1", effort=da.symbol("m"))), tmp_path / "symbols.urdf")
    with pytest.raises(da.ReadError, match=r"written as .toml, .urdf"):
        da.save(da.planar_chain(1), tmp_path / "arm.step")


def test_elastic_links_become_rigid_and_say_so(tmp_path):
    arm = da.planar_chain(2, gravity=(0, 0, -9.81)).elastic({"link2": da.Beam(1.0, EIy=120.0, EIz=120.0, mass_per_length=0.25)})
    with pytest.warns(da.DalembertWarning, match="bending of links"):
        da.save(arm, tmp_path / "arm.urdf")
    same_equations(da.load(tmp_path / "arm.urdf"), arm.without("elasticity"))


def test_shapes_are_written(tmp_path):
    shapes = (da.Visual("box", (1, 2, 3), da.Origin((0, 0, 1)), (1, 0, 0, 1)), da.Visual("mesh", (1, 1, 1), mesh="a & b.stl"),
              da.Visual("capsule", (1, 2), seen=False))
    arm = da.planar_chain(1)
    arm = replace(arm, bodies=(arm.bodies[0], replace(arm.bodies[1], visuals=shapes)))
    da.save(arm, tmp_path / "arm.urdf", strict=True)
    assert da.load(tmp_path / "arm.urdf").body("link1").visuals == arm.body("link1").visuals
    text = (tmp_path / "arm.urdf").read_text()
    for part in ('<box size="1 2 3"/>', '<color rgba="1 0 0 1"/>', '<mesh filename="a &amp; b.stl"/>', "<collision>", '<capsule radius="1" length="2"/>'):
        assert part in text


def test_motors_become_transmissions(tmp_path):
    motor = da.Actuator("motor", "q1", gear_ratio=50, rotor_inertia=1e-4)
    arm = da.planar_chain(1, gravity=(0, 0, -9.81)).with_actuators(motor)
    same_equations(written(arm, tmp_path, lossless=True), arm)
    riding = arm.with_actuators(replace(motor, name="other", body="base", axis=(0, 1, 0), effort=3))
    with pytest.warns(da.DalembertWarning, match="carry rotors of actuators .'other'."):
        da.save(riding, tmp_path / "arm.urdf")


@pytest.mark.parametrize("own, efforts, expected", [(None, [3], 150), (100, [3], 100), (200, [3], 150), (None, [3, 2], 250), (70, [3, None], 70)])
def test_limits_of_actuators_are_written_as_those_of_their_joint(own, efforts, expected, tmp_path):
    motors = [da.Actuator(f"m{k}", "q1", gear_ratio=-50, effort=effort, velocity=200) for k, effort in enumerate(efforts)]
    arm = da.planar_chain(1, gravity=(0, 0, -9.81))
    arm = replace(arm, joints=(replace(arm.joint("q1"), limits=da.Limits(effort=own)),), actuators=tuple(motors))
    back = written(arm, tmp_path, lossless=True)
    assert da.effort_limits(back) == da.effort_limits(arm) == [expected] and da.velocity_limits(back) == [4]
