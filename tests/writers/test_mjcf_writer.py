"""Mechanisms written as MJCF have the same equations in MuJoCo, to rounding."""

import warnings
from dataclasses import replace

import numpy as np
import pytest

import dalembert as da

mujoco = pytest.importorskip("mujoco")
KINDS = ("fixed", "revolute", "continuous", "prismatic", "cylindrical", "universal", "planar", "free", "spherical")
TOLERANCE = 1e-12      # of the largest entry; MuJoCo finds principal axes to 1e-12


def in_mujoco(mechanism, tmp_path, strict=False):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        da.save(mechanism, tmp_path / "robot.xml", strict=strict)
    return mujoco.MjModel.from_xml_path(str(tmp_path / "robot.xml"))


def joint_order(model, mechanism):
    """Names of our joints in MuJoCo's order, whose joints have the names of our coordinates."""
    names = [model.joint(k).name for k in range(model.njnt)]
    own = [joint.name for joint in mechanism.joints]
    owners = [name if name in own else next(o for o in own if name.startswith(f"{o}.")) for name in names]
    return list(dict.fromkeys(owners))


def same_equations(model, mechanism):
    """Inverse dynamics, passive forces but for dry friction, and places of frames and bodies."""
    q, qd = mechanism.random_state(1)
    qdd = np.random.default_rng(0).standard_normal(mechanism.nv)
    tau = da.inverse_dynamics(mechanism.without("friction", "springs"), q, qd, qdd)
    smooth = replace(mechanism, joints=tuple(replace(j, coulomb=0, friction=None) for j in mechanism.joints))
    order = joint_order(model, mechanism)
    ours = da.convert.to_mujoco(mechanism, q, qd, qdd, tau, joint_order=order)
    passive = da.convert.to_mujoco(mechanism, q, qd, tau=da.passive_force(smooth, q, qd), joint_order=order).tau
    data = mujoco.MjData(model)
    data.qpos[:], data.qvel[:] = ours.q, ours.qd
    mujoco.mj_forward(model, data)
    M = np.zeros((model.nv, model.nv))
    mujoco.mj_fullM(model, data, M)
    assert np.abs(M @ ours.qdd + data.qfrc_bias - ours.tau).max() <= TOLERANCE * np.abs(ours.tau).max()
    assert np.abs(data.qfrc_passive - passive).max() <= TOLERANCE * max(1, np.abs(passive).max())
    for name in (body.name for body in mechanism.bodies):
        if mujoco.mj_name2id(model, mujoco.mjtObj.mjOBJ_BODY, name) >= 0:
            same_place(data.body(name), da.placement(mechanism, q, name))
    for frame in mechanism.frames:
        same_place(data.site(frame.name), da.placement(mechanism, q, frame.name))


def same_place(found, X):
    assert np.abs(found.xpos - X[:3, 3]).max() < TOLERANCE and np.abs(found.xmat.reshape(3, 3) - X[:3, :3]).max() < TOLERANCE


def uniform(mechanism):
    """The mechanism with the same friction and damping of all freedoms of balls and free joints."""
    joints = (replace(j, viscous=j.viscous[0], coulomb=j.coulomb[0]) if j.type.quaternion_freedoms else j for j in mechanism.joints)
    return replace(mechanism, joints=tuple(joints))


@pytest.mark.parametrize("seed", range(5))
def test_random_trees_have_the_same_equations_in_mujoco(seed, tmp_path):
    tree = uniform(da.random_tree(seed, 9, KINDS))
    same_equations(in_mujoco(tree, tmp_path, strict=True), tree)


@pytest.mark.parametrize("robot", ["ur5", "scara", "g1"])
def test_robots_have_the_same_equations_in_mujoco(robot, tmp_path):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        arm = da.load(robot, base="free" if robot == "g1" else "fixed")
    same_equations(in_mujoco(arm, tmp_path), arm)


def test_bodies_without_mass_come_back_without_a_centre_of_mass(tmp_path):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        da.save(da.load("panda"), tmp_path / "panda.xml")
        back = da.load(tmp_path / "panda.xml")
    assert [f for f in back.check() if f.severity != "note"] == []


