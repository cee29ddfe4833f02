"""Trajectories under a sampled controller: from sample to sample, and to where a held force
changes.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from dalembert.codegen.symbols import without_collection
from dalembert.controllers.sampled import LAW, Sampled
from dalembert.expr import Graph
from dalembert.integrators import External, FixedStep
from dalembert.integrators.choice import chosen
from dalembert.integrators.methods import fixed_step, stepped
from dalembert.native.propagator import State, Trajectories
from dalembert.native.routine import Routine
from dalembert.simulation.event_handler import ENDED
from dalembert.simulation.event_loop import EventLoop
from dalembert.simulation.hold import SAME, SampleHold, Timing
from dalembert.simulation.sampled_law import Law
from dalembert.tracing.integration import Steps, rate_of

MOST = 10**9  # steps in a call of a routine
BEGUN = {"p", "known", "start"}  # in a state from which a loop goes on


class Stretch(NamedTuple):
    """A way without a jump of the force, to some times one after the other."""

    times: np.ndarray  # (m + 1,), the first is where it begins [s]
    records: np.ndarray  # (m,): which record is due at each later time, -1 if none
    end: float  # next moment at which the force may jump, or the run ends [s]
    moment: bool  # whether that is the last of the times


class SampledLoop:
    """Moves trajectories as `EventLoop` does, and calls the law at samples.

    Work in x begins at 0 at each moment at which the force may jump, as it does in a run begun anew
    there, so that the errors of adaptive methods are the same; `worked` is that of the time before.

    Attributes
    ----------
    initial : observables at the start, by name (N, ...)
    """

    def __init__(self, loop: EventLoop, sampled: Sampled, law: Law, h: float):
        """h: the longest step of a method of fixed step, however records lie; of others the first
        [s].
        """
        self.loop = loop
        self.motion = loop.motion
        self.law = law
        self.method = loop.method
        self.timing = Timing(sampled)
        self.step = h
        self.fixed = isinstance(loop.method, FixedStep)
        # its steps, in each stretch
        self.counts_anew = self.fixed or isinstance(self.method, External)
        explicit = isinstance(self.method, FixedStep) and not self.method.implicit
        self.quick = explicit and self.motion.traced and not self.motion.is_watched
        self.initial: dict[str, np.ndarray] = {}

    def advance(
        self, x: np.ndarray, times: np.ndarray, state: State | None = None, end: float | None = None
    ) -> Trajectories:
        """As `EventLoop.advance`; the forces held are recorded, too."""
        n = len(x)
        k = len(times) - 1
        nv = self.motion.system.nv
        if state is None:
            self._begin(x, float(times[0]))
        else:
            self._now = {name: np.array(values) for name, values in state.items()}
            self._hold = SampleHold.of(state)
            self.loop.constants = self._constants()
        self.initial = self.initial or {"held_forces": self._hold.held.copy()}
        t, steps, rejected, failed, h = np.zeros((5, n, k))
        observables = {"held_forces": np.zeros((n, k, nv))}
        if self.motion.is_watched:
            observables["modes"] = np.zeros((n, k, nv), dtype=np.int8)
        states = np.full((n, k, x.shape[1]), np.nan)
        found = Trajectories(t, states, steps, rejected, failed, h, observables=observables)
        if self.quick:
            self._go_quickly(times, found)
        else:
            for stretch in self._stretches(times, float(times[-1]) if end is None else end):
                self._go(stretch, found)
                if stretch.moment:
                    self._jump(float(stretch.times[-1]))
                    if (last := stretch.records[-1]) >= 0:
                        observables["held_forces"][:, last] = self._hold.held
        return found._replace(state=self._now | self._hold.state)

    def _begin(self, x: np.ndarray, t: float) -> None:
        """Begin with states x (N, nx), and with the first sample."""
        n = len(x)
        self._now = {"x": np.array(x), "t": np.full((n, 1), t), "h": np.full((n, 1), self.step)}
        for name in ("steps", "rejected", "failed", "worked"):
            self._now[name] = np.zeros((n, 1))
        self._hold = SampleHold.begun(self.law.start, n, self.motion.system.nv, self.timing.slots)
        self.loop.constants = self._constants()
        self._jump(t)

    def _constants(self) -> np.ndarray:
        """Parameters of the motion (N, n) with the forces held in front."""
        given = self.motion.constants
        held = self._hold.held
        constants = np.array(np.broadcast_to(given, (len(held), given.shape[-1])))
        constants[:, : held.shape[1]] = held
        return constants

    # --- moments at which the force may jump ---

    def _jump(self, t: float) -> None:
        """Do the things due at a moment: a sample, then outputs that take effect."""
        hold = self._hold
        timing = self.timing
        alive = self._now["failed"][:, 0] == 0
        near = SAME * max(abs(t), timing.period)
        k = hold.count("samples")
        effects = hold.count("effects")
        waiting = hold.waiting.reshape(len(alive), timing.slots, -1)  # a view
        if abs(k * timing.period - t) <= near:
            waiting[:, k % timing.slots] = self._sample(k)
            alive = self._now["failed"][:, 0] == 0
            k += 1
        while effects < k and (effects + timing.late) * timing.period <= t + near:
            hold.held[alive] = waiting[alive, effects % timing.slots]
            effects += 1
        hold.samples[:] = k
        hold.effects[:] = effects
        work = self._work_of(self._now["x"])
        self._now["worked"][alive] += work[alive]
        work[alive] = 0.0
        self._force_jumped()

    def _sample(self, k: int) -> np.ndarray:
        """tau (N, nv) of a sample; memories move on. Trajectories that have ended keep both."""
        now = self._now
        motion = self.motion
        hold = self._hold
        alive = np.flatnonzero(now["failed"][:, 0] == 0)
        t = motion.begin + k * self.timing.period
        x = now["x"][alive]
        p = self.loop.constants[alive]
        tau, memory = self.law(k, t, x, p, hold.memory[alive])
        finite = np.isfinite(tau).all(axis=1) & np.isfinite(memory).all(axis=1)
        if not finite.all():
            for row in np.flatnonzero(~finite):
                q, qd = self.law.states_of(t, x[row][None])
                self._lost(int(alive[row]), k, t, q[0], qd[0], tau[row], memory[row])
            tau = np.nan_to_num(tau)
            memory = np.nan_to_num(memory)
        every = np.zeros_like(hold.held)
        every[alive] = tau
        hold.memory[alive] = memory
        return every

    def _lost(self, lane: int, k: int, t: float, q: Any, qd: Any, tau: Any, memory: Any) -> None:
        """End a trajectory whose law gave something that is no finite number."""
        what = (
            f"tau = {tau.tolist()}"
            if not np.isfinite(tau).all()
            else f"the memory {memory.tolist()}"
        )
        text = f"{LAW} gave {what} at sample {k}, t = {t:.9g} s, with q = {q.tolist()}, qd = {qd.tolist()}"
        if k == 0:
            raise ValueError(f"{text}: expected finite numbers.")
        self.loop.reasons[lane] = text
        self._now["failed"][lane] = ENDED

    def _work_of(self, x: np.ndarray) -> np.ndarray:
        """The entry of x (..., nx) that is the work, (..., 1), a view."""
        return self.motion.state.part(x, "work")

    def _force_jumped(self) -> None:
        """Follow a jump of the force: parameters, rates, and joints that rest."""
        now = self._now
        held = self._hold.held
        self.loop.constants[:, : held.shape[1]] = held
        if self.quick:
            return
        if "p" in now:
            now["p"][:, : held.shape[1]] = held
        for name in self.method.memory.keys() & now.keys():
            now[name][:] = 0.0
        if not self.fixed:  # a force that jumped says nothing about the next step
            now["h"][:] = self.step
        self._now = self.loop.jumped(now)

    # --- from moment to moment ---

    def _go_quickly(self, times: np.ndarray, found: Trajectories) -> None:
        """All records of a method of fixed step in machine code, a routine call for each way
        between two moments.
        """
        moments = self.timing.moments_at(self._hold, times)
        points = np.union1d(times, moments[moments <= times[-1]])
        record = np.searchsorted(times, points) - 1
        is_moment = np.isin(points, moments)
        record[~np.isin(points, times)] = -1
        counts = np.maximum(1, np.ceil(np.diff(points) / self.step * (1 - 1e-9)))
        routine = self._propagation
        for k, count in enumerate(counts, 1):
            now = self._now
            start = points[k - 1]
            h = (points[k] - start) / count
            t, x, steps, failed = routine(
                now["t"],
                now["x"],
                np.array([[start]]),
                np.array([[h]]),
                np.array([[count]]),
                now["failed"],
                self.loop.constants,
            )
            now["t"] = t
            now["x"] = x
            now["failed"] = failed
            now["steps"] = now["steps"] + steps
            if is_moment[k]:
                self._jump(float(points[k]))
            if (due := record[k]) >= 0:
                for name in ("t", "steps", "failed"):
                    getattr(found, name)[:, due] = now[name][:, 0]
                found.x[:, due] = now["x"]
                found.h[:, due] = h
                found.observables["held_forces"][:, due] = self._hold.held
                self._work_of(found.x)[:, due] += now["worked"]

    @cached_property
    def _propagation(self) -> Routine:
        return self.motion.code.kept(f"propagation by {self.method.name}", self._propagation_of)  # type: ignore[no-any-return]

    def _propagation_of(self) -> Routine:
        """Steps of length h from (start, x), `count` of them."""
        motion = self.motion
        method = self.method
        nx = motion.nx
        parameters = motion.constants.shape[-1]
        assert isinstance(method, FixedStep)
        with without_collection():
            with Graph():
                rate = rate_of(motion.right_hand_side, nx, parameters, ())
            with Graph():
                sizes = dict.fromkeys(("t", "start", "h", "count", "steps", "failed", "done"), 1)
                trace = Steps(rate, sizes | {"x": nx, "p": parameters})
                v = trace.registers

                def over(failed: Any, steps: Any) -> Any:
                    """1 where a lane failed or has its steps."""
                    return chosen(failed > 0, 1.0, chosen(steps >= trace["count"], 1.0, 0.0))

                trace.give(
                    {
                        "t": [chosen(trace["failed"] > 0, trace["t"], trace["start"])],
                        "done": [over(trace["failed"], trace["steps"])],
                    }
                )
                with trace.loop("done", MOST):
                    manifold = motion.manifold and motion.manifold.bound(v["p"])
                    end = trace["t"] + trace["h"]
                    new = stepped(
                        method, trace.f, trace["t"], v["x"], trace["h"], end, None, manifold
                    )
                    after = fixed_step(
                        v["x"], new, 1.0, trace["start"], trace["h"], trace["steps"], trace["done"]
                    )
                    failed = chosen(trace["done"] > 0, trace["failed"], after.failed)
                    trace.give(
                        {
                            "t": [chosen(trace["done"] > 0, trace["t"], after.t)],
                            "x": after.x,
                            "steps": [after.steps],
                            "failed": [failed],
                            "done": [over(failed, after.steps)],
                        }
                    )
        read = ("t", "x", "start", "h", "count", "failed", "p")
        return Routine(trace.program(read, ("t", "x", "steps", "failed")))

    def _stretches(self, times: np.ndarray, end: float) -> Iterator[Stretch]:
        """The ways to the records at times[1:], each without a jump inside; of methods of fixed
        step, of equal steps.
        """
        moments = self.timing.moments_at(self._hold, times)
        begin = float(times[0])
        next_record = 1
        for moment in moments:
            last = int(np.searchsorted(times, moment, side="right"))
            records = np.arange(next_record, last)
            inside = times[records]
            ends_there = moment <= times[-1]
            between = int(ends_there and times[last - 1] != moment)  # no record is due there
            points = np.array([begin, *inside, *[moment] * between])
            which = np.concatenate([records - 1, np.full(between, -1)])
            if len(which):
                yield from self._equal(
                    Stretch(points, which, min(float(moment), end), bool(ends_there))
                )
            if not ends_there:
                return
            begin = float(moment)
            next_record = last

    def _equal(self, stretch: Stretch) -> Iterator[Stretch]:
        """Parts of a stretch in which all times are equally far apart, if the method has a fixed
        step.
        """
        if not self.fixed:
            yield stretch
            return
        lengths = np.diff(stretch.times)
        other = np.abs(np.diff(lengths)) > 1e-9 * lengths[1:]
        ends = [0, *(np.flatnonzero(other) + 1), len(lengths)]
        for first, last in zip(ends, ends[1:], strict=False):
            yield Stretch(
                stretch.times[first : last + 1],
                stretch.records[first:last],
                stretch.end,
                stretch.moment and last == len(lengths),
            )

    def _go(self, stretch: Stretch, found: Trajectories) -> None:
        """Move all trajectories to the end of a stretch, and note its records."""
        now = self._now
        due = stretch.records >= 0
        before = now["steps"] if self.counts_anew else 0.0 * now["steps"]
        part = self._fixed_part(stretch.times) if self.fixed else self._free_part(stretch)
        part = part._replace(steps=part.steps + before)
        for name in ("t", "x", "steps", "rejected", "failed", "h"):
            getattr(found, name)[:, stretch.records[due]] = getattr(part, name)[:, due]
        for name, values in part.observables.items():
            found.observables[name][:, stretch.records[due]] = values[:, due]
        self._work_of(found.x)[:, stretch.records[due]] += now["worked"][:, None]
        found.observables["held_forces"][:, stretch.records[due]] = self._hold.held[:, None]
        self._now = now | {name: v for name, v in (part.state or {}).items()}
        if self.counts_anew or stretch.moment:
            names = ("t", "x", "steps", "rejected", "h", *(() if part.state else ("failed",)))
            self._now |= {
                name: np.array(getattr(part, name)[:, -1]).reshape(len(now["x"]), -1)
                for name in names
            }

    def _fixed_part(self, times: np.ndarray) -> Trajectories:
        """Equal steps to times at equal distances."""
        now = self._now
        loop = self.loop
        length = float(times[-1] - times[0]) / (len(times) - 1)
        loop.repeats = max(1, int(np.ceil(length / self.step * (1 - 1e-9))))
        loop.h = length / loop.repeats
        start = np.full_like(now["t"], times[0])
        zero = np.zeros_like(now["t"])
        state = now | {
            "start": start,
            "t": np.where(now["failed"] > 0, now["t"], start),
            "steps": zero,
            "made": zero.copy(),
            "h": np.full_like(start, loop.h),
        }
        return self._advanced(times, state, None)

    def _advanced(self, times: np.ndarray, state: State, end: float | None) -> Trajectories:
        """Records of the loop, which begins with states and goes on with all that it left."""
        if self._now.keys() & BEGUN:
            return self.loop.advance(np.zeros_like(state["x"]), times, state, end)
        return self.loop.advance(state["x"], times, None, end)

    def _free_part(self, stretch: Stretch) -> Trajectories:
        """Steps as a method chooses them."""
        now = self._now
        loop = self.loop
        alive = np.flatnonzero(now["failed"][:, 0] == 0)
        if not self.counts_anew:
            return self._advanced(stretch.times, now, stretch.end)
        if now.keys() & BEGUN or len(alive) == len(now["x"]):
            return self._advanced(stretch.times, now | {"steps": 0.0 * now["steps"]}, stretch.end)
        n = len(now["x"])
        m = len(stretch.records)
        found: dict[str, Any] = {
            name: np.repeat(now[name], m, axis=1) for name in ("t", "rejected", "failed", "h")
        }
        found |= {"x": np.repeat(now["x"][:, None], m, axis=1), "steps": np.zeros((n, m))}
        if len(alive):
            loop.constants = self._constants()[alive]
            part = loop.advance(now["x"][alive], stretch.times, None, stretch.end)
            for name, values in found.items():
                values[alive] = getattr(part, name)
        return Trajectories(**found)
