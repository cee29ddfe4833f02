"""Linkage: bodies and joints as data, with the names, counts and places that follow from them."""

from __future__ import annotations

from collections.abc import (
    Iterator,
    Mapping,
    Sequence,
)
from dataclasses import (
    dataclass,
    field,
    replace,
)
from functools import cached_property
from typing import (
    ClassVar,
    NamedTuple,
)

import numpy as np

from dalembert.beams.shape_functions import TWIST
from dalembert.errors import (
    QuaternionError,
    UnknownNameError,
)
from dalembert.expr import (
    Expr,
    free_symbols,
    known_zero,
)
from dalembert.model.actuators import Actuator
from dalembert.model.constraint import Constraint
from dalembert.model.elastic.beam_sections import start_of
from dalembert.model.findings import Finding
from dalembert.model.joints import JointType
from dalembert.model.numbered import Part
from dalembert.model.numbers import (
    Literal,
    Number,
)
from dalembert.model.parts import (
    Body,
    Frame,
    Joint,
)
from dalembert.spatial.arrays import VectorArray
from dalembert.spatial.vectors import Scalar

GRAVITY = (0, 0, Literal("-9.81"))  # m/s^2
QUATERNION_TOLERANCE = 1e-6  # of the norm; beyond it the error is the caller's, not rounding


@dataclass(frozen=True)
class Entry:
    """Entries of a moving joint's coordinates in q and of its velocities in qd; a follower has its
    leader's.
    """

    at_q: slice
    at_v: range
    factor: Number = 1
    offset: Number = 0
    is_follower: bool = False


class CoordinateHolder(NamedTuple):
    """A joint or an elastic body that has entries in q and qd."""

    name: str
    type: JointType
    entry: Entry
    is_body: bool

    def named(self, names: Sequence[str]) -> list[str]:
        """Names of its coordinates or velocities, after its own."""
        if len(names) == 1 and not self.is_body:
            return [self.name]
        return [f"{self.name}.{name}" for name in names]


