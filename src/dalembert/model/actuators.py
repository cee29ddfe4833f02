"""Actuators: motors that drive joints through gears, with their limits and their rotors."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import (
    dataclass,
    field,
    replace,
)
from typing import Any

from dalembert.arguments import check_text
from dalembert.displays import brief_repr
from dalembert.expr import known_zero
from dalembert.model.numbered import (
    Part,
    entries,
    named,
    numbers_as_text,
)
from dalembert.model.numbers import (
    Number,
    checked,
    checked_vector,
)
from dalembert.model.origins import (
    NOWHERE,
    Source,
)

BOUNDS_OF_SHAFT = ("effort", "velocity")


@dataclass(frozen=True)
class Actuator(Part):
    """A motor that drives a joint through a gear.

        force on the joint = gear_ratio torque,    speed of the shaft = gear_ratio qd

    A rotor that rides on a body turns with it, and relative to it at the speed of its shaft. The inertia of that
    body holds the rotor as if it were locked, so that the kinetic energy beyond it is

        T = rotor_inertia (1/2 (gear_ratio qd)^2 + gear_ratio qd axis . omega_body)

    whose second term couples the joint to the turning of the body. Without a body the first term
    alone remains, the inertia that the joint's own rotor_inertia means too.

    Parameters
    ----------
    name : str
    joint : str
        Name of the joint, which has one coordinate.
    gear_ratio : number, optional
        Turns of the motor per turn of the joint [1], for a slide [1/m]; below 0 where they turn in
        opposite senses.
    rotor_inertia : number, optional
        Moment of inertia of the rotor about its axis [kg m^2].
    body : str, optional
        Name of the body that carries the rotor; of an elastic link, the section that carries the
        joint, or its root if the joint is on another body.
    axis : (3,) numbers, optional
        Axis of the rotor in that body's axes; by default that of the joint, which stands still in
        its parent and in its child.
    effort, velocity : number, optional
        Largest torque [N m] and speed [rad/s] of the shaft; none if left out.

    Raises
    ------
    TypeError, ValueError
        A name is no text, or a number is none.

    Examples
    --------
    >>> import dalembert as da
    >>> motor = da.Actuator("motor2", "q2", gear_ratio=100, rotor_inertia=2e-5, body="link1", effort=0.5)
    >>> arm = da.planar_chain(2).with_actuators(motor)
    >>> da.mass_matrix(arm, [0.0, 0.0]) - da.mass_matrix(da.planar_chain(2), [0.0, 0.0])
    array([[0.   , 0.002],
           [0.002, 0.2  ]])
    """

    __repr__ = brief_repr

    name: str
    joint: str
    gear_ratio: Number = 1
    rotor_inertia: Number = 0
    body: str | None = None
    axis: Any = None
    effort: Any = None
    velocity: Any = None
    source: Source = field(default=NOWHERE, compare=False)

    def __post_init__(self) -> None:
        check_text("the name of an actuator", self.name)
        check_text(f"the joint of actuator {self.name!r}", self.joint)
        if self.body is not None:
            check_text(f"the body of actuator {self.name!r}", self.body)
        if self.axis is not None:
            axis = checked_vector(self.axis, 3, f"axis of actuator {self.name!r}")
            object.__setattr__(self, "axis", axis)
        for name in ("gear_ratio", "rotor_inertia"):
            self._put_checked(name)
        for name in BOUNDS_OF_SHAFT:
            if getattr(self, name) is not None:
                self._put_checked(name)

    def _put_checked(self, name: str) -> None:
        value = checked(getattr(self, name), f"{name} of actuator {self.name!r}")
        object.__setattr__(self, name, value)

    def numbers(self) -> dict[str, Number]:
        """gear_ratio, rotor_inertia, axis[k]."""
        axis = named("axis", self.axis) if self.axis is not None else {}
        return {"gear_ratio": self.gear_ratio, "rotor_inertia": self.rotor_inertia, **axis}

    def with_numbers(self, numbers: Mapping[str, Number]) -> Actuator:
        """The actuator with other numbers, by the names of `numbers()`."""
        numbers = self.numbers() | dict(numbers)
        return replace(
            self,
            gear_ratio=numbers["gear_ratio"],
            rotor_inertia=numbers["rotor_inertia"],
            axis=entries(numbers, "axis", 3) if self.axis is not None else None,
        )

    def identity(self) -> str | None:
        """Names and numbers as text, without limits; empty without a rotor, as no equation knows of
        it then; None for a class derived from it.
        """
        if type(self) is not Actuator:
            return None
        if known_zero(self.rotor_inertia):
            return ""
        return repr((self.name, self.joint, self.body)) + numbers_as_text(self)
