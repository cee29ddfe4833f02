"""Functions of the state whose zeros are events."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from numbers import Real
from typing import Any

import numpy as np

from dalembert.errors import ShapeError
from dalembert.expr import Expr
from dalembert.purity.examine import Examined, Guard, check_arguments, examine, remembering
from dalembert.simulation.trial_states import trial_states

# why a trajectory stays where it is: something happens in its next step; above all of
# integrators.REASONS
CAUGHT = 4.0
NO_VALUE = 6.0  # why a trajectory ends: an event's function gives NaN


class EventFunctions:
    """Functions g(t, q, qd) whose zeros are events; attributes `terminal` and `direction` as in
    SciPy's solve_ivp.

    terminal : True, or how many of its events end a trajectory; direction : 1 or -1 counts rising
        or falling ones alone

    Raises
    ------
    TypeError, ValueError, RememberingError
        There is something else than functions; an attribute makes no sense; a function remembers
        something.
    """

    def __init__(self, events: Any, system: Any):
        given = () if events is None else (events,) if callable(events) else events
        if not np.iterable(given):
            raise TypeError(
                f"events={events!r}: expected a function g(t, q, qd) -> number, or a sequence of "
                "such."
            )
        self.functions: Sequence[Callable[..., Any]] = tuple(given)
        for g in self.functions:
            if not callable(g):
                raise TypeError(
                    f"events= holds a {type(g).__name__}: expected functions g(t, q, qd) -> number."
                )
        self.directions = [_direction(g) for g in self.functions]
        self.terminal = [_terminal(g) for g in self.functions]
        names = [_name(g) for g in self.functions]
        self.names = [n if names.count(n) == 1 else f"{n}[{k}]" for k, n in enumerate(names)]
        examined = [_examined(g, system) for g in self.functions]
        self.traced = all(found.traced for found in examined)
        self.guards = [
            Guard(g, f"the event {name!r}", found.verdict.memory, _opened)
            for g, name, found in zip(self.functions, self.names, examined, strict=True)
        ]

    def values(self, t: Any, q: np.ndarray, qd: np.ndarray) -> list[Any]:
        """g of each function, floats or expressions; NaN of traced ones where `math` has no value.

        Raises
        ------
        ShapeError, TypeError
            One returned an array; something that is no number.
        """
        return [
            _number(self._value(g, t, q, qd), name)
            for g, name in zip(self.functions, self.names, strict=True)
        ]

    def _value(self, g: Callable[..., Any], t: Any, q: np.ndarray, qd: np.ndarray) -> Any:
        if isinstance(t, Expr) or not self.traced:
            return g(t, q, qd)
        try:
            return g(t, q, qd)
        except (ArithmeticError, ValueError):
            return np.nan


def _number(found: Any, name: str) -> Any:
    """The one real number, or expression, that an event returned."""
    values = np.asarray(found)
    if values.size != 1:
        raise ShapeError(
            f"the event {name!r} returned an array of shape {values.shape}, expected one number: "
            "give a function for each entry, events=[g0, g1, ...].",
            name,
            values.shape,
            (),
        )
    value = values.reshape(-1)[0]
    if not isinstance(value, (Expr, float, int, np.floating, np.integer)) or isinstance(
        value, bool
    ):
        raise TypeError(
            f"the event {name!r} returned {found!r} ({type(found).__name__}), expected a number "
            "that goes through 0 at the event, such as q[0] - 0.3."
        )
    return value


def _name(g: Any) -> str:
    return str(getattr(g, "name", None) or getattr(g, "__name__", type(g).__name__))


def _direction(g: Any) -> float:
    """The sign with which an event's function must pass 0, or 0 for both."""
    direction = getattr(g, "direction", 0)
    if (
        isinstance(direction, (bool, np.bool_))
        or not isinstance(direction, Real)
        or direction not in (-1, 0, 1)
    ):
        raise ValueError(
            f"direction of the event {_name(g)!r} is {direction!r}: expected 1 for rising zeros, "
            "-1 for falling ones, or 0 for both."
        )
    return float(direction)


def _terminal(g: Any) -> int:
    """How many events of a function end a trajectory, 0 if none do."""
    terminal = getattr(g, "terminal", False)
    if terminal is None or isinstance(terminal, (bool, np.bool_)):
        return int(bool(terminal))
    if not isinstance(terminal, (int, np.integer)) or terminal < 1:
        raise ValueError(
            f"terminal of the event {_name(g)!r} is {terminal!r}: expected True, False, or how "
            "many of its events end a trajectory, 1 or more."
        )
    return int(terminal)


def _examined(g: Any, system: Any) -> Examined:
    """How an event's function is evaluated.

    Raises
    ------
    TypeError, ShapeError, RememberingError
        It takes other arguments; it gives no number; it remembers something.
    """
    name = f"the event {_name(g)!r}"
    check_arguments(g, name, ("t", "q", "qd"))
    found = examine(
        g, name, trial_states(system, g), _opened, getattr(g, "traced", True) is not False
    )
    for result in found.results:
        if result is not None:
            _number(result if result.size != 1 else result.item(), _name(g))
    if found.verdict.remembers:
        raise remembering(
            name, found.verdict.remembers, " An event that waits is a function of t: t - 0.5."
        )
    return found


def _opened(found: Any) -> Any:
    """An event's result; an array of one number as this number."""
    values = np.asarray(found)
    return values.reshape(()) if values.size == 1 else found
