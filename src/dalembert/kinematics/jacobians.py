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
    frame_pose = pose[i] * X_frame
    columns = [NO_MOTION] * tree.nv  # in world axes at the world's origin
    rates = [NO_MOTION] * tree.nv
    velocity = NO_MOTION  # of the bodies outward along the chain

    for k in reversed(tree.support(i)):
        joint = tree.joint[k]
        S = [pose[k].motion_to_parent(s) for s in joint.subspace(q)]
        if qd is not None:
            velocity = velocity + combined(S, joint.velocities(qd))
            S_rate = joint.subspace_rate(q, qd)  # in the body's axes; None where S is constant
            for m, d in enumerate(joint.dof):
                rate = velocity.cross(S[m])
                if S_rate:
                    rate = rate + pose[k].motion_to_parent(S_rate[m])
                rates[d] = rates[d] + rate
        for m, d in enumerate(joint.dof):
            columns[d] = columns[d] + S[m]

    if qd is None:
        return [_seen(c, frame_pose, expressed_in) for c in columns]
    if expressed_in == "world":
        return rates
    if expressed_in == "local":
        turning = [r - velocity.cross(c) for c, r in zip(columns, rates, strict=True)]
        return [frame_pose.motion_to_child(r) for r in turning]
    p = frame_pose.p
    p_rate = velocity.linear + velocity.angular.cross(p)
    return [
        Motion(r.angular, r.linear + r.angular.cross(p) + c.angular.cross(p_rate))
        for c, r in zip(columns, rates, strict=True)
    ]


def _seen(column: Motion, frame_pose, expressed_in: str) -> Motion:
    """A motion given in world axes at the world's origin, as the chosen axes show it."""
    if expressed_in == "world":
        return column
    if expressed_in == "local":
        return frame_pose.motion_to_child(column)
    return Motion(column.angular, column.linear + column.angular.cross(frame_pose.p))


def _rows(columns):
    vectors = [[*c.angular, *c.linear] for c in columns]
    return [[v[k] for v in vectors] for k in range(6)]
