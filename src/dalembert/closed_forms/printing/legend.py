"""Legend: the meanings of the names in a document."""

from __future__ import annotations

from typing import Any, NamedTuple

from dalembert.closed_forms.algebra.sums import Cosine, Sum, angle_sum, inner_forms
from dalembert.closed_forms.printing.names import MANY
from dalembert.closed_forms.printing.notation import Printer

FEW = 14  # names up to which all are listed first


class Row(NamedTuple):
    """A name, its meaning, its unit, and its number as text."""

    name: str
    what: str
    unit: str
    number: str


def rows(eom: Any) -> list[Row]:
    """Coordinates, velocities, accelerations that occur, and symbols that occur."""
    used = eom.used_symbols
    units = eom.units
    values = eom.values
    found = [
        (name, f"coordinate {entry}{eom.remarks.get(entry, '')}")
        for name, entry in zip(eom.coordinates, eom.coordinate_names, strict=True)
    ]
    for name, entry in zip(eom.velocities, eom.velocity_names, strict=True):
        base, _ = eom.rates.get(name, ("", 0))
        found.append(
            (
                name,
                f"velocity {entry}" + (f", rate of {base}" if base else eom.of_velocities),
            )
        )
    found += [
        (name, f"acceleration {entry}")
        for name, entry in zip(eom.accelerations, eom.velocity_names, strict=True)
        if name in used
    ]
    found += [(name, what) for name, what in eom.symbols.items() if name in used]
    return [
        Row(name, what, units.get(name, ""), f"{values[name]:.6g}" if name in values else "")
        for name, what in found
    ]


def parted(eom: Any) -> tuple[list[Row], list[Row]]:
    """Rows for the beginning of a document and for its end: there parameters, where rows are many."""
    found = rows(eom)
    if len(found) <= FEW:
        return found, []
    moving = {*eom.coordinates, *eom.velocities, *eom.accelerations}
    return (
        [row for row in found if row.name in moving],
        [row for row in found if row.name not in moving],
    )


def angles(eom: Any, target: Printer) -> list[tuple[str, str]]:
    """Equations that say what c12 is, for angles that occur: of one coordinate, of a sum, of a long
    one.
    """
    numbers, found = target.names.numbers, _angles_of(eom)
    listed = sorted(
        {
            tuple(sorted(names, key=numbers.__getitem__))
            for names in found
            if all(n in numbers for n in names)
        },
        key=lambda names: (len(names), [numbers[n] for n in names]),
    )
    single = [x for x in listed if len(x) == 1]
    if len(numbers) < MANY:
        examples = [*single[:1], *[x for x in listed[-1:] if len(x) > 1]]
    else:
        examples = [
            *single[-1:],
            *[x for x in listed if len(x) == 2][:1],
            *[x for x in listed if len(x) > 2][-1:],
        ]
    shown = []
    for names in examples:
        total = target.sum(angle_sum((n, 1) for n in names))
        for kind, function in (("c", "cos"), ("s", "sin")):
            shown.append(
                (
                    target.notation.short_angle(target.names, kind, names),
                    target.notation.cosine(function, total, len(names) == 1, 1),
                )
            )
    return shown


def _angles_of(eom: Any) -> set[tuple[str, ...]]:
    """Sums of coordinates whose cosines or sines occur in what has been derived."""
    found: set[tuple[str, ...]] = set()
    stack: list[Sum] = [form for sheet in eom.sheets for _, form in (*sheet.lines, *sheet.parts)]
    seen = set()
    while stack:
        form = stack.pop()
        for term in form.terms:
            for factor, _ in term.factors:
                if factor in seen:
                    continue
                seen.add(factor)
                if isinstance(factor, Cosine) and all(
                    isinstance(x, str) and k == 1 for x, k in factor.angle
                ):
                    found.add(tuple(x for x, _ in factor.angle))
                else:
                    stack.extend(inner_forms(factor))
    return found
