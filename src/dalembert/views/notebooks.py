"""Objects as notebooks show them: HTML with pictures, small diagrams and tables, and LaTeX."""

from __future__ import annotations

from collections.abc import (
    Iterable,
    Sequence,
)
from typing import (
    TYPE_CHECKING,
    Any,
)

import numpy as np

from dalembert.closed_forms.printing import documents
from dalembert.closed_forms.printing.expressions import latex
from dalembert.closed_forms.printing.markup import (
    html_lines,
    html_text,
)
from dalembert.closed_forms.printing.notation import MATHML
from dalembert.closed_forms.printing.number_text import number
from dalembert.model.mechanism import Mechanism
from dalembert.results.record_selection import thinned
from dalembert.views.diagrams.charts import chart
from dalembert.views.diagrams.panels import PanelData
from dalembert.views.pictures.still import picture_svg

if TYPE_CHECKING:
    from dalembert.results.run import Run

PICTURE = 400  # width of a mechanism's picture [pixels]
MOST_ROWS = 30  # of a table
MOST_RECORDS = 300  # of a run in small diagrams
MOST_PANELS = 4
FEW_JOINTS = 3  # degrees of freedom up to which closed forms are made for a look
MOST_NODES = 400  # of an expression in LaTeX
ROW = '<div style="display:flex;flex-wrap:wrap;gap:1.2em;align-items:flex-start">'
TABLE = '<table style="border-collapse:collapse;font-size:.9em">'
CELL = 'style="text-align:left;padding:.15em .7em;border-bottom:1px solid rgba(128,128,128,.35)"'
CHART = "flex:0 1 380px;min-width:0"
PRE = '<pre style="margin:.3em 0;font:inherit;white-space:pre-wrap">'


def mechanism_html(mechanism: Mechanism) -> str:
    """The picture of a mechanism and a table of its bodies and joints."""
    table = _table(
        ("joint", "type", "from", "to body", "mass [kg]", "limits"),
        [_joint_row(mechanism, joint) for joint in mechanism.joints],
    )
    title = (
        f"<b>{html_text(mechanism.name)}</b>: {html_text(repr(mechanism).partition(': ')[2][:-1])}"
    )
    picture = picture_svg(mechanism, None, PICTURE, standalone=False)
    return f"<div>{title}</div>{ROW}<div>{picture}</div>{table}</div>"


def _joint_row(mechanism: Mechanism, joint: Any) -> tuple[str, ...]:
    """Cells of a joint and of the body that it carries."""
    body = mechanism.body(joint.child)
    limits = ""
    if joint.limits.lower is not None and joint.limits.upper is not None:
        limits = f"{number(joint.limits.lower[0])} to {number(joint.limits.upper[0])}"
    mass = body.mass if body.beam is None else body.mass + body.beam.mass
    return joint.name, joint.type.name, joint.parent, joint.child, number(mass), limits


def run_html(run: Run) -> str:
    """The summary of a run and small diagrams of it."""
    few, _ = thinned(run, MOST_RECORDS)
    data = PanelData(few)
    panels = [*data.panels(["q", "qd"])[: MOST_PANELS - 2], *data.panels(["tau", "energies"])]
    charts = "".join(f'<div style="{CHART}">{chart(panel)}</div>' for panel in panels[:MOST_PANELS])
    return f"<div>{PRE}{html_lines(run.summary())}</pre>{ROW}{charts}</div></div>"


def sweep_html(sweep: Any) -> str:
    """The summary of a sweep and the ranges of its results."""
    rows = [(name, *_spread(sweep[name])) for name in sweep.results]
    table = _table(("result", "shape", "least", "most"), rows)
    return f"<div>{PRE}{html_lines(sweep.summary())}</pre>{table}</div>"


def _spread(values: np.ndarray) -> tuple[str, str, str]:
    """The shape of an array, its least and its largest number."""
    shape = " x ".join(map(str, values.shape))
    if values.dtype.kind not in "fiub":
        return shape, "", ""
    finite = values[np.isfinite(values)]
    if not finite.size:
        return shape, "", ""
    return shape, number(finite.min(), 6), number(finite.max(), 6)


def equations_html(eom: Any) -> str:
    """The law of the equations of motion, and of small mechanisms their closed forms, in MathML."""
    law = documents.law(eom, documents.printer(eom, MATHML))
    parts = [f"<div><b>{html_text(eom.name)}</b></div>", _math(law)]
    if len(eom.coordinates) > FEW_JOINTS:
        known = ", ".join(eom.shown)
        parts.append(
            f"<div>Quantities: {html_text(known)}. <code>equations.text(name)</code></div>"
        )
        return "".join(parts)
    for quantity in ("mass_matrix", "coriolis_vector", "gravity_vector"):
        if quantity in eom.shown:
            noun = quantity.replace("_", " ").capitalize()
            parts.append(f'<div style="margin-top:.5em">{noun}</div>')
            lines = documents.mathml(eom, [quantity]).splitlines()
            parts += [f'<div style="margin:.2em 1em">{line}</div>' for line in lines]
    return "".join(parts)


def _math(content: str) -> str:
    """A formula on a line."""
    return f'<div style="margin:.4em 1em"><math><mrow>{content}</mrow></math></div>'


def expression_latex(expression: Any) -> str | None:
    """An expression as a formula; None of one that is too long to read."""
    if _nodes(expression) > MOST_NODES:
        return None
    return f"${latex(expression)}$"


def _nodes(expression: Any) -> int:
    """Operations of an expression written out, counted up to `MOST_NODES`."""
    waiting, count = [expression], 0
    while waiting and count <= MOST_NODES:
        count += 1
        waiting += [part for part in waiting.pop().args if hasattr(part, "args")]
    return count


def _table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table with at most `MOST_ROWS` rows."""
    every = list(rows)
    lines = [_row("th", head), *(_row("td", row) for row in every[:MOST_ROWS])]
    if len(every) > MOST_ROWS:
        lines.append(_row("td", [f"and {len(every) - MOST_ROWS} more"]))
    return f'<div style="overflow-x:auto;min-width:0">{TABLE}{"".join(lines)}</table></div>'


def _row(kind: str, cells: Sequence[str]) -> str:
    """Cells of a row."""
    return (
        "<tr>" + "".join(f"<{kind} {CELL}>{html_text(cell)}</{kind}>" for cell in cells) + "</tr>"
    )
