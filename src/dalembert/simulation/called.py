"""A method over a motion in Python, with the calls of a `Marching`: for what cannot be compiled."""

from __future__ import annotations

from typing import Any

import numpy as np

from dalembert.compiled.marching import Trajectories
from dalembert.integrators import Fixed, Method, records
from dalembert.simulation.motion import Motion

State = dict[str, np.ndarray]


class Called:
    """Trajectories one after the other, whose forces and events may be any Python functions."""

    def __init__(self, motion: Motion, way: Method):
        self.motion, self.way = motion, way

    def run(self, x: np.ndarray, times: np.ndarray, h: Any, p: np.ndarray, repeats: int, rtol: float = 0.0,
            atol: float = 0.0, threads: int = 1, end: float | None = None, state: State | None = None) -> Trajectories:
        """As `Marching.run`; an adaptive method ends a step at the last of the times."""
        n, k = len(x), len(times) - 1
        out = {name: np.zeros((n, k)) for name in ("t", "steps", "rejected", "failed", "h")}
        found, p = np.full((n, k, self.motion.nx), np.nan), np.broadcast_to(p, (n, p.shape[-1]))
        begin = {"x": x, "start": times[0], "t": times[0], "h": h, "steps": 0.0, "rejected": 0.0, "failed": 0.0}
        now = {}
        for name, values in begin.items():
            given, size = (state or begin).get(name, values), self.motion.nx if name == "x" else 1
            now[name] = np.array(np.broadcast_to(np.reshape(given, (-1, size)), (n, size)), dtype=float)
        for row in range(n):
            at = {name: v[row, 0] for name, v in now.items()} | {"x": now["x"][row]}
            for place, record in enumerate(self._records(at, times, p[row], repeats, rtol, atol)):
                rest = slice(place, None if record["failed"] else place + 1)
                found[row, rest] = record["x"]
                for name, values in out.items():
                    values[row, rest] = record[name]
                at |= record
            for name, v in at.items():
                now[name][row] = v
        return Trajectories(out["t"], found, out["steps"], out["rejected"], out["failed"], out["h"], now)

    def _records(self, at: dict[str, Any], times: np.ndarray, p: np.ndarray, repeats: int, rtol: float, atol: float) -> Any:
        """Records behind a state, each as a dict; a trajectory that has failed stays where it is."""
        if at["failed"] > 0:
            yield at
            return
        fixed, motion = isinstance(self.way, Fixed), self.motion
        watch = (lambda *step: motion.watch_called(*step, p)) if motion.is_watched else None
        grid = np.array([at["start"] if fixed else at["t"], *times[1:]])
        before = np.array([0.0 if fixed else at["steps"], at["rejected"]])
        for r in records(self.way, motion.function(p=p), at["x"], grid, at["h"], repeats, rtol, atol, motion.projected,
                         watch=watch, steps=int(at["steps"]) if fixed else 0):
            steps, rejected = before + (r.steps, r.rejected)
            yield {"t": r.t, "x": r.x, "steps": steps, "rejected": rejected, "failed": r.failed, "h": r.h}
