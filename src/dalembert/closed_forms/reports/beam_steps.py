"""Elastic links in reports: shape functions, places of cross-sections, inertia and stiffness."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from dalembert.beams.shape_functions import BEND_Y, BEND_Z, STRETCH, TWIST, ShapeFunctions
from dalembert.closed_forms.derivation.meanings import DISPLACED
from dalembert.closed_forms.printing.documents import markdown_text
from dalembert.closed_forms.printing.expressions import latex
from dalembert.closed_forms.reports.derivation_steps import DerivationSteps
from dalembert.expr import Graph, symbol

DISPLACEMENTS = {BEND_Y: "v", BEND_Z: "w", TWIST: r"\vartheta", STRETCH: "u"}
EXACT = r"$$r' = (1 + u')\, e^{[\theta]_\times} e_x, \qquad \theta = (\vartheta, -w', v')^T$$"
PLACES = {
    "first_order": r"$$r = (x + u,\; v,\; w)^T$$",
    "second_order": (
        r"$$r = (x + u,\; v,\; w)^T + \int_0^x \left(-\tfrac12 (v'^2 + w'^2),\; u' v' - \tfrac12 "
        r"\vartheta w',\; u' w' + \tfrac12 \vartheta v'\right)^T ds$$"
    ),
    "third_order": EXACT,
    "exact": EXACT,
}
INERTIA = (
    r"$$M_{ij} = \int \frac{\partial r}{\partial q_i} \cdot \frac{\partial r}{\partial q_j}\, dm, "
    r"\qquad K_{ij} = \int_0^l E I\, \varphi_i'' \varphi_j''\, dx$$"
)


def write_beams(steps: DerivationSteps) -> None:
    """The section on elastic links."""
    steps.section("Elastic links")
    mechanism = steps.eom.mechanism
    turning = mechanism.nq - sum(h.type.nq for h in mechanism.holders if h.is_body)
    coordinates = iter(steps.eom.coordinates[turning:])
    for body in mechanism.elastic_bodies:
        for number in range(body.elements):
            where = f"element {number + 1} of " if body.elements > 1 else ""
            name = where + markdown_text(body.name)
            steps.text(f"Cross-sections of {name}, at $x = \\xi l$:")
            for direction, functions in body.modes:
                names = [steps.target.name(next(coordinates)) for _ in range(functions.count)]
                steps.text(f"{DISPLACED[direction]},", _displacement(direction, names, functions))
        assert body.beam is not None
        order = body.beam.kinematics.replace("_", " ")
        steps.text(f"their places, {order} in these:", PLACES[body.beam.kinematics])
    steps.text("Inertia and stiffness (with $GJ$, $EA$ and $\\varphi'$ for twist and stretch):")
    steps.text(INERTIA)


def _displacement(direction: str, names: Sequence[str], functions: ShapeFunctions) -> str:
    letter = DISPLACEMENTS[direction]
    total = " + ".join(f"{name}\\, \\varphi_{k}" for k, name in enumerate(names, 1))
    shown = r", \qquad ".join([f"{letter} = {total}", *_functions(functions)])
    return f"$${shown}$$"


def _functions(functions: ShapeFunctions) -> Iterator[str]:
    """Shape functions that are polynomials."""
    if functions.degree is None or len(functions.breaks) > 2:
        return
    xi: Any = symbol("xi", Graph())
    for k, form in enumerate(functions.values(xi), 1):
        yield f"\\varphi_{k} = {latex(form)}"
