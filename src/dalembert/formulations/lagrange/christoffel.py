"""Step 5: derivatives of D, Christoffel symbols c_ijk, Coriolis matrix C."""

from __future__ import annotations

from typing import Any

import numpy as np

from dalembert.formulations.lagrange.energies import inertia
from dalembert.formulations.lagrange.geometry import Geometry, T, cross, opened, product, times
from dalembert.model.mechanism import Mechanism
from dalembert.model.tree import Tree
from dalembert.spatial.arrays import Array, Values, finite


@finite
def mass_matrix_derivatives(mechanism: Mechanism, q: Values) -> Array:
    """Derivatives of the mass matrix along each velocity: dM[i, j, k] = X_i M_jk.

    X_i is d/dq_i where velocities are rates of coordinates, else the derivative along `integrate(q,
    step)`. By the product rule from the derivatives of the Jacobians, exact.

    Parameters
    ----------
    mechanism : Mechanism
    q : (nq,) or (N, nq) array
        Coordinates [rad; m for prismatic joints; unit quaternions].

    Returns
    -------
    dM : (nv, nv, nv) or (N, nv, nv, nv) array
        [kg m^2, kg m, kg] per [rad, m].

    Raises
    ------
    ShapeError, ValueError, QuaternionError
        A vector has the wrong length or an entry that is not finite; a quaternion is not of unit
        length.

    Examples
    --------
    >>> import dalembert as da
    >>> arm = da.planar_chain(2)
    >>> da.lagrange.mass_matrix_derivatives(arm, [0.3, -0.2])[1].round(3)
    array([[0.199, 0.099],
           [0.099, 0.   ]])
    """
    geometry, _ = opened(mechanism, q=q)
    return inertia_derivatives(geometry)


def inertia_derivatives(geometry: Geometry) -> np.ndarray:
    """X_i D at a configuration."""
    nv = geometry.tree.nv
    half = geometry.pack([[[0.0] * nv] * nv] * nv, shape=(nv, nv, nv))
    derivatives = geometry.derivatives()
    for link in geometry.links:
        dJ_v, dJ_b = link_derivatives(geometry, derivatives, link)
        J_b = product(T(link.R), link.J_omega)
        half = half + times(np.asarray(link.m), product(T(dJ_v), link.J_v[..., None, :, :]))
        half = half + product(T(dJ_b), product(link.I, J_b)[..., None, :, :])
    return half + T(half)


def link_derivatives(
    geometry: Geometry, derivatives: dict[int, np.ndarray], link: Any
) -> tuple[np.ndarray, np.ndarray]:
    """Derivatives (nv, 3, nv) of J_v, and of J_b = R^T J_omega, along each velocity.

        X_i (v + w x r) = X_i v + X_i w x r + w x (t_i x r),    X_i (R^T w) = R^T (X_i w - t_i x w)

    with the velocity v of the body's origin, and the turning t_i of the body as seen from the
    frame.
    """
    dJ = derivatives[link.body]
    w = T(link.J_omega)
    turn = geometry.turning[link.body][..., :3]
    dJ_v = dJ[..., 3:] + cross(dJ[..., :3], link.r[..., None, None, :])
    dJ_v = dJ_v + cross(w[..., None, :, :], cross(turn, link.r[..., None, :])[..., :, None, :])
    dJ_b = product(
        dJ[..., :3] - cross(turn[..., :, None, :], w[..., None, :, :]), link.R[..., None, :, :]
    )
    return T(dJ_v), T(dJ_b)


def brackets(mechanism: Mechanism) -> np.ndarray:
    """Structure constants gamma[l, i, j] of the velocity directions: [X_i, X_j] = sum_l gamma^l_ij
    X_l.

    Zero where velocities are rates of coordinates. For spherical and free joints, whose velocities
    are taken in the axes of the moving child, the bracket is the cross product of the columns of S.
    Returns (nv, nv, nv).

    Examples
    --------
    >>> import dalembert as da
    >>> ball = da.random_tree(3, 1, "spherical")
    >>> abs(da.lagrange.brackets(ball)[2, 0])
    array([0., 1., 0.])
    """
    return structure(mechanism.tree())


def structure(tree: Tree) -> np.ndarray:
    """The same of a tree."""
    gamma = np.zeros((tree.nv,) * 3)
    for joint in tree.joint[1:]:
        if joint.type.nq == joint.type.nv:
            continue
        S = joint.type.subspace(joint.type.neutral())  # unit vectors, at the places `freed`
        for i, a in zip(joint.dof, S, strict=True):
            for j, b in zip(joint.dof, S, strict=True):
                bracket = a.cross(b)
                entries = [*bracket.angular, *bracket.linear]
                for l, at in zip(joint.dof, joint.type.freed, strict=True):
                    gamma[l, i, j] = entries[at]
    return gamma


