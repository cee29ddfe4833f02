"""Memory that a function can reach and change, by names, closures, attributes and containers."""

from __future__ import annotations

import datetime
import dis
import functools
import io
import os
import random
import sys
import time
import types
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import numpy as np

from dalembert.purity.holders import (
    SCALARS,
    ArrayEntries,
    Attributes,
    Cell,
    Context,
    Draws,
    Holder,
    Members,
    NamedValues,
    SequenceEntries,
    is_context,
    is_random,
    is_sequence,
    same,
)
from dalembert.purity.marks import Mark

MOST = 20_000  # objects looked at
LISTED = 10_000  # entries of a container looked into
CLOCKS = frozenset(
    f
    for f in (
        getattr(time, name, None)
        for name in (
            "time",
            "time_ns",
            "monotonic",
            "monotonic_ns",
            "perf_counter",
            "perf_counter_ns",
            "process_time",
            "process_time_ns",
            "thread_time",
            "thread_time_ns",
            "clock_gettime",
            "clock_gettime_ns",
            "localtime",
            "gmtime",
            "ctime",
            "asctime",
            "strftime",
        )
    )
    if f
)
CLOCK_MODULES = ("time", "datetime")
CLOCK_HOMES = (os, time, datetime, datetime.datetime, datetime.date)
NOW = frozenset({"now", "utcnow", "today"})  # of datetime.datetime and datetime.date
LIBRARIES = ("site-packages", "dist-packages")
OPAQUE = (*SCALARS, types.CodeType, types.FrameType, np.dtype, np.ufunc, io.IOBase, range, slice)
OPAQUE_ROOTS = frozenset(
    {
        "logging",
        "threading",
        "_thread",
        "numba",
        "jax",
        "jaxlib",
        "torch",
        "matplotlib",
        "weakref",
        "abc",
    }
)
CACHED = functools._lru_cache_wrapper
METHODS = (types.FunctionType, staticmethod, classmethod, property, functools.cached_property)
OWN = "dalembert"  # of this package only controllers hold functions of users
CONTROLLERS = "dalembert.controllers"


