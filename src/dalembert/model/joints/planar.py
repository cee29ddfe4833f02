"""Planar joint: rotation about a normal and two translations across it; q = (angle, x, y), v = rates of these."""

from dataclasses import dataclass, replace
from typing import ClassVar

from dalembert.expr import cos, sin
from dalembert.model.joints.base import AxisJoint
from dalembert.model.numbers import Number
from dalembert.spatial.motion_force import NO_MOTION, Motion
from dalembert.spatial.rotations import about_axis_cos_sin
from dalembert.spatial.transforms import Transform
from dalembert.spatial.vectors import AXES, ZERO, Vector


@dataclass(frozen=True)
class Planar(AxisJoint):
    """Motion in the plane across `axis`.

    The axes of the plane are fixed in the joint's frame: for the normal z they are x and y, for x: y and z, for y:
    z and x (cyclic); for another normal n, x is the unit vector along (e x n), e the coordinate axis least along n,
    and y = n x x.
    """

    axis: tuple[Number, Number, Number] = (0, 0, 1)
    name: ClassVar[str] = "planar"
    coordinates = ("angle", "x", "y")
    velocities = ("angular rate", "rate of x", "rate of y")
    constant_subspace = False

    def converted(self, convert):
        return replace(self, axis=tuple(convert(a) for a in self.unit_axis))

    def plane(self) -> tuple[Vector, Vector]:
        """Unit vectors x and y of the plane, in the joint's frame; x, y, normal are right-handed."""
        n = Vector(self.axis)
        for k in range(3):
            if all(isinstance(n[i], (int, float)) and abs(n[i]) == (1 if i == k else 0) for i in range(3)):
                x = AXES[(k + 1) % 3]
                return x, n.cross(x)
        least = min(range(3), key=lambda i: abs(float(n[i])))
        x = AXES[least].cross(n)
        x = x * (1 / float(x.dot(x)) ** 0.5)
        return x, n.cross(x)

    def _turn(self, q):
        return about_axis_cos_sin(self.axis, cos(q[0]), sin(q[0]))

    def placement(self, q):
        x, y = self.plane()
        return Transform(x * q[1] + y * q[2], self._turn(q))

    def subspace(self, q):
        turn = self._turn(q)
        return (Motion(Vector(self.axis), ZERO), *(Motion(ZERO, turn.to_child(e)) for e in self.plane()))

    def subspace_rate(self, q, v):
        normal, x, y = self.subspace(q)
        turning = normal.scaled(v[0])
        return NO_MOTION, -turning.cross(x), -turning.cross(y)

    def subspace_rate_derivatives(self, q, v):
        normal, x, y = self.subspace(q)
        return normal.cross(normal.cross(x.scaled(v[1]) + y.scaled(v[2]))).scaled(v[0]), NO_MOTION, NO_MOTION
