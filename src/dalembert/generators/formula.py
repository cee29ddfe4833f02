"""Expressions of a state as a function of numbers, batches and other expressions."""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from dalembert.errors import ShapeError
from dalembert.expr import (
    Expr,
    Graph,
    array,
    directional,
    import_nodes,
    substitute,
    symbols,
    topological,
)
from dalembert.expr.evaluation import NUMPY
from dalembert.expr.graph import LEAVES

# Operators of Python are faster than NumPy's functions on a number, and the same.
OPERATORS = NUMPY | {
    "add": operator.add,
    "sub": operator.sub,
    "mul": operator.mul,
    "div": operator.truediv,
    "neg": operator.neg,
}


class Formula:
    """Expressions of n symbols, an array of any shape S."""

    def __init__(self, names: Sequence[Expr], expressions: np.ndarray):
        self.symbols = list(names)
        self.expressions = np.array(expressions, dtype=object)
        entries = [names[0].like(entry) for entry in self.expressions.flat]
        order = topological(entries)
        constants = [node for node in order if node.op in LEAVES and node.op != "symbol"]
        operations = [node for node in order if node.op not in LEAVES]
        place = {node: k for k, node in enumerate([*names, *constants, *operations])}
        self._constants = [np.float64(node.value) for node in constants]
        self._steps = [
            (OPERATORS[node.op], [place[operand] for operand in node.args]) for node in operations
        ]
        self._results = [place[entry] for entry in entries]

    def __call__(self, values: Any) -> Any:
        """The expressions at n scalars: S for numbers and expressions, (N, *S) for batches (N,)."""
        graph = next((x.graph for x in values if isinstance(x, Expr)), None)
        if graph is None:
            return self._numbers(values)
        names = import_nodes(self.symbols, graph)
        expressions = import_nodes(self.expressions, graph)
        return substitute(expressions, dict(zip(names, values, strict=True)))

    def _numbers(self, values: Any) -> np.ndarray:
        """The expressions at numbers or batches, node by node."""
        registers = [np.asarray(value, dtype=float)[()] for value in values] + self._constants
        with np.errstate(all="ignore"):
            for function, operands in self._steps:
                registers.append(function(*[registers[k] for k in operands]))
        rows = np.broadcast_arrays(*[registers[k] for k in self._results])
        found = np.stack(rows, axis=-1)
        return found.reshape(*found.shape[:-1], *self.expressions.shape)


def total_derivatives(
    output: Callable[[Any], Any], rate: Callable[[Any], Any], n: int, order: int
) -> Formula:
    """Formula of y = output(x) and its total derivatives along x' = rate(x), (order + 1, m).

    y^(k+1) = (dy^(k)/dx) rate(x)

    Raises
    ------
    ShapeError
        The rate is none of n entries; the output is no vector.
    """
    with Graph():
        x = symbols("x", n)
        flow = array(rate(x))
        rows = [array(output(x))]
        _check_length("rate", flow, n)
        _check_length("program", rows[0], max(rows[0].size, 1))
        for _ in range(order):
            rows.append(directional(rows[-1], x, flow))
        return Formula(list(x), np.array(rows, dtype=object))


def _check_length(name: str, values: np.ndarray, n: int) -> None:
    if values.shape != (n,):
        raise ShapeError(
            f"the {name} has shape {values.shape}, expected ({n},): a list of numbers and "
            "expressions.",
            name,
            values.shape,
            (n,),
        )
