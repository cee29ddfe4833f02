"""Motion along constraints without multipliers: minimal equations in the null space of the rows.

qdd = B v' + c,    J B = 0,    J c = k
B^T M B v' = B^T (Q + tau - bias - M c)

B has a column for each velocity, of which some may be 0 or depend on others, so that the rank of J
may be any.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from dalembert.expr import Expr
from dalembert.formulations.lagrange.regular import singular
from dalembert.model.constraint import ConstraintRates
from dalembert.spatial.ldl import factorised, solved
from dalembert.spatial.sparse_ldl import SparseFactors
from dalembert.systems.constraint_response import Response

ROUNDING = 1e-13  # of an inertia: what elimination leaves of one that is 0

Vector = Any  # (n,) of floats or expressions


class TangentSpace(NamedTuple):
    """Directions of motion along the constraints at a state.

    basis : B (nv, nv), whose columns span them
    across : inertia (nv, nv) of the combinations of columns that are no motion
    """

    basis: np.ndarray
    across: np.ndarray

    def accelerations(self, system: Any, M: Vector, force: Vector, particular: Vector) -> Vector:
        """qdd (nv,) under Q + tau - bias, from one solution c of J c = k.

        Raises
        ------
        SingularMassMatrixError
            A motion along the constraints has no inertia; not looked at on expressions.
        """
        B = self.basis
        inertia = B.T @ M @ B + self.across

        def check(k: int, pivot: Any) -> None:
            """See that a pivot is no rounding."""
            if isinstance(pivot, Expr):
                return
            if not pivot > ROUNDING * inertia[k, k]:
                raise singular(system.name, system.velocity_names, k, float(pivot), None)

        factors = factorised(inertia.tolist(), check)
        rates = solved(factors, list(B.T @ (force - M @ particular)))
        return particular + B @ np.array(rates)


def geometric_response(rows: Any, rates: ConstraintRates, of_positions: bool = False) -> Response:
    """Response of a `ConstraintSet` with inertias of 1: J J^T without rows that follow from others."""
    n = rows.system.nv
    units = SparseFactors(range(n), [[] for _ in range(n)], [1.0] * n)
    return rows.response(units, rates, of_positions)  # type: ignore[no-any-return]


def null_space_accelerations(rows: Any, force: Vector, q: Vector, qd: Vector, t: Any) -> Vector:
    """qdd (nv,) of a `ConstraintSet`, with the orthogonal projector onto the null space for B.

        P = 1 - J^T (J J^T)^-1 J,    c = J^T (J J^T)^-1 k

    Aghili, A unified approach for inverse and direct dynamics of constrained multibody systems
    based on linear projection operator, IEEE Trans. Robotics 21 (2005) 834-849.

    Raises
    ------
    SingularMassMatrixError, ConstraintError
        A motion along the constraints has no inertia; rows contradict each other.
    """
    system = rows.system
    rates = rows.rates(q, qd, t)
    response = geometric_response(rows, rates)
    across = np.array([response.towards(column) for column in rates.jacobian.T]).T
    M = np.asarray(system.mass_matrix(q, t))
    size = np.trace(M) / system.nv
    space = TangentSpace(np.eye(system.nv) - across, size * (across + across.T) / 2)
    qdd = space.accelerations(system, M, force, response.towards(rates.bias))
    rows.check_accelerations(rates, rates.bias, qdd)
    return qdd
