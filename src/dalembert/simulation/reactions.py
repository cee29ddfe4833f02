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

from collections.abc import Mapping
from dataclasses import replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from dalembert.compiled.function import CompiledFunction, function
from dalembert.compiled.regrouping import Regrouped
from dalembert.errors import UnknownNameError
from dalembert.expr import array, maximum, minimum
from dalembert.formulations import newton_euler
from dalembert.formulations.newton_euler.mass_matrix import factorised, solved
from dalembert.integrators.choice import chosen
from dalembert.kinematics.forces import passive_force
from dalembert.model.mechanism import Mechanism
from dalembert.simulation.box import box
from dalembert.simulation.forms import Form
from dalembert.simulation.kept import kept

UNBOUNDED = 1e300        # stands for an infinite bound
SLACK = 1e-10            # of the reactions: a held entry moves once its reaction is as much beyond its bound
STICK, SIGN = "stick", "sign"
NEAR = 1e-6              # of a step: what would hit its stop as soon, hits it now
SHORT = 1e-2             # of a step: a flight between two impacts that is shorter is none, the joint stays at its stop

Stops = Mapping[str, float] | bool | None


def reactions_of(form: Form, friction: str, stops: Stops) -> Reactions | None:
    """The law for equations of motion, kept; None where nothing rubs or stops, or friction is to be -F sign(qd).

    Raises
    ------
    UnknownNameError, ValueError
        There is no such law; stops need equations in (q, qd).
    """
    if friction not in (STICK, SIGN):
        raise UnknownNameError("friction law", friction, (STICK, SIGN))
    if form.formulation != "newton_euler":
        if stops:
            raise ValueError(f"stops need the formulation 'newton_euler', not {form.formulation!r}.")
        return None
    m = form.system

    def made() -> Reactions | None:
        sticking = friction == STICK and bool(coulomb(m).any())
        return Reactions(m, sticking, stops) if sticking or np.isfinite(limits(m, stops)[:2]).any() else None

    return kept(m, ("reactions", friction, stops is True or tuple(dict(stops or {}).items())), made)


class Settled(NamedTuple):
    """Modes of a state, its velocities after impacts, and the kinetic energy that these changed [J]."""

    modes: np.ndarray        # (4 nv,): 0 where held, the direction of sliding friction, bounds of the reaction where held
    qd: np.ndarray
    energy: float
    impacts: dict[int, float]      # entries of qd that hit a stop, and their velocities then


