"""Motion of a frame in the axes of a body that carries it, of one state: placement, velocity with
its columns, and the acceleration that is left without qdd.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from dalembert.model.tree import Tree
from dalembert.spatial.motion_force import NO_MOTION, Motion, combined
from dalembert.spatial.transforms import Transform
from dalembert.spatial.vectors import Scalar


class FrameMotion(NamedTuple):
    """Motion of a frame; motions are (omega; v) of the frame's origin, in the carrier's axes.

    pose : placement of the frame in the carrier's axes
    columns : motion for each entry of qd that moves the frame, {entry: motion}
    velocity : sum of columns times qd
    bias : (alpha; a) without qdd, a the classical acceleration of the origin
    """

    pose: Transform
    columns: dict[int, Motion]
    velocity: Motion
    bias: Motion


def carrier(tree: Tree, first: int, second: int) -> int:
    """The outermost moving body that carries two bodies; 0 is the base."""
    of_second = {0, *tree.support(second)}
    return next(i for i in (*tree.support(first), 0) if i in of_second)


def frame_motion(
    tree: Tree,
    q: Sequence[Scalar],
    qd: Sequence[Scalar] | None,
    place: tuple[int, Transform],
    root: int = 0,
) -> FrameMotion:
    """Motion of the frame placed on a body, seen from another body that carries it.

    Without qd, velocity and bias are those of rest.
    """
    i, X_frame = place
    held = {0, *tree.support(root)}
    pose = Transform()
    motions: list[tuple[int, Motion]] = []  # in the carrier's axes at its origin
    velocity = bias = NO_MOTION
    for k in reversed(tree.support(i)):
        if k in held:
            continue
        joint = tree.joint[k]
        pose = pose * joint.placement(q)
        S = [pose.motion_to_parent(s) for s in joint.subspace(q)]
        motions += zip(joint.dof, S, strict=True)
        if qd is None:
            continue
        rates = joint.velocities(qd)
        before = velocity
        velocity = velocity + combined(S, rates)
        bias = bias + before.cross(combined(S, rates))
        if S_rate := joint.subspace_rate(q, qd):
            bias = bias + pose.motion_to_parent(combined(S_rate, rates))
    pose = pose * X_frame
    columns: dict[int, Motion] = {}
    for entry, s in motions:  # followers add to the entry of their leader
        moved = _at(s, pose.p)
        columns[entry] = columns[entry] + moved if entry in columns else moved
    moving = _at(velocity, pose.p)
    left = _at(bias, pose.p)
    classical = left.linear + moving.angular.cross(moving.linear)
    return FrameMotion(pose, columns, moving, Motion(left.angular, classical))


def _at(m: Motion, p: Any) -> Motion:
    """A motion given at the carrier's origin, with the velocity of a point p."""
    return Motion(m.angular, m.linear + m.angular.cross(p))
