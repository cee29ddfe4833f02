"""The embedded robots: each loads with known findings, has licence and origin, and is known by its name everywhere."""

import tomllib
from pathlib import Path

import numpy as np
import pytest

import dalembert as da
from dalembert import data
from oracles import INDEX

ROOT = Path(__file__).parents[1]
EACH = pytest.mark.parametrize("name", data.names())
KNOWN = {      # errors and warnings of files that are kept as they were published; all others have none
    "panda": ["not used"],
    "iiwa14": ["body 'lbr_iiwa_link_0'"],
    "puma560": ["body 'link1'", "body 'link1'", "body 'link1'", "body 'link3'"],
    "g1": ["not used"],
}
LICENCES = {"Apache-2.0": "Apache License", "BSD-2-Clause": "Redistributions in binary form", "BSD-3-Clause": "Neither the name of", "Zlib": "zlib license"}


@EACH
def test_a_robot_loads_by_its_name_with_known_findings(name):
    m = da.load(name)
    assert m == da.load(data.path(name)) == da.load(str(data.path(name)))
    assert m.name.replace(" ", "_").replace("-", "_") == name
    assert [f.what for f in m.check() if f.severity != "note"] == KNOWN.get(name, []), m.check()
    assert np.linalg.eigvalsh(da.mass_matrix(m, m.neutral())).min() > 0


@EACH
def test_a_robot_has_licence_and_origin_beside_its_file(name):
    robot, folder = data.about(name), data.path(name).parent
    about = (folder / "README.md").read_text()
    if robot.origin == "this project":
        assert folder.name == "own" and robot.licence == "BSD-3-Clause" and data.path(name).name in about
    else:
        text = (folder / "LICENSE").read_text()
        assert LICENCES[robot.licence] in text and ("Neither the name of" in text) == (robot.licence == "BSD-3-Clause")
        assert f"Licence: {robot.licence} " in about and robot.origin in about and "Altered: " in about


def test_the_package_names_each_licence_and_ships_its_text():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert set(project["license"].split(" AND ")) == {data.about(name).licence for name in data.names()}
    listed = {file for pattern in project["license-files"] for file in ROOT.glob(pattern)}
    assert {*ROOT.glob("src/dalembert/data/*/LICENSE"), ROOT / "LICENSE"} == listed


def test_every_file_of_the_folder_is_a_robot_and_those_with_reference_values_are_here():
    files = {path for kind in ("urdf", "toml") for path in data.path("ur5").parents[1].rglob(f"*.{kind}")}
    assert {data.path(name) for name in data.names()} == files
    assert {Path(meta["model_file"]).stem for meta in INDEX.values()} <= {*data.names()}


def test_an_unknown_name_is_answered_with_the_known_ones():
    for ask in (data.path, data.about):
        with pytest.raises(da.UnknownNameError, match="known: panda, ur5, .* Did you mean 'panda'?"):
            ask("pandas")
    with pytest.raises(da.MissingFileError, match="no embedded robot of that name .known: panda, .*elastic_arm.* Did you mean 'scara'?"):
        da.load("skara")
    with pytest.raises(da.MissingFileError, match="Did you mean 'ur5'?"):
        da.load("UR5")
    with pytest.raises(da.MissingFileError, match="quokka: there is no such file, .*elastic_arm[)][.]$"):
        da.load(Path("quokka"))


def test_a_file_comes_before_the_robot_of_its_name_and_a_folder_does_not(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("scara").write_text("<robot name='mine'><link name='a'/></robot>")
    Path("ur5").mkdir()
    Path("other").mkdir()
    assert (da.load("scara").name, da.load("ur5").name) == ("mine", "ur5")
    with pytest.raises(da.ReadError, match="cannot be opened"):
        da.load("other")


@pytest.mark.parametrize("name", ["four_bar", "rolling_disc"])
def test_loops_are_closed_at_neutral_coordinates(name):
    m = da.load(name)
    assert np.abs(da.constraint_residual(m, m.neutral())).max() < 1e-15


def test_messages_name_an_embedded_file_within_its_folder_and_load_takes_that_name(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert {f.source.file for f in da.load("ur5").check()} == {"ur5/ur5.urdf"}
    assert da.load("ur5/ur5.urdf") == da.load("ur5")
    (tmp_path / "ur5").mkdir()
    (tmp_path / "ur5" / "ur5.urdf").write_text("<robot name='mine'><link name='a'/></robot>")
    assert da.load("ur5/ur5.urdf").name == "mine"


def test_the_command_lists_every_robot(run):
    code, out, err = run("robots")
    lines = out.splitlines()
    assert (code, err) == (0, "") and [line.split()[0] for line in lines[1:len(data.names()) + 1]] == [*data.names()]
    assert "7R 2P" in lines[1] and "1F 2R 1C" in out
