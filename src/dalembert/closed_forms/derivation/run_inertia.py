"""Inertias and freedoms of links, in axes of their runs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, NamedTuple

from dalembert.spatial.inertias import Inertia
from dalembert.spatial.rotations import Rotation
from dalembert.spatial.vectors import ZERO, ZERO_MATRIX, Matrix, Scalar, Vector


@dataclass
class Column:
    """A freedom of a link: entry of qd, and unit velocity of the link in its run's axes, at its
    origin.
    """

    dof: int
    angular: Vector
    linear: Vector

    def power(self, moment: Vector, force: Vector) -> Any:
        """Power of a moment and force for a unit velocity."""
        return self.angular.dot(moment) + self.linear.dot(force)


class RunInertia(NamedTuple):
    """Mass, first moment and tensor about an origin, in a run's axes."""

    m: Scalar
    h: Vector
    I: Matrix

    @staticmethod
    def of(body: Inertia, scalar: Callable[[Any], Scalar]) -> RunInertia:
        """Inertia of a body about its origin, in an algebra's scalars."""
        m = scalar(body.m)
        h = Vector(map(scalar, body.h))
        return RunInertia(m, h, Matrix(map(scalar, row) for row in body.tensor()))

    def ten(self) -> tuple[Scalar, ...]:
        """m, three first moments, Ixx, Ixy, Iyy, Ixz, Iyz, Izz: ordered as parameters of
        `regressor`.
        """
        (xx, xy, xz), (_, yy, yz), (_, _, zz) = self.I
        return self.m, *self.h, xx, xy, yy, xz, yz, zz

    def __add__(self, other):  # type: ignore[override]
        return RunInertia(self.m + other.m, self.h + other.h, self.I + other.I)

    def turned(self, R: Rotation) -> RunInertia:
        """In axes that R turns to."""
        return RunInertia(self.m, R.to_parent(self.h), R.conjugate_symmetric(self.I))

    def shifted(self, r: Vector) -> RunInertia:
        """About the origin from which this one's lies at r: I + 2 (r.h) 1 - r h^T - h r^T + m
        (|r|^2 1 - r r^T).
        """
        if not any(map(is_nonzero, r)):
            return self
        h = self.h + r * self.m
        far = h + self.h  # 2 h + m r: the same in one product
        xx, yy, zz = (r[k] * far[k] for k in range(3))

        def product(i: int, j: int) -> Scalar:
            """Entry i, j of the tensor, i != j."""
            return self.I[i][j] - r[i] * self.h[j] - h[i] * r[j]

        I = Matrix.symmetric(
            self.I[0][0] + yy + zz,
            product(0, 1),
            self.I[1][1] + xx + zz,
            product(0, 2),
            product(1, 2),
            self.I[2][2] + xx + yy,
        )
        return RunInertia(self.m, h, I)

    def momentum(self, column: Column) -> tuple[Vector, Vector]:
        """(moment, force) for a unit velocity: I w + h x v, m v + w x h."""
        w, v = column.angular, column.linear
        return self.I @ w + self.h.cross(v), v * self.m + w.cross(self.h)


NOTHING = RunInertia(0, ZERO, ZERO_MATRIX)


def is_nonzero(x: Any) -> bool:
    """Whether a scalar is no number that is zero."""
    return not isinstance(x, (int, float, Fraction)) or x != 0
