"""Linear complementarity with bounds: the law of reactions that are limited, such as dry friction's and a stop's."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from dalembert.compiled.marching import Trace
from dalembert.expr import absolute, array, maximum, minimum
from dalembert.formulations.newton_euler.mass_matrix import factorised, solved
from dalembert.integrators.choice import chosen

MOST = 100               # exchanges per unknown, far beyond what happens
ROUNDING = 1e-12         # of the terms that a sum is made of
PATIENCE = 3             # exchanges of all that are wrong which do not make them fewer


def box(trace: Trace, A: np.ndarray, b: np.ndarray, lower: Sequence[Any], upper: Sequence[Any],
        asked: Sequence[Any]) -> tuple[np.ndarray, np.ndarray]:
    """Reactions r and accelerations a = A r + b, with r at its lower bound where a > 0, at its upper one where a < 0, else
    between, and a = 0 then.

        min 1/2 r^T A r + b^T r,   lower <= r <= upper,   A symmetric and positive definite

    A loop of a routine, in which all unknowns that break their condition are exchanged as long as they become fewer, then
    the first of them alone, which ends for every such A. r and a are 0 where `asked` is 0, for 1.

    Judice, Pires, A block principal pivoting algorithm for large-scale strictly monotone linear complementarity problems,
    Computers Ops Res. 21 (1994) 587-596.
    """
    n = len(b)
    (where, bound), (left, (fewest, patience)) = trace.new("bound", n), trace.new("left", 2)
    (over, (ended,)), (reactions, found), (accelerations, moves) = trace.new("over", 1), trace.new("r", n), trace.new("a", n)
    trace.give({where: 0 * bound, left: [n + 1.0, PATIENCE + 0.0], over: [0.0]})
    with trace.loop(over, MOST * (n + 1)):
        free = [chosen(absolute(k) < 0.5, one, 0.0) for k, one in zip(bound, asked, strict=True)]
        r = array([chosen(k < -0.5, low, chosen(k > 0.5, high, 0.0))
                   for k, low, high in zip(bound, lower, upper, strict=True)])
        only = [[A[i][j] * free[i] * free[j] + (1 - free[i] if i == j else 0.0) for j in range(n)] for i in range(n)]
        y = solved(factorised(only, lambda *_: None), list(array(free) * (-b - A @ r)))
        r = array([chosen(f > 0, own, other) for f, own, other in zip(free, y, r, strict=True)])
        small = ROUNDING * (absolute(A) @ absolute(r) + absolute(b))
        a = [chosen(f > 0, 0.0, chosen(one > 0, own, 0.0)) for f, one, own in zip(free, asked, A @ r + b, strict=True)]
        wanted = [chosen(free[i] > 0, _side(r[i], lower[i], upper[i]), chosen(bound[i] * a[i] > small[i], 0.0, bound[i]))
                  for i in range(n)]
        wrong = [absolute(new - old) for new, old in zip(wanted, bound, strict=True)]
        count = sum(wrong)
        patience, fewest = chosen(count < fewest, PATIENCE + 0.0, patience - 1), minimum(count, fewest)
        change = [chosen(patience > 0, w, chosen(sum(wrong[:i]) > 0, 0.0, w)) for i, w in enumerate(wrong)]
        trace.give({where: [chosen(c > 0, new, old) for c, new, old in zip(change, wanted, bound, strict=True)],
                    left: [fewest, patience], over: [maximum(ended, chosen(count > 0, 0.0, 1.0))],
                    reactions: [minimum(maximum(x, low), high) for x, low, high in zip(r, lower, upper, strict=True)],
                    accelerations: [chosen(absolute(x) <= least, 0.0, x) for x, least in zip(a, small, strict=True)]})
    return array([chosen(one > 0, x, 0.0) for one, x in zip(asked, found, strict=True)]), moves


def _side(r: Any, lower: Any, upper: Any) -> Any:
    """At which bound a reaction ends that is free and beyond it."""
    slack = ROUNDING * absolute(r)
    return chosen(r > upper + slack, 1.0, chosen(r < lower - slack, -1.0, 0.0))
