"""Outputs of a sampled controller: when they are made, and when they take effect."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dalembert.controllers.sampled import Sampled
from dalembert.native.propagator import State

SAME = 1e-12  # of a time: two moments that are closer are one


class Timing:
    """Moments of a sampled controller: output k is made at k period, and takes effect `late` periods
    later.
    """

    def __init__(self, sampled: Sampled):
        self.period = sampled.period
        late = sampled.delay / sampled.period
        nearest = round(late)
        self.late = nearest if abs(late - nearest) < SAME * max(1.0, late) else late
        self.slots = int(np.ceil(self.late)) + 1  # outputs that wait

    def moments(self, hold: SampleHold, begin: float, until: float) -> np.ndarray:
        """Times of outputs, and of their effects, behind `begin` and up to one behind `until` [s]."""
        last = int(until / self.period) + 2
        samples = np.arange(hold.count("samples"), last) * self.period
        effects = hold.count("effects")
        effect_times = (np.arange(effects, max(last, effects + 1)) + self.late) * self.period
        times = np.unique(np.concatenate([samples, effect_times]))
        apart = np.diff(times, prepend=-np.inf) > SAME * np.maximum(times, self.period)
        return times[apart & (times > begin + SAME * max(begin, self.period))]

    def moments_at(self, hold: SampleHold, times: np.ndarray) -> np.ndarray:
        """Moments up to the first behind the records; a moment at a record has the record's time."""
        moments = self.moments(hold, float(times[0]), float(times[-1]))
        at = np.minimum(np.searchsorted(times, moments * (1 - SAME)), len(times) - 1)
        near = np.abs(times[at] - moments) <= SAME * np.maximum(moments, self.period)
        return np.where(near, times[at], moments)


@dataclass
class SampleHold:
    """Outputs of a sampled controller for N trajectories, arrays of N rows.

    Attributes
    ----------
    memory : of the law
    held : forces that act
    waiting : outputs before the end of their delay, one behind the other
    samples, effects : how many outputs were made, and took effect
    """

    memory: np.ndarray
    held: np.ndarray
    waiting: np.ndarray
    samples: np.ndarray
    effects: np.ndarray

    @classmethod
    def begun(cls, memory: np.ndarray, n: int, nv: int, slots: int) -> SampleHold:
        """Before the first output."""
        zeros = np.zeros((n, nv)), np.zeros((n, slots * nv)), np.zeros((n, 1)), np.zeros((n, 1))
        return cls(np.tile(memory, (n, 1)), *zeros)

    @classmethod
    def of(cls, state: State) -> SampleHold:
        """With copies of the arrays of a state."""
        return cls(**{name: np.array(state[name]) for name in cls.__annotations__})

    @property
    def state(self) -> State:
        """The arrays by name."""
        return dict(vars(self))

    def count(self, name: str) -> int:
        """Samples or effects so far."""
        return int(getattr(self, name)[0, 0])
