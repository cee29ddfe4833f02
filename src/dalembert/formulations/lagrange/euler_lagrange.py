"""Step 6: G, and the equations of motion D(q) qdd + C(q, qd) qd + G(q) = tau, both ways round."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from dalembert.formulations.lagrange.christoffel import coriolis
from dalembert.formulations.lagrange.energies import inertia
from dalembert.formulations.lagrange.geometry import Geometry, T, opened
from dalembert.formulations.lagrange.linear_systems import factors_of, solved
from dalembert.kinematics.forces import external_wrenches, passive
from dalembert.model.constraint import check_unconstrained
from dalembert.model.mechanism import Mechanism
from dalembert.spatial.arrays import Array, Values, finite
from dalembert.spatial.ldl import inverted


def gravity_vector(mechanism: Mechanism, q: Values) -> Array:
    """Forces that hold the mechanism against gravity.

        G_k = dPi_g/dq_k = - sum_i m_i g^T J_v,i e_k

    Parameters
    ----------
    mechanism : Mechanism
    q : (nq,) or (N, nq) array
        Coordinates [rad; m for prismatic joints; unit quaternions].

    Returns
    -------
    g : (nv,) or (N, nv) array
        Forces of the actuators at rest [N m, N]. Springs are not part of it.

    Raises
    ------
    ShapeError, ValueError, QuaternionError
        A vector has the wrong length or an entry that is not finite; a quaternion is not of unit
        length.

    Examples
    --------
    >>> import dalembert as da
    >>> arm = da.planar_chain(2)
    >>> da.lagrange.gravity_vector(arm, [0.3, -0.2]).round(3)
    array([18.938,  4.88 ])
    """
    geometry, _ = opened(mechanism, q=q)
    return weight(geometry)


def weight(geometry: Geometry) -> np.ndarray:
    """G at a configuration."""
    G = geometry.pack([0.0] * geometry.tree.nv)
    for link in geometry.links:
        G = G - link.m * _applied(T(link.J_v), geometry.gravity[link.body])
    return G


@finite
def coriolis_vector(mechanism: Mechanism, q: Values, qd: Values) -> Array:
    """Coriolis and centrifugal forces C(q, qd) qd.

    Parameters
    ----------
    mechanism : Mechanism
    q : (nq,) or (N, nq) array
        Coordinates [rad; m for prismatic joints; unit quaternions].
    qd : (nv,) or (N, nv) array
        Velocities along the joints' motion subspaces [rad/s, m/s].

    Returns
    -------
    (nv,) or (N, nv) array
        C(q, qd) qd [N m, N].

    Raises
    ------
    ShapeError, ValueError, QuaternionError
        A vector has the wrong length or an entry that is not finite; a quaternion is not of unit
        length.

    Examples
    --------
    >>> import dalembert as da
    >>> arm = da.planar_chain(2)
    >>> da.lagrange.coriolis_vector(arm, [0.3, -0.2], [1.0, 0.5]).round(3)
    array([ 0.124, -0.099])
    """
    geometry, (qd,) = opened(mechanism, q=q, qd=qd)
    return _applied(coriolis(geometry, qd), qd)


@finite
def bias_force(mechanism: Mechanism, q: Values, qd: Values) -> Array:
    """Coriolis, centrifugal and gravity forces C(q, qd) qd + G(q).

    Parameters
    ----------
    mechanism : Mechanism
    q : (nq,) or (N, nq) array
        Coordinates [rad; m for prismatic joints; unit quaternions].
    qd : (nv,) or (N, nv) array
        Velocities along the joints' motion subspaces [rad/s, m/s].

    Returns
    -------
    h : (nv,) or (N, nv) array
        [N m, N]. Springs and friction are not part of it (see `passive_force`).

    Raises
    ------
    ShapeError, ValueError, QuaternionError
        A vector has the wrong length or an entry that is not finite; a quaternion is not of unit
        length.

    Examples
    --------
    >>> import dalembert as da
    >>> arm = da.planar_chain(2)
    >>> da.lagrange.bias_force(arm, [0.3, -0.2], [1.0, 0.5]).round(3)
    array([19.062,  4.781])
    """
    geometry, (qd,) = opened(mechanism, q=q, qd=qd)
    return _applied(coriolis(geometry, qd), qd) + weight(geometry)


@finite
def inverse_dynamics(
    mechanism: Mechanism, q: Values, qd: Values, qdd: Values, external_forces: Any = ()
) -> Array:
    """Joint forces that produce the given accelerations, by Lagrange's equations.

        tau = D(q) qdd + C(q, qd) qd + G(q) - passive_force - sum_i J_i(q)^T f_i

    Parameters
    ----------
    mechanism : Mechanism
    q : (nq,) or (N, nq) array
        Coordinates [rad; m for prismatic joints; unit quaternions].
    qd : (nv,) or (N, nv) array
        Velocities along the joints' motion subspaces [rad/s, m/s].
    qdd : (nv,) or (N, nv) array
        Accelerations [rad/s^2, m/s^2].
    external_forces : sequence of ExternalForce, optional
        Forces on the mechanism [N; N m], each with its frame and axes.

    Returns
    -------
    tau : (nv,) or (N, nv) array
        Forces that the actuators must give [N m; N for prismatic joints]. Of expressions, an object
        array.

    Raises
    ------
    ShapeError, ValueError, QuaternionError
        A vector has the wrong length or an entry that is not finite; a quaternion is not of unit
        length.
    UnknownNameError
        There is no such link or frame.

    References
    ----------
    Kolyubin, Dynamics of robotic systems: the Lagrange method, algorithm and eq. 13. O(n^3): for
    speed, newton_euler.

    Examples
    --------
    >>> import dalembert as da
    >>> arm = da.planar_chain(2)
    >>> da.lagrange.inverse_dynamics(arm, [0.3, -0.2], [1.0, 0.5], [0.1, 0.2]).round(3)
    array([19.492,  4.93 ])
    """
    tree, (q, qd, qdd, loads), pack = mechanism.at(
        q=q, qd=qd, qdd=qdd, external_forces=external_forces
    )
    geometry = Geometry(mechanism, tree, q, pack)
    return _applied(inertia(geometry), pack(qdd)) - _driving(geometry, qd, loads)


@finite
def forward_dynamics(
    mechanism: Mechanism, q: Values, qd: Values, tau: Values, external_forces: Any = ()
) -> Array:
    """Accelerations that joint forces produce: the inverse of `inverse_dynamics`.

        qdd = D(q)^-1 (tau + passive_force - C(q, qd) qd - G(q) + sum_i J_i(q)^T f_i)

    by D = L^T diag(d) L.

    Parameters
    ----------
    mechanism : Mechanism
    q : (nq,) or (N, nq) array
        Coordinates [rad; m for prismatic joints; unit quaternions].
    qd : (nv,) or (N, nv) array
        Velocities along the joints' motion subspaces [rad/s, m/s].
    tau : (nv,) or (N, nv) array
        Actuator forces [N m; N for prismatic joints].
    external_forces : sequence of ExternalForce, optional
        Forces on the mechanism [N; N m], each with its frame and axes.

    Returns
    -------
    qdd : (nv,) or (N, nv) array
        Accelerations [rad/s^2, m/s^2]. Coulomb friction of a joint at rest is taken as 0 (it does
        not stick here).

    Raises
    ------
    SingularMassMatrixError
        The inertia about a joint is not positive; joint and body are named. Not checked on
        expressions.
    ShapeError, ValueError, QuaternionError
        A vector has the wrong length or an entry that is not finite; a quaternion is not of unit
        length.
    UnknownNameError
        There is no such link or frame.

    Examples
    --------
    >>> import dalembert as da
    >>> arm = da.planar_chain(2)
    >>> da.lagrange.forward_dynamics(arm, [0.3, -0.2], [1.0, 0.5], [5.0, 1.0]).round(3)
    array([-7.705,  7.688])
    """
    check_unconstrained(mechanism, "lagrange.forward_dynamics")
    tree, (q, qd, tau, loads), pack = mechanism.at(
        q=q, qd=qd, tau=tau, external_forces=external_forces
    )
    geometry = Geometry(mechanism, tree, q, pack)
    b = pack(tau) + _driving(geometry, qd, loads)
    return solved(factors_of(geometry, inertia(geometry)), b[..., None])[..., 0]


def _driving(geometry: Geometry, qd: Sequence[Any], loads: Any) -> np.ndarray:
    """All forces but the actuators' and D qdd: passive and external ones, - C qd - G."""
    velocity = geometry.pack(qd)
    force = geometry.pack(passive(geometry.tree, geometry.q, qd)) - weight(geometry)
    force = force - _applied(coriolis(geometry, velocity), velocity)
    for i, wrench in external_wrenches(geometry.tree, geometry.q, loads).items():
        R = geometry.pose[i].R
        in_frame = geometry.pack([*R.to_parent(wrench.moment), *R.to_parent(wrench.force)])
        force = force + _applied(geometry.J[i], in_frame)
    return force


