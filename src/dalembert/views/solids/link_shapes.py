"""Shapes of links: tapered capsules between their joints, boxes and rods of their inertias, wheels."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from dalembert.model.joints import (
    Free,
    Planar,
    Prismatic,
)
from dalembert.model.mechanism import Mechanism
from dalembert.model.numbers import as_float
from dalembert.model.parts import (
    Body,
    Joint,
)
from dalembert.views.figures.constraint_marks import Rim
from dalembert.views.figures.plain_numbers import (
    numbers_of,
    pose_of,
)
from dalembert.views.solids.proportions import (
    Proportions,
    place_on,
)
from dalembert.views.solids.solid_data import (
    Solid,
    between,
    posed,
    solid,
)

END = 0.8  # radius at the end of a link, of that at its joint
TIP = 0.55  # the same of a link that carries nothing more
ROD = 0.2  # sides of a body across, of its length: a rod is thinner
BOB = 2.2  # radius of a mass point, in radii of a link
FLATTEST = 0.5  # side of a box, in radii of a link
FLAT, ROUND = 0.3, 1e-6  # thickness of a disc, of the square box; difference of its sides
SEVERAL = 3  # joints on a base that is a body with a mass, and not a mount
THICK = 0.3  # of a wheel, of its radius
TIRE = 0.55  # radius of a wheel's hub, of its own
PLATE, FOOT = (2.6, 0.7), 1.5  # radius and height of a base plate, radius of a column: of links
AFLOAT = (Free, Planar)


def link_solids(mechanism: Mechanism, sizes: Proportions) -> Iterator[Solid]:
    """Shapes of all bodies but the base."""
    joints = {joint.child: joint for joint in mechanism.joints}
    rims = _rims(mechanism, sizes)
    for body in mechanism.bodies[1:]:
        if body.name in rims:
            yield from rims[body.name]
        elif body.beam is not None:
            yield _straight_beam(sizes, body)
        else:
            yield from _link(sizes, body, joints[body.name])


def _link(sizes: Proportions, body: Body, joint: Joint) -> Iterator[Solid]:
    """Capsules from the joint to the places of a body, or the shape of its inertia."""
    far = [p for p in sizes.places[body.name] if np.linalg.norm(p) > sizes.near]
    is_afloat = isinstance(joint.type, AFLOAT)
    if is_afloat or not far and body.name not in sizes.inner:
        yield from _inertia_shape(sizes, body, joint)
    drawn: list[np.ndarray] = []
    for place in far:
        if all(np.linalg.norm(place - other) > sizes.near for other in drawn):
            drawn.append(place)
            yield from _limb(sizes, body, place)


def _limb(sizes: Proportions, body: Body, place: np.ndarray) -> Iterator[Solid]:
    """A capsule from the body's origin to a place, with a ball where nothing else hangs."""
    r = sizes.radius(body, float(np.linalg.norm(place)))
    end = END if body.name in sizes.inner else TIP
    yield between(body.name, "link", (np.zeros(3), place), (r, end * r))
    if body.name not in sizes.inner:
        yield solid(body.name, "tip", "sphere", posed(place), 1.15 * end * r)


def _inertia_shape(sizes: Proportions, body: Body, joint: Joint) -> Iterator[Solid]:
    """The rod, box or mass point with the inertia of a body, and a rod that carries it."""
    if as_float(body.mass) <= 0:
        return
    r = sizes.radius(body, sizes.length)
    com = numbers_of(body.com)
    sides, axes = sizes.box(body)
    longest = float(sides.max())
    if longest <= sizes.near:
        yield from _mass_point(sizes, body, joint, com)
        return
    k = int(np.argmax(sides))
    if sides.sum() - longest <= 2 * ROD * longest:
        way = axes[:, k] * longest
        yield between(body.name, "link", (com - way / 2, com + way / 2), (r, TIP * r))
        return
    yield _block(body.name, "body", com, np.maximum(sides, FLATTEST * r), axes)
    outside = np.abs(axes.T @ com) > np.maximum(sides, r) / 2
    if outside.any() and not isinstance(joint.type, AFLOAT):
        yield between(body.name, "link", (np.zeros(3), com), (r, END * r))


