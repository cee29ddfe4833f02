"""The tree of a mechanism: links on fixed joints lumped, beams as rows of sections, numbers
converted.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from fractions import Fraction
from functools import partial
from typing import (
    Any,
    NamedTuple,
)

import numpy as np

from dalembert.beams.beam_quadrature import Rule
from dalembert.beams.integrals import rule_of
from dalembert.errors import ModelError
from dalembert.expr import evaluate, free_symbols, known_zero
from dalembert.model.actuators import Actuator
from dalembert.model.elastic.beam import Beam
from dalembert.model.elastic.beam_sections import BeamSection
from dalembert.model.elastic.bending import Bending
from dalembert.model.elastic.centre_lines import tangents_of
from dalembert.model.elastic.curvature import curvature_forces
from dalembert.model.elastic.elasticity import (
    BeamForces,
    elasticity,
)
from dalembert.model.elastic.line_masses import LineMass
from dalembert.model.elastic.transmissions import TransmissionSpring
from dalembert.model.elastic.twist_coupling import twist_coupling
from dalembert.model.joints.base import BUILT_IN
from dalembert.model.linkage import Linkage
from dalembert.model.numbers import (
    Converter,
    Number,
    as_float,
    is_symbolic,
)
from dalembert.model.origins import (
    DENSE_FROM,
    Origin,
)
from dalembert.model.parts import (
    PER_VELOCITY,
    Body,
    Joint,
)
from dalembert.model.rotors import (
    Spin,
    axis_of,
    disc,
    spinning,
)
from dalembert.model.tree import (
    MassSlice,
    Tree,
    TreeJoint,
)
from dalembert.spatial.inertias import (
    NO_INERTIA,
    Inertia,
)
from dalembert.spatial.rotations import (
    Dense,
    Product,
)
from dalembert.spatial.transforms import Transform
from dalembert.spatial.vectors import (
    ZERO,
    ZERO_MATRIX,
    Matrix,
    Scalar,
    Vector,
)

SAMPLES = 3  # values of symbols at which a ratio is looked at
SNAP = 1e-12  # of the length: a place this near to an end of a beam is the end
Place = tuple[int, Transform]


def tree_of(mechanism: Linkage, convert: Converter, exact: bool = False) -> Tree:
    """The tree of a mechanism, with each number converted."""
    return _TreeBuilder(mechanism, convert, exact).tree()


class _Element(NamedTuple):
    """An element of a beam, and the moving body that carries its start.

    body : the elastic body; number : of the element; beam, bending : its length and displacements
    carrier, placed : moving body and the element's start on it
    """

    body: Body
    number: int
    beam: Beam
    bending: Bending
    carrier: int
    placed: Transform


class _TreeBuilder:
    """Bodies, joints and places of the tree, filled outward."""

    def __init__(self, mechanism: Linkage, convert: Converter, exact: bool):
        self.mechanism, self.convert, self.exact = mechanism, convert, exact
        self.parent = [-1]
        self.joints: list[Any] = [None]
        self.links: list[list[Inertia]] = [[]]
        self.place: dict[str, Place] = {}
        self.beams: dict[str, list[_Element]] = {}
        self.sections: dict[tuple[str, int, Any, bool], int] = {}
        self.elastic: list[BeamForces] = []
        self.lines: list[LineMass] = []
        self.slices: list[MassSlice] = []
        self.once = _each if exact else _first()

    def tree(self) -> Tree:
        """The whole tree."""
        mechanism = self.mechanism
        self._put_body(mechanism.bodies[0], (0, Transform()))
        for joint in mechanism.joints:
            carrier, placed = self._on(joint.parent, joint.origin)
            child = mechanism.body(joint.child)
            if joint.is_fixed:
                self._put_body(child, (carrier, placed))
                continue
            entry = mechanism.entries[joint.name]
            moving = _tree_joint(joint, placed, entry, self.convert, self.once)
            self._put_body(child, (self._added(carrier, moving), Transform()))
        reflected = _rotors(self.joints[1:], mechanism.nv)
        for frame in mechanism.frames:
            self.place[frame.name] = self._on(frame.body, frame.origin)
        places = [place for c in mechanism.constraints for place in c.places]
        on_beams = {
            (place.body, place.origin): self._on(place.body, place.origin)
            for place in places
            if place.body in self.beams
        }
        for actuator in mechanism.actuators:
            self._put_rotor(actuator, reflected)
        return Tree(
            mechanism.name,
            Vector(self.convert(x) for x in mechanism.gravity),
            tuple(self.parent),
            tuple(self.joints),
            tuple(map(_total, self.links)),
            self.place,
            mechanism.nv,
            tuple(reflected),
            tuple(self.elastic),
            tuple(self._transmissions()),
            on_beams,
            tuple(self.lines),
            tuple(self.slices),
        )

    def _transmissions(self) -> Iterator[TransmissionSpring]:
        """Springs between joints and their motors."""
        entries = self.mechanism.entries
        for joint in self.mechanism.joints:
            if joint.transmission is None:
                continue
            ends = entries[joint.name], entries[joint.transmission.motor]
            yield TransmissionSpring(
                (ends[0].at_q.start, ends[1].at_q.start),
                (ends[0].at_v.start, ends[1].at_v.start),
                self.convert(joint.transmission.stiffness),
                self.convert(joint.transmission.damping),
            )

    def _added(self, carrier: int, joint: TreeJoint) -> int:
        self.parent.append(carrier)
        self.joints.append(joint)
        self.links.append([])
        return len(self.parent) - 1

    def _put_body(self, body: Body, place: Place) -> None:
        """Set the place of a body, and add its inertia to the moving body that carries it."""
        self.place[body.name] = place
        i, X = place
        if i:  # bodies fixed to the base never move
            key = (body.mass, body.com, body.inertia)
            inertia = self.once(key, partial(body.spatial_inertia, self.convert))
            self._lump(i, inertia, X)
        if body.beam is not None:
            self._put_beam(body, body.beam, i, X)

    def _lump(self, i: int, inertia: Inertia, X: Transform) -> None:
        self.links[i].append(inertia if X == Transform() else inertia.to_parent(X))

    def _put_rotor(self, actuator: Actuator, reflected: list[Scalar]) -> None:
        """Add the rotor of an actuator: as a body that spins on its carrier, whose inertia holds it
        as if it were locked, or reflected to the entry of its joint where it rides on no body that
        moves.
        """
        if known_zero(actuator.rotor_inertia):
            return
        entry = self.mechanism.entries[actuator.joint]
        factor = self.convert(actuator.gear_ratio) * self.convert(entry.factor)
        moment = self.convert(actuator.rotor_inertia)
        carrier, placed = self._carrier(actuator)
        if carrier == 0:
            k = entry.at_v.start
            reflected[k] = reflected[k] + factor * factor * moment
            return
        spin = Spin(axis_of(actuator, self.mechanism)).converted(self.convert)
        axes = Transform(ZERO, placed.R)
        i = self._added(carrier, spinning(actuator, placed.R, spin, entry, factor))
        locked, rotor = disc(spin.axis, -moment), disc(spin.axis, moment)
        self._put_slice(MassSlice(f"{actuator.name}, locked", carrier, axes, locked))
        self._put_slice(MassSlice(actuator.name, i, Transform(), rotor))

    def _carrier(self, actuator: Actuator) -> Place:
        """The moving body that a rotor rides on, and the axes there in which its axis is given."""
        joint = self.mechanism.joint(actuator.joint)
        if actuator.body is None:
            return 0, Transform()
        at_joint = actuator.body == joint.parent
        if at_joint and actuator.axis is None:
            return self._on(joint.parent, joint.origin)
        place = Origin(joint.origin.xyz) if at_joint else Origin()
        return self._on(actuator.body, place)

    # --- beams ---

    def _put_beam(self, body: Body, beam: Beam, i: int, X: Transform) -> None:
        """Add the mass of a beam: slices on its sections, or a rigid rod."""
        placed = _collapsed(X * beam.origin.transform(self.convert, self.exact))
        bending = body.bending
        if bending is None:
            rule = self._rigid_rule(beam)
            slices = self._slices(beam, rule)
            for xi, (x, slice_of_mass) in zip(rule.nodes, slices, strict=True):
                at = placed * Transform(Vector((x, 0, 0)))
                self._put_slice(MassSlice(_slice_name(body, xi), i, at, slice_of_mass))
            return
        elements = self.beams[body.name] = []
        for number in range(body.elements):
            if elements:  # on the end of the one before
                i, placed = self._section(elements[-1], 1), Transform()
            of_element = beam.element_of(body.elements, number)
            elements.append(_Element(body, number, of_element, bending, i, placed))
            self._put_element(elements[-1])

    def _put_element(self, element: _Element) -> None:
        """Add the elasticity of an element, and its mass as slices on sections."""
        beam, bending = element.beam, element.bending
        places = (element.body.name, *self._entries(element))
        self.elastic.append(elasticity(beam, bending, places, self.convert))
        if bending.is_curved:
            self.elastic.append(curvature_forces(beam, bending, places, self.convert))
        if bending.couples_twist:
            self.elastic.append(twist_coupling(beam, bending, places, self.convert))
        mass_per_length, *rotary = beam.inertias
        rule = bending.slices(self.exact, [mass_per_length])
        slices = [Inertia(x.m, ZERO, ZERO_MATRIX) for _, x in self._slices(beam, rule)]
        bodies = self._put_slices(element, rule, slices, turns=False)
        if beam.has_rotary_inertia:
            turning = bending.turning_slices(self.exact, rotary)
            slices = [Inertia(0, ZERO, x.J) for _, x in self._slices(beam, turning)]
            self._put_slices(element, turning, slices, turns=True)
        # sums over slices of the first order are constants, and exact in rational numbers
        if not self.exact and bending.kinematics != "first_order":
            line = tangents_of(bending)
            density = mass_per_length.with_values([*map(self.convert, mass_per_length.numbers)])
            length = self.convert(beam.length)
            self.lines.append(LineMass(tuple(bodies), line, rule, density, length))

    def _put_slices(
        self, element: _Element, rule: Rule, slices: list[Inertia], turns: bool
    ) -> list[int]:
        """Add slices of an element, each on its section; turns: these of rotary inertia."""
        body = element.body
        bodies = [self._section(element, xi, turns) for xi in rule.nodes]
        for xi, k, inertia in zip(rule.nodes, bodies, slices, strict=True):
            name = _slice_name(body, (element.number + xi) / body.elements)
            self._put_slice(MassSlice(name + ", turning" * turns, k, Transform(), inertia))
        return bodies

    def _put_slice(self, piece: MassSlice) -> None:
        if piece.body:  # a beam fixed to the base never moves
            self._lump(piece.body, piece.inertia, piece.place)
            self.slices.append(piece)

    def _entries(self, element: _Element) -> tuple[slice, range]:
        """Places of the coordinates and velocities of an element."""
        entry, n = self.mechanism.body_entries[element.body.name], element.bending.count
        at_q, at_v = (at.start + element.number * n for at in (entry.at_q, entry.at_v))
        return slice(at_q, at_q + n), range(at_v, at_v + n)

    def _rigid_rule(self, beam: Beam) -> Rule:
        """Quadrature of the mass of a rigid rod."""
        breaks = tuple(sorted({x for v in beam.inertias for x in v.breaks}))
        return rule_of(breaks, 2 + max(v.degree for v in beam.inertias), self.exact)

    def _slices(self, beam: Beam, rule: Rule) -> list[tuple[Scalar, Inertia]]:
        """Places along a beam and inertias of its slices of mass."""
        length = self.convert(beam.length)
        mass_per_length, *rotary = beam.inertias
        slices = []
        for xi, weight in zip(*rule, strict=True):
            mass = mass_per_length.at(xi, self.convert) * length * weight
            moments = [v.at(xi, self.convert) * length * weight for v in rotary]
            tensor = Matrix.diagonal(*moments)
            slices.append((length * xi, Inertia.of(mass, ZERO, tensor)))
        return slices

    def _section(self, element: _Element, xi: Any, turns: bool = True) -> int:
        """The moving body at xi of an element; made at its first use."""
        xi = xi if self.exact else float(xi)
        key = (element.body.name, element.number, xi, turns)
        if key not in self.sections:
            joint = self._section_joint(element, xi, turns)
            self.sections[key] = self._added(element.carrier, joint)
        return self.sections[key]

    def _section_joint(self, element: _Element, xi: Any, turns: bool) -> TreeJoint:
        name, length = element.body.name, self.convert(element.beam.length)
        joint_type = BeamSection(element.bending, length, xi, turns)
        at_q, at_v = self._entries(element)
        none: dict[str, Any] = {
            name: [0] * joint_type.nv
            for name in ("viscous", "coulomb", "rotor", "stiffness", "rest")
        }
        return TreeJoint(
            name=name,
            body=name,
            type=joint_type,
            origin=element.placed,
            at_q=at_q,
            dof=at_v,
            factor=1,
            offset=0,
            is_follower=False,
            is_section=True,
            **none,
        )

    def _on(self, body: str, origin: Origin) -> Place:
        """Moving body that carries a place on a body, and the place there."""
        if body not in self.beams:
            i, X = self.place[body]
            return i, _collapsed(X * origin.transform(self.convert, self.exact))
        return self._on_beam(self.beams[body], origin)

    def _on_beam(self, elements: list[_Element], origin: Origin) -> Place:
        """The same on a beam: a point moves with the cross-section at its x."""
        body = elements[0].body
        beam = body.beam
        assert beam is not None
        placed = origin.transform(self.convert, self.exact)
        start = beam.origin.transform(self.convert, self.exact)
        p = start.R.to_child(placed.p - start.p)
        x = origin.xyz[0] if beam.origin == Origin() else p[0]
        part = _part_of(x, beam.length, body.name, self.exact)
        beyond = p[0] - self.convert(beam.length) * part
        offset = Vector((0 if 0 < part < 1 else _snapped(beyond), p[1], p[2]))
        on_section = Transform(offset, _inverse_times(start, placed))
        element, xi = _element_at(elements, part)
        if element.number == 0 and element.bending.is_still(xi):
            i, X = self.place[body.name]
            return i, _collapsed(X * placed)
        return self._section(element, xi), _collapsed(on_section)


def _element_at(elements: list[_Element], part: Any) -> tuple[_Element, Any]:
    """The element at a part of the length of a beam, and the part of its own length."""
    along = part * len(elements)
    number = min(int(along + SNAP), len(elements) - 1)
    xi = along - number
    return elements[number], 0 if abs(xi) < SNAP else xi


def _slice_name(body: Body, part: Any) -> str:
    return f"{body.name} at {float(part):.4g}"


def _inverse_times(start: Transform, placed: Transform) -> Any:
    """The turn of a place seen in the axes of a beam."""
    if start.R == Transform().R:
        return placed.R
    return Dense(Matrix(start.R.to_child(row) for row in placed.R.matrix().T).T)


def _snapped(x: Scalar) -> Scalar:
    return 0 if isinstance(x, float) and abs(x) < SNAP else x


def _part_of(x: Number, length: Number, body: str, exact: bool) -> Any:
    """x / length of a place along a beam, in [0, 1].

    Raises
    ------
    ModelError
        One of them is a symbol, so that the section is not known.
    """
    if known_zero(x):
        return 0
    if known_zero(x - length):
        return 1
    xi: Any
    if is_symbolic(x) or is_symbolic(length):
        xi = _ratio_of_symbols(x, length)
        if xi is None:
            raise ModelError(
                f"body {body!r} carries a part at x = {x} of its beam of length {length}: the "
                "section is not known. Use numbers, or a place in proportion to the length."
            )
    else:
        rational = isinstance(x, (int, Fraction)) and isinstance(length, (int, Fraction))
        xi = Fraction(x) / Fraction(length) if rational else as_float(x) / as_float(length)
    if xi < SNAP:
        return 0
    return 1 if xi > 1 - SNAP else xi


def _ratio_of_symbols(x: Number, length: Number) -> float | None:
    """x / length where it is the same for all values of their symbols; None: it is not."""
    rng = np.random.default_rng(0)
    values = {symbol: rng.uniform(0.5, 1.5, SAMPLES) for symbol in free_symbols([x, length])}
    of_x, of_length = evaluate([x, length], values).T
    ratios = of_x / of_length
    same = np.ptp(ratios) < SNAP * np.abs(ratios[0])  # not where one is no number
    return float(ratios[0]) if same else None


def _each(key: Any, make: Callable[[], Any]) -> Any:
    """Made anew: among exact numbers 1 and 1.0 are two."""
    return make()


def _first() -> Callable[[Any, Callable[[], Any]], Any]:
    """Equal parts of a long chain are converted once."""
    made_once: dict[Any, Any] = {}

    def once(key: Any, make: Callable[[], Any]) -> Any:
        """The value under a key, made at its first use."""
        if key not in made_once:
            made_once[key] = make()
        return made_once[key]

    return once


def _rotors(joints: Any, nv: int) -> list[Scalar]:
    rotor: list[Scalar] = [0] * nv
    for moving in joints:
        for k, inertia in zip(moving.dof, moving.rotor, strict=True):
            rotor[k] = rotor[k] + moving.factor * moving.factor * inertia
    return rotor


def _total(inertias: list[Inertia]) -> Inertia:
    total = inertias[0] if inertias else NO_INERTIA
    for inertia in inertias[1:]:
        total = total + inertia
    return total


def _collapsed(X: Transform) -> Transform:
    """A long product of constant turns as one matrix."""
    if isinstance(X.R, Product) and len(X.R.factors) > DENSE_FROM:
        return Transform(X.p, Dense(X.R.matrix()))
    return X


def _tree_joint(
    joint: Joint, origin: Transform, entry: Any, convert: Converter, once: Callable[..., Any]
) -> TreeJoint:
    numbers = tuple(getattr(joint, name) for name in PER_VELOCITY)
    per = dict(
        zip(
            PER_VELOCITY,
            once(numbers, lambda: [[convert(x) for x in row] for row in numbers]),
            strict=True,
        )
    )
    joint_type = joint.type
    converted = partial(joint.type.converted, convert)
    joint_type = (
        once(joint_type, converted) if type(joint_type) in BUILT_IN else converted()
    )  # equal ones of a user's own may differ
    return TreeJoint(
        name=joint.name,
        body=joint.child,
        type=joint_type,
        origin=origin,
        at_q=entry.at_q,
        dof=entry.at_v,
        factor=convert(entry.factor),
        offset=convert(entry.offset),
        viscous=per["viscous"],
        coulomb=per["coulomb"],
        rotor=[g * g * r for g, r in zip(per["gear_ratio"], per["rotor_inertia"], strict=True)],
        stiffness=per["stiffness"],
        rest=per["rest"],
        is_follower=entry.is_follower,
    )
