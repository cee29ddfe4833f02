"""Couplings of joints: gears, racks, screws and cams."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np

from dalembert.arguments import check_text, refused
from dalembert.constraints.expansions import expanded
from dalembert.constraints.places import Setting, opened
from dalembert.constraints.wrench_rows import filled
from dalembert.errors import DalembertError, UnknownNameError
from dalembert.model.constraint import Constraint, ConstraintRates, Moving
from dalembert.model.content import content
from dalembert.model.numbered import entries, named
from dalembert.model.numbers import Number, checked, exact_text
from dalembert.model.origins import NOWHERE, Source


class JointCoordinate(NamedTuple):
    """A coordinate of a joint: factor * q[at_q] + offset, its rate is factor * qd[at_v]."""

    at_q: int
    at_v: int
    factor: Any
    offset: Any

    @classmethod
    def of(cls, mechanism: Any, name: str, number: Callable[[Any], Any]) -> JointCoordinate:
        """The coordinate of a name: a joint's of one freedom, or 'joint.coordinate'.

        Raises
        ------
        UnknownNameError, DalembertError
            There is none; it is of a quaternion.
        """
        found = _joint_of(mechanism, name)
        if found is None and (coordinate := cls._of_body(mechanism, name)) is not None:
            return coordinate
        if found is None:
            raise UnknownNameError("coordinate", name, mechanism.coordinate_names)
        joint, k = found
        if joint.type.quaternion_at is not None:
            raise DalembertError(
                f"coordinate {name!r} belongs to joint {joint.name!r}, whose turn is a quaternion: "
                "couple frames by da.constraints.Closure, or joints that have an angle."
            )
        entry = mechanism.entries[joint.name]
        factor, offset = number(entry.factor), number(entry.offset)
        if not entry.is_follower:
            factor, offset = 1, 0
        return cls(entry.at_q.start + k, entry.at_v.start + k, factor, offset)

    @classmethod
    def _of_body(cls, mechanism: Any, name: str) -> JointCoordinate | None:
        """The coordinate of an elastic body, 'body.coordinate'."""
        for holder in mechanism.holders:
            names = holder.named(holder.type.coordinates) if holder.is_body else []
            if name in names:
                k, entry = names.index(name), holder.entry
                return cls(entry.at_q.start + k, entry.at_v.start + k, 1, 0)
        return None

    def at(self, q: Any) -> Any:
        """Its value."""
        return q[self.at_q] * self.factor + self.offset

    def rate(self, qd: Any) -> Any:
        """Its rate."""
        return qd[self.at_v] * self.factor


def _joint_of(mechanism: Any, name: str) -> tuple[Any, int] | None:
    """The joint of a coordinate, and the coordinate's place among the joint's."""
    for joint in mechanism.joints:
        if joint.name == name and joint.type.nq == 1:
            return joint, 0
        own = [f"{joint.name}.{c}" for c in joint.type.coordinates]
        if name in own:
            return joint, own.index(name)
    return None


def single_row(terms: Sequence[tuple[Any, JointCoordinate]], nv: int) -> np.ndarray:
    """Row (1, nv) of a sum of factors times rates of coordinates; followers add to their leader."""
    columns: dict[int, list[Any]] = {}
    for factor, coordinate in terms:
        before = columns.get(coordinate.at_v, [0.0])[0]
        columns[coordinate.at_v] = [before + factor * coordinate.factor]
    return filled(columns, nv, 1)


def _known_joints(names: Any) -> tuple[str, ...]:
    """Names that are those of joints; 'joint.coordinate' is looked up where the rows are made."""
    return tuple(name for name in names if "." not in name)


@dataclass(frozen=True)
class Coupling(Constraint):
    """A linear relation between coordinates of joints.

        sum of factor * q = offset

    `gear`, `rack` and `screw` make the usual ones.

    factors : {joint: factor}, or pairs; a coordinate of a joint of several by 'joint.coordinate'
    offset : [rad or m, as the sum]
    unit : of the sum, 'rad' or 'm'

    Raises
    ------
    TypeError, ValueError
        Factors are no numbers by name.

    Examples
    --------
    >>> import dalembert as da
    >>> da.constraints.Coupling("belt", {"motor": 1, "drum": -3}).joints
    ('motor', 'drum')
    """

    name: str
    factors: Any
    offset: Number = 0
    unit: str = ""
    source: Source = field(default=NOWHERE, compare=False)
    count = 1
    has_functions = False

    def __post_init__(self) -> None:
        what = f"factors of coupling {self.name!r}"
        pairs = self.factors.items() if isinstance(self.factors, Mapping) else self.factors
        try:
            factors = tuple((joint, factor) for joint, factor in pairs)
        except (TypeError, ValueError):
            raise refused(
                what, self.factors, "{joint: factor}, as {'motor': 1, 'drum': -3}"
            ) from None
        for joint, factor in factors:
            check_text(f"a joint in the {what}", joint)
            checked(factor, f"factor of {joint!r} in coupling {self.name!r}")
        if not factors:
            raise ValueError(f"{what} name no joint, expected {{joint: factor}}.")
        object.__setattr__(self, "factors", factors)
        object.__setattr__(
            self, "offset", checked(self.offset, f"offset of coupling {self.name!r}")
        )

    @classmethod
    def gear(
        cls, name: str, driver: str, driven: str, ratio: Number, offset: Number = 0
    ) -> Coupling:
        """A pair of gears: driven = ratio * driver + offset [rad]; a pair of outer gears of z1 and z2
        teeth has the ratio -z1/z2.

        Examples
        --------
        >>> import dalembert as da
        >>> da.constraints.Coupling.gear("pair", "motor", "wheel", -0.25).factors
        (('wheel', 1), ('motor', 0.25))
        """
        return cls(name, ((driven, 1), (driver, -ratio)), offset, "rad")

    @classmethod
    def rack(
        cls, name: str, pinion: str, rack: str, radius: Number, offset: Number = 0
    ) -> Coupling:
        """A rack on a pinion: rack = radius * pinion + offset [m]; a negative radius turns the sense.

        Examples
        --------
        >>> import dalembert as da
        >>> da.constraints.Coupling.rack("steering", "column", "bar", 0.008).unit
        'm'
        """
        return cls(name, ((rack, 1), (pinion, -radius)), offset, "m")

    @classmethod
    def screw(cls, name: str, turn: str, slide: str, pitch: Number, offset: Number = 0) -> Coupling:
        """A screw and its nut: slide = pitch * turn + offset [m], pitch in m/rad as of `da.Helical`.

        Examples
        --------
        >>> import dalembert as da
        >>> da.constraints.Coupling.screw("spindle", "motor", "table", 0.005 / 6.2832).joints
        ('table', 'motor')
        """
        return cls(name, ((slide, 1), (turn, -pitch)), offset, "m")

    @property
    def joints(self) -> tuple[str, ...]:
        """Names of the joints."""
        return _known_joints(joint for joint, _ in self.factors)

    def renamed(self, new: Callable[[str], str]) -> Coupling:
        """The coupling in a mechanism whose parts have other names."""
        factors = tuple((new(joint), factor) for joint, factor in self.factors)
        return replace(self, name=new(self.name), factors=factors)

    def numbers(self) -> dict[str, Number]:
        """factor[k] in the order given; offset."""
        return named("factor", [x for _, x in self.factors]) | {"offset": self.offset}

    def with_numbers(self, numbers: Mapping[str, Number]) -> Coupling:
        """The coupling with other numbers."""
        numbers = self.numbers() | dict(numbers)
        values = entries(numbers, "factor", len(self.factors))
        factors = tuple((joint, x) for (joint, _), x in zip(self.factors, values, strict=True))
        return replace(self, factors=factors, offset=numbers["offset"])

    def identity(self) -> str | None:
        """Name, joints and numbers as text."""
        joints = [joint for joint, _ in self.factors]
        return repr((type(self).__name__, self.name, joints)) + exact_text(
            [*self.numbers().values()]
        )

    def _terms(self, system: Moving, setting: Setting) -> list[tuple[Any, JointCoordinate]]:
        return [
            (setting.number(factor), JointCoordinate.of(system.mechanism, joint, setting.number))
            for joint, factor in self.factors
        ]

    def position(self, system: Moving, q: Any, t: Any = 0.0) -> Any:
        """The sum, less the offset."""
        setting = opened(system, self, q)
        terms = self._terms(system, setting)
        return np.array([sum(f * c.at(setting.q) for f, c in terms) - setting.number(self.offset)])

    def rates(self, system: Moving, q: Any, qd: Any, t: Any = 0.0) -> ConstraintRates:
        """The sum of factors times rates."""
        setting = opened(system, self, q, qd)
        terms = self._terms(system, setting)
        velocity = np.array([sum(f * c.rate(setting.qd) for f, c in terms)])
        J = single_row(terms, system.nv)
        return ConstraintRates(velocity, J, np.zeros(1), np.zeros(1))


@dataclass(frozen=True)
class Cam(Constraint):
    """A joint that follows another by a profile, as a follower on a cam.

        follower = profile(driver)

    profile : function of the driver's coordinate, written with da.sin, da.where, ..., or a generator
        of one variable, as a spline, in whose time the driver's coordinate stands
    unit : of the follower's coordinate, 'rad' or 'm'

    Examples
    --------
    >>> import dalembert as da
    >>> lift = da.constraints.Cam("lift", "shaft", "valve", lambda angle: 0.005 * (1 - da.cos(angle)), "m")
    >>> lift.joints
    ('shaft', 'valve')
    """

    name: str
    driver: str
    follower: str
    profile: Any
    unit: str = ""
    source: Source = field(default=NOWHERE, compare=False)
    count = 1

    def __post_init__(self) -> None:
        for role in ("driver", "follower"):
            check_text(f"the {role} of cam {self.name!r}", getattr(self, role))
        is_generator = (
            hasattr(self.profile, "output") and len(getattr(self.profile, "state", ())) == 1
        )
        if not (is_generator or callable(self.profile)):
            raise refused(
                f"profile of cam {self.name!r}",
                self.profile,
                "a function of the driver's coordinate, or a generator with one state",
            )

    @property
    def joints(self) -> tuple[str, ...]:
        """Names of the two joints."""
        return _known_joints((self.driver, self.follower))

    def renamed(self, new: Callable[[str], str]) -> Cam:
        """The cam in a mechanism whose parts have other names."""
        names = {role: new(getattr(self, role)) for role in ("name", "driver", "follower")}
        return replace(self, **names)  # type: ignore[arg-type]

    def identity(self) -> str | None:
        """Names and profile as text; None if that cannot be told."""
        return content((type(self).__name__, self.name, self.driver, self.follower, self.profile))

    def _lift(self, angle: Any) -> Any:
        """The profile at a coordinate of the driver."""
        if hasattr(self.profile, "output"):
            return self.profile.output([angle])[0]
        return self.profile(angle)

    def _coordinates(
        self, system: Moving, number: Callable[[Any], Any]
    ) -> tuple[JointCoordinate, JointCoordinate]:
        """Coordinates of the driver and the follower."""
        mechanism = system.mechanism
        driver, follower = (
            JointCoordinate.of(mechanism, name, number) for name in (self.driver, self.follower)
        )
        return driver, follower

    def position(self, system: Moving, q: Any, t: Any = 0.0) -> Any:
        """The follower's coordinate, less the profile."""
        setting = opened(system, self, q)
        driver, follower = self._coordinates(system, setting.number)
        return np.array([follower.at(setting.q) - self._lift(driver.at(setting.q))])

    def rates(self, system: Moving, q: Any, qd: Any, t: Any = 0.0) -> ConstraintRates:
        """Rates of the profile, by its derivatives."""
        setting = opened(system, self, q, qd)
        driver, follower = self._coordinates(system, setting.number)
        profile = expanded(lambda x: self._lift(x[0]), [driver.at(setting.q)])
        slope, curvature = profile.gradient[0], profile.hessian[0][0]
        speed = driver.rate(setting.qd)
        row = single_row([(1, follower), (-slope, driver)], system.nv)
        return ConstraintRates(
            np.array([follower.rate(setting.qd) - slope * speed]),
            row,
            np.array([curvature * speed * speed]),
            np.zeros(1),
        )
