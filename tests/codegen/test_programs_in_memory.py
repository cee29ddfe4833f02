"""Programs in memory: what the verifier refuses, what the passes keep, and that all targets compute the same."""

import shutil
import subprocess
from dataclasses import replace

import numpy as np
import pytest

import dalembert as da
from dalembert.codegen.blocks import ProgramError, block_of
from dalembert.codegen.passes.specializing import pruned, settled, turn_of, turned
from dalembert.codegen.program import (
    BlockTable,
    Callback,
    Clear,
    Goals,
    Loop,
    Program,
    Register,
    Scan,
    Turns,
)
from dalembert.codegen.targets import c, numpy_source
from dalembert.codegen.targets.llvm import in_memory
from dalembert.codegen.verifier import verify
from dalembert.native.kernel import Kernel

BODIES, SIZE = 9, 40


def made():
    """Bodies in a row, each of two kinds: y_i = a_i y_(i-1) + sin(x_i) cos(b_i x_i), from y_0 = 0; z_i = x_i y_i in place of x."""
    with da.Graph():
        x, y, sine, numbers = (da.symbols(n, k) for n, k in (("x", 1), ("y", 1), ("turn", 2), ("numbers", 2)))
        first = block_of({"numbers": numbers, "x": x, "turn": sine}, {"y": sine[:1] * da.cos(numbers[1] * x[0])})
        value = numbers[0] * y[0] + sine[0] * da.cos(numbers[1] * x[0])
        other = block_of({"numbers": numbers, "y": y, "x": x, "turn": sine}, {"y": [value]})
        last = block_of({"numbers": [], "x": x, "y": y}, {"y": [x[0]], "z": [da.where(y[0] < 2, x[0] * y[0], x[0] * y[0])]})
    rng = np.random.default_rng(0)
    table = rng.standard_normal((BODIES, 2))
    at_y, at_turn = BODIES, 2 * BODIES                          # x lies at 0
    k = np.arange(BODIES)
    turns = np.stack([k, at_turn + 2 * k, at_turn + 2 * k + 1], axis=1)
    swapped = np.stack([k, at_y + k, at_y + k, k], axis=1)[::-1]      # y becomes x, and x becomes z
    tables = (BlockTable(first, np.array([[0, at_turn, at_y]]), table[:1]),
              BlockTable(other, np.stack([at_y + k - 1, k, at_turn + 2 * k, at_y + k], axis=1)[1:], table[1:]),
              BlockTable(last, swapped, np.zeros((BODIES, 0))))
    outward = Scan(np.array([(0, 0), *((1, row) for row in range(BODIES - 1))]))
    inward = Scan(np.stack([2 + 0 * k, k], axis=1))
    shape = (BODIES,)
    return Program((Register("x", shape, 0),), (Register("y", shape, at_y), Register("z", shape, 0)), SIZE, tables,
                   (Clear(39, 40), Turns(turns), outward, inward)), table


def expected(table, x):
    y, found = np.zeros(len(x)), []
    for k, (a, b) in enumerate(table):
        y = (a * y if k else 0) + np.sin(x[:, k]) * np.cos(b * x[:, k])
        found.append(x[:, k] * y)
    return x, np.stack(found, axis=1)


def states(n):
    return np.random.default_rng(1).uniform(-3, 3, (n, BODIES))


def test_numpy_source_runs_body_after_body_and_reads_before_it_stores():
    program, table = made()
    x = states(5)
    for found, right in zip(numpy_source.compiled(program)(x), expected(table, x), strict=True):
        np.testing.assert_allclose(found, right, rtol=1e-14, atol=1e-15)
        assert found.shape == (5, BODIES)
    namespace = {}
    exec(numpy_source.source(program, "waves"), namespace)
    np.testing.assert_array_equal(namespace["waves"](x[0])[1], numpy_source.compiled(program)(x)[1][0])


@pytest.mark.parametrize("n", [1, 2, 7, 33])
def test_machine_code_equals_numpy_source_also_for_angles_that_are_no_inputs(n):
    program, table = made()
    x = states(n)
    y, z = np.empty_like(x), np.empty_like(x)
    assert Kernel.of(program).run([x], [y, z], n) == -1
    np.testing.assert_array_equal(y, x)
    np.testing.assert_allclose(z, expected(table, x)[1], rtol=1e-14, atol=1e-15)


