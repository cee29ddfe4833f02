"""Random expressions that run on floats and on nodes alike."""

from fractions import Fraction

import numpy as np
import pytest

from dalembert import expr as e

CONSTANTS = (0, 1, -1, 2, -3, 0.5, -0.25, Fraction(1, 3), Fraction(-5, 7), 1e-16, 3.0)


class RandomFunction:
    """A straight-line function of `inputs` scalars with values of moderate size, the same for the same seed."""

    def __init__(self, seed, size, inputs=4, smooth=False):
        rng = np.random.default_rng(seed)
        kinds = list(self.SMOOTH if smooth else {**self.SMOOTH, **self.SWITCHING})
        self.inputs = inputs
        picks = rng.random((size, 4))
        self.steps = [(kinds[int(k * len(kinds))], i + inputs - 1 - int(a * min(12, i + inputs)),
                       i + inputs - 1 - int(b * min(12, i + inputs)), CONSTANTS[int(c * len(CONSTANTS))])
                      for i, (k, a, b, c) in enumerate(picks.tolist())]

    def __call__(self, *inputs):
        """The last five values."""
        values = list(inputs)
        table = {**self.SMOOTH, **self.SWITCHING}
        for kind, i, j, c in self.steps:
            values.append(table[kind](values[i], values[j], c))
        return values[-5:]

    SMOOTH = {
        "add": lambda a, b, c: a + b, "sub": lambda a, b, c: a - b, "mul": lambda a, b, c: a * e.sin(b),
        "neg": lambda a, b, c: -a, "scale": lambda a, b, c: c * a, "shift": lambda a, b, c: b + c,
        "from": lambda a, b, c: c - b, "div": lambda a, b, c: a / (2 + e.cos(b)), "third": lambda a, b, c: a / -3,
        "sin": lambda a, b, c: e.sin(-a), "cos": lambda a, b, c: e.cos(-a), "tan": lambda a, b, c: e.tan(e.tanh(a)),
        "asin": lambda a, b, c: e.asin(0.9 * e.sin(a)), "acos": lambda a, b, c: e.acos(0.9 * e.sin(a)),
        "atan2": lambda a, b, c: e.atan2(a, 2 + e.sin(b)), "exp": lambda a, b, c: e.exp(e.sin(a)),
        "log": lambda a, b, c: e.log(1 + a * a), "sqrt": lambda a, b, c: e.sqrt(1 + a * a),
        "sinh": lambda a, b, c: e.sinh(e.sin(a)), "cosh": lambda a, b, c: e.cosh(-e.sin(a)),
        "hypot": lambda a, b, c: e.hypot(a, 1 + e.cosh(e.sin(b))), "square": lambda a, b, c: e.tanh(a) ** 2,
        "cube": lambda a, b, c: (2 + e.sin(a)) ** -3, "power": lambda a, b, c: (2 + e.sin(a)) ** e.tanh(b),
    }
    SWITCHING = {
        "abs": lambda a, b, c: e.absolute(-a), "sign": lambda a, b, c: e.sign(a), "min": lambda a, b, c: e.minimum(a, b),
        "max": lambda a, b, c: e.maximum(a, c), "where": lambda a, b, c: e.where(a < b, lambda: 1 / (1 + a * a), -b),
        "and": lambda a, b, c: e.where((a < b) & (c <= a), a, e.sqrt(1 + e.absolute(b))),
    }


@pytest.fixture
def own_graph():
    with e.Graph():
        yield


@pytest.fixture
def random_function():
    return RandomFunction
