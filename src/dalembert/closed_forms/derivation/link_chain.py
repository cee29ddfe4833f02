"""The mechanism as links in axes that suit closed forms: a run of parallel joint axes shares one
set of axes.

Joints of several freedoms become a row of links with one freedom each; a cross-section of a beam is
a link with all freedoms of the beam. While a revolute axis is
parallel to those before it, vectors of its link are written in the axes in which the run began,
turned by the *sum* of the run's angles: products of sines and cosines of single angles, whose
number grows exponentially along a chain, never arise.
"""

from __future__ import annotations

from collections.abc import Container, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, NamedTuple

from dalembert.closed_forms.algebra.ring import Angle, NotPolynomial, Phase
from dalembert.closed_forms.derivation.beam_moments import (
    BeamMoments,
    Slice,
    leaves,
    moments,
    resists_turning,
)
from dalembert.closed_forms.derivation.run_inertia import Column, is_nonzero
from dalembert.model.centre_lines import line_of
from dalembert.model.tree import Tree
from dalembert.spatial.rotations import (
    NO_ROTATION,
    Dense,
    Rotation,
    about_axis_cos_sin,
    coordinate_axis,
    from_quaternion,
)
from dalembert.spatial.transforms import Transform
from dalembert.spatial.vectors import AXES, ZERO, Matrix, Vector

OBLIQUE = -1  # an axis with which no run goes on


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
    moments: BeamMoments | None = None  # of a beam, in place of a body's inertia


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
    summed: set[int] = set()  # slices of beams
    for i in tree.outward():
        joint = tree.joint[i]
        number = carriers[tree.parent[i]]
        if slices := _slices(tree, i, links, number):
            step = _mass(tree, slices, algebra.polynomials)
            _put(links, number, joint.origin, [step], algebra)
            summed.update(slices)
        if i not in summed:
            number = _put(links, number, joint.origin, _steps(joint, algebra), algebra, alone)
            links[number].body = i
            carriers[i] = number
    return links


def _put(
    links: list[Link],
    number: int,
    X: Transform,
    steps: Sequence[Step],
    algebra: Any,
    alone: Container[int] = (),
) -> int:
    """Add links for the steps of a joint that lies at X on a link; the number of the last."""
    E = X.R
    if E is not NO_ROTATION:
        E = Dense(Matrix(map(algebra.scalar, row) for row in E.matrix()))
    r = Vector(map(algebra.scalar, X.p))
    for step in steps:
        mount = Mount(links[number], number, E, r)
        links.append(step.link(mount, algebra, len(links) in alone))
        number = len(links) - 1
        E = NO_ROTATION
        r = ZERO
    return number


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


def base_turns(links: Sequence[Link]) -> set[int]:
    """Numbers of the links that turn about axes of the base."""
    return {k for k, link in enumerate(links) if len(link.angle) == 1 and link.parent == 0}


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
        travel = axis * (algebra.coordinate(self.k) * self.factor + self.offset)
        link = _going_on(mount, mount.r + mount.E.to_parent(travel), algebra)
        link.columns = [Column(self.dof, ZERO, link.turn.to_parent(axis * self.factor))]
        return link


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


