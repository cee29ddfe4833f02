"""Rows of constraints as expressions of a Lagrangian system's symbols."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from dalembert.expr import (
    Expr,
    Graph,
    evaluate,
    free_symbols,
    import_nodes,
    pack,
    substitute,
    unpack,
)


class TracedRows:
    """A function of vectors and numbers that is known by its expressions.

    It is what `phi` or `psi` of a constraint becomes in a system with parameters: parameters can be
    given values, and it can be stored.

    Attributes
    ----------
    rows : (k,) expressions
    arguments : symbols in the order in which the function takes them, vectors and scalars
    """

    def __init__(self, rows: np.ndarray, arguments: Sequence[Any]):
        self.rows = rows
        self.arguments = tuple(arguments)

    def __call__(self, *values: Any) -> np.ndarray:
        """Rows (k,) at floats, or at expressions of one graph."""
        symbols: Any = self._flat(self.arguments)
        given = self._flat(values)
        graph = next((x.graph for x in given if isinstance(x, Expr)), None)
        if graph is None and not self.parameters:
            return np.asarray(evaluate(self.rows, dict(zip(symbols, given, strict=True))))
        rows: Any = self.rows
        if graph is not None and graph is not symbols[0].graph:
            rows, symbols = (import_nodes(x, graph) for x in (rows, symbols))
        return np.asarray(substitute(rows, dict(zip(symbols, given, strict=True))))

    @staticmethod
    def _flat(arguments: Sequence[Any]) -> list[Any]:
        """Entries of vectors, and scalars, in a row."""
        return [x for argument in arguments for x in np.ravel(np.asarray(argument, dtype=object))]

    @property
    def parameters(self) -> tuple[str, ...]:
        """Names of symbols that are no arguments."""
        own = {x.name for x in self._flat(self.arguments)}
        return tuple(s.name for s in free_symbols(self.rows) if s.name not in own)

    def replaced(self, values: Mapping[Expr, Any], graph: Graph) -> TracedRows:
        """The function with values for some parameters, in a graph."""
        rows = substitute(import_nodes(self.rows, graph), values)
        arguments = [import_nodes(x, graph) for x in self.arguments]
        return TracedRows(np.asarray(rows), arguments)

    def __reduce__(self):
        sizes = [np.size(x) if isinstance(x, np.ndarray) else None for x in self.arguments]
        return _rebuilt, (len(self.rows), sizes, pack([*self.rows, *self._flat(self.arguments)]))


def _rebuilt(count: int, sizes: Sequence[int | None], packed: Any) -> TracedRows:
    """The function that pickle kept, in a graph of its own."""
    with Graph():
        nodes = unpack(packed)
    rows = np.array(nodes[:count], dtype=object)
    arguments, at = [], count
    for size in sizes:
        step = 1 if size is None else size
        entries = nodes[at : at + step]
        arguments.append(entries[0] if size is None else np.array(entries, dtype=object))
        at += step
    return TracedRows(rows, arguments)
