"""Compiled Python functions: values, batches, exact derivatives, sources; results have the structure that f returned."""

import copy
import pickle
import shutil
import subprocess
from collections import namedtuple

import numpy as np
import pytest

import dalembert as da
from dalembert.codegen.blocks import ProgramError
from dalembert.expr import ExpressionTypeError, GraphMixError, NonFiniteError

ARM = da.planar_chain(3)
Both = namedtuple("Both", "energy momenta")
RNG = np.random.default_rng(0)
Q, QD = RNG.standard_normal((2, 9, 3))


def energy(q, qd):
    return da.kinetic_energy(ARM, q, qd)


@pytest.fixture(scope="module")
def f():
    return da.function(energy, q=(3,), qd=(3,))


def close(found, expected):
    np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-12 * np.abs(expected).max())


def test_one_state_a_batch_and_a_broadcast_row(f):
    assert type(f(Q[0], QD[0])) is float
    close(f(Q[0], QD[0]), energy(Q[0], QD[0]))
    for n in (0, 1, 3, 4, 9):
        assert f(Q[:n], QD[:n]).shape == (n,)
        assert f(Q[:n], QD[:n]).tobytes() == f(Q, QD)[:n].tobytes()
    close(f(Q[0], QD), energy(Q[0], QD))
    close(f(Q[:3], QD[0]), energy(Q[:3], QD[0]))      # as many rows as entries
    assert f(Q, QD, threads=2).tobytes() == f(Q, QD).tobytes()


def test_inputs_by_position_and_by_name_are_the_same(f):
    assert f(Q[0], QD[0]) == f(q=Q[0], qd=QD[0]) == f(qd=QD[0], q=Q[0]) == f(Q[0], qd=QD[0]) == f(Q[0].tolist(), QD[0].tolist())


def test_derivatives_are_exact(f):
    momenta, M = f.gradient("qd"), f.hessian("qd")
    close(momenta(Q, QD), da.momenta(ARM, Q, QD))
    close(M(Q, QD), da.mass_matrix(ARM, Q))
    close(momenta.jacobian("qd")(Q, QD), da.mass_matrix(ARM, Q))
    h = 1e-5
    differences = np.array([(f(Q + h * e, QD) - f(Q - h * e, QD)) / (2 * h) for e in np.eye(3)]).T
    np.testing.assert_allclose(f.gradient("q")(Q, QD), differences, atol=1e-8)
    assert momenta.jacobian("q")(Q[0], QD[0]).shape == (3, 3)


def test_results_have_the_structure_that_the_function_returned():
    x = np.array([0.3, 0.4])
    for make in (lambda x: (x[0] * x[1], x), lambda x: {"product": x[0] * x[1], 2: x}, lambda x: Both(x[0] * x[1], x)):
        found, right = da.function(make, x=2)(x), make(x)
        assert type(found) is type(right) and len(found) == 2
        for a, b in zip(found.values() if isinstance(found, dict) else found, right.values() if isinstance(right, dict) else right):
            np.testing.assert_array_equal(a, b)
    assert list(da.function(lambda x: {"b": x, "a": x}, x=2)(x)) == ["b", "a"]
    both = da.function(lambda x: Both(x[0] * x[1], x), x=2)
    assert type(both(np.ones((3, 2)))) is Both and both(np.ones((3, 2))).energy.shape == (3,)
    np.testing.assert_array_equal(both.jacobian("x")(x).energy, x[::-1])
    np.testing.assert_array_equal(both.jacobian("x")(x).momenta, np.eye(2))


def test_any_keys_of_a_dict_are_names_of_results():
    f = da.function(lambda x: {1: x[0], "1": x[1], "status": x[0] / x[1], "status_": x[1]}, x=2)
    assert f([3.0, 4.0]) == {1: 3, "1": 4, "status": 0.75, "status_": 4}
    zero = f([3.0, 0.0])                                       # no status of the kernel: it passes through
    assert zero["status"] == np.inf and np.isnan(f([np.nan, 1.0])["status"])
    assert f.jacobian("x")([3.0, 4.0])["status"].tolist() == [0.25, -0.1875]
    space = {}
    exec(*f.source("numpy").values(), space)
    *results, status = space["lambda_"]([3.0, 4.0])
    assert status == 0 and [float(y) for y in results] == [3, 4, 0.75, 4]


