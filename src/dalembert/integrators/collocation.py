"""Collocation at given nodes, the base of the Gauss methods."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from dalembert.expr.scalars import Scalar
from dalembert.integrators.fixed_point import FixedPoint, Solver
from dalembert.integrators.method_kinds import Rate, Vector

Matrix = Sequence[Sequence[float]]


def step(
    f: Rate,
    t: Scalar,
    x: Vector,
    h: Scalar,
    c: Sequence[float],
    A: Matrix,
    b: Sequence[float],
    ahead: Matrix,
    solve: Solver | None = None,
) -> Vector:
    """x(t + h) = x + sum_i b_i z_i,   z_i = h f(t + c_i h, x + sum_j A_ij z_j).

    ahead : the polynomial through the z of one step, at the nodes of the next, where the search
        begins

    Hairer, Lubich, Wanner, Geometric Numerical Integration (2006), section II.1.
    """
    stages = len(c)
    n = len(x)

    def slopes(z: Any) -> Any:
        """Slopes at the nodes for the slopes z."""
        k = z.reshape(stages, n)
        return np.concatenate([h * f(t + c[i] * h, x + _weighted(A[i], k)) for i in range(stages)])

    def predicted(z: Any) -> Any:
        """Slopes at the nodes of the next step, continued from those of this step."""
        return np.concatenate([_weighted(row, z.reshape(stages, n)) for row in ahead])

    return x + _weighted(
        b, (solve or FixedPoint())(slopes, x, predicted, stages).reshape(stages, n)
    )


def continued(c: Sequence[float]) -> list[list[float]]:
    """Row i: the Lagrange polynomials of the nodes, at 1 + c_i."""
    return [
        [
            float(np.prod([(1 + ci - ck) / (cj - ck) for k, ck in enumerate(c) if k != j]))
            for j, cj in enumerate(c)
        ]
        for ci in c
    ]


def _weighted(weights: Sequence[float], k: Any) -> Any:
    return sum(w * ki for w, ki in zip(weights, k, strict=True))
