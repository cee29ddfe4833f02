"""Inertias of links in axes of their runs, and what closed forms are made of: mass matrix, gravity
and Coriolis forces.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from dalembert.closed_forms.derivation.link_chain import Column, Link, is_nonzero
from dalembert.spatial.inertias import Inertia
from dalembert.spatial.rotations import Rotation
from dalembert.spatial.vectors import ZERO, ZERO_MATRIX, Matrix, Scalar, Vector


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


def composites(links: Sequence[Link], bodies: Sequence[RunInertia]) -> list[RunInertia]:
    """Per link the inertia of all that hangs on it, in its run's axes; bodies[i]: of body i in its
    own axes.

    Of the base's entry only mass and first moment count, which is all that gravity needs of it.
    """
    total = [NOTHING] * len(links)
    for n in range(len(links) - 1, 0, -1):
        link = links[n]
        if link.body:
            total[n] = total[n] + bodies[link.body].turned(link.turn)
        carried = total[n] if link.parent else total[n]._replace(I=ZERO_MATRIX)
        total[link.parent] = total[link.parent] + carried.turned(link.carry).shifted(link.shift)
    return total


def mass_matrix(links: Sequence[Link], total: Sequence[RunInertia], nv: int) -> list[list[Scalar]]:
    """M by composite bodies: each column's momentum, carried inward to the axes of all freedoms
    below it.
    """
    M: list[list[Scalar]] = [[0] * nv for _ in range(nv)]

    def add(other: Column, column: Column, L: Vector, f: Vector) -> None:
        """Add the coupling of two freedoms."""
        value = other.power(L, f)
        M[other.dof][column.dof] = M[other.dof][column.dof] + value
        if other is not column:  # a follower and its leader share an entry: twice
            M[column.dof][other.dof] = M[column.dof][other.dof] + value

    for n in range(len(links) - 1, 0, -1):
        for b, column in enumerate(links[n].columns):
            L, f = total[n].momentum(column)
            for other in links[n].columns[: b + 1]:
                add(other, column, L, f)
            link = links[n]
            while link.parent > 0:
                L = link.carry.to_parent(L)
                f = link.carry.to_parent(f)
                L = L + link.shift.cross(f)
                link = links[link.parent]
                for other in link.columns:
                    add(other, column, L, f)
    return M


def gravity_forces(
    links: Sequence[Link], total: Sequence[RunInertia], gravity: Vector, nv: int
) -> list[Scalar]:
    """Gradient of the gravity potential, freedom by freedom: minus the power of gravity on the
    composite body.
    """
    g: list[Scalar] = [0] * nv
    field_at = [gravity]
    for n, link in enumerate(links[1:], 1):
        field_at.append(link.carry.to_child(field_at[link.parent]))
        moment = total[n].h.cross(field_at[n])
        force = field_at[n] * total[n].m
        for column in link.columns:
            g[column.dof] = g[column.dof] - column.power(moment, force)
    return g


def coriolis_forces(
    links: Sequence[Link], bodies: Sequence[RunInertia], rates: Sequence[Scalar]
) -> list[Scalar]:
    """C(q, qd) qd by the recursion of Newton and Euler at rest accelerations, without gravity.

    Outward: angular velocity w and acceleration dw, acceleration a of each link's origin; with U =
    [dw] + [w][w] the force on a body is m a + U h. Inward: forces and moments about the origins.
    """
    motion = [(ZERO, ZERO, ZERO)]
    for link in links[1:]:
        motion.append(_carried_motion(link, *motion[link.parent], rates))
    wrenches = [(ZERO, ZERO)] * len(links)
    tau: list[Scalar] = [0] * len(rates)
    for n in range(len(links) - 1, 0, -1):
        link = links[n]
        moment, force = wrenches[n]
        if link.body:
            own_moment, own_force = _inertial(bodies[link.body].turned(link.turn), *motion[n])
            moment, force = moment + own_moment, force + own_force
        for column in link.columns:
            # term by term: expressions add from the left
            power = tau[column.dof] + column.angular.dot(moment)
            tau[column.dof] = power + column.linear.dot(force)
        moment = link.carry.to_parent(moment)
        force = link.carry.to_parent(force)
        outer_moment, outer_force = wrenches[link.parent]
        outer_moment = outer_moment + moment + link.shift.cross(force)
        wrenches[link.parent] = outer_moment, outer_force + force
    return tau


def _carried_motion(
    link: Link, w: Vector, dw: Vector, a: Vector, rates: Sequence[Scalar]
) -> tuple[Vector, Vector, Vector]:
    """w, dw and a of a link from those of its parent."""
    if any(map(is_nonzero, link.shift)):
        a = a + _moving(w, dw) @ link.shift
    w, dw, a = (link.carry.to_child(x) for x in (w, dw, a))
    turning = sum((c.angular * rates[c.dof] for c in link.columns), start=ZERO)
    sliding = sum((c.linear * rates[c.dof] for c in link.columns), start=ZERO)
    total = w + turning
    return total, dw + w.cross(turning), a + w.cross(sliding) + total.cross(sliding)


def _moving(w: Vector, dw: Vector) -> Matrix:
    """U = [dw] + [w][w]: U r is the acceleration of a point at r, relative to the origin's."""
    x, y, z = w
    dx, dy, dz = dw
    return Matrix(
        (
            (-(y * y + z * z), x * y - dz, x * z + dy),
            (x * y + dz, -(x * x + z * z), y * z - dx),
            (x * z - dy, y * z + dx, -(x * x + y * y)),
        )
    )


def _inertial(body: RunInertia, w: Vector, dw: Vector, a: Vector) -> tuple[Vector, Vector]:
    """(moment, force) of a moving body: I dw + w x I w + h x a, m a + U h."""
    U = _moving(w, dw)
    x, y, z = w
    dx, dy, dz = dw
    (xx, xy, xz), (_, yy, yz), (_, _, zz) = body.I
    # products of inertia meet what stands in U already: I_xy (dy - x z) is -I_xy U_zx
    moment = Vector(
        (
            xx * dx + (zz - yy) * (y * z) - xy * U[2][0] + xz * U[1][0] + yz * (y * y - z * z),
            yy * dy + (xx - zz) * (x * z) + xy * U[2][1] - yz * U[0][1] + xz * (z * z - x * x),
            zz * dz + (yy - xx) * (x * y) - xz * U[1][2] + yz * U[0][2] + xy * (x * x - y * y),
        )
    )
    return moment + body.h.cross(a), a * body.m + U @ body.h
