"""The derivation for one mechanism, step by step, as the chosen formulation makes it."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from dalembert.closed_forms.printing.documents import markdown_text
from dalembert.closed_forms.reports.derivation_steps import DerivationSteps


def report(eom: Any) -> str:
    """Markdown with LaTeX formulas, a section per step of `eom.formulation`.

    What a step prints is evaluated at random states beside the numbers that the formulation's own
    functions give there.

    Raises
    ------
    VerificationError
    """
    with eom.graph:
        steps = DerivationSteps(eom)
        names = zip(eom.coordinates, eom.coordinate_names, strict=True)
        listed = (f"${steps.target.name(x)}$: {markdown_text(entry)}" for x, entry in names)
        steps.section("Coordinates", "; ".join(listed) + ".")
        import_module(f"dalembert.closed_forms.reports.{eom.formulation}").write(steps)
        worst = max(steps.largest, *eom.verified.values(), 0.0)
        head = (
            f"# Derivation by {eom.formulation}: the equations of motion of "
            f"{markdown_text(eom.name)}\n\n"
            "Every formula was evaluated at random states beside the function that it stands for; "
            "largest relative "
            f"difference {worst:.0e}.\n\n"
        )
        return head + "\n".join(steps.lines) + "\n"
