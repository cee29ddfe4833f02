"""Elements of SDF files: their numbers, texts and poses, and findings of all that is not read."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import (
    dataclass,
    field,
)
from typing import NoReturn

from dalembert.errors import (
    ReadError,
    nearest,
)
from dalembert.expr import known_zero
from dalembert.model.findings import Finding
from dalembert.model.numbers import (
    Literal,
    Number,
)
from dalembert.model.origins import (
    Origin,
    Source,
)
from dalembert.readers.xml import (
    TEXT_KEPT,
    Element,
)
from dalembert.spatial.angles import (
    SNAP,
    PiMultiple,
    snapped,
)
from dalembert.spatial.rotations import (
    axis_angle_of,
    from_quaternion,
)

SHOWN = 60  # characters of a text quoted in a message
MAX_CAUSES = 20  # kinds of content listed as not used; the rest is counted
MAX_KINDS = 1000  # kinds that are told apart
TRUE = ("true", "1")
REPEATED = ("link", "joint", "frame", "model", "visual", "collision")
HARMLESS = frozenset(
    "visual collision material sensor plugin light gui scene physics audio state actor road population "
    "self_collide enable_wind wind magnetic_field atmosphere spherical_coordinates projector gripper "
    "must_be_base_link allow_auto_disable audio_source audio_sink battery particle_emitter "
    "provide_feedback min_depth contact surface".split()
)  # without mechanics of the tree, or read elsewhere


@dataclass
class SdfFile:
    """The file that is read: its numbers, and findings about it.

    tolerance : of angles that are read as multiples of pi/12 [rad]; None: numbers as they are
    """

    name: str
    tolerance: float | None
    remarks: list[Finding]
    unused: dict[tuple[str, str], list[int]] = field(default_factory=dict)  # (what, fix) -> lines
    angles: list[tuple[float, int]] = field(default_factory=list)  # difference [rad], line

    def source(self, element: Element) -> Source:
        """File and line of an element."""
        return Source(self.name, element.line)

    def fail(self, message: str, element: Element) -> NoReturn:
        """Raise a ReadError with the line of an element."""
        raise ReadError(message, self.name, element.line)

    def remark(self, severity: str, owner: str, why: str, fix: str, element: Element) -> None:
        """Remember a finding."""
        self.remarks.append(Finding(severity, owner, why, fix, self.source(element)))

    # --- texts and numbers ---

    def identifier(self, element: Element, owner: str = "") -> str:
        """The attribute `name` of an element."""
        name = element.get("name") or ""
        if not name.strip():
            self.fail(f"{owner}<{element.tag}> has no name.", element)
        return name

    def text(self, parent: Element, tag: str, owner: str) -> str:
        """The text of a child that must be there."""
        child = parent.find(tag)
        if child is None:
            self.fail(f"{owner} has no <{tag}>.", parent)
        if not child.text:
            self.fail(f"{owner}: <{tag}> is empty.", child)
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
            self.fail(f"{owner}: <{element.tag}> is {shown!r}, expected {expected}.", element)
        try:
            return tuple(map(Literal, texts))
        except ValueError as error:
            self.fail(f"{owner}: <{element.tag}>: {error}.", element)

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
        angles = (self._angle(a, in_degrees, element.line) for a in (roll, pitch, yaw))
        return Origin.rpy(tuple(xyz), *angles)

    def _turn(
        self, element: Element, quaternion: tuple[Number, ...], owner: str
    ) -> tuple[tuple[tuple[float, ...], float], ...]:
        values = [float(x) for x in quaternion]
        norm = math.hypot(*values)
        if norm == 0:
            self.fail(f"{owner}: the quaternion of <pose> is 0 and has no direction.", element)
        w, x, y, z = (value / norm for value in values)
        axis, angle = axis_angle_of(from_quaternion(w, x, y, z).matrix())
        return () if angle == 0 else ((tuple(axis), angle),)

    def _angle(self, angle: Number, in_degrees: bool, line: int) -> Number:
        if in_degrees:
            turns = PiMultiple(angle / 180)
            return 0 if angle == 0 else turns
        if self.tolerance is None or known_zero(angle):
            return angle
        if abs(angle) <= SNAP:
            return 0
        multiple = snapped(float(angle), self.tolerance)
        if multiple is None:
            return angle
        self.angles.append((float(angle) - float(multiple), line))
        return multiple

    # --- content that is not read ---

    def leave_out(self, what: str, line: int) -> None:
        """Remember content without mechanics that is not used."""
        self.unused.setdefault((what, ""), []).append(line)

    def take(self, element: Element, *known: str) -> None:
        """Remember children that are not among those that are read, and second ones of these."""
        seen: set[str] = set()
        for child in element:
            if child.tag not in known:
                self._unknown(element, child, known)
            elif child.tag in seen and child.tag not in REPEATED:
                self.fail(f"a second <{child.tag}> in <{element.tag}>. Keep one.", child)
            seen.add(child.tag)

    def _unknown(self, element: Element, child: Element, known: tuple[str, ...]) -> None:
        what = f"<{child.tag[:SHOWN]}> in <{element.tag}>"
        if child.tag in HARMLESS or ":" in child.tag:
            key = (f"<{child.tag[:SHOWN]}>", "")
        else:
            similar = nearest(child.tag[:SHOWN].lower(), known, 0.75)
            key = (what, f"Did you mean <{similar}>?" if similar else "?")
        if key not in self.unused and len(self.unused) >= MAX_KINDS:
            key = ("others", "?")
        self.unused.setdefault(key, []).append(child.line)

    def findings(self) -> Iterator[Finding]:
        """Errors of content that was probably meant, a warning and a note for all else."""
        for (what, fix), lines in list(self.unused.items())[:MAX_CAUSES]:
            if len(fix) > 1:
                yield Finding("error", what, "it is not read.", fix, Source(self.name, lines[0]))
        for severity, kind in (("warning", "?"), ("note", "")):
            kinds = {what: lines for (what, fix), lines in self.unused.items() if fix == kind}
            if kinds:
                listed = ", ".join(
                    f"{what} ({len(lines)}, first in line {lines[0]})"
                    for what, lines in list(kinds.items())[:MAX_CAUSES]
                )
                more = len(kinds) - MAX_CAUSES
                listed += f" and {more} more" if more > 0 else ""
                first = Source(self.name, min(lines[0] for lines in kinds.values()))
                yield Finding(severity, "not used", f"{listed}.", "", first)
        if self.angles:
            worst, line = max(self.angles, key=lambda angle: abs(angle[0]))
            count = len(self.angles)
            yield Finding(
                "note",
                f"{count} angle{'s' * (count != 1)}",
                f"read as exact multiples of pi/12; the largest difference is {worst:.2g} rad.",
                "exact_angles=False keeps the decimals.",
                Source(self.name, line),
            )
