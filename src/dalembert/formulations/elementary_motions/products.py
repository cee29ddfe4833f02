"""Intermediate matrices of the trace method, to look at: T_i, B_i, B_i^j, B_i^jk, pseudo-inertias,
operators, composites.

Steps are those of `motions(mechanism)`, numbered from 0 in the arrays; derivatives are along the
entries of qd.
"""

from __future__ import annotations

import numpy as np

from dalembert.formulations.elementary_motions import index_sums
from dalembert.formulations.elementary_motions.matrices import ZERO4, Matrix4, carried, congruent
from dalembert.formulations.elementary_motions.sequence import MotionTree
from dalembert.model.mechanism import Mechanism
from dalembert.spatial.arrays import Array, Values, packed


def joint_matrices(mechanism: Mechanism, q: Values) -> Array:
    """T_i = C_i T(q_i) of each step: constant motions, then the variable one.

    Parameters
    ----------
    mechanism : Mechanism
    q : (nq,) or (N, nq) array
        Coordinates [rad; m for prismatic joints; unit quaternions].

    Returns
    -------
    T : (n, 4, 4) or (N, n, 4, 4) array
        [1, m].

    Raises
    ------
    ShapeError, ValueError, QuaternionError
        A vector has the wrong length or an entry that is not finite; a quaternion is not of unit
        length.

    Examples
    --------
    >>> import dalembert as da
    >>> from dalembert.formulations import elementary_motions
    >>> arm = da.planar_chain(2)
    >>> elementary_motions.joint_matrices(arm, [0.3, -0.2])[1].round(3)
    array([[ 0.98 ,  0.   ,  0.199,  1.   ],
           [ 0.   ,  1.   ,  0.   ,  0.   ],
           [-0.199,  0.   ,  0.98 ,  0.   ],
           [ 0.   ,  0.   ,  0.   ,  1.   ]])
    """
    tree, (q,), pack = mechanism.at(q=q)
    sequence = MotionTree(tree)
    return pack(list(sequence.at(q).T.values()), shape=(len(sequence.step), 4, 4))


def products(mechanism: Mechanism, q: Values) -> Array:
    """B_i = B_p T_i (eq. 8): placement of each step's body in the base; p is the step before i.

    Parameters
    ----------
    mechanism : Mechanism
    q : (nq,) or (N, nq) array
        Coordinates [rad; m for prismatic joints; unit quaternions].

    Returns
    -------
    B : (n, 4, 4) or (N, n, 4, 4) array
        [1, m].

    Raises
    ------
    ShapeError, ValueError, QuaternionError
        A vector has the wrong length or an entry that is not finite; a quaternion is not of unit
        length.

    Examples
    --------
    >>> import dalembert as da
    >>> from dalembert.formulations import elementary_motions
    >>> arm = da.planar_chain(2)
    >>> elementary_motions.products(arm, [0.3, -0.2])[1, :3, 3].round(3)
    array([0.955, 0.   , 0.296])
    """
    tree, (q,), pack = mechanism.at(q=q)
    sequence = MotionTree(tree)
    state = sequence.at(q)
    return pack([state.B[i] for i in sequence.outward()], shape=(len(sequence.step), 4, 4))


def first_derivatives(mechanism: Mechanism, q: Values) -> Array:
    """B_i^j [i, j], the derivative of B_i along velocity j (eq. 12, corrected): T_1 ... T_j D_j ...
    T_i, or 0.

    Parameters
    ----------
    mechanism : Mechanism
    q : (nq,) or (N, nq) array
        Coordinates [rad; m for prismatic joints; unit quaternions].

    Returns
    -------
    (n, nv, 4, 4) or (N, n, nv, 4, 4) array
        [1, m].

    Raises
    ------
    ShapeError, ValueError, QuaternionError
        A vector has the wrong length or an entry that is not finite; a quaternion is not of unit
        length.

    Examples
    --------
    >>> import dalembert as da
    >>> from dalembert.formulations import elementary_motions
    >>> arm = da.planar_chain(2)
    >>> elementary_motions.first_derivatives(arm, [0.3, -0.2])[1, 0, :3, 3].round(3)
    array([-0.296,  0.   ,  0.955])
    """
    tree, (q,), pack = mechanism.at(q=q)
    sequence = MotionTree(tree)
    B1 = _zeros(len(sequence.step), tree.nv)
    for (l, j), B in index_sums.first_derivatives(sequence, sequence.at(q)).items():
        row, k = B1[l - 1], sequence.entry[j]
        row[k] += B  # freedoms of followers add to their leader's entry
    return pack(B1, shape=(len(sequence.step), tree.nv, 4, 4))


