"""Rows of constraints in numbers, at the states at which closed forms are verified."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any

import numpy as np

from dalembert.closed_forms.derivation.constraint_expressions import (
    ConstraintExpressions,
    KeepingForces,
    Moment,
)
from dalembert.closed_forms.derivation.derivation_context import SEED
from dalembert.errors import DalembertError
from dalembert.systems.constraint_set import ConstraintSet
from dalembert.systems.system import System

RANK = 1e-9  # of the largest singular value: a row follows from others


class RowsAtStates:
    """Rows of the constraints of a system without symbols at some states.

    unknowns : random values (states, count) of the symbols in the forces that keep them
    """

    def __init__(
        self,
        rows: ConstraintExpressions,
        system: System,
        moments: Sequence[Moment],
    ):
        self.rows = rows
        self.system = system
        self.moments = moments
        shape = (len(moments), len(rows.unknowns))
        self.unknowns = np.random.default_rng(SEED + 2).uniform(-1, 1, shape)

    @property
    def point(self) -> dict[str, Any]:
        """Values of the unknowns, and of the time, by name."""
        values = {x.name: self.unknowns[:, k] for k, x in enumerate(self.rows.unknowns)}
        return {**values, self.rows.clock: np.array([moment.t for moment in self.moments])}

    @cached_property
    def right(self) -> dict[str, np.ndarray]:
        """Quantities of the constraints, by their own functions of numbers."""
        own = ConstraintSet(self.system)
        keeping = KeepingForces(own)
        rates = [own.rates(q, qd, t) for q, qd, _, t in self.moments]
        forces = map(keeping.at, self.moments, self.unknowns)
        psi = [x.velocity[~own.is_position] for x in rates]
        J = np.array([x.jacobian for x in rates], dtype=float)
        return {
            "constraints": np.array([own.position(x.q, x.t) for x in self.moments], dtype=float),
            "velocity_constraints": np.array(psi, dtype=float),
            "constraint_jacobian": J,
            "constraint_bias": np.array([x.bias for x in rates], dtype=float),
            "constraint_forces": np.array([*forces], dtype=float),
        }

    def check_independent(self) -> None:
        """Raise a DalembertError where rows follow from others, so that multipliers are not unique."""
        J = self.right["constraint_jacobian"]
        acting = J[:, np.abs(J).max(axis=(0, 2)) > 0]
        values = np.linalg.svd(acting, compute_uv=False)
        rank = int((values > RANK * values[:, :1]).sum(axis=1).max())
        if rank < acting.shape[1]:
            raise DalembertError(
                f"multipliers of {self.system.name!r} are not unique: {acting.shape[1]} rows of "
                f"constraints have the rank {rank}. Leave rows out that follow from others."
            )
