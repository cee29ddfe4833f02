"""Forces along the velocities of a motion, given as numbers or functions: of actuators, and any others."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from types import MappingProxyType
from typing import Any

import numpy as np

from dalembert.compiled.callbacks import Function
from dalembert.compiled.function import function
from dalembert.errors import ShapeError
from dalembert.expr import Expr, Graph, symbols
from dalembert.simulation.controllers.checks import is_unchanging

NONE, CONSTANT, TRACED, CALLED = "none", "constant", "traced", "called"

Force = Callable[..., Any]                  # (t, q, qd) -> (nv,); of a controller with states, (t, q, qd, states)
NOTHING: Mapping[str, Force] = MappingProxyType({})


class Forces:
    """control, forces: None, numbers (nv,) or (N, nv), or functions of t, q, qd [N m, N]; a function is traced if it can be,
    unless it has an attribute `traced` that is False.

    A controller with an attribute `states` (m,) or (N, m), their initial values, is called with t, q, qd, states, and so is
    its `rate`, their time derivative.

    Attributes
    ----------
    kinds : how each is evaluated: none, constant, traced or called
    constants : the forces given as numbers, one after the other (n,) or (N, n)
    lengths : functions that are called with numbers, and how many each of them gives
    """

    def __init__(self, system: Any, control: Any = None, forces: Any = None):
        self.nq, self.nv, self._given = system.nq, system.nv, {"control": control, "forces": forces}
        self.states = np.asarray(getattr(control, "states", ()), dtype=float)
        self._rate = control.rate if self.states.size else None
        self.kinds = {name: _kind(system, name, given, self.states.shape[-1] if name == "control" else 0)
                      for name, given in self._given.items()}
        self.constants = beside(*(np.asarray(self._given[name], dtype=float) for name, kind in self.kinds.items()
                                  if kind == CONSTANT))
        self.lengths = {name: self.nv for name, kind in self.kinds.items() if kind == CALLED}
        if "control" in self.lengths and self._rate:
            self.lengths["rate"] = self.states.shape[-1]

    @property
    def traced(self) -> list[Force]:
        """The functions that compile."""
        return [f for name, f in self._given.items() if self.kinds[name] == TRACED]

    def outside(self) -> list[Function]:
        """The functions that are called with numbers, with what converts their results."""
        return [(self._rate if name == "rate" else self._given[name],      # type: ignore[misc]
                 partial(_floats, name=name, nv=length)) for name, length in self.lengths.items()]

    def __call__(self, t: Any, q: np.ndarray, qd: np.ndarray, p: np.ndarray, states: np.ndarray,
                 called: Mapping[str, Force] = NOTHING) -> np.ndarray:
        """Sum of the forces at a state; p begins with the constants; called: what stands for functions."""
        tau, at = np.zeros(self.nv), 0
        for name, given in self._given.items():
            if self.kinds[name] == CONSTANT:
                tau, at = tau + p[at:at + self.nv], at + self.nv
            elif self.kinds[name] != NONE:
                own = (states,) if name == "control" and self._rate else ()
                tau = tau + _vector(called.get(name, given)(t, q, qd, *own), name, self.nv)
        return tau

    def rates(self, t: Any, q: np.ndarray, qd: np.ndarray, states: np.ndarray,
              called: Mapping[str, Force] = NOTHING) -> np.ndarray:
        """Time derivative of the controller's states."""
        rate = called.get("rate", self._rate)
        return _vector(rate(t, q, qd, states), "rate", len(states)) if rate else np.zeros(0)

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
            return self(t[0], *rest)

        if CALLED not in self.kinds.values():
            return function(tau, **{name: v.shape[1:] for name, v in given.items()})(*given.values()).reshape(qd.shape)
        found = np.full((len(flat["t"]), self.nv), np.nan)
        for k in np.flatnonzero(np.isfinite(np.hstack([*given.values()])).all(axis=1)):
            found[k] = tau(**{name: v[k] for name, v in given.items()})
        return found.reshape(qd.shape)


def beside(*parts: np.ndarray) -> np.ndarray:
    """Vectors (n,) or (N, n) one behind the other."""
    if len(parts) < 2:
        return parts[0] if parts else np.zeros(0)
    lengths = [len(v) for v in parts if v.ndim == 2]
    if len({*lengths} - {1}) > 1:
        raise ShapeError(f"forces and parameters are given for {' and '.join(map(str, lengths))} trajectories: expected one "
                         "number of them.", "control")
    rows = np.broadcast_shapes(*(v.shape[:-1] for v in parts))
    return np.concatenate([np.broadcast_to(v, (*rows, v.shape[-1])) for v in parts], axis=-1)


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
    if getattr(given, "traced", True) is False:
        return CALLED
    with Graph():
        t, *rest = symbols("t", 1), symbols("q", mechanism.nq), symbols("qd", mechanism.nv)
        own = (symbols("z", states),) if states else ()
        try:
            first = _vector(given(t[0], *rest, *own), name, mechanism.nv)
            if own:
                _vector(given.rate(t[0], *rest, *own), "rate", states)
        except ShapeError:
            raise
        except Exception:      # whatever a function does that is not meant for symbols: it is called with numbers instead
            return CALLED
        if not _same(first, given(t[0], *rest, *own)):
            raise ValueError(
                f"{name} gives other forces when it is called again with the same t, q, qd: it remembers something between "
                "calls, or is random. What it remembers belongs to the state of the run: give it the attribute `states` and "
                "the method `rate` (an integral of the error has the error as its rate). To have it called with numbers all "
                f"the same, make a new one with {name}.traced = False.")
        return TRACED


def _same(first: np.ndarray, again: Any) -> bool:
    """Whether all entries are the same expressions or numbers."""
    return all(a is b or (not isinstance(a, Expr) and a == b) for a, b in zip(first, np.asarray(again), strict=True))


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
