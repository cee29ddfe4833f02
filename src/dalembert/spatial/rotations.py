"""Rotations as factors that carry vectors and matrices, and conversions between their descriptions.

A rotation R maps components in the child's axes to components in the parent's. Rotations are
applied factor by
factor: a turn about a coordinate axis costs 4 multiplications a vector, a product matrix 9.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from typing import Any

from dalembert.expr import atan2, cos, known_zero, sin, sqrt, where
from dalembert.spatial.angles import cos_sin
from dalembert.spatial.vectors import AXES, IDENTITY, Matrix, Scalar, Vector


class Rotation(ABC):
    """Rotation from the child's axes to the parent's."""

    @abstractmethod
    def to_parent(self, v: Vector) -> Vector:
        """R v."""

    @abstractmethod
    def to_child(self, v: Vector) -> Vector:
        """R^T v."""

    @abstractmethod
    def conjugate(self, A: Matrix) -> Matrix:
        """R A R^T."""

    @abstractmethod
    def conjugate_symmetric(self, A: Matrix) -> Matrix:
        """R A R^T for symmetric A, in fewer operations."""

    def matrix(self) -> Matrix:
        """The 3x3 matrix R."""
        return Matrix(self.to_parent(axis) for axis in AXES).T

    def __mul__(self, other: Rotation) -> Rotation:
        """The product self other (other acts first)."""
        if isinstance(self, Identity):
            return other
        if isinstance(other, Identity):
            return self
        return Product(_factors(self) + _factors(other))


class Identity(Rotation):
    """No rotation."""

    def to_parent(self, v):
        """v."""
        return v

    def to_child(self, v):
        """v."""
        return v

    def conjugate(self, A):
        """A."""
        return A

    def conjugate_symmetric(self, A):
        """A."""
        return A


class AxisTurn(Rotation):
    """Turn about coordinate axis k (0, 1, 2 for x, y, z) with cosine c and sine s."""

    def __init__(self, k: int, c: Scalar, s: Scalar):
        self.c, self.s = c, s
        self.i, self.j, self.k = (k + 1) % 3, (k + 2) % 3, k

    def to_parent(self, v):
        """R v, in 4 multiplications."""
        return self._placed(
            self.c * v[self.i] - self.s * v[self.j],
            self.s * v[self.i] + self.c * v[self.j],
            v[self.k],
        )

    def to_child(self, v):
        """R^T v, in 4 multiplications."""
        return self._placed(
            self.c * v[self.i] + self.s * v[self.j],
            self.c * v[self.j] - self.s * v[self.i],
            v[self.k],
        )

    def _placed(self, along_i, along_j, along_k):
        components = [along_k] * 3
        components[self.i], components[self.j] = along_i, along_j
        return Vector(components)

    def conjugate(self, A):
        """R (A R^T), row by row and column by column."""
        half = Matrix(self.to_parent(row) for row in A)  # A R^T
        return Matrix(self.to_parent(column) for column in half.T).T  # R (A R^T)

    def conjugate_symmetric(self, A):
        """R A R^T in 8 multiplications, by the double angle."""
        i, j, k, c, s = self.i, self.j, self.k, self.c, self.s
        u = s * (A[i][i] - A[j][j]) + c * (
            A[i][j] + A[i][j]
        )  # double-angle form: 8 multiplications
        moved = s * u
        rows = [[A[k][k]] * 3 for _ in range(3)]
        rows[i][i], rows[j][j] = A[i][i] - moved, A[j][j] + moved
        rows[i][j] = rows[j][i] = c * u - A[i][j]
        rows[i][k] = rows[k][i] = c * A[i][k] - s * A[j][k]
        rows[j][k] = rows[k][j] = s * A[i][k] + c * A[j][k]
        return Matrix(rows)


class Dense(Rotation):
    """Rotation given by its matrix."""

    def __init__(self, matrix: Matrix):
        self._matrix, self._transposed = matrix, matrix.T

    def to_parent(self, v):
        """R v, in 9 multiplications."""
        return self._matrix @ v

    def to_child(self, v):
        """R^T v, in 9 multiplications."""
        return self._transposed @ v

    def conjugate(self, A):
        """R A R^T, in 54 multiplications."""
        return self._matrix @ A @ self._transposed

    def conjugate_symmetric(self, A):
        """R A R^T, with the upper triangle alone formed."""
        half, R = self._matrix @ A, self._matrix
        xx = half[0].dot(R[0])
        xy = half[1].dot(R[0])
        yy = half[1].dot(R[1])
        return Matrix.symmetric(xx, xy, yy, half[2].dot(R[0]), half[2].dot(R[1]), half[2].dot(R[2]))

    def matrix(self):
        """The matrix itself."""
        return self._matrix


class Product(Rotation):
    """R = F_1 F_2 ... F_k, applied factor by factor."""

    def __init__(self, factors: tuple[Rotation, ...]):
        self.factors = factors

    def to_parent(self, v):
        """R v, the last factor first."""
        for factor in reversed(self.factors):
            v = factor.to_parent(v)
        return v

    def to_child(self, v):
        """R^T v, the first factor first."""
        for factor in self.factors:
            v = factor.to_child(v)
        return v

    def conjugate(self, A):
        """R A R^T, factor by factor."""
        for factor in reversed(self.factors):
            A = factor.conjugate(A)
        return A

    def conjugate_symmetric(self, A):
        """R A R^T, factor by factor."""
        for factor in reversed(self.factors):
            A = factor.conjugate_symmetric(A)
        return A


def _factors(rotation: Rotation) -> tuple[Rotation, ...]:
    return rotation.factors if isinstance(rotation, Product) else (rotation,)


NO_ROTATION = Identity()


# --- from angles, axes, quaternions ---------------------------------------------------------------------------------


def about_axis(axis: Any, angle: Scalar) -> Rotation:
    """Rotation by an angle [rad] about a unit vector; a coordinate axis (either sense) stays a
    cheap turn.
    """
    c, s = cos_sin(angle) if not hasattr(angle, "shape") else (cos(angle), sin(angle))
    return about_axis_cos_sin(axis, c, s)


def about_axis_cos_sin(axis: Any, c: Scalar, s: Scalar) -> Rotation:
    """The same from the cosine and sine of the angle."""
    aligned = coordinate_axis(axis)
    if aligned is not None:
        k, sign = aligned
        return AxisTurn(k, c, s if sign > 0 else -s)
    a = Vector(axis)
    return Dense(IDENTITY * c + Matrix.outer(a, a) * (1 - c) + a.matrix() * s)  # Rodrigues


def coordinate_axis(axis: Any) -> tuple[int, int] | None:
    """(index, sign) of an axis that is exactly a coordinate axis or its opposite, else None."""
    for k in range(3):
        along = axis[k]
        others = (axis[(k + 1) % 3], axis[(k + 2) % 3])
        if all(map(known_zero, others)) and _is_number(along) and abs(along) == 1:
            return k, 1 if along > 0 else -1
    return None


def _is_number(x: Any) -> bool:
    return isinstance(x, (int, float)) or hasattr(x, "numerator")


def roll_pitch_yaw(roll: Scalar, pitch: Scalar, yaw: Scalar) -> Rotation:
    """R = Rz(yaw) Ry(pitch) Rx(roll), angles [rad], as in URDF."""
    turns = [
        about_axis(AXES[k], angle)
        for k, angle in ((2, yaw), (1, pitch), (0, roll))
        if not known_zero(angle)
    ]
    product: Rotation = NO_ROTATION
    for turn in turns:
        product = product * turn
    return product


def from_quaternion(w: Scalar, x: Scalar, y: Scalar, z: Scalar) -> Rotation:
    """Rotation of a unit quaternion (w, x, y, z)."""
    xx, yy, zz, two = x * x, y * y, z * z, 2
    xy, xz, yz, wx, wy, wz = x * y, x * z, y * z, w * x, w * y, w * z
    return Dense(
        Matrix(
            (
                (1 - two * (yy + zz), two * (xy - wz), two * (xz + wy)),
                (two * (xy + wz), 1 - two * (xx + zz), two * (yz - wx)),
                (two * (xz - wy), two * (yz + wx), 1 - two * (xx + yy)),
            )
        )
    )


# --- quaternions (w, x, y, z) as tuples, over any scalar ------------------------------------------------------------

SMALL_ANGLE = 1e-4  # rad; below it the series of sin(a)/a to a^4 is exact to 1e-18


def quaternion_product(p, q) -> tuple:
    """Hamilton product p q."""
    a = Vector(p[1:])
    b = Vector(q[1:])
    vector = b * p[0] + a * q[0] + a.cross(b)
    return (p[0] * q[0] - a.dot(b), *vector)


def quaternion_conjugate(q) -> tuple:
    """Inverse of a unit quaternion."""
    return (q[0], -q[1], -q[2], -q[3])


def quaternion_exponential(v: Vector) -> tuple:
    """Quaternion of the rotation vector v [rad]: (cos(|v|/2), sin(|v|/2) v/|v|), smooth at v = 0."""
    square = v.dot(v) * 0.25  # (half angle)^2
    small = square < SMALL_ANGLE**2
    half = sqrt(where(small, 1.0, square))
    sinc = where(small, 1 - square / 6 + square * square / 120, sin(half) / half)
    cosine = where(small, 1 - square / 2 + square * square / 24, cos(half))
    return (cosine, *(v * (sinc * 0.5)))


def quaternion_logarithm(q) -> Vector:
    """Rotation vector [rad] of a unit quaternion, of length at most pi; q and -q give the same.
    Smooth at identity.
    """
    w = q[0]
    v = Vector(q[1:])
    flip = where(w < 0, -1.0, 1.0)  # the shorter way round
    w, v = w * flip, v * flip
    square = v.dot(v)
    small = square < SMALL_ANGLE**2
    sine = sqrt(where(small, 1.0, square))
    ratio = where(small, (2 - square / (w * w) * (2 / 3)) / w, 2 * atan2(sine, w) / sine)
    return v * ratio


# --- matrices to other descriptions, floats only --------------------------------------------------------------------


def quaternion_of(R) -> tuple[float, float, float, float]:
    """Unit quaternion (w >= 0) of a rotation matrix of floats, by its largest component.

    References
    ----------
    Shepperd, Quaternion from rotation matrix, J. Guidance and Control 1 (1978) 223-224.
    """
    (xx, xy, xz), (yx, yy, yz), (zx, zy, zz) = ([float(entry) for entry in row] for row in R)
    trace = xx + yy + zz
    rows = (  # of 4 q q^T: q times each of its components
        (1 + trace, zy - yz, xz - zx, yx - xy),
        (zy - yz, 1 + xx - yy - zz, yx + xy, zx + xz),
        (xz - zx, yx + xy, 1 + yy - zz - xx, zy + yz),
        (yx - xy, zx + xz, zy + yz, 1 + zz - xx - yy),
    )
    sizes = (trace, xx, yy, zz)  # the largest has the index of the largest component
    row = rows[max(range(4), key=sizes.__getitem__)]
    norm = math.copysign(math.sqrt(sum(c * c for c in row)), row[0] or 1.0)
    w, x, y, z = (c / norm for c in row)
    return w, x, y, z


def axis_angle_of(R) -> tuple[Vector, float]:
    """Unit axis and angle in [0, pi] of a rotation matrix of floats (axis x for no rotation)."""
    w, *v = quaternion_of(R)
    sine = math.sqrt(sum(c * c for c in v))
    if sine == 0:
        return Vector((1.0, 0.0, 0.0)), 0.0
    return Vector(c / sine for c in v), 2 * math.atan2(sine, w)
