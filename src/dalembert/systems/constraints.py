"""Constraints on the motion of a system: rows phi(q, t) = 0, or psi(q, qd, t) = 0 alone."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

import numpy as np

from dalembert.errors import ShapeError
from dalembert.expr import (
    Expr,
    Graph,
    array,
    derivative,
    evaluate,
    jacobian,
    known_zero,
    substitute,
    symbols,
)

__all__ = ["Constraint", "Holonomic", "Velocity"]


class Moving(Protocol):
    """A system whose coordinates move along its velocities."""

    @property
    def nq(self) -> int:
        """Number of coordinates."""

    @property
    def nv(self) -> int:
        """Number of velocities."""

    def rate(self, q: Any, qd: Any) -> Any:
        """Rates of the coordinates (nq,)."""


class ConstraintRates(NamedTuple):
    """Rows of a constraint on velocities and accelerations at a state.

    velocity : (k,) J qd + phi_t, or psi: 0 where the constraint holds
    jacobian : J (k, nv), the derivative of the velocity by qd
    bias : (k,) J qdd = bias on accelerations
    leftover : (k,) velocity - J qd: 0 of constraints whose forces do no work
    """

    velocity: np.ndarray
    jacobian: np.ndarray
    bias: np.ndarray
    leftover: np.ndarray


class Constraint(ABC):
    """Rows that the motion of a system keeps at 0, of one state of floats or expressions.

    Attributes
    ----------
    name : str
    unit : of the rows; of the multipliers it is the unit of energy over it
    is_holonomic : whether there is a `position`
    """

    name: str
    unit: str = ""
    is_holonomic: bool = True

    def position(self, q: Any, t: Any = 0.0) -> Any:
        """phi (k,); none of a constraint on velocities alone."""
        return np.zeros(0)

    @abstractmethod
    def rates(self, system: Moving, q: Any, qd: Any, t: Any = 0.0) -> ConstraintRates:
        """Rows on velocities and accelerations."""


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

    def position(self, q: Any, t: Any = 0.0) -> Any:
        """phi(q, t) (k,)."""
        return _rows(self.name, self.phi(q, t))

    def rates(self, system: Moving, q: Any, qd: Any, t: Any = 0.0) -> ConstraintRates:
        """Rates of phi: J qd + dphi/dt, with its derivatives."""

        def velocity(q: Any, qd: Any, t: Any) -> Any:
            """dphi/dt along the motion."""
            phi = self.position(q, t)
            rates = array([derivative(row, t) for row in phi])
            return jacobian(phi, q) @ np.asarray(system.rate(q, qd)) + rates

        return _rates_of(velocity, system, q, qd, t)


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
    is_holonomic = False

    def rates(self, system: Moving, q: Any, qd: Any, t: Any = 0.0) -> ConstraintRates:
        """psi(q, qd, t) with its derivatives."""
        return _rates_of(lambda *state: _rows(self.name, self.psi(*state)), system, q, qd, t)


def _rates_of(
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
        put = substitute if graph is not None else evaluate
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
