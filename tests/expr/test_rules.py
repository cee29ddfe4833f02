"""Simplification at construction: what each rule gives, and that no rule changes a value."""

from fractions import Fraction

import numpy as np
import pytest

from dalembert import expr as e
from dalembert.expr import Graph, count_operations, evaluate, symbols
from dalembert.expr.graph import OPERATIONS
from dalembert.expr.node import BUILD
from dalembert.expr.rules import BINARY, UNARY

X, Y = 0.7, -1.3
HALF = Fraction(1, 2)


@pytest.mark.parametrize("build, text", [
    # zeros and ones
    (lambda x, y: x + 0, "x"), (lambda x, y: 0 - x, "-x"), (lambda x, y: x * 0, "0"), (lambda x, y: 0.0 * x, "0.0"),
    (lambda x, y: 1 * x, "x"), (lambda x, y: x / 1.0, "x"), (lambda x, y: 0 / x, "0"), (lambda x, y: x - x, "0"),
    (lambda x, y: x + -x, "0"), (lambda x, y: x**0, "1"), (lambda x, y: x**1, "x"), (lambda x, y: 1**x, "1"),
    (lambda x, y: x / x, "x/x"), (lambda x, y: e.hypot(0, -x), "abs(x)"),
    # constants
    (lambda x, y: x * e.constant(2) * 3, "6*x"), (lambda x, y: 2 * (x * HALF), "x"), (lambda x, y: x / 3, "x/3"),
    (lambda x, y: x / -4.0, "-0.25*x"), (lambda x, y: 2 * x / 3, "2*x/3"), (lambda x, y: x / 5e-324, "x/5e-324"),
    (lambda x, y: e.sqrt(e.constant(Fraction(4, 9))), "Fraction(2, 3)"), (lambda x, y: e.sqrt(e.constant(2)), "sqrt(2)"),
    (lambda x, y: e.sin(e.constant(0)) + e.cos(e.constant(0)) * x, "x"), (lambda x, y: e.exp(e.constant(1)), "exp(1)"),
    (lambda x, y: e.atan2(e.constant(0), 2) + e.constant(2) ** -2, "Fraction(1, 4)"),
    (lambda x, y: e.hypot(e.constant(3), 4), "5"), (lambda x, y: e.maximum(e.constant(3), 4.0), "4.0"),
    # signs move outwards
    (lambda x, y: 0 - (-x), "x"), (lambda x, y: x - (-y), "x + y"), (lambda x, y: -x + y, "y - x"),
    (lambda x, y: x + -2, "x - 2"), (lambda x, y: x - (-2), "2 + x"), (lambda x, y: -2 - x, "-(2 + x)"),
    (lambda x, y: -x - y, "-(x + y)"), (lambda x, y: -(x - y), "y - x"), (lambda x, y: (-x) * (-y), "x*y"),
    (lambda x, y: (-x) * 2, "-2*x"), (lambda x, y: x * -1, "-x"), (lambda x, y: x / -y, "-x/y"),
    (lambda x, y: -2 / x, "-2/x"),
    (lambda x, y: e.sin(-x), "-sin(x)"), (lambda x, y: e.cos(-x), "cos(x)"), (lambda x, y: e.tan(-x), "-tan(x)"),
    (lambda x, y: e.asin(-x), "-asin(x)"), (lambda x, y: e.atan2(-x, y), "-atan2(x, y)"),
    (lambda x, y: e.sinh(-x), "-sinh(x)"), (lambda x, y: e.cosh(-x), "cosh(x)"), (lambda x, y: e.tanh(-x), "-tanh(x)"),
    (lambda x, y: abs(-x), "abs(x)"), (lambda x, y: e.sign(-x), "-sign(x)"), (lambda x, y: e.hypot(-x, -x), "hypot(x, x)"),
    # powers
    (lambda x, y: x**2, "x*x"), (lambda x, y: x**3.0, "x*(x*x)"), (lambda x, y: x**-1, "1/x"),
    (lambda x, y: x**0.5, "sqrt(x)"), (lambda x, y: x**HALF, "sqrt(x)"), (lambda x, y: x**100, "x**100"),
    # choices
    (lambda x, y: e.minimum(x, x), "x"), (lambda x, y: e.where(x < y, x, x), "x"), (lambda x, y: e.where(True, x, y), "x"),
])
def test_a_rule_gives(build, text):
    with Graph():
        x, y = symbols("x y")
        result = e.constant(build(x, y))
        again = eval(text, {**vars(e), "Fraction": Fraction, "x": x, "y": y})
        assert repr(result) == text or result is again        # operands may stand in the other order
        assert evaluate(result, {x: X, y: Y}) == pytest.approx(evaluate(build(X, Y)), rel=1e-14)


def test_choices_are_simplified():
    with Graph():
        x, y = symbols("x y")
        assert e.where(~(x < y), 1, 2) is e.where(x < y, 2, 1)
        assert ~(~(x < y)) is (x < y) and ((x < y) & True) is (x < y) and ((x < y) | True) is True
        assert e.where((x < y) & False, 1, y) is y
        assert e.where(x < y, e.where(x < y, 1, 2), 3) is e.where(x < y, 1, 3)
        assert ((x < y) & (y < 1)) is ((y < 1) & (x < y))


def test_a_negative_constant_shares_its_product():
    with Graph():
        x, y = symbols("x y")
        assert count_operations([x * 0.5 + y, y - (-0.5) * x, y + x * (-0.5)]) == {"mul": 1, "add": 2}


def test_scaling_is_not_merged_where_digits_would_be_lost():
    with Graph():
        x = symbols("x")[0]
        assert repr(1e-200 * (1e-200 * x)) == "1e-200*(1e-200*x)"
        assert repr(1e200 * (1e200 * x)) == "1e+200*(1e+200*x)"


@pytest.mark.parametrize("seed", range(6))
def test_rules_do_not_change_values(random_function, seed):
    function = random_function(seed, size=120)
    with Graph():
        x = symbols("x", 4)
        y = e.array(list(function(*x)))
        for values in np.random.default_rng(seed).normal(size=(5, 4)):
            expected = function(*map(float, values))
            found = evaluate(y, dict(zip(x, values)))
            np.testing.assert_allclose(found, np.array(expected, dtype=float), rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("seed", range(3))
def test_simplified_nodes_are_not_simplified_again(random_function, seed):
    with Graph():
        for node in e.topological(e.array(list(random_function(seed, size=200)(*symbols("x", 4)))).flat):
            if node.op in OPERATIONS:
                assert BUILD[node.op](*node.args) is node


def test_every_operation_has_rules_or_its_own_builder():
    assert {*UNARY, *BINARY, "and", "or", "not", "select"} == set(OPERATIONS)
