"""Energies and momenta."""

from __future__ import annotations

from collections.abc import Sequence
from typing import overload

from dalembert.errors import DalembertError
from dalembert.expr import known_zero
from dalembert.formulations.newton_euler.inverse import inward_step
from dalembert.kinematics.forces import spring_energy
from dalembert.kinematics.poses import first_moments
from dalembert.model.mechanism import Mechanism
from dalembert.model.tree import Tree
from dalembert.spatial.arrays import Array, Batch, State, Values, single
from dalembert.spatial.motion_force import NO_FORCE, NO_MOTION, Force, Motion, combined
from dalembert.spatial.transforms import Transform
from dalembert.spatial.vectors import Scalar


def _momenta_of_bodies(tree: Tree, q: Sequence[Scalar], qd: Sequence[Scalar]):
    """Placement, velocity and momentum of each moving body, in its axes."""
    X: dict[int, Transform] = {}
    v: dict[int, Motion] = {0: NO_MOTION}
    h: dict[int, Force] = {}
    for i in tree.outward():
        joint = tree.joint[i]
        X[i] = joint.placement(q)
        v[i] = X[i].motion_to_child(v[tree.parent[i]]) + combined(
            joint.subspace(q), joint.velocities(qd)
        )
        h[i] = tree.inertia[i].momentum(v[i])
    return X, v, h


@overload  # a list of arrays is a batch
def kinetic_energy(mechanism: Mechanism, q: Batch, qd: Batch | State) -> Array: ...  # type: ignore[overload-overlap]
@overload
def kinetic_energy(mechanism: Mechanism, q: State, qd: State) -> float: ...
@overload
def kinetic_energy(mechanism: Mechanism, q: Values, qd: Values) -> float | Array: ...
def kinetic_energy(mechanism: Mechanism, q: Values, qd: Values) -> float | Array:
    """Kinetic energy of the bodies and rotors.

        T = 1/2 sum_i v_i . I_i v_i + 1/2 sum_k rotor_k qd_k^2 = 1/2 qd^T M(q) qd

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
    >>> round(da.kinetic_energy(arm, [0.3, -0.2], [1.0, 0.5]), 3)
    1.777
    """
    tree, (q, qd), pack = mechanism.at(q=q, qd=qd)
    _, v, h = _momenta_of_bodies(tree, q, qd)
    twice: Scalar = 0.0
    for i in tree.outward():
        twice = twice + h[i].dot(v[i])
    for rotor, rate in zip(tree.rotor, qd, strict=True):
        twice = twice + rotor * rate * rate
    return single(pack(twice * 0.5))


@overload  # a list of arrays is a batch
def potential_energy(mechanism: Mechanism, q: Batch) -> Array: ...  # type: ignore[overload-overlap]
@overload
def potential_energy(mechanism: Mechanism, q: State) -> float: ...
@overload
def potential_energy(mechanism: Mechanism, q: Values) -> float | Array: ...
def potential_energy(mechanism: Mechanism, q: Values) -> float | Array:
    """Potential energy of gravity and springs.

        Pi = - sum_i m_i gravity . c_i(q) + 1/2 sum_k k_k (q_k - rest_k)^2

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
    >>> round(da.potential_energy(arm, [0.3, -0.2]), 3)
    4.838
    """
    tree, (q,), pack = mechanism.at(q=q)
    _, moment = first_moments(tree, q)
    return single(pack(spring_energy(tree, q, -tree.gravity.dot(moment))))


def momenta(mechanism: Mechanism, q: Values, qd: Values) -> Array:
    """Generalized momenta p = M(q) qd, without forming M (O(n)).

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
    >>> da.momenta(arm, [0.3, -0.2], [1.0, 0.5]).round(3)
    array([3.058, 0.99 ])
    """
    tree, (q, qd), pack = mechanism.at(q=q, qd=qd)
    X, _, h = _momenta_of_bodies(tree, q, qd)
    p = [rotor * rate for rotor, rate in zip(tree.rotor, qd, strict=True)]
    for i in tree.inward():
        inward_step(tree, i, X[i], tree.joint[i].subspace(q), h, p)
    return pack(p)


def centroidal_momentum(mechanism: Mechanism, q: Values, qd: Values) -> Array:
    """Momentum of the moving bodies about their centre of mass, in world axes.

        (L_c; P) = sum_i X_i^T I_i v_i

    Parameters
    ----------
    mechanism : Mechanism
    q : (nq,) or (N, nq) array
        Coordinates [rad; m for prismatic joints; unit quaternions].
    qd : (nv,) or (N, nv) array
        Velocities along the joints' motion subspaces [rad/s, m/s].

    Returns
    -------
    (L_c; P) : (6,) or (N, 6) array
        Angular momentum [kg m^2/s], then linear momentum [kg m/s]. Rotors are not part of it.

    Raises
    ------
    ShapeError, ValueError, QuaternionError
        A vector has the wrong length or an entry that is not finite; a quaternion is not of unit
        length.
    DalembertError
        The moving bodies have no mass.

    References
    ----------
    Orin, Goswami, Lee, Centroidal dynamics of a humanoid robot (2013).

    Examples
    --------
    >>> import dalembert as da
    >>> arm = da.planar_chain(2)
    >>> da.centroidal_momentum(arm, [0.3, -0.2], [1.0, 0.5])[1::2].round(3)
    array([-0.827, -0.518,  2.179])
    """
    tree, (q, qd), pack = mechanism.at(q=q, qd=qd)
    X, _, h = _momenta_of_bodies(tree, q, qd)
    total = NO_FORCE
    for i in tree.inward():
        carried = X[i].force_to_parent(h[i])
        if tree.parent[i]:
            h[tree.parent[i]] = h[tree.parent[i]] + carried
        else:
            total = total + carried
    mass, moment = first_moments(tree, q)
    if known_zero(mass):
        raise DalembertError(
            f"mechanism {mechanism.name!r}: the moving bodies have no mass, so no centre of mass."
        )
    center = moment * (1 / mass)
    return pack([*(total.moment - center.cross(total.force)), *total.force])
