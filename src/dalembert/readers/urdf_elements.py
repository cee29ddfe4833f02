"""Elements of URDF files: their names, numbers and poses, read from attributes."""

from __future__ import annotations

from dalembert.model.numbers import (
    Literal,
    Number,
)
from dalembert.model.origins import Origin
from dalembert.readers.read_file import ReadFile
from dalembert.readers.urdf_content import (
    MAX_HINTS,
    near,
)
from dalembert.readers.xacro import (
    EXPAND,
    EXPRESSION,
)
from dalembert.readers.xml import (
    Element,
    quoted,
)

MAX_ATTRIBUTE = 4096  # characters; the longest names and numbers known to us have 100
SHOWN = 60  # characters of an attribute in a message


class UrdfFile(ReadFile):
    """The URDF file that is read."""

    def identifier(self, element: Element) -> str:
        """The attribute `name` of an element."""
        name = required(element, "name")
        if EXPRESSION.search(name):
            what = f"{element.tag} {quoted(name, SHOWN)}"
            why = "its name has arithmetic or a command of xacro,"
            self.remark("warning", what, why, f"which is not expanded: {EXPAND}", element)
        return name

    def pose(self, element: Element | None, owner: str) -> Origin:
        """The placement of an <origin>; none is at the origin."""
        if element is None:
            return Origin()
        xyz, angles = (
            vector(element, a, f"origin of {owner}") if element.get(a) is not None else (0, 0, 0)
            for a in ("xyz", "rpy")
        )
        return Origin.rpy(xyz, *(self.angle(a, element, f"{owner}, rpy") for a in angles))


def vector(element: Element, attribute: str, owner: str) -> tuple[Number, ...]:
    """The three numbers of an attribute."""
    text = required(element, attribute, owner)
    numbers = text.split()
    if len(numbers) != 3:
        _refuse_expression(text, element, attribute, owner)
        count = f"{len(numbers)} number{'s' * (len(numbers) != 1)}"
        raise element.error(
            f"{owner}: {attribute}={quoted(text, SHOWN)} has {'commas' if ',' in text else count}, "
            "expected 3 numbers separated by spaces."
        )
    return tuple(_literal(number, element, attribute, owner) for number in numbers)


def number(
    element: Element, attribute: str, default: Number | None = None, where: str = ""
) -> Number:
    """The number of an attribute, which must be there where no default is given."""
    if element.get(attribute) is None and default is not None:
        return default
    return _literal(required(element, attribute, where).strip(), element, attribute, where)


def _literal(text: str, element: Element, attribute: str, where: str) -> Literal:
    try:
        return Literal(text)
    except ValueError as error:
        _refuse_expression(text, element, attribute, where)
        spaces = ". Separate numbers by spaces, and write decimals with a point"
        hint = spaces if "," in text else ""
        raise element.error(f"{where}: <{element.tag}> {attribute}: {error}{hint}.") from None


def _refuse_expression(text: str, element: Element, attribute: str, where: str) -> None:
    if EXPRESSION.search(text):
        raise element.error(
            f"{where}: <{element.tag}> {attribute}={quoted(text, SHOWN)} is not expanded: {EXPAND}"
        )


def end_of(joint: Element, tag: str, owner: str) -> str:
    """The link that a joint names as its parent or child."""
    child = joint.find(tag)
    if child is None:
        raise joint.error(f"{owner} has no <{tag} link=...>.{meant(joint, tag)}")
    return required(child, "link", owner)


def required(element: Element, attribute: str, where: str = "") -> str:
    """The text of an attribute that must be there."""
    value = element.get(attribute)
    of = f"{where}: " if where else ""
    if value is None:
        hint = _meant_attribute(element, attribute)
        raise element.error(f"{of}<{element.tag}> has no attribute {attribute!r}.{hint}")
    if not value.strip():
        raise element.error(f"{of}<{element.tag}> has an empty attribute {attribute!r}.")
    if len(value) > MAX_ATTRIBUTE:
        raise element.error(
            f"{of}<{element.tag} {attribute}> has {len(value)} characters, the limit "
            f"MAX_ATTRIBUTE is {MAX_ATTRIBUTE}."
        )
    return value


def _meant_attribute(element: Element, attribute: str) -> str:
    """A hint at an attribute like the one that is missing, and at a text in its place."""
    names = list(element.attributes)[:MAX_HINTS]
    similar = next((name for name in names if near(name, (attribute,))), "")
    hint = f" Did you mean it by {quoted(similar, SHOWN)}?" if similar else ""
    if text := element.text[:SHOWN]:
        hint += f' It has the text {text!r}; write <{element.tag} {attribute}="..."/>.'
    return hint


def meant(parent: Element, tag: str) -> str:
    """A hint at a child whose tag is like the one that is missing."""
    first: dict[str, Element] = {}
    for child in parent:
        first.setdefault(child.tag, child)
    others = list(first.values())[:MAX_HINTS]
    similar = next((child for child in others if near(child.tag, (tag,))), None)
    if similar is None:
        return ""
    return f" Did you mean it by <{similar.tag[:SHOWN]}> in line {similar.line}?"
