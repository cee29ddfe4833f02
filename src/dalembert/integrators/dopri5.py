"""Dormand and Prince's pair of orders 5 and 4; its last value of f is the first of the next step.
Between, order 4.
"""

from __future__ import annotations

from typing import Any

from dalembert.expr import absolute
from dalembert.expr.scalars import Scalar
from dalembert.integrators.method_kinds import (
    Adaptive,
    Manifold,
    Rate,
    Vector,
    met,
)
from dalembert.integrators.search import through

# fmt: off
C = (0, 1 / 5, 3 / 10, 4 / 5, 8 / 9, 1, 1)
A = ((), (1 / 5,), (3 / 40, 9 / 40), (44 / 45, -56 / 15, 32 / 9),
     (19372 / 6561, -25360 / 2187, 64448 / 6561, -212 / 729),
     (9017 / 3168, -355 / 33, 46732 / 5247, 49 / 176, -5103 / 18656),
     (35 / 384, 0, 500 / 1113, 125 / 192, -2187 / 6784, 11 / 84))
# order 5 less order 4
E = (71 / 57600, 0, -71 / 16695, 71 / 1920, -17253 / 339200, 22 / 525, -1 / 40)
D = (-12715105075 / 11282082432, 0, 87487479700 / 32700410799, -10690763975 / 1880347072, 701980252875 / 199316789632,
     -1453857185 / 822651844, 69997945 / 29380423)
# fmt: on
ORDER = 5


def step(
    f: Rate,
    t: Scalar,
    x: Vector,
    h: Scalar,
    first: Any,
    manifold: Manifold | None = None,
) -> tuple[Any, tuple[Any, ...], list[Any]]:
    """(x(t + h), estimate of its error, values of f), from first = f(t, x) to f(t + h, x(t + h));
    the manifold: to which the end is brought back before f is known there.

    Dormand, Prince, A family of embedded Runge-Kutta formulae, J. Comp. Appl. Math. 6 (1980) 19-26.
    """
    k = [first]
    for c, row in zip(C[1:-1], A[1:-1], strict=True):
        k.append(f(t + c * h, x + h * _weighted(row, k)))
    y, _ = met(manifold, t + h, x + h * _weighted(A[-1], k))
    k.append(f(t + h, y))
    _, errors = met(manifold, t + h, y, (h * _weighted(E, k),))
    return y, errors, k


def between(x: Any, new: Any, h: Any, k: list[Any], part: Any) -> Any:
    """x(t + part h) in a step from x to `new` with values k of f: order 4, and smooth from step to
    step.

    Code DOPRI5; Hairer, Norsett, Wanner, Solving Ordinary Differential Equations I (1993), section
    II.6.
    """
    rest, change = 1 - part, new - x
    start, end, bend = _shape(change, h, k)
    return x + part * (change + rest * (start + part * (end + rest * bend)))


def coefficients(x: Any, new: Any, h: Any, k: list[Any]) -> list[Any]:
    """`between` by its Bernstein coefficients."""
    start, end, bend = _shape(new - x, h, k)
    return through(4, x, new, h * k[0], h * k[-1], [(1, 1, start), (2, 1, end), (2, 2, bend)])


def bend(h: Any, k: list[Any]) -> Any:
    """Bound of what `between` differs by from the cubic through both ends: s^2 (1 - s)^2 |h sum_i
    D_i k_i|.
    """
    return absolute(h * _weighted(D, k)) / 16


def _shape(change: Any, h: Any, k: list[Any]) -> tuple[Any, Any, Any]:
    start = h * k[0] - change
    bend = h * _weighted(D, k)
    return start, change - h * k[-1] - start, bend


def _weighted(weights: tuple[float, ...], k: list[Any]) -> Any:
    return sum(w * ki for w, ki in zip(weights, k, strict=True) if w)


METHOD = Adaptive("dopri5", ORDER, step, between, coefficients, bend)
