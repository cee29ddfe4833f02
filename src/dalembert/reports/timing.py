"""Times of contenders that take turns: medians, spread and ratios by rounds."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Mapping
from typing import NamedTuple

import numpy as np

LEAST = 1e-3  # s of one turn: below it a call is repeated
MOST = 20.0  # s of one comparison: beyond it there are fewer rounds,
FEWEST = 5  # but not fewer than these

# Seconds of processor time that this process took: what others on the machine take, which would hit
# long turns more than short ones, does not count. On Windows it counts in steps of 16 ms.
cpu_seconds: Callable[[], float] = (
    time.perf_counter if sys.platform == "win32" else time.process_time
)


class Times(NamedTuple):
    """Seconds per unit of work, an entry per round."""

    rounds: np.ndarray

    @property
    def median(self) -> float:
        """Half of the rounds stay below it."""
        return float(np.median(self.rounds))

    @property
    def spread(self) -> tuple[float, float]:
        """The values that 10 % and 90 % of the rounds stay below."""
        low, high = np.quantile(self.rounds, (0.1, 0.9))
        return float(low), float(high)

    def ratio(self, other: Times) -> float:
        """How many times faster than the other: the median over rounds, which both went through in
        turn.
        """
        return float(np.median(other.rounds / self.rounds))

    def quiet_ratio(self, other: Times) -> float:
        """The same of what both reach when little disturbs them: of the times that 10 % of the
        rounds stay below.
        """
        return other.spread[0] / self.spread[0]


def side_by_side(
    contenders: Mapping[str, Callable[[], object]],
    units: int | Mapping[str, int] = 1,
    rounds: int = 15,
    clock: Callable[[], float] = cpu_seconds,
) -> dict[str, Times]:
    """Seconds per unit of each contender, whose call does `units`; all take a turn in each round,
    in changing order.

    A turn begins with a call that is not timed: it brings data and code back that the others' turns
    drove from the caches.
    """
    names = list(contenders)
    share = dict.fromkeys(names, units) if isinstance(units, int) else units
    calls, turns = {}, 0.0
    for name, call in contenders.items():
        call()  # the first ones compile, allocate and so on
        seconds = max(_seconds(call, 1, time.perf_counter), 1e-9)
        calls[name] = max(1, round(LEAST / seconds))
        turns += seconds * (1 + calls[name])
    rounds = min(rounds, max(FEWEST, int(MOST / turns)))
    found: dict[str, list[float]] = {name: [] for name in names}
    for r in range(rounds):
        for name in names[r % len(names) :] + names[: r % len(names)]:
            found[name].append(_seconds(contenders[name], calls[name], clock) / share[name])
    return {name: Times(np.array(times)) for name, times in found.items()}


def _seconds(call: Callable[[], object], calls: int, clock: Callable[[], float]) -> float:
    """Mean seconds of a call, after a call that is not timed."""
    call()
    start = clock()
    for _ in range(calls):
        call()
    return (clock() - start) / calls
