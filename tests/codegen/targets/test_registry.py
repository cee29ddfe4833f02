"""What every target does, for all that are registered; a new one is a file and a line."""

import re
import shutil
import subprocess

import numpy as np
import plain_python
import pytest

import dalembert as da
from dalembert.codegen.interpreter import evaluated
from dalembert.codegen.program import CODES, INPUT_NOT_FINITE, RESULT_NOT_FINITE, program_of
from dalembert.codegen.targets.registry import TARGETS
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
    if target == "c":
        return [by_c(folder, texts, program, row) for row in zip(*rows, strict=True)]
    space = {}
    exec(next(iter(texts.values())), space)
    (function,) = (f for name, f in space.items() if callable(f) and getattr(f, "__module__", "") != "math" and name != "np"
                   and not name.startswith(("step_", "__")))
    return [function(*(x.tolist() for x in row)) for row in zip(*rows, strict=True)]


def by_c(folder, texts, program, row):
    """The same by a small program that prints all numbers."""
    header, source, *_ = texts
    name = header.removesuffix(".h")
    sizes = [port.size for port in program.outputs if port.name != "status"]
    text = [f'#include "{header}"', "#include <math.h>", "#include <stdio.h>", "int main(void)", "{", "    int status;"]
    numbers = [[{"nan": "NAN", "inf": "INFINITY"}.get(repr(x), repr(x)) for x in values.tolist()] for values in row]
    text += [f"    double x{k}[] = {{{', '.join(values)}}};" for k, values in enumerate(numbers)]
    text += [f"    double y{k}[{n}];" for k, n in enumerate(sizes)]
    work = re.search(r"_WORK (\d+)", texts[header])
    text += [f"    static double work[{work[1]}];"] if work else []
    arguments = [*(f"x{k}" for k in range(len(row))), *(f"y{k}" for k in range(len(sizes))), *(["work"] if work else [])]
    text.append(f"    status = {name}({', '.join(arguments)});")
    text += [f'    for (int i = 0; i < {n}; i++) printf("%.17g\\n", y{k}[i]);' for k, n in enumerate(sizes)]
    for file, content in {**texts, "main.c": "\n".join([*text, '    printf("%d\\n", status);', "    return 0;", "}"])}.items():
        (folder / file).write_text(content, encoding="ascii")
    subprocess.run(["gcc", "-std=c99", "-O0", "main.c", source, "-lm", "-o", "main"], cwd=folder, check=True)
    printed = [float(x) for x in subprocess.run(["./main"], cwd=folder, capture_output=True, text=True, check=True).stdout.split()]
    return [*np.split(np.array(printed[:-1]), np.cumsum(sizes)[:-1]), int(printed[-1])]


@pytest.mark.parametrize("mechanism, name", [(CHAIN, "mass_matrix"), (CHAIN, "forward_dynamics"), (LONG, "forward_dynamics"),
                                             (LONG, "kinetic_energy")], ids=["matrix", "vector", "scans", "number"])
def test_written_functions_compute_what_the_program_means(target, tmp_path, mechanism, name):
    if target == "c" and shutil.which("gcc") is None:
        pytest.skip("no gcc: generated C is not compiled")
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


def test_results_that_are_not_finite_have_a_status(target, tmp_path):
    if target == "c" and shutil.which("gcc") is None:
        pytest.skip("no gcc: generated C is not compiled")
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
        assert any(line in text for text in texts.values() for line in CODES)


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
