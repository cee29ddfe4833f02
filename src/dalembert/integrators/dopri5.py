"""Dormand and Prince's pair of orders 5 and 4; its last value of f is the first of the next step."""

from __future__ import annotations

from typing import Any

C = (0, 1 / 5, 3 / 10, 4 / 5, 8 / 9, 1, 1)
A = ((), (1 / 5,), (3 / 40, 9 / 40), (44 / 45, -56 / 15, 32 / 9),
     (19372 / 6561, -25360 / 2187, 64448 / 6561, -212 / 729),
     (9017 / 3168, -355 / 33, 46732 / 5247, 49 / 176, -5103 / 18656),
     (35 / 384, 0, 500 / 1113, 125 / 192, -2187 / 6784, 11 / 84))
E = (71 / 57600, 0, -71 / 16695, 71 / 1920, -17253 / 339200, 22 / 525, -1 / 40)      # order 5 less order 4
ORDER = 5


def step(f: Any, t: Any, x: Any, h: Any, first: Any) -> tuple[Any, tuple[Any], Any]:
    """(x(t + h), estimate of its error, f there), from first = f(t, x).

    Dormand, Prince, A family of embedded Runge-Kutta formulae, J. Comp. Appl. Math. 6 (1980) 19-26.
    """
    k = [first]
    for c, row in zip(C[1:], A[1:], strict=True):
        y = x + h * sum(a * ki for a, ki in zip(row, k, strict=True) if a)
        k.append(f(t + c * h, y))
    return y, (h * sum(e * ki for e, ki in zip(E, k, strict=True) if e),), k[-1]
