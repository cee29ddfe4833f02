"""Placements of bodies and frames in the world, centre of mass."""

from __future__ import annotations

from collections.abc import Sequence

from dalembert.errors import DalembertError, UnknownNameError
from dalembert.expr import known_zero
from dalembert.model.mechanism import Mechanism
from dalembert.model.tree import Tree
from dalembert.spatial.arrays import Array, Values
from dalembert.spatial.rotations import NO_ROTATION, Dense, Rotation
from dalembert.spatial.transforms import Transform
from dalembert.spatial.vectors import IDENTITY, ZERO, Matrix, Scalar

BASE_POSE = Transform(ZERO, Dense(IDENTITY))


def world_poses(
    tree: Tree, q: Sequence[Scalar], bodies: Sequence[int] | None = None
) -> dict[int, Transform]:
    """Placement of bodies in the world: of all, or of those named and their ancestors."""
    order: Sequence[int] = tree.outward()
    if bodies is not None:
        order = sorted({k for i in bodies for k in tree.support(i)})
    pose = {0: BASE_POSE}
    for i in order:
        X = tree.joint[i].placement(q)
        parent = pose[tree.parent[i]]
        pose[i] = Transform(parent.point_to_parent(X.p), turned(parent.R, X.R))
    return pose


def turned(parent: Rotation, R: Rotation) -> Rotation:
    """The product of a body's rotation and its child's, as a matrix."""
    if parent is NO_ROTATION:
        return R
    return Dense(Matrix(R.to_child(row) for row in parent.matrix()))  # rows of R_parent R


def frame_place(tree: Tree, frame: str) -> tuple[int, Transform]:
    """Body that carries a link or frame, and its placement on it."""
    if not isinstance(frame, str) or frame not in tree.place:
        raise UnknownNameError("frame", frame, tuple(tree.place))
    return tree.place[frame]


def placement(mechanism: Mechanism, q: Values, frame: str) -> Array:
    """Placement of a link or frame in the world.

        T = [[R, p], [0, 1]]

    Parameters
    ----------
    mechanism : Mechanism
    q : (nq,) or (N, nq) array
        Coordinates [rad; m for prismatic joints; unit quaternions].
    frame : str
        Name of a link or frame.

    Returns
    -------
    T : (4, 4) or (N, 4, 4) array
        Rotation R (columns are the frame's axes in world axes) and origin p [m].

    Raises
    ------
    ShapeError, ValueError, QuaternionError
        A vector has the wrong length or an entry that is not finite; a quaternion is not of unit
        length.
    UnknownNameError
        There is no such link or frame.

    Examples
    --------
    >>> import dalembert as da
    >>> arm = da.planar_chain(2)
    >>> da.placement(arm, [0.3, -0.2], "link2")[:3, 3].round(3)
    array([0.955, 0.   , 0.296])
    """
    tree, (q,), pack = mechanism.at(q=q)
    i, X = frame_place(tree, frame)
    pose = world_poses(tree, q, [i])[i]
    p = pose.point_to_parent(X.p)
    R = Matrix(X.R.to_child(row) for row in pose.R.matrix())
    return pack([[*R[k], p[k]] for k in range(3)] + [[0, 0, 0, 1]])


def center_of_mass(mechanism: Mechanism, q: Values) -> Array:
    """Centre of mass of the moving bodies in world axes.

        c = sum_i m_i c_i / sum_i m_i

    Parameters
    ----------
    mechanism : Mechanism
    q : (nq,) or (N, nq) array
        Coordinates [rad; m for prismatic joints; unit quaternions].

    Returns
    -------
    c : (3,) or (N, 3) array
        [m]; links fixed to the base do not count.

    Raises
    ------
    ShapeError, ValueError, QuaternionError
        A vector has the wrong length or an entry that is not finite; a quaternion is not of unit
        length.
    DalembertError
        The moving bodies have no mass.

    Examples
    --------
    >>> import dalembert as da
    >>> arm = da.planar_chain(2)
    >>> da.center_of_mass(arm, [0.3, -0.2])[::2].round(3)
    array([0.965, 0.247])
    """
    tree, (q,), pack = mechanism.at(q=q)
    mass, moment = mass_and_moment(mechanism, tree, q)
    return pack([x / mass for x in moment])


def mass_and_moment(mechanism: Mechanism, tree: Tree, q: Sequence[Scalar]):
    """Mass, which is not 0, and first moment of the moving bodies."""
    mass, moment = first_moments(tree, q)
    if known_zero(mass):
        raise DalembertError(
            f"mechanism {mechanism.name!r}: the moving bodies have no mass, so no centre of mass."
        )
    return mass, moment


def first_moments(tree: Tree, q: Sequence[Scalar]):
    """Mass and first moment sum m_i c_i of the moving bodies about the world's origin, in world
    axes.
    """
    m = {i: tree.inertia[i].m for i in tree.outward()} | {0: 0}
    h = {i: tree.inertia[i].h for i in tree.outward()} | {0: ZERO}
    for i in tree.inward():
        j = tree.parent[i]
        X = tree.joint[i].placement(q)
        m[j] = m[j] + m[i]
        h[j] = h[j] + X.R.to_parent(h[i]) + X.p * m[i]
    return m[0], h[0]
