"""Nodes: constants, immutability, NumPy, loud failures, pickling, and depth."""

import copy
import gc
import math
import pickle
from fractions import Fraction

import numpy as np
import pytest

from dalembert.expr import (
    Expr,
    ExpressionTypeError,
    Graph,
    NonFiniteError,
    absolute,
    array,
    constant,
    derivative,
    equal,
    evaluate,
    gradient,
    hypot,
    known_zero,
    node,
    pack,
    sin,
    symbol,
    symbols,
    unpack,
    where,
)

pytestmark = pytest.mark.usefixtures("own_graph")


def test_exact_constants_stay_exact():
    third = constant(1) / 3
    assert third.value == Fraction(1, 3) and type(third.value) is Fraction
    assert type((third * 3).value) is int
    assert type((third + 0.5).value) is float
    assert constant(2) is not constant(2.0)
    assert constant(np.int64(2)) is constant(2)
    assert constant(np.float32(0.5)) is constant(0.5)
    assert constant(Fraction(4, 2)) is constant(2)
    assert constant(10**30 + 1).value == 10**30 + 1


def test_minus_zero_becomes_zero():
    assert math.copysign(1, constant(-0.0).value) == 1
    assert constant(-0.0) is constant(0.0)
    x = symbol("x")
    assert math.copysign(1, (x * 0 - 0.0).value) == 1


def test_small_constants_are_kept():
    x = symbol("x")
    assert evaluate(1e-16 * x + 1e-300 * x, {x: 2.0}) == 2e-16
    assert (1e-16 * x).a.value == 1e-16
    assert evaluate(1e-200 * (1e-200 * x), {x: 1e300}) == 1e-100


@pytest.mark.parametrize("value", [True, np.True_, False])
def test_bools_are_not_numbers(value):
    x = symbol("x")
    for use in (constant, lambda v: x + v, lambda v: v * x, lambda v: hypot(x, v), lambda v: array([x, v])):
        with pytest.raises(TypeError, match="truth value"):
            use(value)


@pytest.mark.parametrize("other", ["1", None, 1j, [1]])
def test_other_types_are_type_errors(other):
    with pytest.raises(TypeError):
        symbol("x") + other
    with pytest.raises(TypeError):
        constant(other)


def test_non_finite_constants_name_their_origin():
    x = symbol("x")
    with pytest.raises(NonFiniteError, match=r"operand nan of mul\(x, nan\)"):
        x * math.nan
    with pytest.raises(NonFiniteError, match=r"operand inf of sub\(inf, x\)"):
        math.inf - x
    with pytest.raises(NonFiniteError, match=r"mul\(1e\+200, 1e\+200\) is not a finite number") as error:
        constant(1e200) * 1e200
    assert error.value.op == "mul" and len(error.value.operands) == 2
    with pytest.raises(NonFiniteError, match="division by zero: x / 0"):
        x / 0
    with pytest.raises(NonFiniteError, match=r"div\(1, 0\)"):
        constant(1) / 0
    with pytest.raises(NonFiniteError, match=r"sqrt\(-1\)"):
        constant(-1).sqrt()
    with pytest.raises(NonFiniteError, match=r"log\(0\)"):
        constant(0).log()
    with pytest.raises(NonFiniteError, match=r"exp\(1000\)"):
        constant(1000).exp()
    with pytest.raises(NonFiniteError, match="must be finite, not nan"):
        constant(math.nan)
    with pytest.raises(NonFiniteError, match=r"power\(-2\.0, 0\.25\)"):
        constant(-2.0) ** 0.25


def test_nodes_are_immutable():
    x = symbol("x")
    with pytest.raises(AttributeError, match="immutable"):
        x.op = "add"
    with pytest.raises(AttributeError):
        x.color = 1
    with pytest.raises(AttributeError, match="immutable"):
        del x.a
    with pytest.raises(AttributeError, match="not a constant"):
        x.value  # noqa: B018
    with pytest.raises(AttributeError, match="not a symbol"):
        (x + 1).name  # noqa: B018


def test_symbols_take_any_name_but_the_empty_one():
    assert symbol("θ₁").name == "θ₁"
    assert [s.name for s in symbols("q", 2)] == ["q[0]", "q[1]"]
    assert symbols("R", (3, 3))[1, 2].name == "R[1, 2]"
    assert [s.name for s in symbols("a, b c")] == ["a", "b", "c"]
    for name in ("", 3, None):
        with pytest.raises(ExpressionTypeError, match="needs a name"):
            symbol(name)


def test_equality_is_identity():
    x, y = symbols("x y")
    assert x == x and x != y and (x == y) is False
    assert (x + y) == (y + x)
    assert x in [y, x]
    assert equal(x, y).op == "equal"
    assert {x: 1}[symbol("x")] == 1


