"""The first event in a step of a method, as a program."""

from __future__ import annotations

from collections.abc import Callable
from functools import reduce
from typing import Any

import numpy as np

from dalembert.codegen.program import Program
from dalembert.codegen.symbols import without_collection
from dalembert.expr import Graph, absolute, array, maximum, minimum
from dalembert.integrators.choice import chosen
from dalembert.integrators.crossing import DONE, Locating, begun, located, narrowed, resolution
from dalembert.integrators.fixed_point import HUGE
from dalembert.integrators.method_kinds import Adaptive, FixedStep
from dalembert.integrators.methods import NOT_FINITE, NOT_SETTLED, stepped
from dalembert.integrators.search import CLEAR, SEARCHING, hermite
from dalembert.tracing.integration import (
    Function,
    Steps,
    in_registers,
    memory_of,
    rate_of,
    searched,
    searching,
)

MOST = 1000  # looks into a step, far beyond the 60 of bisection
NEVER = -1.0
BRACKET = ("a", "fa", "b", "fb", "part")
LOCATING = ("phase", "look", "reach", *BRACKET)
ONE = (
    "t",
    "h",
    "at",
    "origin",
    "settled",
    "failed",
    "pinned",
    "near",
    "ready",
    "own",
    "code",
    *LOCATING,
)


def crossing_of(
    f: Function,
    nx: int,
    parameters: int,
    method: FixedStep | Adaptive,
    manifold: Any,
    watch: Any,
    derivatives: Any = None,
) -> Program:
    """First happening in a step of length h from (t, x), behind a part `origin` of
    it: a program

        (t, x, h, p, origin, fresh) -> (at [s], there (nx,), deep (count,), part, code)

    at: the end of the step, and `there` the state at it, where nothing happens; deep: 0 or more of
    each depth that becomes 0 first; part: of the step, from where the search for the next goes on.
    fresh: above 0 for events that happened at the origin. Nothing happens where the last of p is
    not above 0. code: 0; a key of `integrators.REASONS` where the step cannot be made, `there` is x
    then; or NO_VALUE of the watch where an event has no value at `there`.

    The step's polynomials say what happens, and near which part of it; steps of the method itself
    say when, to rounding. Where these cannot be made or do not meet it, the polynomials say when,
    and which state is there.
    """
    with without_collection():
        with Graph():
            rate = rate_of(f, nx, parameters, ())
        with Graph():
            trace = Steps(rate, _registers(method, nx, watch))
            trace.linearise(method, f, derivatives)
            manifold = manifold and manifold.bound(trace.registers["p"])
            way, whole = _searched(method, trace, manifold, watch)

            def between(s: Any) -> np.ndarray:
                """The state at a part s of the step."""
                x = watch.between(way, whole, s)
                return manifold(trace["t"] + s * trace["h"], x) if manifold else x

            if watch.events:
                _end_without_value(trace, watch, way, between)
            _pin(trace, watch, way)
            _locate(method, trace, manifold, watch, between)
            _place(trace, watch, between)
    inputs = ("t", "x", "h", "p", "origin", *(("fresh",) if watch.events else ()))
    return trace.program(inputs, ("at", "there", "deep", "near", "code"))


def _registers(method: FixedStep | Adaptive, nx: int, watch: Any) -> dict[str, int]:
    """Registers of a location, and their sizes."""
    return {
        **dict.fromkeys(ONE, 1),
        "x": nx,
        "there": nx,
        "mine": nx,
        "deep": watch.count,
        **searching(watch),
        **memory_of(method, nx),
    }


