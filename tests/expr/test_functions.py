"""Functions over floats, exact numbers, arrays and nodes; choices with guarded branches."""

import math
from fractions import Fraction

import numpy as np
import pytest

from dalembert import expr as e
from dalembert.expr import (
    ExpressionTypeError,
    count_operations,
    derivative,
    evaluate,
    gradient,
    jacobian,
    symbols,
    where,
)

UNARY = [e.sqrt, e.sin, e.cos, e.tan, e.asin, e.acos, e.exp, e.log, e.sinh, e.cosh, e.tanh, e.absolute, e.sign]
BINARY = [e.atan2, e.hypot, e.power, e.minimum, e.maximum]

pytestmark = pytest.mark.usefixtures("own_graph")


@pytest.mark.parametrize("function", UNARY + BINARY)
def test_every_kind_of_scalar_gives_the_same_value(function):
    n = 1 if function in UNARY else 2
    values = (0.3, 0.8)[:n]
    x = symbols("x", n)
    expected = function(*values)
    assert type(expected) is float
    assert evaluate(function(*x), dict(zip(x, values))) == pytest.approx(expected, rel=1e-15)
    batch = function(*[np.array([v, v]) for v in values])
    np.testing.assert_allclose(batch, [expected] * 2, rtol=1e-15)
    mixed = function(*[np.array([v, s, Fraction(v)], dtype=object) for v, s in zip(values, x)])
    assert mixed[1] is function(*x) and mixed[0] == expected and mixed[2] == pytest.approx(expected)
    assert function(*[np.float64(v) for v in values]) == expected


def test_exact_numbers_stay_exact_where_they_can():
    assert type(e.sin(0)) is int and e.cos(0) == 1 and type(e.sqrt(Fraction(1, 4))) is Fraction
    assert e.sin(1) == math.sin(1)
    assert e.maximum(1, Fraction(3, 2)) == Fraction(3, 2)


def test_other_types_are_refused():
    for wrong in ("1", None, [1.0], True):
        with pytest.raises(TypeError):
            e.sin(wrong)
    with pytest.raises(ExpressionTypeError):
        e.hypot(symbols("x")[0], "1")
    with pytest.raises(ExpressionTypeError, match="condition"):
        where(1, 2, 3)


def test_mixed_lists_become_arrays_of_nodes():
    x = symbols("x")[0]
    a = e.array([[x, 0], [1.5, Fraction(1, 3)]])
    assert a.shape == (2, 2) and a[1, 1].value == Fraction(1, 3) and a[1, 0].graph is x.graph
    assert np.sin(a)[0, 1].value == 0
    assert e.array([1, 2.0]).dtype == float
    assert e.array([1, Fraction(1, 3)]).tolist() == [1, Fraction(1, 3)]
    with pytest.raises(TypeError):
        e.array(["a"])


# where


def test_where_takes_every_kind_of_condition():
    x, y = symbols("x y")
    assert where(True, x, y) is x and where(np.bool_(False), x, y) is y
    assert where(np.array([True, False]), 1.0, np.array([2.0, 3.0])).tolist() == [1.0, 3.0]
    assert where(np.array([True, False]), x, 0.0)[0] is x
    chosen = where(np.array([x < y, True], dtype=object), np.array([x, y]), 0)
    assert chosen[1] is y and evaluate(chosen, {x: 1, y: 2}).tolist() == [1, 2]
    assert where(x < y, np.array([x, 1.0]), y).shape == (2,)
    assert evaluate(where((x < y) & ~e.equal(x, 1) | (y < 0), 1, 0), {x: np.array([0, 1, 3]), y: 2.0}).tolist() == [1, 0, 0]


def test_only_the_branch_that_is_needed_is_called_on_floats():
    assert where(0.0 < 1.0, lambda: 1.0, lambda: 1.0 / 0.0) == 1.0
    x = np.array([0.0, 2.0])
    assert where(x == 0.0, lambda: 0.0, lambda: 1 / x).tolist() == [0.0, 0.5]