class Reactions:
    """Dry friction and stops of a mechanism, by entry of qd; a follower's count for its leader's entry.

    Parameters
    ----------
    sticking : bool
        Whether Coulomb friction is set-valued here; it is -F sign(qd) otherwise, at rest 0.
    stops : bool or dict of joint name -> restitution
        Joints that stop at their limits; True: all that have limits, where they stay.

    Raises
    ------
    UnknownNameError, ValueError
        There is no such joint; it has no limits or several velocities; a restitution is not between 0 and 1.
    """

    def __init__(self, mechanism: Mechanism, sticking: bool, stops: Stops):
        n = mechanism.nv
        self.mechanism, self.n, self.sticking = mechanism, n, sticking
        self.friction = coulomb(mechanism) if sticking else np.zeros(n)
        self.lower, self.upper, self.restitution = limits(mechanism, stops)
        self.place = np.zeros(n, dtype=int)                        # in q, of entries with stops
        for entry in mechanism.entries.values():
            self.place[entry.at_v.start] = entry.at_q.start
        self.stopping = np.isfinite(self.lower) | np.isfinite(self.upper)
        self.restable = (self.friction > 0) | self.stopping
        smooth = mechanism if not sticking else replace(mechanism, joints=tuple(
            replace(j, coulomb=0) for j in mechanism.joints))
        self._smooth, self._moved, self._rubbing = smooth, Regrouped.of(smooth), smooth.without("springs")

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

    def recorded(self, q: np.ndarray, qd: np.ndarray, tau: np.ndarray, modes: np.ndarray) -> np.ndarray:
        """Reactions of records (..., nv) with modes as records have them."""
        n = self.n
        given = [v.reshape(-1, v.shape[-1]) for v in (q, qd, tau)]
        rows = modes.reshape(-1, n)
        full = np.hstack([rows != 0, np.where(np.abs(rows) == 1, rows, 0), np.zeros((len(rows), 2 * n))])
        return self.called_reactions(*given, full).reshape(qd.shape)

    def mode(self, i: int, mode: int, x: np.ndarray) -> str:
        """What an entry does, in a word."""
        if mode == 0:
            return "stops" if x[self.place[i]] in (self.lower[i], self.upper[i]) else "sticks"
        return {1: "slides forward", -1: "slides back"}.get(int(mode), "moves")

    def arrived(self, q: np.ndarray, qd: np.ndarray, modes: np.ndarray, ended: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """q and qd with entries whose mode has ended where they are exactly: at rest, or at a stop."""
        q, qd, (moving, way, *_) = q.copy(), qd.copy(), modes.reshape(4, self.n)
        for i in ended[moving[ended] > 0]:
            at = self.place[i]
            if self.stopping[i] and not self.lower[i] < q[at] < self.upper[i]:
                q[at] = self.lower[i] if q[at] <= self.lower[i] else self.upper[i]
            if way[i] * qd[i] < 0:
                qd[i] = 0.0
        return q, qd

    def joined(self, q: np.ndarray, qd: np.ndarray, h: float) -> np.ndarray:
        """q with those at their stops that would be there in next to no time: impacts of several joints at once are one."""
        q = q.copy()
        for i in np.flatnonzero(self.stopping):
            for bound, speed in ((self.lower[i], -qd[i]), (self.upper[i], qd[i])):
                if 0 < abs(q[self.place[i]] - bound) < NEAR * h * speed:
                    q[self.place[i]] = bound
        return q

    @property
    def key(self) -> tuple[Any, ...]:
        """Equal for equal laws of one mechanism."""
        return self.sticking, self.lower.tobytes(), self.upper.tobytes(), self.restitution.tobytes()

    def _compiled(self, f: Any) -> CompiledFunction:
        return function(f, q=self.mechanism.nq, qd=self.n, tau=self.n, modes=4 * self.n)

    @cached_property
    def called(self) -> CompiledFunction:
        """`rates`, compiled."""
        return self._compiled(self.rates)

    @cached_property
    def called_depths(self) -> CompiledFunction:
        """`depths`, compiled."""
        return self._compiled(lambda **v: array(self.depths(**v)))

    @cached_property
    def called_reactions(self) -> CompiledFunction:
        """`reactions`, compiled."""
        return self._compiled(self.reactions)

    @cached_property
    def _numbers(self) -> CompiledFunction:
        return function(self._equations, q=self.mechanism.nq, qd=self.n, tau=self.n)

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

    def settled(self, q: np.ndarray, qd: np.ndarray, tau: np.ndarray, h: float) -> Settled:
        """What each entry does from a state on, in which those that rest have the velocity 0; h: length of a step [s].

        Entries that move into their stops bounce by Newton's law, with impulses p that only push:

            v+ = v + N p,   0 <= p,   0 <= v+ + e v   perpendicular to each other, along the ways out of the stops

        Those held by friction alone are free in it: a finite force has no impulse. A flight that would not last is none.
        """
        M, force = self._numbers(q, qd, tau)
        N, before = np.linalg.inv(M), qd
        at_low, at_high = (self.stopping & (q[self.place] == bound) for bound in (self.lower, self.upper))
        out = at_low.astype(float) - at_high
        c = np.flatnonzero(out)
        impacts = {int(i): float(qd[i]) for i in c if out[i] * qd[i] < 0}
        e, stay = np.where(out > 0, *self.restitution), np.zeros(self.n, dtype=bool)
        for _ in range(len(c) + 1 if impacts else 0):
            v = out[c] * before[c]
            p = box(out[c][:, None] * N[np.ix_(c, c)] * out[c], v + np.where(stay, 0.0, e)[c] * np.minimum(v, 0),
                    np.where(stay[c], -np.inf, 0.0), np.full(len(c), np.inf)).reaction
            qd = before + N[:, c] @ (out[c] * p)
            qd[c[(stay[c] | (p > 0)) & (stay[c] | (e[c] * np.minimum(v, 0) == 0))]] = 0.0      # exactly
            _, force = self._numbers(q, qd, tau)
            qdd, _ = self._rest(N, force, qd, at_low, at_high)
            short = (out * qd > 0) & (-SHORT * h * out * qdd > 2 * out * qd)
            if not short.any():
                break
            stay |= short
        _, modes = self._rest(N, force, qd, at_low, at_high)
        return Settled(modes, qd, float(qd @ M @ qd - before @ M @ before) / 2, impacts)

    def _rest(self, N: np.ndarray, force: np.ndarray, qd: np.ndarray, at_low: np.ndarray,
              at_high: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Accelerations and modes by the law of reactions."""
        rests = (qd == 0) & ((self.friction > 0) | at_low | at_high)
        way = np.where(rests, 0.0, np.sign(qd)) * (self.friction > 0)
        c = np.flatnonzero(rests)
        low, high = np.where(at_high, -np.inf, -self.friction), np.where(at_low, np.inf, self.friction)
        found = box(N[np.ix_(c, c)], (N @ (force - self.friction * way))[c], low[c], high[c])
        held, reaction = np.zeros(self.n, dtype=bool), -self.friction * way
        held[c], reaction[c] = found.acceleration == 0, found.reaction
        way[c] = np.where(held[c], 0.0, np.sign(found.acceleration) * (self.friction[c] > 0))
        slack = SLACK * (np.abs(found.reaction).max(initial=0.0) + self.friction) + 1 / UNBOUNDED
        bounds = np.clip(low - slack, -UNBOUNDED, 0), np.clip(high + slack, 0, UNBOUNDED)
        return np.where(held, 0.0, N @ (force + reaction)), np.concatenate([~held, way, *bounds])

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


def limits(mechanism: Mechanism, stops: Stops) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Lower and upper stops of the entries of qd (nv,), infinite where there are none, and restitutions there (2, nv)."""
    bounds, restitution = np.array([[-np.inf], [np.inf]]) * np.ones(mechanism.nv), np.zeros((2, mechanism.nv))
    have = {j.name: j for j in mechanism.joints if j.type.nv == j.type.nq == 1
            and (j.limits.lower is not None or j.limits.upper is not None)}
    given = dict.fromkeys(have, 0.0) if stops is True else dict(stops or {})
    for name, e in given.items():
        if name not in mechanism.entries:
            raise UnknownNameError("joint", name, tuple(have))
        if name not in have:
            raise ValueError(f"stops: joint {name!r} has no limits of one coordinate to stop at.")
        if not 0 <= e <= 1:
            raise ValueError(f"stops: the restitution of joint {name!r} is {e!r}, expected a number from 0 to 1.")
        joint, entry = have[name], mechanism.entries[name]
        own = [float(b[0]) if b is not None else s for b, s in ((joint.limits.lower, -np.inf), (joint.limits.upper, np.inf))]
        low, high = sorted((b - float(entry.offset)) / float(entry.factor) for b in own)
        k = entry.at_v.start
        for side, bound, tighter in ((0, low, low > bounds[0, k]), (1, high, high < bounds[1, k])):
            if tighter:
                bounds[side, k], restitution[side, k] = bound, e
    return bounds[0], bounds[1], restitution
