"""How a user's function can be evaluated: as an expression, called with numbers, or not at all as
it remembers something.
"""

from __future__ import annotations

import inspect
import weakref
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import cached_property
from types import FunctionType, MethodType
from typing import Any, NamedTuple

import numpy as np

from dalembert.errors import RememberingError
from dalembert.expr import Expr, Graph, comparing, evaluate, symbols
from dalembert.purity.judge import Verdict, changed_later, judged
from dalembert.purity.reachable import Memory

NEAR = 1e-8  # relative difference between values of an expression and of the function that gave it
INSTEAD = (
    "A law that runs once every period and keeps a memory of its own is "
    "da.controllers.Sampled(law, period, memory=...)."
)

MOST = 32  # functions whose examination is kept,
LARGE = 2**20  # bytes: unless they can change large arrays
# Valid while nothing that the function can reach has changed; and of code, for other functions of
# it that hold the same, such as a lambda in a loop.
_known: dict[Any, tuple[weakref.ref[Any], Examined]] = {}
_of_code: dict[Any, Examined] = {}

State = tuple[Any, ...]  # numbers and vectors, as the function takes them


class TriedStates:
    """States at which a function is tried, made when they are first looked at.

    shapes : of the numbers and vectors of each
    """

    def __init__(self, shapes: tuple[tuple[int, ...], ...], make: Callable[[], Sequence[State]]):
        self.shapes, self._make = shapes, make

    @cached_property
    def listed(self) -> Sequence[State]:
        """All of them."""
        return self._make()

    def __iter__(self) -> Iterator[State]:
        return iter(self.listed)


class Examined(NamedTuple):
    """How a function is evaluated.

    Attributes
    ----------
    traced : whether it gives expressions of symbols that have its values
    verdict : what it remembers, if it does, and what it changes without a difference
    results : values at the states tried, None where it raised something
    """

    traced: bool
    verdict: Verdict
    results: tuple[np.ndarray | None, ...]


def examine(
    function: Callable[..., Any],
    name: str,
    states: TriedStates,
    opened: Callable[[Any], Any] = np.asarray,
    trace: bool = True,
) -> Examined:
    """Try a function at some states and on symbols, and leave it as it was.

    A function that was examined before is not tried again, if nothing that it can reach has
    changed; nor is another of the same code that holds the same, if that depended on its arguments
    alone.

    It is traced if it has the same values at all states as its expressions: a branch on a value, or
    a conversion to float, makes a constant of what depends on the state.

    Parameters
    ----------
    states : arguments of the function, numbers and vectors
    opened : what the function returned -> an array of its entries; raises if it is none
    trace : whether symbols are tried, too
    """
    options = name, trace, states.shapes
    known = _known.get((id(function), options))
    if known and known[0]() is function and not known[1].verdict.memory.changes():
        return known[1]
    memory = Memory(function, name)
    code = function.__code__ if isinstance(function, (FunctionType, MethodType)) else None
    twin = _of_code.get((code, options))
    if twin and memory.is_like(twin.verdict.memory):
        found = twin._replace(verdict=replace(twin.verdict, memory=memory))
    else:
        found = _examined(function, memory, states.listed, opened, trace)
    if memory.size > LARGE:
        return found
    if code and not (found.verdict.remembers or found.verdict.changes):
        _remember(_of_code, (code, options), found)
    try:
        _remember(_known, (id(function), options), (weakref.ref(function), found))
    except TypeError:  # of a class without weak references
        pass
    return found


def _remember(known: dict[Any, Any], key: Any, value: Any) -> None:
    """Keep a value; the oldest is dropped."""
    while len(known) >= MOST:
        known.pop(next(iter(known)))
    known[key] = value


def _examined(
    function: Callable[..., Any],
    memory: Memory,
    states: Sequence[State],
    opened: Callable[[Any], Any],
    trace: bool,
) -> Examined:
    def call(state: State) -> Any:
        """The function's result for copies of a state."""
        return opened(function(*map(_fresh, state)))

    verdict = judged(memory, states, call)
    results = verdict.results
    if verdict.remembers or verdict.changes or not trace:
        return Examined(False, verdict, results)
    with Graph():
        arguments = [_symbols(k, x) for k, x in enumerate(states[0])]
        try:
            with comparing() as compared:
                found = opened(function(*map(_fresh, arguments)))
            known = [k for k, r in enumerate(results) if r is not None]
            traced = not compared and (
                fits(found, arguments, [states[k] for k in known], [results[k] for k in known])
                if known
                else _is_repeated(found, opened(function(*map(_fresh, arguments))))
            )
        except (
            Exception
        ):  # a function that is not meant for symbols fails in any way: it is called with numbers
            traced = False
        finally:
            changed = [n for names in memory.changes().values() for n in names]
            memory.restore()
    if changed and all(r is None for r in results):
        verdict = Verdict(memory, f"changes {changed[0]}")
    return Examined(traced, verdict, results)


