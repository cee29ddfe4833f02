"""Trajectories under a sampled controller: from sample to sample, and to where a held force
changes.
"""

from __future__ import annotations

import weakref
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
from dalembert.native.propagator import Trajectories
from dalembert.native.routine import Routine
from dalembert.purity.examine import Guard, TriedStates, examine, remembering
from dalembert.purity.reachable import Memory
from dalembert.simulation.event_handler import ENDED
from dalembert.simulation.event_loop import EventLoop
from dalembert.simulation.first_order_system import FirstOrderSystem
from dalembert.simulation.segment import State
from dalembert.simulation.trial_states import trial_states
from dalembert.tracing.integration import Steps, rate_of
from dalembert.tracing.trace import Trace

SAME = 1e-12  # of a time: two moments that are closer are one
MOST = 10**9  # steps in a call of a routine
BEGUN = {"p", "known", "start"}  # in a state from which a loop goes on


_laws: weakref.WeakKeyDictionary[Sampled, tuple[Any, Any, Memory, Routine]] = (
    weakref.WeakKeyDictionary()
)


class Law:
    """The law of a sampled controller over rows: compiled, or called for one trajectory after the
    other.

    Raises
    ------
    RememberingError, TypeError, ShapeError
        It remembers something besides its memory; it returns something else.
    """

    def __init__(self, sampled: Sampled, motion: FirstOrderSystem):
        system, self.sampled, self.nv = motion.system, sampled, motion.system.nv
        start = sampled.layout.flat(sampled.memory).astype(float)

        def made() -> list[tuple[Any, ...]]:
            """Instants, states and memories at which the law is tried."""
            return [
                (
                    k,
                    motion.begin + k * sampled.period,
                    q,
                    qd,
                    start + (k > 0) * 0.1 * np.cos(np.arange(len(start)) + k),
                )
                for k, (_, q, qd) in enumerate(trial_states(system, sampled.law))
            ]

        states = TriedStates(((), (), (system.nq,), (system.nv,), start.shape), made)
        found = examine(
            sampled.flat_law, LAW, states, trace=getattr(sampled.law, "traced", True) is not False
        )
        if found.verdict.remembers:
            raise remembering(
                LAW,
                found.verdict.remembers,
                " It has one already: what is to be remembered is returned as "
                "its memory, `return tau, memory`, and given to the next call.",
            )
        if all(r is None for r in found.results):
            sampled.flat_law(*states.listed[0])  # raises what is wrong with it
        self.traced, self.start = found.traced, start
        self.guard = Guard(sampled.flat_law, LAW, found.verdict.memory)
        self.motion = motion
        self._compiled = self._kept(found.verdict.memory) if found.traced else None

    def _kept(self, memory: Memory) -> Routine:
        """The compiled law, kept while neither it nor the equations are others."""
        form, constants = self.motion.formulation, self.motion.constants.shape[-1]
        key = (id(self.motion.mechanism), form.name, form.paths, constants)
        known = _laws.get(self.sampled)
        if (
            known
            and known[0] == key
            and known[1]() is self.motion.mechanism
            and not known[2].changes()
        ):
            return known[3]
        routine = self._routine(self.motion)
        _laws[self.sampled] = key, weakref.ref(self.motion.mechanism), memory, routine
        return routine

    def _routine(self, motion: FirstOrderSystem) -> Routine:
        """tau and memory of states x, compiled; without a memory it is no input."""
        size, nv = len(self.start), self.nv
        memory = {"memory": size} if size else {}
        inputs = {"k": 1, "t": 1, "x": motion.nx, "p": motion.constants.shape[-1], **memory}
        outputs = {"tau": nv, **({"later": size} if size else {})}
        with Graph():
            trace = Trace(inputs | outputs)
            v, (q, y, *_) = trace.registers, motion.split(trace.registers["x"])
            qd = motion.at(v["p"]).velocities(trace["t"], q, y)
            found = self.sampled.flat_law(
                trace["k"], trace["t"], q.copy(), qd.copy(), v.get("memory", np.zeros(0))
            )
            trace.give({"tau": found[:nv], **({"later": found[nv:]} if size else {})})
        return Routine(trace.program(tuple(inputs), tuple(outputs)))

    def __call__(
        self, k: int, t: float, x: np.ndarray, p: np.ndarray, memory: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """tau (N, nv) and memory (N, m) of sample k at the caller's time t, in states x (N, nx)
        with parameters p.
        """
        if self._compiled is not None:
            given = [memory] if memory.shape[1] else []
            tau, *later = self._compiled(
                np.full((len(x), 1), float(k)), np.full((len(x), 1), t), x, p, *given
            )
            return tau, later[0] if later else memory
        q, qd = self.states_of(t, x)
        rows = zip(q.copy(), qd.copy(), memory.copy(), strict=True)
        found = np.array([self.sampled.flat_law(k, t, *row) for row in rows], dtype=float)
        return found[:, : self.nv], found[:, self.nv :]

    def check_memory(self, times: np.ndarray, q: np.ndarray, qd: np.ndarray) -> None:
        """See that nothing changed on which the law depends at states of the run, (K,), (K, n)
        each.

        Raises
        ------
        RememberingError
        """
        rows = [
            (int((t - times[0]) / self.sampled.period), float(t), *row, self.start)
            for t, *row in zip(times, q, qd, strict=True)
            if np.isfinite(np.hstack(row)).all()
        ]
        if rows:
            self.guard.check(rows)

    def states_of(self, t: float, x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """q and qd of states x (N, nx)."""
        q, y, *_ = self.motion.split(x)
        numbers = (
            self.motion.numbers
            if len(x) == 1 or self.motion.numbers.ndim == 1
            else self.motion.numbers[: len(x)]
        )
        return q, self.motion.formulation.recorded(np.array([t]), q[:, None], y[:, None], numbers)[
            :, 0
        ]


class Stretch(NamedTuple):
    """A way without a jump of the force, to some times one after the other."""

    times: np.ndarray  # (m + 1,), the first is where it begins [s]
    records: np.ndarray  # (m,): which record is due at each later time, -1 if none
    end: float  # next moment at which the force may jump, or the run ends [s]
    moment: bool  # whether that is the last of the times


class SampledLoop:
    """Moves trajectories as `EventLoop` does, and calls the law at samples.

    The state, of arrays (N, n), is that of the loop, and of the controller `memory`, `held`
    forces, outputs `waiting` for the end of their delay, and how many `samples` and `effects` there
    were. Work in x begins at 0 at each moment, as it does in a run begun anew there, so that the
    errors of adaptive methods are the same; `worked` is that of the time before.

    Attributes
    ----------
    initial : forces held from the beginning on (N, nv)
    """

    def __init__(self, loop: EventLoop, sampled: Sampled, law: Law, h: float):
        """h: the longest step of a method of fixed step, however records lie; of others the first
        [s].
        """
        self.loop, self.motion, self.sampled, self.law = loop, loop.motion, sampled, law
        method = loop.method
        self.step, self.fixed = h, isinstance(method, FixedStep)
        self.counts_anew = self.fixed or isinstance(method, External)  # its steps, in each stretch
        self.method = method
        explicit = isinstance(method, FixedStep) and not method.implicit
        self.quick = explicit and self.motion.traced and not self.motion.is_watched
        late = sampled.delay / sampled.period
        self.late = (
            round(late) if abs(late - round(late)) < SAME * max(1.0, late) else late
        )  # in periods
        self.slots = int(np.ceil(self.late)) + 1  # of outputs that wait
        self.initial: dict[str, np.ndarray] = {}

    def advance(
        self, x: np.ndarray, times: np.ndarray, state: State | None = None, end: float | None = None
    ) -> Trajectories:
        """As `EventLoop.advance`; the forces held are recorded, too."""
        n, k, nv = len(x), len(times) - 1, self.motion.system.nv
        self._now = {} if state is None else {key: np.array(v) for key, v in state.items()}
        if state is None:
            self._begin(x, float(times[0]))
        else:
            self.loop.constants = self._constants()
            self.initial = self.initial or {"held_forces": self._now["held"].copy()}
        fields: dict[str, Any] = {
            name: np.zeros((n, k)) for name in ("t", "steps", "rejected", "failed", "h")
        }
        found = Trajectories(
            **fields,
            x=np.full((n, k, x.shape[1]), np.nan),
            observables={"held_forces": np.zeros((n, k, nv))}
            | ({"modes": np.zeros((n, k, nv), dtype=np.int8)} if self.motion.is_watched else {}),
        )
        if self.quick:
            self._go_quickly(times, found)
            return found._replace(state=self._now)
        for stretch in self._stretches(times, float(times[-1]) if end is None else end):
            self._go(stretch, found)
            if stretch.moment:
                self._jump(float(stretch.times[-1]))
                if (last := stretch.records[-1]) >= 0:
                    found.observables["held_forces"][:, last] = self._now["held"]
        return found._replace(state=self._now)

    def _begin(self, x: np.ndarray, t: float) -> None:
        """The state of trajectories that begin, after the first sample."""
        n, nv = len(x), self.motion.system.nv
        self._now = {
            "x": np.array(x),
            "t": np.full((n, 1), t),
            "h": np.full((n, 1), self.step),
            **{
                name: np.zeros((n, 1))
                for name in ("steps", "rejected", "failed", "samples", "effects", "worked")
            },
            "memory": np.tile(self.law.start, (n, 1)),
            "held": np.zeros((n, nv)),
            "waiting": np.zeros((n, self.slots * nv)),
        }
        self.loop.constants = self._constants()
        self._jump(t)
        self.initial = {"held_forces": self._now["held"].copy()}

    # --- moments at which the force may jump ---

    def _moments(self, begin: float, until: float) -> np.ndarray:
        """Times of samples, and of outputs that take effect, behind `begin` and up to one behind
        `until` [s].
        """
        period, now = self.sampled.period, self._now
        counts = {name: int(now[name][0, 0]) for name in ("samples", "effects")}
        last = int(until / period) + 2
        samples = np.arange(counts["samples"], last) * period
        effects = (
            np.arange(counts["effects"], max(last, counts["effects"] + 1)) + self.late
        ) * period
        found = np.unique(np.concatenate([samples, effects]))
        apart = np.diff(found, prepend=-np.inf) > SAME * np.maximum(found, period)
        return found[apart & (found > begin + SAME * max(begin, period))]

    def _jump(self, t: float) -> None:
        """Do the things due at a moment: a sample, then outputs that take effect."""
        now, period, nv = self._now, self.sampled.period, self.motion.system.nv
        near = SAME * max(abs(t), period)
        k, effects = int(now["samples"][0, 0]), int(now["effects"][0, 0])
        waiting = now["waiting"].reshape(len(now["x"]), self.slots, nv)  # a view
        if abs(k * period - t) <= near:
            waiting[:, k % self.slots] = self._sample(k)
            k += 1
        alive = now["failed"][:, 0] == 0
        while effects < k and (effects + self.late) * period <= t + near:
            now["held"][alive] = waiting[alive, effects % self.slots]
            effects += 1
        now["samples"][:], now["effects"][:] = k, effects
        work = self._work_of(now["x"])
        now["worked"][alive] += work[alive]
        work[alive] = 0.0
        self._force_jumped()

    def _sample(self, k: int) -> np.ndarray:
        """tau (N, nv) of a sample; memories move on. Trajectories that have ended keep both."""
        now, motion = self._now, self.motion
        alive = np.flatnonzero(now["failed"][:, 0] == 0)
        t = motion.begin + k * self.sampled.period
        tau, memory = self.law(
            k, t, now["x"][alive], self.loop.constants[alive], now["memory"][alive]
        )
        if not (np.isfinite(tau).all() and np.isfinite(memory).all()):
            for row in np.flatnonzero(
                ~(np.isfinite(tau).all(axis=1) & np.isfinite(memory).all(axis=1))
            ):
                q, qd = self.law.states_of(t, now["x"][alive[row]][None])
                self._lost(int(alive[row]), k, t, q[0], qd[0], tau[row], memory[row])
            tau, memory = np.nan_to_num(tau), np.nan_to_num(memory)
        every = np.zeros_like(now["held"])
        every[alive], now["memory"][alive] = tau, memory
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
        place = self.motion.mechanism.nq + self.motion.mechanism.nv
        return x[..., place : place + 1]

    def _constants(self) -> np.ndarray:
        """Parameters of the motion (N, n) with the forces held in front."""
        given = self.motion.constants
        constants = np.array(np.broadcast_to(given, (len(self._now["x"]), given.shape[-1])))
        constants[:, : self.motion.system.nv] = self._now["held"]
        return constants

    def _force_jumped(self) -> None:
        """Follow a jump of the force: parameters, rates, and joints that rest."""
        now = self._now
        self.loop.constants[:, : self.motion.system.nv] = now["held"]
        if self.quick:
            return
        if "p" in now:
            now["p"][:, : self.motion.system.nv] = now["held"]
        for name in self.method.memory.keys() & now.keys():
            now[name][:] = 0.0
        if not self.fixed:  # a force that jumped says nothing about the next step
            now["h"][:] = self.step
        self._now = self.loop.jumped(now)

    # --- from moment to moment ---

    def _moments_at(self, times: np.ndarray) -> np.ndarray:
        """Moments up to the first behind the records; a moment at a record has the record's time."""
        moments = self._moments(float(times[0]), float(times[-1]))
        at = np.minimum(np.searchsorted(times, moments * (1 - SAME)), len(times) - 1)
        near = np.abs(times[at] - moments) <= SAME * np.maximum(moments, self.sampled.period)
        return np.where(near, times[at], moments)

    def _go_quickly(self, times: np.ndarray, found: Trajectories) -> None:
        """All records of a method of fixed step in machine code, a routine call for each way
        between two moments.
        """
        moments = self._moments_at(times)
        points = np.union1d(times, moments[moments <= times[-1]])
        record, is_moment = np.searchsorted(times, points) - 1, np.isin(points, moments)
        record[~np.isin(points, times)] = -1
        counts = np.maximum(1, np.ceil(np.diff(points) / self.step * (1 - 1e-9)))
        routine = self._propagation
        for k, count in enumerate(counts, 1):
            now, start = self._now, points[k - 1]
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
            now["t"], now["x"], now["failed"] = t, x, failed
            now["steps"] = now["steps"] + steps
            if is_moment[k]:
                self._jump(float(points[k]))
            if (due := record[k]) >= 0:
                for name in ("t", "steps", "failed"):
                    getattr(found, name)[:, due] = now[name][:, 0]
                found.x[:, due], found.h[:, due] = now["x"], h
                found.observables["held_forces"][:, due] = now["held"]
                self._work_of(found.x)[:, due] += now["worked"]

    @cached_property
    def _propagation(self) -> Routine:
        return self.motion.kept(f"propagation by {self.method.name}", self._propagation_of)  # type: ignore[no-any-return]

    def _propagation_of(self) -> Routine:
        """Steps of length h from (start, x), `count` of them."""
        motion, method = self.motion, self.method
        nx, parameters = motion.nx, motion.constants.shape[-1]
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
        moments = self._moments_at(times)
        begin, next_record = float(times[0]), 1
        for moment in moments:
            last = int(np.searchsorted(times, moment, side="right"))
            records = np.arange(next_record, last)
            inside, ends_there = times[records], moment <= times[-1]
            between = int(ends_there and times[last - 1] != moment)  # no record is due there
            points = np.array([begin, *inside, *[moment] * between])
            which = np.concatenate([records - 1, np.full(between, -1)])
            if len(which):
                yield from self._equal(
                    Stretch(points, which, min(float(moment), end), bool(ends_there))
                )
            if not ends_there:
                return
            begin, next_record = float(moment), last

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
        now, due = self._now, stretch.records >= 0
        before = now["steps"] if self.counts_anew else 0.0 * now["steps"]
        part = self._fixed_part(stretch.times) if self.fixed else self._free_part(stretch)
        part = part._replace(steps=part.steps + before)
        for name in ("t", "x", "steps", "rejected", "failed", "h"):
            getattr(found, name)[:, stretch.records[due]] = getattr(part, name)[:, due]
        for name, values in part.observables.items():
            found.observables[name][:, stretch.records[due]] = values[:, due]
        self._work_of(found.x)[:, stretch.records[due]] += now["worked"][:, None]
        found.observables["held_forces"][:, stretch.records[due]] = now["held"][:, None]
        self._now = now | {name: v for name, v in (part.state or {}).items()}
        if self.counts_anew or stretch.moment:
            names = ("t", "x", "steps", "rejected", "h", *(() if part.state else ("failed",)))
            self._now |= {
                name: np.array(getattr(part, name)[:, -1]).reshape(len(now["x"]), -1)
                for name in names
            }

    def _fixed_part(self, times: np.ndarray) -> Trajectories:
        """Equal steps to times at equal distances."""
        now, loop = self._now, self.loop
        length = float(times[-1] - times[0]) / (len(times) - 1)
        loop.repeats = max(1, int(np.ceil(length / self.step * (1 - 1e-9))))
        loop.h = length / loop.repeats
        start, zero = np.full_like(now["t"], times[0]), np.zeros_like(now["t"])
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
        now, loop = self._now, self.loop
        alive = np.flatnonzero(now["failed"][:, 0] == 0)
        if not self.counts_anew:
            return self._advanced(stretch.times, now, stretch.end)
        if now.keys() & BEGUN or len(alive) == len(now["x"]):
            return self._advanced(stretch.times, now | {"steps": 0.0 * now["steps"]}, stretch.end)
        n, m = len(now["x"]), len(stretch.records)
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
