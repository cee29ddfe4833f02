"""Loops: two frames of a mechanism that a joint holds together."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from dalembert.arguments import check_instance
from dalembert.constraints.places import FramePair
from dalembert.model.constraint import (
    Constraint,
    ConstraintRates,
    FramePlace,
    Moving,
    in_role,
    of_role,
)
from dalembert.model.joints import JointType, Spherical
from dalembert.model.numbers import Number
from dalembert.model.parts import NOWHERE, Source

ROLES = ("first", "second")


@dataclass(frozen=True)
class Closure(Constraint):
    """Two frames of a mechanism joined by a joint, which closes a loop.

    first, second : frames, each a name, (body, point) or (body, point, (roll, pitch, yaw)) [m, rad]

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
    unit = "m"
    has_functions = False

    def __post_init__(self) -> None:
        check_instance(f"type of closure {self.name!r}", self.type, JointType, "a joint type")
        for role in ROLES:
            place = FramePlace.of(getattr(self, role), f"the {role} frame of closure {self.name!r}")
            object.__setattr__(self, role, place)
        if not isinstance(self.type, Spherical):
            raise NotImplementedError(f"closure {self.name!r}: type {self.type.name!r}")

    @property
    def frames(self) -> tuple[str, ...]:
        """Names of the two frames."""
        return self.first.body, self.second.body

    def renamed(self, new: Callable[[str], str]) -> Closure:
        """The closure in a mechanism whose parts have other names."""
        return replace(
            self,
            name=new(self.name),
            first=self.first.renamed(new),
            second=self.second.renamed(new),
        )

    def numbers(self) -> dict[str, Number]:
        """Placements of the two frames: 'first_origin[0]', ..."""
        return of_role("first", self.first) | of_role("second", self.second)

    def with_numbers(self, numbers: Mapping[str, Number]) -> Closure:
        """The closure with other numbers."""
        changes = {role: getattr(self, role).with_numbers(in_role(role, numbers)) for role in ROLES}
        return replace(self, **changes)

    def identity(self) -> str | None:
        """Name, type and places as text."""
        parts = [self.type.identity(), self.first.identity(), self.second.identity()]
        return None if None in parts else repr((self.name, *parts))

    def position(self, system: Moving, q: Any, t: Any = 0.0) -> Any:
        """Distance of the second origin from the first, in axes of the body that carries both."""
        pair = FramePair.at(system, self, q)
        return np.array(list(pair.distance))

    def rates(self, system: Moving, q: Any, qd: Any, t: Any = 0.0) -> ConstraintRates:
        """Rates of the distance."""
        pair = FramePair.at(system, self, q, qd)
        J = pair.rows(lambda motion: motion.linear, system.nv)
        bias = pair.first.bias.linear - pair.second.bias.linear
        velocity = pair.second.velocity.linear - pair.first.velocity.linear
        rows = np.array(list(velocity))
        return ConstraintRates(rows, J, np.array(list(bias)), np.zeros(3))