# NumPy and Python constructs that cannot be right on expressions


@pytest.mark.parametrize("wrong", [
    lambda x, y: bool(x), lambda x, y: bool(x < y), lambda x, y: 1 if x else 2, lambda x, y: x and y, lambda x, y: 0 < x < 1,
    lambda x, y: max(x, y), lambda x, y: min(x, 2), lambda x, y: sorted([x, y]), lambda x, y: np.where(x < y, x, y),
    lambda x, y: np.where(np.array([x < y, y < x]), 1, 2), lambda x, y: np.maximum(x, y), lambda x, y: np.minimum(x, 1.0),
    lambda x, y: np.sign(x), lambda x, y: np.sign(np.array([x, y])), lambda x, y: np.array([x, y]).max(),
    lambda x, y: np.sort(np.array([x, y])), lambda x, y: np.clip(x, 0, 1), lambda x, y: np.array([x, y]) < np.array([y, x]),
    lambda x, y: np.any(np.array([x, y])), lambda x, y: not x, lambda x, y: np.fmax(x, y),
])
def test_truth_values_are_refused_with_the_way_out(wrong):
    with pytest.raises(ExpressionTypeError, match=r"da\.where, da\.maximum, da\.minimum and da\.sign"):
        wrong(*symbols("x y"))


@pytest.mark.parametrize("wrong", [
    lambda x: float(x), lambda x: math.sin(x), lambda x: np.array([x], dtype=float), lambda x: np.zeros(2).__setitem__(0, x),
    lambda x: np.float64(x),
])
def test_conversion_to_float_is_refused_with_the_way_out(wrong):
    with pytest.raises((ExpressionTypeError, ValueError)) as error:
        wrong(symbol("x"))
    messages = str(error.value) + str(error.value.__cause__)
    assert "da.evaluate" in messages


@pytest.mark.parametrize("wrong", [
    lambda x: int(x), lambda x: round(x), lambda x: x // 2, lambda x: x % 2, lambda x: np.floor(np.array([x])),
    lambda x: np.linalg.inv(np.array([[x]])), lambda x: np.isnan(x), lambda x: len(x), lambda x: iter(x), lambda x: list(x),
    lambda x: complex(x), lambda x: range(x), lambda x: np.cbrt(x),
])
def test_what_expressions_do_not_have_is_a_type_error(wrong):
    with pytest.raises(TypeError):
        wrong(symbol("x"))


@pytest.mark.parametrize("wrong", [
    lambda c, x: c + 1, lambda c, x: 2 * c, lambda c, x: -c, lambda c, x: sin(c), lambda c, x: c < x,
    lambda c, x: hypot(x, c), lambda c, x: where(c, c, x), lambda c, x: x & c, lambda c, x: ~x, lambda c, x: c | x,
    lambda c, x: where(x, 1, 2),
])
def test_conditions_and_numbers_are_not_mixed(wrong):
    x, y = symbols("x y")
    with pytest.raises(ExpressionTypeError, match="condition"):
        wrong(x < y, x)


def test_constant_comparisons_are_truth_values():
    assert (constant(1) < 2) is True
    assert (constant(0.5) >= 1) is False
    x = symbol("x")
    assert (x < x) is False and (x <= x) is True and equal(x, x) is True


# NumPy on nodes


@pytest.mark.parametrize("function", [
    np.sin, np.cos, np.tan, np.arcsin, np.arccos, np.exp, np.log, np.sinh, np.cosh, np.tanh, np.sqrt, np.abs, np.negative,
    np.square,
])
def test_numpy_functions_take_nodes_and_object_arrays(function):
    x, y = symbols("x y")
    one, many = function(x), function(np.array([[x, y]]))
    assert type(one) is Expr and many.shape == (1, 2) and many[0, 0] is one
    assert evaluate(one, {x: 0.3}) == pytest.approx(function(0.3), rel=1e-15)


def test_numpy_functions_of_two_arguments_take_nodes():
    x, y = symbols("x y")
    values = {x: 0.3, y: -1.2}
    for function in (np.arctan2, np.hypot, np.add, np.subtract, np.multiply, np.divide):
        assert evaluate(function(x, y), values) == pytest.approx(function(0.3, -1.2), rel=1e-15)
        assert evaluate(function(np.array([x, y]), 2.0), values) == pytest.approx(function([0.3, -1.2], 2.0), rel=1e-15)
    assert evaluate(np.power(x, 3.0), values) == pytest.approx(0.027)


