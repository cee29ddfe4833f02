"""Numbers and placements of a mechanism as decimals that other programs read."""

from __future__ import annotations

import math
from collections.abc import (
    Iterable,
    Iterator,
)
from typing import Any

from dalembert.errors import ReadError
from dalembert.model.mechanism import Mechanism
from dalembert.model.numbers import (
    Literal,
    Number,
    as_float,
    is_symbolic,
    unit_vector,
)
from dalembert.model.origins import Origin
from dalembert.spatial.rotations import AxisTurn
from dalembert.spatial.vectors import Matrix

UNIT_SLACK = 1e-6  # of an axis' length, up to which it stays as it is written
UNLIMITED = "1.7976931348623157e+308"  # the largest double: no limit, where a file must have one
YAW_PITCH_ROLL = "zyx"


def check_numeric(mechanism: Mechanism, file: str) -> None:
    """Raise if numbers or limits of a mechanism have symbols.

    Raises
    ------
    ReadError
    """
    if mechanism.symbols:
        names = ", ".join(mechanism.symbols[:5])
        more = ", ..." if len(mechanism.symbols) > 5 else ""
        raise ReadError(
            f"mechanism {mechanism.name!r} has symbols ({names}{more}), which this format has not. "
            "Give them values, mechanism.replace({...}), or write a .toml file.",
            file,
        )
    limited = [name for name, bounds in _bounds(mechanism) if any(map(is_symbolic, bounds))]
    if limited:
        raise ReadError(
            f"limits of {', '.join(map(repr, limited[:5]))} are symbols, which this format has not. "
            "Make them of numbers, or write a .toml file.",
            file,
        )


def _bounds(mechanism: Mechanism) -> Iterator[tuple[str, tuple[Any, ...]]]:
    """Names of joints and actuators, and their limits."""
    for joint in mechanism.joints:
        limits = joint.limits
        for bounds in (limits.lower, limits.upper, limits.velocity, limits.effort):
            yield joint.name, bounds or ()
    for actuator in mechanism.actuators:
        yield actuator.name, (actuator.effort, actuator.velocity)


def decimal(x: Number) -> str:
    """A number as a decimal that is read back as the same double; literals keep their text."""
    if isinstance(x, Literal):
        return x.text
    if isinstance(x, int):
        return str(x)
    return repr(as_float(x) + 0.0)  # no -0.0


def decimals(values: Iterable[Number]) -> str:
    """Numbers separated by spaces."""
    return " ".join(map(decimal, values))


def direction(axis: tuple[Number, ...]) -> tuple[Number, ...]:
    """An axis of unit length; as it was written, where its length is 1 but for rounding."""
    length = math.hypot(*map(as_float, axis))
    return axis if abs(length - 1) <= UNIT_SLACK else unit_vector(axis)


def roll_pitch_yaw_of(origin: Origin) -> tuple[Number, ...]:
    """Angles (roll, pitch, yaw) [rad] of R = Rz(yaw) Ry(pitch) Rx(roll): the origin's own where its
    rotations are about z, y and x in this order, else those of its matrix.
    """
    axes = "".join(axis if isinstance(axis, str) else "?" for axis, _ in origin.rotations)
    if axes in ("", "z", "y", "x", "zy", "zx", "yx", YAW_PITCH_ROLL):
        angles = dict(origin.rotations)
        return tuple(angles.get(axis, 0) for axis in reversed(YAW_PITCH_ROLL))
    return _angles_of(origin.transform(as_float).R.matrix())


def _angles_of(R: Matrix) -> tuple[float, float, float]:
    """Roll, pitch and yaw of a rotation matrix of floats.

    Each angle is taken of what the turns before it leave, so that the product is R within rounding
    also where the pitch is a quarter turn, and yaw and roll are about one axis.
    """
    R = Matrix([float(x) for x in row] for row in R)
    yaw = math.atan2(R[1][0], R[0][0])
    without_yaw = _turned_back(R, 2, yaw)
    pitch = math.atan2(-without_yaw[2][0], without_yaw[0][0])
    without_pitch = _turned_back(without_yaw, 1, pitch)
    roll = math.atan2(without_pitch[2][1], without_pitch[1][1])
    return roll, pitch, yaw


def _turned_back(R: Matrix, k: int, angle: float) -> Matrix:
    """T^T R with the turn T by an angle about coordinate axis k."""
    turn = AxisTurn(k, math.cos(angle), math.sin(angle))
    return Matrix(turn.to_child(column) for column in R.T).T


def quaternion_text(origin: Origin) -> str:
    """The unit quaternion (w, x, y, z) of an origin."""
    from dalembert.spatial.rotations import quaternion_of

    return decimals(quaternion_of(origin.transform(as_float).R.matrix()))
