"""Joints that stick and joints at stops: one law for the reaction r of each entry of qd.

    M(q) qdd = tau + passive force - C qd - g + r,    lower <= r <= upper,

and an entry at rest accelerates only along a reaction that is at its bound: of dry friction F [-F, F], of a lower stop
[0, inf), of an upper one (-inf, 0], of both their sum. A moving entry has r = -F sign(qd). What each entry does is a mode of
one compiled right-hand side: held entries, S = diag(0 where held, 1 elsewhere), have the acceleration 0 in

    (S M S + 1 - S) qdd = S (tau + passive force - C qd - g + r).

Friction that sticks: Brogliato, Nonsmooth Mechanics (2016), chapter 5; events and complementarity: Pfeiffer, Glocker,
Multibody Dynamics with Unilateral Contacts (1996), chapters 6 and 8.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from copy import copy
from dataclasses import replace
from functools import cached_property, reduce
from numbers import Real
from typing import Any, NamedTuple

import numpy as np

from dalembert.compiled.calls import without_collection
from dalembert.compiled.function import CompiledFunction, function
from dalembert.compiled.marching import Trace
from dalembert.compiled.regrouping import Regrouped
from dalembert.compiled.routine import Routine
from dalembert.errors import DalembertWarning, UnknownNameError
from dalembert.expr import Graph, absolute, array, maximum, minimum, sign
from dalembert.formulations import newton_euler
from dalembert.formulations.newton_euler.mass_matrix import factorised, solved
from dalembert.integrators.choice import chosen
from dalembert.kinematics.forces import passive_force
from dalembert.model.mechanism import Mechanism
from dalembert.simulation.box import box
from dalembert.simulation.forms import NONE, Form, rows_of
from dalembert.simulation.kept import kept

UNBOUNDED = 1e300        # stands for an infinite bound
SLACK = 1e-10            # of the reactions: a held entry moves once its reaction is as much beyond its bound
STICK, SIGN = "stick", "sign"
HELD, FREE = 0.0, 2.0    # modes in records; 1 and -1: slides forward and back
NEAR = 1e-6              # of a step: what would hit its stop as soon, hits it now
SHORT = 1e-2             # of a step: a flight between two impacts that is shorter is none, the joint stays at its stop

Stops = Mapping[str, float] | bool | None


def reactions_of(form: Form, friction: str, stops: Stops) -> Reactions | None:
    """The law for equations of motion, kept; None where nothing rubs or stops, or friction is to be -F sign(qd).

    Raises
    ------
    UnknownNameError, ValueError, TypeError
        There is no such law; stops need equations in (q, qd), and are True or a mapping.
    """
    if friction not in (STICK, SIGN):
        raise UnknownNameError("friction law", friction, (STICK, SIGN))
    if not isinstance(stops, (bool, Mapping, type(None))):
        raise TypeError(f"stops={stops!r}: expected True, or {{joint name: restitution from 0 to 1}}.")
    if form.formulation != "newton_euler":
        if stops:
            raise ValueError(f"stops need the formulation 'newton_euler', not {form.formulation!r}.")
        return None
    m = form.system

    def made() -> Reactions | None:
        sticking = friction == STICK and bool(coulomb(m).any())
        found = sticking or np.isfinite(limits(m, stops)[:2]).any()
        return Reactions(m, sticking, stops, form.paths) if found else None

    law = kept(m, ("reactions", friction, stops is True or tuple(dict(stops or {}).items()), form.paths), made)
    if stops is True and (law is None or not np.isfinite([law.lower, law.upper]).any()):
        warnings.warn(f"stops=True stops nothing: {_without_limits(m)}.", DalembertWarning, stacklevel=4)      # of simulate
    return law      # type: ignore[no-any-return]


class Settled(NamedTuple):
    """Modes of states, their velocities after impacts, and the kinetic energy that these changed [J]."""

    modes: np.ndarray        # (m, 4 nv): 0 where held, the direction of sliding friction, bounds of the reaction where held
    qd: np.ndarray
    energy: np.ndarray       # (m, 1)
    impacts: np.ndarray      # (m, nv): velocities with which entries hit a stop, else 0
    joined: np.ndarray       # (m, nq): q with those at their stops that would be there in next to no time
    does: np.ndarray         # (m, nv): modes as records have them


class Reactions:
    """Dry friction and stops of a mechanism, by entry of qd; a follower's count for its leader's entry.

    Parameters
    ----------
    sticking : bool
        Whether Coulomb friction is set-valued here; it is -F sign(qd) otherwise, at rest 0.
    stops : bool or dict of joint name -> restitution
        Joints that stop at their limits; True: all that have limits, where they stay.
    paths : sequence of str
        Of numbers of the mechanism that are inputs of the compiled functions; `at` gives the law for some numbers.

    Raises
    ------
    UnknownNameError, ValueError
        There is no such joint; it has no limits or several velocities; a restitution is not between 0 and 1.
    """

    def __init__(self, mechanism: Mechanism, sticking: bool, stops: Stops, paths: tuple[str, ...] = ()):
        n, self.paths = mechanism.nv, paths
        self.mechanism, self.n, self.sticking = mechanism, n, sticking
        self.friction = coulomb(mechanism) if sticking else np.zeros(n)
        self.lower, self.upper, self.restitution = limits(mechanism, stops)
        self.place = np.zeros(n, dtype=int)                        # in q, of entries with stops
        for entry in mechanism.entries.values():
            self.place[entry.at_v.start] = entry.at_q.start
        self.stopping = np.isfinite(self.lower) | np.isfinite(self.upper)
        self.restable = (self.friction > 0) | self.stopping
        self._move(mechanism if not sticking else replace(mechanism, joints=tuple(
            replace(j, coulomb=0) for j in mechanism.joints)))

    def _move(self, smooth: Mechanism) -> None:
        self._smooth, self._moved, self._rubbing = smooth, Regrouped.of(smooth), smooth.without("springs")

    def at(self, numbers: Any) -> Reactions:
        """The law for numbers at the paths, floats or expressions: what `rates`, `depths`, `reactions` are asked of."""
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

    def check(self, q: np.ndarray) -> None:
        """Raise ValueError if a state (..., nq) to begin with is beyond a stop."""
        for i in np.flatnonzero(self.stopping):
            own = np.atleast_1d(q[..., self.place[i]])
            wrong = own[(own < self.lower[i]) | (own > self.upper[i])]
            if len(wrong):
                raise ValueError(f"joint {self.mechanism.velocity_names[i]!r} begins at {wrong[0]:g}, beyond its stops at "
                                 f"{self.lower[i]:g} and {self.upper[i]:g}: begin between them, or leave it out of stops=.")

    def recorded(self, q: np.ndarray, qd: np.ndarray, tau: np.ndarray, modes: np.ndarray,
                 numbers: np.ndarray) -> np.ndarray:
        """Reactions of records (..., nv) with modes as records have them."""
        n = self.n
        given = [v.reshape(-1, v.shape[-1]) for v in (q, qd, tau)]
        numbers = rows_of(numbers, q).reshape(len(given[0]), len(self.paths))
        rows = modes.reshape(-1, n)
        full = np.hstack([rows != 0, np.where(np.abs(rows) == 1, rows, 0), np.zeros((len(rows), 2 * n))])
        return self.called_reactions(*given, full, numbers).reshape(qd.shape)

    def mode(self, i: int, mode: int, x: np.ndarray) -> str:
        """What an entry does, in a word."""
        if mode == 0:
            return "stops" if x[self.place[i]] in (self.lower[i], self.upper[i]) else "sticks"
        return {1: "slides forward", -1: "slides back"}.get(int(mode), "moves")

    def arrive(self, q: np.ndarray, qd: np.ndarray, modes: np.ndarray, ended: np.ndarray) -> None:
        """Put entries of states (m, ...) whose mode has `ended` (m, nv) where they are exactly: at rest, or at a stop."""
        for row, i in np.argwhere(ended & (modes[:, :self.n] > 0)):
            own, low, high = q[row, self.place[i]], self.lower[i], self.upper[i]
            if self.stopping[i] and not low < own < high:
                q[row, self.place[i]] = low if own <= low else high
            if modes[row, self.n + i] * qd[row, i] < 0:
                qd[row, i] = 0.0

    @property
    def key(self) -> tuple[Any, ...]:
        """Equal for equal laws of one mechanism."""
        return self.sticking, self.lower.tobytes(), self.upper.tobytes(), self.restitution.tobytes()

    def _compiled(self, of: Callable[..., Any]) -> CompiledFunction:
        """A function of this law and of q, qd, tau, modes, with the numbers behind them."""
        sizes = {"q": self.mechanism.nq, "qd": self.n, "tau": self.n, "modes": 4 * self.n}
        return function(lambda numbers, **v: of(self.at(numbers), **v), **sizes, numbers=len(self.paths))

    @cached_property
    def called(self) -> CompiledFunction:
        """`rates`, compiled."""
        return self._compiled(Reactions.rates)

    @cached_property
    def called_depths(self) -> CompiledFunction:
        """`depths`, compiled."""
        return self._compiled(lambda law, **v: array(law.depths(**v)))

    @cached_property
    def called_reactions(self) -> CompiledFunction:
        """`reactions`, compiled."""
        return self._compiled(Reactions.reactions)

    def rates(self, q: Any, qd: Any, tau: Any, modes: Any) -> tuple[Any, Any, Any]:
        """q', qdd and the power of what is in no potential [W], over any scalar."""
        friction = self._sliding(modes)
        power = sum((tau + passive_force(self._rubbing, q, qd) + friction) * qd)
        M, force = self._equations(q, qd, tau)
        return self.mechanism.rate(q, qd), self._accelerations(M, force + friction, modes), power

    def reactions(self, q: Any, qd: Any, tau: Any, modes: Any) -> Any:
        """r of a state."""
        M, force = self._equations(q, qd, tau)
        friction = self._sliding(modes)
        qdd = self._accelerations(M, force + friction, modes)
        return array([chosen(modes[i] > 0, friction[i], sum(M[i] * qdd) - force[i]) if self.restable[i] else friction[i]
                      for i in range(self.n)])

    def depths(self, q: Any, qd: Any, tau: Any, modes: Any) -> list[Any]:
        """Of each entry that can rest, how far it is beyond what its mode allows: >= 0 where the mode has ended."""
        r, found = self.reactions(q, qd, tau, modes), []
        _, way, low, high = modes.reshape(4, self.n)
        for i in self.entries:
            moving = [-way[i] * qd[i]] if self.friction[i] else []
            beyond = [self.lower[i] - q[self.place[i]]] if np.isfinite(self.lower[i]) else []
            beyond += [q[self.place[i]] - self.upper[i]] if np.isfinite(self.upper[i]) else []
            moving += [chosen(d > 0, d, minimum(d, -1 / UNBOUNDED)) for d in beyond]      # at a stop it may be leaving
            ended = moving[0]
            for depth in moving[1:]:
                ended = maximum(ended, depth)
            found.append(chosen(modes[i] > 0, ended, maximum(low[i] - r[i], r[i] - high[i])))
        return found

    def settled(self, q: np.ndarray, qd: np.ndarray, tau: np.ndarray, h: float, numbers: np.ndarray = NONE) -> Settled:
        """What each entry does from states (m, ...) on, in which those that rest have the velocity 0.

        h: length of a step [s]

        Entries that move into their stops bounce by Newton's law, with impulses p that only push:

            v+ = v + N p,   0 <= p,   0 <= v+ + e v   perpendicular to each other, along the ways out of the stops

        Those held by friction alone are free in it: a finite force has no impulse. A flight that would not last is none.
        """
        given = [q, qd, tau, np.full((len(q), 1), h), *([numbers] if self.paths else [])]
        return Settled(*self._settling(*given))

    @cached_property
    def _settling(self) -> Routine:
        """`settled` as a routine; flights that would not last are found one by one."""
        n, inputs = self.n, {"q": self.mechanism.nq, "qd": self.n, "tau": self.n, "h": 1}
        inputs |= {"numbers": len(self.paths)} if self.paths else {}
        given = {"modes": 4 * n, "after": n, "energy": 1, "impacts": n, "joined": self.mechanism.nq, "does": n}
        with without_collection(), Graph():
            trace = Trace(inputs | given | {"N": n * n, "force": n, "stay": n, "over": 1})
            v = trace.registers
            q, qd, tau, h, stay = v["q"], v["qd"], v["tau"], trace["h"], v["stay"]
            law, out = self.at(v.get("numbers")), self._out(v["q"])
            M, _ = law._equations(q, qd, tau)
            L, v_out = factorised(M, lambda *_: None), out * qd
            impacts = [chosen(s < 0, own, 0.0) for s, own in zip(v_out, qd, strict=True)]
            trace.give({"N": array([solved(L, row) for row in np.eye(n).tolist()]).reshape(-1), "impacts": impacts})
            N, hit = v["N"].reshape(n, n), [absolute(o) * chosen(sum(absolute(v["impacts"])) > 0, 1.0, 0.0) for o in out]
            with trace.loop("over", n + 2):
                back = [chosen(o > 0, low, high) * minimum(s, 0.0) for o, s, low, high in zip(out, v_out, *self.restitution,
                                                                                             strict=True)]
                low = [chosen(one > 0, -UNBOUNDED, 0.0) for one in stay]
                goal = array([s + chosen(one > 0, 0.0, e) for s, one, e in zip(v_out, stay, back, strict=True)])
                after = qd
                if self.stopping.any():
                    p, _ = box(trace, out[:, None] * N * out, goal, low, [UNBOUNDED] * n, hit)
                    after = qd + N @ (out * p)
                    ends = [chosen(one > 0, 1.0, chosen(push > 0, chosen(e < 0, 0.0, 1.0), 0.0)) * at
                            for one, push, e, at in zip(stay, p, back, hit, strict=True)]
                    after = array([chosen(end > 0, 0.0, own) for end, own in zip(ends, after, strict=True)])      # exactly
                trace.give({"after": after})
                after = v["after"]
                trace.give({"force": law._equations(q, after, tau)[1]})
                qdd, modes = self._rest(trace, N, v["force"], after, out)
                short = [chosen(o * own > 0, chosen(-SHORT * h * o * rate > 2 * o * own, at, 0.0), 0.0)
                         for o, own, rate, at in zip(out, after, qdd, hit, strict=True)]
                does = [chosen(moving > 0, chosen(absolute(way) > 0, way, FREE), HELD)
                        for moving, way in zip(modes[:n], modes[n:2 * n], strict=True)]
                trace.give({"modes": modes, "does": does, "joined": self._joined(q, after, h),
                            "stay": [maximum(x, y) for x, y in zip(stay, short, strict=True)],
                            "over": [maximum(trace["over"], chosen(sum(short) > 0, 0.0, 1.0))],
                            "energy": [(sum(after * (M @ after)) - sum(qd * (M @ qd))) / 2]})
        return Routine(trace, tuple(inputs), tuple(given))

    def _joined(self, q: np.ndarray, qd: np.ndarray, h: Any) -> list[Any]:
        """q with those at their stops that would be there in next to no time: impacts of several joints at once are one."""
        found = list(q)
        for i in np.flatnonzero(self.stopping):
            for bound, speed in ((self.lower[i], -qd[i]), (self.upper[i], qd[i])):
                if np.isfinite(bound):
                    own = found[self.place[i]]
                    found[self.place[i]] = chosen(absolute(own - bound) < NEAR * h * speed, bound, own)
        return found

    def _out(self, q: np.ndarray) -> np.ndarray:
        """The way out of its stop of each entry that is at one, else 0, traced."""
        def at(i: int, bound: float) -> Any:
            return chosen(absolute(q[self.place[i]] - bound) <= 0, 1.0, 0.0) if np.isfinite(bound) else 0.0

        return array([at(i, self.lower[i]) - at(i, self.upper[i]) for i in range(self.n)])

    def _rest(self, trace: Trace, N: np.ndarray, force: np.ndarray, qd: np.ndarray, out: np.ndarray) -> tuple[Any, Any]:
        """Accelerations and modes by the law of reactions, traced."""
        rubs, F = (self.friction > 0) * 1.0, self.friction
        rests = [chosen(absolute(own) > 0, 0.0, maximum(rub, absolute(o)))
                 for own, rub, o in zip(qd, rubs, out, strict=True)]
        way = rubs * [sign(own) for own in qd]
        low = [chosen(o < 0, -UNBOUNDED, -f) for o, f in zip(out, F.tolist(), strict=True)]
        high = [chosen(o > 0, UNBOUNDED, f) for o, f in zip(out, F.tolist(), strict=True)]
        force = force - F * way
        r, a = box(trace, N, N @ force, low, high, rests)
        held = [one * chosen(absolute(x) > 0, 0.0, 1.0) for one, x in zip(rests, a, strict=True)]
        way = [chosen(one > 0, sign(x) * rub, own) for one, x, rub, own in zip(rests, a, rubs, way, strict=True)]
        slack = SLACK * (reduce(maximum, absolute(r)) + F) + 1 / UNBOUNDED
        bounds = [*(maximum(x - s, -UNBOUNDED) for x, s in zip(low, slack, strict=True)),
                  *(minimum(x + s, UNBOUNDED) for x, s in zip(high, slack, strict=True))]
        qdd = [chosen(one > 0, 0.0, x) for one, x in zip(held, N @ (force + r), strict=True)]
        return qdd, [*(1 - one for one in held), *way, *bounds]

    def _sliding(self, modes: Any) -> Any:
        return -self.friction * modes[self.n:2 * self.n]

    def _equations(self, q: Any, qd: Any, tau: Any) -> tuple[Any, Any]:
        """M and the forces that are no reactions."""
        bias = newton_euler.inverse_dynamics(self._moved, q, qd, np.zeros(self.n))
        return newton_euler.mass_matrix(self._moved, q), tau - bias

    def _accelerations(self, M: Any, force: Any, modes: Any) -> Any:
        S = [modes[i] if self.restable[i] else 1 for i in range(self.n)]
        A = [[M[i][j] * S[i] * S[j] + (1 - S[i] if i == j else 0) for j in range(self.n)] for i in range(self.n)]
        return np.array(solved(factorised(A, lambda *_: None), [f * s for f, s in zip(force, S, strict=True)]))


