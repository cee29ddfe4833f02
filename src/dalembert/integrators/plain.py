"""The methods on numbers, in Python: for right-hand sides that cannot be traced."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np

from dalembert.integrators.fixed_point import FixedPoint
from dalembert.integrators.methods import TOO_SMALL, Adaptive, Fixed, Method, controlled_step, fixed_step


class Record(NamedTuple):
    """A trajectory where it was asked for, or where it could not go on: then `failed` is not 0, but a key of REASONS."""

    t: float
    x: np.ndarray
    steps: int
    rejected: int
    failed: float
    h: float


def records(method: Method, f: Callable[[float, np.ndarray], np.ndarray], x: np.ndarray, times: np.ndarray, h: float,
            repeats: int, rtol: float = 0.0, atol: float = 0.0, project: Callable[[Any], Any] | None = None,
            jacobian: Callable[[float, np.ndarray], np.ndarray] | None = None) -> Iterator[Record]:
    """Records of x' = f(t, x) from x (n,) at times[0] to each later time; the last one where it fails.

    A method of fixed step makes `repeats` steps h between two records, whatever the times are: it goes where that leads.
    Others begin with a step h and attempt `repeats` steps at most. times may decrease; h of a fixed step is then negative.
    """
    x = np.asarray(x, dtype=float)
    if isinstance(method, Fixed):
        found = _fixed(method, f, x, times, h, repeats, project)
    elif isinstance(method, Adaptive):
        found = _adaptive(method, f, x, times, h, repeats, rtol, atol, project)
    else:
        found = (Record(t, y, steps, 0, TOO_SMALL if failed else 0.0, h)
                 for t, y, steps, failed in method.steps(f, times, x, h, rtol, atol, jacobian))
    while True:
        with np.errstate(all="ignore"):      # not around the caller's code between two records
            record = next(found, None)
        if record is None:
            return
        yield record
        if record.failed:
            return


def _fixed(method: Fixed, f: Any, x: np.ndarray, times: np.ndarray, h: float, repeats: int,
           project: Any) -> Iterator[Record]:
    t = start = float(times[0])
    steps, failed, solver = 0, 0.0, FixedPoint()
    options = {"solve": solver} if method.implicit else {}
    for _ in times[1:]:
        for _ in range(repeats):
            new = method.step(f, t, x, h, **options)
            settled = float(not method.implicit or solver.settled)
            t, x, steps, failed = fixed_step(x, project(new) if project else new, settled, start, h, steps, failed)
            if failed:
                break
        yield Record(t, x, steps, 0, failed, h)


def _adaptive(method: Adaptive, f: Any, x: np.ndarray, times: np.ndarray, h: float, repeats: int, rtol: float, atol: float,
              project: Any) -> Iterator[Record]:
    t, first, steps, rejected, failed = float(times[0]), f(times[0], x), 0, 0, 0.0
    for goal in times[1:]:
        for _ in range(repeats):
            new = controlled_step(method, f, t, x, h, first, float(goal), rtol, atol, failed, project)
            t, x, first, h, failed = new.t, new.x, new.first, float(new.h), new.failed
            steps, rejected = steps + int(new.accepted), rejected + int(new.rejected)
            if new.done:
                break
        yield Record(t, x, steps, rejected, failed, h)
