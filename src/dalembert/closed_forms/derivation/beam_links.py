"""Links of a chain for beams: cross-sections, and the mass of all slices that carry nothing."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from dalembert.closed_forms.algebra.ring import NotPolynomial, Phase
from dalembert.closed_forms.derivation.beam_moments import (
    BeamMoments,
    Slice,
    leaves,
    moments,
    resists_turning,
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
from dalembert.model.elastic.centre_lines import line_of
from dalembert.model.tree import Tree
from dalembert.spatial.rotations import NO_ROTATION, coordinate_axis
from dalembert.spatial.vectors import AXES, ZERO, Vector


class PolynomialSection(NamedTuple):
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
        link = going_on(mount, mount.r + place, algebra)
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
            link.angle = angle_with(link.angle, phase, sense)
        else:
            link.carry, link.constant = mount.turn, NO_ROTATION
            about = AXES[self.axis]
            link.axis, link.angle = self.axis, ((phase, 1),)
        link.turn = turned_by(link.constant, link.axis, link.angle, algebra)
        return about


class CurvedSection(NamedTuple):
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


class BeamMass(NamedTuple):
    """The mass of a beam, of all slices that carry nothing."""

    moments: BeamMoments
    dof: range

    def link(self, mount: Mount, algebra: Any, alone: bool) -> Link:
        """The link at the beam's start, which has this mass."""
        link = going_on(mount, mount.r, algebra)
        link.moments = self.moments.mapped(algebra.of_polynomial).turned(link.turn)
        link.columns = [Column(dof, ZERO, ZERO) for dof in self.dof]
        return link


def section_of(joint: Any, algebra: Any) -> PolynomialSection:
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
    return PolynomialSection(
        place, moves, axis, turn, slopes, f"{joint.body} {joint.dof.start} at {xi}", joint.dof
    )


def mass_of(tree: Tree, slices: Sequence[int], algebra: Any) -> BeamMass:
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
        section, inertia = section_of(tree.joint[i], algebra), tree.inertia[i]
        spin = inertia.tensor()[section.axis][section.axis]
        mass, spin = algebra.scalar(inertia.m), algebra.scalar(spin)
        points.append(Slice(mass, section.place, section.moves, section.axis, spin, section.slopes))
    found = algebra.beams[slices[0]] = BeamMass(moments(points), tree.joint[slices[0]].dof)
    return found


def slices_on(tree: Tree, i: int, links: Sequence[Link], number: int) -> list[int]:
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
