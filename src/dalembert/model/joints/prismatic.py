"""Prismatic joint: translation along an axis; q = (displacement), v = (rate)."""

from dataclasses import dataclass, replace
from typing import ClassVar

from dalembert.model.joints.base import AxisJoint, built_in
from dalembert.model.numbers import Number
from dalembert.spatial.motion_force import Motion
from dalembert.spatial.screws import Screw
from dalembert.spatial.transforms import Transform
from dalembert.spatial.vectors import ZERO, Vector


@built_in
@dataclass(frozen=True)
class Prismatic(AxisJoint):
    """Translation by a displacement along an axis of the joint's frame.

    Examples
    --------
    >>> import dalembert as da
    >>> da.Prismatic((1, 0, 0)).coordinates
    ('displacement',)
    """

    axis: tuple[Number, Number, Number] = (0, 0, 1)
    name: ClassVar[str] = "prismatic"
    coordinates = ("displacement",)
    velocities = ("rate",)
    takes_symbols = True

    def converted(self, convert):
        """The joint with an axis of unit length, its numbers converted."""
        return replace(self, axis=tuple(convert(a) for a in self.unit_axis))

    def screws(self):
        """A slide along the axis."""
        return (Screw(0, Vector(self.axis), turns=False),)

    def placement(self, q):
        """Displacement by q along the axis."""
        return Transform(Vector(self.axis) * q[0])

    def subspace(self, q):
        """S = [0; a]."""
        return (Motion(ZERO, Vector(self.axis)),)
