"""Whether the results of a function depend on anything but its arguments: tried at some states,
then put back as it was.
"""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from contextvars import copy_context
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from dalembert.purity.holders import Holder, NamedValues, SequenceEntries, same
from dalembert.purity.marks import Mark
from dalembert.purity.reachable import Memory, is_clock, is_library, marked_clock, random_sources

READS_CLOCK = "reads the clock ({}), and its results may depend on when it is called"
LONG = 0.2  # s: no more states are tried after it
FEWEST = 4  # states that are tried all the same
Call = Callable[[Any], Any]  # state -> result, of fresh arguments


@dataclass(frozen=True)
class Verdict:
    """Judgement of a function.

    Attributes
    ----------
    memory : what it can change
    remembers : what it remembers or reads, as the end of a sentence; empty if its results depend on
        arguments alone
    changes : what it changes without reading it, such as a log or a counter, or keeps without a
        difference, such as a cache
    results : at each state tried, an array of floats, or None where it raised something
    """

    memory: Memory = field(compare=False, repr=False)
    remembers: str = ""
    changes: tuple[str, ...] = ()
    results: tuple[np.ndarray | None, ...] = ()


def judged(memory: Memory, states: Sequence[Any], call: Call) -> Verdict:
    """Try a function at some states, in several orders, and see what changed. It is left exactly as
    it was.

    A change that results do not depend on is none: each thing that changed is replaced by a mark
    that may be updated but not read (or other numbers), and results must stay what they are. What
    is built at the first call, whatever its arguments, and what a dict keeps of results, are
    changes without a difference, too.

    Parameters
    ----------
    memory : of the function
    states : arguments for `call`, which gives the function fresh copies of them
    call : state -> result
    """
    if memory.clock and _depends_on_clocks(memory, states, call):
        return Verdict(memory, READS_CLOCK.format(memory.clock))
    if drawn := _drawn_from(memory, states, call):
        return Verdict(
            memory, f"takes its values from an iterator ({drawn}), which gives each of them once"
        )
    trial = _Trial(memory, states, call, is_timed=bool(memory.clock))
    try:
        return copy_context().run(trial.verdict)  # settings in the copied context vanish with it
    finally:
        memory.restore()


def _depends_on_clocks(memory: Memory, states: Sequence[Any], call: Call) -> bool:
    """Whether a clock is more than noted: results with clocks whose readings cannot be looked at
    are others, or none.
    """
    reads: list[str] = []
    heard: list[str] = []
    trial = _Trial(memory, states[:FEWEST], call)
    right = trial.outcomes(trial.states)
    memory.restore()
    for holder in memory.holders:
        if isinstance(holder, NamedValues):
            contents = holder.read()
            marked = {key: marked_clock(value, reads) for key, value in contents.items()}
            if any(marked[key] is not value for key, value in contents.items()):
                holder.write(marked)
    try:
        with listening(heard):
            found = trial.outcomes(trial.states)
    finally:
        memory.restore()
    return bool(heard or reads) or not alike(right, found)


def changed_later(memory: Memory, states: Sequence[Any], call: Call) -> str:
    """Names of a function's memory that has changed since it was read, or an empty text.

    It changed in a run, at states that were not tried before it. Where that matters the function is
    left as it was then; otherwise, as it is now.
    """
    changes = memory.changes()
    after = memory.read()
    if not changes:
        return ""
    memory.restore()
    trial = _Trial(memory, states, call)
    first = trial.outcomes(trial.states)
    own = memory.changes()
    if trial.is_harmless(first, changes, after):
        memory.restore(after)
        return ""
    memory.restore()
    if any(holder in own for holder in changes):
        return f"changes {_listed(changes)} and uses it in later calls"
    return f"reads {_listed(changes)}, which something else changed while the run went on"


def _listed(changes: dict[Holder, list[str]]) -> str:
    names = [name for found in changes.values() for name in found]
    return ", ".join(dict.fromkeys(names[:3])) + (", ..." if len(names) > 3 else "")


