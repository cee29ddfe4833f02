"""Rows and residuals of a frame against another that a joint of some type joins it to.

Rows are unit moments and forces on the second frame, so that multipliers are moments and forces.
Directions are those of the joint's axes in the first frame; where all three are held they are those
of the body that carries both.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from dalembert.constraints.places import FramePair
from dalembert.constraints.wrench_rows import WrenchRow
from dalembert.expr import Expr, atan2, cos, known_zero, sin, sqrt, where
from dalembert.model.joints import JointType, Planar
from dalembert.spatial.motion_force import Force
from dalembert.spatial.vectors import AXES, IDENTITY, ZERO, Vector, axial

SMALL = 1e-4  # rad; below it the series of angle / sine to its fourth power is exact to rounding
OPPOSITE = 1e-12  # sine of a half turn, whose axis rounding hides
SKEW = Vector((0.9, 0.37, 0.21))  # at right angles to no axis that a person chooses

Rows = list[WrenchRow]
Residuals = Sequence[Any]


class JointRows(NamedTuple):
    """Rows and residuals of a joint type.

    units : of the rows
    rows : of a pair of frames
    residuals : of a pair of frames
    turns : whether forces act at a point that moves along the first body
    """

    units: str
    rows: Callable[[Any, FramePair], Rows]
    residuals: Callable[[Any, FramePair], Residuals]
    turns: bool = False


def _across(joint_type: Any) -> tuple[Vector, Vector]:
    """Unit vectors across the axis, right-handed with it."""
    if any(isinstance(x, Expr) for x in joint_type.axis):
        raise ValueError(
            f"a closure of type {joint_type.name!r} has an axis with symbols, which determines no "
            "directions across it: give numbers, and turn the frames by symbols instead."
        )
    return Planar(joint_type.axis).converted(float).plane()


def _of_first(joint_type: Any, pair: FramePair) -> tuple[Vector, Vector, Vector]:
    """The axis and two vectors across it, fixed in the first frame."""
    R = pair.first.pose.R
    x, y = _across(joint_type)
    return R.to_parent(Vector(joint_type.axis)), R.to_parent(x), R.to_parent(y)


# --- rows ---


def _moments(pair: FramePair, directions: Sequence[Vector]) -> Rows:
    """Moments about directions that are fixed in the first frame."""
    return [WrenchRow(Force(d, ZERO), Force(pair.turning(d), ZERO)) for d in directions]


def _forces(pair: FramePair, directions: Sequence[Vector]) -> Rows:
    """Forces along directions that are fixed in the first frame."""
    return [WrenchRow(Force(ZERO, d), Force(ZERO, pair.turning(d))) for d in directions]


ALL_MOMENTS = [WrenchRow(Force(axis, ZERO)) for axis in AXES]
ALL_FORCES = [WrenchRow(Force(ZERO, axis)) for axis in AXES]


def _of_point(joint_type: Any, pair: FramePair) -> Rows:
    return ALL_FORCES


def _of_weld(joint_type: Any, pair: FramePair) -> Rows:
    return [*ALL_MOMENTS, *ALL_FORCES]


def _of_hinge(joint_type: Any, pair: FramePair) -> Rows:
    _, x, y = _of_first(joint_type, pair)
    return [*_moments(pair, (x, y)), *ALL_FORCES]


def _of_cross(joint_type: Any, pair: FramePair) -> Rows:
    """The moment about the normal of both axes."""
    a, b = _axes_of_cross(joint_type, pair)
    _, sine = _angle_of_cross(joint_type)
    change = pair.turning(a).cross(b) + a.cross(pair.second.velocity.angular.cross(b))
    row = WrenchRow(Force(a.cross(b) * (1 / sine), ZERO), Force(change * (1 / sine), ZERO))
    return [row, *ALL_FORCES]


def _of_slider(joint_type: Any, pair: FramePair) -> Rows:
    _, x, y = _of_first(joint_type, pair)
    return [*ALL_MOMENTS, *_forces(pair, (x, y))]


def _of_cylinder(joint_type: Any, pair: FramePair) -> Rows:
    _, x, y = _of_first(joint_type, pair)
    return [*_moments(pair, (x, y)), *_forces(pair, (x, y))]


def _of_screw(joint_type: Any, pair: FramePair) -> Rows:
    """Rows of a cylinder, and the force along the axis with the moment that its pitch makes of it."""
    axis, _, _ = _of_first(joint_type, pair)
    change = pair.turning(axis)
    h = joint_type.pitch
    row = WrenchRow(Force(axis * -h, axis), Force(change * -h, change))
    return [*_of_cylinder(joint_type, pair), row]


def _of_plane(joint_type: Any, pair: FramePair) -> Rows:
    normal, x, y = _of_first(joint_type, pair)
    return [*_moments(pair, (x, y)), *_forces(pair, (normal,))]


# --- residuals: 0 where the frames are as the joint places them, and nowhere else ---


def _distances(pair: FramePair, directions: Sequence[Vector]) -> list[Any]:
    return [d.dot(pair.distance) for d in directions]


def _turn(pair: FramePair) -> list[Any]:
    """Rotation vector from the first frame to the second, in the carrier's axes."""
    R = pair.second.pose.R.matrix() @ pair.first.pose.R.matrix().T
    about = (R + IDENTITY) @ SKEW  # along the axis of a half turn
    return list(rotation_vector(axial(R) * 0.5, (R.trace - 1) * 0.5, about))


