"""What every reader does, for all formats that are listed; a new one is a file and a line."""

import numpy as np
import pytest

import dalembert as da
from dalembert.readers.formats import DEFAULT, FORMATS, Format, format_of

URDF = b"""<robot name="arm">
  <link name="base"/>
  <link name="rod"><inertial><mass value="1.5"/><origin xyz="0 0 -0.25"/>
    <inertia ixx="0.1" ixy="0" ixz="0" iyy="0.1" iyz="0" izz="0.1"/></inertial></link>
  <joint name="hinge" type="continuous"><parent link="base"/><child link="rod"/>
    <origin xyz="0 0 -0.5"/><axis xyz="0 1 0"/></joint>
</robot>
"""
TOML = b"""name = "arm"

[[body]]
name = "base"

[[body]]
name = "rod"
mass = 1.5
com = [0, 0, -0.25]
inertia = { xx = 0.1, yy = 0.1, zz = 0.1 }

[[joint]]
name = "hinge"
type = "continuous"
parent = "base"
child = "rod"
origin = { xyz = [0, 0, -0.5] }
axis = [0, 1, 0]
"""
MJCF = b"""<!-- <robot> --><mujoco model="arm">
  <worldbody>
    <body name="rod" pos="0 0 -0.5"><joint name="hinge" axis="0 1 0"/>
      <inertial mass="1.5" pos="0 0 -0.25" diaginertia="0.1 0.1 0.1"/></body>
  </worldbody>
</mujoco>
"""
SDF = b"""<sdf version="1.9"><model name="arm">
  <link name="base"><inertial><mass>0</mass><inertia><ixx>0</ixx><iyy>0</iyy><izz>0</izz></inertia></inertial></link>
  <link name="rod"><pose>0 0 -0.5 0 0 0</pose><inertial><pose>0 0 -0.25 0 0 0</pose><mass>1.5</mass>
    <inertia><ixx>0.1</ixx><iyy>0.1</iyy><izz>0.1</izz></inertia></inertial></link>
  <joint name="hinge" type="continuous"><parent>base</parent><child>rod</child><axis><xyz>0 1 0</xyz></axis></joint>
</model></sdf>
"""
EXAMPLES = {"urdf": URDF, "toml": TOML, "mjcf": MJCF, "sdf": SDF, "pendulums": b"%rod 1.5 0.5\n"}      # the same arm


@pytest.fixture(params=EXAMPLES)
def name(request, monkeypatch):
    """Name of a format: those of the package, and one that only the line below makes known."""
    monkeypatch.setitem(FORMATS, "pendulums", Format((".pendulums",), b"%", "pendulums"))
    monkeypatch.syspath_prepend(str(__import__("pathlib").Path(__file__).parent))
    return request.param


def test_every_listed_format_has_an_example():
    assert FORMATS.keys() | {"pendulums"} == EXAMPLES.keys()


def test_a_file_is_read_whatever_tells_its_format(name, tmp_path):
    found = FORMATS[name]
    paths = [tmp_path / f"ARM{ending.upper()}" for ending in found.endings]
    for path in paths:
        path.write_bytes(EXAMPLES[name])
    for source in (*paths, *map(str, paths), EXAMPLES[name]):
        m = da.load(source)
        assert m.nv == 1 and da.mass_matrix(m, [0.3])[0, 0] == pytest.approx(0.1 + 1.5 * 0.25**2, rel=1e-14)
        assert da.gravity_vector(m, [0.3])[0] == pytest.approx(1.5 * 9.81 * 0.25 * np.sin(0.3), rel=1e-14)
    assert format_of(EXAMPLES[name], "somewhere") is FORMATS[name if found.begins else DEFAULT]


def test_parts_say_where_they_stand(name):
    m = da.load(EXAMPLES[name])
    lines = len(EXAMPLES[name].splitlines())
    for part in (*m.bodies, *(j for j in m.joints if j.name != "world")):
        assert part.source.file == "<bytes>" and 1 <= part.source.line <= lines


def test_options_of_load_are_those_of_every_format(name):
    plain = da.load(EXAMPLES[name])
    if name == "mjcf":      # whose base is the world
        with pytest.raises(da.ReadError, match="alone hangs on body 'world', which has no mass"):
            da.load(EXAMPLES[name], base="free")
    else:
        assert da.load(EXAMPLES[name], base="free").nv == 7
    assert da.load(EXAMPLES[name], lock={plain.independent_joints[0].name: 0.1}).nv == 0
    assert da.load(EXAMPLES[name], mimic="independent", passive=False, exact_angles=False, strict=True).nv == 1
    with pytest.raises(da.UnknownNameError, match="Did you mean 'exact'"):
        da.load(EXAMPLES[name], mimic="exakt")


def test_what_was_read_goes_through_toml(name, tmp_path):
    m = da.load(EXAMPLES[name])
    da.save(m, tmp_path / "arm.toml")
    assert da.load(tmp_path / "arm.toml") == m


def test_a_damaged_file_is_read_or_refused_with_a_place(name):
    """Cut, or with one byte changed: a mechanism, or an error of the package that names the source, on one line."""
    data, rng = EXAMPLES[name], np.random.default_rng(0)
    damaged = [data[:k] for k in range(1, len(data), 1 + len(data) // 40)]
    for _ in range(60):
        changed = bytearray(data)
        changed[rng.integers(len(data))] = rng.integers(256)
        damaged.append(bytes(changed))
    for text in damaged:
        try:
            assert isinstance(da.load(text), da.Mechanism)
        except da.ModelError as error:
            assert "<bytes>" in str(error) or error.findings
        except da.ReadError as error:
            assert "<bytes>" in str(error) and "\n" not in str(error)


@pytest.mark.parametrize("data, says", [(b" \n", "the file is empty"), (b"{}", "this is JSON")])
def test_what_is_in_no_format_is_said_to_be_none(data, says):
    with pytest.raises(da.ReadError, match=says):
        da.load(data)


@pytest.mark.parametrize("name, data, says", [
    ("robot.usda", b"#usda 1.0\n", "this is USD, .* Export it as URDF or MJCF"),
    ("robot.zip", b"PK\3\4" + bytes(30), "an archive. Unpack it"),
    ("robot.urdf", b"\x1f\x8b\x08" + bytes(30), "an archive. Unpack it"),
    ("link.stl", b"solid link\n", "a mesh, a shape without joints and masses. Load the robot file"),
    ("link.xml", b"<COLLADA/>", "a mesh"),
    ("arm.srdf", b"<robot name='a'><group name='g'/></robot>", "Load the URDF file beside it"),
    ("arm.sdf.xacro", b"<sdf><xacro:arg name='a'/></sdf>", "<xacro:arg> is not expanded.* Run `xacro FILE"),
    ("arm.xml.xacro", b"<mujoco><xacro:arg name='a'/></mujoco>", "<xacro:arg> is not expanded"),
])
def test_a_file_of_another_kind_is_named_with_what_to_load_in_its_place(tmp_path, name, data, says):
    (tmp_path / name).write_bytes(data)
    with pytest.raises(da.ReadError, match=says):
        da.load(tmp_path / name)
