"""Derivatives of functions of a state, taken on symbols, at a state of floats or expressions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import nullcontext
from typing import Any

import numpy as np

from dalembert.expr import Expr, Graph, array, evaluate, free_symbols, substitute, symbols


def evaluated(
    make: Callable[..., Sequence[Any]], name: str, *vectors: Sequence[Any]
) -> list[np.ndarray]:
    """Arrays that `make` gives on vectors of symbols, at vectors of floats or expressions.

    name: of the symbols, which no other call within `make` may have.
    """
    given = [x for vector in vectors for x in vector]
    graph = next((x.graph for x in given if isinstance(x, Expr)), None)
    with nullcontext() if graph is not None else Graph() as own:
        of_vectors = [
            np.array(symbols(f"{name} {k}", len(vector), graph or own), dtype=object)
            for k, vector in enumerate(vectors)
        ]
        made = [array(part) for part in make(*of_vectors)]
        placed = [x for vector in of_vectors for x in vector]
        values = dict(zip(placed, given, strict=True))
        known = {x.name for x in placed}
        free = {s.name for part in made for s in free_symbols(part)}
        is_open = not free <= known  # parameters without values
        put = substitute if graph is not None or is_open else evaluate
        return [np.asarray(put(part, values)) if part.size else part for part in made]
