"""Faults of URDF files mended in their text: elements given twice, parts that are missing, limits
that are exchanged, inertias that are impossible. All else, comments and layout too, stays.
"""

from __future__ import annotations

from collections.abc import Mapping
from difflib import unified_diff
from types import MappingProxyType
from typing import NamedTuple

import numpy as np

from dalembert.errors import (
    ModelError,
    ReadError,
)
from dalembert.model.findings import (
    Finding,
    collapsed,
    error_finding,
)
from dalembert.model.mechanism import (
    Mechanism,
    without_warnings,
)
from dalembert.model.numbers import (
    Literal,
    as_float,
)
from dalembert.model.origins import (
    Origin,
    Source,
)
from dalembert.model.parts import Body
from dalembert.model.repairs import LOWER_TRIANGLE
from dalembert.readers.noise import NOISE
from dalembert.readers.read_file import MOMENTS
from dalembert.readers.urdf import read_urdf
from dalembert.readers.urdf_content import KINDS
from dalembert.readers.xml import parsed
from dalembert.writers.element_spans import (
    ElementSpan,
    TextEdits,
    spans_of,
)
from dalembert.writers.numerals import UNLIMITED

ONLY_URDF = (
    "only URDF files are repaired. Of other files load the mechanism, and save "
    "mechanism.repaired()."
)
DIGITS = 10  # of moments that are written
MOVING = ("revolute", "continuous", "prismatic", "planar")  # types with an axis
BOUNDED = ("revolute", "prismatic")
EMPTY: Mapping[str, float] = MappingProxyType({})
PRODUCTS = ("ixy", "ixz", "iyz")


class Repair(NamedTuple):
    """A file before and after.

    file : its name
    before, after : texts
    changes : notes of all that was changed, with lines of the text before
    left : errors and warnings of the text after, with its lines
    """

    file: str
    before: str
    after: str
    changes: list[Finding]
    left: list[Finding]

    @property
    def diff(self) -> str:
        """Lines that differ, as a unified diff."""
        lines = unified_diff(
            _lines(self.before),
            _lines(self.after),
            self.file,
            f"{self.file} (repaired)",
            lineterm="",
            n=1,
        )
        return "\n".join(lines)


def _lines(text: str) -> list[str]:
    """Lines as XML counts them."""
    return [line.removesuffix("\r") for line in text.removesuffix("\n").split("\n")]


def repair_urdf(
    data: bytes, file: str, masses: Mapping[str, float] = EMPTY, from_shapes: bool = False
) -> Repair:
    """A URDF file with its faults mended; nothing is guessed, and nothing written.

    masses [kg] by names of links, and from_shapes, are those of `Mechanism.repaired`.

    Raises
    ------
    ReadError
        The file is no XML in UTF-8, or no URDF.
    UnknownNameError, ValueError
        There is no such link; a mass is not above 0.
    """
    if not data.strip():
        raise ReadError("the file is empty.", file)
    text = _text_of(data, file)
    if not text.lstrip().startswith("<"):
        raise ReadError(f"no XML: {ONLY_URDF}", file, 1)
    root, _, _ = parsed(text.encode(), file, "utf-8")
    if root.tag != "robot":
        why = f"the root element is <{root.tag[:60]}>: {ONLY_URDF}"
        raise ReadError(why, file, root.line)
    sound = _FormRepair(text, file)
    sound.run()
    after = sound.edits.result()
    inertial = _InertiaRepair(after, file)
    lines = {link.get("name"): link.line for link in sound.root.all("link")}
    inertial.run(lines, masses, from_shapes)
    after = inertial.edits.result()
    changes = sorted([*sound.changes, *inertial.changes], key=lambda change: change.source.line)
    return Repair(file, text, after, changes, _findings(after, file))


def _text_of(data: bytes, file: str) -> str:
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise ReadError("not UTF-8 text; save the file in that encoding.", file, line) from None


def _loaded(text: str, file: str) -> Mechanism:
    with without_warnings():
        return read_urdf(text.encode(), file, encoding="utf-8")


def _findings(text: str, file: str) -> list[Finding]:
    """Errors and warnings of a file's text."""
    try:
        findings = _loaded(text, file).findings()
    except ModelError as error:
        findings = list(error.findings) or [error_finding(error, file)]
    return collapsed([finding for finding in findings if finding.severity != "note"])


class _Edited:
    """Edits of a file's text, and notes of them."""

    def __init__(self, text: str, file: str):
        self.edits = TextEdits(text)
        self.root = spans_of(text)
        self.file = file
        self.changes: list[Finding] = []

    def note(self, what: str, why: str, fix: str, line: int) -> None:
        """Remember a change."""
        self.changes.append(Finding("note", what, why, fix, Source(self.file, line)))