class _Section(NamedTuple):
    """A cross-section of a beam: its place in the beam's axes, its turn about one of these, and
    their derivatives by the coordinates; polynomials.

    name: text of the turn's angle
    """

    place: Vector
    moves: list[Vector]
    axis: int
    turn: Any
    slopes: list[Any]
    name: str
    dof: range

    def link(self, mount: Mount, algebra: Any, alone: bool) -> Link:
        """The link that moves so, in the parent's run where its axis is parallel."""
        place, *moves = (
            mount.E.to_parent(Vector(map(algebra.of_polynomial, r)))
            for r in (self.place, *self.moves)
        )
        link = _going_on(mount, mount.r + place, algebra)
        moves = [mount.shift(r) for r in moves]
        about = mount.turn.to_parent(AXES[self.axis])
        if is_nonzero(self.turn):
            about = self._turned(link, mount, algebra)
            moves = [link.carry.to_child(r) for r in moves]
        link.columns = [
            Column(dof, about * algebra.of_polynomial(slope), r)
            for dof, slope, r in zip(self.dof, self.slopes, moves, strict=True)
        ]
        return link

    def _turned(self, link: Link, mount: Mount, algebra: Any) -> Vector:
        """Add the turn to the run, or begin one; the axis there."""
        phase = Phase(self.name)
        phase.value = self.turn
        about = mount.constant.to_parent(AXES[self.axis])
        aligned = coordinate_axis(about)
        if aligned is not None and mount.parent.axis in (None, aligned[0]):
            link.axis, sense = aligned
            link.angle = _sum(link.angle, phase, sense)
        else:
            link.carry, link.constant = mount.turn, NO_ROTATION
            about = AXES[self.axis]
            link.axis, link.angle = self.axis, ((phase, 1),)
        link.turn = _rotation(link.constant, link.axis, link.angle, algebra)
        return about


class _Curved(NamedTuple):
    """A cross-section whose place or turn is no polynomial, in its own axes."""

    joint: Any

    def link(self, mount: Mount, algebra: Any, alone: bool) -> Link:
        """The link that moves so."""
        q = algebra.q[self.joint.at_q]
        X = self.joint.type.placement(q)
        motions = self.joint.type.subspace(q)
        link = Link(mount.number, shift=mount.shift(mount.r + mount.E.to_parent(X.p)))
        link.carry, link.axis = mount.turn * X.R, OBLIQUE
        pairs = zip(self.joint.dof, motions, strict=True)
        link.columns = [Column(dof, s.angular, s.linear) for dof, s in pairs]
        return link


class _Mass(NamedTuple):
    """The mass of a beam, of all slices that carry nothing."""

    moments: BeamMoments
    dof: range

    def link(self, mount: Mount, algebra: Any, alone: bool) -> Link:
        """The link at the beam's start, which has this mass."""
        link = _going_on(mount, mount.r, algebra)
        link.moments = self.moments.mapped(algebra.of_polynomial).turned(link.turn)
        link.columns = [Column(dof, ZERO, ZERO) for dof in self.dof]
        return link


def _going_on(mount: Mount, r: Vector, algebra: Any) -> Link:
    """A link at a place in the joint's frame that does not turn, in the parent's run."""
    parent = mount.parent
    turn = mount.turn
    if parent.axis != OBLIQUE:
        turn = _rotation(mount.constant, parent.axis, parent.angle, algebra)
    return Link(
        mount.number,
        shift=mount.shift(r),
        turn=turn,
        constant=mount.constant,
        axis=parent.axis,
        angle=parent.angle,
    )


def _section(joint: Any, algebra: Any) -> _Section:
    """Polynomials of a cross-section.

    Raises
    ------
    NotPolynomial
    """
    bending = joint.type.bending
    if not bending.is_polynomial or bending.degree is None:
        raise NotPolynomial(f"a beam with kinematics {bending.kinematics!r}, body {joint.body!r}.")
    at_q = range(joint.at_q.start, joint.at_q.stop)
    delta = [algebra.coordinate(k) for k in at_q]
    length, xi = algebra.scalar(joint.type.length), joint.type.xi
    line = line_of(bending)
    place, *moves = (
        Vector(map(algebra.exact, r))
        for r in (line.place(delta, length, xi), *line.columns(delta, length, xi))
    )
    theta = bending.rotation_vector(delta, length, xi) if joint.type.turns else ZERO
    axes = [k for k, x in enumerate(theta) if is_nonzero(x)]
    if len(axes) > 1:
        raise NotPolynomial(f"cross-sections of body {joint.body!r}, which turn about all axes.")
    axis = axes[0] if axes else 0
    turn = algebra.exact(theta[axis])
    slopes = [algebra.derivative(turn, k) for k in at_q]
    return _Section(
        place, moves, axis, turn, slopes, f"{joint.body} {joint.dof.start} at {xi}", joint.dof
    )


