"""An integrator and x' = f(t, x, p) as one kernel: whole trajectories in machine code."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from math import isfinite
from typing import Any, NamedTuple

import numpy as np

from dalembert.codegen.march import GOAL, REPEATS, Call, Item, Loop, March, Part
from dalembert.codegen.program import Port, Program, program_of
from dalembert.codegen.rolled import Rolled
from dalembert.codegen.symbols import outlined, vector_of_symbols, without_collection
from dalembert.codegen.targets.llvm import march as llvm_march
from dalembert.codegen.targets.llvm.straight import assembly
from dalembert.errors import ShapeError
from dalembert.expr import Graph, absolute, array, jacobian, maximum
from dalembert.integrators.choice import chosen
from dalembert.integrators.fixed_point import GOING, HUGE, LOST, MOST, judged
from dalembert.integrators.kinds import Adaptive, External, Fixed, Method
from dalembert.integrators.methods import Controlled, controlled_step, fixed_step, held_back, length
from dalembert.integrators.search import CLEAR, SEARCHING, following, hermite
from dalembert.integrators.search import MOST as INTERVALS
from dalembert.native import cache, callbacks
from dalembert.native.kernel import Kernel, machine_for, object_of_text

Function = Callable[..., np.ndarray]  # (t, x, p) -> x'
SEEN = 1e-9  # of a step: one that ends no later than the last that was looked at, has been
NUMBERS = (
    "known",
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
Projection = Callable[[np.ndarray], np.ndarray]


class Trajectories(NamedTuple):
    """Records of N trajectories at K times, and what the integrator did up to each."""

    t: np.ndarray  # (N, K): not the time asked for where it could not go on
    x: np.ndarray  # (N, K, nx)
    steps: np.ndarray  # (N, K), accepted ones
    rejected: np.ndarray  # (N, K)
    failed: np.ndarray  # (N, K): a key of integrators.REASONS where it could not go on, else 0
    h: np.ndarray  # (N, K): step to go on with [s]
    state: dict[str, np.ndarray] | None = (
        None  # (N, n) each: from which another call goes on to the last bit
    )
    modes: np.ndarray | None = None  # (N, K, nv): what the one who asks for records adds to them
    held: np.ndarray | None = None  # (N, K, nv): forces of a sampled controller, likewise


def joined(parts: Sequence[Trajectories]) -> Trajectories:
    """Records of parts one after the other, with the state of the last."""
    if len(parts) == 1:
        return parts[0]
    whole: dict[str, Any] = {
        name: np.concatenate([getattr(part, name) for part in parts], axis=1)
        for name in Trajectories._fields
        if name != "state" and getattr(parts[0], name) is not None
    }
    return Trajectories(**whole, state=parts[-1].state)


class Trace:
    """Registers, programs and items of a march, while they are traced."""

    def __init__(self, registers: dict[str, int]):
        self.registers = {name: vector_of_symbols(name, n) for name, n in registers.items()}
        self.programs: list[Program | Rolled] = []
        self.items: list[Item] = []

    def __getitem__(self, name: str) -> Any:
        return self.registers[name][0]

    def new(self, stem: str, n: int) -> tuple[str, np.ndarray]:
        """A register of a name that is not taken."""
        name = f"{stem}{len(self.registers)}"
        self.registers[name] = vector_of_symbols(name, n)
        return name, self.registers[name]

    def give(self, results: dict[str, Any]) -> None:
        """Registers become these values."""
        self.programs.append(program_of(self.registers, results))
        self.items.append(Part(len(self.programs) - 1, tuple(self.registers), tuple(results)))

    def stored(self, stem: str, vectors: Sequence[np.ndarray]) -> list[np.ndarray]:
        """Vectors put into new registers, from which what follows reads them."""
        named = [self.new(stem, len(v)) if len(v) else ("", v) for v in vectors]
        self.give({name: v for (name, _), v in zip(named, vectors, strict=True) if name})
        return [register for _, register in named]

    def call(self, function: int, size: int, t: Any, *vectors: Any) -> np.ndarray:
        """What a function outside gives, by its number."""
        given = {self.new("a", len(v))[0]: v for v in ([t], *vectors)}
        self.give(given)
        name, found = self.new("u", size)
        self.items.append(Call(function, tuple(given), name))
        return found

    def scanned(self, program: Rolled, *vectors: Any) -> list[np.ndarray]:
        """Outputs of a program that stays apart."""
        inputs = {self.new("a", len(v))[0]: v for v in vectors}
        self.give(inputs)
        outputs = [self.new("b", port.size) for port in program.outputs]
        self.programs.append(program)
        self.items.append(
            Part(len(self.programs) - 1, tuple(inputs), tuple(name for name, _ in outputs))
        )
        return [symbols for _, symbols in outputs]

    @contextmanager
    def loop(self, until: str, most: int = REPEATS) -> Iterator[None]:
        """What is traced inside is repeated until a register is not 0."""
        outside, self.items = self.items, []
        yield
        outside.append(Loop(tuple(self.items), until, most))
        self.items = outside


class Steps(Trace):
    """The trace of a step, for which f and `solve` stand for items of their own."""

    def __init__(self, rate: Trace, registers: dict[str, int]):
        super().__init__(registers | {name: len(x) for name, x in rate.registers.items()})
        self.programs, self._rate = list(rate.programs), rate.items

    def f(self, t: Any, x: Any) -> np.ndarray:
        self.give({"s": [t], "y": x})
        name, k = self.new("k", len(x))
        *before, last = self._rate
        assert isinstance(last, Part)
        self.items += [*before, replace(last, gives=(name,))]
        return k

    def solve(
        self, g: Callable[[Any], Any], x: Any, ahead: Callable[[Any], Any], stages: int = 1
    ) -> Any:
        """z = g(z) as a loop, which begins where the solution of the step before leads; `settled`
        says how it ended.
        """
        name, z = self.new("z", stages * len(x))
        last, (before,) = self.new("before", 1)
        over = self["done" if "done" in self.registers else "failed"] > 0
        self.give(
            {name: chosen(over, z, ahead(z)), last: [HUGE], "settled": [chosen(over, LOST, GOING)]}
        )
        with self.loop("settled", MOST):
            new = g(z)
            change, state = judged(z, new, x, before)
            going = self["settled"] <= GOING
            self.give(
                {
                    name: chosen(going, new, z),
                    last: [change],
                    "settled": [chosen(going, state, self["settled"])],
                }
            )
        return z


def march_of(
    f: Function,
    nx: int,
    parameters: int,
    method: Fixed | Adaptive,
    project: Projection | None = None,
    calls: Sequence[int] = (),
    watch: Any = None,
) -> March:
    """The march of a method over f: its calls of f, and straight-line parts between them.

    project: what becomes of each new state, such as quaternions scaled to unit length.
    calls: lengths of the results of functions outside; f is then called with stand-ins for them
    too, (t, *vectors) each.
    watch: a `Watching`; a trajectory stays before a step in which something happens that it looks
    for, but for steps that end before `until`. Goals of a method of fixed step that is watched are
    counts of steps, so that lanes which such a stop has left behind catch up.
    """
    fixed = isinstance(method, Fixed)
    registers = {"t": 1, "x": nx, "h": 1, "steps": 1, "failed": 1} | (
        {"start": 1, "settled": 1, **dict.fromkeys((GOAL, "done") if watch else (), 1)}
        if fixed
        else {
            "first": nx,
            "t1": 1,
            "x1": nx,
            "last": nx,
            "h1": 1,
            "at": 1,
            "there": nx,
            **dict.fromkeys((GOAL, *NUMBERS), 1),
        }
    )
    registers |= searching(watch) if watch else {}
    begin: tuple[Item, ...] = ()
    recorded: tuple[str, ...]
    with without_collection():
        with Graph():
            rate = rate_of(f, nx, parameters, calls)
        with Graph():
            trace = Steps(rate, registers)
            if isinstance(method, Fixed):
                _fixed(method, trace, project, watch)
                state = (
                    "t",
                    "x",
                    "start",
                    "steps",
                    "failed",
                    *(name for name in trace.registers if name[0] == "z"),
                )
                state += _seen(watch)
                read, recorded = (*state, "h", "p"), ("t", "x", "steps", "failed", "h")
            else:
                begin = _begin(trace)
                _adaptive(method, trace, project, watch)
                state = ("t", "x", "first", "known", "h", "steps", "rejected", "failed")
                state += _seen(watch)
                read = (*state, "p", "end", "way", "rtol", "atol", "longest")
                recorded = ("at", "there", "taken", "code", "ahead", "rejected")
    ports = tuple(Port(name, (len(x),)) for name, x in trace.registers.items())
    return March(ports, read, tuple(trace.programs), tuple(trace.items), recorded, begin, state)


def rate_of(f: Function, nx: int, parameters: int, calls: Sequence[int]) -> Trace:
    """f traced: k of s, y, p."""
    trace = Trace({"s": 1, "y": nx, "p": parameters})
    outside = (
        ([partial(trace.call, number, size) for number, size in enumerate(calls)],) if calls else ()
    )
    token = outlined.set(trace.scanned)
    try:
        k = f(trace["s"], trace.registers["y"], trace.registers["p"], *outside)
    finally:
        outlined.reset(token)
    trace.give({"k": k})
    return trace


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


def _fixed(method: Fixed, trace: Steps, project: Projection | None, watch: Any = None) -> None:
    v = trace.registers

    def over(failed: Any, steps: Any) -> Any:
        """Whether a lane makes no more steps before the record."""
        return (
            chosen(failed > 0, failed, chosen(steps >= trace[GOAL], 1.0, 0.0)) if watch else failed
        )

    if watch:
        trace.give({"done": [over(trace["failed"], trace["steps"])]})
    with trace.loop("done" if watch else "failed"):
        options = {"solve": trace.solve} if method.implicit else {}
        new = method.step(trace.f, trace["t"], v["x"], trace["h"], **options)
        settled, new = (
            trace["settled"] if method.implicit else 1.0,
            project(new) if project else new,
        )
        t1 = trace["start"] + (trace["steps"] + 1) * trace["h"]
        if not watch:
            after = fixed_step(
                v["x"], new, settled, trace["start"], trace["h"], trace["steps"], trace["failed"]
            )
            trace.give(
                {"t": [after.t], "x": after.x, "steps": [after.steps], "failed": [after.failed]}
            )
            return
        way = watch.extension(trace["t"], v["x"], t1, new, trace["h"], v["p"], None)

        def taken(waits: Any, caught: Any, **more: Any) -> None:
            """The step is taken by lanes that do not wait."""
            stays = maximum(trace["done"], waits)
            after = fixed_step(
                v["x"], new, settled, trace["start"], trace["h"], trace["steps"], stays, caught
            )
            moves = stays <= 0
            failed = chosen(moves, after.failed, trace["failed"])
            trace.give(
                {
                    "t": [chosen(moves, after.t, trace["t"])],
                    "x": after.x,
                    "steps": [after.steps],
                    "failed": [failed],
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


def _begin(trace: Steps) -> tuple[Item, ...]:
    """The first value of f, where it is not known from a run before."""
    with trace.loop("known", 1):
        k = trace.f(trace["t"], trace.registers["x"])
        trace.give(
            {"first": chosen(trace["known"] > 0, trace.registers["first"], k), "known": [1.0]}
        )
    begin, trace.items = tuple(trace.items), []
    return begin


def _adaptive(
    method: Adaptive, trace: Steps, project: Projection | None, watch: Any = None
) -> None:
    """Steps from (t, x), where f is `first`, to (t1, x1), where f is `last`, with length h, and h1
    for the next one.

    over: 1 if the step was taken and another may follow; a lane that is ready, `done`, makes the
    same step again, so that all values of f between which a record may lie stay what they are.
    """
    v = trace.registers
    trace.give({"done": [maximum(trace["failed"], _reached(trace, trace["over"], trace["t1"]))]})
    with trace.loop("done"):
        moves = chosen(trace["done"] > 0, 0.0, trace["over"]) > 0
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
            trace.f,
            trace["t"],
            v["x"],
            trace["h"],
            v["first"],
            trace["end"],
            trace["way"],
            trace["rtol"],
            trace["atol"],
            project,
            trace["longest"],
        )
        if watch:
            _watched(method, trace, new, watch)
        else:
            _attempted(trace, new)
    over, beyond = trace["over"] > 0, (trace["t1"] - trace[GOAL]) * trace["way"] > 0
    between = chosen(over, chosen(beyond, 1.0, 0.0), 0.0) > 0
    used, k = _length(trace), [*new.k]
    if method.extra:
        trace.give({"enough": [chosen(between, trace["dense"], 1.0)]})
        with trace.loop("enough", 1):
            k += method.extra(trace.f, trace["t"], v["x"], used, k)
            trace.give({"enough": [1.0], "dense": [1.0]})
    y = method.between(v["x"], v["x1"], used, k, (trace[GOAL] - trace["t"]) / used)
    last = chosen(over, v["x1"], v["x"])
    trace.give(
        {
            "at": [chosen(between, trace[GOAL], chosen(over, trace["t1"], trace["t"]))],
            "there": chosen(between, project(y) if project else y, last),
            "taken": [trace["steps"] + trace["over"]],
            "code": [chosen(_reached(trace, trace["over"], trace["t1"]) > 0, 0.0, trace["failed"])],
            "ahead": [chosen(over, trace["h1"], trace["h"])],
        }
    )


def _length(trace: Steps) -> Any:
    """Of the step from t."""
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


class Marching:
    """The kernel of a march, compiled or from the cache, and its calls; of a library's method, f
    and df/dx compiled.

    calls, watch: as those of `march_of`; not for methods of a library.
    """

    def __init__(
        self,
        f: Function,
        nx: int,
        parameters: int,
        method: Method,
        project: Projection | None = None,
        calls: Sequence[int] = (),
        watch: Any = None,
    ):
        self.method, self.nx, self.parameters = method, nx, parameters
        if isinstance(method, External):
            self._called = (
                _kernel_of(right_hand_side(f, nx, parameters)),
                _kernel_of(
                    right_hand_side(lambda t, x, p: jacobian(f(t, x, p), x), nx, parameters)
                ),
            )
            return
        self.march = march_of(f, nx, parameters, method, project, calls, watch)
        self._sizes = {r.name: r.size for r in self.march.registers}
        self._calls, self._counts = (
            bool(self.march.calls()),
            isinstance(method, Fixed) and watch is not None,
        )
        self._kernels: dict[bool, Kernel] = {}

    def kernel(self, rows: int) -> Kernel:
        """For a number of trajectories: one by itself has no other lanes, and functions outside are
        called for one.
        """
        alone = rows == 1 or self._calls
        if alone not in self._kernels:
            self._kernels[alone] = kernel_of(self.march, alone)
        return self._kernels[alone]

    def run(
        self,
        x: np.ndarray,
        times: np.ndarray,
        h: Any,
        p: np.ndarray,
        repeats: int,
        rtol: float = 0.0,
        atol: float = 0.0,
        threads: int = 1,
        longest: float = HUGE,
        end: float | None = None,
        state: dict[str, np.ndarray] | None = None,
        functions: Sequence[callbacks.Function] = (),
        goals: np.ndarray | None = None,
        told: Callable[[float], object] | None = None,
    ) -> Trajectories:
        """Trajectories from x (N, nx) at times[0] to each later time; p (n,) or (N, n).

        h: of fixed methods the step, negative where times decrease; of others the first step, a
        length; one, or (N,).
        repeats: steps between two records, whatever the times are; of adaptive methods, attempted
        ones at most.
        longest: greatest step of an adaptive method.
        end: where an adaptive method ends a step; by default at the last of the times. In between
        it interpolates.
        state: what an earlier call left; this one goes on there, and x, times[0] and h, of adaptive
        methods, only have to be in order.
        functions: those outside, with what converts the result of each; trajectories then run one
        after the other.
        goals: of a watched method of fixed step, how many steps each record lies behind `start`,
        `repeats` apart; a trajectory that is beyond the first ones waits.
        told: of a library's method, called with the time at each evaluation.

        Raises
        ------
        ShapeError, ValueError
            An array has the wrong shape; a number is not finite, h is 0 or, of an adaptive method,
            negative.
        """
        x, times, p = (np.ascontiguousarray(a, dtype=np.float64) for a in (x, times, p))
        h = np.asarray(h, dtype=np.float64)
        h = h.reshape(-1, 1) if h.ndim else h.reshape(1)
        self._check(x, times, h, p, rtol, atol)
        if isinstance(self.method, External):
            return self._run_external(x, times, h, p, rtol, atol, longest, told)
        rows = len(x)
        if self._counts:
            goals = np.array(
                repeats * np.arange(1, len(times)) if goals is None else goals, dtype=float
            )
        else:
            goals = np.ascontiguousarray(times[1:])
        sizes, end = self._sizes, float(times[-1]) if end is None else end
        values = {
            "t": times[:1],
            "start": times[:1],
            "x": x,
            "h": h,
            "p": p,
            "rtol": rtol,
            "atol": atol,
            "end": end,
            "longest": longest,
            "way": 1.0 if end >= times[0] else -1.0,
        } | (state or {})
        inputs = [
            np.ascontiguousarray(values[name], dtype=np.float64)
            if name in values
            else np.zeros(sizes[name])
            for name in self.march.read
        ]
        records, left = (
            [np.zeros((rows, *k, sizes[name])) for name in names]
            for names, k in ((self.march.recorded, (len(goals),)), (self.march.left, ()))
        )
        extra = [goals.ctypes.data, len(goals), repeats]
        outside = callbacks.Outside(self.march, functions) if functions else None
        if outside:
            extra.append(outside.address)
        self.kernel(rows).run(inputs, [*records, *left], rows, 1 if outside else threads, extra)
        t, found, *numbers = records
        steps, failed, step, *rejected = (a[..., 0] for a in numbers)
        return Trajectories(
            t[..., 0],
            found,
            steps,
            rejected[0] if rejected else np.zeros_like(steps),
            failed,
            step,
            dict(zip(self.march.left, left, strict=True)),
        )

    def _check(
        self,
        x: np.ndarray,
        times: np.ndarray,
        h: np.ndarray,
        p: np.ndarray,
        rtol: float,
        atol: float,
    ) -> None:
        """Shapes and numbers: a kernel stops at inputs that are not finite, and trusts shapes."""
        if x.ndim != 2 or x.shape[1] != self.nx:
            raise ShapeError(
                f"x has shape {x.shape}, expected (N, {self.nx}).", "x", x.shape, (-1, self.nx)
            )
        if (
            p.shape[-1:] != (self.parameters,)
            or p.ndim > 2
            or (p.ndim == 2 and len(p) not in (1, len(x)))
        ):
            raise ShapeError(
                f"p has shape {p.shape}, expected ({self.parameters},) or ({len(x)}, "
                f"{self.parameters}).",
                "p",
                p.shape,
                (len(x), self.parameters),
            )
        if times.ndim != 1 or not len(times) or h.size not in (1, len(x)):
            raise ShapeError(
                f"times and h have shapes {times.shape} and {h.shape}, expected (K,) and () or "
                f"({len(x)},).",
                "times",
                times.shape,
            )
        for name, a in (
            ("x", x),
            ("times", times),
            ("h", h),
            ("p", p),
            ("rtol, atol", np.array([rtol, atol])),
        ):
            if not isfinite(a.sum()) and not np.isfinite(a).all():
                at = np.argwhere(~np.isfinite(a))[0]
                raise ValueError(f"{name}{at.tolist()} is {a[tuple(at)]}: expected finite numbers.")
        fixed = isinstance(self.method, Fixed)
        if not (h != 0 if fixed else h > 0).all() or (
            not fixed and not (rtol >= 0 and atol >= 0 and rtol + atol > 0)
        ):
            raise ValueError(
                f"h={h.ravel()[0]}, rtol={rtol}, atol={atol}: '{self.method.name}' needs a step "
                "that is "
                f"{'not 0' if fixed else 'positive, and tolerances of which one is positive'}."
            )

    def _run_external(
        self,
        x: np.ndarray,
        times: np.ndarray,
        h: np.ndarray,
        p: np.ndarray,
        rtol: float,
        atol: float,
        longest: float,
        told: Callable[[float], object] | None,
    ) -> Trajectories:
        """One trajectory after the other by a library's method."""
        assert isinstance(self.method, External)
        rows, records = len(x), len(times) - 1
        t, found = np.zeros((rows, records)), np.full((rows, records, self.nx), np.nan)
        steps, failed = np.zeros((rows, records)), np.zeros((rows, records))
        p, h = (
            np.broadcast_to(p, (rows, self.parameters)),
            np.broadcast_to(h.reshape(-1, 1), (rows, 1)),
        )
        for row in range(rows):
            f, df = (
                _callable(kernel, p[row], shape, told)
                for kernel, shape in zip(
                    self._called, ((self.nx,), (self.nx, self.nx)), strict=True
                )
            )
            going = self.method.steps(f, times, x[row], h[row, 0], rtol, atol, df, longest=longest)
            for k, (at, y, taken, stopped, _) in enumerate(going):
                until = slice(k, None) if stopped else k
                t[row, until], found[row, until], steps[row, until] = at, y, taken
                failed[row, until] = stopped
        return Trajectories(
            t, found, steps, np.zeros_like(steps), failed, np.broadcast_to(h, t.shape).copy()
        )