def second_derivatives(mechanism: Mechanism, q: Values) -> Array:
    """B_i^jk [i, j, k], the derivative of B_i^j along velocity k (eq. 12, corrected), zero if j or
    k does not move i.

    B_i^jk = B_i^kj where velocities are rates of coordinates; for two freedoms of a spherical or
    free joint the order matters.

    Parameters
    ----------
    mechanism : Mechanism
    q : (nq,) or (N, nq) array
        Coordinates [rad; m for prismatic joints; unit quaternions].

    Returns
    -------
    (n, nv, nv, 4, 4) or (N, n, nv, nv, 4, 4) array
        [1, m].

    Raises
    ------
    ShapeError, ValueError, QuaternionError
        A vector has the wrong length or an entry that is not finite; a quaternion is not of unit
        length.

    Examples
    --------
    >>> import dalembert as da
    >>> from dalembert.formulations import elementary_motions
    >>> arm = da.planar_chain(2)
    >>> elementary_motions.second_derivatives(arm, [0.3, -0.2])[1, 0, 0, :3, 3].round(3)
    array([-0.955,  0.   , -0.296])
    """
    tree, (q,), pack = mechanism.at(q=q)
    sequence = MotionTree(tree)
    state = sequence.at(q)
    B1 = index_sums.first_derivatives(sequence, state)
    B2 = [_zeros(tree.nv, tree.nv) for _ in sequence.step]
    for (l, j, k), B in index_sums.second_derivatives(sequence, state, B1).items():
        # freedoms of two steps commute and are listed once
        orders = {(j, k), (k, j)} if sequence.step_of[j] != sequence.step_of[k] else {(j, k)}
        for first, second in orders:
            row, b = B2[l - 1][sequence.entry[first]], sequence.entry[second]
            row[b] += B
    return pack(B2, shape=(len(sequence.step), tree.nv, tree.nv, 4, 4))


def pseudo_inertias(mechanism: Mechanism) -> np.ndarray:
    """I_i = integral rho rho^T dm, rho = (x, y, z, 1), of each step's body in its axes; zero for
    massless bodies between.

    Links on fixed joints are lumped in. Returns (n, 4, 4) [kg m^2, kg m, kg]; positive semidefinite
    exactly where the principal moments keep the triangle inequality and the mass is not negative.

    Examples
    --------
    >>> import dalembert as da
    >>> from dalembert.formulations import elementary_motions
    >>> elementary_motions.pseudo_inertias(da.planar_chain(1))[0, :, 3]
    array([0.5, 0. , 0. , 1. ])
    """
    sequence = MotionTree(mechanism.tree())
    return packed(
        [step.inertia for step in sequence.step.values()], shape=(len(sequence.step), 4, 4)
    )


def base_operators(mechanism: Mechanism, q: Values) -> Array:
    """D^_j = B_j D_j B_j^-1 of each freedom of the steps, in their order: B_l^j = D^_j B_l for
    every body outboard.

    Where no joint follows another, freedoms are the entries of qd in the order of `motions`.

    Parameters
    ----------
    mechanism : Mechanism
    q : (nq,) or (N, nq) array
        Coordinates [rad; m for prismatic joints; unit quaternions].

    Returns
    -------
    D : (f, 4, 4) or (N, f, 4, 4) array
        Elements of se(3) in base axes [1, m].

    Raises
    ------
    ShapeError, ValueError, QuaternionError
        A vector has the wrong length or an entry that is not finite; a quaternion is not of unit
        length.

    Examples
    --------
    >>> import dalembert as da
    >>> from dalembert.formulations import elementary_motions
    >>> arm = da.planar_chain(2)
    >>> elementary_motions.base_operators(arm, [0.3, -0.2])[1].round(3)
    array([[ 0.   ,  0.   , -1.   ,  0.296],
           [ 0.   ,  0.   ,  0.   ,  0.   ],
           [ 1.   ,  0.   ,  0.   , -0.955],
           [ 0.   ,  0.   ,  0.   ,  0.   ]])
    """
    tree, (q,), pack = mechanism.at(q=q)
    sequence = MotionTree(tree)
    state = sequence.at(q)
    operators = [carried(state.B[l], state.D[j]) for j, l in enumerate(sequence.step_of)]
    return pack(operators, shape=(len(sequence.entry), 4, 4))


def composite_pseudo_inertias(mechanism: Mechanism, q: Values) -> Array:
    """P_i = sum of B_l I_l B_l^T of step i and all outboard of it, in base axes.

    Parameters
    ----------
    mechanism : Mechanism
    q : (nq,) or (N, nq) array
        Coordinates [rad; m for prismatic joints; unit quaternions].

    Returns
    -------
    P : (n, 4, 4) or (N, n, 4, 4) array
        [kg m^2, kg m, kg].

    Raises
    ------
    ShapeError, ValueError, QuaternionError
        A vector has the wrong length or an entry that is not finite; a quaternion is not of unit
        length.

    Examples
    --------
    >>> import dalembert as da
    >>> from dalembert.formulations import elementary_motions
    >>> arm = da.planar_chain(2)
    >>> elementary_motions.composite_pseudo_inertias(arm, [0.3, -0.2])[0, 3].round(3)
    array([1.931, 0.   , 0.493, 2.   ])
    """
    tree, (q,), pack = mechanism.at(q=q)
    sequence = MotionTree(tree)
    state = sequence.at(q)
    P = {l: congruent(state.B[l], step.inertia) for l, step in sequence.step.items()}
    for l in sequence.inward():
        if p := sequence.step[l].parent:
            P[p] = P[p] + P[l]
    return pack(list(P.values()), shape=(len(sequence.step), 4, 4))


def _zeros(rows: int, columns: int) -> list[list[Matrix4]]:
    return [[ZERO4] * columns for _ in range(rows)]
