"""Content of a URDF file that is not read: second elements, texts, misspelt and misplaced names."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import NamedTuple

from dalembert.errors import nearest
from dalembert.readers.read_file import MOMENTS
from dalembert.readers.unread import (
    MAX_KINDS,
    OTHERS,
    UnreadContent,
)
from dalembert.readers.xml import SHOWN, Element

MAX_COMPARED = 30  # characters of a name compared for a hint
MAX_HINTS = 100  # different names compared for a hint; their time grows with each
LIKENESS = 0.75  # of a name to the one that was meant, by difflib: 'orgin' has 0.91
SHORT, SHORT_LIKENESS = (
    4,
    0.6,
)  # letters of a name in which one wrong letter counts more: 'rpz' has 0.67


class ElementKind(NamedTuple):
    """Admissible content of an element: attributes, single children, repeated children."""

    attributes: tuple[str, ...] = ()
    once: tuple[str, ...] = ()
    repeated: tuple[str, ...] = ()


KINDS = {
    "robot": ElementKind(("name", "version"), (), ("link", "joint")),
    "link": ElementKind(("name",), ("inertial",)),
    "inertial": ElementKind((), ("origin", "mass", "inertia")),
    "joint": ElementKind(
        ("name", "type"), ("origin", "parent", "child", "axis", "limit", "dynamics", "mimic")
    ),
    "origin": ElementKind(("xyz", "rpy")),
    "mass": ElementKind(("value",)),
    "inertia": ElementKind(MOMENTS),
    "axis": ElementKind(("xyz",)),
    "parent": ElementKind(("link",)),
    "child": ElementKind(("link",)),
    "limit": ElementKind(("lower", "upper", "velocity", "effort")),
    "dynamics": ElementKind(("damping", "friction")),
    "mimic": ElementKind(("joint", "multiplier", "offset")),
}
NOT_DYNAMICS = {
    "visual": ("link",),
    "collision": ("link",),
    "material": ("robot",),
    "gazebo": ("robot",),
    "transmission": ("robot",),
}  # where they stand; elsewhere they are like unknown ones
LOOP = (
    "A joint that closes a loop stands in a TOML file beside this one, as [[constraint]] with "
    'kind = "closure": da.load(..., constraints=).'
)
ELSEWHERE = {"loop_joint": LOOP}  # elements of other programs, and how to write what they say
SHAPES = ("visual", "collision")  # elements with an origin, and no other mechanics
NAMES = ("name", "version", "type", "link", "joint")  # attributes that are no numbers
HOMES: dict[str, list[str]] = {}  # where the elements and the numeric attributes belong
for parent, kind in KINDS.items():
    for name in (*kind.once, *kind.repeated, *(a for a in kind.attributes if a not in NAMES)):
        HOMES.setdefault(name, []).append(parent)


def near(name: str, names: Collection[str]) -> str:
    """The known name that was probably meant, '' if none is like it; prefixes and capitals do not
    count.
    """
    local = name.rpartition(":")[2].lower()
    if len(local) > MAX_COMPARED:
        return ""
    cutoff = SHORT_LIKENESS if len(local) <= SHORT else LIKENESS
    return nearest(local, names, cutoff)


class UrdfContent:
    """Looks for content of one file that is not read."""

    def __init__(self, unread: UnreadContent):
        self.unread = unread
        self.fixes: dict[tuple[str, str], str] = {}  # of (parent, child); '' if it is no mechanics
        self.hints: dict[tuple[str, str], str] = {}

    def note(self, element: Element, where: str) -> None:
        """Remember what of an element of KINDS, and of its children of KINDS, is not read; `where`
        is for messages.
        """
        allowed = KINDS[element.tag]
        self._attributes(element, allowed)
        if element.text:
            self._text(element, allowed)
        first: dict[str, Element] = {}
        for child in element:
            tag = child.tag
            if tag in allowed.once and tag in first:
                self._second(element, first[tag], child, where)
            elif tag not in (*allowed.once, *allowed.repeated):
                self._unknown(element, child)
            if tag in allowed.once and first.setdefault(tag, child) is child:
                self.note(child, where)

    def note_vain(self, joint: Element, tag: str, why: str = "") -> None:
        """Remember a part of a joint that means nothing for its type."""
        if (element := joint.find(tag)) is not None:
            label = f"<{tag}>{why} of {joint.get('type')} joints"
            self.unread.leave(label, element.source)

    def _text(self, element: Element, allowed: ElementKind) -> None:
        """Text is mechanics lost where it has numbers; without them it is somebody's comment."""
        shown = repr(element.text[:SHOWN])
        if element.tag == "robot" or not any(c.isdigit() for c in element.text):
            label = f"text in <{element.tag}>: {shown}"
            self.unread.leave(label, element.source, "warning")
            return
        fix = "Numbers are attributes."
        if allowed.attributes:
            fix = f'Write <{element.tag} {allowed.attributes[0]}="..."/>.'
        self.unread.lose(f"<{element.tag}>", fix, element.source, f"its text {shown} is not read.")

    def _second(self, parent: Element, first: Element, second: Element, where: str) -> None:
        """A second element is an error where it says something else."""
        if not first.same_as(second):
            raise second.error(
                f"{where}: <{parent.tag}> has a second <{second.tag}>, which differs from the one "
                f"in line {first.line}. Keep one."
            )
        label = f"second <{second.tag}> in <{parent.tag}>"
        self.unread.lose(label, "Remove it.", second.source, "it repeats the first.")

    def _attributes(self, element: Element, allowed: ElementKind) -> None:
        for attribute in element.attributes:
            if attribute in allowed.attributes or attribute.startswith("xmlns:"):
                continue
            label = f"<{element.tag} {attribute[:60]}>"
            absent = [a for a in allowed.attributes if a not in element.attributes]
            fix = f"It belongs in {_homes(attribute)}." if attribute in HOMES else ""
            if meant := self._near(attribute, label, absent):
                fix = f"Did you mean {meant!r}?"
            if fix:
                self.unread.lose(label, fix, element.source, "the attribute is not read.")
            else:
                self.unread.leave(label, element.source, "warning")

    def _unknown(self, parent: Element, child: Element) -> None:
        """Remember an unknown child, and the mechanics inside; shapes have their own reader."""
        at_home = parent.tag in NOT_DYNAMICS.get(child.tag, ())
        for inside in _mechanics(child, at_home):
            label = f"<{inside.tag}> in <{child.tag[:60]}>"
            self.unread.lose(label, f"It belongs in {_homes(inside.tag)}.", inside.source)
        if at_home and _has_reader(child):
            return
        key = (parent.tag, child.tag)
        if key not in self.fixes:
            if len(self.fixes) >= MAX_KINDS:
                self.unread.leave(OTHERS, child.source, "warning")
                return
            self.fixes[key] = self._fix(parent.tag, child.tag)
        within = f"<{child.tag[:60]}> in <{parent.tag}>"
        if fix := self.fixes[key]:
            self.unread.lose(within, fix, child.source)
        elif at_home:
            self.unread.leave(f"<{child.tag}>", child.source)
        else:
            label = within if child.tag in NOT_DYNAMICS else f"<{child.tag}>"
            self.unread.leave(label, child.source, "warning")

    def _fix(self, parent: str, tag: str) -> str:
        """The probable meaning of an unknown element; '' if it is no mechanics."""
        allowed = KINDS[parent]
        if (local := tag.rpartition(":")[2]) in ELSEWHERE:
            return ELSEWHERE[local]
        if tag in NOT_DYNAMICS:
            return ""
        if tag in allowed.attributes:
            return f'It is an attribute: <{parent} {tag}="..."/>.'
        if tag in HOMES:
            return f"It belongs in {_homes(tag)}."
        meant = self._near(tag, parent, (*allowed.once, *allowed.repeated)) or self._near(
            tag, "", tuple(KINDS)
        )
        return f"Did you mean <{meant}>?" if meant else ""

    def _near(self, name: str, noun: str, names: Collection[str]) -> str:
        """`near`, each once and not for ever new names."""
        key = (name, noun)
        if key not in self.hints:
            if len(self.hints) >= MAX_HINTS:
                return ""
            self.hints[key] = near(name, names)
        return self.hints[key]


def _mechanics(unknown: Element, at_home: bool) -> Iterator[Element]:
    """Elements of mechanics inside another; other parts of a file have joints, parents and origins
    of their own.
    """
    if at_home and unknown.tag not in SHAPES:
        return
    for element in unknown.below():
        is_joint = element.tag == "joint" and element.find("parent") is not None
        if (
            element.tag in ("inertial", "mass", "inertia")
            or is_joint
            or unknown.tag in SHAPES
            and element.tag in KINDS
            and element.tag != "origin"
        ):
            yield element


def _has_reader(element: Element) -> bool:
    """Whether an element at its place is a shape, the colour of shapes, or a transmission."""
    is_colour = element.tag == "material" and element.find("color") is not None
    return element.tag in (*SHAPES, "transmission") or is_colour


def _homes(name: str) -> str:
    return " or ".join(f"<{home}>" for home in HOMES[name]) if name in HOMES else "<robot>"