def _block(body: str, role: str, com: np.ndarray, sides: np.ndarray, axes: np.ndarray) -> Solid:
    """A box; a disc where the box is a flat square."""
    k = int(np.argmin(sides))
    thick, first, second = np.roll(sides, -k)
    if thick <= FLAT * first and abs(first - second) <= ROUND * first:
        return solid(body, role, "cylinder", posed(com, axes[:, k]), first / np.sqrt(3), thick)
    pose = posed(com)
    pose[:3, :3] = axes
    return solid(body, role, "box", pose, *sides)


def _mass_point(sizes: Proportions, body: Body, joint: Joint, com: np.ndarray) -> Iterator[Solid]:
    """A ball at the centre of mass, on a rod from the joint; none on a slide, whose block it is."""
    r = sizes.thin
    is_away = float(np.linalg.norm(com)) > sizes.near
    if isinstance(joint.type, Prismatic) and not is_away:
        return  # a slide has a block already
    if is_away and not isinstance(joint.type, AFLOAT):
        yield between(body.name, "link", (np.zeros(3), com), (r, r))
    yield solid(body.name, "bob", "sphere", posed(com), BOB * r)


def _straight_beam(sizes: Proportions, body: Body) -> Solid:
    """The centre line of a beam, not deflected; of a rigid one that is a link."""
    assert body.beam is not None
    start = pose_of(body.beam.origin)
    end = start @ [as_float(body.beam.length), 0, 0, 1]
    r = 0.8 * sizes.thin
    role = "beam" if body.modes else "link"
    return between(body.name, role, (start[:3, 3], end[:3]), (r, r))


# --- wheels ---


def _rims(mechanism: Mechanism, sizes: Proportions) -> dict[str, list[Solid]]:
    """Discs of wheels and ellipsoids of bodies that roll, by body."""
    found: dict[str, list[Solid]] = {}
    by_point: dict[int, list[Rim]] = {}
    for rim in sizes.marks.rims:
        by_point.setdefault(rim.point, []).append(rim)
    for point, rims in by_point.items():
        body, pose = place_on(mechanism, sizes.marks.places[point])
        found.setdefault(body, []).extend(_wheel(body, pose, rims))
    return found


def _wheel(body: str, pose: np.ndarray, rims: list[Rim]) -> Iterator[Solid]:
    """A disc with a hub in the plane of its rim; an ellipsoid with three rims."""
    if len(rims) > 1:
        radii = {axis: radius for rim in rims for axis, radius in zip(*rim[1:], strict=True)}
        yield solid(body, "wheel", "ellipsoid", pose, *(radii[k] for k in range(3)))
        return
    normal = pose[:3, 3 - sum(rims[0].axes)]
    radius = rims[0].radii[0]
    place = posed(pose[:3, 3], normal)
    yield solid(body, "wheel", "cylinder", place, radius, THICK * radius)
    yield solid(body, "collar", "cylinder", place, TIRE * radius, 1.25 * THICK * radius)
    spoke = posed(pose[:3, 3] + 0.3 * radius * pose[:3, rims[0].axes[0]], normal)
    yield solid(body, "wheel", "cylinder", spoke, 0.12 * radius, 1.4 * THICK * radius)


# --- the base ---


