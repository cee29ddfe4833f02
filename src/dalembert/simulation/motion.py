"""The equations of motion as x' = f(t, x, p), compiled; forces that cannot be traced are called from the machine code.

x = (q, y, w, z): coordinates, velocities qd or momenta p as the `Form` of the equations has it, the work [J] that actuators,
friction and the user's forces have done, so that the energy less w is constant but for the integrator's error, and the
states of the controller, if it has any.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property, partial, reduce
from types import MappingProxyType
from typing import Any

import numpy as np

from dalembert.compiled import builtin, callbacks
from dalembert.compiled.function import CompiledFunction, function
from dalembert.compiled.marching import Marching, Trajectories
from dalembert.errors import ShapeError
from dalembert.expr import Graph, array, maximum, sqrt, symbols
from dalembert.integrators import External, Fixed, Method, symplectic_euler
from dalembert.integrators import method as known_method
from dalembert.integrators.choice import chosen
from dalembert.model.mechanism import Mechanism
from dalembert.simulation.choice import form_of
from dalembert.simulation.controllers.checks import is_unchanging
from dalembert.simulation.events import CAUGHT, Watched
from dalembert.simulation.forms import Rates
from dalembert.simulation.kept import kept
from dalembert.simulation.reactions import SIGN, STICK, coulomb, reactions_of

NONE, CONSTANT, TRACED, CALLED = "none", "constant", "traced", "called"

Force = Callable[..., Any]                  # (t, q, qd) -> (nv,); of a controller with states, (t, q, qd, states)
NOTHING: Mapping[str, Force] = MappingProxyType({})


class Motion:
    """Right-hand side for a mechanism, or a user's Lagrangian, under forces along its velocities.

    control, forces: None, numbers (nv,) or (N, nv), or functions of t, q, qd [N m, N]; a function is traced if it can be.
    A controller with an attribute `states` (m,) or (N, m), their initial values, is called with t, q, qd, states, and so is
    its `rate`, their time derivative.
    friction, stops, events: as those of `simulate`. What watches a motion has parameters behind the forces given as numbers:
    modes of the `Reactions`, if there are any, and whether to watch (1) or not (0).
    """

    def __init__(self, mechanism: Any, control: Any = None, forces: Any = None, formulation: str | None = None,
                 friction: str = STICK, stops: Any = None, events: Any = None):
        self.mechanism, self.form = mechanism, form_of(mechanism, formulation)
        self.reactions = reactions_of(self.form, friction, stops)
        self.watched = Watched(events, mechanism.nq, mechanism.nv)
        self._given = {"control": control, "forces": forces}
        self.states = np.asarray(getattr(control, "states", ()), dtype=float)
        self._rate = control.rate if self.states.size else None
        self.kinds = {name: _kind(mechanism, name, given, self.states.shape[-1] if name == "control" else 0)
                      for name, given in self._given.items()}

    @property
    def traced(self) -> bool:
        """Whether all forces compile."""
        return CALLED not in self.kinds.values() and self.watched.traced

    @property
    def friction(self) -> str:
        """The law of Coulomb friction, or none if there is no such friction."""
        if self.reactions and self.reactions.sticking:
            return STICK
        rubs = isinstance(self.mechanism, Mechanism) and kept(self.mechanism, "rubs", lambda: coulomb(self.mechanism).any())
        return SIGN if rubs else NONE

    @property
    def is_watched(self) -> bool:
        """Whether steps are watched: for events, or for what friction and stops do."""
        return bool(self.reactions or self.watched.functions)

    @property
    def extra(self) -> int:
        """Number of parameters behind the constants."""
        return (4 * self.mechanism.nv if self.reactions else 0) + self.is_watched

    def modes(self, p: Any) -> Any:
        """Modes in parameters (..., n)."""
        return p[..., p.shape[-1] - self.extra:-1]

    @property
    def nx(self) -> int:
        """Length of x."""
        return self.mechanism.nq + self.mechanism.nv + 1 + self.states.shape[-1]

    @property
    def quaternions(self) -> list[tuple[int, int]]:
        """Where in x each quaternion begins, and where its angular velocity (or momentum) does."""
        m = self.mechanism
        return [(at, m.nq + m.entries[joint].at_v.start) for joint, at in self.form.quaternions.items()]

    def method(self, name: str) -> Method:
        """A method of integration by its name, with what it must know of this motion.

        Raises
        ------
        UnknownNameError, ValueError
            There is none; it does not go with the form of the equations.
        """
        nq, nv, canonical = self.mechanism.nq, self.mechanism.nv, self.form.canonical
        if canonical and name == "lie_rk4" and self.quaternions:
            raise ValueError("lie_rk4 turns quaternions by angular velocities, which a state (q, p) has not: take another "
                             "method, or a formulation in (q, qd).")
        way = known_method(name, nq=nq, nv=nv, move=self.form.move, quaternions=self.quaternions, energy=self.energy)
        if canonical and name == "symplectic_euler" and isinstance(way, Fixed):
            return way._replace(step=partial(symplectic_euler.canonical_step, nq=nq, nv=nv), implicit=True)
        if self.reactions and name == "discrete_gradient" and isinstance(way, Fixed):
            return way._replace(step=partial(way.step, resting=True))
        return way

    def energy(self, x: np.ndarray) -> Any:
        """The energy less the work done: constant along every motion."""
        q, y, work, _ = self.split(x)
        return self.form.energy(q, y) - work

    def split(self, x: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """q, y, work and states of the controller in x (..., nx)."""
        nq, at = self.mechanism.nq, self.mechanism.nq + self.mechanism.nv
        return x[..., :nq], x[..., nq:at], x[..., at], x[..., at + 1:]

    @property
    def constants(self) -> np.ndarray:
        """p: the forces given as numbers, one after the other."""
        given = [np.asarray(f, dtype=float) for name, f in self._given.items() if self.kinds[name] == CONSTANT]
        rows = np.broadcast_shapes(*(f.shape[:-1] for f in given))
        return np.concatenate([np.broadcast_to(f, (*rows, f.shape[-1])) for f in given], axis=-1) if given else np.zeros(0)

    def marching(self, method: Method) -> Marching:
        """The method over this motion as machine code."""
        return self._kept(method.name, lambda: self._marching(method))

    def _kept(self, what: str, make: Callable[[], Any]) -> Any:
        """What is made of the traced functions and laws of this motion, kept where these cannot have changed."""
        traced = [*(f for name, f in self._given.items() if self.kinds[name] == TRACED), *self.watched.functions]
        if not all(is_unchanging(f) for f in traced):      # what it refers to may have changed since it was traced last
            return make()
        key = (self.form.formulation, what, *self.kinds.values(), *self._lengths.values(), *traced,
               *(self.reactions.key if self.reactions else ()))
        return kept(self.mechanism, key, make)

    def _marching(self, method: Method) -> Marching:
        project = self._project if self.form.quaternions else None
        calls = () if isinstance(method, External) else tuple(self._lengths.values())
        watch = self.watch if self.is_watched else None
        return Marching(self._right_hand_side, self.nx, self.constants.shape[-1] + self.extra, method, project, calls, watch)

    @property
    def _lengths(self) -> dict[str, int]:
        """Functions that are called with numbers, and how many each of them gives."""
        found = {name: self.mechanism.nv for name, kind in self.kinds.items() if kind == CALLED}
        return found | ({"rate": self.states.shape[-1]} if "control" in found and self._rate else {})

    def compiles(self, method: Method) -> bool:
        """Whether trajectories by this method run in machine code."""
        if self.is_watched:
            return self.traced and not isinstance(method, External)
        return self.traced or (builtin.supported() and not isinstance(method, External))

    def run(self, method: Method) -> Callable[..., Trajectories]:
        """`Marching.run` of the method over this motion, with the functions that are called with numbers."""
        functions: list[callbacks.Function] = []
        for name, length in self._lengths.items():
            function: Any = self._rate if name == "rate" else self._given[name]
            functions.append((function, partial(_floats, name=name, nv=length)))
        return partial(self.marching(method).run, functions=functions)

    def function(self, row: int = 0, p: np.ndarray | None = None) -> Callable[[float, np.ndarray], np.ndarray]:
        """f(t, x) on floats, for one trajectory, whose forces may be any Python functions; p: its parameters."""
        velocities, rates = self.form.called()
        p = self.constants if p is None else p
        p = p[row % len(p)] if p.ndim == 2 else p
        if law := self.reactions:
            modes = self.modes(p)

            def rates(t: float, q: np.ndarray, y: np.ndarray, qd: np.ndarray, tau: np.ndarray) -> Rates:
                return law.called(q, qd, tau, modes)

        def f(t: float, x: np.ndarray) -> np.ndarray:
            q, y, _, states = self.split(x)
            q = self.form.normalize(q)
            qd = velocities(t, q, y)
            q_rate, y_rate, power = rates(t, q, y, qd, self._forces(t, q, qd, p, states))
            return np.concatenate([q_rate, y_rate, [power], self._rates(t, q, qd, states)])

        return f

    def _right_hand_side(self, t: Any, x: np.ndarray, p: np.ndarray, outside: Sequence[Force] = ()) -> np.ndarray:
        """outside: stand-ins for the functions that are called with numbers, which are given unit quaternions."""
        called = dict(zip(self._lengths, outside, strict=True)) if outside else {}
        q, y, _, states = self.split(self.projected(x) if outside else x)
        qd = self.form.velocities(t, q, y)
        tau = self._forces(t, q, qd, p, states, called)
        if self.reactions:
            q_rate, y_rate, power = self.reactions.rates(q, qd, tau, self.modes(p))
        else:
            (q_rate, y_rate), power = self.form.rates(t, q, y, qd, tau), self.form.power(t, q, qd, tau)
        return np.concatenate([q_rate, y_rate, [power], self._rates(t, q, qd, states, called)])

    def watch(self, t: Any, x: np.ndarray, t1: Any, x1: np.ndarray, p: np.ndarray) -> Any:
        """CAUGHT if a step from (t, x) to (t1, x1) goes through an event or the end of a mode."""
        deepest = reduce(maximum, self.depths(t, x, t1, x1, p))
        return chosen(p[-1] > 0, chosen(deepest >= 0, CAUGHT, 0.0), 0.0)

    def depths(self, t: Any, x: np.ndarray, t1: Any, x1: np.ndarray, p: np.ndarray) -> list[Any]:
        """Of the entries of qd that can rest, then of the events, how far a step went through them: 0 or more if it did."""
        q, y, _, states = self.split(x1)
        found: list[Any] = []
        if self.reactions:
            found += self.reactions.depths(q, y, self._forces(t1, q, y, p, states), self.modes(p))
        if self.watched.functions:
            before, after = ((s, v[:self.mechanism.nq], self.form.velocities(s, *self.split(v)[:2]))
                             for s, v in ((t, x), (t1, x1)))
            found += self.watched.depths(self.watched.values(*before), self.watched.values(*after))
        return found

    def depths_at(self, *given: np.ndarray) -> np.ndarray:
        """`depths` of n steps, as (n, m): t (n,), x (n, nx), t1, x1, p (n, k)."""
        if self.traced:
            return self._depths(*(v[:, None] if v.ndim == 1 else v for v in given))
        return np.array([self._called_depths(*(v[k] for v in given)) for k in range(len(given[0]))])

    @cached_property
    def _depths(self) -> CompiledFunction:
        def depths(t: Any, x: Any, t1: Any, x1: Any, p: Any) -> np.ndarray:
            return array(self.depths(t[0], x, t1[0], x1, p))

        sizes = {"t": 1, "x": self.nx, "t1": 1, "x1": self.nx, "p": self.constants.shape[-1] + self.extra}
        return self._kept("depths", lambda: function(depths, **sizes))

    def _called_depths(self, t: float, x: np.ndarray, t1: float, x1: np.ndarray, p: np.ndarray) -> np.ndarray:
        velocities, _ = self.form.called()
        found = []
        if self.reactions:
            q, qd, _, states = self.split(x1)
            found = [self.reactions.called_depths(q, qd, self._forces(t1, q, qd, p, states), self.modes(p))]
        if self.watched.functions:
            nq, g = self.mechanism.nq, self.watched
            before, after = ((s, v[:nq], velocities(s, *self.split(v)[:2])) for s, v in ((t, x), (t1, x1)))
            found.append(np.array(g.depths(g.values(*before), g.values(*after)), dtype=float))
        return np.concatenate(found)

    def watch_called(self, *step: Any) -> float:
        """`watch` on numbers."""
        return CAUGHT if step[-1][-1] > 0 and self._called_depths(*step).max() >= 0 else 0.0

    def velocities_at(self, t: float, x: np.ndarray) -> np.ndarray:
        """qd of one state."""
        q, y, *_ = self.split(x)
        return np.asarray(self.form.called()[0](t, q, y))

    def forces_at(self, t: float, x: np.ndarray, p: np.ndarray) -> np.ndarray:
        """Control and forces at one state."""
        q, _, _, states = self.split(x)
        return np.asarray(self._forces(t, q, self.velocities_at(t, x), p, states), dtype=float)

    def _rates(self, t: Any, q: np.ndarray, qd: np.ndarray, states: np.ndarray,
               called: Mapping[str, Force] = NOTHING) -> np.ndarray:
        """Time derivative of the controller's states."""
        rate = called.get("rate", self._rate)
        return _vector(rate(t, q, qd, states), "rate", len(states)) if rate else np.zeros(0)

    def _forces(self, t: Any, q: np.ndarray, qd: np.ndarray, p: np.ndarray, states: np.ndarray,
                called: Mapping[str, Force] = NOTHING) -> np.ndarray:
        """Sum of the forces at a state; called: what stands for functions."""
        tau, at = np.zeros(self.mechanism.nv), 0
        for name, given in self._given.items():
            if self.kinds[name] == CONSTANT:
                tau, at = tau + p[at:at + self.mechanism.nv], at + self.mechanism.nv
            elif self.kinds[name] != NONE:
                own = (states,) if name == "control" and self._rate else ()
                tau = tau + _vector(called.get(name, given)(t, q, qd, *own), name, self.mechanism.nv)
        return tau

    def applied(self, times: np.ndarray, q: np.ndarray, qd: np.ndarray, states: np.ndarray | None) -> np.ndarray:
        """Control and forces (K, nv) or (N, K, nv) [N m, N] at the records of a run, evaluated again."""
        rows = q.shape[:-1]
        parts = {"t": np.broadcast_to(times, rows)[..., None], "q": q, "qd": qd, "p": self.constants[..., None, :],
                 "z": np.zeros(0) if states is None else states}
        flat = {name: np.broadcast_to(v, (*rows, v.shape[-1])).reshape(int(np.prod(rows)), v.shape[-1])
                for name, v in parts.items()}
        given = {name: v for name, v in flat.items() if v.shape[1]}      # p and z may have no entries

        def tau(**at: Any) -> np.ndarray:
            t, *rest = (at.get(name, np.zeros(0)) for name in flat)
            return self._forces(t[0], *rest)

        if self.traced:
            return function(tau, **{name: v.shape[1:] for name, v in given.items()})(*given.values()).reshape(qd.shape)
        found = np.full((len(flat["t"]), self.mechanism.nv), np.nan)
        for k in np.flatnonzero(np.isfinite(np.hstack([*given.values()])).all(axis=1)):
            found[k] = tau(**{name: v[k] for name, v in given.items()})
        return found.reshape(qd.shape)

    def projected(self, x: np.ndarray) -> np.ndarray:
        """x with quaternions of unit length."""
        return self._project(x) if self.form.quaternions else x

    def _project(self, x: np.ndarray) -> np.ndarray:
        x = x.copy()
        for at in self.form.quaternions.values():
            x[at:at + 4] = x[at:at + 4] / sqrt(sum(c * c for c in x[at:at + 4]))
        return x