class Memory:
    """The holders that a function can reach, with their contents at the moment.

    Attributes
    ----------
    iterators : names of iterators reached, each with the holder that has it, and its key (None: in
        a tuple, or bound)
    caches : names and functions with a cache of results (functools.cache), which `restore` empties
    clock : name of a clock that the function names, or an empty text
    numbers : numbers that the function names or holds
    fixed : what functions have beside changeable contents: code, names around, default arguments
    """

    def __init__(self, function: Any, name: str):
        self.holders: list[Holder] = []
        self.iterators: list[tuple[str, Holder | None]] = []
        self.caches: list[tuple[str, Any]] = []
        self.clock = ""
        self.numbers = dict[float, None]()
        self.fixed: list[Any] = []
        self._seen: dict[int, Any] = {}
        queue: list[tuple[str, Any, Holder | None]] = [(name, function, None)]
        while queue and len(self._seen) < MOST:
            label, value, within = queue.pop()
            queue += self._visit(label, value, within)
        self._is_whole = not queue
        self._seen.clear()
        self.contents = self.read()

    @property
    def size(self) -> int:
        """Bytes of the arrays that are held."""
        return sum(
            contents.nbytes for contents in self.contents if isinstance(contents, np.ndarray)
        )

    def is_like(self, other: Memory) -> bool:
        """Whether a function of the same code, with this memory, does as one with another memory did
        when that was read: its contents are the same values in the same places.

        Arrays, lists and dicts that were made anew are the same if they hold the same.
        """
        if not (self._is_whole and other._is_whole) or len(self.holders) != len(other.holders):
            return False
        if self.iterators or self.caches or self.clock or len(self.fixed) != len(other.fixed):
            return False
        pairs = list(zip(self.holders, other.holders))
        if any(type(a) is not type(b) or a.label != b.label for a, b in pairs):
            return False
        twins = {
            id(a.owner): b.owner for a, b in pairs if type(a.owner) in (np.ndarray, list, dict)
        }

        def same_value(a: Any, b: Any) -> bool:
            """Whether two values are one, or twins."""
            return same(a, b) or (id(a) in twins and twins[id(a)] is b and type(a) is type(b))

        return all(map(same_value, self.fixed, other.fixed)) and all(
            a.is_like(b, mine, theirs, same_value)
            for (a, b), mine, theirs in zip(pairs, self.contents, other.contents)
        )

    def read(self) -> list[Any]:
        """Contents of all holders."""
        return [holder.read() for holder in self.holders]

    def changes(self, contents: list[Any] | None = None) -> dict[Holder, list[str]]:
        """Holders whose contents changed, with the names of these."""
        contents = self.contents if contents is None else contents
        found = {
            holder: holder.changed(old) for holder, old in zip(self.holders, contents, strict=True)
        }
        return {holder: names for holder, names in found.items() if names}

    def restore(self, contents: list[Any] | None = None) -> None:
        """Put contents back, by default those of the beginning."""
        contents = self.contents if contents is None else contents
        for holder, old in zip(self.holders, contents, strict=True):
            if holder.changed(old):
                holder.write(old)
        for _, cached in self.caches:
            cached.cache_clear()

    # --- the way through the objects ---

    def _visit(
        self, label: str, value: Any, within: Holder | None
    ) -> Iterable[tuple[str, Any, Holder | None]]:
        """Note a value; the values behind it."""
        if isinstance(value, SCALARS):
            if isinstance(value, (int, float)) and not isinstance(value, bool):
                self.numbers[float(value) if abs(value) < 1e300 else 0.0] = None
            return ()
        if id(value) in self._seen:
            return ()
        self._seen[id(value)] = value
        if isinstance(value, CACHED) and not is_library(value.__module__ or ""):
            self.caches.append((f"the cache of {value.__name__}", value))
        if is_clock(value):
            self.clock = self.clock or value.__name__
        if _is_iterator(value):
            self.iterators.append((label, within))
            return ()
        return [(name, found, holder) for name, found, holder in self._behind(label, value)]

    def _behind(self, label: str, value: Any) -> Iterator[tuple[str, Any, Holder | None]]:
        if isinstance(value, types.FunctionType):
            yield from self._of_function(label, value)
        elif isinstance(value, types.MethodType):
            self.fixed.append(value.__self__)
            yield from [(label, value.__self__, None), (label, value.__func__, None)]
        elif isinstance(value, (types.BuiltinMethodType, types.MethodWrapperType)):
            yield label, getattr(value, "__self__", None), None
        elif isinstance(value, (functools.partial, functools.partialmethod)):
            self.fixed += (value.func, *value.args)
            yield from [(label, x, None) for x in (value.func, *value.args)]
            yield from self._hold(
                NamedValues(value.keywords, label, form="the argument {key!r} of {label}")
            )
        elif isinstance(value, (staticmethod, classmethod, functools.cached_property, property)):
            names = ("__func__", "func", "fget")
            yield from [(label, getattr(value, n), None) for n in names if getattr(value, n, None)]
        elif isinstance(value, type):
            yield from self._of_class(label, value)
        elif (
            isinstance(value, types.ModuleType)
            or isinstance(value, OPAQUE)
            or _is_opaque(type(value))
        ):
            return
        elif isinstance(value, (tuple, frozenset)):
            yield from [(f"{label}[{k}]", x, None) for k, x in enumerate(list(value)[:LISTED])]
        else:
            yield from self._of_object(label, value)

    def _of_object(self, label: str, value: Any) -> Iterator[tuple[str, Any, Holder | None]]:
        if isinstance(value, np.ndarray):
            if value.flags.writeable:
                yield from self._hold(ArrayEntries(value, label))
            if value.dtype == object:
                yield from [
                    (f"{label}[{k}]", x, None)
                    for k, x in enumerate(value.flat)
                    if not isinstance(x, SCALARS)
                ]
        elif is_random(value):
            yield from self._hold(Draws(value, f"the random numbers of {label}"))
        elif is_context(value):
            yield from self._hold(Context(value, label))
        elif isinstance(value, dict):
            yield from self._hold(NamedValues(value, label, form="{label}[{key!r}]"))
        elif is_sequence(value):
            yield from self._hold(SequenceEntries(value, label))
        elif isinstance(value, set):
            yield from self._hold(Members(value, label))
        yield from self._of_instance(label, value)
        wrapped = getattr(value, "__wrapped__", None)
        if wrapped is not None:
            yield label, wrapped, None

    def _of_instance(self, label: str, value: Any) -> Iterator[tuple[str, Any, Holder | None]]:
        kind = type(value)
        if isinstance(getattr(value, "__dict__", None), dict):
            yield from self._hold(NamedValues(value.__dict__, label))
        slots = [name for base in kind.__mro__ for name in _names(vars(base).get("__slots__", ()))]
        if slots := [n for n in slots if n not in ("__dict__", "__weakref__")]:
            private = [
                f"_{kind.__name__.lstrip('_')}{n}" if n.startswith("__") else n for n in slots
            ]
            yield from self._hold(Attributes(value, label, frozenset(private)))
        yield f"the class {kind.__name__}", kind, None

    def _of_class(self, label: str, value: type) -> Iterator[tuple[str, Any, Holder | None]]:
        for base in value.__mro__:
            if is_library(base.__module__):
                continue
            own = {n: x for n, x in vars(base).items() if not n.startswith("__") or n == "__call__"}
            functions = {n: x for n, x in own.items() if isinstance(x, METHODS)}
            for x in functions.values():
                yield label, x, None
            data = {
                n
                for n, x in own.items()
                if n not in functions and not isinstance(x, types.MemberDescriptorType)
            }
            if data:
                yield from self._hold(Attributes(base, base.__name__, frozenset(data)))
            names = {n for x in functions.values() for n in _written(x)} - own.keys()
            if names:  # attributes that methods may give the class
                yield from self._hold(Attributes(base, base.__name__, frozenset(names)))

    def _of_function(
        self, label: str, f: types.FunctionType
    ) -> Iterator[tuple[str, Any, Holder | None]]:
        if is_library(f.__module__ or ""):
            yield from [
                (label, x, None)
                for x in (getattr(f, "__wrapped__", None), *_user_functions_in(f))
                if x is not None
            ]
            return
        defaults = (*(f.__defaults__ or ()), *(f.__kwdefaults__ or {}).values())
        self.fixed += (f.__code__, f.__globals__, *defaults)
        yield from self._hold(NamedValues(f.__dict__, f.__name__))
        for name, cell in zip(f.__code__.co_freevars, f.__closure__ or ()):
            yield from self._hold(Cell(cell, name))
        for x in f.__defaults__ or ():
            yield f"the default argument of {f.__name__}", x, None
        for name, x in (f.__kwdefaults__ or {}).items():
            yield f"the default argument {name!r} of {f.__name__}", x, None
        codes = list(_codes(f.__code__))
        names = frozenset(n for code in codes for n in code.co_names)
        yield from self._hold(NamedValues(f.__globals__, "", names, "the global {key!r}"))
        self._look_for_clocks(f, codes)
        for code in codes:
            for x in code.co_consts:
                if isinstance(x, (int, float)):
                    self._visit("", x, None)
        modules = [
            f.__globals__[n] for n in names if isinstance(f.__globals__.get(n), types.ModuleType)
        ]
        for module in modules:
            if not is_library(module.__name__):
                yield from self._hold(NamedValues(vars(module), module.__name__, names))

    def _hold(self, holder: Holder) -> Iterator[tuple[str, Any, Holder | None]]:
        self.holders.append(holder)
        if isinstance(holder, NamedValues):
            for x in list(holder.read().values())[:LISTED]:
                if isinstance(x, (int, float)):
                    self._visit("", x, None)
        for k, (name, value) in enumerate(holder.values()):
            if k >= LISTED:
                break
            yield name, value, holder

    def _look_for_clocks(self, f: types.FunctionType, codes: list[types.CodeType]) -> None:
        scope = {**{n: sys.modules[n] for n in CLOCK_MODULES if n in sys.modules}, **f.__globals__}
        if any(is_one_of(scope.get(n), CLOCK_HOMES) for code in codes for n in code.co_names):
            for value, text in _loaded(codes, scope):
                if is_clock(value):
                    self.clock = self.clock or text


