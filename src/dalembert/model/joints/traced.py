"""Motions of a joint as expressions of its coordinates, with their derivatives."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from dalembert.expr import (
    Expr,
    constant,
    derivative,
    directional,
    evaluate,
    import_nodes,
    substitute,
    symbol,
)
from dalembert.spatial.motion_force import Motion
from dalembert.spatial.vectors import Vector

PLACEMENT, COLUMNS, RATES, BY_Q = range(4)


class TracedMotion:
    """Placement, columns of the motion subspace, their rates, and derivatives of rates times v, as
    expressions of q, of numbers of the joint, and of v.

    q : symbols of the coordinates; numbers : symbols of numbers
    placement : expressions of any meaning
    columns : entries of the columns, six of each
    """

    def __init__(
        self, q: list[Expr], numbers: list[Expr], placement: list[Any], columns: list[Any]
    ):
        self.graph = q[0].graph
        v = [symbol(f"velocity {k} of a joint", self.graph) for k in range(len(q))]
        rates = [directional(e, q, v) if isinstance(e, Expr) else 0.0 for e in columns]
        self.inputs = [*q, *numbers, *v]
        bias = [sum(rate * x for rate, x in zip(rates[k::6], v, strict=True)) for k in range(6)]
        by_q = [derived(e, x) for x in q for e in bias]
        self.outputs = [placement, columns, rates, by_q]

    def node(self, e: Any) -> Expr:
        """A number as a node."""
        return constant(e, self.graph)

    def at(self, which: int, values: Sequence[Any]) -> list[Any]:
        """The chosen outputs at scalars of any kind: of q, of numbers, and of v if they are needed."""
        outputs = self.outputs[which]
        inputs = self.inputs[: len(values)]
        graph = next((x.graph for x in values if isinstance(x, Expr)), None)
        if graph is None:
            pairs = dict(zip(inputs, values, strict=True))
            return [evaluate(e, pairs) if isinstance(e, Expr) else e for e in outputs]
        pairs = {import_nodes(x, graph): value for x, value in zip(inputs, values, strict=True)}
        return [
            substitute(import_nodes(e, graph), pairs) if isinstance(e, Expr) else e for e in outputs
        ]

    def motions(self, which: int, values: Sequence[Any]) -> tuple[Motion, ...]:
        """The same as motions."""
        flat = self.at(which, values)
        return tuple(
            Motion(Vector(flat[k : k + 3]), Vector(flat[k + 3 : k + 6]))
            for k in range(0, len(flat), 6)
        )


def plain(e: Any) -> Any:
    """Numbers by themselves: zeros and ones of the structure are no nodes."""
    return e.value if isinstance(e, Expr) and e.op in ("exact", "float") else e


def derived(e: Any, x: Expr) -> Any:
    """Derivative of an expression or a number."""
    return plain(derivative(e, x)) if isinstance(e, Expr) else 0.0