def _kind(mechanism: Any, name: str, given: Any, states: int = 0) -> str:
    """How a force is given; functions are tried on symbols."""
    if given is None:
        return NONE
    if not callable(given):
        array = np.asarray(given)
        if array.dtype.kind not in "fiu" or array.ndim not in (1, 2) or array.shape[-1] != mechanism.nv:
            raise ShapeError(f"{name} has shape {array.shape}, expected a function of t, q, qd, or numbers "
                             f"({mechanism.nv},) or (N, {mechanism.nv}).", name, array.shape, (mechanism.nv,))
        return CONSTANT
    if is_unchanging(given):
        return TRACED
    with Graph():
        t, *rest = symbols("t", 1), symbols("q", mechanism.nq), symbols("qd", mechanism.nv)
        own = (symbols("z", states),) if states else ()
        try:
            _vector(given(t[0], *rest, *own), name, mechanism.nv)
            if own:
                _vector(given.rate(t[0], *rest, *own), "rate", states)
            return TRACED
        except ShapeError:
            raise
        except Exception:      # whatever a function does that is not meant for symbols: it is called with numbers instead
            return CALLED


def _vector(found: Any, name: str, nv: int) -> np.ndarray:
    array = np.asarray(found)
    if array.shape != (nv,):
        per = "one rate per state of the controller" if name == "rate" else "one force per entry of qd"
        raise ShapeError(f"{name} returned shape {array.shape}, expected ({nv},): {per}.", name,
                         array.shape, (nv,))
    return array


def _floats(found: Any, name: str, nv: int) -> np.ndarray:
    """What a function returned, as machine code reads it."""
    return np.ascontiguousarray(_vector(found, name, nv), dtype=float)
