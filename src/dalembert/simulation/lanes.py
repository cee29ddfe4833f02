"""Trajectories on their way, side by side: all that a run goes on from to the last bit."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

import numpy as np

from dalembert.native.propagator import State

STORED = {"modes": "does", "recorded": "made"}  # names in a state that are others than here


@dataclass
class Lanes:
    """N trajectories where they are, arrays of N rows.

    Attributes
    ----------
    x : states
    t : times of the motion [s]
    start : times from which steps of a method of fixed step are counted [s]
    h : steps to go on with [s]
    p : parameters of the motion, with modes of the reactions and whether steps are watched
    steps, rejected : counts
    failed : codes of trajectories that stay where they are, else 0
    until : times up to which steps have been searched [s]
    fresh : for how many steps each event is not looked for, as it was just met
    modes : of the entries of qd, as records have them
    recorded : records made in earlier calls
    ended : times at which trajectories ended [s]
    counts, last : of each event, how often it was met, and when the last time [s]
    often, since : how often each mode ended and each event was met within the length of a step, and
        since when [s]
    memory : what steps of the method leave to the next, by name
    """

    x: np.ndarray
    t: np.ndarray
    start: np.ndarray
    h: np.ndarray
    p: np.ndarray
    steps: np.ndarray
    rejected: np.ndarray
    failed: np.ndarray
    until: np.ndarray
    fresh: np.ndarray
    modes: np.ndarray
    recorded: np.ndarray
    ended: np.ndarray
    counts: np.ndarray
    last: np.ndarray
    often: np.ndarray
    since: np.ndarray
    memory: State = field(default_factory=dict)

    @classmethod
    def of(cls, state: State, memory: Iterable[str]) -> Lanes:
        """Lanes with copies of the arrays of a state; memory: names of the method's."""
        arrays = {name: np.array(state[STORED.get(name, name)]) for name in FIELDS}
        return cls(
            **arrays, memory={name: np.array(state[name]) for name in memory if name in state}
        )

    @property
    def state(self) -> State:
        """The arrays by the names that a state has."""
        return {STORED.get(name, name): getattr(self, name) for name in FIELDS} | self.memory

    def registers(self, rows: np.ndarray) -> State:
        """Registers of a propagator for some of the lanes."""
        arrays = {name: getattr(self, name) for name in REGISTERS} | self.memory
        if len(rows) == len(self.x):
            return arrays
        return {name: values[rows] for name, values in arrays.items()}

    def update(self, rows: np.ndarray, registers: State) -> None:
        """Put what a propagator left into some of the lanes."""
        for name, values in registers.items():
            if name in REGISTERS:
                getattr(self, name)[rows] = values
            else:
                self.memory.setdefault(name, np.zeros((len(self.x), values.shape[1])))[rows] = (
                    values
                )

    def forget(self, rows: np.ndarray) -> None:
        """Clear the method's memory of a step before, which does not lead on any more."""
        for values in self.memory.values():
            values[rows] = 0.0


REGISTERS = ("x", "t", "start", "h", "p", "steps", "rejected", "failed", "until", "fresh")
FIELDS = tuple(name for name in Lanes.__annotations__ if name != "memory")