def _searched(
    method: FixedStep | Adaptive, trace: Steps, manifold: Any, watch: Any
) -> tuple[Any, Any]:
    """Make the whole step, and look for the first interval of it in which something happens.

    Returns its polynomials: as they are watched, and those of all entries of x.
    """
    v, t, h, p = trace.registers, trace["t"], trace["h"], trace.registers["p"]
    coefficients = None
    if isinstance(method, Adaptive):
        trace.give({"first": trace.f(t, v["x"])})
        new, _, k = method.step(trace.linearised, t, v["x"], h, v["first"], manifold)
        trace.give({"at": [h]})
        _end_at(trace, new, 1.0)
        k = [*k, *(method.extra(trace.f, t, v["x"], h, k) if method.extra else ())]
        coefficients = method.coefficients(v["x"], v["there"], h, k)
    else:
        trace.give({"at": [h]})
        _end_at(trace, *_stepped(method, trace, manifold))
        _forget(method, trace)
    way = watch.extension(t, v["x"], t + h, v["there"], h, p, coefficients)
    whole = coefficients or hermite(
        v["x"], v["there"], trace.f(t, v["x"]), trace.f(t + h, v["there"]), h
    )
    whole = trace.stored("whole", whole)
    watched = chosen(trace["code"] > 0, 0.0, p[-1]) > 0
    trace.give(
        {
            "state": [chosen(watched, SEARCHING, CLEAR)],
            "sa": [trace["origin"]],
            "sw": [1 - trace["origin"]],
            "deep": array([NEVER + 0 * h for _ in range(watch.count)]),
        }
    )
    way = in_registers(trace, way)
    searched(trace, watch, way)
    return way, whole


def _end_at(trace: Steps, new: Any, settled: Any) -> None:
    """The end of the step, or its beginning with a code where it cannot be made."""
    code = chosen(settled > 0, chosen(sum(absolute(new)) <= HUGE, 0.0, NOT_FINITE), NOT_SETTLED)
    trace.give({"there": chosen(code > 0, trace.registers["x"], new), "code": [code]})


def _end_without_value(
    trace: Steps, watch: Any, way: Any, between: Callable[[Any], np.ndarray]
) -> None:
    """Nothing but an event without a value was found: the search ends there."""
    v, end, p = trace.registers, trace["sa"] + trace["sw"], trace.registers["p"]
    changed = watch.valued(v["changed"], way.time(end), way.at(end), p, v["sides"])
    found = trace["state"] > CLEAR
    lost = chosen(found, chosen(reduce(maximum, changed) > 0, 0.0, 1.0), 0.0) > 0
    trace.give(
        {
            "changed": array(changed),
            "state": [chosen(lost, CLEAR, trace["state"])],
            "at": [chosen(lost, end * trace["h"], trace["at"])],
            "code": [chosen(lost, watch.NO_VALUE, trace["code"])],
            "there": chosen(lost, between(end), v["there"]),
        }
    )


def _pin(trace: Steps, watch: Any, way: Any) -> None:
    """The zero of the polynomials in the interval that was found: `near`, a part of the step."""
    t, h, p = trace["t"], trace["h"], trace.registers["p"]
    width = resolution(t, h) / h
    end = trace["sa"] + trace["sw"]
    deep = _deepest(trace, watch, way.time(end), way.at(end))
    bracket = zip(BRACKET, begun(end, deep), strict=True)
    touched = chosen(deep >= 0, 0.0, 1.0)  # to rounding
    trace.give(
        {
            "pinned": [maximum(chosen(trace["state"] > CLEAR, 0.0, 1.0), touched)],
            "near": [end],
            **{name: [value] for name, value in bracket},
        }
    )
    trace.give({"b": [trace["sa"]]})
    with trace.loop("pinned", MOST):
        a, fa, b, fb, part = [trace[name] for name in BRACKET]
        s = a + part * (b - a)
        deep = _deepest(trace, watch, way.time(s), way.at(s))
        new = narrowed(a, fa, b, fb, s, deep, width)
        over = trace["pinned"] > 0
        found = chosen(absolute(new[2] - new[0]) <= width, 1.0, 0.0)
        near = chosen(new[1] >= 0, new[0], new[2])
        trace.give(
            {
                "pinned": [chosen(over, 1.0, found)],
                "near": [chosen(over, trace["near"], near)],
                **{name: [value] for name, value in zip(BRACKET, new, strict=True)},
            }
        )
    depths = watch.depths(
        way.time(trace["near"]), way.at(trace["near"]), p, trace.registers["sides"]
    )
    changed, found = trace.registers["changed"], trace["state"] > CLEAR
    least, after = minimum(_largest(depths, changed), 0.0), minimum(trace["near"] + 4 * width, 1.0)
    soon = watch.depths(
        way.time(after), way.at(after), p, trace.registers["sides"]
    )  # at the same time, to rounding
    trace.give(
        {
            "changed": array(
                [
                    chosen(found, chosen(maximum(d - least, e) >= 0, one, 0.0), 0.0)
                    for one, d, e in zip(changed, depths, soon, strict=True)
                ]
            )
        }
    )