def is_clock(value: Any) -> bool:
    """Whether a function tells the time of the wall."""
    if not isinstance(value, types.BuiltinFunctionType):
        return False
    return (
        value in CLOCKS
        or value is os.times
        or value.__name__ in NOW
        and is_one_of(value.__self__, CLOCK_HOMES)
    )


class MarkedClocks:
    """A module or class of clocks whose readings are marks; anything else in it is what it was."""

    def __init__(self, home: Any, reads: list[str]):
        self._home, self._reads = home, reads

    def __getattr__(self, name: str) -> Any:
        return marked_clock(getattr(self._home, name), self._reads)

    def __call__(self, *arguments: Any, **named: Any) -> Any:
        return self._home(*arguments, **named)


def marked_clock(value: Any, reads: list[str]) -> Any:
    """A clock, or a home of clocks, that gives marks in place of times; another value itself."""
    if is_clock(value):
        return lambda *_: Mark(value.__name__, reads)
    return MarkedClocks(value, reads) if is_one_of(value, CLOCK_HOMES) else value


def is_one_of(value: Any, objects: tuple[Any, ...]) -> bool:
    """Whether a value is one of some objects, whatever it takes for equal."""
    return any(value is x for x in objects)


def _loaded(codes: list[types.CodeType], scope: dict[str, Any]) -> Iterator[tuple[Any, str]]:
    """Values that code takes from modules, as time.monotonic, with their names."""
    for code in codes:
        value, text = None, ""
        for instruction in dis.get_instructions(code):
            if instruction.opname in ("LOAD_GLOBAL", "LOAD_NAME", "LOAD_FAST", "LOAD_DEREF"):
                value = scope.get(instruction.argval)
                text = str(instruction.argval)
            elif instruction.opname in ("LOAD_ATTR", "LOAD_METHOD"):
                value, text = (
                    getattr(value, str(instruction.argval), None),
                    f"{text}.{instruction.argval}",
                )
            elif instruction.opname not in ("CACHE", "PRECALL", "PUSH_NULL"):
                value, text = None, ""
            yield value, text


