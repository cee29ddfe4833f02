"""Source code from Python: names with a prefix, robots side by side in one program, a status that covers every result."""

import ctypes
import re
import shutil
import subprocess

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import dalembert as da
from dalembert.codegen.program import INPUT_NOT_FINITE, RESULT_NOT_FINITE, STATUS, program_of
from dalembert.codegen.targets import c, numpy_source
from dalembert.tracing.quantities import QUANTITIES, traced

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
    subprocess.run([*C99, "-O0", "-shared", "-fPIC", *sources, "-lm", "-o", "made.so"], cwd=folder, check=True)
    return ctypes.CDLL(str(folder / "made.so"))


def called(function, sizes, *inputs):
    """Status and results of a function in C."""
    arrays = [np.array(x, dtype=float) for x in inputs] + [np.full(n, 7.0) for n in sizes]
    status = function(*(a.ctypes.data_as(ctypes.c_void_p) for a in arrays))
    return status, arrays[len(inputs):]


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
    double q[3] = {0.1, 0.2, 0.3}, zeros[3] = {0.0, 0.0, 0.0}, M[9], a[4], b[9];
    int status = left_mass_matrix(q, M);
    status += left_forward_dynamics(q, zeros, zeros, a);
    status += right_mass_matrix(q, b);
    printf("%.17g %.17g %.17g\\n", M[0], a[0], b[0]);
    status += right_forward_dynamics(q, zeros, zeros, a);
    printf("%.17g %d\\n", a[0], status);
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


# --- the status -------------------------------------------------------------------------------------------------------

def names_of(mechanism):
    """All quantities, those of a frame at the last one."""
    frame = mechanism.frame_names[-1]
    return [f"{name}:{frame}" if quantity.framed else name for name, quantity in QUANTITIES.items()]


def good_inputs(mechanism, program, seed=0):
    """A vector for each input of a program: a random state."""
    q, qd = mechanism.random_state(seed)
    return [q if port.name == "q" else (k + 1.0) * qd for k, port in enumerate(program.inputs)]


def spoiled(inputs):
    """The inputs with one entry infinite or not a number, each in turn, as batches."""
    flat = np.concatenate(inputs)
    rows = np.tile(flat, (3 * len(flat), 1))
    for k, bad in enumerate((np.nan, np.inf, -np.inf)):
        np.fill_diagonal(rows[k * len(flat):(k + 1) * len(flat)], bad)
    return np.split(rows, np.cumsum([len(x) for x in inputs])[:-1], axis=1)


def in_python(dynamics, name):
    """The function of generated NumPy source."""
    (file, text), = dynamics.source("numpy", [name], prefix="robot").items()
    space = {}
    exec(text, space)
    return space[file.removesuffix(".py")]


def check_numpy(mechanism, names, seed=0):
    """No status at random states; one wherever an input is not finite, though the results may be."""
    dynamics = da.compile(mechanism)
    for name in names:
        function, program = in_python(dynamics, name), traced(mechanism, [name])
        good, bad = good_inputs(mechanism, program, seed), spoiled(good_inputs(mechanism, program, seed))
        status = function(*good)[-1]
        assert status == 0 and status.dtype.kind == "i" and status.shape == (), name
        assert (function(*bad)[-1] == INPUT_NOT_FINITE).all() and len(bad[0]) >= 3 * mechanism.nv, name


LIGHT = ["gravity_vector", "kinetic_energy", "passive_force", "jacobian_rate:frame1"]
SMALL = da.random_tree(3, 2, ["spherical", "prismatic"])
EVERY = da.random_tree(1, 12)             # has every type of joint


def test_each_entry_that_is_not_finite_gives_a_status():
    check_numpy(EVERY, LIGHT)
    assert len(names_of(SMALL)) == len(QUANTITIES)
    check_numpy(SMALL, names_of(SMALL), seed=1)


@pytest.mark.slow
def test_each_entry_that_is_not_finite_gives_a_status_for_every_quantity_and_joint():
    check_numpy(EVERY, names_of(EVERY), seed=2)


@needs_gcc
def test_every_function_in_c_returns_a_status(tmp_path):
    mechanism = da.random_tree(3, 1, ["spherical"])
    dynamics, names = da.compile(mechanism), names_of(mechanism)
    texts = dynamics.source("c", names, prefix="robot")
    functions = library(tmp_path, texts)
    for stem, name in zip([f.removesuffix(".h") for f in texts if f.endswith(".h")], names, strict=True):
        program = traced(mechanism, [name])
        sizes, inputs = [p.size for p in program.outputs if p.name != STATUS], good_inputs(mechanism, program)
        status, found = called(getattr(functions, stem), sizes, *inputs)
        *right, _ = in_python(dynamics, name)(*inputs)
        assert status == 0, name
        for y, x in zip(found, right, strict=True):
            np.testing.assert_allclose(y, x.reshape(-1), rtol=0, atol=1e-10 * np.abs(x).max())
        for row in zip(*spoiled(inputs), strict=True):
            assert called(getattr(functions, stem), sizes, *row)[0] == INPUT_NOT_FINITE, name
        header = re.sub(r"[\s*]+", " ", texts[f"{stem}.h"])
        for line in ("Returns a status: 0: inputs and results are valid", "1000000: an input is", "1000001: a result is"):
            assert line in header
        assert "status -1 - k: the quaternion" in header and f"int {stem}(" in header


