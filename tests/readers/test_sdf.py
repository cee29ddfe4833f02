"""SDF files: poses of frames in each other, axes, loops, defaults, and a finding for all that is not read."""

import warnings

import numpy as np
import pytest

import dalembert as da
from dalembert.model.origins import Origin
from dalembert.readers.xml import CHUNK
from dalembert.spatial.rotations import axis_angle_of
from dalembert.writers.numerals import roll_pitch_yaw_of

pytestmark = pytest.mark.filterwarnings("ignore::dalembert.DalembertWarning")
KINDS = ("fixed", "revolute", "continuous", "prismatic", "helical", "universal", "spherical")
TYPES = {"spherical": "ball", "helical": "screw"}
LINK = '<link name="{}"><inertial><mass>1</mass><inertia><ixx>1</ixx><iyy>1</iyy><izz>1</izz></inertia></inertial></link>'


def pose(X):
    """A <pose> text of a homogeneous matrix."""
    axis, angle = axis_angle_of(X[:3, :3])
    return " ".join(map(repr, [*map(float, X[:3, 3]), *map(float, roll_pitch_yaw_of(Origin((0, 0, 0), ((tuple(axis), angle),))))]))


def vector(values):
    return " ".join(repr(float(x)) for x in values)


def sdf_of(tree, shift=None):
    """The tree as SDF: links are placed in the model, which is placed in the world by `shift`; joints in their children."""
    q = tree.neutral()
    parts = []
    for body in tree.bodies:
        moments = "".join(f"<i{n}>{float(x)!r}</i{n}>" for n, x in zip(("xx", "xy", "yy", "xz", "yz", "zz"), body.inertia, strict=True))
        parts.append(f'<link name="{body.name}"><pose>{pose(da.placement(tree, q, body.name))}</pose><inertial><pose>{vector(body.com)} 0 0 0</pose>'
                     f"<mass>{float(body.mass)!r}</mass><inertia>{moments}</inertia></inertial></link>")
    for j in tree.joints:
        axes = "".join(f"<axis{'2' * (name == 'second_axis')}><xyz>{vector(getattr(j.type, name))}</xyz></axis{'2' * (name == 'second_axis')}>"
                       for name in j.type.parameters if name.endswith("axis"))
        pitch = f"<screw_thread_pitch>{float(j.type.pitch) * 2 * np.pi!r}</screw_thread_pitch>" if j.type.name == "helical" else ""
        parts.append(f'<joint name="{j.name}" type="{TYPES.get(j.type.name, j.type.name)}"><parent>{j.parent}</parent><child>{j.child}</child>{axes}{pitch}</joint>')
    place = f"<pose>{pose(shift)}</pose>" if shift is not None else ""
    return f'<sdf version="1.9"><world name="w"><gravity>{vector(tree.gravity)}</gravity><model name="m">{place}{"".join(parts)}</model></world></sdf>'


@pytest.mark.parametrize("seed", range(4))
def test_trees_written_by_absolute_poses_have_the_same_equations(seed):
    tree = da.random_tree(seed, 8, KINDS).without("friction", "springs", "rotors", "limits")
    back = da.load(sdf_of(tree))
    assert back.coordinate_names == tree.coordinate_names
    q, qd = tree.random_state(1)
    for f, state in ((da.mass_matrix, (q,)), (da.bias_force, (q, qd))):
        assert np.abs(f(back, *state) - f(tree, *state)).max() <= 1e-12 * np.abs(f(tree, *state)).max()
    for body in tree.bodies:
        assert np.abs(da.placement(back, q, body.name) - da.placement(tree, q, body.name)).max() < 1e-13


def test_a_placed_model_stands_on_the_world_and_floats_when_freed():
    tree = da.random_tree(5, 4, "revolute")
    shift = da.Origin((1, 2, 3), (("z", 0.4), ("x", -1.0))).transform(float)
    X = np.eye(4)
    X[:3, :3], X[:3, 3] = np.array(shift.R.matrix(), float), shift.p
    held = da.load(sdf_of(tree, shift=X))
    q, _ = tree.random_state(1)
    assert held.bodies[0].name == "world" and held.nq == tree.nq
    assert np.abs(da.placement(held, q, "body4") - X @ da.placement(tree, q, "body4")).max() < 1e-13
    freed = da.load(sdf_of(tree, shift=X), base="free")
    assert freed.joints[0].name == "root_joint" and freed.nq == tree.nq + 7 and freed.bodies[1].name == "base"


