"""Where in a step of a method something happens, as a routine."""

from __future__ import annotations

from collections.abc import Callable
from functools import reduce
from typing import Any

import numpy as np

from dalembert.compiled.calls import without_collection
from dalembert.compiled.marching import Function, Projection, Steps, rate_of
from dalembert.compiled.routine import Routine
from dalembert.expr import Graph, absolute, array, maximum
from dalembert.integrators.choice import chosen
from dalembert.integrators.crossing import begun, narrowed, resolution
from dalembert.integrators.methods import Adaptive, Fixed

Depths = Callable[..., list[Any]]      # (t, x, t1, x1, p): how far a step went through things, >= 0 where it did
MOST = 1000                            # looks into a step, far beyond the 60 of bisection
BRACKET = ("a", "fa", "b", "fb", "part")


def crossing_of(f: Function, nx: int, parameters: int, method: Fixed | Adaptive, project: Projection | None, depths: Depths,
                count: int) -> Routine:
    """What looks into a step of length h from (t, x): at its end first, and if something happened, for where.

    Each look is a step of length `at`, which leads `there` and goes `deep` (count,); the last one is where the largest of
    these becomes 0. A lane that is ready looks at the same place again. Where the last of p is not above 0 nothing happens.
    """
    registers = {"t": 1, "x": nx, "h": 1, "at": 1, "there": nx, "deep": count,
                 **dict.fromkeys((*BRACKET, "settled", "failed", "begun", "ready"), 1)}
    registers |= {"first": nx} if isinstance(method, Adaptive) else {}
    with without_collection():
        with Graph():
            rate = rate_of(f, nx, parameters, ())
        with Graph():
            trace = Steps(rate, registers)
            v = trace.registers
            t, x, p, width = trace["t"], v["x"], v["p"], resolution(trace["t"], trace["h"])
            if isinstance(method, Adaptive):
                trace.give({"first": trace.f(t, x)})
            begin, trace.items = tuple(trace.items), []
            with trace.loop("ready", MOST):
                a, fa, b, fb, part = [trace[name] for name in BRACKET]
                going, found = trace["begun"] > 0, absolute(b - a) <= width
                s = chosen(going, chosen(found, chosen(fa >= 0, a, b), a + part * (b - a)), trace["h"])
                trace.give({"at": [chosen(trace["ready"] > 0, trace["at"], s)]})
                s, new = trace["at"], _stepped(method, trace)
                new = project(new) if project else new
                deep = depths(t, x, t + s, new, p)
                deepest = chosen(p[-1] > 0, reduce(maximum, deep), -1.0)
                ready = chosen(going, chosen(found, 1.0, 0.0), chosen(deepest >= 0, 0.0, 1.0))
                following = zip(BRACKET, narrowed(a, fa, b, fb, s, deepest, width), begun(s, deepest), strict=True)
                trace.give({"there": new, "deep": array(deep), "begun": [1.0], "ready": [maximum(trace["ready"], ready)],
                            **{name: [chosen(going, later, first)] for name, later, first in following}})
                if guesses := {name: 0 * z for name, z in v.items() if name[0] == "z"}:      # no look depends on another
                    trace.give(guesses)
    return Routine(trace, ("t", "x", "h", "p"), ("at", "there", "deep"), begin)


def _stepped(method: Fixed | Adaptive, trace: Steps) -> np.ndarray:
    """x after a step of length `at`, or before it where an implicit step cannot be solved."""
    t, x, s = trace["t"], trace.registers["x"], trace["at"]
    if isinstance(method, Adaptive):
        return np.asarray(method.step(trace.f, t, x, s, trace.registers["first"])[0])
    if not method.implicit:
        return np.asarray(method.step(trace.f, t, x, s))
    new = method.step(trace.f, t, x, s, solve=trace.solve)
    return np.asarray(chosen(trace["settled"] > 0, new, x))
