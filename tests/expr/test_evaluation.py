"""Values, substitution, symbols and counts."""

from fractions import Fraction

import numpy as np
import pytest

from dalembert.expr import (
    MissingValueError,
    count_operations,
    evaluate,
    free_symbols,
    log,
    sin,
    sqrt,
    substitute,
    symbols,
)

pytestmark = pytest.mark.usefixtures("own_graph")


def test_values_have_batch_before_shape():
    x, y = symbols("x y")
    assert type(evaluate(x + y, {x: 1, "y": 2.5})) is float
    assert evaluate([[x, 1], [2.0, y]], {x: 3, y: 4}).tolist() == [[3, 1], [2, 4]]
    batch = evaluate([x * y, 1, x], {x: np.arange(4.0), y: 2.0})
    assert batch.shape == (4, 3) and batch[3].tolist() == [6, 1, 3]
    assert evaluate(x, {x: np.arange(3)}).tolist() == [0, 1, 2]
    assert evaluate([], {}).shape == (0,) and evaluate(2) == 2.0
    assert evaluate(x < y, {x: 1, y: 2}) is True


def test_ieee_values_come_without_warning():
    x = symbols("x")[0]
    assert evaluate(1 / x, {x: 0.0}) == np.inf
    assert np.isnan(evaluate([sqrt(x), log(x)], {x: -1.0})).all()


def test_missing_values_are_named():
    length, width = symbols("length width")
    message = r"no value for length\. Did you mean 'length' where you wrote 'lenght'"
    with pytest.raises(MissingValueError, match=message) as error:
        evaluate(length * width, {"lenght": 1.0, width: 2.0})
    assert error.value.missing == ("length",)


def test_substitution_is_simultaneous_and_exact():
    x, y = symbols("x y")
    assert substitute(x - y, {x: y, y: x}) is y - x
    assert substitute(sin(x) * y, {sin(x): Fraction(1, 3), y: 3}).value == 1
    assert substitute(x + y, {x: 0}) is y
    kept = sin(y)
    assert substitute([kept, x, 5], {x: 1})[0] is kept
    with pytest.raises(TypeError, match="not 'x'"):
        substitute(x, {"x": 1})


def test_substitution_agrees_with_evaluation(random_function):
    x = symbols("x", 4)
    y = random_function(seed=9, size=150)(*x)
    values = dict(zip(x, (0.1, 0.2, -0.3, 1.4)))
    np.testing.assert_allclose(evaluate(substitute(y, values)), evaluate(y, values), rtol=1e-10, atol=1e-13)


def test_free_symbols_are_ordered_by_name():
    b, a, c = symbols("b a c")
    assert free_symbols([b * c + a, 3, b]) == (a, b, c)
    assert free_symbols(2.0) == ()


def test_operations_are_counted_once_by_name():
    x, y = symbols("x y")
    s = sin(x + y)
    assert count_operations([s * s - x, -s, s / x, x < y]) == {"add": 2, "sin": 1, "mul": 1, "neg": 1, "div": 1, "less": 1}
