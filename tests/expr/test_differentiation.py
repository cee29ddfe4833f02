"""Derivatives against differences and closed forms, and forward against reverse."""

import math

import numpy as np
import pytest

from dalembert import expr as e
from dalembert.errors import ShapeError
from dalembert.expr import (
    ExpressionTypeError,
    Graph,
    GraphMixError,
    count_operations,
    derivative,
    directional,
    evaluate,
    gradient,
    jacobian,
    symbols,
)
from dalembert.expr.differentiation import PARTIALS
from dalembert.expr.graph import COMPARISONS, LOGIC, OPERATIONS

pytestmark = pytest.mark.usefixtures("own_graph")


@pytest.mark.parametrize("build, expected", [
    (lambda x, y: x + y, (1, 1)), (lambda x, y: x - y, (1, -1)), (lambda x, y: x * y, (0.7, 0.4)),
    (lambda x, y: -x, (-1, 0)),
    (lambda x, y: x / y, (1 / 0.7, -0.4 / 0.49)), (lambda x, y: x**y, (0.7 * 0.4**-0.3, 0.4**0.7 * math.log(0.4))),
    (lambda x, y: x**3, (3 * 0.16, 0)), (lambda x, y: e.sqrt(x), (0.5 / math.sqrt(0.4), 0)),
    (lambda x, y: e.sin(x), (math.cos(0.4), 0)), (lambda x, y: e.cos(x), (-math.sin(0.4), 0)),
    (lambda x, y: e.tan(x), (1 / math.cos(0.4) ** 2, 0)), (lambda x, y: e.asin(x), (1 / math.sqrt(1 - 0.16), 0)),
    (lambda x, y: e.acos(x), (-1 / math.sqrt(1 - 0.16), 0)), (lambda x, y: e.atan2(x, y), (0.7 / 0.65, -0.4 / 0.65)),
    (lambda x, y: e.exp(x), (math.exp(0.4), 0)), (lambda x, y: e.log(x), (2.5, 0)),
    (lambda x, y: e.sinh(x), (math.cosh(0.4), 0)), (lambda x, y: e.cosh(x), (math.sinh(0.4), 0)),
    (lambda x, y: e.tanh(x), (1 / math.cosh(0.4) ** 2, 0)),
    (lambda x, y: e.hypot(x, y), (0.4 / math.hypot(0.4, 0.7), 0.7 / math.hypot(0.4, 0.7))),
    (lambda x, y: abs(x - y), (-1, 1)), (lambda x, y: e.sign(x) * y, (0, 1)), (lambda x, y: e.minimum(x, y), (1, 0)),
    (lambda x, y: e.maximum(x, y), (0, 1)), (lambda x, y: e.where(x < y, 2 * x, y), (2, 0)),
    (lambda x, y: e.where(x > y, 2 * x, y), (0, 1)), (lambda x, y: x * x * x, (3 * 0.16, 0)),
])
def test_each_operation_has_its_derivative_in_both_modes(build, expected):
    x, y = symbols("x y")
    values = {x: 0.4, y: 0.7}
    f = build(x, y)
    assert evaluate(derivative(f, [x, y]), values) == pytest.approx(np.array(expected, dtype=float), rel=1e-13)
    assert evaluate(gradient(f, [x, y]), values) == pytest.approx(np.array(expected, dtype=float), rel=1e-13)


def test_every_operation_with_a_value_has_partial_derivatives():
    assert set(PARTIALS) | {"select", *COMPARISONS, *LOGIC} == set(OPERATIONS)


