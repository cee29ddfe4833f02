"""Expressions as plain text that Python reads back to the same expression."""

from __future__ import annotations

import re
from collections.abc import Iterator
from fractions import Fraction
from typing import Any

from dalembert.expr.expression_errors import TextTooLongError

MAX_TEXT = 1_000_000  # characters; shared subexpressions are written out each time they occur
MAX_REPR = 500  # characters; a longer repr is cut

# Binding strength in Python, weakest first.
_COMPARISON, _OR, _AND, _SUM, _PRODUCT, _INVERT, _POWER, _ATOM = range(8)

# (own strength, pieces); a piece is a text, or the number of an operand with the strength it must
# have.
_INFIX: dict[str, tuple[int, tuple]] = {
    "add": (_SUM, ((0, _SUM), " + ", (1, _PRODUCT))),
    "sub": (_SUM, ((0, _SUM), " - ", (1, _PRODUCT))),
    "mul": (_PRODUCT, ((0, _PRODUCT), "*", (1, _INVERT))),
    "div": (_PRODUCT, ((0, _PRODUCT), "/", (1, _INVERT))),
    "neg": (_SUM, ("-", (0, _PRODUCT))),
    "power": (_POWER, ((0, _ATOM), "**", (1, _ATOM))),
    "less": (_COMPARISON, ((0, _OR), " < ", (1, _OR))),
    "less_equal": (_COMPARISON, ((0, _OR), " <= ", (1, _OR))),
    "or": (_OR, ((0, _OR), " | ", (1, _AND))),
    "and": (_AND, ((0, _AND), " & ", (1, _SUM))),
    "not": (_INVERT, ("~", (0, _INVERT))),
}
_FUNCTION_NAMES = {"min": "minimum", "max": "maximum", "select": "where"}
_PLAIN_NAME = re.compile(
    r"[^\W\d]\w*(\[\d+(, \d+)*\])?"
)  # a name, or an entry of an array of symbols


def _number(value: Any) -> tuple[int, str]:
    return (_SUM if value < 0 else _ATOM), repr(value)


def _pieces(node: Any) -> tuple[int, tuple]:
    """Strength of a node and its pieces: texts, or operands with the strength they must have."""
    op, args = node.op, node.args
    if op in ("exact", "float"):
        strength, text = _number(args[0])
        return strength, (text,)
    if op == "symbol":
        return _ATOM, (args[0] if _PLAIN_NAME.fullmatch(args[0]) else f"symbol({args[0]!r})",)
    if op == "mul" and args[0].op == "exact" and isinstance(args[0].args[0], Fraction):
        p, q = args[0].args[0].as_integer_ratio()  # x*(1/3) as x/3
        factor = () if p == 1 else (f"{p}*",)
        return _PRODUCT, (*factor, (args[1], _INVERT if factor else _PRODUCT), f"/{q}")
    if op in _INFIX:
        strength, pieces = _INFIX[op]
        return strength, tuple(p if isinstance(p, str) else (args[p[0]], p[1]) for p in pieces)
    separated = [piece for arg in args for piece in (", ", (arg, 0))][1:]
    return _ATOM, (f"{_FUNCTION_NAMES.get(op, op)}(", *separated, ")")


def _texts(node: Any) -> Iterator[str]:
    """The text of a node from left to right, in parts."""
    stack: list[Any] = [(node, 0)]
    while stack:
        piece = stack.pop()
        if isinstance(piece, str):
            yield piece
            continue
        strength, pieces = _pieces(piece[0])
        if strength < piece[1]:
            pieces = ("(", *pieces, ")")
        stack.extend(reversed(pieces))


def to_text(expression: Any, limit: int = MAX_TEXT, truncate: bool = False) -> str:
    """The expression in Python syntax, with the functions of `dalembert.expr` and its symbols as
    names.

    Parameters
    ----------
    expression : Expr
    limit : int
        Longest text allowed [characters].
    truncate : bool
        Cut the text at `MAX_REPR` characters, ending in "...", instead of raising.

    Raises
    ------
    TextTooLongError
        The text would pass the limit.
    """
    parts, length = [], 0
    for part in _texts(expression):
        parts.append(part)
        length += len(part)
        if truncate and length > MAX_REPR:
            return "".join(parts)[:MAX_REPR] + " ..."
        if length > limit:
            raise TextTooLongError(
                f"the text of this expression passes {limit} characters; print parts of it, or "
                "raise limit.",
                limit,
            )
    return "".join(parts)
