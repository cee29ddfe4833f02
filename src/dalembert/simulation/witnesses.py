"""Functions watched inside the steps of a motion: stops, ends of sliding and of rest, and zeros of
the user's functions.

Each of these is a depth along the step that is negative until it happens. Between the ends of a
step, coordinates and velocities are polynomials: the method's own dense output; of methods without
one, the cubic of coordinates and their rates at both ends, and its derivative.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from typing import Any, NamedTuple

import numpy as np

from dalembert.expr import Expr, absolute, maximum, minimum, sign, symbols
from dalembert.expr.enclosure import enclosures
from dalembert.integrators import search
from dalembert.integrators.choice import chosen
from dalembert.integrators.method_kinds import STEEP
from dalembert.integrators.search import Looked
from dalembert.simulation.event_functions import CAUGHT, NO_VALUE

SAMPLES = 1 + round(1 / search.LEAST)
NEVER = -1.0  # depth of what cannot happen in a step
NOISE = 16 * float(np.finfo(float).eps)  # of coordinates, in a difference of two


class Extension(NamedTuple):
    """Bernstein coefficients, a row each, of q, qd, the controller's states and the time (1,) over
    a step.

    Time is one of them, so that the end of a step is the beginning of the next, to the last bit.
    """

    q: Sequence[Any]
    qd: Sequence[Any]
    states: Sequence[Any]
    times: Sequence[Any]

    def at(self, s: Any) -> tuple[Any, Any, Any]:
        """q, qd and states at a fraction s of the step."""
        q, qd, states = (search.value(c, s) for c in self[:3])
        return q, qd, states

    def time(self, s: Any) -> Any:
        """The time at a fraction s of the step."""
        return search.value(self.times, s)[0]

    def box(self, q: Any = 0.0, qd: Any = 0.0) -> Box:
        """Bounds of all values, wider by margins of q and qd."""
        (low, high), (slow, fast) = search.hull(self.q), search.hull(self.qd)
        return Box(
            (low - q, high + q), (slow - qd, fast + qd), (self.times[0][0], self.times[-1][0])
        )


class Box(NamedTuple):
    """Least and greatest q and qd, first and last time."""

    q: tuple[Any, Any]
    qd: tuple[Any, Any]
    times: tuple[Any, Any]


class Bound(NamedTuple):
    """A bound of a coordinate: the entry of qd, its place in q, the bound, and 1 for an upper one,
    -1 for a lower one.
    """

    entry: int
    place: int
    bound: float
    side: float


class Witnesses:
    """The depths of a `FirstOrderSystem`, in this order: `stops`, `turns` (velocities that slide), `rests`
    (entries that may be held), and `events`.

    Methods work on floats and on expressions alike.
    """

    CAUGHT = CAUGHT
    NO_VALUE = NO_VALUE

    def __init__(self, motion: Any):
        law = motion.reactions
        self.motion = motion
        self.law = law
        self.stops = [
            Bound(i, int(law.place[i]), float(bound[i]), side)
            for i in (law.entries if law else ())
            for bound, side in ((law.lower, -1.0), (law.upper, 1.0))
            if np.isfinite(bound[i])
        ]
        self.turns = [int(i) for i in law.entries if law.friction[i]] if law else []
        self.rests = [int(i) for i in law.entries] if law else []
        self.events = len(motion.events.functions)

    @property
    def count(self) -> int:
        """Number of depths."""
        return len(self.stops) + len(self.turns) + len(self.rests) + self.events

    def ends(self, happened: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Ends by depths that happened (m, count): of the entries that can rest (m, entries), and
        of the events (m, events).
        """
        first = len(self.stops) + len(self.turns)
        entries = happened[:, first : first + len(self.rests)].copy()
        for j, i in enumerate([stop.entry for stop in self.stops] + self.turns):
            entries[:, self.rests.index(i)] |= happened[:, j]
        return entries, happened[:, first + len(self.rests) :]

    # --- the step as polynomials ---

    def extension(
        self, t: Any, x: Any, t1: Any, x1: Any, h: Any, p: Any, coefficients: Sequence[Any] | None
    ) -> Extension:
        """Extension of a step h from (t, x) to (t1, x1); coefficients: of x, if the method has
        them.
        """
        motion = self.motion
        nq = self.motion.system.nq
        nv = self.motion.system.nv
        velocities = motion.velocities_in(t, x, p), motion.velocities_in(t1, x1, p)
        times = [np.array([t]), np.array([t1])]
        if coefficients is not None:
            q, states = (
                [row[part] for row in coefficients]
                for part in (slice(0, nq), slice(nq + nv + 1, None))
            )
            if not motion.formulation.canonical:
                return Extension(q, [row[nq : nq + nv] for row in coefficients], states, times)
        else:
            rate, rate1 = (
                self._rate(own[:nq], qd) for own, qd in zip((x, x1), velocities, strict=True)
            )
            q = search.hermite(x[:nq], x1[:nq], rate, rate1, h)
            states = [x[nq + nv + 1 :], x1[nq + nv + 1 :]]
        return Extension(q, self._velocities(q, h, velocities, coefficients is None), states, times)

    def _velocities(
        self, q: Sequence[Any], h: Any, ends: tuple[Any, Any], cubic: bool
    ) -> list[Any]:
        """Coefficients of qd from those of q: of vectors of coordinates the derivative, of others a
        parabola.
        """
        slopes = search.slopes(q, h)
        if not cubic and not self.motion.formulation.quaternions:
            return [ends[0], *slopes[1:-1], ends[1]]
        middle = (
            2 * self._velocity(search.value(q, 0.5), search.value(slopes, 0.5))
            - (ends[0] + ends[1]) / 2
        )
        reach = absolute(q[0]) + absolute(q[-1])
        noise = (
            NOISE
            / absolute(h)
            * (1 + reduce(maximum, reach) if self.motion.formulation.quaternions else reach)
        )
        noise = noise * np.ones(len(middle))
        return [
            np.array(row)
            for row in zip(
                *(
                    search.parabola(*own)
                    for own in zip(ends[0], middle, ends[1], noise, strict=True)
                ),
                strict=True,
            )
        ]

    def _rate(self, q: Any, qd: Any) -> Any:
        """q' of velocities."""
        return self.motion.system.rate(q, qd) if self.motion.formulation.quaternions else qd

    def _velocity(self, q: Any, rate: Any) -> Any:
        """qd of rates q': along the columns of q' = B(q) qd, which are orthogonal for each joint."""
        if not self.motion.formulation.quaternions:
            return rate
        found = []
        for k in range(self.motion.system.nv):
            column = self.motion.system.rate(q, np.eye(self.motion.system.nv)[k])
            found.append(sum(column * rate) / sum(column * column))
        return np.array(found)

    # --- depths ---

    def sides(self, t: Any, at: tuple[Any, Any, Any], p: Any, fresh: Any) -> list[Any]:
        """On which side of 0 each is at the beginning of a search; fresh (events,): above 0 of
        events just found.
        """
        q, qd, _ = at
        found = [chosen(d < 0, -1.0, 0.0) for d in self._met(q, qd, p)] + [-1.0] * len(self.rests)
        values = self._values(t, q, qd, p)
        return found + [
            chosen(search.missing(g) > 0, search.NO_SIDE, chosen(new > 0, 0.0, sign(g)))
            for g, new in zip(values, fresh, strict=True)
        ]

    def depths(self, t: Any, at: tuple[Any, Any, Any], p: Any, sides: Any) -> list[Any]:
        """How far each is beyond 0 at a state (q, qd, states): 0 or more where it has happened."""
        q, qd, _ = at
        active = self._active(p)
        depths = [*self._met(q, qd, p), *self._held(t, at, p)]
        found = [chosen(on > 0, d, NEVER) for on, d in zip(active, depths, strict=True)]
        directions = self.motion.events.directions
        for g, side, direction in zip(
            self._values(t, q, qd, p), sides[len(found) :], directions, strict=True
        ):
            counts = absolute(side) if direction == 0 else maximum(-direction * side, 0.0)
            found.append(chosen(counts > 0, -g * side, NEVER))
        return found

    def _met(self, q: Any, qd: Any, p: Any) -> list[Any]:
        """Depths of stops and turns."""
        way = self.motion.modes(p)[self.law.n :] if self.law else ()
        return [stop.side * (q[stop.place] - stop.bound) for stop in self.stops] + [
            -way[i] * qd[i] for i in self.turns
        ]

    def _held(self, t: Any, at: tuple[Any, Any, Any], p: Any) -> list[Any]:
        """How far the reaction of each entry that can rest is beyond its bounds."""
        if not self.rests:
            return []
        motion = self.motion
        n = self.law.n
        modes = self.motion.modes(p)
        q, qd, states = at
        tau = motion.forces(motion.clock(t, p), q, qd, p, states)
        numbers = motion.numbers_in(p)
        if isinstance(q[0], Expr):
            r = self.law.at(numbers).reactions(q, qd, tau, modes)
        else:
            r = self.law.called_reactions(q, qd, tau, modes, numbers)
        return [maximum(modes[2 * n + i] - r[i], r[i] - modes[3 * n + i]) for i in self.rests]

    def _active(self, p: Any) -> list[Any]:
        """1 for each stop, turn and rest that counts in the modes of now: moving entries meet
        stops, held ones move.
        """
        moving = self.motion.modes(p)
        active = [moving[i] for i in [stop.entry for stop in self.stops] + self.turns]
        return active + [1 - moving[i] for i in self.rests]

    def _values(self, t: Any, q: Any, qd: Any, p: Any) -> list[Any]:
        watched = self.motion.events
        time = self.motion.clock(t, p)
        return (
            list(watched.values(time if isinstance(time, Expr) else float(time), q, qd))
            if self.events
            else []
        )

    # --- intervals ---

    def clear(self, way: Extension, p: Any, bend: Any = None) -> Any:
        """1 where nothing can happen in the whole step, by bounds alone, else 0; on numbers, events
        are sampled.

        bend (nx,): by how much x may differ from `way`, if it does
        """
        box = way.box(*self._margins(bend, way))
        depths = list[Any]()
        if self.law:
            modes, (low, high), (slow, fast) = self.motion.modes(p), box.q, box.qd
            depths += [
                stop.side * ((high if stop.side > 0 else low)[stop.place] - stop.bound)
                for stop in self.stops
            ]
            ways = [modes[self.law.n + i] for i in self.turns]
            depths += [
                maximum(-one * slow[i], -one * fast[i])
                for one, i in zip(ways, self.turns, strict=True)
            ]
            depths += [0.5 - modes[i] for i in self.rests]  # reactions of those held have no bounds
        clear = chosen(reduce(maximum, depths) < 0, 1.0, 0.0) if depths else 1.0
        traced = isinstance(way.q[0][0], Expr)
        for bounds in self._bounds(box, p) if traced else self._sampled(way, p):
            clear = minimum(clear, 0.0 if bounds is None else search.excluded(bounds))
        return clear

    def _margins(self, bend: Any, way: Extension) -> tuple[Any, Any]:
        """By how much q and qd may differ from `way` where x may by `bend`."""
        if bend is None:
            return 0.0, 0.0
        form = self.motion.formulation
        nq = self.motion.system.nq
        nv = self.motion.system.nv
        if not form.canonical:
            return bend[:nq], bend[nq : nq + nv]
        rates = STEEP * bend[:nq] / absolute(way.times[-1] - way.times[0])
        return bend[:nq], 4 * sum(rates) if form.quaternions else rates

    def _sampled(self, way: Extension, p: Any) -> list[tuple[float, float]]:
        """Least and greatest of values of each event in a step, on numbers."""
        if not self.events:
            return []
        s = np.linspace(0.0, 1.0, SAMPLES)
        q, qd = (search.value([row[:, None] for row in rows], s).T for rows in (way.q, way.qd))
        rows = [
            self._values(way.time(one), own, rate, p)
            for one, own, rate in zip(s, q, qd, strict=True)
        ]
        values = np.array(rows, dtype=float)
        return list(zip(values.min(axis=0).tolist(), values.max(axis=0).tolist(), strict=True))

    def look(self, way: Extension, p: Any, a: Any, w: Any, sides: Any) -> list[Looked]:
        """Findings in the interval [a, a + w] of the step about each function."""
        part = Extension(*(search.restricted(c, a, w) for c in way))
        end = (part.q[-1], part.qd[-1], part.states[-1])
        t1 = part.times[-1][0]
        found = [
            search.depth_of(
                search.restricted(d, a, w), side, w
            )  # 0 all along a stop, to the last bit
            for d, side in zip(self._polynomials(way, p), sides, strict=False)
        ]
        found += [
            search.sampled(-1.0, d, 1.0, None, w)._replace(side=-1.0)
            for d in self._held(t1, end, p)
        ]
        active = self._active(p)
        found = [
            Looked(
                *(chosen(on > 0, own, not_) for own, not_ in zip(one, search.never(), strict=True))
            )
            for on, one in zip(active, found, strict=True)
        ]
        values = self._values(t1, end[0], end[1], p)
        bounds = self._bounds(part.box(), p)
        directions = self.motion.events.directions
        return found + [
            search.or_missing(search.sampled(side, g, direction, own, w), side, g, w)
            for side, g, direction, own in zip(
                sides[len(found) :], values, directions, bounds, strict=True
            )
        ]

    def _polynomials(self, way: Extension, p: Any) -> list[list[Any]]:
        """Coefficients of the depths of stops and turns."""
        way_of = self.motion.modes(p)[self.law.n :] if self.law else ()
        return [
            [stop.side * (row[stop.place] - stop.bound) for row in way.q] for stop in self.stops
        ] + [[-way_of[i] * row[i] for row in way.qd] for i in self.turns]

    def _bounds(self, box: Box, p: Any) -> list[Any]:
        """Bounds of each event in a box of states and times; None where there are none, as on
        numbers.
        """
        watched = self.motion.events
        first = box.q[0][0]
        if not self.events or not isinstance(first, Expr):
            return [None] * self.events
        time = symbols("time of an event", 1, first.graph)
        q, qd = (
            symbols(f"{name} of an event", len(bounds[0]), first.graph)
            for name, bounds in (("q", box.q), ("qd", box.qd))
        )
        hulls = {time[0]: tuple(self.motion.clock(t, p) for t in box.times)}
        for own, bounds in ((q, box.q), (qd, box.qd)):
            hulls |= dict(zip(own, zip(*bounds, strict=True), strict=True))
        return list(enclosures(watched.values(time[0], q, qd), hulls))

    # --- what has happened ---

    def valued(
        self, changed: Any, t: Any, at: tuple[Any, Any, Any], p: Any, sides: Any
    ) -> list[Any]:
        """`changed` without the events that have no value at a state, or had none where the search
        began.
        """
        first = self.count - self.events
        nothing = [
            maximum(search.missing(g), chosen(absolute(side) > 1, 1.0, 0.0))
            for g, side in zip(self._values(t, at[0], at[1], p), sides[first:], strict=True)
        ]
        return [
            *changed[:first],
            *(chosen(no > 0, 0.0, one) for one, no in zip(changed[first:], nothing, strict=True)),
        ]

    def together(self, changed: Any, depths: Any) -> list[Any]:
        """Happenings where the first depths have `changed`: where a mode ends, events passed by
        then, too.
        """
        modes = len(self.stops) + len(self.turns) + len(self.rests)
        ends = reduce(maximum, changed[:modes]) if modes else 0.0
        passed = [chosen(d >= 0, ends, 0.0) for d in depths[modes:]]
        return [
            *changed[:modes],
            *(maximum(one, new) for one, new in zip(changed[modes:], passed, strict=True)),
        ]

    def imposed(self, x: Any, happened: Any) -> Any:
        """x with coordinates exactly at the stops that they met, and velocities that came to rest
        exactly 0.
        """
        x = np.array(x)
        nq = self.motion.system.nq
        for j, stop in enumerate(self.stops):
            x[stop.place] = chosen(happened[j] >= 0, stop.bound, x[stop.place])
        for j, i in enumerate(self.turns):
            x[nq + i] = chosen(happened[len(self.stops) + j] >= 0, 0.0, x[nq + i])
        return x

    def meets(self, at: tuple[Any, Any, Any], changed: Any, p: Any) -> Any:
        """1 where a state moves towards the stops that `changed`, and is beyond no other, else 0.

        Euler's methods move coordinates by velocities of another time: a part of their step may
        lead to a stop with a velocity that points away from it.
        """
        q, qd, _ = at
        meets: Any = 1.0
        for stop, one, active in zip(self.stops, changed, self._active(p), strict=False):
            towards = chosen(stop.side * qd[stop.entry] >= 0, 1.0, 0.0)
            within = chosen(stop.side * (q[stop.place] - stop.bound) <= 0, 1.0, 0.0)
            meets = minimum(meets, chosen(active > 0, chosen(one > 0, towards, within), 1.0))
        return meets

    def between(self, way: Extension, whole: Sequence[Any], s: Any) -> np.ndarray:
        """x at a fraction s of a step; whole: coefficients of x, of which coordinates and
        velocities are those of `way`.
        """
        (q, qd, _), x = way.at(s), search.value(whole, s)
        nq = self.motion.system.nq
        at = self.motion.system.nq + self.motion.system.nv
        return np.concatenate([q, x[nq:at] if self.motion.formulation.canonical else qd, x[at:]])

    def state(self, t: Any, x: Any, p: Any) -> tuple[Any, Any, Any]:
        """q, qd and states of the controller in x."""
        q, _, _, states = self.motion.split(x)
        return q, self.motion.velocities_in(t, x, p), states
