"""Inertia of a rigid body in pseudo-inertia form, and articulated inertia."""

from __future__ import annotations

from fractions import Fraction
from typing import NamedTuple

from dalembert.spatial.motion_force import Force, Motion
from dalembert.spatial.transforms import Transform
from dalembert.spatial.vectors import IDENTITY, ZERO, ZERO_MATRIX, Matrix, Scalar, Vector, axial

HALF = Fraction(1, 2)  # exact with exact numbers, a float with floats


def rotational(J: Matrix) -> Matrix:
    """Inertia tensor tr(J) 1 - J of second moments J = integral r r^T dm (and back: J = tr(I)/2 1 -
    I).
    """
    (xx, xy, xz), (_, yy, yz), (_, _, zz) = J
    return Matrix(((yy + zz, -xy, -xz), (-xy, xx + zz, -yz), (-xz, -yz, xx + yy)))


class Inertia(NamedTuple):
    """Mass m, first moment h = m c and second moments J = integral r r^T dm about the frame's
    origin.

    The second moments, not the tensor tr(J) 1 - J, are stored: they shift and turn with fewer
    operations, and the wrench of a motion needs only them.

    Examples
    --------
    >>> import dalembert as da
    >>> from dalembert.spatial.vectors import Matrix, Vector
    >>> da.Inertia.of(2.0, Vector((0, 0, 0.5)), Matrix.diagonal(0.1, 0.1, 0.02)).h
    (0.0, 0.0, 1.0)
    """

    m: Scalar
    h: Vector
    J: Matrix

    @staticmethod
    def of(mass: Scalar, com: Vector, tensor: Matrix) -> Inertia:
        """From the mass [kg], centre of mass (3,) [m] and inertia tensor about the centre of mass (3,
        3) [kg m^2].

        Examples
        --------
        >>> import dalembert as da
        >>> from dalembert.spatial.vectors import Matrix, Vector
        >>> da.Inertia.of(2.0, Vector((0, 0, 0.5)), Matrix.diagonal(0.1, 0.1, 0.02)).m
        2.0
        """
        half_trace = tensor.trace * HALF
        h = com * mass
        return Inertia(mass, h, IDENTITY * half_trace - tensor + Matrix.outer(com, h))

    def tensor(self) -> Matrix:
        """Inertia tensor about the frame's origin: (3, 3) [kg m^2].

        Examples
        --------
        >>> import dalembert as da
        >>> da.Body("rod", 2.0, (0, 0, 0.5)).spatial_inertia(float).tensor()
        ((0.5, -0.0, -0.0), (-0.0, 0.5, -0.0), (-0.0, -0.0, 0.0))
        """
        return rotational(self.J)

    def __add__(self, other):  # type: ignore[override]
        return Inertia(self.m + other.m, self.h + other.h, self.J + other.J)

    def momentum(self, v: Motion) -> Force:
        """I v = (I_O omega + h x v; m v + omega x h).

        Examples
        --------
        >>> import dalembert as da
        >>> from dalembert.spatial.motion_force import Motion
        >>> from dalembert.spatial.vectors import Vector
        >>> body = da.Body("rod", 2.0).spatial_inertia(float)
        >>> body.momentum(Motion(Vector((0, 0, 0)), Vector((3.0, 0, 0)))).force
        (6.0, 0.0, 0.0)
        """
        return Force(
            self.tensor() @ v.angular + self.h.cross(v.linear),
            v.linear * self.m + v.angular.cross(self.h),
        )

    def wrench(self, a: Vector, W: Matrix) -> Force:
        """Force (n; f), (6,) [N m; N], that gives the points r of the body the accelerations a + W r,
        a (3,) [m/s^2], W (3, 3) [1/s^2].

            f = m a + W h,    n = integral r x (a + W r) dm = h x a + axial(W J)

        With W = [omega']x + [omega]x [omega]x this is the Newton-Euler equation of the body.

        Examples
        --------
        >>> import dalembert as da
        >>> from dalembert.spatial.vectors import Matrix, Vector
        >>> body = da.Body("rod", 2.0, (0, 0, 0.5)).spatial_inertia(float)
        >>> body.wrench(Vector((0, 0, 9.81)), Matrix.diagonal(0, 0, 0)).force
        (0.0, 0.0, 19.62)
        """
        return Force(axial(W @ self.J) + self.h.cross(a), a * self.m + W @ self.h)

    def to_parent(self, X: Transform) -> Inertia:
        """The same body about the parent's origin in the parent's axes.

        Examples
        --------
        >>> import dalembert as da
        >>> body = da.Body("rod", 2.0).spatial_inertia(float)
        >>> body.to_parent(da.Origin((1, 0, 0)).transform(float)).h
        (2.0, 0.0, 0.0)
        """
        h = X.R.to_parent(self.h)
        J = X.R.conjugate_symmetric(self.J)
        p = X.p
        shifted = h + p * self.m
        xx, yy, zz = (J[k][k] + p[k] * (h[k] + shifted[k]) for k in range(3))
        xy, xz, yz = (
            J[i][j] + p[i] * h[j] + shifted[i] * p[j] for i, j in ((0, 1), (0, 2), (1, 2))
        )
        return Inertia(self.m, shifted, Matrix.symmetric(xx, xy, yy, xz, yz, zz))


