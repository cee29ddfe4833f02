"""Radau IIA of order 5, of SciPy: implicit, for stiff systems; called step by step, not compiled."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from dalembert.errors import DalembertError

ORDER = 5


def steps(f: Callable[..., Any], times: np.ndarray, x: np.ndarray, h: float, rtol: float, atol: float,
          jacobian: Callable[..., Any] | None = None) -> Iterator[tuple[float, np.ndarray, int, bool]]:
    """(time, x, steps taken, whether this is as far as it goes) for each of the times but the first.

    jacobian : function (t, x) -> df/dx; estimated by differences without one

    Hairer, Wanner, Solving Ordinary Differential Equations II (1996), section IV.8.
    """
    try:
        from scipy.integrate import Radau
    except ImportError as error:
        raise DalembertError("method 'radau5' needs SciPy: pip install scipy, or take method='dopri5'.") from error
    end = float(times[-1])
    solver = Radau(f, float(times[0]), x, end, first_step=min(h, abs(end - float(times[0]))), rtol=rtol, atol=atol,
                   jac=jacobian)
    taken = 0
    at: Any = None
    for goal in times[1:]:
        while solver.status == "running" and (goal - solver.t) * solver.direction > 0:
            try:
                solver.step()
            except ValueError:                     # a Jacobian that is not finite
                solver.status = "failed"
            if solver.status != "failed":
                taken, at = taken + 1, solver.dense_output()
        if solver.status == "failed" and (goal - solver.t) * solver.direction > 0:
            yield float(solver.t), solver.y, taken, True
            return
        yield float(goal), solver.y if goal == solver.t else at(goal), taken, False
