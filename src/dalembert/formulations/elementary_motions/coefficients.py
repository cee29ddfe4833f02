"""Coefficients a0, a1, a2 of the equations of motion and what is read off them, by the sums or in
composite form.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from dalembert.arguments import check_choice
from dalembert.formulations.elementary_motions.composite import Composite
from dalembert.formulations.elementary_motions.index_sums import Sums
from dalembert.formulations.elementary_motions.sequence import MotionTree
from dalembert.model.mechanism import Mechanism
from dalembert.spatial.arrays import Array, Values
from dalembert.spatial.vectors import dot

Pack = Callable[..., np.ndarray]
FORMS: dict[str, Any] = {"sums": Sums, "composite": Composite}


def form_named(form: str, *more: str) -> Any:
    """Sums or Composite; None for one of more names."""
    check_choice("form", form, (*more, *FORMS))
    return FORMS.get(form)


def opened(
    mechanism: Mechanism, form: str, q: Values, **vectors: Any
) -> tuple[MotionTree, Any, list, Pack]:
    """The motions of a mechanism, Sums or Composite at q, other vectors, and the function that
    packs results.
    """
    make = form_named(form)
    tree, (q, *others), pack = mechanism.at(q=q, **vectors)
    sequence = MotionTree(tree)
    return sequence, make(sequence, q), others, pack


def symbols_at(sequence: MotionTree, terms: Sums | Composite) -> list:
    """Christoffel symbols [k][j][i] over the entries of qd: the derivative of B^j along i, against
    B^k.
    """
    return sequence.gathered(terms.symbols(), 3)


def inertia_coefficients(mechanism: Mechanism, q: Values, form: str = "composite") -> Array:
    """Coefficients a0 of the accelerations: the mass matrix A0 of the bodies, without rotors.

        a0[k, i] = sum_l S(B_l^i I_l B_l^kT) = S(D^_i P D^_k^T)

    a0[k, k] is the inertia of everything outboard of joint k about its axis, the other joints
    locked.

    Parameters
    ----------
    mechanism : Mechanism
    q : (nq,) or (N, nq) array
        Coordinates [rad; m for prismatic joints; unit quaternions].
    form : {'composite', 'sums'}
        How the sums are formed; results are equal, numbers of operations are not.

    Returns
    -------
    a0 : (nv, nv) or (N, nv, nv) array
        Symmetric [kg m^2, kg m, kg].

    Raises
    ------
    ShapeError, ValueError, QuaternionError
        A vector has the wrong length or an entry that is not finite; a quaternion is not of unit
        length.
    UnknownNameError
        The form is unknown.

    References
    ----------
    Hroncova, Contribution to automatic formulation of equations of motion of spatial open kinematic
    chains, eq. 5.

    Examples
    --------
    >>> import dalembert as da
    >>> from dalembert.formulations import elementary_motions
    >>> arm = da.planar_chain(2)
    >>> elementary_motions.inertia_coefficients(arm, [0.3, -0.2]).round(3)
    array([[2.647, 0.823],
           [0.823, 0.333]])
    """
    sequence, terms, _, pack = opened(mechanism, form, q)
    return pack(sequence.gathered(terms.inertia(), 2), shape=(sequence.nv,) * 2)


def christoffel_symbols(mechanism: Mechanism, q: Values, form: str = "composite") -> Array:
    """Christoffel symbols c[i, j, k] of the first kind, so that C_kj = sum_i c_ijk qd_i, without
    differentiating M.

        c_ijk = sum_l S(B_l^ji I_l B_l^kT),    B_l^ji the derivative of B_l^j along velocity i

    c_ijk = c_jik where velocities are rates of coordinates; not within a spherical or free joint.

    Parameters
    ----------
    mechanism : Mechanism
    q : (nq,) or (N, nq) array
        Coordinates [rad; m for prismatic joints; unit quaternions].
    form : {'composite', 'sums'}
        How the sums are formed; results are equal, numbers of operations are not.

    Returns
    -------
    c : (nv, nv, nv) or (N, nv, nv, nv) array
        [kg m^2, kg m, kg].

    Raises
    ------
    ShapeError, ValueError, QuaternionError
        A vector has the wrong length or an entry that is not finite; a quaternion is not of unit
        length.
    UnknownNameError
        The form is unknown.

    Examples
    --------
    >>> import dalembert as da
    >>> from dalembert.formulations import elementary_motions
    >>> arm = da.planar_chain(2)
    >>> elementary_motions.christoffel_symbols(arm, [0.3, -0.2])[0, 1].round(3)
    array([0.099, 0.   ])
    """
    return np.swapaxes(_of_pairs(mechanism, q, form, lambda c, j, i: c[j][i]), -1, -3)


def velocity_coefficients(mechanism: Mechanism, q: Values, form: str = "composite") -> Array:
    """Coefficients a1 of the products of velocities (eq. 6, corrected): entries [k, j, i] with i >=
    j, others are 0.

        a_q,k = sum_j sum_{i >= j} a1[k, j, i] qd_j qd_i,    a1[k, j, j] = c_jjk,    a1[k, j, i] = c_ijk + c_jik  for i > j

    which is the source's sigma = 2 times one symbol, except within a spherical or free joint, where
    the two differ.

    Parameters
    ----------
    mechanism : Mechanism
    q : (nq,) or (N, nq) array
        Coordinates [rad; m for prismatic joints; unit quaternions].
    form : {'composite', 'sums'}
        How the sums are formed; results are equal, numbers of operations are not.

    Returns
    -------
    a1 : (nv, nv, nv) or (N, nv, nv, nv) array
        [kg m^2, kg m, kg].

    Raises
    ------
    ShapeError, ValueError, QuaternionError
        A vector has the wrong length or an entry that is not finite; a quaternion is not of unit
        length.
    UnknownNameError
        The form is unknown.

    Examples
    --------
    >>> import dalembert as da
    >>> from dalembert.formulations import elementary_motions
    >>> arm = da.planar_chain(2)
    >>> elementary_motions.velocity_coefficients(arm, [0.3, -0.2])[0].round(3)
    array([[0.   , 0.199],
           [0.   , 0.099]])
    """
    return _of_pairs(
        mechanism,
        q,
        form,
        lambda c, j, i: c[j][i] + c[i][j] if i > j else c[j][j] if i == j else 0.0,
    )


def velocity_matrices(mechanism: Mechanism, q: Values, form: str = "composite") -> Array:
    """Symmetric matrices A1[k] with a_q,k = 1/2 qd^T A1[k] qd: 2 a1[k, j, j] and a1[k, j, i] (eqs.
    16 to 19).

    A1[k] qd is the derivative of a_q,k by qd.

    Parameters
    ----------
    mechanism : Mechanism
    q : (nq,) or (N, nq) array
        Coordinates [rad; m for prismatic joints; unit quaternions].
    form : {'composite', 'sums'}
        How the sums are formed; results are equal, numbers of operations are not.

    Returns
    -------
    A1 : (nv, nv, nv) or (N, nv, nv, nv) array
        [kg m^2, kg m, kg].

    Raises
    ------
    ShapeError, ValueError, QuaternionError
        A vector has the wrong length or an entry that is not finite; a quaternion is not of unit
        length.
    UnknownNameError
        The form is unknown.

    Examples
    --------
    >>> import dalembert as da
    >>> from dalembert.formulations import elementary_motions
    >>> arm = da.planar_chain(2)
    >>> elementary_motions.velocity_matrices(arm, [0.3, -0.2])[0].round(3)
    array([[0.   , 0.199],
           [0.199, 0.199]])
    """
    return _of_pairs(mechanism, q, form, lambda c, j, i: c[j][i] + c[i][j])


def _of_pairs(mechanism: Mechanism, q: Any, form: str, entry: Any) -> np.ndarray:
    """[k, j, i] from the symbols c = symbol[k] of an equation."""
    sequence, terms, _, pack = opened(mechanism, form, q)
    n = range(sequence.nv)
    return pack(
        [[[entry(c, j, i) for i in n] for j in n] for c in symbols_at(sequence, terms)],
        shape=(len(n),) * 3,
    )


def gravity_coefficients(mechanism: Mechanism, q: Values, form: str = "composite") -> Array:
    """Coefficients a2 = a_g, the gravity vector (eq. 7 for any direction of gravity).

        a2[k] = - g . sum_l m_l B_l^k r_l = - g . (last column of D^_k P_k)

    Parameters
    ----------
    mechanism : Mechanism
    q : (nq,) or (N, nq) array
        Coordinates [rad; m for prismatic joints; unit quaternions].
    form : {'composite', 'sums'}
        How the sums are formed; results are equal, numbers of operations are not.

    Returns
    -------
    a2 : (nv,) or (N, nv) array
        [N m, N].

    Raises
    ------
    ShapeError, ValueError, QuaternionError
        A vector has the wrong length or an entry that is not finite; a quaternion is not of unit
        length.
    UnknownNameError
        The form is unknown.

    Examples
    --------
    >>> import dalembert as da
    >>> from dalembert.formulations import elementary_motions
    >>> arm = da.planar_chain(2)
    >>> elementary_motions.gravity_coefficients(arm, [0.3, -0.2]).round(3)
    array([18.938,  4.88 ])
    """
    sequence, terms, _, pack = opened(mechanism, form, q)
    return pack(sequence.gathered(terms.gravity(sequence.tree.gravity), 1))


def mass_matrix_derivatives(mechanism: Mechanism, q: Values, form: str = "composite") -> Array:
    """Derivatives of the mass matrix along each velocity: dM[i, j, k] = X_i M_jk = c_ijk + c_ikj,
    no differentiation done.

    Parameters
    ----------
    mechanism : Mechanism
    q : (nq,) or (N, nq) array
        Coordinates [rad; m for prismatic joints; unit quaternions].
    form : {'composite', 'sums'}
        How the sums are formed; results are equal, numbers of operations are not.

    Returns
    -------
    dM : (nv, nv, nv) or (N, nv, nv, nv) array
        [kg m^2, kg m, kg].

    Raises
    ------
    ShapeError, ValueError, QuaternionError
        A vector has the wrong length or an entry that is not finite; a quaternion is not of unit
        length.
    UnknownNameError
        The form is unknown.

    Examples
    --------
    >>> import dalembert as da
    >>> from dalembert.formulations import elementary_motions
    >>> arm = da.planar_chain(2)
    >>> elementary_motions.mass_matrix_derivatives(arm, [0.3, -0.2])[1].round(3)
    array([[0.199, 0.099],
           [0.099, 0.   ]])
    """
    c = christoffel_symbols(mechanism, q, form)
    return c + np.swapaxes(c, -1, -2)


def coriolis_vector_derivatives(
    mechanism: Mechanism, q: Values, qd: Values, form: str = "composite"
) -> Array:
    """Derivatives of the Coriolis and centrifugal vector by the velocities: [k, i] = (A1[k] qd)_i.

    Parameters
    ----------
    mechanism : Mechanism
    q : (nq,) or (N, nq) array
        Coordinates [rad; m for prismatic joints; unit quaternions].
    qd : (nv,) or (N, nv) array
        Velocities along the joints' motion subspaces [rad/s, m/s].
    form : {'composite', 'sums'}
        How the sums are formed; results are equal, numbers of operations are not.

    Returns
    -------
    (nv, nv) or (N, nv, nv) array
        [N m s, N s].

    Raises
    ------
    ShapeError, ValueError, QuaternionError
        A vector has the wrong length or an entry that is not finite; a quaternion is not of unit
        length.
    UnknownNameError
        The form is unknown.

    Examples
    --------
    >>> import dalembert as da
    >>> from dalembert.formulations import elementary_motions
    >>> arm = da.planar_chain(2)
    >>> elementary_motions.coriolis_vector_derivatives(arm, [0.3, -0.2], [1.0, 0.5]).round(3)
    array([[ 0.099,  0.298],
           [-0.199,  0.   ]])
    """
    sequence, terms, (rates,), pack = opened(mechanism, form, q, qd=qd)
    n = range(sequence.nv)
    rows = [
        [dot([c[j][i] + c[i][j] for j in n], rates) for i in n] for c in symbols_at(sequence, terms)
    ]
    return pack(rows, shape=(len(n),) * 2)