class Guard:
    """A function of a run, traced or called, and its memory as it was examined: looked at again when
    the run is over.
    """

    def __init__(
        self,
        function: Callable[..., Any],
        name: str,
        memory: Memory,
        opened: Callable[[Any], Any] = np.asarray,
    ):
        self.function, self.name, self.memory, self.opened = function, name, memory, opened

    @property
    def is_changed(self) -> bool:
        """Whether anything is not as it was."""
        return bool(self.memory.changes())

    def check(self, states: Sequence[State]) -> None:
        """See that nothing changed on which results at the states of the run depend.

        Raises
        ------
        RememberingError
            Something did; the function is left as it was before the run.
        """
        remembers = changed_later(
            self.memory, states, lambda s: self.opened(self.function(*map(_fresh, s)))
        )
        if remembers:
            raise remembering(self.name, remembers)


def remembering(name: str, remembers: str, more: str = "") -> RememberingError:
    """The error of a function that is refused for what it remembers."""
    return RememberingError(
        f"{name} {remembers}. It is called many times in a step of the integrator, for times that "
        f"go back and forth, and must be a function of its arguments alone. {INSTEAD}{more}",
        name,
        remembers,
    )


def check_arguments(function: Callable[..., Any], name: str, expected: Sequence[str]) -> None:
    """See that a function takes as many arguments as it will be given.

    Raises
    ------
    TypeError
        It takes others.
    """
    if type(function) is FunctionType and not function.__dict__:
        code = function.__code__
        if code.co_argcount == len(expected) and not code.co_kwonlyargcount:
            return
    try:
        signature = inspect.signature(function)
    except (TypeError, ValueError):  # of built-in functions it is not known
        return
    try:
        signature.bind(*expected)
    except TypeError as error:
        raise TypeError(
            f"{name} takes {signature}, but is called as {name}({', '.join(expected)}): {error}."
        ) from None


def _fresh(x: Any) -> Any:
    """A copy that the function may keep or change."""
    return x.copy() if isinstance(x, np.ndarray) else x


def _symbols(number: int, x: Any) -> Any:
    """Symbols in place of a number or a vector."""
    found = symbols(f"x{number}", np.shape(x))
    return found if isinstance(x, np.ndarray) else np.asarray(found).reshape(-1)[0]


def fits(
    found: Any,
    arguments: Sequence[Any],
    states: Sequence[State],
    results: Sequence[Any],
    near: float = NEAR,
) -> bool:
    """Whether expressions of some symbols have the values of the function at the states, but for
    rounding.
    """
    values = {}
    for k, symbol in enumerate(arguments):
        column = np.array([np.asarray(state[k], dtype=float) for state in states])
        for index, entry in np.ndenumerate(np.asarray(symbol, dtype=object)):
            values[entry] = column[(slice(None), *index)]
    expressions = np.asarray(found, dtype=object)
    computed = np.broadcast_to(evaluate(expressions, values), (len(states), *expressions.shape))
    right = np.array(results, dtype=float)
    if not np.isfinite(right).any(axis=0).all():  # nowhere a number: found out where it is called
        return False
    with np.errstate(all="ignore"):
        scale = np.nanmax(np.abs(right), axis=0, initial=0.0, where=np.isfinite(right))
        close = np.abs(computed - right) <= near * (np.abs(right) + near * scale)
    return bool((close | (computed == right) | (np.isnan(computed) & np.isnan(right))).all())


def _is_repeated(first: Any, again: Any) -> bool:
    """Whether all entries are the same expressions or numbers."""
    return all(
        a is b or (not isinstance(a, Expr) and a == b)
        for a, b in zip(np.ravel(np.asarray(first)), np.ravel(np.asarray(again)), strict=True)
    )
