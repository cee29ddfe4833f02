"""A method over x' = f(t, x, p) as machine code: whole trajectories in a call."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from math import isfinite
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np

from dalembert.codegen.program import Program
from dalembert.errors import ShapeError
from dalembert.integrators.fixed_point import HUGE
from dalembert.integrators.method_kinds import External, FixedStep, Method
from dalembert.native import cache, callbacks
from dalembert.native.kernel import Kernel, address_of, machine_for, object_code


class Trajectories(NamedTuple):
    """Records of N trajectories at K times, and what the integrator did up to each."""

    t: np.ndarray  # (N, K): not the time asked for where it could not go on
    x: np.ndarray  # (N, K, nx)
    steps: np.ndarray  # (N, K), accepted ones
    rejected: np.ndarray  # (N, K)
    failed: np.ndarray  # (N, K): a key of integrators.REASONS where it could not go on, else 0
    h: np.ndarray  # (N, K): step to go on with [s]
    # (N, n) each: from which another call goes on to the last bit
    state: dict[str, np.ndarray] | None = None
    # (N, K, ...) each: recorded beside the states by the loop that asks for them
    observables: Mapping[str, np.ndarray] = MappingProxyType({})


def joined(segments: Sequence[Trajectories]) -> Trajectories:
    """Records of segments one after the other, with the state of the last."""
    if len(segments) == 1:
        return segments[0]
    names = [name for name in Trajectories._fields if name not in ("state", "observables")]
    arrays: dict[str, Any] = {
        name: np.concatenate([getattr(s, name) for s in segments], axis=1) for name in names
    }
    observables = {
        name: np.concatenate([s.observables[name] for s in segments], axis=1)
        for name in segments[0].observables
    }
    return Trajectories(**arrays, state=segments[-1].state, observables=observables)


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


class StepControl(NamedTuple):
    """Tolerances and greatest step [s] of an adaptive method, and threads of any."""

    rtol: float = 0.0
    atol: float = 0.0
    threads: int = 1
    longest: float = HUGE


class Propagator:
    """The kernel of a method's program, compiled or from the cache, and its calls; of a library's
    method, f and df/dx compiled.
    """

    def __init__(self, method: Method, propagation: Program | Sequence[Program]):
        self.method = method
        if not isinstance(propagation, Program):
            self._called = [kernel_of(program, False) for program in propagation]
            _, x, p = propagation[0].inputs
            self.nx = x.size
            self.parameters = p.size
            return
        self.program = propagation
        sizes = {register.name: register.size for register in propagation.inputs}
        self.nx = sizes["x"]
        self.parameters = sizes["p"]
        self._calls = bool(self.program.callbacks)
        assert self.program.goals
        self._counts = isinstance(method, FixedStep) and self.program.goals.goal is not None
        self._kernels: dict[bool, Kernel] = {}

    def kernel(self, rows: int) -> Kernel:
        """The kernel for a number of trajectories: a single trajectory has no other lanes, and
        functions outside are called for one.
        """
        alone = rows == 1 or self._calls
        if alone not in self._kernels:
            self._kernels[alone] = kernel_of(self.program, alone)
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
        segment = Segment(x, times, h, p, repeats, end, state, goals)
        return self.propagate(segment, StepControl(rtol, atol, threads, longest), functions, told)

    def propagate(
        self,
        segment: Segment,
        control: StepControl,
        functions: Sequence[callbacks.Function] = (),
        told: Callable[[float], object] | None = None,
    ) -> Trajectories:
        """Trajectories over a segment, as `run` has them."""
        x, times, p = (
            np.ascontiguousarray(a, dtype=np.float64) for a in (segment.x, segment.times, segment.p)
        )
        h = np.asarray(segment.h, dtype=np.float64)
        h = h.reshape(-1, 1) if h.ndim else h.reshape(1)
        segment = segment._replace(x=x, times=times, h=h, p=p)
        self._check_shapes(segment)
        self._check_numbers(segment, control)
        if isinstance(self.method, External):
            return self._run_external(segment, control, told)
        rows = len(x)
        goals = self._goals(segment)
        records = [np.zeros((rows, len(goals), r.size)) for r in self.program.records]
        ends = [np.zeros((rows, r.size)) for r in self.program.outputs]
        extra = [address_of(goals), len(goals), segment.repeats]
        outside = callbacks.Outside(self.program, functions) if functions else None
        if outside:
            extra.append(outside.address)
        threads = 1 if outside else control.threads
        inputs = self._inputs(segment, control)
        self.kernel(rows).run(inputs, [*records, *ends], rows, threads, extra)
        t, states, *numbers = records
        steps, failed, step, *rejected = (a[..., 0] for a in numbers)
        rejections = rejected[0] if rejected else np.zeros(steps.shape)
        state = {r.name: a for r, a in zip(self.program.outputs, ends, strict=True)}
        return Trajectories(t[..., 0], states, steps, rejections, failed, step, state)

    def _goals(self, segment: Segment) -> np.ndarray:
        """Times of the records, or counts of steps to them."""
        if not self._counts:
            return np.ascontiguousarray(segment.times[1:])
        counts = segment.repeats * np.arange(1, len(segment.times))
        return np.array(counts if segment.goals is None else segment.goals, dtype=float)

    def _inputs(self, segment: Segment, control: StepControl) -> list[np.ndarray]:
        """Arrays of the registers that are inputs; 0 in memory of which nothing is given."""
        values = self._values(segment, control)
        inputs = []
        for register in self.program.inputs:
            value = values.get(register.name)
            if value is None:
                value = np.zeros(register.size)
            inputs.append(np.ascontiguousarray(value, np.float64))
        return inputs

    def _values(self, segment: Segment, control: StepControl) -> dict[str, Any]:
        """Values of registers that are inputs."""
        begin = segment.times[:1]
        end = float(segment.times[-1]) if segment.end is None else segment.end
        values = {"t": begin, "start": begin, "x": segment.x, "h": segment.h, "p": segment.p}
        values |= {"rtol": control.rtol, "atol": control.atol, "longest": control.longest}
        values |= {"end": end, "way": 1.0 if end >= begin[0] else -1.0}
        return values | (segment.state or {})

    def _check_shapes(self, segment: Segment) -> None:
        """See that shapes are right, which a kernel trusts."""
        x, times, h, p, *_ = segment
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

    def _check_numbers(self, segment: Segment, control: StepControl) -> None:
        """See that numbers are finite, as a kernel stops at others, and steps make sense."""
        (x, times, h, p, *_), (rtol, atol, *_) = segment, control
        tolerances = () if isfinite(rtol + atol) else (("rtol, atol", np.array([rtol, atol])),)
        for name, a in (("x", x), ("times", times), ("h", h), ("p", p), *tolerances):
            if not isfinite(np.add.reduce(a, axis=None)) and not np.isfinite(a).all():
                entry = np.argwhere(~np.isfinite(a))[0]
                raise ValueError(
                    f"{name}{entry.tolist()} is {a[tuple(entry)]}: expected finite numbers."
                )
        fixed = isinstance(self.method, FixedStep)
        if np.count_nonzero(h if fixed else h > 0) < h.size or (
            not fixed and not (rtol >= 0 and atol >= 0 and rtol + atol > 0)
        ):
            raise ValueError(
                f"h={h.ravel()[0]}, rtol={rtol}, atol={atol}: '{self.method.name}' needs a step "
                "that is "
                f"{'not 0' if fixed else 'positive, and tolerances of which one is positive'}."
            )

    def _run_external(
        self, segment: Segment, control: StepControl, told: Callable[[float], object] | None
    ) -> Trajectories:
        """Run trajectories one after the other by a library's method."""
        assert isinstance(self.method, External)
        x, times, h, p, *_ = segment
        tolerances = control.rtol, control.atol
        rows = len(x)
        shape = rows, len(times) - 1
        t, steps, rejected, failed = np.zeros((4, *shape))
        states = np.full((*shape, self.nx), np.nan)
        p = np.broadcast_to(p, (rows, self.parameters))
        step = np.broadcast_to(h.ravel(), rows)
        h = np.broadcast_to(step[:, None], shape).copy()
        rate, jacobian = self._called
        for row in range(rows):
            f = _callable(rate, p[row], (self.nx,), told)
            df = _callable(jacobian, p[row], (self.nx, self.nx), told)
            records = self.method.steps(
                f,
                times,
                x[row],
                step[row],
                *tolerances,
                df,
                longest=control.longest,
            )
            for k, (time, y, taken, stopped, _) in enumerate(records):
                until = (
                    slice(k, None) if stopped else k
                )  # where it stays, it is at all later records
                t[row, until] = time
                states[row, until] = y
                steps[row, until] = taken
                failed[row, until] = stopped
        return Trajectories(t, states, steps, rejected, failed, h)


def kernel_of(program: Program, alone: bool) -> Kernel:
    """The kernel of a program, compiled or from the cache, which does not stop at numbers that are
    not finite; for one lane by itself, or for several side by side.
    """
    machine = machine_for(checked=False)
    machine = machine.alone if alone else machine
    calls = callbacks.definitions(program)
    *_, code = cache.kept(
        (program.text(), repr(machine)), lambda: ((), (), object_code(program, machine, calls))
    )
    return Kernel(code, held=bool(calls))


def _callable(
    kernel: Kernel,
    p: np.ndarray,
    shape: tuple[int, ...],
    told: Callable[[float], object] | None = None,
) -> Callable[[float, np.ndarray], np.ndarray]:
    def called(t: float, x: np.ndarray) -> np.ndarray:
        """f(t, x) by the kernel."""
        if told:
            told(t)
        out = np.empty(shape)
        kernel.run(
            [np.array([t], dtype=float), np.ascontiguousarray(x), np.ascontiguousarray(p)], [out], 1
        )
        return out

    return called
