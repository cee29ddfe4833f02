"""Simplifications at construction, as data.

Every node has a small integer `kind`, and a rule says what an operation becomes for kinds of its
operands: the first rule whose kinds match wins. A rule receives the operation's own builder `f` and
the operands; it returns a node, or None to leave the operation as it is. Besides the rules of this
table:

- operations on constants are evaluated (`constants.exact_value`, or in floats once a float takes
  part);
- operations on one operand twice follow `SAME`, which includes x - x -> 0;
- 0*x -> 0 and 0/x -> 0 hold although IEEE gives NaN for an infinite x; x/x -> 1 is not done.

Signs move outwards, where sums and differences absorb them. A negative constant counts as a
negation, so that x*c and x*(-c) share their product.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

from dalembert.expr.constants import MAX_UNROLLED_POWER, is_normal
from dalembert.expr.expression_errors import NonFiniteError

ZERO, ONE, POSITIVE, MINUS, NEGATION, DIFFERENCE, SCALED, CONDITION, OTHER = range(9)

NUMBER = (ZERO, ONE, POSITIVE, MINUS)  # constants
SIGNED = (MINUS, NEGATION)  # -c with a constant c > 0, and -x
ANY = tuple(range(9))

# Kinds that follow from the operation alone; a product with a constant is SCALED.
KIND_OF_OPERATION = {
    "neg": NEGATION,
    "sub": DIFFERENCE,
    **dict.fromkeys(("less", "less_equal", "equal", "and", "or", "not"), CONDITION),
}

Rule = Callable[..., Any]


def scale(f: Rule, a: Any, b: Any) -> Any:
    """c*(k*x) -> (c*k)*x, unless c*k would lose digits by overflow or underflow."""
    factor = a.value * b.a.value if is_normal(a.value) and is_normal(b.a.value) else 0
    return f(factor, b.b) if is_normal(factor) else None


def division_by_zero(f: Rule, a: Any, b: Any) -> Any:
    """a / 0 is refused."""
    raise NonFiniteError(f"division by zero: {a} / {b}.", "div", (a, b))


def divide_by_constant(f: Rule, a: Any, b: Any) -> Any:
    """x/c -> x*(1/c): exact for an exact c, else within one rounding and only for a normal
    reciprocal.
    """
    if isinstance(b.value, float):
        return a * (1.0 / b.value) if is_normal(b.value) and is_normal(1.0 / b.value) else None
    return a * Fraction(1, b.value)


def constant_power(f: Rule, a: Any, b: Any) -> Any:
    """x**n as products for small integers n, x**(1/2) as a root."""
    exponent = b.value
    if exponent == Fraction(1, 2):
        return a.sqrt()
    if exponent != int(exponent) or abs(exponent) > MAX_UNROLLED_POWER:
        return None
    result = 1
    square = a
    n = abs(int(exponent))
    while n:
        result, n = (result * square if n % 2 else result), n // 2
        square = square * square if n else square
    return result if exponent > 0 else a.like(1) / result


UNARY: dict[str, tuple[tuple[tuple[int, ...], Rule], ...]] = {
    "neg": (
        ((NEGATION,), lambda f, x: x.a),
        ((DIFFERENCE,), lambda f, x: x.b - x.a),
    ),
    **dict.fromkeys(
        ("sin", "tan", "asin", "sinh", "tanh", "sign"), ((SIGNED, lambda f, x: -f(-x)),)
    ),  # odd
    **dict.fromkeys(("cos", "cosh", "abs"), ((SIGNED, lambda f, x: f(-x)),)),  # even
    **dict.fromkeys(("sqrt", "acos", "exp", "log"), ()),
}

BINARY: dict[str, tuple[tuple[tuple[int, ...], tuple[int, ...], Rule], ...]] = {
    "add": (
        ((ZERO,), ANY, lambda f, a, b: b),
        (ANY, (ZERO,), lambda f, a, b: a),
        (SIGNED, SIGNED, lambda f, a, b: -f(-a, -b)),
        (ANY, SIGNED, lambda f, a, b: a - (-b)),
        (SIGNED, ANY, lambda f, a, b: b - (-a)),
    ),
    "sub": (
        ((ZERO,), ANY, lambda f, a, b: -b),
        (ANY, (ZERO,), lambda f, a, b: a),
        (SIGNED, SIGNED, lambda f, a, b: f(-b, -a)),
        (ANY, SIGNED, lambda f, a, b: a + (-b)),
        (SIGNED, ANY, lambda f, a, b: -(-a + b)),
    ),
    "mul": (
        ((ZERO,), ANY, lambda f, a, b: a),
        (ANY, (ZERO,), lambda f, a, b: b),
        ((ONE,), ANY, lambda f, a, b: b),
        (ANY, (ONE,), lambda f, a, b: a),
        (SIGNED, SIGNED, lambda f, a, b: f(-a, -b)),
        (SIGNED, ANY, lambda f, a, b: -f(-a, b)),
        (ANY, SIGNED, lambda f, a, b: -f(a, -b)),
        ((POSITIVE,), (SCALED,), scale),
        ((SCALED,), (POSITIVE,), lambda f, a, b: scale(f, b, a)),
    ),
    "div": (
        (ANY, (ZERO,), division_by_zero),
        ((ZERO,), ANY, lambda f, a, b: a),
        (ANY, (ONE,), lambda f, a, b: a),
        (SIGNED, SIGNED, lambda f, a, b: f(-a, -b)),
        (SIGNED, ANY, lambda f, a, b: -f(-a, b)),
        (ANY, SIGNED, lambda f, a, b: -f(a, -b)),
        (ANY, (POSITIVE,), divide_by_constant),
    ),
    "power": (
        (ANY, (ZERO,), lambda f, a, b: a.like(1)),
        (ANY, (ONE,), lambda f, a, b: a),
        (ANY, NUMBER, constant_power),
        ((ONE,), ANY, lambda f, a, b: a),
    ),
    "atan2": ((SIGNED, ANY, lambda f, y, x: -f(-y, x)),),
    "hypot": (
        ((ZERO,), ANY, lambda f, a, b: b.__abs__()),
        (ANY, (ZERO,), lambda f, a, b: a.__abs__()),
        (SIGNED, ANY, lambda f, a, b: f(-a, b)),
        (ANY, SIGNED, lambda f, a, b: f(a, -b)),
    ),
    **dict.fromkeys(("min", "max", "less", "less_equal", "equal"), ()),
}

SAME: dict[str, Rule] = {
    "sub": lambda a: a.like(0),
    **dict.fromkeys(("min", "max", "and", "or"), lambda a: a),
    "less": lambda a: False,
    **dict.fromkeys(("less_equal", "equal"), lambda a: True),
}


def _cell(op: str, kinds: tuple[int, ...], fold: Rule, not_a_number: Rule) -> Rule | None:
    """The rule of an operation for operands of these kinds."""
    if CONDITION in kinds:
        return not_a_number
    table: Any = {**UNARY, **BINARY}[op]
    rule = next((row[-1] for row in table if all(k in row[i] for i, k in enumerate(kinds))), None)
    if not all(kind in NUMBER for kind in kinds):
        return rule

    def fold_or_rule(f: Rule, *operands: Any) -> Any:
        """The folded constant, or the result of the rule."""
        result = fold(f, *operands)
        return rule(f, *operands) if result is None and rule is not None else result

    return fold_or_rule


def unary_rules(op: str, fold: Rule, not_a_number: Rule) -> list[Rule | None]:
    """Rule by kind of the operand."""
    return [_cell(op, (kind,), fold, not_a_number) for kind in ANY]


def binary_rules(op: str, fold: Rule, not_a_number: Rule) -> list[list[Rule | None]]:
    """Rule by kind of the first and kind of the second operand."""
    return [[_cell(op, (a, b), fold, not_a_number) for b in ANY] for a in ANY]
