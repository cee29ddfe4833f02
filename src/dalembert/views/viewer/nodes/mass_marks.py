"""Inertia in the scene: the equivalent ellipsoid of each body, centres of mass, that of all."""

from __future__ import annotations

from typing import (
    Any,
    NamedTuple,
)

import numpy as np

from dalembert.model.mechanism import Mechanism
from dalembert.model.numbers import as_float
from dalembert.model.parts import Body
from dalembert.views.solids.proportions import (
    Proportions,
    box_of,
)
from dalembert.views.viewer.nodes.moving_places import ViewedPlaces
from dalembert.views.viewer.quaternions import quaternion

ELLIPSOID = np.sqrt(
    5.0 / 3.0
)  # semi-axis of an ellipsoid, of half the side of the box of its inertia
THINNEST = 0.02  # semi-axis, of the largest
COLOUR = (122, 63, 160)
BALL = (224, 138, 60)
WHOLE = (214, 47, 47)


class InertiaEllipsoid(NamedTuple):
    """The homogeneous ellipsoid with a body's mass and inertia.

    body : index of the body
    centre (3,) [m], axes (3, 3) in columns, semi_axes (3,) [m]
    """

    body: int
    centre: np.ndarray
    axes: np.ndarray
    semi_axes: np.ndarray


def ellipsoid_of(body: Body, index: int) -> InertiaEllipsoid | None:
    """InertiaEllipsoid of a body with mass and moments of inertia, else None.

    a^2 = 5 (I2 + I3 - I1) / (2 m)

    Examples
    --------
    >>> import dalembert as da
    >>> ball = da.Body("ball", *da.solids.sphere(2.0, 0.1))
    >>> ellipsoid_of(ball, 0).semi_axes.round(12).tolist()
    [0.1, 0.1, 0.1]
    """
    if as_float(body.mass) <= 0:
        return None
    sides, axes = box_of(body)
    semi_axes = ELLIPSOID * sides / 2
    if not semi_axes.max() > 0:
        return None
    centre = np.array([as_float(x) for x in body.com])
    return InertiaEllipsoid(index, centre, axes, np.maximum(semi_axes, THINNEST * semi_axes.max()))


class MassMarks:
    """Nodes of ellipsoids and centres of mass; hidden until they are asked for."""

    def __init__(self, scene: Any, name: str, mechanism: Mechanism):
        radius = 0.6 * Proportions.of(mechanism).thin
        self.masses = np.array([as_float(body.mass) for body in mechanism.bodies])
        self.centres = np.array([[as_float(x) for x in b.com] for b in mechanism.bodies])
        self.ellipsoids = []
        self.balls = []
        for k, body in enumerate(mechanism.bodies):
            parent = f"{name}/body{k}"
            if (ellipsoid := ellipsoid_of(body, k)) is not None:
                self.ellipsoids.append(_ellipsoid_node(scene, parent, ellipsoid))
            if self.masses[k] > 0 and k > 0:
                self.balls.append(_ball(scene, f"{parent}/com", self.centres[k], radius, BALL))
        self.whole = _ball(scene, f"{name}/com", np.zeros(3), 1.8 * radius, WHOLE)

    def move(self, places: ViewedPlaces) -> None:
        """Place the centre of mass of all moving bodies; the others ride on their bodies."""
        masses = self.masses[1:]
        if masses.sum() <= 0:
            return
        poses = places.bodies[1:]
        centres = np.einsum("kij,kj->ki", poses[..., :3], self.centres[1:]) + poses[..., 3]
        self.whole.position = masses @ centres / masses.sum()

    def show(self, ellipsoids: bool, centres: bool) -> None:
        """Show or hide ellipsoids and centres of mass."""
        for node in self.ellipsoids:
            node.visible = ellipsoids
        for node in (*self.balls, self.whole):
            node.visible = centres and self.masses[1:].sum() > 0


def _ellipsoid_node(scene: Any, parent: str, ellipsoid: InertiaEllipsoid) -> Any:
    return scene.add_icosphere(
        f"{parent}/inertia",
        1.0,
        COLOUR,
        scale=tuple(ellipsoid.semi_axes),
        opacity=0.45,
        cast_shadow=False,
        position=ellipsoid.centre,
        wxyz=quaternion(ellipsoid.axes),
        visible=False,
    )


def _ball(
    scene: Any, name: str, place: np.ndarray, radius: float, colour: tuple[int, int, int]
) -> Any:
    return scene.add_icosphere(
        name, radius, colour, position=place, cast_shadow=False, visible=False
    )
