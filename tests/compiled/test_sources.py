"""Source code from Python: names with a prefix, robots side by side in one program, a status that covers every result."""

import ctypes
import re
import shutil
import subprocess

import numpy as np
import pytest

import dalembert as da
from dalembert.codegen.program import NOT_FINITE

FIRST, SECOND = da.planar_chain(2, mass=1.0), da.planar_chain(3, mass=2.0)
FLOATING = da.random_tree(3, 2, ["free", "revolute"])
C99 = ["gcc", "-std=c99", "-Wall", "-Wextra", "-Werror", "-pedantic"]
CPP = ["g++", "-x", "c++", "-std=c++17", "-Wall", "-Wextra", "-Werror", "-pedantic"]
needs_gcc = pytest.mark.skipif(shutil.which("gcc") is None, reason="no gcc: generated C is not compiled")
needs_cpp = pytest.mark.skipif(shutil.which("g++") is None, reason="no g++: generated C is not compiled as C++")
HOSTILE = ("double", "9 lives", "*/ int main", "../../etc/passwd", "a\nb", "\u0430\u0440\u043c", "", "x" * 500, "_A", "%s\0")


def library(folder, texts):
    """Generated C as a library that can be called."""
    for name, text in texts.items():
        (folder / name).write_text(text, encoding="ascii")
    sources = [name for name in texts if name.endswith(".c") and not name.endswith("_test.c")]
    subprocess.run([*C99, "-O1", "-shared", "-fPIC", *sources, "-lm", "-o", "made.so"], cwd=folder, check=True)
    return ctypes.CDLL(str(folder / "made.so"))


def called(function, sizes, *inputs):
    arrays = [np.array(x, dtype=float) for x in inputs] + [np.full(n, 7.0) for n in sizes]
    function(*(a.ctypes.data_as(ctypes.c_void_p) for a in arrays))
    return arrays[len(inputs):]


@needs_gcc
def test_two_robots_link_into_one_program(tmp_path):
    for mechanism, name in ((FIRST, "left"), (SECOND, "right")):
        da.compile(mechanism).write(tmp_path, "c", ["mass_matrix", "forward_dynamics"], prefix=name)
    (tmp_path / "main.c").write_text("""
#include <stdio.h>
#include "left_mass_matrix.h"
#include "left_forward_dynamics.h"
#include "right_mass_matrix.h"
#include "right_forward_dynamics.h"
int main(void)
{
    double q[3] = {0.1, 0.2, 0.3}, zeros[3] = {0.0, 0.0, 0.0}, M[9], a[4], b[9], status;
    left_mass_matrix(q, M);
    left_forward_dynamics(q, zeros, zeros, a, &status);
    right_mass_matrix(q, b);
    printf("%.17g %.17g %.17g\\n", M[0], a[0], b[0]);
    right_forward_dynamics(q, zeros, zeros, a, &status);
    printf("%.17g %.17g\\n", a[0], status);
    return 0;
}
""")
    sources = ["main.c", *(p.name for p in tmp_path.glob("*.c") if not p.name.endswith(("_test.c", "main.c")))]
    subprocess.run([*C99, *sources, "-lm", "-o", "both"], cwd=tmp_path, check=True)
    printed = subprocess.run(["./both"], cwd=tmp_path, capture_output=True, text=True, check=True).stdout.split()
    q, zeros = [0.1, 0.2, 0.3], [0.0, 0.0, 0.0]
    right = [da.mass_matrix(FIRST, q[:2])[0, 0], da.forward_dynamics(FIRST, q[:2], zeros[:2], zeros[:2])[0],
             da.mass_matrix(SECOND, q)[0, 0], da.forward_dynamics(SECOND, q, zeros, zeros)[0], 0.0]
    assert [float(x) for x in printed] == pytest.approx(right, rel=1e-12)


