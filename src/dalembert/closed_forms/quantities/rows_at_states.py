"""Rows of constraints in numbers, at the states at which closed forms are verified."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any

import numpy as np

from dalembert.closed_forms.derivation.constraint_expressions import (
    ConstraintExpressions,
)
from dalembert.closed_forms.derivation.derivation_context import SEED
from dalembert.errors import DalembertError
from dalembert.systems.constraint_set import ConstraintSet
from dalembert.systems.system import System

RANK = 1e-9  # of the largest singular value: a row follows from others


class RowsAtStates:
    """Rows of the constraints of a system without symbols at some states (q, qd, t).

    multipliers : random values (states, k) of the symbols in the equations of motion
    """

    def __init__(
        self,
        rows: ConstraintExpressions,
        system: System,
        states: Sequence[tuple[np.ndarray, np.ndarray, float]],
    ):
        self.rows = rows
        self.system = system
        self.states = states
        shape = (len(states), len(rows.multipliers))
        self.multipliers = np.random.default_rng(SEED + 2).uniform(-1, 1, shape)

    @property
    def point(self) -> dict[str, Any]:
        """Values of the multipliers, and of the time, by name."""
        values = {x.name: self.multipliers[:, k] for k, x in enumerate(self.rows.multipliers)}
        return {**values, self.rows.clock: np.array([t for *_, t in self.states])}

    @cached_property
    def right(self) -> dict[str, np.ndarray]:
        """Quantities of the constraints, by their own functions of numbers."""
        own = ConstraintSet(self.system)
        rates = [own.rates(*state) for state in self.states]
        psi = [x.velocity[~own.is_position] for x in rates]
        J = np.array([x.jacobian for x in rates], dtype=float)
        return {
            "constraints": np.array([own.position(q, t) for q, _, t in self.states], dtype=float),
            "velocity_constraints": np.array(psi, dtype=float),
            "constraint_jacobian": J,
            "constraint_bias": np.array([x.bias for x in rates], dtype=float),
            "constraint_forces": np.einsum("nkj,nk->nj", J, self.multipliers),
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
