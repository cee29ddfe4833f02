"""Blocks: the same for the same function, complete, checked."""

from dataclasses import replace

import numpy as np
import pytest

import dalembert as da
from dalembert.codegen.blocks import ARITY, Instruction, Port, ProgramError, block_of
from dalembert.codegen.verifier import verify_block
from dalembert.expr.graph import LEAVES, OPERATIONS
from formulations.test_tracing import locked_panda
from programs import hostile_program, long_program, mechanism_program, operations_program

BLOCK = long_program(0, 60)[0].block
FIRST = {op: next(k for k, i in enumerate(BLOCK.code) if i.op == op) for op in ("constant", "input", "sin", "select")}
CONDITION = next(k for k, i in enumerate(BLOCK.code) if i.op == "less")


def test_every_operation_has_an_arity():
    assert set(ARITY) == set(OPERATIONS) and not set(ARITY) & set(LEAVES)
    assert {ARITY[op] == len(args) for op, args in operations_program()[0].block.code if op in ARITY} == {True}


def test_blocks_do_not_depend_on_what_was_traced_before():
    first = mechanism_program(locked_panda(), "inverse_dynamics").text()
    mechanism_program(da.random_tree(1, 5), "mass_matrix")
    assert mechanism_program(locked_panda(), "inverse_dynamics").text() == first


def test_values_are_computed_once_operands_first_and_only_if_needed():
    with da.Graph():
        x = da.symbols("x", 2)
        s = da.sin(x[0])
        _ = da.cos(x[1])
        block = block_of({"x": x}, {"y": [s * s, s, 2.5], "z": [[1, s]]})
    assert block.text() == ("in x (2,)\n0 = input 0 0\n1 = sin 0\n2 = mul 1 1\n3 = constant 2.5\n4 = constant 1.0\n"
                              "out y (3,) 2 1 3\nout z (1, 2) 4 1\n")
    assert block.outputs == (Port("y", (3,)), Port("z", (1, 2)))


def test_a_symbol_that_is_no_input_is_named():
    with da.Graph():
        x, y = da.symbols("x length")
        with pytest.raises(ProgramError, match="the symbol 'length' is not among the inputs x, z"):
            block_of({"x": [x], "z": []}, {"f": x * y})


@pytest.mark.parametrize("block", [operations_program()[0].block, BLOCK, hostile_program().block, block_of({}, {}),
                                     block_of({"q": []}, {"M": np.zeros((0, 0))})],
                         ids=["operations", "random", "hostile", "nothing", "empty"])
def test_blocks_of_expressions_are_well_formed(block):
    verify_block(block)


@pytest.mark.parametrize("place, instruction", [
    (FIRST["sin"], Instruction("sine", (0,))), (FIRST["sin"], Instruction("sin", (0, 0))), (FIRST["sin"], Instruction("sin", ())),
    (FIRST["sin"], Instruction("sin", (FIRST["sin"],))), (FIRST["sin"], Instruction("sin", (10_000,))),
    (FIRST["sin"], Instruction("sin", (-1,))), (FIRST["sin"], Instruction("sin", (0.0,))),
    (-1, Instruction("sin", (CONDITION,))), (-1, Instruction("not", (0,))), (-1, Instruction("and", (CONDITION, 0))),
    (-1, Instruction("select", (0, 0, 0))), (-1, Instruction("select", (CONDITION, CONDITION, 0))),
    (FIRST["constant"], Instruction("constant", (np.inf,))), (FIRST["constant"], Instruction("constant", (np.nan,))),
    (FIRST["constant"], Instruction("constant", ("1",))), (FIRST["constant"], Instruction("constant", ())),
    (FIRST["input"], Instruction("input", (1, 0))), (FIRST["input"], Instruction("input", (0, 4))),
    (FIRST["input"], Instruction("input", (-1, 0)))])
def test_a_malformed_value_is_refused(place, instruction):
    code = list(BLOCK.code)
    code[place] = instruction
    with pytest.raises(ProgramError, match=rf"value {place % len(code)} = {instruction.op} .* is malformed"):
        verify_block(replace(BLOCK, code=tuple(code)))


@pytest.mark.parametrize("outputs, results", [
    ((Port("y", (2,)),), ((0,),)), ((Port("y", (1,)),), ((10_000,),)), ((Port("y", ()),), ((-1,),)),
    ((Port("y", (1,)),), ((CONDITION,),))])
def test_results_that_do_not_fit_the_outputs_are_refused(outputs, results):
    with pytest.raises(ProgramError, match="output 'y' of shape .* has wrong results"):
        verify_block(replace(BLOCK, outputs=outputs, results=results))
