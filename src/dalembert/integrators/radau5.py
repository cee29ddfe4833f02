"""Radau IIA of order 5, of SciPy: implicit, for stiff systems; called step by step, not compiled."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from dalembert.errors import DalembertError
from dalembert.integrators.method_kinds import MET, External

ORDER, TOO_SMALL = 5, 3.0


def steps(
    f: Callable[..., Any],
    times: np.ndarray,
    x: np.ndarray,
    h: float,
    rtol: float,
    atol: float,
    jacobian: Callable[..., Any] | None = None,
    watch: Callable[..., float] | None = None,
    longest: float = np.inf,
) -> Iterator[tuple[float, np.ndarray, int, float, float]]:
    """(time, x, steps taken, why this is as far as it goes or 0, last step) for each of the times
    but the first.

    jacobian : function (t, x) -> df/dx; estimated by differences without one
    longest : greatest step
    watch : function (t, x, t1, x1, h, coefficients) -> why it stays before a step; TOO_SMALL says
        that none was made

    Hairer, Wanner, Solving Ordinary Differential Equations II (1996), section IV.8.
    """
    solver = _solver(
        f, times, x, min(h, longest), rtol=rtol, atol=atol, jac=jacobian, max_step=longest
    )
    taken, span = 0, h
    at: Any = None
    for goal in times[1:]:
        while solver.status == "running" and (goal - solver.t) * solver.direction > 0:
            before, x = float(solver.t), solver.y.copy()
            try:
                solver.step()
            except ValueError:  # a Jacobian that is not finite
                solver.status = "failed"
            if solver.status != "failed":
                span = abs(float(solver.t) - before)
                at = solver.dense_output()
                if watch:
                    bent = coefficients(at, solver.y)
                    caught = watch(before, x, float(solver.t), solver.y, span, bent)
                    if caught:
                        yield before, x, taken, caught, span
                        return
                taken += 1
        if solver.status == "failed" and (goal - solver.t) * solver.direction > 0:
            yield float(solver.t), solver.y, taken, TOO_SMALL, span
            return
        yield float(goal), solver.y if goal == solver.t else at(goal), taken, 0.0, span


def _solver(
    f: Callable[..., Any], times: np.ndarray, x: np.ndarray, h: float, **options: Any
) -> Any:
    """SciPy's solver from the first of the times to the last, with a first step h."""
    try:
        from scipy.integrate import Radau
    except ImportError as error:
        raise DalembertError(
            "method 'radau5' needs SciPy: pip install scipy, or take method='dopri5'."
        ) from error
    begin, end = float(times[0]), float(times[-1])
    return Radau(f, begin, x, end, first_step=min(h, abs(end - begin)), **options)


def coefficients(dense: Any, x1: np.ndarray) -> list[np.ndarray]:
    """Bernstein coefficients of SciPy's dense output, a cubic x + Q (s, s^2, s^3), which ends at
    x1.
    """
    x, (first, second, _) = dense.y_old, dense.Q.T
    return [x, x + first / 3, x + 2 / 3 * first + second / 3, x1]


METHOD = External(
    "radau5",
    ORDER,
    steps,
    refuses=dict.fromkeys(
        MET,
        "radau5 is a library's method, whose steps are not brought back to constraints: "
        "give stabilisation='baumgarte' with time_constant=, or 'ggl', or take method='dop853'.",
    ),
)
