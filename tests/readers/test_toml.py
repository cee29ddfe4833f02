"""The TOML format: the way there and back, the documented example, places in messages, hostile files."""

import re
import tomllib
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

import dalembert as da
from dalembert import data
from dalembert.model.joints import JOINT_TYPES
from dalembert.model.numbers import Literal
from dalembert.model.paths import numbers
from dalembert.model.validation import MAX_LINKS
from dalembert.readers.toml import read_toml, write_toml
from dalembert.spatial.angles import PiMultiple

ROOT = Path(__file__).parents[2]
EXAMPLE = re.search(r"```toml\n(.*?)```", (ROOT / "docs" / "toml_format.md").read_text(encoding="utf-8"), re.DOTALL)[1]
ROBOTS = [path for path in map(data.path, data.names()) if path.suffix == ".urdf"]
ARM = """\
name = "arm"

[[body]]
name = "base"

[[body]]
name = "hand"
mass = 1.50

[[joint]]
name = "elbow"
type = "revolute"
parent = "base"
child = "hand"
axis = [0, 0, 1]
"""


@pytest.fixture(autouse=True)
def graph():
    with da.Graph() as opened:
        yield opened


def texts(mechanism):
    return {path: x.text for path, x in numbers(mechanism) if isinstance(x, Literal) and x != 0}


# --- there and back -------------------------------------------------------------------------------------------------

def test_documented_example_is_read_and_written_back_equal():
    arm = read_toml(EXAMPLE, "arm.toml")
    assert read_toml(write_toml(arm)) == arm
    l2, elbow = da.symbol("l2"), arm.joint("elbow")
    assert arm.body("forearm").com == (l2 / 2, 0, 0)
    assert arm.joint("shoulder").origin == da.Origin((0, 0, Fraction(2, 5)), (("x", PiMultiple(Fraction(1, 2))),))
    assert arm.joint("shoulder").limits.lower == (PiMultiple(Fraction(-1, 2)),)
    assert elbow.stiffness == (5,) and elbow.rest == (Fraction(3, 10),) and elbow.origin.xyz == (Fraction(2, 5), 0, 0)
    assert arm.frames[0].origin.rotations[1] == ((Fraction(3, 5), Fraction(4, 5), 0), Fraction(1, 4))


@pytest.mark.parametrize("path", ROBOTS, ids=lambda p: p.stem)
@pytest.mark.filterwarnings("ignore")
def test_robot_file_survives_the_way_through_toml(path):
    robot = da.load(path)
    back = read_toml(write_toml(robot))
    assert back == robot and texts(back) == {p: t for p, t in texts(robot).items() if p in texts(back)}
    assert all(float(t) == int(t) for p, t in texts(robot).items() if p not in texts(back))      # whole numbers come as int


@pytest.mark.parametrize("seed", range(5))
def test_floats_of_random_trees_survive_exactly(seed):
    tree = da.random_tree(seed, 15, [*(t for t in JOINT_TYPES), "follower"])
    text = write_toml(tree)
    back = read_toml(text)
    assert back == tree and 'decimals = "double"' in text and "float(" not in text
    q, qd = tree.random_state(seed)
    np.testing.assert_array_equal(da.bias_force(back, q, qd), da.bias_force(tree, q, qd))


def test_every_kind_of_number_survives():
    x = da.symbol("x y")
    odd = (Literal("0.10"), Literal(".5"), Literal("007"), Literal("1E-3"), 0.1, 0.5, Fraction(1, 3), 10**25, x + 0.1, x / 3)
    for exact in (True, False):
        filler = tuple(Literal(f"0.{k}1") if exact else 0.1 * k for k in range(1, 20))
        bodies = [da.Body("base"), *(da.Body(f"b{k}", mass) for k, mass in enumerate((*odd, *filler)))]
        joints = [da.Joint(f"j{k}", da.Revolute(), "base", f"b{k}") for k in range(len(bodies) - 1)]
        mechanism = da.Mechanism("odd", tuple(bodies), tuple(joints))
        back = read_toml(write_toml(mechanism))
        assert back == mechanism
        assert [type(b.mass) is float for b in back.bodies[1:]] == [type(b.mass) is float and (b.mass != 0.5 or not exact)
                                                                     for b in bodies[1:]]
        assert back.body("b0").mass.text == "0.10" and back.body("b2").mass.text == "007"


