"""Constraints as MuJoCo has them, all of them soft: points that meet, frames that are welded,
joints that follow others.
"""

from __future__ import annotations

from collections.abc import Iterator

from dalembert.constraints.closures import Closure
from dalembert.constraints.couplings import Coupling
from dalembert.model.constraint import (
    Constraint,
    FramePlace,
)
from dalembert.model.joints import (
    Fixed,
    Revolute,
    Spherical,
)
from dalembert.model.numbers import (
    Number,
    as_float,
)
from dalembert.model.origins import Origin
from dalembert.writers.losses import Losses
from dalembert.writers.numerals import (
    decimals,
    direction,
)
from dalembert.writers.xml_elements import (
    XmlElement,
    xml_element,
)

HINGE_LENGTH = 0.1  # m, between the two points that hold a hinge
SOFT = "constraints, which MuJoCo keeps softly"
FOLLOWERS = "followers, which have a coordinate of their own in MuJoCo and follow softly"


class SoftEqualities:
    """Collects <equality>, and the fixed tendons of couplings of several joints."""

    def __init__(self, losses: Losses):
        self.losses = losses
        self.section = xml_element("equality")
        self.tendons = xml_element("tendon")

    def sections(self) -> list[XmlElement]:
        """The sections of the file that have content."""
        return [section for section in (self.tendons, self.section) if section.children]

    def follow(self, joint: str, leader: str, factor: Number, offset: Number) -> None:
        """A joint that follows another: q = offset + factor q(leader)."""
        self.losses.note(FOLLOWERS, joint)
        coefficients = decimals((offset, factor, 0, 0, 0))
        self.section.add("joint", joint1=joint, joint2=leader, polycoef=coefficients)

    def sites_of(self, constraint: Constraint) -> list[tuple[str, FramePlace]]:
        """Sites that a constraint needs, by name."""
        if not isinstance(constraint, Closure):
            return []
        return [
            (f"{constraint.name}.{role}{k}", FramePlace(place.body, place.origin * Origin(point)))
            for k, point in enumerate(_points(constraint), 1)
            for role, place in (("first", constraint.first), ("second", constraint.second))
        ]

    def put(self, constraint: Constraint) -> None:
        """The constraint, if MuJoCo has its kind."""
        made = list(self._made(constraint))
        self.losses.note(SOFT if made else "constraints", constraint.name)
        self.section.extend(made)

    def _made(self, constraint: Constraint) -> Iterator[XmlElement]:
        name = constraint.name
        if isinstance(constraint, Closure):
            kind = "weld" if isinstance(constraint.type, Fixed) else "connect"
            for k, _ in enumerate(_points(constraint), 1):
                ends = {"site1": f"{name}.first{k}", "site2": f"{name}.second{k}"}
                yield xml_element(kind, name=name if k == 1 else f"{name}.{k}", **ends)
        elif isinstance(constraint, Coupling):
            yield from self._coupling(constraint)

    def _coupling(self, coupling: Coupling) -> Iterator[XmlElement]:
        """sum factor q = offset, for a joint alone, for two, or by the length of a fixed tendon."""
        (first, factor), *others = coupling.factors
        if len(others) < 2:
            ratio = -others[0][1] / factor if others else 0
            coefficients = decimals((coupling.offset / factor, ratio, 0, 0, 0))
            leader = others[0][0] if others else None
            yield xml_element(
                "joint", name=coupling.name, joint1=first, joint2=leader, polycoef=coefficients
            )
            return
        tendon = self.tendons.add("fixed", name=coupling.name)
        for joint, factor in coupling.factors:
            tendon.add("joint", joint=joint, coef=decimals([factor]))
        coefficients = decimals((coupling.offset, 0, 0, 0, 0))
        yield xml_element(
            "tendon", name=coupling.name, tendon1=coupling.name, polycoef=coefficients
        )


def _points(closure: Closure) -> list[tuple[Number, ...]]:
    """Points of both frames that meet: a single point of a ball or a weld, two on the axis of a
    hinge.
    """
    if isinstance(closure.type, (Fixed, Spherical)):
        return [(0, 0, 0)]
    if isinstance(closure.type, Revolute):
        axis = direction(closure.type.axis)
        return [(0, 0, 0), tuple(HINGE_LENGTH * as_float(x) for x in axis)]
    return []
