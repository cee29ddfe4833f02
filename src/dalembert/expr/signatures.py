"""Types of functions over any scalar, for type checkers."""

from __future__ import annotations

from fractions import Fraction
from typing import Any, Protocol, TypeAlias, TypeVar, overload

import numpy as np

from dalembert.expr.node import Expr
from dalembert.expr.scalars import Scalar

Number: TypeAlias = Fraction | float
ArrayT = TypeVar("ArrayT", bound=np.ndarray[Any, Any])


class Unary(Protocol):
    """A function of one scalar, or of each entry of an array."""

    __name__: str

    @overload
    def __call__(self, x: ArrayT, /) -> ArrayT: ...
    @overload
    def __call__(self, x: Expr, /) -> Expr: ...
    @overload
    def __call__(self, x: Number, /) -> float: ...
    @overload
    def __call__(self, x: Scalar, /) -> Any: ...


class Binary(Protocol):
    """A function of two scalars, or of the entries of arrays."""

    __name__: str

    @overload
    def __call__(self, a: ArrayT, b: ArrayT | Expr | Number, /) -> ArrayT: ...
    @overload
    def __call__(self, a: Expr | Number, b: ArrayT, /) -> ArrayT: ...
    @overload
    def __call__(self, a: Expr, b: Expr | Number, /) -> Expr: ...
    @overload
    def __call__(self, a: Number, b: Expr, /) -> Expr: ...
    @overload
    def __call__(self, a: Number, b: Number, /) -> float: ...
