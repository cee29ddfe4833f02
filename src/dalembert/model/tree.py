"""The kinematic tree that algorithms run on: moving bodies only, links on fixed joints lumped,
numbers converted.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, NamedTuple

from dalembert.errors import UnknownNameError
from dalembert.expr import known_zero
from dalembert.model.constraint import FramePlace
from dalembert.model.elastic.elasticity import BeamForces
from dalembert.model.elastic.line_masses import LineMass
from dalembert.model.elastic.transmissions import TransmissionSpring
from dalembert.model.joints import JointType
from dalembert.model.numbers import Converter
from dalembert.spatial.inertias import NO_INERTIA, Inertia
from dalembert.spatial.motion_force import NO_MOTION, Force, Motion, combined
from dalembert.spatial.transforms import Transform
from dalembert.spatial.vectors import Scalar, Vector


@dataclass
class TreeJoint:
    """The joint of a moving body, with converted numbers.

    A follower (mimic) has the coordinate factor * q(leader) + offset and shares the leader's
    entries: its motion subspace is scaled by the factor, so that no algorithm needs to know.
    """

    name: str
    body: str
    type: JointType
    origin: Transform  # joint's frame in the parent moving body
    at_q: slice
    dof: range  # entries in velocities and forces
    factor: Scalar
    offset: Scalar
    viscous: list[Scalar]
    coulomb: list[Scalar]
    rotor: list[Scalar]  # inertia reflected to the joint, gear_ratio^2 * rotor_inertia
    stiffness: list[Scalar]
    rest: list[Scalar]
    is_follower: bool
    is_section: bool = False  # of a beam, whose sections share their entries

    def __post_init__(self) -> None:
        self._constant = (
            self._scaled(self.type.subspace(self.type.neutral()))
            if self.type.constant_subspace
            else None
        )

    def coordinates(self, q: Sequence[Scalar]) -> list[Scalar]:
        """The joint's own coordinates."""
        values = list(q[self.at_q])
        return [values[0] * self.factor + self.offset] if self.is_follower else values

    def velocities(self, v: Sequence[Scalar]) -> list[Scalar]:
        """Entries of a velocity-like vector that move this joint (the leader's, for a follower)."""
        return list(v[self.dof.start : self.dof.stop])

    def own_velocities(self, v: Sequence[Scalar]) -> list[Scalar]:
        """The joint's own velocities (a follower's are the leader's times the factor)."""
        return (
            [x * self.factor for x in self.velocities(v)]
            if self.is_follower
            else self.velocities(v)
        )

    def placement(self, q: Sequence[Scalar]) -> Transform:
        """Placement X of the body in its parent."""
        return self.origin * self.type.placement(self.coordinates(q))

    def subspace(self, q: Sequence[Scalar]) -> tuple[Motion, ...]:
        """Motion subspace S, in the body's axes."""
        if self._constant is not None:
            return self._constant
        return self._scaled(self.type.subspace(self.coordinates(q)))

    def subspace_rate(self, q: Sequence[Scalar], v: Sequence[Scalar]) -> tuple[Motion, ...] | None:
        """Rates of the components of S along the motion; None where S is constant."""
        if self._constant is not None:
            return None
        return self._scaled(self.type.subspace_rate(self.coordinates(q), self.own_velocities(v)))

    def motion(
        self, q: Sequence[Scalar], qd: Sequence[Scalar], qdd: Sequence[Scalar] | None
    ) -> tuple[Motion, Motion]:
        """Velocity S qd, and its rate S qdd + S' qd (qdd None: zero), in the body's axes."""
        v = self.velocities(qd)
        v_rate = [0] * len(v) if qdd is None else self.velocities(qdd)
        if self.is_section:
            return self.type.motion(self.coordinates(q), v, v_rate)  # type: ignore[attr-defined,no-any-return]
        S = self.subspace(q)
        rate = NO_MOTION if qdd is None else combined(S, v_rate)
        if (S_rate := self.subspace_rate(q, qd)) is not None:
            rate = rate + combined(S_rate, v)
        return combined(S, v), rate

    def along(self, q: Sequence[Scalar], force: Force) -> list[Scalar]:
        """Forces S^T f on the joint's entries."""
        if self.is_section:
            return self.type.along(self.coordinates(q), force)  # type: ignore[attr-defined,no-any-return]
        return [force.dot(s) for s in self.subspace(q)]

    def subspace_derivatives(self, q: Sequence[Scalar]) -> list[tuple[Motion, ...]] | None:
        """Derivatives of the columns of S along each velocity entry of the joint; None where S is
        constant.
        """
        if self._constant is not None:
            return None
        steps = (
            [self.factor if k == m else 0 for m in range(len(self.dof))]
            for k in range(len(self.dof))
        )
        return [self._scaled(self.type.subspace_rate(self.coordinates(q), step)) for step in steps]

    def subspace_rate_derivatives(
        self, q: Sequence[Scalar], v: Sequence[Scalar]
    ) -> tuple[Motion, ...]:
        """Derivatives of the motion S'(q, v) v along each velocity entry of the joint, v held."""
        return self._scaled(
            self.type.subspace_rate_derivatives(self.coordinates(q), self.own_velocities(v))
        )

    def _scaled(self, columns):
        return tuple(c.scaled(self.factor) for c in columns) if self.is_follower else tuple(columns)


