"""The mechanism as links in axes that suit closed forms: a run of parallel joint axes shares one
set of axes.

Joints of several freedoms become a row of links with one freedom each; a cross-section of a beam is
a link with all freedoms of the beam. While a revolute axis is parallel to those before it, vectors
of its link are written in the axes in which the run began, turned by the *sum* of the run's angles:
products of sines and cosines of single angles, whose number grows exponentially along a chain,
never arise.
"""

from __future__ import annotations

from collections.abc import Container, Sequence
from fractions import Fraction
from typing import Any, NamedTuple

from dalembert.closed_forms.algebra.ring import NotPolynomial
from dalembert.closed_forms.derivation.beam_links import (
    BeamMass,
    CurvedSection,
    PolynomialSection,
    mass_of,
    section_of,
    slices_on,
)
from dalembert.closed_forms.derivation.run_inertia import Column, is_nonzero
from dalembert.closed_forms.derivation.run_links import (
    OBLIQUE,
    Link,
    Mount,
    angle_with,
    going_on,
    turned_by,
)
from dalembert.model.rotors import Spin
from dalembert.model.tree import Tree
from dalembert.spatial.rotations import (
    NO_ROTATION,
    Dense,
    about_axis_cos_sin,
    coordinate_axis,
    from_quaternion,
)
from dalembert.spatial.transforms import Transform
from dalembert.spatial.vectors import AXES, ZERO, Matrix, Vector


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
        if slices := slices_on(tree, i, links, number):
            step = mass_of(tree, slices, algebra.polynomials)
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
        link.angle = angle_with(angle, self.k, sense * int(self.factor))
        link.turn = turned_by(constant, number, link.angle, algebra)

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
        link = going_on(mount, mount.r + mount.E.to_parent(travel), algebra)
        link.columns = [Column(self.dof, ZERO, link.turn.to_parent(axis * self.factor))]
        return link


class _Spinning(NamedTuple):
    """Rotation of a body of revolution by factor q_k about its axis, in axes that do not turn."""

    axis: Any
    dof: int
    factor: Any

    def link(self, mount: Mount, algebra: Any, alone: bool) -> Link:
        """The link that spins so, in the parent's run."""
        axis = _unit(self.axis, algebra)
        link = going_on(mount, mount.r, algebra)
        turn = link.turn.to_parent(axis * algebra.scalar(self.factor))
        link.columns = [Column(self.dof, turn, ZERO)]
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


def _steps(joint: Any, algebra: Any) -> list[Step]:
    """The elementary joints that a joint is made of."""
    kind = joint.type
    if joint.is_section:
        try:
            return [section_of(joint, algebra.polynomials)]
        except NotPolynomial:
            if algebra.polynomials is algebra:
                raise
            return [CurvedSection(joint)]
    k = joint.at_q.start
    dof = joint.dof.start
    factor, offset = (exact(joint.factor), exact(joint.offset)) if joint.is_follower else (1, 0)
    if kind.quaternion_freedoms:
        return [_Floating(k, dof, kind.quaternion_freedoms == 6)]
    if isinstance(kind, Spin):
        return [_Spinning(kind.axis, dof, joint.factor)]
    screws = kind.screws()
    if screws is None:
        raise NotPolynomial(f"joint {joint.name!r} of type {kind.name!r}.")
    steps: list[Step] = []
    for s in screws:
        place = (s.axis, k + s.at, dof + s.at, factor, offset)
        steps.append(_Turning(*place, s.pitch) if s.turns else _Sliding(*place))
    return steps


Step = _Turning | _Sliding | _Spinning | _Floating | PolynomialSection | CurvedSection | BeamMass


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
