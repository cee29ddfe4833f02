"""Rows of constraints as wrenches on a frame: their power on its motion is the row."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from dalembert.constraints.places import Setting, opened
from dalembert.kinematics.frame_motion import FrameMotion
from dalembert.model.constraint import Constraint, ConstraintRates, Moving
from dalembert.spatial.motion_force import NO_FORCE, Force


class WrenchRow(NamedTuple):
    """A row wrench . (omega; v) of the motion of a frame.

    wrench : force of a multiplier 1 at the frame's origin
    rate : of the wrench
    """

    wrench: Force
    rate: Force = NO_FORCE


class WrenchRows(NamedTuple):
    """Rows on the motion of a frame.

    motion : of the frame, perhaps against another, in the axes of the body `root`
    rows : in the same axes
    """

    motion: FrameMotion
    rows: list[WrenchRow]
    root: int = 0

    def rates(self, nv: int) -> ConstraintRates:
        """J = wrench . columns, J qdd = - wrench . bias - rate . velocity."""
        motion = self.motion
        columns = {
            entry: [row.wrench.dot(column) for row in self.rows]
            for entry, column in motion.columns.items()
        }
        velocity = [row.wrench.dot(motion.velocity) for row in self.rows]
        bias = [-(row.wrench.dot(motion.bias) + row.rate.dot(motion.velocity)) for row in self.rows]
        k = len(self.rows)
        J = filled(columns, nv, k)
        return ConstraintRates(np.array(velocity), J, np.array(bias), np.zeros(k))


class FrameConstraint(Constraint):
    """A constraint on the motion of frames, whose rows are powers of wrenches.

    A kind gives `wrench_rows`, `acts_on`, and `residuals` if it has positions.
    """

    has_functions = False

    @property
    def count(self) -> int:  # type: ignore[override]
        """Number of rows."""
        return self.unit.count(",") + 1

    @abstractmethod
    def wrench_rows(self, setting: Setting) -> WrenchRows:
        """The rows at a state."""

    @abstractmethod
    def residuals(self, setting: Setting) -> Sequence[Any]:
        """phi of the rows that have a position."""

    def position(self, system: Moving, q: Any, t: Any = 0.0) -> Any:
        """phi of the rows that have a position (k,)."""
        return np.array(list(self.residuals(opened(system, self, q))))

    def rates(self, system: Moving, q: Any, qd: Any, t: Any = 0.0) -> ConstraintRates:
        """Rows on velocities and accelerations."""
        return self.wrench_rows(opened(system, self, q, qd)).rates(system.nv)

    def reaction(self, system: Moving, q: Any, qd: Any, t: Any, multipliers: Any) -> Any:
        """The wrench (6,) of the multipliers, in the base's axes [N m, N]."""
        setting = opened(system, self, q, qd)
        _, rows, root = self.wrench_rows(setting)
        total = NO_FORCE
        for row, multiplier in zip(rows, multipliers, strict=True):
            total = total + row.wrench.scaled(multiplier)
        moment, force = setting.in_base(total, root)
        return np.array([*moment, *force])


def filled(columns: dict[int, list[Any]], nv: int, k: int) -> np.ndarray:
    """Rows (k, nv) with some columns; the others are 0."""
    symbolic = any(not isinstance(x, (int, float)) for c in columns.values() for x in c)
    rows = np.zeros((k, nv), dtype=object if symbolic else float)
    for entry, column in columns.items():
        rows[:, entry] = column
    return rows
