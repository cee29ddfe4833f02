"""Step 4: kinetic energy T, potential energy Pi, and the mass matrix that T is made with."""

from __future__ import annotations

import numpy as np

from dalembert.formulations.lagrange.geometry import Geometry, T, opened, product, times
from dalembert.kinematics.forces import spring_energy
from dalembert.model.mechanism import Mechanism
from dalembert.spatial.arrays import Array, Values, finite, single


@finite
def mass_matrix(mechanism: Mechanism, q: Values) -> Array:
    """Mass matrix by the Jacobians of the mass centres, rotors included.

        D(q) = sum_i [ m_i J_v,i^T J_v,i + J_omega,i^T R_i I_i R_i^T J_omega,i ] + diag(rotors),    T = 1/2 qd^T D qd

    Parameters
    ----------
    mechanism : Mechanism
    q : (nq,) or (N, nq) array
        Coordinates [rad; m for prismatic joints; unit quaternions].

    Returns
    -------
    M : (nv, nv) or (N, nv, nv) array
        Symmetric [kg m^2, kg m, kg]; positive definite unless a joint moves no inertia.

    Raises
    ------
    ShapeError, ValueError, QuaternionError
        A vector has the wrong length or an entry that is not finite; a quaternion is not of unit
        length.

    References
    ----------
    Kolyubin, Dynamics of robotic systems: the Lagrange method, kinetic energy of the arm (with the
    indices and brackets that the slide lost).

    Examples
    --------
    >>> import dalembert as da
    >>> arm = da.planar_chain(2)
    >>> da.lagrange.mass_matrix(arm, [0.3, -0.2]).round(3)
    array([[2.647, 0.823],
           [0.823, 0.333]])
    """
    geometry, _ = opened(mechanism, q=q)
    return inertia(geometry)


def inertia(geometry: Geometry) -> np.ndarray:
    """D at a configuration."""
    D = rotors(geometry)
    for link in geometry.links:
        J = product(T(link.R), link.J_omega)  # in the link's axes, where I is constant
        D = (
            D
            + times(np.asarray(link.m), product(T(link.J_v), link.J_v))
            + product(T(J), product(link.I, J))
        )
    return np.where(np.tri(D.shape[-1], dtype=bool), D, T(D))  # the same form for d_jk and d_kj


def rotors(geometry: Geometry) -> np.ndarray:
    """diag(rotors), with the batch in front."""
    nv, rotor = geometry.tree.nv, geometry.tree.rotor
    entries = [[rotor[i] if i == j else 0.0 for j in range(nv)] for i in range(nv)]
    return geometry.pack(entries, shape=(nv, nv))


@finite
def kinetic_energy(mechanism: Mechanism, q: Values, qd: Values) -> float | Array:
    """Kinetic energy of the links by Koenig's theorem, and of the rotors.

        T = sum_i [ 1/2 m_i |v_c,i|^2 + 1/2 omega_i^T (R_i I_i R_i^T) omega_i ] + 1/2 sum_k rotor_k qd_k^2

    Parameters
    ----------
    mechanism : Mechanism
    q : (nq,) or (N, nq) array
        Coordinates [rad; m for prismatic joints; unit quaternions].
    qd : (nv,) or (N, nv) array
        Velocities along the joints' motion subspaces [rad/s, m/s].

    Returns
    -------
    T : float or (N,) array
        [J].

    Raises
    ------
    ShapeError, ValueError, QuaternionError
        A vector has the wrong length or an entry that is not finite; a quaternion is not of unit
        length.

    Examples
    --------
    >>> import dalembert as da
    >>> arm = da.planar_chain(2)
    >>> round(da.lagrange.kinetic_energy(arm, [0.3, -0.2], [1.0, 0.5]), 3)
    1.777
    """
    geometry, (qd,) = opened(mechanism, q=q, qd=qd)
    x = qd[..., None]
    twice = T(x) @ rotors(geometry) @ x
    for link in geometry.links:
        v, omega = link.J_v @ x, T(link.R) @ link.J_omega @ x  # omega in the link's axes
        twice = twice + link.m * (T(v) @ v) + T(omega) @ link.I @ omega
    return single(twice[..., 0, 0] / 2)


@finite
def potential_energy(mechanism: Mechanism, q: Values) -> float | Array:
    """Potential energy of gravity and springs.

        Pi = - sum_i m_i g^T c_i(q) + 1/2 sum_k k_k (q_k - rest_k)^2

    Parameters
    ----------
    mechanism : Mechanism
    q : (nq,) or (N, nq) array
        Coordinates [rad; m for prismatic joints; unit quaternions].

    Returns
    -------
    Pi : float or (N,) array
        [J]; zero height is the world's origin.

    Raises
    ------
    ShapeError, ValueError, QuaternionError
        A vector has the wrong length or an entry that is not finite; a quaternion is not of unit
        length.

    Examples
    --------
    >>> import dalembert as da
    >>> arm = da.planar_chain(2)
    >>> round(da.lagrange.potential_energy(arm, [0.3, -0.2]), 3)
    4.838
    """
    geometry, _ = opened(mechanism, in_world=True, q=q)
    energy = geometry.pack(spring_energy(geometry.tree, geometry.q))
    for link in geometry.links:
        c = geometry.pack(geometry.pose[link.body].p) + link.r
        energy = energy - link.m * (c * geometry.gravity[link.body]).sum(axis=-1)
    return single(np.asarray(energy))


@finite
def momenta(mechanism: Mechanism, q: Values, qd: Values) -> Array:
    """Generalized momenta p = dT/dqd = D(q) qd.

    Parameters
    ----------
    mechanism : Mechanism
    q : (nq,) or (N, nq) array
        Coordinates [rad; m for prismatic joints; unit quaternions].
    qd : (nv,) or (N, nv) array
        Velocities along the joints' motion subspaces [rad/s, m/s].

    Returns
    -------
    p : (nv,) or (N, nv) array
        [kg m^2/s, kg m/s].

    Raises
    ------
    ShapeError, ValueError, QuaternionError
        A vector has the wrong length or an entry that is not finite; a quaternion is not of unit
        length.

    Examples
    --------
    >>> import dalembert as da
    >>> arm = da.planar_chain(2)
    >>> da.lagrange.momenta(arm, [0.3, -0.2], [1.0, 0.5]).round(3)
    array([3.058, 0.99 ])
    """
    geometry, (qd,) = opened(mechanism, q=q, qd=qd)
    return (inertia(geometry) @ qd[..., None])[..., 0]
