"""A user's own joint, given by the placement of the child as a Python function of its coordinates."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from dalembert.expr import Expr, Graph, derivative, directional, evaluate, import_nodes, substitute, symbol
from dalembert.model.joints.base import JointType
from dalembert.spatial.motion_force import Motion
from dalembert.spatial.rotations import Dense
from dalembert.spatial.transforms import Transform
from dalembert.spatial.vectors import Matrix, Vector, axial


@dataclass(frozen=True)
class Custom(JointType):
    """Joint of any one to six freedoms.

    Parameters
    ----------
    function : callable
        Takes the list of coordinates and gives (R, p): rows of the rotation matrix (child's axes to joint's) and
        the child's origin [m]. Written with `da.sin`, `da.cos`, ...; R must be a rotation for every q.
    coordinates : tuple of str
        Names of the coordinates; velocities are their rates. A name with 'angle' in it is an angle [rad].

    The motion subspace is found by derivatives: column j is (vee(R^T dR/dq_j); R^T dp/dq_j).
    """

    function: Callable[[Sequence[Any]], tuple[Any, Any]]
    coordinates: tuple[str, ...] = ("angle",)      # type: ignore[misc]
    name = "custom"
    constant_subspace = False

    @property
    def velocities(self):      # type: ignore[override]
        return tuple(("angular rate of " if "angle" in c else "rate of ") + c for c in self.coordinates)

    def placement(self, q):
        flat = _traced(self.function, len(self.coordinates)).at(0, q)
        return Transform(Vector(flat[9:]), Dense(Matrix((flat[:3], flat[3:6], flat[6:9]))))

    def subspace(self, q):
        return _motions(_traced(self.function, len(self.coordinates)).at(1, q))

    def subspace_rate(self, q, v):
        return _motions(_traced(self.function, len(self.coordinates)).at(2, [*q, *v]))

    def subspace_rate_derivatives(self, q, v):
        return _motions(_traced(self.function, len(self.coordinates)).at(3, [*q, *v]))


def _motions(flat):
    return tuple(Motion(Vector(flat[k:k + 3]), Vector(flat[k + 3:k + 6])) for k in range(0, len(flat), 6))


class _Trace:
    """Placement, subspace, subspace rate and derivatives of rate times v as expressions of q (and v)."""

    def __init__(self, function, n):
        with Graph():
            q = [symbol(f"q[{k}]") for k in range(n)]
            v = [symbol(f"v[{k}]") for k in range(n)]
            R, p = function(q)
            R, p = Matrix(R), Vector(p)
            columns = []
            for x in q:
                dR, dp = Matrix([[_derivative(e, x) for e in row] for row in R]), Vector(_derivative(e, x) for e in p)
                columns += [*(axial(R.T @ dR) * 0.5), *(R.T @ dp)]
            rates = [directional(e, q, v) if isinstance(e, Expr) else 0.0 for e in columns]
            self.inputs = [*q, *v]
            bias = [sum(rate * x for rate, x in zip(rates[k::6], v, strict=True)) for k in range(6)]
            by_q = [_derivative(e, x) for x in q for e in bias]
            self.outputs = [[e for row in R for e in row] + list(p), columns, rates, by_q]

    def at(self, which, values):
        """The chosen outputs at scalars of any kind."""
        outputs, inputs = self.outputs[which], self.inputs[:len(values)]
        graph = next((x.graph for x in values if isinstance(x, Expr)), None)
        if graph is None:
            pairs = dict(zip(inputs, values, strict=True))
            return [evaluate(e, pairs) if isinstance(e, Expr) else e for e in outputs]
        pairs = {import_nodes(x, graph): value for x, value in zip(inputs, values, strict=True)}
        return [substitute(import_nodes(e, graph), pairs) if isinstance(e, Expr) else e for e in outputs]


def _derivative(e, x):
    return derivative(e, x) if isinstance(e, Expr) else 0.0


@lru_cache(maxsize=64)
def _traced(function, n):
    return _Trace(function, n)
