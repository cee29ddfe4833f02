"""Motion that forces of constraints cause at a state, without rows that follow from others."""

from __future__ import annotations

from collections.abc import (
    Callable,
    Mapping,
    Sequence,
)
from functools import reduce
from operator import add
from typing import Any, NamedTuple

import numpy as np

from dalembert.expr import (
    maximum,
    minimum,
    sqrt,
)
from dalembert.integrators.choice import chosen
from dalembert.model.constraint import ConstraintRates
from dalembert.spatial.ldl import Factors
from dalembert.spatial.sparse_ldl import (
    SparseFactors,
    dot,
    eliminated,
    entries_of,
    gram,
    held_by_count,
)

# of the size of a row's inverse inertia: what other rows leave of it is rounding
DEPENDENT = 1e-11
# the same of loops with as many rows as coordinates, which move because rows follow from others where
# these are met; stages of steps lie off the constraints by up to 3e-4 and leave the square of that
OVERCONSTRAINED = 1e-7
# of inverse inertias in other units: moments of bodies of 1 mm to 1 km stay above it
ACROSS_UNITS = 1e-6
TAKES_PART = 1e-6  # of the largest share in a dependency of rows: less is rounding

Vector = Any  # (n,) of floats or expressions


class Response(NamedTuple):
    """Motion that forces of constraints cause at a state.

    rows : of velocities and accelerations at that state
    inertia : factors L D L^T of M
    columns : rows of J L^-T by their entries
    mobility : factors of J M^-1 J^T, without the rows that follow from others
    scales : usual size of the rows of J M^-1 J^T
    alike : constraint and unit of each row; rows of both have a size in common
    """

    rows: ConstraintRates
    inertia: SparseFactors
    columns: list[dict[int, Any]]
    mobility: SparseFactors
    scales: list[Any]
    alike: Sequence[tuple[str, str]]

    @classmethod
    def of(
        cls,
        inertia: SparseFactors | Factors,
        rows: ConstraintRates,
        alike: Sequence[tuple[str, str]],
    ) -> Response:
        """Motion that forces along rows cause.

        alike : constraint and unit of each row; rows of both have a size in common
        """
        if isinstance(inertia, Factors):
            inertia = SparseFactors.of(inertia)
        entries = [entries_of(row) for row in rows.jacobian]
        columns = [inertia.inward(row) for row in entries]
        mobility = inertia.gram(columns)
        own = [row.get(k, 0.0) for k, row in enumerate(mobility)]
        scales = _sizes(own, alike, maximum)
        dependent = _tolerances(entries)

        def inverse(k: int, pivot: Any) -> Any:
            """1 / pivot, or 0 of a row of which others leave only rounding."""
            return _inverse(pivot, dependent[k] * scales[k])

        return cls(rows, inertia, columns, eliminated(mobility, inverse), scales, alike)

    def towards(self, residual: Vector) -> Vector:
        """The step (nv,) of least kinetic energy that changes J qd by the residual (k,)."""
        return self.along(self.multipliers(residual))

    def multipliers(self, residual: Vector) -> Vector:
        """lambda (k,) with J M^-1 J^T lambda = r; 0 for rows that follow from others."""
        return np.array(self.inertia.held(self.mobility.solved(list(residual))))

    @property
    def margin(self) -> Any:
        """1 where rows that do not follow from others are independent, falling to 0 where one comes
        to depend on them: least root of the product of the pivots of J M^-1 J^T of rows that are
        alike, relative to their size. It is the same for any axes of these rows.
        """
        products: dict[Any, Any] = {}
        pivots = zip(self.alike, self.mobility.inverse_pivots, self.scales, strict=True)
        for key, inverse, scale in pivots:
            relative = maximum(inverse * scale, 1.0)
            products[key] = products.get(key, 1.0) * relative
        greatest = reduce(maximum, products.values(), 1.0)
        return 1 / sqrt(greatest)

    def along(self, multipliers: Sequence[Any], forces: Sequence[Any] = ()) -> Vector:
        """M^-1 (J^T lambda + Q) (nv,), of forces L^-1 Q."""
        pushed = list(forces) or [0.0] * len(self.inertia.order)
        for row, multiplier in zip(self.columns, multipliers, strict=True):
            for entry, x in row.items():
                pushed[entry] = pushed[entry] + x * multiplier
        return np.array(self.inertia.outward(self.inertia.scaled(pushed)))

    def accelerated(self, forces: Sequence[Any]) -> Vector:
        """J M^-1 Q (k,), of forces L^-1 Q."""
        return np.array(self.inertia.products(self.columns, self.inertia.scaled(forces)))

    def rates(self, motion: Vector) -> Vector:
        """J v (k,) of a change of the state along velocities."""
        rows = [entries_of(row) for row in self.rows.jacobian]
        return np.array(self.inertia.products(rows, list(motion)))

    @property
    def directions(self) -> np.ndarray:
        """M^-1 J^T (nv, k)."""
        units = np.eye(len(self.columns))
        rows = [self.along(row) for row in units.tolist()]
        return np.array(rows).T

    def least(self, multipliers: Sequence[Any], axes: Sequence[tuple[str, str]]) -> list[Any]:
        """The multipliers with the least sum of (s lambda)^2 that push alike, where s^2 is the sum of
        the rows' own inverse inertias over rows of the same axes: the same forces however rows are
        scaled or signed, and constraints on points in whatever axes.

        J^T lambda stays as it is where lambda changes by a vector that J M^-1 J^T = L D L^T does not
        feel. The least s lambda is in the span of the columns of s^-1 L that have pivots.

        axes : constraint and unit of each row; rows of both are components in some axes
        """
        inverses = self.mobility.inverse_pivots
        own = [
            sum(x * x * self.inertia.inverse_pivots[k] for k, x in column.items())
            for column in self.columns
        ]
        sizes = [sqrt(chosen(x > 0, x, 1.0)) for x in _sizes(own, axes, add)]
        kept = [chosen(x > 0, 1.0, 0.0) for x in inverses]
        spanning: list[dict[int, Any]] = [{} for _ in kept]  # rows of s^-1 L, by column
        for k, column in enumerate(self.mobility.columns):
            spanning[k][k] = kept[k] / sizes[k]
            for i, x in column:
                spanning[i][k] = x / sizes[i]
        columns = _transposed(spanning)
        products = gram(columns)
        for k, row in enumerate(products):
            row[k] = row[k] + 1 - kept[k]
        scaled = [s * multiplier for s, multiplier in zip(sizes, multipliers, strict=True)]
        along = [dot(column, scaled) for column in columns]
        factors = eliminated(products, lambda k, pivot: 1 / pivot)
        parts = factors.solved(along)
        every = reduce(minimum, kept, 1.0) > 0
        least = []
        for row, multiplier, s in zip(spanning, multipliers, sizes, strict=True):
            shared = dot(row, parts) / s
            least.append(chosen(every, multiplier, shared))
        return least

    @property
    def dependent(self) -> list[int]:
        """Numbers of the rows, at a state of floats, that follow from others or from which others
        follow: their multipliers are not unique.
        """
        found: set[int] = set()
        sizes = np.sqrt(np.asarray(self.scales, dtype=float))
        for k in np.flatnonzero(np.asarray(self.mobility.inverse_pivots) == 0):
            unit = np.eye(len(sizes))[k]
            shares = sizes * np.abs(self.mobility.outward(unit.tolist()))
            found |= {int(k), *np.flatnonzero(shares > TAKES_PART * shares.max()).tolist()}
        return sorted(found)