@pytest.mark.parametrize("dangerous, bad", [
    (lambda x: 1 / x, 0.0), (lambda x: e.sqrt(x), 0.0), (lambda x: e.log(x), 0.0), (lambda x: e.log(x), -1.0),
    (lambda x: e.asin(x), 1.0), (lambda x: e.acos(x), -1.0), (lambda x: x ** Fraction(1, 3), 0.0),
    (lambda x: e.atan2(x, x), 0.0), (lambda x: e.hypot(x, x), 0.0), (lambda x: e.exp(x), 1e4), (lambda x: e.sinh(x), 1e4),
    (lambda x: e.cosh(x * x), 1e4), (lambda x: e.sin(e.sqrt(x)) / x, 0.0),
])
@pytest.mark.parametrize("first", [True, False])
def test_the_branch_not_taken_leaves_no_trace_in_derivatives(dangerous, bad, first):
    x, c = symbols("x c")
    y = where(c < 0, dangerous(x), 3 * x) if first else where(c >= 0, 3 * x, dangerous(x))
    values = {x: bad, c: 1.0}
    assert evaluate(y, values) == 3 * bad
    assert evaluate(derivative(y, x), values) == 3
    assert evaluate(gradient(2 * y, [x])[0], values) == 6
    assert evaluate(derivative(gradient(y, [x])[0], x), values) == 0
    inside = {x: 0.5, c: -1.0}
    assert evaluate(y, inside) == pytest.approx(dangerous(0.5))
    assert evaluate(derivative(y, x), inside) == pytest.approx(evaluate(derivative(dangerous(x), x), inside), rel=1e-14)


def test_only_what_is_dangerous_is_rebuilt():
    x, y = symbols("x y")
    smooth = e.sin(x) * y
    assert where(x < y, smooth, 0).b is smooth


def test_a_chain_of_choices_grows_linearly():
    y = symbols("x")[0]
    for _ in range(60):
        y = where(y < 1, lambda y=y: e.sqrt(y + 2), lambda y=y: 1 / y)
    assert sum(count_operations(y).values()) < 60 * 8


def quaternion_log(w, x, y, z):
    """Rotation vector of a unit quaternion, over any scalar."""
    flip = where(w < 0, -1.0, 1.0)
    w, x, y, z = flip * w, flip * x, flip * y, flip * z
    s = x * x + y * y + z * z
    n = e.sqrt(s)
    factor = where(s < 1e-8, lambda: 2 / w - 2 * s / (3 * w * w * w), lambda: 2 * e.atan2(n, w) / n)
    return [factor * x, factor * y, factor * z]


@pytest.mark.parametrize("angle", [0.0, 1e-9, 1e-4, 1e-3, 1.0, math.pi - 1e-9, math.pi, 4.0])
def test_quaternion_logarithm_has_finite_derivatives(angle):
    axis = np.array([2.0, -1.0, 2.0]) / 3
    q = [math.cos(angle / 2), *(math.sin(angle / 2) * axis)]
    names = symbols("w x y z")
    log = e.array(quaternion_log(*names))
    values = dict(zip(names, q))
    turn = angle if angle <= math.pi else angle - 2 * math.pi
    np.testing.assert_allclose(quaternion_log(*q), turn * axis, rtol=1e-9, atol=1e-15)
    np.testing.assert_allclose(np.array(quaternion_log(*np.array([q, q]).T))[:, 0], turn * axis, rtol=1e-9, atol=1e-15)
    np.testing.assert_allclose(evaluate(log, values), turn * axis, rtol=1e-9, atol=1e-15)
    forward = evaluate(derivative(log, names), values)
    reverse = np.array([evaluate(gradient(y, names), values) for y in log])
    assert np.isfinite(forward).all()
    np.testing.assert_allclose(forward, reverse, rtol=1e-12, atol=1e-14)
    np.testing.assert_allclose(evaluate(jacobian(log, names), values), forward, rtol=1e-12, atol=1e-14)
    if 0 < angle < math.pi - 1e-8:
        numeric = np.stack([np.subtract(quaternion_log(*(q + d)), quaternion_log(*(q - d))) / 2e-6
                            for d in 1e-6 * np.eye(4)], axis=1)
        np.testing.assert_allclose(forward, numeric, rtol=1e-4, atol=1e-4)
