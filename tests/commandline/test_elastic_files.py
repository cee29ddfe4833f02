"""Commands on files with elastic links: tables of their coordinates, start states by name, beams beside a URDF file."""

import json

import numpy as np
import pytest

import dalembert as da

BEAM = da.Beam(0.8, EIy=129.4, EIz=129.4, mass_per_length=0.2466, damping=da.Rayleigh(stiffness=2e-4))
BESIDE = """[[body]]
name = "forearm_link"
modes = { bend_y = 1 }
[body.beam]
length = 0.4
EIz = 200
mass_per_length = 1.5
"""


@pytest.fixture(scope="module")
def arm(tmp_path_factory):
    chain = da.planar_chain(2, length=0.8).elastic({"link1": BEAM, "link2": BEAM}, {"bend_z": 1})
    loaded = chain.attach(da.Body("load", 2.0, (0.05, 0, 0), (0.002, 0, 0.002, 0, 0, 0.002)), "tip")
    file = tmp_path_factory.mktemp("elastic") / "arm.toml"
    da.save(loaded, file)
    return file


def test_info_lists_elastic_bodies_and_their_coordinates_with_units(run, arm):
    code, out, err = run("info", arm)
    assert (code, err) == (0, "") and "bodies: 4, base base; 2 move once links on fixed joints are joined" in out
    assert "link1              0.8  0.19728  second_order  stiffness 0.0002" in out
    assert " 3  link2.bend_z1  m" in out and "moving mass: 2.39456 kg" in out


def test_check_tells_of_masses_and_places(run, arm):
    assert run("check", arm)[:2] == (0, "0 errors, 0 warnings, 0 notes\n")


def test_states_are_typed_by_the_name_of_a_coordinate(run, arm):
    code, out, _ = run("dynamics", arm, "--q", "link2.bend_z1=0.01", "--json")
    found = json.loads(out)
    assert code == 0 and found["coordinate_names"][3] == "link2.bend_z1" and found["q"][3] == 0.01
    np.testing.assert_allclose(found["tau"], da.inverse_dynamics(da.load(arm), found["q"], np.zeros(4), np.zeros(4)), rtol=1e-12)
    code, _, err = run("dynamics", arm, "--q", "link2.bend_y1=0.01")
    assert code == 2 and "link2.bend_y1" in err and "link2.bend_z1" in err


def test_a_run_has_a_column_of_each_coordinate(run, arm, tmp_path):
    code, out, _ = run("simulate", arm, "--t", 0.02, "--q", "q1=0.5,link2.bend_z1=0.01", "--record", 0.01, "-o", tmp_path / "run.csv", "--json")
    assert code == 0
    header = (tmp_path / "run.csv").read_text().splitlines()[0]
    assert "link2.bend_z1" in header


def test_pd_drives_joints_alone(run, arm):
    code, out, _ = run("simulate", arm, "--t", 0.01, "--controller", "pd", "--q", "q1=0.5", "--goal", "q1=0.6", "--json")
    assert code == 0
    for name in ("gravity-pd", "computed-torque"):
        code, _, err = run("simulate", arm, "--t", 0.01, "--controller", name, "--q", "q1=0.5", "--goal", "q1=0.6")
        assert code == 1 and "no actuator acts on the deflections of 'link1', 'link2'" in err


def test_pd_drives_the_motors_of_flexible_joints(run, tmp_path):
    chain = da.planar_chain(1).replace({"q1.rotor_inertia": 1e-4, "q1.gear_ratio": 100}).with_flexible_joints({"q1": 500.0})
    file = tmp_path / "flexible.toml"
    da.save(chain, file)
    code, out, _ = run("info", file)
    assert code == 0 and "flexible joint q1: stiffness 500, damping 0, driven by q1.motor" in out
    code, out, _ = run("simulate", file, "--t", 0.01, "--controller", "pd", "--goal", "q1.motor=0.6", "--json")
    assert code == 0 and json.loads(out)["q"][1] > 0
    code, _, err = run("simulate", file, "--t", 0.01, "--controller", "gravity-pd", "--goal", "q1=0.6")
    assert code == 1 and "flexible joints (q1) are driven by their motors alone" in err
    with pytest.raises(da.ModelError, match="gains of joint 'q1' are not 0"):
        da.controllers.PD(chain, [0.0, 0.0], 10.0, 1.0)


def test_beams_beside_a_urdf_file(run, tmp_path):
    urdf = tmp_path / "arm.urdf"
    urdf.write_text('<robot name="arm"><link name="base"/><link name="forearm_link"><inertial><origin xyz="0.2 0 0"/><mass value="1"/>'
                    '<inertia ixx="0.01" ixy="0" ixz="0" iyy="0.02" iyz="0" izz="0.02"/></inertial></link>'
                    '<joint name="hinge" type="continuous"><parent link="base"/><child link="forearm_link"/><axis xyz="0 0 1"/></joint></robot>')
    beside = tmp_path / "arm_elastic.toml"
    beside.write_text(BESIDE)
    code, out, _ = run("info", urdf, "--constraints", beside)
    assert code == 0 and "forearm_link.bend_y1" in out
    code, out, _ = run("check", urdf, "--constraints", beside)
    assert code == 0 and "are replaced by those of its beam, 0.6 kg, centre at (0.2, 0, 0) m" in out
    beside.write_text(BESIDE.replace("EIz", "EIx"))
    code, out, err = run("check", urdf, "--constraints", beside)
    assert code == 1 and f"({beside}, line 6): body 'forearm_link', beam: unknown key 'EIx'" in out + err
