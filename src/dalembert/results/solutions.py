"""Counts of the iterations that gave velocities of momenta in a run."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from dalembert.formulations.hamilton.configurations import Operations
from dalembert.spatial.arrays import Array

LABELS = ("solutions", "iterations", *Operations._fields, "residual")


class Solutions(NamedTuple):
    """Iterations of a run for velocities z with A z = p - a.

    solver : name of the iteration
    solutions, iterations : numbers of both, of all trajectories
    operations : `hamilton.Operations`
    residual : largest norm |p - a - A z| that was left
    """

    solver: str
    solutions: int
    iterations: int
    operations: Operations
    residual: float

    @property
    def counts(self) -> Array:
        """The numbers as a vector, in the order of LABELS."""
        return np.array([self.solutions, self.iterations, *self.operations, self.residual])

    @staticmethod
    def total(first: Array, second: Array) -> Array:
        """The vectors of two parts of a run as one."""
        return np.array([*(first + second)[:-1], max(first[-1], second[-1])])

    @staticmethod
    def of(solver: str, counts: Array) -> Solutions:
        """The numbers of such a vector."""
        solutions, iterations, *operations = (int(n) for n in counts[:-1])
        return Solutions(solver, solutions, iterations, Operations(*operations), float(counts[-1]))