@dataclass(frozen=True, repr=False)
class Linkage:
    """Bodies, the base first, and the joints that connect them to a tree, parents before
    children: the data that `Mechanism` checks, and that paths, edits and the tree are made from.
    """

    # fields that hold parts
    PARTS: ClassVar[tuple[str, ...]] = ("bodies", "joints", "frames", "constraints", "actuators")

    name: str
    bodies: tuple[Body, ...]
    joints: tuple[Joint, ...]
    frames: tuple[Frame, ...] = ()
    gravity: tuple[Number, ...] = GRAVITY
    file: str = field(default="", compare=False)
    remarks: tuple[Finding, ...] = field(default=(), compare=False)
    warned: frozenset[str] = field(default=frozenset(), compare=False)
    constraints: tuple[Constraint, ...] = ()
    principles: tuple[str, ...] = ()  # of PRINCIPLES, one of each constraint
    actuated: tuple[str, ...] | None = None  # names of the driven joints; None: all
    actuators: tuple[Actuator, ...] = ()

    @cached_property
    def entries(self) -> dict[str, Entry]:
        """Place of each moving joint in q and qd, by joint name."""
        entries: dict[str, Entry] = {}
        nq = nv = 0
        for joint in self.joints:
            if not joint.is_fixed and joint.mimic is None:
                entries[joint.name] = Entry(
                    slice(nq, nq + joint.type.nq), range(nv, nv + joint.type.nv)
                )
                nq, nv = nq + joint.type.nq, nv + joint.type.nv
        for joint in self.joints:
            if joint.mimic is not None:
                leader, factor, offset = leader_of(self._joints, joint)
                entries[joint.name] = replace(
                    entries[leader], factor=factor, offset=offset, is_follower=True
                )
        return entries

    @cached_property
    def quaternions(self) -> dict[str, int]:
        """Offsets in q of the joints' quaternions."""
        return {
            joint.name: self.entries[joint.name].at_q.start + joint.type.quaternion_at
            for joint in self.independent_joints
            if joint.type.quaternion_at is not None
        }

    @cached_property
    def independent_joints(self) -> tuple[Joint, ...]:
        """Joints with entries in q, in their order there."""
        return tuple(j for j in self.joints if not j.is_fixed and j.mimic is None)

    @cached_property
    def flexible_joints(self) -> tuple[Joint, ...]:
        """Joints that motors drive through springs."""
        return tuple(joint for joint in self.joints if joint.transmission is not None)

    @cached_property
    def with_rotors(self) -> frozenset[str]:
        """Names of the joints whose actuators have rotors."""
        return frozenset(a.joint for a in self.actuators if not known_zero(a.rotor_inertia))

    @cached_property
    def elastic_bodies(self) -> tuple[Body, ...]:
        """Bodies with coordinates, in their order in q, after all joints."""
        return tuple(b for b in self.bodies if b.beam is not None and b.modes)

    @cached_property
    def holders(self) -> tuple[CoordinateHolder, ...]:
        """Joints, then elastic bodies that have entries in q and qd, in their order there."""
        holders = [
            CoordinateHolder(j.name, j.type, self.entries[j.name], False)
            for j in self.independent_joints
        ]
        nq = sum(h.type.nq for h in holders)
        nv = sum(h.type.nv for h in holders)
        for body in self.elastic_bodies:
            joint_type = start_of(body)
            n = joint_type.nv
            entry = Entry(slice(nq, nq + n), range(nv, nv + n))
            holders.append(CoordinateHolder(body.name, joint_type, entry, True))
            nq, nv = nq + n, nv + n
        return tuple(holders)

    @cached_property
    def body_entries(self) -> dict[str, Entry]:
        """Place of the coordinates of each elastic body in q and qd, by body name."""
        return {h.name: h.entry for h in self.holders if h.is_body}

    @cached_property
    def nq(self) -> int:
        """Number of coordinates."""
        return sum(h.type.nq for h in self.holders)

    @cached_property
    def nv(self) -> int:
        """Number of velocities (degrees of freedom)."""
        return sum(h.type.nv for h in self.holders)

    @cached_property
    def coordinate_names(self) -> tuple[str, ...]:
        """Names of the entries of q: the joint's, with the coordinate's where it has several, then
        those of elastic bodies with the coordinate's.
        """
        return tuple(name for h in self.holders for name in h.named(h.type.coordinates))

    @cached_property
    def velocity_names(self) -> tuple[str, ...]:
        """Names of the entries of qd, qdd, tau and momenta."""
        return tuple(name for h in self.holders for name in h.named(h.type.velocities))

    @cached_property
    def _bodies(self) -> dict[str, Body]:
        return {b.name: b for b in self.bodies}

    @cached_property
    def _joints(self) -> dict[str, Joint]:
        return {j.name: j for j in self.joints}

    @cached_property
    def parts(self) -> tuple[Part, ...]:
        """Bodies, joints, frames, constraints and actuators: all that has numbers, but for gravity."""
        return tuple(part for field in self.PARTS for part in getattr(self, field))

    def parts_named(self, name: str) -> list[Part]:
        """The parts of a name; a frame may have the name of a joint.

        Examples
        --------
        >>> import dalembert as da
        >>> [type(part).__name__ for part in da.planar_chain(1).parts_named("q1")]
        ['Joint']
        """
        return self._parts_by_name.get(name, [])

    @cached_property
    def _parts_by_name(self) -> dict[str, list[Part]]:
        by_name: dict[str, list[Part]] = {}
        for part in self.parts:
            by_name.setdefault(part.name, []).append(part)
        return by_name

    def body(self, name: str) -> Body:
        """The body (link) of that name.

        Examples
        --------
        >>> import dalembert as da
        >>> da.planar_chain(2).body("link2").mass
        1
        """
        return _named(self._bodies, "body", name)

    def joint(self, name: str) -> Joint:
        """The joint of that name.

        Examples
        --------
        >>> import dalembert as da
        >>> da.planar_chain(2).joint("q2").parent
        'link1'
        """
        return _named(self._joints, "joint", name)

    @cached_property
    def frame_names(self) -> tuple[str, ...]:
        """All names that `placement` and `jacobian` know: links and frames."""
        return tuple(b.name for b in self.bodies) + tuple(f.name for f in self.frames)

    def values(self) -> Iterator[Number]:
        """All numbers, in the order of their paths.

        Examples
        --------
        >>> import dalembert as da
        >>> len(list(da.planar_chain(1).values()))
        38
        """
        yield from self.gravity
        for part in self.parts:
            yield from part.numbers().values()

    @cached_property
    def symbols(self) -> tuple[str, ...]:
        """Names of the symbols in its numbers, in the order of these: `replace` gives them values."""
        return tuple(
            dict.fromkeys(
                s.name
                for x in self.values()
                if isinstance(x, Expr)
                for s in sorted(free_symbols(x), key=lambda s: s.name)
            )
        )

    def neutral(self) -> VectorArray:
        """Coordinates (nq,) [rad, m] at which each child's frame coincides with its joint's frame:
        zeros and unit quaternions.

        Examples
        --------
        >>> import dalembert as da
        >>> da.planar_chain(1).floating().neutral()
        array([1., 0., 0., 0., 0., 0., 0., 0.])
        """
        return np.array([x for h in self.holders for x in h.type.neutral()], dtype=float)

    def check_quaternions(self, name: str, q: Sequence[Scalar]) -> None:
        """Raise a QuaternionError where a quaternion in q (nq,) is not of unit length.

        Examples
        --------
        >>> import dalembert as da
        >>> ball = da.planar_chain(1).floating()
        >>> ball.check_quaternions("q", ball.neutral().tolist())
        """
        for joint, start in self.quaternions.items():
            quaternion = q[start : start + 4]
            if any(isinstance(x, Expr) for x in quaternion):
                continue
            with np.errstate(over="ignore"):  # to infinity, which is not 1 either
                norms = np.atleast_1d(np.sqrt(sum(np.square(x) for x in quaternion)))
            worst = int(np.argmax(np.abs(norms - 1))) if norms.size else 0
            if norms.size and abs(norms[worst] - 1) > QUATERNION_TOLERANCE:
                row = f" in row {worst}" if norms.size > 1 else ""
                raise QuaternionError(
                    f"{name}{row}: the quaternion of joint {joint!r} has norm {norms[worst]:.9g}, "
                    "expected 1. mechanism.normalize(q) scales it.",
                    joint,
                    float(norms[worst]),
                )


def is_angular(name: str) -> bool:
    """Whether a coordinate or velocity of that name is an angle [rad] or its rate."""
    return "angle" in name or "angular" in name or name.startswith(TWIST)


def leader_of(joints: Mapping[str, Joint], joint: Joint) -> tuple[str, Number, Number]:
    """Independent joint at the end of a chain of followers, with the total multiplier and offset."""
    factor: Number = 1
    offset: Number = 0
    while joint.mimic is not None:  # q = m q' + b, q' = m' q'' + b'
        offset = offset + factor * joint.mimic.offset
        factor = factor * joint.mimic.multiplier
        joint = joints[joint.mimic.joint]
    return joint.name, factor, offset


def _named(table, noun, name):
    if name not in table:
        raise UnknownNameError(noun, name, tuple(table))
    return table[name]
