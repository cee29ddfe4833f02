"""Derivatives of the accelerations of systems with constraints, exact.

    M qdd + h = tau + J^T lambda,    J qdd = k

are differentiated along a step of q, of qd and of tau; the matrix of the left side stays the same:

    | M  -J^T | | d qdd    |   | d tau - d(M qdd + h) + (dJ)^T lambda |
    | J    0  | | d lambda | = | d k - dJ qdd                         |
"""

from __future__ import annotations

from contextlib import nullcontext
from typing import Any, NamedTuple

import numpy as np

from dalembert.expr import Expr, Graph, evaluate, jacobian, substitute, symbols
from dalembert.formulations import newton_euler
from dalembert.formulations.newton_euler import derivatives
from dalembert.systems.constraint_set import ConstraintSet


class RowDerivatives(NamedTuple):
    """Derivatives by a step of q and by qd, each a pair, of rows at a state.

    velocity : (k, nv), of J qd + phi_t, or psi
    force : (nv, nv), of J^T lambda with lambda held
    acceleration : (k, nv), of J qdd - k with qdd held
    """

    velocity: tuple[np.ndarray, np.ndarray]
    force: tuple[np.ndarray, np.ndarray]
    acceleration: tuple[np.ndarray, np.ndarray]


def row_derivatives(
    rows: ConstraintSet, q: Any, qd: Any, qdd: Any, multipliers: Any, t: Any = 0.0
) -> RowDerivatives:
    """Derivatives of the rows of a system's constraints at a state of floats or expressions."""
    given = [*q, *qd, *qdd, *multipliers, t]
    graph = next((x.graph for x in given if isinstance(x, Expr)), None)
    system = rows.system
    with nullcontext() if graph is not None else Graph() as own:
        sizes = {"q": system.nq, "qd": system.nv, "qdd": system.nv, "lambda": len(multipliers)}
        at = {
            name: np.array(symbols(f"varied {name}", n, graph or own), dtype=object)
            for name, n in sizes.items()
        }
        found = rows.rates(at["q"], at["qd"], t)
        parts = (
            found.velocity,
            found.jacobian.T @ at["lambda"],
            found.jacobian @ at["qdd"] - found.bias,
        )
        units = np.eye(system.nv)
        moved = np.array([system.rate(at["q"], unit) for unit in units], dtype=object).T
        values = dict(zip([s for name in sizes for s in at[name]], given[:-1], strict=True))
        put = substitute if graph is not None else evaluate

        def pair(part: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
            """Derivatives of some rows by a step of q and by qd."""
            by_q = jacobian(part, at["q"]) @ moved
            by_qd = jacobian(part, at["qd"])
            return np.asarray(put(by_q, values)), np.asarray(put(by_qd, values))

        return RowDerivatives(*map(pair, parts))


def forward_dynamics_derivatives(
    system: Any, q: Any, qd: Any, tau: Any, t: Any = 0.0
) -> derivatives.ForwardDynamicsDerivatives:
    """Derivatives of the accelerations of a mechanism with constraints by q, qd and tau.

    Raises
    ------
    SingularMassMatrixError, ConstraintError
        Accelerations are not determined.
    DalembertError
        Forces of a constraint do not act along its rows.
    """
    rows = ConstraintSet(system)
    rows.principles.check_along_rows("derivatives of accelerations")
    rest = np.zeros(system.nv)
    force = np.asarray(tau) - newton_euler.inverse_dynamics(system.mechanism, q, qd, rest)
    qdd, multipliers = rows.accelerations(force, q, qd, t)
    of_tree = derivatives.inverse_dynamics_derivatives(system.mechanism, q, qd, qdd)
    of_rows = row_derivatives(rows, q, qd, qdd, multipliers, t)
    inertia = rows.inertia(q, t)
    response = rows.response(inertia, rows.rates(q, qd, t))

    def along(forces: np.ndarray, biases: np.ndarray) -> np.ndarray:
        """Columns of d qdd for columns of the right side."""
        columns = []
        for force, bias in zip(forces.T, biases.T, strict=True):
            free = np.asarray(inertia.solved(list(force)))
            held = response.multipliers(bias - response.rows.jacobian @ free)
            columns.append(free + response.along(held))
        return np.array(columns).T

    n, k = system.nv, len(multipliers)
    return derivatives.ForwardDynamicsDerivatives(
        along(of_rows.force[0] - of_tree.dtau_dq, -of_rows.acceleration[0]),
        along(of_rows.force[1] - of_tree.dtau_dqd, -of_rows.acceleration[1]),
        along(np.eye(n), np.zeros((k, n))),
    )
