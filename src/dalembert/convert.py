"""Vectors in the conventions of other engines, and the two accelerations of a floating base.

Pinocchio: continuous joints as (cos, sin); quaternions x y z w; free joints position first and
linear part first, both in the child's axes; planar joints (x, y, cos, sin) with velocities in the
child's axes, rotation last. MuJoCo: free joints position first, quaternion w x y z, linear velocity
in world axes; planar joints (x, y, angle). All other joints are alike. The other engine's order of
joints can be given by name.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np

from dalembert.errors import DalembertError, ShapeError, UnknownNameError
from dalembert.model.joints import Continuous, Free, Planar, Spherical
from dalembert.model.mechanism import Mechanism
from dalembert.spatial.arrays import Array, Values

__all__ = [
    "Vectors",
    "classical_acceleration",
    "from_mujoco",
    "from_pinocchio",
    "spatial_acceleration",
    "to_mujoco",
    "to_pinocchio",
]


class Vectors(NamedTuple):
    """Coordinates, velocities, accelerations and forces; None where none were given, so that
    callers know their types.

    Examples
    --------
    >>> import dalembert as da
    >>> da.convert.to_pinocchio(da.planar_chain(1), [0.5]).q
    array([0.5])
    """

    q: Array
    qd: Array = None  # type: ignore[assignment]
    qdd: Array = None  # type: ignore[assignment]
    tau: Array = None  # type: ignore[assignment]


def to_pinocchio(
    mechanism: Mechanism,
    q: Values,
    qd: Values | None = None,
    qdd: Values | None = None,
    tau: Values | None = None,
    joint_order: Sequence[str] | None = None,
) -> Vectors:
    """Vectors in Pinocchio's conventions.

    Parameters
    ----------
    mechanism : Mechanism
    q : (nq,) or (N, nq) array
        Coordinates [rad, m, unit quaternions]; as this package has them.
    qd, qdd, tau : (nv,) or (N, nv) array, optional
        Velocities, accelerations (those of a planar joint need qd), forces [rad/s, m/s; rad/s^2,
        m/s^2; N m, N].
    joint_order : sequence of str, optional
        Names of the moving joints in the other engine's order.

    Returns
    -------
    Vectors
        q, qd, qdd, tau, each None where it was not given. Forces map so that power is the same.

    Raises
    ------
    ShapeError, QuaternionError, UnknownNameError
        A vector has the wrong length; a quaternion is not of unit length; a joint of the order is
        unknown.
    DalembertError
        The mechanism has elastic bodies.

    Examples
    --------
    >>> import dalembert as da
    >>> body = da.random_tree(3, 1, "free")
    >>> da.convert.to_pinocchio(body, [1.0, 0, 0, 0, 0.1, 0.2, 0.3]).q
    array([0.1, 0.2, 0.3, 0. , 0. , 0. , 1. ])
    """
    return _outward(mechanism, PINOCCHIO, (q, qd, qdd, tau), joint_order)


def from_pinocchio(
    mechanism: Mechanism,
    q: Values,
    qd: Values | None = None,
    qdd: Values | None = None,
    tau: Values | None = None,
    joint_order: Sequence[str] | None = None,
) -> Vectors:
    """Pinocchio's vectors as this package has them; the inverse of `to_pinocchio`.

    Parameters
    ----------
    mechanism : Mechanism
    q : (nq,) or (N, nq) array
        Coordinates [rad, m, unit quaternions]; of Pinocchio.
    qd, qdd, tau : (nv,) or (N, nv) array, optional
        Velocities, accelerations (those of a planar joint need qd), forces [rad/s, m/s; rad/s^2,
        m/s^2; N m, N].
    joint_order : sequence of str, optional
        Names of the moving joints in the other engine's order.

    Returns
    -------
    Vectors
        q, qd, qdd, tau, each None where it was not given. Forces map so that power is the same.

    Raises
    ------
    ShapeError, QuaternionError, UnknownNameError
        A vector has the wrong length; a quaternion is not of unit length; a joint of the order is
        unknown.
    DalembertError
        The mechanism has elastic bodies.

    Examples
    --------
    >>> import dalembert as da
    >>> body = da.random_tree(3, 1, "free")
    >>> da.convert.from_pinocchio(body, [0.1, 0.2, 0.3, 0, 0, 0, 1.0]).q
    array([1. , 0. , 0. , 0. , 0.1, 0.2, 0.3])
    """
    return _inward(mechanism, PINOCCHIO, (q, qd, qdd, tau), joint_order)


def to_mujoco(
    mechanism: Mechanism,
    q: Values,
    qd: Values | None = None,
    qdd: Values | None = None,
    tau: Values | None = None,
    joint_order: Sequence[str] | None = None,
) -> Vectors:
    """Vectors in MuJoCo's conventions.

    Parameters
    ----------
    mechanism : Mechanism
    q : (nq,) or (N, nq) array
        Coordinates [rad, m, unit quaternions]; as this package has them.
    qd, qdd, tau : (nv,) or (N, nv) array, optional
        Velocities, accelerations (those of a planar joint need qd), forces [rad/s, m/s; rad/s^2,
        m/s^2; N m, N].
    joint_order : sequence of str, optional
        Names of the moving joints in the other engine's order.

    Returns
    -------
    Vectors
        q, qd, qdd, tau, each None where it was not given. Forces map so that power is the same.

    Raises
    ------
    ShapeError, QuaternionError, UnknownNameError
        A vector has the wrong length; a quaternion is not of unit length; a joint of the order is
        unknown.
    DalembertError
        The mechanism has elastic bodies.

    Examples
    --------
    >>> import dalembert as da
    >>> body = da.random_tree(3, 1, "free")
    >>> da.convert.to_mujoco(body, [1.0, 0, 0, 0, 0.1, 0.2, 0.3]).q
    array([0.1, 0.2, 0.3, 1. , 0. , 0. , 0. ])
    """
    return _outward(mechanism, MUJOCO, (q, qd, qdd, tau), joint_order)


def from_mujoco(
    mechanism: Mechanism,
    q: Values,
    qd: Values | None = None,
    qdd: Values | None = None,
    tau: Values | None = None,
    joint_order: Sequence[str] | None = None,
) -> Vectors:
    """MuJoCo's vectors as this package has them; the inverse of `to_mujoco`.

    Parameters
    ----------
    mechanism : Mechanism
    q : (nq,) or (N, nq) array
        Coordinates [rad, m, unit quaternions]; of MuJoCo.
    qd, qdd, tau : (nv,) or (N, nv) array, optional
        Velocities, accelerations (those of a planar joint need qd), forces [rad/s, m/s; rad/s^2,
        m/s^2; N m, N].
    joint_order : sequence of str, optional
        Names of the moving joints in the other engine's order.

    Returns
    -------
    Vectors
        q, qd, qdd, tau, each None where it was not given. Forces map so that power is the same.

    Raises
    ------
    ShapeError, QuaternionError, UnknownNameError
        A vector has the wrong length; a quaternion is not of unit length; a joint of the order is
        unknown.
    DalembertError
        The mechanism has elastic bodies.

    Examples
    --------
    >>> import dalembert as da
    >>> body = da.random_tree(3, 1, "free")
    >>> da.convert.from_mujoco(body, [0.1, 0.2, 0.3, 1.0, 0, 0, 0]).q
    array([1. , 0. , 0. , 0. , 0.1, 0.2, 0.3])
    """
    return _inward(mechanism, MUJOCO, (q, qd, qdd, tau), joint_order)


def classical_acceleration(mechanism: Mechanism, q: Values, qd: Values, qdd: Values) -> Array:
    """qdd with the classical acceleration of each free joint's origin, R^T p'' = v' + omega x v,
    for its spatial one.

    This package's qdd holds the derivatives of the entries of qd (v' above).

    Parameters
    ----------
    mechanism : Mechanism
    q : (nq,) or (N, nq) array
        Coordinates [rad, m, unit quaternions].
    qd, qdd : (nv,) or (N, nv) array
        Velocities and accelerations [rad/s, m/s; rad/s^2, m/s^2].

    Returns
    -------
    qdd : (nv,) or (N, nv) array
        [rad/s^2, m/s^2].

    Raises
    ------
    ShapeError, ValueError, QuaternionError
        A vector has the wrong length or an entry that is not finite; a quaternion is not of unit
        length.

    Examples
    --------
    >>> import dalembert as da
    >>> body = da.random_tree(3, 1, "free")
    >>> da.convert.classical_acceleration(body, [1.0, 0, 0, 0, 0, 0, 0], [0, 0, 2.0, 1.0, 0, 0], [0.0] * 6)
    array([0., 0., 0., 0., 2., 0.])
    """
    return _with_turning(mechanism, q, qd, qdd, 1.0)


def spatial_acceleration(mechanism: Mechanism, q: Values, qd: Values, qdd: Values) -> Array:
    """qdd as this package has it from one with classical accelerations; the inverse of
    `classical_acceleration`.

    Parameters
    ----------
    mechanism : Mechanism
    q : (nq,) or (N, nq) array
        Coordinates [rad, m, unit quaternions].
    qd, qdd : (nv,) or (N, nv) array
        Velocities and accelerations [rad/s, m/s; rad/s^2, m/s^2].

    Returns
    -------
    qdd : (nv,) or (N, nv) array
        [rad/s^2, m/s^2].

    Raises
    ------
    ShapeError, ValueError, QuaternionError
        A vector has the wrong length or an entry that is not finite; a quaternion is not of unit
        length.

    Examples
    --------
    >>> import dalembert as da
    >>> body = da.random_tree(3, 1, "free")
    >>> da.convert.spatial_acceleration(body, [1.0, 0, 0, 0, 0, 0, 0], [0, 0, 2.0, 1.0, 0, 0], [0.0] * 6)
    array([ 0.,  0.,  0.,  0., -2.,  0.])
    """
    return _with_turning(mechanism, q, qd, qdd, -1.0)


def _with_turning(mechanism, q, qd, qdd, sense):
    mechanism.at(q=q, qd=qd, qdd=qdd)
    qd, out = np.asarray(qd, dtype=float), np.array(qdd, dtype=float)
    if qd.ndim > out.ndim:
        out = np.broadcast_to(out, qd.shape).copy()
    for joint in mechanism.independent_joints:
        if joint.type.quaternion_freedoms == 6:
            k = mechanism.entries[joint.name].at_v.start
            out[..., k + 3 : k + 6] += sense * np.cross(qd[..., k : k + 3], qd[..., k + 3 : k + 6])
    return out


# --- engines: per joint type, the map of (q, qd, qdd, tau) outward and inward -----------------------------------------


def _quaternion_matrix(q):
    """Rotation matrices of quaternions (w, x, y, z): (..., 3, 3)."""
    w = q[..., :1, None]
    v = q[..., 1:]
    cross = np.zeros((*v.shape, 3))
    cross[..., 0, 1], cross[..., 0, 2], cross[..., 1, 2] = -v[..., 2], v[..., 1], -v[..., 0]
    cross -= np.swapaxes(cross, -1, -2)
    return np.eye(3) + 2 * (w * cross + cross @ cross)


def _turn(R, v):
    return (R @ v[..., None])[..., 0]


class _Continuous:
    """(cos, sin)."""

    nq = 2

    def outward(self, q, qd, qdd, tau):
        """(cos q, sin q) for the angle; rates and forces are equal."""
        return np.concatenate([np.cos(q), np.sin(q)], -1), qd, qdd, tau

    def inward(self, q, qd, qdd, tau):
        """The angle in (-pi, pi] of (cos q, sin q); rates and forces are equal."""
        return np.arctan2(q[..., 1:], q[..., :1]), qd, qdd, tau


class _Permuted:
    """Another order of the same numbers."""

    def __init__(self, q, v):
        self.q = q
        self.v = v
        self.nq = len(q)

    def outward(self, q, qd, qdd, tau):
        """Entries in the engine's order."""
        return q[..., self.q], *(None if x is None else x[..., self.v] for x in (qd, qdd, tau))

    def inward(self, q, qd, qdd, tau):
        """Entries in this package's order."""
        q_back = np.argsort(self.q)
        v_back = np.argsort(self.v)
        return q[..., q_back], *(None if x is None else x[..., v_back] for x in (qd, qdd, tau))


