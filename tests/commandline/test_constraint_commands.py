"""Commands on files with constraints: freedoms, findings, states that are closed, multipliers, files beside a URDF file."""

import json
from pathlib import Path

import numpy as np
import pytest
from test_cli import fails

import dalembert as da

OWN = Path(__file__).parents[1] / "data" / "models" / "own"
MOBILE, ROLLING = OWN / "mobile_scara.urdf", OWN / "mobile_scara_rolling.toml"


@pytest.fixture(scope="module")
def four_bar(tmp_path_factory):
    file = tmp_path_factory.mktemp("loops") / "four_bar.toml"
    da.save(da.loops.four_bar().mechanism, file)
    return file


def test_info_shows_constraints_and_freedoms(run, four_bar):
    code, out, err = run("info", four_bar)
    assert (code, err) == (0, "")
    assert "pin         Closure, spherical  coupler, rocker     3  chetaev" in out
    assert "four-bar: 1 degree of freedom" in out and "driven joints: crank" in out
    assert "redundant: pin[1] holds nothing that moves" in out


def test_info_reads_constraints_beside_a_urdf_file(run):
    code, out, _ = run("info", MOBILE, "--constraints", ROLLING)
    assert code == 0 and "left rolling   Rolling  left_wheel" in out
    assert "mobile_scara: 6 degrees of freedom" in out
    assert "Rolling" not in run("info", MOBILE)[1]


def test_check_finds_faults_of_constraints_with_their_lines(run, four_bar, tmp_path):
    typo = tmp_path / "typo.toml"
    typo.write_text(ROLLING.read_text().replace('"left_wheel"', '"left_weel"', 1))
    code, out, _ = run("check", MOBILE, "--constraints", typo)
    assert code == 1 and f"({typo}, line 4): it names the frame 'left_weel', which does not exist. Did you mean 'left_wheel'?" in out
    short = tmp_path / "long.toml"
    short.write_text(four_bar.read_text().replace("first = { body = \"coupler\", xyz = [1.0", "first = { body = \"coupler\", xyz = [3.0"))
    code, out, _ = run("check", short)
    line = short.read_text().splitlines().index("[[constraint]]") + 1
    assert code == 1 and f"error: constraint 'pin' ({short}, line {line}): it cannot be met" in out
    assert run("check", four_bar)[0] == 0


def test_a_goal_is_closed_about_the_entries_that_were_typed(run, four_bar):
    code, out, err = run("simulate", four_bar, "--t", 3, "--controller", "computed-torque", "--q", "crank=0.5", "--goal",
                         "crank=1", "--json")
    assert code == 0 and "loops were closed at the goal with crank as typed" in err
    found = json.loads(out)
    assert abs(found["q"][0] - 1) < 1e-3
    assert np.abs(da.constraint_residual(da.load(four_bar), found["q"])).max() < 1e-12


def test_typed_coordinates_stay_and_the_loop_is_closed(run, four_bar):
    code, out, err = run("simulate", four_bar, "--t", 0.1, "--q", "crank=1.2", "--qd", "crank=2", "--json")
    assert code == 0 and "loops were closed with crank as typed" in err and "velocities were made consistent with crank as typed" in err
    found = json.loads(out)
    mechanism = da.load(four_bar)
    with pytest.warns(da.DalembertWarning):
        q = da.assemble(mechanism, [1.2, 0, 0], fixed=["crank"])
    rates = np.linalg.lstsq(da.constraint_jacobian(mechanism, q)[:, 1:], -2 * da.constraint_jacobian(mechanism, q)[:, 0], rcond=None)[0]
    right = da.simulate(mechanism, q, [2.0, *rates], 0.1)
    np.testing.assert_allclose(found["q"], right.q[-1], atol=1e-9)
    _, _, err = run("simulate", four_bar, "--t", 0.01, "--q", ",".join(map(repr, q.tolist())), "--json")
    assert err == ""      # it is met already


def test_dynamics_shows_multipliers(run, four_bar):
    code, out, err = run("dynamics", four_bar, "--q", "crank=1.2", "--qd", "crank=2", "--json")
    found = json.loads(out)
    assert code == 0 and "accelerations were made consistent" in err
    mechanism = da.load(four_bar)
    state = found["q"], found["qd"], found["tau"]
    np.testing.assert_allclose(found["qdd"], da.forward_dynamics(mechanism, *state), atol=1e-9)
    np.testing.assert_allclose(found["multipliers"], da.multipliers(mechanism, *state), atol=1e-9)
    assert found["constraint_rows"] == ["pin[0]", "pin[1]", "pin[2]"] and found["tau"][1:] == [0, 0]
    J = da.constraint_jacobian(mechanism, found["q"])
    left = np.array(found["mass_matrix"]) @ found["qdd"] + found["bias_force"]
    np.testing.assert_allclose(left, found["tau"] + J.T @ found["multipliers"], atol=1e-9)
    assert "pin[2]" in run("dynamics", four_bar, "--q", "crank=1.2")[1]


def test_dynamics_of_typed_accelerations_and_forces(run, four_bar):
    _, out, _ = run("dynamics", four_bar, "--q", "crank=1.2", "--qdd", "crank=3", "--json")
    found = json.loads(out)
    assert found["qdd"][0] == 3
    _, out, _ = run("dynamics", four_bar, "--q", "crank=1.2", "--tau", f"crank={found['tau'][0]!r}", "--json")
    np.testing.assert_allclose(json.loads(out)["qdd"], found["qdd"], atol=1e-9)


def test_more_that_is_typed_than_loops_leave_free_is_an_error(run, four_bar):
    fails(run("dynamics", four_bar, "--q", "crank=1.2,rocker=0.1"), 1, "with crank, rocker held")


def test_a_missing_file_of_constraints_is_named(run):
    fails(run("info", "panda", "--constraints", "nowhere"), 2, "nowhere: there is no such file.")


def test_commands_about_trees_say_that_constraints_are_left_out(run, four_bar):
    code, _, err = run("bench", four_bar, "--states", 4, "--repeats", 1)
    assert code == 0 and "note: constraints are left out here, this command looks at the tree: pin." in err
