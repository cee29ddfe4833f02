"""Numbers of a compiled model as people write them, and placements of position and quaternion."""

from __future__ import annotations

import math
from typing import (
    Any,
    NamedTuple,
)

import numpy as np

from dalembert.model.numbers import (
    Literal,
    Number,
)
from dalembert.model.origins import (
    AXIS_LETTERS,
    Origin,
)
from dalembert.readers.noise import AXIS_NOISE
from dalembert.spatial.angles import (
    SNAP,
    snapped,
)

TYPED = 12  # digits of a number that somebody typed; results of computations have 16 or 17
QUARTER = math.pi / 2
IDENTITY = (1.0, 0.0, 0.0, 0.0)


def exact(x: float) -> Number:
    """A number as it was written, if it has so few digits that it was; else the float.

    Examples
    --------
    >>> from dalembert.readers.mjcf.exact_numbers import exact
    >>> exact(2.0), exact(0.1), exact(0.1 + 0.2)
    (2, 0.1, 0.30000000000000004)
    """
    x = float(x)
    if not math.isfinite(x):
        return x
    if x == int(x) and abs(x) < 10**TYPED:
        return int(x)
    text = repr(x)
    digits = text.partition("e")[0].replace(".", "").lstrip("-0")
    return Literal(text) if len(digits) <= TYPED else x


def exact_vector(values: Any) -> tuple[Number, ...]:
    """Numbers as they were written."""
    return tuple(exact(x) for x in values)


class AngleReading(NamedTuple):
    """How angles are read: within `tolerance` [rad] of a multiple of pi/12 as that, None as they are."""

    tolerance: float | None = SNAP

    def angle(self, x: float) -> Number:
        """An angle [rad]."""
        x = float(x)
        if self.tolerance is None:
            return x
        if abs(x) <= SNAP:
            return 0
        return snapped(x, self.tolerance) or exact(x)

    def direction(self, axis: Any) -> tuple[Number, ...]:
        """A unit vector, components that are noise as 0."""
        axis = [float(x) for x in axis]
        if self.tolerance is None:
            return tuple(axis)
        return tuple(0 if abs(x) < AXIS_NOISE else exact(x) for x in axis)

    def turn(self, axis: Any, angle: float) -> tuple[tuple[Any, Number], ...]:
        """A rotation of an `Origin` about a unit vector; none for an angle of 0."""
        direction = self.direction(axis)
        turned = self.angle(angle)
        if turned == 0:
            return ()
        for letter, unit in AXIS_LETTERS.items():
            for sense in (1, -1):
                if all(d == sense * u for d, u in zip(direction, unit, strict=True)):
                    return ((letter, turned if sense > 0 else -turned),)
        return ((tuple(float(x) for x in axis), turned),)

    def origin(self, position: Any, quaternion: Any) -> Origin:
        """The placement of a position [m] and a quaternion (w, x, y, z)."""
        return Origin(exact_vector(position), self.rotations(quaternion))

    def rotations(self, quaternion: Any) -> tuple[tuple[Any, Number], ...]:
        """A quaternion as turns: about its axis, or by multiples of pi/12 about coordinate axes."""
        w, *v = (float(x) for x in quaternion)
        length = math.hypot(*v)
        if length == 0:
            return ()
        if w < 0:
            w, v = -w, [-x for x in v]
        axis = [x / length for x in v]
        turns = self.turn(axis, 2 * math.atan2(length, w))
        if turns and not isinstance(turns[0][0], str) and self.tolerance is not None:
            return self._turns_of_axes(quaternion) or turns
        return turns

    def _turns_of_axes(self, quaternion: Any) -> tuple[tuple[Any, Number], ...]:
        """Yaw, pitch and roll, if all are multiples of pi/12; else none."""
        angles = [self.angle(x) for x in roll_pitch_yaw(rotation_matrix(quaternion))]
        if any(isinstance(angle, (float, Literal)) and angle != 0 for angle in angles):
            return ()
        return Origin.rpy((0, 0, 0), *angles).rotations


def roll_pitch_yaw(R: np.ndarray) -> tuple[float, float, float]:
    """Angles of R = Rz(yaw) Ry(pitch) Rx(roll); no yaw where the pitch is a quarter turn."""
    pitch = math.atan2(-R[2, 0], math.hypot(R[0, 0], R[1, 0]))
    if abs(abs(pitch) - QUARTER) < SNAP:
        roll = math.atan2(-R[1, 2], R[1, 1])
        return roll, pitch, 0.0
    roll = math.atan2(R[2, 1], R[2, 2])
    yaw = math.atan2(R[1, 0], R[0, 0])
    return roll, pitch, yaw


def rotation_matrix(quaternion: Any) -> np.ndarray:
    """R of a quaternion (w, x, y, z), which is made one of length 1."""
    w, x, y, z = np.asarray(quaternion, dtype=float) / np.linalg.norm(quaternion)
    cross = np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])
    return np.eye(3) + 2 * (w * cross + cross @ cross)


def quaternion_times(p: Any, q: Any) -> np.ndarray:
    """The product of two quaternions (w, x, y, z)."""
    a, b = float(p[0]), np.asarray(p[1:], dtype=float)
    c, d = float(q[0]), np.asarray(q[1:], dtype=float)
    return np.array([a * c - b @ d, *(a * d + c * b + np.cross(b, d))])


def conjugate(q: Any) -> np.ndarray:
    """The quaternion of the inverse rotation."""
    return np.array([q[0], *(-np.asarray(q[1:], dtype=float))])
