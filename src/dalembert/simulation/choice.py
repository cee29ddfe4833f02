"""The form of the equations of motion for a system and the name of a formulation."""

from __future__ import annotations

from typing import Any

from dalembert.errors import UnknownNameError
from dalembert.formulations.lagrange.system import LagrangianSystem
from dalembert.model.mechanism import Mechanism
from dalembert.simulation.canonical import Canonical
from dalembert.simulation.forms import Accelerations, Form
from dalembert.simulation.lagrangian import CANONICAL, OWN, Lagrangian, LagrangianMomenta
from dalembert.tracing.quantities import known_formulation


def formulation_for(method: str, formulation: str | None) -> str | None:
    """The formulation of a simulation; by default Hamilton's for a method whose state is (q, p)."""
    return CANONICAL if formulation is None and method == "symplectic_euler" else formulation


def form_of(system: Any, formulation: str | None = None, paths: tuple[str, ...] = ()) -> Form:
    """Equations of a mechanism or Lagrangian by the name of a formulation; by default the natural one.

    paths: of the mechanism's numbers that are inputs.

    Raises
    ------
    UnknownNameError, TypeError, ValueError
        There is no such formulation; the system is none; it has parameters without values, or no momenta.
    """
    if isinstance(system, Mechanism):
        name = known_formulation("newton_euler" if formulation is None else formulation)
        return (Canonical if name == CANONICAL else Accelerations)(system, name, paths)
    if not isinstance(system, LagrangianSystem):
        raise TypeError(f"a {type(system).__name__} cannot be simulated: give a Mechanism or a LagrangianSystem.")
    forms = {OWN: Lagrangian, CANONICAL: LagrangianMomenta}
    name = OWN if formulation is None else formulation
    if name not in forms:
        raise UnknownNameError("formulation of a Lagrangian", name, tuple(forms))
    return forms[name](system)
