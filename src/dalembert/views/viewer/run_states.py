"""States of a run at any time: coordinates between its records, forces and energies of the records."""

from __future__ import annotations

from typing import (
    TYPE_CHECKING,
    NamedTuple,
)

import numpy as np

from dalembert.errors import (
    DalembertError,
    ShapeError,
)
from dalembert.model.joints import Prismatic
from dalembert.model.mechanism import Mechanism

if TYPE_CHECKING:
    from dalembert.results.run import Run

MOST_GHOSTS = 8  # trajectories that are shown together


class ViewedState(NamedTuple):
    """A state of one trajectory.

    q (nq,) [rad, m], qd (nv,), tau (nv,) [N m, N] or None where it is not known, t [s]
    """

    q: np.ndarray
    qd: np.ndarray
    tau: np.ndarray | None
    t: float


class RunStates:
    """The trajectories of a run, each (K, entries), the last ones kept where one has ended."""

    def __init__(self, mechanism: Mechanism, run: Run):
        if run.system.mechanism is None:
            raise DalembertError(f"{run.system.name!r} has no bodies to show.")
        if tuple(run.system.coordinate_names) != mechanism.coordinate_names:
            names = ", ".join(mechanism.coordinate_names[:5])
            raise ShapeError(
                f"the run is of another mechanism than {mechanism.name!r} ({names}, ...).", "run"
            )
        self.run = run
        self.mechanism = mechanism
        self.times = np.asarray(run.times, dtype=float)
        self.q = _trajectories(run.q)
        self.qd = _trajectories(run.qd)
        self.tau = _forces(run)

    @property
    def count(self) -> int:
        """Number of trajectories."""
        return len(self.q)

    @property
    def duration(self) -> float:
        """From the first record to the last [s]."""
        return float(self.times[-1] - self.times[0])

    def at(self, t: float, trajectory: int = 0) -> ViewedState:
        """The state at a time [s]: coordinates between two records along the shortest way."""
        k = int(np.clip(np.searchsorted(self.times, t, side="right") - 1, 0, len(self.times) - 1))
        q = self.q[trajectory]
        qd = self.qd[trajectory]
        tau = None if self.tau is None else self.tau[trajectory][k]
        if k + 1 == len(self.times):
            return ViewedState(q[k], qd[k], tau, t)
        part = (t - self.times[k]) / max(self.times[k + 1] - self.times[k], 1e-300)
        part = float(np.clip(part, 0.0, 1.0))
        step = part * self.mechanism.difference(q[k + 1], q[k])
        between = np.asarray(self.mechanism.integrate(q[k], step))
        return ViewedState(between, qd[k] + part * (qd[k + 1] - qd[k]), tau, t)

    def postures(self, most: int) -> np.ndarray:
        """Coordinates (n, nq) at records along each trajectory, at most so many of each."""
        keep = np.unique(np.linspace(0, len(self.times) - 1, most).round().astype(int))
        return np.concatenate(self.q[:MOST_GHOSTS, keep])

    def largest_forces(self) -> np.ndarray | None:
        """The largest |tau| of each entry (nv,); None where forces are not known."""
        if self.tau is None:
            return None
        return np.asarray(np.abs(self.tau).max(axis=(0, 1)))

    def ranges(self) -> dict[str, tuple[float, float]]:
        """Displacements of prismatic joints over all trajectories [m], by joint."""
        found = {}
        for joint in self.mechanism.independent_joints:
            if isinstance(joint.type, Prismatic):
                values = self.q[..., self.mechanism.entries[joint.name].at_q.start]
                found[joint.name] = float(values.min()), float(values.max())
        return found


def _trajectories(values: np.ndarray) -> np.ndarray:
    """Values (N, K, entries); where a trajectory has ended its last state stays."""
    every = np.asarray(values, dtype=float)
    every = every if every.ndim == 3 else every[None]
    is_there = np.isfinite(every).all(axis=2)
    last = np.maximum.accumulate(np.where(is_there, np.arange(every.shape[1]), 0), axis=1)
    return np.take_along_axis(every, last[..., None], axis=1)


def _forces(run: Run) -> np.ndarray | None:
    """Applied forces (N, K, nv); None of runs from files, which keep no functions."""
    try:
        return _trajectories(run.tau)
    except DalembertError:
        return None
