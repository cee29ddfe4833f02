"""The owner of the nodes: intern tables, the ambient graph, and the order children before parents."""

from __future__ import annotations

import weakref
from collections.abc import Iterable
from contextvars import ContextVar
from itertools import islice
from typing import Any

ARITHMETIC = ("add", "sub", "mul", "div", "neg", "power")
FUNCTIONS = (
    "sqrt",
    "sin",
    "cos",
    "tan",
    "asin",
    "acos",
    "atan2",
    "exp",
    "log",
    "sinh",
    "cosh",
    "tanh",
    "hypot",
    "abs",
    "sign",
    "min",
    "max",
)
COMPARISONS = ("less", "less_equal", "equal")
LOGIC = ("and", "or", "not")
LEAVES = ("exact", "float", "symbol")
OPERATIONS = ARITHMETIC + FUNCTIONS + COMPARISONS + LOGIC + ("select",)
COMMUTATIVE = frozenset(("add", "mul", "hypot", "min", "max", "equal", "and", "or"))


class Graph:
    """Intern tables of expressions: within one graph, equal structure is one node.

    `with Graph():` makes it the ambient graph of the block: new symbols, lifted lists and unpickled
    nodes go there. An operation on nodes happens in the graph of the nodes, whatever graph is open.
    The graph and its nodes keep each other alive, and are collected together when neither is used
    any more.

    One graph may be used from many threads. Nodes of two graphs meet only through `import_nodes`.

    Examples
    --------
    >>> import dalembert as da
    >>> with da.Graph("mine"):
    ...     x = da.symbol("x")
    >>> x.graph.name
    'mine'
    """

    __slots__ = ("name", "leaves", "nodes", "_ages", "__weakref__")

    def __init__(self, name: str = "graph"):
        self.name = name
        self.leaves: dict[str, dict[Any, Any]] = {op: {} for op in LEAVES}  # by value or name
        self.nodes: dict[int, Any] = {}  # operations by digest
        self._ages: dict[Any, int] = {}

    def ages(self) -> dict[Any, int]:
        """Number of each operation in the order in which they were made.

        Examples
        --------
        >>> import dalembert as da
        >>> with da.Graph() as graph:
        ...     x = da.symbol("x")
        ...     square, cube = x * x, x * x * x
        >>> [graph.ages()[node] for node in (square, cube)]
        [0, 1]
        """
        known = len(self._ages)
        fresh = [*islice(reversed(self.nodes.values()), len(self.nodes) - known)]
        self._ages.update((node, known + k) for k, node in enumerate(reversed(fresh)))
        return self._ages

    def __enter__(self) -> Graph:
        _open_graphs.set((*_open_graphs.get(), self))
        return self

    def __exit__(self, *error: object) -> None:
        _open_graphs.set(_open_graphs.get()[:-1])

    def __len__(self) -> int:
        """Number of nodes ever made in this graph."""
        return len(self.nodes) + sum(map(len, self.leaves.values()))

    def __bool__(self) -> bool:
        return True

    def __repr__(self) -> str:
        return f"<Graph {self.name!r}, {len(self)} nodes>"


_open_graphs: ContextVar[tuple[Graph, ...]] = ContextVar("open_graphs", default=())
_implicit_graph: ContextVar[weakref.ref[Graph] | None] = ContextVar("implicit_graph", default=None)


def current_graph() -> Graph:
    """The innermost open graph; with none open, the context's implicit graph, which lives as long
    as its nodes.
    """
    if graphs := _open_graphs.get():
        return graphs[-1]
    reference = _implicit_graph.get()
    graph = reference() if reference is not None else None
    if graph is None:
        graph = Graph("implicit")
        _implicit_graph.set(weakref.ref(graph))
    return graph


def topological(roots: Iterable[Any]) -> list[Any]:
    """All nodes under the roots, each once, children before parents; the order depends on structure
    only.
    """
    order: list[Any] = []
    seen: set[Any] = set()
    leaves = frozenset(LEAVES)
    for root in roots:
        stack = [(root, False)]
        while stack:
            node, children_done = stack.pop()
            if children_done:
                order.append(node)
            elif node not in seen:
                seen.add(node)
                if node.op in leaves:
                    order.append(node)
                else:
                    stack.append((node, True))
                    stack.extend(
                        [(child, False) for child in reversed(node.args) if child not in seen]
                    )
    return order
