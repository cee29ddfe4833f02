"""The mechanism as links in axes that suit closed forms: a run of parallel joint axes shares one
set of axes.

Joints of several freedoms become a row of links with one freedom each. While a revolute axis is
parallel to those before it, vectors of its link are written in the axes in which the run began,
turned by the *sum* of the run's angles: products of sines and cosines of single angles, whose
number grows exponentially along a chain, never arise.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, NamedTuple

from dalembert.closed_forms.algebra.ring import Angle, NotPolynomial
from dalembert.model.tree import Tree
from dalembert.spatial.inertias import Inertia
from dalembert.spatial.rotations import (
    NO_ROTATION,
    Dense,
    Rotation,
    about_axis_cos_sin,
    coordinate_axis,
    from_quaternion,
)
from dalembert.spatial.vectors import AXES, ZERO, ZERO_MATRIX, Matrix, Scalar, Vector

OBLIQUE = -1  # an axis with which no run goes on


@dataclass
class Column:
    """A freedom of a link: entry of qd, and unit velocity of the link in its run's axes, at its
    origin.
    """

    dof: int
    angular: Vector
    linear: Vector


@dataclass
class Link:
    """A body or intermediate frame.

    parent: number of the link it hangs on; shift: its origin from the parent's, in the axes of the
    parent's run; carry: rotation from its run's axes to those of the parent's run; turn: from its
    own axes to its run's.
    """

    parent: int
    body: int = 0
    shift: Vector = ZERO
    carry: Rotation = NO_ROTATION
    turn: Rotation = NO_ROTATION
    columns: list[Column] = field(default_factory=list)
    constant: Rotation = NO_ROTATION  # turn = (turn by `angle` about `axis`) constant
    axis: int | None = None  # coordinate axis of the run, if it has one; or OBLIQUE
    angle: Angle = ()


def chain(tree: Tree, algebra: Any, alone: Container[int] = ()) -> list[Link]:
    """Links of a tree, parents before children; link 0 is the base.

    algebra: makes the scalars, polynomials or expressions: `scalar` of a number, `coordinate` k,
    `cos_sin` of an `Angle`, `quaternion` at coordinates k .. k+3. alone: numbers of turning links
    that are written in their own axes, not in a run's.

    Raises
    ------
    NotPolynomial
        A joint whose placement is no polynomial in sines, cosines, lengths and coordinates.
    """
    links = [Link(-1)]
    place = {0: 0}  # moving body -> link
    for i in tree.outward():
        joint = tree.joint[i]
        X = joint.origin
        E = (
            X.R
            if X.R is NO_ROTATION
            else Dense(Matrix(map(algebra.scalar, row) for row in X.R.matrix()))
        )
        at, r = place[tree.parent[i]], Vector(map(algebra.scalar, X.p))
        for step in _steps(joint):
            links.append(step(links[at], at, E, r, algebra, len(links) in alone))
            at, E, r = len(links) - 1, NO_ROTATION, ZERO
        links[at].body, place[i] = i, at
    return links


def single_turns(links: Sequence[Link]) -> set[int]:
    """Numbers of the links whose run is one turn: in their own axes all that hangs on them is
    turned once.
    """
    going_on = {link.parent for link in links if link.carry is NO_ROTATION}
    return {
        k
        for k, link in enumerate(links)
        if len(link.angle) == 1
        and k not in going_on
        and (link.carry is not NO_ROTATION or not links[link.parent].angle)
    }


def _steps(joint: Any) -> list[Any]:
    """The elementary joints that a joint is made of, as functions that make the next link."""
    kind, k, dof = joint.type, joint.at_q.start, joint.dof.start
    factor, offset = (exact(joint.factor), exact(joint.offset)) if joint.is_follower else (1, 0)
    if (row := kind.screws()) is not None:
        return [
            _turning(s.axis, k + s.at, dof + s.at, factor, offset, s.pitch)
            if s.turns
            else _sliding(s.axis, k + s.at, dof + s.at, factor, offset)
            for s in row
        ]
    if kind.quaternion_freedoms:
        return [_floating(k, dof, kind.quaternion_freedoms == 6)]
    raise NotPolynomial(f"joint {joint.name!r} of type {kind.name!r}.")


def exact(x: Any) -> Any:
    """A number of the model as an exact one: a float by the shortest decimal that names it."""
    return Fraction(repr(x)) if isinstance(x, float) else x


def _unit(axis: Any, algebra: Any) -> Vector:
    """The axis in exact numbers."""
    a = Vector(algebra.scalar(x) for x in axis)
    if any(not isinstance(x, (int, Fraction)) for x in a) or a.dot(a) != 1:
        raise NotPolynomial(
            f"the axis ({', '.join(map(str, axis))}), which has no rational unit vector."
        )
    return a


def _product(A: Rotation, B: Rotation) -> Rotation:
    """A B as one matrix."""
    return A * B if NO_ROTATION in (A, B) else Dense(A.matrix() @ B.matrix())


def _rotation(constant: Rotation, axis: int | None, angle: Angle, algebra: Any) -> Rotation:
    """(turn by the angle about a coordinate axis) constant."""
    return (
        about_axis_cos_sin(AXES[axis], *algebra.cos_sin(angle)) * constant
        if axis is not None and angle
        else constant
    )


def _turning(axis: Any, k: int, dof: int, factor: Any = 1, offset: Any = 0, pitch: Any = 0):
    """Rotation by factor q_k about an axis, with a translation of pitch per angle along it."""

    def link(parent: Link, at: int, E: Rotation, r: Vector, algebra: Any, alone: bool) -> Link:
        """The link behind a turn."""
        if offset != 0 or factor != int(factor):
            raise NotPolynomial(f"a follower that turns by {factor} q + {offset}.")
        a, along = _unit(axis, algebra), ZERO
        if _nonzero(p := algebra.scalar(pitch)):
            along = a * (p * factor)
            r = r + E.to_parent(along * algebra.coordinate(k))
        constant, shift = _product(parent.constant, E), parent.turn.to_parent(r)
        moved = constant.to_parent(a)
        aligned = coordinate_axis(moved)
        if (
            not alone and aligned is not None and parent.axis in (None, aligned[0])
        ):  # the run goes on
            angle = _sum(parent.angle, k, aligned[1] * int(factor))
            columns = [Column(dof, moved * factor, constant.to_parent(along))]
            turn = _rotation(constant, aligned[0], angle, algebra)
            return Link(at, 0, shift, NO_ROTATION, turn, columns, constant, aligned[0], angle)
        own, sense = coordinate_axis(a) or (OBLIQUE, 1)
        angle = ((k, int(factor) * sense),)
        turn = about_axis_cos_sin(a if own == OBLIQUE else AXES[own], *algebra.cos_sin(angle))
        if alone:
            return Link(
                at,
                0,
                shift,
                parent.turn * E * turn,
                columns=[Column(dof, a * factor, along)],
                axis=OBLIQUE,
            )
        constant = turn if own == OBLIQUE else NO_ROTATION
        return Link(
            at,
            0,
            shift,
            parent.turn * E,
            turn,
            [Column(dof, a * factor, along)],
            constant,
            own,
            angle,
        )

    return link


def _nonzero(x: Any) -> bool:
    return not isinstance(x, (int, float, Fraction)) or x != 0


def _sum(angle: Angle, k: int, factor: int) -> Angle:
    total = dict(angle)
    total[k] = total.get(k, 0) + factor
    return tuple(sorted((j, f) for j, f in total.items() if f))


def _sliding(axis: Any, k: int, dof: int, factor: Any = 1, offset: Any = 0) -> Any:
    """Translation by factor q_k + offset along an axis."""

    def link(parent: Link, at: int, E: Rotation, r: Vector, algebra: Any, alone: bool) -> Link:
        """The link behind a slide."""
        a = _unit(axis, algebra)
        shift = parent.turn.to_parent(
            r + E.to_parent(a * (algebra.coordinate(k) * factor + offset))
        )
        constant = _product(parent.constant, E)
        turn = (
            parent.turn * E
            if parent.axis == OBLIQUE
            else _rotation(constant, parent.axis, parent.angle, algebra)
        )
        column = Column(dof, ZERO, turn.to_parent(a * factor))
        return Link(at, 0, shift, NO_ROTATION, turn, [column], constant, parent.axis, parent.angle)

    return link


def _floating(k: int, dof: int, free: bool):
    """Rotation by a unit quaternion, and translation if free; velocities in the child's axes."""

    def link(parent: Link, at: int, E: Rotation, r: Vector, algebra: Any, alone: bool) -> Link:
        """The link behind a quaternion, free or spherical."""
        columns = [Column(dof + j, axis, ZERO) for j, axis in enumerate(AXES)]
        if free:
            r = r + E.to_parent(Vector(algebra.coordinate(k + 4 + j) for j in range(3)))
            columns += [Column(dof + 3 + j, ZERO, axis) for j, axis in enumerate(AXES)]
        carry = parent.turn * E * from_quaternion(*algebra.quaternion(k))
        return Link(at, 0, parent.turn.to_parent(r), carry, columns=columns)

    return link


