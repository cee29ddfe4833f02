"""Other engines on the same loops: each returns the processor time of the solve [s] and the end, for
a setting of its own.
"""

from __future__ import annotations

import subprocess
import tempfile
import time
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from scipy.integrate._ivp import dop853_coefficients as pair
from scipy.spatial.transform import Rotation

from loop_cases import GROUND, Case, Link
from native import CACHE, FAST, HERE, built
from peers.pinocchio import DEFINES, includes

TOLERANCES = (1e-5, 1e-6, 1e-7, 1e-8, 1e-9, 1e-10, 1e-11)
SMALL = 1e-9  # kg, kg m^2 of a link without mass, where an engine wants some
STIFF = "0.9999 0.9999 0.001"  # impedance of MuJoCo's equality constraints


class End(NamedTuple):
    """Seconds of processor time, and coordinates at the end."""

    seconds: float
    q: np.ndarray


# --- Pinocchio, C++ ---


@cache
def _program() -> Path:
    """The compiled program; the coefficients of the method are a header that it includes."""
    tables = {"A8": pair.A[:12, :12], "B8": pair.B, "E3": pair.E3[:12], "E5": pair.E5[:12]}
    lines = []
    for name, table in tables.items():
        sizes = "".join(f"[{n}]" for n in table.shape)
        entries = ", ".join(f"{x:.17g}" for x in table.flat)
        lines.append(f"static const double {name}{sizes} = {{{entries}}};")
    CACHE.mkdir(parents=True, exist_ok=True)
    header = CACHE / "dop853.h"
    header.write_text("\n".join(lines) + "\n")
    flags = (*FAST, *DEFINES, f"-I{CACHE}", *includes())
    return built([HERE / "peers" / "pinocchio_dop853.cpp", header], "", flags, "g++")


def pinocchio(case: Case, tolerance: float, frequency: float) -> End | None:
    """Its constraint dynamics under DOP853 with Baumgarte's stabilisation."""
    lines = [
        f"{len(case.links)} {len(case.closures)} {len(case.springs)} {case.duration!r}",
        _numbers(case.gravity),
    ]
    for link in case.links:
        numbers = [*link.axis, *link.position, link.mass, *link.com, *link.inertia]
        lines.append(f"{link.parent} {int(link.slides)} {_numbers(numbers)}")
    lines += [f"{a} {_numbers(at)} {b} {_numbers(on)}" for a, at, b, on in case.closures]
    for s in case.springs:
        lines.append(f"{s.link} {_numbers([*s.point, *s.anchor, s.stiffness, s.length])}")
    torques = [case.torques.get(k, 0.0) for k in range(len(case.links))]
    lines += map(_numbers, (torques, case.q, case.qd))
    redundant = "Bricard" in case.name
    with tempfile.NamedTemporaryFile("w", suffix=".txt") as file:
        file.write("\n".join(lines) + "\n")
        file.flush()
        settings = [tolerance, frequency, 1e-8 if redundant else 1e-10, 20 if redundant else 10, 20]
        command = [str(_program()), file.name, *map(str, settings)]
        found = subprocess.run(command, capture_output=True, text=True)
    lines = found.stdout.splitlines()
    if found.returncode or len(lines) < 2:
        return None
    seconds, _, cut = lines[0].split()
    q = np.array([float(x) for x in lines[1].split()])
    return None if int(cut) or not np.isfinite(q).all() else End(float(seconds), q)


def _numbers(values: Any) -> str:
    return " ".join(repr(float(x)) for x in values)


# --- MuJoCo ---


def mujoco(case: Case, h: float, factor: float) -> End | None:
    """RK4 with stiff equality constraints of a time constant of `factor` steps."""
    import mujoco as engine

    steps = round(case.duration / h)
    h = case.duration / steps
    model = engine.MjModel.from_xml_string(_mjcf(case, h, factor * h))
    data = engine.MjData(model)
    joints = [model.joint(f"j{k}") for k in range(len(case.links))]
    at = [joint.qposadr[0] for joint in joints]
    data.qpos[at], data.qvel[at] = case.q, case.qd
    for k, torque in case.torques.items():
        data.qfrc_applied[joints[k].dofadr[0]] = torque
    start = time.process_time()
    engine.mj_step(model, data, nstep=steps)
    seconds = time.process_time() - start
    q = data.qpos[at].copy()
    return End(seconds, q) if np.isfinite(q).all() else None


