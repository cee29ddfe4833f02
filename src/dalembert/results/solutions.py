"""Counts of the iterations that gave velocities of momenta in a run."""

from __future__ import annotations

from typing import Any, NamedTuple


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
    operations: Any
    residual: float
