"""A method over a motion in Python, with the calls of a `Propagator`: for what cannot be compiled."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from dalembert.integrators import Adaptive, Fixed, Method, records
from dalembert.integrators.crossing import (
    DONE,
    FIRST,
    Locating,
    begun,
    located,
    narrowed,
    resolution,
)
from dalembert.integrators.fixed_point import HUGE
from dalembert.integrators.search import FOUND, SEARCHING, following, hermite
from dalembert.native.propagator import Trajectories
from dalembert.simulation.event_functions import CAUGHT, NO_VALUE
from dalembert.simulation.first_order_system import FirstOrderSystem
from dalembert.simulation.witnesses import NEVER, Extension
from dalembert.tracing.integration import SEEN

State = dict[str, np.ndarray]
ATTEMPTS = 1_000_000  # steps between two records of an adaptive method


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
    """What happens first: which depths, their sides at the beginning of the search, and near which
    part of the step.

    None of them if an event has no value there.
    """

    changed: list[float]
    sides: list[float]
    near: float


class InterpretedPropagator:
    """Trajectories one after the other, whose forces and events may be any Python functions."""

    def __init__(
        self,
        motion: FirstOrderSystem,
        way: Method,
        tolerances: tuple[float, float],
        longest: float = HUGE,
    ):
        self.motion, self.way = motion, way
        self.tolerances, self.longest = tolerances, longest  # of steps to where something happens
        self._caught: SearchedStep | None = None

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
        state: State | None = None,
        goals: np.ndarray | None = None,
    ) -> Trajectories:
        """As `Propagator.run`; an adaptive method ends a step at the last of the times, and none
        waits for others.
        """
        n, k = len(x), len(times) - 1
        out = {name: np.zeros((n, k)) for name in ("t", "steps", "rejected", "failed", "h")}
        found, p = np.full((n, k, self.motion.nx), np.nan), np.broadcast_to(p, (n, p.shape[-1]))
        fresh = np.zeros(len(self.motion.events.functions))
        begin = {
            "x": x,
            "start": times[0],
            "t": times[0],
            "h": h,
            "steps": 0.0,
            "rejected": 0.0,
            "failed": 0.0,
            "fresh": fresh,
            "until": times[0],
        }
        sizes, now = {"x": self.motion.nx, "fresh": len(fresh)}, {}
        for name, values in begin.items():
            given, size = np.asarray((state or begin).get(name, values)), sizes.get(name, 1)
            given = given.reshape(given.size // size if size else n, size)
            now[name] = np.array(np.broadcast_to(given, (n, size)), dtype=float)
        for row in range(n):
            at = {name: v[row] if name in sizes else v[row, 0] for name, v in now.items()}
            first = int(goals[0] - at["steps"]) if goals is not None else repeats
            for place, record in enumerate(
                self._records(at, times, p[row], first, repeats, rtol, atol, longest)
            ):
                rest = slice(place, None if record["failed"] else place + 1)
                found[row, rest] = record["x"]
                for name, values in out.items():
                    values[row, rest] = record[name]
                at |= record
            for name, v in at.items():
                now[name][row] = v
        return Trajectories(
            out["t"], found, out["steps"], out["rejected"], out["failed"], out["h"], now
        )

    def _records(
        self,
        at: dict[str, Any],
        times: np.ndarray,
        p: np.ndarray,
        first: int,
        repeats: int,
        rtol: float,
        atol: float,
        longest: float,
    ) -> Any:
        """Records behind a state, each as a dict; a trajectory that has failed stays where it is."""
        if at["failed"] > 0:
            yield at
            return
        fixed, motion = isinstance(self.way, Fixed), self.motion
        watch = self._watch(p, at) if motion.is_watched else None
        grid = np.array([at["start"] if fixed else at["t"], *times[1:]])
        if (
            fixed and first != repeats and len(times) > 2
        ):  # after an event the way to the next record is shorter
            for record in self._records(at, times[:2], p, first, first, rtol, atol, longest):
                yield record
            if not record["failed"]:
                yield from self._records(
                    at | record, times[1:], p, repeats, repeats, rtol, atol, longest
                )
            return
        before = np.array([0.0 if fixed else at["steps"], at["rejected"]])
        for r in records(
            self.way,
            motion.function(p=p),
            at["x"],
            grid,
            at["h"],
            first,
            rtol,
            atol,
            motion.projected,
            watch=watch,
            steps=int(at["steps"]) if fixed else 0,
            longest=longest,
        ):
            steps, rejected = before + (r.steps, r.rejected)
            yield {
                "t": r.t,
                "x": r.x,
                "steps": steps,
                "rejected": rejected,
                "failed": r.failed,
                "h": r.h,
                "fresh": at["fresh"],
            }

    # --- what happens in a step ---

    def _watch(self, p: np.ndarray, at: dict[str, Any]) -> Callable[..., float]:
        """The watch of steps behind a state, whose `fresh` events it makes older."""

        def watch(t: float, x: np.ndarray, t1: float, x1: np.ndarray, h: float, k: Any) -> float:
            if p[-1] <= 0 or not np.isfinite(x1).all():
                return 0.0
            if t1 - at["until"] > SEEN * h:
                step = self._step_of(t, x, h, x1, k, p, t1)
                if self._search(step, p, max(0.0, (at["until"] - t) / h), at["fresh"]):
                    self._caught = step
                    return CAUGHT
            at["fresh"] = np.maximum(at["fresh"] - 1, 0)
            return 0.0

        return watch

    def _step_of(
        self, t: float, x: np.ndarray, h: float, x1: np.ndarray, k: Any, p: np.ndarray, t1: float
    ) -> SearchedStep:
        """A step with its polynomials; k: values of f of an adaptive method, coefficients of a
        library's.
        """
        coefficients = k
        if isinstance(self.way, Adaptive):
            extra = self.way.extra(self.motion.function(p=p), t, x, h, k) if self.way.extra else ()
            coefficients = self.way.coefficients(x, x1, h, [*k, *extra])
        way = self.motion.witnesses.extension(t, x, t1, x1, h, p, coefficients)
        return SearchedStep(t, np.array(x), h, np.array(x1), way, coefficients)

    def _search(
        self, step: SearchedStep, p: np.ndarray, origin: float, fresh: np.ndarray
    ) -> Crossed | None:
        """What happens first behind a part of the step; None if nothing does."""
        watch, way = self.motion.witnesses, step.way
        if origin == 0 and watch.clear(way, p) > 0:
            return None
        a, w, state = origin, 1.0 - origin, SEARCHING
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
        """As `crossing_of`, one after the other; a method that chooses its steps does so on the
        way, too.
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
        step, code = self._caught, 0.0
        if (
            step is None
            or step.t != t
            or not np.array_equal(step.x, x)
            or abs(step.h - h) > SEEN * h
        ):
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
        watch, t, x, h = self.motion.witnesses, step.t, step.x, step.h
        width, zero = resolution(t, h) / h, np.float64(0.0)
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
            s, happened = crossed.near * h, crossed.changed
            there = self._between(step, p, crossed.near)
        deep_or_not = np.where(np.array(happened) > 0, 0.0, NEVER)
        return [s], watch.imposed(there, deep_or_not), deep_or_not

    def _between(self, step: SearchedStep, p: np.ndarray, s: float) -> np.ndarray:
        """x at a fraction s of a step, by its polynomials."""
        t, x, h, x1, way, whole = step
        if whole is None:
            f = self.motion.function(p=p)
            whole = hermite(x, x1, f(t, x), f(t + h, x1), h)
        return self.motion.projected(self.motion.witnesses.between(way, whole, s))

    def _made(self, t: float, x: np.ndarray, h: float, p: np.ndarray) -> tuple[SearchedStep, float]:
        """The step of length h from (t, x), and 0, or why it cannot be made."""
        f = self.motion.function(p=p)
        if isinstance(self.way, Adaptive):
            x1, _, k = self.way.step(f, t, x, h, f(t, x))
            return self._step_of(t, x, h, self.motion.projected(x1), k, p, t + h), 0.0
        x1, code = self._stepped(t, x, p, h)
        return self._step_of(t, x, h, x1, None, p, t + h), code

    def _stepped(
        self, t: float, x: np.ndarray, p: np.ndarray, s: float
    ) -> tuple[np.ndarray, float]:
        """x after a step of length s, unwatched, and 0; or x, and why the step cannot be made."""
        if not t + s > t:
            return x, 0.0
        repeats = 1 if isinstance(self.way, Fixed) else ATTEMPTS
        found = self.run(
            x[None],
            np.array([t, t + s]),
            s,
            np.append(p[:-1], 0.0),
            repeats,
            *self.tolerances,
            longest=self.longest,
        )
        code = float(found.failed[0, -1])
        return x if code else np.asarray(found.x[0, -1]), code