@pytest.mark.parametrize("seed", range(5))
def test_forward_reverse_and_differences_agree(random_function, seed):
    function = random_function(seed, size=60, smooth=True)
    x = symbols("x", 4)
    y = e.array(list(function(*x)))
    point = np.random.default_rng(seed).normal(size=4)
    values = dict(zip(x, point))
    forward = evaluate(derivative(y, x), values)
    reverse = np.array([evaluate(gradient(item, x), values) for item in y])
    scale = 1 + abs(forward).max()
    np.testing.assert_allclose(forward, reverse, rtol=1e-11, atol=1e-12 * scale)
    h = 1e-6
    numeric = np.stack([np.subtract(function(*(point + d)), function(*(point - d))).astype(float) / (2 * h)
                        for d in h * np.eye(4)], axis=1)
    np.testing.assert_allclose(forward, numeric, rtol=1e-5, atol=1e-7 * scale)     # differences keep about 8 digits
    direction = np.array([0.3, -1.0, 2.0, 0.5])
    along = evaluate(directional(y, x, direction), values)
    np.testing.assert_allclose(along, forward @ direction, rtol=1e-11, atol=1e-12 * scale)


@pytest.mark.parametrize("seed", range(5))
def test_choices_have_equal_derivatives_in_both_modes(random_function, seed):
    x = symbols("x", 4)
    y = e.array(list(random_function(seed, size=60)(*x)))
    values = dict(zip(x, np.random.default_rng(seed).normal(size=4)))
    forward = evaluate(derivative(y, x), values)
    reverse = np.array([evaluate(gradient(item, x), values) for item in y])
    np.testing.assert_allclose(forward, reverse, rtol=1e-11, atol=1e-11 * (1 + abs(forward).max()))


def test_derivatives_at_a_switch_are_finite_and_symmetric():
    x, y = symbols("x y")
    at = {x: 0.0, y: 0.0}
    assert evaluate(derivative(abs(x), x), at) == 0
    assert evaluate(derivative(e.sign(x), x), at) == 0
    assert evaluate(gradient(e.maximum(x, y), [x, y]), at).tolist() == [0.5, 0.5]
    assert evaluate(gradient(e.minimum(x, y), [x, y]), at).tolist() == [0.5, 0.5]
    assert evaluate(derivative(e.where(x < 0, -x, 2 * x), x), at) == 2


def test_shapes():
    x, y = symbols("x", (2, 3)), symbols("y", 4)
    f = np.array([[(x.sum()) * item for item in y]])
    assert derivative(f, x).shape == (1, 4, 2, 3)
    assert derivative(f, x[0, 0]).shape == (1, 4)
    assert directional(f, x, x).shape == (1, 4)
    assert gradient(f[0, 0], x).shape == (2, 3)
    assert jacobian(f, x).shape == (1, 4, 2, 3) and jacobian(f, y).shape == (1, 4, 4)
    assert [item.value for item in derivative([1.0, x[0, 0]], x[0, 0])] == [0, 1]
    assert derivative(x[0, 0] * 2, x[0, 0]).value == 2


def test_reverse_mode_costs_a_small_multiple_of_the_function():
    x = symbols("x", 50)
    y = x[0]
    for item in x[1:]:
        y = e.sin(y * item) + item
    cost = sum(count_operations(gradient(y, x)).values())
    assert cost < 4 * sum(count_operations(y).values())


def test_second_derivatives_are_symmetric(random_function):
    x = symbols("x", 4)
    y = random_function(2, size=30, smooth=True)(*x)[-1] * x[0]
    values = dict(zip(x, (0.1, -0.4, 0.7, 1.1)))
    hessian = evaluate(jacobian(gradient(y, x), x), values)
    np.testing.assert_allclose(hessian, hessian.T, rtol=1e-10, atol=1e-10 * (1 + abs(hessian).max()))


def test_wrong_variables_are_errors():
    x, y = symbols("x y")
    with pytest.raises(ExpressionTypeError, match="by symbols, not by"):
        derivative(x * y, x * y)
    with pytest.raises(ExpressionTypeError, match="by symbols, not by 2"):
        gradient(x, [2])
    with pytest.raises(ShapeError, match=r"direction has shape \(1,\), expected \(2,\)"):
        directional(x * y, [x, y], [1.0])
    with pytest.raises(ShapeError, match="expected one expression"):
        gradient([x, y], [x])
    with Graph():
        z = symbols("x")[0]
    with pytest.raises(GraphMixError):
        derivative(x * y, z)
