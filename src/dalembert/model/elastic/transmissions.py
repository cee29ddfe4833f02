"""Elastic transmissions: springs and dampers between the coordinates of joints and their motors."""

from __future__ import annotations

from collections.abc import (
    Iterator,
    Mapping,
    Sequence,
)
from dataclasses import dataclass

from dalembert.arguments import check_text
from dalembert.displays import brief_repr
from dalembert.model.numbered import (
    Numbered,
    numbers_as_text,
)
from dalembert.model.numbers import (
    Number,
    checked,
)
from dalembert.spatial.vectors import Scalar

STIFFNESS, DAMPING = "transmission_stiffness", "transmission_damping"


@dataclass(frozen=True)
class Transmission(Numbered):
    """Spring and damper through which a motor drives a joint.

        force on the joint = stiffness (q_motor - q) + damping (qd_motor - qd),  minus it on the motor

    motor: name of the joint that is the motor; its coordinate is the motor's turn divided by its
    gear ratio. stiffness [N m/rad, N/m] and damping [N m s/rad, N s/m] are seen at the joint.
    `mechanism.with_flexible_joints` makes the motors.

    Examples
    --------
    >>> import dalembert as da
    >>> da.Transmission("elbow.motor", 500.0).damping
    0
    """

    __repr__ = brief_repr

    motor: str
    stiffness: Number
    damping: Number = 0

    def __post_init__(self) -> None:
        check_text("the motor of a transmission", self.motor)
        for name in ("stiffness", "damping"):
            what = f"{name} of the transmission from {self.motor!r}"
            object.__setattr__(self, name, checked(getattr(self, name), what))

    def numbers(self) -> dict[str, Number]:
        """transmission_stiffness, transmission_damping."""
        return {STIFFNESS: self.stiffness, DAMPING: self.damping}

    def with_numbers(self, numbers: Mapping[str, Number]) -> Transmission:
        """The transmission with other numbers."""
        numbers = self.numbers() | dict(numbers)
        return Transmission(self.motor, numbers[STIFFNESS], numbers[DAMPING])

    def identity(self) -> str | None:
        """Motor and numbers as text; None for a class derived from it."""
        text = f"transmission {self.motor!r} {numbers_as_text(self)}"
        return text if type(self) is Transmission else None


@dataclass(frozen=True)
class TransmissionSpring:
    """The forces of a transmission in the tree, with converted numbers.

    at_q, at_v : entries of the joint and of the motor
    """

    at_q: tuple[int, int]
    at_v: tuple[int, int]
    stiffness: Scalar
    damping: Scalar

    def energy(self, q: Sequence[Scalar]) -> Scalar:
        """1/2 stiffness (q_motor - q)^2 [J]."""
        wound = self._wound(q)
        return wound * wound * (self.stiffness * 0.5)

    def forces(
        self, q: Sequence[Scalar], qd: Sequence[Scalar], elastic: bool = True
    ) -> list[Scalar]:
        """Forces on the joint and on the motor; of damping alone if not elastic."""
        joint, motor = self.at_v
        force = (qd[motor] - qd[joint]) * self.damping
        if elastic:
            force = force + self._wound(q) * self.stiffness
        return [force, -force]

    def derivatives(
        self, q: Sequence[Scalar], qd: Sequence[Scalar]
    ) -> Iterator[tuple[int, int, Scalar, Scalar]]:
        """Stiffness and damping by rows and columns of the mechanism: (row, column, K, D)."""
        for row in self.at_v:
            for column in self.at_v:
                sign = 1 if row == column else -1
                yield row, column, self.stiffness * sign, self.damping * sign

    def _wound(self, q: Sequence[Scalar]) -> Scalar:
        joint, motor = self.at_q
        return q[motor] - q[joint]
