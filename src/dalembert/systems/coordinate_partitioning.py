"""Coordinate partitioning: independent velocities, and those that the rows of constraints determine.

Elimination of the rows with pivots by size gives x_d = T r - R x_i for J x = r. Marks (nv,) say
which entries are dependent: 2 by rows of positions, 1 by rows of velocities, 0 none. They hold while
no other choice has pivots HYSTERESIS times as large.

Wehage, Haug, Generalized coordinate partitioning for dimension reduction in analysis of constrained
dynamic systems, J. Mech. Design 104 (1982) 247-255.
"""

from __future__ import annotations

from functools import cached_property, reduce
from typing import Any, NamedTuple

import numpy as np

from dalembert.expr import absolute, known_zero, maximum
from dalembert.integrators.choice import chosen
from dalembert.model.constraint import ConstraintRates
from dalembert.systems.tangent_space import TangentSpace, geometric_response

SWEEPS = 3  # of Newton's iteration for dependent coordinates, from those of the state
HYSTERESIS = 1.2  # of pivots: how much larger those of another choice are when it is taken
FIXED = 1e6  # the same within a step: others are taken only where there is no choice
FLOOR = 1e-9  # of the largest inertia: an entry with less counts as having as much
BY_POSITIONS, BY_VELOCITIES = 2.0, 1.0  # marks of dependent entries

Vector = Any  # (n,) of floats or expressions


class Partition(NamedTuple):
    """Reduced rows of J x = r at a state.

    pivots : 1 at the entry that each row determines (k, nv); 0 in rows that follow from others
    rows : R (k, nv), 0 at these entries
    right : T (k, k)
    """

    pivots: np.ndarray
    rows: np.ndarray
    right: np.ndarray

    def towards(self, residual: Vector) -> Vector:
        """The step (nv,) of dependent entries alone that changes J x by r (k,)."""
        return self.pivots.T @ (self.right @ residual)

    @property
    def dependent(self) -> np.ndarray:
        """1 of the entries that rows determine (nv,)."""
        return self.pivots.sum(axis=0)

    @property
    def tangent_space(self) -> TangentSpace:
        """Motion of the independent entries, with the dependent ones that it brings."""
        free = np.diag(1 - self.dependent)
        return TangentSpace(free - self.pivots.T @ self.rows, np.diag(self.dependent))


def partition(J: np.ndarray, kept: Vector, preference: np.ndarray) -> Partition:
    """Elimination of rows J (k, nv) by Gauss and Jordan; the pivot of a row is its largest entry.

    kept : 1 of rows that do not follow from others (k,)
    preference : factors (k, nv) of entries where pivots are compared
    """
    k, n = J.shape
    left = np.hstack([J, np.eye(k)]).astype(object)
    pivots: list[Any] = []
    free = np.ones(n, dtype=object)
    for i in range(k):
        pivot = kept[i] * _largest(absolute(left[i, :n]) * preference[i] * free)
        size = pivot @ left[i, :n] + (1 - kept[i])
        left[i] = left[i] * (kept[i] / size)
        for j in range(k):
            if j != i:
                left[j] = left[j] - (pivot @ left[j, :n]) * left[i]
        free = free - pivot
        pivots.append(pivot)
    table = np.array(pivots)
    rows = left[:, :n] * free
    if J.dtype != object:
        return Partition(*(part.astype(float) for part in (table, rows, left[:, n:])))
    return Partition(table, rows, left[:, n:])


def _largest(sizes: np.ndarray) -> np.ndarray:
    """1 at the first of the largest entries, else 0 (n,)."""
    greatest = reduce(maximum, [size for size in sizes if not known_zero(size)], 0.0)
    marks: list[Any] = []
    missing: Any = 1.0
    for size in sizes:
        mark = 0.0 if known_zero(size) else chosen(size >= greatest, missing, 0.0)
        missing = missing - mark
        marks.append(mark)
    return np.array(marks, dtype=object)


class CoordinatePartitioning:
    """Rows of constraints by which some entries of a state follow from others.

    rows : `ConstraintSet`
    marks : of dependent entries (nv,)
    """

    def __init__(self, rows: Any, marks: Vector):
        self.rows, self.system = rows, rows.system
        self.marks = np.asarray(marks)

    def chosen(self, q: Vector, qd: Vector, t: Any) -> Vector:
        """Marks at a state (nv,): the same while their pivots are large enough."""
        inertia = np.diag(np.asarray(self.system.mass_matrix(q, t)))
        least = FLOOR * reduce(maximum, inertia)
        scale = np.array([maximum(entry, least) ** -0.5 for entry in inertia])
        found = self._whole(self.rows.rates(q, qd, t), HYSTERESIS, scale)
        mark = np.where(self._is_position, BY_POSITIONS, BY_VELOCITIES)
        return mark @ found.pivots

    def completed(
        self, q: Vector, qd: Vector, t: Any, sweeps: int = SWEEPS
    ) -> tuple[Vector, Vector]:
        """The state that meets the constraints, with the independent entries that there are."""
        rows = self.rows
        if rows.holonomic:
            rates = rows.position_rates(q, qd, t)
            kept = _kept(geometric_response(rows, rates, True))
            preference = self._preference(BY_POSITIONS, FIXED)
            positions = partition(rates.jacobian, kept, np.array([preference] * len(kept)))
            for _ in range(sweeps):
                q = self.system.integrate(q, -positions.towards(rows.position(q, t)))
        rates = rows.rates(q, qd, t)
        whole = self._whole(rates, FIXED)
        qd = qd - whole.towards(rates.velocity)
        return q, qd - whole.towards(rows.rates(q, qd, t).velocity)

    def accelerations(self, force: Vector, q: Vector, qd: Vector, t: Any) -> Vector:
        """qdd (nv,) under Q + tau - bias at a state that is completed.

        Raises
        ------
        SingularMassMatrixError
        """
        rates = self.rows.rates(q, qd, t)
        whole = self._whole(rates, FIXED)
        M = np.asarray(self.system.mass_matrix(q, t))
        particular = whole.towards(rates.bias)
        space = whole.tangent_space
        return space.accelerations(self.system, M, force, particular)

    def along(self, change: Vector, q: Vector, qd: Vector, t: Any) -> Vector:
        """A change of velocities (nv,) whose dependent entries follow from the others."""
        whole = self._whole(self.rows.rates(q, qd, t), FIXED)
        return whole.tangent_space.basis @ change

    def _whole(self, rates: ConstraintRates, held: float, scale: Any = 1.0) -> Partition:
        """Partition by all rows, of which rows of positions come first."""
        order = np.argsort(~self._is_position, kind="stable")
        kept = _kept(geometric_response(self.rows, rates))
        marks = [BY_POSITIONS if row else BY_VELOCITIES for row in self._is_position[order]]
        preference = np.array([self._preference(mark, held) * scale for mark in marks])
        found = partition(rates.jacobian[order], kept[order], preference)
        back = np.argsort(order)
        return Partition(found.pivots[back], found.rows[back], found.right[back][:, back])

    def _preference(self, mark: float, held: float) -> np.ndarray:
        """Factors of entries: more of those that are dependent by rows of a kind (nv,)."""
        return np.array([chosen(entry > mark - 0.5, held, 1.0) for entry in self.marks])

    @cached_property
    def _is_position(self) -> np.ndarray:
        return self.rows.is_position  # type: ignore[no-any-return]


def _kept(response: Any) -> np.ndarray:
    """1 of rows that do not follow from others (k,)."""
    return np.array([chosen(x > 0, 1.0, 0.0) for x in response.mobility.inverse_pivots])
