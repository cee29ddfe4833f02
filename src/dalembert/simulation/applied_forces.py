"""Forces along the velocities of a motion, given as numbers or functions: of actuators, and any
others.

A function is evaluated by one of three engines. They keep one contract, and tests of
`test_control_functions.py` hold for each:

    traced       called once, on symbols; its operations are part of the machine code
    called       called with numbers, from the machine code of the steps
    interpreted  called with numbers, from steps in Python: where functions that are called meet
                 events, friction that sticks or stops, or a library's method

- It is called as f(t, q, qd), with states of the controller behind if it has any, with the caller's
  time; arrays are its own, which it may change. Quaternions have unit length; of a traced one
  those of the stages of a step do so up to the step's error.
- It gives nv real numbers. Others, and errors that it raises, end `simulate` by name. Numbers that
  are not finite end the trajectory with a reason that names the function.
- How often and in which order it is called is the method's affair, so that it remembers nothing:
  what it does is looked at before the run, on trial states, and after it, at records.
- Each trajectory of several has its own states, and the same motion that it has alone.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from numbers import Real
from types import MappingProxyType
from typing import Any

import numpy as np

from dalembert.controllers.checks import is_unchanging
from dalembert.controllers.sampled import Sampled
from dalembert.errors import DalembertWarning, ShapeError, caller_level
from dalembert.expr import Expr
from dalembert.native.callbacks import Function
from dalembert.native.function import function
from dalembert.purity.examine import INSTEAD, Guard, check_arguments, examine, remembering
from dalembert.simulation.loads import Loads, opened
from dalembert.simulation.options import Actions
from dalembert.simulation.saturation import Saturation
from dalembert.simulation.trial_states import trial_states

NONE, CONSTANT, TRACED, CALLED, SAMPLED = "none", "constant", "traced", "called", "sampled"
ARGUMENTS = ("t", "q", "qd")
EXTERNAL = "external_forces"
ALL = ("control", "forces", EXTERNAL)

Force = Callable[..., Any]  # (t, q, qd) -> (nv,); of a controller with states, (t, q, qd, states)
NOTHING: Mapping[str, Force] = MappingProxyType({})


class Forces:
    """control, forces: None, numbers (nv,) or (N, nv), or functions of t, q, qd [N m, N]; a
    function is traced if it can be, unless it has an attribute `traced` that is False.
    external_forces: on frames, a sequence or a function of t, q, qd.

    A controller with an attribute `states` (m,) or (N, m), their initial values, is called with t,
    q, qd, states, and so is its `rate`, their time derivative.

    Attributes
    ----------
    kinds : how each is evaluated: none, constant, traced, called or sampled
    constants : the forces given as numbers, one after the other (n,) or (N, n), and in front those
        that a sampled controller holds; behind them those of external forces
    sampled : the sampled controller, if there is one
    saturation : of the control
    lengths : functions that are called with numbers, and how many each of them gives
    remembers : what functions remember that are called all the same, as their user insists
    guards : of all functions, to look at again after the run
    """

    def __init__(
        self,
        system: Any,
        actions: Actions,
        paths: tuple[str, ...] = (),
    ):
        """paths: of the numbers of the system that are inputs."""
        control = actions.control
        self.nq = system.nq
        self.nv = system.nv
        self.control = control
        self.saturation = Saturation(system, actions.saturate, paths)
        self._given = {"control": control, "forces": actions.forces}
        self.loads: Loads | None = None
        if actions.external_forces is not None:
            external = opened(system, paths, actions.external_forces)
            self._given[EXTERNAL] = external
            self.loads = external if isinstance(external, Loads) else None
        self.states = np.asarray(getattr(control, "states", ()), dtype=float)
        if not self.states.ndim:
            raise TypeError(
                f"control.states is {control.states!r}: expected the initial values of the "
                "controller's states, (m,) or (N, m)."
            )
        self._rate = control.rate if self.states.size else None
        self.remembers: dict[str, str] = {}
        self.kinds: dict[str, str] = {}
        self.guards: list[Guard] = []
        for name, given in self._given.items():
            self.kinds[name] = self._kind(
                system, name, given, self.states.shape[-1] if name == "control" else 0
            )
        self.sampled = control if isinstance(control, Sampled) else None
        self.constants = beside(
            *(
                self._numbers(name)
                for name, kind in self.kinds.items()
                if kind in (CONSTANT, SAMPLED)
            )
        )
        self.lengths = {name: self.nv for name, kind in self.kinds.items() if kind == CALLED}
        if "control" in self.lengths and self._rate:
            self.lengths["rate"] = self.states.shape[-1]

    def _numbers(self, name: str) -> np.ndarray:
        """Forces given as numbers; of a sampled controller, that before its first output."""
        if name == EXTERNAL and self.loads:
            return self.loads.numbers
        if self.kinds[name] == SAMPLED:
            return np.zeros(self.nv)
        numbers = np.asarray(self._given[name], dtype=float)
        return self.saturation.of_numbers(numbers) if name == "control" else numbers

    def _kind(self, system: Any, name: str, given: Any, states: int = 0) -> str:
        """How a force is given; functions are tried on numbers and on symbols.

        Raises
        ------
        ShapeError, TypeError, RememberingError
            It has another length; it is no function and no numbers, or takes other arguments; it
            remembers something.
        """
        if given is None:
            return NONE
        if isinstance(given, Loads):
            return CONSTANT
        if isinstance(given, Sampled):
            if name != "control":
                raise TypeError(f"{name} is a Sampled controller: give it as control=.")
            return SAMPLED
        if not callable(given):
            _check_numbers(given, name, system.nv)
            return CONSTANT
        if is_unchanging(given):
            return TRACED
        arguments = (*ARGUMENTS, "states") if states else ARGUMENTS
        functions = {name: (given, system.nv), **({"rate": (given.rate, states)} if states else {})}
        traced = []
        for own, (f, length) in functions.items():
            check_arguments(f, own, arguments)
            found = examine(
                f,
                own,
                trial_states(system, f, states),
                _entries,
                getattr(given, "traced", True) is not False,
            )
            _check_results(found.results, own, length)
            if found.verdict.remembers:
                _refuse(given, own, found.verdict.remembers)
                self.remembers[own] = found.verdict.remembers
            else:
                self.guards.append(Guard(f, own, found.verdict.memory))
            traced.append(found.traced)
        return TRACED if all(traced) else CALLED

    @property
    def given(self) -> dict[str, Any]:
        """Control and forces as they were given."""
        return self._given

    @property
    def traced(self) -> list[Force]:
        """The functions that compile."""
        return [f for name, f in self._given.items() if self.kinds[name] == TRACED]

    def outside(self) -> list[Function]:
        """The functions that are called with numbers, with what converts their results."""
        return [
            (self._function(name), partial(_floats, name=name, nv=length))
            for name, length in self.lengths.items()
        ]

    def _function(self, name: str) -> Force:
        return self._rate if name == "rate" else self._given[name]  # type: ignore[return-value]

    def __call__(
        self,
        t: Any,
        q: np.ndarray,
        qd: np.ndarray,
        p: np.ndarray,
        states: np.ndarray,
        called: Mapping[str, Force] = NOTHING,
    ) -> np.ndarray:
        """Sum of the forces at a state; p begins with the constants; `called` stands for functions."""
        tau = np.zeros(self.nv)
        for _, force in self._each(t, q, qd, p, states, called):
            tau = tau + force
        return tau

    def _each(
        self,
        t: Any,
        q: np.ndarray,
        qd: np.ndarray,
        p: np.ndarray,
        states: np.ndarray,
        called: Mapping[str, Force] = NOTHING,
    ) -> Iterator[tuple[str, Any]]:
        """The forces one by one, with their names."""
        at = 0
        for name, given in self._given.items():
            if name == EXTERNAL and self.loads:
                numbers = p[at : at + self.loads.numbers.shape[-1]]
                yield name, self.loads.along_velocities(q, numbers)
            elif self.kinds[name] in (CONSTANT, SAMPLED):
                yield name, p[at : at + self.nv]
                at = at + self.nv
            elif self.kinds[name] != NONE:
                own = (states,) if name == "control" and self._rate else ()
                found = called.get(name, given)(t, q.copy(), qd.copy(), *own)
                force = _vector(found, name, self.nv)
                yield name, self.saturation(force) if name == "control" else force

    def rates(
        self,
        t: Any,
        q: np.ndarray,
        qd: np.ndarray,
        states: np.ndarray,
        called: Mapping[str, Force] = NOTHING,
    ) -> np.ndarray:
        """Time derivative of the controller's states."""
        rate = called.get("rate", self._rate)
        return _vector(rate(t, q, qd, states), "rate", len(states)) if rate else np.zeros(0)

    def applied(
        self,
        times: np.ndarray,
        q: np.ndarray,
        qd: np.ndarray,
        states: np.ndarray | None,
        names: Sequence[str] = ALL,
    ) -> np.ndarray:
        """Control and forces of these names, (K, nv) or (N, K, nv) [N m, N], at the records of a
        run, evaluated again.
        """
        rows = q.shape[:-1]
        parts = {
            "t": np.broadcast_to(times, rows)[..., None],
            "q": q,
            "qd": qd,
            "p": self.constants[..., None, :],
            "z": np.zeros(0) if states is None else states,
        }
        flat = {
            name: np.broadcast_to(v, (*rows, v.shape[-1])).reshape(int(np.prod(rows)), v.shape[-1])
            for name, v in parts.items()
        }
        given = {name: v for name, v in flat.items() if v.shape[1]}  # p and z may have no entries

        def tau(**at: Any) -> np.ndarray:
            """Sum of the forces at a state."""
            t, *rest = (at.get(name, np.zeros(0)) for name in flat)
            found = np.zeros(self.nv)
            for name, force in self._each(t[0], *rest):
                found = found + force if name in names else found
            return found

        if CALLED not in [self.kinds.get(name) for name in names]:
            return function(tau, **{name: v.shape[1:] for name, v in given.items()})(
                *given.values()
            ).reshape(qd.shape)
        found = np.full((len(flat["t"]), self.nv), np.nan)
        for k in np.flatnonzero(np.isfinite(np.hstack([*given.values()])).all(axis=1)):
            found[k] = tau(**{name: v[k] for name, v in given.items()})
        return found.reshape(qd.shape)


