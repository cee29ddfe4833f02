"""Trajectories on their way: moved by a propagator from event to event, handled there in between."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from dalembert.integrators import External, FixedStep, Method
from dalembert.native.propagator import Segment, State, StepControl, Trajectories, joined
from dalembert.results.events import Change, Event
from dalembert.simulation.event_functions import CAUGHT, NO_VALUE
from dalembert.simulation.event_handler import ENDED, EventHandler
from dalembert.simulation.first_order_system import FirstOrderSystem
from dalembert.simulation.interpreted_propagator import InterpretedPropagator
from dalembert.simulation.lanes import Lanes
from dalembert.simulation.options import Pace
from dalembert.simulation.pieces import Pieces
from dalembert.simulation.segment import Propagate, Told
from dalembert.tracing.integration import SEEN

AHEAD = 100_000  # numbers in the records to which trajectories go on before events are looked at


class _Located(NamedTuple):
    """First happenings in some steps, (m, n) each.

    s : how far behind the beginning [s]
    x : where
    depths : of all witnesses, 0 or more of those that were met
    fraction : near which fraction of the step, from which a search goes on
    code : why the step cannot be made, else 0
    """

    s: np.ndarray
    x: np.ndarray
    depths: np.ndarray
    fraction: np.ndarray
    code: np.ndarray


class _OpenSteps(NamedTuple):
    """Steps on their way from event to event, (m,) each.

    rows : lanes
    end : of the step [s]
    whole : whether no mode has ended in it
    origin : fraction of the step that has been searched
    """

    rows: np.ndarray
    end: np.ndarray
    whole: np.ndarray
    origin: np.ndarray


class EventLoop:
    """N trajectories of a motion by a method, advanced from records to later records.

    Times are those of the motion, from its beginning on; of events, changes and reasons, those of
    the caller.

    Attributes
    ----------
    constants : parameters of the motion, in which forces may be held
    initial : observables at the start, by name (N, ...)
    told : called now and then with the time reached [s]
    """

    def __init__(
        self,
        motion: FirstOrderSystem,
        method: Method,
        pace: Pace,
        control: StepControl,
        last: Pace | None = None,
    ):
        """last: the pace between the last two records of all, if it is another than before."""
        self.motion = motion
        self.method = method
        self.control = control
        self.pace = pace
        self._last = last
        self.h, self.repeats = pace
        self.told: Told = lambda t: None
        self.constants = motion.constants
        self.initial: dict[str, np.ndarray] = {}
        self._handler = EventHandler(motion)
        self._fixed = isinstance(method, FixedStep)
        self._compiled = motion.code.compiles(method)
        self._propagate = self._propagator()

    def _propagator(self) -> Propagate:
        def told(times: Any) -> None:
            """Tell how far the motion is."""
            self.told(times)

        self.motion.told = told  # from functions that are called with numbers
        if not self._compiled:
            return self._interpreted
        propagate = self.motion.code.propagate(self.method, self.control, told)
        return (
            propagate if isinstance(self.method, External) else Pieces(propagate, self._fixed, told)
        )

    @cached_property
    def _interpreted(self) -> InterpretedPropagator:
        return InterpretedPropagator(self.motion, self.method, self.control)

    @property
    def events(self) -> list[Event]:
        """Events so far."""
        return self._handler.events

    @property
    def changes(self) -> list[Change]:
        """Changes of modes so far."""
        return self._handler.changes

    @property
    def reasons(self) -> dict[int, str]:
        """Why trajectories ended that did, by their numbers."""
        return self._handler.reasons

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
        for name in {"steps", "made", *self.method.memory} & state.keys():
            state[name][:] = 0.0
        return state

    def _advance(
        self, x: np.ndarray, times: np.ndarray, state: State | None, end: float | None
    ) -> Trajectories:
        if not self.motion.is_watched:
            return self._propagate(
                Segment(x, times, self.h, self.constants, self.repeats, end, state)
            )
        n = len(x)
        k = len(times) - 1
        law = self.motion.reactions
        self._times = times
        self._end = float(times[-1]) if end is None else end
        self._made = np.zeros(n, dtype=int)  # records of each lane
        t, steps, rejected, failed, h = np.zeros((5, n, k))
        modes = np.zeros((n, k, self.motion.system.nv), dtype=np.int8)
        states = np.full((n, k, x.shape[1]), np.nan)
        self._records = Trajectories(
            t, states, steps, rejected, failed, h, observables={"modes": modes}
        )
        if state is not None:
            self._lanes = Lanes.of(state, self.method.memory)
        else:
            self._lanes = self._handler.begun(x, times[0], self.h, self.constants)
            if law:
                self._handler.transition(self._lanes, np.arange(n), law, self.h, begins=True)
        self.initial = self.initial or {"modes": self._lanes.modes.astype(np.int8)}
        while (first := int(self._made.min())) < k:
            ahead = max(1, AHEAD // x.size) if self._compiled else k
            self._go(first, min(k, first + ahead))
        self._lanes.recorded += k
        return self._records._replace(state=self._lanes.state)

    def jumped(self, state: State) -> State:
        """The state where a force has jumped: joints that rest may begin to move."""
        law = self.motion.reactions
        if law is None or "p" not in state:
            return state
        lanes = Lanes.of(state, self.method.memory)
        self._handler.transition(lanes, np.flatnonzero(lanes.failed[:, 0] == 0), law, self.h)
        return state | lanes.state

    # --- from event to event ---

    def _go(self, first: int, until: int) -> None:
        """Move lanes that have not made all records from `first` until there, or until something
        happens in a step.
        """
        lanes = self._lanes
        rows = np.flatnonzero(self._made < until)
        if not self._compiled:
            rows, first = rows[:1], int(self._made[rows[0]])
        segment = self._propagate(self._segment(rows, first, until))
        lanes.update(rows, segment.state or {})
        caught = segment.failed == CAUGHT
        hit = caught.any(axis=1)
        stop = np.where(hit, first + caught.argmax(axis=1), until)
        for row, lane in enumerate(rows):
            due = slice(self._made[lane], stop[row])  # among all records; then in the segment
            computed = slice(due.start - first, due.stop - first)
            for name in ("t", "x", "steps", "rejected", "failed", "h"):
                getattr(self._records, name)[lane, due] = getattr(segment, name)[row, computed]
            self._records.observables["modes"][lane, due] = lanes.modes[lane]
            if lanes.failed[lane, 0] == ENDED:  # methods have counted its time on to the grid
                self._records.t[lane, due] = lanes.ended[lane]
        self._made[rows] = stop
        if hit.any():
            self._cross(rows[hit])

    def _segment(self, rows: np.ndarray, first: int, until: int) -> Segment:
        """The way of some lanes to records."""
        state = self._lanes.registers(rows)
        times = self._times[first : until + 1]
        x = np.zeros(state["x"].shape)
        p = state["p"]
        if not self._fixed:
            return Segment(x, times, state["h"][:, 0], p, self.repeats, self._end, state)
        # counts of steps: some lanes have made more than others
        goals = (self._lanes.recorded[0, 0] + np.arange(first, until) + 1) * self.repeats
        return Segment(x, times, self.h, p, self.repeats, self._end, state, goals)

    @cached_property
    def _locate(self) -> Callable[..., Any]:
        if not self._compiled or isinstance(self.method, External):
            return self._interpreted.crossing
        compiled = self.motion.code.crossing(self.method)
        if self.motion.witnesses.events:
            return compiled
        return lambda t, x, length, p, origin, fresh: compiled(t, x, length, p, origin)

    def _located(
        self, rows: np.ndarray, length: np.ndarray, p: np.ndarray, origin: np.ndarray
    ) -> _Located:
        """First happenings in steps of some lanes of a length [s], behind a fraction of them."""
        lanes = self._lanes
        t = lanes.t[rows]
        x = lanes.x[rows]
        fresh = lanes.fresh[rows]
        return _Located(*self._locate(t, x, length[:, None], p, origin[:, None], fresh))

    def _cross(self, rows: np.ndarray) -> None:
        """Go through a step of some lanes in which something happens.

        Events alone change nothing: the step is made again, unwatched. Where a mode ends, the step
        ends; a fixed one goes on from there to the grid.
        """
        lanes = self._lanes
        whole = np.ones(len(rows), dtype=bool)
        lanes.failed[rows] = 0.0
        if self._fixed:
            end = lanes.start[rows, 0] + (lanes.steps[rows, 0] + 1) * self.h
        else:
            end = np.minimum(lanes.t[rows, 0] + lanes.h[rows, 0], self._end)
        steps = _OpenSteps(rows, end, whole, np.zeros(len(rows)))
        while len(steps.rows):
            steps = self._to_next_event(steps)

    def _to_next_event(self, steps: _OpenSteps) -> _OpenSteps:
        """Go on in steps to what happens first; the steps that are not over then."""
        lanes = self._lanes
        rows = steps.rows
        end = steps.end
        t = lanes.t[rows, 0]
        x = lanes.x[rows]
        located = self._located(rows, end - t, lanes.p[rows], steps.origin)
        happened = located.depths >= 0
        ends, events = self.motion.witnesses.ends(happened)
        happens = happened.any(axis=1)
        cut = ends.any(axis=1)  # a mode ends, and with it the step
        stuck = located.code[:, 0] > 0
        until = np.where(happens, np.minimum(t + located.s[:, 0], end), np.where(stuck, t, end))
        # a step in which nothing else happens is left to the propagator
        again = ~happens & steps.whole
        lanes.until[rows[again]] = end[again, None]
        if not self._fixed and cut.any():
            self._record_until(rows[cut], until[cut])
        self._put(rows[~again], until[~again], located.x[~again])
        lanes.failed[rows] = located.code
        for row in np.flatnonzero(located.code[:, 0] == NO_VALUE):
            s = float(located.s[row, 0])
            self._handler.end_without_value(lanes, int(rows[row]), s, located.x[row])
        if happens.any():
            self._refresh(
                rows[happens], events[happens], (until - t)[happens], located.fraction[happens]
            )
            self._handler.handle(lanes, rows[happens], ends[happens], events[happens], self.h)
        ended = lanes.failed[rows, 0] > 0
        if not self._fixed and (stops := ended & ~cut).any():
            self._record_before_end(rows[stops], t[stops], x[stops])
        back = happens & ~cut & ~ended  # after events alone
        self._put(rows[back], t[back], x[back])
        whole = steps.whole & (back | again)
        over = ~happens | ended | ((until >= end) & ~back)
        split = ~whole & ~back
        lanes.steps[rows[split & (over | (not self._fixed))]] += 1
        lanes.forget(rows[split])
        left = ~over & (back | self._fixed)
        origin = np.where(back, located.fraction[:, 0], 0.0)
        return _OpenSteps(rows[left], end[left], whole[left], origin[left])

    def _put(self, rows: np.ndarray, t: np.ndarray, x: np.ndarray) -> None:
        self._lanes.t[rows, 0] = t
        self._lanes.x[rows] = x

    def _refresh(
        self, rows: np.ndarray, events: np.ndarray, passed: np.ndarray, fraction: np.ndarray
    ) -> None:
        """Leave events just met out of the search, for two steps if they are at the end of one."""
        fresh = events * np.where(fraction < 1 - SEEN, 1, 2)
        at_once = (passed <= SEEN * self.h)[:, None]
        before = self._lanes.fresh[rows]
        self._lanes.fresh[rows] = np.where(at_once, np.maximum(fresh, before), fresh)

    def _record_before_end(self, rows: np.ndarray, t: np.ndarray, x: np.ndarray) -> None:
        """Records within a step from x at t, for trajectories that ended in it."""
        lanes = self._lanes
        ends = lanes.t[rows, 0].copy()
        states = lanes.x[rows].copy()
        self._put(rows, t, x)
        self._record_until(rows, ends)
        self._put(rows, ends, states)

    def _record_until(self, rows: np.ndarray, until: np.ndarray) -> None:
        """Records of adaptive methods within a step that ends early."""
        lanes = self._lanes
        start = self._made[rows]
        stop = np.maximum(start, np.searchsorted(self._times[1:], until, side="right"))
        self._made[rows] = stop
        lane = np.repeat(rows, stop - start)  # of each record
        if not len(lane):
            return
        due = np.concatenate([np.arange(*ends) for ends in zip(start, stop, strict=True)])
        times = self._times[due + 1]
        p = lanes.p[lane]
        p[:, -1] = 0.0  # unwatched
        located = self._located(lane, times - lanes.t[lane, 0], p, np.zeros(len(lane)))
        records = self._records
        records.t[lane, due] = times
        records.x[lane, due] = np.where(located.code > 0, np.nan, located.x)
        for name in ("steps", "rejected", "h"):
            getattr(records, name)[lane, due] = getattr(lanes, name)[lane, 0]
        records.observables["modes"][lane, due] = lanes.modes[lane]
