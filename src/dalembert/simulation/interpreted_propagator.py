"""A method over a motion in Python, with the calls of a `Propagator`: for what cannot be compiled."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from dalembert.integrators import Adaptive, FixedStep, Method, records
from dalembert.integrators.crossing import (
    DONE,
    FIRST,
    Locating,
    begun,
    located,
    narrowed,
    resolution,
)
from dalembert.integrators.method_kinds import LinearlyImplicit, Rate, Watch
from dalembert.integrators.search import FOUND, SEARCHING, following, hermite
from dalembert.integrators.stage_equations import LinearisedRate, differences
from dalembert.native.propagator import Segment, StepControl, Trajectories
from dalembert.simulation.applied_forces import CALLED
from dalembert.simulation.event_functions import CAUGHT, NO_VALUE
from dalembert.simulation.first_order_system import FirstOrderSystem
from dalembert.simulation.options import ATTEMPTS
from dalembert.simulation.witnesses import NEVER, Extension
from dalembert.tracing.integration import SEEN


class SearchedStep(NamedTuple):
    """A step in which something was looked for: where it began, its length, where it led, its
    polynomials.

    coefficients: of all of x, if the method has them
    """

    t: float
    x: np.ndarray
    h: float
    x1: np.ndarray
    way: Extension
    coefficients: Any


class Crossed(NamedTuple):
    """First happening: depths, their sides at the beginning of the search, and the part of the step
    that it is near.

    None of them if an event has no value there.
    """

    changed: list[float]
    sides: list[float]
    near: float


@dataclass
class _Lane:
    """A trajectory on its way: the registers of a propagator in machine code."""

    x: np.ndarray
    start: float
    t: float
    h: float
    steps: float
    rejected: float
    failed: float
    fresh: np.ndarray
    until: float


class InterpretedPropagator:
    """Trajectories one after the other, whose forces and events may be any Python functions.

    Called with a segment, like a propagator in machine code; an adaptive method ends a step at the
    last of the times, and none waits for others.
    """

    def __init__(self, motion: FirstOrderSystem, method: Method, control: StepControl):
        self.motion = motion
        self.method = method
        self.control = control

    def __call__(self, segment: Segment) -> Trajectories:
        n = len(segment.x)
        k = len(segment.times) - 1
        t, steps, rejected, failed, h = np.zeros((5, n, k))
        found = Trajectories(t, np.full((n, k, self.motion.nx), np.nan), steps, rejected, failed, h)
        p = np.broadcast_to(segment.p, (n, segment.p.shape[-1]))
        lanes = self._lanes(segment)
        for row, lane in enumerate(lanes):
            for record, _ in enumerate(self._records(lane, segment, p[row])):
                due = slice(record, None if lane.failed else record + 1)
                for name in ("t", "x", "steps", "rejected", "failed", "h"):
                    getattr(found, name)[row, due] = getattr(lane, name)
        state = {
            name: np.array([np.atleast_1d(getattr(lane, name)) for lane in lanes], dtype=float)
            for name in _Lane.__annotations__
        }
        return found._replace(state=state)

    def _lanes(self, segment: Segment) -> list[_Lane]:
        """Trajectories where a segment begins."""
        n = len(segment.x)
        begin = segment.times[0]
        fresh = np.zeros(len(self.motion.events.functions))
        given = {"start": begin, "t": begin, "until": begin, "h": segment.h, "fresh": fresh}
        given |= {"x": segment.x, "steps": 0.0, "rejected": 0.0, "failed": 0.0}
        sizes = {"x": self.motion.nx, "fresh": len(fresh)}
        columns = {}
        for name, values in given.items():
            own = np.asarray((segment.state or given).get(name, values))
            size = sizes.get(name, 1)
            own = own.reshape(own.size // size if size else n, size)
            rows = np.array(np.broadcast_to(own, (n, size)), dtype=float)
            columns[name] = rows if name in sizes else rows[:, 0]
        return [_Lane(**{name: rows[row] for name, rows in columns.items()}) for row in range(n)]

    def _records(self, lane: _Lane, segment: Segment, p: np.ndarray) -> Iterator[None]:
        """Move a trajectory from record to record; a failed trajectory stays where it is."""
        times = segment.times
        repeats = segment.repeats
        if lane.failed > 0:
            yield
            return
        first = repeats if segment.goals is None else int(segment.goals[0] - lane.steps)
        watch = self._watch(p, lane) if self.motion.is_watched else None
        if isinstance(self.method, FixedStep) and first != repeats and len(times) > 2:
            # after an event the way to the next record is shorter
            yield from self._steps(lane, times[:2], first, p, watch)
            if lane.failed:
                return
            times = times[1:]
            first = repeats
        yield from self._steps(lane, times, first, p, watch)

    def _steps(
        self, lane: _Lane, times: np.ndarray, repeats: int, p: np.ndarray, watch: Watch | None
    ) -> Iterator[None]:
        """Move a trajectory with `repeats` steps to each later time, of adaptive methods at most."""
        fixed = isinstance(self.method, FixedStep)
        motion = self.motion
        rtol, atol, _, longest = self.control
        steps = 0.0 if fixed else lane.steps
        rejected = lane.rejected
        for record in records(
            self.method,
            self._rate(p),
            lane.x,
            np.array([lane.start if fixed else lane.t, *times[1:]]),
            lane.h,
            repeats,
            rtol,
            atol,
            motion.manifold and motion.manifold.bound(p),
            watch=watch,
            steps=int(lane.steps) if fixed else 0,
            longest=longest,
        ):
            lane.t = record.t
            lane.x = record.x
            lane.h = record.h
            lane.failed = record.failed
            lane.steps = steps + record.steps
            lane.rejected = rejected + record.rejected
            yield

    def _rate(self, p: np.ndarray) -> Rate:
        """f of a trajectory, with derivatives for a method that takes them; of forces that are called,
        by differences.
        """
        f = self.motion.function(p=p)
        if not isinstance(self.method, LinearlyImplicit):
            return f
        slopes = partial(differences, f)
        if CALLED not in self.motion.kinds.values():
            slopes = partial(self._slopes, p)
        return LinearisedRate(f, slopes, lambda t, x: self.motion.inertia(t, x, p))

    def _slopes(self, p: np.ndarray, t: float, x: np.ndarray) -> Any:
        """df/dx and df/dt by machine code."""
        return self.motion.code.slopes(t, x, p)

    # --- what happens in a step ---

    def _watch(self, p: np.ndarray, lane: _Lane) -> Watch:
        """The watch of steps of a trajectory, whose `fresh` events it makes older."""

        def watch(t: float, x: np.ndarray, t1: float, x1: np.ndarray, h: float, k: Any) -> float:
            """The part of a step behind which something happens first; 0 if nothing does."""
            if p[-1] <= 0 or not np.isfinite(x1).all():
                return 0.0
            if t1 - lane.until > SEEN * h:
                step = self._step_of(t, x, h, x1, k, p, t1)
                if self._search(step, p, max(0.0, (lane.until - t) / h), lane.fresh):
                    return CAUGHT
            lane.fresh = np.maximum(lane.fresh - 1, 0)
            return 0.0

        return watch

    def _step_of(
        self, t: float, x: np.ndarray, h: float, x1: np.ndarray, k: Any, p: np.ndarray, t1: float
    ) -> SearchedStep:
        """A step with its polynomials; k: values of f of an adaptive method, coefficients of a
        library's.
        """
        coefficients = k
        if isinstance(self.method, Adaptive):
            extra = self.method.extra(self._rate(p), t, x, h, k) if self.method.extra else ()
            coefficients = self.method.coefficients(x, x1, h, [*k, *extra])
        way = self.motion.witnesses.extension(t, x, t1, x1, h, p, coefficients)
        return SearchedStep(t, np.array(x), h, np.array(x1), way, coefficients)

    def _search(
        self, step: SearchedStep, p: np.ndarray, origin: float, fresh: np.ndarray
    ) -> Crossed | None:
        """The first happening behind a part of the step; None if nothing happens."""
        watch = self.motion.witnesses
        way = step.way
        if origin == 0 and watch.clear(way, p) > 0:
            return None
        a = origin
        w = 1.0 - origin
        state = SEARCHING
        sides = watch.sides(way.time(a), way.at(a), p, fresh)
        while state == SEARCHING:
            looked = watch.look(way, p, a, w, sides)
            before = a
            a, w, state = following(a, w, looked)
            sides = [one.side for one in looked] if a > before else sides
        if state != FOUND:
            return None
        end = a + w
        changed = watch.valued(
            [one.changed for one in looked], way.time(end), way.at(end), p, sides
        )
        if not max(changed) > 0:
            return Crossed(changed, sides, end)
        return self._pinned(step, p, a, a + w, Crossed(changed, sides, a + w))

    def _pinned(
        self, step: SearchedStep, p: np.ndarray, begin: float, end: float, crossed: Crossed
    ) -> Crossed:
        """The zero of the polynomials in an interval in which some depths change sign."""
        t, _, h, _, way, _ = step

        def depths(s: float) -> list[float]:
            """Depths at a part s of the step."""
            return self._changed(crossed, way.time(s), way.at(s), p)

        width = resolution(t, h) / h
        if not max(depths(end)) >= 0:  # touched, to rounding
            return crossed
        a, fa, b, fb, part = map(np.float64, begun(end, max(depths(end))))
        b = np.float64(begin)
        while abs(b - a) > width:
            s = a + part * (b - a)
            a, fa, b, fb, part = map(
                np.float64, narrowed(a, fa, b, fb, s, np.float64(max(depths(s))), width)
            )
        near = float(a if fa >= 0 else b)
        least, soon = (
            min(0.0, max(depths(near))),
            depths(min(near + 4 * width, 1.0)),
        )  # at the same time, to rounding
        changed = [
            one if d >= least or e >= 0 else 0.0
            for one, d, e in zip(crossed.changed, depths(near), soon, strict=True)
        ]
        return Crossed(changed, crossed.sides, near)

    def _changed(self, crossed: Crossed, t: float, at: Any, p: np.ndarray) -> list[float]:
        """Depths of those that changed at a state; NEVER of the others."""
        depths = self.motion.witnesses.depths(t, at, p, crossed.sides)
        return [
            float(d) if one > 0 else NEVER for d, one in zip(depths, crossed.changed, strict=True)
        ]

    def crossing(
        self,
        t: np.ndarray,
        x: np.ndarray,
        length: np.ndarray,
        p: np.ndarray,
        origin: np.ndarray,
        fresh: np.ndarray,
    ) -> tuple[np.ndarray, ...]:
        """Locations as `crossing_of` gives them, lane after lane; a method that chooses its steps
        does so on the way, too.
        """
        found = [
            self._crossing(*row)
            for row in zip(t[:, 0], x, length[:, 0], p, origin[:, 0], fresh, strict=True)
        ]
        return tuple(np.array(values) for values in zip(*found, strict=True))

    def _crossing(
        self, t: float, x: np.ndarray, h: float, p: np.ndarray, origin: float, fresh: np.ndarray
    ) -> tuple[Any, ...]:
        never = np.full(self.motion.witnesses.count, NEVER)
        if not p[-1] > 0 or not t + h > t:
            there, code = self._stepped(t, x, p, h)
            return [h], there, never, [1.0], [code]
        step, code = self._made(t, x, h, p)
        crossed = None if code else self._search(step, p, origin, fresh)
        if crossed is None:
            return [h], x if code else step.x1, never, [1.0], [code]
        if not max(crossed.changed) > 0:
            return (
                [crossed.near * h],
                self._between(step, p, crossed.near),
                never,
                [1.0],
                [NO_VALUE],
            )
        return *self._located(step, crossed, p, origin), [crossed.near], [0.0]

    def _located(
        self, step: SearchedStep, crossed: Crossed, p: np.ndarray, origin: float
    ) -> tuple[Any, ...]:
        """When and where it happens, and what: by steps of the method, or by its polynomials where
        these do not meet it.
        """
        watch = self.motion.witnesses
        t = step.t
        x = step.x
        h = step.h
        width = resolution(t, h) / h
        zero = np.float64(0.0)
        now = Locating(*map(np.float64, (FIRST, crossed.near, zero, zero, zero, zero, zero, 0.5)))
        while now.phase < DONE:
            s = float(now.look) * h
            there, code = self._stepped(t, x, p, s)
            there = self._between(step, p, float(now.look)) if code else there
            at = watch.state(t + s, there, p)
            depths = watch.depths(t + s, at, p, crossed.sides)
            deep = max(
                float(d) if one > 0 else NEVER
                for d, one in zip(depths, crossed.changed, strict=True)
            )
            now = Locating(
                *map(np.float64, located(now, crossed.near, origin, np.float64(deep), width))
            )
        happened = watch.together(crossed.changed, depths)
        if code or not deep >= 0 or not watch.meets(at, crossed.changed, p):
            s = crossed.near * h
            happened = crossed.changed
            there = self._between(step, p, crossed.near)
        deep_or_not = np.where(np.array(happened) > 0, 0.0, NEVER)
        return [s], watch.imposed(there, deep_or_not), deep_or_not

    def _between(self, step: SearchedStep, p: np.ndarray, s: float) -> np.ndarray:
        """x at a fraction s of a step, by its polynomials."""
        t, x, h, x1, way, whole = step
        if whole is None:
            f = self._rate(p)
            whole = hermite(x, x1, f(t, x), f(t + h, x1), h)
        between = self.motion.witnesses.between(way, whole, s)
        manifold = self.motion.manifold
        return between if manifold is None else manifold.bound(p)(t + s * h, between)

    def _made(self, t: float, x: np.ndarray, h: float, p: np.ndarray) -> tuple[SearchedStep, float]:
        """The step of length h from (t, x), and 0, or why it cannot be made."""
        f = self._rate(p)
        if isinstance(self.method, Adaptive):
            manifold = self.motion.manifold
            bound = manifold and manifold.bound(p)
            x1, _, k = self.method.step(f, t, x, h, f(t, x), bound)
            return self._step_of(t, x, h, x1, k, p, t + h), 0.0
        x1, code = self._stepped(t, x, p, h)
        return self._step_of(t, x, h, x1, None, p, t + h), code

    def _stepped(
        self, t: float, x: np.ndarray, p: np.ndarray, s: float
    ) -> tuple[np.ndarray, float]:
        """x after a step of length s, unwatched, and 0; or x, and why the step cannot be made."""
        if not t + s > t:
            return x, 0.0
        repeats = 1 if isinstance(self.method, FixedStep) else ATTEMPTS
        unwatched = np.append(p[:-1], 0.0)
        found = self(Segment(x[None], np.array([t, t + s]), s, unwatched, repeats))
        code = float(found.failed[0, -1])
        return x if code else np.asarray(found.x[0, -1]), code
