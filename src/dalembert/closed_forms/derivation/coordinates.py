"""Printed names of a mechanism's coordinates, velocities and accelerations."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from itertools import count
from typing import NamedTuple

from dalembert.beams.shape_functions import BEND_Y, BEND_Z, STRETCH, TWIST
from dalembert.closed_forms.printing.naming import Symbol, look, taken_apart
from dalembert.model.joints import JointType
from dalembert.model.linkage import CoordinateHolder
from dalembert.model.mechanism import Mechanism

AXES = ("wx", "wy", "wz", "vx", "vy", "vz")  # of the velocities of spherical and free joints
LETTER = {"w": "omega", "v": "v", "u": "u"}
# of the coordinates of beams, by direction
OF_BEAMS = {BEND_Y: "delta", BEND_Z: "eta", TWIST: "gamma", STRETCH: "sigma"}


class MotionNames(NamedTuple):
    """Names of the entries of q, qd and qdd.

    rates: name of a velocity or acceleration -> (the name that it is the rate of, dots); symbols:
    how quasi-velocities are set. units: of all of these.
    """

    q: tuple[str, ...]
    qd: tuple[str, ...]
    qdd: tuple[str, ...]
    rates: Mapping[str, tuple[str, int]]
    symbols: Mapping[str, Symbol]
    units: Mapping[str, str]

    def with_rates(self, rates: Mapping[str, str]) -> MotionNames:
        """With names of other states: name of a rate -> the name that it is the rate of."""
        states = {name: taken_apart(name) for name in rates.values()}
        dotted = {rate: (name, 1) for rate, name in rates.items()}
        return self._replace(rates={**self.rates, **dotted}, symbols={**self.symbols, **states})


def motion_names(
    mechanism: Mechanism, numbers: Mapping[str, str], taken: Iterable[str]
) -> MotionNames:
    """Names none of which looks like one that is taken: q1, qd1 and qdd1 of a coordinate, wx1, ...,
    vz1 of the velocities along the axes of body 1, delta1_2 of the second function of beam 1.

    numbers: number of each joint.
    """
    looks = {seen for name in taken for seen in (taken_apart(name).look, look(name), name)}
    for n in count(1):
        for case in (str.lower, str.upper):
            found = _motion_names(mechanism, numbers, lambda letter: case(letter) * n)  # noqa: B023
            names = [*found.q, *found.qd, *found.qdd]
            if not looks & {
                seen
                for name in names
                for seen in (found.symbols.get(name, taken_apart(name)).look, name)
            }:
                return found
    raise AssertionError


def _motion_names(
    mechanism: Mechanism, numbers: Mapping[str, str], written: Callable[[str], str]
) -> MotionNames:
    """Names with letters written in this way."""
    letter = written("q")
    modes = {h.name: _of_beam(h, numbers[h.name], written) for h in mechanism.holders if h.is_body}
    turning = mechanism.nq - sum(map(len, modes.values()))
    q = tuple(f"{letter}{k + 1}" for k in range(turning))
    q += tuple(name for of_beam in modes.values() for name in of_beam)
    pairs: list[tuple[str, str]] = []
    rates: dict[str, tuple[str, int]] = {}
    symbols: dict[str, Symbol] = {}
    units: dict[str, str] = {}
    for joint in mechanism.independent_joints:
        first = mechanism.entries[joint.name].at_q.start
        for k, name in enumerate(joint.type.coordinates, first):
            units[q[k]] = _unit(joint.type, name)
        for k, name in enumerate(joint.type.velocities):
            if type(joint.type).rate is JointType.rate:
                velocity, acceleration = (f"{letter}{dots}{first + k + 1}" for dots in ("d", "dd"))
                rates |= {velocity: (q[first + k], 1), acceleration: (q[first + k], 2)}
            else:
                axis, at = (
                    (AXES[k], numbers[joint.name])
                    if joint.type.quaternion_freedoms
                    else ("u", f"{len(pairs) + 1}")
                )
                velocity, acceleration = (
                    f"{written(axis[0])}{dot}{axis[1:]}{at}" for dot in ("", "d")
                )
                if written("w") == "w":
                    symbols[velocity] = Symbol(LETTER[axis[0]], axis[1:] + at)
                else:
                    symbols[velocity] = taken_apart(velocity)
                rates[acceleration] = velocity, 1
            units[velocity] = "rad/s" if name.startswith("angular") else "m/s"
            units[acceleration] = units[velocity] + "²"
            pairs.append((velocity, acceleration))
    for name, mode in ((x, y) for of_beam in modes.values() for x, y in of_beam.items()):
        symbols[name], unit = mode
        letter = name.rstrip("0123456789_F")
        velocity, acceleration = (name.replace(letter, letter + dots) for dots in ("d", "dd"))
        rates |= {velocity: (name, 1), acceleration: (name, 2)}
        units |= {name: unit, velocity: f"{unit}/s", acceleration: f"{unit}/s²"}
        pairs.append((velocity, acceleration))
    qd = tuple(v for v, _ in pairs)
    qdd = tuple(a for _, a in pairs)
    return MotionNames(q, qd, qdd, rates, symbols, units)


def _of_beam(
    holder: CoordinateHolder, number: str, written: Callable[[str], str]
) -> dict[str, tuple[Symbol, str]]:
    """Names of the coordinates of a beam: how they are set, and their units."""
    found = {}
    for coordinate in holder.type.coordinates:
        direction = coordinate.rstrip("0123456789")
        k = coordinate.removeprefix(direction)
        letter = written(OF_BEAMS[direction])
        unit = "rad" if direction == TWIST else "m"
        found[f"{letter}{number}_{k}"] = Symbol(letter, f"{number},{k}"), unit
    return found


def _unit(kind: JointType, coordinate: str) -> str:
    if kind.quaternion_at is not None and coordinate in ("w", "x", "y", "z"):
        return ""
    return "rad" if "angle" in coordinate else "m"
