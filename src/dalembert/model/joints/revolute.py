"""Revolute and continuous joints: rotation about an axis; q = (angle), v = (rate)."""

import math
from dataclasses import dataclass, replace
from typing import ClassVar

from dalembert.expr import cos, sin
from dalembert.model.joints.base import AxisJoint, built_in
from dalembert.model.numbers import Number
from dalembert.spatial.motion_force import Motion
from dalembert.spatial.rotations import about_axis_cos_sin
from dalembert.spatial.screws import Screw
from dalembert.spatial.transforms import Transform
from dalembert.spatial.vectors import ZERO, Vector


@built_in
@dataclass(frozen=True)
class Revolute(AxisJoint):
    """Rotation by an angle about an axis of the joint's frame.

    Examples
    --------
    >>> import dalembert as da
    >>> da.Revolute((0, 1, 0)).coordinates
    ('angle',)
    """

    axis: tuple[Number, Number, Number] = (0, 0, 1)
    name: ClassVar[str] = "revolute"
    coordinates = ("angle",)
    velocities = ("angular rate",)
    takes_symbols = True

    def converted(self, convert):
        """The joint with an axis of unit length, its numbers converted."""
        return replace(self, axis=tuple(convert(a) for a in self.unit_axis))

    def screws(self):
        """A turn about the axis."""
        return (Screw(0, Vector(self.axis)),)

    def placement(self, q):
        """Turn by q about the axis."""
        return Transform(ZERO, about_axis_cos_sin(self.axis, cos(q[0]), sin(q[0])))

    def subspace(self, q):
        """S = [a; 0]."""
        return (Motion(Vector(self.axis), ZERO),)


@built_in
@dataclass(frozen=True)
class Continuous(Revolute):
    """Revolute joint without limits; differences of angles are taken the shorter way round.

    Examples
    --------
    >>> import dalembert as da
    >>> da.Continuous((0, 0, 1)).nv
    1
    """

    name = "continuous"
    takes_symbols = True
    screws = Revolute.screws

    def difference(self, q1, q0):
        """The shorter turn from q0 to q1, in [-pi, pi]."""
        step = q1[0] - q0[0]
        if isinstance(step, (int, float)):
            return [math.remainder(step, 2 * math.pi)]
        from dalembert.expr import atan2

        return [atan2(sin(step), cos(step))]