@needs_cpp
@pytest.mark.parametrize("mechanism", [FIRST, FLOATING, da.planar_chain(100)], ids=["chain", "floating", "scans"])
def test_cpp_compiles_and_runs_it(tmp_path, mechanism):
    names = ["inverse_dynamics", "forward_dynamics"] if mechanism.nv == 100 else ["mass_matrix", "forward_dynamics"]
    paths = da.compile(mechanism).write(tmp_path, "c", names, prefix="robot")
    for name in names:
        sources = [str(p) for p in paths if p.name in (f"robot_{name}.c", f"robot_{name}_test.c")]
        subprocess.run([*CPP, "-O1", *sources, "-lm", "-o", name], cwd=tmp_path, check=True)
        subprocess.run([f"./{name}"], cwd=tmp_path, check=True, capture_output=True)
        subprocess.run([*C99, "-c", sources[0], "-o", "c.o"], cwd=tmp_path, check=True)      # and a program of both
        (tmp_path / "user.cpp").write_text(f'#include "robot_{name}.h"\nint main() {{ auto volatile f = &robot_{name}; return !f; }}\n')
        subprocess.run([*CPP, "user.cpp", "-x", "none", "c.o", "-lm", "-o", "user"], cwd=tmp_path, check=True)


@needs_gcc
@pytest.mark.parametrize("mechanism", [FIRST, FLOATING], ids=["chain", "floating"])
def test_a_status_of_0_means_that_inputs_and_results_are_finite(tmp_path, mechanism):
    n, (q, qd) = mechanism.nv, mechanism.random_state()
    texts = da.compile(mechanism).source("c", ["forward_dynamics"], prefix="robot")
    python = da.compile(mechanism).source("numpy", ["forward_dynamics"], prefix="robot")
    function, space = library(tmp_path, texts).robot_forward_dynamics, {}
    exec(python["robot_forward_dynamics.py"], space)
    qdd, (status,) = called(function, (n, 1), q, qd, qd)
    assert status == 0 and np.allclose(qdd, da.forward_dynamics(mechanism, q, qd, qd), rtol=1e-10)
    for at, bad in ((at, bad) for at in range(len(q) + 2 * n) for bad in (np.nan, np.inf, -np.inf)):
        flat = np.concatenate([q, qd, qd])
        flat[at] = bad
        inputs = np.split(flat, [len(q), len(q) + n])
        assert called(function, (n, 1), *inputs)[1] == NOT_FINITE == space["robot_forward_dynamics"](*inputs)[1]
    _, (status,) = called(function, (n, 1), q, 1e200 * np.sign(qd), qd)       # a result overflows
    assert status == NOT_FINITE
    header = re.sub(r"[\s*]+", " ", texts["robot_forward_dynamics.h"])
    assert "0 where all results are valid: inputs and results are finite numbers" in header and "1000000 where an input" in header


def test_numpy_source_takes_batches_and_gives_arrays():
    for mechanism in (SECOND, da.planar_chain(100)):
        space, q = {}, np.linspace(-1, 1, 4 * mechanism.nq).reshape(4, -1)
        exec(da.compile(mechanism).source("numpy", ["gravity_vector"], prefix="")["gravity_vector.py"], space)
        g, = space["gravity_vector"](q)
        assert type(g) is np.ndarray and g.dtype == np.float64 and g.shape == q.shape
        np.testing.assert_allclose(g, da.gravity_vector(mechanism, q), atol=1e-9)
        np.testing.assert_array_equal(space["gravity_vector"](q[1].tolist())[0], g[1])
        np.testing.assert_allclose(space["gravity_vector"](q.astype(np.float32))[0], g, atol=1e-3 * np.abs(g).max())


