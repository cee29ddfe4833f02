"""A march in pieces of bounded duration: in between an interrupt is heard and progress is told; its
bits are the same.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from time import perf_counter
from typing import Any, NamedTuple

import numpy as np

from dalembert.native.propagator import Trajectories, joined

State = dict[str, np.ndarray]

SPAN = 0.2  # s of a piece
FIRST = 2**19  # numbers that the steps of the first piece move: a few hundredths of a second
GROWTH = 4.0  # of a piece, to the next one
# times the steps that a record of an adaptive method is expected to take, before it is looked at
SPARE = 8
LEAST = 64  # of these

Told = Callable[[float], object]  # the time that all trajectories have reached [s]


class Throttled:
    """Passes times on that are later than before, once in SPAN seconds at most."""

    def __init__(self, told: Told):
        self._told, self._latest, self._due = told, -np.inf, perf_counter() + SPAN

    def __call__(self, t: float) -> None:
        if perf_counter() >= self._due and t > self._latest:
            self._latest, self._due = t, perf_counter() + SPAN
            self._told(t)


class Piece(NamedTuple):
    """A call of the march: what it took [s], the attempts of each trajectory before it, the state
    that it left, and its number of records.
    """

    took: float
    before: Any
    state: State | None
    records: int


class Pieces:
    """Calls of `Propagator.run` of a compiled method, cut so that each takes about SPAN seconds;
    called like it.

    Fixed steps are cut at counts of steps, where a state goes on to the last bit. Steps of adaptive
    methods are cut where a call has made as many as it may: the state that it leaves repeats the
    last of them.
    """

    def __init__(self, march: Callable[..., Trajectories], fixed: bool, told: Told):
        self._march, self._cut, self._told = march, self._fixed if fixed else self._adaptive, told
        self._steps = 0.0  # of all trajectories together, in a piece
        self._per_record = 0.0  # steps of an adaptive method
        self._latest: Piece | None = None

    def __call__(
        self,
        x: np.ndarray,
        times: np.ndarray,
        h: Any,
        p: np.ndarray,
        repeats: int,
        *options: Any,
        goals: np.ndarray | None = None,
    ) -> Trajectories:
        """options: rtol, atol, threads, longest, end, state."""
        *numbers, end, state = options
        self._steps = self._steps or max(1.0, FIRST / x.shape[1])
        run = partial(
            self._run, x, times, h, p, numbers, float(times[-1]) if end is None else end, goals
        )
        return self._cut(run, len(x), len(times) - 1, repeats, state, goals)

    def _run(
        self,
        x: np.ndarray,
        times: np.ndarray,
        h: Any,
        p: np.ndarray,
        options: list[Any],
        end: float,
        goals: np.ndarray | None,
        first: int,
        until: int,
        repeats: int,
        state: State | None,
        goal: float | None = None,
    ) -> Trajectories:
        """Records from `first` until there, or to a goal on the way to the first of them."""
        counts = (
            {}
            if goals is None
            else {"goals": goals[first:until] if goal is None else np.array([goal])}
        )
        before, began = _attempts(state), perf_counter()
        found = self._march(
            x, times[first : until + 1], h, p, repeats, *options, end, state, **counts
        )
        self._latest = Piece(perf_counter() - began, before, found.state, until - first)
        self._told(float(found.t[:, -1].min()))
        return found

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

    def _fixed(
        self,
        run: Callable[..., Trajectories],
        rows: int,
        count: int,
        repeats: int,
        state: State | None,
        goals: np.ndarray | None,
    ) -> Trajectories:
        """`repeats` steps to each record: several records in a piece, or several pieces to a
        record.
        """
        parts: list[Trajectories] = []
        made, on_the_way = 0, 0
        while made < count:
            self._learn()
            steps = max(1, int(self._steps / rows))
            if on_the_way == 0 and repeats <= steps:
                until = min(count, made + steps // repeats)
                found = run(made, until, repeats, state)
            else:
                steps = min(steps, repeats - on_the_way)
                on_the_way += steps
                goal = None if goals is None else goals[made] - repeats + on_the_way
                found, until = (
                    run(made, made + 1, steps, state, goal),
                    made + (on_the_way == repeats),
                )
            if until > made:
                parts.append(found)
                made, on_the_way = until, 0
            state = (state or {}) | (found.state or {})
        return joined(parts)

    def _adaptive(
        self,
        run: Callable[..., Trajectories],
        rows: int,
        count: int,
        repeats: int,
        state: State | None,
        goals: np.ndarray | None,
    ) -> Trajectories:
        """At most `repeats` attempted steps to each record."""
        parts: list[Trajectories] = []
        made, attempts = 0, 0
        _, times, h, *_ = run.args  # type: ignore[attr-defined]
        first = float(times[1] - times[0]) / float(np.min(h))
        self._per_record = self._per_record or max(1.0, first)
        while made < count:
            self._learn()
            steps = max(1, int(self._steps / rows))
            until = (
                min(count, made + max(1, int(steps / self._per_record)))
                if not attempts
                else made + 1
            )
            expected = steps if until == made + 1 else SPARE * steps // (until - made)
            most = min(repeats - attempts, max(LEAST, expected))
            found = run(made, until, most, state)
            late = self._late(found, run, made, until)
            if late.any() and until > made + 1:  # again, up to the first of them
                until = made + max(1, int(np.argmax(late)))
                found = run(made, until, most, state)
                late = self._late(found, run, made, until)
            state = (state or {}) | (found.state or {})
            attempts = attempts + most if late.any() else 0
            if not attempts or attempts >= repeats:
                parts.append(found)
                made, attempts = until, 0
        return joined(parts)

    @staticmethod
    def _late(found: Trajectories, run: Any, first: int, until: int) -> np.ndarray:
        """Which records some trajectory has not reached, though nothing keeps it from going on."""
        times = run.args[1][first + 1 : until + 1]
        return ((found.failed == 0) & (found.t < times)).any(axis=0)


def _attempts(state: State | None) -> Any:
    """Steps that each trajectory has attempted."""
    if state is None or "steps" not in state:
        return 0.0
    return state["steps"] + state.get("rejected", 0.0)