@finite
def inverse_mass_matrix(mechanism: Mechanism, q: Values) -> Array:
    """Inverse of the mass matrix.

    Parameters
    ----------
    mechanism : Mechanism
    q : (nq,) or (N, nq) array
        Coordinates [rad; m for prismatic joints; unit quaternions].

    Returns
    -------
    (nv, nv) or (N, nv, nv) array
        Symmetric [1/(kg m^2), 1/(kg m), 1/kg].

    Raises
    ------
    SingularMassMatrixError
        The inertia about a joint is not positive; joint and body are named. Not checked on
        expressions.
    ShapeError, ValueError, QuaternionError
        A vector has the wrong length or an entry that is not finite; a quaternion is not of unit
        length.

    Examples
    --------
    >>> import dalembert as da
    >>> arm = da.planar_chain(2)
    >>> da.lagrange.inverse_mass_matrix(arm, [0.3, -0.2]).round(3)
    array([[ 1.631, -4.03 ],
           [-4.03 , 12.954]])
    """
    geometry, _ = opened(mechanism, q=q)
    D = inertia(geometry)
    return geometry.pack(inverted(factors_of(geometry, D)), shape=D.shape[-2:])


def _applied(A: np.ndarray, x: np.ndarray) -> np.ndarray:
    """A x with the batch in front of both."""
    return (A @ x[..., None])[..., 0]
