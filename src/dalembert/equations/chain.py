"""The mechanism as links in axes that suit closed forms: a run of parallel joint axes shares one set of axes.

Joints of several freedoms become a row of links with one freedom each. While a revolute axis is parallel to those before
it, vectors of its link are written in the axes in which the run began, turned by the *sum* of the run's angles: products of
sines and cosines of single angles, whose number grows exponentially along a chain, never arise.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, Protocol

from dalembert.equations.ring import NotPolynomial
from dalembert.model.joints import Cylindrical, Free, Helical, Planar, Prismatic, Revolute, Spherical, Universal
from dalembert.model.tree import Tree
from dalembert.spatial.inertias import Inertia
from dalembert.spatial.rotations import NO_ROTATION, Dense, Rotation, about_axis_cos_sin, coordinate_axis, from_quaternion
from dalembert.spatial.vectors import AXES, ZERO, Matrix, Scalar, Vector

Angle = tuple[tuple[int, int], ...]      # sum of coordinates: (number, whole factor), by number


class Algebra(Protocol):
    """The scalars in which a chain is written: polynomials or expressions."""

    def scalar(self, x: Any) -> Scalar:
        """A number of the model."""

    def coordinate(self, k: int) -> Scalar:
        """Coordinate k."""

    def cos_sin(self, angle: Angle) -> tuple[Scalar, Scalar]:
        """Cosine and sine of a sum of coordinates."""

    def quaternion(self, k: int) -> Sequence[Scalar]:
        """The unit quaternion at coordinates k .. k+3."""


@dataclass
class Column:
    """One freedom of a link: entry of qd, and unit velocity of the link in its run's axes, at its origin."""

    dof: int
    angular: Vector
    linear: Vector


@dataclass
class Link:
    """One body or intermediate frame.

    parent: number of the link it hangs on; shift: its origin from the parent's, in the axes of the parent's run; carry:
    rotation from its run's axes to those of the parent's run (None: the same); turn: from its own axes to its run's.
    """

    parent: int
    body: int = 0
    shift: Vector = ZERO
    carry: Rotation | None = None
    turn: Rotation = NO_ROTATION
    columns: list[Column] = field(default_factory=list)
    constant: Matrix | None = None      # turn = (turn by `angle` about `axis`) constant; None: identity
    axis: int | None = None             # coordinate axis of the run, if it has one
    angle: Angle = ()

    def to_run(self, v: Vector) -> Vector:
        """A vector of the link in its run's axes."""
        return self.turn.to_parent(v)


def chain(tree: Tree, algebra: Algebra) -> list[Link]:
    """Links of a tree, parents before children; link 0 is the base.

    Raises
    ------
    NotPolynomial
        A joint whose placement is no polynomial in sines, cosines, lengths and coordinates.
    """
    links = [Link(-1)]
    place = {0: 0}                                                   # moving body -> link
    for i in tree.outward():
        joint = tree.joint[i]
        X = joint.origin
        E = None if X.R is NO_ROTATION else Matrix(tuple(algebra.scalar(x) for x in row) for row in X.R.matrix())
        at, r = place[tree.parent[i]], Vector(algebra.scalar(x) for x in X.p)
        for step in _steps(joint):
            links.append(step(links[at], at, E, r, algebra))
            at, E, r = len(links) - 1, None, ZERO
        links[at].body, place[i] = i, at
    return links


def _steps(joint: Any) -> list[Any]:
    """The elementary joints that a joint is made of, as functions that make the next link."""
    kind, k, dof = joint.type, joint.at_q.start, joint.dof.start
    factor, offset = (exact(joint.factor), exact(joint.offset)) if joint.is_follower else (1, 0)
    if isinstance(kind, Universal):
        return [_turning(kind.axis, k, dof), _turning(kind.second_axis, k + 1, dof + 1)]
    if isinstance(kind, Cylindrical):
        return [_sliding(kind.axis, k + 1, dof + 1), _turning(kind.axis, k, dof)]
    if isinstance(kind, Planar):
        x, y = kind.plane()
        return [_sliding(x, k + 1, dof + 1), _sliding(y, k + 2, dof + 2), _turning(kind.axis, k, dof)]
    if isinstance(kind, Helical):
        return [_turning(kind.axis, k, dof, factor, offset, kind.pitch)]
    if isinstance(kind, Revolute):
        return [_turning(kind.axis, k, dof, factor, offset)]
    if isinstance(kind, Prismatic):
        return [_sliding(kind.axis, k, dof, factor, offset)]
    if isinstance(kind, (Spherical, Free)):
        return [_floating(k, dof, isinstance(kind, Free))]
    raise NotPolynomial(f"joint {joint.name!r} of type {kind.name!r}.")


def exact(x: Any) -> Any:
    """A number of the model as an exact one: a float by the shortest decimal that names it."""
    return Fraction(repr(x)) if isinstance(x, float) else x


