"""Jacobian of a frame and its rate."""

from __future__ import annotations

from dalembert.errors import UnknownNameError
from dalembert.kinematics.poses import frame_place, world_poses
from dalembert.model.loads import AXES_OF_EXPRESSION
from dalembert.model.mechanism import Mechanism
from dalembert.spatial.arrays import Array, Values
from dalembert.spatial.motion_force import NO_MOTION, Motion, combined


def jacobian(mechanism: Mechanism, q: Values, frame: str, expressed_in: str = "aligned") -> Array:
    """Jacobian of a frame: spatial velocity (omega; v) = J(q) qd.

    Parameters
    ----------
    q : (nq,) or (N, nq) array
        Coordinates [rad, m, unit quaternions].
    frame : str
        Name of a link or frame.
    expressed_in : {'aligned', 'local', 'world'}
        World axes at the frame's origin (v is the origin's velocity); the frame's axes at its origin; world axes at
        the world's origin (v is that of the body's point there).

    Returns
    -------
    J : (6, nv) or (N, 6, nv) array
        Angular part first [1, 1/m for translations; m, 1].

    Raises
    ------
    ShapeError, UnknownNameError, QuaternionError

    References
    ----------
    Featherstone, Rigid Body Dynamics Algorithms (2008), eq. 2.70 and section 4.3.
    """
    tree, (q,), pack = mechanism.at(q=q)
    columns = _columns(tree, q, None, frame, expressed_in)
    return pack(_rows(columns), shape=(6, tree.nv))


def jacobian_rate(mechanism: Mechanism, q: Values, qd: Values, frame: str, expressed_in: str = "aligned") -> Array:
    """Time derivative of `jacobian` along the motion: (omega; v)' = J qdd + J' qd.

    q : (nq,) or (N, nq); qd : (nv,) or (N, nv) [rad/s, m/s]; frame, expressed_in and errors as for `jacobian`.
    Returns (6, nv) or (N, 6, nv), the derivative of each component [1/s].
    """
    tree, (q, qd), pack = mechanism.at(q=q, qd=qd)
    columns = _columns(tree, q, qd, frame, expressed_in)
    return pack(_rows(columns), shape=(6, tree.nv))


def _columns(tree, q, qd, frame, expressed_in):
    """Columns of the Jacobian, or of its rate where qd is given."""
    if expressed_in not in AXES_OF_EXPRESSION:
        raise UnknownNameError("axes", expressed_in, AXES_OF_EXPRESSION)
    i, X_frame = frame_place(tree, frame)
    pose = world_poses(tree, q, [i])
    place = pose[i] * X_frame
    columns = [NO_MOTION] * tree.nv                      # in world axes at the world's origin
    rates = [NO_MOTION] * tree.nv
    velocity = NO_MOTION                                 # of the bodies outward along the chain

    for k in reversed(tree.support(i)):
        joint = tree.joint[k]
        S = [pose[k].motion_to_parent(s) for s in joint.subspace(q)]
        if qd is not None:
            velocity = velocity + combined(S, joint.velocities(qd))
            own = joint.subspace_rate(q, qd)
            for m, d in enumerate(joint.dof):
                turning = velocity.cross(S[m])
                rates[d] = rates[d] + (turning + pose[k].motion_to_parent(own[m]) if own else turning)
        for m, d in enumerate(joint.dof):
            columns[d] = columns[d] + S[m]

    if qd is None:
        return [_seen(c, place, expressed_in) for c in columns]
    if expressed_in == "world":
        return rates
    if expressed_in == "local":
        return [place.motion_to_child(r - velocity.cross(c)) for c, r in zip(columns, rates, strict=True)]
    origin_velocity = velocity.linear + velocity.angular.cross(place.p)
    return [Motion(r.angular, r.linear + r.angular.cross(place.p) + c.angular.cross(origin_velocity))
            for c, r in zip(columns, rates, strict=True)]


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


