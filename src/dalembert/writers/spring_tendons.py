"""Flexible drives as MuJoCo has them: the motor on a body of its own, and between the coordinates
of motor and joint a fixed tendon that is a spring and a damper.

    tendon length = q - theta,    force = -k (q - theta) - d (qd - thetad)

MuJoCo refuses a rotor without mass. The body of the motor has the least that MuJoCo takes; as much
is less in its armature.
"""

from __future__ import annotations

from collections.abc import Container
from dataclasses import replace

from dalembert.model.mechanism import (
    Mechanism,
    without_warnings,
)
from dalembert.model.parts import Body
from dalembert.writers.mujoco_inertias import (
    LEAST,
    is_massless,
)
from dalembert.writers.numerals import decimal
from dalembert.writers.xml_elements import XmlElement

UNSTRETCHED = "0 0"  # length of a tendon without force


def bare_motors(mechanism: Mechanism) -> dict[str, str]:
    """Motors of flexible joints by the bodies without mass that they turn."""
    motors = {joint.transmission.motor for joint in mechanism.flexible_joints if joint.transmission}
    massless = {body.name for body in mechanism.bodies if is_massless(body)}
    return {
        joint.child: joint.name
        for joint in mechanism.joints
        if joint.name in motors and joint.child in massless
    }


def with_least_rotors(mechanism: Mechanism, bare: Container[str]) -> Mechanism:
    """The mechanism with the least mass and moments for some bodies."""
    bodies = tuple(_least(body) if body.name in bare else body for body in mechanism.bodies)
    with without_warnings():
        return replace(mechanism, bodies=bodies)


def _least(body: Body) -> Body:
    return replace(body, mass=LEAST, inertia=(LEAST, 0, LEAST, 0, 0, LEAST))


def put_springs(mechanism: Mechanism, tendons: XmlElement) -> None:
    """A tendon for each flexible drive."""
    for joint in mechanism.flexible_joints:
        drive = joint.transmission
        assert drive is not None
        tendon = tendons.add(
            "fixed",
            name=f"{joint.name}.spring",
            springlength=UNSTRETCHED,
            stiffness=decimal(drive.stiffness),
            damping=decimal(drive.damping),
        )
        tendon.add("joint", joint=joint.name, coef="1")
        tendon.add("joint", joint=drive.motor, coef="-1")
