"""Interval arithmetic over expressions, rounded outward: certain bounds of their values over boxes."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from dalembert.errors import DalembertError
from dalembert.expr import Expr, topological

Interval = tuple[np.ndarray, np.ndarray]  # lower and upper bounds, one per box

# absolute; vectorised sines are right to 4 units in the last place
SINE_ERROR = 4 * np.finfo(float).eps


def enclosures(expressions: Sequence[Any], boxes: Mapping[Expr, Interval], size: int) -> Interval:
    """Bounds (B, k) of k expressions over B = size boxes, given by the bounds (B,) of each symbol.

    Raises
    ------
    DalembertError
        There is no interval rule for an operation.
    """
    intervals: dict[Any, Interval] = dict(boxes)
    nodes = [x for x in expressions if isinstance(x, Expr)]
    with np.errstate(all="ignore"):
        for node in topological(nodes):
            if node in intervals:
                continue
            if node.op in ("exact", "float"):
                intervals[node] = _constant(node.value, size)
            elif node.op == "mul" and node.args[0] is node.args[1]:
                intervals[node] = _square(intervals[node.args[0]])
            elif node.op in RULES:
                intervals[node] = RULES[node.op](*(intervals[x] for x in node.args))
            else:
                raise DalembertError(
                    f"no interval rule for {node.op!r}: bounds are not proved here; use "
                    "method='sampling'."
                )
    if not expressions:
        return np.zeros((size, 0)), np.zeros((size, 0))
    columns = [intervals[x] if isinstance(x, Expr) else _constant(x, size) for x in expressions]
    lower, upper = (np.stack(ends, axis=-1) for ends in zip(*columns, strict=True))
    return lower, upper


def _constant(value: Any, size: int) -> Interval:
    return (np.full(size, float(value)),) * 2


def _outward(lower: np.ndarray, upper: np.ndarray) -> Interval:
    return np.nextafter(lower, -np.inf), np.nextafter(upper, np.inf)


def _add(a: Interval, b: Interval) -> Interval:
    return _outward(a[0] + b[0], a[1] + b[1])


def _sub(a: Interval, b: Interval) -> Interval:
    return _outward(a[0] - b[1], a[1] - b[0])


def _mul(a: Interval, b: Interval) -> Interval:
    products = np.array([a[0] * b[0], a[0] * b[1], a[1] * b[0], a[1] * b[1]])
    return _outward(products.min(axis=0), products.max(axis=0))


def _div(a: Interval, b: Interval) -> Interval:
    through_zero = (b[0] <= 0) & (b[1] >= 0)
    lower, upper = _mul(a, _outward(1 / b[1], 1 / b[0]))
    return np.where(through_zero, -np.inf, lower), np.where(through_zero, np.inf, upper)


def _neg(a: Interval) -> Interval:
    return -a[1], -a[0]


def _square(a: Interval) -> Interval:
    large = np.maximum(np.abs(a[0]), np.abs(a[1]))
    small = np.where((a[0] <= 0) & (a[1] >= 0), 0.0, np.minimum(np.abs(a[0]), np.abs(a[1])))
    lower, upper = _outward(small * small, large * large)
    return np.maximum(lower, 0.0), upper


def _sqrt(a: Interval) -> Interval:
    lower, upper = _outward(np.sqrt(np.maximum(a[0], 0.0)), np.sqrt(np.maximum(a[1], 0.0)))
    return np.maximum(lower, 0.0), upper


def _sin(a: Interval) -> Interval:
    return _wave(a, math.pi / 2)


def _cos(a: Interval) -> Interval:
    return _wave(a, 0.0)


def _wave(a: Interval, crest: float) -> Interval:
    """A wave of period 2 pi with a crest there: its ends, and 1 or -1 where a crest or trough lies
    between.
    """
    wave = np.sin if crest else np.cos
    ends = np.array([wave(a[0]), wave(a[1])])
    margin = SINE_ERROR * (1 + np.abs(a).max(axis=0))

    def holds(angle):
        """Whether the angle, or one that is whole turns away, lies in the interval."""
        first = np.ceil((a[0] - margin - angle) / math.tau)
        last = np.floor((a[1] + margin - angle) / math.tau)
        return first <= last

    least = np.maximum(ends.min(axis=0) - SINE_ERROR, -1.0)
    most = np.minimum(ends.max(axis=0) + SINE_ERROR, 1.0)
    trough = holds(crest + math.pi)
    return np.where(trough, -1.0, least), np.where(holds(crest), 1.0, most)


RULES: dict[str, Any] = {
    "add": _add,
    "sub": _sub,
    "mul": _mul,
    "div": _div,
    "neg": _neg,
    "sqrt": _sqrt,
    "sin": _sin,
    "cos": _cos,
}
