"""`dalembert simulate`: what it prints and writes, exit codes, one line per error."""

import csv
import json
import sys

import numpy as np
import pytest
from test_cli import fails

import dalembert as da

CARTPOLE, UR5 = da.data.path("cartpole"), da.data.path("ur5")


@pytest.fixture
def run(run):
    """Runs `dalembert simulate FILE ...`."""
    return lambda *arguments, file=CARTPOLE: run("simulate", file, *arguments)


def test_json_is_the_run_of_the_function(run):
    options = ("--t", 0.5, "--q", "cart_to_pole=0.3", "--qd", "0.1,0", "--tau", "2,0", "--method", "dopri5", "--h", "1e-2",
               "--rtol", "1e-7", "--atol", "1e-9", "--record", 0.1)
    code, out, err = run(*options, "--json")
    assert (code, err) == (0, "")
    found, m = json.loads(out), da.load(CARTPOLE)
    right = da.simulate(m, [0, 0.3], [0.1, 0], 0.5, control=[2, 0], method="dopri5", h=1e-2, rtol=1e-7, atol=1e-9, record=0.1)
    assert (found["q"], found["qd"]) == (right.q[-1].tolist(), right.qd[-1].tolist())
    assert (found["records"], found["steps"], found["reason"]) == (6, int(right.steps), "finished")
    assert (found["coordinate_names"], found["mechanism"]) == (list(m.coordinate_names), m.name)
    assert found["work"] == right.work[-1] and found["energy_drift"] == right.energy_drift


def test_the_greatest_step_is_that_of_the_function(run):
    code, out, err = run("--t", 0.1, "--method", "dopri5", "--longest-step", 0.001, "--json")
    assert (code, err) == (0, "") and json.loads(out)["steps"] == 100
    fails(run("--t", 0.1, "--method", "rk4", "--longest-step", 0.001), 2, "longest_step= is for methods that choose their step; 'rk4'")


def test_summary_and_final_state_are_printed(run):
    code, out, err = run("--t", 0.2, "--q=0.1,0.2")
    right = da.simulate(da.load(CARTPOLE), [0.1, 0.2], [0, 0], 0.2)
    assert (code, err) == (0, "") and right.summary() in out
    assert "State at t = 0.2 s" in out and f"{right.q[-1, 1]:.5g}" in out and "cart_to_pole" in out


def test_a_floating_base_falls(run):
    code, out, _ = run("--t", 0.1, "--base", "free", "--q", "root_joint.pz=1", "--json", file=UR5)
    found = json.loads(out)
    m = da.load(UR5, base="free")
    drop = da.center_of_mass(m, found["q"])[2] - da.center_of_mass(m, [1, 0, 0, 0, 0, 0, 1, *[0] * 6])[2]
    assert code == 0 and drop == pytest.approx(-0.5 * 9.81 * 0.1**2, abs=1e-9)


@pytest.mark.parametrize(("name", "library"), [("r.csv", None), ("r.nc", "h5netcdf"), ("r.zarr", "zarr")])
def test_runs_are_written_by_the_ending_of_the_name(run, name, library, tmp_path):
    if library:
        pytest.importorskip(library)
    code, out, err = run("--t", 0.1, "--q=0.1,0.2", "-o", tmp_path / name)
    right = da.simulate(da.load(CARTPOLE), [0.1, 0.2], [0, 0], 0.1)
    assert (code, err) == (0, "") and f"wrote {tmp_path / name}" in out
    if library:
        q = da.Run.load(right.mechanism, tmp_path / name).q
    else:
        with (tmp_path / name).open(encoding="utf-8") as file:
            q = np.array([row[1:3] for row in csv.reader(file)][1:], dtype=float)
    np.testing.assert_array_equal(q, right.q)


