"""Derivatives of expressions, forward and reverse; each mode is one pass over the nodes in order."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, overload

import numpy as np

from dalembert.errors import ShapeError
from dalembert.expr.evaluation import nodes_in
from dalembert.expr.expression_errors import ExpressionTypeError
from dalembert.expr.functions import sign, sqrt
from dalembert.expr.graph import LEAVES, topological
from dalembert.expr.node import Expr, Nodes, object_array, require_same_graph, select
from dalembert.expr.rules import ZERO

# Partial derivatives of an operation with value v by each of its arguments.
# At a tie, minimum and maximum take the mean, as (a + b -+ |a - b|)/2 does with sign(0) = 0.
PARTIALS: dict[str, tuple[Any, ...]] = {
    "add": (lambda v, a, b: 1, lambda v, a, b: 1),
    "sub": (lambda v, a, b: 1, lambda v, a, b: -1),
    "mul": (lambda v, a, b: b, lambda v, a, b: a),
    "div": (lambda v, a, b: 1 / b, lambda v, a, b: -v * (1 / b)),
    "neg": (lambda v, a: -1,),
    "power": (lambda v, a, b: b * a ** (b - 1), lambda v, a, b: v * a.log()),
    "sqrt": (lambda v, a: 1 / (2 * v),),
    "sin": (lambda v, a: a.cos(),),
    "cos": (lambda v, a: -a.sin(),),
    "tan": (lambda v, a: 1 + v * v,),
    "asin": (lambda v, a: 1 / sqrt(1 - a * a),),
    "acos": (lambda v, a: -1 / sqrt(1 - a * a),),
    "atan2": (lambda v, y, x: x / (x * x + y * y), lambda v, y, x: -y / (x * x + y * y)),
    "exp": (lambda v, a: v,),
    "log": (lambda v, a: 1 / a,),
    "sinh": (lambda v, a: a.cosh(),),
    "cosh": (lambda v, a: a.sinh(),),
    "tanh": (lambda v, a: 1 - v * v,),
    "hypot": (lambda v, a, b: a / v, lambda v, a, b: b / v),
    "abs": (lambda v, a: sign(a),),
    "sign": (lambda v, a: 0,),
    "min": (lambda v, a, b: (1 - sign(a - b)) / 2, lambda v, a, b: (1 + sign(a - b)) / 2),
    "max": (lambda v, a, b: (1 + sign(a - b)) / 2, lambda v, a, b: (1 - sign(a - b)) / 2),
}


def _checked(ys: Any, xs: Any) -> tuple[np.ndarray, list[Expr]]:
    """The functions as an object array and the symbols in order, all of one graph."""
    array = np.array(ys, dtype=object)
    symbols = list(np.array(xs, dtype=object).flat)
    for x in symbols:
        if type(x) is not Expr or x.op != "symbol":
            raise ExpressionTypeError(f"derivatives are taken by symbols, not by {x!r}.")
    for node in (*symbols, *nodes_in(array)):
        require_same_graph("derivative", (node.graph, symbols[0].graph))
    return array, symbols


def _tangents(order: Iterable[Expr], seeds: Mapping[Expr, Expr]) -> dict[Expr, Expr]:
    """Derivatives of the nodes along the seeds (forward mode); nodes that do not change are left
    out.
    """
    tangents = {x: t for x, t in seeds.items() if t.kind != ZERO}
    for node in order:
        args = node.args
        if node.op == "select":
            total = select(args[0], *[tangents.get(branch, 0) for branch in args[1:]])
        elif node.op in PARTIALS:
            total = 0
            for partial, arg in zip(PARTIALS[node.op], args, strict=True):
                if arg in tangents:
                    total = total + partial(node, *args) * tangents[arg]
        else:  # leaves and conditions
            continue
        if type(total) is Expr and total.kind != ZERO:
            tangents[node] = total
    return tangents


def _adjoints(y: Expr, xs: Iterable[Expr]) -> dict[Expr, Expr]:
    """Derivatives of y by the symbols (reverse mode); symbols without influence are left out."""
    order = topological([y])
    active = set(xs)
    for node in order:
        if (node.op in PARTIALS or node.op == "select") and not active.isdisjoint(node.args):
            active.add(node)
    adjoints = {y: y.like(1)}
    for node in reversed(order):
        if node.op in LEAVES or node not in active or node not in adjoints:
            continue
        weight = adjoints.pop(node)
        for i, arg in enumerate(node.args):
            if arg not in active:
                continue
            if node.op == "select":
                share = (
                    select(node.args[0], weight, 0) if i == 1 else select(node.args[0], 0, weight)
                )
            else:
                share = PARTIALS[node.op][i](node, *node.args) * weight
            if share.kind != ZERO:
                adjoints[arg] = adjoints[arg] + share if arg in adjoints else share
    return adjoints


def _forward(
    array: np.ndarray, seeds: Mapping[Expr, Expr], order: Iterable[Expr] | None = None
) -> list[Expr]:
    """Derivatives of the entries along the seeds; order: of their nodes, operands first."""
    zero = next(iter(seeds)).like(0)
    tangents = _tangents(topological(nodes_in(array)) if order is None else order, seeds)
    return [tangents.get(y, zero) if type(y) is Expr else zero for y in array.flat]


@overload
def derivative(y: Expr, x: Expr) -> Expr: ...
@overload
def derivative(y: Any, x: Any) -> Nodes: ...
def derivative(y: Any, x: Any) -> Expr | Nodes:
    """dy/dx in forward mode, a pass per symbol.

    Parameters
    ----------
    y : Expr, or nested list or array of expressions and numbers, shape S
    x : symbol, or array of symbols of shape X

    Returns
    -------
    Expr, or object array of shape (*S, *X).

    Raises
    ------
    ExpressionTypeError, GraphMixError
        x holds something else than symbols; y and x belong to different graphs.

    Examples
    --------
    >>> import dalembert as da
    >>> x = da.symbol("x")
    >>> da.derivative(da.sin(x), x)
    cos(x)
    """
    array, symbols = _checked(y, x)
    order = [*topological(nodes_in(array))]
    columns = [_forward(array, {symbol: symbol.like(1)}, order) for symbol in symbols]
    return object_array(
        [entry for row in zip(*columns, strict=True) for entry in row], array.shape + np.shape(x)
    )


def directional(y: Any, xs: Any, direction: Any) -> Any:
    """The derivative of y, of any shape S, when the symbols xs move along the direction: J(xs)
    direction, shape S.

    Parameters
    ----------
    xs : array of symbols
    direction : array of expressions or numbers of the same shape
        Rate of each symbol; with qd for q, the result is the time derivative.
    """
    array, symbols = _checked(y, xs)
    if np.shape(direction) != np.shape(xs):
        raise ShapeError(
            f"direction has shape {np.shape(direction)}, expected {np.shape(xs)}, that of the "
            "symbols.",
            "direction",
            np.shape(direction),
            np.shape(xs),
        )
    rates = np.array(direction, dtype=object).flat
    seeds = {symbol: symbol.like(rate) for symbol, rate in zip(symbols, rates, strict=True)}
    return object_array(_forward(array, seeds), array.shape)


@overload
def gradient(y: Expr, xs: Expr) -> Expr: ...
@overload
def gradient(y: Any, xs: Any) -> Nodes: ...
def gradient(y: Any, xs: Any) -> Expr | Nodes:
    """Derivatives of an expression by symbols of shape X, in reverse mode, all in the same pass;
    shape X.

    Raises
    ------
    ExpressionTypeError, GraphMixError, ShapeError
        xs holds something else than symbols; y and xs belong to different graphs; y has axes.

    Examples
    --------
    >>> import dalembert as da
    >>> x = da.symbols("x", 2)
    >>> da.gradient(x[0] * x[1], x)
    array([x[1], x[0]], dtype=object)
    """
    array, symbols = _checked(y, xs)
    if array.ndim:
        raise ShapeError(
            f"y has shape {array.shape}, expected one expression: for more use jacobian.",
            "y",
            array.shape,
            (),
        )
    zero = symbols[0].like(0)
    adjoints = _adjoints(y, symbols) if type(y) is Expr else {}
    return object_array([adjoints.get(x, zero) for x in symbols], np.shape(xs))


def jacobian(ys: Any, xs: Any) -> Nodes:
    """Derivatives of ys, shape S, by the symbols xs, shape X: object array of shape (*S, *X).

    Forward mode where there are no more symbols than expressions, reverse mode otherwise.
    """
    array, symbols = _checked(ys, xs)
    if len(symbols) <= array.size:
        return derivative(ys, xs)
    rows = [np.ravel(gradient(y, xs)) for y in array.flat]
    return object_array([entry for row in rows for entry in row], array.shape + np.shape(xs))
