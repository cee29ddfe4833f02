"""Files of MJCF: includes, names, hostile content, and the package mujoco that is not there."""

import html
import os
import subprocess
import sys
import warnings
from pathlib import Path

import pytest

import dalembert as da

pytest.importorskip("mujoco")
MODELS = Path(__file__).parents[1] / "data" / "models"
ROD = '<body name="rod"><joint name="hinge" axis="0 1 0"/><geom size=".1" pos="0 0 1"/></body>'


def load(source, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", da.DalembertWarning)
        return da.load(source, **options)


def model(inside, before=""):
    return f"<mujoco>{before}<worldbody>\n{inside}\n</worldbody></mujoco>"


def test_without_mujoco_an_error_names_the_extra():
    code = ("import sys; sys.modules['mujoco'] = None\nimport dalembert as da\n"
            f"try:\n    da.load({model(ROD)!r})\nexcept da.ReadError as error:\n    print(error)")
    said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert "pip install 'dalembert[mjcf]'" in said and "<text>" in said


# --- included files ---

def test_included_files_are_read_from_the_folder_of_the_model(tmp_path):
    (tmp_path / "parts").mkdir()
    (tmp_path / "arm.xml").write_text(f'<mujoco>\n<include file="parts/a.xml"/><worldbody>{ROD}</worldbody></mujoco>')
    (tmp_path / "parts" / "a.xml").write_text('<mujocoinclude>\n<include file="b.xml"/>\n<option gravity="0 0 -1"/></mujocoinclude>')
    (tmp_path / "parts" / "b.xml").write_text('<mujoco>\n\n<default><joint damping="2"/></default><sensor/></mujoco>')
    m = load(tmp_path / "arm.xml")
    assert m.gravity == (0, 0, -1) and m.joint("hinge").viscous == (2,)
    finding = next(f for f in m.check() if "<sensor>" in f.why)
    assert finding.source == da.Source(str(tmp_path / "parts" / "b.xml"), 3)


INCLUDES = {
    "outside": ("../secret.xml", "lies outside the model's folder"),
    "another machine": (r"\\evil\share\a.xml", "lies outside the model's folder"),
    "absolute": ("/etc/hostname", "lies outside the model's folder"),
    "missing": ("no.xml", "there is no file 'no.xml'"),
    "itself": ("arm.xml", "included a second time"),
    "a link out": ("link.xml", "there is no file|lies outside"),
    "a folder": ("parts", "there is no file"),
    "a null": ("a&#0;b", "not well-formed"),
}


@pytest.mark.parametrize("case", INCLUDES)
def test_included_files_from_elsewhere_are_refused(case, tmp_path):
    name, why = INCLUDES[case]
    folder = tmp_path / "model"
    (folder / "parts").mkdir(parents=True)
    (tmp_path / "secret.xml").write_text("<mujoco/>")
    os.symlink(tmp_path / "secret.xml", folder / "link.xml")
    (folder / "arm.xml").write_text(f'<mujoco>\n\n<include file="{name}"/></mujoco>')
    with pytest.raises(da.ReadError, match=why) as caught:
        load(folder / "arm.xml")
    assert caught.value.line == 3
    with pytest.raises(da.ReadError, match="bytes and text have no folder|not well-formed"):
        load((folder / "arm.xml").read_bytes())


def test_a_floating_base_is_the_world_with_what_is_fixed_to_it():
    stand = f'<mujoco><worldbody><body name="stand"><geom size="0.1"/>{ROD}</body></worldbody></mujoco>'
    assert load(stand, base="free").nv == load(stand).nv + 6
    box = '<body name="box"><freejoint/><geom size="0.1"/></body>'
    for floats in (box, box + box.replace("box", "ball")):
        text = f"<mujoco><worldbody>{floats}</worldbody></mujoco>"
        assert load(text, base="free") == load(text)
    with pytest.raises(da.ReadError, match="line 1: base='free': joint '.*' alone hangs on body 'world', which has no mass"):
        load(f"<mujoco><worldbody>{ROD}</worldbody></mujoco>", base="free")


def test_other_folders_are_those_that_are_given(tmp_path, run):
    for folder in ("model", "shared"):
        (tmp_path / folder).mkdir()
    (tmp_path / "shared" / "base.xml").write_text(f"<mujoco><worldbody>{ROD}</worldbody></mujoco>")
    text = '<mujoco><include file="../shared/base.xml"/></mujoco>'
    (tmp_path / "model" / "arm.xml").write_text(text)
    with pytest.raises(da.ReadError, match="mesh_folders="):
        load(tmp_path / "model" / "arm.xml")
    assert load(tmp_path / "model" / "arm.xml", mesh_folders=[tmp_path / "shared"]).nv == 1
    assert load(text.replace("../shared/", ""), mesh_folders=[str(tmp_path / "shared")]).nv == 1
    (tmp_path / "other").mkdir()
    folders = [f"--mesh-folders={tmp_path / name}" for name in ("other", "shared")]
    assert (run("check", tmp_path / "model" / "arm.xml", *folders)[0], run("check", tmp_path / "model" / "arm.xml", folders[0])[0]) == (0, 1)


LEG = """<mujoco model="leg"><compiler angle="radian" meshdir="stl"/><asset><mesh name="m" file="m.stl"/></asset>
<default><default class="c"><joint damping="3" axis="0 1 0"/></default></default>
<worldbody><body name="b" pos=".1 .2 .3"><joint name="j" class="c" range="0 1"/><geom size=".1" pos=".3 0 0" condim="3"/>
<geom type="mesh" mesh="m" mass="0"/></body></worldbody></mujoco>"""
WALKER = """<mujoco>
<asset><model name="leg" file="{}"/></asset><worldbody><frame pos="0 0 1"><attach model="leg" body="b" prefix="left_"/></frame>
<body name="hip"><joint range="0 90"/><geom size=".1"/>{}</body></worldbody></mujoco>"""
ATTACH = '<attach model="leg" prefix="right_"/>'


def test_attached_models_are_read_with_their_own_options(tmp_path):
    (tmp_path / "parts").mkdir()
    (tmp_path / "parts" / "leg.xml").write_text(LEG)
    (tmp_path / "walker.xml").write_text(WALKER.format("parts/leg.xml", ATTACH))
    m = load(tmp_path / "walker.xml", exact_angles=False)
    assert [j.name for j in m.joints] == ["left_j", "joint1", "right_j"] and m.joint("right_j").viscous == (3,)
    assert m.joint("right_j").limits.upper == (1,) and float(m.joint("joint1").limits.upper[0]) == pytest.approx(1.5707963267948966)
    assert [float(x) for x in m.joint("left_j").origin.xyz] == [0.1, 0.2, 1.3] and m.body("right_b").visuals[1].mesh == "parts/stl/m.stl"
    place = da.Source(str(tmp_path / "parts" / "leg.xml"), 3)
    assert m.joint("left_j").source == place == next(f for f in m.check() if "<geom condim>" in f.why).source


@pytest.mark.parametrize("file, inside, why", [
    ("../leg.xml", "", "lies outside the model's folder"),
    ("walker.xml", "", "<model> in a model that is attached itself is not read"),
    ("arm.urdf", "", "the root element of 'arm.urdf' is <robot>"),
    ("leg.xml", f'<replicate count="4000">{ATTACH}</replicate>', "<attach> makes more than MAX_REPEATED"),
])
def test_attached_models_that_are_refused(tmp_path, file, inside, why):
    (tmp_path / "leg.xml").write_text(LEG)
    (tmp_path / "arm.urdf").write_text("<robot/>")
    (tmp_path / "walker.xml").write_text(WALKER.format(file, inside))
    with pytest.raises(da.ReadError, match=why) as caught:
        load(tmp_path / "walker.xml")
    assert caught.value.line == 2


# --- content that is refused, with its place ---

REFUSED = {
    "misspelt attribute": ('<body><joint dampign="1"/></body>', "<joint> has no attribute 'dampign'. Did you mean 'damping'?"),
    "misspelt element": ("<body><jiont/></body>", "<body> has no <jiont>. Did you mean <joint>?"),
    "wrong place": ("<joint/>", "MuJoCo refuses the model: World body cannot have joints"),
    "no mass": ("<body><joint/></body>", "MuJoCo refuses the model: mass and inertia of moving bodies"),
    "one name twice": (ROD + ROD, "MuJoCo refuses the model: repeated name"),
    "nan": ('<body pos="nan 0 0"/>', "<body> pos is not finite. Give a number"),
    "no number": ('<body pos="a b c"/>', "MuJoCo refuses the model"),
    "soft body": ('<flexcomp name="x" type="grid" count="9 9 9" spacing="1 1 1"/>', "<flexcomp> in <worldbody> is not read. Remove it"),
    "plugin": ('<body><geom size="1"><plugin plugin="x"/></geom></body>', "<plugin> in <geom> is not read. Give the geom a shape"),
    "no such model": ('<attach model="x" body="y" prefix="z"/>', "MuJoCo refuses the model: "),
    "soft part": ("</worldbody><deformable><flex/></deformable><worldbody>", "<flex> in <deformable> is not read. Remove it"),
    "many copies": (f'<replicate count="999999999">{ROD}</replicate>', "<replicate> makes more than MAX_REPEATED = 5000"),
    "copies of copies": ('<replicate count="999">' * 3 + ROD + "</replicate>" * 3, "<replicate> makes more than MAX_REPEATED"),
    "no count": (f'<replicate count="-1">{ROD}</replicate>', "<replicate> count='-1': expected a whole number"),
    "infinite": ('<body><joint damping="inf"/><geom size="1"/></body>', "<joint> damping is not finite"),
    "element of another line": ('<body name="a&#10;&#10;b"><joint/></body>', "MuJoCo refuses the model"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_is_refused_is_named_with_its_line(case):
    inside, why = REFUSED[case]
    with pytest.raises(da.ReadError) as caught:
        load(model(inside))
    assert any(words in str(caught.value) for words in why.split("|")) and caught.value.line == 2
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("text, why", [
    ('<!DOCTYPE m [<!ENTITY a "b">]><mujoco/>', "document type declarations"),
    ("<mujoco>" + "<a>" * 500 + "</a>" * 500 + "</mujoco>", "MAX_DEPTH"),
    ("<mujoco><compiler coordinate='global'/></mujoco>", "MuJoCo refuses the model"),
    (model('<body><geom size="1e200"/><joint name="j"/></body>'), "a number of body 'body1' is not finite|MuJoCo refuses"),
    ('<mujoco><asset><mesh name="m" builtin="supersphere" params="9999 1 1"/></asset></mujoco>', "has a number above 200"),
    ("<mujocoinclude/>", "load the file that includes it"),
    ("<mujoco><option gravity='1e999 0 0'/><worldbody/></mujoco>", "gravity|MuJoCo refuses"),
])
def test_hostile_documents_are_refused(text, why):
    with pytest.raises(da.ModelError, match=why):
        load(text)


NAMES = ["плечо 1", "关节:θ", 'a" onload="x', "<script>", "../../x", "a&amp;b", "x" * 300, "%s%n", "joint1", "world"]


@pytest.mark.parametrize("name", NAMES)
def test_names_are_kept_whatever_they_are(name):
    from xml.sax.saxutils import quoteattr

    m = load(model(f"<body name='b'><joint name={quoteattr(name)}/><geom size='1'/><site name={quoteattr(name)}/></body>"))
    assert m.joints[0].name == name and m.frames[0].name in (name, f"{name}_2")
    assert da.mass_matrix(m, [0.0]).shape == (1, 1)


def test_parts_without_names_have_those_of_their_numbers_and_all_are_unique():
    m = load(model('<body><joint/><joint axis="1 0 0"/><geom size="1"/><site/><body name="joint1"><geom size="1"/><site name="joint1"/></body></body>'))
    assert [b.name for b in m.bodies] == ["world", "body1/joint0", "body1", "joint1"]
    assert [j.name for j in m.joints] == ["joint0", "joint1", "joint1/fixed"] and [f.name for f in m.frames] == ["site0", "joint1_2"]
    assert any("a body has its name; the frame is called 'joint1_2'" in f.why for f in m.check())


def test_a_long_chain_of_bodies_is_read():
    text = '<body pos="0.1 0 0"><joint/><geom size=".1"/>' * 150 + "</body>" * 150
    assert load(model(text)).nv == 150


def test_numbers_are_those_that_are_written():
    """Decimals stay decimals, degrees that are multiples of 15 become multiples of pi, axes are clean."""
    m = load(model('<body pos="0.1 0 .25" euler="90 0 0"><joint axis="0 0 1" range="-90 45" ref="30"/><geom size=".1" pos="0 0 1"/>'
                   '<body pos="1 0 0" quat=".5 .5 .5 .5"><geom size=".1"/></body></body>'))
    pi = type(m.joints[0].limits.lower[0])
    assert repr(m.joints[0].origin.xyz) == "(0.1, 0, 0.25)" and m.joints[0].origin.rotations == (("x", pi("1/2")), ("z", pi("-1/6")))
    assert m.joints[0].limits.lower == (pi("-1/2"),) and m.joints[1].origin.rotations == (("z", pi("1/2")), ("x", pi("1/2")))
    assert da.equations(m).text("mass_matrix")


def test_the_commands_take_mjcf(capsys, monkeypatch):
    from dalembert.cli import main

    file = str(MODELS / "gymnasium_mujoco" / "inverted_pendulum.xml")
    for arguments in (["check", file], ["info", file], ["dynamics", file, "--q", "0,0.1"]):
        monkeypatch.setattr(sys, "argv", ["dalembert", *arguments])
        with pytest.raises(SystemExit) as ended:
            main()
        assert not ended.value.code
    said = capsys.readouterr().out
    assert "mechanism inverted pendulum" in said and "contacts" in said


@pytest.mark.parametrize("odd", ["\x85", "\u2028", "\x7f", "\x9f", "&#10;", "&#13;", "&#9;", "&quot;", "&lt;"])
def test_names_of_odd_characters_stay_as_they_are(odd):
    """Line ends and controls are no ends of lines for MuJoCo, whose lines are those of the file."""
    text = f'<mujoco><worldbody><body name="a{odd}"><joint name="j{odd}"/><geom size="1"/></body></worldbody>\n<actuator>\n<motor name="m" joint="j{odd}"/></actuator></mujoco>'
    arm, character = load(text), html.unescape(odd)
    assert (arm.bodies[1].name, arm.joints[0].name, arm.actuators[0].joint) == (f"a{character}", f"j{character}", f"j{character}")
    assert arm.actuators[0].source.line == 3


@pytest.mark.parametrize("name", ["x" * 300, "x" * 100_000, "../" * 2000 + "etc/passwd", "loop", "a\x85"])
@pytest.mark.parametrize("content", ['<include file="{}"/>', '<asset><mesh name="m" file="{}"/></asset>', '<asset><model name="m" file="{}"/></asset>'])
def test_names_that_no_file_has_are_one_short_line(tmp_path, name, content):
    (tmp_path / "loop").symlink_to(tmp_path / "loop")
    inside = '<worldbody><body name="b"><joint/><geom type="mesh" mesh="m"/></body></worldbody>' if "mesh" in content else ""
    (tmp_path / "arm.xml").write_text(f"<mujoco>{content.format(name)}{inside}</mujoco>", encoding="utf-8")
    with pytest.raises(da.ReadError, match="line 1: .*there is no file|line 1: .*lies outside") as caught:
        load(tmp_path / "arm.xml")
    assert len(str(caught.value)) < 500
