"""The mechanism as links in axes that suit closed forms: a run of parallel joint axes shares one
set of axes.

Joints of several freedoms become a row of links with one freedom each. While a revolute axis is
parallel to those before it, vectors of its link are written in the axes in which the run began,
turned by the *sum* of the run's angles: products of sines and cosines of single angles, whose
number grows exponentially along a chain, never arise.
"""

from __future__ import annotations

from collections.abc import Container, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, NamedTuple

from dalembert.closed_forms.algebra.ring import Angle, NotPolynomial
from dalembert.model.tree import Tree
from dalembert.spatial.rotations import (
    NO_ROTATION,
    Dense,
    Rotation,
    about_axis_cos_sin,
    coordinate_axis,
    from_quaternion,
)
from dalembert.spatial.vectors import AXES, ZERO, Matrix, Vector

OBLIQUE = -1  # an axis with which no run goes on


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
    carriers = {0: 0}  # moving body -> link
    for i in tree.outward():
        joint = tree.joint[i]
        X = joint.origin
        number = carriers[tree.parent[i]]
        E = X.R
        if E is not NO_ROTATION:
            E = Dense(Matrix(map(algebra.scalar, row) for row in E.matrix()))
        r = Vector(map(algebra.scalar, X.p))
        for step in _steps(joint):
            mount = Mount(links[number], number, E, r)
            links.append(step.link(mount, algebra, len(links) in alone))
            number = len(links) - 1
            E = NO_ROTATION
            r = ZERO
        links[number].body = i
        carriers[i] = number
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


class Mount(NamedTuple):
    """The frame in which a joint sits, turned by E and displaced by r in its parent's axes."""

    parent: Link
    number: int  # of the parent
    E: Rotation
    r: Vector

    @property
    def constant(self) -> Rotation:
        """Constant turn from the joint's axes to those in which the parent's run began."""
        return _product(self.parent.constant, self.E)

    @property
    def turn(self) -> Rotation:
        """Turn from the joint's axes to the parent's run."""
        return self.parent.turn * self.E

    def shift(self, r: Vector) -> Vector:
        """A displacement in the parent's axes, in those of its run."""
        return self.parent.turn.to_parent(r)


class _Turning(NamedTuple):
    """Rotation by factor q_k about an axis, with a translation of pitch per angle along it."""

    axis: Any
    k: int
    dof: int
    factor: Any = 1
    offset: Any = 0
    pitch: Any = 0

    def link(self, mount: Mount, algebra: Any, alone: bool) -> Link:
        """The link that turns so."""
        if self.offset != 0 or self.factor != int(self.factor):
            raise NotPolynomial(f"a follower that turns by {self.factor} q + {self.offset}.")
        axis = _unit(self.axis, algebra)
        along = ZERO
        r = mount.r
        pitch = algebra.scalar(self.pitch)
        if is_nonzero(pitch):
            along = axis * (pitch * self.factor)
            r = r + mount.E.to_parent(along * algebra.coordinate(self.k))
        link = Link(mount.number, shift=mount.shift(r))
        aligned = coordinate_axis(mount.constant.to_parent(axis))
        if not alone and aligned is not None and mount.parent.axis in (None, aligned[0]):
            self._go_on(link, mount, algebra, axis, along)
        else:
            link.columns = [Column(self.dof, axis * self.factor, along)]
            self._begin(link, mount, algebra, axis, alone)
        return link

    def _go_on(self, link: Link, mount: Mount, algebra: Any, axis: Vector, along: Vector) -> None:
        """Go on with the parent's run: its axis is parallel."""
        constant, angle = mount.constant, mount.parent.angle
        moved = constant.to_parent(axis)
        number, sense = coordinate_axis(moved)  # type: ignore[misc]
        link.columns = [Column(self.dof, moved * self.factor, constant.to_parent(along))]
        link.constant, link.axis = constant, number
        link.angle = _sum(angle, self.k, sense * int(self.factor))
        link.turn = _rotation(constant, number, link.angle, algebra)

    def _begin(self, link: Link, mount: Mount, algebra: Any, axis: Vector, alone: bool) -> None:
        """Begin a run; alone: in axes that turn with the link."""
        number, sense = coordinate_axis(axis) or (OBLIQUE, 1)
        angle = ((self.k, int(self.factor) * sense),)
        about = axis if number == OBLIQUE else AXES[number]
        turn = about_axis_cos_sin(about, *algebra.cos_sin(angle))
        if alone:
            link.carry = mount.turn * turn
            link.axis = OBLIQUE
            return
        link.carry = mount.turn
        link.turn = turn
        link.axis = number
        link.angle = angle
        if number == OBLIQUE:
            link.constant = turn