# --- what closed forms are made of -----------------------------------------------------------------------------------


class RunInertia(NamedTuple):
    """Mass, first moment and tensor about an origin, in a run's axes."""

    m: Scalar
    h: Vector
    I: Matrix

    @staticmethod
    def of(body: Inertia, scalar: Callable[[Any], Scalar]) -> RunInertia:
        """Inertia of a body about its origin, in an algebra's scalars."""
        m, h = scalar(body.m), Vector(map(scalar, body.h))
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
        if not any(map(_nonzero, r)):
            return self
        h = self.h + r * self.m
        far = h + self.h  # 2 h + m r: the same in one product
        xx, yy, zz = (r[k] * far[k] for k in range(3))
        xy, xz, yz = (
            self.I[i][j] - r[i] * self.h[j] - h[i] * r[j] for i, j in ((0, 1), (0, 2), (1, 2))
        )
        return RunInertia(
            self.m,
            h,
            Matrix.symmetric(
                self.I[0][0] + yy + zz, xy, self.I[1][1] + xx + zz, xz, yz, self.I[2][2] + xx + yy
            ),
        )

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
        value = other.angular.dot(L) + other.linear.dot(f)
        M[other.dof][column.dof] = M[other.dof][column.dof] + value
        if other is not column:  # a follower and its leader share an entry: twice
            M[column.dof][other.dof] = M[column.dof][other.dof] + value

    for n in range(len(links) - 1, 0, -1):
        for b, column in enumerate(links[n].columns):
            L, f = total[n].momentum(column)
            for other in links[n].columns[: b + 1]:
                add(other, column, L, f)
            k = n
            while links[k].parent > 0:
                link = links[k]
                L, f = link.carry.to_parent(L), link.carry.to_parent(f)
                L, k = L + link.shift.cross(f), link.parent
                for other in links[k].columns:
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
        moment, force = total[n].h.cross(field_at[n]), field_at[n] * total[n].m
        for column in link.columns:
            g[column.dof] = g[column.dof] - (column.angular.dot(moment) + column.linear.dot(force))
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
        w, dw, a = motion[link.parent]
        r = link.shift
        w, dw, a = (
            link.carry.to_child(x)
            for x in (w, dw, a + _moving(w, dw) @ r if any(map(_nonzero, r)) else a)
        )
        turning = sum((c.angular * rates[c.dof] for c in link.columns), start=ZERO)
        sliding = sum((c.linear * rates[c.dof] for c in link.columns), start=ZERO)
        total = w + turning
        motion.append((total, dw + w.cross(turning), a + w.cross(sliding) + total.cross(sliding)))
    wrenches = [(ZERO, ZERO)] * len(links)
    tau: list[Scalar] = [0] * len(rates)
    for n in range(len(links) - 1, 0, -1):
        link = links[n]
        moment, force = wrenches[n]
        if link.body:
            moment, force = (
                x + y
                for x, y in zip(
                    (moment, force),
                    _inertial(bodies[link.body].turned(link.turn), *motion[n]),
                    strict=True,
                )
            )
        for column in link.columns:
            tau[column.dof] = (
                tau[column.dof] + column.angular.dot(moment) + column.linear.dot(force)
            )
        moment, force = link.carry.to_parent(moment), link.carry.to_parent(force)
        outer = wrenches[link.parent]
        wrenches[link.parent] = outer[0] + moment + link.shift.cross(force), outer[1] + force
    return tau


