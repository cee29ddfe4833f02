"""What every target does, for all that are registered; a new one is a file and a line."""

import re
import subprocess
import sys

import numpy as np
import plain_python
import pytest
from runners import RUNNERS

import dalembert as da
from dalembert.codegen.interpreter import evaluated
from dalembert.codegen.program import CODES, INPUT_NOT_FINITE, RESULT_NOT_FINITE, program_of
from dalembert.codegen.targets.registry import TARGETS
from dalembert.integrators import METHODS
from dalembert.tracing import regrouping
from dalembert.tracing.integration import propagation_of
from dalembert.tracing.quantities import traced
from programs import HOSTILE

CHAIN, LONG = da.planar_chain(3), da.planar_chain(100)


@pytest.fixture(params=dict.fromkeys([*TARGETS, "python"]))
def target(request, monkeypatch):
    """Name of a target: those of the package, and one that only the line below makes known."""
    monkeypatch.setitem(TARGETS, "python", plain_python)
    return request.param


def states(program, rows=3):
    rng = np.random.default_rng(0)
    return [rng.uniform(-1, 1, (rows, port.size)) for port in program.inputs]


def called(folder, texts, target, program, *rows):
    """Results of a written function, one array per output, then the status, for each row."""
    return [RUNNERS[target](folder, texts, program, row) for row in zip(*rows, strict=True)]


@pytest.mark.parametrize("mechanism, name", [(CHAIN, "mass_matrix"), (CHAIN, "forward_dynamics"), (LONG, "forward_dynamics"),
                                             (LONG, "kinetic_energy")], ids=["matrix", "vector", "scans", "number"])
def test_written_functions_compute_what_the_program_means(target, tmp_path, mechanism, name):
    program = traced(mechanism, [name])
    texts = da.compile(mechanism).source(target, [name], prefix="arm")
    rows = states(program)
    right = [port for port in zip(program.outputs, evaluated(program, *rows), strict=True) if port[0].name != "status"]
    rows = [np.vstack([x, x[:1]]) for x in rows]
    rows[0][-1, 0] = np.nan                                    # the last row is no state
    *found, spoiled = called(tmp_path, texts, target, program, *rows)
    assert spoiled[-1] == INPUT_NOT_FINITE and [row[-1] for row in found] == [0] * 3
    for k, (_, values) in enumerate(right):
        for row, value in zip(found, values, strict=True):
            np.testing.assert_allclose(np.reshape(row[k], -1), value.reshape(-1), rtol=0, atol=1e-11 * np.abs(value).max())


def pushed(t, q, qd):
    """A function outside."""
    return np.cos(q) - 0.1 * np.asarray(qd) + t


def steps(name, links, outside):
    """The program of a method over a chain, with its forces from a function outside or none."""
    chain = da.planar_chain(links)

    def f(t, x, p, functions=None):
        q, qd = x[:links], x[links:]
        tau = functions[0](t, q, qd) if outside else -p[0] * qd
        return np.concatenate([qd, regrouping.accelerations(chain, q, qd, tau)])

    return propagation_of(f, 2 * links, 1, METHODS[name], calls=(links,) if outside else ())


@pytest.mark.parametrize("name, links, outside", [("rk4", 2, False), ("dopri5", 4, False), ("implicit_midpoint", 4, True)],
                         ids=["fixed", "adaptive, scans", "implicit, scans, called"])
def test_written_integrators_compute_what_the_program_means(monkeypatch, target, tmp_path, name, links, outside):
    """Loops over steps with loops to convergence in them, records, scans over bodies and functions outside."""
    monkeypatch.setattr(regrouping, "ROLLED_FROM", 4)
    program = steps(name, links, outside)
    values = {"x": np.linspace(-0.3, 0.5, 2 * links), "h": [0.02], "p": [0.1], "rtol": [1e-6], "atol": [1e-6], "end": [0.1],
              "way": [1.0], "longest": [1e300]}
    row = [np.asarray(values.get(r.name, np.zeros(r.size)), dtype=float) for r in program.inputs]
    more = {"goals": [0.04, 0.1], "repeats": 100 if name == "dopri5" else 2, "functions": [pushed] if outside else []}
    texts = TARGETS[target].files(program, "steps", vectors=[np.array([x]) for x in row])
    *found, status = RUNNERS[target](tmp_path, texts, program, row, **more)
    right = evaluated(program, *row, **more)
    assert status == 0 and np.abs(right[1][-1] - row[1]).max() > 1e-3
    for register, y, value in zip(program.results, found, right, strict=True):
        np.testing.assert_allclose(y, value, rtol=0, atol=(1e-9 if name == "dopri5" else 1e-12) * max(1, np.abs(value).max(initial=0)), err_msg=register.name)


def test_long_chains_are_written_without_llvmlite(tmp_path):
    """Also by the command."""
    script = ("import sys; sys.modules['llvmlite'] = sys.modules['llvmlite.binding'] = None; import dalembert as da; from dalembert.cli import main; "
              f"da.save(da.planar_chain(100), {str(tmp_path / 'long.toml')!r}); "
              "[da.compile(da.planar_chain(100)).source(t, ['forward_dynamics']) for t in ('numpy', 'llvm')]; "
              f"sys.argv = ['dalembert', 'codegen', {str(tmp_path / 'long.toml')!r}, '--functions', 'forward_dynamics', '--target', 'c', "
              f"'-o', {str(tmp_path)!r}]; main()")
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert len([*tmp_path.glob("*.c")]) == 2


def test_results_that_are_not_finite_have_a_status(target, tmp_path):
    with da.Graph():
        x = da.symbols("x", 2)
        program = program_of({"x": x}, {"y": [x[0] * x[1]]})
    texts = TARGETS[target].files(program, "product")
    assert [row[-1] for row in called(tmp_path, texts, target, program, np.array([[1e200, 1e200], [1e200, 1.0]]))] == [
        RESULT_NOT_FINITE, 0]


def test_names_and_files_begin_with_the_prefix_and_are_harmless(target):
    with da.Graph():
        program = program_of({"x": da.symbols("x", 2)}, {"y": [1.0]})
    for name in HOSTILE:
        texts = TARGETS[target].files(program, name, notes=[*HOSTILE, "*/ #include"], prefix="arm_")
        assert all(re.fullmatch(r"arm_\w+\.\w+", file) and text.isascii() for file, text in texts.items())
        assert target == "llvm" or any(line in text for text in texts.values() for line in CODES)


def test_a_registered_target_is_reached_from_everywhere(target, tmp_path, run):
    source = da.compile(CHAIN).source(target, ["gravity_vector"], prefix="")
    assert source and all(name.startswith("gravity_vector") for name in source)
    assert da.function(lambda q: q * q, q=2).source(target)
    assert [p.name for p in da.compile(CHAIN).write(tmp_path, target, ["gravity_vector"], prefix="")] == [*source]
    da.save(CHAIN, tmp_path / "arm.toml")
    code, out, err = run("codegen", tmp_path / "arm.toml", "--functions", "gravity_vector", "--target", target, "-o", tmp_path / "made")
    assert (code, err) == (0, "") and len(out.splitlines()) == len(source)
    with pytest.raises(da.UnknownNameError, match=f"unknown target 'cobol' .known: .*{target}"):
        da.compile(CHAIN).source("cobol", ["gravity_vector"])
