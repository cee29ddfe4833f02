"""Constraints that functions of a user's own state."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from dalembert.errors import ShapeError
from dalembert.expr import (
    Expr,
    Graph,
    array,
    derivative,
    evaluate,
    free_symbols,
    jacobian,
    known_zero,
    substitute,
    symbols,
)
from dalembert.model.constraint import Constraint, ConstraintRates, Moving
from dalembert.model.content import content
from dalembert.model.parts import NOWHERE, Source


@dataclass(frozen=True)
class Holonomic(Constraint):
    """phi(q, t) = 0: a function of coordinates and time that gives its rows.

    Derivatives are those of its expressions.

    Examples
    --------
    >>> import dalembert as da
    >>> da.constraints.Holonomic("rod", lambda q, t: [q[0] * q[0] + q[1] * q[1] - 1.0], "m^2").name
    'rod'
    """

    name: str
    phi: Callable[..., Sequence[Any]]
    unit: str = ""
    source: Source = field(default=NOWHERE, compare=False)

    def identity(self) -> str | None:
        """Name and function as text; None if that cannot be told."""
        return content((self.name, self.phi))

    def position(self, system: Moving, q: Any, t: Any = 0.0) -> Any:
        """phi(q, t) (k,)."""
        return _rows(self.name, self.phi(np.asarray(q), t))

    def rates(self, system: Moving, q: Any, qd: Any, t: Any = 0.0) -> ConstraintRates:
        """Rates of phi: J qd + dphi/dt, with its derivatives."""

        def velocity(q: Any, qd: Any, t: Any) -> Any:
            """dphi/dt along the motion."""
            phi = self.position(system, q, t)
            rates = array([derivative(row, t) for row in phi])
            return jacobian(phi, q) @ np.asarray(system.rate(q, qd)) + rates

        return rates_of(velocity, system, q, qd, t)


@dataclass(frozen=True)
class Velocity(Constraint):
    """psi(q, qd, t) = 0: a function of the state that gives its rows, as of a body that rolls.

    Forces act along the derivative of psi by qd (d'Alembert-Chetaev).

    Examples
    --------
    >>> import dalembert as da
    >>> knife = da.constraints.Velocity("knife", lambda q, qd, t: [da.sin(q[2]) * qd[0] - da.cos(q[2]) * qd[1]])
    >>> knife.is_holonomic
    False
    """

    name: str
    psi: Callable[..., Sequence[Any]]
    unit: str = ""
    source: Source = field(default=NOWHERE, compare=False)
    is_holonomic = False

    def identity(self) -> str | None:
        """Name and function as text; None if that cannot be told."""
        return content((self.name, self.psi))

    def rates(self, system: Moving, q: Any, qd: Any, t: Any = 0.0) -> ConstraintRates:
        """psi(q, qd, t) with its derivatives."""

        def velocity(q: Any, qd: Any, t: Any) -> Any:
            """psi at a state."""
            return _rows(self.name, self.psi(q, qd, t))

        return rates_of(velocity, system, q, qd, t)


def functions_of(constraint: Constraint, system: Moving) -> tuple[Constraint, ...]:
    """The constraint on a system as constraints that functions of the state give: rows that have a
    position, then the others.
    """
    if isinstance(constraint, (Holonomic, Velocity)):
        return (constraint,)
    found: list[Constraint] = []
    if constraint.has_position:

        def phi(q: Any, t: Any) -> Any:
            """Rows that have a position."""
            return constraint.position(system, q, t)

        name = constraint.name if constraint.is_holonomic else f"{constraint.name} position"
        found.append(Holonomic(name, phi, constraint.unit))
    if not constraint.is_holonomic:

        def psi(q: Any, qd: Any, t: Any) -> Any:
            """Rows on velocities alone."""
            return constraint.rates(system, q, qd, t).velocity[constraint.position_count :]

        found.append(Velocity(constraint.name, psi, constraint.unit))
    return tuple(found)


def rates_of(
    velocity: Callable[..., Any], system: Moving, q: Any, qd: Any, t: Any
) -> ConstraintRates:
    """The rows of a velocity psi(q, qd, t) with their derivatives.

    d psi/dt = J qdd + psi_q q' + psi_t = 0
    """
    given = [*q, *qd, t]
    graph = next((x.graph for x in given if isinstance(x, Expr)), None)
    with nullcontext() if graph is not None else Graph() as own:
        names = [f"constrained {name}" for name in ("q", "qd", "t")]
        sizes = (system.nq, system.nv, 1)
        at_q, at_qd, (at_t,) = (
            np.array(symbols(name, n, graph or own), dtype=object)
            for name, n in zip(names, sizes, strict=True)
        )
        psi = velocity(at_q, at_qd, at_t)
        J = jacobian(psi, at_qd)
        along = jacobian(psi, at_q) @ np.asarray(system.rate(at_q, at_qd))
        bias = -(along + array([derivative(row, at_t) for row in psi]))
        rows = ConstraintRates(psi, J, bias, psi - J @ at_qd)
        values = dict(zip([*at_q, *at_qd, at_t], given, strict=True))
        known = {x.name for x in (*at_q, *at_qd, at_t)}
        is_open = any(s.name not in known for s in free_symbols(psi))  # parameters without values
        put = substitute if graph is not None or is_open else evaluate
        return ConstraintRates(*(np.asarray(put(part, values)) for part in rows))


def does_work(rates: ConstraintRates) -> bool:
    """Whether forces of these rows may do work: it is not known to be 0."""
    return not all(known_zero(x) for x in rates.leftover.flat)


def _rows(name: str, values: Any) -> np.ndarray:
    """Rows (k,) that a function gave, or one number for a row."""
    rows = np.atleast_1d(array(values))
    if rows.ndim != 1 or not rows.size:
        raise ShapeError(
            f"the function of constraint {name!r} gives shape {rows.shape}, expected rows (k,).",
            name,
            rows.shape,
        )
    return rows
