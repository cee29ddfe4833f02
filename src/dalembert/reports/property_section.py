"""Properties that the equations of motion must have, checked at random states."""

from __future__ import annotations

import time
from collections.abc import Iterable
from typing import NamedTuple

import numpy as np

from dalembert.closed_forms.printing.markup import Markup, joined
from dalembert.closed_forms.printing.number_text import number
from dalembert.errors import DalembertError
from dalembert.model.magnitudes import check_magnitudes
from dalembert.model.mechanism import Mechanism
from dalembert.reports.further_checks import (
    MechanismState,
    constraint_checks,
    further_checks,
)
from dalembert.reports.identities import IdentityCheck, identities
from dalembert.reports.report_parts import (
    Provenance,
    ReportColumn,
    ReportSection,
    counted,
    is_too_large,
    note,
    paragraph,
    table,
    verdict,
)

STATES = 5  # random states
ENOUGH = 4.0  # s: no further state is taken after them
KEY, TITLE = "properties", "Properties, checked"
POSITIVE = "M is positive definite"
LETTERS = (
    ("M^T", "Mᵀ"),
    ("dM/dt", "Ṁ"),
    ("1/2 qd.M qd", "½ q̇ᵀM q̇"),
    ("d(T + Pi)/dt", "d(T + Π)/dt"),
    (").qd", ")ᵀq̇"),
    ("e_j", "eⱼ"),
    ("qdd", "q̈"),
    ("qd", "q̇"),
    ("tau", "τ"),
    ("2 C", "2C"),
    (" - ", " − "),
    ("ID(", "inverse dynamics("),
    ("FD after ID gives", "forward after inverse dynamics gives"),
)  # of texts for the command line, in the order in which they are replaced


class CheckedProperty(NamedTuple):
    """A property with its largest residual over some states."""

    text: str
    residual: float
    tolerance: float
    states: int

    @property
    def holds(self) -> bool:
        """Whether the residual is within its tolerance at all states."""
        return bool(self.residual <= self.tolerance)  # not a number: does not hold


def property_section(mechanism: Mechanism, seed: int) -> ReportSection:
    """All properties with residuals, tolerances and numbers of states, or why none is checked."""
    if mechanism.symbols:
        why = "Properties are checked with numbers, and this mechanism has symbols."
        return ReportSection(KEY, TITLE, paragraph(why))
    if why := is_too_large(mechanism, "Properties are checked"):
        return ReportSection(KEY, TITLE, paragraph(why))
    start = time.perf_counter()
    tree = mechanism.without("constraints") if mechanism.constraints else mechanism
    try:
        check_magnitudes(tree, "checked in doubles")
        found, missing = _checked(tree, seed)
    except DalembertError as error:
        return ReportSection(KEY, TITLE, paragraph(f"Properties cannot be checked: {error}"))
    if mechanism.constraints:
        for check in constraint_checks(mechanism, seed):
            if isinstance(check, str):
                missing.append(check)
            else:
                found.append(CheckedProperty(*check, 1))
    holding = sum(row.holds for row in found)
    words = f"{holding} of {counted(len(found), 'property', 'properties')} hold"
    content = [
        paragraph(f"{words} at random states. ", *_explained(mechanism)),
        _table(found),
        *(note(f"Not checked: {why}") for why in missing),
    ]
    provenance = Provenance(
        "Residuals",
        f"largest difference over {found[0].states if found else 0} random states (seed {seed}), "
        "relative to the largest entry; derivatives by five-point differences",
        time.perf_counter() - start,
    )
    return ReportSection(
        KEY, TITLE, joined(content, "\n"), (provenance,), (words, holding == len(found))
    )


def _explained(mechanism: Mechanism) -> Iterable[str]:
    yield "A residual is the largest difference between both sides, relative to the largest entry."
    if mechanism.constraints:
        yield " All but the constraints' own are properties of the tree, without constraints."


def _checked(mechanism: Mechanism, seed: int) -> tuple[list[CheckedProperty], list[str]]:
    """Properties over several states, and why others do not apply."""
    rng = np.random.default_rng(seed)
    rows: dict[str, CheckedProperty] = {}
    missing: dict[str, None] = {}
    start = time.perf_counter()
    for _ in range(STATES):
        q, qd = mechanism.random_state(rng)
        state = MechanismState(q, qd, rng.standard_normal(mechanism.nv))
        for check in [*identities(mechanism, *state), *further_checks(mechanism, state)]:
            if isinstance(check, str):
                missing[check] = None
            else:
                text = _text(check)
                rows[text] = _worse(rows.get(text), check, text)
        if time.perf_counter() - start > ENOUGH:
            break
    return [*rows.values()], [*missing]


def _text(check: IdentityCheck) -> str:
    """The property without numbers of one state."""
    return POSITIVE if check.text.startswith(POSITIVE) else check.text


def _worse(known: CheckedProperty | None, check: IdentityCheck, text: str) -> CheckedProperty:
    """The property with one state more."""
    if known is None:
        return CheckedProperty(text, check.residual, check.tolerance, 1)
    largest = float(np.maximum(known.residual, check.residual))  # not a number wins
    return CheckedProperty(text, largest, check.tolerance, known.states + 1)


def _table(found: list[CheckedProperty]) -> Markup:
    columns = [
        ReportColumn("property", lambda r: _readable(r.text)),
        ReportColumn("largest residual", lambda r: number(r.residual, 2), True),
        ReportColumn("tolerance", _tolerance, True),
        ReportColumn("states", lambda r: str(r.states), True),
        ReportColumn("verdict", lambda r: verdict(r.holds, "holds", "fails")),
    ]
    return table("Properties of the equations of motion", columns, found)


def _readable(text: str) -> str:
    """A property in the letters of books."""
    for plain, letters in LETTERS:
        text = text.replace(plain, letters)
    return text


def _tolerance(row: CheckedProperty) -> str:
    return number(row.tolerance, 2) if row.tolerance else "0"
