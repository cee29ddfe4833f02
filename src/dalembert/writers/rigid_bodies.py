"""A mechanism as other programs know one: rigid bodies, and rigid drives."""

from __future__ import annotations

from dataclasses import replace

from dalembert.model.joints import Free
from dalembert.model.mechanism import (
    Mechanism,
    without_warnings,
)
from dalembert.model.parts import (
    Body,
    Joint,
)
from dalembert.spatial.vectors import (
    IDENTITY,
    Matrix,
    Vector,
)
from dalembert.writers.losses import Losses


def rigid(mechanism: Mechanism, losses: Losses) -> Mechanism:
    """The mechanism with rigid links of the same mass, and with motors that follow their joints."""
    elastic = [body.name for body in mechanism.elastic_bodies]
    flexible = [joint.name for joint in mechanism.flexible_joints]
    if elastic:
        losses.note("bending of links, which become rigid", *elastic)
    if flexible:
        losses.note("springs of drives, which become rigid", *flexible)
    if all(body.beam is None for body in mechanism.bodies) and not flexible:
        return mechanism
    with without_warnings():
        bare = mechanism.without("constraints", "elasticity")
        return replace(bare, bodies=tuple(map(_lumped, bare.bodies)))


def _lumped(body: Body) -> Body:
    """A body whose beam is part of its mass and moments."""
    if body.beam is None:
        return body
    joint = Joint("joint", Free(), "base", body.name)
    base = Body("base" if body.name != "base" else "ground")
    alone = Mechanism("alone", (base, body), (replace(joint, parent=base.name),))
    inertia = alone.tree().inertia[1]
    centre = inertia.h * (1 / inertia.m)
    moments = (
        inertia.tensor() + (Matrix.outer(centre, centre) - IDENTITY * _square(centre)) * inertia.m
    )
    (xx, xy, xz), (_, yy, yz), (_, _, zz) = moments
    return Body(
        body.name,
        inertia.m,
        tuple(centre),
        (xx, xy, yy, xz, yz, zz),
        body.source,
        visuals=body.visuals,
    )


def _square(v: Vector) -> float:
    return float(v.dot(v))