def kernel_of(march: March, alone: bool) -> Kernel:
    """The kernel of a march, compiled or from the cache; for one trajectory by itself, or for
    several side by side.
    """
    machine = machine_for().alone if alone else machine_for()
    *_, code = cache.kept(
        (march.text(), repr(machine)),
        lambda: (
            (),
            (),
            object_of_text(llvm_march.assembly(march, machine, callbacks.definitions(march))),
        ),
    )
    return Kernel(code, held=bool(march.calls()))


def _kernel_of(program: Program) -> Kernel:
    """The kernel of a program, compiled or from the cache, which does not stop at numbers that are
    not finite.
    """
    machine = machine_for(checked=False)
    *_, code = cache.kept(
        (program.text(), repr(machine)),
        lambda: ((), (), object_of_text(assembly(program, machine))),
    )
    return Kernel(code)


def _callable(
    kernel: Kernel,
    p: np.ndarray,
    shape: tuple[int, ...],
    told: Callable[[float], object] | None = None,
) -> Callable[[float, np.ndarray], np.ndarray]:
    def called(t: float, x: np.ndarray) -> np.ndarray:
        if told:
            told(t)
        out = np.empty(shape)
        kernel.run(
            [np.array([t], dtype=float), np.ascontiguousarray(x), np.ascontiguousarray(p)], [out], 1
        )
        return out

    return called