def _mjcf(case: Case, h: float, constant: float) -> str:
    """The case in MuJoCo's language; a link without mass gives its hinge to the link on it."""
    sites: dict[int, list[Any]] = {}

    def site(link: int, point: Any) -> str:
        sites.setdefault(link, []).append(point)
        return f"s{link}_{len(sites[link]) - 1}"

    held = [(site(a, at), site(b, on)) for a, at, b, on in case.closures]
    springs = [(site(s.link, s.point), site(GROUND, s.anchor), s) for s in case.springs]

    def points(link: int) -> str:
        own = enumerate(sites.get(link, []))
        return "".join(f'<site name="s{link}_{k}" pos="{_numbers(p)}"/>' for k, p in own)

    def children(parent: int, hinges: str = "", at: Any = None) -> str:
        return "".join(
            body(k, hinges, at) for k, link in enumerate(case.links) if link.parent == parent
        )

    def body(k: int, hinges: str, at: Any) -> str:
        link = case.links[k]
        kind = "slide" if link.slides else "hinge"
        hinges += f'<joint name="j{k}" type="{kind}" axis="{_numbers(link.axis)}"/>'
        at = link.position if at is None else at
        if not link.mass:
            return children(k, hinges, at)
        inertial = (
            f'<inertial pos="{_numbers(link.com)}" mass="{link.mass!r}" '
            f'diaginertia="{_numbers(link.inertia)}"/>'
        )
        inside = f"{hinges}{inertial}{points(k)}{children(k)}"
        return f'<body name="b{k}" pos="{_numbers(at)}">{inside}</body>'

    world = points(GROUND) + children(GROUND)
    equality = "".join(
        f'<connect site1="{a}" site2="{b}" solref="{constant:.17g} 1" solimp="{STIFF}"/>'
        for a, b in held
    )
    tendons = "".join(
        f'<spatial stiffness="{s.stiffness!r}" springlength="{s.length!r}"><site site="{a}"/>'
        f'<site site="{b}"/></spatial>'
        for a, b, s in springs
    )
    return (
        '<mujoco><compiler angle="radian" inertiafromgeom="false" balanceinertia="true"/>'
        f'<option gravity="{_numbers(case.gravity)}" timestep="{h!r}" integrator="RK4" '
        'tolerance="1e-14" iterations="50"><flag contact="disable" refsafe="disable"/></option>'
        f'<size memory="200M"/><worldbody>{world}</worldbody><equality>{equality}</equality>'
        f"{f'<tendon>{tendons}</tendon>' if tendons else ''}</mujoco>"
    )


# --- Exudyn ---


def exudyn(case: Case, h: float) -> End | None:
    """Generalized alpha of index 3; bodies have all coordinates, in the plane three each."""
    import exudyn as engine
    from exudyn import utilities as u

    container = engine.SystemContainer()
    system = container.AddSystem()
    ground = system.AddObject(u.ObjectGround())
    bodies = (_planar_bodies if case.planar else _spatial_bodies)(system, u, case, ground)

    def marker(k: int, point: Any) -> Any:
        """Marker at a point of a link."""
        number = ground if k == GROUND else bodies[k]
        com = case.links[k].com if case.planar and k != GROUND else (0, 0, 0)
        local = [float(x) - float(c) for x, c in zip(point, com, strict=True)]
        return system.AddMarker(u.MarkerBodyPosition(bodyNumber=number, localPosition=local))

    hold = u.RevoluteJoint2D if case.planar else u.SphericalJoint
    joints = [(link.parent, link.position, k, (0, 0, 0)) for k, link in enumerate(case.links)]
    for a, at, b, on in [*(joints if case.planar else []), *case.closures]:
        system.AddObject(hold(markerNumbers=[marker(a, at), marker(b, on)]))
    for s in case.springs:
        ends = [marker(GROUND, s.anchor), marker(s.link, s.point)]
        spring = u.SpringDamper(
            markerNumbers=ends, stiffness=s.stiffness, damping=0, referenceLength=s.length
        )
        system.AddObject(spring)
    for k, torque in case.torques.items():
        on = system.AddMarker(u.MarkerBodyRigid(bodyNumber=bodies[k], localPosition=[0, 0, 0]))
        load = [torque * x for x in case.links[k].axis]
        system.AddLoad(u.LoadTorqueVector(markerNumber=on, loadVector=load))
    system.Assemble()
    try:
        seconds = _solved(engine, system, case, h)
    except engine.SolverError:
        return None
    kind = engine.OutputVariableType
    rotations = [np.array(system.GetObjectOutputBody(b, kind.RotationMatrix)) for b in bodies]
    positions = [np.array(system.GetObjectOutputBody(b, kind.Position)) for b in bodies]
    q = coordinates(case, [r.reshape(3, 3) for r in rotations], positions)
    return End(seconds, q) if np.isfinite(q).all() else None


def _planar_bodies(system: Any, u: Any, case: Case, ground: Any) -> list[Any]:
    """Bodies of the plane, whose reference points are centres of mass."""
    bodies = []
    for link, pose in zip(case.links, placed(case), strict=True):
        arm = pose.rotation @ np.array(link.com)
        center = pose.position + arm
        moving = pose.velocity + np.cross(pose.omega, arm)
        angle = float(np.arctan2(pose.rotation[1, 0], pose.rotation[0, 0]))
        node = system.AddNode(
            u.NodeRigidBody2D(
                referenceCoordinates=[center[0], center[1], angle],
                initialVelocities=[moving[0], moving[1], pose.omega[2]],
            )
        )
        body = u.RigidBody2D(nodeNumber=node, mass=link.mass, inertia=link.inertia[2])
        bodies.append(system.AddObject(body))
        if any(case.gravity):
            weight = system.AddMarker(u.MarkerBodyMass(bodyNumber=bodies[-1]))
            load = u.LoadMassProportional(markerNumber=weight, loadVector=list(case.gravity))
            system.AddLoad(load)
    return bodies