def test_numpy_numbers_and_arrays_stand_on_either_side():
    x = symbol("x")
    assert np.float64(2.0) * x is 2.0 * x
    assert (np.float64(2.0) < x) is (x > 2.0)
    assert np.int64(3) - x is 3 - x
    a = np.array([1.0, 2.0])
    for result in (a * x, x * a):
        assert isinstance(result, np.ndarray) and result[1] is 2.0 * x
    assert (a < x)[0] is (x > 1.0)
    assert (x**a)[0] is x
    assert (np.array([[x], [2 * x]]) + a).shape == (2, 2)


def test_matrix_products_of_object_and_float_arrays():
    x = symbols("x", (2, 2))
    A = np.array([[1.0, 2.0], [0.0, -1.0]])
    values = {s: v for s, v in zip(x.flat, (0.1, 0.2, 0.3, 0.4))}
    X = np.array([[0.1, 0.2], [0.3, 0.4]])
    for product, expected in ((A @ x, A @ X), (x @ A, X @ A), (x @ x.T, X @ X.T), (x.dot(x[0]), X.dot(X[0]))):
        np.testing.assert_allclose(evaluate(product, values), expected, rtol=1e-15)
    np.testing.assert_allclose(evaluate(np.cross(np.append(x[0], 0), [0, 0, 1]), values), [0.2, -0.1, 0])
    assert evaluate(np.trace(x) + x.sum() + np.prod(x[0]), values) == pytest.approx(0.5 + 1.0 + 0.02)


# Pickling, copying, depth


def test_pickled_nodes_are_rebuilt_in_the_ambient_graph(random_function):
    y = random_function(seed=1, size=200)(*symbols("x", 4))
    data = pickle.dumps(y)
    assert all(a is b for a, b in zip(pickle.loads(data), y))
    with Graph() as other:
        z = pickle.loads(data)
        assert all(item.graph is other for item in z)
        assert pack(z) == pack(y)
        assert [item.digest for item in z] == [item.digest for item in y]


def test_programs_share_what_their_nodes_share():
    x = symbol("x")
    y = [sin(x) + k for k in range(1, 50)]
    lines, _ = program = pack(y)
    assert len(lines) == 2 + 2 * 49
    assert all(a is b for a, b in zip(unpack(program), y))


def test_copies_are_the_node_itself():
    y = sin(symbol("x")) + 1
    assert copy.copy(y) is y and copy.deepcopy(y) is y and copy.deepcopy([y])[0] is y


@pytest.mark.parametrize("depth", [50_000, pytest.param(1_000_000, marks=pytest.mark.slow)])
def test_depth_is_no_limit(depth):
    with Graph() as graph:
        x, c = symbols("x c")
        y = x
        for _ in range(depth // 2):
            y = c * sin(y)
        assert len(graph) > 0.99 * depth
        dy = derivative(y, x)
        assert gradient(y, [x])[0].graph is graph
        assert evaluate(dy, {x: 0.0, c: 1.0}) == 1.0
        assert copy.deepcopy(y) is y
        assert pickle.loads(pickle.dumps(y)) is y
        assert len(repr(y)) < 1000
        with Graph() as other:
            assert pickle.loads(pickle.dumps(y)).graph is other
    del x, c, y, dy, graph, other
    gc.collect()                              # must not exhaust the C stack


def test_ties_of_digests_are_broken_by_structure():
    x, y = symbols("x y")
    a, b = sin(x) * y, sin(y) * x
    assert node.precedes(a, b) is not node.precedes(b, a)
    assert node.precedes(a, a)
    assert node.precedes(sin(x), sin(y)) is not node.precedes(sin(y), sin(x))
    assert node.precedes(x, sin(x)) is not node.precedes(sin(x), x)


def test_colliding_digests_keep_nodes_apart(monkeypatch):
    monkeypatch.setattr(node, "_MASK", 0)     # every operation gets one digest
    texts = []
    for swap in (False, True):
        with Graph():
            x, y = symbols("x y")
            if swap:
                _ = (sin(y), absolute(sin(x)))
            total = (sin(x) + sin(y)) * (sin(y) + sin(x)) - absolute(sin(x))
            assert len({n.digest for n in (sin(x), sin(y), total)}) == 1
            assert sin(x) is not sin(y)
            texts.append(repr(total))
            assert evaluate(total, {x: 1.0, y: 2.0}) == pytest.approx((math.sin(1) + math.sin(2)) ** 2 - math.sin(1))
    assert texts[0] == texts[1]


def test_known_zeros_are_numbers_and_constants_never_batches():
    x = symbol("x")
    zeros = (0, 0.0, -0.0, Fraction(0), np.float64(0), np.float32(0), np.int64(0), constant(0), constant(0.0), x - x)
    others = (1, 1e-300, Fraction(1, 9), float("nan"), x, constant(2), np.zeros(3), np.zeros(0), None, "0")
    assert [known_zero(a) for a in zeros] == [True] * len(zeros)
    assert [known_zero(a) for a in others] == [False] * len(others)