def _tilt(joint_type: Any, pair: FramePair) -> list[Any]:
    """Components across the axis of the rotation vector that takes it to the second frame's."""
    axis, x, y = _of_first(joint_type, pair)
    moved = pair.second.pose.R.to_parent(Vector(joint_type.axis))
    sine = Vector((-y.dot(moved), x.dot(moved), 0))
    return list(rotation_vector(sine, axis.dot(moved), Vector((1, 0, 0))))[:2]


def _axes_of_cross(joint_type: Any, pair: FramePair) -> tuple[Vector, Vector]:
    first = pair.first.pose.R.to_parent(Vector(joint_type.axis))
    return first, pair.second.pose.R.to_parent(Vector(joint_type.second_axis))


def _angle_of_cross(joint_type: Any) -> tuple[float, float]:
    """Cosine and sine of the angle between the axes."""
    a, b = Vector(joint_type.axis), Vector(joint_type.second_axis)
    normal = a.cross(b)
    return a.dot(b), sqrt(normal.dot(normal))


def _from_point(joint_type: Any, pair: FramePair) -> Residuals:
    return pair.distance


def _from_weld(joint_type: Any, pair: FramePair) -> Residuals:
    return [*_turn(pair), *pair.distance]


def _from_hinge(joint_type: Any, pair: FramePair) -> Residuals:
    return [*_tilt(joint_type, pair), *pair.distance]


def _from_cross(joint_type: Any, pair: FramePair) -> Residuals:
    a, b = _axes_of_cross(joint_type, pair)
    cosine, sine = _angle_of_cross(joint_type)
    return [(cosine - a.dot(b)) / sine, *pair.distance]


def _from_slider(joint_type: Any, pair: FramePair) -> Residuals:
    _, x, y = _of_first(joint_type, pair)
    return [*_turn(pair), *_distances(pair, (x, y))]


def _from_cylinder(joint_type: Any, pair: FramePair) -> Residuals:
    _, x, y = _of_first(joint_type, pair)
    return [*_tilt(joint_type, pair), *_distances(pair, (x, y))]


def _from_screw(joint_type: Any, pair: FramePair) -> Residuals:
    """Residuals of a cylinder, and pitch times the turn that the slide lacks, less whole turns."""
    axis, x, y = _of_first(joint_type, pair)
    moved = pair.second.pose.R.to_parent(_across(joint_type)[0])
    c, s = x.dot(moved), y.dot(moved)
    turn = axis.dot(pair.distance) / joint_type.pitch
    lacking = atan2(sin(turn) * c - cos(turn) * s, cos(turn) * c + sin(turn) * s)
    return [*_from_cylinder(joint_type, pair), joint_type.pitch * lacking]


def _from_plane(joint_type: Any, pair: FramePair) -> Residuals:
    normal, _, _ = _of_first(joint_type, pair)
    return [*_tilt(joint_type, pair), *_distances(pair, (normal,))]


def rotation_vector(sine: Vector, cosine: Any, half_turn: Vector) -> Vector:
    """The vector of length angle along another of length sin(angle); of a half turn, whose sine has
    no direction, along an axis that is given.
    """
    square = sine.dot(sine)
    turned = cosine < 0
    small = square < where(turned, OPPOSITE * OPPOSITE, SMALL * SMALL)
    length = sqrt(where(small, 1.0, square))
    ratio = where(small, 1 + square * (1 / 6 + square * 0.075), atan2(length, cosine) / length)
    opposite = where(turned, where(small, 1.0, 0.0), 0.0)
    scale = math.pi * opposite / sqrt(where(opposite > 0, half_turn.dot(half_turn), 1.0))
    return sine * (ratio * (1 - opposite)) + half_turn * scale


ROWS_OF: dict[str, JointRows] = {
    "fixed": JointRows("rad, rad, rad, m, m, m", _of_weld, _from_weld),
    "revolute": JointRows("rad, rad, m, m, m", _of_hinge, _from_hinge),
    "continuous": JointRows("rad, rad, m, m, m", _of_hinge, _from_hinge),
    "prismatic": JointRows("rad, rad, rad, m, m", _of_slider, _from_slider, True),
    "helical": JointRows("rad, rad, m, m, m", _of_screw, _from_screw, True),
    "cylindrical": JointRows("rad, rad, m, m", _of_cylinder, _from_cylinder, True),
    "universal": JointRows("rad, m, m, m", _of_cross, _from_cross),
    "planar": JointRows("rad, rad, m", _of_plane, _from_plane, True),
    "spherical": JointRows("m, m, m", _of_point, _from_point),
}


def held_by(joint_type: JointType, name: str) -> JointRows:
    """Rows and residuals of the joint type of a closure.

    Raises
    ------
    ValueError
        The type holds nothing, its axes determine no rows, or its rows are not known.
    """
    what = f"closure {name!r}: type {joint_type.name!r}"
    if joint_type.name == "free":
        raise ValueError(f"{what} holds nothing, so that it closes no loop: leave it out.")
    if joint_type.name not in ROWS_OF or type(joint_type).__module__.split(".")[0] != "dalembert":
        raise ValueError(
            f"{what} is a function of a user's own, whose rows are not known. Make it a joint of the "
            "tree and cut the loop at another joint, or write the rows by da.constraints.Holonomic."
        )
    if joint_type.name == "helical" and known_zero(joint_type.numbers()["pitch"]):
        raise ValueError(f"{what} has pitch 0 and turns only: take da.Revolute.")
    return ROWS_OF[joint_type.name]