def test_a_run_in_a_folder_is_never_overwritten_and_goes_on(run, tmp_path):
    pytest.importorskip("zarr")
    call = ("--t", 0.1, "--q=0.1,0.2", "-o", tmp_path / "r.zarr")
    assert run(*call)[0] == 0
    fails(run(*call), 2, "is there already", "--resume")
    code, out, err = run(*call, "--resume", "--json")
    assert (code, err) == (0, "") and json.loads(out)["reason"] == "finished"
    fails(run("--t", 0.2, "--q=0.1,0.2", "-o", tmp_path / "r.zarr", "--resume"), 1, "another t")
    fails(run("--t", 0.1, "-o", tmp_path / "r.csv", "--resume"), 2, "--resume goes on with a run in a .zarr folder")


def test_diagrams_and_the_page_are_written(run, tmp_path):
    pytest.importorskip("matplotlib")
    code, out, err = run("--t", 0.1, "--plot", tmp_path / "r.png", "--animate", tmp_path / "r.html", "--json")
    assert (code, err) == (0, "") and json.loads(out)["files"] == [str(tmp_path / "r.png"), str(tmp_path / "r.html")]
    assert (tmp_path / "r.png").read_bytes()[:4] == b"\x89PNG" and "<canvas" in (tmp_path / "r.html").read_text()


def test_films_are_written(run, tmp_path):
    pytest.importorskip("matplotlib")
    code, out, err = run("--t", 0.2, "--animate", tmp_path / "r.gif", "--speed", 0.5)
    assert (code, err) == (0, "") and f"wrote {tmp_path / 'r.gif'}" in out
    assert (tmp_path / "r.gif").read_bytes()[:4] == b"GIF8"


@pytest.mark.parametrize(("name", "reaches"), [("pd", False), ("gravity-pd", True), ("computed-torque", True)])
def test_a_controller_goes_to_its_set_point(run, name, reaches):
    goal = "shoulder_lift_joint=-0.5,elbow_joint=1"
    code, out, err = run("--t", 4, "--controller", name, "--goal", goal, "--h", "2e-3", "--json", file=UR5)
    away = np.abs(np.array(json.loads(out)["q"]) - [0, -0.5, 1, 0, 0, 0]).max()
    assert code == 0 and (away < 1e-3) == reaches      # plain PD hangs below it, under gravity


def test_a_sampled_controller_reaches_its_set_point_as_well(run):
    options = ("--t", 2, "--h", "2e-3", "--controller", "gravity-pd", "--bandwidth", 5, "--goal", "0.1,0.2", "--json")
    ends = [json.loads(run(*options, *more)[1])["q"] for more in ((), ("--sampled", "0.01", "--delay", "0.004"))]
    assert max(abs(a - b) for a, b in zip(*ends)) < 0.02 and ends[0] != ends[1]


def test_a_controller_holds_the_initial_posture_against_a_force(run):
    options = ("--t", 6, "--h", "2e-3", "--q=0.1,0.2", "--tau", "3,0", "--controller", "computed-torque", "--bandwidth", 5, "--json")
    found = json.loads(run(*options)[1])
    m = da.load(CARTPOLE)
    held = 0.1 + 3 / 25 * np.linalg.inv(da.mass_matrix(m, found["q"]))[0, 0]      # M (k_p e) = -tau
    assert found["q"][0] == pytest.approx(held, abs=1e-6)


def test_quaternions_of_a_set_point_are_looked_at(run):
    options = ("--t", 1, "--base", "free", "--controller", "gravity-pd", "--goal", "root_joint.w=2")
    fails(run(*options, file=UR5), 2, "--goal", "norm 2")
    fails(run("--t", 1, "--base", "free", "--controller", "computed-torque", file=UR5), 1, "quaternion")


def test_a_run_that_ends_early_is_written_and_exits_with_1(run, tmp_path):
    code, out, err = run("--t", 100, "--h", 0.5, "--method", "explicit_euler", "--tau", "1e99,0", "-o", tmp_path / "r.csv")
    assert code == 1 and err.startswith("error: the run ended early: ") and err.count("\n") == 1
    assert "stopped: " in out and "State at t = " in out and len((tmp_path / "r.csv").read_text().splitlines()) > 1


