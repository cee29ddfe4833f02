"""Shapes of joints: cylinders on their axes, balls, slides on rails, mounts on the base."""

from __future__ import annotations

from collections.abc import (
    Iterator,
    Mapping,
)

import numpy as np

from dalembert.model.joints import (
    Cylindrical,
    Fixed,
    Free,
    Helical,
    Planar,
    Prismatic,
    Universal,
)
from dalembert.model.mechanism import Mechanism
from dalembert.model.numbers import as_float
from dalembert.model.parts import Joint
from dalembert.views.figures.plain_numbers import (
    numbers_of,
    pose_of,
)
from dalembert.views.solids.proportions import Proportions
from dalembert.views.solids.solid_data import (
    Solid,
    between,
    posed,
    solid,
)

RADIUS, LENGTH = 1.4, 3.0  # of a joint's cylinder, in radii of its links
COLLAR = (1.06, 0.16)  # radius and length of a collar, in those of its cylinder
STACKED = 1.08  # size of a cylinder whose joint is at the place of the joint before it
BALL = 1.7  # radius of a ball joint, in radii of its links
RAIL = 0.9  # sides of a rail, in radii of its links
TRAVEL = 0.45  # of the reach: half of a rail where nothing says how far its slide goes
FARTHEST = 3.0  # of the reach: limits beyond say nothing
SLIDE = np.array([2.4, 2.4, 3.6])  # sides of a slide, z along the rail, in radii of its links
CART = np.array([2.4, 2.4, 7.0])  # the same of a slide that is all of its body
SHORTEST = 3.0  # of the radius of a slide's links: a shorter way makes it smaller
WITHOUT = (Fixed, Free, Planar)  # types without a shape
Ranges = Mapping[str, tuple[float, float]]


def joint_solids(
    mechanism: Mechanism, sizes: Proportions, ranges: Ranges | None = None
) -> Iterator[Solid]:
    """Shapes of all joints; `ranges` are displacements [m] that rails must cover, by joint."""
    gliding = _between_slides(mechanism)
    for joint in mechanism.joints:
        is_gliding = isinstance(joint.type, Prismatic) and gliding & {joint.parent, joint.child}
        if isinstance(joint.type, WITHOUT) or is_gliding:
            continue
        yield from _shape(mechanism, sizes, joint, (ranges or {}).get(joint.name))


def _between_slides(mechanism: Mechanism) -> set[str]:
    """Bodies without mass between two slides, which are coordinates of a body in the plane or in
    space: files have them that give a body several joints.
    """
    slides = [joint for joint in mechanism.joints if isinstance(joint.type, Prismatic)]
    between = {joint.parent for joint in slides} & {joint.child for joint in slides}
    return {name for name in between if as_float(mechanism.body(name).mass) <= 0}


def thickness(mechanism: Mechanism, sizes: Proportions, joint: Joint) -> float:
    """Radius of the thinner of the links that a joint connects [m]."""
    child = sizes.radius_of(mechanism.body(joint.child))
    if joint.parent == mechanism.bodies[0].name:
        return child
    return max(child, 0.8 * sizes.radius_of(mechanism.body(joint.parent)))


def _shape(
    mechanism: Mechanism, sizes: Proportions, joint: Joint, travel: tuple[float, float] | None
) -> Iterator[Solid]:
    """Shapes of a joint, on its child but for rails."""
    r = thickness(mechanism, sizes, joint)
    if not hasattr(joint.type, "axis"):
        yield solid(joint.child, "joint", "sphere", np.eye(4), BALL * r)
    elif isinstance(joint.type, Universal):
        yield from _universal(joint, r)
    elif isinstance(joint.type, Prismatic):
        yield from _sliding(mechanism, sizes, joint, travel)
    elif isinstance(joint.type, (Cylindrical, Helical)):
        yield _rail(joint, r, _travel(sizes, joint, travel))
        yield from _barrel(joint.child, _axis(joint), r)
    elif _is_stacked(mechanism, sizes, joint):
        barrel, _ = _barrel(joint.child, _axis(joint), STACKED * r)
        yield barrel
    else:
        yield from _barrel(joint.child, _axis(joint), r)


def _is_stacked(mechanism: Mechanism, sizes: Proportions, joint: Joint) -> bool:
    """Whether a joint is at the place of the joint before it, as the axes of a wrist are."""
    offset = pose_of(joint.origin)[:3, 3]
    is_near = float(np.linalg.norm(offset)) <= sizes.near
    return is_near and joint.parent != mechanism.bodies[0].name


