"""The midpoint rule with a discrete gradient: order 2, symmetric; the energy changes by the power
of the forces alone.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from dalembert.expr import Expr, Graph, absolute, evaluate, gradient, substitute, symbols
from dalembert.expr.scalars import Scalar
from dalembert.integrators.choice import chosen
from dalembert.integrators.fixed_point import FixedPoint, Solver
from dalembert.integrators.method_kinds import (
    CONSTRAINED,
    INPUTS,
    SOLUTION,
    FixedStep,
    Rate,
    Vector,
)

TINY = 1e-300  # a gradient of 0 is no direction


def step(
    f: Rate,
    t: Scalar,
    x: Vector,
    h: Scalar,
    solve: Solver | None = None,
    *,
    energy: Callable[[Any], Any],
    energy_gradient: Callable[[Any], Any],
    resting: bool = False,
    along: Callable[[Any], Any] | None = None,
) -> Vector:
    """x(t + h) = x + d, at whose midpoint m = x + d/2 the discrete gradient meets the slope.

        d = h f(t + h/2, m) - (E(x + d) - E(x) - g.d) g / g.g,   g = dE/dx at m,   so that   E(x + d) - E(x) = h g.f

    g.f is the power of forces that are not in E: 0 of a conservative system, whose energy is then
    kept to rounding.

    resting : entries of f that are 0 leave their entries of x as they are; g is 0 there, which
        changes no power
    along : f -> f, the slope in the directions of quaternions, which leave the unit sphere within
        the step

    Gonzalez, Time integration and discrete Hamiltonian systems, J. Nonlinear Sci. 6 (1996) 449-467.
    """
    f = along(f) if along else f

    def increment(d: Any) -> Any:
        """The step's increment for the increment d."""
        g = energy_gradient(x + d / 2)
        slope = f(t + h / 2, x + d / 2)
        if resting:
            g = np.array([chosen(absolute(k) > 0, gk, 0.0) for k, gk in zip(slope, g, strict=True)])
        excess = energy(x + d) - energy(x) - sum(g * d)
        return h * slope - excess / (sum(g * g) + TINY) * g

    return x + (solve or FixedPoint())(increment, x, lambda d: d)


def gradient_of(energy: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """The gradient of an energy that can be traced, over any scalar."""
    traced: dict[int, tuple[Any, Any]] = {}

    def of(x: Any) -> Any:
        """Gradient of the energy at x."""
        n = len(x)
        if isinstance(x[0], Expr):
            y = symbols("energy at", n, x[0].graph)
            return np.array(
                substitute(gradient(energy(y), y), dict(zip(y, x, strict=True))), dtype=object
            )
        if n not in traced:
            with Graph():
                y = symbols("energy at", n)
                traced[n] = y, gradient(energy(y), y)
        y, g = traced[n]
        return np.asarray(evaluate(g, dict(zip(y, x, strict=True))))

    return of


def needs(
    energy: Any = None,
    energy_gradient: Any = None,
    resting: bool = False,
    along: Any = None,
    **known: Any,
) -> dict[str, Any]:
    """Options of the step; by default the gradient is that of the traced energy.

    Raises
    ------
    ValueError
        There is no energy to keep.
    """
    if energy is None:
        raise ValueError(
            "discrete_gradient must know the energy that it keeps: give energy=, a function of x."
        )
    options = {
        "energy": energy,
        "energy_gradient": energy_gradient or gradient_of(energy),
        "resting": resting,
    }
    return options if along is None else options | {"along": along}


METHOD = FixedStep(
    "discrete_gradient",
    2,
    step,
    memory={SOLUTION: 1},
    needs=needs,
    refuses={
        CONSTRAINED: "discrete_gradient does not know constraints, whose projection would change the "
        "energy that it keeps: take method='rattle', 'rk4' or 'dop853'.",
        INPUTS: "discrete_gradient keeps the energy of one mechanism, without numbers that are "
        "inputs: use "
        "mechanism.replace, or another method.",
    },
)
