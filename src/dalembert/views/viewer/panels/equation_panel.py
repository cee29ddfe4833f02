"""The equations beside the robot: closed forms where they are short, and the values they have now."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import (
    Any,
    NamedTuple,
)

import numpy as np

from dalembert.closed_forms.equations import equations
from dalembert.closed_forms.printing.markup import html_text
from dalembert.closed_forms.printing.number_text import number
from dalembert.displays import shortened
from dalembert.errors import DalembertError
from dalembert.formulations import newton_euler
from dalembert.model.mechanism import Mechanism
from dalembert.results.labels import force_units
from dalembert.systems.kinds import system_of
from dalembert.views.viewer.run_states import ViewedState

MOST_FREEDOMS = 7  # of closed forms that are formed for the viewer
MOST_CHARACTERS = 24_000  # of a quantity in MathML that is shown
MOST_ENTRIES = 12  # rows and columns of a matrix in numbers
MOST_ROWS = 40  # of the table of values
FORMS = {
    "mass_matrix": "Mass matrix M(q)",
    "gravity_vector": "Gravity vector g(q)",
    "coriolis_vector": "Coriolis vector C(q, q\u0307) q\u0307",
}
LABEL = re.compile(r"([Mgh])([0-9])([0-9]?)")  # of a row, as M12 or g3
CHRISTOFFEL = "Gamma"  # in the text of what is written by symbols that are not shown here
NOISE = 1e-12  # of the largest entry of a matrix: rounding, shown as 0
BASE = "font:12px/1.5 system-ui,sans-serif;color:var(--mantine-color-text,currentColor)"
CELL = "padding:1px 5px;text-align:right;font-variant-numeric:tabular-nums;white-space:nowrap"
ENTRY = "padding:1px 3px;text-align:right;font-size:11px;white-space:nowrap"
SMALL_ENTRY = 0.01  # of the largest
HEAD = "font-weight:600;margin:10px 0 2px"
VALUE = "opacity:.7;white-space:nowrap;padding-left:.4em;font-variant-numeric:tabular-nums"


class FormRow(NamedTuple):
    """A row of a closed form: its quantity, its label, and its MathML."""

    quantity: str
    label: str
    mathml: str


class Terms(NamedTuple):
    """M(q), C(q, qd) qd and g(q) at a state."""

    M: np.ndarray
    c: np.ndarray
    g: np.ndarray

    @classmethod
    def at(cls, mechanism: Mechanism, state: ViewedState) -> Terms:
        """The terms at a state."""
        g = np.asarray(newton_euler.gravity_vector(mechanism, state.q))
        bias = np.asarray(newton_euler.bias_force(mechanism, state.q, state.qd))
        c = _without_noise(bias - g, np.abs([g, bias]).max(initial=0.0))
        return cls(np.asarray(newton_euler.mass_matrix(mechanism, state.q)), c, g)

    def value(self, label: str) -> float | None:
        """The entry that a row is about; None of abbreviations."""
        if (match := LABEL.fullmatch(label)) is None:
            return None
        i = int(match[2]) - 1
        if match[1] == "M":
            return float(self.M[i, int(match[3]) - 1]) if match[3] else None
        return float((self.g if match[1] == "g" else self.c)[i])


class EquationPage:
    """The page of equations; closed forms join it when they are formed."""

    def __init__(self, mechanism: Mechanism, numeric: Mechanism):
        self.mechanism = mechanism
        self.numeric = numeric
        self.rows: list[FormRow] = []
        self.symbols = ""
        self.remark = "closed forms are being formed \u2026"
        if mechanism.nv > MOST_FREEDOMS:
            self.remark = f"{mechanism.nv} degrees of freedom: da.equations forms the closed forms."

    def form(self, is_wanted: Callable[[], bool]) -> None:
        """Form the closed forms of the quantities that are short enough, while they are wanted."""
        if self.mechanism.nv > MOST_FREEDOMS:
            return

        def watch(text: str, share: float) -> None:
            """Give up when nobody waits."""
            if not is_wanted():
                raise DalembertError("the page is closed.")

        try:
            forms = equations(self.mechanism, progress=watch)
            for quantity in FORMS:
                self._add(quantity, forms.text(quantity), forms.mathml(quantity))
            self.symbols = _symbols(forms)
            self.remark = ""
        except (DalembertError, ValueError, KeyError) as error:
            self.remark = f"no closed forms: {error}"

    def _add(self, quantity: str, lines: str, mathml: str) -> None:
        labels = [line.partition(" = ")[0] for line in lines.split("\n") if " = " in line]
        formulas = [row for row in mathml.split("\n") if row]
        is_short = len(mathml) <= MOST_CHARACTERS and CHRISTOFFEL not in lines
        if is_short and len(labels) == len(formulas):
            self.rows += [FormRow(quantity, *row) for row in zip(labels, formulas, strict=True)]

    def html(self, state: ViewedState) -> str:
        """Closed forms with their values at a state, then all terms in numbers."""
        terms = Terms.at(self.numeric, state)
        pages = [self._forms(terms), _table(self.numeric, state, terms)]
        if not any(row.quantity == "mass_matrix" for row in self.rows):
            pages.append(f'<div style="{HEAD}">Mass matrix M(q)</div>{_matrix(terms.M)}')
        remark = _remark(self.remark) if self.remark else ""
        return f'<div style="{BASE};padding:0 8px 8px">{"".join(pages)}{self.symbols}{remark}</div>'

    def _forms(self, terms: Terms) -> str:
        pages = []
        for quantity, title in FORMS.items():
            rows = [row for row in self.rows if row.quantity == quantity]
            if rows:
                formulas = "".join(_formula(row, terms) for row in rows)
                pages.append(f'<div style="{HEAD}">{html_text(title)}</div>{_scrolled(formulas)}')
        return "".join(pages)


def _formula(row: FormRow, terms: Terms) -> str:
    value = terms.value(row.label)
    shown = "" if value is None else f'<span style="{VALUE}">= {number(value)}</span>'
    return f'<div style="margin:3px 0;white-space:nowrap">{row.mathml}{shown}</div>'


def _symbols(forms: Any) -> str:
    """Inertial parameters in the closed forms with their values, to be unfolded."""
    rows = "".join(
        f'<tr><td style="padding:1px 6px">{html_text(p.name)}</td><td style="{CELL}">'
        f'{number(float(p.value))}</td><td style="padding:1px 6px;opacity:.65">'
        f"{html_text(shortened(p.body))}</td></tr>"
        for p in forms.base_parameters
        if isinstance(p.value, (int, float))
    )
    if not rows:
        return ""
    return (
        f'<details><summary style="{HEAD};cursor:pointer">Inertial parameters</summary>'
        f'<table style="border-collapse:collapse">{rows}</table></details>'
    )


def _scrolled(formulas: str) -> str:
    return f'<div style="overflow-x:auto;font-size:14px">{formulas}</div>'


def _remark(words: str) -> str:
    return f'<div style="{BASE};opacity:.75;padding:6px 0">{html_text(words)}</div>'


def _table(mechanism: Mechanism, state: ViewedState, terms: Terms) -> str:
    """Velocities, terms of the equations and forces, a row for each freedom."""
    units = force_units(system_of(mechanism))
    names = mechanism.velocity_names
    columns = [("q\u0307", state.qd), ("C q\u0307", terms.c), ("g", terms.g)]
    if state.tau is not None:
        largest = np.abs([state.tau, terms.g, terms.c]).max(initial=0.0)
        columns.append(("\u03c4", _without_noise(state.tau, largest)))
    head = "".join(f'<th style="{CELL};font-weight:600">{title}</th>' for title, _ in columns)
    rows = []
    shown = [_without_noise(values) for _, values in columns]
    for k, name in enumerate(names[:MOST_ROWS]):
        cells = "".join(f'<td style="{CELL}">{number(values[k], 3)}</td>' for values in shown)
        label = f'<td style="padding:1px 6px 1px 0">{html_text(shortened(name))}</td>'
        rows.append(
            f'<tr>{label}{cells}<td style="opacity:.65;white-space:nowrap">'
            f"{html_text(units[k])}</td></tr>"
        )
    more = _remark(f"and {len(names) - len(rows)} more") if len(names) > len(rows) else ""
    return (
        f'<div style="{HEAD}">Values now</div><div style="overflow-x:auto">'
        f'<table style="border-collapse:collapse"><tr><th></th>{head}<th></th></tr>'
        f"{''.join(rows)}</table></div>{more}"
    )


def _without_noise(values: np.ndarray, largest: float = 0.0) -> np.ndarray:
    """Values with zeros for rounding, of a sum whose terms are as large as `largest`."""
    size = max(largest, np.abs(values).max(initial=0.0))
    return np.where(np.abs(values) > NOISE * size, values, 0.0)


def _entry(x: float, largest: float) -> str:
    """An entry of a matrix: a small one beside the largest with fewer digits."""
    return number(x, 3 if abs(x) >= SMALL_ENTRY * largest else 1)


def _matrix(M: np.ndarray) -> str:
    size = min(len(M), MOST_ENTRIES)
    shown = _without_noise(M)[:size, :size]
    largest = float(np.abs(shown).max(initial=0.0))
    rows = "".join(
        "<tr>" + "".join(f'<td style="{ENTRY}">{_entry(x, largest)}</td>' for x in row) + "</tr>"
        for row in shown
    )
    more = _remark(f"the first {size} of {len(M)} rows and columns") if len(M) > size else ""
    edge = "border:solid currentColor;border-width:0 1.5px;border-radius:6px"
    return (
        f'<div style="overflow-x:auto;padding:2px 0"><table style="border-collapse:collapse;'
        f'{edge}">{rows}</table></div>{more}'
    )