class _Trial:
    def __init__(self, memory: Memory, states: Sequence[Any], call: Call, is_timed: bool = False):
        self.memory = memory
        self.states = list(states)
        self.call = call
        self.is_timed = is_timed
        self.sources = random_sources()

    def verdict(self) -> Verdict:
        """The judgement of a function, called at every state in two orders."""
        random_before = [source.read() for source in self.sources]
        clock: list[str] = []
        with nullcontext() if self.is_timed else listening(clock):
            first = self._forward()
        results = tuple(r if isinstance(r, np.ndarray) else None for r in first)
        again = self.outcomes(reversed(self.states))[::-1]
        drawn = [s.label for s, old in zip(self.sources, random_before) if s.changed(old)]
        for source, old in zip(self.sources, random_before):
            source.write(old)
        changes = self.memory.changes()
        differs = not alike(first, again)
        names = [n for found in changes.values() for n in found]
        random = [n for n in names if n.startswith("the random numbers of ")] or (
            drawn if differs else []
        )
        if clock:
            return self._remembers(READS_CLOCK.format(clock[0]), results)
        if random:
            return self._remembers(f"draws random numbers ({random[0]})", results)
        if differs and not changes:
            return self._remembers(
                "gives other results when it is called again with the same arguments", results
            )
        if not changes:
            return self._remembers(self._of_caches(first), results)
        if differs or not self.is_harmless(first, changes, self.memory.read()):
            return self._remembers(
                f"changes {_listed(changes)} and uses it in later calls", results
            )
        if self._is_built_once():
            return Verdict(self.memory, "", (), results)
        return Verdict(self.memory, "", tuple(names), results)

    def _of_caches(self, first: list[Any]) -> str:
        """Memory in caches of functions: results differ without them."""
        if not self.memory.caches:
            return ""
        fresh = []
        for state in self.states:
            self.memory.restore()
            fresh.append(self._outcome(state))
        return (
            ""
            if alike(first, fresh)
            else f"keeps something in {self.memory.caches[0][0]} that later calls use"
        )

    def _remembers(self, text: str, results: tuple[np.ndarray | None, ...]) -> Verdict:
        return Verdict(self.memory, text, (), results)

    def _forward(self) -> list[Any]:
        """Results at the states in their order; of a slow function not at all of them."""
        begun = time.monotonic()
        found = []
        for k, state in enumerate(self.states):
            if k >= FEWEST and time.monotonic() - begun > LONG:
                break
            found.append(self._outcome(state))
        self.states = self.states[: len(found)]
        return found

    def outcomes(self, states: Any) -> list[Any]:
        """Outcomes of the function at states, in their order."""
        return [self._outcome(state) for state in states]

    def _outcome(self, state: Any) -> Any:
        """The result as an array, copied, or the class of what was raised."""
        try:
            with np.errstate(all="ignore"):
                return _copied(self.call(state))
        except Exception as error:  # a state at which it is not defined
            return type(error)

    def is_harmless(
        self, first: list[Any], changes: dict[Holder, list[str]], after: list[Any]
    ) -> bool:
        """Whether results never depend on the memory that changed; `first` are the results at the
        states, in order.
        """
        fresh, later = [], []
        for state in self.states:
            self.memory.restore()
            fresh.append(self._outcome(state))
            self.memory.restore(after)
            later.append(self._outcome(state))
        if not alike(first, fresh) or not alike(first, later):
            return False
        return (
            self._is_not_read(first, changes, after)
            or self._is_built_once(after)
            or self._is_cache(changes)
        )

    def _is_not_read(
        self, first: list[Any], changes: dict[Holder, list[str]], after: list[Any]
    ) -> bool:
        places = {id(holder): k for k, holder in enumerate(self.memory.holders)}
        reads: list[str] = []
        for holder in changes:
            k = places[id(holder)]
            filled = 0
            for contents in holder.fills(self.memory.contents[k], after[k], reads):
                filled += 1
                for state, right in zip(self.states, first):
                    self.memory.restore()
                    holder.write(contents)
                    if not alike([right], [self._outcome(state)]) or reads:
                        return False
            if not filled:
                return False
        return True

    def _is_built_once(self, later: list[Any] | None = None) -> bool:
        """Whether the first call changes all there is to change, and always to the same; `later`:
        as found after a run.
        """
        found = [] if later is None else [later]
        for state in (self.states[0], self.states[-1]):
            self.memory.restore()
            self._outcome(state)
            found.append(self.memory.read())
            self.outcomes(self.states)
            if self.memory.changes(found[-1]):
                return False
        return all(alike_values(a, b) for other in found[1:] for a, b in zip(found[0], other))

    def _is_cache(self, changes: dict[Holder, list[str]]) -> bool:
        """Whether entries of dicts are added alone, the same in every order of calls."""
        self.memory.restore()
        self.outcomes(self.states)
        forward = self.memory.read()
        self.memory.restore()
        self.outcomes(reversed(self.states))
        backward = self.memory.read()
        for k, holder in enumerate(self.memory.holders):
            if holder not in changes:
                continue
            old = self.memory.contents[k]
            one = forward[k]
            other = backward[k]
            if (
                not isinstance(holder, NamedValues)
                or holder.names is not None
                or not isinstance(holder.owner, dict)
            ):
                return False
            if holder.form == "{label}.{key}" or any(
                not same(old[key], one.get(key)) for key in old
            ):
                return False  # attributes are no cache; an entry was replaced
            if one.keys() != other.keys() or not all(
                alike_values(one[key], other[key]) for key in one
            ):
                return False
        return True


