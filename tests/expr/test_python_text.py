"""Text of expressions and its way back."""

from fractions import Fraction

import pytest

from dalembert import expr as e
from dalembert.expr import Expr, Graph, TextTooLongError, constant, sin, symbol, symbols, to_text


def read(text, **names):
    return constant(eval(text, {**vars(e), "abs": e.absolute, "Fraction": Fraction, **names}))


@pytest.mark.parametrize("seed", range(8))
def test_text_reads_back_to_the_same_node(random_function, seed):
    with Graph():
        x = symbols("x", 4)
        for y in random_function(seed, size=14)(*x):
            y = constant(y)
            assert read(to_text(y), x=x) is y


@pytest.mark.parametrize("build", [
    lambda x, y: x - (y - x), lambda x, y: x / (y / x), lambda x, y: (x + y) * (x - y), lambda x, y: x - (x + y) * y,
    lambda x, y: (-x) ** y, lambda x, y: x ** (y**x), lambda x, y: (x**y) ** x, lambda x, y: constant(-2) ** x,
    lambda x, y: x * y / 3, lambda x, y: x / y / 3, lambda x, y: (x + y) * Fraction(2, 3), lambda x, y: -(x / y) * 2.5,
    lambda x, y: e.where((x < y) & ((y <= 1) | ~(x < 2)), x, e.maximum(y, -2)), lambda x, y: x * (y * x),
    lambda x, y: -x * y,
    lambda x, y: e.where(e.equal(x, y), 1, abs(x)), lambda x, y: 1e-16 * x + 1e300, lambda x, y: x * y - -y,
    lambda x, y: e.where(x < y, 1 / x, e.sqrt(y)),
])
def test_brackets_are_put_where_python_needs_them(build):
    with Graph():
        x, y = symbols("x y")
        result = build(x, y)
        assert read(repr(result), x=x, y=y) is result


def test_names_that_python_does_not_know_are_quoted():
    with Graph():
        mass = symbol("body.mass")
        assert repr(2 * mass) == "2*symbol('body.mass')"
        assert read(repr(2 * mass)) is 2 * mass
        assert repr(symbol("θ")) == "θ"


def test_long_text_is_cut_in_repr_and_refused_elsewhere():
    with Graph():
        y: Expr = symbol("x")
        for _ in range(60):
            y = sin(y) * y                      # its full text has 2**60 terms
        assert len(repr(y)) < 600 and repr(y).endswith("...")
        with pytest.raises(TextTooLongError, match="passes 10000 characters"):
            to_text(y, limit=10_000)
