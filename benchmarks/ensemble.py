"""A step of an ensemble of simulations, as a user of this package writes it: plain Python, traced
into one kernel.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import dalembert as da
from robots import STEP_SIZE, mechanism


@cache
def rk4_step(name: str) -> Any:
    """(q, qd, tau) -> (q, qd) after a step of the classical Runge-Kutta method; velocities are the
    rates of q.
    """
    arm, h = mechanism(name), STEP_SIZE

    def rk4_step(q, qd, tau):
        a1 = da.forward_dynamics(arm, q, qd, tau)
        v2 = qd + h / 2 * a1
        a2 = da.forward_dynamics(arm, q + h / 2 * qd, v2, tau)
        v3 = qd + h / 2 * a2
        a3 = da.forward_dynamics(arm, q + h / 2 * v2, v3, tau)
        v4 = qd + h * a3
        a4 = da.forward_dynamics(arm, q + h * v3, v4, tau)
        return q + h / 6 * (qd + 2 * v2 + 2 * v3 + v4), qd + h / 6 * (a1 + 2 * a2 + 2 * a3 + a4)

    return da.function(rk4_step, q=(arm.nq,), qd=(arm.nv,), tau=(arm.nv,))
