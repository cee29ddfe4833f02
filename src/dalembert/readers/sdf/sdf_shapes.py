"""Shapes of SDF links: <visual> and <collision>. A wrong shape is left out: no robot is refused
because of a picture.
"""

from __future__ import annotations

from dalembert.errors import ReadError
from dalembert.model.numbers import Number
from dalembert.model.visuals import Visual
from dalembert.readers.sdf.sdf_elements import SdfFile
from dalembert.readers.xml import Element

SIZES = {
    "box": (("size", 3),),
    "sphere": (("radius", 1),),
    "ellipsoid": (("radii", 3),),
    "cylinder": (("radius", 1), ("length", 1)),
    "capsule": (("radius", 1), ("length", 1)),
}
KINDS = f"{', '.join(SIZES)} or mesh"


def shapes_of(link: Element, file: SdfFile) -> tuple[Visual, ...]:
    """The shapes of a link, as far as they can be read."""
    shapes = []
    for element in link:
        if element.tag in ("visual", "collision"):
            try:
                shape = _shape(element, file)
            except (ReadError, ValueError):
                shape = None
            if shape is None:
                file.unread.leave(f"<{element.tag}> of another shape than {KINDS}", element.source)
            else:
                shapes.append(shape)
    return tuple(shapes)


def _shape(element: Element, file: SdfFile) -> Visual | None:
    geometry = element.find("geometry")
    if geometry is None:
        return None
    origin = file.pose(element, "a shape")
    colour, seen = _colour(element, file), element.tag == "visual"
    mesh = geometry.find("mesh")
    if mesh is not None and (uri := mesh.find("uri")) is not None:
        scale = mesh.find("scale")
        factors = (1, 1, 1) if scale is None else file.numbers(scale, 3, "a mesh")
        return Visual("mesh", factors, origin, colour, uri.text, seen, element.source)
    for kind, parts in SIZES.items():
        if (solid := geometry.find(kind)) is not None:
            sizes = _sizes(solid, parts, file)
            return Visual(kind, sizes, origin, colour, "", seen, element.source)
    return None


def _sizes(solid: Element, parts: tuple[tuple[str, int], ...], file: SdfFile) -> tuple[Number, ...]:
    sizes: list[Number] = []
    for tag, count in parts:
        child = solid.find(tag)
        if child is None:
            raise ValueError(f"a shape without <{tag}>")
        sizes += file.numbers(child, count, "a shape")
    return tuple(sizes)


def _colour(element: Element, file: SdfFile) -> tuple[float, ...] | None:
    material = element.find("material")
    if material is None:
        return None
    for tag in ("diffuse", "ambient"):
        colour = material.find(tag)
        if colour is not None and len(colour.text.split()) in (3, 4):
            channels = file.numbers(colour, len(colour.text.split()), "a colour")
            return tuple(min(1.0, max(0.0, float(x))) for x in (*channels, 1)[:4])
    return None