def test_a_kernel_keeps_to_its_work_array(monkeypatch):
    monkeypatch.setattr(in_memory, "MOST_ON_STACK", 0)
    program, _ = made()
    kernel, x = Kernel.of(program), states(4)
    before = Kernel.of(program)
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
    program, _ = made()
    for name, text in c.files(program, "waves", vectors=[states(6)]).items():
        (tmp_path / name).write_text(text)
    command = ["gcc", "-O2", "-Wall", "-Wextra", "-Wpedantic", "-Wshadow", "-Werror", "-std=c99", "waves.c", "waves_test.c", "-lm"]
    subprocess.run(command, cwd=tmp_path, check=True)
    done = subprocess.run(["./a.out"], cwd=tmp_path, check=True, capture_output=True, text=True)
    assert "6 vectors" in done.stdout
    assert "#define WAVES_WORK 40" in (tmp_path / "waves.h").read_text()


# --- the verifier -------------------------------------------------------------------------------------------------------

def test_verifier_takes_a_sound_program():
    verify(made()[0])


def with_table(program, **changes):
    """With the first table changed."""
    return replace(program, tables=(replace(program.tables[0], **changes), *program.tables[1:]))


@pytest.mark.parametrize(("change", "message"), [
    (lambda p: replace(p, size=30), "memory of 30"),
    (lambda p: replace(p, items=(*p.items[:1], Turns(p.items[1].places[:-1]), *p.items[2:])), "read before it is written"),
    (lambda p: replace(p, items=(Turns(np.array([[38, 18, 19]])), *p.items[2:])), "an angle at 38:39 is read before it is written"),
    (lambda p: replace(p, items=(*p.items[:2], p.items[3])), "read before it is written"),
    (lambda p: replace(p, outputs=(Register("y", (9,), 36), p.outputs[1])), "lies at 36:45 of a memory of 40"),
    (lambda p: replace(p, outputs=(Register("y", (4,), 36), p.outputs[1])), "output 'y' at 36:40 is read before it is written"),
    (lambda p: replace(p, items=(*p.items[:2], Scan(p.items[2].order[::-1]), p.items[3])), "'y' of table 1 at"),
    (lambda p: replace(p, items=(*p.items[:2], Scan(p.items[2].order + 5), p.items[3])), "row 5 of table 5 is in no table"),
    (lambda p: with_table(p, numbers=np.full((1, 2), np.nan)), "not finite"),
    (lambda p: with_table(p, numbers=np.zeros((1, 3))), r"table 0 has shapes \(1, 3\) and \(1, 3\)"),
    (lambda p: with_table(p, places=np.array([[0, 18]])), r"table 0 has shapes \(1, 2\)"),
    (lambda p: with_table(p, places=np.array([[0, 18, 40]])), "port 'y' of table 0 lies at 40:41"),
    (lambda p: replace(p, tables=(*p.tables[:2], replace(p.tables[2], places=np.repeat([[0, 9, 3, 3]], 9, axis=0)))),
     "outputs of row 0 of table 2 overlap"),
    (lambda p: replace(p, items=(Loop(p.items, 39, 3),)), "the end of a loop at 39:40 is read before it is written"),
    (lambda p: replace(p, items=(*p.items[:2], Loop(p.items[2:], 0, 3))), "output 'y' at 9:18 is read before it is written"),
    (lambda p: replace(p, items=(Goals(p.items, None, ()),)), "output 'y' at 9:18 is read before it is written"),
    (lambda p: replace(p, items=(Goals(p.items, 50, ()),)), "the goal lies at 50:51"),
    (lambda p: replace(p, items=(*p.items, Callback(0, (Register("x", (9,), 0),), p.outputs[0]))), "not given a number first"),
    (lambda p: replace(p, items=(Callback(0, (Register("t", (1,), 39),), p.outputs[0]), *p.items)), "argument 't' at 39:40"),
])
def test_verifier_refuses(change, message):
    with pytest.raises(ProgramError, match=message):
        verify(change(made()[0]))


def test_a_loop_without_an_end_writes_for_certain():
    program, _ = made()
    verify(replace(program, items=(Loop(program.items, None, 2),)))


# --- the order ----------------------------------------------------------------------------------------------------------

