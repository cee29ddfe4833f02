"""The kinematic tree that algorithms run on: moving bodies only, links on fixed joints lumped,
numbers converted.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any, cast

from dalembert.expr import known_zero
from dalembert.model.joints import JointType
from dalembert.model.joints.base import BUILT_IN
from dalembert.model.linkage import Linkage
from dalembert.model.numbers import Converter
from dalembert.model.parts import DENSE_FROM, PER_VELOCITY, Joint
from dalembert.spatial.inertias import NO_INERTIA, Inertia
from dalembert.spatial.motion_force import Motion
from dalembert.spatial.rotations import Dense, Product
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


@dataclass(frozen=True, eq=False)
class Tree:
    """Moving bodies 1..n (0 is the base), parents before children.

    parent[i], joint[i], inertia[i] (about the body's origin, in its axes, fixed links lumped in),
    gravity (3), place[name] = (i, X): body i that carries a link or frame, and its placement there.
    `replace` makes another.
    """

    name: str
    gravity: Vector
    parent: tuple[int, ...]
    joint: tuple[Any, ...]
    inertia: tuple[Inertia, ...]
    place: Mapping[str, tuple[int, Transform]]
    nv: int
    rotor: tuple[Scalar, ...]  # rotor inertias, reflected to the entries of qd

    @staticmethod
    def of(mechanism: Linkage, convert: Converter, exact: bool = False) -> Tree:
        """The tree of a mechanism, with each number converted."""
        parent = [-1]
        joints = cast(list[Any], [None])
        place: dict[str, tuple[int, Transform]] = {mechanism.bodies[0].name: (0, Transform())}
        links: list[list[Inertia]] = [[]]
        once = _each if exact else _first()
        for joint in mechanism.joints:
            carrier, X = place[joint.parent]
            placed = _collapsed(X * joint.origin.transform(convert, exact))
            if joint.is_fixed:
                place[joint.child] = (carrier, placed)
            else:
                place[joint.child] = (len(parent), Transform())
                parent.append(carrier)
                joints.append(
                    _tree_joint(joint, placed, mechanism.entries[joint.name], convert, once)
                )
                links.append([])
            i, X = place[joint.child]
            if i:  # bodies fixed to the base never move
                body = mechanism.body(joint.child)
                inertia = once(
                    (body.mass, body.com, body.inertia), partial(body.spatial_inertia, convert)
                )
                links[i].append(inertia.to_parent(X) if joint.is_fixed else inertia)
        for frame in mechanism.frames:
            i, X = place[frame.body]
            place[frame.name] = (i, _collapsed(X * frame.origin.transform(convert, exact)))
        return Tree(
            mechanism.name,
            Vector(convert(x) for x in mechanism.gravity),
            tuple(parent),
            tuple(joints),
            tuple(map(_total, links)),
            place,
            mechanism.nv,
            _rotors(joints[1:], mechanism.nv),
        )

    def replace(self, **changes: Any) -> Tree:
        """The tree with other joints, inertias, ...; lists become tuples."""
        frozen: dict[str, Any] = {
            name: tuple(x) if type(x) is list else x for name, x in changes.items()
        }
        return replace(self, **frozen)

    @cached_property
    def has_followers(self) -> bool:
        """Whether a joint shares the entries of another."""
        return any(j.is_follower for j in self.joint[1:])

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


def _rotors(joints: Sequence[Any], nv: int) -> tuple[Scalar, ...]:
    rotor: list[Scalar] = [0] * nv
    for moving in joints:
        for k, inertia in zip(moving.dof, moving.rotor, strict=True):
            rotor[k] = rotor[k] + moving.factor * moving.factor * inertia
    return tuple(rotor)


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
    joint: Joint, origin: Transform, entry, convert: Converter, once: Callable[..., Any]
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
