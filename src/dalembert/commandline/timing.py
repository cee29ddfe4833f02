"""Timing of things side by side: in turn, many rounds, medians and spread."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from typing import NamedTuple

import numpy as np

LEAST = 2e-3      # s of one measurement: below it a call is repeated


class Times(NamedTuple):
    """Seconds per unit of work, one entry a round."""

    rounds: np.ndarray

    @property
    def median(self) -> float:
        return float(np.median(self.rounds))

    @property
    def spread(self) -> tuple[float, float]:
        """The values that 10 % and 90 % of the rounds stay below."""
        low, high = np.quantile(self.rounds, (0.1, 0.9))
        return float(low), float(high)

    def ratio(self, other: Times) -> float:
        """How many times faster than the other: the median over rounds, which both went through in turn."""
        return float(np.median(other.rounds / self.rounds))


def side_by_side(contenders: Mapping[str, Callable[[], object]], units: int = 1, rounds: int = 15) -> dict[str, Times]:
    """Seconds per unit of each contender, whose call does `units`; all take a turn in each round, in changing order."""
    calls = {name: _calls(call) for name, call in contenders.items()}
    found: dict[str, list[float]] = {name: [] for name in contenders}
    names = list(contenders)
    for r in range(rounds):
        for name in names[r % len(names):] + names[:r % len(names)]:
            found[name].append(_seconds(contenders[name], calls[name]) / units)
    return {name: Times(np.array(times)) for name, times in found.items()}


def _calls(call: Callable[[], object]) -> int:
    """How many calls last long enough; the first ones warm up."""
    call()
    call()
    return max(1, round(LEAST / max(_seconds(call, 1), 1e-9)))


def _seconds(call: Callable[[], object], calls: int) -> float:
    start = time.perf_counter()
    for _ in range(calls):
        call()
    return (time.perf_counter() - start) / calls