def _unit(axis: Any, algebra: Algebra) -> Vector:
    """The axis in exact numbers."""
    a = Vector(algebra.scalar(x) for x in axis)
    if any(not isinstance(x, (int, Fraction)) for x in a) or a.dot(a) != 1:
        raise NotPolynomial(f"the axis ({', '.join(map(str, axis))}), which has no rational unit vector.")
    return a


def _product(A: Matrix | None, B: Matrix | None) -> Matrix | None:
    return B if A is None else A if B is None else A @ B


def _applied(A: Matrix | None, v: Vector) -> Vector:
    return v if A is None else A @ v


def _rotation(constant: Matrix | None, axis: int | None, angle: Angle, algebra: Algebra) -> Rotation:
    """(turn by the angle about a coordinate axis) constant."""
    turn = about_axis_cos_sin(AXES[axis], *algebra.cos_sin(angle)) if axis is not None and angle else NO_ROTATION
    return turn if constant is None else turn * Dense(constant)


def _turning(axis: Any, k: int, dof: int, factor: Any = 1, offset: Any = 0, pitch: Any = 0):
    """Rotation by factor q_k about an axis, with a translation of pitch per angle along it."""

    def link(parent: Link, at: int, E: Matrix | None, r: Vector, algebra: Algebra) -> Link:
        if offset != 0 or factor != int(factor):
            raise NotPolynomial(f"a follower that turns by {factor} q + {offset}.")
        a, p = _unit(axis, algebra), algebra.scalar(pitch)
        along = a * (p * factor)
        r = r + _applied(E, along * algebra.coordinate(k)) if _nonzero(p) else r
        constant = _product(parent.constant, E)
        aligned = coordinate_axis(_applied(constant, a))
        shift = parent.to_run(r)
        if aligned is not None and parent.axis in (None, aligned[0]):          # the run goes on
            angle = _sum(parent.angle, k, aligned[1] * int(factor))
            made = Link(at, shift=shift, turn=_rotation(constant, aligned[0], angle, algebra), constant=constant,
                        axis=aligned[0], angle=angle)
            moved = _applied(constant, a)
            made.columns = [Column(dof, moved * factor, _applied(constant, along) if _nonzero(p) else ZERO)]
            return made
        carry = parent.turn if E is None else parent.turn * Dense(E)
        own = coordinate_axis(a)
        angle = ((k, int(factor) * (own[1] if own else 1)),)
        turn = (_rotation(None, own[0], angle, algebra) if own else about_axis_cos_sin(a, *algebra.cos_sin(angle)))
        made = Link(at, shift=shift, carry=carry, turn=turn, axis=own[0] if own else -1, angle=angle)
        if not own:                                          # an oblique axis: the next joint begins a run of its own
            made.constant = turn.matrix()
        made.columns = [Column(dof, a * factor, along)]
        return made

    return link


def _nonzero(x: Any) -> bool:
    return not isinstance(x, (int, float, Fraction)) or x != 0


def _sum(angle: Angle, k: int, factor: int) -> Angle:
    total = dict(angle)
    total[k] = total.get(k, 0) + factor
    return tuple(sorted((j, f) for j, f in total.items() if f))


def _sliding(axis: Any, k: int, dof: int, factor: Any = 1, offset: Any = 0):
    """Translation by factor q_k + offset along an axis."""

    def link(parent: Link, at: int, E: Matrix | None, r: Vector, algebra: Algebra) -> Link:
        a = _unit(axis, algebra)
        shift = parent.to_run(r + _applied(E, a * (algebra.coordinate(k) * factor + offset)))
        constant = _product(parent.constant, E)
        turn = _rotation(constant, parent.axis, parent.angle, algebra) if parent.axis != -1 else (
            parent.turn if E is None else parent.turn * Dense(E))
        column = Column(dof, ZERO, turn.to_parent(a * factor))
        return Link(at, shift=shift, turn=turn, columns=[column], constant=constant, axis=parent.axis, angle=parent.angle)

    return link


def _floating(k: int, dof: int, free: bool):
    """Rotation by a unit quaternion, and translation if free; velocities in the child's axes."""

    def link(parent: Link, at: int, E: Matrix | None, r: Vector, algebra: Algebra) -> Link:
        R = from_quaternion(*algebra.quaternion(k))
        carry = parent.turn * R if E is None else parent.turn * Dense(E) * R
        shift = parent.to_run(r + _applied(E, Vector(algebra.coordinate(k + 4 + j) for j in range(3)))) if free else (
            parent.to_run(r))
        columns = [Column(dof + j, axis, ZERO) for j, axis in enumerate(AXES)]
        columns += [Column(dof + 3 + j, ZERO, axis) for j, axis in enumerate(AXES)] if free else []
        return Link(at, shift=shift, carry=carry, columns=columns)

    return link


# --- what closed forms are made of -----------------------------------------------------------------------------------

