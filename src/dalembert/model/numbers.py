"""Numbers of a model: exact decimals with their text, multiples of pi, floats, or symbols."""

from __future__ import annotations

import math
import re
import sys
from collections.abc import Callable, Sequence
from decimal import Decimal
from fractions import Fraction
from numbers import Rational
from typing import Any

from dalembert.arguments import refused
from dalembert.expr import Expr, evaluate, free_symbols, pack
from dalembert.spatial.angles import PiMultiple

Number = Any  # int, Fraction (Literal), float, PiMultiple (angles only) or Expr

MAX_LITERAL = 100  # characters; a double needs 17 digits, nobody types more than 100
LARGEST_INTEGER = int(sys.float_info.max)
DECIMAL = re.compile(r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?\Z")


class Literal(Fraction):
    """A decimal number as it was written: exact value, and its text for writing it back."""

    __slots__ = ("text",)
    text: str

    def __new__(cls, text: str) -> Literal:
        if len(text) > MAX_LITERAL:
            raise ValueError(
                f"number of {len(text)} characters ({text[:20]}...); at most {MAX_LITERAL} are read"
            )
        if not DECIMAL.match(text):
            raise ValueError(f"{text!r} is not a decimal number (like 0.25, -3 or 1e-3)")
        if not math.isfinite(float(text)):
            raise ValueError(f"{text!r} is too large for a number")
        if float(text) == 0 and re.match(r"[^eE]*[1-9]", text):
            raise ValueError(f"{text!r} is too small for a number")
        numerator, denominator = (0, 1) if float(text) == 0 else Decimal(text).as_integer_ratio()
        self = super().__new__(cls, numerator, denominator)
        self.text = text
        return self

    def __reduce__(self):
        return (Literal, (self.text,))

    from_float = staticmethod(Fraction.from_float)  # type: ignore[assignment]      # used by == and < with floats

    def __copy__(self):
        return self

    def __deepcopy__(self, memo):
        return self

    def __repr__(self) -> str:
        return self.text

    __str__ = __repr__


def half_unit(x: Number) -> float:
    """Half a unit of the last digit of a decimal with a point: by how much writing it may have
    rounded; 0 for others.
    """
    if not isinstance(x, Literal) or "." not in x.text:
        return 0.0
    mantissa, _, exponent = x.text.lower().partition("e")
    return 0.5 * 10.0 ** (int(exponent or 0) - len(mantissa.partition(".")[2]))


def is_symbolic(x: Number) -> bool:
    """Whether a number contains a symbol."""
    return isinstance(x, Expr) and bool(free_symbols(x))


def is_negative(x: Number) -> bool:
    """Whether a number without symbols is below 0."""
    return not is_symbolic(x) and as_float(x) < 0


def as_float(x: Number) -> Any:
    """A number as float; an expression with symbols stays as it is."""
    if isinstance(x, Expr):
        return x if free_symbols(x) else float(evaluate(x, {}))
    return float(x)


def as_exact(x: Number) -> Any:
    """A number as it is; numpy scalars (and arrays of one entry) become Python's, and so do
    fractions of other packages.
    """
    if isinstance(x, Rational) and not isinstance(x, (int, Fraction)):
        return Fraction(int(x.numerator), int(x.denominator))
    return (
        x.item()
        if hasattr(x, "item") and getattr(x, "size", 1) == 1 and not isinstance(x, Expr)
        else x
    )


def checked(x: Any, name: str, angle: bool = False) -> Number:
    """A number fit for a model, or a TypeError or ValueError that names it; only angles keep
    multiples of pi exact.
    """
    kind = x.__class__
    if (
        kind is Literal
        or kind is float
        and math.isfinite(x)
        or kind is int
        and abs(x) <= LARGEST_INTEGER
    ):  # mostly
        return x
    x = as_exact(x)
    if isinstance(x, bool) or not isinstance(x, (int, float, Fraction, PiMultiple, Expr)):
        raise refused(name, x, "a number or an expression, as da.symbols('m') makes")
    if isinstance(x, float) and not math.isfinite(x):
        raise ValueError(f"{name} is {x}; expected a finite number.")
    if isinstance(x, int) and abs(x) > LARGEST_INTEGER:
        raise ValueError(f"{name} is beyond the range of doubles, 1.8e308.")
    return float(x) if isinstance(x, PiMultiple) and not angle else x


def several(values: Any, name: str, expected: str) -> tuple[Any, ...]:
    """The entries of a sequence, or a TypeError that says what was expected."""
    try:
        found = None if isinstance(values, (str, bytes)) else tuple(values)
    except TypeError:  # no iteration over it: a number, None, an array without axes
        found = None
    if found is None:
        raise refused(name, values, expected)
    return found


def checked_vector(
    values: Any, length: int, name: str, angle: bool = False, entries: str = ""
) -> tuple[Number, ...]:
    """A tuple of `length` numbers, or an error that names the vector and its `entries`."""
    meaning = entries and f": {entries}"
    values = several(values, name, f"{length} numbers{meaning}")
    if len(values) != length:
        raise ValueError(f"{name} has {len(values)} entries, expected {length}{meaning}.")
    return tuple(checked(x, f"{name}[{k}]", angle) for k, x in enumerate(values))


def exact_text(numbers: Sequence[Number]) -> str:
    """Numbers with what they are: 1, 1.0, a literal as it was written and an expression are told
    apart.
    """
    if {*map(type, numbers)} <= {int, float}:
        return repr(numbers)
    return repr(
        [f"{type(x).__name__} {pack([x]) if isinstance(x, Expr) else x!r}" for x in numbers]
    )


def unit_vector(axis: tuple[Number, ...]) -> tuple[Number, ...]:
    """Axis of unit length: exactly where the norm is rational, else in floats; symbols are taken as
    they are.
    """
    if any(is_symbolic(a) for a in axis):
        return axis
    if all(isinstance(a, (int, Fraction)) for a in axis):
        square = sum(Fraction(a) * Fraction(a) for a in axis)
        root = Fraction(math.isqrt(square.numerator), math.isqrt(square.denominator))
        if root and root * root == square:
            return tuple(_simple(Fraction(a) / root) for a in axis)
    values = [as_float(a) for a in axis]
    largest = max(map(abs, values))
    floats = [a / largest for a in values]  # of size 1: their hypot does not overflow
    norm = math.hypot(*floats)
    return tuple(a / norm for a in floats)


def _simple(x: Fraction) -> int | Fraction:
    return int(x) if x.denominator == 1 else x


Converter = Callable[[Number], Any]
