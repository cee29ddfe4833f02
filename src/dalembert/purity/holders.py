"""Objects that can be changed, each as a holder: its contents can be read, written back, and filled
with other values.
"""

from __future__ import annotations

import random
from collections import deque
from collections.abc import Callable, Iterable, MutableSequence
from contextvars import ContextVar
from operator import is_
from typing import Any

import numpy as np

from dalembert.purity.marks import Mark

MISSING: Any = type(
    "Missing", (), {"__repr__": lambda self: "nothing"}
)()  # of a name without a value
SCALARS = (int, float, complex, bool, str, bytes, type(None), np.generic)
LENGTHS = (0, 1, 3, 1000)  # of a list that is filled with marks
FILLS = (np.nan, 1.5, -(2.0**30), 2.0**30, 0.0, 1.0)


def same(a: Any, b: Any) -> bool:
    """Whether two values are one object, or numbers or texts that cannot be told apart."""
    if a is b:
        return True
    if type(a) is not type(b) or not isinstance(a, SCALARS):
        return False
    if isinstance(a, (float, complex, np.inexact)):
        return repr(a) == repr(b)  # 0.0 is not -0.0, nan is nan
    return bool(a == b)


class Holder:
    """Something changeable that a function can reach, with the name by which it does."""

    def __init__(self, owner: Any, label: str):
        self.owner, self.label = owner, label

    def read(self) -> Any:
        """The contents, copied."""
        raise NotImplementedError

    def write(self, contents: Any) -> None:
        """Put contents back as `read` gave them."""
        raise NotImplementedError

    def changed(self, contents: Any) -> list[str]:
        """Names of contents that are not what `read` gave."""
        raise NotImplementedError

    def is_like(
        self, other: Holder, mine: Any, theirs: Any, same_value: Callable[[Any, Any], bool]
    ) -> bool:
        """Whether contents are those of another holder of this kind, which may have other owners."""
        return self.owner is other.owner and not self.changed(theirs)

    def fills(self, before: Any, after: Any, reads: list[str]) -> Iterable[Any]:
        """Other contents in place of those that changed from `before` to `after`; marks note who
        reads them.
        """
        return ()

    def values(self) -> Iterable[tuple[str, Any]]:
        """Values inside that may be holders, too, with their names."""
        return ()


class NamedValues(Holder):
    """Values under names or keys: of attributes, of a dict, of global names, of a closure."""

    def __init__(
        self,
        owner: Any,
        label: str,
        names: frozenset[str] | None = None,
        form: str = "{label}.{key}",
    ):
        super().__init__(owner, label)
        self.names, self.form = names, form

    def read(self) -> dict[Any, Any]:
        """Values by name."""
        if self.names is None:
            return dict(self._mapping())
        found = self._mapping()
        return {name: found.get(name, MISSING) for name in self.names}

    def write(self, contents: dict[Any, Any]) -> None:
        """Set, and remove, values until they are as they were."""
        now = self.read()
        if self.names is None and list(now) != list(contents):
            for key in now:
                self._remove(key)
            now = {}
        for key, value in contents.items():
            if value is MISSING:
                if now.get(key, MISSING) is not MISSING:
                    self._remove(key)
            elif now.get(key, MISSING) is not value:
                self._set(key, value)

    def changed(self, contents: dict[Any, Any]) -> list[str]:
        """Names with other values, or the order of the names."""
        now = self.read()
        keys = [
            k
            for k in {**contents, **now}
            if not same(contents.get(k, MISSING), now.get(k, MISSING))
        ]
        if not keys and list(now) != list(contents):
            return [f"the order of {self.label}"]
        return [self.name_of(key) for key in keys]

    def is_like(self, other, mine, theirs, same_value):
        """Whether names and values are the same, in the same order."""
        if type(self.owner) is not type(other.owner) or len(mine) != len(theirs):
            return False
        return all(map(same, mine, theirs)) and all(map(same_value, mine.values(), theirs.values()))

    def fills(
        self, before: dict[Any, Any], after: dict[Any, Any], reads: list[str]
    ) -> Iterable[Any]:
        """Marks in place of the values that changed."""
        keys = [
            k
            for k in {**before, **after}
            if not same(before.get(k, MISSING), after.get(k, MISSING))
        ]
        yield {**before, **{key: Mark(self.name_of(key), reads) for key in keys}}

    def values(self) -> Iterable[tuple[str, Any]]:
        """Values that are not plain numbers or texts."""
        return [
            (self.name_of(key), value)
            for key, value in self.read().items()
            if not isinstance(value, SCALARS)
        ]

    def name_of(self, key: Any) -> str:
        """A value's name in messages."""
        return self.form.format(label=self.label, key=key)

    def _mapping(self) -> Any:
        return self.owner

    def _set(self, key: Any, value: Any) -> None:
        self.owner[key] = value

    def _remove(self, key: Any) -> None:
        self.owner.pop(key, None)


