"""Elementary screws: the motions of one coordinate that joints are made of."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from dalembert.expr import known_zero
from dalembert.spatial.motion_force import Motion
from dalembert.spatial.vectors import ZERO, Scalar, Vector


class Screw(NamedTuple):
    """A turn about an axis with a slide along it in proportion, or a slide alone, by one coordinate
    of a joint.

    at : number of the coordinate, and of its velocity, in the joint
    axis : unit vector, in the axes that the screws before it in their row have reached
    turns : whether it turns by the coordinate [rad]; if not, it slides by it [m]
    pitch : slide of a turn [m/rad]
    """

    at: int
    axis: Vector
    turns: bool = True
    pitch: Scalar = 0

    @property
    def motion(self) -> Motion:
        """Its spatial velocity at unit rate: (axis; pitch axis), or (0; axis)."""
        if not self.turns:
            return Motion(ZERO, self.axis)
        return Motion(self.axis, ZERO if known_zero(self.pitch) else self.axis * self.pitch)


def only_screw(row: Sequence[Screw] | None) -> Screw | None:
    """The only screw of a row, if it is a turn without pitch or a slide."""
    return row[0] if row and len(row) == 1 and known_zero(row[0].pitch) else None


def slides_come_first(row: Sequence[Screw]) -> bool:
    """Whether the slides of a row are along axes that no screw before them has turned."""
    turned = False
    for screw in row:
        if turned and not (screw.turns and known_zero(screw.pitch)):
            return False
        turned = turned or screw.turns
    return True
