"""Rolled programs: what the verifier refuses, what the passes keep, and that all targets compute the same."""

import shutil
import subprocess
from dataclasses import replace

import numpy as np
import pytest

import dalembert as da
from dalembert.codegen.program import Port, ProgramError, operations, program_of
from dalembert.codegen.rolled import Rolled, Scan, Step, verify_rolled
from dalembert.codegen.steps import pruned, settled, turn_of, turned
from dalembert.codegen.targets import c, numpy_source
from dalembert.native.kernel import Kernel

BODIES, SIZE = 9, 40


def made():
    """Bodies in a row, each of two kinds: y_i = a_i y_(i-1) + sin(x_i) cos(b_i x_i), from y_0 = 0; z_i = x_i y_i in place of x."""
    with da.Graph():
        x, y, sine, numbers = (da.symbols(n, k) for n, k in (("x", 1), ("y", 1), ("turn", 2), ("numbers", 2)))
        first = program_of({"numbers": numbers, "x": x, "turn": sine}, {"y": sine[:1] * da.cos(numbers[1] * x[0])})
        value = numbers[0] * y[0] + sine[0] * da.cos(numbers[1] * x[0])
        other = program_of({"numbers": numbers, "y": y, "x": x, "turn": sine}, {"y": [value]})
        last = program_of({"numbers": [], "x": x, "y": y}, {"y": [x[0]], "z": [da.where(y[0] < 2, x[0] * y[0], x[0] * y[0])]})
    rng = np.random.default_rng(0)
    table = rng.standard_normal((BODIES, 2))
    at_y, at_turn = BODIES, 2 * BODIES                          # x lies at 0
    k = np.arange(BODIES)
    turns = np.stack([k, at_turn + 2 * k, at_turn + 2 * k + 1], axis=1)
    outward = Scan((Step(first, table[:1], np.array([[0, at_turn, at_y]])),
                    Step(other, table[1:], np.stack([at_y + k - 1, k, at_turn + 2 * k, at_y + k], axis=1)[1:])),
                   np.array([(0, 0), *((1, row) for row in range(BODIES - 1))]))
    swapped = np.stack([k, at_y + k, at_y + k, k], axis=1)[::-1]      # y becomes x, and x becomes z
    inward = Scan((Step(last, np.zeros((BODIES, 0)), swapped),), np.stack([0 * k, k], axis=1))
    return Rolled((Port("x", (BODIES,)),), (Port("y", (BODIES,)), Port("z", (BODIES,))), (0, at_y, 0), SIZE, slice(39, 40),
                  turns, (outward, inward)), table


def expected(table, x):
    y, found = np.zeros(len(x)), []
    for k, (a, b) in enumerate(table):
        y = (a * y if k else 0) + np.sin(x[:, k]) * np.cos(b * x[:, k])
        found.append(x[:, k] * y)
    return x, np.stack(found, axis=1)


def states(n):
    return np.random.default_rng(1).uniform(-3, 3, (n, BODIES))


def test_numpy_source_runs_body_after_body_and_reads_before_it_stores():
    rolled, table = made()
    x = states(5)
    for found, right in zip(numpy_source.compiled(rolled)(x), expected(table, x), strict=True):
        np.testing.assert_allclose(found, right, rtol=1e-14, atol=1e-15)
        assert found.shape == (5, BODIES)
    namespace = {}
    exec(numpy_source.source(rolled, "waves"), namespace)
    np.testing.assert_array_equal(namespace["waves"](x[0])[1], numpy_source.compiled(rolled)(x)[1][0])


@pytest.mark.parametrize("n", [1, 2, 7, 33])
def test_machine_code_equals_numpy_source_also_for_angles_that_are_no_inputs(n):
    rolled, table = made()
    x = states(n)
    y, z = np.empty_like(x), np.empty_like(x)
    assert Kernel.of(rolled).run([x], [y, z], n) == -1
    np.testing.assert_array_equal(y, x)
    np.testing.assert_allclose(z, expected(table, x)[1], rtol=1e-14, atol=1e-15)


def test_a_kernel_keeps_to_its_work_array():
    rolled, _ = made()
    kernel, x = Kernel.of(rolled), states(4)
    before = Kernel.of(rolled)
    whole = kernel._works.array = np.full(kernel.work_bytes + 64 + 4096, 0x5A, dtype=np.uint8)
    first, second = ([np.empty_like(x), np.empty_like(x)] for _ in range(2))
    kernel.run([x], first, 4)
    before.run([x], second, 4)
    for a, b in zip(first, second, strict=True):
        np.testing.assert_array_equal(a, b)                    # what the array held before does not matter
    start = -whole.ctypes.data % 64
    assert (whole[:start] == 0x5A).all() and (whole[start + kernel.work_bytes:] == 0x5A).all()