class _PinocchioPlanar:
    """(x, y, cos, sin); velocities in the child's axes, linear first."""

    nq = 4

    def outward(self, q, qd, qdd, tau):
        """(x, y, cos, sin) and velocities (child's axes, then the angle's) of (angle, x, y)."""
        R = _plane_matrix(q[..., 0])
        back = np.swapaxes(R, -1, -2)
        velocity = (
            None if qd is None else np.concatenate([_turn(back, qd[..., 1:]), qd[..., :1]], -1)
        )
        acceleration = None
        if qdd is not None:
            _needs(qd, "qd", "the accelerations of a planar joint")
            assert velocity is not None
            turning = qd[..., :1] * np.stack([velocity[..., 1], -velocity[..., 0]], -1)
            acceleration = np.concatenate([_turn(back, qdd[..., 1:]) + turning, qdd[..., :1]], -1)
        force = (
            None if tau is None else np.concatenate([_turn(back, tau[..., 1:]), tau[..., :1]], -1)
        )
        return (
            np.stack([q[..., 1], q[..., 2], np.cos(q[..., 0]), np.sin(q[..., 0])], -1),
            velocity,
            acceleration,
            force,
        )

    def inward(self, q, qd, qdd, tau):
        """(angle, x, y) and rates of them, from Pinocchio's vectors."""
        angle = np.arctan2(q[..., 3], q[..., 2])
        R = _plane_matrix(angle)
        velocity = None if qd is None else np.concatenate([qd[..., 2:], _turn(R, qd[..., :2])], -1)
        acceleration = None
        if qdd is not None:
            _needs(qd, "qd", "the accelerations of a planar joint")
            turning = qd[..., 2:] * np.stack([qd[..., 1], -qd[..., 0]], -1)
            acceleration = np.concatenate([qdd[..., 2:], _turn(R, qdd[..., :2] - turning)], -1)
        force = None if tau is None else np.concatenate([tau[..., 2:], _turn(R, tau[..., :2])], -1)
        return np.stack([angle, q[..., 0], q[..., 1]], -1), velocity, acceleration, force