def test_everything_a_joint_has_survives():
    oblique = ((Fraction(3, 5), 0, Fraction(4, 5)), Literal("0.30"))
    origin = da.Origin((1, 2, 3), (("x", 0.25), ("x", PiMultiple(Fraction(1, 7))), oblique))
    joints = (
        da.Joint("j1", da.Planar((0, 1, 0)), "base", "b1", origin, da.Limits((-1, -2, -3), (1, 2, 3), (4, 4, 4), None),
                 (1, 2, 3), 4, 5, 6, 7, (8, 9, 10)),
        da.Joint("j2", da.Helical((1, 0, 0), 0.05), "b1", "b2", da.Origin.rpy((0, 0, 0), 0.1, 0, -0.3)),
        da.Joint("j3", da.Universal((1, 0, 0), (0, 0, 1)), "b2", "b3"),
        da.Joint("j4", da.Prismatic((3, 4, 0)), "b3", "b4", mimic=da.Mimic("j2", Fraction(-1, 2), 0.25)),
        da.Joint("j5", da.Free(), "base", "b5", da.Origin((0, 0, 0), (("z", 0),))),
    )
    bodies = (da.Body("base"), da.Body("b1", 1, (1, 2, 3), (1, 2, 3, 4, 5, 6)), *(da.Body(f"b{k}") for k in range(2, 6)))
    mechanism = da.Mechanism('a "quoted" \\ name\n\x7fé🤖', bodies, joints, (da.Frame("tip", "b2", origin),), (0, 1, -9.81))
    assert read_toml(write_toml(mechanism)) == mechanism


def test_joint_given_by_a_function_cannot_be_written():
    joint = da.Joint("cam", da.Custom(lambda q: (np.eye(3), (q[0], 0, 0)), ("x",)), "a", "b")
    with pytest.raises(da.ReadError, match="joint 'cam' is given by a Python function"):
        write_toml(da.Mechanism("m", (da.Body("a"), da.Body("b")), (joint,)))


def test_written_decimals_are_plain_toml_numbers():
    data = tomllib.loads(write_toml(read_toml(ARM)))
    assert data["gravity"] == [0, 0, -9.81] and data["body"][1] == {
        "name": "hand", "mass": 1.5, "inertia": {"xx": 0, "yy": 0, "zz": 0}}
    assert "mass = 1.50\n" in write_toml(read_toml(ARM))


# --- reading --------------------------------------------------------------------------------------------------------

def test_parts_know_their_lines_also_behind_strings_that_look_like_headers():
    text = 'name = """\n[[body]]\n\\"""\n[[joint]]"""   # """\n' + ARM.split("\n", 1)[1]
    arm = read_toml(text, "arm.toml")
    assert [b.source.line for b in arm.bodies] == [6, 9] and str(arm.joints[0].source) == "arm.toml, line 13"
    crlf = read_toml(ARM.replace("\n", "\r\n").encode(), "arm.toml")
    assert [b.source.line for b in crlf.bodies] == [3, 6]


def test_byte_order_mark_and_inline_tables_are_read():
    text = 'body = [{name = "a"}, {name = "b"}]\njoint = [{name = "j", type = "free", parent = "a", child = "b"}]\n'
    mechanism = read_toml(b"\xef\xbb\xbf" + text.encode(), "m.toml")
    assert mechanism.name == "mechanism" and mechanism.joints[0].source.line == 2


def test_decimals_double_reads_floats():
    arm = read_toml('decimals = "double"\n' + ARM)
    assert isinstance(arm.body("hand").mass, float) and read_toml(ARM).body("hand").mass == Fraction(3, 2)


