"""Arithmetic of constants: exact numbers (int, Fraction) stay exact, anything with a float is a
float.
"""

from __future__ import annotations

import math
import operator
import sys
from collections.abc import Callable
from fractions import Fraction
from numbers import Integral, Rational
from typing import Any

import numpy as np

from dalembert.expr.expression_errors import ExpressionTypeError

Number = int | Fraction | float

# Integer powers up to this one are products; a higher one costs more multiplications than a call of
# pow.
MAX_UNROLLED_POWER = 16


def number(value: Any) -> Any:
    """The value as int, Fraction (not integral) or float (-0.0 as 0.0); NotImplemented if it is no
    real number.

    Raises
    ------
    ExpressionTypeError
        The value is a bool.
    """
    kind = type(value)
    if kind is int:
        return value
    if kind is float:
        return value + 0.0  # -0.0 + 0.0 is 0.0
    if isinstance(value, (bool, np.bool_)):
        raise ExpressionTypeError(
            f"{value} is a truth value, not a number: write 1 or 0, or da.where(condition, 1, 0)."
        )
    if isinstance(value, (float, np.floating)):
        return float(value) + 0.0
    if isinstance(value, Integral):
        return int(value)
    if isinstance(value, Rational):
        return value.numerator if value.denominator == 1 else Fraction(value)
    return NotImplemented


def _exact_root(value: Number) -> Number | None:
    """The exact square root of an exact number, None where there is none."""
    value = Fraction(value)
    if value < 0:
        raise ValueError("square root of a negative number")
    top = math.isqrt(value.numerator)
    bottom = math.isqrt(value.denominator)
    return (
        Fraction(top, bottom) if (top * top, bottom * bottom) == value.as_integer_ratio() else None
    )


def _exact_power(base: Number, exponent: Number) -> Number | None:
    small_integer = isinstance(exponent, int) and abs(exponent) <= MAX_UNROLLED_POWER
    return Fraction(base) ** exponent if small_integer else None


def _only_at(argument: int, value: int) -> Callable[[Number], Number | None]:
    return lambda x: value if x == argument else None


def _sign(x: Number) -> Number:
    return type(x)((x > 0) - (x < 0)) if isinstance(x, float) else (x > 0) - (x < 0)


# Value of each operation on exact numbers; None where it is not an exact number.
EXACT: dict[str, Callable[..., Any]] = {
    "add": operator.add,
    "sub": operator.sub,
    "mul": operator.mul,
    "div": Fraction,
    "neg": operator.neg,
    "power": _exact_power,
    "sqrt": _exact_root,
    "hypot": lambda a, b: _exact_root(a * a + b * b),
    "sin": _only_at(0, 0),
    "cos": _only_at(0, 1),
    "tan": _only_at(0, 0),
    "asin": _only_at(0, 0),
    "acos": _only_at(1, 0),
    "atan2": lambda y, x: 0 if y == 0 and x > 0 else None,
    "exp": _only_at(0, 1),
    "log": _only_at(1, 0),
    "sinh": _only_at(0, 0),
    "cosh": _only_at(0, 1),
    "tanh": _only_at(0, 0),
    "abs": abs,
    "sign": _sign,
    "min": min,
    "max": max,
    "less": operator.lt,
    "less_equal": operator.le,
    "equal": operator.eq,
}

FLOAT: dict[str, Callable[..., Any]] = {
    "add": operator.add,
    "sub": operator.sub,
    "mul": operator.mul,
    "div": operator.truediv,
    "neg": operator.neg,
    "power": math.pow,
    "sqrt": math.sqrt,
    "hypot": math.hypot,
    "sin": math.sin,
    "cos": math.cos,
    "tan": math.tan,
    "asin": math.asin,
    "acos": math.acos,
    "atan2": math.atan2,
    "exp": math.exp,
    "log": math.log,
    "sinh": math.sinh,
    "cosh": math.cosh,
    "tanh": math.tanh,
    "abs": abs,
    "sign": _sign,
    "min": min,
    "max": max,
    "less": operator.lt,
    "less_equal": operator.le,
    "equal": operator.eq,
}


def exact_value(op: str, values: tuple[Number, ...]) -> Any:
    """The operation on exact numbers, or None where the result, or an operand, is not exact."""
    if any(isinstance(value, float) for value in values):
        return None
    result = EXACT[op](*values)
    return result if result is None or isinstance(result, bool) else number(result)


def value_of(op: str, values: tuple[Number, ...]) -> Any:
    """The operation on numbers: exact where it can be, otherwise the float of the C library."""
    result = exact_value(op, values)
    return FLOAT[op](*map(float, values)) if result is None else result


def is_normal(value: Number) -> bool:
    """Whether the number, as a float, is finite and keeps its full precision."""
    try:
        size = abs(float(value))
    except OverflowError:
        return False
    return sys.float_info.min <= size < math.inf
