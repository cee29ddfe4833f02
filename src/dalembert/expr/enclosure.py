"""Bounds of expressions where symbols lie between bounds: interval arithmetic, whose results are
expressions themselves.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import reduce
from typing import Any

from dalembert.expr.functions import absolute, cos, maximum, minimum, sin
from dalembert.expr.graph import topological
from dalembert.expr.node import BUILD, Expr, known_zero, select

Bounds = tuple[Any, Any]
HUGE = 1e300  # beyond it nothing is known
RISING = ("exp", "sinh", "tanh", "sign")


def enclosures(expressions: Sequence[Any], bounds: Mapping[Expr, Bounds]) -> list[Bounds | None]:
    """(least, greatest) values that each expression can have, or wider; symbols without bounds are
    numbers.

    Bounds are rounded like other results, not outwards. None where an operation has no rule; where
    its operands are beyond its rule, as of a quotient whose divisor may be 0, bounds are -1e300 and
    1e300, or no numbers.
    """
    found: dict[Expr, Bounds | None] = {}
    for node in topological([e for e in expressions if type(e) is Expr]):
        if node.op in ("exact", "float"):
            found[node] = node, node
        elif node.op == "symbol":
            found[node] = bounds.get(node, (node, node))
        elif node.op not in ("less", "less_equal", "equal", "and", "or", "not"):
            args = [found[arg] for arg in node.args if arg in found]
            known = [arg for arg in args if arg is not None]
            points = all(found.get(arg) == (arg, arg) for arg in node.args)
            found[node] = (
                (node, node)
                if points
                else _enclosed(node, known)
                if len(known) == len(args)
                else None
            )
    return [found[e] if type(e) is Expr else (e, e) for e in expressions]


def _enclosed(node: Expr, args: list[Bounds]) -> Bounds | None:
    rule = RULES.get(node.op)
    if node.op == "mul" and node.args[0] is node.args[1]:
        return _even(args[0], lambda x: x * x)
    if node.op == "power":
        return _power(node, args)
    if node.op in RISING:
        build = BUILD[node.op]
        return build(args[0][0]), build(args[0][1])
    return rule(*args) if rule else None


def _add(x: Bounds, y: Bounds) -> Bounds:
    return x[0] + y[0], x[1] + y[1]


def _sub(x: Bounds, y: Bounds) -> Bounds:
    return x[0] - y[1], x[1] - y[0]


def _neg(x: Bounds) -> Bounds:
    return -x[1], -x[0]


def _mul(x: Bounds, y: Bounds) -> Bounds:
    ends = [a * b for a in dict.fromkeys(x) for b in dict.fromkeys(y)]
    return reduce(minimum, ends), reduce(maximum, ends)


def _div(x: Bounds, y: Bounds) -> Bounds:
    low, high = y
    if low is not high and (known_zero(low) or known_zero(high)):
        some = next(end for end in (*x, *y) if type(end) is Expr)
        return some.like(-HUGE), some.like(HUGE)
    ends = [a / b for a in dict.fromkeys(x) for b in dict.fromkeys(y)]
    least = reduce(minimum, ends)
    greatest = reduce(maximum, ends)
    if low is high:
        return least, greatest
    defined = low * high > 0
    return select(defined, least, -HUGE), select(defined, greatest, HUGE)


def _even(x: Bounds, f: Callable[[Any], Any]) -> Bounds:
    """f(|x|) of an f that rises for positive numbers."""
    low = absolute(x[0])
    high = absolute(x[1])
    return f(select(x[0] * x[1] > 0, minimum(low, high), 0.0)), f(maximum(low, high))


def _power(node: Expr, args: list[Bounds]) -> Bounds | None:
    exponent = node.args[1]
    if (
        exponent.op not in ("exact", "float")
        or exponent.value != int(exponent.value)
        or exponent.value < 1
    ):
        return None
    build = BUILD["power"]
    if int(exponent.value) % 2:
        return build(args[0][0], exponent), build(args[0][1], exponent)
    return _even(args[0], lambda x: build(x, exponent))


def _wave(f: Callable[[Any], Any]) -> Callable[[Bounds], Bounds]:
    """f whose slope is at most 1, between -1 and 1."""

    def enclosed(x: Bounds) -> Bounds:
        """Bounds of the function over an interval of angles: its value in the middle, and half the
        width on either side.
        """
        middle = (x[0] + x[1]) / 2
        reach = (x[1] - x[0]) / 2
        at = f(middle)
        return maximum(at - reach, -1.0), minimum(at + reach, 1.0)

    return enclosed


def _guarded(op: str, low: float, high: float, falling: bool = False) -> Callable[[Bounds], Bounds]:
    """A function that rises, or falls, where its operand lies between bounds, and is unknown
    elsewhere.
    """

    def enclosed(x: Bounds) -> Bounds:
        """Bounds of a monotonic function, infinite where the interval leaves its domain."""
        defined = BUILD["and"](x[0] >= low, x[1] <= high)
        ends = [BUILD[op](select(defined, end, (max(low, -1.0) + min(high, 1.0)) / 2)) for end in x]
        ends = ends[::-1] if falling else ends
        return select(defined, ends[0], -HUGE), select(defined, ends[1], HUGE)

    return enclosed


def _hypot(x: Bounds, y: Bounds) -> Bounds:
    (a, b), (c, d) = _even(x, lambda v: v), _even(y, lambda v: v)
    return BUILD["hypot"](a, c), BUILD["hypot"](b, d)


RULES: dict[str, Callable[..., Bounds]] = {
    "add": _add,
    "sub": _sub,
    "neg": _neg,
    "mul": _mul,
    "div": _div,
    "sin": _wave(sin),
    "cos": _wave(cos),
    "abs": lambda x: _even(x, lambda v: v),
    "min": lambda x, y: (minimum(x[0], y[0]), minimum(x[1], y[1])),
    "max": lambda x, y: (maximum(x[0], y[0]), maximum(x[1], y[1])),
    "hypot": _hypot,
    "sqrt": _guarded("sqrt", 0.0, HUGE),
    "log": _guarded("log", 1e-300, HUGE),
    "asin": _guarded("asin", -1.0, 1.0),
    "acos": _guarded("acos", -1.0, 1.0, falling=True),
    "cosh": lambda x: _even(x, BUILD["cosh"]),
    "select": lambda x, y: (minimum(x[0], y[0]), maximum(x[1], y[1])),
}
