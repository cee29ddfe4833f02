"""Velocities of momenta by the iterations of Hamilton's form, along a motion."""

from __future__ import annotations

from functools import reduce

import numpy as np

from dalembert.arguments import check_choice
from dalembert.formulations.hamilton.configurations import Operations
from dalembert.formulations.hamilton.velocity_solver import DIRECT, Solver
from dalembert.results.solutions import Solutions
from dalembert.systems.system import System


class Iteration:
    """Velocities of a motion, each from the last ones, with their counts."""

    def __init__(self, solver: Solver):
        self._solver = Solver(
            solver.method,
            solver.rule,
            solver.tolerance,
            solver.warm,
            solver.extrapolate,
            solver.limit,
        )
        self.residual = 0.0

    def velocities(self, system: System, q: np.ndarray, p: np.ndarray, t: float) -> np.ndarray:
        """qd of one state."""
        found = np.asarray(system.velocities(q, p, t, self._solver))
        assert self._solver.last is not None
        self.residual = max(self.residual, float(np.max(self._solver.last.residual)))
        return found

    @property
    def counts(self) -> Solutions:
        """Counts since the beginning."""
        own = self._solver
        return Solutions(own.method, own.solutions, own.iterations, own.operations, self.residual)


def iteration_of(system: System, solver: str | Solver | None) -> Solver | None:
    """The iteration that a solver stands for; None where it is a direct one.

    Raises
    ------
    ValueError, UnknownNameError
        The system has one way only; there is no such solver.
    """
    if solver is None:
        return None
    if not system.solvers:
        raise ValueError(
            "solver= chooses how velocities follow from momenta of a mechanism or of a system of "
            f"da.hamilton; {system.name!r} has one way only."
        )
    if isinstance(solver, Solver):
        return solver
    check_choice("solver", solver, system.solvers)
    return None if solver in DIRECT else Solver(solver)


def added(counts: list[Solutions]) -> Solutions | None:
    """The counts of several motions together."""
    if not counts:
        return None
    return Solutions(
        counts[0].solver,
        sum(c.solutions for c in counts),
        sum(c.iterations for c in counts),
        reduce(Operations.plus, (c.operations for c in counts)),
        max(c.residual for c in counts),
    )
