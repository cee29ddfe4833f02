"""Solids of a mechanism: the visuals of its bodies, else shapes made from joints and inertias."""

from __future__ import annotations

from dalembert.model.mechanism import Mechanism
from dalembert.model.parts import Body
from dalembert.views.figures.plain_numbers import (
    numbers_of,
    pose_of,
    with_numbers,
)
from dalembert.views.solids.joint_shapes import (
    Ranges,
    joint_solids,
)
from dalembert.views.solids.link_shapes import (
    base_solids,
    link_solids,
)
from dalembert.views.solids.proportions import Proportions
from dalembert.views.solids.solid_data import (
    COLOURS,
    Colour,
    Solid,
)


def solids_of(mechanism: Mechanism, ranges: Ranges | None = None) -> tuple[Solid, ...]:
    """Shapes of all bodies of a mechanism, each in the axes of its body.

    A body with visuals that are seen has these; beside a mesh it keeps the shapes made for it, in
    the role 'fallback', for pictures that cannot load meshes. Where some bodies have visuals, the
    base and bodies on fixed joints that have none are mere frames, without a shape. Symbols stand
    for 1. `ranges` are displacements [m] that the rails of prismatic joints cover, by joint.

    Examples
    --------
    >>> import dalembert as da
    >>> [s.role for s in solids_of(da.planar_chain(1)) if s.body == "link1"]
    ['link', 'tip', 'joint', 'collar']
    """
    mechanism = with_numbers(mechanism)
    sizes = Proportions.of(mechanism)
    given = {body.name: _given(body) for body in mechanism.bodies}
    solids = [solid for name in given for solid in given[name]]
    frames = _mere_frames(mechanism, given)
    for made in (
        *base_solids(mechanism, sizes),
        *link_solids(mechanism, sizes),
        *joint_solids(mechanism, sizes, ranges),
    ):
        shapes = given[made.body]
        if made.body in frames:
            continue
        if not shapes:
            solids.append(made)
        elif any(shape.kind == "mesh" for shape in shapes):
            solids.append(made._replace(role="fallback"))
    return tuple(solids)


def _mere_frames(mechanism: Mechanism, given: dict[str, list[Solid]]) -> set[str]:
    """Bodies without shapes of their own in a file that has shapes: frames on fixed joints, and the
    base.
    """
    shaped = {body for body, shapes in given.items() if shapes}
    if not shaped:
        return set()
    fixed = {joint.child for joint in mechanism.joints if joint.is_fixed}
    return (fixed | {mechanism.bodies[0].name}) - shaped


def _given(body: Body) -> list[Solid]:
    """Visuals of a body that are seen."""
    return [
        Solid(
            body.name,
            visual.kind,
            pose_of(visual.origin),
            tuple(numbers_of(visual.sizes).tolist()),
            _colour(visual.colour),
            "given",
            visual.mesh,
        )
        for visual in body.visuals
        if visual.seen
    ]


def _colour(given: tuple[object, ...] | None) -> Colour:
    """The colour of a visual, or that of shapes without one."""
    if given is None:
        return COLOURS["given"]
    red, green, blue, opacity = numbers_of(given).tolist()
    return red, green, blue, opacity
