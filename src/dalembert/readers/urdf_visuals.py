"""Shapes of a URDF file: <visual> and <collision> of its links, with the colours of its materials.

A wrong shape is left out with a note: no robot is refused because of a picture.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from dalembert.model.numbers import Literal
from dalembert.model.origins import Origin
from dalembert.model.visuals import Visual
from dalembert.readers.unread import UnreadContent
from dalembert.readers.urdf_content import (
    KINDS,
    SHAPES,
)
from dalembert.readers.xml import (
    Element,
    quoted,
)

CONTENT = ("origin", "geometry", "material")  # of a shape, each once
GEOMETRIES: dict[str, tuple[str, ...]] = {  # attributes in the order of the sizes of a Visual
    "box": ("size",),
    "sphere": ("radius",),
    "cylinder": ("radius", "length"),
    "capsule": ("radius", "length"),
    "mesh": ("scale",),
}
Colour = tuple[Any, ...]
OPAQUE = (Literal("1"),)
MAX_TEXT = 4096  # characters of a number, a material's name or a mesh's file
SHOWN = 60  # characters of the file quoted in a note


class ShapeFault(Exception):
    """A reason why a shape is left out."""


class UrdfVisuals:
    """Reads the shapes of one robot; notes about them are content that is not read."""

    def __init__(self, robot: Element, unread: UnreadContent):
        self.unread = unread
        self.given: dict[Element, Colour | None] = {}  # of materials that say one
        self.colours: dict[str, Colour] = {}  # by the name of a material
        for material in _materials(robot):
            name = material.get("name")
            if name and name not in self.colours and (colour := self._colour(material)):
                self.colours[name] = colour

    def of(self, link: Element) -> tuple[Visual, ...]:
        """The shapes of a link in their order."""
        shapes = (self._shape(child) for child in link if child.tag in SHAPES)
        return tuple(shape for shape in shapes if shape is not None)

    def _note(self, why: str, element: Element) -> None:
        self.unread.lose("pictures", "", element.source, why, "note")

    def _shape(self, element: Element) -> Visual | None:
        self._note_unused(element)
        try:
            return self._read_shape(element)
        except ShapeFault as fault:
            self._note(f"a <{element.tag}> is left out: {fault}", element)
            return None

    def _note_unused(self, element: Element) -> None:
        """Note children that are unknown or stand twice; misplaced mechanics are noted elsewhere."""
        tags: set[str] = set()
        for child in element:
            if child.tag in tags:
                self._note(f"a second <{child.tag}> of a <{element.tag}> is not used.", child)
            elif child.tag in CONTENT:
                tags.add(child.tag)
            elif child.tag not in KINDS:
                self._note(f"<{child.tag[:SHOWN]}> of a <{element.tag}> is not used.", child)

    def _read_shape(self, element: Element) -> Visual:
        geometry = element.find("geometry")
        if geometry is None:
            raise ShapeFault("it has no <geometry>.")
        shape = next((child for child in geometry if _local(child.tag) in GEOMETRIES), None)
        if shape is None:
            raise ShapeFault(_unknown_geometry(geometry))
        kind = _local(shape.tag)
        sizes = _sizes(shape, kind)
        origin = _origin(element.find("origin"))
        colour = self._material_colour(element)
        mesh = _mesh_file(shape) if kind == "mesh" else ""
        seen = element.tag == "visual"
        try:
            return Visual(kind, sizes, origin, colour, mesh, seen, element.source)
        except ValueError as error:
            raise ShapeFault(str(error)) from None

    def _material_colour(self, element: Element) -> Colour | None:
        """Colour of the material of a shape: its own, else that of its name."""
        material = element.find("material")
        if material is None:
            return None
        if material.find("color") is not None:
            return self._colour(material)
        name = material.get("name") or ""
        if name not in self.colours and element.tag == "visual":
            texture = "a texture, which is not used, and " if material.find("texture") else ""
            self._note(f"material {name[:SHOWN]!r} has {texture}no colour.", material)
        return self.colours.get(name)

    def _colour(self, material: Element) -> Colour | None:
        """Red, green, blue and opacity that a material gives, read once; None without them."""
        if material not in self.given:
            color = material.find("color")
            self.given[material] = None if color is None else self._read_colour(color)
        return self.given[material]

    def _read_colour(self, color: Element) -> Colour | None:
        try:
            colour = _numbers(color, "rgba")
        except ShapeFault as fault:
            self._note(f"a colour is not used: {fault}", color)
            return None
        if len(colour) == 3:
            colour += OPAQUE
        if len(colour) != 4 or not all(0 <= x <= 1 for x in colour):
            rgba = quoted(color.get("rgba") or "", SHOWN)
            self._note(f"a colour is not used: rgba={rgba} is not 4 numbers from 0 to 1.", color)
            return None
        return colour


def _materials(robot: Element) -> Iterator[Element]:
    """Materials of the robot, then those of its shapes, which other shapes may name."""
    yield from robot.all("material")
    for link in robot.all("link"):
        for shape in link.all("visual"):
            yield from shape.all("material")


def _local(tag: str) -> str:
    """A tag without its prefix, as of <drake:capsule>."""
    return tag.rpartition(":")[2]


def _unknown_geometry(geometry: Element) -> str:
    if not geometry.children:
        return "its <geometry> is empty."
    tag = geometry.children[0].tag[:SHOWN]
    return f"its geometry is a <{tag}> (known: {', '.join(GEOMETRIES)})."


def _sizes(shape: Element, kind: str) -> tuple[Any, ...]:
    """Lengths of a shape, or factors of a mesh: a single one is that of all directions."""
    if kind == "mesh" and shape.get("scale") is None:
        return (1, 1, 1)
    sizes: tuple[Any, ...] = ()
    for attribute in GEOMETRIES[kind]:
        sizes += _numbers(shape, attribute)
    return sizes * 3 if kind == "mesh" and len(sizes) == 1 else sizes


def _mesh_file(shape: Element) -> str:
    file = (shape.get("filename") or "").strip()
    if not file:
        raise ShapeFault("<mesh> has no filename.")
    if len(file) > MAX_TEXT:
        raise ShapeFault(f"the filename of its mesh has more than {MAX_TEXT} characters.")
    return file


def _origin(element: Element | None) -> Origin:
    if element is None:
        return Origin()
    xyz, rpy = (
        _numbers(element, attribute) if element.get(attribute) is not None else (0, 0, 0)
        for attribute in ("xyz", "rpy")
    )
    if len(xyz) != 3 or len(rpy) != 3:
        raise ShapeFault("xyz and rpy of its <origin> are not 3 numbers each.")
    return Origin.rpy(xyz, *rpy)


def _numbers(element: Element, attribute: str) -> tuple[Literal, ...]:
    text = element.get(attribute)
    if text is None:
        raise ShapeFault(f"<{element.tag[:SHOWN]}> has no {attribute}.")
    if len(text) > MAX_TEXT:
        raise ShapeFault(f"{attribute} has more than {MAX_TEXT} characters.")
    try:
        return tuple(map(Literal, text.split()))
    except ValueError as error:
        raise ShapeFault(f"{attribute}: {error}.") from None