@finite
def christoffel_symbols(mechanism: Mechanism, q: Values) -> Array:
    """Christoffel symbols c[i, j, k] of the first kind, so that C_kj = sum_i c_ijk qd_i.

        c_ijk = 1/2 (X_i D_kj + X_j D_ki - X_k D_ij + gamma^l_ij D_lk - gamma^l_jk D_li + gamma^l_ki
        D_lj)

    Where velocities are rates of coordinates gamma = 0 and c_ijk = c_jik; else c_ijk - c_jik =
    gamma^l_ij D_lk.

    Parameters
    ----------
    mechanism : Mechanism
    q : (nq,) or (N, nq) array
        Coordinates [rad; m for prismatic joints; unit quaternions].

    Returns
    -------
    c : (nv, nv, nv) or (N, nv, nv, nv) array
        [kg m^2, kg m, kg].

    Raises
    ------
    ShapeError, ValueError, QuaternionError
        A vector has the wrong length or an entry that is not finite; a quaternion is not of unit
        length.

    References
    ----------
    Kolyubin, Dynamics of robotic systems: the Lagrange method; with brackets: docs/conventions.md.

    Examples
    --------
    >>> import dalembert as da
    >>> arm = da.planar_chain(2)
    >>> da.lagrange.christoffel_symbols(arm, [0.3, -0.2])[0, 1].round(3)
    array([0.099, 0.   ])
    """
    geometry, _ = opened(mechanism, q=q)
    return symbols_of(geometry)


def symbols_of(geometry: Geometry) -> np.ndarray:
    """c_ijk at a configuration."""
    gamma = structure(geometry.tree)
    return connection(
        inertia_derivatives(geometry), inertia(geometry) if gamma.any() else None, gamma
    )


def connection(dD: np.ndarray, D: np.ndarray | None, gamma: np.ndarray) -> np.ndarray:
    """c_ijk of a metric D with derivatives dD[i] = X_i D along directions with brackets gamma (D is
    None: gamma = 0).
    """
    twice = (
        np.einsum("...ikj->...ijk", dD)
        + np.einsum("...jki->...ijk", dD)
        - np.einsum("...kij->...ijk", dD)
    )
    if D is not None:
        lowered = product(np.moveaxis(gamma, 0, -1), D[..., None, :, :])  # [X_i, X_j] . X_k
        twice = (
            twice
            + lowered
            - np.einsum("...jki->...ijk", lowered)
            + np.einsum("...kij->...ijk", lowered)
        )
    return twice / 2


@finite
def coriolis_matrix(mechanism: Mechanism, q: Values, qd: Values) -> Array:
    """Coriolis matrix of the Christoffel symbols; dD/dt - 2 C is skew.

        C_kj(q, qd) = sum_i c_ijk(q) qd_i

    Parameters
    ----------
    mechanism : Mechanism
    q : (nq,) or (N, nq) array
        Coordinates [rad; m for prismatic joints; unit quaternions].
    qd : (nv,) or (N, nv) array
        Velocities along the joints' motion subspaces [rad/s, m/s].

    Returns
    -------
    C : (nv, nv) or (N, nv, nv) array
        [kg m^2/s, kg m/s, kg/s]; C qd = bias_force - gravity_vector.

    Raises
    ------
    ShapeError, ValueError, QuaternionError
        A vector has the wrong length or an entry that is not finite; a quaternion is not of unit
        length.

    Examples
    --------
    >>> import dalembert as da
    >>> arm = da.planar_chain(2)
    >>> da.lagrange.coriolis_matrix(arm, [0.3, -0.2], [1.0, 0.5]).round(3)
    array([[ 0.05 ,  0.149],
           [-0.099,  0.   ]])
    """
    geometry, (qd,) = opened(mechanism, q=q, qd=qd)
    return coriolis(geometry, qd)


def coriolis(geometry: Geometry, qd: np.ndarray) -> np.ndarray:
    """C at a state."""
    return contracted(symbols_of(geometry), qd)


def contracted(c: np.ndarray, qd: np.ndarray) -> np.ndarray:
    """C_kj = sum_i c_ijk qd_i, the batch in front."""
    return T(times(c, qd[..., :, None, None]).sum(axis=-3))
