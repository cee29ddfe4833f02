"""Handling of trajectories between steps: events of the user, and transitions of modes at stops, at
ends of sliding and of rest.
"""

from __future__ import annotations

import numpy as np

from dalembert.integrators.fixed_point import HUGE
from dalembert.results.events import Change, Event
from dalembert.results.records import EVENT
from dalembert.simulation.failures import event_without_number
from dalembert.simulation.first_order_system import FirstOrderSystem
from dalembert.simulation.lanes import Lanes
from dalembert.simulation.reactions import FREE, Reactions
from dalembert.tracing.integration import SEEN

ENDED = 5.0  # code of a trajectory that an event has ended, beside those of the integrators
IMPACTS = 2  # one after the other at one time, per joint
# impacts of a joint within the length of a step, after which they are plastic; 36 do not add up
TIRED = 50
MANY = 100  # events of one kind within the length of a step: they cluster


class EventHandler:
    """Events, changes of modes, and ends of trajectories of a motion.

    Attributes
    ----------
    events, changes : what happened so far
    reasons : why trajectories ended that did, by their numbers
    """

    def __init__(self, motion: FirstOrderSystem):
        self.motion = motion
        self.events: list[Event] = []
        self.changes: list[Change] = []
        self.reasons: dict[int, str] = {}

    def begun(self, x: np.ndarray, t: float, h: float, constants: np.ndarray) -> Lanes:
        """Lanes of states x (N, nx) at a time, before any event."""
        motion = self.motion
        n = len(x)
        p = np.broadcast_to(constants, (n, constants.shape[-1]))
        events = len(motion.events.functions)
        witnesses = events + (len(motion.reactions.entries) if motion.reactions else 0)
        return Lanes(
            x=np.array(x),
            t=np.full((n, 1), t),
            start=np.full((n, 1), t),
            h=np.full((n, 1), h),
            p=np.hstack([p, np.ones((n, motion.extra))]),
            steps=np.zeros((n, 1)),
            rejected=np.zeros((n, 1)),
            failed=np.zeros((n, 1)),
            until=np.full((n, 1), t),
            fresh=np.zeros((n, events)),
            modes=np.full((n, motion.system.nv), FREE),
            recorded=np.zeros((n, 1)),
            ended=np.zeros((n, 1)),
            counts=np.zeros((n, events)),
            last=np.full((n, events), -HUGE),
            often=np.zeros((n, witnesses)),
            since=np.zeros((n, witnesses)),
        )

    def handle(
        self, lanes: Lanes, rows: np.ndarray, ends: np.ndarray, events: np.ndarray, h: float
    ) -> None:
        """Let events (m, events) and ends of modes of entries (m, entries) happen to some lanes,
        where they are; h: length of a step [s].
        """
        law = self.motion.reactions
        hits = ends.any(axis=1)
        if law and hits.any():
            self._arrive(lanes, rows[hits], ends[hits], law)
        for row, k in np.argwhere(events):
            self._event(lanes, int(rows[row]), int(k), h)
        self._count(lanes, rows, np.hstack([ends, events]), h)
        if law and len(going := rows[hits & (lanes.failed[rows, 0] == 0)]):
            self.transition(lanes, going, law, h)
        crowded = (lanes.often[rows] > MANY).any(axis=1) & (lanes.failed[rows, 0] == 0)
        for row in np.flatnonzero(crowded):
            self._cluster(lanes, int(rows[row]), ends[row], events[row], h)

    def _arrive(self, lanes: Lanes, rows: np.ndarray, ends: np.ndarray, law: Reactions) -> None:
        """Put joints whose modes end exactly at their stops, or at rest."""
        ended = np.zeros((len(rows), self.motion.system.nv), dtype=bool)
        x = lanes.x[rows]
        ended[:, law.entries] = ends
        law.arrive(*self.motion.split(x)[:2], self.motion.modes(lanes.p[rows]), ended)
        lanes.x[rows] = x

    def _count(self, lanes: Lanes, rows: np.ndarray, happens: np.ndarray, h: float) -> None:
        """Count how often each witness was met within the length of a step."""
        since = lanes.since[rows]
        often = lanes.often[rows]
        t = lanes.t[rows]
        recent = t - since <= h
        lanes.often[rows] = np.where(happens, np.where(recent, often + 1, 1), often)
        lanes.since[rows] = np.where(happens & ~recent, t, since)

    # --- events ---

    def _event(self, lanes: Lanes, row: int, k: int, h: float) -> None:
        """Note an event, which may end its trajectory."""
        motion = self.motion
        t = lanes.t[row, 0]
        x = lanes.x[row]
        if t - lanes.last[row, k] <= SEEN * h:  # a stop met at the same time
            return
        lanes.last[row, k] = t
        clock = self._clock(lanes, row)
        name = motion.events.names[k]
        most = motion.events.terminal[k]
        qd = motion.velocities_in(t, x, lanes.p[row])
        self.events.append(Event(row, clock, x[: motion.system.nq].copy(), qd.copy(), name))
        lanes.counts[row, k] += 1
        if most and lanes.counts[row, k] >= most:
            self._end(lanes, row, f"{EVENT}{name!r} at t = {clock:.9g} s")

    def end_without_value(self, lanes: Lanes, row: int, s: float, x: np.ndarray) -> None:
        """End a lane at a state x within a step, s behind its beginning, where an event has no value."""
        motion = self.motion
        p = lanes.p[row]
        reason = event_without_number(motion, lanes.x[row], lanes.t[row, 0], p)
        if not reason:
            lanes.t[row, 0] = lanes.t[row, 0] + s
            lanes.x[row] = x
            reason = event_without_number(motion, x, lanes.t[row, 0], p)
        self._end(lanes, row, reason)

    def _cluster(
        self, lanes: Lanes, row: int, ends: np.ndarray, events: np.ndarray, h: float
    ) -> None:
        """End a lane in which no time passes any more between events."""
        law = self.motion.reactions
        names = self.motion.system.velocity_names
        joints = [names[i] for i in law.entries[ends]] if law else []
        met = joints + [self.motion.events.names[k] for k in np.flatnonzero(events)]
        self._end(
            lanes,
            row,
            f"events cluster: {MANY} within {h:g} s before t = {self._clock(lanes, row):.9g} s, "
            f"the last of {', '.join(met)}",
        )

    def _end(self, lanes: Lanes, row: int, reason: str) -> None:
        self.reasons[row] = reason
        lanes.failed[row], lanes.ended[row] = ENDED, lanes.t[row]

    def _clock(self, lanes: Lanes, row: int) -> float:
        """The caller's time at which a lane is [s]."""
        return float(self.motion.clock(lanes.t[row, 0], lanes.p[row]))

    # --- transitions of modes ---

    def transition(
        self, lanes: Lanes, rows: np.ndarray, law: Reactions, h: float, begins: bool = False
    ) -> None:
        """Give some lanes the modes that follow from their states, after as many impacts as come at
        once; at the beginning of a run each mode is a change.
        """
        motion = self.motion
        nv = self.motion.system.nv
        t = lanes.t[rows, 0]
        p = lanes.p[rows]
        x = lanes.x[rows]
        before = lanes.modes[rows]
        q, qd, work, _ = motion.split(x)  # views
        modes = before.copy()
        impacts = np.zeros((len(rows), nv))
        plastic = np.zeros((len(rows), nv))
        plastic[:, law.entries] = lanes.often[rows, : len(law.entries)] > TIRED
        left = np.arange(len(rows))
        for _ in range(IMPACTS * (nv + 1)):
            new = law.transition(
                motion.clock(t[left], p[left]),
                q[left],
                qd[left],
                motion.code.forces_at(t[left], x[left], p[left]),
                h,
                motion.numbers_in(p[left]),
                plastic[left],
            )
            for row, joined in zip(left, new.joined, strict=True):
                if (joined != q[row]).any():
                    energy = motion.energy_at(joined, qd[row], p[row])
                    work[row] += energy - motion.energy_at(q[row], qd[row], p[row])
            q[left] = new.joined
            qd[left] = new.qd
            modes[left] = new.does
            p[left, motion.inputs.slices["modes"]] = new.modes
            work[left] += new.energy[:, 0]
            impacts[left] += (impacts[left] == 0) * new.impacts
            left = left[new.again[:, 0] > 0]
            if not len(left):
                break
        lanes.x[rows] = x
        lanes.p[rows] = p
        lanes.modes[rows] = modes
        changed = ((impacts != 0) | (before != modes) | begins) & law.restable
        for row, i in np.argwhere(changed):
            clock = self._clock(lanes, rows[row])
            name = motion.system.velocity_names[i]
            mode = law.mode(i, modes[row, i], x[row])
            self.changes.append(Change(int(rows[row]), clock, name, mode, float(impacts[row, i])))
