"""Segments of trajectories, as every propagator is asked for them: in machine code, in pieces of
bounded duration, or interpreted.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from dalembert.native.propagator import Trajectories

State = dict[str, np.ndarray]  # (N, n) each: from which a propagator goes on to the last bit


class Segment(NamedTuple):
    """Way of N trajectories from where they are to records.

    Attributes
    ----------
    x : (N, nx) states at times[0]; where there is a `state`, only of that shape
    times : (K + 1,) of the motion [s], the records at all but the first
    h : step of a method of fixed step, else the first one [s]; one, or (N,)
    p : parameters of the motion (n,) or (N, n)
    repeats : steps from record to record, of adaptive methods attempted ones at most
    end : where an adaptive method ends a step; by default at the last of the times
    state : that an earlier segment left, from which this one goes on to the last bit
    goals : of a watched method of fixed step, how many steps each record lies behind `start`
    """

    x: np.ndarray
    times: np.ndarray
    h: Any
    p: np.ndarray
    repeats: int
    end: float | None = None
    state: State | None = None
    goals: np.ndarray | None = None


Propagate = Callable[[Segment], Trajectories]
Told = Callable[[Any], object]  # called now and then with the time reached, or one of each (N,) [s]
