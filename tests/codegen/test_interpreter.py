"""The interpreter, which says what programs mean, against the evaluation of expressions and against NumPy source."""

import numpy as np
import pytest

import dalembert as da
from dalembert.codegen.interpreter import evaluated
from dalembert.codegen.program import program_of
from dalembert.codegen.targets.numpy_source import compiled
from dalembert.tracing.quantities import traced
from programs import PAIRS, hostile_program, long_program, operations_program


def test_every_operation_is_that_of_expressions_also_on_special_values():
    program, expressions, x = operations_program()
    right = da.evaluate(expressions, dict(zip(x, PAIRS.T)))
    for port, found, column in zip(program.outputs, evaluated(program, PAIRS), right.T, strict=True):
        np.testing.assert_array_equal(found, column, err_msg=port.name)
        np.testing.assert_array_equal(np.signbit(found[~np.isnan(found)]), np.signbit(column[~np.isnan(found)]))


@pytest.mark.parametrize("program", [long_program(1, 200)[0], hostile_program(), program_of({}, {"y": [1.0, 2.0]}),
                                     traced(da.planar_chain(100), ["forward_dynamics"])],
                         ids=["long", "hostile", "constants", "scans"])
def test_numpy_source_computes_the_same_to_the_last_bit(program):
    rng = np.random.default_rng(0)
    for batch in ((), (3,), (2, 3)):
        inputs = [rng.standard_normal((*batch, port.size)) for port in program.inputs]
        for found, right in zip(compiled(program)(*inputs), evaluated(program, *inputs), strict=True):
            np.testing.assert_array_equal(found, right)
            assert found.shape == right.shape


def test_inputs_broadcast():
    with da.Graph():
        x, y = da.symbols("x", 2), da.symbols("y", 1)
        program = program_of({"x": x, "y": y}, {"z": [x[0] * y[0], x[1]]})
    (z,) = evaluated(program, np.ones((4, 1, 2)), np.arange(3.0)[:, None])
    assert z.shape == (4, 3, 2) and z[2, :, 0].tolist() == [0, 1, 2] and (z[..., 1] == 1).all()