def base_solids(mechanism: Mechanism, sizes: Proportions) -> Iterator[Solid]:
    """Columns below joints above the ground, plates behind the others."""
    gravity = numbers_of(mechanism.gravity)
    up = -gravity / np.linalg.norm(gravity) if np.any(gravity) else np.array([0.0, 0.0, 1.0])
    base = mechanism.bodies[0].name
    if _is_trunk(mechanism, sizes):
        sides, axes = sizes.box(mechanism.bodies[0])
        com = numbers_of(mechanism.bodies[0].com)
        yield _block(base, "body", com, np.maximum(sides, sizes.thin), axes)
        return
    for joint in mechanism.joints:
        axis = getattr(joint.type, "axis", None)
        if joint.parent != base or isinstance(joint.type, (*AFLOAT, Prismatic)):
            continue
        r = sizes.radius_of(mechanism.body(joint.child))
        pose = pose_of(joint.origin)
        normal = up if axis is None else pose[:3, :3] @ numbers_of(axis)
        yield from _mount(base, pose[:3, 3], (up, normal), r)
    yield from _ground_link(mechanism, sizes)
    yield from _closures(mechanism, sizes)


def _is_trunk(mechanism: Mechanism, sizes: Proportions) -> bool:
    """Whether the base is the trunk of a robot, held fast: a body with mass that bears several."""
    base = mechanism.bodies[0]
    carried = [joint for joint in mechanism.joints if joint.parent == base.name]
    return len(carried) >= SEVERAL and as_float(base.mass) > 0 and bool(sizes.box(base)[0].any())


def _mount(
    base: str, place: np.ndarray, directions: tuple[np.ndarray, np.ndarray], r: float
) -> Iterator[Solid]:
    """A column on a plate below a place above the ground; a flange at another place."""
    up, normal = directions
    height = float(place @ up)
    radius, thick = PLATE[0] * r, PLATE[1] * r
    is_upright = abs(normal @ up) > 0.7 * np.linalg.norm(normal)
    if height > 2 * r and is_upright:
        foot = place - height * up
        yield between(base, "base", (foot + FOOT * r * up, place), (FOOT * r, 1.2 * r))
        yield solid(base, "base", "cylinder", posed(foot + thick / 2 * up, up), radius, thick)
        return
    side = -normal / np.linalg.norm(normal) * (np.sign(normal @ up) or 1.0)
    if not is_upright:
        side = -normal / np.linalg.norm(normal) * _away(normal)
    behind = place + side * (1.5 * r + thick / 2)
    yield solid(base, "base", "cylinder", posed(behind, normal), radius, thick)


def _ground_link(mechanism: Mechanism, sizes: Proportions) -> Iterator[Solid]:
    """Bars from the middle of several joints on the base to each of them."""
    base = mechanism.bodies[0].name
    rolling = {rim.point for rim in sizes.marks.rims}
    places = [
        pose_of(joint.origin)[:3, 3]
        for joint in mechanism.joints
        if joint.parent == base and not isinstance(joint.type, (*AFLOAT, Prismatic))
    ]
    for point in set(sizes.marks.closed) - rolling:
        body, pose = place_on(mechanism, sizes.marks.places[point])
        if body == base:
            places.append(pose[:3, 3])
    middle = np.mean(places, axis=0) if places else np.zeros(3)
    for place in places:
        if np.linalg.norm(place - middle) > sizes.near:
            yield between(base, "base", (middle, place), (0.7 * sizes.thin, 0.7 * sizes.thin))


def _away(normal: np.ndarray) -> float:
    """Sign of the normal that points to the viewer of a planar motion, who stands at -y, +z or +x."""
    k = int(np.argmax(np.abs(normal)))
    towards = (1.0, -1.0, 1.0)[k]
    return float(np.sign(normal[k])) * towards


def _closures(mechanism: Mechanism, sizes: Proportions) -> Iterator[Solid]:
    """Balls at places where constraints close loops."""
    rolling = {rim.point for rim in sizes.marks.rims}
    for point in sizes.marks.closed:
        if point in rolling:
            continue
        body, pose = place_on(mechanism, sizes.marks.places[point])
        yield solid(body, "closure", "sphere", posed(pose[:3, 3]), 1.5 * sizes.thin)
