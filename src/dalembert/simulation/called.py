"""A method over a motion in Python, with the calls of a `Marching`: for what cannot be compiled."""

from __future__ import annotations

from typing import Any

import numpy as np

from dalembert.compiled.marching import Trajectories
from dalembert.integrators import Fixed, Method, records
from dalembert.integrators.crossing import crossing, resolution
from dalembert.integrators.fixed_point import HUGE
from dalembert.simulation.motion import Motion

State = dict[str, np.ndarray]
ATTEMPTS = 1_000_000         # steps between two records of an adaptive method


class Called:
    """Trajectories one after the other, whose forces and events may be any Python functions."""

    def __init__(self, motion: Motion, way: Method, tolerances: tuple[float, float], longest: float = HUGE):
        self.motion, self.way = motion, way
        self.tolerances, self.longest = tolerances, longest            # of steps to where something happens

    def run(self, x: np.ndarray, times: np.ndarray, h: Any, p: np.ndarray, repeats: int, rtol: float = 0.0,
            atol: float = 0.0, threads: int = 1, longest: float = HUGE, end: float | None = None,
            state: State | None = None, goals: np.ndarray | None = None) -> Trajectories:
        """As `Marching.run`; an adaptive method ends a step at the last of the times, and none waits for others."""
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
            first = int(goals[0] - at["steps"]) if goals is not None else repeats
            for place, record in enumerate(self._records(at, times, p[row], first, repeats, rtol, atol, longest)):
                rest = slice(place, None if record["failed"] else place + 1)
                found[row, rest] = record["x"]
                for name, values in out.items():
                    values[row, rest] = record[name]
                at |= record
            for name, v in at.items():
                now[name][row] = v
        return Trajectories(out["t"], found, out["steps"], out["rejected"], out["failed"], out["h"], now)

    def _records(self, at: dict[str, Any], times: np.ndarray, p: np.ndarray, first: int, repeats: int, rtol: float,
                 atol: float, longest: float) -> Any:
        """Records behind a state, each as a dict; a trajectory that has failed stays where it is."""
        if at["failed"] > 0:
            yield at
            return
        fixed, motion = isinstance(self.way, Fixed), self.motion
        watch = (lambda *step: motion.watch_called(*step, p)) if motion.is_watched else None
        grid = np.array([at["start"] if fixed else at["t"], *times[1:]])
        if fixed and first != repeats and len(times) > 2:              # after an event the way to the next record is shorter
            for record in self._records(at, times[:2], p, first, first, rtol, atol, longest):
                yield record
            if not record["failed"]:
                yield from self._records(at | record, times[1:], p, repeats, repeats, rtol, atol, longest)
            return
        before = np.array([0.0 if fixed else at["steps"], at["rejected"]])
        for r in records(self.way, motion.function(p=p), at["x"], grid, at["h"], first, rtol, atol, motion.projected,
                         watch=watch, steps=int(at["steps"]) if fixed else 0, longest=longest):
            steps, rejected = before + (r.steps, r.rejected)
            yield {"t": r.t, "x": r.x, "steps": steps, "rejected": rejected, "failed": r.failed, "h": r.h}

    def crossing(self, t: np.ndarray, x: np.ndarray, length: np.ndarray,
                 p: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """As `crossing_of`, one after the other; a method that chooses its steps does so on the way, too."""
        t, length = t[:, 0], length[:, 0]

        def there(rows: np.ndarray, s: np.ndarray) -> np.ndarray:
            return np.array([self._stepped(*one) for one in zip(t[rows], x[rows], p[rows], s, strict=True)])

        def depths(rows: np.ndarray, s: np.ndarray, after: np.ndarray) -> np.ndarray:
            steps = zip(t[rows], x[rows], t[rows] + s, after, p[rows], strict=True)
            return np.array([self.motion.called_depths(*step) for step in steps])

        every, s, last = np.arange(len(x)), length.copy(), there(np.arange(len(x)), length)
        deep = depths(every, s, last)
        most = np.where(p[:, -1] > 0, deep.max(axis=1), -1.0)
        if len(hits := np.flatnonzero(most >= 0)):
            s[hits] = crossing(lambda rows, s: depths(hits[rows], s, there(hits[rows], s)).max(axis=1),
                               length[hits], most[hits], resolution(t, length)[hits])
            last[hits] = there(hits, s[hits])
            deep[hits] = depths(hits, s[hits], last[hits])
        return s[:, None], last, deep

    def _stepped(self, t: float, x: np.ndarray, p: np.ndarray, s: float) -> np.ndarray:
        """x after a step of length s, unwatched."""
        if not t + s > t:
            return x
        repeats = 1 if isinstance(self.way, Fixed) else ATTEMPTS
        found = self.run(x[None], np.array([t, t + s]), s, np.append(p[:-1], 0.0), repeats, *self.tolerances,
                         longest=self.longest)
        return np.asarray(found.x[0, -1])
