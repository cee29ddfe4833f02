"""Elements of SDF files: their numbers, texts and poses, and findings of all that is not read."""

from __future__ import annotations

import math
from dataclasses import (
    dataclass,
    field,
)

from dalembert.errors import nearest
from dalembert.expr import known_zero
from dalembert.model.numbers import (
    Literal,
    Number,
)
from dalembert.model.origins import Origin
from dalembert.readers.read_file import ReadFile
from dalembert.readers.xml import (
    TEXT_KEPT,
    Element,
)
from dalembert.spatial.angles import PiMultiple
from dalembert.spatial.rotations import (
    axis_angle_of,
    from_quaternion,
)

SHOWN = 60  # characters of a text quoted in a message
MAX_HINTS = 1000  # different tags compared for a hint
LIKENESS = 0.75  # of a tag to the one that was meant, by difflib
TRUE = ("true", "1")
REPEATED = ("link", "joint", "frame", "model", "visual", "collision")
HARMLESS = frozenset(
    "visual collision material sensor plugin light gui scene physics audio state actor road population "
    "self_collide enable_wind wind magnetic_field atmosphere spherical_coordinates projector gripper "
    "must_be_base_link allow_auto_disable audio_source audio_sink battery particle_emitter "
    "provide_feedback min_depth contact surface".split()
)  # without mechanics of the tree, or read elsewhere


@dataclass
class SdfFile(ReadFile):
    """The SDF file that is read: numbers and poses of elements, and children that are not read."""

    hints: dict[tuple[str, tuple[str, ...]], str] = field(default_factory=dict)

    def identifier(self, element: Element, owner: str = "") -> str:
        """The attribute `name` of an element."""
        name = element.get("name") or ""
        if not name.strip():
            raise element.error(f"{owner}<{element.tag}> has no name.")
        return name

    def text(self, parent: Element, tag: str, owner: str) -> str:
        """The text of a child that must be there."""
        child = parent.find(tag)
        if child is None:
            raise parent.error(f"{owner} has no <{tag}>.")
        if not child.text:
            raise child.error(f"{owner}: <{tag}> is empty.")
        return child.text

    def number(self, parent: Element, tag: str, default: Number, owner: str) -> Number:
        """The number of a child; the default where there is none."""
        child = parent.find(tag)
        return default if child is None else self.numbers(child, 1, owner)[0]

    def bound(self, parent: Element, tag: str, owner: str) -> Number | None:
        """A limit; None where there is none, or one of the sizes that SDF has for none."""
        child = parent.find(tag)
        if child is None or child.text.lower().lstrip("+-") in ("inf", "infinity"):
            return None
        return self.numbers(child, 1, owner)[0]

    def numbers(self, element: Element, count: int, owner: str) -> tuple[Number, ...]:
        """The numbers of a text."""
        texts = element.text.split()
        if len(element.text) >= TEXT_KEPT or len(texts) != count:
            expected = "a number" if count == 1 else f"{count} numbers separated by spaces"
            shown = element.text[:SHOWN]
            raise element.error(f"{owner}: <{element.tag}> is {shown!r}, expected {expected}.")
        try:
            return tuple(map(Literal, texts))
        except ValueError as error:
            raise element.error(f"{owner}: <{element.tag}>: {error}.") from None

    def flag(self, parent: Element, tag: str) -> bool:
        """Whether a child says true."""
        child = parent.find(tag)
        return child is not None and child.text.lower() in TRUE

    def pose(self, parent: Element, owner: str) -> Origin:
        """The placement of a <pose>, x y z roll pitch yaw; none is at the origin."""
        element = parent.find("pose")
        if element is None or not element.text:
            return Origin()
        if (element.get("rotation_format") or "euler_rpy") == "quat_xyzw":
            *xyz, x, y, z, w = self.numbers(element, 7, owner)
            return Origin(tuple(xyz), self._turn(element, (w, x, y, z), owner))
        *xyz, roll, pitch, yaw = self.numbers(element, 6, owner)
        in_degrees = (element.get("degrees") or "").lower() in TRUE
        angles = (self._angle(a, in_degrees, element, owner) for a in (roll, pitch, yaw))
        return Origin.rpy(tuple(xyz), *angles)

    def _turn(
        self, element: Element, quaternion: tuple[Number, ...], owner: str
    ) -> tuple[tuple[tuple[float, ...], float], ...]:
        values = [float(x) for x in quaternion]
        norm = math.hypot(*values)
        if norm == 0:
            raise element.error(f"{owner}: the quaternion of <pose> is 0 and has no direction.")
        w, x, y, z = (value / norm for value in values)
        axis, angle = axis_angle_of(from_quaternion(w, x, y, z).matrix())
        return () if angle == 0 else ((tuple(axis), angle),)

    def _angle(self, angle: Number, in_degrees: bool, element: Element, owner: str) -> Number:
        if not in_degrees:
            return self.angle(angle, element, f"{owner}, pose")
        return 0 if known_zero(angle) else PiMultiple(angle / 180)

    def take(self, element: Element, *known: str) -> None:
        """Remember children that are not among those that are read, and second ones of these."""
        seen: set[str] = set()
        for child in element:
            if child.tag not in known:
                self._unknown(element, child, known)
            elif child.tag in seen and child.tag not in REPEATED:
                raise child.error(f"a second <{child.tag}> in <{element.tag}>. Keep one.")
            seen.add(child.tag)

    def _unknown(self, element: Element, child: Element, known: tuple[str, ...]) -> None:
        tag = child.tag[:SHOWN]
        if child.tag in HARMLESS or ":" in child.tag:
            self.unread.leave(f"<{tag}>", child.source)
        elif similar := self._similar(tag.lower(), known):
            self.unread.lose(
                f"<{tag}> in <{element.tag}>", f"Did you mean <{similar}>?", child.source
            )
        else:
            self.unread.leave(f"<{tag}> in <{element.tag}>", child.source, "warning")

    def _similar(self, tag: str, known: tuple[str, ...]) -> str:
        """The known tag that was probably meant; each once and not for ever new tags."""
        if (tag, known) not in self.hints and len(self.hints) < MAX_HINTS:
            self.hints[tag, known] = nearest(tag, known, LIKENESS)
        return self.hints.get((tag, known), "")
