"""Equations of motion by the trace method: the quantities that every formulation gives."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np

from dalembert.errors import ShapeError
from dalembert.formulations.elementary_motions.coefficients import (
    form_named,
    gravity_coefficients,
    opened,
    symbols_at,
)
from dalembert.formulations.elementary_motions.composite import Composite
from dalembert.formulations.elementary_motions.matrices import ZERO4, Matrix4, trace
from dalembert.formulations.elementary_motions.recursion import (
    AT_REST,
    gravity_forces,
    joint_rates,
    required_forces,
)
from dalembert.formulations.elementary_motions.sequence import MotionTree
from dalembert.kinematics.forces import external_wrenches, passive, spring_energy
from dalembert.model.constraint import check_unconstrained
from dalembert.model.mechanism import Mechanism
from dalembert.model.pivots import PivotCheck
from dalembert.model.tree import Tree
from dalembert.spatial.arrays import Array, Values, single
from dalembert.spatial.ldl import Factors, factorised, inverted, solved
from dalembert.spatial.motion_force import Force
from dalembert.spatial.vectors import ZERO, Scalar, Vector, dot

Scalars = Sequence[Scalar]


def mass_matrix(mechanism: Mechanism, q: Values, form: str = "composite") -> Array:
    """Mass matrix A0 of bodies and rotors.

        A0[k, i] = sum_l S(B_l^i I_l B_l^kT) + rotors,    T = 1/2 qd^T A0 qd

    Parameters
    ----------
    mechanism : Mechanism
    q : (nq,) or (N, nq) array
        Coordinates [rad; m for prismatic joints; unit quaternions].
    form : {'composite', 'sums'}
        How the sums are formed; results are equal, numbers of operations are not.

    Returns
    -------
    M : (nv, nv) or (N, nv, nv) array
        Symmetric [kg m^2, kg m, kg]; positive definite unless a joint moves no inertia.

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
    >>> elementary_motions.mass_matrix(arm, [0.3, -0.2]).round(3)
    array([[2.647, 0.823],
           [0.823, 0.333]])
    """
    sequence, terms, _, pack = opened(mechanism, form, q)
    return pack(_inertia(sequence, terms), shape=(sequence.nv,) * 2)


def _inertia(sequence: MotionTree, terms: Any) -> list[list[Scalar]]:
    """A0 with rotors."""
    A0 = sequence.gathered(terms.inertia(), 2)
    for k, rotor in enumerate(sequence.tree.rotor):
        A0[k][k] = A0[k][k] + rotor
    return A0


def coriolis_matrix(mechanism: Mechanism, q: Values, qd: Values, form: str = "composite") -> Array:
    """Coriolis matrix of the Christoffel symbols; dM/dt - 2 C is skew.

        C[k, j] = sum_i sum_l S(B_l^ji I_l B_l^kT) qd_i,    B_l^ji the derivative of B_l^j along i

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
    >>> from dalembert.formulations import elementary_motions
    >>> arm = da.planar_chain(2)
    >>> elementary_motions.coriolis_matrix(arm, [0.3, -0.2], [1.0, 0.5]).round(3)
    array([[ 0.05 ,  0.149],
           [-0.099,  0.   ]])
    """
    sequence, terms, (rates,), pack = opened(mechanism, form, q, qd=qd)
    C = [[dot(row, rates) for row in rows] for rows in symbols_at(sequence, terms)]
    return pack(C, shape=(sequence.nv,) * 2)


def coriolis_vector(mechanism: Mechanism, q: Values, qd: Values, form: str = "recursion") -> Array:
    """Coriolis and centrifugal vector a_q = C(q, qd) qd (eq. 3).

    Parameters
    ----------
    mechanism : Mechanism
    q : (nq,) or (N, nq) array
        Coordinates [rad; m for prismatic joints; unit quaternions].
    qd : (nv,) or (N, nv) array
        Velocities along the joints' motion subspaces [rad/s, m/s].
    form : {'recursion', 'composite', 'sums'}
        How the sums are formed; results are equal, numbers of operations are not.

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
    >>> from dalembert.formulations import elementary_motions
    >>> arm = da.planar_chain(2)
    >>> elementary_motions.coriolis_vector(arm, [0.3, -0.2], [1.0, 0.5]).round(3)
    array([ 0.124, -0.099])
    """
    forces = _forces_by(form)
    tree, (q, qd), pack = mechanism.at(q=q, qd=qd)
    return pack(forces(MotionTree(tree), q, qd, None, ZERO, {}))


def gravity_vector(mechanism: Mechanism, q: Values, form: str = "recursion") -> Array:
    """Gravity vector a_g = dPi_g/dq (eq. 3), springs not included.

    Parameters
    ----------
    mechanism : Mechanism
    q : (nq,) or (N, nq) array
        Coordinates [rad; m for prismatic joints; unit quaternions].
    form : {'recursion', 'composite', 'sums'}
        How the sums are formed; results are equal, numbers of operations are not.

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
    >>> from dalembert.formulations import elementary_motions
    >>> arm = da.planar_chain(2)
    >>> elementary_motions.gravity_vector(arm, [0.3, -0.2]).round(3)
    array([18.938,  4.88 ])
    """
    if form_named(form, "recursion"):
        return gravity_coefficients(mechanism, q, form)
    tree, (q,), pack = mechanism.at(q=q)
    return pack(gravity_forces(MotionTree(tree), q))


def bias_force(mechanism: Mechanism, q: Values, qd: Values, form: str = "recursion") -> Array:
    """Coriolis, centrifugal and gravity forces a_q + a_g.

    Parameters
    ----------
    mechanism : Mechanism
    q : (nq,) or (N, nq) array
        Coordinates [rad; m for prismatic joints; unit quaternions].
    qd : (nv,) or (N, nv) array
        Velocities along the joints' motion subspaces [rad/s, m/s].
    form : {'recursion', 'composite', 'sums'}
        How the sums are formed; results are equal, numbers of operations are not.

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
    >>> from dalembert.formulations import elementary_motions
    >>> arm = da.planar_chain(2)
    >>> elementary_motions.bias_force(arm, [0.3, -0.2], [1.0, 0.5]).round(3)
    array([19.062,  4.781])
    """
    forces = _forces_by(form)
    tree, (q, qd), pack = mechanism.at(q=q, qd=qd)
    return pack(forces(MotionTree(tree), q, qd, None, tree.gravity, {}))


def inverse_dynamics(
    mechanism: Mechanism,
    q: Values,
    qd: Values,
    qdd: Values,
    external_forces: Any = (),
    form: str = "recursion",
) -> Array:
    """Joint forces that produce the given accelerations.

        tau = A0 qdd + a_q + a_g - passive_force - sum_i J_i^T f_i

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
    form : {'recursion', 'composite', 'sums'}
        How the sums are formed; results are equal, numbers of operations are not.

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
    Hroncova, eqs. 1 to 3; docs/elementary_motions.md for the recursion.

    Examples
    --------
    >>> import dalembert as da
    >>> from dalembert.formulations import elementary_motions
    >>> arm = da.planar_chain(2)
    >>> elementary_motions.inverse_dynamics(arm, [0.3, -0.2], [1.0, 0.5], [0.1, 0.2]).round(3)
    array([19.492,  4.93 ])
    """
    forces = _forces_by(form)
    tree, (q, qd, qdd, loads), pack = mechanism.at(
        q=q, qd=qd, qdd=qdd, external_forces=external_forces
    )
    wrenches = external_wrenches(tree, q, loads)
    tau = forces(MotionTree(tree), q, qd, qdd, tree.gravity, wrenches)
    return pack(_with_joints(tree, q, qd, qdd, tau))


def _with_joints(
    tree: Tree,
    q: Scalars,
    qd: Scalars,
    qdd: Scalars,
    tau: Scalars,
) -> list[Scalar]:
    """Forces that accelerate the rotors too, less those that springs and friction give."""
    joints = passive(tree, q, qd)
    return [t + r * a - p for t, r, a, p in zip(tau, tree.rotor, qdd, joints, strict=True)]


def _forces_by(form: str) -> Callable[..., list[Scalar]]:
    """The function that gives the forces of a motion of the bodies."""
    make = form_named(form, "recursion")
    return partial(expanded_forces, make) if make else required_forces


def expanded_forces(
    make: Any,
    sequence: MotionTree,
    q: Scalars,
    qd: Scalars,
    qdd: Scalars | None,
    gravity: Vector,
    wrenches: Mapping[int, Force],
) -> list[Scalar]:
    """A0 qdd + a_q + a_g - sum S(B_l^k F_l^T) from the coefficients; arguments as
    `required_forces`.
    """
    terms = make(sequence, q)
    forces = [dot([dot(row, qd) for row in rows], qd) for rows in symbols_at(sequence, terms)]
    if qdd is not None:
        A0 = sequence.gathered(terms.inertia(), 2)
        forces = [f + dot(row, qdd) for f, row in zip(forces, A0, strict=True)]
    weight = sequence.gathered(terms.gravity(gravity), 1)
    applied = sequence.gathered(terms.applied(wrenches), 1)
    return [f + g - a for f, g, a in zip(forces, weight, applied, strict=True)]


def inverse_dynamics_on_moving_base(
    mechanism: Mechanism,
    q: Values,
    qd: Values,
    qdd: Values,
    base: Any,
    base_rate: Any,
    base_acceleration: Any,
) -> Array:
    """Inverse dynamics of a mechanism whose base moves as given: the recursion started at B_0,
    B_0', B_0''.

    Parameters
    ----------
    mechanism : Mechanism
    q : (nq,) array
        Coordinates relative to the base [rad, m, unit quaternions].
    qd, qdd : (nv,) array
        Velocities and accelerations [rad/s, m/s; rad/s^2, m/s^2].
    base, base_rate, base_acceleration : (4, 4) arrays
        Placement of the base in the world and its time derivatives [m, m/s, m/s^2; 1, 1/s, 1/s^2];
        floats or expressions.

    Returns
    -------
    tau : (nv,) array
        Forces of the actuators of the joints [N m; N].

    Raises
    ------
    ShapeError, ValueError, QuaternionError

    Examples
    --------
    >>> import dalembert as da
    >>> from dalembert.formulations import elementary_motions
    >>> import numpy as np
    >>> arm, still = da.planar_chain(2), np.zeros((4, 4))
    >>> elementary_motions.inverse_dynamics_on_moving_base(
    ...     arm, [0.3, -0.2], [1.0, 0.5], [0.1, 0.2], np.eye(4), still, still).round(3)
    array([19.492,  4.93 ])
    """
    tree, (q, qd, qdd), pack = mechanism.at(q=q, qd=qd, qdd=qdd)
    motion = (
        _checked_matrix("base", base),
        _checked_matrix("base_rate", base_rate),
        _checked_matrix("base_acceleration", base_acceleration),
    )
    tau = required_forces(MotionTree(tree), q, qd, qdd, tree.gravity, {}, motion)
    return pack(_with_joints(tree, q, qd, qdd, tau))


def _checked_matrix(name: str, values: Any) -> Matrix4:
    """The values as a matrix, their shape checked."""
    shape = np.shape(values)
    if shape != (4, 4):
        raise ShapeError(
            f"{name} has shape {shape}, expected (4, 4): a placement [[R, p], [0, "
            "1]] or its time derivative.",
            name,
            shape,
            (4, 4),
        )
    return Matrix4(np.asarray(values).tolist())


def forward_dynamics(
    mechanism: Mechanism, q: Values, qd: Values, tau: Values, external_forces: Any = ()
) -> Array:
    """Accelerations that joint forces produce, by one solution with A0 = L^T D L (eq. 4).

        qdd = A0^-1 (a_F - a_q - a_g)

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
    >>> from dalembert.formulations import elementary_motions
    >>> arm = da.planar_chain(2)
    >>> elementary_motions.forward_dynamics(arm, [0.3, -0.2], [1.0, 0.5], [5.0, 1.0]).round(3)
    array([-7.705,  7.688])
    """
    check_unconstrained(mechanism, "elementary_motions.forward_dynamics")
    tree, (q, qd, tau, loads), pack = mechanism.at(
        q=q, qd=qd, tau=tau, external_forces=external_forces
    )
    sequence = MotionTree(tree)
    wrenches = external_wrenches(tree, q, loads)
    bias = required_forces(sequence, q, qd, None, tree.gravity, wrenches)
    a_F = [t + p - b for t, p, b in zip(tau, passive(tree, q, qd), bias, strict=True)]
    return pack(solved(_factors(sequence, q), a_F))


def inverse_mass_matrix(mechanism: Mechanism, q: Values) -> Array:
    """Inverse of A0, by A0 = L^T D L.

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
    >>> from dalembert.formulations import elementary_motions
    >>> arm = da.planar_chain(2)
    >>> elementary_motions.inverse_mass_matrix(arm, [0.3, -0.2]).round(3)
    array([[ 1.631, -4.03 ],
           [-4.03 , 12.954]])
    """
    tree, (q,), pack = mechanism.at(q=q)
    factors = _factors(MotionTree(tree), q)
    return pack(inverted(factors), shape=(tree.nv, tree.nv))


def _factors(sequence: MotionTree, q: Scalars) -> Factors:
    """Factors of A0, which the composite form gives."""
    A0 = _inertia(sequence, Composite(sequence, q))
    return factorised(A0, PivotCheck.of_tree(sequence.tree, q, lambda: A0))


def kinetic_energy(mechanism: Mechanism, q: Values, qd: Values) -> float | Array:
    """Kinetic energy of the bodies and rotors.

        T = 1/2 sum_l S(B_l' I_l B_l'^T) + 1/2 sum_k rotor_k qd_k^2,    B_l' = sum_j B_l^j qd_j

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
    >>> from dalembert.formulations import elementary_motions
    >>> arm = da.planar_chain(2)
    >>> round(elementary_motions.kinetic_energy(arm, [0.3, -0.2], [1.0, 0.5]), 3)
    1.777
    """
    tree, (q, qd), pack = mechanism.at(q=q, qd=qd)
    sequence = MotionTree(tree)
    twice = dot(_rotor_momenta(tree, qd), qd)
    _, rates = _rates(sequence, q, qd)
    for l, B in rates.items():
        twice = twice + trace(B @ sequence.step[l].inertia, B)
    return single(pack(twice * 0.5))


def _rotor_momenta(tree: Tree, qd: Scalars) -> list[Scalar]:
    return [rotor * rate for rotor, rate in zip(tree.rotor, qd, strict=True)]


def _rates(sequence: MotionTree, q: Scalars, qd: Scalars):
    """The state, and B_l' of each step (eq. 9 as a recursion)."""
    state = sequence.at(q)
    rate = {0: AT_REST[1]}
    for l in sequence.outward():
        W, _ = joint_rates(sequence, state, l, qd, None)
        rate[l] = rate[sequence.step[l].parent] @ state.T[l] + state.B[l] @ W
    rate.pop(0)
    return state, rate


