"""The scene of one mechanism and its run, which follow a state."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from dalembert.displays import shortened
from dalembert.model.mechanism import Mechanism
from dalembert.views.pictures.viewpoint import (
    plane_normal,
    upwards,
)
from dalembert.views.solids.proportions import Proportions
from dalembert.views.viewer.holding_forces import reactions_at
from dalembert.views.viewer.nodes.force_arrows import ForceArrows
from dalembert.views.viewer.nodes.mass_marks import MassMarks
from dalembert.views.viewer.nodes.moving_places import (
    MovingPlaces,
    ViewedPlaces,
)
from dalembert.views.viewer.nodes.robot_meshes import (
    BodyMesh,
    corners,
)
from dalembert.views.viewer.nodes.robot_nodes import RobotNodes
from dalembert.views.viewer.nodes.scene_setting import (
    Surroundings,
    set_scene,
)
from dalembert.views.viewer.quaternions import quaternion
from dalembert.views.viewer.run_states import (
    MOST_GHOSTS,
    RunStates,
    ViewedState,
)

MOST_POINTS = 600  # of a trace
TRACE = (214, 120, 30)
AXES = 2.2  # length of the axes of a frame, of the diameter of links
MOST_LABELS = 60  # frames whose names are shown
ROBOT = "/robot"


class ViewerScene:
    """All nodes of the scene; nothing in it waits for a browser."""

    def __init__(
        self, server: Any, mechanism: Mechanism, meshes: Sequence[BodyMesh], run: RunStates | None
    ):
        self.server = server
        self.mechanism = mechanism
        self.meshes = meshes
        self.run = run
        self.places = MovingPlaces(mechanism)
        self.robot = RobotNodes(server.scene, ROBOT, mechanism, meshes, ghost=False)
        self.ghosts = [
            RobotNodes(server.scene, f"/ghost{k}", mechanism, meshes, ghost=True)
            for k in range(min(0 if run is None else run.count, MOST_GHOSTS))
            if run is not None and run.count > 1
        ]
        self.masses = MassMarks(server.scene, ROBOT, mechanism)
        self.forces = ForceArrows(server.scene, "/forces", self.places)
        self.frames = self._frames()
        self.trace: Any = None
        self.traced: tuple[int, int] | None = None
        if run is not None:
            self.forces.expect(run.largest_forces())

    def _frames(self) -> list[Any]:
        """Axes of bodies and frames, hidden until they are asked for."""
        scene = self.server.scene
        thin = Proportions.of(self.mechanism).thin
        nodes = []
        for k, name in enumerate(self.places.names):
            length = AXES * 2 * thin
            node = scene.add_frame(
                f"/frames/f{k}",
                axes_length=length,
                axes_radius=length / 24,
                origin_radius=length / 14,
                visible=False,
            )
            if k < MOST_LABELS:
                scene.add_label(f"/frames/f{k}/name", shortened(name), font_screen_scale=0.8)
            nodes.append(node)
        return nodes

    def set_surroundings(self, postures: np.ndarray, is_dark: bool) -> Surroundings:
        """Set ground and camera for a motion through postures (K, nq)."""
        places = self.places.at(postures)
        frames = [part[..., 3].reshape(-1, 3) for part in places]
        points, bodies = corners(self.meshes)
        poses = places.bodies[:, bodies]
        hulls = np.einsum("knij,nj->kni", poses[..., :3], points) + poses[..., 3]
        around = Surroundings.of(
            np.concatenate([*frames, hulls.reshape(-1, 3)]),
            upwards(self.mechanism),
            plane_normal(self.mechanism, places.bodies[0]),
        )
        set_scene(self.server, around, is_dark)
        return around

    def show(self, state: ViewedState, shown: Any) -> ViewedPlaces:
        """Move everything to a state; `shown` says which parts are to be seen."""
        places = self.places.at(state.q).at(0)
        self.robot.move(places)
        self.masses.move(places)
        self.masses.show(shown["ellipsoids"], shown["centres"])
        self._show_frames(places, shown["frames"])
        self.forces.draw_joint_forces(places, state.tau if shown["forces"] else None)
        reactions = reactions_at(self.mechanism, state) if shown["reactions"] else None
        self.forces.draw_reactions(places, reactions)
        return places

    def _show_frames(self, places: ViewedPlaces, visible: bool) -> None:
        poses = np.concatenate([places.bodies, places.frames])
        for node, pose in zip(self.frames, poses, strict=True):
            node.visible = visible
            if visible:
                node.position = pose[:, 3]
                node.wxyz = quaternion(pose[:, :3])

    def show_ghosts(self, t: float, chosen: int, visible: bool) -> None:
        """Move the other trajectories of a run to a time [s], pale."""
        for k, ghost in enumerate(self.ghosts):
            is_seen = visible and k != chosen
            ghost.show(is_seen)
            if is_seen and self.run is not None:
                ghost.move(self.places.at(self.run.at(t, k).q).at(0))

    def show_trace(self, frame: int, trajectory: int, visible: bool) -> None:
        """Draw the way of a frame, by its index among bodies, then frames."""
        if self.run is None:
            return
        if self.trace is not None:
            self.trace.visible = visible
        if not visible or self.traced == (frame, trajectory):
            return
        self.traced = (frame, trajectory)
        way = self.way_of(frame, trajectory)
        lines = np.stack([way[:-1], way[1:]], axis=1)
        if not len(lines):
            return
        self.trace = self.server.scene.add_line_segments(
            "/trace", lines, TRACE, thickness=2.0, thickness_units="screen"
        )

    def way_of(self, frame: int, trajectory: int) -> np.ndarray:
        """Points (K, 3) that a frame goes through [m]."""
        assert self.run is not None
        records = self.run.q[trajectory]
        keep = np.unique(np.linspace(0, len(records) - 1, MOST_POINTS).round().astype(int))
        places = self.places.at(records[keep])
        return np.asarray(np.concatenate([places.bodies, places.frames], axis=1)[:, frame, :, 3])

    def farthest_frame(self) -> int:
        """Index of the frame that comes farthest round in a run; the last of equals."""
        assert self.run is not None
        records = self.run.q[0]
        keep = np.unique(np.linspace(0, len(records) - 1, 50).round().astype(int))
        places = self.places.at(records[keep])
        ways = np.concatenate([places.bodies, places.frames], axis=1)[..., 3]
        reach = np.linalg.norm(np.ptp(ways, axis=0), axis=1)
        return int(np.flatnonzero(reach >= reach.max() * (1 - 1e-9))[-1])
