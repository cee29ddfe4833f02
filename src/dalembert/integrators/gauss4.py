"""Gauss collocation with two stages: order 4, symplectic and symmetric; keeps quadratic invariants."""

from __future__ import annotations

from math import sqrt

from dalembert.expr.scalars import Scalar
from dalembert.integrators import collocation
from dalembert.integrators.fixed_point import Solver
from dalembert.integrators.method_kinds import SOLUTION, FixedStep, Rate, Vector

R = sqrt(3) / 6
C = (1 / 2 - R, 1 / 2 + R)
A = ((1 / 4, 1 / 4 - R), (1 / 4 + R, 1 / 4))
B = (1 / 2, 1 / 2)
AHEAD = collocation.continued(C)


def step(f: Rate, t: Scalar, x: Vector, h: Scalar, solve: Solver | None = None) -> Vector:
    """x(t + h); Hairer, Lubich, Wanner, Geometric Numerical Integration (2006), table II.1.1."""
    return collocation.step(f, t, x, h, C, A, B, AHEAD, solve)


METHOD = FixedStep("gauss4", 4, step, memory={SOLUTION: len(C)})
