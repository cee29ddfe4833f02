"""A joint type that tests register: a pin that turns with the child and runs on a circle. One file, which the package does not
know."""

from dataclasses import dataclass, replace
from typing import ClassVar

from dalembert.expr import cos, sin
from dalembert.model.joints.base import JointType, built_in
from dalembert.model.numbers import Number, checked
from dalembert.spatial.motion_force import Motion
from dalembert.spatial.rotations import about_axis_cos_sin
from dalembert.spatial.transforms import Transform
from dalembert.spatial.vectors import Vector


@built_in
@dataclass(frozen=True)
class Crank(JointType):
    """The child turns by q about z; its origin is at a (sin 2 q, 1 - cos 2 q, 0) on a circle of radius a, the throw [m]."""

    throw: Number = 0.2
    name: ClassVar[str] = "crank"
    coordinates = ("angle",)
    velocities = ("angular rate",)
    constant_subspace = False
    parameters = ("throw",)

    def __post_init__(self):
        object.__setattr__(self, "throw", checked(self.throw, "throw"))

    def converted(self, convert):
        return replace(self, throw=convert(self.throw))

    def placement(self, q):
        c, s = cos(2 * q[0]), sin(2 * q[0])
        return Transform(Vector((self.throw * s, self.throw * (1 - c), 0)), about_axis_cos_sin((0, 0, 1), cos(q[0]), sin(q[0])))

    def subspace(self, q):
        """R^T dp/dq = 2 a (cos q, sin q, 0)."""
        return (Motion(Vector((0, 0, 1)), Vector((cos(q[0]), sin(q[0]), 0)) * (2 * self.throw)),)

    def subspace_rate(self, q, v):
        return (Motion(Vector((0, 0, 0)), Vector((-sin(q[0]), cos(q[0]), 0)) * (2 * self.throw * v[0])),)

    def subspace_rate_derivatives(self, q, v):
        return (Motion(Vector((0, 0, 0)), Vector((-cos(q[0]), -sin(q[0]), 0)) * (2 * self.throw * v[0] * v[0])),)
