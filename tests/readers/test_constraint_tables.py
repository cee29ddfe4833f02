"""Constraints in TOML files: the way there and back, places in messages, files beside a URDF file, hostile files."""

import pytest

import dalembert as da
from dalembert import constraints
from dalembert.model.validation import MAX_LINKS
from dalembert.readers.toml import read_toml, write_toml

FOUR_BAR = """\
name = "four-bar"
actuated = ["a"]

[[body]]
name = "base"
[[body]]
name = "crank"
[[body]]
name = "coupler"
[[body]]
name = "rocker"

[[joint]]
name = "a"
type = "revolute"
parent = "base"
child = "crank"
axis = [0, 0, 1]
[[joint]]
name = "b"
type = "revolute"
parent = "crank"
child = "coupler"
axis = [0, 0, 1]
origin.xyz = [0.4, 0, 0]
[[joint]]
name = "d"
type = "revolute"
parent = "base"
child = "rocker"
axis = [0, 0, 1]
origin.xyz = [1, 0, 0]

[[frame]]
name = "end"
body = "coupler"
origin.xyz = [1, 0, 0]

[[constraint]]
name = "pin"
kind = "closure"
type = "spherical"
first = "end"
second = { body = "rocker", xyz = [0.8, 0, 0] }
"""
LINE = FOUR_BAR[:FOUR_BAR.index("[[constraint]]")].count("\n") + 1      # of the constraint


@pytest.fixture(autouse=True)
def graph():
    with da.Graph() as opened:
        yield opened


def test_a_closure_is_read_with_its_place_and_written_back_equal():
    mechanism = read_toml(FOUR_BAR, "four.toml")
    pin = mechanism.constraints[0]
    assert pin == constraints.Closure("pin", da.Spherical(), "end", ("rocker", (mechanism.number("pin.second_origin[0]"), 0, 0)))
    assert (pin.source.file, pin.source.line) == ("four.toml", LINE) and mechanism.principles == ("chetaev",)
    assert mechanism.actuated == ("a",) and mechanism.number("pin.second_origin[0]").text == "0.8"
    assert read_toml(write_toml(mechanism)) == mechanism


@pytest.mark.parametrize(("old", "new", "message"), [
    ('"end"\nsecond', '"ennd"\nsecond', f"constraint 'pin' (four.toml, line {LINE}): it names the frame 'ennd', which does not exist. "
                                        "Did you mean 'end'?"),
    ("first", "frist", f"four.toml, line {LINE + 4}: constraint 'pin': unknown key 'frist' for a closure (known: name, kind"),
    ("first", "frist", "Did you mean 'first'?"),
    ("closure", "clousure", f"four.toml, line {LINE + 2}: constraint 'pin': unknown kind 'clousure' (known: closure"),
    ("spherical", "sphrical", f"line {LINE + 3}: constraint 'pin': unknown type 'sphrical'"),
    ('first = "end"\n', "", f"line {LINE}: constraint 'pin': the key 'first' is missing."),
    ('first = "end"', "first = 3", f"line {LINE + 4}: constraint 'pin': first is 3; expected {{ body = ..., xyz = [...] }} or the name"),
    ("xyz = [0.8, 0, 0]", "xyz = [0.8, 0]", f"line {LINE + 5}: constraint 'pin', second: xyz is a list of 2"),
    ("xyz = [0.8", "xzy = [0.8", f"line {LINE + 5}: constraint 'pin', second: unknown key 'xzy' (known: body, xyz"),
    ('first = "end"', 'principle = "newton"\nfirst = "end"', f"line {LINE + 4}: constraint 'pin': unknown principle 'newton'"),
    ('name = "pin"', 'name = ""', f"line {LINE + 1}: constraint number 1: name is ''"),
    ('actuated = ["a"]', 'actuated = ["aa"]', "line 2: the file: unknown actuated 'aa' (known: a, b, d). Did you mean 'a'?"),
    ('actuated = ["a"]', 'actuated = "a"', "line 2: the file: actuated is 'a'; expected names of joints"),
    ("[[constraint]]", "[[constrain]]", "unknown key 'constrain'"),
])
def test_fault_is_an_error_with_file_and_line(old, new, message):
    assert old in FOUR_BAR
    with pytest.raises(da.ModelError) as caught:
        read_toml(FOUR_BAR.replace(old, new, 1) if old != "[[constraint]]" else FOUR_BAR.replace(old, new), "four.toml")
    assert message in str(caught.value)


