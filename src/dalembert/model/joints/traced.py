"""Motions of a joint as expressions of its coordinates, with their derivatives."""

from __future__ import annotations

import operator
from collections.abc import (
    Callable,
    Sequence,
)
from functools import cached_property
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
# operations of two scalars that these of every kind do by themselves
ARITHMETIC: dict[str, Callable[..., Any]] = {
    "add": operator.add,
    "sub": operator.sub,
    "mul": operator.mul,
}


class TracedMotion:
    """Placement, columns of the motion subspace, their rates, and derivatives of rates times v, as
    expressions of q, of numbers of the joint, and of v; derivatives are made when they are asked for.

    q : symbols of the coordinates; numbers : symbols of numbers
    placement : expressions of any meaning
    columns : entries of the columns; rows : entries of each
    rates : of these entries from v, where there is a shorter form than their derivatives
    """

    def __init__(
        self,
        q: list[Expr],
        numbers: list[Expr],
        placement: list[Any],
        columns: list[Any],
        rows: int = 6,
        rates: Callable[[list[Expr]], list[Any]] | None = None,
    ):
        self.graph = q[0].graph
        self.v = [symbol(f"velocity {k} of a joint", self.graph) for k in range(len(q))]
        self.q, self.rows = q, rows
        self.inputs = [*q, *numbers, *self.v]
        self.placement, self.columns = placement, columns
        self._rates = rates
        self._plans: dict[int, Plan] = {}

    @cached_property
    def rates(self) -> list[Any]:
        """Rates of the entries of the columns."""
        if self._rates is not None:
            return [plain(e) for e in self._rates(self.v)]
        return [
            directional(e, self.q, self.v) if isinstance(e, Expr) else 0.0 for e in self.columns
        ]

    @cached_property
    def by_q(self) -> list[Any]:
        """Derivatives of the rates times v."""
        rates = [self.rates[k :: self.rows] for k in range(self.rows)]
        bias = [sum(r * x for r, x in zip(row, self.v, strict=True)) for row in rates]
        return [derived(e, x) for x in self.q for e in bias]

    def output(self, which: int) -> list[Any]:
        """Expressions of PLACEMENT, COLUMNS, RATES or BY_Q."""
        if which == PLACEMENT:
            return self.placement
        if which == COLUMNS:
            return self.columns
        return self.rates if which == RATES else self.by_q

    def node(self, e: Any) -> Expr:
        """A number as a node."""
        return constant(e, self.graph)

    def at(self, which: int, values: Sequence[Any]) -> list[Any]:
        """The chosen outputs at scalars of any kind: of q, of numbers, and of v if they are needed."""
        if which not in self._plans:
            self._plans[which] = Plan(self.inputs, self.output(which))
        return self._plans[which].at(values)

    def motions(self, which: int, values: Sequence[Any]) -> tuple[Motion, ...]:
        """The same as motions."""
        flat = self.at(which, values)
        return tuple(
            Motion(Vector(flat[k : k + 3]), Vector(flat[k + 3 : k + 6]))
            for k in range(0, len(flat), 6)
        )

    def vectors(self, which: int, values: Sequence[Any]) -> list[Vector]:
        """The same as vectors of three entries."""
        flat = self.at(which, values)
        return [Vector(flat[k : k + 3]) for k in range(0, len(flat), 3)]


def plain(e: Any) -> Any:
    """Numbers by themselves: zeros and ones of the structure are no nodes."""
    return e.value if isinstance(e, Expr) and e.op in ("exact", "float") else e


def derived(e: Any, x: Expr) -> Any:
    """Derivative of an expression or a number."""
    return plain(derivative(e, x)) if isinstance(e, Expr) else 0.0


class Plan:
    """Operations of expressions in their order, for scalars of any kind."""

    def __init__(self, inputs: Sequence[Expr], outputs: Sequence[Any]):
        order = topological([e for e in outputs if isinstance(e, Expr)])
        self.at_input = {e: k for k, e in enumerate(inputs)}
        self.place = {node: k for k, node in enumerate(order)}
        self.steps = [self._step(node) for node in order]
        self.outputs = [
            (True, self.place[e]) if isinstance(e, Expr) else (False, e) for e in outputs
        ]

    def _step(self, node: Expr) -> tuple[str | None, Any]:
        if node in self.at_input:
            return None, self.at_input[node]
        if node.op in LEAVES:
            return "", node.value
        return node.op, [self.place[arg] for arg in node.args]

    def at(self, values: Sequence[Any]) -> list[Any]:
        """The outputs; numbers among them stay as they are."""
        is_symbolic = any(isinstance(x, Expr) for x in values)
        found: list[Any] = []
        for op, operands in self.steps:
            if op is None:
                found.append(values[operands])
            elif not op:
                found.append(operands if is_symbolic else float(operands))
            elif op in ARITHMETIC:
                left, right = operands
                found.append(ARITHMETIC[op](found[left], found[right]))
            else:
                found.append(_result(op, [found[k] for k in operands]))
        return [found[x] if is_node else x for is_node, x in self.outputs]


def _result(op: str, operands: list[Any]) -> Any:
    if any(isinstance(x, Expr) for x in operands):
        return BUILD[op](*operands)
    return NUMPY[op](*(x if isinstance(x, np.ndarray) else float(x) for x in operands))
