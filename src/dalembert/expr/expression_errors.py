"""Errors of the expression graph."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from dalembert.errors import DalembertError


class ExpressionTypeError(DalembertError, TypeError):
    """An expression, condition or operand is used as what it is not, for example as a bool or a
    float.
    """


class GraphMixError(DalembertError, ValueError):
    """An operation on nodes of two graphs; `graphs` holds both."""

    def __init__(self, message: str, graphs: tuple[Any, ...] = ()):
        super().__init__(message)
        self.graphs = graphs


class NonFiniteError(DalembertError, ArithmeticError):
    """A constant is, or would become, NaN or infinite; `op` and `operands` say where it came from."""

    def __init__(self, message: str, op: str = "", operands: Sequence[Any] = ()):
        super().__init__(message)
        self.op = op
        self.operands = tuple(operands)


class MissingValueError(DalembertError, KeyError):
    """Symbols of an expression have no value; `missing` and `given` are the names."""

    def __init__(self, message: str, missing: Sequence[str] = (), given: Sequence[str] = ()):
        super().__init__(message)
        self.message = message
        self.missing = tuple(missing)
        self.given = tuple(given)

    def __str__(self) -> str:  # KeyError would print the repr of the message
        return self.message


class TextTooLongError(DalembertError, ValueError):
    """The text of an expression passes the limit; `limit` is in characters."""

    def __init__(self, message: str, limit: int = 0):
        super().__init__(message)
        self.limit = limit