class RowSolver(NamedTuple):
    """Accelerations at a state, as functions of the applied forces.

    judge : `ConstraintSet` that finds accelerations which rows contradict
    bias : of J qdd = bias (k,)
    share : s of each row of an inertia M + s J^T J (k,); None: it is M
    """

    judge: Any
    response: Response
    bias: Vector
    share: Vector | None = None

    @property
    def rows(self) -> ConstraintRates:
        """Rows at that state."""
        return self.response.rows

    def accelerations(self, force: Vector) -> tuple[Vector, Vector]:
        """qdd (nv,) and multipliers (k,) under Q + tau - bias."""
        qdd, multipliers = self._solved(force, self.bias)
        self.judge.check_accelerations(self.rows, self.bias, qdd)
        return qdd, multipliers

    def response_to(self, force: Vector) -> Vector:
        """Change of qdd (nv,) by a force."""
        return self._solved(force, 0 * self.bias)[0]

    def _solved(self, force: Vector, bias: Vector) -> tuple[Vector, Vector]:
        pushed = self.response.inertia.reduced(list(force))
        missing = bias - self.response.accelerated(pushed)
        multipliers = self.response.multipliers(missing)
        qdd = self.response.along(multipliers, pushed)
        if self.share is not None:
            multipliers = multipliers - self.share * bias
        return qdd, multipliers


def _transposed(rows: Sequence[Mapping[int, Any]]) -> list[dict[int, Any]]:
    columns: list[dict[int, Any]] = [{} for _ in rows]
    for k, row in enumerate(rows):
        for entry, x in row.items():
            columns[entry][k] = x
    return columns


def _tolerances(rows: Sequence[Mapping[int, Any]]) -> list[float]:
    """Rounding of each row that follows from others, relative to its size: more where some of them
    are as many as their coordinates, whatever these are linked to.
    """
    without_freedom = held_by_count(rows)
    return [OVERCONSTRAINED if k in without_freedom else DEPENDENT for k in range(len(rows))]


def _sizes(
    own: Sequence[Any], alike: Sequence[tuple[str, str]], joined: Callable[[Any, Any], Any]
) -> list[Any]:
    """Usual size of each row: the sizes of its constraint in its unit `joined`, and at least some of
    those in other units, so that rows which are all rounding do not stand for themselves.
    """
    of_unit = _joined(own, alike, joined)
    constraints = [constraint for constraint, _ in alike]
    if len({*alike}) == len({*constraints}):
        return of_unit
    of_constraint = _joined(own, constraints, joined)
    return [
        maximum(size, ACROSS_UNITS * other)
        for size, other in zip(of_unit, of_constraint, strict=True)
    ]


def _joined(
    values: Sequence[Any], keys: Sequence[Any], joined: Callable[[Any, Any], Any]
) -> list[Any]:
    """All values with the same key, joined, for each value."""
    found: dict[Any, Any] = {}
    for value, key in zip(values, keys, strict=True):
        found[key] = joined(found[key], value) if key in found else value
    return [found[key] for key in keys]


def _inverse(pivot: Any, rounding: Any) -> Any:
    """1 / pivot, or 0 where it is no more than rounding."""
    above = pivot > rounding
    if isinstance(above, (bool, np.bool_)):
        return 1 / pivot if above else 0.0
    with np.errstate(divide="ignore"):
        return chosen(above, 1 / pivot, 0.0)
