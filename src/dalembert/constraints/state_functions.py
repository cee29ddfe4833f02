"""Constraints that functions of a user's own state."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from dalembert.arguments import refused
from dalembert.constraints.evaluated import evaluated
from dalembert.errors import ConstraintError, DalembertError, ShapeError
from dalembert.expr import array, derivative, jacobian, known_zero
from dalembert.model.constraint import Constraint, ConstraintRates, Moving, ProgramConstraint
from dalembert.model.content import content
from dalembert.model.origins import NOWHERE, Source
from dalembert.purity.examine import check_arguments


@dataclass(frozen=True)
class Holonomic(Constraint):
    """phi(q, t) = 0: a function of coordinates and time that gives its rows.

    Derivatives are those of its expressions. One-sided, it is phi >= 0: a contact without friction,
    which opens, closes without rebound, and pushes with a multiplier of 0 or more (Gauss's least
    constraint).

    Examples
    --------
    >>> import dalembert as da
    >>> da.constraints.Holonomic("rod", lambda q, t: [q[0] * q[0] + q[1] * q[1] - 1.0], "m^2").name
    'rod'
    """

    name: str
    phi: Callable[..., Sequence[Any]]
    unit: str = ""
    one_sided: bool = False
    source: Source = field(default=NOWHERE, compare=False)

    def __post_init__(self) -> None:
        _check_function(f"phi of constraint {self.name!r}", self.phi, ("q", "t"))

    def identity(self) -> str | None:
        """Name and function as text; None if that cannot be told."""
        return content((self.name, self.phi, self.one_sided))

    def position(self, system: Moving, q: Any, t: Any = 0.0) -> Any:
        """phi(q, t) (k,)."""
        return _rows(self.name, self.phi, np.asarray(q), t)

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

    def __post_init__(self) -> None:
        _check_function(f"psi of constraint {self.name!r}", self.psi, ("q", "qd", "t"))

    def identity(self) -> str | None:
        """Name and function as text; None if that cannot be told."""
        return content((self.name, self.psi))

    def rates(self, system: Moving, q: Any, qd: Any, t: Any = 0.0) -> ConstraintRates:
        """psi(q, qd, t) with its derivatives."""

        def velocity(q: Any, qd: Any, t: Any) -> Any:
            """psi at a state."""
            psi = _rows(self.name, self.psi, q, qd, t)
            _check_velocities(self.name, psi, qd)
            return psi

        return rates_of(velocity, system, q, qd, t)


def functions_of(constraint: Constraint, system: Moving) -> tuple[Constraint, ...]:
    """The constraint on a system as constraints that functions of the state give: rows that have a
    position, then the others.

    Raises
    ------
    DalembertError
        It is a program, with states of its own.
    """
    if isinstance(constraint, (Holonomic, Velocity)):
        return (constraint,)
    if isinstance(constraint, ProgramConstraint):
        raise DalembertError(
            f"constraint {constraint.name!r} of {system.name!r} has a program with states of its "
            "own, which no Lagrangian has: closed forms are those of the system without it."
        )
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

    def rows(q: Any, qd: Any, time: Any) -> tuple[Any, ...]:
        """Fields of the rows on symbols."""
        psi = velocity(q, qd, time[0])
        J = jacobian(psi, qd)
        along = jacobian(psi, q) @ np.asarray(system.rate(q, qd))
        bias = -(along + array([derivative(row, time[0]) for row in psi]))
        return psi, J, bias, psi - J @ qd

    return ConstraintRates(*evaluated(rows, "constrained", q, qd, [t]))


def does_work(rates: ConstraintRates) -> bool:
    """Whether forces of these rows may do work: it is not known to be 0."""
    return not all(known_zero(x) for x in rates.leftover.flat)


def _check_function(what: str, function: Any, expected: Sequence[str]) -> None:
    """See that a constraint has a function of some arguments."""
    if not callable(function):
        raise refused(what, function, f"a function of ({', '.join(expected)})")
    check_arguments(function, what, expected)


def _check_velocities(name: str, psi: np.ndarray, qd: Any) -> None:
    """See that each row that is not 0 has velocities: no force along psi_qd keeps another."""
    J = jacobian(psi, qd)
    for k, row in enumerate(psi):
        if not known_zero(row) and all(known_zero(x) for x in J[k]):
            raise ConstraintError(
                f"row {k} of constraint {name!r} does not depend on velocities, so that it holds "
                "none: take da.constraints.Holonomic for phi(q, t) = 0.",
                name,
            )


def _rows(name: str, function: Callable[..., Any], *state: Any) -> np.ndarray:
    """Rows (k,) that a function gives, or one number for a row."""
    try:
        values = function(*state)
    except (ArithmeticError, IndexError, ValueError) as error:
        said = str(error).rstrip(".")
        raise ConstraintError(
            f"the function of constraint {name!r} has no value at a state: {said}.", name
        ) from error
    try:
        rows = np.atleast_1d(array(values))
    except TypeError:  # not an expression
        what = f"the result of the function of constraint {name!r}"
        raise refused(what, values, "its rows (k,), numbers or expressions") from None
    if rows.ndim != 1 or not rows.size:
        raise ShapeError(
            f"the function of constraint {name!r} gives shape {rows.shape}, expected rows (k,).",
            name,
            rows.shape,
        )
    return rows