ANY = st.floats() | st.floats(-10, 10) | st.sampled_from([1e154, 1e200, 1e308, -1.7e308, 5e-324, 0.0, -0.0])


@pytest.fixture(scope="module")
def extremes(tmp_path_factory):
    """Functions of a mechanism with a quaternion: name -> (plain function, that in C, that in NumPy, result sizes)."""
    dynamics, names = da.compile(SMALL), ["mass_matrix", "inverse_dynamics", "forward_dynamics", "kinetic_energy"]
    made = library(tmp_path_factory.mktemp("extremes"), dynamics.source("c", names, prefix="r"))
    sizes = {"mass_matrix": SMALL.nv**2, "kinetic_energy": 1}
    return {name: (getattr(da, name), getattr(made, f"r_{name}"), in_python(dynamics, name), sizes.get(name, SMALL.nv))
            for name in names}


@needs_gcc
@pytest.mark.parametrize("name", ["mass_matrix", "inverse_dynamics", "forward_dynamics", "kinetic_energy"])
@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_a_status_of_0_means_that_inputs_and_results_are_valid(extremes, name, data):
    plain, in_c, python, size = extremes[name]
    q, qd = SMALL.random_state(0)
    inputs = [q, qd, 2 * qd][:{"mass_matrix": 1, "kinetic_energy": 2}.get(name, 3)]
    inputs = [x.copy() for x in inputs]
    for _ in range(data.draw(st.integers(0, 3))):
        vector = data.draw(st.sampled_from(inputs))
        vector[data.draw(st.integers(0, len(vector) - 1))] = data.draw(ANY)
    status, (found,) = called(in_c, [size], *inputs)
    *_, other = python(*inputs)
    try:
        right = plain(SMALL, *inputs)
    except (ValueError, da.DalembertError) as error:
        assert status != 0 and other != 0, error
        right = None
    if not all(np.isfinite(x).all() for x in inputs):
        assert status == other == INPUT_NOT_FINITE
    if status == 0:
        assert other == 0 and np.isfinite(found).all() and right is not None
        np.testing.assert_allclose(found, np.reshape(right, -1), rtol=0, atol=1e-9 * np.abs(right).max())


@needs_gcc
def test_the_status_says_which_inertia_quaternion_or_number_is_wrong(tmp_path):
    light = da.compile(da.planar_chain(2, inertia=0), parameters=["link2.mass"])
    texts = light.source("c", ["forward_dynamics"], prefix="light")
    texts |= da.compile(FLOATING).source("c", ["forward_dynamics"], prefix="floating")
    made, zeros = library(tmp_path, texts), np.zeros(2)
    for mass, right in ((1.0, 0), (0.0, 2)):
        assert called(made.light_forward_dynamics, [2], zeros, zeros, zeros, [mass])[0] == right
        assert in_python(light, "forward_dynamics")(zeros, zeros, zeros, [mass])[1] == right
    n, (q, qd) = FLOATING.nv, FLOATING.random_state()
    function = made.floating_forward_dynamics
    start, = FLOATING.quaternions.values()
    stretched = q.copy()
    stretched[start:start + 4] *= 1.1
    assert called(function, [n], q, qd, qd)[0] == 0
    assert called(function, [n], stretched, qd, qd)[0] == -1 - start
    assert called(function, [n], q, 1e200 * np.sign(qd), qd)[0] == RESULT_NOT_FINITE
    assert called(function, [n], stretched, 1e200 * np.sign(qd), qd)[0] == -1 - start      # the cause before its effects
    assert called(function, [n], stretched, np.inf * qd, qd)[0] == INPUT_NOT_FINITE
    assert in_python(da.compile(FLOATING), "forward_dynamics")(q, 1e200 * np.sign(qd), qd)[1] == RESULT_NOT_FINITE


@needs_gcc
def test_large_sums_of_finite_numbers_are_no_reason_for_a_status(tmp_path):
    with da.Graph():
        x = da.symbols("x", 3)
        program = program_of({"x": x}, {"y": [2 * x[0], x[1] * x[0], -x[2]]})
    f = library(tmp_path, c.files(program, "f")).f
    g = numpy_source.compiled(program, reports=True)
    for x, right in (([8e307, 2, 1e308], 0), ([8e307, 1, 8e307], 0), ([1e308, 1, 1], RESULT_NOT_FINITE),
                     ([1.7e308, 1.0, 1.7e308], RESULT_NOT_FINITE), ([np.inf, -np.inf, 0], INPUT_NOT_FINITE),
                     ([-8e307, 2, 1.7e308], 0)):
        assert called(f, [3], x)[0] == right == g(x)[1], x


