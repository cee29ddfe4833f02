"""Gauss collocation with three stages: order 6, symplectic and symmetric; keeps quadratic
invariants.
"""

from __future__ import annotations

from math import sqrt

from dalembert.expr.scalars import Scalar
from dalembert.integrators import collocation
from dalembert.integrators.fixed_point import Solver
from dalembert.integrators.method_kinds import SOLUTION, FixedStep, Rate, Vector

R = sqrt(15)
C = (1 / 2 - R / 10, 1 / 2, 1 / 2 + R / 10)
A = (
    (5 / 36, 2 / 9 - R / 15, 5 / 36 - R / 30),
    (5 / 36 + R / 24, 2 / 9, 5 / 36 - R / 24),
    (5 / 36 + R / 30, 2 / 9 + R / 15, 5 / 36),
)
B = (5 / 18, 4 / 9, 5 / 18)
AHEAD = collocation.continued(C)


def step(f: Rate, t: Scalar, x: Vector, h: Scalar, solve: Solver | None = None) -> Vector:
    """x(t + h); Hairer, Lubich, Wanner, Geometric Numerical Integration (2006), table II.1.1."""
    return collocation.step(f, t, x, h, C, A, B, AHEAD, solve)


METHOD = FixedStep("gauss6", 6, step, memory={SOLUTION: len(C)})
