"""Links in formulas: a formula in MathML becomes pieces side by side, and names in it links.

A link cannot stand within a formula, which assistive technology takes for one thing; so the row is
cut at each name, and rows within rows, whose parentheses do not stretch, are laid open.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from xml.etree import ElementTree

from dalembert.closed_forms.printing.markup import Markup, element

SIGNS = ("+", "−", "=")


class Definition:
    """Definition of a name: the mark that links go to, the name in words, the equation as text."""

    def __init__(self, mark: str, label: str, equation: str):
        self.mark, self.label, self.equation = mark, label, equation

    def link(self, formula: Markup) -> Markup:
        """A formula that is a link to the definition."""
        return element(
            "a", formula, href=f"#{self.mark}", aria_label=self.label, data_is=self.equation
        )


def formula_of(content: str) -> Markup:
    """A formula of MathML."""
    return Markup(f"<math>{content}</math>")


def linked(content: str, definitions: Mapping[str, Definition]) -> Markup:
    """A row of MathML as formulas side by side; `definitions` of names by their MathML."""
    if not any(name in content for name in definitions):
        return formula_of(f"<mrow>{content}</mrow>")
    row = ElementTree.fromstring(f"<mrow>{content}</mrow>")
    pieces = []
    between: list[str] = []
    for node in _laid_open(row):
        written = ElementTree.tostring(node, encoding="unicode")
        definition = definitions.get(written)
        if definition is None:
            between.append(written)
            continue
        pieces += _as_formula(between)
        pieces.append(definition.link(formula_of(written)))
        between = []
    pieces += _as_formula(between)
    return element("span", *pieces, class_="row")


def _as_formula(content: list[str]) -> list[Markup]:
    return [formula_of(f"<mrow>{''.join(content)}</mrow>")] if content else []


def _laid_open(row: ElementTree.Element) -> Iterator[ElementTree.Element]:
    """The nodes of a row and of the rows in it, signs with the space that they have there."""
    before = ""
    for node in row:
        if node.tag == "mrow":
            yield from _laid_open(node)
        else:
            if node.tag == "mo" and node.text in SIGNS and "form" not in node.attrib:
                is_first = before in ("", "(")
                node.set("form", "prefix" if is_first else "infix")
            yield node
        before = node.text or node.tag