@needs_gcc
def test_outputs_over_inputs_do_not_hide_what_the_inputs_were(tmp_path):
    with da.Graph():
        x = da.symbols("x", 2)
        program = program_of({"x": x}, {"y": [x[0], 1.0]})
    f, x = library(tmp_path, c.files(program, "f")).f, np.array([2.0, np.nan])
    f.argtypes = [ctypes.c_void_p] * 2
    assert f(x.ctypes.data, x.ctypes.data) == INPUT_NOT_FINITE and x.tolist() == [2, 1]
    assert f(x.ctypes.data, x.ctypes.data) == 0


@needs_gcc
def test_scans_in_c_and_numpy_have_the_same_status(tmp_path):
    chain = da.planar_chain(100)
    texts = da.compile(chain).source("c", ["forward_dynamics", "gravity_vector"], prefix="r")
    made = library(tmp_path, texts)
    for name, count in (("gravity_vector", 1), ("forward_dynamics", 3)):
        function, python = getattr(made, f"r_{name}"), in_python(da.compile(chain), name)
        size = int(re.search(r"_WORK (\d+)", texts[f"r_{name}.h"])[1])
        inputs = [np.full(100, 0.01 * (k + 1)) for k in range(count)]
        assert called(function, [100, size], *inputs)[0] == 0 == python(*inputs)[1]
        for k in range(count):
            bad = [x.copy() for x in inputs]
            bad[k][37] = np.inf
            assert called(function, [100, size], *bad)[0] == INPUT_NOT_FINITE == python(*bad)[1]
    fast = [inputs[0], np.full(100, 1e200), inputs[2]]
    assert called(function, [100, size], *fast)[0] == RESULT_NOT_FINITE == python(*fast)[1]


@needs_gcc
def test_options_under_which_nothing_is_infinite_are_refused(tmp_path):
    for name, text in da.compile(FIRST).source("c", ["mass_matrix"], prefix="r").items():
        (tmp_path / name).write_text(text)
    for options, works in ((["-Ofast"], False), (["-ffast-math"], False), (["-ffast-math", "-fno-finite-math-only"], True)):
        done = subprocess.run([*C99, *options, "-c", "r_mass_matrix.c"], cwd=tmp_path, capture_output=True, text=True)
        assert (done.returncode == 0) == works and ("-fno-finite-math-only" in done.stderr) != works


def test_numpy_source_takes_batches_and_gives_arrays():
    for mechanism in (SECOND, da.planar_chain(100)):
        space, q = {}, np.linspace(-1, 1, 4 * mechanism.nq).reshape(4, -1)
        exec(da.compile(mechanism).source("numpy", ["gravity_vector"], prefix="")["gravity_vector.py"], space)
        g, status = space["gravity_vector"](q)
        assert status.shape == (4,) and not status.any() and type(g) is np.ndarray and g.dtype == np.float64 and g.shape == q.shape
        np.testing.assert_allclose(g, da.gravity_vector(mechanism, q), atol=1e-9)
        np.testing.assert_array_equal(space["gravity_vector"](q[1].tolist())[0], g[1])
        np.testing.assert_allclose(space["gravity_vector"](q.astype(np.float32))[0], g, atol=1e-3 * np.abs(g).max())


@pytest.mark.parametrize("prefix", HOSTILE)
def test_public_names_begin_with_a_prefix_that_is_an_identifier(prefix):
    texts = da.compile(FIRST).source("c", ["mass_matrix"], prefix=prefix)
    stems = {name.removesuffix("_test.c").removesuffix(".c").removesuffix(".h") for name in texts}
    (stem,) = stems
    assert re.fullmatch(r"([A-Za-z][A-Za-z0-9_]*_)?mass_matrix", stem) and len(stem) <= 60
    assert (stem == "mass_matrix") == (prefix == "") and f"int {stem}(" in texts[f"{stem}.h"]
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


@pytest.mark.parametrize("prefix", [5, b"arm", ["arm"], True])
def test_a_prefix_that_is_no_text_is_refused(prefix):
    with pytest.raises(TypeError, match="expected a text that names begin with"):
        da.compile(FIRST).source("c", ["mass_matrix"], prefix=prefix)


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
    ("fortran", ["mass_matrix"], da.UnknownNameError, "unknown target 'fortran' .known: c, numpy, llvm"),
    ("c", "mass_matrix", da.UnknownNameError, r"\['mass_matrix'\]"), ("c", [], ValueError, "names is empty"),
    ("c", ["mas_matrix"], da.UnknownNameError, "Did you mean 'mass_matrix'"),
    ("c", ["jacobian:hand"], da.UnknownNameError, "hand"),
    ("c", ["mass_matrix:"], da.UnknownNameError, "unknown quantity 'mass_matrix:'"), ("c", ["jacobian:"], da.UnknownNameError, "''"),
    ("c", [1], TypeError, r"names=\[1\] .list.: expected quantities"), ("c", None, TypeError, r"names=\[None\] .list.: expected"),
    ("c", [["mass_matrix"]], TypeError, "expected quantities"), (["c"], ["mass_matrix"], da.UnknownNameError, "unknown target"),
    (None, ["mass_matrix"], da.UnknownNameError, "unknown target None")])
def test_wrong_targets_and_names_are_named(target, names, error, says):
    with pytest.raises(error, match=says):
        da.compile(FIRST).source(target, names)
