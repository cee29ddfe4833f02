"""Equalities, actuators and other forces of MJCF against MuJoCo, and meshes."""

import struct
import warnings
from pathlib import Path

import numpy as np
import pytest

import dalembert as da
from dalembert.readers.mjcf.known_elements import known_attributes

mujoco = pytest.importorskip("mujoco")
MODELS = Path(__file__).parents[1] / "data" / "models"


def load(source, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", da.DalembertWarning)
        return da.load(source, **options)


LOOPS = """<mujoco><worldbody>
  <body name="a" pos="0 0 1"><joint type="slide" axis="1 0 0" name="s" ref=".5"/><joint name="h" pos=".1 .2 .3" axis="0 1 0"/><geom size=".1"/>
    <site name="sa" pos=".1 .2 .3" euler="10 20 30"/>
    <body name="b" pos="0.3 0.1 1" euler="30 40 50"><joint name="r" axis="0 1 1" ref="10"/><geom size=".1" pos="0.1 0 0"/>
      <site name="sb" pos=".1 .1 .2" euler="40 20 30"/></body></body></worldbody>
  <tendon><fixed name="t1"><joint joint="s" coef="2"/><joint joint="h" coef="3"/></fixed><fixed name="t2"><joint joint="r" coef="2"/></fixed></tendon>
  <equality>{}</equality></mujoco>"""
HELD = {
    "connect": '<connect body1="a" body2="b" anchor=".1 .2 .3"/>',
    "connect to the world": '<connect body1="b" anchor=".1 .2 .3"/>',
    "connect of sites": '<connect site1="sa" site2="sb"/>',
    "weld": '<weld body1="a" body2="b"/>',
    "weld with a pose": '<weld body1="a" body2="b" anchor=".1 .2 .3" relpose="1 2 3 1 1 0 0"/>',
    "weld of sites": '<weld site1="sa" site2="sb"/>',
}
RELATED = {
    "linear": '<joint joint1="s" joint2="h" polycoef=".1 .2 0 0 0"/>',
    "polynomial": '<joint joint1="s" joint2="h" polycoef=".1 .2 .3 .4 .5"/>',
    "still": '<joint joint1="r" polycoef=".1"/>',
    "tendons": '<tendon tendon1="t1" tendon2="t2" polycoef=".1 .2"/>',
    "tendons by a polynomial": '<tendon tendon1="t1" tendon2="t2" polycoef=".1 .2 .3"/>',
    "tendon": '<tendon tendon1="t1" polycoef=".2"/>',
}


def residual_of_mujoco(text, q):
    """Positions and Jacobian of the equalities in MuJoCo."""
    theirs = mujoco.MjModel.from_xml_string(text)
    theirs.opt.disableflags |= mujoco.mjtDisableBit.mjDSBL_CONTACT
    theirs.opt.jacobian = mujoco.mjtJacobian.mjJAC_DENSE
    d = mujoco.MjData(theirs)
    d.qpos[:] = q
    mujoco.mj_forward(theirs, d)
    return np.array(d.efc_pos), np.array(d.efc_J).reshape(-1, theirs.nv)


@pytest.mark.parametrize("case", HELD | RELATED)
def test_an_equality_holds_what_it_holds_in_mujoco(case):
    text = LOOPS.format((HELD | RELATED)[case])
    m, q = load(text, exact_angles=False), [0.7, 0.3, 0.2]
    position, J = residual_of_mujoco(text, q)
    ours, rows = da.constraint_residual(m, q), da.constraint_jacobian(m, q)
    if case in RELATED:
        assert np.allclose(ours, position, rtol=0, atol=1e-14) and np.allclose(rows, J, rtol=0, atol=1e-14)
        return
    assert np.linalg.norm(ours[-3:]) == pytest.approx(np.linalg.norm(position[:3]), rel=1e-12)
    turned = np.linalg.norm(position[3:])      # MuJoCo has half a quaternion's vector, ours angles
    assert (ours[:-3].any() if turned else len(ours) == 3) or turned < 1e-12
    if "site" in case or "pose" in case:
        return
    q = [0.5, 0.0, np.radians(10)]      # the pose of the model, in which these hold
    position, J = residual_of_mujoco(text, q)
    assert np.abs(da.constraint_residual(m, q)).max() < 1e-15
    assert np.linalg.matrix_rank(np.vstack([J, da.constraint_jacobian(m, q)]), 1e-9) == np.linalg.matrix_rank(J, 1e-9)


def test_a_loop_of_four_bars_moves_and_stays_closed():
    m = load(MODELS / "own" / "fourbar.xml")
    q, qd = [1.5707963267948966, -1.1638355690882252, 1.6730644304861706], [2, -2.0856154609385924, 0.9626693757833258]
    assert np.abs(da.constraint_residual(m, q)).max() < 1e-12 and da.degrees_of_freedom(m).dof == 1
    run = da.simulate(m, q, qd, 0.5, rtol=1e-10, atol=1e-10)
    assert np.abs(da.constraint_residual(m, run.end.q)).max() < 1e-9 and abs(run.energy_drift) < 1e-7


def test_equalities_that_are_not_active_are_left_out_with_a_note():
    m = load(LOOPS.format('<joint name="off" joint1="r" active="false"/><flex flex="x"/>'))
    notes = {f.what: f for f in m.check()}
    assert not m.constraints and notes["equality 'off'"].severity == "note"
    assert notes["<flex> in <equality>"].severity == "error"


DRIVEN = """<mujoco><worldbody><body name="arm"><joint name="j" damping=".1" armature=".3"/><geom size=".1"/></body>
  <body><joint name="ball" type="ball"/><geom size=".1"/></body></worldbody><tendon><fixed name="t"><joint joint="j" coef="1"/></fixed></tendon>
  <actuator><motor name="m" joint="j" gear="10" armature="0.02" damping="0.3" ctrlrange="-2 3" forcerange="-5 1"/>
    <position name="j" joint="j" kp="5" forcerange="-4 4"/><motor joint="j"/><motor name="pull" tendon="t"/><motor name="turn" joint="ball"/>
  </actuator></mujoco>"""


@pytest.mark.skipif("not NEWER", reason="actuators have no armature and damping before")
def test_actuators_are_read_with_gear_limits_and_rotor():
    m, theirs = load(DRIVEN), mujoco.MjModel.from_xml_string(DRIVEN)
    assert [(a.name, a.joint, a.gear_ratio, a.effort) for a in m.actuators] == [
        ("m", "j", 10, 2), ("j/motor", "j", 1, 4), ("actuator2", "j", 1, None)]
    d = mujoco.MjData(theirs)
    d.qvel[0] = 2
    mujoco.mj_forward(theirs, d)
    assert da.passive_force(m, d.qpos, d.qvel)[0] == pytest.approx(d.qfrc_passive[0], rel=1e-14)
    assert da.mass_matrix(m, d.qpos)[0, 0] == pytest.approx(0.3 + theirs.body_inertia[1][2] + 100 * 0.02, rel=1e-14)
    text = " ".join(map(str, m.check()))
    for words in ("'pull'", "1 actuator (<text>, line 4): more than a motor, as a servo", "actuator 'turn' (<text>, line 4): it drives a ball",
                  "read as 2 for both senses", "named as joints"):
        assert words in text or words == "'pull'" and "<motor> in <actuator> (line 4)" in text, words


NEWER = "springyield" in known_attributes("body", "joint")      # attributes of version 4
LOST = {
    "spring of a ball": ('<joint name="j" type="ball" stiffness="1"/>', "", "joint 'j'", "spring of a ball"),
    "armature of a ball": ('<joint name="j" type="ball" armature="1"/>', "", "joint 'j'", "armature of a ball"),
    "limit of a ball": ('<joint name="j" type="ball" range="0 1"/>', "", "joint 'j'", "it is a cone"),
    "gravity compensation": ('<joint name="j"/>', 'gravcomp="0.5"', "body 'rod'", "holds 50 % of its weight"),
    "force limits": ('<joint name="j" actuatorfrcrange="-2 3"/>', "", "joint 'j'", "limited from -2 to 3"),
} | ({"plastic springs": ('<joint name="j" springyield="3"/>', "", "<joint springyield>", "stays elastic")} if NEWER else {})


@pytest.mark.parametrize("case", LOST)
def test_lost_forces_are_named_with_their_line(case):
    inside, attribute, what, why = LOST[case]
    m = load(f'<mujoco>\n<worldbody>\n<body name="rod" {attribute}>\n{inside}<geom size=".1"/></body></worldbody></mujoco>')
    found = [f for f in m.check() if f.what == what]
    assert len(found) == 1 and why in str(found[0]) and found[0].severity in ("error", "warning")
    assert found[0].source.line == (3 if attribute else 4)


def test_flags_of_the_options_leave_forces_out():
    def of(flag):
        """Gravity, stiffness, damping, friction and limit with a flag."""
        m = load(f'<mujoco><option><flag {flag}="disable"/></option><worldbody><body><joint name="j" stiffness="1" damping="1" frictionloss="1" '
                 'range="-1 1"/><geom size=".1"/></body></worldbody></mujoco>')
        j = m.joint("j")
        return [bool(x) for x in (m.gravity[2], j.stiffness[0], j.viscous[0], j.coulomb[0], j.limits.lower)]

    assert of("contact") == [True] * 5
    for k, flag in enumerate(("gravity", "spring", "damper", "frictionloss", "limit")):
        assert of(flag) == [i != k for i in range(5)]


# --- meshes ---

def tetrahedron(size):
    """A binary STL file."""
    v = np.array([(0, 0, 0), (size, 0, 0), (0, size, 0), (0, 0, size)], dtype=float)
    faces = [(0, 2, 1), (0, 1, 3), (1, 2, 3), (0, 3, 2)]
    return bytes(80) + struct.pack("<I", 4) + b"".join(struct.pack("<12fH", 0, 0, 0, *v[[*f]].ravel(), 0) for f in faces)


def meshed(file, inertial="", geom="", mesh=""):
    return (f'<mujoco><compiler meshdir="parts"/><asset><mesh name="m" file="{file}" {mesh}/></asset>\n<worldbody><body name="arm"><joint/>{inertial}'
            f'<geom type="mesh" mesh="m" pos="1 0 0" euler="0 0 90" {geom}/></body></worldbody></mujoco>')


INERTIAL = '<inertial pos="0 0 0" mass="1" diaginertia=".1 .1 .1"/>'


@pytest.mark.parametrize("mesh", ["", 'scale=".5 2 1"', 'refpos="1 2 3"', 'scale="2 2 2" refpos="1 2 3" refquat="1 1 0 0"'])
def test_an_inertia_that_follows_from_a_mesh_is_that_of_mujoco(tmp_path, mesh):
    (tmp_path / "parts").mkdir()
    (tmp_path / "parts" / "t.stl").write_bytes(tetrahedron(0.2))
    file = tmp_path / "arm.xml"
    file.write_text(meshed("t.stl", mesh=mesh))
    m, theirs = load(file, exact_angles=False), mujoco.MjModel.from_xml_path(str(file))
    assert m.body("arm").mass == pytest.approx(theirs.body_mass[1], rel=1e-14)
    assert np.allclose([float(x) for x in m.body("arm").com], theirs.body_ipos[1], rtol=0, atol=1e-15)
    assert np.allclose(np.linalg.eigvalsh(np.array(m.body("arm").tensor(), dtype=float)), np.sort(theirs.body_inertia[1]), rtol=1e-12)
    visual = m.body("arm").visuals[0]
    place = visual.origin.transform(float)
    vertices = np.array([(0, 0, 0), (.2, 0, 0), (0, .2, 0), (0, 0, .2)]) * [float(s) for s in visual.sizes]
    R = np.array([list(row) for row in place.R.matrix()])
    ours = vertices @ R.T + np.array(place.p)
    own = np.zeros(9)
    mujoco.mju_quat2Mat(own, theirs.geom_quat[0])
    drawn = theirs.mesh_vert @ own.reshape(3, 3).T + theirs.geom_pos[0]
    assert np.allclose(sorted(map(tuple, ours.round(6))), sorted(map(tuple, drawn.round(6).astype(float))), rtol=0, atol=2e-6)


def test_a_mesh_that_no_inertia_needs_may_be_missing(tmp_path):
    file = tmp_path / "arm.xml"
    for options in ({"inertial": INERTIAL}, {"geom": 'mass="0"/><geom size=".1"'}):
        file.write_text(meshed("no.stl", **options))
        m = load(file)
        assert [v.mesh for v in m.body("arm").visuals if v.kind == "mesh"] == ["parts/no.stl"]
        assert da.mass_matrix(m, [0.0])[0, 0] > 0


def test_a_shape_that_is_fitted_to_a_mesh_is_that_of_mujoco_or_is_left_out(tmp_path):
    file = tmp_path / "arm.xml"
    file.write_text(meshed("t.stl", INERTIAL, 'type="box"').replace('type="mesh" ', ""))
    m = load(file)
    assert not m.body("arm").visuals and any("is fitted to mesh 'm', whose file is not found" in f.why for f in m.check())
    (tmp_path / "parts").mkdir()
    (tmp_path / "parts" / "t.stl").write_bytes(tetrahedron(0.2))
    theirs = mujoco.MjModel.from_xml_path(str(file))
    assert [2 * float(x) for x in theirs.geom_size[0]] == pytest.approx([float(x) for x in load(file).body("arm").visuals[0].sizes])


def test_a_mesh_of_a_body_that_stands_still_too_is_read_for_the_one_that_moves(tmp_path):
    (tmp_path / "parts").mkdir()
    (tmp_path / "parts" / "t.stl").write_bytes(tetrahedron(0.2))
    file = tmp_path / "arm.xml"
    file.write_text(meshed("t.stl").replace("</worldbody>", '<body><geom type="mesh" mesh="m"/></body></worldbody>'))
    assert load(file).body("arm").mass == pytest.approx(mujoco.MjModel.from_xml_path(str(file)).body_mass[1], rel=1e-14)


@pytest.mark.parametrize("name", ["no.stl", "../../etc/passwd.stl", "/etc/passwd", "..\\..\\x.stl"])
def test_a_missing_mesh_that_an_inertia_needs_is_named(tmp_path, name):
    file = tmp_path / "arm.xml"
    file.write_text(meshed(name))
    with pytest.raises(da.ReadError, match="mesh 'm': .*The inertia of body 'arm' follows from it.*<inertial>") as caught:
        load(file)
    assert caught.value.line == 1
    with pytest.raises(da.ReadError, match="bytes and text have no folder"):
        load(file.read_bytes())
