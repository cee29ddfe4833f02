"""States at which functions of users are tried before a run."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from dalembert.purity.examine import State, TriedStates
from dalembert.purity.reachable import Memory

TIMES = (0.0, 0.004, 0.013, 0.37, 0.371, 1.0, 2.5, 40.0)  # s: close to each other and far apart
SPEEDS = (
    0.0,
    0.1,
    1.0,
    0.5,
    2.0,
    1.0,
    3.0,
    1.0,
)  # of velocities at them, and of coordinates away from 0
MOST = 8  # numbers of the function itself that are tried
LARGEST = 10.0  # of them, as coordinates


def trial_states(system: Any, function: Any = None, states: int = 0) -> TriedStates:
    """(t, q, qd), and states of a controller if there are any: plain ones, then with numbers of the
    function.

    A branch `if t == 0.5` is met where t is 0.5: numbers in the code of a function, and in what it
    holds, are tried as times and as coordinates.
    """
    lengths = (system.nq, system.nv, states) if states else (system.nq, system.nv)
    return TriedStates(((), *((n,) for n in lengths)), partial(_states, system, function, states))


def _states(system: Any, function: Any, states: int) -> list[State]:
    numbers = [x for x in (Memory(function, "").numbers if function else ()) if 0 < abs(x) < 1e4][
        :MOST
    ]
    nq, nv = system.nq, system.nv
    rows = np.random.default_rng(11).uniform(-1, 1, (len(TIMES) + len(numbers), nq + nv + states))
    rows[: len(TIMES)] *= np.array(SPEEDS)[:, None]
    for row, number in zip(rows[len(TIMES) :], numbers):
        row[:] = number if abs(number) <= LARGEST else row
    for at in getattr(system, "quaternions", {}).values():
        rows[:, at] += 2 * (rows[:, at : at + 4] == 0).all(axis=1)
        rows[:, at : at + 4] /= np.linalg.norm(rows[:, at : at + 4], axis=1)[:, None]
    times = [*TIMES, *map(abs, numbers)]
    parts = [np.split(row, [nq, nq + nv][: 2 if states else 1]) for row in rows]
    return [(float(t), *part) for t, part in zip(times, parts)]