class MassSlice(NamedTuple):
    """Inertia beside that of bodies: a slice of the mass of a beam, a rotor, or the rotor that its
    carrier does not carry as if it were locked.

    name : of the beam's body with the place along it, or of the actuator; body : moving body that
    carries it; place : there
    """

    name: str
    body: int
    place: Transform
    inertia: Inertia


@dataclass(frozen=True, eq=False)
class Tree:
    """Moving bodies 1..n (0 is the base), parents before children.

    parent[i], joint[i], inertia[i] (about the body's origin, in its axes, fixed links lumped in),
    gravity (3), place[name] = (i, X): body i that carries a link or frame, and its placement there.
    `replace` makes another. Sections of a beam are bodies too, all on the body that carries it; its slices of
    mass are among them, and may besides be taken together, as one of the `lines`. Rotors that ride on
    moving bodies are the last bodies.
    """

    name: str
    gravity: Vector
    parent: tuple[int, ...]
    joint: tuple[Any, ...]
    inertia: tuple[Inertia, ...]
    place: Mapping[str, tuple[int, Transform]]
    nv: int
    rotor: tuple[Scalar, ...]  # rotor inertias, reflected to the entries of qd
    elastic: tuple[BeamForces, ...] = ()  # of the beams
    transmissions: tuple[TransmissionSpring, ...] = ()
    # places of constraints on beams, by body and origin
    on_beams: Mapping[tuple[str, Any], tuple[int, Transform]] = field(default_factory=dict)
    lines: tuple[LineMass, ...] = ()  # slices of beams together
    slices: tuple[MassSlice, ...] = ()  # of the beams' mass and rotors, each by itself

    def replace(self, **changes: Any) -> Tree:
        """The tree with other joints, inertias, ...; lists become tuples."""
        frozen: dict[str, Any] = {
            name: tuple(x) if type(x) is list else x for name, x in changes.items()
        }
        return replace(self, **frozen)

    @property
    def elasticities(self) -> tuple[BeamForces | TransmissionSpring, ...]:
        """Beams and transmissions: elastic forces on several coordinates."""
        return (*self.elastic, *self.transmissions)

    @cached_property
    def has_followers(self) -> bool:
        """Whether a joint shares the entries of another."""
        return any(j.is_follower for j in self.joint[1:])

    @property
    def shares_entries(self) -> bool:
        """Whether several bodies move by the same entries: followers, and sections of a beam."""
        return self.has_followers or bool(self.elastic)

    @cached_property
    def sections(self) -> dict[int, tuple[int, ...]]:
        """Sections of each beam, by the first of them."""
        beams: dict[tuple[int, int], list[int]] = {}
        for i in self.outward():
            if self.joint[i].is_section:
                beams.setdefault((self.parent[i], self.joint[i].dof.start), []).append(i)
        return {members[0]: tuple(members) for members in beams.values()}

    @cached_property
    def beside_lines(self) -> tuple[Inertia, ...]:
        """Inertia of each body without the lines."""
        inertia = list(self.inertia)
        for line in self.lines:
            for i in line.bodies:
                inertia[i] = NO_INERTIA
        return tuple(inertia)

    @cached_property
    def bodies(self) -> tuple[int, ...]:
        """Bodies, parents before children, for algorithms that take lines as wholes: without
        their slices.
        """
        on_lines = {i for line in self.lines for i in line.bodies}
        return tuple(i for i in self.outward() if i not in on_lines)

    @property
    def n(self) -> int:
        """Number of moving bodies."""
        return len(self.parent) - 1

    def outward(self) -> range:
        """Bodies, parents before children."""
        return range(1, len(self.parent))

    def inward(self) -> range:
        """Bodies, children before parents."""
        return range(len(self.parent) - 1, 0, -1)

    def placed(self, place: FramePlace, convert: Converter) -> tuple[int, Transform]:
        """The moving body that carries a place of a constraint, and the place there.

        Raises
        ------
        UnknownNameError
            There is no such body or frame.
        """
        if (on_beam := self.on_beams.get((place.body, place.origin))) is not None:
            return on_beam
        if place.body not in self.place:
            raise UnknownNameError("frame", place.body, tuple(self.place))
        i, X = self.place[place.body]
        return i, X * place.origin.transform(convert)

    def freed(self, i: int) -> tuple[int, ...]:
        """Coordinates in which joint i, left free, passes no inertia on; none if it has a rotor."""
        bare = all(known_zero(self.rotor[k]) for k in self.joint[i].dof)
        return self.joint[i].type.freed if bare else ()

    def support(self, i: int) -> list[int]:
        """Moving bodies from i down to the base: i, parent[i], ..."""
        chain = []
        while i > 0:
            chain.append(i)
            i = self.parent[i]
        return chain
