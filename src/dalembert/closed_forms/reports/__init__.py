"""The derivation for one mechanism, step by step, as the chosen formulation makes it."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from dalembert.closed_forms.printing.documents import markdown_text
from dalembert.closed_forms.reports.derivation_steps import DerivationSteps
from dalembert.errors import DalembertError

OF_ELASTIC_LINKS = ("lagrange", "hamilton")  # formulations whose steps are written for these


def report(eom: Any) -> str:
    """Markdown with LaTeX formulas, a section per step of `eom.formulation`.

    What a step prints is evaluated at random states beside the numbers that the formulation's own
    functions give there.

    Raises
    ------
    VerificationError
    DalembertError
        The formulation's steps are body by body, and there are elastic links.
    """
    elastic = [body.name for body in eom.mechanism.elastic_bodies]
    if elastic and eom.formulation not in OF_ELASTIC_LINKS:
        raise DalembertError(
            f"the steps of {eom.formulation} are written body by body, and {eom.name!r} has elastic "
            f"links ({', '.join(elastic)}). Give formulation={OF_ELASTIC_LINKS[0]!r} or "
            f"{OF_ELASTIC_LINKS[1]!r} to da.equations."
        )
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
