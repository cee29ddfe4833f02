"""Planar joint: rotation about a normal and two translations across it; q = (angle, x, y), v =
rates of these.
"""

import math
from dataclasses import dataclass, replace
from typing import ClassVar

from dalembert.expr import cos, sin
from dalembert.model.joints.base import AxisJoint, built_in
from dalembert.model.numbers import Number
from dalembert.spatial.motion_force import NO_MOTION, Motion
from dalembert.spatial.rotations import about_axis_cos_sin, coordinate_axis
from dalembert.spatial.screws import Screw
from dalembert.spatial.transforms import Transform
from dalembert.spatial.vectors import AXES, ZERO, Vector


@built_in
@dataclass(frozen=True)
class Planar(AxisJoint):
    """Motion in the plane across `axis`.

    The axes x and y of the plane are fixed in the joint's frame; x, y and the normal are
    right-handed. For the normals z and -z the axis x is x, for x and -x it is y, for y and -y it is
    z (cyclic); y = normal x x, so that it changes sign with the normal. Between these normals the
    axes turn continuously with the normal: a normal that is off by 1e-16 moves them by about as
    much. No choice of axes is continuous for all normals (a field of directions on a sphere has a
    singular point): these jump at the normal (-2, -3, -6)/7 alone.

    Examples
    --------
    >>> import dalembert as da
    >>> da.Planar((0, 0, 1)).coordinates
    ('angle', 'x', 'y')
    """

    axis: tuple[Number, Number, Number] = (0, 0, 1)
    name: ClassVar[str] = "planar"
    coordinates = ("angle", "x", "y")
    velocities = ("angular rate", "rate of x", "rate of y")
    constant_subspace = False

    def converted(self, convert):
        """The joint with a normal of unit length, its numbers converted."""
        return replace(self, axis=tuple(convert(a) for a in self.unit_axis))

    def plane(self) -> tuple[Vector, Vector]:
        """Unit vectors x and y (3,) of the plane, in the joint's frame; x, y, normal are
        right-handed.

        Examples
        --------
        >>> import dalembert as da
        >>> [tuple(e) for e in da.Planar((0, 0, 1)).converted(float).plane()]
        [(1, 0, 0), (0.0, 1.0, 0.0)]
        """
        n = Vector(self.unit_axis)
        aligned = coordinate_axis(n)
        x = _along_x(Vector(map(float, n))) if aligned is None else AXES[(aligned[0] + 1) % 3]
        return x, n.cross(x)

    def _turn(self, q):
        return about_axis_cos_sin(self.axis, cos(q[0]), sin(q[0]))

    def screws(self):
        """Slides along x and y of the plane, then the turn about its normal."""
        x, y = self.plane()
        return Screw(1, x, turns=False), Screw(2, y, turns=False), Screw(0, Vector(self.axis))

    def placement(self, q):
        """Displacement (q[1], q[2]) in the plane, turn by q[0] about its normal."""
        x, y = self.plane()
        return Transform(x * q[1] + y * q[2], self._turn(q))

    def subspace(self, q):
        """S = [n 0 0; 0 R^T x, R^T y]: the slides seen from the turning child."""
        turn = self._turn(q)
        return (
            Motion(Vector(self.axis), ZERO),
            *(Motion(ZERO, turn.to_child(e)) for e in self.plane()),
        )

    def subspace_rate(self, q, v):
        """Rates of the two slides, which turn against the child."""
        normal, x, y = self.subspace(q)
        turning = normal.scaled(v[0])
        return NO_MOTION, -turning.cross(x), -turning.cross(y)

    def subspace_rate_derivatives(self, q, v):
        """Derivative by the angle; by the displacements 0."""
        normal, x, y = self.subspace(q)
        return (
            normal.cross(normal.cross(x.scaled(v[1]) + y.scaled(v[2]))).scaled(v[0]),
            NO_MOTION,
            NO_MOTION,
        )


# --- a direction in the plane of every normal -----------------------------------------------------------------------

POLE, ACROSS_POLE = (
    Vector((2 / 7, 3 / 7, 6 / 7)),
    Vector((3 / 7, -6 / 7, 2 / 7)),
)  # unit vectors at right angles


def _carried(n: Vector) -> Vector:
    """ACROSS_POLE carried from the plane of POLE to that of the normal n by the least turn;
    continuous but at n = -POLE.

    It is the reflection at the plane across s = POLE + n, which takes POLE to -n.
    """
    s = POLE + n
    square = s.dot(s)
    x = ACROSS_POLE - s * (2 * s.dot(ACROSS_POLE) / square) if square else ACROSS_POLE
    return _unit(x - n * n.dot(x))


def _unit(v: Vector) -> Vector:
    return v * (1 / math.hypot(*v))


def _angle_to_axis(n: Vector, k: int) -> float:
    """Angle from the carried direction to coordinate axis k, about the normal n, which is across
    that axis.
    """
    x = _carried(n)
    return math.atan2(n.cross(x)[k], x[k])


ANGLES = [
    (_angle_to_axis(AXES[k], (k + 1) % 3), _angle_to_axis(-AXES[k], (k + 1) % 3)) for k in range(3)
]


def _along_x(n: Vector) -> Vector:
    """The axis x of the plane: the carried direction, turned by an angle that has its values at the
    six axes.

    angle = sum_k (a_k+ + a_k-)/2 n_k^2 + (a_k+ - a_k-)/2 n_k
    """
    angle = sum((p + m) / 2 * c * c + (p - m) / 2 * c for (p, m), c in zip(ANGLES, n, strict=True))
    x = _carried(n)
    return x * math.cos(angle) + n.cross(x) * math.sin(angle)
