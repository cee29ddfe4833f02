"""Symplectic Euler in (q, p): order 1; the energy of a conservative system stays bounded."""

from __future__ import annotations

from typing import Any

import numpy as np

from dalembert.expr.scalars import Scalar
from dalembert.integrators.fixed_point import FixedPoint, Solver
from dalembert.integrators.method_kinds import (
    QUASI_MOMENTA,
    SOLUTION,
    VELOCITIES,
    FixedStep,
    Rate,
    Vector,
)


def step(
    f: Rate, t: Scalar, x: Vector, h: Scalar, solve: Solver | None = None, *, nq: int, nv: int
) -> Vector:
    """x = (q, p, ...), any H(q, p): first the new momenta, from an equation; then everything moves
    at (q, new p).

        p(t + h) = p + h p'(t, q, p(t + h)),   q(t + h) = q + h q'(t, q, p(t + h))

    Hairer, Lubich, Wanner, Geometric Numerical Integration (2006), section VI.3.
    """
    end = nq + nv

    def increment(d: Any) -> Any:
        """The step's increment for the increment d of the momenta."""
        return h * f(t, np.concatenate([x[:nq], x[nq:end] + d[nq:end], x[end:]]))

    return x + (solve or FixedPoint())(increment, x, lambda d: d)


def needs(nq: int | None = None, nv: int | None = None, **known: Any) -> dict[str, Any]:
    """Options of the step: where coordinates end.

    Raises
    ------
    ValueError
        nq is missing.
    """
    if nq is None:
        raise ValueError(
            "symplectic_euler must know where coordinates end and momenta begin: give nq= (and "
            "nv=, if it is another number)."
        )
    return {"nq": nq, "nv": nq if nv is None else nv}


METHOD = FixedStep(
    "symplectic_euler",
    1,
    step,
    memory={SOLUTION: 1},
    needs=needs,
    refuses={
        VELOCITIES: "symplectic_euler is symplectic in (q, p) alone, not in the (q, qd) of "
        "{formulation!r}: take "
        "formulation='hamilton', in which Coulomb friction does not stick and nothing stops; or "
        "method='semi_implicit_euler', which bounds no energy.",
        QUASI_MOMENTA: "symplectic_euler is symplectic in canonical momenta, which spherical and "
        "free joints ({joints}) have not: take "
        "method='implicit_midpoint' with formulation='hamilton', which keep the energy of a free "
        "body.",
    },
)
