"""Derivation context of equations in quasi-velocities."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, cast

import numpy as np

from dalembert.closed_forms.derivation.coordinates import MotionNames
from dalembert.closed_forms.derivation.lagrangian_context import ExpressionContext
from dalembert.closed_forms.printing.naming import taken_apart
from dalembert.expr import Expr
from dalembert.formulations.lagrange.quasi_velocities import QuasiVelocities


class QuasiVelocityContext(ExpressionContext):
    """Derivation context of Maggi's, Appell's or Boltzmann's and Hamel's equations.

    expressions: arrays by quantity, the equations by the form that was chosen.
    """

    def __init__(
        self,
        frame: QuasiVelocities,
        form: str,
        budget: int,
        letters: Sequence[str],
        parameters: Sequence[str] = (),
    ):
        super().__init__(frame.system, _motion_names(frame), budget, letters, parameters)
        self.frame = frame
        self.symbols |= dict.fromkeys(frame.dependent, "quasi-velocity that constraints keep at 0")
        self.varying |= {*frame.dependent}
        self.expressions = {
            name: np.asarray(x, dtype=object) for name, x in self._quantities(form).items()
        }

    def _quantities(self, form: str) -> Mapping[str, Any]:
        """Expressions of the quantities."""
        frame = self.frame
        reduced = getattr(frame, form)
        found = {
            "rates": frame.velocities,
            "mass_matrix": reduced.mass_matrix,
            "bias_force": reduced.bias_force,
            "generalized_forces": reduced.generalized_forces,
            "equations_of_motion": reduced.rows(frame.u_dot),
        }
        if form == "appell":
            return {**found, "acceleration_energy": frame.acceleration_energy}
        if form == "boltzmann_hamel":
            return {
                **found,
                "lagrangian": frame.lagrangian,
                "momenta": frame.momenta,
                "hamel_coefficients": frame.hamel_coefficients,
                "hamel_drift": frame.hamel_drift,
            }
        return found


def _motion_names(frame: QuasiVelocities) -> MotionNames:
    """Names of coordinates, quasi-velocities and their rates, and of the rates of coordinates."""
    symbols = frame.system.symbols
    q, qd, qdd = ([x.name for x in cast(Sequence[Expr], symbols[k])] for k in ("q", "qd", "qdd"))
    rates = {name: (base, 1) for base, name in zip(q, qd, strict=True)}
    for name, rate in zip(frame.names, frame.rate_names, strict=True):
        rates[rate] = (q[qdd.index(rate)], 2) if rate in qdd else (name, 1)
    own = {name: taken_apart(name) for name in frame.names if name not in rates}
    return MotionNames(tuple(q), frame.names, frame.rate_names, rates, own, {})
