"""Value and derivatives of a function of a user's own at a point of floats or expressions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import nullcontext
from typing import Any, NamedTuple

import numpy as np

from dalembert.expr import Graph, array, derivative, evaluate, substitute, symbols
from dalembert.spatial.arrays import graph_of


class Expansion(NamedTuple):
    """A function of n variables at a point.

    value : number
    gradient : first derivatives (n,)
    hessian : second derivatives (n, n)
    """

    value: Any
    gradient: list[Any]
    hessian: list[list[Any]]


def expanded(function: Callable[[list[Any]], Any], point: Sequence[Any]) -> Expansion:
    """The function of a list of n variables, traced once, at a point (n,)."""
    graph = graph_of(point)
    n = len(point)
    with nullcontext() if graph is not None else Graph() as own:
        x = np.array(symbols("variable", n, graph or own), dtype=object)
        y = array(function(list(x))).reshape(())[()]
        gradient = derivative(array([y]), x)[0]
        hessian = derivative(gradient, x)
        parts = np.array([y, *gradient, *hessian.ravel()], dtype=object)
        put = evaluate if graph is None else substitute
        values = put(parts, dict(zip(x, point, strict=True))).tolist()
    rows = [values[1 + n * (k + 1) : 1 + n * (k + 2)] for k in range(n)]
    return Expansion(values[0], values[1 : n + 1], rows)
