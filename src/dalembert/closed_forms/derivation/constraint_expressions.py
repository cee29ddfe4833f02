"""Rows of constraints, and their multipliers, as expressions of printed names."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from dalembert.expr import symbol
from dalembert.systems.constraint_set import ConstraintSet
from dalembert.systems.system import System


@dataclass(frozen=True)
class ConstraintExpressions:
    """Rows of the constraints of a system as expressions.

    phi : rows that positions keep at 0
    psi : rows on velocities that have no phi
    jacobian, bias : J qdd = bias, (k, nv), (k,)
    multipliers : symbols (k,)
    meanings : of the multipliers, by name
    clock : name of the time
    """

    phi: np.ndarray
    psi: np.ndarray
    jacobian: np.ndarray
    bias: np.ndarray
    multipliers: np.ndarray
    meanings: dict[str, str]
    clock: str = "t"

    @classmethod
    def at(
        cls, system: System, q: Any, qd: Any, t: Any, taken: Collection[str]
    ) -> ConstraintExpressions:
        """Rows at symbols of one graph; none of the names that are taken is one of a multiplier."""
        rows = ConstraintSet(system)
        found = rows.rates(q, qd, t)
        names = multiplier_names(rows.labels, taken)
        meanings = {
            name: f"multiplier of constraint {label}"
            for name, label in zip(names, rows.labels, strict=True)
        }
        on_velocities = found.velocity[~rows.is_position]
        arrays = (rows.position(q, t), on_velocities, found.jacobian, found.bias)
        phi, psi, J, bias = (np.asarray(x, dtype=object) for x in arrays)
        symbols = np.array([symbol(name, q[0].graph) for name in names], dtype=object)
        return cls(phi, psi, J, bias, symbols, meanings)

    @property
    def forces(self) -> np.ndarray:
        """J^T lambda (nv,)."""
        return self.jacobian.T @ self.multipliers

    @property
    def quantities(self) -> dict[str, np.ndarray]:
        """Expressions by the names of quantities."""
        return {
            "constraints": self.phi,
            "velocity_constraints": self.psi,
            "constraint_jacobian": self.jacobian,
            "constraint_bias": self.bias,
            "constraint_forces": self.forces,
        }


def multiplier_names(labels: Sequence[str], taken: Collection[str]) -> tuple[str, ...]:
    """Names lambda_rod, or lambda_pin1, lambda_pin2 of a constraint of several rows; lambda1, ...
    where these are no words, or are taken.
    """
    names = []
    for label in labels:
        name, _, row = label.rstrip("]").partition("[")
        names.append(f"lambda_{name}{int(row) + 1 if row else ''}")
    words = all(re.fullmatch("lambda_[A-Za-z]+[0-9]*", name) for name in names)
    if words and len({*names}) == len(names) and not {*names} & {*taken}:
        return tuple(names)
    prefixes = ("lambda", "multiplier_", "multiplier_of_row_")
    numbers = range(1, len(labels) + 1)
    prefix = next(x for x in prefixes if not any(f"{x}{k}" in taken for k in numbers))
    return tuple(f"{prefix}{k}" for k in numbers)