def beside(*parts: np.ndarray) -> np.ndarray:
    """Vectors (n,) or (N, n) one behind the other."""
    if all(v.ndim == 1 for v in parts):
        return np.concatenate(parts) if parts else np.zeros(0)
    lengths = [len(v) for v in parts if v.ndim == 2]
    if len({*lengths} - {1}) > 1:
        raise ShapeError(
            f"forces and parameters are given for {' and '.join(map(str, lengths))} trajectories: "
            "expected one number of them.",
            "control",
        )
    rows = np.broadcast_shapes(*(v.shape[:-1] for v in parts))
    return np.concatenate([np.broadcast_to(v, (*rows, v.shape[-1])) for v in parts], axis=-1)


def _refuse(given: Any, name: str, remembers: str) -> None:
    """Refuse a force that remembers something, or warn of it where the user insists.

    Raises
    ------
    RememberingError
    """
    if getattr(given, "traced", True) is False:
        warnings.warn(
            f"{name} {remembers}: its results depend on how often and in which order the method "
            f"calls it. {INSTEAD}",
            DalembertWarning,
            stacklevel=caller_level(),
        )
        return
    raise remembering(
        name,
        remembers,
        (
            " A memory that follows a differential equation, such as an integral of the error, "
            f"belongs to the attribute `states` and the method `rate`. To have {name} called with "
            f"numbers all the same, set {name}.traced = False."
        ),
    )


