"""An integrator and x' = f(t, x, p) as one program: loops over its steps, with records on the way."""

from __future__ import annotations

from collections.abc import (
    Callable,
    Sequence,
)
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from dalembert.codegen.program import (
    Item,
    Loop,
    Program,
    Scan,
    program_of,
)
from dalembert.codegen.symbols import (
    vector_of_symbols,
    without_collection,
)
from dalembert.expr import (
    Expr,
    Graph,
    absolute,
    array,
    derivative,
    maximum,
    minimum,
)
from dalembert.integrators.choice import chosen
from dalembert.integrators.fixed_point import (
    GOING,
    HUGE,
    LOST,
    MOST,
    judged,
)
from dalembert.integrators.method_kinds import (
    SOLUTION,
    Adaptive,
    FixedStep,
    LinearlyImplicit,
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
from dalembert.integrators.passage import (
    RETURNS,
    Landing,
    Passage,
)
from dalembert.integrators.search import (
    CLEAR,
    SEARCHING,
    following,
    hermite,
)
from dalembert.integrators.search import MOST as INTERVALS
from dalembert.integrators.stage_equations import LinearisedRate
from dalembert.tracing.long_trees import (
    loops_in,
    loops_run_once,
)
from dalembert.tracing.loops import (
    FROM,
    LoopTrace,
)
from dalembert.tracing.trace import GOAL

Function = Callable[..., np.ndarray]  # (t, x, p) -> x'
STRAIGHT = 200_000  # operations of derivatives, which are run once a step, without loops
CONSTANTS = ("exact", "float", "symbol")  # operations of expressions that need no code
SEEN = 1e-9  # of a step: one that ends no later than the last that was looked at, has been
NUMBERS = (
    "end",
    "way",
    "over",
    "done",
    "rejected",
    "dense",
    "enough",
    "taken",
    "code",
    "ahead",
    "rtol",
    "atol",
    "longest",
)


class Rate(LoopTrace):
    """The trace of f: k of s, y and p. Items from `last` on store k; items of `returns` bring y nearer
    to constraints while `calm` is 0.
    """

    last = 0
    returns: tuple[Item, ...] = ()


class InRegisters:
    """The landing on a manifold in registers, from which what follows reads it."""

    def __init__(self, trace: Steps, manifold: Any):
        self._trace, self._manifold = trace, manifold

    def __getattr__(self, name: str) -> Any:
        return getattr(self._manifold, name)

    def landed(self, t: Any, x: Any, errors: Any = ()) -> list[Any]:
        """Margin, the state nearby, then the parts of errors along the manifold."""
        if len(x) >= FROM:  # computed in loops before straight code reads them
            x, *errors = self._trace.stored("end", [x, *errors])
        margin, *vectors = self._manifold.approached(t, x, errors)
        (margin,), near, *along = self._trace.stored("landed", [array([margin]), *vectors])
        return [margin, self._trace.returned(t, near), *along]

    def crossing(self, f: Any, crossed: Any) -> Any:
        """f, whose states are brought back if a step is `crossed`."""
        self._trace.give({"calm": [1 - crossed], "least": [1.0]})
        return f

    @property
    def least(self) -> Any:
        """Least margin of the stages of a step."""
        return self._trace["least"]


def _held(trace: LoopTrace, *vectors: Any) -> Sequence[Any]:
    """Vectors in registers if they are long, so that their entries are computed once."""
    return trace.stored("held", vectors) if len(vectors[0]) >= FROM else vectors


class Derivatives(NamedTuple):
    """Derivatives of an f without accelerations in x: slopes(t, x, p) -> df/dx, df/dt."""

    slopes: Callable[..., Any]
    inertia: Any = None


def _slopes(f: Function, t: Any, x: Any, p: Any) -> tuple[Any, Any]:
    """df/dx and df/dt of f(t, x, p), of symbols t and x."""
    columns = derivative(array([*f(t, x, p)]), array([*x, t]))
    return columns[:, :-1], columns[:, -1]


class Steps(LoopTrace):
    """The trace of a step, for which f and `solve` stand for items of their own."""

    def __init__(self, rate: Rate, registers: dict[str, int], whole: bool = False):
        super().__init__({}, whole)
        self.size, self.tables, self._rate = rate.size, rate.tables, rate
        self.linearised: Any = self.f
        for name, n in registers.items():
            self.add(name, n)
        for name in rate.registers:
            self.add(name, rate.places[name].size, rate.places[name].start)

    def f(self, t: Any, x: Any) -> np.ndarray:
        """Trace f(t, x)."""
        self.give({"s": [t], "y": x})
        name, k = self.new("k", len(x))
        rate = self._rate
        self.items += rate.items[: rate.last]
        for scan in rate.items[rate.last :]:
            assert isinstance(scan, Scan)
            self.items.append(self.moved(scan, rate.places["k"], self.places[name].start))
        return k

    def linearise(self, method: Any, f: Function, derivatives: Any) -> None:
        """Make `linearised` f with derivatives, by default its own, if the method takes them."""
        if not isinstance(method, LinearlyImplicit):
            return
        self.straight = STRAIGHT
        own = derivatives or Derivatives(partial(_slopes, f))
        p = self.registers["p"]

        def slopes(t: Any, x: Any) -> Any:
            """df/dx and df/dt."""
            return own.slopes(t, np.asarray(x), p)

        def inertia(t: Any, x: Any) -> Any:
            """-df/da of accelerations a."""
            return own.inertia(t, np.asarray(x), p)

        self.linearised = LinearisedRate(self.f, slopes, inertia, self.kept)

    def kept(self, stem: str, arrays: Sequence[Any]) -> list[Any]:
        """Arrays whose expressions are in registers, so that they are computed once."""
        flat = [x for values in arrays for x in np.asarray(values).flat]
        computed = [x for x in dict.fromkeys(flat) if type(x) is Expr and x.op not in CONSTANTS]
        if not computed:
            return list(arrays)
        (registers,) = self.stored(stem, [array(computed)])
        known = dict(zip(computed, registers, strict=True))
        kept = []
        for values in arrays:
            entries = np.array(values, dtype=object)
            for place, x in np.ndenumerate(entries):
                entries[place] = known.get(x, x)
            kept.append(entries)
        return kept

    def returned(self, t: Any, x: Any, times: int = 1) -> Any:
        """x brought back to constraints by some corrections."""
        self.give({"s": [t], "y": x, "calm": [0.0]})
        self.items.append(Loop(self._rate.returns, self.places["calm"].start, times))
        (there,) = self.stored("there", [self.registers["y"]])
        return there

    def solve(
        self, g: Callable[[Any], Any], x: Any, ahead: Callable[[Any], Any], stages: int = 1
    ) -> Any:
        """z = g(z) as a loop, which begins where the solution of the step before leads; `settled`
        says how it ended.
        """
        z = self.registers[SOLUTION]
        assert len(z) == stages * len(x), "a method declares the length of its memory"
        last, (before,) = self.new("before", 1)
        over = self["done" if "done" in self.registers else "failed"] > 0
        self.give(
            {
                SOLUTION: chosen(over, z, ahead(z)),
                last: [HUGE],
                "settled": [chosen(over, LOST, GOING)],
            }
        )
        with self.loop("settled", MOST):
            new = g(z)
            change, state = judged(z, new, x, before)
            going = self["settled"] <= GOING
            self.give(
                {
                    SOLUTION: chosen(going, new, z),
                    last: [change],
                    "settled": [chosen(going, state, self["settled"])],
                }
            )
        return z


def propagation_of(
    f: Function,
    nx: int,
    parameters: int,
    method: FixedStep | Adaptive,
    manifold: Any = None,
    calls: Sequence[int] = (),
    watch: Any = None,
    derivatives: Any = None,
) -> Program:
    """The program of a method over f: its calls of f, and straight code between them.

    manifold: a `simulation.manifold.StateManifold`, to which each new state is brought back.
    calls: lengths of the results of functions outside; f is then called with stand-ins for them
    too, (t, *vectors) each.
    watch: a `Witnesses`; a trajectory stays before a step in which something happens that it looks
    for, but for steps that end before `until`. Goals of a method of fixed step that is watched are
    counts of steps, so that lanes which such a stop has left behind catch up.
    derivatives: `Derivatives` of f, for a method that takes them; by default f's own.
    """
    with without_collection():
        with Graph():
            passes = _passes(method, manifold)
            rate = rate_of(f, nx, parameters, calls, manifold if passes else None)
        with Graph():
            # Witnesses take polynomials of single entries, manifolds parts of the state.
            whole = watch is None and manifold is None
            whole = whole and not isinstance(method, LinearlyImplicit)
            registers = _registers(method, nx, watch)
            registers |= dict.fromkeys(Passage._fields, 1) if passes else {}
            trace = Steps(rate, registers, whole)
            trace.linearise(method, f, derivatives)
            manifold = manifold and manifold.bound(trace.registers["p"])
            if isinstance(method, FixedStep):
                with loops_in(trace):
                    (_fixed_watched if watch else _fixed)(method, trace, manifold, watch)
                kept = ("t", "x", "start", "steps", "failed", *method.memory, *_seen(watch))
                return trace.program((*kept, "h", "p"), kept, ("t", "x", "steps", "failed", "h"))
            begin = _begin(method, trace)
            with loops_in(trace):
                used, k = _attempts(method, trace, manifold, watch)
                _record(method, trace, manifold, used, k)
    kept = ("t", "x", *method.memory, "h", "steps", "rejected", "failed", *_seen(watch))
    inputs = (*kept, "p", "end", "way", "rtol", "atol", "longest")
    records = ("at", "there", "taken", "code", "ahead", "rejected")
    return trace.program(inputs, kept, records, begin)


def _passes(method: FixedStep | Adaptive, manifold: Any) -> bool:
    """Whether steps of a method are placed so that singular positions lie between stages."""
    if not isinstance(method, Adaptive) or isinstance(method, LinearlyImplicit):
        return False
    return bool(manifold and manifold.lands)


def _registers(method: FixedStep | Adaptive, nx: int, watch: Any) -> dict[str, int]:
    """Registers of a method's steps, and their sizes."""
    registers = {"t": 1, "x": nx, "h": 1, "steps": 1, "failed": 1}
    if isinstance(method, FixedStep):
        registers |= {"start": 1, "settled": 1}
        registers |= {GOAL: 1, "done": 1} if watch else {}
    else:
        registers |= {"t1": 1, "x1": nx, "last": nx, "h1": 1, "at": 1, "there": nx, GOAL: 1}
        registers |= dict.fromkeys(NUMBERS, 1)
    return registers | memory_of(method, nx) | (searching(watch) if watch else {})


def memory_of(method: FixedStep | Adaptive, nx: int) -> dict[str, int]:
    """Registers of what a step leaves to the next, and their sizes."""
    return {name: states * nx or 1 for name, states in method.memory.items()}


def rate_of(
    f: Function,
    nx: int,
    parameters: int,
    calls: Sequence[int],
    manifold: Any = None,
) -> Rate:
    """f traced: k of s, y, p; of y on the manifold while `calm` is 0."""
    trace = Rate({"s": 1, "y": nx, "p": parameters})
    outside = (
        ([partial(trace.call, number, size) for number, size in enumerate(calls)],) if calls else ()
    )
    bound = manifold and manifold.bound(trace.registers["p"])
    with loops_in(trace):
        if bound is not None:
            _returning(trace, bound)
        with loops_run_once():
            results = {"k": f(trace["s"], trace.registers["y"], trace.registers["p"], *outside)}
            if bound is not None:
                margin = bound.margin(trace["s"], trace.registers["y"])
                results["least"] = array([minimum(trace["least"], margin)])
    trace.place("k", nx)
    trace.last, trace.copying = len(trace.items), 0
    trace.give(results)
    trace.last = max(trace.last, trace.copying)
    return trace


def _returning(trace: Rate, manifold: Any) -> None:
    """Items that bring y nearer to constraints while `calm` is 0."""
    calm = trace.add("calm", 1)[0]
    trace.add("least", 1)
    with trace.loop("calm", RETURNS):
        with loops_run_once():
            y = manifold.returned(trace["s"], trace.registers["y"])
        trace.give({"y": chosen(calm > 0, trace.registers["y"], y)})
        trace.returns = tuple(trace.items)


def right_hand_side(f: Function, nx: int, parameters: int) -> Program:
    """f as a program of t, x and p."""
    with Graph():
        t, x, p = (
            vector_of_symbols("t", 1),
            vector_of_symbols("x", nx),
            vector_of_symbols("p", parameters),
        )
        return program_of({"t": t, "x": x, "p": p}, {"k": f(t[0], x, p)})


def in_registers(trace: Steps, way: Any) -> Any:
    """The polynomials of a step, in registers."""
    rows = iter(trace.stored("row", [row for part in way for row in part]))
    return type(way)(*([next(rows) for _ in part] for part in way))


def searched(trace: Steps, watch: Any, way: Any) -> Any:
    """CAUGHT, or 0: whether something happens in a step whose polynomials are `way`, of lanes whose
    `state` is SEARCHING.

    Intervals are looked at one by one, until nothing or something is found in them.
    """
    p, fresh = trace.registers["p"], trace.registers.get("fresh", ())
    with trace.loop("state", 1):
        trace.give(
            {"sides": array(watch.sides(way.time(trace["sa"]), way.at(trace["sa"]), p, fresh))}
        )
    with trace.loop("state", INTERVALS):
        a, w, sides = trace["sa"], trace["sw"], trace.registers["sides"]
        looked = watch.look(way, p, a, w, sides)
        new, going = following(a, w, looked), trace["state"] <= SEARCHING
        moved = chosen(going, chosen(new.a > a, 1.0, 0.0), 0.0)
        trace.give(
            {
                "sa": [chosen(going, new.a, a)],
                "sw": [chosen(going, new.w, w)],
                "state": [chosen(going, new.state, trace["state"])],
                "changed": array(
                    [
                        chosen(going, one.changed, old)
                        for one, old in zip(looked, trace.registers["changed"], strict=True)
                    ]
                ),
                "sides": array(
                    [
                        chosen(moved > 0, one.side, old)
                        for one, old in zip(looked, sides, strict=True)
                    ]
                ),
            }
        )
    return chosen(trace["state"] > CLEAR, watch.CAUGHT, 0.0)


def searching(watch: Any) -> dict[str, int]:
    """Registers of a search, and their sizes."""
    sizes = {
        "state": 1,
        "tidy": 1,
        "sa": 1,
        "sw": 1,
        "until": 1,
        "sides": watch.count,
        "changed": watch.count,
    }
    return sizes | ({"fresh": watch.events} if watch.events else {})


def _fixed(method: FixedStep, trace: Steps, manifold: Any, watch: None) -> None:
    """Steps until one fails, or as many as there are to a record."""
    with trace.loop("failed"):
        _, new, settled = _stepped(method, trace, manifold)
        place = trace["start"], trace["h"], trace["steps"], trace["failed"]
        after = fixed_step(trace.registers["x"], new, settled, *place)
        trace.give({"t": [after.t], "x": after.x, "steps": [after.steps], "failed": [after.failed]})


def _stepped(method: FixedStep, trace: Steps, manifold: Any) -> tuple[Any, Any, Any]:
    """Time and state at the end of a step, and whether it could be solved: above 0 if so."""
    t, x, h = trace["t"], trace.registers["x"], trace["h"]
    t1 = trace["start"] + (trace["steps"] + 1) * h
    new = stepped(method, trace.f, t, x, h, t1, trace.solve, manifold)
    return t1, new, trace["settled"] if method.implicit else 1.0


def _fixed_watched(method: FixedStep, trace: Steps, manifold: Any, watch: Any) -> None:
    """Steps as those of `_fixed`, up to the count that is the goal, in which nothing happens."""
    v = trace.registers

    def over(failed: Any, steps: Any) -> Any:
        """Whether a lane makes no more steps before the record."""
        return chosen(failed > 0, failed, chosen(steps >= trace[GOAL], 1.0, 0.0))

    trace.give({"done": [over(trace["failed"], trace["steps"])]})
    with trace.loop("done"):
        t1, new, settled = _stepped(method, trace, manifold)
        way = watch.extension(trace["t"], v["x"], t1, new, trace["h"], v["p"], None)

        def taken(waits: Any, caught: Any, **more: Any) -> None:
            """The step is taken by lanes that do not wait."""
            stays = maximum(trace["done"], waits)
            place = trace["start"], trace["h"], trace["steps"], stays
            after = fixed_step(v["x"], new, settled, *place, caught)
            moves = stays <= 0
            trace.give(
                {
                    "t": [chosen(moves, after.t, trace["t"])],
                    "x": after.x,
                    "steps": [after.steps],
                    "failed": [chosen(moves, after.failed, trace["failed"])],
                    "done": [chosen(moves, over(after.failed, after.steps), trace["done"])],
                    **_older(trace, chosen(after.steps > trace["steps"], 1.0, 0.0)),
                    **more,
                }
            )

        idle = maximum(trace["done"], _idle(trace, t1, trace["h"]))
        clear = chosen(idle > 0, CLEAR, watch.clear(way, v["p"]))
        taken(1 - clear, 0.0, state=[clear], sa=[0.0], sw=[1.0], tidy=[clear])
        with trace.loop("state", 1):
            way = in_registers(trace, way)
        caught = searched(trace, watch, way)
        with trace.loop("tidy", 1):
            taken(trace["tidy"], caught)


def _seen(watch: Any) -> tuple[str, ...]:
    """Registers that say what has been found already."""
    return () if watch is None else ("until", "fresh") if watch.events else ("until",)


def _idle(trace: Steps, t1: Any, h: Any) -> Any:
    """1 where a step is not watched, or has been looked at before."""
    seen = chosen(t1 - trace["until"] <= SEEN * absolute(h), 1.0, 0.0)
    return chosen(trace.registers["p"][-1] > 0, seen, 1.0)


def _older(trace: Steps, taken: Any) -> dict[str, Any]:
    """Events are fresh in a step less after each that was taken."""
    fresh = trace.registers.get("fresh")
    return (
        {}
        if fresh is None
        else {"fresh": array([chosen(taken > 0, maximum(one - 1, 0.0), one) for one in fresh])}
    )


def _begin(method: Adaptive, trace: Steps) -> tuple[Item, ...]:
    """The first value of f, where it is not known from a run before."""
    if "calm" in trace.registers:
        trace.give({"calm": [1.0], "distance": [HUGE]})
    with trace.loop("known", 1):
        k = trace.f(trace["t"], trace.registers["x"])
        if isinstance(method, LinearlyImplicit):
            k = _balanced(method, trace, k)
        trace.give(
            {"first": chosen(trace["known"] > 0, trace.registers["first"], k), "known": [1.0]}
        )
    begin, trace.items = tuple(trace.items), []
    return begin


def _balanced(method: LinearlyImplicit, trace: Steps, k: Any) -> Any:
    """f at the state with forces in balance, which becomes that of lanes that begin."""
    x = trace.registers["x"]
    begun = method.begin(trace.linearised, trace["t"], x, k)
    trace.give({"x": chosen(trace["known"] > 0, x, begun)})
    return trace.f(trace["t"], x)


def _attempts(method: Adaptive, trace: Steps, manifold: Any, watch: Any) -> tuple[Any, list[Any]]:
    """Steps from (t, x), where f is `first`, to (t1, x1), where f is `last`, with length h, and h1
    for the next one. Returns the length of the last, and the values of f in it.

    over: 1 if the step was taken and another may follow; a lane that is ready, `done`, makes the
    same step again, so that all values of f between which a record may lie stay what they are.
    """
    v = trace.registers
    trace.give({"done": [maximum(trace["failed"], _reached(trace, trace["over"], trace["t1"]))]})
    with trace.loop("done"):
        moves = chosen(trace["done"] > 0, 0.0, trace["over"]) > 0
        passes = "calm" in v
        trace.give(
            {
                "t": [chosen(moves, trace["t1"], trace["t"])],
                "x": chosen(moves, v["x1"], v["x"]),
                "first": chosen(moves, v["last"], v["first"]),
                "h": [chosen(moves, trace["h1"], trace["h"])],
                "steps": [chosen(moves, trace["steps"] + 1, trace["steps"])],
            }
        )
        new = controlled_step(
            method,
            trace.linearised,
            trace["t"],
            v["x"],
            trace["h"],
            v["first"],
            Bounds(*(trace[name] for name in Bounds._fields)),
            _landing(trace, manifold) if passes else manifold,
        )
        if watch:
            _watched(method, trace, new, watch)
        else:
            _attempted(trace, new)
    return _length(trace), [*new.k]


def _landing(trace: Steps, manifold: Any) -> Landing:
    """The manifold of constraints, with the singular positions that registers say."""
    passage = Passage(*(trace[name] for name in Passage._fields))
    return Landing(InRegisters(trace, manifold), passage)


def _record(method: Adaptive, trace: Steps, manifold: Any, used: Any, k: list[Any]) -> None:
    """The record at the goal, in a step of length `used` with values k of f, or at its end."""
    v = trace.registers
    over, beyond = trace["over"] > 0, (trace["t1"] - trace[GOAL]) * trace["way"] > 0
    between = chosen(over, chosen(beyond, 1.0, 0.0), 0.0) > 0
    if method.extra:
        trace.give({"enough": [chosen(between, trace["dense"], 1.0)]})
        with trace.loop("enough", 1):
            k += method.extra(trace.f, trace["t"], v["x"], used, k)
            trace.give({"enough": [1.0], "dense": [1.0]})
    part = (trace[GOAL] - trace["t"]) / used
    if manifold:
        ((used, part),) = trace.stored("scalars", [array([used, part])])
    y = method.between(v["x"], v["x1"], used, k, part)
    if "calm" in v:
        y = trace.returned(trace[GOAL], y, 2)
    elif manifold:
        y = manifold(trace[GOAL], *_held(trace, y))
    last = chosen(over, v["x1"], v["x"])
    trace.give(
        {
            "at": [chosen(between, trace[GOAL], chosen(over, trace["t1"], trace["t"]))],
            "there": chosen(between, y, last),
            "taken": [trace["steps"] + trace["over"]],
            "code": [chosen(_reached(trace, trace["over"], trace["t1"]) > 0, 0.0, trace["failed"])],
            "ahead": [chosen(over, trace["h1"], trace["h"])],
        }
    )


def _length(trace: Steps) -> Any:
    """Length of the step from t."""
    return length(trace["t"], trace["h"], trace["end"], trace["way"])


def _reached(trace: Steps, over: Any, t1: Any) -> Any:
    """Whether the goal is not ahead any more, of a step to t1 that is over or not."""
    return chosen((trace[GOAL] - chosen(over > 0, t1, trace["t"])) * trace["way"] <= 0, 1.0, 0.0)


def _attempted(
    trace: Steps, new: Controlled, waits: Any = 0.0, caught: Any = 0.0, **more: Any
) -> None:
    """The attempt counts in lanes that are not ready and do not wait; more: registers that change
    besides.
    """
    step, ready = held_back(new, trace["h"], caught), maximum(trace["done"], waits) > 0
    passage = step.passage._asdict() if "calm" in trace.registers else {}
    more |= {name: [chosen(ready, trace[name], value)] for name, value in passage.items()}
    over, failed = (
        chosen(ready, trace["over"], step.accepted),
        chosen(ready, trace["failed"], step.failed),
    )
    left = chosen(over > 0, trace["h"], step.h)
    done = maximum(failed, _reached(trace, over, step.t))
    trace.give(
        {
            "t1": [step.t],
            "x1": step.x,
            "last": step.k[-1],
            "h1": [step.h],
            "over": [over],
            "failed": [failed],
            "h": [chosen(ready, trace["h"], left)],
            "rejected": [chosen(ready, trace["rejected"], trace["rejected"] + 1 - new.accepted)],
            "dense": [chosen(ready, trace["dense"], 0.0)],
            "done": [chosen(ready, trace["done"], done)],
            **_older(trace, chosen(ready, 0.0, step.accepted)),
            **more,
        }
    )


def _watched(method: Adaptive, trace: Steps, new: Controlled, watch: Any) -> None:
    """The attempt counts unless something happens in it.

    Most steps are excluded by the cubics through their ends, and a bound for what these differ by
    from what the method has in between. The polynomials of the others are bounded, then searched.
    """
    v, k, h = trace.registers, new.k, _length(trace)
    ends = trace["t"], v["x"], new.t, new.x, h, v["p"]
    cubics = watch.extension(*ends, hermite(v["x"], new.x, k[0], k[-1], h))
    idle = maximum(maximum(trace["done"], 1 - new.accepted), _idle(trace, new.t, h))
    clear = chosen(idle > 0, CLEAR, watch.clear(cubics, v["p"], method.bend(h, k)))
    _attempted(trace, new, 1 - clear, state=[clear], sa=[0.0], sw=[1.0], tidy=[clear])
    with trace.loop("state", 1):
        extra = method.extra(trace.f, trace["t"], v["x"], h, k) if method.extra else ()
        own = method.coefficients(v["x"], new.x, h, [*k, *extra])
        way = in_registers(trace, watch.extension(*ends, own))
        trace.give({"state": [maximum(trace["state"], watch.clear(way, v["p"]))]})
    caught = searched(trace, watch, way)
    with trace.loop("tidy", 1):
        _attempted(trace, new, trace["tidy"], caught)
