"""Links of a chain in axes of their runs, and frames in which joints sit on them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, NamedTuple

from dalembert.closed_forms.algebra.ring import Angle, Phase
from dalembert.closed_forms.derivation.beam_moments import BeamMoments
from dalembert.closed_forms.derivation.run_inertia import Column
from dalembert.spatial.rotations import NO_ROTATION, Dense, Rotation, about_axis_cos_sin
from dalembert.spatial.vectors import AXES, ZERO, Vector

OBLIQUE = -1  # an axis with which no run goes on


@dataclass
class Link:
    """A body or intermediate frame.

    parent: number of the link it hangs on; shift: its origin from the parent's, in the axes of the
    parent's run; carry: rotation from its run's axes to those of the parent's run; turn: from its
    own axes to its run's.
    """

    parent: int
    body: int = 0
    shift: Vector = ZERO
    carry: Rotation = NO_ROTATION
    turn: Rotation = NO_ROTATION
    columns: list[Column] = field(default_factory=list)
    constant: Rotation = NO_ROTATION  # turn = (turn by `angle` about `axis`) constant
    axis: int | None = None  # coordinate axis of the run, if it has one; or OBLIQUE
    angle: Angle = ()
    moments: BeamMoments | None = None  # of a beam, in place of a body's inertia


class Mount(NamedTuple):
    """The frame in which a joint sits, turned by E and displaced by r in its parent's axes."""

    parent: Link
    number: int  # of the parent
    E: Rotation
    r: Vector

    @property
    def constant(self) -> Rotation:
        """Constant turn from the joint's axes to those in which the parent's run began."""
        return _product(self.parent.constant, self.E)

    @property
    def turn(self) -> Rotation:
        """Turn from the joint's axes to the parent's run."""
        return self.parent.turn * self.E

    def shift(self, r: Vector) -> Vector:
        """A displacement in the parent's axes, in those of its run."""
        return self.parent.turn.to_parent(r)


def going_on(mount: Mount, r: Vector, algebra: Any) -> Link:
    """A link at a place in the joint's frame that does not turn, in the parent's run."""
    parent = mount.parent
    turn = mount.turn
    if parent.axis != OBLIQUE:
        turn = turned_by(mount.constant, parent.axis, parent.angle, algebra)
    return Link(
        mount.number,
        shift=mount.shift(r),
        turn=turn,
        constant=mount.constant,
        axis=parent.axis,
        angle=parent.angle,
    )


def _product(A: Rotation, B: Rotation) -> Rotation:
    """A B as one matrix."""
    return A * B if NO_ROTATION in (A, B) else Dense(A.matrix() @ B.matrix())


def turned_by(constant: Rotation, axis: int | None, angle: Angle, algebra: Any) -> Rotation:
    """(turn by the angle about a coordinate axis) constant."""
    if axis is None or not angle:
        return constant
    return about_axis_cos_sin(AXES[axis], *algebra.cos_sin(angle)) * constant


def angle_with(angle: Angle, k: Any, factor: int) -> Angle:
    """The sum of an angle and a multiple of a coordinate or phase."""
    total = dict(angle)
    total[k] = total.get(k, 0) + factor
    parts = ((j, f) for j, f in total.items() if f)
    return tuple(sorted(parts, key=lambda part: (isinstance(part[0], Phase), part[0])))
