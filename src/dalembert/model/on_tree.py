"""A mechanism seen through another tree: functions of mechanisms take anything that has `at`."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from dalembert.model.tree import Tree

if TYPE_CHECKING:
    from dalembert.model.mechanism import Mechanism


class OnTree:
    """The names, sizes and coordinates of a mechanism, with another tree for the algorithms.

    mechanism : Mechanism
    tree_in : the tree, with its symbols in a graph (None: in its own)
    """

    def __init__(self, mechanism: Mechanism, tree_in: Callable[[Any], Tree]):
        self.mechanism, self.tree_in = mechanism, tree_in

    def at(self, **vectors: Any) -> tuple[Tree, tuple[list[Any], ...], Callable[..., Any]]:
        """As `Mechanism.at`, with this tree."""
        columns, graph, pack = self.mechanism.opened(**vectors)
        return self.tree_in(graph), columns, pack

    def tree(self, graph: Any = None) -> Tree:
        """The tree."""
        return self.tree_in(graph)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") or name in ("mechanism", "tree_in"):  # as copies and pickles ask
            raise AttributeError(name)
        return getattr(self.mechanism, name)
