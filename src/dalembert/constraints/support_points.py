"""TouchPoint of an ellipsoid, a ball or a thin disc with a surface.

The point of a body that is farthest against a normal n is c + rho(n), where

    rho = -R s(R^T n),    s(m) = A m / sqrt(m^T A m),    A = diag(a^2, b^2, c^2)

with a semi-axis 0 of a thin disc. The contact is where n is the normal of the surface at that point.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from dalembert.constraints.surfaces import SurfacePoint
from dalembert.expr import Expr, sqrt
from dalembert.kinematics.frame_motion import FrameMotion
from dalembert.spatial.rotations import Rotation
from dalembert.spatial.vectors import AXES, IDENTITY, Matrix, Vector

ITERATIONS = 5  # of Newton's method for the contact with a curved surface

Surfaced = Callable[[Vector], SurfacePoint]


class TouchPoint(NamedTuple):
    """A body that touches a surface, in the base's axes.

    motion : of the centre
    arm : from the centre to the contact point
    arm_rate : of the arm, while the contact moves along body and surface
    near : the surface there
    """

    motion: FrameMotion
    arm: Vector
    arm_rate: Vector
    near: SurfacePoint


class Shape(ABC):
    """A body with its axes along those of a frame: its support point rho(n), and how that changes."""

    @abstractmethod
    def arm(self, R: Rotation, n: Vector) -> Vector:
        """rho(n), from the centre."""

    @abstractmethod
    def arm_change(self, R: Rotation, n: Vector, dn: Vector) -> Vector:
        """Change of rho(n) for a small change of n against the body."""

    def carried(self, R: Rotation, omega: Vector, arm: Vector, n: Vector) -> Vector:
        """Rate of the arm of a body that turns, for a normal that does not."""
        return omega.cross(arm) + self.arm_change(R, n, n.cross(omega))

    def contact(self, motion: FrameMotion, surface: Surfaced) -> TouchPoint:
        """The contact of a body in motion."""
        R, omega = motion.pose.R, motion.velocity.angular
        point, near, jacobian = self._touched(motion, surface)
        arm = point - motion.pose.p
        held = self.carried(R, omega, arm, near.normal)
        if jacobian is None:
            return TouchPoint(motion, arm, held, near)
        rate = _solved(jacobian, motion.velocity.linear + held)
        return TouchPoint(motion, arm, rate - motion.velocity.linear, near)

    def _touched(
        self, motion: FrameMotion, surface: Surfaced
    ) -> tuple[Vector, SurfacePoint, Matrix | None]:
        """TouchPoint point p = c + rho(n(p)), the surface there, and the Jacobian of p - rho(n(p));
        None: it is 1.
        """
        R, center = motion.pose.R, motion.pose.p
        near = surface(center)
        p = center + self.arm(R, near.normal)
        if _is_flat(near):
            return p, surface(p), None
        for _ in range(ITERATIONS):
            near = surface(p)
            residual = p - center - self.arm(R, near.normal)
            p = p - _solved(self._jacobian(R, near), residual)
        near = surface(p)
        return p, near, self._jacobian(R, near)

    def _jacobian(self, R: Rotation, near: SurfacePoint) -> Matrix:
        """1 - drho/dn N."""
        columns = (self.arm_change(R, near.normal, near.turning @ axis) for axis in AXES)
        return IDENTITY - Matrix(columns).T


class Ball(Shape):
    """A ball, whose support point does not turn with it.

    rho = -r n
    """

    def __init__(self, radius: Any):
        self.radius = radius

    def arm(self, R: Rotation, n: Vector) -> Vector:
        """-r n."""
        return n * -self.radius

    def arm_change(self, R: Rotation, n: Vector, dn: Vector) -> Vector:
        """-r dn."""
        return dn * -self.radius


class Spheroid(Shape):
    """An ellipsoid of revolution about the frame's axis k, or a thin disc.

        rho = -a (n + e (n . k) k) / sqrt(1 + e (n . k)^2),    e = c^2/a^2 - 1

    radius, half_length : a, and c along the axis
    axis : number of the frame's axis
    """

    def __init__(self, radius: Any, half_length: Any, axis: int):
        self.radius, self.axis = radius, AXES[axis]
        self.e = (half_length / radius) * (half_length / radius) - 1

    def arm(self, R: Rotation, n: Vector) -> Vector:
        """rho(n)."""
        k = R.to_parent(self.axis)
        cosine = n.dot(k)
        size = sqrt(1 + self.e * cosine * cosine)
        return (n + k * (self.e * cosine)) * (-self.radius / size)

    def arm_change(self, R: Rotation, n: Vector, dn: Vector) -> Vector:
        """Derivative of rho(n), k held."""
        k = R.to_parent(self.axis)
        cosine, dcosine = n.dot(k), dn.dot(k)
        square = 1 + self.e * cosine * cosine
        direction = n + k * (self.e * cosine)
        change = dn + k * (self.e * dcosine) - direction * (self.e * cosine * dcosine / square)
        return change * (-self.radius / sqrt(square))


class Ellipsoid(Shape):
    """An ellipsoid of three semi-axes.

    rho = -R s(R^T n),    s(m) = A m / sqrt(m^T A m),    A = diag(a^2, b^2, c^2)
    """

    def __init__(self, axes: Sequence[Any]):
        self.squares = [x * x for x in axes]

    def arm(self, R: Rotation, n: Vector) -> Vector:
        """rho(n)."""
        m = R.to_child(n)
        s = self._scaled(m)
        return R.to_parent(s * (-1 / sqrt(m.dot(s))))

    def arm_change(self, R: Rotation, n: Vector, dn: Vector) -> Vector:
        """Derivative of rho(n), R held."""
        m, dm = R.to_child(n), R.to_child(dn)
        s, ds = self._scaled(m), self._scaled(dm)
        square = m.dot(s)
        change = ds - s * (dm.dot(s) / square)
        return R.to_parent(change * (-1 / sqrt(square)))

    def _scaled(self, m: Vector) -> Vector:
        """A m."""
        return Vector(a * x for a, x in zip(self.squares, m, strict=True))


def shape_of(axes: Sequence[Any]) -> Shape:
    """The body of three semi-axes, 0 along the axis of a thin disc."""
    equal = [_same(axes[(k + 1) % 3], axes[(k + 2) % 3]) for k in range(3)]
    if all(equal):
        return Ball(axes[0])
    if any(equal):
        axis = equal.index(True)
        return Spheroid(axes[(axis + 1) % 3], axes[axis], axis)
    return Ellipsoid(axes)


def _same(a: Any, b: Any) -> bool:
    """Whether two lengths are one number."""
    return a is b or bool(not isinstance(a, Expr) and not isinstance(b, Expr) and a == b)


def _is_flat(near: SurfacePoint) -> bool:
    return all(x.__class__ is int for row in near.turning for x in row)


def _solved(A: Matrix, b: Vector) -> Vector:
    """x of A x = b, by Cramer's rule."""
    x, y, z = A.T
    yz = y.cross(z)
    inverse = 1 / x.dot(yz)
    return Vector((b.dot(yz), x.dot(b.cross(z)), x.dot(y.cross(b)))) * inverse
