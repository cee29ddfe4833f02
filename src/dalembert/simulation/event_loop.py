"""Trajectories on their way: in machine code from event to event, with what happens there in
between.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from functools import cached_property, partial
from typing import Any, NamedTuple

import numpy as np

from dalembert.errors import DalembertWarning
from dalembert.integrators import External, Fixed, Method
from dalembert.integrators.fixed_point import HUGE
from dalembert.native.propagator import Trajectories, joined
from dalembert.results.events import Change, Event
from dalembert.simulation.event_functions import CAUGHT, NO_VALUE
from dalembert.simulation.failures import event_without_number
from dalembert.simulation.first_order_system import FirstOrderSystem
from dalembert.simulation.interpreted_propagator import InterpretedPropagator, State
from dalembert.simulation.pieces import Pieces, Told
from dalembert.simulation.reactions import FREE, Reactions
from dalembert.tracing.integration import SEEN

LOST, ENDED = (
    1.0,
    5.0,
)  # codes of trajectories: a number is no longer finite (of the integrators); an event ended it
AHEAD = (
    100_000  # numbers in the records to which trajectories go on before their events are looked at
)
IMPACTS = 2  # one after the other at one time, per joint
# impacts of a joint within the length of a step, after which they are plastic; 36 do not add up
TIRED = 50
MANY = 100  # events of one kind within the length of a step: they cluster


class Pace(NamedTuple):
    """Step of a method [s], of adaptive ones the first, and steps between two records, of these
    attempted ones at most.
    """

    h: float
    repeats: int


class EventLoop:
    """N trajectories of a motion by a method, advanced from records to later records.

    Attributes
    ----------
    events, changes : what happened so far
    reasons : why trajectories ended that did, by their numbers

    Times are those of the motion, from its beginning on; of events, changes and reasons, those of
    the caller.
    """

    def __init__(
        self,
        motion: FirstOrderSystem,
        way: Method,
        pace: Pace,
        rtol: float,
        atol: float,
        threads: int = 1,
        longest: float = HUGE,
        last: Pace | None = None,
    ):
        """last: the pace between the last two records of all, if it is another than before."""
        self.motion, self.h, self.repeats, self._last = motion, pace.h, pace.repeats, last
        self.events: list[Event] = []
        self.changes: list[Change] = []
        self.reasons: dict[int, str] = {}
        self.tolerances = rtol, atol
        self._way, self._options = way, (rtol, atol, threads, longest)
        self._fixed, self._compiled = isinstance(way, Fixed), motion.compiles(way)
        self.told: Told = lambda t: None  # called now and then with the time reached
        self._march = self._made_march(longest)
        self._now: State = {}
        self.constants = motion.constants  # parameters in which forces may be held
        self.initial: dict[str, np.ndarray] = {}  # observables at the start

    def _made_march(self, longest: float) -> Callable[..., Trajectories]:
        def told(t: float) -> None:
            self.told(t)

        self.motion.told = told  # from functions that are called with numbers
        if not self._compiled:
            return InterpretedPropagator(self.motion, self._way, self._options[:2], longest).run
        if isinstance(self._way, External):
            return partial(self.motion.run(self._way), told=told)
        return Pieces(self.motion.run(self._way), self._fixed, told)

    def advance(
        self, x: np.ndarray, times: np.ndarray, state: State | None = None, end: float | None = None
    ) -> Trajectories:
        """Trajectories from x (N, nx) at times[0] to each later time.

        state: what an earlier call left, from where this one goes on to the last bit; x only has
        the shape then.
        end: where an adaptive method ends a step, and the last record of all; by default at the
        last of the times.
        """
        if self._last is None or end is None or times[-1] < end:
            return self._advance(x, times, state, end)
        parts = [self._advance(x, times[:-1], state, end)] if len(times) > 2 else []
        before = parts[0].state if parts else state
        after = self._advance(x, times[-2:], self._at_last_pace(before), end)
        if before is not None:
            after = after._replace(steps=after.steps + before["steps"])
        return joined([*parts, after])

    def _at_last_pace(self, state: State | None) -> State | None:
        """The state of a method of fixed step that goes on with the last step; it counts steps from
        0 again.
        """
        assert self._last is not None
        self.h, self.repeats = self._last
        if state is None:
            return None
        state = {name: np.array(values) for name, values in state.items()}
        state["start"] = state["t"].copy()
        for name in {"steps", "made", *self._way.memory} & state.keys():
            state[name][:] = 0.0
        return state

    def _advance(
        self, x: np.ndarray, times: np.ndarray, state: State | None, end: float | None
    ) -> Trajectories:
        if not self.motion.is_watched:
            return self._march(
                x, times, self.h, self.constants, self.repeats, *self._options, end, state
            )
        n, k = len(x), len(times) - 1
        self._times, self._end, self._made = (
            times,
            float(times[-1]) if end is None else end,
            np.zeros(n, dtype=int),
        )
        self._now = (
            self._started(x) if state is None else {name: np.array(v) for name, v in state.items()}
        )
        t, steps, rejected, failed, h = np.zeros((5, n, k))
        self._modes_out = np.zeros((n, k, self.motion.system.nv), dtype=np.int8)
        self._out = Trajectories(t, np.full((n, k, x.shape[1]), np.nan), steps, rejected, failed, h)
        if state is None and (law := self.motion.reactions):
            self._settle(np.arange(n), law, begins=True)
        self.initial = self.initial or {"modes": self._now["does"].astype(np.int8)}
        while (first := int(self._made.min())) < k:
            self._go(first, min(k, first + max(1, AHEAD // x.size)) if self._compiled else k)
        self._now["made"] += k
        return self._out._replace(state=self._now, observables={"modes": self._modes_out})

    def jumped(self, state: State) -> State:
        """The state where a force has jumped: joints that rest may begin to move."""
        if (law := self.motion.reactions) and "does" in state:
            self._now = state
            self._settle(np.flatnonzero(state["failed"][:, 0] == 0), law)
        return state

    def _started(self, x: np.ndarray) -> State:
        """The state of trajectories that begin: what methods read, `p` with modes, records `made`,
        and counts of events.
        """
        n, p = len(x), np.broadcast_to(self.constants, (len(x), self.constants.shape[-1]))
        things = len(self.motion.events.functions) + (
            len(self.motion.reactions.entries) if self.motion.reactions else 0
        )
        return {
            "x": np.array(x),
            "t": np.full((n, 1), self._times[0]),
            "start": np.full((n, 1), self._times[0]),
            "h": np.full((n, 1), self.h),
            "p": np.hstack([p, np.ones((n, self.motion.extra))]),
            "does": np.full((n, self.motion.system.nv), FREE),
            "counts": np.zeros((n, self.motion.witnesses.events)),
            "since": np.zeros((n, things)),
            "often": np.zeros((n, things)),
            "until": np.full((n, 1), self._times[0]),
            "fresh": np.zeros((n, self.motion.witnesses.events)),
            "last": np.full((n, self.motion.witnesses.events), -HUGE),
            **{name: np.zeros((n, 1)) for name in ("steps", "rejected", "failed", "made", "ended")},
        }

    # --- from event to event ---

    def _go(self, first: int, until: int) -> None:
        """Run those that have not made all records from `first` until there, or until something
        happens in a step.
        """
        now, lanes = self._now, np.flatnonzero(self._made < until)
        if not self._compiled:
            lanes, first = lanes[:1], int(self._made[lanes[0]])
        found = self._run(lanes, first, until)
        for name, values in (found.state or {}).items():
            if name not in now:
                now[name] = np.zeros((len(self._made), values.shape[1]))
            now[name][lanes] = values
        caught = found.failed == CAUGHT
        stop = np.where(caught.any(axis=1), first + caught.argmax(axis=1), until)
        for row, lane in enumerate(lanes):
            to, of = (
                slice(self._made[lane], stop[row]),
                slice(self._made[lane] - first, stop[row] - first),
            )
            for name in ("t", "x", "steps", "rejected", "failed", "h"):
                getattr(self._out, name)[lane, to] = getattr(found, name)[row, of]
            self._modes_out[lane, to] = now["does"][lane]
            if now["failed"][lane, 0] == ENDED:  # methods have counted its time on to the grid
                self._out.t[lane, to] = now["ended"][lane]
        self._made[lanes] = stop
        if len(hit := lanes[caught.any(axis=1)]):
            self._cross(hit)

    def _run(self, lanes: np.ndarray, first: int, until: int) -> Trajectories:
        now = self._now
        state = (
            now if len(lanes) == len(self._made) else {name: v[lanes] for name, v in now.items()}
        )
        h, options = state["h"][:, 0], {}
        if self._fixed:  # counts of steps: some have made more than others
            h, options = (
                self.h,
                {"goals": (now["made"][0, 0] + np.arange(first, until) + 1) * self.repeats},
            )
        return self._march(
            np.zeros(state["x"].shape),
            self._times[first : until + 1],
            h,
            state["p"],
            self.repeats,
            *self._options,
            self._end,
            state,
            **options,
        )

    @cached_property
    def _crossing(self) -> Callable[..., Any]:
        if self._compiled and not isinstance(self._way, External):
            compiled = self.motion.crossing(self._way)
            return (
                compiled if self.motion.witnesses.events else lambda *given: compiled(*given[:-1])
            )
        rtol, atol, _, longest = self._options
        return InterpretedPropagator(self.motion, self._way, (rtol, atol), longest).crossing

    def _cross(self, lanes: np.ndarray) -> None:
        """Go through a step of lanes in which something happens.

        Events alone change nothing: the step is made again, unwatched. Where a mode ends, the step
        ends; a fixed one goes on from there to the grid.
        """
        now, fixed = self._now, self._fixed
        now["failed"][lanes] = 0.0
        end = np.where(
            fixed,
            now["start"][lanes, 0] + (now["steps"][lanes, 0] + 1) * self.h,
            np.minimum(now["t"][lanes, 0] + now["h"][lanes, 0], self._end),
        )
        whole, origin = np.ones(len(lanes), dtype=bool), np.zeros(len(lanes))
        while len(lanes):
            t, x = now["t"][lanes, 0], now["x"][lanes]
            s, there, depths, part, code = self._crossing(
                t[:, None],
                x,
                (end - t)[:, None],
                now["p"][lanes],
                origin[:, None],
                now["fresh"][lanes],
            )
            happened = depths >= 0
            ends, events = self.motion.witnesses.ends(happened)
            passing = happened.any(axis=1) & ~ends.any(axis=1)  # events alone
            until = np.where(
                happened.any(axis=1), np.minimum(t + s[:, 0], end), np.where(code[:, 0] > 0, t, end)
            )
            over = ~happened.any(axis=1)
            now["until"][lanes[over & whole]] = end[over & whole, None]
            moves = ~(over & whole)
            if not fixed and (cut := ends.any(axis=1)).any():
                self._record_until(lanes[cut], until[cut])
            now["t"][lanes[moves], 0], now["x"][lanes[moves]] = until[moves], there[moves]
            now["failed"][lanes] = code  # a step that cannot be made: x stays
            for row in np.flatnonzero(code[:, 0] == NO_VALUE):
                self._end_without_value(int(lanes[row]), float(s[row, 0]), there[row])
            fresh = events * np.where(part < 1 - SEEN, 1, 2)  # at the end: for two steps
            at_once = (until - t <= SEEN * self.h)[:, None]
            now["fresh"][lanes[~over]] = np.where(
                at_once, np.maximum(fresh, now["fresh"][lanes]), fresh
            )[~over]
            if len(hits := np.flatnonzero(~over)):
                self._happens(lanes[hits], np.hstack([ends, events])[hits])
            ended = now["failed"][lanes, 0] > 0
            back = passing & ~ended
            now["t"][lanes[back], 0], now["x"][lanes[back]] = t[back], x[back]
            origin = np.where(back, part[:, 0], 0.0)
            whole &= back | (over & whole)
            done = over | ended | ((until >= end) & ~back)
            split = ~whole & ~back
            now["steps"][lanes[split & (done | (not fixed))]] += 1
            self._forget(lanes[split])
            stays = ~done & (back | fixed)
            lanes, end, whole, origin = lanes[stays], end[stays], whole[stays], origin[stays]

    def _forget(self, lanes: np.ndarray) -> None:
        """What methods keep of the step before does not hold any more."""
        for name in self._way.memory.keys() & self._now.keys():
            self._now[name][lanes] = 0.0

    def _record_until(self, lanes: np.ndarray, until: np.ndarray) -> None:
        """Records of adaptive methods within a step that ends early."""
        now, start = self._now, self._made[lanes]
        stop = np.maximum(start, np.searchsorted(self._times[1:], until, side="right"))
        self._made[lanes] = stop
        own = np.repeat(lanes, stop - start)
        if not len(own):
            return
        at = np.concatenate([np.arange(*ends) for ends in zip(start, stop, strict=True)])
        times, t, p = self._times[at + 1], now["t"][own, 0], now["p"][own]
        p[:, -1] = 0.0  # unwatched
        _, there, *_, code = self._crossing(
            t[:, None],
            now["x"][own],
            (times - t)[:, None],
            p,
            np.zeros((len(own), 1)),
            now["fresh"][own],
        )
        self._out.t[own, at], self._out.x[own, at] = times, np.where(code > 0, np.nan, there)
        for name in ("steps", "rejected", "h"):
            getattr(self._out, name)[own, at] = now[name][own, 0]
        self._modes_out[own, at] = now["does"][own]

    # --- what happens ---

    def _happens(self, lanes: np.ndarray, which: np.ndarray) -> None:
        """Events and ends of modes of lanes where they are now; which: as `FirstOrderSystem.depths` has them
        (m, n).
        """
        law, count = self.motion.reactions, len(self.motion.events.functions)
        ends, events = which[:, : which.shape[1] - count], which[:, which.shape[1] - count :]
        hits = ends.any(axis=1)
        if law and hits.any():
            self._arrive(lanes[hits], ends[hits], law)
        for row, k in np.argwhere(events):
            self._event(int(lanes[row]), int(k))
        self._count(lanes, which)
        if law and len(going := lanes[hits & (self._now["failed"][lanes, 0] == 0)]):
            self._settle(going, law)
        for row in np.flatnonzero(
            (self._now["often"][lanes] > MANY).any(axis=1) & (self._now["failed"][lanes, 0] == 0)
        ):
            self._cluster(int(lanes[row]), ends[row], events[row])

    def _arrive(self, lanes: np.ndarray, ends: np.ndarray, law: Reactions) -> None:
        """Put joints whose modes end exactly at their stops, or at rest."""
        now = self._now
        ended, x = np.zeros((len(lanes), self.motion.system.nv), dtype=bool), now["x"][lanes]
        ended[:, law.entries] = ends
        law.arrive(*self.motion.split(x)[:2], self.motion.modes(now["p"][lanes]), ended)
        now["x"][lanes] = x

    def _count(self, lanes: np.ndarray, which: np.ndarray) -> None:
        """Count how often each thing has happened within the length of a step."""
        since, often, t = (
            self._now["since"][lanes],
            self._now["often"][lanes],
            self._now["t"][lanes],
        )
        recent = t - since <= self.h
        self._now["often"][lanes] = np.where(which, np.where(recent, often + 1, 1), often)
        self._now["since"][lanes] = np.where(which & ~recent, t, since)

    def _event(self, lane: int, k: int) -> None:
        now, watched = self._now, self.motion.events
        if (
            now["t"][lane, 0] - now["last"][lane, k] <= SEEN * self.h
        ):  # it stood at a stop, met at the same time
            return
        now["last"][lane, k] = now["t"][lane, 0]
        p, x = now["p"][lane], now["x"][lane]
        t = self._clock(lane)
        qd = self.motion.velocities_in(now["t"][lane, 0], x, p)
        self.events.append(
            Event(lane, t, x[: self.motion.system.nq].copy(), qd.copy(), watched.names[k])
        )
        now["counts"][lane, k] += 1
        if watched.terminal[k] and now["counts"][lane, k] >= watched.terminal[k]:
            self._end_of(lane, f"event {watched.names[k]!r} at t = {t:.9g} s")

    def _end_without_value(self, lane: int, s: float, there: np.ndarray) -> None:
        """End a lane at a state within a step, s behind its beginning, where an event has no value."""
        now, motion = self._now, self.motion
        begin = event_without_number(motion, now["x"][lane], now["t"][lane, 0], now["p"][lane])
        if not begin:
            now["t"][lane, 0], now["x"][lane] = now["t"][lane, 0] + s, there
        self._end_of(
            lane, begin or event_without_number(motion, there, now["t"][lane, 0], now["p"][lane])
        )

    def _cluster(self, lane: int, ends: np.ndarray, events: np.ndarray) -> None:
        """End a lane in which no time passes any more between events."""
        law, names, watched = (
            self.motion.reactions,
            self.motion.system.velocity_names,
            self.motion.events.names,
        )
        what = ", ".join(
            [
                *(names[i] for i in (law.entries[ends] if law else ())),
                *(watched[k] for k in np.flatnonzero(events)),
            ]
        )
        self._end_of(
            lane,
            f"events cluster: {MANY} within {self.h:g} s before t = {self._clock(lane):.9g} s, "
            f"the last of {what}",
        )
        warnings.warn(
            f"trajectory {lane}: {self.reasons[lane]}; it ends there.",
            DalembertWarning,
            stacklevel=2,
        )

    def _clock(self, lane: int) -> float:
        """The caller's time at which a lane is [s]."""
        return float(self.motion.clock(self._now["t"][lane, 0], self._now["p"][lane]))

    def _end_of(self, lane: int, reason: str) -> None:
        self.reasons[lane] = reason
        self._now["failed"][lane], self._now["ended"][lane] = ENDED, self._now["t"][lane]

    def _settle(self, lanes: np.ndarray, law: Reactions, begins: bool = False) -> None:
        """What each entry of qd does from now on; at the beginning of the run that is a change."""
        now, motion, nv = self._now, self.motion, self.motion.system.nv
        t, p, x, before = now["t"][lanes, 0], now["p"][lanes], now["x"][lanes], now["does"][lanes]
        q, qd, work, _ = motion.split(x)  # views
        impacts, does, rows = np.zeros((len(lanes), nv)), before.copy(), np.arange(len(lanes))
        plastic = np.zeros((len(lanes), nv))
        plastic[:, law.entries] = now["often"][lanes, : len(law.entries)] > TIRED
        for _ in range(IMPACTS * (nv + 1)):
            found = law.transition(
                q[rows],
                qd[rows],
                motion.forces_at(t[rows], x[rows], p[rows]),
                self.h,
                motion.numbers_in(p[rows]),
                plastic[rows],
            )
            for row, new in zip(rows, found.joined, strict=True):
                if (new != q[row]).any():
                    work[row] += motion.energy_at(new, qd[row], p[row]) - motion.energy_at(
                        q[row], qd[row], p[row]
                    )
            q[rows], qd[rows], p[rows, motion.inputs.slices["modes"]] = (
                found.joined,
                found.qd,
                found.modes,
            )
            work[rows] += found.energy[:, 0]
            impacts[rows] += (impacts[rows] == 0) * found.impacts
            does[rows] = found.does
            if not len(rows := rows[found.again[:, 0] > 0]):
                break
        now["x"][lanes], now["p"][lanes], now["does"][lanes] = x, p, does
        names = motion.system.velocity_names
        for row, i in np.argwhere(((impacts != 0) | (before != does) | begins) & law.restable):
            self.changes.append(
                Change(
                    int(lanes[row]),
                    self._clock(lanes[row]),
                    names[i],
                    law.mode(i, does[row, i], x[row]),
                    float(impacts[row, i]),
                )
            )
