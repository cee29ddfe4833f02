"""`dalembert codegen`: files that compile and agree with the package, one line per error."""

import re
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest

import dalembert as da

UR5 = da.data.path("ur5")
STRICT = ["gcc", "-Wall", "-Wextra", "-Werror", "-std=c99", "-pedantic", "-O2"]


@pytest.fixture
def run(run, tmp_path):
    """Runs `dalembert codegen FILE ... -o tmp_path/made`."""
    return lambda *arguments, file=UR5, folder=tmp_path / "made": run("codegen", file, "-o", folder, *arguments)


def made(folder, name):
    """The function of a generated Python file."""
    namespace = {}
    exec((folder / f"{name}.py").read_text(encoding="ascii"), namespace)
    return namespace[name]


@pytest.mark.skipif(shutil.which("gcc") is None, reason="no gcc: generated C is not compiled")
def test_c_files_are_listed_and_pass_their_own_test(run, tmp_path):
    names = ["ur5_inverse_dynamics", "ur5_forward_dynamics", "ur5_jacobian_tool0"]
    code, out, err = run("--functions", "inverse_dynamics, forward_dynamics,jacobian:tool0")
    folder = tmp_path / "made"
    assert (code, err) == (0, "")
    assert out.splitlines() == [str(folder / f"{name}{end}") for name in names for end in (".h", ".c", "_test.c")]
    for name in names:
        subprocess.run([*STRICT, f"{name}.c", f"{name}_test.c", "-lm", "-o", name], cwd=folder, check=True)
        assert f"{name}: 10 vectors" in subprocess.run([f"./{name}"], cwd=folder, check=True, capture_output=True, text=True).stdout
    header = (folder / "ur5_forward_dynamics.h").read_text()
    for part in ("of the mechanism 'ur5'; SI units", "Entries of q, qd, tau: shoulder_pan_joint, ", "Returns a status:"):
        assert part in header


def test_numpy_files_agree_with_the_package(run, tmp_path):
    assert run("--functions", "mass_matrix,inverse_dynamics", "--target", "numpy", "--base", "free")[0] == 0
    arm = da.load(UR5, base="free")
    q, qd = arm.random_state(1)
    folder = tmp_path / "made"
    (M, status), (tau, _) = made(folder, "ur5_mass_matrix")(q), made(folder, "ur5_inverse_dynamics")(q, qd, 2 * qd)
    assert status == 0 and made(folder, "ur5_mass_matrix")(1.1 * q)[1] == -1      # the quaternion of the base
    np.testing.assert_allclose(M, da.mass_matrix(arm, q), rtol=0, atol=1e-12 * abs(M).max())
    np.testing.assert_allclose(tau, da.inverse_dynamics(arm, q, qd, 2 * qd), rtol=0, atol=1e-12 * abs(tau).max())


def test_names_of_a_file_stay_out_of_code_and_of_each_other(run, tmp_path):
    file, hostile = tmp_path / "x.urdf", "*/ plecho \u043f 1"
    file.write_text(UR5.read_text().replace("tool0", hostile).replace("shoulder_pan_joint", 'a"""b'.replace('"', "&quot;")),
                    encoding="utf-8")
    functions = f"jacobian:{hostile},jacobian:wrist_1_link,jacobian:wrist_1_link,placement:{hostile}"
    code, out, err = run("--functions", functions, "--target", "numpy", file=file)
    assert (code, err) == (0, "")
    names = [Path(line).name for line in out.splitlines()]
    assert names == [f"ur5_{name}.py" for name in ("jacobian_plecho_u43f_1", "jacobian_wrist_1_link", "placement_plecho_u43f_1")]
    arm = da.load(file)
    q = arm.random_state(0)[0]
    np.testing.assert_allclose(made(tmp_path / "made", names[0][:-3])(q)[0], da.jacobian(arm, q, hostile), atol=1e-14)


@pytest.mark.parametrize("arguments, parts", [
    (["--functions", "mass_matrx"], ["unknown quantity 'mass_matrx'", "Did you mean 'mass_matrix'?"]),
    (["--functions", "mass_matrix", "--target", "fortran"], ["unknown target 'fortran' (known: c, numpy, llvm)."]),
    (["--functions", ""], ["unknown quantity ''"]), (["--functions", "jacobian:hand"], ["hand"]), ([], ["--functions"])])
def test_wrong_usage_is_one_line_and_writes_nothing(run, tmp_path, arguments, parts):
    code, out, err = run(*arguments)
    assert (code, out) == (2, "") and err.startswith("error: ") and err.count("\n") == 1
    assert all(part in err for part in parts) and not (tmp_path / "made").exists()


def test_a_second_robot_does_not_overwrite_the_first(run, tmp_path):
    other = tmp_path / "other.urdf"
    other.write_text(re.sub(r'<mass value="[0-9.]+"', '<mass value="1.25"', UR5.read_text()), encoding="utf-8")
    asked = ("--functions", "gravity_vector", "--target", "numpy")
    assert run(*asked)[0] == 0 and run(*asked)[0] == 0                     # the same again
    first = (tmp_path / "made" / "ur5_gravity_vector.py").read_text()
    code, out, err = run(*asked, file=other)
    assert code == 1 and out == "" and err.count("\n") == 1
    assert "ur5_gravity_vector.py" in err and "is there already" in err and "--prefix" in err and "--force" in err
    assert (tmp_path / "made" / "ur5_gravity_vector.py").read_text() == first
    assert run(*asked, "--prefix", "second arm", file=other)[1].endswith("second_arm_gravity_vector.py\n")
    assert run(*asked, "--force", file=other)[0] == 0
    assert (tmp_path / "made" / "ur5_gravity_vector.py").read_text() != first


def test_a_folder_that_cannot_be_written_is_one_line(run, tmp_path):
    (tmp_path / "file").write_text("")
    code, out, err = run("--functions", "mass_matrix", folder=tmp_path / "file" / "made")
    assert (code, out) == (2, "") and err.count("\n") == 1 and "cannot write to" in err and "Not a directory" in err


def test_a_comma_of_a_frames_name_is_written_with_a_backslash(run, tmp_path):
    arm = da.planar_chain(1)
    arm = da.Mechanism("arm", arm.bodies, arm.joints, (da.Frame("left, front", "link1"),))
    da.save(arm, tmp_path / "arm.toml")
    names = ("--functions", r"mass_matrix, placement:left\, front", "--target", "numpy")
    code, out, err = run(*names, file=tmp_path / "arm.toml")
    assert (code, err) == (0, "") and out.splitlines()[-1].endswith("arm_placement_left_front.py")
    assert run("--functions", "placement:left, front", file=tmp_path / "arm.toml")[0] == 2