@pytest.mark.parametrize("prefix", HOSTILE)
def test_public_names_begin_with_a_prefix_that_is_an_identifier(prefix):
    texts = da.compile(FIRST).source("c", ["mass_matrix"], prefix=prefix)
    stems = {name.removesuffix("_test.c").removesuffix(".c").removesuffix(".h") for name in texts}
    (stem,) = stems
    assert re.fullmatch(r"([A-Za-z][A-Za-z0-9_]*_)?mass_matrix", stem) and len(stem) <= 60
    assert (stem == "mass_matrix") == (prefix == "") and f"void {stem}(" in texts[f"{stem}.h"]
    for text in texts.values():
        text.encode("ascii")
        public = re.findall(r"^(?!static|int main)(?:void|int|double) (\w+)", text, re.MULTILINE)
        assert set(public) <= {stem}


def test_prefixes_that_differ_give_names_that_differ():
    names = [[*da.compile(FIRST).source("numpy", ["mass_matrix"], prefix=prefix)][0]
             for prefix in ("x" * 99, "x" * 98 + "y", "Arm", "arm")]
    assert len(set(names)) == 4
    guards = {da.compile(FIRST).source("c", ["mass_matrix"], prefix=p)[f"{p}_mass_matrix.h"].split("#ifndef ")[1].split()[0]
              for p in ("Arm", "arm", "ARM")}
    assert len(guards) == 3


def test_the_prefix_is_the_name_of_the_mechanism_by_default():
    assert [*da.compile(FIRST).source("numpy", ["mass_matrix", "jacobian:tip", "mass_matrix"])] == [
        "planar_chain_mass_matrix.py", "planar_chain_jacobian_tip.py"]


def test_another_text_is_overwritten_only_if_that_is_said(tmp_path):
    first, other = da.compile(FIRST), da.compile(FIRST.replace({"link2.mass": 3.0}))
    paths = first.write(tmp_path / "new" / "folder", "numpy", ["mass_matrix"])
    before = paths[0].read_text()
    assert first.write(tmp_path / "new" / "folder", "numpy", ["mass_matrix"]) == paths
    with pytest.raises(da.DalembertError, match="planar_chain_mass_matrix.py' is there already with other text"):
        other.write(tmp_path / "new" / "folder", "numpy", ["gravity_vector", "mass_matrix"])
    assert [p.name for p in (tmp_path / "new" / "folder").iterdir()] == [paths[0].name] and paths[0].read_text() == before
    other.write(tmp_path / "new" / "folder", "numpy", ["mass_matrix"], overwrite=True)
    assert paths[0].read_text() != before


def test_parameters_and_lagrangians_have_sources_too():
    arm = da.compile(FIRST, parameters=["link2.mass"])
    space = {}
    exec(arm.source("numpy", ["gravity_vector"], prefix="arm")["arm_gravity_vector.py"], space)
    q = np.array([0.2, 0.3])
    np.testing.assert_allclose(space["arm_gravity_vector"](q, [2.5])[0],
                               da.gravity_vector(FIRST.replace({"link2.mass": 2.5}), q), rtol=1e-12)
    assert "Entries of parameters: link2.mass." in arm.source("c", ["gravity_vector"])["planar_chain_gravity_vector.h"]
    system = da.lagrangian_system(lambda q, qd, t: qd[0]**2 / 2 - 9.81 * q[0], ["x"], name="stone")
    exec(da.compile(system).source("numpy", ["mass_matrix"])["stone_mass_matrix.py"], space)
    assert space["stone_mass_matrix"]([1.0], [2.0], [0.0])[0] == pytest.approx(1)


@pytest.mark.parametrize("target, names, error, says", [
    ("fortran", ["mass_matrix"], da.UnknownNameError, "unknown target 'fortran' .known: c, numpy"),
    ("c", "mass_matrix", da.UnknownNameError, r"\['mass_matrix'\]"), ("c", [], ValueError, "names is empty"),
    ("c", ["mas_matrix"], da.UnknownNameError, "Did you mean 'mass_matrix'"),
    ("c", ["jacobian:hand"], da.UnknownNameError, "hand")])
def test_wrong_targets_and_names_are_named(target, names, error, says):
    with pytest.raises(error, match=says):
        da.compile(FIRST).source(target, names)
