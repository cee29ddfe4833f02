"""Faults and doubts of actuators: names, joints without a single coordinate, rotors that count twice
or weigh more than the body that they ride on.
"""

from __future__ import annotations

from collections.abc import (
    Iterator,
    Sequence,
)
from functools import partial

import numpy as np

from dalembert.expr import known_zero
from dalembert.model.actuators import (
    BOUNDS_OF_SHAFT,
    Actuator,
)
from dalembert.model.findings import (
    MAX_LISTED,
    Finding,
    finding_of,
)
from dalembert.model.linkage import Linkage
from dalembert.model.name_faults import (
    nameless,
    repeated_names,
    unknown,
)
from dalembert.model.numbers import (
    Number,
    as_float,
    is_negative,
    is_symbolic,
)
from dalembert.model.parts import (
    Body,
    Joint,
)
from dalembert.model.rotors import axis_of

_of_actuator = partial(finding_of, "actuator")

SLACK = 1e-6  # of the moment of a rotor: files round moments to 6 digits


def actuator_faults(mechanism: Linkage) -> list[Finding]:
    """Faults of actuators that leave no mechanism."""
    actuators = mechanism.actuators
    faults = [*repeated_names("actuator", actuators), *nameless("actuator", actuators)]
    joints = {joint.name: joint for joint in mechanism.joints}
    bodies = {body.name for body in mechanism.bodies}
    for actuator in actuators:
        what, hints = f"actuator {actuator.name!r}", len(faults) < MAX_LISTED
        if actuator.name in joints:
            why = "a joint has the same name, and numbers of the same names."
            faults.append(_of_actuator(actuator, why, "Rename the actuator."))
        if actuator.body is not None and actuator.body not in bodies:
            faults.append(unknown(what, "body", actuator.body, bodies, actuator.source, hints))
        elif actuator.joint not in joints:
            faults.append(unknown(what, "joint", actuator.joint, joints, actuator.source, hints))
        else:
            faults += _faults_on(joints[actuator.joint], actuator)
        faults += _number_faults(actuator)
    return faults


def _faults_on(joint: Joint, actuator: Actuator) -> Iterator[Finding]:
    """Faults of an actuator of a joint that is there."""
    if joint.is_fixed:
        why = f"its joint {joint.name!r} is fixed."
        yield _of_actuator(actuator, why, "Leave the actuator out, or the joint free.")
    elif (joint.type.nq, joint.type.nv) != (1, 1):
        why = f"its joint {joint.name!r} is {joint.type.name}, with several coordinates."
        yield _of_actuator(actuator, why, "An actuator drives a joint of one coordinate.")
    elif actuator.body is not None and actuator.axis is None:
        if not hasattr(joint.type, "axis"):
            why = f"its joint {joint.name!r} of type {joint.type.name} has no axis."
            yield _of_actuator(actuator, why, "Give the axis of its rotor, as axis = [0, 0, 1].")
        elif actuator.body not in (joint.parent, joint.child):
            why = (
                f"it rides on {actuator.body!r}, which joint {joint.name!r} does not connect, so "
                "that the joint's axis does not stand still there."
            )
            fix = f"Give the axis of its rotor in the axes of {actuator.body!r}."
            yield _of_actuator(actuator, why, fix)


def _number_faults(actuator: Actuator) -> Iterator[Finding]:
    """Faults of the numbers of an actuator."""
    if actuator.axis is not None and all(map(known_zero, actuator.axis)):
        why = "its axis has length 0."
        yield _of_actuator(actuator, why, "Give a direction, as axis = [0, 0, 1].")
    if known_zero(actuator.gear_ratio):
        why = "its gear_ratio is 0: the motor does not turn."
        yield _of_actuator(actuator, why, "Give turns of the motor per turn of the joint.")
    for name in ("rotor_inertia", *BOUNDS_OF_SHAFT):
        value = getattr(actuator, name)
        if value is not None and is_negative(value):
            why = f"its {name} is {as_float(value):g}, below 0."
            yield _of_actuator(actuator, why, "Give its magnitude.")


def actuator_doubts(mechanism: Linkage) -> Iterator[Finding]:
    """Doubtful actuators of a mechanism of sound structure."""
    for actuator in mechanism.actuators:
        joint = mechanism.joint(actuator.joint)
        has_rotor = not known_zero(actuator.rotor_inertia)
        if has_rotor and not known_zero(joint.rotor_inertia[0]):
            why = f"it has a rotor, and joint {joint.name!r} has a rotor_inertia: both count."
            fix = "Leave one of them out if they are the same rotor."
            yield _of_actuator(actuator, why, fix, "warning")
        for name in BOUNDS_OF_SHAFT:
            value = getattr(actuator, name)
            if value is not None and known_zero(value):
                why = f"its {name} is 0: it counts as a limit."
                yield _of_actuator(actuator, why, "Leave it out if there is none.", "warning")
    yield from _light_carriers(mechanism)


def _light_carriers(mechanism: Linkage) -> Iterator[Finding]:
    """Bodies by themselves whose moment about the axis of a rotor is less than that of the rotor."""
    fixed = [joint for joint in mechanism.joints if joint.is_fixed]
    passed_over = {mechanism.bodies[0].name}
    passed_over.update(name for joint in fixed for name in (joint.parent, joint.child))
    for actuator in mechanism.actuators:
        if actuator.body is None or actuator.body in passed_over:
            continue
        body = mechanism.body(actuator.body)
        axis = axis_of(actuator, mechanism)
        numbers = (actuator.rotor_inertia, *axis, *body.inertia)
        if body.beam is not None or any(map(is_symbolic, numbers)):
            continue
        moment, of_body = as_float(actuator.rotor_inertia), _moment(body, axis)
        if moment > of_body * (1 + SLACK):
            why = (
                f"its rotor has {moment:g} kg m^2 about its axis, more than the body {body.name!r} "
                f"that it rides on ({of_body:g} kg m^2)."
            )
            fix = "The inertia of that body holds the rotor as if it were locked: add it there."
            yield _of_actuator(actuator, why, fix, "warning")


def _moment(body: Body, axis: Sequence[Number]) -> float:
    """Moment of inertia of a body about an axis through its centre of mass [kg m^2]."""
    direction = np.array([as_float(x) for x in axis])
    tensor = np.array([[as_float(x) for x in row] for row in body.tensor()])
    return float(direction @ tensor @ direction / (direction @ direction))
