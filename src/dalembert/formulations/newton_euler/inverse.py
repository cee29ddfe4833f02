"""Inverse dynamics and bias force by the recursive Newton-Euler method."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from dalembert.formulations.newton_euler.body_rates import (
    base_rates,
    body_wrench,
    outward_step,
)
from dalembert.formulations.newton_euler.line_dynamics import line_forces
from dalembert.kinematics.forces import external_wrenches, passive
from dalembert.model.mechanism import Mechanism
from dalembert.model.tree import Tree
from dalembert.spatial.arrays import Array, Values
from dalembert.spatial.inertias import Inertia
from dalembert.spatial.motion_force import NO_FORCE, Force, Motion
from dalembert.spatial.transforms import Transform
from dalembert.spatial.vectors import ZERO, Scalar, Vector


def joint_motion(
    tree: Tree, i: int, q: Sequence[Scalar], qd: Sequence[Scalar], qdd: Sequence[Scalar] | None
) -> tuple[tuple[Motion, ...], Motion, Motion]:
    """Motion subspace S of joint i, its velocity S qd and its rate S qdd + S' qd (qdd None: zero)."""
    joint = tree.joint[i]
    return joint.subspace(q), *joint.motion(q, qd, qdd)


def required_forces(
    tree: Tree,
    q: Sequence[Scalar],
    qd: Sequence[Scalar],
    qdd: Sequence[Scalar] | None,
    gravity: Vector,
    wrenches: Mapping[int, Force],
) -> list[Scalar]:
    """Joint forces for the motion of the bodies alone: no rotors, springs or friction (qdd None:
    zero).
    """
    rates = {0: base_rates(gravity)}
    X = {}
    f = {0: NO_FORCE}
    tau: list[Scalar] = [0.0] * tree.nv

    for i in tree.bodies:  # parents before children
        X[i] = tree.joint[i].placement(q)
        rates[i] = outward_step(rates[tree.parent[i]], X[i], *tree.joint[i].motion(q, qd, qdd))
        f[i] = body_wrench(tree.beside_lines[i], rates[i])
        if i in wrenches:
            f[i] = f[i] - wrenches[i]

    for line in tree.lines:
        j, joint = tree.parent[line.bodies[0]], tree.joint[line.bodies[0]]
        on_carrier, along = line_forces(line, joint, (q, qd, qdd), rates[j])
        f[j] = f[j] + on_carrier
        tau[joint.dof.start : joint.dof.stop] = along

    for i in reversed(tree.bodies):  # children before parents
        for k, x in zip(tree.joint[i].dof, tree.joint[i].along(q, f[i]), strict=True):
            tau[k] = tau[k] + x
        if j := tree.parent[i]:
            f[j] = f[j] + X[i].force_to_parent(f[i])
    return tau


def inward_step(
    tree: Tree, i: int, X: Transform, S: Sequence[Motion], f: dict[int, Force], tau: list[Scalar]
) -> None:
    """Add S^T f of body i to its joint's entries of tau, and its force to its parent's (not to the
    base's).
    """
    for k, s in zip(tree.joint[i].dof, S, strict=True):
        tau[k] = tau[k] + f[i].dot(s)
    if j := tree.parent[i]:
        f[j] = f[j] + X.force_to_parent(f[i])


def inverse_dynamics(
    mechanism: Mechanism, q: Values, qd: Values, qdd: Values, external_forces: Any = ()
) -> Array:
    """Joint forces that produce the given accelerations (recursive Newton-Euler, O(n)).

        tau = M(q) qdd + C(q, qd) qd + g(q) - passive_force - sum_i J_i(q)^T f_i

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
    Luh, Walker, Paul (1980); with the matrices U of Khalil and Dombre, Modeling, Identification and
    Control of Robots (2002), eqs. 9.86 to 9.96; for joints of several freedoms Featherstone, Rigid
    Body Dynamics Algorithms (2008), Table 5.1.

    Examples
    --------
    >>> import dalembert as da
    >>> arm = da.planar_chain(2)
    >>> da.inverse_dynamics(arm, [0.3, -0.2], [1.0, 0.5], [0.1, 0.2]).round(3)
    array([19.492,  4.93 ])
    """
    tree, (q, qd, qdd, loads), pack = mechanism.at(
        q=q, qd=qd, qdd=qdd, external_forces=external_forces
    )
    tau = required_forces(tree, q, qd, qdd, tree.gravity, external_wrenches(tree, q, loads))
    given = passive(tree, q, qd)
    return pack([t + r * a - p for t, r, a, p in zip(tau, tree.rotor, qdd, given, strict=True)])


def bias_force(mechanism: Mechanism, q: Values, qd: Values) -> Array:
    """Coriolis, centrifugal and gravity forces.

        h(q, qd) = C(q, qd) qd + g(q)

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

    References
    ----------
    Featherstone, Rigid Body Dynamics Algorithms (2008), Table 5.1 at zero accelerations.

    Examples
    --------
    >>> import dalembert as da
    >>> arm = da.planar_chain(2)
    >>> da.bias_force(arm, [0.3, -0.2], [1.0, 0.5]).round(3)
    array([19.062,  4.781])
    """
    tree, (q, qd), pack = mechanism.at(q=q, qd=qd)
    return pack(required_forces(tree, q, qd, None, tree.gravity, {}))


def coriolis_vector(mechanism: Mechanism, q: Values, qd: Values) -> Array:
    """Coriolis and centrifugal forces C(q, qd) qd: the bias force without gravity.

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

    References
    ----------
    Featherstone, Rigid Body Dynamics Algorithms (2008), Table 5.1, without gravity.

    Examples
    --------
    >>> import dalembert as da
    >>> arm = da.planar_chain(2)
    >>> da.coriolis_vector(arm, [0.3, -0.2], [1.0, 0.5]).round(3)
    array([ 0.124, -0.099])
    """
    tree, (q, qd), pack = mechanism.at(q=q, qd=qd)
    return pack(required_forces(tree, q, qd, None, ZERO, {}))


def gravity_vector(mechanism: Mechanism, q: Values) -> Array:
    """Forces that hold the mechanism against gravity.

        g(q) = dPi_g/dq,    Pi_g = - sum_i m_i gravity . c_i(q)

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

    References
    ----------
    Featherstone, Rigid Body Dynamics Algorithms (2008), Table 5.1, at rest.

    Examples
    --------
    >>> import dalembert as da
    >>> arm = da.planar_chain(2)
    >>> da.gravity_vector(arm, [0.3, -0.2]).round(3)
    array([18.938,  4.88 ])
    """
    tree, (q,), pack = mechanism.at(q=q)
    up, X, f = {0: -tree.gravity}, {}, {0: NO_FORCE}
    tau: list[Scalar] = [0.0] * tree.nv

    for i in tree.outward():
        X[i] = tree.joint[i].placement(q)
        up[i] = X[i].R.to_child(up[tree.parent[i]])
        f[i] = gravity_wrench(tree.inertia[i], up[i])

    for i in tree.inward():
        inward_step(tree, i, X[i], tree.joint[i].subspace(q), f, tau)
    return pack(tau)


def gravity_wrench(inertia: Inertia, up: Vector) -> Force:
    """Force that holds a body against the acceleration `up`."""
    return Force(inertia.h.cross(up), up * inertia.m)
