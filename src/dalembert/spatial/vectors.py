"""Vectors and 3x3 matrices over any scalar: floats, exact numbers, expressions, or arrays of shape
(N,).

The library runs one text on all of these. With arrays of shape (N,) as entries it evaluates N
states at once.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

Scalar = Any  # int, float, Fraction, Expr or ndarray (N,)


def dot(a: Sequence[Scalar], b: Sequence[Scalar]) -> Scalar:
    """Sum of the products of the entries of two vectors of any length."""
    total = a[0] * b[0] if len(a) else 0.0
    for x, y in zip(a[1:], b[1:], strict=True):
        total = total + x * y
    return total


class Vector(tuple):
    """Three components in some right-handed frame."""

    __slots__ = ()
    __array_ufunc__ = None  # array * Vector is a Vector of arrays, never an array of shape (3, N)

    def __new__(cls, components: Iterable[Scalar]):
        return tuple.__new__(cls, components)

    def __add__(self, other):
        return Vector((self[0] + other[0], self[1] + other[1], self[2] + other[2]))

    def __sub__(self, other):
        return Vector((self[0] - other[0], self[1] - other[1], self[2] - other[2]))

    def __neg__(self):
        return Vector((-self[0], -self[1], -self[2]))

    def __mul__(self, scalar: Scalar):
        return Vector((self[0] * scalar, self[1] * scalar, self[2] * scalar))

    __rmul__ = __mul__

    def dot(self, other) -> Scalar:
        """Scalar product."""
        return self[0] * other[0] + self[1] * other[1] + self[2] * other[2]

    def cross(self, other) -> Vector:
        """Vector product self x other."""
        a, b = self, other
        return Vector(
            (a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0])
        )

    def matrix(self) -> Matrix:
        """Skew matrix [v]x with [v]x r = v x r."""
        x, y, z = self
        return Matrix(((0, -z, y), (z, 0, -x), (-y, x, 0)))


def summed(vectors: Sequence[Vector], weights: Sequence[Scalar]) -> Vector:
    """Sum of vectors times weights."""
    return Vector(dot(entries, weights) for entries in zip(*vectors, strict=True))


class Matrix(tuple):
    """A 3x3 matrix as three rows."""

    __slots__ = ()
    __array_ufunc__ = None

    def __new__(cls, rows: Iterable[Iterable[Scalar]]):
        return tuple.__new__(cls, (Vector(row) for row in rows))

    @staticmethod
    def diagonal(x: Scalar, y: Scalar, z: Scalar) -> Matrix:
        """The matrix with x, y, z on its diagonal."""
        return Matrix(((x, 0, 0), (0, y, 0), (0, 0, z)))

    @staticmethod
    def symmetric(xx: Scalar, xy: Scalar, yy: Scalar, xz: Scalar, yz: Scalar, zz: Scalar) -> Matrix:
        """Symmetric matrix from its lower triangle, row by row (the order of regressor parameters)."""
        return Matrix(((xx, xy, xz), (xy, yy, yz), (xz, yz, zz)))

    @staticmethod
    def outer(a: Vector, b: Vector) -> Matrix:
        """Dyad a b^T."""
        return Matrix((b * a[0], b * a[1], b * a[2]))

    @property
    def T(self) -> Matrix:
        """The transpose."""
        return Matrix(zip(*self, strict=True))

    @property
    def trace(self) -> Scalar:
        """Sum of the diagonal."""
        return self[0][0] + self[1][1] + self[2][2]

    def __add__(self, other):
        return Matrix((self[0] + other[0], self[1] + other[1], self[2] + other[2]))

    def __sub__(self, other):
        return Matrix((self[0] - other[0], self[1] - other[1], self[2] - other[2]))

    def __neg__(self):
        return Matrix((-self[0], -self[1], -self[2]))

    def __mul__(self, scalar: Scalar):
        return Matrix((self[0] * scalar, self[1] * scalar, self[2] * scalar))

    __rmul__ = __mul__

    def __matmul__(self, other):
        if isinstance(other, Matrix):
            columns = other.T
            return Matrix((row.dot(c) for c in columns) for row in self)
        return Vector((self[0].dot(other), self[1].dot(other), self[2].dot(other)))


ZERO = Vector((0, 0, 0))
X_AXIS = Vector((1, 0, 0))
Y_AXIS = Vector((0, 1, 0))
Z_AXIS = Vector((0, 0, 1))
AXES = (X_AXIS, Y_AXIS, Z_AXIS)
IDENTITY = Matrix(AXES)
ZERO_MATRIX = Matrix((ZERO, ZERO, ZERO))


def axial(A: Matrix) -> Vector:
    """Twice the axial vector of A: (A_zy - A_yz, A_xz - A_zx, A_yx - A_xy)."""
    return Vector((A[2][1] - A[1][2], A[0][2] - A[2][0], A[1][0] - A[0][1]))
