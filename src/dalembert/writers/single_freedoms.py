"""Joints of several freedoms as rows of hinges and slides, each with its numbers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from dalembert.expr import known_zero
from dalembert.model.joints import Cylindrical
from dalembert.model.numbers import (
    Number,
    as_exact,
)
from dalembert.model.parts import Joint
from dalembert.spatial.screws import Screw
from dalembert.writers.numerals import direction

NUMBERS = ("viscous", "coulomb", "rotor_inertia", "gear_ratio", "stiffness", "rest")
BOUNDS = ("lower", "upper", "velocity", "effort")


class SingleFreedom(NamedTuple):
    """A hinge or a slide.

    name : of its coordinate
    turns : whether it is a hinge
    axis : unit vector
    numbers : of the joint's numbers per velocity and its limits, by name; None: no limit
    pitch : of the slide that goes with a hinge [m/rad]
    """

    name: str
    turns: bool
    axis: tuple[Number, ...]
    numbers: dict[str, Number | None]
    pitch: Number = 0


def numbers_of(joint: Joint, k: int) -> dict[str, Number | None]:
    """Numbers and limits of velocity k of a joint, by name."""
    numbers: dict[str, Number | None] = {name: getattr(joint, name)[k] for name in NUMBERS}
    for name in BOUNDS:
        bounds = getattr(joint.limits, name)
        numbers[name] = None if bounds is None else bounds[k]
    return numbers


def single_freedoms(joint: Joint) -> list[SingleFreedom] | None:
    """The row of hinges and slides that a joint is made of; None where it is made of none.

    Coordinates keep their names and their order, but for those of a planar joint, whose slides come
    before its turn.
    """
    row = joint.type.screws()
    if row is None:
        return None
    if isinstance(joint.type, Cylindrical):  # slide and turn about one axis in either order
        row = row[::-1]
    names = _names(joint)
    return [_single(joint, names[screw.at], screw) for screw in row]


def _names(joint: Joint) -> Sequence[str]:
    """Names of the coordinates, as the mechanism has them."""
    coordinates = joint.type.coordinates
    return [f"{joint.name}.{c}" for c in coordinates] if len(coordinates) > 1 else [joint.name]


def _single(joint: Joint, name: str, screw: Screw) -> SingleFreedom:
    axis = direction(tuple(map(as_exact, screw.axis)))
    pitch = 0 if known_zero(screw.pitch) else screw.pitch
    return SingleFreedom(name, screw.turns, axis, numbers_of(joint, screw.at), pitch)