NO_INERTIA = Inertia(0, ZERO, ZERO_MATRIX)


class ArticulatedInertia(NamedTuple):
    """Symmetric 6x6 inertia in blocks: (n; f) = [[I, H], [H^T, M]] (alpha; a)."""

    I: Matrix
    H: Matrix
    M: Matrix

    @staticmethod
    def of(body: Inertia) -> ArticulatedInertia:
        """The articulated inertia of a body with nothing outboard."""
        return ArticulatedInertia(
            body.tensor(), body.h.matrix(), Matrix.diagonal(body.m, body.m, body.m)
        )

    def __add__(self, other):  # type: ignore[override]
        return ArticulatedInertia(self.I + other.I, self.H + other.H, self.M + other.M)

    def apply(self, a: Motion) -> Force:
        """I_A a."""
        return Force(
            self.I @ a.angular + self.H @ a.linear, self.H.T @ a.angular + self.M @ a.linear
        )

    def minus(
        self, U: tuple[Force, ...], V: tuple[Force, ...], freed: tuple[int, ...]
    ) -> ArticulatedInertia:
        """Self - sum_k V_k U_k^T (symmetric); rows and columns of the freed coordinates are exactly
        zero.
        """
        turned = frozenset(freed)

        def block(A, left, right, offset_left, offset_right, symmetric):
            """A block of three rows less its part of the products."""
            rows = [[0] * 3 for _ in range(3)]
            for i in range(3):
                for j in range(i if symmetric else 0, 3):
                    if offset_left + i in turned or offset_right + j in turned:
                        continue
                    value = A[i][j]
                    for v, u in zip(left, right, strict=True):
                        value = value - v[i] * u[j]
                    rows[i][j] = value
                    if symmetric:
                        rows[j][i] = value
            return Matrix(rows)

        U_n = [u.moment for u in U]
        U_f = [u.force for u in U]
        V_n = [v.moment for v in V]
        V_f = [v.force for v in V]
        return ArticulatedInertia(
            block(self.I, V_n, U_n, 0, 0, True),
            block(self.H, V_n, U_f, 0, 3, False),
            block(self.M, V_f, U_f, 3, 3, True),
        )

    def to_parent(self, X: Transform) -> ArticulatedInertia:
        """The same about the parent's origin: H' = H + P M, I' = I + P H^T - H' P with P = [p]x."""
        I = X.R.conjugate_symmetric(self.I)
        H = X.R.conjugate(self.H)
        M = X.R.conjugate_symmetric(self.M)
        P = X.p.matrix()
        shifted = H + P @ M
        left, right = P @ H.T, shifted @ P
        entries = (
            I[i][j] + left[i][j] - right[i][j]
            for i, j in ((0, 0), (1, 0), (1, 1), (2, 0), (2, 1), (2, 2))
        )
        return ArticulatedInertia(Matrix.symmetric(*entries), shifted, M)