def _check_numbers(given: Any, name: str, nv: int) -> None:
    """See that forces given as numbers are real, (nv,) or (N, nv)."""
    try:
        array = np.asarray(given)
    except ValueError:  # rows of different lengths
        array = np.empty(0, dtype=object)
    if array.dtype.kind not in "fiu" or array.ndim not in (1, 2) or array.shape[-1] != nv:
        kind = "" if array.dtype.kind in "fiu" else f" ({type(given).__name__} of {array.dtype})"
        raise ShapeError(
            f"{name} has shape {array.shape}{kind}, expected a function of t, q, qd, or numbers "
            f"({nv},) or (N, {nv}); da.controllers has controllers.",
            name,
            array.shape,
            (nv,),
        )


def _check_results(results: Sequence[np.ndarray | None], name: str, nv: int) -> None:
    """See that a function returned real numbers, as many as there should be, at the states tried."""
    for result in results:
        if result is not None:
            _vector(result, name, nv)


def _entries(found: Any) -> Any:
    """A function's result as an array; a shape or kind that does not fit is found later."""
    return found if found is None or isinstance(found, (str, dict)) else np.asarray(found)


def _vector(found: Any, name: str, nv: int) -> np.ndarray:
    """A function's result as (nv,) of real numbers or expressions.

    Raises
    ------
    ShapeError, TypeError
        It returned another shape; nothing, text or complex numbers.
    """
    per = "one rate per state of the controller" if name == "rate" else "one force per entry of qd"
    array = np.asarray(found)
    if (
        array.dtype.kind not in "fiubO"
        or array.dtype == object
        and not all(map(_is_number, array.flat))
    ):
        shown = repr(found if not isinstance(found, np.ndarray) else found.tolist())
        kind = (
            "complex numbers"
            if array.dtype.kind == "c"
            else "None"
            if shown == "None"
            else "no real numbers"
        )
        raise TypeError(
            f"{name} returned {kind}{'' if kind == 'None' else f': {shown[:80]}'}, expected "
            f"({nv},) real numbers: {per}."
        )
    if array.shape != (nv,):
        raise ShapeError(
            f"{name} returned shape {array.shape}, expected ({nv},): {per}.",
            name,
            array.shape,
            (nv,),
        )
    return array


def _is_number(x: Any) -> bool:
    return isinstance(x, (Expr, Real)) or isinstance(x, np.ndarray) and x.shape == ()


def _floats(found: Any, name: str, nv: int) -> np.ndarray:
    """A function's result as machine code reads it."""
    return np.ascontiguousarray(_vector(found, name, nv), dtype=float)
