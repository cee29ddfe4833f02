"""The algebra of expression graphs: scalars of a chain of links where polynomials are too long, or
do not exist.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from dalembert.closed_forms.algebra.polynomials import Polynomials
from dalembert.closed_forms.algebra.ring import Angle, Phase, Poly, Ring
from dalembert.closed_forms.algebra.sums import Builder
from dalembert.closed_forms.algebra.writing import Writer
from dalembert.expr import Expr, Graph, cos, sin, symbol


class Expressions:
    """Scalars of a chain as expressions of one graph; see `link_chain.chain`."""

    def __init__(self, graph: Graph, coordinates: Sequence[str]):
        self.q = [symbol(name, graph) for name in coordinates]
        self.names = {"q": tuple(coordinates)}
        self.builder = Builder(graph)
        self.polynomials = Polynomials(Ring())

    def scalar(self, x: Any) -> Any:
        """The number or expression itself."""
        return x

    def coordinate(self, k: int) -> Expr:
        """Coordinate k."""
        return self.q[k]

    def cos_sin(self, angle: Angle) -> tuple[Any, Any]:
        """Cosine and sine of an angle."""
        total: Any = 0
        for k, factor in angle:
            x = self.of_polynomial(k.value) if isinstance(k, Phase) else self.q[k]
            total = total + (x if factor == 1 else x * factor)
        return cos(total), sin(total)

    def of_polynomial(self, p: Any) -> Any:
        """A polynomial of `polynomials` as an expression, compact."""
        if not isinstance(p, Poly):
            return p
        return self.builder.expression(Writer(self.polynomials.ring, self.names).form(p))

    def quaternion(self, k: int) -> list[Expr]:
        """The quaternion at k."""
        return self.q[k : k + 4]