class Attributes(NamedValues):
    """Attributes in slots, or of a class."""

    def __init__(self, owner: Any, label: str, names: frozenset[str]):
        super().__init__(owner, label, names)

    def _mapping(self) -> dict[str, Any]:
        if isinstance(self.owner, type):
            return dict(vars(self.owner))
        return {
            name: getattr(self.owner, name)
            for name in self.names or ()
            if hasattr(self.owner, name)
        }

    def _set(self, key: Any, value: Any) -> None:
        (type if isinstance(self.owner, type) else object).__setattr__(self.owner, key, value)

    def _remove(self, key: Any) -> None:
        (type if isinstance(self.owner, type) else object).__delattr__(self.owner, key)


class Cell(NamedValues):
    """A variable of the function around."""

    def __init__(self, owner: Any, label: str):
        super().__init__(
            owner, label, frozenset({label}), "the variable {key!r} of the function around"
        )

    def _mapping(self) -> dict[str, Any]:
        try:
            return {self.label: self.owner.cell_contents}
        except ValueError:  # a cell without a value yet
            return {}

    def _set(self, key: Any, value: Any) -> None:
        self.owner.cell_contents = value

    def _remove(self, key: Any) -> None:
        del self.owner.cell_contents


class Context(NamedValues):
    """A context variable."""

    def __init__(self, owner: Any, label: str):
        super().__init__(owner, label, frozenset({owner.name}), "the context variable {key!r}")

    def _mapping(self) -> dict[str, Any]:
        return {self.owner.name: self.owner.get(MISSING)}

    def _set(self, key: Any, value: Any) -> None:
        self.owner.set(value)

    def _remove(self, key: Any) -> None:
        pass


class SequenceEntries(Holder):
    """Entries of a list, a deque, a bytearray."""

    def read(self) -> list[Any]:
        """The entries in order."""
        return list(self.owner)

    def write(self, contents: list[Any]) -> None:
        """Replace all entries."""
        if isinstance(self.owner, deque):
            self.owner.clear()
            self.owner.extend(contents)
        elif isinstance(self.owner, (bytearray, list)):
            self.owner[:] = contents  # type: ignore[assignment]
        else:
            del self.owner[:]
            self.owner.extend(contents)

    def changed(self, contents: list[Any]) -> list[str]:
        """The first entry that changed, or the whole if its length did."""
        now = self.read()
        if len(now) == len(contents) and all(map(is_, now, contents)):
            return []
        if len(now) != len(contents):
            return [self.label]
        return [
            f"{self.label}[{k}]" for k, (a, b) in enumerate(zip(contents, now)) if not same(a, b)
        ][:1]

    def is_like(self, other, mine, theirs, same_value):
        """Whether lists have the same entries."""
        if type(self.owner) is not type(other.owner) or len(mine) != len(theirs):
            return False
        return all(map(same_value, mine, theirs))

    def fills(self, before: list[Any], after: list[Any], reads: list[str]) -> Iterable[Any]:
        """Lists of marks, of several lengths if the length changed."""
        if not isinstance(self.owner, (list, deque)):
            return
        for length in {
            len(after),
            *(LENGTHS if len(before) != len(after) else ()),
        }:  # or entries alone changed
            yield [Mark(self.label, reads)] * length

    def values(self) -> Iterable[tuple[str, Any]]:
        """Entries that are not plain numbers or texts."""
        return [
            (f"{self.label}[{k}]", x)
            for k, x in enumerate(self.owner)
            if not isinstance(x, SCALARS)
        ]


