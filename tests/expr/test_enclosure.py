"""Bounds of expressions hold every value in between."""

import numpy as np

from dalembert import expr
from dalembert.expr.enclosure import enclosures


def test_bounds_hold_all_values_of_random_boxes():
    rng = np.random.default_rng(0)
    with expr.Graph():
        x, y, a, b, c, d = expr.symbols("x y a b c d")
        functions = [
            x + y, x - 2 * y, x * y, x * x, x**3, x**2 * y, x / (y + 3), 1 / x, expr.sin(x) * expr.cos(y), expr.sqrt(x + 2),
            expr.log(x * x + 1), expr.exp(x) * y, expr.absolute(x) - y, expr.minimum(x, y), expr.maximum(x, 2 * y),
            expr.hypot(x, y), expr.asin(x / 3), expr.acos(y / 3), expr.cosh(x), expr.tanh(x), expr.sign(x), 3 - x,
            expr.where(x > 0, x, 2 * y), (x + 1) * (y - 2) * c, expr.sqrt(x), expr.log(x)]
        bounds = enclosures(functions, {x: (a, b), y: (c, d)})
        checked = 0
        for _ in range(100):
            low = rng.uniform(-2, 2, 2)
            high = low + rng.uniform(0, 1, 2)
            box = {a: low[0], b: high[0], c: low[1], d: high[1]}
            s = low + rng.random((50, 2)) * (high - low)
            for f, own in zip(functions, bounds, strict=True):
                with np.errstate(all="ignore"):
                    least, greatest = (float(expr.evaluate(one, box)) for one in own)
                    values = np.atleast_1d(expr.evaluate(f, {**box, x: s[:, 0], y: s[:, 1]}))
                if np.isfinite(values).all() and not np.isnan([least, greatest]).any():
                    checked += 1
                    assert least - 1e-12 <= values.min() and values.max() <= greatest + 1e-12, expr.to_text(f)
        assert checked > 2000


def test_a_sum_of_two_has_the_sum_of_bounds_and_an_unknown_function_none():
    with expr.Graph():
        x, y = expr.symbols("x y")
        (total, turn, plain) = enclosures([x + y, expr.atan2(x, y), y + 1], {x: (expr.constant(1), expr.constant(2))})
        assert expr.evaluate(total, {y: 3.0}).tolist() == [4.0, 5.0] and turn is None and plain[0] is plain[1]


def test_a_quotient_whose_divisor_is_bounded_by_the_constant_0_is_unknown():
    with expr.Graph():
        x, low, high = expr.symbols("x low high")
        (least, greatest), = enclosures([1 / (x * x)], {x: (low.like(0.0), high)})
        assert expr.evaluate([least, greatest], {high: 2.0}).tolist() == [-1e300, 1e300]
