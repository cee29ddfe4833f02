"""A mechanism at a state, and the motion of a frame of it against another."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, NamedTuple

from dalembert.errors import DalembertError
from dalembert.kinematics.frame_motion import FrameMotion, carrier, frame_motion
from dalembert.kinematics.poses import world_poses
from dalembert.model.constraint import Constraint, FramePlace, Moving
from dalembert.model.tree import Tree
from dalembert.spatial.motion_force import NO_MOTION, Force, Motion
from dalembert.spatial.transforms import Transform
from dalembert.spatial.vectors import Vector


class Setting(NamedTuple):
    """A tree at a state of scalars.

    tree : with its numbers converted
    q, qd : coordinates, velocities; None: at rest
    number : converts a number of the mechanism as those of the tree are
    """

    tree: Tree
    q: Any
    qd: Any
    number: Callable[[Any], Any]

    def placed(self, place: FramePlace) -> tuple[int, Transform]:
        """Moving body of a place, and its placement there."""
        return self.tree.placed(place, self.number)

    def motion(self, place: FramePlace) -> FrameMotion:
        """Motion of a place, in the base's axes."""
        return frame_motion(self.tree, self.q, self.qd, self.placed(place))

    def pair(self, first: FramePlace, second: FramePlace) -> FramePair:
        """Motions of two places, in the axes of the outermost body that carries both."""
        places = self.placed(first), self.placed(second)
        root = carrier(self.tree, places[0][0], places[1][0])
        one, other = (frame_motion(self.tree, self.q, self.qd, place, root) for place in places)
        return FramePair(one, other, root)

    def in_base(self, force: Force, root: int) -> Force:
        """A force in a body's axes, turned into the base's."""
        R = world_poses(self.tree, self.q, [root])[root].R
        return Force(R.to_parent(force.moment), R.to_parent(force.force))


def opened(system: Moving, constraint: Constraint, q: Any, qd: Any = None) -> Setting:
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
    settings = _settings.get()
    if settings is None:
        return _setting(mechanism, q, qd)
    key = id(mechanism), id(q), id(qd)
    if key not in settings:  # the state is kept, so that its id stays its own
        settings[key] = (mechanism, q, qd), _setting(mechanism, q, qd)
    return settings[key][1]


def _setting(mechanism: Any, q: Any, qd: Any) -> Setting:
    """The tree of a mechanism and its state as scalars."""
    if qd is None:
        (q,), graph, _ = mechanism.opened(q=q)
    else:
        (q, qd), graph, _ = mechanism.opened(q=q, qd=qd)
    return Setting(mechanism.tree(graph), q, qd, mechanism.converter(graph))


_settings: ContextVar[dict[Any, tuple[Any, Setting]] | None] = ContextVar("settings", default=None)


@contextmanager
def settings_shared() -> Iterator[None]:
    """A block in which many constraints at one state open it once; the state does not change in it."""
    before = _settings.set({})
    try:
        yield
    finally:
        _settings.reset(before)


class FramePair(NamedTuple):
    """Motions of two frames in the axes of the body `root`, the outermost that carries both."""

    first: FrameMotion
    second: FrameMotion
    root: int

    @property
    def distance(self) -> Vector:
        """The second origin, less the first."""
        return self.second.pose.p - self.first.pose.p

    def turning(self, fixed: Vector) -> Vector:
        """Rate of a vector that is fixed to the first body."""
        return self.first.velocity.angular.cross(fixed)

    def between_origins(self) -> FrameMotion:
        """Motion of the second frame, its origin against that of the first."""
        entries = sorted({*self.first.columns, *self.second.columns})
        columns = {
            k: self.second.columns.get(k, NO_MOTION) - self.first.columns.get(k, NO_MOTION)
            for k in entries
        }
        return FrameMotion(
            self.second.pose,
            columns,
            self.second.velocity - self.first.velocity,
            self.second.bias - self.first.bias,
        )

    def against_body(self) -> FrameMotion:
        """Motion of the second frame, its origin against the point of the first body there."""
        arm, rate = self.distance, self.second.velocity.linear - self.first.velocity.linear
        apart = self.between_origins()
        columns = {
            k: _less(m, self.first.columns[k].angular.cross(arm)) if k in self.first.columns else m
            for k, m in apart.columns.items()
        }
        omega, alpha = self.first.velocity.angular, self.first.bias.angular
        velocity = _less(apart.velocity, omega.cross(arm))
        bias = _less(apart.bias, alpha.cross(arm) + omega.cross(rate))
        return FrameMotion(apart.pose, columns, velocity, bias)


def _less(m: Motion, linear: Vector) -> Motion:
    """A motion whose linear part is less."""
    return Motion(m.angular, m.linear - linear)
