"""How a motion stays on its constraints: accelerations and velocities, with what a method solves for."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

import numpy as np

from dalembert.integrators.method_kinds import (
    ACCELERATIONS,
    BALANCED,
    BALANCING,
    DEPENDENT_ENTRIES,
    GGL,
    MULTIPLIERS,
    NULL_SPACE,
    PROJECTION,
    SLIPS,
    SWITCHES,
)
from dalembert.systems.constraint_set import ConstraintSet
from dalembert.systems.coordinate_partitioning import CoordinatePartitioning
from dalembert.systems.tangent_space import null_space_accelerations

NO_UNKNOWNS: Mapping[str, Any] = MappingProxyType({})


@dataclass(frozen=True)
class Stabilisation:
    """A way to stay on constraints.

    name : of `method_kinds`
    time_constant : of the errors with Baumgarte's feedback [s]
    unknowns : of a method that solves for multipliers in its steps
    """

    name: str = PROJECTION
    time_constant: float | None = None
    unknowns: tuple[str, ...] = ()

    @property
    def key(self) -> tuple[Any, ...]:
        """Equal where equations are."""
        return self.name, self.time_constant, self.unknowns

    def lengths(self, system: Any) -> dict[str, int]:
        """Lengths of the unknowns of a system, by name."""
        if not self.unknowns:
            return {}
        rows = ConstraintSet(system)
        lengths = {
            MULTIPLIERS: len(rows.labels),
            SLIPS: len(rows.position_labels),
            ACCELERATIONS: system.nv,
            BALANCED: system.nv,
            BALANCING: len(rows.labels),
            DEPENDENT_ENTRIES: system.nv,
            SWITCHES: 1,
        }
        return {name: lengths[name] for name in self.unknowns if lengths[name]}

    def beginning(self, system: Any, q: Any, qd: Any, tau: Any, t: Any) -> dict[str, Any]:
        """Unknowns at a state of floats that meets the constraints, by name."""
        if not system.constraints:
            return {ACCELERATIONS: system.forward_dynamics(q, qd, tau, t)}
        if DEPENDENT_ENTRIES in self.unknowns:
            first = CoordinatePartitioning(ConstraintSet(system), np.zeros(system.nv))
            return {DEPENDENT_ENTRIES: first.chosen(q, qd, t), SWITCHES: 0.0}
        force = system.applied(q, qd, tau, t)
        qdd, multipliers = ConstraintSet(system).accelerations(force, q, qd, t)
        return {MULTIPLIERS: multipliers, SLIPS: 0.0, ACCELERATIONS: qdd}

    def completed(
        self, system: Any, q: Any, qd: Any, t: Any, unknowns: Mapping[str, Any]
    ) -> tuple[Any, Any]:
        """The state at which forces and accelerations are those of a state in a step: with coordinate
        partitioning its dependent entries follow from the independent ones.
        """
        if DEPENDENT_ENTRIES not in unknowns:
            return q, qd
        marks = unknowns[DEPENDENT_ENTRIES]
        return CoordinatePartitioning(ConstraintSet(system), marks).completed(q, qd, t)

    def moving(self, system: Any, q: Any, qd: Any, t: Any, unknowns: Mapping[str, Any]) -> Any:
        """Velocities at which coordinates move (nv,): qd + M^-1 J^T mu with GGL, mu such that phi' = 0,
        else qd.
        """
        rows = ConstraintSet(system)
        if self.name != GGL or not rows.holonomic:
            return qd
        positions, _ = rows.responses(q, qd, t)
        assert positions is not None
        if SLIPS in unknowns:
            return qd + positions.along(unknowns[SLIPS])
        return qd - positions.towards(rows.position_rates(q, qd, t).velocity)

    def accelerations(
        self, system: Any, q: Any, qd: Any, tau: Any, t: Any, unknowns: Mapping[str, Any]
    ) -> Any:
        """qdd (nv,) under multipliers that follow from the state, or are unknowns."""
        if MULTIPLIERS in unknowns:
            force = system.applied(q, qd, tau, t) + self.reaction(system, q, qd, t, unknowns)
            return np.asarray(system.factors_of_inertia(q, t).solved(list(force)))
        force = system.applied(q, qd, tau, t)
        rows = ConstraintSet(system)
        if DEPENDENT_ENTRIES in unknowns:
            entries = CoordinatePartitioning(rows, unknowns[DEPENDENT_ENTRIES])
            return entries.accelerations(force, q, qd, t)
        if self.name == NULL_SPACE:
            return null_space_accelerations(rows, force, q, qd, t)
        if self.time_constant is None:
            return system.forward_dynamics(q, qd, tau, t)
        return rows.accelerations(force, q, qd, t, self.time_constant)[0]

    def reaction(
        self,
        system: Any,
        q: Any,
        qd: Any,
        t: Any,
        unknowns: Mapping[str, Any],
        tau: Any = None,
    ) -> Any:
        """J^T lambda (nv,) of multipliers that are unknowns, or follow from the state under tau."""
        rows = ConstraintSet(system)
        if self.name == NULL_SPACE:
            force = system.applied(q, qd, tau, t)
            qdd = null_space_accelerations(rows, force, q, qd, t)
            return np.asarray(system.mass_matrix(q, t)) @ qdd - force
        if MULTIPLIERS in unknowns:
            multipliers = unknowns[MULTIPLIERS]
        else:
            force = system.applied(q, qd, tau, t)
            multipliers = rows.accelerations(force, q, qd, t, self.time_constant)[1]
        return rows.rates(q, qd, t).jacobian.T @ np.asarray(multipliers)


PROJECTED = Stabilisation()
