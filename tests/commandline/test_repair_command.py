"""`dalembert repair` and `dalembert convert`: printed, and written only where asked."""

import os

import pytest

import dalembert as da
from dalembert import data

FAULTS = """<robot name="r"><link name="base"/>
<link name="arm\x1b"><inertial><mass value="1"/><inertia ixx="1" ixy="0" ixz="0" iyy="0.1" iyz="0" izz="0.1"/></inertial></link>
<joint name="j" type="continuous"><parent link="base"/><child link="arm\x1b"/><axis xyz="0 0 1"/></joint></robot>
""".replace("\x1b", "\x85")


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "arm.urdf"
    path.write_text(FAULTS, encoding="utf-8")
    return path


def test_repair_prints_a_diff_and_writes_nothing(run, file):
    code, out, err = run("repair", file)
    assert (code, err) == (0, "") and file.read_text(encoding="utf-8") == FAULTS
    assert "the nearest possible one: changed by 56 %" in out and "1 change, no errors or warnings left; nothing written" in out
    assert '\n+<link name="arm\\x85">' in out and "@@ -1,3 +1,3 @@" in out


def test_repair_writes_where_it_is_asked_to(run, file, tmp_path):
    code, out, _ = run("repair", file, "-o", tmp_path / "whole.urdf")
    assert code == 0 and "written to" in out and file.read_text(encoding="utf-8") == FAULTS
    assert not [f for f in da.load(tmp_path / "whole.urdf", strict=True).check() if f.severity != "note"]
    assert run("repair", file, "--write")[0] == 0
    assert file.read_text(encoding="utf-8") == (tmp_path / "whole.urdf").read_text(encoding="utf-8")
    assert run("repair", file)[1].startswith("nothing to repair")


def test_errors_that_are_left_are_exit_1(run, tmp_path):
    file = tmp_path / "arm.urdf"
    file.write_text(FAULTS.replace('link="base"', 'link="bse"'), encoding="utf-8")
    code, out, _ = run("repair", file)
    assert code == 1 and "nothing repaired" in out and "'bse', which does not exist" in out


def test_masses_are_given_and_moments_follow_from_shapes(run, tmp_path):
    """Also without <inertial> or <mass>, and in turned axes; what is written is what `repaired` gives."""
    file, whole = tmp_path / "a.urdf", tmp_path / "whole.urdf"
    file.write_text("""<robot name="arm"><link name="base"/><link name="rod">
<inertial><origin xyz="0.1 0 0" rpy="0.3 0.4 0.5"/><inertia ixx="0" ixy="0" ixz="0" iyy="0" iyz="0" izz="0"/></inertial>
<visual><geometry><box size="0.2 0.1 0.3"/></geometry></visual></link>
<link name="tip"><visual><geometry><sphere radius="0.1"/></geometry></visual></link>
<joint name="a" type="continuous"><parent link="base"/><child link="rod"/><axis xyz="0 0 1"/></joint>
<joint name="b" type="continuous"><parent link="rod"/><child link="tip"/><axis xyz="0 1 0"/></joint></robot>""")
    code, out, err = run("repair", file, "--masses", "rod=2,tip=0.5", "--from-shapes", "-o", whole)
    assert (code, err) == (0, "") and "link 'rod' (line 1): its mass was 0 kg; it is 2.0 kg, as given." in out
    with pytest.warns(da.DalembertWarning, match="no mass"):
        expected = da.load(file)
    expected = expected.repaired({"rod": 2, "tip": 0.5}, from_shapes=True)
    assert da.mass_matrix(da.load(whole), [0.1, 0.2]) == pytest.approx(da.mass_matrix(expected, [0.1, 0.2]), rel=1e-9)
    for masses, message in [("rod=-2", "expected more than 0"), ("rid=2", "Did you mean 'rod'?"), ("rod", "not of the form"), ("rod=1,rod=2", "twice")]:
        code, _, err = run("repair", file, "--masses", masses)
        assert code == 2 and message in err and err.count("\n") == 1


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no pipes with names")
def test_pipes_and_devices_are_not_waited_for(run, tmp_path):
    os.mkfifo(tmp_path / "pipe.urdf")
    for name, message in ((tmp_path / "pipe.urdf", "the file is empty"), ("/dev/zero", "larger than MAX_FILE_BYTES"), (tmp_path, "cannot be opened")):
        for command in (["repair", name], ["convert", name, tmp_path / "out.toml"], ["check", name]):
            code, out, err = run(*command)
            assert code == 1 and message in out + err


def test_wrong_usage_is_one_line(run, file, tmp_path):
    assert run("repair", tmp_path / "no.urdf")[0] == 2
    assert run("convert", tmp_path / "no.urdf", file)[0] == 2
    assert run("repair", file, "--write", "-o", tmp_path / "x.urdf")[0] == 2
    code, out, err = run("convert", file, file)
    assert code == 2 and "FILE itself" in err and not out
    code, _, err = run("convert", "panda", tmp_path / "panda.step")
    assert code == 2 and "must end in .toml, .urdf, .xml" in err


def test_convert_writes_other_formats_and_says_what_is_lost(run, tmp_path):
    code, out, _ = run("convert", "panda", tmp_path / "panda.toml")
    assert code == 0 and out.startswith("written to") and da.load(tmp_path / "panda.toml").nq == 8
    code, _, err = run("convert", "panda", tmp_path / "panda.xml")
    assert code == 0 and "MJCF cannot say all" in err
    code, _, err = run("convert", "panda", tmp_path / "other.xml", "--strict")
    assert code == 1 and not (tmp_path / "other.xml").exists()
    assert da.load(data.path("panda")).nq == 8