class _MujocoFree:
    """Position first, linear velocity first and in world axes."""

    nq = 7

    def outward(self, q, qd, qdd, tau):
        """Origin before quaternion, linear velocity of the origin in world axes before angular."""
        R = _quaternion_matrix(q[..., :4])

        def world(v):
            """Linear components in world axes, then the angular ones."""
            return np.concatenate([_turn(R, v[..., 3:]), v[..., :3]], -1)

        acceleration = None
        if qdd is not None:
            _needs(qd, "qd", "the accelerations of a free joint")
            acceleration = world(
                np.concatenate(
                    [qdd[..., :3], qdd[..., 3:] + np.cross(qd[..., :3], qd[..., 3:])], -1
                )
            )
        return (
            np.concatenate([q[..., 4:], q[..., :4]], -1),
            None if qd is None else world(qd),
            acceleration,
            None if tau is None else world(tau),
        )

    def inward(self, q, qd, qdd, tau):
        """Quaternion before origin, angular velocity before linear, both in the child's axes."""
        q = np.concatenate([q[..., 3:], q[..., :3]], -1)
        back = np.swapaxes(_quaternion_matrix(q[..., :4]), -1, -2)

        def local(v):
            """Angular components, then the linear ones in the child's axes."""
            return np.concatenate([v[..., 3:], _turn(back, v[..., :3])], -1)

        velocity = None if qd is None else local(qd)
        acceleration = None
        if qdd is not None:
            _needs(qd, "qd", "the accelerations of a free joint")
            assert velocity is not None
            acceleration = local(qdd)
            acceleration[..., 3:] -= np.cross(velocity[..., :3], velocity[..., 3:])
        return q, velocity, acceleration, None if tau is None else local(tau)


