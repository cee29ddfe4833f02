"""Bodies and joints of a compiled model: a joint of ours for each, bodies without mass between several
joints of one body.
"""

from __future__ import annotations

import sys
from dataclasses import (
    dataclass,
    field,
)
from typing import Any

import numpy as np

from dalembert.model.joints import (
    Fixed,
    Free,
    JointType,
    Prismatic,
    Revolute,
    Spherical,
)
from dalembert.model.numbers import Number
from dalembert.model.origins import Origin
from dalembert.model.parts import (
    Body,
    Joint,
    Limits,
)
from dalembert.model.visuals import Visual
from dalembert.readers.mjcf.compiling import CompiledModel
from dalembert.readers.mjcf.disabled_forces import Enabled
from dalembert.readers.mjcf.exact_numbers import (
    IDENTITY,
    AngleReading,
    exact,
    exact_vector,
    rotation_matrix,
)
from dalembert.readers.mjcf.motors import damping_of_motors
from dalembert.readers.mjcf.unique_names import UniqueNames

FREE, BALL, SLIDE, HINGE = range(4)  # mjtJoint
UNLIMITED = sys.float_info.max  # a bound of this size says that there is none
NOISE = 1e-14  # of the largest moment: products of inertia that the turn of axes leaves behind


@dataclass
class BodyChains:
    """Collects bodies and joints of a compiled model, parents first."""

    compiled: CompiledModel
    reading: AngleReading
    visuals: dict[int, tuple[Visual, ...]]
    bodies: list[Body] = field(default_factory=list)
    joints: list[Joint] = field(default_factory=list)
    body_names: UniqueNames = field(init=False)
    joint_names: UniqueNames = field(init=False)
    enabled: Enabled = field(init=False)
    damping: Any = field(init=False)

    def __post_init__(self) -> None:
        model = self.compiled.model
        self.enabled = Enabled.of(model)
        self.damping = model.dof_damping + damping_of_motors(model)
        names = (self.compiled.name("body", i) for i in range(model.nbody))
        self.body_names = UniqueNames(names)
        names = (self.compiled.name("joint", i) for i in range(model.njnt))
        self.joint_names = UniqueNames(names)

    def collect(self) -> None:
        """All bodies and joints."""
        model = self.compiled.model
        name = self.compiled.name("body", 0)
        self.bodies.append(
            Body(name, source=self.compiled.source("body", 0), visuals=self.visuals.get(0, ()))
        )
        for i in range(1, model.nbody):
            self._add_body(i)

    def _add_body(self, i: int) -> None:
        """A body and the joints that carry it."""
        model = self.compiled.model
        name = self.compiled.name("body", i)
        parent = self.compiled.name("body", model.body_parentid[i])
        first = int(model.body_jntadr[i])
        numbers = range(first, first + int(model.body_jntnum[i]))
        body = self._body(i, name)
        if not numbers:
            self._add_fixed(body, parent, self._place(i))
            return
        if model.jnt_type[first] == FREE:
            self._add_joint(first, parent, body, Origin())
            return
        self._add_chain(i, numbers, parent, body)

    def _add_chain(self, i: int, numbers: range, parent: str, body: Body) -> None:
        """Hinges, slides and balls from a parent to a body.

        Each turns about its anchor in the body's axes, so that bodies between have the axes of the
        body and the anchor as origin.
        """
        model = self.compiled.model
        rotations = self.reading.rotations(model.body_quat[i])
        R, start = rotation_matrix(model.body_quat[i]), np.array(model.body_pos[i])
        anchor = np.zeros(3)  # in the body's axes
        for j in numbers:
            new = anchor if model.jnt_type[j] == SLIDE else np.array(model.jnt_pos[j])
            step = start + R @ self._moved(j, new - anchor)
            origin = Origin(exact_vector(step), (*rotations, *self._turned(j)))
            rotations, R, start, anchor = (), np.eye(3), np.zeros(3), new
            is_last = j == numbers[-1] and not anchor.any()
            child = body if is_last else self._between(j, body)
            self._add_joint(j, parent, child, origin)
            parent = child.name
        if anchor.any():
            self._add_fixed(body, parent, Origin(exact_vector(-anchor)))

    def _moved(self, j: int, step: np.ndarray) -> np.ndarray:
        """The step to the anchor of a joint; `ref` of a slide is the coordinate where it stands
        there.
        """
        model = self.compiled.model
        if model.jnt_type[j] != SLIDE:
            return step
        return step - model.qpos0[model.jnt_qposadr[j]] * np.array(model.jnt_axis[j])

    def _turned(self, j: int) -> tuple[tuple[Any, Number], ...]:
        """The turn that a hinge is away from its coordinate 0 in the model's pose, by its `ref`."""
        model = self.compiled.model
        if model.jnt_type[j] != HINGE:
            return ()
        return self.reading.turn(model.jnt_axis[j], -model.qpos0[model.jnt_qposadr[j]])

    def _between(self, j: int, body: Body) -> Body:
        """The body without mass that a joint carries."""
        name = self.body_names.new(f"{body.name}/{self.compiled.name('joint', j)}")
        return Body(name, source=self.compiled.source("joint", j))

    def _add_fixed(self, body: Body, parent: str, origin: Origin) -> None:
        name = self.joint_names.new(f"{body.name}/fixed")
        self.bodies.append(body)
        self.joints.append(Joint(name, Fixed(), parent, body.name, origin, source=body.source))

    def _place(self, i: int) -> Origin:
        model = self.compiled.model
        return self.reading.origin(model.body_pos[i], model.body_quat[i])

    def _body(self, i: int, name: str) -> Body:
        """Mass, centre of mass and inertia about it in the body's axes."""
        model = self.compiled.model
        has_mass = model.body_mass[i] > 0  # without, the centre of MuJoCo says nothing
        return Body(
            name,
            exact(model.body_mass[i]),
            exact_vector(model.body_ipos[i]) if has_mass else (0, 0, 0),
            _tensor(model.body_inertia[i], model.body_iquat[i]),
            self.compiled.source("body", i),
            visuals=self.visuals.get(i, ()),
        )

    def _add_joint(self, j: int, parent: str, child: Body, origin: Origin) -> None:
        """A joint with its passive forces and limits."""
        model, on = self.compiled.model, self.enabled
        joint_type = self._type(j)
        dofs = slice(int(model.jnt_dofadr[j]), int(model.jnt_dofadr[j]) + joint_type.nv)
        spring = on.springs and joint_type.nq == joint_type.nv
        rest = model.qpos_spring[model.jnt_qposadr[j]] if spring else 0
        order = [3, 4, 5, 0, 1, 2] if joint_type.nv == 6 else slice(None)

        def of_dofs(values: Any, counts: bool = True) -> tuple[Number, ...]:
            """Entries of the joint in the order of its velocities."""
            return exact_vector(values[dofs][order]) if counts else (0,) * joint_type.nv

        self.bodies.append(child)
        self.joints.append(
            Joint(
                self.compiled.name("joint", j),
                joint_type,
                parent,
                child.name,
                origin,
                self._limits(j, joint_type),
                viscous=of_dofs(self.damping, on.dampers),
                coulomb=of_dofs(model.dof_frictionloss, on.friction),
                rotor_inertia=of_dofs(model.dof_armature, joint_type.nv == 1),
                stiffness=exact(model.jnt_stiffness[j]) if spring else 0,
                rest=exact(rest) if model.jnt_stiffness[j] else 0,
                source=self.compiled.source("joint", j),
            )
        )

    def _type(self, j: int) -> JointType:
        model = self.compiled.model
        kind = model.jnt_type[j]
        if kind in (FREE, BALL):
            return Free() if kind == FREE else Spherical()
        axis = self.reading.direction(model.jnt_axis[j])
        return Revolute(axis) if kind == HINGE else Prismatic(axis)

    def _limits(self, j: int, joint_type: JointType) -> Limits:
        """Bounds of the coordinate, and of the force of actuators."""
        model = self.compiled.model
        if joint_type.nv != 1:
            return Limits()
        lower = upper = effort = None
        if model.jnt_limited[j] and self.enabled.limits:
            is_angle = model.jnt_type[j] == HINGE
            read = self.reading.angle if is_angle else exact
            bounds = (None if abs(x) == UNLIMITED else read(x) for x in model.jnt_range[j])
            lower, upper = bounds
        if model.jnt_actfrclimited[j]:
            effort = exact(max(abs(model.jnt_actfrcrange[j])))
        return Limits(lower, upper, effort=effort)


def _tensor(moments: Any, quaternion: Any) -> tuple[Number, ...]:
    """(xx, xy, yy, xz, yz, zz) of principal moments and the quaternion of their axes."""
    if tuple(quaternion) == IDENTITY:
        xx, yy, zz = exact_vector(moments)
        return (xx, 0, yy, 0, 0, zz)
    R = rotation_matrix(quaternion)
    tensor = R @ np.diag(moments) @ R.T
    entries = [tensor[0, 0], tensor[0, 1], tensor[1, 1], tensor[0, 2], tensor[1, 2], tensor[2, 2]]
    least = NOISE * max(moments)
    return tuple(exact(x) if abs(x) > least else 0 for x in entries)