@pytest.mark.parametrize("attribute, body", [("", "a"), ('canonical_link="b"', "b")])
def test_frames_of_the_model_are_fixed_to_its_canonical_link(attribute, body):
    links = '<link name="a"/><link name="b"><pose>0 0 1 0 0 0</pose></link><frame name="mark"><pose>0 0 3 0 0 0</pose></frame>'
    joints = [f'<joint name="q{child}" type="revolute"><parent>{parent}</parent><child>{child}</child><axis><xyz>1 0 0</xyz></axis></joint>'
              for parent, child in (("world", "a"), ("a", "b"))]
    m = da.load(f'<sdf version="1.9"><model name="m" {attribute}>{links}{"".join(joints)}</model></sdf>')
    assert m.frames[0].body == body and da.placement(m, [0, 0], "mark")[2, 3] == 3


JOINTS = """<sdf version="{version}"><model name="m">
<link name="a"/><link name="b"><pose>0 0 1 0 0 1.5707963267948966</pose></link>
<frame name="mark" attached_to="b"><pose relative_to="a">0 0 3 0 0 0</pose></frame>
<joint name="j" type="revolute"><pose>{pose}</pose><parent>a</parent><child>{child}</child><axis><xyz {within}>1 0 0</xyz>{more}
<limit><lower>-1e16</lower><upper>2</upper><effort>-1</effort><velocity>3</velocity></limit>
<dynamics><damping>0.1</damping><friction>0.2</friction><spring_reference>0.3</spring_reference><spring_stiffness>4</spring_stiffness></dynamics></axis></joint>
</model></sdf>"""
NOWHERE = "0 0 0 0 0 0"


@pytest.mark.parametrize("version, within, more, axis", [
    ("1.9", "", "", (0, 1, 0)),                                                          # of the joint, which is turned with b
    ("1.9", 'expressed_in="__model__"', "", (1, 0, 0)), ("1.9", 'expressed_in="a"', "", (1, 0, 0)),
    ("1.6", "", "<use_parent_model_frame>1</use_parent_model_frame>", (1, 0, 0)), ("1.4", "", "", (1, 0, 0))])
def test_axes_are_of_the_frames_that_versions_say(version, within, more, axis):
    arm = da.load(JOINTS.format(version=version, within=within, more=more, pose=NOWHERE, child="b"))
    assert np.allclose(da.jacobian(arm, [0.0], "b", "world")[:3, 0], axis, atol=1e-15)
    joint = arm.joint("j")
    assert [float(x[0]) for x in (joint.viscous, joint.coulomb, joint.rest, joint.stiffness)] == [0.1, 0.2, 0.3, 4]
    assert joint.limits == da.Limits(None, (2,), (3,), None)


def test_joints_beside_their_child_keep_the_frames_of_links():
    arm = da.load(JOINTS.format(version="1.9", within="", more="", pose="0.5 0 0 0 0 0", child="mark"))
    # the joint is at (0.5, 0, 3) of the model, and turns about x there
    assert np.allclose(da.placement(arm, [0.0], "b")[:3, 3], (0, 0, 1)) and np.allclose(da.placement(arm, [0.0], "mark")[:3, 3], (0, 0, 3))
    turning, moving = np.split(da.jacobian(arm, [0.0], "b", "aligned")[:, 0], 2)
    assert np.allclose(turning, (1, 0, 0)) and np.allclose(moving, np.cross((1, 0, 0), (-0.5, 0, -2)))


def test_links_of_two_joints_close_loops_and_gearboxes_couple():
    hinge = '<joint name="{}" type="revolute"><parent>{}</parent><child>{}</child><axis><xyz>0 {} 0</xyz></axis></joint>'
    text = ('<sdf version="1.6"><model name="m">' + "".join(map(LINK.format, "abcd")) + hinge.format("ab", "a", "b", 1) + hinge.format("ac", "a", "c", -1)
            + hinge.format("bd", "b", "d", 1) + hinge.format("cd", "c", "d", 1)
            + '<joint name="gear" type="gearbox"><parent>b</parent><child>c</child><gearbox_ratio>5</gearbox_ratio><gearbox_reference_body>a</gearbox_reference_body>'
              "<axis><xyz>0 1 0</xyz></axis><axis2><xyz>0 1 0</xyz></axis2></joint></model></sdf>")
    m = da.load(text)
    closure, gear = m.constraints
    assert (closure.name, closure.frames, closure.type.name) == ("cd", ("c", "d"), "revolute")
    assert dict(gear.factors) == {"ab": 5, "ac": -1}
    assert any("closes a loop" in f.why for f in m.check())