def momenta(mechanism: Mechanism, q: Values, qd: Values) -> Array:
    """Generalized momenta p_k = sum_l S(B_l' I_l B_l^kT) + rotor_k qd_k = A0 qd, summed inward in
    O(n).

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
    >>> from dalembert.formulations import elementary_motions
    >>> arm = da.planar_chain(2)
    >>> elementary_motions.momenta(arm, [0.3, -0.2], [1.0, 0.5]).round(3)
    array([3.058, 0.99 ])
    """
    tree, (q, qd), pack = mechanism.at(q=q, qd=qd)
    sequence = MotionTree(tree)
    state, rate = _rates(sequence, q, qd)
    K = {0: ZERO4} | {l: sequence.step[l].inertia @ B.T for l, B in rate.items()}
    p = _rotor_momenta(tree, qd)
    for l in sequence.inward():
        step = sequence.step[l]
        for j, k in zip(step.freedoms, step.entries, strict=True):
            p[k] = p[k] + trace(state.B[l] @ state.D[j], K[l].T)
        K[step.parent] = K[step.parent] + state.T[l] @ K[l]
    return pack(p)


def potential_energy(mechanism: Mechanism, q: Values) -> float | Array:
    """Potential energy of gravity and springs.

        Pi = - g . sum_l m_l B_l r_l + 1/2 sum_k k_k (q_k - rest_k)^2

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
    >>> from dalembert.formulations import elementary_motions
    >>> arm = da.planar_chain(2)
    >>> round(elementary_motions.potential_energy(arm, [0.3, -0.2]), 3)
    4.838
    """
    tree, (q,), pack = mechanism.at(q=q)
    sequence = MotionTree(tree)
    state = sequence.at(q)
    energy: Scalar = 0.0
    for l, step in sequence.step.items():
        energy = energy - tree.gravity.dot((state.B[l] @ step.inertia).last_column)
    return single(pack(spring_energy(tree, q, energy)))
