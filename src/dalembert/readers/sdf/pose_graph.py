"""Frames of an SDF model, each placed in another: links, joints, named frames, the model."""

from __future__ import annotations

from typing import (
    Any,
    NamedTuple,
)

from dalembert.model.numbers import (
    as_exact,
    as_float,
)
from dalembert.model.origins import Origin
from dalembert.readers.sdf.sdf_elements import SdfFile
from dalembert.readers.xml import Element
from dalembert.spatial.rotations import axis_angle_of

MODEL = "__model__"
WORLD = "world"
MAX_TURNS = 9  # of a placement, three poses in each other; more become one turn


class PlacedFrame(NamedTuple):
    """A frame, its placement, the frame that this is in, and the frame that it is fixed to."""

    element: Element
    pose: Origin
    within: str
    attached: str


class PoseGraph:
    """Frames by name; placements in the axes of the model, whose own in the world is `pose`."""

    def __init__(self, file: SdfFile, model: Element):
        self.file = file
        self.model = model
        self.pose = file.pose(model, f"model {model.get('name')!r}")
        self.frames: dict[str, PlacedFrame] = {}
        self.placed: dict[str, Origin] = {MODEL: Origin(), WORLD: seen_from(self.pose, Origin())}
        self.links = {MODEL: MODEL, WORLD: WORLD}  # by the name of what is fixed to them
        for link in links_of(model):
            self.links[link.get("name") or ""] = link.get("name") or ""
            self._put(link, f"link {link.get('name')!r}", MODEL, "")
        for joint in model.all("joint"):
            child = file.text(joint, "child", f"joint {joint.get('name')!r}")
            self._put(joint, f"joint {joint.get('name')!r}", child, child)
        for frame in model.all("frame"):
            attached = frame.get("attached_to") or MODEL
            self._put(frame, f"frame {frame.get('name')!r}", attached, attached)

    def _put(self, element: Element, owner: str, within: str, attached: str) -> None:
        name = self.file.identifier(element)
        if name in self.frames or name in (MODEL, WORLD):
            raise element.error(f"{owner}: the name is used twice, or reserved. Rename it.")
        pose = element.find("pose")
        given = pose is not None and (pose.get("relative_to") or pose.get("frame"))
        placement = self.file.pose(element, owner)
        self.frames[name] = PlacedFrame(element, placement, given or within, attached)

    def place(self, name: str) -> Origin:
        """Placement of a frame in the model.

        Raises
        ------
        ReadError
            There is no such frame, or it is placed in itself.
        """
        chain: dict[str, None] = {}  # names, in their order
        while name not in self.placed:
            if name in chain:
                raise self.frames[name].element.error(f"frame {name!r} is placed in itself.")
            asking = next(reversed(chain), "")
            chain[name] = None
            name = self._frame(name, asking).within
        for inner in reversed(chain):
            self.placed[inner] = joined(self.placed[name], self.frames[inner].pose)
            name = inner
        return self.placed[name]

    def link_of(self, name: str) -> str:
        """The link that a frame is fixed to; 'world' and '__model__' are themselves."""
        passed: set[str] = set()
        while name not in self.links:
            frame = self._frame(name, "")
            if name in passed:
                raise frame.element.error(f"frame {name!r} is fixed to itself.")
            passed.add(name)
            name = frame.attached
        self.links |= dict.fromkeys(passed, self.links[name])
        return self.links[name]

    def _frame(self, name: str, asking: str) -> PlacedFrame:
        """The frame of a name, which the frame `asking` is placed in."""
        if name in self.frames:
            return self.frames[name]
        element = self.frames[asking].element if asking else self.model
        if "::" in name:
            raise element.error(
                f"{name[:60]!r} is in a nested model, which is not read: `gz sdf -p` of the file, and "
                "models merged, are."
            )
        raise element.error(f"there is no link, joint or frame {name[:60]!r}.")


def links_of(model: Element) -> list[Element]:
    """Links of a model; of the name 'world', which some files give to a link, it is the world."""
    return [link for link in model.all("link") if link.get("name") != WORLD]


def joined(outer: Origin, inner: Origin) -> Origin:
    """The placement of a frame that is placed in another, in exact numbers."""
    return _simplified(outer * inner)


def seen_from(outer: Origin, inner: Origin) -> Origin:
    """The placement of a frame in another, both given in a third."""
    back = tuple((axis, -angle) for axis, angle in reversed(outer.rotations))
    difference = tuple(b - a for a, b in zip(outer.xyz, inner.xyz, strict=True))
    xyz = Origin((0, 0, 0), back).moved(difference)
    return _simplified(Origin(xyz, back + inner.rotations))


def turned(outer: Origin, inner: Origin, vector: tuple[Any, ...]) -> tuple[Any, ...]:
    """A vector of one frame in the axes of another."""
    rotation = seen_from(outer, inner).rotations
    if not any(rotation) or not any(vector):
        return vector
    return tuple(map(as_exact, Origin((0, 0, 0), rotation).moved(vector)))


def _simplified(origin: Origin) -> Origin:
    """The origin without turns that undo each other."""
    turns: list[tuple[Any, Any]] = []
    for axis, angle in origin.rotations:
        if turns and turns[-1][0] == axis:
            total = _sum(turns.pop()[1], angle)
            if total is not None and float(total) != 0:
                turns.append((axis, total))
            continue
        turns.append((axis, angle))
    simple = Origin(origin.xyz, tuple(turns))
    return simple if len(turns) <= MAX_TURNS else _about_one_axis(simple)


def _about_one_axis(origin: Origin) -> Origin:
    """The origin with a single turn in place of many."""
    axis, angle = axis_angle_of(origin.transform(as_float).R.matrix())
    return Origin(origin.xyz, ((tuple(axis), angle),))


def _sum(a: Any, b: Any) -> Any:
    """The sum of two angles, exact where both are of a kind."""
    if hasattr(a, "turns") and hasattr(b, "turns"):
        return type(a)(a.turns + b.turns)
    if hasattr(a, "turns") or hasattr(b, "turns"):
        return float(a) + float(b)
    return a + b
