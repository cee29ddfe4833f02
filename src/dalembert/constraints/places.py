"""Two frames of a mechanism at a state, seen from the body that carries both."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from dalembert.errors import DalembertError
from dalembert.kinematics.frame_motion import FrameMotion, carrier, frame_motion
from dalembert.kinematics.poses import frame_place
from dalembert.model.constraint import Constraint, FramePlace, Moving
from dalembert.model.numbers import as_float
from dalembert.model.tree import Tree
from dalembert.spatial.motion_force import NO_MOTION, Motion
from dalembert.spatial.transforms import Transform
from dalembert.spatial.vectors import Vector


class FramePair(NamedTuple):
    """Motions of two frames in the axes of the outermost body that carries both."""

    first: FrameMotion
    second: FrameMotion

    @classmethod
    def at(cls, system: Moving, closure: Any, q: Any, qd: Any = None) -> FramePair:
        """The frames of a closure at a state."""
        tree, state = opened(system, closure, q, qd)
        places = [place_on(tree, place) for place in (closure.first, closure.second)]
        root = carrier(tree, places[0][0], places[1][0])
        return cls(*(frame_motion(tree, *state, place, root) for place in places))

    @property
    def distance(self) -> Vector:
        """The second origin, less the first."""
        return self.second.pose.p - self.first.pose.p

    def rows(self, chosen: Callable[[Motion], Sequence[Any]], nv: int) -> np.ndarray:
        """Rows (k, nv) of some entries of the second motion, less the first."""
        moved = sorted({*self.first.columns, *self.second.columns})
        columns = {
            entry: chosen(
                self.second.columns.get(entry, NO_MOTION) - self.first.columns.get(entry, NO_MOTION)
            )
            for entry in moved
        }
        return filled(columns, nv, len(chosen(NO_MOTION)))


def filled(columns: dict[int, Sequence[Any]], nv: int, k: int) -> np.ndarray:
    """Rows (k, nv) with some columns; the others are 0."""
    symbolic = any(not isinstance(x, (int, float)) for c in columns.values() for x in c)
    rows = np.zeros((k, nv), dtype=object if symbolic else float)
    for entry, column in columns.items():
        rows[:, entry] = list(column)
    return rows


def opened(
    system: Moving, constraint: Constraint, q: Any, qd: Any = None
) -> tuple[Tree, tuple[Any, Any]]:
    """The tree of a system's mechanism, and its state as scalars; qd may be left out.

    Raises
    ------
    DalembertError
        The system has no mechanism.
    """
    mechanism = system.mechanism
    if mechanism is None:
        raise DalembertError(
            f"constraint {constraint.name!r} is about frames and joints, which {system.name!r} has "
            "not: it is no mechanism. Write its rows by da.constraints.Holonomic or Velocity."
        )
    if qd is None:
        tree, (q,), _ = mechanism.at(q=q)
        return tree, (q, None)
    tree, (q, qd), _ = mechanism.at(q=q, qd=qd)
    return tree, (q, qd)


def place_on(tree: Tree, place: FramePlace) -> tuple[int, Transform]:
    """Moving body of a place, and its placement there."""
    i, X = frame_place(tree, place.body)
    return i, X * place.origin.transform(as_float)
