"""Equations z = g(z) of implicit methods, solved by iteration down to rounding."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from dalembert.integrators.choice import chosen
from dalembert.integrators.norms import largest

Solver = Callable[..., Any]  # solve(g, x, ahead, stages=1) -> z, of length stages len(x)

MOST = 60  # iterations
DONE = 1e-15  # change relative to the state: nothing left to gain
CLOSE = 1e-10  # change below which growing again means that only rounding is left
GOING, SETTLED, LOST = 0.0, 1.0, 2.0
HUGE = 1e300  # numbers beyond it, and NaN, are not finite


def judged(z: Any, new: Any, x: Any, before: Any) -> tuple[Any, Any]:
    """(largest change, whether the iteration is settled, lost to numbers that are not finite, or
    going on).

    Hairer, McLachlan, Razakarivony, Achieving Brouwer's law with implicit Runge-Kutta methods, BIT
    48 (2008) 231-243, stop where changes no longer shrink; here so too where they are smaller than
    a unit in the last place of the state.
    """
    change = largest(new - z)
    scale = largest(np.concatenate([x, new]))
    least = chosen(change >= before, SETTLED, GOING)
    finite = chosen(change <= DONE * scale, SETTLED, chosen(change <= CLOSE * scale, least, GOING))
    return change, chosen(change <= HUGE, finite, LOST)


class FixedPoint:
    """The solver on numbers; it begins where the last solution leads.

    NaN where it finds none, and not `settled` if it would have gone on.
    """

    def __init__(self) -> None:
        self.z: Any = None
        self.settled = True

    def __call__(
        self, g: Callable[[Any], Any], x: Any, ahead: Callable[[Any], Any], stages: int = 1
    ) -> Any:
        z = np.zeros(stages * len(x)) if self.z is None else ahead(self.z)
        before = HUGE
        for _ in range(MOST):
            new = g(z)
            before, state = judged(z, new, x, before)
            z = new
            if state != GOING:
                break
        self.settled = state != GOING  # lost ones show themselves: they are not finite
        self.z = z if state == SETTLED else None
        return z if state == SETTLED else np.full_like(z, np.nan)