def test_multiples_of_pi_are_exact_angles_and_elsewhere_floats():
    arm = read_toml(ARM + 'origin.rpy = [0, 0, "pi"]\nrest = "pi"\nlimits.upper = "pi"\n')
    joint = arm.joint("elbow")
    assert joint.origin.rotations == (("z", PiMultiple(1)),) and joint.rest == (np.pi,)
    assert joint.limits.upper == (PiMultiple(1),)


@pytest.mark.parametrize(("text", "message"), [
    (ARM + "viscos = 1\n", "arm.toml, line 16: joint 'elbow': unknown key 'viscos' for a revolute joint (known: name"),
    (ARM + "viscos = 1\n", "Did you mean 'viscous'?"),
    (ARM + "pitch = 1\n", "line 16: joint 'elbow': unknown key 'pitch' for a revolute joint"),
    (ARM.replace("revolute", "revolut"), "line 12: joint 'elbow': unknown type 'revolut' (known: fixed, revolute"),
    (ARM.replace("axis = [0, 0, 1]\n", ""), "line 10: joint 'elbow': the key 'axis' is missing."),
    (ARM.replace("[0, 0, 1]", "[0, 1]"), "line 15: joint 'elbow': axis is a list of 2; expected a list of 3 numbers."),
    (ARM.replace("[0, 0, 1]", "[0, 0, 0]"), "joint 'elbow' (arm.toml, line 10): axis has length 0."),
    (ARM.replace("[0, 0, 1]", "[0, 0, true]"), "line 15: joint 'elbow': axis is true; expected a number"),
    (ARM.replace("1.50", "nan"), "line 8: body 'hand': mass: 'nan' is not a decimal number"),
    (ARM.replace("1.50", "-inf"), "line 8: body 'hand': mass: '-inf' is not a decimal number"),
    (ARM.replace("1.50", "1e999"), "line 8: body 'hand': mass: '1e999' is too large"),
    (ARM.replace("1.50", "1" + "0" * 400), "line 8: body 'hand': mass is too large"),
    (ARM.replace("1.50", "1" + "0" * 5000), "not TOML"),
    (ARM.replace("1.50", '"m +"'), "line 8: body 'hand': mass: a number is missing, in 'm +'"),
    (ARM.replace("1.50", "[1]"), "line 8: body 'hand': mass is a list; expected a number"),
    (ARM.replace("1.50", "1979-05-27"), "line 8: body 'hand': mass is a date"),
    (ARM.replace("1.50", "1.50\ninertia = { xx = 1 }"), "line 9: body 'hand', inertia: the key 'yy' is missing."),
    (ARM.replace("1.50", "1.50\ninertia = [[1, 2, 0], [0, 1, 0], [0, 0, 1]]"),
     "line 9: body 'hand': inertia is not symmetric"),
    (ARM.replace("1.50", "1.50\ninertia = 3"), "line 9: body 'hand': inertia is 3; expected a table { xx = ..., yy"),
    (ARM.replace("1.50", "1.50\nmass = 2"), "arm.toml, line 9: not TOML: Cannot overwrite a value"),
    (ARM.replace("1.50", "1.50 kg"), "arm.toml, line 8: not TOML: "),
    (ARM.replace('name = "hand"', 'name = ""'), "line 7: body number 2: name is ''; expected a text in quotes"),
    (ARM.replace('name = "hand"\n', ""), "line 6: body number 2: the key 'name' is missing."),
    (ARM.replace('child = "hand"', 'child = "hnd"'), "joint 'elbow' (arm.toml, line 10)"),
    (ARM.replace("[[joint]]", "[[joints]]"), "line 10: the file: unknown key 'joints' (known: name, decimals"),
    (ARM.replace("[[joint]]", "[joint]"), "line 10: the file: joint is a table; write a table [[joint]] for each."),
    (ARM + "viscous = [1, 2]\n", "line 16: joint 'elbow': viscous is a list of 2; expected a number or a list of 1"),
    (ARM + "[joint.limits]\nlower = 0\nuper = 1\n", "line 18: joint 'elbow', limits: unknown key 'uper'"),
    (ARM + "origin = [0, 0, 1]\n", "line 16: joint 'elbow': origin is a list; expected a table, as origin = { ... }."),
    (ARM + 'origin = { rotations = [["w", 1]] }\n', "line 16: joint 'elbow', origin: rotation about 'w'; expected 'x'"),
    (ARM + "origin = { rotations = [], rpy = [0, 0, 0] }\n", "it has both rpy and rotations"),
    (ARM + 'mimic = { multiplier = 2 }\n', "line 16: joint 'elbow', mimic: the key 'joint' is missing."),
    (ARM.replace('"revolute"', '"fixed"').replace("axis = [0, 0, 1]", "viscous = 1"), "viscous on a fixed joint"),
    ('name = 3\n' + ARM.split("\n", 1)[1], "line 1: the file: name is 3; expected a text"),
    ('gravity = 9.81\n' + ARM, "line 1: the file: gravity is 9.81; expected a list of 3 numbers."),
    ("", "it has no body"),
    (b'name = "\xff"', "line 1: not UTF-8 text"),
])
def test_fault_is_an_error_with_file_and_line(text, message):
    with pytest.raises(da.ModelError) as caught:
        read_toml(text, "arm.toml")
    assert message in str(caught.value)


