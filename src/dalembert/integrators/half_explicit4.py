"""Half-explicit Runge-Kutta of order 4 with five stages: each stage's velocities meet the constraints
by the multipliers of the stage before. Between, order 3.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import sqrt
from typing import Any

import numpy as np

from dalembert.expr.scalars import Scalar
from dalembert.integrators.method_kinds import (
    GENERAL,
    MOMENTA,
    PROJECTION,
    Adaptive,
    Manifold,
    Rate,
    Vector,
    met,
)
from dalembert.integrators.moving_coordinates import StateParts, coordinates, parts_of
from dalembert.integrators.search import hermite, value

R = sqrt(6)
C = (0.0, 3 / 10, (4 - R) / 10, (4 + R) / 10, 1.0, 1.0)
A = (
    (),
    (3 / 10,),
    ((1 + R) / 30, (11 - 4 * R) / 30),
    ((-79 - 31 * R) / 150, (-1 - 4 * R) / 30, (24 + 11 * R) / 25),
    ((14 + 5 * R) / 6, (-8 + 7 * R) / 6, (-9 - 7 * R) / 4, (9 - R) / 4),
    (0.0, 0.0, (16 - R) / 36, (16 + R) / 36, 1 / 9),
)
ORDER = 4


def _quadrature(nodes: Sequence[float]) -> np.ndarray:
    """Weights of the quadrature on [0, 1] with these nodes."""
    n = len(nodes)
    return np.linalg.solve(np.vander(nodes, n, increasing=True).T, 1 / np.arange(1, n + 1))


EMBEDDED = _quadrature([C[0], C[2], C[3]])  # in place of Radau's on the nodes 2, 3, 4: order 3
ERROR = (-EMBEDDED[0], 0.0, A[-1][2] - EMBEDDED[1], A[-1][3] - EMBEDDED[2], A[-1][4])


def step(
    f: Rate,
    t: Scalar,
    x: Vector,
    h: Scalar,
    first: Any,
    manifold: Manifold | None = None,
    *,
    parts: StateParts,
) -> tuple[Any, tuple[Any, ...], list[Any]]:
    """(x(t + h), estimate of its error, values of f), from first = f(t, x) to f(t + h, x(t + h)).

        v_i = v + h sum_j a_ij v'_j,   M v'_j = force_j + J_j^T lambda_j,   phi'(q_i, v_i) = 0

    lambda_{i-1} follows from the velocities of stage i: a linear equation with J_i M^-1 J_{i-1}^T. f
    has accelerations with multipliers of its own, to which the difference is added. The last stage is
    the end, brought back to positions.

    Brasey, Hairer, Half-explicit Runge-Kutta methods for differential-algebraic systems of index 2,
    SIAM J. Numer. Anal. 30 (1993) 538-552; Hairer, Wanner, Solving Ordinary Differential Equations II
    (1996), table VII.6.1 (HEM4).
    """
    k = [first]
    own = [first]  # values of f, without the corrections
    constrained = manifold is not None and manifold.is_constrained
    response: Any = None
    if manifold is not None and constrained:
        _, response = manifold.responses(t, x[parts.q], x[parts.y])
    for c, row in zip(C[1:], A[1:], strict=True):
        at, y = t + c * h, x + h * _weighted(row, k)
        if manifold is not None and constrained:
            _, ahead = manifold.responses(at, y[parts.q], y[parts.y])
            push = manifold.push(response, ahead) / (row[-1] * h)
            k[-1] = _added(k[-1], parts.y, push)
            y = _added(y, parts.y, row[-1] * h * push)
            response = ahead
        if len(k) == len(C) - 1:
            new, errors = met(manifold, t + h, y, (h * _weighted(ERROR, own),))
            last = f(t + h, new)
            return new, errors, [*own, last]
        own.append(f(at, y))
        k.append(own[-1])
    raise AssertionError("the last stage is the end")


def _added(x: Any, places: slice, change: Any) -> Any:
    """x with a change of some entries."""
    x = np.array(x)
    x[places] = x[places] + change
    return x


def _weighted(weights: Sequence[float], k: list[Any]) -> Any:
    return sum(w * ki for w, ki in zip(weights, k, strict=True) if w)


def between(x: Any, new: Any, h: Any, k: list[Any], part: Any) -> Any:
    """x(t + part h) in a step from x to `new` with values k of f: the cubic through both ends."""
    return value(coefficients(x, new, h, k), part)


def coefficients(x: Any, new: Any, h: Any, k: list[Any]) -> list[Any]:
    """`between` by its Bernstein coefficients."""
    return hermite(x, new, k[0], k[-1], h)


def bend(h: Any, k: list[Any]) -> Any:
    """Bound of what `between` differs by from the cubic through both ends: nothing."""
    return 0.0 * k[0]


def needs(**known: Any) -> dict[str, Any]:
    """Options of the step: the parts of a state."""
    return {"parts": parts_of("half_explicit4", coordinates("half_explicit4")(**known))}


METHOD = Adaptive(
    "half_explicit4",
    ORDER,
    step,
    between,
    coefficients,
    bend,
    needs=needs,
    refuses={
        **dict.fromkeys(
            set(GENERAL) - {PROJECTION},
            "half_explicit4 meets constraints in its stages and projects ends of steps: leave "
            "stabilisation= out, or take another method, such as 'dopri5'.",
        ),
        MOMENTA: "half_explicit4 steps velocities, which a state (q, p) has not: take "
        "method='dop853', or a formulation in (q, qd).",
    },
)
