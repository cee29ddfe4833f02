"""Sizes that follow from a mechanism: places at which each body is attached, its reach, thickness of
links and of joints.
"""

from __future__ import annotations

from dataclasses import (
    dataclass,
    field,
)

import numpy as np

from dalembert.model.constraint import FramePlace
from dalembert.model.mechanism import Mechanism
from dalembert.model.numbers import as_float
from dalembert.model.parts import (
    Body,
    Joint,
)
from dalembert.views.figures.constraint_marks import ConstraintMarks
from dalembert.views.figures.plain_numbers import pose_of

DENSITY = 1800.0  # kg/m^3 of links, from their masses: tubes with motors
NEAR = 1e-3  # of the reach: places that are one in a picture
THINNEST, THICKEST = 0.035, 0.15  # radius of a link, of the mean length of links
LIGHTEST = 0.5  # mass that a link looks like at least, of the mean
SPREAD = 1 / 3  # exponent of masses in the mean: links of one arm look alike
SLIMMEST = 0.003  # radius of a link at least, of the reach: a line in a picture
OF_REACH = 0.035  # radius of a link at most, of the reach
LARGEST = 3.0  # extent of a body by its inertia, of the mechanism without its inertias
EMPTIEST = 20.0  # kg/m^3 of a body by its inertia
EMPTY = 0.3  # [m] reach of a mechanism without any length


@dataclass(frozen=True)
class Proportions:
    """Sizes of a mechanism with numbers.

    reach : way from the base to the farthest place along the tree [m]
    length : mean length of the links, weighted by their lengths [m]
    mass : mean mass of the bodies [kg]
    places : where bodies, frames and constraints are attached to each body, (3,) each [m]
    inner : names of the bodies that carry others
    marks : of constraints
    skeleton : the reach by joints, frames and centres of mass alone, without inertias [m]
    """

    reach: float
    length: float
    mass: float
    places: dict[str, list[np.ndarray]]
    inner: frozenset[str]
    marks: ConstraintMarks = field(repr=False)
    skeleton: float = 0.0

    @classmethod
    def of(cls, mechanism: Mechanism) -> Proportions:
        """Sizes of a mechanism without symbols."""
        marks = ConstraintMarks.of(mechanism)
        origins = {joint.name: pose_of(joint.origin)[:3, 3] for joint in mechanism.joints}
        places: dict[str, list[np.ndarray]] = {body.name: [] for body in mechanism.bodies}
        inner = {joint.parent for joint in mechanism.joints}
        ends = {joint.name for joint in mechanism.joints if _is_frame(mechanism, joint, inner)}
        carrying = frozenset(j.parent for j in mechanism.joints if j.name not in ends)
        for joint in mechanism.joints:
            if joint.name not in ends:
                places[joint.parent].append(origins[joint.name])
        for owner, place in _further(mechanism, marks, carrying):
            places[owner].append(place)
        lengths = [
            float(np.linalg.norm(place))
            for body in mechanism.bodies[1:]
            for place in places[body.name] or _ends(body)
        ]
        skeleton = max([_reach(mechanism, origins, places), *lengths], default=0.0)
        extents = _extents(mechanism, skeleton)
        reach = max([skeleton, *extents], default=0.0) or EMPTY
        long = [length for length in lengths if length > 0.02 * reach]
        length = float(np.dot(long, long) / np.sum(long)) if long else reach
        masses = [as_float(body.mass) for body in mechanism.bodies[1:]]
        mass = max(float(np.mean(masses or [0.0])), 0.0)
        return cls(reach, length, mass, places, carrying, marks, skeleton)

    @property
    def thin(self) -> float:
        """Radius of a link without mass [m]."""
        return max(THINNEST * self.length, SLIMMEST * self.reach)

    @property
    def near(self) -> float:
        """Distance below which two places are one [m]."""
        return NEAR * self.reach

    def box(self, body: Body) -> tuple[np.ndarray, np.ndarray]:
        """Sides [m] and axes of a body's box, whose sides are 0 where its inertia is that of a body
        far larger than the mechanism, or lighter than any, as files have it that put 1 for a number
        unknown.
        """
        sides, axes = box_of(body)
        is_likely = _is_likely(body, sides, self.skeleton)
        return (sides if is_likely else np.zeros(3)), axes

    def radius(self, body: Body, length: float) -> float:
        """Radius of a link of its mass along a length [m]."""
        thick = max(min(THICKEST * self.length, OF_REACH * self.reach), self.thin)
        mass = max(as_float(body.mass), LIGHTEST * self.mass)
        mass = mass**SPREAD * self.mass ** (1 - SPREAD)
        of_mass = float(np.sqrt(mass / (DENSITY * np.pi * max(length, self.near))))
        return float(np.clip(of_mass, self.thin, thick))

    def radius_of(self, body: Body) -> float:
        """Radius of the link that a body is [m]."""
        lengths = [float(np.linalg.norm(place)) for place in self.places[body.name]]
        return self.radius(body, max([*lengths, 0.5 * self.length]))


