"""Motions of a joint as expressions of its coordinates, with their derivatives."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from dalembert.expr import (
    Expr,
    constant,
    derivative,
    directional,
    symbol,
)
from dalembert.expr.evaluation import NUMPY
from dalembert.expr.graph import LEAVES, topological
from dalembert.expr.node import BUILD
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
        self._plans: dict[int, _Plan] = {}

    def node(self, e: Any) -> Expr:
        """A number as a node."""
        return constant(e, self.graph)

    def at(self, which: int, values: Sequence[Any]) -> list[Any]:
        """The chosen outputs at scalars of any kind: of q, of numbers, and of v if they are needed."""
        if which not in self._plans:
            self._plans[which] = _Plan(self.inputs, self.outputs[which])
        return self._plans[which].at(values)

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


class _Plan:
    """Operations of expressions in their order, for scalars of any kind."""

    def __init__(self, inputs: Sequence[Expr], outputs: Sequence[Any]):
        order = topological([e for e in outputs if isinstance(e, Expr)])
        self.at_input = {e: k for k, e in enumerate(inputs)}
        self.place = {node: k for k, node in enumerate(order)}
        self.steps = [self._step(node) for node in order]
        self.outputs = outputs

    def _step(self, node: Expr) -> tuple[str | None, Any]:
        if node in self.at_input:
            return None, self.at_input[node]
        if node.op in LEAVES:
            return "", node.value
        return node.op, [self.place[arg] for arg in node.args]

    def at(self, values: Sequence[Any]) -> list[Any]:
        """The outputs; numbers among them stay as they are."""
        found: list[Any] = []
        for op, operands in self.steps:
            if op is None:
                found.append(values[operands])
            elif not op:
                found.append(operands)
            else:
                found.append(_result(op, [found[k] for k in operands]))
        return [found[self.place[e]] if isinstance(e, Expr) else e for e in self.outputs]


def _result(op: str, operands: list[Any]) -> Any:
    if any(isinstance(x, Expr) for x in operands):
        return BUILD[op](*operands)
    return NUMPY[op](*(x if isinstance(x, np.ndarray) else float(x) for x in operands))