def test_inputs_and_results_of_any_shape():
    g = da.function(lambda R, s, v: (s * R @ R.T, R @ v, s), R=(2, 3), s=(), v=3)
    R, s, v = RNG.standard_normal((5, 2, 3)), RNG.standard_normal(5), RNG.standard_normal((5, 3))
    square, turned, same = g(R, s, v)
    close(square, s[:, None, None] * R @ R.transpose(0, 2, 1))
    close(turned, np.einsum("nij,nj->ni", R, v))
    np.testing.assert_array_equal(same, s)
    assert [np.shape(x) for x in g(R[0], 2.0, v[0])] == [(2, 2), (2,), ()]
    assert [x.shape for x in g(R, 2.0, v[0])] == [(5, 2, 2), (5, 2), (5,)]
    by_R = g.jacobian("R")(R, s, v)
    assert [x.shape for x in by_R] == [(5, 2, 2, 2, 3), (5, 2, 2, 3), (5, 2, 3)]
    close(by_R[1], np.einsum("ik,nj->nikj", np.eye(2), v))
    close(g.jacobian("s")(R, s, v)[0], R @ R.transpose(0, 2, 1))
    assert g(R.transpose(0, 2, 1).copy().transpose(0, 2, 1), s, v)[0].tobytes() == square.tobytes()


def test_constants_and_functions_without_inputs():
    assert da.function(lambda: 2.5)() == 2.5
    np.testing.assert_array_equal(da.function(lambda x: [1, 2, 0.5], x=2)(np.zeros((3, 2))), [[1, 2, 0.5]] * 3)
    np.testing.assert_array_equal(da.function(lambda x: 1.0, x=2).gradient("x")([1, 2]), [0, 0])
    empty = da.function(lambda x, y: y * y, x=0, y=())
    assert empty.jacobian("x")([], 2.0).shape == empty.gradient("x")([], 2.0).shape == (0,)
    assert empty.hessian("x")([], 2.0).shape == (0, 0) and empty.hessian("y")([], 3.0) == 2


def test_values_that_are_not_finite_pass_through():
    g = da.function(lambda x: (da.where(x[0] > 0, x[1], 7), da.sin(x[0]), 1 / x[1]), x=2)
    chosen, sine, inverse = g([[np.inf, np.inf], [np.nan, 0.0], [-np.inf, -np.inf], [1.0, np.nan]])
    np.testing.assert_array_equal(chosen, [np.inf, 7, 7, np.nan])
    np.testing.assert_array_equal(np.isnan(sine), [True, True, True, False])
    np.testing.assert_array_equal(inverse, [0, np.inf, 0, np.nan])


def test_out_is_filled_and_may_overlap_inputs():
    g = da.function(lambda x, y: (x + y, x[0] * y), x=3, y=3)
    right, out = g(Q, QD), [np.empty((9, 3)), np.empty((9, 3))]
    found = g(Q, QD, out=out)
    assert found[0] is out[0] and found[1] is out[1]
    np.testing.assert_array_equal(out, right)
    x, y = Q.copy(), QD.copy()
    g(x, y, out=(x, y))
    np.testing.assert_array_equal([x, y], right)
    with pytest.raises(da.ShapeError, match="out for result_2 has shape"):
        g(Q, QD, out=(x, y[0]))
    with pytest.raises(TypeError, match="writeable float64"):
        g(Q, QD, out=(x, y.astype("f4")))


