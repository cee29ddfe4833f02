"""Long blocks as loops over rows: the numbers of straight code, from code that does not grow with the rows."""

import numpy as np

from dalembert.codegen.blocks import block_of
from dalembert.codegen.interpreter import evaluated
from dalembert.codegen.passes import rolling
from dalembert.codegen.program import Program, Register, Turns
from dalembert.codegen.symbols import vector_of_symbols
from dalembert.codegen.verifier import verify
from dalembert.expr import Graph, cos, sin
from dalembert.integrators.choice import chosen


def chain(n):
    """A recursion with sines, conditions of the link before, and a constant of each link; what is read is written over."""
    with Graph():
        x, y = vector_of_symbols("x", n), vector_of_symbols("y", n)
        links, last, above = [], y[0], y[0] > 0
        for k in range(n):
            turned = sin(x[k]) * last + cos(x[k]) / (3.5 + 0.25 * k)
            last = chosen(above, turned, turned * y[k] - x[k])
            above = last > 0.1 * y[k]
            links.append(cos(last + x[k]))
        return block_of({"x": x, "y": y}, {"x": links, "y": [*x[:-2], 0.0, last]}, 0)


def in_loops(block, n):
    found = rolling.rolled(block, [0, n], [0, n], 2 * n)
    registers = Register("x", (n,), 0), Register("y", (n,), n)
    program = Program(registers, registers, found.end, tuple(found.tables), tuple(found.items))
    verify(program)
    return program


def test_rows_compute_the_numbers_of_straight_code_and_their_code_does_not_grow():
    sizes = []
    for n in (60, 240):
        block = chain(n)
        program = in_loops(block, n)
        x, y = np.random.default_rng(0).normal(size=(2, n))
        straight = evaluated(Program.of(block), x, y)
        for found, expected in zip(evaluated(program, x, y), straight, strict=True):
            np.testing.assert_array_equal(found, expected)
        assert any(isinstance(item, Turns) for item in program.items)
        sizes.append(sum(len(table.block.code) for table in program.tables))
    assert sizes[1] < 1.5 * sizes[0] < 3 * 240


def test_runs_of_code_are_found_with_their_period():
    signs = np.array([90, 91, *[1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13] * 20, 92, 93])
    assert rolling.runs(signs) == [(0, 2, 1), (2, 13, 20), (262, 2, 1)]
