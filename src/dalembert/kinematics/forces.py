"""Forces that are not the actuators': passive forces of the joints, external forces on bodies."""

from __future__ import annotations

from collections.abc import (
    Iterator,
    Sequence,
)
from typing import Any

import numpy as np

from dalembert.errors import ModelError
from dalembert.expr import known_zero, sign
from dalembert.kinematics.poses import (
    frame_place,
    world_poses,
)
from dalembert.model.mechanism import Mechanism
from dalembert.model.tree import Tree
from dalembert.spatial.motion_force import Force
from dalembert.spatial.vectors import Scalar, Vector

STICK: str = "stick"
SIGN: str = "sign"  # laws of Coulomb friction: it sticks at rest; -F sign(qd)


def passive_force(mechanism: Mechanism, q: Any, qd: Any) -> np.ndarray:
    """Forces of springs and friction on the joints.

        tau_p = -k (q - q_rest) - d qd - f_c sign(qd)

    Coulomb friction at qd = 0 is 0 here; sticking is the business of `simulate`.

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
        [N m, N].

    Raises
    ------
    ShapeError, ValueError, QuaternionError
        A vector has the wrong length or an entry that is not finite; a quaternion is not of unit
        length.

    Examples
    --------
    >>> import dalembert as da
    >>> arm = da.random_tree(1, 2, "revolute").without("rotors")
    >>> da.passive_force(arm, [0.3, -0.2], [1.0, 0.5]).round(3)
    array([-0.609,  0.   ])
    """
    tree, (q, qd), pack = mechanism.at(q=q, qd=qd)
    return pack(passive(tree, q, qd))


def external_joint_forces(mechanism: Mechanism, q: Any, external_forces: Any) -> np.ndarray:
    """Generalized forces of external forces, sum_i J_i(q)^T f_i: (nv,) or (N, nv) [N m, N]."""
    tree, (q, loads), pack = mechanism.at(q=q, external_forces=external_forces)
    wrenches = external_wrenches(tree, q, loads)
    tau: list[Scalar] = [0.0] * tree.nv
    carried = dict(wrenches)
    for i in tree.inward():
        if i not in carried:
            continue
        joint = tree.joint[i]
        for k, s in zip(joint.dof, joint.subspace(q), strict=True):
            tau[k] = tau[k] + carried[i].dot(s)
        parent = tree.parent[i]
        on_parent = joint.placement(q).force_to_parent(carried[i])
        carried[parent] = carried[parent] + on_parent if parent in carried else on_parent
    return pack(tau)


def friction_force(mechanism: Mechanism, q: Any, qd: Any) -> np.ndarray:
    """The part of `passive_force` that loses energy, (nv,) or (N, nv) [N m, N]: friction of the
    joints and damping of beams; springs and stiffness are in the potential energy.
    """
    tree, (q, qd), pack = mechanism.at(q=q, qd=qd)
    return pack(passive(tree, q, qd, elastic=False))


def passive(
    tree: Tree, q: Sequence[Scalar], qd: Sequence[Scalar], elastic: bool = True
) -> list[Scalar]:
    """The same on scalars; a follower's forces act on its leader's entry."""
    tau: list[Scalar] = [0.0] * tree.nv
    for i in tree.outward():
        joint = tree.joint[i]
        if joint.is_section:
            continue
        rates = joint.own_velocities(qd)
        has_springs = elastic and joint.type.nq == joint.type.nv
        displaced = joint.coordinates(q) if has_springs else joint.rest
        for m, k in enumerate(joint.dof):
            spring = (displaced[m] - joint.rest[m]) * joint.stiffness[m] if has_springs else 0.0
            force = spring + rates[m] * joint.viscous[m] + sign(rates[m]) * joint.coulomb[m]
            tau[k] = tau[k] - force * joint.factor
    for spring in tree.elasticities:
        for k, force in zip(spring.at_v, spring.forces(q, qd, elastic), strict=True):
            tau[k] = tau[k] + force
    return tau


def coulomb(mechanism: Mechanism) -> np.ndarray:
    """Coulomb friction of each entry of qd (nv,) [N m, N]."""
    friction = np.zeros(mechanism.nv)
    for joint in mechanism.tree().joint[1:]:
        for k, force in zip(joint.dof, joint.coulomb, strict=True):
            friction[k] += force * abs(joint.factor)
    return friction


def spring_energy(tree: Tree, q: Sequence[Scalar], energy: Scalar = 0.0) -> Scalar:
    """Energy of the joints' springs, 1/2 sum_k k_k (q_k - rest_k)^2, of transmissions and of bent
    beams, added to another [J].
    """
    for spring in tree.elasticities:
        energy = energy + spring.energy(q)
    for joint in tree.joint[1:]:
        if joint.is_section or joint.type.nq != joint.type.nv:  # no springs there (validated)
            continue
        springs = zip(joint.coordinates(q), joint.stiffness, joint.rest, strict=True)
        for x, stiffness, rest in springs:
            energy = energy + (x - rest) * (x - rest) * (stiffness * 0.5)
    return energy


def stiffness_and_damping(
    tree: Tree, q: Sequence[Scalar], qd: Sequence[Scalar]
) -> Iterator[tuple[int, int, Scalar, Scalar]]:
    """Minus the derivatives of `passive` by q and qd: (row, column, by q, by qd) of entries; they are
    to be added. Coulomb friction has none.
    """
    for i in tree.outward():
        joint = tree.joint[i]
        if joint.is_section:
            continue
        square = joint.factor * joint.factor  # of a follower: displacements and forces
        has_springs = joint.type.nq == joint.type.nv
        for m, k in enumerate(joint.dof):
            stiffness = square * joint.stiffness[m] if has_springs else 0
            yield k, k, stiffness, square * joint.viscous[m]
    for spring in tree.elasticities:
        yield from spring.derivatives(q, qd)


def external_wrenches(tree: Tree, q: Sequence[Scalar], loads: Sequence[tuple]) -> dict[int, Force]:
    """External forces by moving body, about its origin in its axes."""
    wrenches: dict[int, Force] = {}
    for frame, expressed_in, wrench, point, *_ in loads:
        i, X = frame_place(tree, frame)
        _refuse_point_of_beam(tree, frame, point)
        applied = Force(wrench.moment + point.cross(wrench.force), wrench.force)
        if expressed_in == "local":
            on_body = X.force_to_parent(applied)
        else:
            pose = world_poses(tree, q, [i])[i]
            # from the body's origin to the frame's, or to the world's
            lever = X.p if expressed_in == "aligned" else -pose.R.to_child(pose.p)
            force = pose.R.to_child(applied.force)
            on_body = Force(pose.R.to_child(applied.moment) + lever.cross(force), force)
        wrenches[i] = wrenches[i] + on_body if i in wrenches else on_body
    wrenches.pop(0, None)  # forces on the base move nothing
    return wrenches


def _refuse_point_of_beam(tree: Tree, frame: str, point: Vector) -> None:
    """Raise if a force acts at a point given from the start of a beam, whose sections move."""
    if not all(map(known_zero, point)) and any(beam.body == frame for beam in tree.elastic):
        raise ModelError(
            f"an external force acts on the elastic body {frame!r} at a point of its axes: points of "
            "a beam move against these. Put a da.Frame at the section, and name that."
        )
