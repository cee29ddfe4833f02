"""Bodies as MuJoCo nests them: a body without mass gives its joints to the next one.

MuJoCo refuses moving bodies without mass, and gives a body several joints instead.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import (
    dataclass,
    field,
)
from typing import NamedTuple

from dalembert.model.mechanism import Mechanism
from dalembert.model.numbers import (
    Number,
    as_float,
)
from dalembert.model.origins import Origin
from dalembert.model.parts import (
    Body,
    Joint,
)
from dalembert.spatial.vectors import Vector
from dalembert.writers.mujoco_inertias import is_massless
from dalembert.writers.single_freedoms import single_freedoms
from dalembert.writers.xml_elements import XmlElement


class GivenJoint(NamedTuple):
    """A joint whose child gave it away, and the joint's frame against the body before the child."""

    joint: Joint
    origin: Origin


@dataclass
class Nesting:
    """The element that a body stands in, or stands for.

    element : of the nearest body inward that has one
    origin : placement of the body in that element, with all joints at 0
    joints : of bodies between, whose motion comes before that of what hangs on the body
    """

    element: XmlElement
    origin: Origin = Origin()
    joints: list[GivenJoint] = field(default_factory=list)


class WeldGroups:
    """Bodies that fixed joints hold together, and what hangs on them."""

    def __init__(self, mechanism: Mechanism):
        self.leader = {mechanism.bodies[0].name: mechanism.bodies[0].name}
        self.members: dict[str, list[Body]] = defaultdict(list)
        self.inner: dict[str, Joint] = {}
        self.outer: dict[str, list[Joint]] = defaultdict(list)
        for joint in mechanism.joints:
            parent = self.leader[joint.parent]
            self.leader[joint.child] = parent if joint.is_fixed else joint.child
            if not joint.is_fixed:
                self.inner[joint.child] = joint
                self.outer[parent].append(joint)
        for body in mechanism.bodies:
            self.members[self.leader[body.name]].append(body)
        self.base = mechanism.bodies[0].name
        self.massless = {
            leader for leader, members in self.members.items() if all(map(is_massless, members))
        } - {self.base}
        self.weightless = {
            leader for leader, members in self.members.items() if not any(b.mass for b in members)
        } - self.massless

    def is_still(self, body: str) -> bool:
        """Whether a body is fixed to the base."""
        return self.leader[body] == self.base

    def is_massless(self, body: str) -> bool:
        """Whether a body moves, and none of those that are fixed to it has a mass."""
        return self.leader[body] in self.massless

    def has_moments_alone(self, body: str) -> bool:
        """Whether a body moves on a joint, and it and those that are fixed to it have moments and
        no mass.
        """
        return body in self.inner and body in self.weightless

    def gives_joints_away(self, body: str) -> bool:
        """Whether a body without mass can leave its joints to a single one that hangs on it."""
        leader = self.leader[body]
        if not self.is_massless(body) or len(self.outer[leader]) != 1:
            return False
        return single_freedoms(self.inner[leader]) is not None


def in_axes_of(child: Origin, carried: GivenJoint, axis: Sequence[Number]) -> tuple[Vector, Vector]:
    """Axis and place of a joint in the axes of the body that it now belongs to; both placements are
    in the element around that body, with all joints at 0.
    """
    outer = child.transform(as_float)
    inner = carried.origin.transform(as_float)
    turned = outer.R.to_child(inner.R.to_parent(Vector(map(as_float, axis))))
    return turned, outer.R.to_child(inner.p - outer.p)
