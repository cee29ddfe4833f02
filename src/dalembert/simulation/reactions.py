"""Joints that stick and joints at stops: a single law for the reaction r of each entry of qd.

    M(q) qdd = tau + passive force - C qd - g + r,    lower <= r <= upper,

and an entry at rest accelerates only along a reaction that is at its bound: of dry friction F [-F,
F], of a lower stop [0, inf), of an upper one (-inf, 0], of both their sum. A moving entry has r =
-F sign(qd). What each entry does is a mode of one compiled right-hand side: held entries, S =
diag(0 where held, 1 elsewhere), have the acceleration 0 in

    (S M S + 1 - S) qdd = S (tau + passive force - C qd - g + r).

What entries at rest do is in `resting`, what an impact leaves in `impacts`, both by `lcp`. Events
and complementarity: Pfeiffer, Glocker, Multibody Dynamics with Unilateral Contacts (1996), chapters
6 and 8.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from copy import copy
from dataclasses import replace
from functools import cached_property, partial, reduce
from numbers import Real
from typing import Any, NamedTuple

import numpy as np

from dalembert.arguments import check_choice
from dalembert.codegen.symbols import without_collection
from dalembert.compiled.memo import kept
from dalembert.errors import DalembertWarning, UnknownNameError, caller_level
from dalembert.expr import Graph, absolute, array, maximum
from dalembert.formulations import newton_euler
from dalembert.integrators.choice import chosen
from dalembert.kinematics.forces import SIGN, STICK, coulomb, friction_force
from dalembert.model.friction_laws import Stribeck
from dalembert.model.mechanism import Mechanism
from dalembert.native.function import CompiledFunction, function
from dalembert.native.routine import Routine
from dalembert.results.observables import Observable, observable_of
from dalembert.results.records import rows_of
from dalembert.simulation.elementwise import at_most, less, where
from dalembert.simulation.formulation import NONE, Formulation
from dalembert.simulation.friction import kinetic, shape_of
from dalembert.simulation.impacts import impact, is_short
from dalembert.simulation.lcp import UNBOUNDED
from dalembert.simulation.mobility import (
    HeldInLoops,
    Mobility,
    Unheld,
    held_in_loops,
    projected_beside,
)
from dalembert.simulation.options import Contact
from dalembert.simulation.repetition import traced
from dalembert.simulation.resting import Resting, resting
from dalembert.spatial.ldl import factorised, solved, unchecked
from dalembert.systems.constraint_set import ConstraintSet
from dalembert.systems.kinds import system_of
from dalembert.tracing.regrouping import on_regrouped_tree
from dalembert.tracing.trace import Trace

HELD, FREE = 0.0, 2.0  # modes in records; 1 and -1: slides forward and back
# times the way of its friction: rests with friction at its bound, as others leave it no motion
CARRIED = 3.0
# of a step: joints that meet their stops within this time meet them at once, in one impact
NEAR = 1e-6
# of a step: a flight between two impacts that is shorter is none, the joint stays at its stop
SHORT = 1e-2
TOUCHING = 1e-12  # rad, m; of a bound, if that is larger: a joint as close to its stop is at it

Stops = Mapping[str, float] | bool | None


def reactions_of(formulation: Formulation, contact: Contact) -> Reactions | None:
    """The law for equations of motion, kept; None where nothing rubs or stops, or friction is to be
    -F sign(qd).

    Raises
    ------
    UnknownNameError, ValueError, TypeError
        There is no such law; stops need equations in (q, qd), and are True or a mapping.
    """
    friction = contact.friction
    stops = contact.stops
    if not isinstance(friction, Stribeck):
        check_choice("friction law", friction, (STICK, SIGN))
    if not isinstance(stops, (bool, Mapping, type(None))):
        raise TypeError(
            f"stops={stops!r}: expected True, or {{joint name: restitution from 0 to 1}}."
        )
    m = formulation.system.mechanism
    if m is None or formulation.name != "newton_euler":
        _refuse_contact(contact, formulation.name)
        return None

    def made() -> Reactions | None:
        """The law of a system, or None where nothing rubs or stops."""
        shape = shape_of(m, friction if isinstance(friction, Stribeck) else None)
        sticking = friction != SIGN and bool(coulomb(m).any())
        acts = sticking or np.isfinite(limits(m, stops)[:2]).any()
        return Reactions(m, sticking, stops, formulation.paths, shape) if acts else None

    key = repr(friction), stops is True or tuple(dict(stops or {}).items()), formulation.paths
    law = kept(m, ("reactions", *key), made)
    if isinstance(friction, Stribeck) and not coulomb(m).any():
        _warn(f"{friction} changes nothing: no joint of {m.name!r} has Coulomb friction.")
    if stops is True and (law is None or not np.isfinite([law.lower, law.upper]).any()):
        _warn(f"stops=True stops nothing: {_without_limits(m)}.")
    return law  # type: ignore[no-any-return]


def _refuse_contact(contact: Contact, formulation: str) -> None:
    """See that nothing is asked of a formulation without reactions."""
    if contact.stops:
        raise ValueError(f"stops need the formulation 'newton_euler', not {formulation!r}.")
    if isinstance(contact.friction, Stribeck):
        raise ValueError(
            f"friction=Stribeck(...) needs the formulation 'newton_euler', not {formulation!r}."
        )


def _warn(message: str) -> None:
    warnings.warn(message, DalembertWarning, stacklevel=caller_level())


class Transition(NamedTuple):
    """Modes of states, their velocities after impacts, and the kinetic energy that these changed
    [J].
    """

    # (m, 4 nv): 0 where held, the direction of sliding friction, bounds of the reaction where held
    modes: np.ndarray
    qd: np.ndarray
    energy: np.ndarray  # (m, 1)
    impacts: np.ndarray  # (m, nv): velocities with which entries hit a stop, else 0
    joined: (
        np.ndarray
    )  # (m, nq): q with joints close to their stops placed on them, where the impact is
    does: np.ndarray  # (m, nv): modes as records have them
    again: np.ndarray  # (m, 1): 1 where another impact follows at once, or q was moved


class Reactions:
    """Dry friction and stops of a mechanism, by entry of qd; a follower's count for its leader's
    entry.

    Parameters
    ----------
    sticking : bool
        Whether Coulomb friction is set-valued here; it is -F sign(qd) otherwise, at rest 0.
    stops : bool or dict of joint name -> restitution
        Joints that stop at their limits; True: all that have limits, where they stay.
    paths : sequence of str
        Of numbers of the mechanism that are inputs of the compiled functions; `at` gives the law
        for some numbers.
    shape : (2, nv) array, optional
        Of `shape_of`: how friction at rest and of slow sliding is larger than that of fast
        sliding.

    Raises
    ------
    UnknownNameError, ValueError
        There is no such joint; it has no limits or several velocities; a restitution is not between
        0 and 1.
    """

    def __init__(
        self,
        mechanism: Mechanism,
        sticking: bool,
        stops: Stops,
        paths: tuple[str, ...] = (),
        shape: np.ndarray | None = None,
    ):
        n = mechanism.nv
        self.paths = paths
        self.mechanism = mechanism
        self.n = n
        self.sticking = sticking
        self.friction = coulomb(mechanism) if sticking else np.zeros(n)
        self._shape = shape_of(mechanism, None) if shape is None else shape
        self.lower, self.upper, self.restitution = limits(mechanism, stops)
        self.place = np.zeros(n, dtype=int)  # in q, of entries with stops
        for entry in mechanism.entries.values():
            self.place[entry.at_v.start] = entry.at_q.start
        self.stopping = np.isfinite(self.lower) | np.isfinite(self.upper)
        self._room = [
            high - low if np.isfinite(high - low) else UNBOUNDED
            for low, high in zip(self.lower.tolist(), self.upper.tolist(), strict=True)
        ]
        self._locked = [
            1.0 if room <= _rounding(low) else 0.0
            for room, low in zip(self._room, self.lower, strict=True)
        ]
        self.upper = np.where(self._locked, self.lower, self.upper)
        self.restable = (self.friction > 0) | self.stopping
        self._move(
            mechanism
            if not sticking
            else replace(mechanism, joints=tuple(replace(j, coulomb=0) for j in mechanism.joints))
        )

    def _move(self, smooth: Mechanism) -> None:
        self._smooth = smooth
        self._moved = on_regrouped_tree(smooth)
        self._system = system_of(smooth)
        self.rows = ConstraintSet(self._system) if smooth.constraints else None

    def at(self, numbers: Any) -> Reactions:
        """The law for numbers at the paths, floats or expressions, of which `rates` and `reactions`
        are asked.
        """
        if not self.paths:
            return self
        twin = copy(self)
        twin.paths = ()
        twin._move(self._smooth.replace(dict(zip(self.paths, numbers, strict=True))))
        return twin

    @cached_property
    def entries(self) -> np.ndarray:
        """Entries of qd that can rest."""
        return np.flatnonzero(self.restable)

    @property
    def observables(self) -> dict[str, Observable]:
        """Declarations of the reactions at the records, and of multipliers beside them."""
        declared = {
            "reactions": Observable(
                ("velocity",),
                "N m, N",
                "forces of Coulomb friction and stops",
                compute=lambda run: self.recorded(run, self.called_reactions),
            )
        }
        if self.rows:
            known = observable_of("multipliers", self._system.recorded["multipliers"])
            multipliers = self._compiled(Reactions.multipliers)
            compute = partial(self.recorded, of=multipliers)
            declared["multipliers"] = replace(known, compute=compute)
        return declared

    def recorded(self, run: Any, of: Callable[..., Any]) -> np.ndarray:
        """A compiled function of this law at the records of a run (..., n), with its modes."""
        n = self.n
        q, modes, numbers = run.q, run.modes, run.numbers
        times = np.broadcast_to(run.times, q.shape[:-1]).reshape(-1)
        given = [times, *(v.reshape(-1, v.shape[-1]) for v in (q, run.qd, run.tau))]
        numbers = rows_of(numbers, q).reshape(len(times), len(self.paths))
        rows = modes.reshape(-1, n)
        moving = (rows != HELD) & (np.abs(rows) != CARRIED)
        full = np.hstack(
            [moving, np.where(np.abs(rows) == FREE, 0, np.sign(rows)), np.zeros((len(rows), 2 * n))]
        )
        return of(*given, full, numbers).reshape(*q.shape[:-1], -1)

    def mode(self, i: int, mode: int, x: np.ndarray) -> str:
        """Behaviour of an entry, in a word."""
        if mode == HELD or abs(mode) == CARRIED:
            return "stops" if x[self.place[i]] in (self.lower[i], self.upper[i]) else "sticks"
        return {1: "slides forward", -1: "slides back"}.get(int(mode), "moves")

    def arrive(self, q: np.ndarray, qd: np.ndarray, modes: np.ndarray, ended: np.ndarray) -> None:
        """Put entries of states (m, ...) whose mode has `ended` (m, nv) where they are exactly: at
        rest, or at a stop.
        """
        for row, i in np.argwhere(ended & (modes[:, : self.n] > 0)):
            own = q[row, self.place[i]]
            low = self.lower[i]
            high = self.upper[i]
            if self.stopping[i] and not low < own < high:
                q[row, self.place[i]] = low if own <= low else high
            if modes[row, self.n + i] * qd[row, i] < 0:
                qd[row, i] = 0.0

    @property
    def key(self) -> tuple[Any, ...]:
        """Equal for equal laws of one mechanism."""
        return (
            self.sticking,
            self._shape.tobytes(),
            self.lower.tobytes(),
            self.upper.tobytes(),
            self.restitution.tobytes(),
        )

    def _compiled(self, of: Callable[..., Any]) -> CompiledFunction:
        """A function of this law and of t, q, qd, tau, modes, with the numbers behind them."""
        n = self.n
        sizes: dict[str, Any] = {"t": (), "q": self.mechanism.nq, "qd": n, "tau": n, "modes": 4 * n}
        return function(
            lambda numbers, **v: of(self.at(numbers), **v), **sizes, numbers=len(self.paths)
        )

    @cached_property
    def called(self) -> CompiledFunction:
        """`rates`, compiled."""
        return self._compiled(Reactions.rates)

    @cached_property
    def called_reactions(self) -> CompiledFunction:
        """`reactions`, compiled."""
        return self._compiled(Reactions.reactions)

    def rates(self, t: Any, q: Any, qd: Any, tau: Any, modes: Any) -> tuple[Any, Any, Any]:
        """q', qdd and the power of what is in no potential [W], over any scalar."""
        friction = self._sliding(qd, modes)
        power = sum((tau + friction_force(self._smooth, q, qd) + friction) * qd)
        M, force = self._equations(q, qd, tau)
        free = Unheld(M, force + friction, t, q, qd)
        if self.rows is None:
            return self.mechanism.rate(q, qd), self._accelerations(M, free.force, modes), power
        held = self._held_in_loops(free, modes)
        return self.mechanism.rate(q, qd), held.qdd, power + held.power

    def reactions(self, t: Any, q: Any, qd: Any, tau: Any, modes: Any) -> Any:
        """r of a state."""
        M, force = self._equations(q, qd, tau)
        friction = self._sliding(qd, modes)
        if self.rows is None:
            qdd = self._accelerations(M, force + friction, modes)
            holding = [sum(M[i] * qdd) - force[i] for i in range(self.n)]
        else:
            free = Unheld(M, force + friction, t, q, qd)
            holding = self._held_in_loops(free, modes).reaction + friction
        r = friction.copy()
        for i in self.entries:
            r[i] = chosen(modes[i] > 0, friction[i], holding[i])
        return r

    def multipliers(self, t: Any, q: Any, qd: Any, tau: Any, modes: Any) -> Any:
        """Multipliers of constraints beside the reactions of a state."""
        r = self.reactions(t, q, qd, tau, modes)
        return self._system.multipliers(q, qd, tau + r, t)

    def _held_in_loops(self, free: Unheld, modes: Any) -> HeldInLoops:
        """The motion on constraints with entries held as modes say."""
        assert self.rows is not None
        held = 1 - array(self.moving(modes))
        holding = held * (1 - absolute(array(list(modes[self.n : 2 * self.n]))))
        return held_in_loops(Mobility.at(self.rows, free), free, held, holding)

    def transition(
        self,
        t: np.ndarray,
        q: np.ndarray,
        qd: np.ndarray,
        tau: np.ndarray,
        h: float,
        numbers: np.ndarray = NONE,
        plastic: np.ndarray | float = 0.0,
    ) -> Transition:
        """Behaviour of each entry from states (m, ...) on, in which resting entries have the
        velocity 0.

        Joints that move into their stops, or would within NEAR h, bounce by the law of `impacts`,
        all at once. Joints that friction alone holds are free in it: a finite force has no impulse.
        Flights shorter than SHORT h are none: the impact of a joint that would make one is plastic.

        h: length of a step [s]; plastic: (m, nv) 1 for joints whose impacts are plastic in any case
        """
        given = [
            np.reshape(t, (-1, 1)),
            q,
            qd,
            tau,
            np.full((len(q), 1), h),
            np.broadcast_to(plastic, qd.shape),
            *([numbers] if self.paths else []),
        ]
        return Transition(*self._transition(*given))

    @cached_property
    def _transition(self) -> Routine:
        """`transition` as a routine; flights that would not last are found one by one."""
        n = self.n
        nq = self.mechanism.nq
        inputs = {"t": 1, "q": nq, "qd": n, "tau": n, "h": 1, "plastic": n}
        inputs |= {"numbers": len(self.paths)} if self.paths else {}
        results = {"modes": 4 * n, "after": n, "energy": 1, "impacts": n}
        results |= {"joined": nq, "does": n, "again": 1}
        with without_collection(), Graph():
            trace = Trace(
                inputs
                | results
                | {"N": n * n, "force": n, "drift": n, "before": n, "weak": n, "over": 1}
            )
            self._trace_transition(trace)
        return Routine(trace.program(tuple(inputs), tuple(results)))

    def _trace_transition(self, trace: Trace) -> None:
        v = trace.registers
        h = trace["h"]
        repeat = traced(trace)
        before = v["qd"]
        after = v["after"]
        trace.give({"joined": self._joined(v["q"], before, h), "weak": v["plastic"]})
        q = v["joined"]
        law = self.at(v.get("numbers"))
        out, restitution = self._out(q)
        t = trace["t"] if self.rows else None
        M, _ = law._equations(q, before, v["tau"])
        first = Mobility.at(law.rows, Unheld(M, None, t, q, before))
        trace.give({"N": first.N.reshape(-1)})
        N = v["N"].reshape(self.n, self.n)
        if law.rows:
            at_stops = [*(1 - absolute(out))]
            trace.give({"joined": projected_beside(law.rows, at_stops, q, before, t)[0]})
        if law.rows and not law.rows.does_work:
            trace.give({"before": self._without_noise(first._replace(N=N), before)})
            before = v["before"]
        with trace.loop("over", self.n + 2):  # until no more flights are short
            elastic = (1 - v["weak"]) * restitution
            hit = impact(N, before, out, elastic, self._locked, repeat, first.firm)
            trace.give({"after": hit.velocity, "impacts": hit.met})
            trace.give({"force": law._equations(q, after, v["tau"])[1]})
            bounds = self.friction * self._shape[0], self._kinetic(after)
            mobility = first._replace(N=N)
            if law.rows:
                drift = Mobility.at(law.rows, Unheld(M, None, t, q, after)).drift
                trace.give({"drift": drift})
                mobility = mobility._replace(drift=v["drift"])
            rest = resting(mobility, v["force"], after, out, self._locked, *bounds, repeat)
            short = is_short(out, after, rest.acceleration, array(self._room), SHORT * h)
            new = short * (1 - v["weak"])
            trace.give(
                {
                    "weak": v["weak"] + new,
                    "over": [1 - reduce(maximum, new)],
                    "modes": np.concatenate([1 - rest.held, rest.way, rest.lower, rest.upper]),
                    "does": _shown(rest),
                    "energy": [(sum(after * (M @ after)) - sum(before * (M @ before))) / 2],
                    "again": [self._goes_on(v["q"], q, after, out, h)],
                }
            )

    def _without_noise(self, mobility: Mobility, qd: np.ndarray) -> Any:
        """Velocities with those exactly 0 that entries at rest leave no motion."""
        rests = where(less(0.0, absolute(qd)), 0.0, self.restable * 1.0)
        none = np.zeros(self.n)
        return where(less(0.0, mobility.without_motion(rests, none, none)), 0.0, qd)

    def _joined(self, q: np.ndarray, qd: np.ndarray, h: Any) -> list[Any]:
        """q with joints placed on their stops that are there but for rounding, or would be within
        NEAR h.
        """
        found = list(q)
        for i in np.flatnonzero(self.stopping):
            for bound, speed in ((self.lower[i], -qd[i]), (self.upper[i], qd[i])):
                if np.isfinite(bound):
                    own = found[self.place[i]]
                    reach = maximum(NEAR * h * speed, _rounding(bound))
                    found[self.place[i]] = chosen(absolute(own - bound) <= reach, bound, own)
        return found

    def _out(self, q: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The way out of its stop of each entry that is at one, else 0, and the restitution there."""

        def at(bounds: np.ndarray) -> np.ndarray:
            """1 at a bound of entry i, else 0."""
            return where(at_most(absolute(q[self.place] - bounds), 0.0), 1.0, 0.0)

        has_lower, has_upper = np.isfinite([self.lower, self.upper]) * 1.0
        lower = np.nan_to_num(self.lower)
        upper = np.nan_to_num(self.upper)
        out = has_lower * at(lower) - has_upper * (1 - np.array(self._locked)) * at(upper)
        return out, where(less(0.0, out), *self.restitution)

    def _goes_on(
        self, given: np.ndarray, q: np.ndarray, qd: np.ndarray, out: np.ndarray, h: Any
    ) -> Any:
        """1 if joints were moved to their stops, or velocities after an impact lead into stops at
        once, else 0.
        """
        moved = sum(absolute(q - given)) + sum(absolute(array(self._joined(q, qd, h)) - q))
        into = where(less(out * qd, 0.0), 1.0, 0.0)
        return chosen(moved + sum(into) > 0, 1.0, 0.0)

    def _sliding(self, qd: Any, modes: Any) -> Any:
        return -self._kinetic(qd) * modes[self.n : 2 * self.n]

    def _kinetic(self, qd: Any) -> Any:
        """Friction of entries that slide (nv,)."""
        return array(kinetic(self.friction, self._shape, qd))

    def _equations(self, q: Any, qd: Any, tau: Any) -> tuple[Any, Any]:
        """M and the forces that are no reactions."""
        bias = newton_euler.inverse_dynamics(self._moved, q, qd, np.zeros(self.n))
        return newton_euler.mass_matrix(self._moved, q), tau - bias

    def _accelerations(self, M: Any, force: Any, modes: Any) -> Any:
        rows = [list(row) for row in M]
        return np.array(solved(factorised(rows, unchecked, self.moving(modes)), list(force)))

    def moving(self, modes: Any) -> list[Any]:
        """1 of entries that move, 0 of held ones."""
        return [modes[i] if self.restable[i] else 1 for i in range(self.n)]


def _rounding(bound: float) -> float:
    """How close to a stop a joint is at it."""
    return TOUCHING * max(1.0, abs(bound)) if np.isfinite(bound) else 0.0


def _shown(rest: Resting) -> np.ndarray:
    """Modes as records have them."""
    sliding = where(less(0.0, absolute(rest.way)), rest.way, FREE)
    return where(less(0.0, rest.held), CARRIED * rest.way, sliding)


def _without_limits(mechanism: Mechanism) -> str:
    return (
        f"no joint of mechanism {mechanism.name!r} has limits of one coordinate; joints stop at "
        "da.Limits(lower=(...,), upper=(...,)) [rad, m]"
    )


def limits(mechanism: Mechanism, stops: Stops) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Lower and upper stops of the entries of qd (nv,), infinite where there are none, and
    restitutions there (2, nv).
    """
    bounds = np.array([[-np.inf], [np.inf]]) * np.ones(mechanism.nv)
    restitution = np.zeros((2, mechanism.nv))
    have = {
        j.name: j
        for j in mechanism.joints
        if j.type.nv == j.type.nq == 1
        and (j.limits.lower is not None or j.limits.upper is not None)
    }
    given = dict.fromkeys(have, 0.0) if stops is True else dict(stops or {})
    for name, e in given.items():
        if not have:
            raise ValueError(
                f"stops: joint {name!r} has no limits to stop at: {_without_limits(mechanism)}."
            )
        if name not in mechanism.entries:
            raise UnknownNameError("joint", name, tuple(have))
        if name not in have:
            raise ValueError(f"stops: joint {name!r} has no limits of one coordinate to stop at.")
        if not isinstance(e, Real) or not 0 <= e <= 1:
            raise ValueError(
                f"stops: the restitution of joint {name!r} is {e!r}, expected a number from 0 to 1."
            )
        joint = have[name]
        entry = mechanism.entries[name]
        own = [
            float(b[0]) if b is not None else s
            for b, s in ((joint.limits.lower, -np.inf), (joint.limits.upper, np.inf))
        ]
        low, high = sorted((b - float(entry.offset)) / float(entry.factor) for b in own)
        k = entry.at_v.start
        for side, bound, tighter in ((0, low, low > bounds[0, k]), (1, high, high < bounds[1, k])):
            if tighter:
                bounds[side, k] = bound
                restitution[side, k] = e
    return bounds[0], bounds[1], restitution
