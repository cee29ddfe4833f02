"""Linear models of systems with constraints, in tangent coordinates of the states that meet them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from dalembert.analysis.minimal_form import entries_of, independent_entries, inertia_scale
from dalembert.analysis.states import checked_state
from dalembert.formulations.newton_euler.derivatives import linearization
from dalembert.formulations.newton_euler.linearization import Linearization
from dalembert.spatial.arrays import Array
from dalembert.systems.constrained_derivatives import (
    forward_dynamics_derivatives,
    row_derivatives,
)
from dalembert.systems.constraint_set import ConstraintSet


class TangentLinearization(Linearization):
    """z' = A z + B tau about a state that meets the constraints; a pair A (n, n), B (n, nv) in SI units.

    basis : (2 nv, n) array: the step of q and the step of qd are basis z
    states : names of z: steps of independent coordinates ('q1'), then of independent velocities
        ('q1 rate')

    Examples
    --------
    >>> import dalembert as da
    >>> pin = da.constraints.Closure("pin", da.Spherical(), "tip", ("base", (1.2, 0, 0)))
    >>> triangle = da.planar_chain(3).constrained(pin)
    >>> q = da.assemble(triangle, [0.5, -0.2, -2.5])
    >>> da.linearize(triangle, q, [0.0] * 3, [0.0] * 3, independent=["q1"]).states
    ('q1', 'q1 rate')
    """

    basis: Array


def tangent_basis(
    system: Any, q: np.ndarray, qd: np.ndarray, t: float, wanted: Sequence[int]
) -> tuple[np.ndarray, list[int], list[int]]:
    """Basis (2 nv, n) of the steps of states that meet the constraints, and the independent entries of
    q and of qd.

        J_h dq = 0,    J dqd + (d velocity/dq) dq = 0
    """
    rows = ConstraintSet(system)
    M = np.asarray(system.mass_matrix(q, t), dtype=float)
    found = rows.rates(q, qd, t)
    none = np.zeros(len(found.velocity))
    by_q, _ = row_derivatives(rows, q, qd, np.zeros(system.nv), none, t).velocity
    velocities = independent_entries(system, found.jacobian, M, wanted)
    J_h = np.zeros((0, system.nv))
    if rows.holonomic:
        J_h = rows.position_rates(q, qd, t).jacobian
    positions = independent_entries(system, J_h, M)
    if not set(velocities.free) <= set(positions.free):
        positions = type(positions)(J_h, inertia_scale(M), velocities.free)
    N, B = positions.basis, velocities.basis
    driven = velocities.particular(-by_q @ N)
    still = np.zeros((len(N), B.shape[1]))
    basis = np.block([[N, still], [driven, B]])
    return basis, positions.free, velocities.free


def tangent_linearization(
    system: Any, state: Sequence[Any], t: float = 0.0, independent: Sequence[str] = ()
) -> TangentLinearization:
    """Linear model of a mechanism with constraints about a state q, qd, tau.

    The linear model of all states, z'_all = A_all z_all + B_all tau, is restricted to basis z, and
    read in the independent entries.

    Raises
    ------
    ConstraintError
        The state does not meet the constraints; accelerations are not determined.
    DalembertError
        Forces of a constraint do not act along its rows.
    """
    q, qd = checked_state(system, *state[:2])
    tau = checked_state(system, q, state[2])[1]
    rows = ConstraintSet(system)
    rows.check(q, qd, t)
    wanted = entries_of(system, independent)
    basis, of_q, of_qd = tangent_basis(system, q, qd, t, wanted)
    derivatives = forward_dynamics_derivatives(system, q, qd, tau, t)
    A, B = linearization(system.mechanism, qd, derivatives)
    chosen = [*of_q, *(system.nv + k for k in of_qd)]
    found = TangentLinearization((A @ basis)[chosen], B[chosen])
    found.basis = basis
    return found.of_mechanism(system.mechanism, of_q, of_qd)