def _spatial_bodies(system: Any, u: Any, case: Case, ground: Any) -> list[Any]:
    """Bodies of space on their joints."""
    poses = placed(case)
    bodies: list[Any] = []
    for k, (link, pose) in enumerate(zip(case.links, poses, strict=True)):
        bodies.append(
            system.CreateRigidBody(
                inertia=_inertia(u, link),
                referencePosition=list(pose.position),
                referenceRotationMatrix=pose.rotation,
                initialVelocity=list(pose.velocity),
                initialAngularVelocity=list(pose.omega),
                gravity=list(case.gravity),
            )
        )
        grounded = link.parent == GROUND
        system.CreateGenericJoint(
            itemNumbers=[ground if grounded else bodies[link.parent], bodies[k]],
            position=list(pose.position),
            rotationMatrixAxes=np.eye(3) if grounded else poses[link.parent].rotation,
            constrainedAxes=_held_axes(link),
            useGlobalFrame=True,
        )
    return bodies


def _inertia(u: Any, link: Link) -> Any:
    """Inertia about the link's origin; a link without mass has a little."""
    mass = link.mass or SMALL
    moments = np.diag(link.inertia if link.mass else (SMALL, SMALL, SMALL))
    return u.RigidBodyInertia(mass=mass, inertiaTensor=moments).Translated(list(link.com))


def _held_axes(link: Link) -> list[int]:
    """1 for translations and rotations that the joint of a link holds."""
    k = int(np.argmax(link.axis))
    held = [1] * 6
    held[k if link.slides else 3 + k] = 0
    return held


def _solved(engine: Any, system: Any, case: Case, h: float) -> float:
    """Processor time of the solve [s]."""
    settings = engine.SimulationSettings()
    own = settings.timeIntegration
    own.numberOfSteps = round(case.duration / h)
    own.endTime = case.duration
    own.verboseMode = 0
    own.newton.useModifiedNewton = True
    own.newton.relativeTolerance = 1e-8
    own.newton.absoluteTolerance = 1e-10
    own.generalizedAlpha.computeInitialAccelerations = True
    own.generalizedAlpha.spectralRadius = 0.9
    settings.solutionSettings.writeSolutionToFile = False
    settings.parallel.numberOfThreads = 1
    if not case.planar:
        settings.linearSolverType = engine.LinearSolverType.EigenDense
        settings.linearSolverSettings.ignoreSingularJacobian = True  # of rows that depend on others
    start = time.process_time()
    system.SolveDynamic(settings, solverType=engine.DynamicSolverType.GeneralizedAlpha)
    return time.process_time() - start


class Pose(NamedTuple):
    """Placement and motion of a link's origin in world axes."""

    rotation: np.ndarray
    position: np.ndarray
    omega: np.ndarray
    velocity: np.ndarray


def placed(case: Case) -> list[Pose]:
    """Poses of all links at the start."""
    poses: list[Pose] = []
    still = Pose(np.eye(3), np.zeros(3), np.zeros(3), np.zeros(3))
    for link, q, qd in zip(case.links, case.q, case.qd, strict=True):
        base = still if link.parent == GROUND else poses[link.parent]
        arm = base.rotation @ np.array(link.position)
        axis = base.rotation @ np.array(link.axis)
        position = base.position + arm
        velocity = base.velocity + np.cross(base.omega, arm)
        if link.slides:
            moved = axis * q
            velocity = velocity + np.cross(base.omega, moved) + axis * qd
            poses.append(Pose(base.rotation, position + moved, base.omega, velocity))
        else:
            turn = Rotation.from_rotvec(q * np.array(link.axis)).as_matrix()
            poses.append(Pose(base.rotation @ turn, position, base.omega + axis * qd, velocity))
    return poses


def coordinates(case: Case, rotations: Any, positions: Any) -> np.ndarray:
    """Joint coordinates of placements, angles on the side of the start that the case tells apart."""
    q = []
    for k, link in enumerate(case.links):
        base = np.eye(3) if link.parent == GROUND else rotations[link.parent]
        origin = np.zeros(3) if link.parent == GROUND else positions[link.parent]
        if link.slides:
            arm = positions[k] - origin - base @ np.array(link.position)
            q.append(float(base.T @ arm @ np.array(link.axis)))
        else:
            turn = Rotation.from_matrix(base.T @ rotations[k]).as_rotvec()
            q.append(float(turn @ np.array(link.axis)))
    return np.array(q)


def best(run: Callable[[], End | None], repeats: int) -> End | None:
    """The fastest of some repeats."""
    ends = [end for end in (run() for _ in range(repeats)) if end is not None]
    return min(ends, key=lambda end: end.seconds) if ends else None
