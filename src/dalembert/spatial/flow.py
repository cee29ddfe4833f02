"""Flow of mass: the first moments of velocity of a moving body or of several, and the Coriolis
forces they meet.
"""

from __future__ import annotations

from typing import NamedTuple

from dalembert.spatial.inertias import Inertia, rotational
from dalembert.spatial.motion_force import Force, Motion
from dalembert.spatial.transforms import Transform
from dalembert.spatial.vectors import Matrix, Vector, axial


class Flow(NamedTuple):
    """Integrals of the velocities r' over mass, about a frame's origin, in its axes.

    momentum p = integral r' dm, angular momentum L = integral r x r' dm, and J' = integral (r' r^T
    + r r'^T) dm, the rate of the second moments seen from the inertial frame. Together they are
    integral r' r^T dm, split where the split saves operations: J' turns as a symmetric matrix.
    """

    p: Vector
    L: Vector
    J: Matrix

    @staticmethod
    def of(body: Inertia, v: Motion) -> Flow:
        """The flow of a rigid body that moves with v: r' = v_O + omega x r."""
        spread = v.angular.matrix() @ body.J + Matrix.outer(v.linear, body.h)  # integral r' r^T dm
        return Flow(
            v.linear * body.m + v.angular.cross(body.h), axial(spread), _twice_symmetric(spread)
        )

    def __add__(self, other):  # type: ignore[override]
        return Flow(self.p + other.p, self.L + other.L, self.J + other.J)

    def to_parent(self, X: Transform) -> Flow:
        """The same about the parent's origin in the parent's axes."""
        p = X.R.to_parent(self.p)
        shift = _twice_symmetric(Matrix.outer(p, X.p))
        return Flow(
            p, X.R.to_parent(self.L) + X.p.cross(p), X.R.conjugate_symmetric(self.J) + shift
        )

    @property
    def spread(self) -> Matrix:
        """N = 2 (tr(Y) 1 - Y) of Y = integral r' r^T dm: integral r x 2 (u x r') dm = N u."""
        return rotational(self.J) - self.L.matrix()

    def coriolis_force(self, u: Vector) -> Force:
        """Force of the accelerations 2 u x r': (N u; 2 u x p)."""
        return Force(self.spread @ u, u.cross(self.p + self.p))

    def coriolis_couple(self, s: Motion) -> Vector:
        """Couple c with c . u = power on s of the force of 2 u x r', for every u: N^T s_omega + 2 p
        x s_v.
        """
        return self.spread.T @ s.angular + (self.p + self.p).cross(s.linear)


def _twice_symmetric(A: Matrix) -> Matrix:
    return A + A.T