def _mass(tree: Tree, slices: Sequence[int], algebra: Any) -> _Mass:
    """The mass of the slices of a beam.

    Raises
    ------
    NotPolynomial
    """
    known = algebra.beams.get(slices[0])
    if known is not None:
        return known
    points = []
    for i in slices:
        section, inertia = _section(tree.joint[i], algebra), tree.inertia[i]
        spin = inertia.tensor()[section.axis][section.axis]
        mass, spin = algebra.scalar(inertia.m), algebra.scalar(spin)
        points.append(Slice(mass, section.place, section.moves, section.axis, spin, section.slopes))
    found = algebra.beams[slices[0]] = _Mass(moments(points), tree.joint[slices[0]].dof)
    return found


def _slices(tree: Tree, i: int, links: Sequence[Link], number: int) -> list[int]:
    """Slices of the beam that begins with section i, on a link; none of other joints.

    Raises
    ------
    NotPolynomial
        The motion is in space, and slices turn with inertia: sines and cosines are to be integrated.
    """
    members = tree.sections.get(i, ())
    if not members:
        return []
    joint = tree.joint[i]
    axis = joint.type.bending.axis
    about = links[number].constant.to_parent(joint.origin.R.to_parent(AXES[axis or 0]))
    is_plane = axis is not None and _is_in_one_run(links, number, coordinate_axis(about))
    if not is_plane and resists_turning(tree, members):
        raise NotPolynomial(f"rotary inertia of the beam of body {joint.body!r}, in space.")
    return leaves(tree, members, is_plane)


def _is_in_one_run(links: Sequence[Link], n: int, aligned: Any) -> bool:
    """Whether all that carries link n turns about one axis."""
    while n:
        link = links[n]
        axis = link.axis
        if axis == OBLIQUE:  # axes of a link that is written alone
            turning = coordinate_axis(link.columns[0].angular)
            axis = turning[0] if turning else OBLIQUE
        is_fixed = axis is None and link.carry is NO_ROTATION
        if not is_fixed and (aligned is None or axis != aligned[0]):
            return False
        if link.carry is not NO_ROTATION:
            return link.parent == 0
        n = link.parent
    return True


def _steps(joint: Any, algebra: Any) -> list[Step]:
    """The elementary joints that a joint is made of."""
    kind = joint.type
    if joint.is_section:
        try:
            return [_section(joint, algebra.polynomials)]
        except NotPolynomial:
            if algebra.polynomials is algebra:
                raise
            return [_Curved(joint)]
    k = joint.at_q.start
    dof = joint.dof.start
    factor, offset = (exact(joint.factor), exact(joint.offset)) if joint.is_follower else (1, 0)
    if kind.quaternion_freedoms:
        return [_Floating(k, dof, kind.quaternion_freedoms == 6)]
    screws = kind.screws()
    if screws is None:
        raise NotPolynomial(f"joint {joint.name!r} of type {kind.name!r}.")
    steps: list[Step] = []
    for s in screws:
        place = (s.axis, k + s.at, dof + s.at, factor, offset)
        steps.append(_Turning(*place, s.pitch) if s.turns else _Sliding(*place))
    return steps


Step = _Turning | _Sliding | _Floating | _Section | _Curved | _Mass


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
    if axis is None or not angle:
        return constant
    return about_axis_cos_sin(AXES[axis], *algebra.cos_sin(angle)) * constant


def _sum(angle: Angle, k: Any, factor: int) -> Angle:
    total = dict(angle)
    total[k] = total.get(k, 0) + factor
    parts = ((j, f) for j, f in total.items() if f)
    return tuple(sorted(parts, key=lambda part: (isinstance(part[0], Phase), part[0])))
