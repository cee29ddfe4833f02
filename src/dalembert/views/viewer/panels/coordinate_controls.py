"""Coordinates as people move them: degrees and metres within limits, angles in place of quaternions."""

from __future__ import annotations

from collections import Counter
from collections.abc import (
    Iterator,
    Sequence,
)
from dataclasses import (
    dataclass,
    replace,
)
from typing import NamedTuple

import numpy as np

from dalembert.displays import shortened
from dalembert.model.linkage import CoordinateHolder
from dalembert.model.mechanism import Mechanism
from dalembert.model.numbers import as_float
from dalembert.systems.kinds import system_of
from dalembert.views.solids.proportions import Proportions
from dalembert.views.viewer.quaternions import (
    from_rpy,
    to_rpy,
)

DEGREE = np.pi / 180
TURNS = ("roll", "pitch", "yaw")
BENT = 0.15  # of its length, by which a beam is bent at most by hand
TURNED = 0.5  # rad, the same of coordinates that are angles
DIGITS = 3  # of a range that its bounds have
FINEST = 9  # decimals of a value
FOLDERS = {"joints": "Joints", "base": "Base", "deflections": "Deflections"}
FEW, MANY = 3, 12  # sliders of a folder
MOST = 1e4  # of a limit, in degrees or metres: beyond, it is none


class SliderFolder(NamedTuple):
    """Coordinates that are folded together."""

    title: str
    coordinates: Sequence[SliderCoordinate]


@dataclass(frozen=True)
class SliderCoordinate:
    """A number that a slider moves.

    name : of the coordinate
    unit : '°' or 'm'
    low, high : range, in the unit
    at : its entry in q, or the first of its quaternion
    turn : index of roll, pitch or yaw of a quaternion; None of others
    holder : joint or body that is held while others follow
    group : 'joints', 'base' or 'deflections'
    has_limits : whether the range is that of the joint's limits
    is_first : whether a chain of joints begins with it
    """

    name: str
    unit: str
    low: float
    high: float
    at: int
    turn: int | None
    holder: str
    group: str
    has_limits: bool = False
    is_first: bool = False

    @property
    def step(self) -> float:
        """The finest change that a slider makes: a tenth of a degree, a thousandth of a range."""
        return 0.1 if self.unit == "°" else 10.0 ** np.floor(np.log10((self.high - self.low) / 500))

    @property
    def factor(self) -> float:
        """Radians or metres in the unit."""
        return DEGREE if self.unit == "°" else 1.0

    def value(self, q: np.ndarray) -> float:
        """The number at coordinates (nq,) as its slider shows it, within its range."""
        x = self.exact(q)
        if self.unit == "°" and not self.has_limits:
            x = (x + 180.0) % 360.0 - 180.0  # of joints that turn on and on
        rounded = round(x / self.step) * self.step
        return float(np.clip(round(rounded, FINEST), self.low, self.high))

    def exact(self, q: np.ndarray) -> float:
        """The number at coordinates (nq,), in the unit."""
        if self.turn is None:
            return float(q[self.at]) / self.factor
        return float(to_rpy(q[self.at : self.at + 4])[self.turn]) / self.factor

    def put(self, q: np.ndarray, value: float) -> np.ndarray:
        """Coordinates with another number there."""
        q = np.array(q, dtype=float)
        if self.turn is None:
            q[self.at] = value * self.factor
        else:
            angles = to_rpy(q[self.at : self.at + 4])
            angles[self.turn] = value * self.factor
            q[self.at : self.at + 4] = from_rpy(*angles)
        return q


def coordinates_of(mechanism: Mechanism, q: np.ndarray) -> list[SliderCoordinate]:
    """Coordinates of a mechanism in their order; ranges hold the values of a posture."""
    reach = Proportions.of(mechanism).reach
    units = system_of(mechanism).coordinate_units
    found: list[SliderCoordinate] = []
    for holder in mechanism.holders:
        found += _of_holder(mechanism, holder, units, reach)
    firsts = _firsts(mechanism)
    marked = [replace(c, is_first=c.holder in firsts) for c in found]
    return [_around(coordinate, q) for coordinate in marked]