class _Sliding(NamedTuple):
    """Translation by factor q_k + offset along an axis."""

    axis: Any
    k: int
    dof: int
    factor: Any = 1
    offset: Any = 0

    def link(self, mount: Mount, algebra: Any, alone: bool) -> Link:
        """The link that slides so, in the parent's run."""
        axis = _unit(self.axis, algebra)
        parent = mount.parent
        travel = axis * (algebra.coordinate(self.k) * self.factor + self.offset)
        shift = mount.shift(mount.r + mount.E.to_parent(travel))
        turn = mount.turn
        if parent.axis != OBLIQUE:
            turn = _rotation(mount.constant, parent.axis, parent.angle, algebra)
        return Link(
            mount.number,
            shift=shift,
            turn=turn,
            columns=[Column(self.dof, ZERO, turn.to_parent(axis * self.factor))],
            constant=mount.constant,
            axis=parent.axis,
            angle=parent.angle,
        )


class _Floating(NamedTuple):
    """Rotation by a unit quaternion, and translation if free; velocities in the child's axes."""

    k: int
    dof: int
    free: bool

    def link(self, mount: Mount, algebra: Any, alone: bool) -> Link:
        """The link that moves so."""
        r = mount.r
        columns = [Column(self.dof + j, axis, ZERO) for j, axis in enumerate(AXES)]
        if self.free:
            travel = Vector(algebra.coordinate(self.k + 4 + j) for j in range(3))
            r = r + mount.E.to_parent(travel)
            columns += [Column(self.dof + 3 + j, ZERO, axis) for j, axis in enumerate(AXES)]
        carry = mount.turn * from_quaternion(*algebra.quaternion(self.k))
        return Link(mount.number, shift=mount.shift(r), carry=carry, columns=columns)


def _steps(joint: Any) -> list[_Turning | _Sliding | _Floating]:
    """The elementary joints that a joint is made of."""
    kind = joint.type
    k = joint.at_q.start
    dof = joint.dof.start
    factor, offset = (exact(joint.factor), exact(joint.offset)) if joint.is_follower else (1, 0)
    if kind.quaternion_freedoms:
        return [_Floating(k, dof, kind.quaternion_freedoms == 6)]
    screws = kind.screws()
    if screws is None:
        raise NotPolynomial(f"joint {joint.name!r} of type {kind.name!r}.")
    steps: list[_Turning | _Sliding | _Floating] = []
    for s in screws:
        place = (s.axis, k + s.at, dof + s.at, factor, offset)
        steps.append(_Turning(*place, s.pitch) if s.turns else _Sliding(*place))
    return steps


def exact(x: Any) -> Any:
    """A number of the model as an exact one: a float by the shortest decimal that names it."""
    return Fraction(repr(x)) if isinstance(x, float) else x


def is_nonzero(x: Any) -> bool:
    """Whether a scalar is no number that is zero."""
    return not isinstance(x, (int, float, Fraction)) or x != 0


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
    if axis is None or not angle:
        return constant
    return about_axis_cos_sin(AXES[axis], *algebra.cos_sin(angle)) * constant


def _sum(angle: Angle, k: int, factor: int) -> Angle:
    total = dict(angle)
    total[k] = total.get(k, 0) + factor
    return tuple(sorted((j, f) for j, f in total.items() if f))