def test_several_models_stand_in_one_world():
    model = '<model name="{}"><pose>{} 0 0 0 0 0</pose>{}' + LINK.format("l") + "</model>"
    text = '<sdf version="1.6"><world name="w">' + model.format("a", 1, "") + model.format("b", 2, "<static>1</static>") + model.format("b", 3, "") + "</world></sdf>"
    m = da.load(text)
    assert [float(x) for x in m.gravity] == [0, 0, -9.8]
    assert {j.child: (j.type.name, float(j.origin.xyz[0])) for j in m.joints} == {"a::l": ("free", 1), "b_2::l": ("fixed", 2), "b_3::l": ("free", 3)}


def test_defaults_and_unread_content_are_findings():
    text = ('<sdf version="1.6"><model name="m"><link name="a"/><link name="b"><sensor name="s"/><mas>2</mas><gravity>0</gravity><inertial><mass>2</mass>'
            '<inertia><ixx>1</ixx><iyy>1</iyy></inertia></inertial><visual name="v"><geometry><plane/></geometry></visual></link>'
            '<joint name="j" type="revolute"><parent>a</parent><child>b</child><axis><xyz>0 0 1</xyz><limits/></axis></joint></model></sdf>')
    found = [(f.severity, f"{f.what}: {f.why} {f.fix}") for f in da.load(text).check()]
    for severity, part in (("warning", "no <inertial>; taken as 1 kg"), ("error", "no <izz>; taken as 1"), ("error", "no gravity"), ("note", "<sensor>"),
                           ("error", "<limits> in <axis>: it is not read. Did you mean <limit>?"), ("note", "<visual> of another shape"), ("warning", "<mas> in <link>")):
        assert any(s == severity and part in f for s, f in found), (part, found)


@pytest.mark.parametrize("content, message", [
    ('<link name="a"><pose relative_to="b"/></link><link name="b"><pose relative_to="a"/></link>', "placed in itself"),
    ('<link name="a"><pose relative_to="x"/></link>', "no link, joint or frame 'x'"), ('<link name="a"><pose>1 2 3</pose></link>', "expected 6 numbers"),
    ('<link name="a"/><link name="a"/>', "used twice"), ('<link name="a"/><model name="n"/>', "<model> in <model> is not read"),
    ('<link name="a"/><include/>', "gz sdf -p"), ('<link name="a"/><joint name="j" type="revolute"><parent>a</parent><child>world</child></joint>', "child is the world"),
    ('<link name="a"/><link name="b"/><joint name="j" type="revolut"><parent>a</parent><child>b</child></joint>', "Did you mean 'revolute'"),
    ('<link name="a"/><link name="b"/><joint name="j" type="fixed"><parent>a</parent><child>n::b</child></joint>', "nested model"),
    ('<frame name="f" attached_to="g"/><frame name="g" attached_to="f"/><link name="a"/>', "placed in itself|fixed to itself"), ("", "has no <link>")])
def test_files_that_make_no_sense_give_one_error(content, message):
    with pytest.raises(da.ModelError, match=message):
        da.load(f'<sdf version="1.9"><model name="m">{content}</model></sdf>')


def test_numbers_at_the_border_of_pieces_that_are_parsed_are_whole():
    head = '<sdf version="1.6"><model name="m"><link name="a"/><link name="b"><pose>0 0 1.25'
    for shift in (1, 3):
        filled = head.replace("><link", f"><!--{'x' * (CHUNK - len(head) - 7 + shift)}--><link", 1)
        assert abs(len(filled) - CHUNK) < 4
        m = da.load(filled + '5 0 0 0</pose></link><joint name="j" type="fixed"><parent>a</parent><child>b</child></joint></model></sdf>')
        assert float(m.joints[0].origin.xyz[2]) == 1.255


def test_exact_poses_stay_exact():
    text = JOINTS.format(version="1.9", within="", more="", pose=NOWHERE, child="b")
    assert repr(da.load(text).joint("j").origin.rotations) == "(('z', pi/2),)"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert repr(da.load(text, exact_angles=False).joint("j").origin.rotations) == "(('z', 1.5707963267948966),)"
