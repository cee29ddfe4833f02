"""Rotors in the tree: bodies that spin on the bodies that they ride on, with the entries of joints.

A rotor is a body of revolution, so that its turn changes nothing that its equations see: it stays in
the axes of the body that carries it, and its joint moves it in velocity alone.
"""

from __future__ import annotations

from dataclasses import (
    dataclass,
    replace,
)
from typing import Any

from dalembert.model.actuators import Actuator
from dalembert.model.joints.base import AxisJoint
from dalembert.model.linkage import (
    Entry,
    Linkage,
)
from dalembert.model.numbers import Converter
from dalembert.model.tree import TreeJoint
from dalembert.spatial.inertias import (
    HALF,
    Inertia,
)
from dalembert.spatial.motion_force import Motion
from dalembert.spatial.rotations import Rotation
from dalembert.spatial.transforms import Transform
from dalembert.spatial.vectors import (
    IDENTITY,
    ZERO,
    Matrix,
    Scalar,
    Vector,
)


@dataclass(frozen=True)
class Spin(AxisJoint):
    """Rotation of a body of revolution about its axis, in axes that do not turn with it."""

    axis: tuple[Any, Any, Any]

    name = "spin"
    coordinates = ("angle",)
    velocities = ("angular rate",)

    def converted(self, convert: Converter) -> Spin:
        """The joint with an axis of unit length, its numbers converted."""
        x, y, z = (convert(a) for a in self.unit_axis)
        return replace(self, axis=(x, y, z))

    def placement(self, q: Any) -> Transform:
        """None: the child's axes stay."""
        return Transform()

    def subspace(self, q: Any) -> tuple[Motion, ...]:
        """S = [a; 0]."""
        return (Motion(Vector(self.axis), ZERO),)


def axis_of(actuator: Actuator, mechanism: Linkage) -> tuple[Any, Any, Any]:
    """Axis of a rotor: its own, or that of its joint."""
    joint_type: Any = mechanism.joint(actuator.joint).type
    axis: tuple[Any, Any, Any] = joint_type.axis if actuator.axis is None else actuator.axis
    return axis


def disc(axis: tuple[Scalar, ...], moment: Scalar) -> Inertia:
    """Inertia of a thin disc without mass, with a moment about its axis [kg m^2].

    Which moment it has about other axes does not matter, as its carrier has that much less.
    """
    a = Vector(axis)
    half = moment * HALF
    return Inertia(0, ZERO, (IDENTITY - Matrix.outer(a, a)) * half)


def spinning(
    actuator: Actuator, axes: Rotation, spin: Spin, entry: Entry, factor: Scalar
) -> TreeJoint:
    """The joint of a rotor, which follows the joint that its motor drives."""
    return TreeJoint(
        name=actuator.name,
        body=actuator.name,
        type=spin,
        origin=Transform(ZERO, axes),
        at_q=entry.at_q,
        dof=entry.at_v,
        factor=factor,
        offset=0,
        viscous=[0],
        coulomb=[0],
        rotor=[0],
        stiffness=[0],
        rest=[0],
        is_follower=True,
    )