class _FormRepair(_Edited):
    """Elements given twice, missing parts, exchanged limits."""

    def run(self) -> None:
        """Find and mend the faults of all links and joints."""
        if not (self.root.get("name") or "").strip():
            self.edits.set(self.root, "name", "robot")
            self.note("<robot>", "it has no name;", "called 'robot'.", self.root.line)
        for element in self.root.children:
            if element.tag in ("link", "joint"):
                owner = f"{element.tag} {element.get('name')!r}"
                self._remove_second(element, owner)
                if element.tag == "link":
                    self._complete_inertia(element, owner)
                else:
                    self._complete_joint(element, owner)

    def _remove_second(self, element: ElementSpan, owner: str) -> None:
        """Take out elements that may stand once, but for the first, which URDF's readers take."""
        for tag in KINDS[element.tag].once:
            found = element.all(tag)
            for other in found[1:]:
                first = found[0]
                same = self._text(first) == self._text(other)
                why = "which repeats the first" if same else f"another than in line {first.line}"
                self.edits.remove(other)
                self.note(owner, f"its second <{tag}>, {why},", "is taken out.", other.line)
            if found:
                self._remove_second(found[0], owner)

    def _text(self, element: ElementSpan) -> str:
        return "".join(self.edits.text[element.start : element.end].split())

    def _complete_inertia(self, link: ElementSpan, owner: str) -> None:
        inertial = link.find("inertial")
        inertia = inertial and inertial.find("inertia")
        if not inertia or any(inertia.get(name) is None for name in ("ixx", "iyy", "izz")):
            return
        for name in PRODUCTS:
            if inertia.get(name) is None:
                self.edits.set(inertia, name, "0")
                self.note(owner, f"its <inertia> has no {name};", "written as 0.", inertia.line)

    def _complete_joint(self, joint: ElementSpan, owner: str) -> None:
        kind = joint.get("type")
        if kind in MOVING and joint.find("axis") is None:
            self.edits.add(joint, '<axis xyz="1 0 0"/>')
            self.note(
                owner, "it has no <axis>;", "written as 1 0 0, the default of URDF.", joint.line
            )
        limit = joint.find("limit")
        if kind not in BOUNDED:
            return
        if limit is None:
            if kind == "revolute":
                self._make_continuous(joint, owner, "it has no <limit>;")
            return
        lower, upper = limit.get("lower"), limit.get("upper")
        if lower is None and upper is None and kind == "revolute":
            self._make_continuous(joint, owner, "its <limit> has neither lower nor upper;")
        low, high = _number(lower), _number(upper)
        if low is not None and high is not None and low > high:
            assert lower is not None and upper is not None
            self.edits.set(limit, "lower", upper)
            self.edits.set(limit, "upper", lower)
            self.note(owner, f"its limits {lower} and {upper} are", "exchanged.", limit.line)
        for name in ("effort", "velocity"):
            if limit.get(name) is None:
                self.edits.set(limit, name, UNLIMITED)
                why = f"its <limit> has no {name}, which URDF asks for;"
                self.note(owner, why, "written as the largest number: none.", limit.line)

    def _make_continuous(self, joint: ElementSpan, owner: str, why: str) -> None:
        self.edits.set(joint, "type", "continuous")
        self.note(owner, why, "a revolute joint without limits is continuous.", joint.line)


class _InertiaRepair(_Edited):
    """Masses and moments, in a text that can be read."""

    def run(
        self, lines: Mapping[str | None, int], masses: Mapping[str, float], from_shapes: bool
    ) -> None:
        """Write mass and moments of all bodies that `Mechanism.repaired` changes; `lines` are those
        of links in the file.
        """
        try:
            mechanism = _loaded(self.edits.text, self.file)
        except ModelError:
            return
        with without_warnings():
            whole = mechanism.repaired(masses, from_shapes)
        changed = {
            body.name: other
            for body, other in zip(mechanism.bodies, whole.bodies, strict=True)
            if body is not other
        }
        notes = whole.remarks[len(mechanism.remarks) :]
        for link in self.root.all("link"):
            name = link.get("name")
            if name in changed:
                self._write(link, changed[name], name in masses)
                for note in notes:
                    if note.what == f"body {name!r}":
                        self.note(f"link {name!r}", note.why, note.fix, lines[name])

    def _write(self, link: ElementSpan, body: Body, has_other_mass: bool) -> None:
        """Write mass and moments, in the axes in which the file gives them."""
        inertial = link.find("inertial")
        mass = f"{as_float(body.mass):.{DIGITS}g}"
        if inertial is None:
            inertia = _empty_element("inertia", _written_moments(body, None))
            self.edits.add(link, f'<inertial><mass value="{mass}"/>{inertia}</inertial>')
            return
        if has_other_mass:
            self._write_element(inertial, "mass", {"value": mass})
        moments = _written_moments(body, inertial.find("origin"))
        self._write_element(inertial, "inertia", moments)

    def _write_element(
        self, inertial: ElementSpan, tag: str, attributes: Mapping[str, str]
    ) -> None:
        """Write the attributes of an element, which may be missing."""
        element = inertial.find(tag)
        if element is None:
            self.edits.add(inertial, _empty_element(tag, attributes))
            return
        for name, value in attributes.items():
            if float(element.get(name) or 0) != float(value):
                self.edits.set(element, name, value)


def _empty_element(tag: str, attributes: Mapping[str, str]) -> str:
    texts = "".join(f' {name}="{value}"' for name, value in attributes.items())
    return f"<{tag}{texts}/>"


def _written_moments(body: Body, origin: ElementSpan | None) -> dict[str, str]:
    """Moments of a body as texts, in the axes of an <origin>; rounding noise is 0."""
    rpy = (origin and origin.get("rpy")) or "0 0 0"
    turned = Origin.rpy((0, 0, 0), *map(float, rpy.split()))
    axes = np.array(turned.transform(float).R.matrix(), dtype=float)
    tensor = axes.T @ np.array(body.tensor(), dtype=float) @ axes
    tensor[np.abs(tensor) < NOISE * np.abs(tensor).max()] = 0
    moments = (tensor[place] for place in LOWER_TRIANGLE)
    return {name: f"{moment:.{DIGITS}g}" for name, moment in zip(MOMENTS, moments, strict=True)}


def _number(text: str | None) -> float | None:
    try:
        return None if text is None else float(Literal(text.strip()))
    except ValueError:
        return None