def test_runs_are_the_order_in_pieces():
    scan = Scan(np.array([(0, 0), (1, 0), (1, 1), (1, 2), (0, 1), (1, 4), (1, 3)]))
    assert scan.runs == [(0, 0, 1), (1, 0, 3), (0, 1, 1), (1, 4, 1), (1, 3, 1)]
    assert [(table, row + k) for table, row, n in scan.runs for k in range(n)] == list(map(tuple, scan.order.tolist()))


def test_operations_are_counted_for_every_body():
    program, _ = made()
    first, other, last = (table.block.operations() for table in program.tables)
    assert program.operations() == 2 * BODIES + first + 8 * other + 9 * last


def test_the_text_of_a_program_is_that_of_all_it_is_made_of():
    program, _ = made()
    clear, turns, outward, inward = program.items
    others = [
        replace(program, size=41), replace(program, outputs=program.outputs[::-1]), with_table(program, numbers=np.ones((1, 2))),
        with_table(program, places=np.array([[0, 18, 10]])), replace(program, items=(turns, clear, outward, inward)),
        replace(program, items=(Clear(38, 40), turns, outward, inward)), replace(program, items=(clear, turns, Loop((outward,), 0, 1), inward)),
        replace(program, items=(clear, turns, Loop((outward,), 1, 1), inward)), replace(program, items=(clear, turns, outward, outward)),
        replace(program, items=(clear, Turns(turns.places[::-1]), outward, inward)),
        replace(program, items=(clear, turns, outward, Scan(inward.order[::-1]))),
        replace(program, items=(Goals(program.items, None, program.outputs),)), replace(program, items=(Goals(program.items, 39, ()),)),
        replace(program, items=(*program.items, Callback(0, program.inputs, program.outputs[0])))]
    assert len({p.text() for p in (program, *others)}) == 1 + len(others)
    assert made()[0].text() == program.text()


# --- passes -------------------------------------------------------------------------------------------------------------

def compiled(block):
    return numpy_source.compiled(Program.of(block))


def sample():
    with da.Graph():
        m, q, x = da.symbols("m", 4), da.symbols("q", 3), da.symbols("x", 2)
        y = [m[0] * m[1] * da.sin(q[1]) + da.cos(q[2]) * m[3], da.sin(q[1] + 1) * x[0], da.cos(q[1]) - m[2] / m[1], m[0] - m[3]]
        return block_of({"m": m, "q": q, "x": x}, {"y": y})


def test_turned_replaces_sines_and_cosines_of_entries_alone():
    block, entries = turned(sample(), "q")
    assert entries == (1, 2) and [p.name for p in block.inputs[3:]] == [turn_of(1), turn_of(2)]
    assert [i.op for i in block.code].count("sin") == 1
    rng = np.random.default_rng(0)
    m, q, x = rng.standard_normal(4), rng.standard_normal(3), rng.standard_normal(2)
    turns = [np.array([np.sin(a), np.cos(a)]) for a in q[1:]]
    np.testing.assert_array_equal(compiled(block)(m, q, x, *turns)[0], compiled(sample())(m, q, x)[0])


def test_settled_computes_what_only_constants_decide():
    rng = np.random.default_rng(0)
    rows = rng.standard_normal((5, 4))
    rows[:, 3] = 2.5                                           # equal in all rows: becomes a constant of the code
    block, numbers = settled(sample(), rows)
    block = pruned(block)
    assert block.inputs[0].size == numbers.shape[1] == 3      # m0 m1, m2 / m1, m0 - m3
    assert block.operations() == sample().operations() - 3
    q, x = rng.standard_normal((5, 3)), rng.standard_normal((5, 2))
    np.testing.assert_array_equal(compiled(block)(numbers, q, x)[0], compiled(sample())(rows, q, x)[0])


def test_pruned_leaves_out_what_no_result_needs():
    with da.Graph():
        m, q, x = da.symbols("m", 2), da.symbols("q", 1), da.symbols("x", 2)
        block = block_of({"m": m, "q": q, "x": x}, {"y": [x[1] * 2]})
    block = pruned(block)
    assert [p.name for p in block.inputs] == ["m", "x"]       # the first input stays
    np.testing.assert_array_equal(compiled(block)([1, 2], [3, 4])[0], [8])
