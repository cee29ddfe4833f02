"""Motion of a frame in the axes of a body that carries it, of one state: placement, velocity with
its columns, and the acceleration that is left without qdd.
"""

from __future__ import annotations

from collections.abc import (
    Callable,
    Sequence,
)
from contextvars import ContextVar
from typing import (
    Any,
    NamedTuple,
)

from dalembert.kinematics.poses import turned
from dalembert.model.tree import (
    Tree,
    TreeJoint,
)
from dalembert.spatial.motion_force import (
    NO_MOTION,
    Motion,
    combined,
)
from dalembert.spatial.rotations import (
    NO_ROTATION,
    Rotation,
)
from dalembert.spatial.transforms import Transform
from dalembert.spatial.vectors import (
    ZERO,
    Scalar,
    Vector,
)


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


class Step(NamedTuple):
    """A joint on the way to a frame, in the carrier's axes.

    dof : entries of qd that move it
    arm : from the origin of its parent to that of its child
    subspace : columns of its motion, of the child's origin
    """

    dof: Sequence[int]
    arm: Vector
    subspace: list[Motion]


class OriginMotion(NamedTuple):
    """Motion of a body's origin in the carrier's axes; bias: the acceleration without qdd."""

    R: Rotation = NO_ROTATION
    velocity: Motion = NO_MOTION
    bias: Motion = NO_MOTION


# A function of the arguments of `frame_motion` that computes it in loops over bodies, or gives None.
by_loops: ContextVar[Callable[..., FrameMotion | None] | None] = ContextVar(
    "by_loops", default=None
)


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
    looped = by_loops.get()
    found = looped(tree, q, qd, place, root) if looped else None
    if found is not None:
        return found
    i, X_frame = place
    steps: list[Step] = []
    body = OriginMotion()
    for k in path(tree, i, root):
        body, step = joint_step(tree.joint[k], q, qd, body)
        steps.append(step)
    arm = body.R.to_parent(X_frame.p)
    columns, lever = _columns(steps, arm)
    return FrameMotion(Transform(lever, body.R * X_frame.R), columns, *carried_point(body, arm))


def path(tree: Tree, i: int, root: int) -> list[int]:
    """Bodies from the first that the carrier carries to body i."""
    held = {0, *tree.support(root)}
    return [k for k in reversed(tree.support(i)) if k not in held]


def joint_step(
    joint: TreeJoint, q: Sequence[Scalar], qd: Sequence[Scalar] | None, parent: OriginMotion
) -> tuple[OriginMotion, Step]:
    """Motion of a joint's child, from that of its parent."""
    X = joint.placement(q)
    arm = parent.R.to_parent(X.p)
    R = turned(parent.R, X.R)
    S = [_in_parent(R, s) for s in joint.subspace(q)]
    step = Step(joint.dof, arm, S)
    if qd is None:
        return OriginMotion(R), step
    _, velocity, bias = parent
    rates = joint.velocities(qd)
    slide = combined(S, rates)
    bias = Motion(
        bias.angular + velocity.angular.cross(slide.angular),
        _carried(velocity, bias, arm) + velocity.angular.cross(slide.linear) * 2,
    )
    own = slide.angular.cross(slide.linear)  # the slide turns with the child
    if S_rate := joint.subspace_rate(q, qd):
        change = _in_parent(R, combined(S_rate, rates))
        bias = bias + Motion(change.angular, change.linear)
    bias = Motion(bias.angular, bias.linear + own)
    return OriginMotion(R, _moved(velocity, arm) + slide, bias), step


def carried_point(body: OriginMotion, arm: Vector) -> tuple[Motion, Motion]:
    """Velocity, and acceleration without qdd, of a point of a body."""
    acceleration = Motion(body.bias.angular, _carried(body.velocity, body.bias, arm))
    return _moved(body.velocity, arm), acceleration


def _columns(steps: Sequence[Step], arm: Vector) -> tuple[dict[int, Motion], Vector]:
    """Motions of a frame for entries of qd, and its place; arm: from the origin of its body."""
    lever = arm
    columns: dict[int, Motion] = {}
    for step in reversed(steps):
        for entry, s in zip(step.dof, step.subspace, strict=True):
            moved = _moved(s, lever)
            # followers add to the entry of their leader
            columns[entry] = columns[entry] + moved if entry in columns else moved
        lever = step.arm + lever
    return columns, lever


def _in_parent(R: Rotation, m: Motion) -> Motion:
    """A motion with its components in the parent's axes."""
    return Motion(R.to_parent(m.angular), R.to_parent(m.linear))


def _moved(m: Motion, arm: Vector) -> Motion:
    """The motion of a point that an arm leads to."""
    if m is NO_MOTION:
        return m
    return Motion(m.angular, m.linear + m.angular.cross(arm))


def _carried(velocity: Motion, acceleration: Motion, arm: Vector) -> Any:
    """Classical acceleration of a point fixed to a body: a + alpha x r + omega (omega . r) - r omega^2."""
    omega = velocity.angular
    if velocity is NO_MOTION or omega is ZERO:
        return acceleration.linear + acceleration.angular.cross(arm)
    turning = omega * omega.dot(arm) - arm * omega.dot(omega)
    return acceleration.linear + acceleration.angular.cross(arm) + turning
