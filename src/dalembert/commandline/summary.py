"""Summary of a mechanism, for `dalembert info`."""

from __future__ import annotations

from rich.console import Console

from dalembert.commandline.output import line
from dalembert.commandline.tables import number, show_joints
from dalembert.expr import known_zero
from dalembert.model.actuators import Actuator
from dalembert.model.mechanism import Mechanism
from dalembert.model.rotors import Spin

# Tables of systems, which import all kinds of equations, are imported where they are needed.


def summarize(out: Console, mechanism: Mechanism) -> None:
    """Print name, counts, mass, joints and frames."""
    followers = [(j.name, j.mimic) for j in mechanism.joints if j.mimic is not None]
    tree = mechanism.tree()
    moving = sum(not (j.is_section or isinstance(j.type, Spin)) for j in tree.joint[1:])
    line(out, f"mechanism {mechanism.name}", "bold")
    line(out, f"nq {mechanism.nq}, nv {mechanism.nv}")
    line(
        out,
        f"bodies: {len(mechanism.bodies)}, base {mechanism.bodies[0].name}; {moving} move once "
        "links on fixed joints are joined",
    )
    line(
        out,
        f"joints: {len(mechanism.joints)}; {len(mechanism.independent_joints)} independent, "
        f"{sum(j.is_fixed for j in mechanism.joints)} fixed, {len(followers)} reduced to the joint "
        "they follow",
    )
    line(
        out,
        f"moving mass: {number(sum(tree.inertia[i].m for i in tree.outward()))} kg, "
        f"gravity: {' '.join(map(number, mechanism.gravity))} m/s^2",
    )
    line(out)
    show_joints(out, mechanism)
    line(out)
    if mechanism.elastic_bodies:
        from dalembert.commandline.system_tables import show_elastic_bodies

        show_elastic_bodies(out, mechanism)
        line(out)
    for name, mimic in followers:
        line(
            out,
            f"follower {name}: q = {number(mimic.multiplier)} q({mimic.joint}) + "
            f"{number(mimic.offset)}",
        )
    _show_drives(out, mechanism)
    if mechanism.frames:
        line(out, "frames: " + ", ".join(f"{f.name} on {f.body}" for f in mechanism.frames))
    if mechanism.constraints:
        from dalembert.commandline.system_tables import show_constraints, show_freedoms

        if followers or mechanism.frames:
            line(out)
        show_constraints(out, mechanism)
        show_freedoms(out, mechanism)
    if mechanism.actuated is not None:
        line(out, f"driven joints: {', '.join(mechanism.actuated) or 'none'}")


def _show_drives(out: Console, mechanism: Mechanism) -> None:
    """Print flexible joints and actuators."""
    for joint in mechanism.joints:
        if (through := joint.transmission) is not None:
            line(
                out,
                f"flexible joint {joint.name}: stiffness {number(through.stiffness)}, damping "
                f"{number(through.damping)}, driven by {through.motor}",
            )
    for actuator in mechanism.actuators:
        line(out, _described(actuator))


def _described(actuator: Actuator) -> str:
    """An actuator in words: its joint, its rotor and its limits."""
    parts = [
        f"actuator {actuator.name}: drives {actuator.joint}, gear {number(actuator.gear_ratio)}"
    ]
    if not known_zero(actuator.rotor_inertia):
        on = "" if actuator.body is None else f" on {actuator.body}"
        parts.append(f"rotor {number(actuator.rotor_inertia)} kg m^2{on}")
    if actuator.effort is not None:
        parts.append(f"at most {number(actuator.effort)} N m")
    if actuator.velocity is not None:
        parts.append(f"at most {number(actuator.velocity)} rad/s")
    return ", ".join(parts)
