"""Derivatives of the dynamics, exact, by recursion over bodies."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from dalembert.formulations.newton_euler.variations import forward_dynamics_variations, inverse_dynamics_variations
from dalembert.model.mechanism import Mechanism
from dalembert.spatial.arrays import Array, Values


class InverseDynamicsDerivatives(NamedTuple):
    """Derivatives of tau, (nv, nv) or (N, nv, nv) each; by q along the velocity directions."""

    dtau_dq: Array
    dtau_dqd: Array
    mass_matrix: Array


class ForwardDynamicsDerivatives(NamedTuple):
    """Derivatives of qdd, (nv, nv) or (N, nv, nv) each; by q along the velocity directions."""

    dqdd_dq: Array
    dqdd_dqd: Array
    dqdd_dtau: Array


class Linearization(NamedTuple):
    """x' = A x + B u about a state, x = (step of q, step of qd) in tangent coordinates."""

    A: Array
    B: Array


def inverse_dynamics_derivatives(mechanism: Mechanism, q: Values, qd: Values, qdd: Values) -> InverseDynamicsDerivatives:
    """Derivatives of `inverse_dynamics` by q, qd and qdd.

    A derivative by q is that along `integrate(q, step)`, so of a quaternion along its three angular velocities. That of
    Coulomb friction is 0.

    q, qd, qdd and errors as for `inverse_dynamics`. Returns dtau_dq, dtau_dqd and mass_matrix, (nv, nv) or (N, nv, nv) each:
    row k has the derivatives of tau_k.

    References
    ----------
    Carpentier, Mansard, Analytical Derivatives of Rigid Body Dynamics Algorithms (2018); Singh, Russell, Wensing,
    Efficient Analytical Derivatives of Rigid-Body Dynamics using Spatial Vector Algebra (2022); here with the flow of
    mass for the matrices of their velocity terms (docs/newton_euler.md derives it).
    """
    tree, vectors, pack = mechanism.at(q=q, qd=qd, qdd=qdd)
    found = inverse_dynamics_variations(tree, *vectors)
    return InverseDynamicsDerivatives(*(pack(rows, shape=(tree.nv, tree.nv)) for rows in found))


def forward_dynamics_derivatives(mechanism: Mechanism, q: Values, qd: Values, tau: Values) -> ForwardDynamicsDerivatives:
    """Derivatives of `forward_dynamics` by q, qd and tau; by q along `integrate(q, step)`.

        dqdd/dq = - M^-1 dID/dq (q, qd, qdd),    dqdd/dqd = - M^-1 dID/dqd,    dqdd/dtau = M^-1

    q : (nq,) or (N, nq) [rad, m]; qd, tau : (nv,) or (N, nv) [rad/s, m/s; N m, N]. Returns dqdd_dq, dqdd_dqd and
    dqdd_dtau, (nv, nv) or (N, nv, nv) each.

    Raises
    ------
    SingularMassMatrixError, ShapeError, ValueError, QuaternionError
        As for `forward_dynamics`.
    """
    tree, vectors, pack = mechanism.at(q=q, qd=qd, tau=tau)
    found = forward_dynamics_variations(tree, *vectors)
    return ForwardDynamicsDerivatives(*(pack(rows, shape=(tree.nv, tree.nv)) for rows in found))


def linearize(mechanism: Mechanism, q: Values, qd: Values, tau: Values) -> Linearization:
    """Linear model of the motion about a state, in tangent coordinates.

        d/dt (dq; dqd) = A (dq; dqd) + B dtau,    A = [[G, 1], [dqdd/dq, dqdd/dqd]],    B = [[0], [M^-1]]

    dq is a step of `integrate`. G is 0 but for spherical and free joints, whose steps are seen from the moving child:
    -[w]x for the angular step, and for a free joint's linear step -[v]x times the angular and -[w]x times itself.
    Returns (2 nv, 2 nv) and (2 nv, nv), batch leading.
    """
    return linearization(mechanism, qd, forward_dynamics_derivatives(mechanism, q, qd, tau))


def linearization(mechanism: Mechanism, qd: Values, found: ForwardDynamicsDerivatives) -> Linearization:
    """The linear model, from the derivatives of forward dynamics at its state."""
    batch, n = found.dqdd_dq.shape[:-2], mechanism.nv
    dtype = found.dqdd_dq.dtype
    A, B = np.zeros((*batch, 2 * n, 2 * n), dtype), np.zeros((*batch, 2 * n, n), dtype)
    A[..., :n, n:] = np.eye(n)
    A[..., :n, :n] = _turning(mechanism, np.asarray(qd))
    A[..., n:, :n], A[..., n:, n:], B[..., n:, :] = found
    return Linearization(A, B)


def _turning(mechanism: Mechanism, qd: np.ndarray) -> np.ndarray:
    """G of `linearize`: rate of a step that rides on joints whose velocity axes move with the child."""
    G = np.zeros((*qd.shape, mechanism.nv), qd.dtype if qd.dtype == object else float)
    for joint in mechanism.independent_joints:
        if joint.type.quaternion_at is None:
            continue
        k = mechanism.entries[joint.name].at_v.start
        blocks = [(0, 0, 0)] if joint.type.nv == 3 else [(0, 0, 0), (3, 3, 0), (3, 0, 3)]
        for row, column, velocity in blocks:
            for i in range(3):
                j, l = (i + 1) % 3, (i + 2) % 3
                G[..., k + row + i, k + column + j] = qd[..., k + velocity + l]
                G[..., k + row + j, k + column + i] = -qd[..., k + velocity + l]
    return G
