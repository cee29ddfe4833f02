"""An integrator and x' = f(t, x, p) as one kernel: whole trajectories in machine code."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from dalembert.codegen.llvm import march as llvm_march
from dalembert.codegen.llvm.straight import assembly
from dalembert.codegen.march import GOAL, Loop, March, Part
from dalembert.codegen.program import Port, Program, program_of
from dalembert.compiled import cache
from dalembert.compiled.calls import vector_of_symbols, without_collection
from dalembert.compiled.kernel import Kernel, machine_for, object_of_text
from dalembert.errors import ShapeError
from dalembert.expr import Graph, jacobian
from dalembert.integrators.choice import chosen
from dalembert.integrators.fixed_point import GOING, HUGE, LOST, MOST, judged
from dalembert.integrators.methods import TOO_SMALL, Adaptive, External, Fixed, Method, controlled_step, fixed_step

Function = Callable[[Any, np.ndarray, np.ndarray], np.ndarray]      # (t, x, p) -> x'
Projection = Callable[[np.ndarray], np.ndarray]


class Trajectories(NamedTuple):
    """Records of N trajectories at K times, and what the integrator did up to each."""

    t: np.ndarray             # (N, K): not the time asked for where it could not go on
    x: np.ndarray             # (N, K, nx)
    steps: np.ndarray         # (N, K), accepted ones
    rejected: np.ndarray      # (N, K)
    failed: np.ndarray | None = None      # (N, K): a key of integrators.REASONS where it could not go on, else 0
    h: np.ndarray | None = None           # (N, K): step to go on with [s]


class _Trace:
    """Registers, programs and parts of a march, while a step is traced: f and `solve` stand for parts of their own."""

    def __init__(self, f: Program, registers: dict[str, int]):
        self.programs, self.registers = [f], {name: vector_of_symbols(name, n) for name, n in registers.items()}
        self.parts: list[Part | Loop] = []
        self._now: list[Any] = self.parts

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
        self._now.append(Part(len(self.programs) - 1, tuple(self.registers), tuple(results)))

    def f(self, t: Any, x: Any) -> np.ndarray:
        self.give({"s": [t], "y": x})
        name, k = self.new("k", len(x))
        self._now.append(Part(0, ("s", "y", "p"), (name,)))
        return k

    def solve(self, g: Callable[[Any], Any], x: Any, ahead: Callable[[Any], Any], stages: int = 1) -> Any:
        """z = g(z) as a loop, which begins where the solution of the step before leads; `settled` says how it ended."""
        name, z = self.new("z", stages * len(x))
        last, (before,) = self.new("before", 1)
        self.give({name: ahead(z), last: [HUGE], "settled": [chosen(self["failed"] > 0, LOST, GOING)]})
        outside, self._now = self._now, []
        new, settled = g(z), self["settled"]
        change, state = judged(z, new, x, before)
        going = settled <= GOING
        self.give({name: chosen(going, new, z), last: [change], "settled": [chosen(going, state, settled)]})
        outside.append(Loop(tuple(self._now), "settled", MOST))
        self._now = outside
        return z


def march_of(f: Function, nx: int, parameters: int, method: Fixed | Adaptive, project: Projection | None = None) -> March:
    """The march of a method over f: its calls of f, and straight-line parts between them.

    project: what becomes of each new state, such as quaternions scaled to unit length.
    """
    common = {"t": 1, "x": nx, "h": 1, "steps": 1, "failed": 1}
    own = {"start": 1, "settled": 1} if isinstance(method, Fixed) else {
        GOAL: 1, "first": nx, "rejected": 1, "done": 1, "rtol": 1, "atol": 1}
    begin: list[Part] = []
    with without_collection():
        program = right_hand_side(f, nx, parameters)
        with Graph():
            trace = _Trace(program, common | own | {"s": 1, "y": nx, "p": parameters})
            if isinstance(method, Fixed):
                _fixed(method, trace, project)
            else:
                trace.f(trace["t"], trace.registers["x"])
                begin = [p for p in trace.parts if isinstance(p, Part)]
                begin[-1] = Part(0, begin[-1].takes, ("first",))
                trace.parts.clear()
                _adaptive(method, trace, project)
    adaptive = isinstance(method, Adaptive)
    read = ("t", "x", "h", "p", *(("rtol", "atol") if adaptive else ("start",)))
    recorded = ("t", "x", "steps", "failed", "h", *(("rejected",) if adaptive else ()))
    ports = tuple(Port(name, (len(x),)) for name, x in trace.registers.items())
    return March(ports, read, tuple(trace.programs), tuple(trace.parts), recorded, "done" if adaptive else "", tuple(begin))


def right_hand_side(f: Function, nx: int, parameters: int) -> Program:
    """f as a program of t, x and p."""
    with Graph():
        t, x, p = vector_of_symbols("t", 1), vector_of_symbols("x", nx), vector_of_symbols("p", parameters)
        return program_of({"t": t, "x": x, "p": p}, {"k": f(t[0], x, p)})


def _fixed(method: Fixed, trace: _Trace, project: Projection | None) -> None:
    x, options = trace.registers["x"], {"solve": trace.solve} if method.implicit else {}
    new = method.step(trace.f, trace["t"], x, trace["h"], **options)
    settled = trace["settled"] if method.implicit else 1.0
    after = fixed_step(x, project(new) if project else new, settled, trace["start"], trace["h"], trace["steps"],
                       trace["failed"])
    trace.give({"t": [after.t], "x": after.x, "steps": [after.steps], "failed": [after.failed]})


def _adaptive(method: Adaptive, trace: _Trace, project: Projection | None) -> None:
    v = trace.registers
    new = controlled_step(method, trace.f, trace["t"], v["x"], trace["h"], v["first"], trace[GOAL], trace["rtol"],
                          trace["atol"], trace["failed"], project)
    trace.give({"t": [new.t], "x": new.x, "first": new.first, "h": [new.h], "done": [new.done], "failed": [new.failed],
                "steps": [trace["steps"] + new.accepted], "rejected": [trace["rejected"] + new.rejected]})


class Marching:
    """The kernel of a march, compiled or from the cache, and its calls; of a library's method, f and df/dx compiled."""

    def __init__(self, f: Function, nx: int, parameters: int, method: Method, project: Projection | None = None):
        self.method, self.nx, self.parameters = method, nx, parameters
        if isinstance(method, External):
            self._called = _kernel_of(right_hand_side(f, nx, parameters)), _kernel_of(
                right_hand_side(lambda t, x, p: jacobian(f(t, x, p), x), nx, parameters))
            return
        self.march = march_of(f, nx, parameters, method, project)
        machine = machine_for()
        *_, code = cache.kept((self.march.text(), repr(machine)), lambda: (
            (), (), object_of_text(llvm_march.assembly(self.march, machine))))
        self.kernel = Kernel(code)

    def run(self, x: np.ndarray, times: np.ndarray, h: Any, p: np.ndarray, repeats: int, rtol: float = 0.0,
            atol: float = 0.0, threads: int = 1) -> Trajectories:
        """Trajectories from x (N, nx) at times[0] to each later time; p (n,) or (N, n).

        h: of fixed methods the step, negative where times decrease; of others the first step, a length; one, or (N,).
        repeats: steps between two records, whatever the times are; of adaptive methods, attempted ones at most.

        Raises
        ------
        ShapeError, ValueError
            An array has the wrong shape; a number is not finite, h is 0 or, of an adaptive method, negative.
        """
        x, times, p = (np.ascontiguousarray(a, dtype=np.float64) for a in (x, times, p))
        h = np.asarray(h, dtype=np.float64)
        h = h.reshape(-1, 1) if h.ndim else h.reshape(1)
        self._check(x, times, h, p, rtol, atol)
        if isinstance(self.method, External):
            return self._run_external(x, times, h, p, rtol, atol)
        rows, goals = len(x), np.ascontiguousarray(times[1:])
        values = {"t": times[:1], "start": times[:1], "x": x, "h": h, "p": p, "rtol": np.array([rtol]),
                  "atol": np.array([atol])}
        inputs = [np.ascontiguousarray(values[name], dtype=np.float64) for name in self.march.read]
        sizes = {r.name: r.size for r in self.march.registers}
        results = [np.zeros((rows, len(goals), sizes[name])) for name in self.march.recorded]
        self.kernel.run(inputs, results, rows, threads, extra=(goals.ctypes.data, len(goals), repeats))
        found = dict(zip(self.march.recorded, results, strict=True))
        t, steps, failed, step = (found[name][..., 0] for name in ("t", "steps", "failed", "h"))
        rejected = found["rejected"][..., 0] if "rejected" in found else np.zeros_like(steps)
        return Trajectories(t, found["x"], steps, rejected, failed, step)

    def _check(self, x: np.ndarray, times: np.ndarray, h: np.ndarray, p: np.ndarray, rtol: float, atol: float) -> None:
        """Shapes and numbers: a kernel stops at inputs that are not finite, and trusts shapes."""
        if x.ndim != 2 or x.shape[1] != self.nx:
            raise ShapeError(f"x has shape {x.shape}, expected (N, {self.nx}).", "x", x.shape, (-1, self.nx))
        if p.shape[-1:] != (self.parameters,) or p.ndim > 2 or (p.ndim == 2 and len(p) not in (1, len(x))):
            raise ShapeError(f"p has shape {p.shape}, expected ({self.parameters},) or ({len(x)}, {self.parameters}).", "p",
                             p.shape, (len(x), self.parameters))
        if times.ndim != 1 or not len(times) or h.size not in (1, len(x)):
            raise ShapeError(f"times and h have shapes {times.shape} and {h.shape}, expected (K,) and () or ({len(x)},).",
                             "times", times.shape)
        for name, a in (("x", x), ("times", times), ("h", h), ("p", p), ("rtol, atol", np.array([rtol, atol]))):
            if not np.isfinite(a).all():
                at = np.argwhere(~np.isfinite(a))[0]
                raise ValueError(f"{name}{at.tolist()} is {a[tuple(at)]}: expected finite numbers.")
        fixed = isinstance(self.method, Fixed)
        if not (h != 0 if fixed else h > 0).all() or (not fixed and not (rtol >= 0 and atol >= 0 and rtol + atol > 0)):
            raise ValueError(f"h={h.ravel()[0]}, rtol={rtol}, atol={atol}: '{self.method.name}' needs a step that is "
                             f"{'not 0' if fixed else 'positive, and tolerances of which one is positive'}.")

    def _run_external(self, x: np.ndarray, times: np.ndarray, h: np.ndarray, p: np.ndarray, rtol: float,
                      atol: float) -> Trajectories:
        """One trajectory after the other by a library's method."""
        assert isinstance(self.method, External)
        rows, records = len(x), len(times) - 1
        t, found = np.zeros((rows, records)), np.full((rows, records, self.nx), np.nan)
        steps, failed = np.zeros((rows, records)), np.zeros((rows, records))
        p, h = np.broadcast_to(p, (rows, self.parameters)), np.broadcast_to(h.reshape(-1, 1), (rows, 1))
        for row in range(rows):
            f, df = (_callable(kernel, p[row], shape) for kernel, shape in zip(
                self._called, ((self.nx,), (self.nx, self.nx)), strict=True))
            going = self.method.steps(f, times, x[row], h[row, 0], rtol, atol, df)
            for k, (at, y, taken, stopped) in enumerate(going):
                until = slice(k, None) if stopped else k
                t[row, until], found[row, until], steps[row, until] = at, y, taken
                failed[row, until] = TOO_SMALL if stopped else 0.0
        return Trajectories(t, found, steps, np.zeros_like(steps), failed, np.broadcast_to(h, t.shape).copy())


def _kernel_of(program: Program) -> Kernel:
    """The kernel of a program, compiled or from the cache, which does not stop at numbers that are not finite."""
    machine = machine_for(checked=False)
    *_, code = cache.kept((program.text(), repr(machine)), lambda: ((), (), object_of_text(assembly(program, machine))))
    return Kernel(code)


def _callable(kernel: Kernel, p: np.ndarray, shape: tuple[int, ...]) -> Callable[[float, np.ndarray], np.ndarray]:
    def called(t: float, x: np.ndarray) -> np.ndarray:
        out = np.empty(shape)
        kernel.run([np.array([t], dtype=float), np.ascontiguousarray(x), np.ascontiguousarray(p)], [out], 1)
        return out

    return called