def is_library(module: str) -> bool:
    """Whether a module belongs to Python or to an installed package, whose own names functions do
    not change.
    """
    root = module.partition(".")[0]
    if root in sys.stdlib_module_names or root == OWN:
        return True
    file = (
        getattr(sys.modules.get(module), "__file__", None)
        or getattr(sys.modules.get(root), "__file__", None)
        or ""
    )
    return any(part in file for part in LIBRARIES)


def _is_opaque(kind: type) -> bool:
    """Whether objects of a class are taken as they are: they do not change, or have too many parts."""
    module = kind.__module__
    root = module.partition(".")[0]
    return root in OPAQUE_ROOTS or root == OWN and not module.startswith(CONTROLLERS)


def _is_iterator(value: Any) -> bool:
    """Whether the next value of something is gone once it was looked at."""
    kind = type(value)
    if not hasattr(kind, "__next__") or isinstance(value, (io.IOBase, type)):
        return False
    return not hasattr(value, "__dict__") and not hasattr(
        kind, "__slots__"
    )  # of a class of Python, attributes tell


def _codes(code: types.CodeType) -> Iterator[types.CodeType]:
    """The code of a function and of those inside it."""
    yield code
    for x in code.co_consts:
        if isinstance(x, types.CodeType):
            yield from _codes(x)


def _written(method: Any) -> frozenset[str]:
    """Names that the code of a method has."""
    f = (
        getattr(method, "__func__", None)
        or getattr(method, "fget", None)
        or getattr(method, "func", None)
        or method
    )
    if not isinstance(f, types.FunctionType):
        return frozenset()
    return frozenset(n for code in _codes(f.__code__) for n in code.co_names)


def _user_functions_in(f: types.FunctionType) -> list[Callable[..., Any]]:
    """Functions of users that a function of a library was made of, as decorators do."""
    cells = [c.cell_contents for c in f.__closure__ or () if _filled(c)]
    return [
        x for x in cells if callable(x) and not is_library(getattr(x, "__module__", None) or OWN)
    ]


def _filled(cell: Any) -> bool:
    try:
        return cell.cell_contents is not cell
    except ValueError:
        return False


def _names(slots: Any) -> tuple[str, ...]:
    return (slots,) if isinstance(slots, str) else tuple(slots)


def random_sources() -> list[Draws]:
    """The random numbers that `random` and `np.random` give without a generator."""
    return [
        Draws(random._inst, "the random numbers of `random`"),  # type: ignore[attr-defined]
        Draws(np.random.mtrand._rand, "the random numbers of `np.random`"),
    ]