def _firsts(mechanism: Mechanism) -> set[str]:
    """Joints with which chains begin: on the base, or on a body that carries several."""
    tree = mechanism.tree()
    carried = Counter(tree.parent[i] for i in tree.outward())
    return {tree.joint[i].name for i in tree.outward() if carried[tree.parent[i]] > 1}


def folders_of(coordinates: Sequence[SliderCoordinate]) -> list[SliderFolder]:
    """Folders of joints, base and deflections; many joints are folded by chains, as limbs are."""
    folders = []
    for group, title in FOLDERS.items():
        some = [c for c in coordinates if c.group == group]
        if len(some) <= MANY:
            folders += [SliderFolder(title, some)] if some else []
            continue
        for part in _parts(some):
            first, more = shortened(part[0].name), len(part) - 1
            folders.append(SliderFolder(f"{first} and {more} more" if more else first, part))
    return folders


def _parts(coordinates: Sequence[SliderCoordinate]) -> list[list[SliderCoordinate]]:
    """Coordinates of chains together, at least `FEW` and at most `MANY`."""
    parts: list[list[SliderCoordinate]] = [[]]
    for coordinate in coordinates:
        is_begun = coordinate.is_first and len(parts[-1]) >= FEW
        if is_begun or len(parts[-1]) == MANY:
            parts.append([])
        parts[-1].append(coordinate)
    return parts


def _around(coordinate: SliderCoordinate, q: np.ndarray) -> SliderCoordinate:
    """The coordinate with a range about a position that has no limits, as that of a base far away."""
    if coordinate.unit != "m" or coordinate.has_limits or coordinate.turn is not None:
        return coordinate
    middle = round(float(np.asarray(q)[coordinate.at]), 2)
    half = (coordinate.high - coordinate.low) / 2
    return replace(coordinate, low=middle - half, high=middle + half)


def _of_holder(
    mechanism: Mechanism, holder: CoordinateHolder, units: Sequence[str], reach: float
) -> Iterator[SliderCoordinate]:
    group = "deflections" if holder.is_body else "joints"
    if holder.type.name in ("free", "planar"):
        group = "base"
    start = holder.entry.at_q.start
    turning = holder.type.quaternion_at
    names = holder.named(holder.type.coordinates)
    if turning is not None:
        for k, turn in enumerate(TURNS):
            name = f"{holder.name}.{turn}"
            yield SliderCoordinate(name, "°", -180, 180, start + turning, k, holder.name, group)
    for k, name in enumerate(names):
        if turning is not None and turning <= k < turning + 4:
            continue
        unit = "°" if units[start + k] == "rad" else "m"
        low, high, has_limits = _range(mechanism, holder, k, unit, reach)
        yield SliderCoordinate(
            name, unit, low, high, start + k, None, holder.name, group, has_limits
        )


def _range(
    mechanism: Mechanism, holder: CoordinateHolder, k: int, unit: str, reach: float
) -> tuple[float, float, bool]:
    """Least and largest value of a coordinate, and whether these are limits of its joint."""
    if holder.is_body:
        beam = mechanism.body(holder.name).beam
        length = as_float(beam.length) if beam is not None else reach
        most = TURNED / DEGREE if unit == "°" else BENT * length
        return -most, most, False
    limits = mechanism.joint(holder.name).limits
    factor = DEGREE if unit == "°" else 1.0
    if limits.lower is not None and limits.upper is not None and holder.type.nq == holder.type.nv:
        low, high = (as_float(bound[k]) / factor for bound in (limits.lower, limits.upper))
        if -MOST < low < high < MOST:
            return (*_rounded(low, high), True)
    most = 180.0 if unit == "°" else reach
    return (*_rounded(-most, most), False)


def _rounded(low: float, high: float) -> tuple[float, float]:
    """A range with bounds of few digits, within the one that is given."""
    step = 10.0 ** (np.floor(np.log10(high - low)) - DIGITS)
    digits = int(max(0, -np.floor(np.log10(step))))
    slack = 1e-6 * step
    least = round(float(np.ceil((low - slack) / step) * step), digits)
    most = round(float(np.floor((high + slack) / step) * step), digits)
    return least, most
