"""Derivatives of the dynamics, exact, by recursion over bodies."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from dalembert.formulations.newton_euler.linearization import Linearization
from dalembert.formulations.newton_euler.variations import (
    forward_dynamics_variations,
    inverse_dynamics_variations,
)
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


RESULT_TYPES: dict[str, Any] = {
    "inverse_dynamics_derivatives": InverseDynamicsDerivatives,
    "forward_dynamics_derivatives": ForwardDynamicsDerivatives,
    "linearize": Linearization,
}  # of the functions below


def inverse_dynamics_derivatives(
    mechanism: Mechanism, q: Values, qd: Values, qdd: Values
) -> InverseDynamicsDerivatives:
    """Derivatives of `inverse_dynamics` by q, qd and qdd.

    A derivative by q is that along `integrate(q, step)`, so of a quaternion along its three angular
    velocities. That of Coulomb friction is 0.

    Parameters
    ----------
    mechanism : Mechanism
    q : (nq,) or (N, nq) array
        Coordinates [rad; m for prismatic joints; unit quaternions].
    qd : (nv,) or (N, nv) array
        Velocities along the joints' motion subspaces [rad/s, m/s].
    qdd : (nv,) or (N, nv) array
        Accelerations [rad/s^2, m/s^2].

    Returns
    -------
    InverseDynamicsDerivatives
        dtau_dq, dtau_dqd and mass_matrix, (nv, nv) or (N, nv, nv) each: row k has the derivatives
        of tau_k [N m/rad, N m s/rad, kg m^2 and the like].

    Raises
    ------
    ShapeError, ValueError, QuaternionError
        A vector has the wrong length or an entry that is not finite; a quaternion is not of unit
        length.

    References
    ----------
    Carpentier, Mansard, Analytical Derivatives of Rigid Body Dynamics Algorithms (2018); Singh,
    Russell, Wensing, Efficient Analytical Derivatives of Rigid-Body Dynamics using Spatial Vector
    Algebra (2022); here with the flow of mass for the matrices of their velocity terms
    (docs/newton_euler.md derives it).

    Examples
    --------
    >>> import dalembert as da
    >>> arm = da.planar_chain(2)
    >>> da.inverse_dynamics_derivatives(arm, [0.3, -0.2], [1.0, 0.5], [0.1, 0.2]).dtau_dq.round(3)
    array([[-4.838, -1.062],
           [-0.49 ,  0.01 ]])
    """
    tree, vectors, pack = mechanism.at(q=q, qd=qd, qdd=qdd)
    found = inverse_dynamics_variations(tree, *vectors)
    return InverseDynamicsDerivatives(*(pack(rows, shape=(tree.nv, tree.nv)) for rows in found))


def forward_dynamics_derivatives(
    mechanism: Mechanism, q: Values, qd: Values, tau: Values
) -> ForwardDynamicsDerivatives:
    """Derivatives of `forward_dynamics` by q, qd and tau; by q along `integrate(q, step)`.

        dqdd/dq = - M^-1 dID/dq (q, qd, qdd),    dqdd/dqd = - M^-1 dID/dqd,    dqdd/dtau = M^-1

    Parameters
    ----------
    mechanism : Mechanism
    q : (nq,) or (N, nq) array
        Coordinates [rad; m for prismatic joints; unit quaternions].
    qd : (nv,) or (N, nv) array
        Velocities along the joints' motion subspaces [rad/s, m/s].
    tau : (nv,) or (N, nv) array
        Actuator forces [N m; N for prismatic joints].

    Returns
    -------
    ForwardDynamicsDerivatives
        dqdd_dq, dqdd_dqd and dqdd_dtau, (nv, nv) or (N, nv, nv) each: row k has the derivatives of
        qdd_k [1/s^2, 1/s, 1/(kg m^2) and the like].

    Raises
    ------
    SingularMassMatrixError
        The inertia about a joint is not positive; joint and body are named. Not checked on
        expressions.
    ShapeError, ValueError, QuaternionError
        A vector has the wrong length or an entry that is not finite; a quaternion is not of unit
        length.

    References
    ----------
    Carpentier, Mansard, Analytical Derivatives of Rigid Body Dynamics Algorithms (2018).

    Examples
    --------
    >>> import dalembert as da
    >>> arm = da.planar_chain(2)
    >>> da.forward_dynamics_derivatives(arm, [0.3, -0.2], [1.0, 0.5], [5.0, 1.0]).dqdd_dtau.round(3)
    array([[ 1.631, -4.03 ],
           [-4.03 , 12.954]])
    """
    tree, vectors, pack = mechanism.at(q=q, qd=qd, tau=tau)
    found = forward_dynamics_variations(tree, *vectors)
    return ForwardDynamicsDerivatives(*(pack(rows, shape=(tree.nv, tree.nv)) for rows in found))


def linearize(mechanism: Mechanism, q: Values, qd: Values, tau: Values) -> Linearization:
    """Linear model of the motion about a state, in tangent coordinates.

        d/dt (dq; dqd) = A (dq; dqd) + B dtau,    A = [[G, 1], [dqdd/dq, dqdd/dqd]],    B = [[0], [M^-1]]

    dq is a step of `integrate`. G is 0 but for spherical and free joints, whose steps are seen from
    the moving child: -[w]x for the angular step, and for a free joint's linear step -[v]x times the
    angular and -[w]x times itself.

    Parameters
    ----------
    mechanism : Mechanism
    q : (nq,) or (N, nq) array
        Coordinates [rad; m for prismatic joints; unit quaternions].
    qd : (nv,) or (N, nv) array
        Velocities along the joints' motion subspaces [rad/s, m/s].
    tau : (nv,) or (N, nv) array
        Actuator forces [N m; N for prismatic joints].

    Returns
    -------
    Linearization
        A (2 nv, 2 nv) and B (2 nv, nv), or with N leading, in SI units.

    Raises
    ------
    SingularMassMatrixError
        The inertia about a joint is not positive; joint and body are named. Not checked on
        expressions.
    ShapeError, ValueError, QuaternionError
        A vector has the wrong length or an entry that is not finite; a quaternion is not of unit
        length.

    References
    ----------
    Carpentier, Mansard (2018) for the derivatives; docs/newton_euler.md for the tangent
    coordinates.

    Examples
    --------
    >>> import dalembert as da
    >>> arm = da.planar_chain(2)
    >>> da.linearize(arm, [0.3, -0.2], [1.0, 0.5], [5.0, 1.0]).A.round(2)
    array([[  0.  ,   0.  ,   1.  ,   0.  ],
           [  0.  ,   0.  ,   0.  ,   1.  ],
           [  5.92,  -0.03,  -0.96,  -0.49],
           [-13.15,   2.38,   2.97,   1.2 ]])
    """
    return linearization(mechanism, qd, forward_dynamics_derivatives(mechanism, q, qd, tau))


def linearization(
    mechanism: Mechanism, qd: Values, found: ForwardDynamicsDerivatives
) -> Linearization:
    """The linear model, from the derivatives of forward dynamics at its state."""
    batch = found.dqdd_dq.shape[:-2]
    n = mechanism.nv
    dtype = found.dqdd_dq.dtype
    A = np.zeros((*batch, 2 * n, 2 * n), dtype)
    B = np.zeros((*batch, 2 * n, n), dtype)
    A[..., :n, n:] = np.eye(n)
    A[..., :n, :n] = _turning(mechanism, np.asarray(qd))
    A[..., n:, :n], A[..., n:, n:], B[..., n:, :] = found
    return Linearization(A, B).of_mechanism(mechanism)


def _turning(mechanism: Mechanism, qd: np.ndarray) -> np.ndarray:
    """G of `linearize`: rate of a step that rides on joints whose velocity axes move with the
    child.
    """
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