def _is_likely(body: Body, sides: np.ndarray, skeleton: float) -> bool:
    """Whether a body with a box can be part of a mechanism, which may be a single body."""
    is_solid = as_float(body.mass) >= EMPTIEST * float(np.prod(sides))
    return is_solid and (skeleton == 0 or float(sides.max()) <= LARGEST * skeleton)


def _is_frame(mechanism: Mechanism, joint: Joint, inner: set[str]) -> bool:
    """Whether the child of a joint is nothing but a frame of its parent."""
    child = mechanism.body(joint.child)
    is_bare = child.beam is None and not child.visuals and as_float(child.mass) <= 0
    return joint.is_fixed and is_bare and joint.child not in inner


def _further(
    mechanism: Mechanism, marks: ConstraintMarks, carrying: frozenset[str]
) -> list[tuple[str, np.ndarray]]:
    """Places of closures, and of the farthest frame of a body that carries nothing else."""
    found = []
    for marked in marks.places:
        body, pose = place_on(mechanism, marked)
        found.append((body, pose[:3, 3]))
    busy = carrying | {body for body, _ in found}
    farthest: dict[str, np.ndarray] = {}
    joints = [(joint.parent, joint.origin) for joint in mechanism.joints if joint.is_fixed]
    for body, origin in [*joints, *((frame.body, frame.origin) for frame in mechanism.frames)]:
        place = pose_of(origin)[:3, 3]
        best = farthest.get(body, np.zeros(3))
        if body not in busy and np.linalg.norm(place) > np.linalg.norm(best):
            farthest[body] = place
    return [*found, *farthest.items()]


def _reach(
    mechanism: Mechanism,
    origins: dict[str, np.ndarray],
    places: dict[str, list[np.ndarray]],
) -> float:
    """The longest way from the base along the tree [m]."""
    way = {mechanism.bodies[0].name: 0.0}
    for joint in mechanism.joints:
        way[joint.child] = way[joint.parent] + float(np.linalg.norm(origins[joint.name]))
    return max(
        way[body.name] + max((float(np.linalg.norm(p)) for p in places[body.name]), default=0.0)
        for body in mechanism.bodies
    )


def _ends(body: Body) -> list[np.ndarray]:
    """The centre of mass of a body that carries nothing; the end of a beam."""
    if body.beam is not None:
        end = pose_of(body.beam.origin) @ [as_float(body.beam.length), 0, 0, 1]
        return [end[:3]]
    return [np.array([as_float(x) for x in body.com])] if as_float(body.mass) > 0 else []


def _extents(mechanism: Mechanism, skeleton: float) -> list[float]:
    """Lengths of the bodies by their inertias, as far as these are likely [m]."""
    boxes = [(body, box_of(body)[0]) for body in mechanism.bodies[1:] if as_float(body.mass) > 0]
    return [float(sides.max()) for body, sides in boxes if _is_likely(body, sides, skeleton)]


def box_of(body: Body) -> tuple[np.ndarray, np.ndarray]:
    """Sides (3,) [m] and axes (3, 3), columns, of the homogeneous box with a body's inertia.

    a^2 = 6 (I2 + I3 - I1) / m
    """
    tensor = np.array([[as_float(x) for x in row] for row in body.tensor()], dtype=float)
    moments, axes = np.linalg.eigh(tensor)
    if np.linalg.norm(tensor - np.diag(np.diag(tensor))) <= 1e-9 * np.abs(tensor).max(initial=0):
        moments, axes = np.diag(tensor), np.eye(3)
    if np.linalg.det(axes) < 0:
        axes = axes * [1, 1, -1]
    squares = 6 * (moments.sum() - 2 * moments) / as_float(body.mass)
    return np.sqrt(np.maximum(squares, 0)), axes


def place_on(mechanism: Mechanism, place: FramePlace) -> tuple[str, np.ndarray]:
    """The body that carries a place of a constraint, and its pose (4, 4) there."""
    for frame in mechanism.frames:
        if frame.name == place.body:
            return frame.body, pose_of(frame.origin) @ pose_of(place.origin)
    return place.body, pose_of(place.origin)