def _sliding(
    mechanism: Mechanism, sizes: Proportions, joint: Joint, travel: tuple[float, float] | None
) -> Iterator[Solid]:
    """A rail, and the block on it, which is a cart where its body has no other shape."""
    body = mechanism.body(joint.child)
    low, high = _travel(sizes, joint, travel)
    r = min(thickness(mechanism, sizes, joint), (high - low) / SHORTEST)
    yield _rail(joint, r, (low, high))
    far = [p for p in sizes.places[body.name] if np.linalg.norm(p) > sizes.near]
    has_box = as_float(body.mass) > 0 and bool(sizes.box(body)[0].any())
    has_shape = bool(far) or has_box or any(as_float(x) for x in body.com)
    pose = posed(np.zeros(3), _axis(joint))
    if has_shape:
        yield solid(joint.child, "joint", "box", pose, *(SLIDE * r))
    else:
        yield solid(joint.child, "body", "box", pose, *(CART * r))


def _axis(joint: Joint) -> np.ndarray:
    """The joint's axis, which is the same in the child's axes."""
    axis = numbers_of(joint.type.axis)  # type: ignore[attr-defined]
    return axis if np.linalg.norm(axis) > 0 else np.array([0.0, 0.0, 1.0])


def _barrel(body: str, axis: np.ndarray, r: float) -> Iterator[Solid]:
    """A short cylinder on an axis with a collar in its middle."""
    radius, length = RADIUS * r, LENGTH * r
    pose = posed(np.zeros(3), axis)
    yield solid(body, "joint", "cylinder", pose, radius, length)
    wide, high = COLLAR
    yield solid(body, "collar", "cylinder", pose, wide * radius, high * length)


def _universal(joint: Joint, r: float) -> Iterator[Solid]:
    """Two crossed pins: the first stays with the parent, the second with the child."""
    assert isinstance(joint.type, Universal)
    first, second = (numbers_of(axis) for axis in (joint.type.axis, joint.type.second_axis))
    pose = pose_of(joint.origin)
    yield solid(
        joint.parent, "joint", "cylinder", pose @ posed(np.zeros(3), first), 0.8 * r, LENGTH * r
    )
    yield solid(joint.child, "joint", "cylinder", posed(np.zeros(3), second), 0.8 * r, LENGTH * r)
    yield solid(joint.child, "collar", "sphere", np.eye(4), 1.2 * r)


def _rail(joint: Joint, r: float, travel: tuple[float, float]) -> Solid:
    """A bar on the parent along the axis, over the way of the slide."""
    axis = _axis(joint) / np.linalg.norm(_axis(joint))
    pose = pose_of(joint.origin)
    margin = SLIDE[2] * r / 2
    start, end = (
        pose[:3, :3] @ (axis * z) + pose[:3, 3] for z in (travel[0] - margin, travel[1] + margin)
    )
    if not isinstance(joint.type, Prismatic):
        return between(joint.parent, "rail", (start, end), (0.6 * r, 0.6 * r))
    middle = posed((start + end) / 2, end - start)
    length = float(np.linalg.norm(end - start))
    return solid(joint.parent, "rail", "box", middle, RAIL * r, RAIL * r, length)


def _travel(
    sizes: Proportions, joint: Joint, travel: tuple[float, float] | None
) -> tuple[float, float]:
    """The way of a slide [m]: its limits, else what is asked for, else a part of the reach; with 0,
    where the rail is fastened.
    """
    limits = _limits(joint)
    if limits is not None:
        low, high = min(limits[0], 0.0), max(limits[1], 0.0)
        if high - low < FARTHEST * sizes.reach:
            return low, high
    if travel is not None and travel[1] - travel[0] > sizes.near:
        return travel
    return -TRAVEL * sizes.reach, TRAVEL * sizes.reach


def _limits(joint: Joint) -> tuple[float, float] | None:
    """Limits of the displacement [m]; None where they are not both given."""
    lower, upper = joint.limits.lower, joint.limits.upper
    if lower is None or upper is None or not isinstance(joint.type, Prismatic):
        return None
    low, high = as_float(lower[0]), as_float(upper[0])
    return (low, high) if np.isfinite([low, high]).all() and low < high else None


def ranges_of(mechanism: Mechanism, q: np.ndarray) -> dict[str, tuple[float, float]]:
    """Displacements that prismatic joints go through at coordinates (..., nq), with 0 [m]."""
    found = {}
    for joint in mechanism.joints:
        entry = mechanism.entries.get(joint.name)
        if isinstance(joint.type, Prismatic) and entry is not None:
            values = q[..., entry.at_q] * as_float(entry.factor) + as_float(entry.offset)
            found[joint.name] = (min(0.0, float(values.min())), max(0.0, float(values.max())))
    return found