def _plane_matrix(angle):
    c = np.cos(angle)
    s = np.sin(angle)
    return np.stack([np.stack([c, -s], -1), np.stack([s, c], -1)], -2)


def _needs(x, name, what):
    if x is None:
        raise ShapeError(f"{what} need {name} too.", name)


PINOCCHIO = {
    Continuous: _Continuous(),
    Spherical: _Permuted([1, 2, 3, 0], [0, 1, 2]),
    Planar: _PinocchioPlanar(),
    Free: _Permuted([4, 5, 6, 1, 2, 3, 0], [3, 4, 5, 0, 1, 2]),
}
MUJOCO = {Planar: _Permuted([1, 2, 0], [1, 2, 0]), Free: _MujocoFree()}


def _joints(mechanism, joint_order):
    """Joints in the other engine's order."""
    ours = {j.name: j for j in mechanism.independent_joints}
    order = list(ours) if joint_order is None else list(joint_order)
    for name in order:
        if name not in ours:
            raise UnknownNameError("joint", name, tuple(ours))
    if len(set(order)) != len(ours) or len(order) != len(ours):
        missing = [name for name in ours if name not in order]
        raise ShapeError(
            f"joint_order has {len(order)} names, expected each of the {len(ours)} moving joints "
            "once" + (f" ({', '.join(missing[:3])} missing)." if missing else "."),
            "joint_order",
        )
    return [ours[name] for name in order]


