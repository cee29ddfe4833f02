"""Semi-implicit Euler in (q, qd): order 1; symplectic only where the mass matrix is constant."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from dalembert.integrators.kinds import MOMENTA, Fixed


def step(
    f: Any, t: Any, x: Any, h: Any, *, nq: int, nv: int, move: Callable[[Any, Any], Any]
) -> Any:
    """x = (q, qd, ...): first the velocities and all that follows them, then q along the new
    velocities.

        qd(t + h) = qd + h qdd(t, q, qd),   q(t + h) = move(q, h qd(t + h))

    Velocities are no momenta: where M depends on q, or bodies turn freely, the energy is not
    bounded.

    Hairer, Lubich, Wanner, Geometric Numerical Integration (2006), section I.1.2.
    """
    rest = x[nq:] + h * f(t, x)[nq:]
    return np.concatenate([move(x[:nq], h * rest[:nv]), rest])


def needs(
    nq: int | None = None, nv: int | None = None, move: Any = None, **known: Any
) -> dict[str, Any]:
    """Options of the step: where coordinates end, and how they move along velocities; by default q
    + step.

    Raises
    ------
    ValueError
        nq is missing; there are other velocities than coordinates, and no `move`.
    """
    if nq is None:
        raise ValueError(
            "semi_implicit_euler must know where coordinates end and velocities begin: give nq= "
            "(and nv=, if it is another number)."
        )
    if move is None and nv not in (None, nq):
        raise ValueError(
            f"semi_implicit_euler with {nq} coordinates and {nv} velocities: give move=, as q + "
            "step has no meaning."
        )
    return {"nq": nq, "nv": nq if nv is None else nv, "move": move or _added}


def _added(q: Any, step: Any) -> Any:
    return q + step


METHOD = Fixed(
    "semi_implicit_euler",
    1,
    step,
    needs=needs,
    refuses={
        MOMENTA: "semi_implicit_euler steps velocities, which a state (q, p) has not: take "
        "method='symplectic_euler', "
        "or a formulation in (q, qd)."
    },
)