def test_a_name_that_is_used_twice_is_a_finding():
    again = FOUR_BAR[FOUR_BAR.index("[[constraint]]"):]
    with pytest.raises(da.ModelError, match=r"constraint 'pin' \(four.toml, line \d+\): the name is used 2 times"):
        read_toml(FOUR_BAR + again, "four.toml")


def test_a_principle_is_kept():
    mechanism = read_toml(FOUR_BAR + 'principle = "gauss"\n')
    assert mechanism.principles == ("gauss",) and read_toml(write_toml(mechanism)) == mechanism


def test_functions_of_python_are_not_written():
    mechanism = read_toml(FOUR_BAR).constrained(constraints.Holonomic("gap", lambda q, t: [q[0]]))
    with pytest.raises(da.ReadError, match="constraint 'gap' cannot be written: a Holonomic has no table"):
        write_toml(mechanism)


URDF = """<robot name="arm"><link name="base"/><link name="crank"/><link name="coupler"/><link name="rocker"/>
<joint name="a" type="continuous"><parent link="base"/><child link="crank"/><axis xyz="0 0 1"/></joint>
<joint name="b" type="continuous"><parent link="crank"/><child link="coupler"/><axis xyz="0 0 1"/><origin xyz="0.4 0 0"/></joint>
<joint name="d" type="continuous"><parent link="base"/><child link="rocker"/><axis xyz="0 0 1"/><origin xyz="1 0 0"/></joint></robot>
"""
LOOPS = 'actuated = ["a"]\n' + FOUR_BAR[FOUR_BAR.index("[[frame]]"):]


def test_loops_of_a_urdf_file_stand_in_a_file_beside_it(tmp_path):
    urdf, loops = tmp_path / "four.urdf", tmp_path / "four_loops.toml"
    urdf.write_text(URDF)
    loops.write_text(LOOPS)
    mechanism = da.load(urdf, constraints=loops)
    assert mechanism.constraints == read_toml(FOUR_BAR).constraints and mechanism.actuated == ("a",)
    assert mechanism.constraints[0].source.file == str(loops) and da.load(URDF, constraints=LOOPS) == mechanism
    assert da.load(urdf).constraints == ()      # nothing is looked for
    assert da.load(urdf, base="free", constraints=loops).constraints == mechanism.constraints
    da.save(mechanism, tmp_path / "four.toml")
    assert da.load(tmp_path / "four.toml") == mechanism


@pytest.mark.parametrize(("old", "new", "message"), [
    ('"rocker"', '"roker"', r"constraint 'pin' \(.*loops.toml, line 7\): it names the frame 'roker', .* Did you mean 'rocker'\?"),
    ("[[frame]]", "[[link]]", "line 2: the file: unknown key 'link' for a file beside a robot file"),
    ('["a"]', '["e"]', "line 1: the file: unknown actuated 'e'"),
])
def test_faults_of_a_file_beside_a_urdf_file_have_its_lines(tmp_path, old, new, message):
    loops = tmp_path / "loops.toml"
    loops.write_text(LOOPS.replace(old, new))
    with pytest.raises(da.ModelError, match=message):
        da.load(URDF, constraints=loops)


@pytest.mark.parametrize("text", [
    "[[constraint]]\n" * (MAX_LINKS + 1),
    "constraint = [" + '{ name = "a", kind = "closure", type = "spherical", first = "x", second = "x" },' * (MAX_LINKS + 1) + "]",
    FOUR_BAR + "first." * 200_000 + "a = 1", FOUR_BAR.replace('"end"\nsecond', '"' + "e" * 500_000 + '"\nsecond'),
], ids=range(4))
def test_hostile_file_is_refused_at_once(text):
    with pytest.raises(da.ModelError) as caught:
        read_toml(text, "bad.toml")
    assert len(str(caught.value)) < 1000


@pytest.mark.parametrize(("element", "what"), [
    ('<loop_joint name="pin" type="continuous"><link1 link="crank"/></loop_joint>', "<loop_joint> in <robot>"),
    ('<drake:loop_joint name="pin"/>', "<drake:loop_joint> in <robot>"),
])
def test_loops_that_other_programs_write_into_urdf_files_are_findings(element, what):
    text = URDF.replace("</robot>", f"{element}</robot>")
    with pytest.warns(da.DalembertWarning):
        found = [f for f in da.load(text).check() if f.what == what]
    assert [f.severity for f in found] == ["error"] and "[[constraint]]" in found[0].fix and found[0].source.line == 4
