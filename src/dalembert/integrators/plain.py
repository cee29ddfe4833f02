"""The methods on numbers, in Python: for right-hand sides that cannot be traced."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np

from dalembert.integrators.fixed_point import HUGE, FixedPoint
from dalembert.integrators.method_kinds import (
    Adaptive,
    FixedStep,
    LinearlyImplicit,
    Manifold,
    Method,
    Rate,
    Watch,
)
from dalembert.integrators.methods import (
    Bounds,
    Controlled,
    controlled_step,
    fixed_step,
    held_back,
    length,
    stepped,
)
from dalembert.integrators.passage import Landing


class Record(NamedTuple):
    """A trajectory where it was asked for, or where it could not go on: then `failed` is not 0, but
    a key of REASONS.
    """

    t: float
    x: np.ndarray
    steps: int
    rejected: int
    failed: float
    h: float


class Spacing(NamedTuple):
    """Step [s], steps between two records, and steps made before the first."""

    h: float
    repeats: int
    steps: int = 0


class Hooks(NamedTuple):
    """The manifold that states come back to, and the watch of steps, if there are any."""

    manifold: Manifold | None = None
    watch: Watch | None = None


def records(
    method: Method,
    f: Callable[[float, np.ndarray], np.ndarray],
    x: np.ndarray,
    times: np.ndarray,
    h: float,
    repeats: int,
    rtol: float = 0.0,
    atol: float = 0.0,
    manifold: Manifold | None = None,
    jacobian: Callable[[float, np.ndarray], np.ndarray] | None = None,
    watch: Watch | None = None,
    steps: int = 0,
    longest: float = HUGE,
) -> Iterator[Record]:
    """Records of x' = f(t, x) from x (n,) at times[0] to each later time; the last one where it
    fails.

    A method of fixed step makes `repeats` steps h between two records, whatever the times are: it
    goes where that leads. Others begin with a step h and attempt `repeats` steps at most; they end
    a step at the last of the times, and interpolate at the others. times may decrease; h of a fixed
    step is then negative. watch: a trajectory stays before a step in which it gives a code above 0.
    steps: of a method of fixed step, how many it has made from times[0] to x.
    longest: greatest step of the others.
    f: for a method that takes its derivatives a `LinearisedRate`; else these are differences.
    """
    x, hooks = np.asarray(x, dtype=float), Hooks(manifold, watch)
    if isinstance(method, FixedStep):
        found = _fixed(method, f, x, times, Spacing(h, repeats, steps), hooks)
    elif isinstance(method, Adaptive):
        way = 1.0 if times[-1] >= times[0] else -1.0
        bounds = Bounds(float(times[-1]), way, rtol, atol, longest)
        found = _adaptive(method, f, x, times, Spacing(h, repeats), bounds, hooks)
    else:
        found = (
            Record(t, y, steps, 0, failed, span)
            for t, y, steps, failed, span in method.steps(
                f, times, x, h, rtol, atol, jacobian, watch, longest
            )
        )
    while True:
        with np.errstate(all="ignore"):  # not around the caller's code between two records
            record = next(found, None)
        if record is None:
            return
        yield record
        if record.failed:
            return


def _fixed(
    method: FixedStep,
    f: Rate,
    x: np.ndarray,
    times: np.ndarray,
    spacing: Spacing,
    hooks: Hooks,
) -> Iterator[Record]:
    (h, repeats, steps), (manifold, watch) = spacing, hooks
    start = float(times[0])
    t, failed, solver = start + steps * h, 0.0, FixedPoint()
    for _ in times[1:]:
        for _ in range(repeats):
            end = start + (steps + 1) * h
            new = stepped(method, f, t, x, h, end, solver, manifold)
            settled = float(not method.implicit or solver.settled)
            caught = watch(t, x, end, new, h, None) if watch else 0.0
            t, x, steps, failed = fixed_step(x, new, settled, start, h, steps, failed, caught)
            if failed:
                break
        yield Record(t, x, steps, 0, failed, h)


def _adaptive(
    method: Adaptive,
    f: Rate,
    x: np.ndarray,
    times: np.ndarray,
    spacing: Spacing,
    bounds: Bounds,
    hooks: Hooks,
) -> Iterator[Record]:
    (h, repeats, _), (manifold, watch) = spacing, hooks
    end, way = float(times[-1]), bounds.way
    is_linear = isinstance(method, LinearlyImplicit)
    if isinstance(method, LinearlyImplicit):
        x = method.begin(f, float(times[0]), x, f(float(times[0]), x))
    t, steps, rejected = float(times[0]), 0, 0
    step = Controlled(t, x, [f(t, x)], min(h, bounds.longest), 1.0, 0.0)
    k: list[Any] = []  # values of f for what lies between
    for goal in map(float, times[1:]):
        for _ in range(repeats):
            if step.failed or (step.accepted and (goal - step.t) * way <= 0):
                break
            if step.accepted:
                t, x, h, first, k = step.t, step.x, step.h, step.k[-1], []
            else:
                h = step.h
            landing: Manifold | Landing | None = manifold
            if manifold is not None and manifold.lands and not is_linear:
                landing = Landing(manifold, step.passage)
            step = controlled_step(method, f, t, x, h, first, bounds, landing)
            rejected += int(not step.accepted)
            if watch and step.accepted:
                step = held_back(
                    step, h, watch(t, x, step.t, step.x, length(t, h, end, way), step.k)
                )
            steps += int(step.accepted)
        at, y = (step.t, step.x) if step.accepted else (t, x)
        if (at - goal) * way > 0:
            used = length(t, h, end, way)
            k = k or [*step.k, *(method.extra(f, t, x, used, step.k) if method.extra else ())]
            at, y = goal, method.between(x, step.x, used, k, (goal - t) / used)
            y = y if manifold is None else manifold(at, y)
        yield Record(at, y, steps, rejected, step.failed if at != goal else 0.0, step.h)
