"""Joints driven by motors through elastic transmissions, inside any mechanism."""

from __future__ import annotations

from collections.abc import (
    Iterable,
    Mapping,
)
from dataclasses import replace
from typing import (
    Any,
    NamedTuple,
    TypeVar,
)

from dalembert.errors import (
    ModelError,
    UnknownNameError,
)
from dalembert.expr import known_zero
from dalembert.model.actuators import Actuator
from dalembert.model.elastic.transmissions import Transmission
from dalembert.model.linkage import Linkage
from dalembert.model.numbers import Number
from dalembert.model.parts import (
    Body,
    Joint,
    Limits,
    Mimic,
)

L = TypeVar("L", bound=Linkage)


class FlexibleDrive(NamedTuple):
    """A joint on a transmission, its motor, and the rotor that the motor turns.

    joint : without rotor inertia, and with the limits of position alone
    motor : on the same parent and axis, with rotor inertia, gear ratio, and limits of speed and force
    rotor : a body without mass; what it weighs is in the parent
    """

    joint: Joint
    motor: Joint
    rotor: Body

    @staticmethod
    def of(
        joint: Joint, stiffness: Number, damping: Number, has_rotor: bool = False
    ) -> FlexibleDrive:
        """The drive of a joint with a rotor inertia; has_rotor: its actuator has one.

        Raises
        ------
        ModelError, TypeError, ValueError
            The joint has several freedoms, follows another, is flexible already, or has no rotor
            inertia; a number is none.
        """
        _check(joint, has_rotor)
        limits = joint.limits
        rotor = Body(f"{joint.name}.rotor", source=joint.source)
        motor = Joint(
            f"{joint.name}.motor",
            joint.type,
            joint.parent,
            rotor.name,
            joint.origin,
            Limits(velocity=limits.velocity, effort=limits.effort),
            rotor_inertia=joint.rotor_inertia,
            gear_ratio=joint.gear_ratio,
            source=joint.source,
        )
        link = replace(
            joint,
            limits=Limits(limits.lower, limits.upper),
            rotor_inertia=0,
            gear_ratio=1,
            transmission=Transmission(motor.name, stiffness, damping),
        )
        return FlexibleDrive(link, motor, rotor)


def _check(joint: Joint, has_rotor: bool) -> None:
    has_axis = (joint.type.nq, joint.type.nv) == (1, 1) and hasattr(joint.type, "axis")
    if not has_axis or joint.mimic is not None:
        raise ModelError(
            f"joint {joint.name!r} is {joint.type.name}: a flexible joint has one freedom and an axis "
            "(revolute, continuous, prismatic, helical), and follows no other."
        )
    if joint.transmission is not None:
        raise ModelError(
            f"joint {joint.name!r} is flexible already: change its numbers, as "
            f"mechanism.replace({{'{joint.name}.transmission_stiffness': ...}})."
        )
    if known_zero(joint.rotor_inertia[0]) and not has_rotor:
        raise ModelError(
            f"joint {joint.name!r} has no rotor inertia, which the motor of a flexible joint needs. "
            "Give it rotor_inertia and gear_ratio, or an actuator: nothing is estimated."
        )


def with_flexible_joints(
    mechanism: L, stiffness: Mapping[str, Number], damping: Number | Mapping[str, Number]
) -> L:
    """The mechanism with some joints driven through springs."""
    dampings = damping if isinstance(damping, Mapping) else dict.fromkeys(stiffness, damping)
    for name in dampings:
        if name not in stiffness:
            raise UnknownNameError("flexible joint", name, tuple(stiffness))
    drives = {
        name: FlexibleDrive.of(
            mechanism.joint(name), k, dampings.get(name, 0), name in mechanism.with_rotors
        )
        for name, k in stiffness.items()
    }
    return put_in(mechanism, drives)


def put_in(mechanism: L, drives: Mapping[str, FlexibleDrive]) -> L:
    """The mechanism with drives of its joints; motors come after all joints, and actuators drive
    them.
    """
    joints = [drives[j.name].joint if j.name in drives else j for j in mechanism.joints]
    driven = mechanism.actuated
    if driven is not None:
        driven = tuple(drives[n].motor.name if n in drives else n for n in driven)
    changes: dict[str, Any] = {
        "bodies": (*mechanism.bodies, *(drive.rotor for drive in drives.values())),
        "joints": (*joints, *(drive.motor for drive in drives.values())),
        "actuated": driven,
        "actuators": behind(mechanism.actuators, drives),
    }
    return replace(mechanism, **changes)


def behind(
    actuators: Iterable[Actuator], drives: Mapping[str, FlexibleDrive]
) -> tuple[Actuator, ...]:
    """Actuators, of the motors of their joints where these are on transmissions now."""
    return tuple(_moved(a, drives[a.joint]) if a.joint in drives else a for a in actuators)


def _moved(actuator: Actuator, drive: FlexibleDrive) -> Actuator:
    """An actuator of the motor of its joint. Its rotor stays on its body; on the joint's child, which
    the motor does not turn, it needs an axis of its own.
    """
    axis = actuator.axis
    if axis is None and actuator.body == drive.joint.child:
        joint_type: Any = drive.joint.type
        axis = joint_type.axis
    return replace(actuator, joint=drive.motor.name, axis=axis)


def stiffly_driven(mechanism: L) -> L:
    """The mechanism with rigid transmissions: each motor follows its joint."""
    driven_by = {j.transmission.motor: j.name for j in mechanism.joints if j.transmission}
    joints = []
    for joint in mechanism.joints:
        if (driven := driven_by.get(joint.name)) is not None:
            joint = replace(joint, mimic=Mimic(driven))
        joints.append(replace(joint, transmission=None))
    driven_names = mechanism.actuated
    if driven_names is not None:
        driven_names = tuple(driven_by.get(name, name) for name in driven_names)
    return replace(mechanism, joints=tuple(joints), actuated=driven_names)


def undamped_drives(mechanism: L) -> L:
    """The mechanism with transmissions that lose no energy."""
    joints = [
        replace(joint, transmission=replace(joint.transmission, damping=0))
        if joint.transmission is not None
        else joint
        for joint in mechanism.joints
    ]
    return replace(mechanism, joints=tuple(joints))


def with_spring_to(joint: Joint, transmission: Transmission, value: Number) -> Joint:
    """A joint with a spring of its own in place of a transmission whose other end is held at a value."""
    before, rest, k = joint.stiffness[0], joint.rest[0], transmission.stiffness
    if not known_zero(before):
        rest_of_both: Number = (before * rest + k * value) / (before + k)
    else:
        rest_of_both = value
    return replace(
        joint,
        stiffness=before + k,
        rest=rest_of_both,
        viscous=joint.viscous[0] + transmission.damping,
    )
