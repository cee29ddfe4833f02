"""Minimal form of equations with constraints: motion by independent velocities alone."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from dalembert.analysis.elimination import dependent_columns, independent_rows
from dalembert.analysis.states import checked_state, numeric_system
from dalembert.errors import ConstraintError, UnknownNameError
from dalembert.model.numbers import several
from dalembert.spatial.arrays import Array
from dalembert.systems.constraint_set import ConstraintSet


class IndependentEntries:
    """Entries of qd that determine the others at a state, and the rows that do so.

    rows : indices of independent rows
    dependent, free : entries of qd
    """

    def __init__(self, J: np.ndarray, scale: np.ndarray, wanted: Sequence[int] = ()):
        self.rows = independent_rows(J)
        self.dependent = sorted(dependent_columns(J[self.rows], scale, wanted))
        self.free = [k for k in range(J.shape[1]) if k not in self.dependent]
        self._own = J[np.ix_(self.rows, self.dependent)]
        self._others = J[np.ix_(self.rows, self.free)]

    @property
    def basis(self) -> np.ndarray:
        """B (nv, d): qd = B v of the free entries v."""
        B = np.zeros((len(self.dependent) + len(self.free), len(self.free)))
        B[self.free] = np.eye(len(self.free))
        B[self.dependent] = -np.linalg.solve(self._own, self._others)
        return B

    def particular(self, right: np.ndarray) -> np.ndarray:
        """Solution (nv, ...) of J x = right (k, ...) whose free entries are 0."""
        x = np.zeros((len(self.dependent) + len(self.free), *right.shape[1:]))
        x[self.dependent] = np.linalg.solve(self._own, right[self.rows])
        return x


@dataclass(frozen=True)
class MinimalForm:
    """Equations of motion of independent velocities v; it unpacks into B, M, bias.

        M v' + bias = B^T tau,    qd = B v + b,    qdd = B v' + drift

    B : (nv, d) array, columns: motion for a unit of each independent velocity
    M : (d, d) array, mass matrix [kg m^2, kg m, kg]
    bias : (d,) array, all other forces but B^T tau [N m, N]
    b, drift : (nv,) arrays, motion that constraints of time impose by themselves [rad/s, m/s;
        rad/s^2, m/s^2]
    independent : names of the entries of qd that v are

    Examples
    --------
    >>> import dalembert as da
    >>> pin = da.constraints.Closure("pin", da.Spherical(), "tip", ("base", (1.2, 0, 0)))
    >>> triangle = da.planar_chain(3).constrained(pin)
    >>> q = da.assemble(triangle, [0.5, -0.2, -2.5])
    >>> da.minimal_form(triangle, q, [0.0, 0.0, 0.0]).B.shape
    (3, 1)
    """

    B: Array
    M: Array
    bias: Array
    b: Array
    drift: Array
    independent: tuple[str, ...]

    def __iter__(self) -> Iterator[Array]:
        return iter((self.B, self.M, self.bias))


def entries_of(system: Any, names: Sequence[str]) -> list[int]:
    """Entries of qd of joints or of velocities, by name.

    Raises
    ------
    UnknownNameError
    """
    found: list[int] = []
    for name in several(names, "names of joints", "a list, as ['crank']"):
        if name in system.velocity_names:
            found.append(system.velocity_names.index(name))
            continue
        entries = getattr(system.mechanism, "entries", {})
        if name not in entries:
            raise UnknownNameError(
                "joint", name, (*dict.fromkeys((*system.velocity_names, *entries)),)
            )
        found += entries[name].at_v
    return found


def inertia_scale(M: np.ndarray) -> np.ndarray:
    """Roots of the diagonal of M (nv,); 1 of entries without inertia."""
    diagonal = np.diag(M)
    return np.sqrt(np.where(diagonal > 0, diagonal, 1.0))  # type: ignore[no-any-return]


def independent_entries(
    system: Any, J: np.ndarray, M: np.ndarray, wanted: Sequence[int] = ()
) -> IndependentEntries:
    """Independent entries of rows J (k, nv), wanted ones among them.

    Raises
    ------
    ConstraintError
        The wanted entries do not determine the others, or depend on each other.
    """
    chosen = IndependentEntries(J, inertia_scale(M), wanted)
    if wanted and sorted(wanted) != chosen.free:
        names = ", ".join(system.velocity_names[k] for k in wanted)
        own = ", ".join(system.velocity_names[k] for k in chosen.free) or "none"
        raise ConstraintError(
            f"{names} of {system.name!r} are no independent velocities at this state: it has "
            f"{len(chosen.free)} freedoms, with the rank {len(chosen.rows)} of {len(J)} rows; "
            f"independent are, for example, {own}.",
            rank=len(chosen.rows),
        )
    return chosen


def minimal_form(
    mechanism: Any, q: Any, qd: Any, t: float = 0.0, independent: Sequence[str] = ()
) -> MinimalForm:
    """Equations of motion of independent velocities, without multipliers (null space of the rows).

        M v' + bias = B^T tau,    qd = B v + b

    B^T J^T = 0, so that B^T (M_tree qdd + bias_tree - tau) = 0 has no multipliers.

    Parameters
    ----------
    mechanism : Mechanism, LagrangianSystem or System
        With constraints; redundant rows are left out, and servo constraints, which tau keeps.
    q : (nq,) array
        Coordinates [rad; m for prismatic joints; unit quaternions].
    qd : (nv,) array
        Velocities [rad/s, m/s].
    t : float
        Time [s].
    independent : sequence of str, optional
        Names of joints or velocities that v is to be; by default those that the rows determine
        worst, in the scale of their inertias: `independent` of the result names them.

    Returns
    -------
    MinimalForm
        B (nv, d), M (d, d), bias (d,), into which it unpacks; b, drift (nv,), independent.

    Raises
    ------
    ShapeError, ValueError, QuaternionError
        A vector has the wrong length or an entry that is not finite; a quaternion is not of unit
        length.
    ConstraintError, UnknownNameError
        The velocities of `independent` do not determine the others; there is none of a name.

    References
    ----------
    Garcia de Jalon, Bayo, Kinematic and Dynamic Simulation of Multibody Systems (1994), section 5.2.

    Examples
    --------
    >>> import dalembert as da
    >>> pin = da.constraints.Closure("pin", da.Spherical(), "tip", ("base", (1.2, 0, 0)))
    >>> triangle = da.planar_chain(3).constrained(pin)
    >>> q = da.assemble(triangle, [0.5, -0.2, -2.5])
    >>> B, M, bias = da.minimal_form(triangle, q, [0.0, 0.0, 0.0], independent=["q1"])
    >>> M.shape
    (1, 1)
    """
    system = numeric_system(mechanism, "has no equations of motion")
    q, qd = checked_state(system, q, qd)
    M = np.asarray(system.mass_matrix(q, t), dtype=float)
    principles = ConstraintSet(system).principles
    principles.check_along_rows("minimal form", actuators_too=True)
    rows = principles.rows.rates(q, qd, t)
    chosen = independent_entries(system, rows.jacobian, M, entries_of(system, independent))
    B, b, drift = chosen.basis, chosen.particular(-rows.leftover), chosen.particular(rows.bias)
    bias = B.T @ system.required_force(q, qd, drift, t)
    names = tuple(system.velocity_names[k] for k in chosen.free)
    return MinimalForm(B, B.T @ M @ B, bias, b, drift, names)
