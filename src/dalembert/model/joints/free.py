"""Free joint: q = (w, x, y, z, px, py, pz), v = angular velocity and velocity of the origin, both
in the child's axes.
"""

from dataclasses import dataclass
from typing import ClassVar

from dalembert.model.joints.base import JointType, built_in
from dalembert.model.joints.spherical import Spherical, quaternion_rate, random_quaternion
from dalembert.spatial.motion_force import Motion
from dalembert.spatial.rotations import from_quaternion
from dalembert.spatial.transforms import Transform
from dalembert.spatial.vectors import AXES, ZERO, Vector

ATTITUDE = Spherical()


@built_in
@dataclass(frozen=True)
class Free(JointType):
    """All six freedoms: a floating base.

    `integrate` moves attitude and origin side by side (q exp(step/2), p + R step), not along a
    screw.

    Examples
    --------
    >>> import dalembert as da
    >>> da.Free().nq, da.Free().nv
    (7, 6)
    """

    name: ClassVar[str] = "free"
    coordinates = ("w", "x", "y", "z", "px", "py", "pz")
    velocities = ("angular x", "angular y", "angular z", "linear x", "linear y", "linear z")
    quaternion_at = 0
    quaternion_freedoms = 6

    def placement(self, q):
        """Origin q[4:] in the parent's axes, attitude by the quaternion q[:4]."""
        return Transform(Vector(q[4:]), from_quaternion(*q[:4]))

    def subspace(self, q):
        """S = 1, the child's twist itself."""
        return tuple(Motion(axis, ZERO) for axis in AXES) + tuple(
            Motion(ZERO, axis) for axis in AXES
        )

    def rate(self, q, v):
        """Rate of the quaternion for the angular velocity, and R v for the linear one."""
        return [*quaternion_rate(q[:4], v[:3]), *from_quaternion(*q[:4]).to_parent(Vector(v[3:]))]

    def integrate(self, q, step):
        """Attitude turned by the exponential of the rotation, origin moved by R times the
        displacement.
        """
        moved = Vector(q[4:]) + from_quaternion(*q[:4]).to_parent(Vector(step[3:]))
        return [*ATTITUDE.integrate(q[:4], step[:3]), *moved]

    def difference(self, q1, q0):
        """Rotation vector and displacement from q0 to q1, in the axes of q0."""
        moved = from_quaternion(*q0[:4]).to_child(Vector(q1[4:]) - Vector(q0[4:]))
        return [*ATTITUDE.difference(q1[:4], q0[:4]), *moved]

    def neutral(self):
        """The unit quaternion and the origin."""
        return [1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0]

    def random(self, rng):
        """A uniformly distributed attitude, an origin in (-1, 1) m."""
        return [*random_quaternion(rng), *(float(x) for x in rng.uniform(-1, 1, 3))]
