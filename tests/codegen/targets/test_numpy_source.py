"""NumPy source: equal to the evaluation of expressions and to the float path, readable, safe."""

import ast
import warnings
from dataclasses import replace

import numpy as np
import pytest

import dalembert as da
from dalembert.codegen.blocks import ProgramError
from dalembert.codegen.program import program_of
from dalembert.codegen.targets.numpy_source import compiled, source
from formulations.test_tracing import locked_panda
from programs import (
    HOSTILE,
    PAIRS,
    hostile_program,
    long_program,
    mechanism_program,
    operations_program,
    states,
)

QUANTITIES = ["inverse_dynamics", "forward_dynamics", "mass_matrix"]


def test_the_source_reads_like_a_function():
    with da.Graph():
        q, m = da.symbols("q", 2), da.symbol("m")
        program = program_of({"q": q, "mass": [m]}, {"T": 0.5 * m * da.sin(q[1]), "M": [[m, 0], [0, da.minimum(m, 2.0)]]})
    assert source(program, "energies").split("\n\n\n")[1] == '''\
@np.errstate(all="ignore")
def energies(q, mass):
    """energies of one state or of a batch of states, the batch leading.

    Parameters
    ----------
    q : (..., 2) array
    mass : (..., 1) array

    Returns
    -------
    T : (...,) array
    M : (..., 2, 2) array
    status : (...,) array of int
        0: inputs and results are valid; otherwise results are computed, but mean nothing
        1000000: an input is infinite or not a number
        1000001: a result is infinite or not a number
    """
    q = np.asarray(q, dtype=np.float64)
    mass = np.asarray(mass, dtype=np.float64)
    batch = np.broadcast_shapes(q.shape[:-1], mass.shape[:-1])
    v0 = q[..., 1]
    v1 = np.sin(v0)
    v3 = mass[..., 0]
    v4 = 0.5 * v3
    v5 = v1 * v4
    v7 = np.minimum(2.0, v3)
    T = np.empty((*batch,))
    T[...] = v5
    M = np.empty((*batch, 2, 2))
    M[..., 0, 0] = v3
    M[..., 0, 1] = 0.0
    M[..., 1, 0] = 0.0
    M[..., 1, 1] = v7
    inputs_finite = np.ones(batch, dtype=np.bool_)
    inputs_finite &= np.all(np.isfinite(q), axis=(-1,))
    inputs_finite &= np.all(np.isfinite(mass), axis=(-1,))
    results_finite = np.ones(batch, dtype=np.bool_)
    results_finite &= np.all(np.isfinite(T), axis=())
    results_finite &= np.all(np.isfinite(M), axis=(-2, -1))
    status = np.where(results_finite, 0, 1000001)
    status = np.where(inputs_finite, status, 1000000)
    return (T, M, status)
'''


def test_every_operation_is_that_of_evaluate_also_on_special_values():
    program, expressions, x = operations_program()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = compiled(program)(PAIRS)
    expected = da.evaluate(expressions, dict(zip(x, PAIRS.T)))
    for port, y, right in zip(program.outputs, found, expected.T, strict=True):
        np.testing.assert_array_equal(y, right, err_msg=port.name)
        np.testing.assert_array_equal(np.signbit(y[~np.isnan(y)]), np.signbit(right[~np.isnan(y)]), err_msg=port.name)


@pytest.mark.parametrize("seed", range(3))
def test_random_programs_equal_evaluate(seed):
    program, expressions, x = long_program(seed, 300)
    at = np.random.default_rng(seed).standard_normal((50, 4))
    np.testing.assert_array_equal(compiled(program)(at)[0], da.evaluate(expressions, dict(zip(x, at.T))))


@pytest.mark.parametrize("quantity", QUANTITIES)
@pytest.mark.parametrize("mechanism", [locked_panda(), *(da.random_tree(seed, 7) for seed in range(4))], ids=range(5))
def test_quantities_equal_the_float_path(mechanism, quantity):
    given = states(mechanism, quantity, 20)
    (found,) = compiled(mechanism_program(mechanism, quantity))(*given)
    for y, *state in zip(found, *given, strict=True):
        right = getattr(da, quantity)(mechanism, *state)
        if quantity == "forward_dynamics":      # backward error: solutions with M may differ more
            q, qd, tau = state
            M, bias = da.mass_matrix(mechanism, q), da.bias_force(mechanism, q, qd) - da.passive_force(mechanism, q, qd)
            residual, scale = M @ y + bias - tau, abs(M).max() * abs(y).max() + abs(bias).max() + abs(tau).max()
            assert abs(residual).max() <= 1e-12 * scale
        assert abs(y - right).max() <= 1e-10 * abs(right).max() if quantity == "forward_dynamics" else \
            abs(y - right).max() <= 1e-12 * abs(right).max()


def test_inputs_broadcast_and_batches_lead():
    program = mechanism_program(da.planar_chain(3), "inverse_dynamics")
    f = compiled(program)
    q = np.random.default_rng(0).standard_normal((4, 5, 3))
    (tau,) = f(q, [1, 2, 3], np.zeros((5, 3)))
    assert tau.shape == (4, 5, 3)
    np.testing.assert_allclose(tau[2, 3], f(q[2, 3], [1, 2, 3], np.zeros(3))[0], rtol=1e-14)
    assert f(*np.zeros((3, 3)))[0].shape == (3,) and f(*np.zeros((3, 0, 3)))[0].shape == (0, 3)


def test_empty_and_constant_programs_work():
    assert compiled(program_of({}, {}))() == ()
    y, z = compiled(program_of({"q": []}, {"y": [1, 2.5], "z": np.zeros((0, 2))}))(np.zeros((3, 0)))
    assert y.tolist() == [[1, 2.5]] * 3 and z.shape == (3, 0, 2)


def test_constant_operands_follow_ieee():
    with da.Graph():
        x, two = da.symbol("x"), da.constant(2)
        program = program_of({"x": [x]}, {"y": [da.sqrt(two), da.power(two, da.constant(0.5)), da.sin(two) / 3, -da.sqrt(two)]})
    np.testing.assert_array_equal(compiled(program)([0.0])[0], [2**0.5, 2**0.5, np.sin(2) / 3, -(2**0.5)])


@pytest.mark.parametrize("name", HOSTILE)
def test_no_name_reaches_the_code(name):
    text = source(hostile_program(), name)
    assert text.isascii()
    module = ast.parse(text)
    assert [type(node).__name__ for node in module.body] == ["Expr", "Import", "FunctionDef"]
    local = {node.id for node in ast.walk(module) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}
    used = {node.id for node in ast.walk(module) if isinstance(node, ast.Name)}
    called = {ast.unparse(node.func.value) for node in ast.walk(module) if isinstance(node, ast.Call)}
    assert used - local == called == {"np"}


def test_hostile_ports_keep_their_values():
    program = hostile_program()
    given = list(np.random.default_rng(0).standard_normal((len(HOSTILE), 2)))
    found = compiled(program)(*given)
    total = sum(np.sin(a) * b for a, b in given)
    np.testing.assert_allclose(found, [min(total * (k + 2), b) for k, (_, b) in enumerate(given)], rtol=1e-13)


def test_compiled_functions_see_numpy_only():
    names = compiled(mechanism_program(da.planar_chain(1), "mass_matrix")).__wrapped__.__globals__
    assert set(names) == {"__builtins__", "np", "function"} and names["__builtins__"] == {}


def test_malformed_programs_are_refused():
    program = operations_program()[0]
    with pytest.raises(ProgramError):
        block = program.block
        source(type(program).of(replace(block, results=((10_000,), *block.results[1:]))))