def test_joints_of_bodies_without_mass_move_the_next_body(tmp_path):
    """Two massless links, one with a turned link fixed to it, between a base and an arm."""
    twist = da.Origin((0.1, -0.2, 0.3), (("x", 0.4), ("z", -1.1)))
    bodies = tuple(map(da.Body, ("base", "a", "a2", "b"))) + (da.Body("arm", 2, (0.1, 0.2, 0.3), (0.3, 0.01, 0.4, 0.02, 0, 0.5)),)
    joints = (da.Joint("j1", da.Revolute((0, 1, 0)), "base", "a", twist, viscous=0.3, rotor_inertia=0.2), da.Joint("f", da.Fixed(), "a", "a2", twist),
              da.Joint("j2", da.Prismatic((0.6, 0, 0.8)), "a2", "b", twist), da.Joint("j3", da.Universal(), "b", "arm", twist))
    mechanism = da.Mechanism("m", bodies, joints, (da.Frame("tool", "arm", twist),))
    with pytest.warns(da.DalembertWarning, match=r"bodies without mass, whose joints are of the next body \('a', 'a2', 'b'\)"):
        da.save(mechanism, tmp_path / "robot.xml")
    same_equations(mujoco.MjModel.from_xml_path(str(tmp_path / "robot.xml")), mechanism)


def test_thin_rods_and_points_are_taken(tmp_path):
    """Moments of 0, at the border of the possible, along axes and oblique."""
    chain = da.planar_chain(3)
    same_equations(in_mujoco(chain, tmp_path, strict=True), chain)
    R = da.Origin((0, 0, 0), (("x", 0.4), ("z", -1.1))).transform(float).R
    from dalembert.spatial.vectors import Matrix
    (xx, xy, xz), (_, yy, yz), (_, _, zz) = R.conjugate_symmetric(Matrix.diagonal(0.0, 0.2, 0.2))
    oblique = replace(chain, bodies=(*chain.bodies[:-1], replace(chain.bodies[-1], inertia=(xx, xy, yy, xz, yz, zz))))
    same_equations(in_mujoco(oblique, tmp_path, strict=True), oblique)


@pytest.mark.filterwarnings("ignore::dalembert.DalembertWarning")
def test_bodies_that_mujoco_refuses_are_named(tmp_path):
    chain = da.planar_chain(2)
    with pytest.raises(da.ReadError, match=r"'link1': no distribution .* mechanism.repaired\(\)"):
        da.save(chain.replace({"link1.inertia[0,0]": 1}), tmp_path / "a.xml")
    whole = chain.replace({"link1.inertia[0,0]": 1}).repaired()
    same_equations(in_mujoco(whole, tmp_path), whole)
    with pytest.raises(da.ReadError, match="'link2': their masses are below 1e-15 kg"):
        da.save(chain.replace({"link2.mass": 1e-300}), tmp_path / "a.xml")
    bare = {f"link2.{name}": 0 for name in ("mass", "inertia[1,1]", "inertia[2,2]")}
    with pytest.raises(da.ReadError, match="'link2': they have no mass"):
        da.save(chain.replace(bare), tmp_path / "a.xml")


def test_loops_couplings_and_followers_become_equalities(tmp_path):
    bar = da.planar_chain(4, gravity=(0, 0, -9.81))
    pin = da.constraints.Closure("pin", da.Revolute((0, 1, 0)), "tip", ("base", (1, 0, 0.5)))
    pair = da.constraints.Coupling.gear("pair", "q1", "q2", -2, 0.3)
    three = da.constraints.Coupling("three", {"q1": 1, "q2": 2, "q3": 3}, 0.5)
    rod = da.constraints.Distance("rod", "tip", "base", 2.0)
    with pytest.warns(da.DalembertWarning) as caught:
        da.save(bar.constrained(pin, pair, three, rod), tmp_path / "robot.xml")
    assert "softly ('pin', 'pair', 'three'); constraints ('rod')" in str(caught[0].message)
    model = mujoco.MjModel.from_xml_path(str(tmp_path / "robot.xml"))
    data = mujoco.MjData(model)
    q = np.array([0.4, 0.3 - 0.8, 0.1, 0.2])
    data.qpos[:] = q
    mujoco.mj_forward(model, data)
    gap = (da.placement(bar, q, "tip") - [[0, 0, 0, 1], [0, 0, 0, 0], [0, 0, 0, 0.5], [0] * 4])[:3, 3]
    assert np.allclose(data.efc_pos[:3], gap, atol=1e-12) and abs(data.efc_pos[6]) < 1e-12
    assert abs(data.efc_pos[7] - (q[0] + 2 * q[1] + 3 * q[2] - 0.5)) < 1e-12


