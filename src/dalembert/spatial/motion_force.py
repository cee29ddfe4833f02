"""Spatial motion and force vectors, angular part first (Featherstone 2008, chapter 2)."""

from __future__ import annotations

from typing import NamedTuple

from dalembert.spatial.vectors import ZERO, Scalar, Vector


class Motion(NamedTuple):
    """Velocity-like vector (omega; v_O): angular part and velocity of the frame's origin."""

    angular: Vector
    linear: Vector

    def __add__(self, other):  # type: ignore[override]
        return Motion(self.angular + other.angular, self.linear + other.linear)

    def __sub__(self, other):
        return Motion(self.angular - other.angular, self.linear - other.linear)

    def __neg__(self):
        return Motion(-self.angular, -self.linear)

    def scaled(self, factor: Scalar) -> Motion:
        """The motion times a factor."""
        return Motion(self.angular * factor, self.linear * factor)

    def cross(self, m: Motion) -> Motion:
        """v x m, the rate of a motion vector m that is fixed in a body moving with v (crm(v) m)."""
        return Motion(
            self.angular.cross(m.angular),
            self.angular.cross(m.linear) + self.linear.cross(m.angular),
        )

    def cross_force(self, f: Force) -> Force:
        """v x* f, the rate of a force vector f that is fixed in a body moving with v (crf(v) f)."""
        return Force(
            self.angular.cross(f.moment) + self.linear.cross(f.force), self.angular.cross(f.force)
        )


class Force(NamedTuple):
    """Force-like vector (n_O; f): moment about the frame's origin and force."""

    moment: Vector
    force: Vector

    def __add__(self, other):  # type: ignore[override]
        return Force(self.moment + other.moment, self.force + other.force)

    def __sub__(self, other):
        return Force(self.moment - other.moment, self.force - other.force)

    def __neg__(self):
        return Force(-self.moment, -self.force)

    def scaled(self, factor: Scalar) -> Force:
        """The force times a factor."""
        return Force(self.moment * factor, self.force * factor)

    def dot(self, m: Motion) -> Scalar:
        """Power of the force on the motion: n . omega + f . v."""
        return self.moment.dot(m.angular) + self.force.dot(m.linear)


NO_MOTION = Motion(ZERO, ZERO)
NO_FORCE = Force(ZERO, ZERO)


def combined(columns, values):
    """Sum of columns (motions or forces) times scalars; at least one column."""
    total = columns[0].scaled(values[0])
    for column, value in zip(columns[1:], values[1:], strict=True):
        total = total + column.scaled(value)
    return total
