"""A robot in the scene: a node for each body, moved by its placement, and tubes that bend.

Names of nodes are paths of numbers: no name from a file is one.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from dalembert.model.mechanism import Mechanism
from dalembert.views.figures.beam_curves import POINTS
from dalembert.views.solids.proportions import Proportions
from dalembert.views.solids.solid_data import COLOURS
from dalembert.views.viewer.nodes.moving_places import ViewedPlaces
from dalembert.views.viewer.nodes.robot_meshes import BodyMesh
from dalembert.views.viewer.nodes.swept_shapes import (
    tube,
    tube_vertices,
)
from dalembert.views.viewer.quaternions import quaternion

GHOST = 0.22  # opacity of other trajectories
LEAST_OPACITY = 0.999  # from which on a mesh is opaque


class RobotNodes:
    """The nodes of one robot, the first of which are those of its bodies."""

    def __init__(
        self, scene: Any, name: str, mechanism: Mechanism, meshes: Sequence[BodyMesh], ghost: bool
    ):
        self.scene = scene
        self.name = name
        self.opacity = GHOST if ghost else 1.0
        self.root = scene.add_frame(name, show_axes=False)
        self.bodies = [
            scene.add_frame(f"{name}/body{k}", show_axes=False)
            for k in range(len(mechanism.bodies))
        ]
        self.meshes = [self._mesh(k, mesh) for k, mesh in enumerate(meshes)]
        sizes = Proportions.of(mechanism)
        self.radii = [
            np.full(POINTS, 0.8 * sizes.radius_of(body)) for body in mechanism.elastic_bodies
        ]
        self.beams: list[Any] = []

    def _mesh(self, k: int, mesh: BodyMesh) -> Any:
        *rgb, opacity = mesh.colour
        opacity *= self.opacity
        return self.scene.add_mesh_simple(
            f"{self.name}/body{mesh.body}/mesh{k}",
            mesh.vertices,
            mesh.faces,
            color=_rgb(rgb),
            opacity=None if opacity > LEAST_OPACITY else opacity,
            cast_shadow=self.opacity == 1.0,
            side="double" if opacity <= LEAST_OPACITY else "front",
        )

    def move(self, places: ViewedPlaces) -> None:
        """Place the bodies, and bend the beams."""
        for node, pose in zip(self.bodies, places.bodies, strict=True):
            node.position = pose[:, 3]
            node.wxyz = quaternion(pose[:, :3])
        for k, sections in enumerate(places.sections):
            # the centre line is along x, the cross-section in the plane of y and z
            vertices = tube_vertices(sections[..., 3], sections[..., 1:3], self.radii[k])
            if k < len(self.beams):
                self.beams[k].vertices = vertices.astype(np.float32)
            else:
                self.beams.append(self._beam(k, vertices))

    def _beam(self, k: int, vertices: np.ndarray) -> Any:
        *rgb, _ = COLOURS["beam"]
        return self.scene.add_mesh_simple(
            f"{self.name}/beam{k}",
            vertices,
            tube(POINTS),
            color=_rgb(rgb),
            opacity=None if self.opacity == 1.0 else self.opacity,
        )

    def show(self, visible: bool) -> None:
        """Show or hide all of it."""
        self.root.visible = visible


def _rgb(colour: Sequence[float]) -> tuple[int, int, int]:
    red, green, blue = (int(round(255 * x)) for x in colour)
    return red, green, blue
