"""Spherical joint: q = unit quaternion (w, x, y, z), v = angular velocity in the child's axes."""

from dataclasses import dataclass
from typing import ClassVar

from dalembert.model.joints.base import JointType, built_in
from dalembert.spatial.motion_force import Motion
from dalembert.spatial.rotations import (
    from_quaternion,
    quaternion_conjugate,
    quaternion_exponential,
    quaternion_logarithm,
    quaternion_product,
)
from dalembert.spatial.transforms import Transform
from dalembert.spatial.vectors import AXES, ZERO, Vector


def quaternion_rate(q, omega) -> list:
    """dq/dt = q (0, omega) / 2 for an angular velocity in the child's axes."""
    return [c / 2 for c in quaternion_product(q, (0, *omega))]


def random_quaternion(rng) -> list[float]:
    """Unit quaternion, uniformly distributed."""
    q = rng.standard_normal(4)
    return [float(c) for c in q / (q @ q) ** 0.5]


@built_in
@dataclass(frozen=True)
class Spherical(JointType):
    """Rotation about a point.

    Examples
    --------
    >>> import dalembert as da
    >>> da.Spherical().nq, da.Spherical().nv
    (4, 3)
    """

    name: ClassVar[str] = "spherical"
    coordinates = ("w", "x", "y", "z")
    velocities = ("angular x", "angular y", "angular z")
    quaternion_at = 0
    quaternion_freedoms = 3

    def placement(self, q):
        """Rotation of the unit quaternion q."""
        return Transform(ZERO, from_quaternion(*q))

    def subspace(self, q):
        """S = [1; 0], the angular velocity in the child's axes."""
        return tuple(Motion(axis, ZERO) for axis in AXES)

    def rate(self, q, v):
        """Rate of the quaternion, q (0, v) / 2."""
        return quaternion_rate(q, v)

    def integrate(self, q, step):
        """q exp(step): turned by a rotation vector in the child's axes."""
        return list(quaternion_product(q, quaternion_exponential(Vector(step))))

    def difference(self, q1, q0):
        """Rotation vector log(q0^-1 q1)."""
        return list(quaternion_logarithm(quaternion_product(quaternion_conjugate(q0), q1)))

    def neutral(self):
        """The unit quaternion."""
        return [1.0, 0.0, 0.0, 0.0]

    def random(self, rng):
        """A uniformly distributed unit quaternion."""
        return random_quaternion(rng)