def _moving(w: Vector, dw: Vector) -> Matrix:
    """U = [dw] + [w][w]: U r is the acceleration of a point at r, relative to the origin's."""
    (x, y, z), (dx, dy, dz) = w, dw
    return Matrix(
        (
            (-(y * y + z * z), x * y - dz, x * z + dy),
            (x * y + dz, -(x * x + z * z), y * z - dx),
            (x * z - dy, y * z + dx, -(x * x + y * y)),
        )
    )


def _inertial(body: RunInertia, w: Vector, dw: Vector, a: Vector) -> tuple[Vector, Vector]:
    """(moment, force) of a moving body: I dw + w x I w + h x a, m a + U h."""
    U, (x, y, z) = _moving(w, dw), w
    (xx, xy, xz), (_, yy, yz), (_, _, zz) = body.I
    moment = Vector(
        (
            xx * dw[0] + (zz - yy) * (y * z) - xy * U[2][0] + xz * U[1][0] + yz * (y * y - z * z),
            yy * dw[1] + (xx - zz) * (x * z) + xy * U[2][1] - yz * U[0][1] + xz * (z * z - x * x),
            zz * dw[2] + (yy - xx) * (x * y) - xz * U[1][2] + yz * U[0][2] + xy * (x * x - y * y),
        )
    )
    return moment + body.h.cross(a), a * body.m + U @ body.h
