"""Trajectories on their way: in machine code from event to event, with what happens there in between."""

from __future__ import annotations

import warnings
from functools import partial

import numpy as np

from dalembert.compiled.marching import Trajectories
from dalembert.errors import DalembertWarning
from dalembert.integrators import Fixed, Method
from dalembert.simulation.called import Called, State
from dalembert.simulation.events import CAUGHT, EPS, Change, Event, crossing
from dalembert.simulation.motion import Motion
from dalembert.simulation.reactions import Reactions

ATTEMPTS = 1_000_000         # steps between two records of an adaptive method
LOST, ENDED = 1.0, 5.0       # codes of trajectories: a number is no longer finite (of the integrators); an event ended it
MANY = 100                   # events within the length of a step: they cluster
HELD, FREE = 0, 2            # modes in records; 1 and -1: slides forward and back


class Course:
    """N trajectories of a motion by a method, advanced from records to later records.

    Attributes
    ----------
    events, changes : what happened so far
    reasons : why trajectories ended that did, by their numbers
    """

    def __init__(self, motion: Motion, way: Method, h: float, repeats: int, rtol: float, atol: float, threads: int = 1):
        self.motion, self.h, self.repeats = motion, h, repeats
        self.events: list[Event] = []
        self.changes: list[Change] = []
        self.reasons: dict[int, str] = {}
        self._options = rtol, atol, threads
        self._fixed = isinstance(way, Fixed)
        self._batch = self._fixed and motion.compiles(way)             # many steps of different lengths in one call
        self._march = motion.run(way) if motion.compiles(way) else Called(motion, way).run
        self._now: State = {}
        self.initial = np.zeros((0, 0))                                # modes at the start

    def advance(self, x: np.ndarray, times: np.ndarray, state: State | None = None,
                end: float | None = None) -> Trajectories:
        """Trajectories from x (N, nx) at times[0] to each later time.

        state: what an earlier call left, from where this one goes on to the last bit; x only has the shape then.
        end: where an adaptive method ends a step; by default at the last of the times.
        """
        if not self.motion.is_watched:
            return self._march(x, times, self.h, self.motion.constants, self.repeats, *self._options, end, state)
        n, k = len(x), len(times) - 1
        self._times, self._end, self._made = times, float(times[-1]) if end is None else end, np.zeros(n, dtype=int)
        self._now = self._started(x) if state is None else {name: np.array(v) for name, v in state.items()}
        t, steps, rejected, failed, h = np.zeros((5, n, k))
        self._modes_out = np.full((n, k, self.motion.mechanism.nv), FREE, dtype=np.int8)
        self._out = Trajectories(t, np.full((n, k, x.shape[1]), np.nan), steps, rejected, failed, h)
        if state is None and (law := self.motion.reactions):
            for lane in range(n):
                self._settle(lane, law)
        self.initial = self.initial if self.initial.size else self._modes(np.arange(n))
        while len(lanes := np.flatnonzero(self._made < k)):
            self._go(lanes[self._made[lanes] == self._made[lanes].min()])
        self._now["made"] += k
        return self._out._replace(state=self._now, modes=self._modes_out)

    def _started(self, x: np.ndarray) -> State:
        """The state of trajectories that begin: what methods read, `p` with modes, records `made`, and counts of events."""
        n, p = len(x), np.broadcast_to(self.motion.constants, (len(x), self.motion.constants.shape[-1]))
        return {"x": np.array(x), "t": np.full((n, 1), self._times[0]), "start": np.full((n, 1), self._times[0]),
                "h": np.full((n, 1), self.h), "p": np.hstack([p, np.ones((n, self.motion.extra))]),
                "counts": np.zeros((n, len(self.motion.watched.functions))), "recent": np.zeros((n, 2)),
                **{name: np.zeros((n, 1)) for name in ("steps", "rejected", "failed", "made")}}

    # --- from event to event ---

    def _go(self, lanes: np.ndarray) -> None:
        """Run lanes that have made as many records until something happens, or to the last record."""
        now, made = self._now, self._made[lanes[0]]
        goals, repeats = self._times[made:], self.repeats
        if self._fixed:                                                # after an event the way to the next record is shorter
            left = (now["made"][lanes, 0] + made + 1) * repeats - now["steps"][lanes, 0]
            left = np.where(now["failed"][lanes, 0] > 0, repeats, left)
            lanes, repeats = lanes[left == left[0]], int(left[0])
            goals = goals if repeats == self.repeats else goals[:2]
        found = self._run(lanes, goals, repeats, self._end)
        for name, values in (found.state or {}).items():
            now.setdefault(name, np.zeros((len(self._made), values.shape[1])))[lanes] = values
        caught = found.failed == CAUGHT
        counts = np.where(caught.any(axis=1), caught.argmax(axis=1), len(goals) - 1)
        modes = self._modes(lanes)
        for lane, row, count in zip(lanes, range(len(lanes)), counts, strict=True):
            to, of = slice(made, made + count), (row, slice(count))
            for name in ("t", "x", "steps", "rejected", "failed", "h"):
                getattr(self._out, name)[lane, to] = getattr(found, name)[of]
            self._modes_out[lane, to] = modes[row]
        self._made[lanes] += counts
        if caught.any():
            self._cross(lanes[caught.any(axis=1)])

    def _run(self, lanes: np.ndarray, times: np.ndarray, repeats: int, end: float) -> Trajectories:
        state = {name: v[lanes] for name, v in self._now.items()}
        return self._march(np.nan_to_num(state["x"]), times, self._h(lanes), state["p"], repeats, *self._options, end, state)

    def _h(self, lanes: np.ndarray) -> np.ndarray:
        return np.full(len(lanes), self.h) if self._fixed else self._now["h"][lanes, 0]

    def _cross(self, lanes: np.ndarray) -> None:
        """Bring lanes through a step in which something happens: as far as it happens; of fixed steps, to the grid."""
        now = self._now
        now["failed"][lanes] = 0.0
        end = np.where(self._fixed, now["start"][lanes, 0] + (now["steps"][lanes, 0] + 1) * self.h,
                       np.minimum(now["t"][lanes, 0] + now["h"][lanes, 0], self._end))
        while len(lanes):
            t, length = now["t"][lanes, 0], end - now["t"][lanes, 0]
            deep = self._depth(lanes, np.arange(len(lanes)), length)
            s, hits = length.copy(), np.flatnonzero(deep >= 0)
            if len(hits):
                resolution = 2 * EPS * (np.abs(t[hits]) + length[hits])
                s[hits] = crossing(partial(self._depth, lanes[hits]), length[hits], deep[hits], resolution)
            x = self._stepped(lanes, s)
            self._record_until(lanes, np.where(s < length, t + s, end))
            depths = self.motion.depths_at(t, now["x"][lanes], t + s, x, now["p"][lanes])
            now["t"][lanes, 0], now["x"][lanes] = np.where(s < length, t + s, end), x
            now["failed"][lanes[~np.isfinite(x).all(axis=1)]] = LOST
            for row in hits:
                self._happens(int(lanes[row]), depths[row] >= 0)
            there = (now["t"][lanes, 0] >= end) | (now["failed"][lanes, 0] > 0)
            now["steps"][lanes[there] if self._fixed else lanes] += 1
            self._forget(lanes)
            lanes, end = (lanes[~there], end[~there]) if self._fixed else (lanes[:0], end[:0])

    def _forget(self, lanes: np.ndarray) -> None:
        """What methods keep of the step before does not hold any more."""
        for name, values in self._now.items():
            if name in ("known", "first") or name[0] == "z":
                values[lanes] = 0.0

    def _depth(self, lanes: np.ndarray, rows: np.ndarray, s: np.ndarray) -> np.ndarray:
        """The largest of `depths` after steps of lengths s (m,) of some of the lanes."""
        some = lanes[rows]
        t, x, p = (self._now[name][some] for name in ("t", "x", "p"))
        return self.motion.depths_at(t[:, 0], x, t[:, 0] + s, self._stepped(some, s), p).max(axis=1)

    def _stepped(self, lanes: np.ndarray, s: np.ndarray) -> np.ndarray:
        """x after steps of lengths s (m,), unwatched."""
        state = {name: self._now[name][lanes] for name in ("t", "x", "p")}
        state["p"][:, -1] = 0.0
        t, x, p = state["t"][:, 0], state["x"], state["p"]
        if self._batch:
            run = self._march(x, np.array([0.0, 1.0]), s, p, 1, *self._options, None, state | {"start": state["t"]})
            return run.x[:, 0]
        out = x.copy()
        for k in np.flatnonzero(t + s > t):
            repeats, times = 1 if self._fixed else ATTEMPTS, np.array([t[k], t[k] + s[k]])
            out[k] = self._march(x[k:k + 1], times, s[k], p[k:k + 1], repeats, *self._options).x[0, -1]
        return out

    def _record_until(self, lanes: np.ndarray, t: np.ndarray) -> None:
        """Records of adaptive methods within a step that ends early."""
        for lane, until in zip(lanes, t, strict=True):
            while not self._fixed and self._made[lane] < len(self._times) - 1 and self._times[self._made[lane] + 1] <= until:
                at, one = self._made[lane], np.array([lane])
                self._out.t[lane, at] = self._times[at + 1]
                self._out.x[lane, at] = self._stepped(one, self._times[at + 1] - self._now["t"][one, 0])[0]
                self._out.steps[lane, at], self._out.rejected[lane, at], self._out.h[lane, at] = (
                    self._now[name][lane, 0] for name in ("steps", "rejected", "h"))
                self._modes_out[lane, at] = self._modes(one)[0]
                self._made[lane] += 1

    # --- what happens ---

    def _happens(self, lane: int, which: np.ndarray) -> None:
        """Events and ends of modes of a lane where it is now."""
        now, motion = self._now, self.motion
        t, x = float(now["t"][lane, 0]), now["x"][lane]
        q, qd = (v.copy() for v in (x[:motion.mechanism.nq], motion.velocities_at(t, x)))
        law = motion.reactions
        entries = law.entries if law else np.zeros(0, dtype=int)
        ended = entries[which[:len(entries)]]
        for k in np.flatnonzero(which[len(entries):]):
            name, terminal = motion.watched.names[k], motion.watched.terminal[k]
            self.events.append(Event(lane, t, q, qd, name))
            now["counts"][lane, k] += 1
            if terminal and now["counts"][lane, k] >= terminal:
                self._end_of(lane, f"event {name!r} at t = {t:.9g} s")
        if law and len(ended):
            x[:len(q)], x[len(q):len(q) + len(qd)] = law.arrived(q, qd, motion.modes(now["p"][lane]), ended)
            self._settle(lane, law)
        if t - now["recent"][lane, 0] > self.h:
            now["recent"][lane] = t, 0
        now["recent"][lane, 1] += 1
        if now["recent"][lane, 1] > MANY and not now["failed"][lane, 0]:
            what = ", ".join([*(motion.mechanism.velocity_names[i] for i in ended), *(
                motion.watched.names[k] for k in np.flatnonzero(which[len(entries):]))])
            self._end_of(lane, f"events cluster: {MANY} within {self.h:g} s before t = {t:.9g} s, the last of {what}")
            warnings.warn(f"trajectory {lane}: {self.reasons[lane]}; it ends there.", DalembertWarning, stacklevel=2)

    def _end_of(self, lane: int, reason: str) -> None:
        self.reasons[lane] = reason
        self._now["failed"][lane] = ENDED

    def _settle(self, lane: int, law: Reactions) -> None:
        """What each entry of qd does from now on."""
        now, motion, m = self._now, self.motion, self.motion.mechanism
        t, p, x = float(now["t"][lane, 0]), now["p"][lane], now["x"][lane]
        before = self._modes(np.array([lane]))[0]
        first = t == now["start"][lane, 0] and not now["steps"][lane, 0]
        q, qd = x[:m.nq], x[m.nq:m.nq + m.nv]
        impacts: dict[int, float] = {}
        for _ in range(m.nv + 1):
            found = law.settled(q, qd, motion.forces_at(t, x, p), self.h)
            qd[:], p[-1 - len(found.modes):-1] = found.qd, found.modes
            x[m.nq + m.nv] += found.energy
            impacts = found.impacts | impacts
            joined = law.joined(q, qd, self.h)
            if (joined == q).all():
                break
            x[m.nq + m.nv] += motion.form.energy(joined, qd) - motion.form.energy(q, qd)
            q[:] = joined
        after = self._modes(np.array([lane]))[0]
        for i in law.entries:
            if i in impacts or before[i] != after[i] or first:
                self.changes.append(Change(lane, t, m.velocity_names[i], law.mode(i, after[i], x),
                                           impacts.get(i, 0.0)))

    def _modes(self, lanes: np.ndarray) -> np.ndarray:
        """What each entry of qd does, as records have it (m, nv)."""
        if not self.motion.reactions:
            return np.full((len(lanes), self.motion.mechanism.nv), FREE, dtype=np.int8)
        modes = self.motion.modes(self._now["p"][lanes]).reshape(len(lanes), 4, -1)
        return np.where(modes[:, 0] == 0, HELD, np.where(modes[:, 1] == 0, FREE, modes[:, 1])).astype(np.int8)