def coulomb(mechanism: Mechanism) -> np.ndarray:
    """Coulomb friction of each entry of qd (nv,) [N m, N]."""
    found = np.zeros(mechanism.nv)
    for joint in mechanism.tree().joint[1:]:
        for k, friction in zip(joint.dof, joint.coulomb, strict=True):
            found[k] += friction * abs(joint.factor)
    return found


def _without_limits(mechanism: Mechanism) -> str:
    return (f"no joint of mechanism {mechanism.name!r} has limits of one coordinate; joints stop at "
            "da.Limits(lower=(...,), upper=(...,)) [rad, m]")


def limits(mechanism: Mechanism, stops: Stops) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Lower and upper stops of the entries of qd (nv,), infinite where there are none, and restitutions there (2, nv)."""
    bounds, restitution = np.array([[-np.inf], [np.inf]]) * np.ones(mechanism.nv), np.zeros((2, mechanism.nv))
    have = {j.name: j for j in mechanism.joints if j.type.nv == j.type.nq == 1
            and (j.limits.lower is not None or j.limits.upper is not None)}
    given = dict.fromkeys(have, 0.0) if stops is True else dict(stops or {})
    for name, e in given.items():
        if not have:
            raise ValueError(f"stops: joint {name!r} has no limits to stop at: {_without_limits(mechanism)}.")
        if name not in mechanism.entries:
            raise UnknownNameError("joint", name, tuple(have))
        if name not in have:
            raise ValueError(f"stops: joint {name!r} has no limits of one coordinate to stop at.")
        if not isinstance(e, Real) or not 0 <= e <= 1:
            raise ValueError(f"stops: the restitution of joint {name!r} is {e!r}, expected a number from 0 to 1.")
        joint, entry = have[name], mechanism.entries[name]
        own = [float(b[0]) if b is not None else s for b, s in ((joint.limits.lower, -np.inf), (joint.limits.upper, np.inf))]
        low, high = sorted((b - float(entry.offset)) / float(entry.factor) for b in own)
        k = entry.at_v.start
        for side, bound, tighter in ((0, low, low > bounds[0, k]), (1, high, high < bounds[1, k])):
            if tighter:
                bounds[side, k], restitution[side, k] = bound, e
    return bounds[0], bounds[1], restitution