def _check_rigid(mechanism):
    """Raise for coordinates of elastic bodies, which no other engine has."""
    if names := [body.name for body in mechanism.elastic_bodies]:
        raise DalembertError(
            f"mechanism {mechanism.name!r} has elastic bodies ({', '.join(names)}), whose coordinates "
            "no other engine has: convert vectors of mechanism.without('elasticity')."
        )


def _outward(mechanism, engine, given, joint_order):
    _check_rigid(mechanism)
    arrays = _arrays(given)
    mechanism.at(**arrays)
    arrays = _of_same_rows(arrays)
    parts: dict[str, list] = {name: [] for name in arrays}
    for joint in _joints(mechanism, joint_order):
        entry = mechanism.entries[joint.name]
        at_v = slice(*_ends(mechanism.entries[joint.name].at_v))
        own = [
            None if (a := arrays.get(name)) is None else a[..., entry.at_q if name == "q" else at_v]
            for name in Vectors._fields
        ]
        mapped = engine[type(joint.type)].outward(*own) if type(joint.type) in engine else own
        for name, part in zip(Vectors._fields, mapped, strict=True):
            if name in parts:
                parts[name].append(part)
    return _joined(parts, arrays)


def _inward(mechanism, engine, given, joint_order):
    _check_rigid(mechanism)
    arrays = _arrays(given)
    joints = _joints(mechanism, joint_order)
    lengths = {
        j.name: engine[type(j.type)].nq if type(j.type) in engine else j.type.nq for j in joints
    }
    for name, a in arrays.items():
        expected = sum(lengths.values()) if name == "q" else mechanism.nv
        if a.ndim not in (1, 2) or a.shape[-1] != expected:
            raise ShapeError(
                f"{name} has shape {a.shape}, expected ({expected},) or (N, {expected}).",
                name,
                a.shape,
            )
    arrays = _of_same_rows(arrays)
    found: dict[str, Sequence[Any]] = {}
    at_q = at_v = 0
    for joint in joints:
        n = lengths[joint.name]
        m = joint.type.nv
        entries = {
            name: a[..., at_q : at_q + n] if name == "q" else a[..., at_v : at_v + m]
            for name, a in arrays.items()
        }
        own = [entries.get(name) for name in Vectors._fields]
        found[joint.name] = (
            engine[type(joint.type)].inward(*own) if type(joint.type) in engine else own
        )
        at_q, at_v = at_q + n, at_v + m
    parts = {
        name: [found[j.name][k] for j in mechanism.independent_joints]
        for k, name in enumerate(Vectors._fields)
        if name in arrays
    }
    return _joined(parts, arrays)


def _ends(r: range) -> tuple[int, int]:
    return r.start, r.stop


def _arrays(given: Iterable[Any]) -> dict[str, np.ndarray]:
    """The vectors that were given, by name."""
    return {
        name: np.asarray(a, dtype=float)
        for name, a in zip(Vectors._fields, given, strict=True)
        if a is not None
    }


def _of_same_rows(arrays: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    """Vectors (n,) beside batches (N, n) repeated for each state."""
    try:
        rows = np.broadcast_shapes(*(a.shape[:-1] for a in arrays.values()))
    except ValueError:
        listed = ", ".join(f"{name} {a.shape}" for name, a in arrays.items())
        raise ShapeError(f"the vectors have different numbers of rows: {listed}.") from None
    return {name: np.broadcast_to(a, (*rows, a.shape[-1])) for name, a in arrays.items()}


def _joined(parts: dict[str, list[np.ndarray]], arrays: dict[str, np.ndarray]) -> Vectors:
    """Parts of all joints side by side."""
    return Vectors(
        **{
            name: np.concatenate(pieces, -1) if pieces else arrays[name].copy()
            for name, pieces in parts.items()
        }
    )


def __dir__() -> list[str]:
    return __all__
