"""Shapes of bodies as geoms that collide with nothing."""

from __future__ import annotations

from dalembert.expr import known_zero
from dalembert.model.numbers import Number
from dalembert.model.visuals import Visual
from dalembert.writers.mjcf_meshes import WrittenMeshes
from dalembert.writers.numerals import (
    decimals,
    quaternion_text,
)
from dalembert.writers.xml_elements import (
    XmlElement,
    xml_element,
)

SEEN, COLLIDING = "2", "3"  # groups of MuJoCo's viewer, which hides the second
HALVED = {"box": (0, 1, 2), "cylinder": (1,), "capsule": (1,)}  # sizes of which MuJoCo has half


def geom_of(visual: Visual, meshes: WrittenMeshes) -> XmlElement | None:
    """The <geom> of a shape; None of a mesh that MuJoCo would not read."""
    mesh = meshes.name_of(visual) if visual.kind == "mesh" else None
    if visual.kind == "mesh" and mesh is None:
        return None
    halved = HALVED.get(visual.kind, ())
    sizes = [_half(x) if k in halved else x for k, x in enumerate(visual.sizes)]
    is_turned = not all(known_zero(angle) for _, angle in visual.origin.rotations)
    is_moved = not all(map(known_zero, visual.origin.xyz))
    return xml_element(
        "geom",
        type=visual.kind,
        mesh=mesh,
        size=None if mesh else decimals(sizes),
        pos=decimals(visual.origin.xyz) if is_moved else None,
        quat=quaternion_text(visual.origin) if is_turned else None,
        rgba=None if visual.colour is None else decimals(visual.colour),
        group=SEEN if visual.seen else COLLIDING,
        contype="0",
        conaffinity="0",
    )


def _half(x: Number) -> Number:
    return x / 2