@pytest.mark.skipif(shutil.which("gcc") is None, reason="no gcc")
def test_c_compiles_without_a_warning_and_runs_its_vectors(tmp_path):
    rolled, _ = made()
    for name, text in c.files(rolled, "waves", vectors=[states(6)]).items():
        (tmp_path / name).write_text(text)
    command = ["gcc", "-O2", "-Wall", "-Wextra", "-Wpedantic", "-Wshadow", "-Werror", "-std=c99", "waves.c", "waves_test.c", "-lm"]
    subprocess.run(command, cwd=tmp_path, check=True)
    done = subprocess.run(["./a.out"], cwd=tmp_path, check=True, capture_output=True, text=True)
    assert "6 vectors" in done.stdout
    assert "#define WAVES_WORK 40" in (tmp_path / "waves.h").read_text()


# --- the verifier -------------------------------------------------------------------------------------------------------

def test_verifier_takes_a_sound_program():
    verify_rolled(made()[0])


@pytest.mark.parametrize(("change", "message"), [
    (lambda r: replace(r, size=30), "work array of 30"),
    (lambda r: replace(r, turns=r.turns[:-1]), "read before it is written"),
    (lambda r: replace(r, turns=np.array([[38, 18, 19]])), "an angle at 38:39 is read before it is written"),
    (lambda r: replace(r, scans=r.scans[1:]), "read before it is written"),
    (lambda r: replace(r, places=(0, 30, 0)), "is read before it is written"),
    (lambda r: replace(r, scans=(r.scans[0]._replace(order=r.scans[0].order[::-1]), r.scans[1])), "'y' of step 1 at"),
    (lambda r: replace(r, scans=(r.scans[0]._replace(order=r.scans[0].order + 5), r.scans[1])), "is in no table"),
    (lambda r: with_step(r, numbers=np.full((1, 2), np.nan)), "not finite"),
    (lambda r: with_step(r, numbers=np.zeros((1, 3))), "tables of a step"),
])
def test_verifier_refuses(change, message):
    with pytest.raises(ProgramError, match=message):
        verify_rolled(change(made()[0]))


def with_step(rolled, **changes):
    """With the first step of the first scan changed."""
    scan = rolled.scans[0]
    return replace(rolled, scans=(scan._replace(steps=(replace(scan.steps[0], **changes), *scan.steps[1:])), *rolled.scans[1:]))


# --- the order ----------------------------------------------------------------------------------------------------------

def test_runs_are_the_order_in_pieces():
    scan = Scan((), np.array([(0, 0), (1, 0), (1, 1), (1, 2), (0, 1), (1, 4), (1, 3)]))
    assert scan.runs() == [(0, 0, 1), (1, 0, 3), (0, 1, 1), (1, 4, 1), (1, 3, 1)]
    assert [(step, row + k) for step, row, n in scan.runs() for k in range(n)] == list(map(tuple, scan.order.tolist()))


def test_operations_are_counted_for_every_body():
    rolled, _ = made()
    per_step = [[operations(step.program) for step in scan.steps] for scan in rolled.scans]
    assert operations(rolled) == 2 * BODIES + per_step[0][0] + 8 * per_step[0][1] + 9 * per_step[1][0]


# --- passes -------------------------------------------------------------------------------------------------------------

def sample():
    with da.Graph():
        m, q, x = da.symbols("m", 4), da.symbols("q", 3), da.symbols("x", 2)
        y = [m[0] * m[1] * da.sin(q[1]) + da.cos(q[2]) * m[3], da.sin(q[1] + 1) * x[0], da.cos(q[1]) - m[2] / m[1], m[0] - m[3]]
        return program_of({"m": m, "q": q, "x": x}, {"y": y})


def test_turned_replaces_sines_and_cosines_of_entries_alone():
    program, entries = turned(sample(), "q")
    assert entries == (1, 2) and [p.name for p in program.inputs[3:]] == [turn_of(1), turn_of(2)]
    assert [i.op for i in program.code].count("sin") == 1
    rng = np.random.default_rng(0)
    m, q, x = rng.standard_normal(4), rng.standard_normal(3), rng.standard_normal(2)
    turns = [np.array([np.sin(a), np.cos(a)]) for a in q[1:]]
    np.testing.assert_array_equal(numpy_source.compiled(program)(m, q, x, *turns)[0], numpy_source.compiled(sample())(m, q, x)[0])


def test_settled_computes_what_only_constants_decide():
    rng = np.random.default_rng(0)
    rows = rng.standard_normal((5, 4))
    rows[:, 3] = 2.5                                           # equal in all rows: becomes a constant of the code
    program, numbers = settled(sample(), rows)
    program = pruned(program)
    assert program.inputs[0].size == numbers.shape[1] == 3      # m0 m1, m2 / m1, m0 - m3
    assert operations(program) == operations(sample()) - 3
    q, x = rng.standard_normal((5, 3)), rng.standard_normal((5, 2))
    np.testing.assert_array_equal(numpy_source.compiled(program)(numbers, q, x)[0], numpy_source.compiled(sample())(rows, q, x)[0])


def test_pruned_leaves_out_what_no_result_needs():
    with da.Graph():
        m, q, x = da.symbols("m", 2), da.symbols("q", 1), da.symbols("x", 2)
        program = program_of({"m": m, "q": q, "x": x}, {"y": [x[1] * 2]})
    program = pruned(program)
    assert [p.name for p in program.inputs] == ["m", "x"]       # the first input stays
    np.testing.assert_array_equal(numpy_source.compiled(program)([1, 2], [3, 4])[0], [8])
