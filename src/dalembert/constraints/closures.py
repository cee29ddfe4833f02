"""Loops: two frames of a mechanism that a joint or a rod holds together."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

from dalembert.arguments import check_instance
from dalembert.constraints.joint_rows import JointRows, held_by
from dalembert.constraints.places import Setting
from dalembert.constraints.wrench_rows import FrameConstraint, WrenchRow, WrenchRows
from dalembert.expr import Expr
from dalembert.model.constraint import Constraint, FramePlace, in_role, of_role
from dalembert.model.joints import JointType
from dalembert.model.numbers import Number, checked, exact_text
from dalembert.model.origins import NOWHERE, Source
from dalembert.spatial.motion_force import Force
from dalembert.spatial.vectors import ZERO

ROLES = ("first", "second")


class TwoFrames(FrameConstraint):
    """A constraint between two frames; its reaction acts on the second."""

    first: Any
    second: Any

    @property
    def acts_on(self) -> FramePlace:
        """The second frame."""
        return self.second  # type: ignore[no-any-return]

    @property
    def frames(self) -> tuple[str, ...]:
        """Names of the two frames."""
        return self.first.body, self.second.body

    def renamed(self, new: Callable[[str], str]) -> TwoFrames:
        """The constraint in a mechanism whose parts have other names."""
        places = {role: getattr(self, role).renamed(new) for role in ROLES}
        return replace(self, name=new(self.name), **places)  # type: ignore[type-var]

    def _place(self) -> None:
        """Set both frames from the forms in which they may be given."""
        kind = type(self).__name__.lower()
        for role in ROLES:
            place = FramePlace.of(getattr(self, role), f"the {role} frame of {kind} {self.name!r}")
            object.__setattr__(self, role, place)

    def _numbers_of_places(self) -> dict[str, Number]:
        return of_role("first", self.first) | of_role("second", self.second)

    def _places(self, numbers: Mapping[str, Number]) -> dict[str, Any]:
        """Both frames with other numbers."""
        return {role: getattr(self, role).with_numbers(in_role(role, numbers)) for role in ROLES}


@dataclass(frozen=True)
class Closure(TwoFrames):
    """Two frames of a mechanism joined by a joint, which closes a loop.

    The second frame is the joint's child: free directions are those of the joint type, its axes are
    fixed in the first frame (the second axis of a universal joint in the second frame). Multipliers
    are moments [N m], then forces [N], on the second body.

    type : joint type but da.Free and da.Custom
    first, second : frames, each a name, (body, point) or (body, point, (roll, pitch, yaw)) [m, rad]

    Raises
    ------
    ValueError
        The type holds nothing, or its rows are not known.

    Examples
    --------
    >>> import dalembert as da
    >>> pin = da.constraints.Closure("pin", da.Spherical(), ("coupler", (1, 0, 0)), ("rocker", (0.8, 0, 0)))
    >>> pin.frames
    ('coupler', 'rocker')
    """

    name: str
    type: JointType
    first: Any
    second: Any
    source: Source = field(default=NOWHERE, compare=False)

    def __post_init__(self) -> None:
        check_instance(f"type of closure {self.name!r}", self.type, JointType, "a joint type")
        held_by(self.type, self.name)
        self._place()

    @property
    def _joint(self) -> JointRows:
        return held_by(self.type, self.name)

    @property
    def unit(self) -> str:  # type: ignore[override]
        """rad of rows that hold turns, m of others."""
        return self._joint.units

    def numbers(self) -> dict[str, Number]:
        """Placements of the two frames, 'first_origin[0]', ...; numbers of the type, 'axis[0]', ..."""
        return self._numbers_of_places() | self.type.numbers()

    def with_numbers(self, numbers: Mapping[str, Number]) -> Closure:
        """The closure with other numbers."""
        return replace(self, type=self.type.with_numbers(numbers), **self._places(numbers))

    def identity(self) -> str | None:
        """Name, type and places as text."""
        parts = [self.type.identity(), self.first.identity(), self.second.identity()]
        return None if None in parts else repr((type(self).__name__, self.name, *parts))

    def wrench_rows(self, setting: Setting) -> WrenchRows:
        """Moments and forces that the joint holds, on the second frame."""
        pair = setting.pair(self.first, self.second)
        joint = self._joint
        motion = pair.against_body() if joint.turns else pair.between_origins()
        return WrenchRows(motion, joint.rows(self.type.converted(setting.number), pair), pair.root)

    def residuals(self, setting: Setting) -> Sequence[Any]:
        """Angles and distances that the joint does not allow."""
        pair = setting.pair(self.first, self.second)
        return self._joint.residuals(self.type.converted(setting.number), pair)


@dataclass(frozen=True)
class Distance(TwoFrames):
    """Origins of two frames at a constant distance, as ends of a massless rod.

        phi = (|r|^2 - length^2) / (2 length)

    The multiplier is the force of the rod [N], positive where it pushes.

    first, second : frames, each a name, (body, point) or (body, point, (roll, pitch, yaw)) [m, rad]
    length : not 0 [m]

    Raises
    ------
    ValueError
        The length is not positive.

    Examples
    --------
    >>> import dalembert as da
    >>> da.constraints.Distance("rod", ("crank", (0.4, 0, 0)), "slider", 1.0).length
    1.0
    """

    name: str
    first: Any
    second: Any
    length: Number
    source: Source = field(default=NOWHERE, compare=False)
    unit = "m"

    def __post_init__(self) -> None:
        self._place()
        object.__setattr__(
            self, "length", positive(self.length, f"length of distance {self.name!r}")
        )

    def numbers(self) -> dict[str, Number]:
        """Placements of the two frames, 'first_origin[0]', ...; length."""
        return self._numbers_of_places() | {"length": self.length}

    def with_numbers(self, numbers: Mapping[str, Number]) -> Distance:
        """The constraint with other numbers."""
        length = numbers.get("length", self.length)
        return replace(self, length=length, **self._places(numbers))

    def identity(self) -> str | None:
        """Name, places and length as text."""
        parts = [self.first.identity(), self.second.identity()]
        text = (type(self).__name__, self.name, *parts, exact_text([self.length]))
        return None if None in parts else repr(text)

    def wrench_rows(self, setting: Setting) -> WrenchRows:
        """The force along the rod."""
        pair = setting.pair(self.first, self.second)
        motion = pair.between_origins()
        scale = 1 / setting.number(self.length)
        along = partial(Force, ZERO)
        row = WrenchRow(along(pair.distance * scale), along(motion.velocity.linear * scale))
        return WrenchRows(motion, [row], pair.root)

    def residuals(self, setting: Setting) -> Sequence[Any]:
        """How much the rod is too long, to first order."""
        r = setting.pair(self.first, self.second).distance
        length = setting.number(self.length)
        return [(r.dot(r) - length * length) * (0.5 / length)]


def positive(value: Any, name: str) -> Number:
    """A number that is positive, or has symbols.

    Raises
    ------
    ValueError
    """
    number = checked(value, name)
    if not (isinstance(number, Expr) or number > 0):
        raise ValueError(f"{name} is {number}, expected a positive number.")
    return number


def kind_text(constraint: Constraint) -> str:
    """Class of a constraint, and the joint type that closes a loop."""
    kind = type(constraint).__name__
    return f"{kind}, {constraint.type.name}" if isinstance(constraint, Closure) else kind
