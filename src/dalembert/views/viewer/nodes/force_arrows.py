"""Forces in the scene: joint torques as arrows that turn, joint forces and reactions as straight
ones.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import (
    Any,
    NamedTuple,
)

import numpy as np

from dalembert.model.joints import (
    Continuous,
    Helical,
    Prismatic,
    Revolute,
    Spherical,
)
from dalembert.model.mechanism import Mechanism
from dalembert.model.numbers import (
    as_float,
    unit_vector,
)
from dalembert.views.solids.proportions import Proportions
from dalembert.views.viewer.nodes.moving_places import (
    MovingPlaces,
    ViewedPlaces,
)
from dalembert.views.viewer.nodes.swept_shapes import (
    arc,
    arrow_faces,
    arrow_vertices,
    straight,
)

TURNING = (Revolute, Continuous, Helical)
FULL = 1.6 * np.pi  # angle of an arrow of the largest torque
LEAST = 0.01  # of the largest: smaller ones are not drawn
AROUND = 2.0  # radius of an arrow that turns, of the radius of the thickest link
LEAST_AROUND = 0.06  # the same, of the reach
SHAFT = 0.075  # radius of a shaft, of that of an arrow that turns
LONG = 0.3  # length of the arrow of the largest force, of the reach of the mechanism
DRIVING = (31, 158, 137)
REACTION = (206, 54, 104)


class DrivenJoint(NamedTuple):
    """A joint whose forces are drawn.

    body : index of the child
    at : its entries in tau
    axis : (3,) in the child's axes; None of a ball joint, whose entries are a vector there
    turns : whether its force is a torque
    """

    body: int
    at: slice
    axis: np.ndarray | None
    turns: bool


def driven_joints(mechanism: Mechanism) -> list[DrivenJoint]:
    """Joints with an axis, and ball joints."""
    index = {body.name: k for k, body in enumerate(mechanism.bodies)}
    found = []
    for joint in mechanism.independent_joints:
        at_v = mechanism.entries[joint.name].at_v
        at = slice(at_v.start, at_v.stop)
        kind = joint.type
        if isinstance(kind, (*TURNING, Prismatic)):
            axis = np.array([as_float(x) for x in unit_vector(kind.axis)])
            turns = not isinstance(kind, Prismatic)
            found.append(DrivenJoint(index[joint.child], at, axis, turns))
        elif isinstance(kind, Spherical):
            found.append(DrivenJoint(index[joint.child], at, None, True))
    return found


class ArrowNode:
    """An arrow in the scene, made when it is first shown."""

    def __init__(self, scene: Any, name: str, colour: tuple[int, int, int], radius: float):
        self.scene = scene
        self.name = name
        self.colour = colour
        self.radius = radius
        self.node: Any = None

    def draw(self, points: np.ndarray | None) -> None:
        """Draw the arrow along points; without points it is hidden."""
        if points is None:
            if self.node is not None:
                self.node.visible = False
            return
        vertices = arrow_vertices(points, self.radius).astype(np.float32)
        if self.node is None:
            self.node = self.scene.add_mesh_simple(
                self.name,
                vertices,
                arrow_faces(len(points)),
                color=self.colour,
                cast_shadow=False,
                receive_shadow=False,
            )
        self.node.vertices = vertices
        self.node.visible = True


class ForceArrows:
    """Arrows of joint forces and of reactions of constraints."""

    def __init__(self, scene: Any, name: str, places: MovingPlaces):
        sizes = Proportions.of(places.mechanism)
        radii = [sizes.radius_of(body) for body in places.mechanism.bodies[1:]]
        self.around = max(AROUND * max(radii, default=sizes.thin), LEAST_AROUND * sizes.reach)
        self.reach = sizes.reach
        self.joints = driven_joints(places.mechanism)
        self.ends = places.ends_of_constraints()
        self.largest = {True: 0.0, False: 0.0}  # by whether it is a torque [N m, N]
        shaft = SHAFT * self.around
        self.of_joints = [
            ArrowNode(scene, f"{name}/tau{k}", DRIVING, shaft) for k in range(len(self.joints))
        ]
        self.of_forces = [
            ArrowNode(scene, f"{name}/force{k}", REACTION, shaft) for k in range(len(self.ends))
        ]
        self.of_torques = [
            ArrowNode(scene, f"{name}/torque{k}", REACTION, shaft) for k in range(len(self.ends))
        ]

    def expect(self, tau: np.ndarray | None) -> None:
        """Scale arrows for forces as large as these (nv,)."""
        if tau is None:
            return
        for joint in self.joints:
            self._enlarge(joint.turns, float(np.linalg.norm(tau[joint.at])))

    def _enlarge(self, turns: bool, size: float) -> None:
        if np.isfinite(size):
            self.largest[turns] = max(self.largest[turns], size)

    def draw_joint_forces(self, places: ViewedPlaces, tau: np.ndarray | None) -> None:
        """Draw forces (nv,) of joints; without forces all are hidden."""
        self.expect(tau)
        for joint, arrow in zip(self.joints, self.of_joints, strict=True):
            if tau is None:
                arrow.draw(None)
                continue
            pose = places.bodies[joint.body]
            own = tau[joint.at] if joint.axis is None else tau[joint.at] * joint.axis
            arrow.draw(self._along(joint.turns, pose[:, 3], pose[:, :3] @ own))

    def draw_reactions(
        self, places: ViewedPlaces, reactions: Mapping[str, np.ndarray] | None
    ) -> None:
        """Draw reactions (6,), torque first, in world axes at the frames of their constraints."""
        for (name, end), force, torque in zip(
            self.ends, self.of_forces, self.of_torques, strict=True
        ):
            wrench = None if reactions is None else reactions.get(name)
            if wrench is None or np.shape(wrench) != (6,):
                force.draw(None)
                torque.draw(None)
                continue
            self._enlarge(True, float(np.linalg.norm(wrench[:3])))
            self._enlarge(False, float(np.linalg.norm(wrench[3:])))
            place = places.ends[end][:, 3]
            torque.draw(self._along(True, place, wrench[:3]))
            force.draw(self._along(False, place, wrench[3:]))

    def _along(self, turns: bool, place: np.ndarray, vector: np.ndarray) -> np.ndarray | None:
        """Points of the arrow of a force or torque; None where it is too small to be seen."""
        size = float(np.linalg.norm(vector))
        if not np.isfinite(size) or size <= LEAST * self.largest[turns] or size == 0:
            return None
        part = size / self.largest[turns]
        if turns:
            return arc(place, vector, self.around, FULL * part)
        return straight(place, place + vector / size * part * LONG * self.reach)
