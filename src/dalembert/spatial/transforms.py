"""Placement of a child frame in its parent: carries motions inward to the child, forces and
inertias out to the parent.
"""

from __future__ import annotations

from typing import NamedTuple

from dalembert.spatial.motion_force import Force, Motion
from dalembert.spatial.rotations import NO_ROTATION, Rotation
from dalembert.spatial.vectors import ZERO, Vector


class Transform(NamedTuple):
    """Child frame with origin p (parent's axes) and rotation R (child's axes to parent's)."""

    p: Vector = ZERO
    R: Rotation = NO_ROTATION

    def __mul__(self, inner: Transform) -> Transform:  # type: ignore[override]
        """Composition: parent <- self <- inner."""
        return Transform(self.p + self.R.to_parent(inner.p), self.R * inner.R)

    def point_to_parent(self, r: Vector) -> Vector:
        """Point given in the child, in the parent: p + R r."""
        return self.p + self.R.to_parent(r)

    def motion_to_child(self, v: Motion) -> Motion:
        """(R^T omega; R^T (v + omega x p))."""
        return Motion(
            self.R.to_child(v.angular), self.R.to_child(v.linear + v.angular.cross(self.p))
        )

    def motion_to_parent(self, v: Motion) -> Motion:
        """(R omega; R v + p x R omega)."""
        angular = self.R.to_parent(v.angular)
        return Motion(angular, self.R.to_parent(v.linear) + self.p.cross(angular))

    def force_to_parent(self, f: Force) -> Force:
        """(R n + p x R f; R f)."""
        force = self.R.to_parent(f.force)
        return Force(self.R.to_parent(f.moment) + self.p.cross(force), force)
