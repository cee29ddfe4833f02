"""Jacobian of a frame and its rate."""

from __future__ import annotations

from dalembert.arguments import check_choice
from dalembert.kinematics.poses import frame_place, world_poses
from dalembert.model.external_forces import AXES_OF_EXPRESSION
from dalembert.model.mechanism import Mechanism
from dalembert.spatial.arrays import Array, Values
from dalembert.spatial.motion_force import NO_MOTION, Motion, combined


def jacobian(mechanism: Mechanism, q: Values, frame: str, expressed_in: str = "aligned") -> Array:
    """Jacobian of a frame: spatial velocity (omega; v) = J(q) qd.

    Parameters
    ----------
    mechanism : Mechanism
    q : (nq,) or (N, nq) array
        Coordinates [rad; m for prismatic joints; unit quaternions].
    frame : str
        Name of a link or frame.
    expressed_in : {'aligned', 'local', 'world'}
        World axes at the frame's origin (v is the origin's velocity); the frame's axes at its
        origin; world axes at the world's origin (v is that of the body's point there).

    Returns
    -------
    J : (6, nv) or (N, 6, nv) array
        Angular part first [1, 1/m for translations; m, 1].

    Raises
    ------
    ShapeError, ValueError, QuaternionError
        A vector has the wrong length or an entry that is not finite; a quaternion is not of unit
        length.
    UnknownNameError
        There is no such link or frame.

    References
    ----------
    Featherstone, Rigid Body Dynamics Algorithms (2008), eq. 2.70 and section 4.3.

    Examples
    --------
    >>> import dalembert as da
    >>> arm = da.planar_chain(2)
    >>> da.jacobian(arm, [0.3, -0.2], "link2")[3::2].round(3)
    array([[-0.296,  0.   ],
           [ 0.955,  0.   ]])
    """
    tree, (q,), pack = mechanism.at(q=q)
    columns = _columns(tree, q, None, frame, expressed_in)
    return pack(_rows(columns), shape=(6, tree.nv))


def jacobian_rate(
    mechanism: Mechanism, q: Values, qd: Values, frame: str, expressed_in: str = "aligned"
) -> Array:
    """Time derivative of `jacobian` along the motion: (omega; v)' = J qdd + J' qd.

    Parameters
    ----------
    mechanism : Mechanism
    q : (nq,) or (N, nq) array
        Coordinates [rad; m for prismatic joints; unit quaternions].
    qd : (nv,) or (N, nv) array
        Velocities along the joints' motion subspaces [rad/s, m/s].
    frame : str
        Name of a link or frame.
    expressed_in : {'aligned', 'local', 'world'}
        World axes at the frame's origin (v is the origin's velocity); the frame's axes at its
        origin; world axes at the world's origin (v is that of the body's point there).

    Returns
    -------
    J' : (6, nv) or (N, 6, nv) array
        The derivative of each component [1/s, 1/(m s); m/s, 1/s].

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
    >>> da.jacobian_rate(arm, [0.3, -0.2], [1.0, 0.5], "link2")[3::2].round(3)
    array([[-0.955,  0.   ],
           [-0.296,  0.   ]])
    """
    tree, (q, qd), pack = mechanism.at(q=q, qd=qd)
    columns = _columns(tree, q, qd, frame, expressed_in)
    return pack(_rows(columns), shape=(6, tree.nv))


def _columns(tree, q, qd, frame, expressed_in):
    """Columns of the Jacobian, or of its rate where qd is given."""
    check_choice("axes", expressed_in, AXES_OF_EXPRESSION)
    i, X_frame = frame_place(tree, frame)
    pose = world_poses(tree, q, [i])
    place = pose[i] * X_frame
    columns = [NO_MOTION] * tree.nv  # in world axes at the world's origin
    rates = [NO_MOTION] * tree.nv
    velocity = NO_MOTION  # of the bodies outward along the chain

    for k in reversed(tree.support(i)):
        joint = tree.joint[k]
        S = [pose[k].motion_to_parent(s) for s in joint.subspace(q)]
        if qd is not None:
            velocity = velocity + combined(S, joint.velocities(qd))
            own = joint.subspace_rate(q, qd)
            for m, d in enumerate(joint.dof):
                turning = velocity.cross(S[m])
                rates[d] = rates[d] + (
                    turning + pose[k].motion_to_parent(own[m]) if own else turning
                )
        for m, d in enumerate(joint.dof):
            columns[d] = columns[d] + S[m]

    if qd is None:
        return [_seen(c, place, expressed_in) for c in columns]
    if expressed_in == "world":
        return rates
    if expressed_in == "local":
        return [
            place.motion_to_child(r - velocity.cross(c))
            for c, r in zip(columns, rates, strict=True)
        ]
    origin_velocity = velocity.linear + velocity.angular.cross(place.p)
    return [
        Motion(r.angular, r.linear + r.angular.cross(place.p) + c.angular.cross(origin_velocity))
        for c, r in zip(columns, rates, strict=True)
    ]


def _seen(column: Motion, place, expressed_in: str) -> Motion:
    """A motion given in world axes at the world's origin, as the chosen axes show it."""
    if expressed_in == "world":
        return column
    if expressed_in == "local":
        return place.motion_to_child(column)
    return Motion(column.angular, column.linear + column.angular.cross(place.p))


def _rows(columns):
    vectors = [[*c.angular, *c.linear] for c in columns]
    return [[v[k] for v in vectors] for k in range(6)]