def test_limits_motors_and_shapes(tmp_path):
    limits = da.Limits(lower=-1, velocity=3, effort=20)
    arm = da.planar_chain(1)
    shapes = (da.Visual("box", (1, 2, 3), da.Origin((0, 0, 1)), (1, 0, 0, 1)), da.Visual("capsule", (0.1, 0.5), seen=False))
    arm = replace(arm, joints=(replace(arm.joints[0], limits=limits),), bodies=(arm.bodies[0], replace(arm.bodies[1], visuals=shapes)))
    arm = arm.with_actuators(da.Actuator("motor", "q1", gear_ratio=50, rotor_inertia=1e-4, effort=0.4))
    model = in_mujoco(arm, tmp_path)
    joint, motor = model.joint("q1"), model.actuator("motor")
    assert joint.range[0] == -1 and joint.range[1] > 1e300 and tuple(model.jnt_actfrcrange[0]) == (-20, 20)
    assert motor.gear[0] == 50 and tuple(motor.ctrlrange) == (-0.4, 0.4) and model.dof_armature[0] == 0.25
    assert tuple(model.geom_size[0]) == (0.5, 1, 1.5) and not any(model.geom_contype) and model.geom_size[1][1] == 0.25
    same_equations(model, arm)
    assert da.load(tmp_path / "robot.xml").joint("q1").limits == da.Limits((-1,), None, None, (20,))


def test_limits_of_0_are_no_free_ones_unsaid(tmp_path):
    arm = da.planar_chain(1)
    arm = replace(arm, joints=(replace(arm.joints[0], limits=da.Limits(effort=0)),)).with_actuators(da.Actuator("motor", "q1", effort=0.0))
    with pytest.warns(da.DalembertWarning, match=r"effort of 0, of joints \('q1'\); limits of effort of 0, of actuators \('motor'\)"):
        da.save(arm, tmp_path / "robot.xml")


def test_long_chains_are_nested_without_recursion(tmp_path):
    da.save(da.planar_chain(1500), tmp_path / "long.xml")
    text = (tmp_path / "long.xml").read_text()
    assert text.count("<body ") == 1501 and len(text) < 1_000_000


def test_a_file_that_was_written_is_read_as_the_same_mechanism(tmp_path):
    """By this package's own reader, which gives the coordinates of joints the names that they had."""
    arm = da.load("ur5").replace({"elbow_joint.stiffness": 3, "elbow_joint.rest": 0.2, "elbow_joint.rotor_inertia": 0.1})
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        da.save(arm, tmp_path / "robot.mjcf")
    back = da.load(tmp_path / "robot.mjcf")
    q, qd = arm.random_state(2)
    assert back.coordinate_names == arm.coordinate_names
    for f, state in ((da.mass_matrix, (q,)), (da.bias_force, (q, qd)), (da.passive_force, (q, qd))):
        assert np.abs(f(back, *state) - f(arm, *state)).max() < 1e-11


def test_meshes_are_assets_where_their_files_are_in_the_folder_of_the_model(tmp_path):
    (tmp_path / "tetra.obj").write_text("v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n")
    (tmp_path / "text.stl").write_text("solid of a text file\n" * 9)
    links = "".join(f'<visual><geometry><mesh filename="{name}" scale="{scale}"/></geometry></visual>'
                    for name, scale in (("tetra.obj", "1 1 1"), ("tetra.obj", "2 2 2"), ("tetra.obj", "1 1 1"), ("text.stl", "1 1 1"), ("../../x.obj", "1 1 1")))
    (tmp_path / "robot.urdf").write_text(f'<robot name="r"><link name="base">{links}</link></robot>')
    with pytest.warns(da.DalembertWarning, match=r"no STL and OBJ, of bodies \('base', 'base'\)"):
        da.save(da.load(tmp_path / "robot.urdf"), tmp_path / "robot.xml")
    model = mujoco.MjModel.from_xml_path(str(tmp_path / "robot.xml"))
    assert (model.nmesh, model.ngeom) == (2, 3) and not any(model.geom_contype)


def test_flexible_drives_become_motors_behind_tendons_that_are_springs(tmp_path):
    """A rotor that MuJoCo takes, and the forces of spring and damper between both coordinates."""
    chain = da.planar_chain(2).replace({"q1.rotor_inertia": 1e-4, "q1.gear_ratio": 50, "q2.rotor_inertia": 2e-5, "q2.gear_ratio": 100})
    flexible = chain.with_flexible_joints({"q1": 500.0, "q2": 80.0}, damping={"q1": 0.5})
    model = in_mujoco(flexible, tmp_path, strict=True)
    q, qd = flexible.random_state(1)
    qdd = np.random.default_rng(0).standard_normal(flexible.nv)
    tau = da.inverse_dynamics(flexible, q, qd, qdd)
    ours = da.convert.to_mujoco(flexible, q, qd, qdd, tau, joint_order=joint_order(model, flexible))
    data = mujoco.MjData(model)
    data.qpos[:], data.qvel[:] = ours.q, ours.qd
    mujoco.mj_forward(model, data)
    M = np.zeros((model.nv, model.nv))
    mujoco.mj_fullM(model, data, M)
    found = M @ ours.qdd + data.qfrc_bias - data.qfrc_passive
    assert np.abs(found - ours.tau).max() <= TOLERANCE * np.abs(ours.tau).max()
