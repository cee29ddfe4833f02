"""Cylindrical joint: rotation about and translation along one axis; q = (angle, displacement), v =
rates.
"""

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
class Cylindrical(AxisJoint):
    """Independent rotation about and translation along an axis of the joint's frame.

    Examples
    --------
    >>> import dalembert as da
    >>> da.Cylindrical((1, 0, 0)).nv
    2
    """

    axis: tuple[Number, Number, Number] = (0, 0, 1)
    name: ClassVar[str] = "cylindrical"
    coordinates = ("angle", "displacement")
    velocities = ("angular rate", "rate")
    takes_symbols = True

    def converted(self, convert):
        """The joint with an axis of unit length, its numbers converted."""
        return replace(self, axis=tuple(convert(a) for a in self.unit_axis))

    def screws(self):
        """A slide and a turn about the same axis."""
        return Screw(1, Vector(self.axis), turns=False), Screw(0, Vector(self.axis))

    def placement(self, q):
        """Turn by q[0] about the axis, displacement by q[1] along it."""
        return Transform(
            Vector(self.axis) * q[1], about_axis_cos_sin(self.axis, cos(q[0]), sin(q[0]))
        )

    def subspace(self, q):
        """S = [a 0; 0 a]."""
        a = Vector(self.axis)
        return Motion(a, ZERO), Motion(ZERO, a)
