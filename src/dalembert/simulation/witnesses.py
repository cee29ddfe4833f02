"""Functions watched inside the steps of a motion: stops, ends of sliding and of rest, and zeros of
the user's functions.

Each of these is a depth along the step that is negative until it happens. Between the ends of a
step, coordinates and velocities are polynomials: the method's own dense output; of methods without
one, the cubic of coordinates and their rates at both ends, and its derivative.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
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

Instant = tuple[Any, Any, Any]  # q, qd and the controller's states


class Extension(NamedTuple):
    """Bernstein coefficients, a row each, of q, qd, the controller's states and the time (1,) over
    a step.

    Time is one of them, so that the end of a step is the beginning of the next, to the last bit.
    """

    q: Sequence[Any]
    qd: Sequence[Any]
    states: Sequence[Any]
    times: Sequence[Any]

    def at(self, s: Any) -> Instant:
        """q, qd and states at a fraction s of the step."""
        return search.value(self.q, s), search.value(self.qd, s), search.value(self.states, s)

    def time(self, s: Any) -> Any:
        """The time at a fraction s of the step."""
        return search.value(self.times, s)[0]

    def box(self, q: Any = 0.0, qd: Any = 0.0) -> Box:
        """Bounds of all values, wider by margins of q and qd."""
        low, high = search.hull(self.q)
        slowest, fastest = search.hull(self.qd)
        times = self.times[0][0], self.times[-1][0]
        return Box((low - q, high + q), (slowest - qd, fastest + qd), times)


class Box(NamedTuple):
    """Least and greatest q and qd, first and last time."""

    q: tuple[Any, Any]
    qd: tuple[Any, Any]
    times: tuple[Any, Any]


class Bound(NamedTuple):
    """A bound of a coordinate: the entries of qd and of q, the bound, and 1 for an upper one, -1
    for a lower one.
    """

    entry: int
    coordinate: int
    bound: float
    side: float

    def depth(self, q: Any) -> Any:
        """How far coordinates q are beyond the bound."""
        return self.side * (q[self.coordinate] - self.bound)


def _finite_bounds(law: Any, entry: int) -> Iterator[Bound]:
    """Stops of an entry of qd."""
    for bound, side in ((law.lower[entry], -1.0), (law.upper[entry], 1.0)):
        if np.isfinite(bound):
            yield Bound(entry, int(law.place[entry]), float(bound), side)


def _if_active(active: Any, looked: Looked) -> Looked:
    """Findings about a depth that counts where `active` is 1."""
    values = zip(looked, search.never(), strict=True)
    return Looked(*(chosen(active > 0, value, never) for value, never in values))


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
        self.rests = [int(i) for i in law.entries] if law else []
        self.turns = [i for i in self.rests if law.friction[i]]
        self.stops = [stop for i in self.rests for stop in _finite_bounds(law, i)]
        self.events = len(motion.events.functions)
        # entries of qd whose motion ends at a stop or a turn, in the order of these
        self._moving = [stop.entry for stop in self.stops] + self.turns
        self._first_event = len(self._moving) + len(self.rests)

    @property
    def count(self) -> int:
        """Number of depths."""
        return self._first_event + self.events

    def ends(self, happened: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Ends by depths that happened (m, count): of the entries that can rest (m, entries), and
        of the events (m, events).
        """
        entries = happened[:, len(self._moving) : self._first_event].copy()
        for depth, entry in enumerate(self._moving):
            entries[:, self.rests.index(entry)] |= happened[:, depth]
        return entries, happened[:, self._first_event :]

    # --- the step as polynomials ---

    def extension(
        self, t: Any, x: Any, t1: Any, x1: Any, h: Any, p: Any, coefficients: Sequence[Any] | None
    ) -> Extension:
        """Extension of a step h from (t, x) to (t1, x1); coefficients: of x, if the method has
        them.
        """
        motion = self.motion
        nq = motion.system.nq
        nv = motion.system.nv
        controller = motion.state.slices["controller"]
        velocities = motion.velocities_in(t, x, p), motion.velocities_in(t1, x1, p)
        times = [np.array([t]), np.array([t1])]
        if coefficients is None:
            q, q1 = x[:nq], x1[:nq]
            rate, rate1 = self._rate(q, velocities[0]), self._rate(q1, velocities[1])
            coordinates = search.hermite(q, q1, rate, rate1, h)
            states = [x[controller], x1[controller]]
        else:
            coordinates = [row[:nq] for row in coefficients]
            states = [row[controller] for row in coefficients]
            if not motion.formulation.canonical:
                qd = [row[nq : nq + nv] for row in coefficients]
                return Extension(coordinates, qd, states, times)
        qd = self._velocities(coordinates, h, velocities, coefficients is None)
        return Extension(coordinates, qd, states, times)

    def _velocities(
        self, q: Sequence[Any], h: Any, ends: tuple[Any, Any], cubic: bool
    ) -> list[Any]:
        """Coefficients of qd from those of q: of vectors of coordinates the derivative, of others a
        parabola.
        """
        first, last = ends
        quaternions = self.motion.formulation.quaternions
        slopes = search.slopes(q, h)
        if not cubic and not quaternions:
            return [first, *slopes[1:-1], last]
        halfway = self._velocity(search.value(q, 0.5), search.value(slopes, 0.5))
        middle = 2 * halfway - (first + last) / 2
        reach = absolute(q[0]) + absolute(q[-1])
        noise = NOISE / absolute(h)
        # a velocity follows from several coordinates
        noise = noise * (1 + reduce(maximum, reach)) if quaternions else noise * reach
        noise = noise * np.ones(len(middle))
        entries = zip(first, middle, last, noise, strict=True)
        parabolas = [search.parabola(*entry) for entry in entries]
        return [np.array(row) for row in zip(*parabolas, strict=True)]

    def _rate(self, q: Any, qd: Any) -> Any:
        """q' of velocities."""
        return self.motion.system.rate(q, qd) if self.motion.formulation.quaternions else qd

    def _velocity(self, q: Any, rate: Any) -> Any:
        """qd of rates q': along the columns of q' = B(q) qd, which are orthogonal for each joint."""
        if not self.motion.formulation.quaternions:
            return rate
        system = self.motion.system
        velocities = []
        for unit in np.eye(system.nv):
            column = system.rate(q, unit)
            velocities.append(sum(column * rate) / sum(column * column))
        return np.array(velocities)

    # --- depths ---

    def sides(self, t: Any, at: Instant, p: Any, fresh: Any) -> list[Any]:
        """On which side of 0 each is at the beginning of a search; fresh (events,): above 0 of
        events just found.
        """
        q, qd, _ = at
        sides = [chosen(depth < 0, -1.0, 0.0) for depth in self._met(q, qd, p)]
        sides += [-1.0] * len(self.rests)
        for value, new in zip(self._values(t, at, p), fresh, strict=True):
            side = chosen(new > 0, 0.0, sign(value))
            sides.append(chosen(search.missing(value) > 0, search.NO_SIDE, side))
        return sides

    def depths(self, t: Any, at: Instant, p: Any, sides: Any) -> list[Any]:
        """How far each is beyond 0 at a state (q, qd, states): 0 or more where it has happened."""
        q, qd, _ = at
        watched = zip(self._active(p), [*self._met(q, qd, p), *self._held(t, at, p)], strict=True)
        depths = [chosen(active > 0, depth, NEVER) for active, depth in watched]
        directions = self.motion.events.directions
        values = self._values(t, at, p)
        for value, side, direction in zip(
            values, sides[self._first_event :], directions, strict=True
        ):
            # A function crosses 0 from the side on which it was, in the direction that counts.
            counts = absolute(side) if direction == 0 else maximum(-direction * side, 0.0)
            depths.append(chosen(counts > 0, -value * side, NEVER))
        return depths

    def _met(self, q: Any, qd: Any, p: Any) -> list[Any]:
        """Depths of stops and turns."""
        return [depth for (depth,) in self._polynomials([q], [qd], p)]

    def _modes(self, p: Any) -> tuple[Any, Any, Any, Any]:
        """Modes of each velocity: whether it moves, 1 or 0; the direction in which it slides; least
        and greatest reaction that holds it.
        """
        modes = self.motion.modes(p)
        n = self.law.n if self.law else 0
        return modes[:n], modes[n : 2 * n], modes[2 * n : 3 * n], modes[3 * n :]

    def _held(self, t: Any, at: Instant, p: Any) -> list[Any]:
        """How far the reaction of each entry that can rest is beyond its bounds."""
        if not self.rests:
            return []
        motion = self.motion
        modes = motion.modes(p)
        q, qd, states = at
        time = motion.clock(t, p)
        tau = motion.forces(time, q, qd, p, states)
        numbers = motion.numbers_in(p)
        if isinstance(q[0], Expr):
            reactions = self.law.at(numbers).reactions(time, q, qd, tau, modes)
        else:
            reactions = self.law.called_reactions(time, q, qd, tau, modes, numbers)
        *_, least, most = self._modes(p)
        return [maximum(least[i] - reactions[i], reactions[i] - most[i]) for i in self.rests]

    def _active(self, p: Any) -> list[Any]:
        """1 for each stop, turn and rest that counts in the modes of now: moving entries meet
        stops, held ones move.
        """
        moving, *_ = self._modes(p)
        return [moving[i] for i in self._moving] + [1 - moving[i] for i in self.rests]

    def _values(self, t: Any, at: Sequence[Any], p: Any) -> list[Any]:
        """Values of the events' functions."""
        if not self.events:
            return []
        time = self.motion.clock(t, p)
        q, qd, *_ = at
        traced = isinstance(time, Expr)
        return list(self.motion.events.values(time if traced else float(time), q, qd))

    # --- intervals ---

    def clear(self, way: Extension, p: Any, bend: Any = None) -> Any:
        """1 where nothing can happen in the whole step, by bounds alone, else 0; on numbers, events
        are sampled.

        bend (nx,): by how much x may differ from `way`, if it does
        """
        box = way.box(*self._margins(bend, way))
        depths = self._greatest(box, p)
        clear = chosen(reduce(maximum, depths) < 0, 1.0, 0.0) if depths else 1.0
        traced = isinstance(way.q[0][0], Expr)
        for bounds in self._bounds(box, p) if traced else self._sampled(way, p):
            clear = minimum(clear, 0.0 if bounds is None else search.excluded(bounds))
        return clear

    def _greatest(self, box: Box, p: Any) -> list[Any]:
        """Greatest depths of stops, turns and rests in a box."""
        moving, direction, *_ = self._modes(p)
        low, high = box.q
        slow, fast = box.qd
        depths = [stop.depth(high if stop.side > 0 else low) for stop in self.stops]
        for i in self.turns:
            depths.append(maximum(-direction[i] * slow[i], -direction[i] * fast[i]))
        # Reactions of held entries have no bounds: none of them may be held.
        return depths + [0.5 - moving[i] for i in self.rests]

    def _margins(self, bend: Any, way: Extension) -> tuple[Any, Any]:
        """By how much q and qd may differ from `way` where x may by `bend`."""
        if bend is None:
            return 0.0, 0.0
        formulation = self.motion.formulation
        nq = self.motion.system.nq
        q = bend[:nq]
        if not formulation.canonical:
            return q, bend[nq : nq + self.motion.system.nv]
        rates = STEEP * q / absolute(way.times[-1] - way.times[0])
        return q, 4 * sum(rates) if formulation.quaternions else rates

    def _sampled(self, way: Extension, p: Any) -> list[tuple[float, float]]:
        """Least and greatest of values of each event in a step, on numbers."""
        if not self.events:
            return []
        fractions = np.linspace(0.0, 1.0, SAMPLES)
        q, qd = (
            search.value([row[:, None] for row in rows], fractions).T for rows in (way.q, way.qd)
        )
        states = zip(fractions, q, qd, strict=True)
        rows = [self._values(way.time(s), state, p) for s, *state in states]
        values = np.array(rows, dtype=float)
        return list(zip(values.min(axis=0).tolist(), values.max(axis=0).tolist(), strict=True))

    def look(self, way: Extension, p: Any, a: Any, w: Any, sides: Any) -> list[Looked]:
        """Findings in the interval [a, a + w] of the step about each function."""
        interval = Extension(*(search.restricted(c, a, w) for c in way))
        end = interval.q[-1], interval.qd[-1], interval.states[-1]
        t1 = interval.times[-1][0]
        looked = []
        for depth, side in zip(self._polynomials(way.q, way.qd, p), sides, strict=False):
            # The depth is restricted, not q: along a stop it is 0 to the last bit.
            looked.append(search.depth_of(search.restricted(depth, a, w), side, w))
        for depth in self._held(t1, end, p):
            looked.append(search.sampled(-1.0, depth, 1.0, None, w)._replace(side=-1.0))
        looked = [_if_active(*pair) for pair in zip(self._active(p), looked, strict=True)]
        events = zip(
            sides[self._first_event :],
            self._values(t1, end, p),
            self.motion.events.directions,
            self._bounds(interval.box(), p),
            strict=True,
        )
        for side, value, direction, bounds in events:
            crossing = search.sampled(side, value, direction, bounds, w)
            looked.append(search.or_missing(crossing, side, value, w))
        return looked

    def _polynomials(self, q: Sequence[Any], qd: Sequence[Any], p: Any) -> list[list[Any]]:
        """Coefficients of the depths of stops and turns, from those of q and qd."""
        _, direction, *_ = self._modes(p)
        stops = [[stop.depth(row) for row in q] for stop in self.stops]
        return stops + [[-direction[i] * row[i] for row in qd] for i in self.turns]

    def _bounds(self, box: Box, p: Any) -> list[Any]:
        """Bounds of each event in a box of states and times; None where there are none, as on
        numbers.
        """
        first = box.q[0][0]
        if not self.events or not isinstance(first, Expr):
            return [None] * self.events
        (time,) = symbols("time of an event", 1, first.graph)
        q, qd = (
            symbols(f"{name} of an event", len(bounds[0]), first.graph)
            for name, bounds in (("q", box.q), ("qd", box.qd))
        )
        hulls = {time: tuple(self.motion.clock(t, p) for t in box.times)}
        for entries, bounds in ((q, box.q), (qd, box.qd)):
            hulls |= dict(zip(entries, zip(*bounds, strict=True), strict=True))
        return list(enclosures(self.motion.events.values(time, q, qd), hulls))

    # --- what has happened ---

    def valued(self, changed: Any, t: Any, at: Instant, p: Any, sides: Any) -> list[Any]:
        """`changed` without the events that have no value at a state, or had none where the search
        began.
        """
        first = self._first_event
        valued = [*changed[:first]]
        values = self._values(t, at, p)
        for event, value, side in zip(changed[first:], values, sides[first:], strict=True):
            nothing = maximum(search.missing(value), chosen(absolute(side) > 1, 1.0, 0.0))
            valued.append(chosen(nothing > 0, 0.0, event))
        return valued

    def together(self, changed: Any, depths: Any) -> list[Any]:
        """Happenings where the first depths have `changed`: where a mode ends, events passed by
        then, too.
        """
        first = self._first_event
        happened = [*changed[:first]]
        ends = reduce(maximum, happened) if happened else 0.0
        for event, depth in zip(changed[first:], depths[first:], strict=True):
            happened.append(maximum(event, chosen(depth >= 0, ends, 0.0)))
        return happened

    def imposed(self, x: Any, happened: Any) -> Any:
        """x with coordinates exactly at the stops that they met, and velocities that came to rest
        exactly 0.
        """
        x = np.array(x)
        nq = self.motion.system.nq
        values = [(stop.coordinate, stop.bound) for stop in self.stops]
        values += [(nq + i, 0.0) for i in self.turns]
        for (entry, value), depth in zip(values, happened, strict=False):
            x[entry] = chosen(depth >= 0, value, x[entry])
        return x

    def meets(self, at: Instant, changed: Any, p: Any) -> Any:
        """1 where a state moves towards the stops that `changed`, and is beyond no other, else 0.

        Euler's methods move coordinates by velocities of another time: a part of their step may
        lead to a stop with a velocity that points away from it.
        """
        q, qd, _ = at
        meets: Any = 1.0
        for stop, met, active in zip(self.stops, changed, self._active(p), strict=False):
            towards = chosen(stop.side * qd[stop.entry] >= 0, 1.0, 0.0)
            within = chosen(stop.depth(q) <= 0, 1.0, 0.0)
            meets = minimum(meets, chosen(active > 0, chosen(met > 0, towards, within), 1.0))
        return meets

    def between(self, way: Extension, whole: Sequence[Any], s: Any) -> np.ndarray:
        """x at a fraction s of a step; whole: coefficients of x, of which coordinates and
        velocities are those of `way`.
        """
        q, qd, _ = way.at(s)
        x = search.value(whole, s)
        nq = self.motion.system.nq
        work = nq + self.motion.system.nv
        y = x[nq:work] if self.motion.formulation.canonical else qd
        return np.concatenate([q, y, x[work:]])

    def state(self, t: Any, x: Any, p: Any) -> Instant:
        """q, qd and states of the controller in x."""
        q, _, _, states = self.motion.split(x)
        return q, self.motion.velocities_in(t, x, p), states