def _drawn_from(memory: Memory, states: Sequence[Any], call: Call) -> str:
    """The iterator that a function takes values from, if there is one."""
    for label, holder in memory.iterators:
        if holder is None:
            return label
        reads: list[str] = []
        contents = holder.read()
        iterator = Mark(label, reads)
        if isinstance(holder, SequenceEntries):
            holder.write(
                [iterator if label == f"{holder.label}[{k}]" else x for k, x in enumerate(contents)]
            )
        elif isinstance(holder, NamedValues):
            holder.write(
                {k: iterator if holder.name_of(k) == label else x for k, x in contents.items()}
            )
        try:
            for state in states:
                try:
                    call(state)
                except Exception:
                    continue
        finally:
            holder.write(contents)
            memory.restore()
        if reads:
            return label
    return ""


@contextmanager
def listening(found: list[str]) -> Iterator[None]:
    """Note the clocks that this thread reads meanwhile, but for those that libraries read, as logs
    do.
    """
    if sys.getprofile() is not None or threading.getprofile() is not None:  # a profiler is at work
        yield
        return

    def heard(frame: Any, event: str, function: Any) -> None:
        """Note a call of a clock that no library makes."""
        if (
            event == "c_call"
            and is_clock(function)
            and not is_library(frame.f_globals.get("__name__", ""))
        ):
            found.append(function.__name__)

    sys.setprofile(heard)
    try:
        yield
    finally:
        sys.setprofile(None)


def _copied(result: Any) -> np.ndarray:
    """A result as an array of its own; its entries need not be numbers."""
    array = np.array(result)
    if array.dtype == object and any(isinstance(x, Mark) for x in array.flat):
        raise TypeError("a result depends on what was changed.")
    return array


def alike(first: Sequence[Any], again: Sequence[Any]) -> bool:
    """Whether outcomes are the same to the last bit, or raised the same."""
    return all(alike_values(a, b) for a, b in zip(first, again, strict=True))


def alike_values(a: Any, b: Any, depth: int = 6) -> bool:
    """Whether two values cannot be told apart, look as deep as one may."""
    if same(a, b):
        return True
    if type(a) is not type(b) or not depth:
        return False
    if isinstance(a, np.ndarray):
        if a.shape != b.shape or a.dtype != b.dtype:
            return False
        if a.dtype == object:
            return all(alike_values(x, y, depth - 1) for x, y in zip(a.flat, b.flat))
        return a.tobytes() == b.tobytes() or bool(
            np.array_equal(a, b, equal_nan=a.dtype.kind in "fc")
        )
    if isinstance(a, dict):
        return a.keys() == b.keys() and all(alike_values(a[k], b[k], depth - 1) for k in a)
    if isinstance(a, (list, tuple)):
        return len(a) == len(b) and all(alike_values(x, y, depth - 1) for x, y in zip(a, b))
    if isinstance(getattr(a, "__dict__", None), dict) and not isinstance(a, type):
        code = getattr(a, "__code__", None) is getattr(b, "__code__", None)
        return code and alike_values(a.__dict__, b.__dict__, depth - 1)
    return False
