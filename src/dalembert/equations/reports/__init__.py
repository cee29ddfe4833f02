"""The derivation for one mechanism, step by step, as the chosen formulation makes it."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from dalembert.equations.reports.steps import Steps


def report(eom: Any) -> str:
    """Markdown with LaTeX formulas, one section per step of `eom.formulation`.

    What a step prints is evaluated at random states beside the numbers that the formulation's own functions give there.

    Raises
    ------
    VerificationError
    """
    with eom.graph:
        steps = Steps(eom)
        steps.coordinates()
        import_module(f"dalembert.equations.reports.{eom.formulation}").write(steps)
        return steps.document()
