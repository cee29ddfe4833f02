"""How the centre of mass and the momentum of all bodies vary with the velocities, by composite
rigid bodies in O(n).
"""

from __future__ import annotations

from collections.abc import Sequence

from dalembert.kinematics.poses import mass_and_moment, world_poses
from dalembert.model.mechanism import Mechanism
from dalembert.model.tree import Tree
from dalembert.spatial.arrays import Array, Values
from dalembert.spatial.motion_force import NO_FORCE, Force
from dalembert.spatial.vectors import Scalar


def center_of_mass_jacobian(mechanism: Mechanism, q: Values) -> Array:
    """Jacobian of the centre of mass of the moving bodies: its velocity c' = J_c(q) qd, in world
    axes.

        J_c e_k = (linear momentum at unit velocity k) / sum_i m_i

    Parameters
    ----------
    mechanism : Mechanism
    q : (nq,) or (N, nq) array
        Coordinates [rad; m for prismatic joints; unit quaternions].

    Returns
    -------
    J_c : (3, nv) or (N, 3, nv) array
        [m; 1 for prismatic joints]. The gravity vector without springs is -m J_c^T gravity.

    Raises
    ------
    ShapeError, ValueError, QuaternionError
        A vector has the wrong length or an entry that is not finite; a quaternion is not of unit
        length.
    DalembertError
        The moving bodies have no mass.

    References
    ----------
    Sugihara, Nakamura, Inoue, Realtime humanoid motion generation through ZMP manipulation (2002):
    the COG Jacobian.

    Examples
    --------
    >>> import dalembert as da
    >>> arm = da.planar_chain(2)
    >>> da.center_of_mass_jacobian(arm, [0.3, -0.2])[::2].round(3)
    array([[-0.247, -0.025],
           [ 0.965,  0.249]])
    """
    tree, (q,), pack = mechanism.at(q=q)
    mass, _ = mass_and_moment(mechanism, tree, q)
    columns = unit_momenta(tree, q)
    return pack([[h.force[r] / mass for h in columns] for r in range(3)], shape=(3, tree.nv))


def centroidal_momentum_matrix(mechanism: Mechanism, q: Values) -> Array:
    """Matrix that gives the momentum of the moving bodies about their centre of mass, in world
    axes.

        (L_c; P) = A(q) qd

    Parameters
    ----------
    mechanism : Mechanism
    q : (nq,) or (N, nq) array
        Coordinates [rad; m for prismatic joints; unit quaternions].

    Returns
    -------
    A : (6, nv) or (N, 6, nv) array
        Rows of the angular momentum [kg m^2; kg m for prismatic joints], then of the linear
        momentum [kg m; kg]. Rotors are not part of it. The last three rows are m J_c, J_c of
        `center_of_mass_jacobian`.

    Raises
    ------
    ShapeError, ValueError, QuaternionError
        A vector has the wrong length or an entry that is not finite; a quaternion is not of unit
        length.
    DalembertError
        The moving bodies have no mass.

    References
    ----------
    Orin, Goswami, Lee, Centroidal dynamics of a humanoid robot (2013), by composite rigid bodies.

    Examples
    --------
    >>> import dalembert as da
    >>> arm = da.planar_chain(2)
    >>> da.centroidal_momentum_matrix(arm, [0.3, -0.2])[1::2].round(3)
    array([[-0.662, -0.331],
           [-0.493, -0.05 ],
           [ 1.931,  0.498]])
    """
    tree, (q,), pack = mechanism.at(q=q)
    mass, moment = mass_and_moment(mechanism, tree, q)
    center = moment * (1 / mass)
    columns = [[*(h.moment - center.cross(h.force)), *h.force] for h in unit_momenta(tree, q)]
    return pack([[column[r] for column in columns] for r in range(6)], shape=(6, tree.nv))


def unit_momenta(tree: Tree, q: Sequence[Scalar]) -> list[Force]:
    """Momentum of all moving bodies for each unit velocity, about the world's origin in world axes:
    X_i^T I^c_i s_k.
    """
    pose = world_poses(tree, q)
    composite = list(tree.inertia)
    momenta = [NO_FORCE] * tree.nv
    for i in tree.inward():
        joint = tree.joint[i]
        j = tree.parent[i]
        for k, s in zip(joint.dof, joint.subspace(q), strict=True):
            momenta[k] = momenta[k] + pose[i].force_to_parent(composite[i].momentum(s))
        if j:
            composite[j] = composite[j] + composite[i].to_parent(joint.placement(q))
    return momenta