class RunInertia:
    """Mass, first moment and tensor about an origin, in a run's axes."""

    __slots__ = ("m", "h", "I")

    def __init__(self, m: Scalar, h: Vector, I: Matrix):
        self.m, self.h, self.I = m, h, I

    @staticmethod
    def of(body: Inertia, link: Link) -> RunInertia:
        """Inertia of a body whose numbers are scalars already, given as tensor about its origin."""
        return RunInertia(body.m, link.to_run(body.h), link.turn.conjugate_symmetric(body.J))

    def __add__(self, other: RunInertia) -> RunInertia:
        return RunInertia(self.m + other.m, self.h + other.h, self.I + other.I)

    def turned(self, R: Rotation) -> RunInertia:
        """In axes that R turns to."""
        return RunInertia(self.m, R.to_parent(self.h), R.conjugate_symmetric(self.I))

    def shifted(self, r: Vector) -> RunInertia:
        """About the origin from which this one's lies at r: I + 2 (r.h) 1 - r h^T - h r^T + m (|r|^2 1 - r r^T)."""
        if not any(map(_nonzero, r)):
            return self
        h = self.h + r * self.m
        far = h + self.h                                       # 2 h + m r: the same in one product
        xx, yy, zz = (r[k] * far[k] for k in range(3))
        xy, xz, yz = (self.I[i][j] - r[i] * self.h[j] - h[i] * r[j] for i, j in ((0, 1), (0, 2), (1, 2)))
        return RunInertia(self.m, h, Matrix.symmetric(self.I[0][0] + yy + zz, xy, self.I[1][1] + xx + zz, xz, yz,
                                                      self.I[2][2] + xx + yy))

    def momentum(self, column: Column) -> tuple[Vector, Vector]:
        """(moment, force) for a unit velocity: I w + h x v, m v + w x h."""
        w, v = column.angular, column.linear
        return self.I @ w + self.h.cross(v), v * self.m + w.cross(self.h)


def composites(links: Sequence[Link], bodies: Sequence[Inertia | None]) -> list[RunInertia | None]:
    """Per link the inertia of all that hangs on it, in its run's axes; bodies[i]: of body i, with the tensor as J.

    The base's entry holds only mass and first moment, which is all that gravity needs of it.
    """
    total: list[RunInertia | None] = [None] * len(links)
    for n in range(len(links) - 1, 0, -1):
        link = links[n]
        body = bodies[link.body] if link.body else None
        if body is not None:
            own = RunInertia.of(body, link)
            found = total[n]
            total[n] = own if found is None else found + own
        carried = total[n]
        if carried is None:
            continue
        if link.parent == 0:                                   # the base: no tensor
            h = carried.h if link.carry is None else link.carry.to_parent(carried.h)
            carried = RunInertia(carried.m, h + link.shift * carried.m, _NO_TENSOR)
        else:
            carried = (carried if link.carry is None else carried.turned(link.carry)).shifted(link.shift)
        found = total[link.parent]
        total[link.parent] = carried if found is None else found + carried
    return total


_NO_TENSOR = Matrix((ZERO, ZERO, ZERO))


def mass_matrix(links: Sequence[Link], total: Sequence[RunInertia | None], nv: int) -> list[list[Scalar]]:
    """M by composite bodies: each column's momentum, carried inward to the axes of all freedoms below it."""
    M: list[list[Scalar]] = [[0] * nv for _ in range(nv)]

    def add(row: int, column: int, value: Scalar) -> None:
        M[row][column] = M[row][column] + value

    for n in range(len(links) - 1, 0, -1):
        body = total[n]
        if body is None:
            continue
        for b, column in enumerate(links[n].columns):
            L, f = body.momentum(column)
            for other in links[n].columns[:b + 1]:
                value = other.angular.dot(L) + other.linear.dot(f)
                add(other.dof, column.dof, value)
                if other is not column:
                    add(column.dof, other.dof, value)
            k = n
            while links[k].parent > 0:
                link = links[k]
                if link.carry is not None:
                    L, f = link.carry.to_parent(L), link.carry.to_parent(f)
                L, k = L + link.shift.cross(f), link.parent
                for other in links[k].columns:
                    value = other.angular.dot(L) + other.linear.dot(f)
                    add(other.dof, column.dof, value)
                    add(column.dof, other.dof, value)          # a follower and its leader share an entry: twice
    return M


def gravity_forces(links: Sequence[Link], total: Sequence[RunInertia | None], gravity: Vector, nv: int) -> list[Scalar]:
    """Gradient of the gravity potential, freedom by freedom: minus the power of gravity on the composite body."""
    g: list[Scalar] = [0] * nv
    field_at = [gravity]
    for n, link in enumerate(links[1:], 1):
        here = field_at[link.parent]
        field_at.append(here if link.carry is None else link.carry.to_child(here))
        body = total[n]
        if body is None:
            continue
        moment, force = body.h.cross(field_at[n]), field_at[n] * body.m
        for column in link.columns:
            g[column.dof] = g[column.dof] - (column.angular.dot(moment) + column.linear.dot(force))
    return g