@pytest.mark.parametrize(("arguments", "parts"), [
    ([], ["--t"]), (["--t", "-1"], ["t=-1.0", "positive duration"]), (["--t", "nan"], ["t=nan"]),
    (["--t", "1", "--h", "0"], ["h=0.0", "positive step"]), (["--t", "1", "--record", "0"], ["record=0.0"]),
    (["--t", "1", "--method", "rk5"], ["unknown method 'rk5'", "Did you mean 'rk4'?"]),
    (["--t", "1", "--rtol", "-1"], ["--rtol"]), (["--t", "1", "--q", "1"], ["--q has 1 number, expected 2"]),
    (["--t", "1", "--tau", "pole=1"], ["unknown entry of --tau 'pole'"]),
    (["--t", "1", "-o", "r.txt"], ["--output 'r.txt'", "must end in .csv, .nc, .zarr"]),
    (["--t", "1", "--plot", "r.gif"], ["--plot 'r.gif'", ".png, .svg, .pdf"]),
    (["--t", "1", "--animate", "r.avi"], ["--animate 'r.avi'", ".html, .htm, .gif, .mp4"]),
    (["--t", "1000", "--animate", "r.gif"], ["--animate 'r.gif'", "30001 pictures", "give a larger speed"]),
    (["--t", "1", "--controller", "pid"], ["unknown controller 'pid'", "Did you mean 'pd'?"]),
    (["--t", "1", "--sampled", "0.01"], ["--sampled is the period of a controller: give --controller"]),
    (["--t", "1", "--delay", "0.01"], ["--delay is that of a sampled controller: give --controller and --sampled"]),
    (["--t", "1", "--controller", "pd", "--delay", "0.01"], ["--delay is that of a sampled controller: give --sampled"]),
    (["--t", "1", "--bandwidth", "5"], ["--bandwidth is that of a controller: give --controller"]),
    (["--t", "1", "--controller", "pd", "--bandwidth", "inf"], ["--bandwidth inf: expected a finite number"]),
    (["--t", "1", "--controller", "pd", "--sampled", "inf"], ["--sampled: Sampled: period=inf, expected a time"]),
    (["--t", "1", "--controller", "pd", "--sampled", "1", "--delay", "inf"], ["delay=inf, expected a time"]),
    (["--t", "1", "--controller", "pd", "--sampled", "1e-6", "--delay", "9"], ["more than 1000000 periods", "shorter delay"]),
    (["--t", "1", "--method", ""], ["unknown method ''"]), (["--t", "1", "--formulation", ""], ["unknown formulation ''"]),
    (["--t", "1", "--goal", "0,0"], ["--goal is the set point of a controller"]),
    (["--t", "1", "--controller", "pd", "--goal", "0"], ["--goal has 1 number, expected 2"]),
    (["--t", "1", "--controller", "pd", "--bandwidth", "0"], ["--bandwidth"]),
    (["--t", "1", "-o", "nowhere/r.csv"], ["there is no folder 'nowhere'"]),
    (["--t", "1", "--record", "1e-12"], ["give record= a larger spacing"])])
def test_wrong_usage_is_one_line(run, arguments, parts):
    fails(run(*arguments), 2, *parts)


def test_quaternions_and_files_are_looked_at(run, tmp_path):
    fails(run("--t", 1, "--base", "free", "--q", "root_joint.w=2", file=UR5), 2, "--q", "norm 2")
    fails(run("--t", 1, file=tmp_path / "none.urdf"), 2, "none.urdf")
    (tmp_path / "r.csv").mkdir()
    fails(run("--t", 0.1, "-o", tmp_path / "r.csv"), 2, "cannot write the run", "Is a directory")


@pytest.mark.parametrize(("missing", "option", "extra"), [("matplotlib", ("--plot", "r.png"), "plot"), ("xarray", ("-o", "r.nc"), "files")])
def test_a_library_that_is_not_installed_is_said_before_the_run(run, monkeypatch, missing, option, extra):
    monkeypatch.setitem(sys.modules, missing, None)
    monkeypatch.setattr(da, "simulate", None)
    fails(run("--t", 1, *option), 1, f"{missing} is not installed: pip install 'dalembert[{extra}]'.")
