"""Propagation in pieces of bounded duration: in between an interrupt is heard and progress is told; its
bits are the same.
"""

from __future__ import annotations

from time import perf_counter
from typing import Any, NamedTuple

import numpy as np

from dalembert.native.propagator import Segment, State, Trajectories, joined
from dalembert.simulation.segment import Propagate, Told

SPAN = 0.2  # s of a piece
FIRST = 2**19  # numbers that the steps of the first piece move: a few hundredths of a second
GROWTH = 4.0  # of a piece, to the next one
# attempts of an adaptive method before its records are looked at
SPARE = 8  # times the steps that they are expected to take
LEAST = 64


class Throttled:
    """Passes the time on that all trajectories have reached, if it is later than before, once in
    SPAN seconds at most.
    """

    def __init__(self, told: Told):
        self._told = told
        self._latest = -np.inf
        self._due = perf_counter() + SPAN

    def __call__(self, times: Any) -> None:
        if perf_counter() >= self._due and (t := float(np.min(times))) > self._latest:
            self._latest = t
            self._due = perf_counter() + SPAN
            self._told(t)


class Piece(NamedTuple):
    """A computed segment: its duration [s], the attempts of each trajectory before it, the state at
    its end, and its number of records.
    """

    took: float
    before: Any
    state: State | None
    records: int


class Pieces:
    """A propagator in machine code, whose segments are cut so that each call takes about SPAN
    seconds.

    Steps of fixed length are cut at counts of steps, where a state goes on to the last bit, steps of
    adaptive methods where a call has made as many as it may: the state that it leaves repeats the
    last of them.
    """

    def __init__(self, propagate: Propagate, fixed: bool, told: Told):
        self._propagate = propagate
        self._told = told
        self._cut = self._fixed if fixed else self._adaptive
        self._steps = 0.0  # of all trajectories together, in a piece
        self._per_record = 0.0  # steps of an adaptive method
        self._latest: Piece | None = None

    def __call__(self, segment: Segment) -> Trajectories:
        self._steps = self._steps or max(1.0, FIRST / segment.x.shape[1])
        if segment.end is None:
            segment = segment._replace(end=float(segment.times[-1]))
        return self._cut(segment)

    def _piece(self, piece: Segment) -> Trajectories:
        """Records of a piece."""
        before = _attempts(piece.state)
        began = perf_counter()
        records = self._propagate(piece)
        took = perf_counter() - began
        self._latest = Piece(took, before, records.state, len(piece.times) - 1)
        self._told(records.t[:, -1])
        return records

    def _learn(self) -> None:
        """Learn from the latest piece how long steps take, and how many a record takes."""
        if self._latest is None:
            return
        took, before, state, records = self._latest
        made = _attempts(state) - before
        if (most := float(made.max())) > 0:
            pace = SPAN * float(made.sum()) / max(took, 1e-9)
            self._steps = max(1.0, min(pace, GROWTH * self._steps))
            self._per_record = max(1.0, most / records)

    def _fixed(self, segment: Segment) -> Trajectories:
        """`repeats` steps to each record: several records in a piece, or several pieces to a
        record.
        """
        pieces: list[Trajectories] = []
        count = len(segment.times) - 1
        repeats = segment.repeats
        state = segment.state
        made, on_the_way = 0, 0
        while made < count:
            self._learn()
            steps = max(1, int(self._steps / len(segment.x)))
            if on_the_way == 0 and repeats <= steps:
                until = min(count, made + steps // repeats)
                records = self._piece(_between(segment, made, until, state))
            else:
                steps = min(steps, repeats - on_the_way)
                on_the_way += steps
                piece = _between(segment, made, made + 1, state)._replace(repeats=steps)
                if piece.goals is not None:
                    piece = piece._replace(goals=piece.goals - repeats + on_the_way)
                records = self._piece(piece)
                until = made + (on_the_way == repeats)
            if until > made:
                pieces.append(records)
                made = until
                on_the_way = 0
            state = (state or {}) | (records.state or {})
        return joined(pieces)

    def _adaptive(self, segment: Segment) -> Trajectories:
        """At most `repeats` attempted steps to each record."""
        pieces: list[Trajectories] = []
        count = len(segment.times) - 1
        repeats = segment.repeats
        state = segment.state
        made, attempts = 0, 0
        if not self._per_record:
            h = segment.h if isinstance(segment.h, float) else np.min(segment.h)
            self._per_record = max(1.0, float(segment.times[1] - segment.times[0]) / float(h))
        while made < count:
            self._learn()
            steps = max(1, int(self._steps / len(segment.x)))
            until = made + 1
            if not attempts:
                until = min(count, made + max(1, int(steps / self._per_record)))
            expected = steps if until == made + 1 else SPARE * steps // (until - made)
            most = min(repeats - attempts, max(LEAST, expected))
            records, late = self._attempted(_between(segment, made, until, state), most)
            if until > made + 1 and np.count_nonzero(late):  # again, up to the first of them
                until = made + max(1, int(np.argmax(late)))
                records, late = self._attempted(_between(segment, made, until, state), most)
            state = (state or {}) | (records.state or {})
            attempts = attempts + most if np.count_nonzero(late) else 0
            if not attempts or attempts >= repeats:
                pieces.append(records)
                made = until
                attempts = 0
        return joined(pieces)

    def _attempted(self, piece: Segment, most: int) -> tuple[Trajectories, np.ndarray]:
        """Records after at most as many attempted steps, and which of them some trajectory has not
        reached, though nothing keeps it from going on.
        """
        records = self._piece(piece._replace(repeats=most))
        late = (records.failed == 0) & (records.t < piece.times[1:])
        return records, late[0] if len(late) == 1 else late.any(axis=0)


def _between(segment: Segment, first: int, until: int, state: State | None) -> Segment:
    """The part of a segment from one of its records, or its beginning, to another."""
    goals = None if segment.goals is None else segment.goals[first:until]
    return segment._replace(times=segment.times[first : until + 1], state=state, goals=goals)


def _attempts(state: State | None) -> Any:
    """Steps that each trajectory has attempted."""
    if state is None or "steps" not in state:
        return 0.0
    return state["steps"] + state.get("rejected", 0.0)
