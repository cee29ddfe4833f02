"""Coriolis matrix: column by column the force of an acceleration field."""

from __future__ import annotations

from collections.abc import Sequence

from dalembert.model.mechanism import Mechanism
from dalembert.model.tree import Tree
from dalembert.spatial.arrays import Array, Values
from dalembert.spatial.inertias import Inertia
from dalembert.spatial.motion_force import NO_MOTION, Force, Motion, combined
from dalembert.spatial.vectors import Scalar


def coriolis_matrix(mechanism: Mechanism, q: Values, qd: Values) -> Array:
    """Coriolis matrix of the Christoffel symbols, for joints of any kind; dM/dt - 2 C is skew.

        C_kj = 1/2 sum_i v_i [X_i M_jk + X_j M_ki - X_k M_ij + gamma^l_ij M_lk - gamma^l_jk M_li +
        gamma^l_ki M_lj]

    with X_i the derivative along velocity i and [X_i, X_j] = gamma^l_ij X_l. For points r with mass
    dm it is

        C_kj = integral (X_k r) . d/dt (X_j r) dm

    so column j is the inverse dynamics of the acceleration field d/dt (X_j r) (docs/newton_euler.md
    derives it).

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

    References
    ----------
    Echeandia and Wensing, Numerical Methods to Compute the Coriolis Matrix and Christoffel Symbols
    for Rigid-Body Systems (2021): the same matrix by composite bodies.

    Examples
    --------
    >>> import dalembert as da
    >>> arm = da.planar_chain(2)
    >>> da.coriolis_matrix(arm, [0.3, -0.2], [1.0, 0.5]).round(3)
    array([[ 0.05 ,  0.149],
           [-0.099,  0.   ]])
    """
    tree, (q, qd), pack = mechanism.at(q=q, qd=qd)
    C: list[list[Scalar]] = [[0.0] * tree.nv for _ in range(tree.nv)]
    X, S, v, DS = {}, {}, {0: NO_MOTION}, {}

    for i in tree.outward():
        joint = tree.joint[i]
        X[i], S[i] = joint.placement(q), joint.subspace(q)
        v[i] = X[i].motion_to_child(v[tree.parent[i]]) + combined(S[i], joint.velocities(qd))
        DS[i] = subspace_derivative(joint, q, qd, S[i], v[i])

    for i in tree.outward():
        for column, s, Ds in zip(tree.joint[i].dof, S[i], DS[i], strict=True):
            for k, force in _forces(tree, X, v, i, s, Ds).items():
                for row, r in zip(tree.joint[k].dof, S[k], strict=True):
                    C[row][column] = C[row][column] + force.dot(r)
    return pack(C, shape=(tree.nv, tree.nv))


def subspace_derivative(joint, q, qd, S: Sequence[Motion], velocity: Motion) -> list[Motion]:
    """Time derivative of the motion subspace as seen from the inertial frame: DS = S' + v x S."""
    own = joint.subspace_rate(q, qd)
    turning = [velocity.cross(s) for s in S]
    return turning if own is None else [t + o for t, o in zip(turning, own, strict=True)]


def field_wrench(inertia: Inertia, velocity: Motion, s: Motion, Ds: Motion) -> Force:
    """Force of the acceleration field d/dt (s_v + s_w x r) on a body that moves with `velocity`."""
    W = Ds.angular.matrix() + s.angular.matrix() @ velocity.angular.matrix()
    return inertia.wrench(Ds.linear + s.angular.cross(velocity.linear), W)


def _forces(tree: Tree, X, v, root: int, s: Motion, Ds: Motion) -> dict[int, Force]:
    """Forces on the joints of and below `root`, and of its ancestors, for one column."""
    field, force = {root: (s, Ds)}, {}
    for i in range(root, tree.n + 1):  # outward over the subtree of the root
        j = tree.parent[i]
        if i != root:
            if j not in field:
                continue
            field[i] = (X[i].motion_to_child(field[j][0]), X[i].motion_to_child(field[j][1]))
        force[i] = field_wrench(tree.inertia[i], v[i], *field[i])
    for i in sorted(force, reverse=True):  # inward over the subtree
        if i != root:
            force[tree.parent[i]] = force[tree.parent[i]] + X[i].force_to_parent(force[i])
    i = root
    while tree.parent[i]:  # and on to the base
        force[tree.parent[i]] = X[i].force_to_parent(force[i])
        i = tree.parent[i]
    return force