@pytest.mark.parametrize("call, error, message", [
    (lambda f: f(Q[0]), TypeError, r"energy takes q \(3,\), qd \(3,\), each once; given: 1 by position"),
    (lambda f: f(Q, QD, q=Q), TypeError, "given: 2 by position, q"),
    (lambda f: f(Q, QD, Q), TypeError, "given: 3 by position"),
    (lambda f: f(Q, speed=QD), TypeError, "given: 1 by position, speed"),
    (lambda f: f(Q[:, :2], QD), da.ShapeError, r"q has shape \(9, 2\), expected \(3,\) or \(N, 3\)"),
    (lambda f: f(Q[:2], QD), da.ShapeError, "different numbers of rows: q 2, qd 9"),
    (lambda f: f(Q + 0j, QD), TypeError, "q holds complex numbers"),
    (lambda f: f.jacobian("p"), da.UnknownNameError, "unknown input 'p' .known: q, qd."),
    (lambda f: f.gradient("q").gradient("q"), da.ShapeError, r"energy_gradient_q returns shape \(3,\), expected one number"),
    (lambda f: f.source("fortran"), da.UnknownNameError, "unknown target 'fortran' .known: c, numpy, llvm"),
    (lambda f: da.function(lambda R: R, R=(2, 2))(np.eye(3)), da.ShapeError, r"R has shape \(3, 3\), expected \(2, 2\) or \(N, 2, 2\)"),
    (lambda f: da.function(lambda s: s, s=())(np.eye(3)), da.ShapeError, r"s has shape \(3, 3\), expected \(\) or \(N,\)"),
    (lambda f: da.function(energy, q=3), TypeError, "qd"),
    (lambda f: da.function(lambda x: x, x=2.0), TypeError, r"x=2.0: expected"),
    (lambda f: da.function(lambda x: x, x=(-1,)), TypeError, r"x=\(-1,\): expected"),
    (lambda f: da.function(lambda out: out, out=2), TypeError, "not out, threads"),
    (lambda f: da.function(lambda x: x[0] < x[1], x=2), TypeError, "result holds the condition"),
    (lambda f: da.function(lambda x: x[0] if x[0] > 0 else x[1], x=2), ExpressionTypeError, "no truth value"),
    (lambda f: da.function(lambda x: None, x=2), ExpressionTypeError, "constant must be"),
    (lambda f: da.function(lambda x: x * np.nan, x=2), NonFiniteError, "finite"),
    (lambda f: da.function(lambda x: da.symbol("m") * x, x=2), ProgramError, "the symbol 'm' is not among the inputs x"),
])
def test_what_is_wrong_is_said(f, call, error, message):
    with pytest.raises(error, match=message):
        call(f)


def test_symbols_of_another_graph_do_not_mix():
    with da.Graph():
        m = da.symbol("m")
    with pytest.raises(GraphMixError):
        da.function(lambda x: m * x, x=2)


def test_functions_pickle_and_copy():
    g = da.function(lambda R, s: Both(R[0] @ R[1] * s, s), R=(2, 2), s=())
    at = (RNG.standard_normal((4, 2, 2)), RNG.standard_normal(4))
    for h in (g, g.jacobian("R")):
        for twin in (pickle.loads(pickle.dumps(h)), copy.copy(h), copy.deepcopy(h)):
            assert [x.tobytes() for x in twin(*at)] == [x.tobytes() for x in h(*at)]
            assert type(twin(*at)) is Both and twin.label == h.label
    assert [x.tobytes() for x in pickle.loads(pickle.dumps(g)).jacobian("R")(*at)] == [x.tobytes() for x in g.jacobian("R")(*at)]


def test_the_numpy_source_computes_the_same(f):
    (name, text), = f.source("numpy").items()
    namespace = {}
    exec(text, namespace)
    assert name == "energy.py"
    close(namespace["energy"](Q, QD)[0], f(Q, QD))


@pytest.mark.skipif(shutil.which("gcc") is None, reason="no gcc: generated C is not compiled")
def test_the_c_source_passes_its_own_test(f, tmp_path):
    texts = f.gradient("q").source("c")
    assert list(texts) == ["energy_gradient_q.h", "energy_gradient_q.c", "energy_gradient_q_test.c"]
    for name, text in texts.items():
        (tmp_path / name).write_text(text)
    sources = [name for name in texts if name.endswith(".c")]
    subprocess.run(["gcc", "-std=c99", "-O2", *sources, "-lm", "-o", "test"], cwd=tmp_path, check=True)
    subprocess.run([str(tmp_path / "test")], check=True)


def test_functions_without_a_name_have_sources():
    for made in (da.function(lambda x: x, x=2), da.function(lambda x: x, x=2).jacobian("x")):
        assert all(text.isascii() for text in (made.source("c") | made.source("numpy")).values())