def _locate(
    method: FixedStep | Adaptive,
    trace: Steps,
    manifold: Any,
    watch: Any,
    between: Callable[[Any], np.ndarray],
) -> None:
    """The state where it happens, by steps of the method: the zero of the depths that changed, near
    `near`.

    `own` says whether the method's own step leads to what happens there.
    """
    v, t, h, p = trace.registers, trace["t"], trace["h"], trace.registers["p"]
    found = chosen(trace["state"] > CLEAR, 1.0, 0.0)
    trace.give({name: [0.0] for name in LOCATING if name != "look"})
    trace.give({"look": [trace["near"]], "ready": [1 - found], "part": [0.5], "own": [1.0]})
    with trace.loop("ready", MOST):
        over = trace["ready"] > 0
        trace.give({"at": [chosen(over, trace["at"], trace["look"] * h)]})
        s, (new, settled) = trace["at"], _stepped(method, trace, manifold)
        if isinstance(method, FixedStep) and method.implicit:
            settled = chosen(settled > 0, chosen(sum(absolute(new)) <= HUGE, 1.0, 0.0), 0.0)
            new = chosen(settled > 0, new, between(trace["look"]))
        at = watch.state(t + s, new, p)
        depths = watch.depths(t + s, at, p, v["sides"])
        deep = _largest(depths, v["changed"])
        now = located(
            Locating(*(trace[name] for name in LOCATING)),
            trace["near"],
            trace["origin"],
            deep,
            resolution(t, h) / h,
        )
        done = chosen(over, 1.0, chosen(now.phase >= DONE, 1.0, 0.0))
        own = minimum(chosen(deep >= 0, settled, 0.0), watch.meets(at, v["changed"], p))
        trace.give(
            {
                "mine": chosen(over, v["mine"], new),
                "ready": [done],
                "own": [chosen(over, trace["own"], own)],
                "deep": array(
                    [chosen(one > 0, 0.0, NEVER) for one in watch.together(v["changed"], depths)]
                ),
                **{
                    name: [chosen(over, trace[name], value)]
                    for name, value in zip(LOCATING, now, strict=True)
                },
            }
        )
        _forget(method, trace)


def _place(trace: Steps, watch: Any, between: Callable[[Any], np.ndarray]) -> None:
    """The state where it happens, with what is imposed on it: the method's own, or that of the
    polynomials.
    """
    v, near = trace.registers, trace["near"]
    found, own = trace["state"] > CLEAR, trace["own"] > 0
    trace.give(
        {
            "at": [chosen(found, chosen(own, trace["at"], near * trace["h"]), trace["at"])],
            "deep": chosen(
                own, v["deep"], array([chosen(one > 0, 0.0, NEVER) for one in v["changed"]])
            ),
            "there": chosen(found, chosen(own, v["mine"], between(near)), v["there"]),
        }
    )
    trace.give({"there": watch.imposed(v["there"], v["deep"])})


def _deepest(trace: Steps, watch: Any, t: Any, at: Any) -> Any:
    """The largest depth of those that changed, at a place of the step."""
    v = trace.registers
    return _largest(watch.depths(t, at, v["p"], v["sides"]), v["changed"])


def _largest(depths: list[Any], changed: Any) -> Any:
    return reduce(
        maximum, [chosen(one > 0, d, NEVER) for d, one in zip(depths, changed, strict=True)]
    )


def _stepped(method: FixedStep | Adaptive, trace: Steps, manifold: Any) -> tuple[np.ndarray, Any]:
    """x after a step of length `at`, and whether an implicit step could be solved: above 0 if so."""
    t, x, s = trace["t"], trace.registers["x"], trace["at"]
    if isinstance(method, Adaptive):
        first = trace.registers["first"]
        new, *_ = method.step(trace.linearised, t, x, s, first, manifold)
        return np.asarray(new), 1.0
    new = stepped(method, trace.f, t, x, s, t + s, trace.solve, manifold)
    return np.asarray(new), trace["settled"] if method.implicit else 1.0


def _forget(method: FixedStep | Adaptive, trace: Steps) -> None:
    """Begin the next iteration for an implicit step anew: no look depends on another."""
    if isinstance(method, FixedStep) and method.memory:
        trace.give({name: 0 * trace.registers[name] for name in method.memory})