class Members(Holder):
    """Members of a set."""

    def read(self) -> set[Any]:
        """A copy of the set."""
        return set(self.owner)

    def write(self, contents: set[Any]) -> None:
        """Replace all members."""
        self.owner.clear()
        self.owner.update(contents)

    def changed(self, contents: set[Any]) -> list[str]:
        """The set's name if its members changed."""
        return [] if self.owner == contents else [self.label]

    def fills(self, before: set[Any], after: set[Any], reads: list[str]) -> Iterable[Any]:
        """No members, the later members, a mark."""
        yield from (set(), after, {Mark(self.label, reads)})


class ArrayEntries(Holder):
    """Entries of an array of NumPy, or of another that it can look at."""

    def read(self) -> np.ndarray:
        """A copy of the array."""
        return np.array(self.owner)

    def write(self, contents: np.ndarray) -> None:
        """Replace all entries, if the shape still is the same."""
        if np.shape(self.owner) == contents.shape:
            np.asarray(self.owner)[...] = contents

    def changed(self, contents: np.ndarray) -> list[str]:
        """The array's name if an entry, its shape or its type of numbers changed."""
        now = np.asarray(self.owner)
        if now.shape == contents.shape and now.dtype == contents.dtype:
            if now.dtype == object:
                equal = all(map(same, now.flat, contents.flat))
            else:
                equal = now.tobytes() == contents.tobytes()
            if equal:
                return []
        return [f"entries of {self.label}"]

    def is_like(self, other, mine, theirs, same_value):
        """Whether arrays have the same numbers."""
        if type(self.owner) is not type(other.owner) or mine.dtype == object:
            return False
        shaped = mine.shape == theirs.shape and mine.dtype == theirs.dtype
        return shaped and mine.tobytes() == theirs.tobytes()

    def fills(self, before: np.ndarray, after: np.ndarray, reads: list[str]) -> Iterable[Any]:
        """Arrays of marks, or of several numbers."""
        if before.dtype == object:
            found = np.empty(before.shape, dtype=object)
            found[...] = Mark(self.label, reads)
            yield found
        elif before.dtype.kind in "fiubc":
            with np.errstate(all="ignore"):
                kinds = FILLS if before.dtype.kind in "fc" else FILLS[1:]
                yield from (np.full(before.shape, fill).astype(before.dtype) for fill in kinds)


class Draws(Holder):
    """The state of a source of random numbers."""

    def read(self) -> Any:
        """The state of the generator."""
        if isinstance(self.owner, random.Random):
            return self.owner.getstate()
        bits = (
            self.owner
            if isinstance(self.owner, np.random.BitGenerator)
            else getattr(self.owner, "bit_generator", None) or self.owner._bit_generator
        )
        return bits.state

    def write(self, contents: Any) -> None:
        """Set the state of the generator."""
        if isinstance(self.owner, random.Random):
            self.owner.setstate(contents)
            return
        bits = (
            self.owner
            if isinstance(self.owner, np.random.BitGenerator)
            else getattr(self.owner, "bit_generator", None) or self.owner._bit_generator
        )
        bits.state = contents

    def changed(self, contents: Any) -> list[str]:
        """The generator's name if numbers were drawn."""
        return [] if _equal_states(self.read(), contents) else [self.label]


def _equal_states(a: Any, b: Any) -> bool:
    if isinstance(a, dict):
        return a.keys() == b.keys() and all(_equal_states(a[k], b[k]) for k in a)
    return np.array_equal(a, b) if isinstance(a, np.ndarray) else bool(a == b)


def is_sequence(owner: Any) -> bool:
    """Whether entries are held in order and can be put back."""
    return (
        isinstance(owner, (list, deque, bytearray))
        or isinstance(owner, MutableSequence)
        and hasattr(owner, "typecode")
    )


def is_random(owner: Any) -> bool:
    """Whether random numbers are drawn from an object."""
    return isinstance(
        owner, (random.Random, np.random.Generator, np.random.RandomState, np.random.BitGenerator)
    )


def is_context(owner: Any) -> bool:
    """Whether an object is a context variable."""
    return isinstance(owner, ContextVar)