def test_symbols_are_limits_as_well_as_numbers():
    for limits in ('lower = "a", upper = 1', 'lower = -1, upper = "b"', 'lower = "a", upper = "b"'):
        joint = da.load(f"{ARM}limits = {{ {limits} }}\n").joints[0]
        assert [str(x[0]) for x in (joint.limits.lower, joint.limits.upper)] == re.findall(r"-?\w+(?=\W*,|\W*$)", limits)


@pytest.mark.parametrize("part", ["base", "hand", "elbow"])
def test_a_name_of_blanks_is_none(part):
    with pytest.raises(da.ModelError, match="its name is empty. Give it a name"):
        da.load(ARM.replace(f'name = "{part}"', 'name = " "').replace(f'"{part}"', '" "'))


@pytest.mark.parametrize("text", [
    "x = " + "[" * 100_000, "x = " + "{a=" * 100_000, "a." * 200_000 + "a = 1",
    "[" + "a." * 200_000 + "a]", '"a".' * 200_000 + "b = 1",
    '"""' * 100_001, '"""\\' * 100_000, "'" * 300_001, '"' + "\\" * 300_001, "[[body]]\n" * (MAX_LINKS + 1),
    "a" * 1_000_000, "-" * 300_000, "#\n" * 2_000_000,
    '[[body]]\nname = "a"\nmass = "' + "(" * 9_000 + '"',
], ids=range(14))
def test_hostile_file_is_refused_at_once(text):
    with pytest.raises(da.ModelError) as caught:
        read_toml(text, "bad.toml")
    assert len(str(caught.value)) < 500


def test_a_mass_without_inertia_is_a_finding_and_a_point_mass_says_so():
    text = '[[body]]\nname = "base"\n[[body]]\nname = "bob"\nmass = 2{}\n[[joint]]\nname = "j"\ntype = "prismatic"\naxis = [0, 0, 1]\n'
    text += 'parent = "base"\nchild = "bob"\n'
    with pytest.warns(da.DalembertWarning, match="body 'bob'.*line 3.*has a mass and no inertia; its moments are taken as 0"):
        da.load(text.format(""))
    with pytest.raises(da.ModelError, match="has a mass and no inertia"):
        da.load(text.format(""), strict=True)
    point = da.load(text.format("\ninertia = { xx = 0, yy = 0, zz = 0 }"), strict=True)
    assert "xx = 0" in write_toml(point) and da.load(write_toml(point), strict=True) == point
