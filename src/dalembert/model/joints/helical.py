"""Helical (screw) joint: rotation with proportional translation; q = (angle), v = (rate)."""

from dataclasses import dataclass, replace
from typing import ClassVar

from dalembert.expr import cos, sin
from dalembert.model.joints.base import AxisJoint, built_in
from dalembert.model.numbers import Number, checked
from dalembert.spatial.motion_force import Motion
from dalembert.spatial.rotations import about_axis_cos_sin
from dalembert.spatial.screws import Screw
from dalembert.spatial.transforms import Transform
from dalembert.spatial.vectors import Vector


@built_in
@dataclass(frozen=True)
class Helical(AxisJoint):
    """Rotation by an angle about an axis and translation by pitch times the angle along it; pitch
    in m/rad.

    Examples
    --------
    >>> import dalembert as da
    >>> da.Helical((0, 0, 1), pitch=0.01).nv
    1
    """

    axis: tuple[Number, Number, Number] = (0, 0, 1)
    pitch: Number = 0
    name: ClassVar[str] = "helical"
    coordinates = ("angle",)
    velocities = ("angular rate",)
    takes_symbols = True
    parameters = ("axis", "pitch")

    def __post_init__(self):
        super().__post_init__()
        object.__setattr__(self, "pitch", checked(self.pitch, "pitch"))

    def converted(self, convert):
        """The joint with an axis of unit length, its numbers converted."""
        return replace(
            self, axis=tuple(convert(a) for a in self.unit_axis), pitch=convert(self.pitch)
        )

    def screws(self):
        """The screw of its pitch."""
        return (Screw(0, Vector(self.axis), pitch=self.pitch),)

    def placement(self, q):
        """Turn by q about the axis, displacement by pitch q along it."""
        return Transform(
            Vector(self.axis) * (self.pitch * q[0]),
            about_axis_cos_sin(self.axis, cos(q[0]), sin(q[0])),
        )

    def subspace(self, q):
        """S = [a; pitch a]."""
        return (Motion(Vector(self.axis), Vector(self.axis) * self.pitch),)
