"""Kernel of a straight-line program: a loop over blocks of W states side by side in the lanes of vectors.

A block is loaded from rows into a scratch array of vectors and computed by functions of some hundred operations each:
LLVM's time grows faster than linearly in the size of a function (26 000 operations in one block took 25 s). Sines and
cosines are taken together, as early as their angles are known: their long chains of operations overlap, and one branch
looks after all angles beyond the bound.

Few results are stored as soon as they are known. Many are stored at the end, one after the other: processors foresee who
writes to memory in order (a regressor's as soon as they are known took twice as long).
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from functools import partial
from itertools import accumulate
from typing import Any, NamedTuple

from dalembert.codegen.llvm import streams as streaming
from dalembert.codegen.llvm.blocks import TURNS, kernel, module
from dalembert.codegen.llvm.elementary import LIBRARY, angles, kind, operation
from dalembert.codegen.llvm.function import Function
from dalembert.codegen.llvm.machine import Machine
from dalembert.codegen.llvm.rows import entries, groups, loaded, stored
from dalembert.codegen.llvm.streams import Stream
from dalembert.codegen.program import STATUS, Program

ALONE = 2500            # values: programs of at most so many get code for single states too, which compiles as long again
CHUNK = 450             # operations per function at most: compile time is linear, and values fit the registers and the stack
EARLY = 16              # entries: results that fit two lines of the cache are stored as soon as they are known
TOGETHER = 4            # values are looked at together
LEAVES = ("constant", "input")


def assembly(program: Program, machine: Machine, name: str = "kernel") -> str:
    """LLVM assembly of a program's kernel."""
    constants: dict[tuple[str, str], int] = {}
    small = len(program.code) <= ALONE
    alone = _Writer(program, machine.alone, constants, "alone_").parts(f"alone_{name}") if small else []
    writer = _Writer(program, machine, constants)
    parts = writer.parts(name, f"alone_{name}" if small else "")
    return module(writer.function(), {i.op for i in program.code}, [*alone, *parts], small)


def _cut(items: Iterable[Any], weight: Callable[[Any], int]) -> list[list[Any]]:
    """Runs of items, as few and as equal as they can be with some CHUNK of weight each at most."""
    items = list(items)
    ends = list(accumulate(map(weight, items)))
    count = -(-(ends[-1] if ends else 0) // CHUNK)
    runs: list[list[Any]] = [[] for _ in range(count)]
    for item, end in zip(items, ends, strict=True):
        runs[(end - 1) * count // ends[-1]].append(item)
    return [run for run in runs if run]


class Leave(NamedTuple):
    """Values that leave together, what puts the code for it, and whether as soon as all are known."""

    values: tuple[int, ...]
    put: Callable[[Function, list[str]], None]
    early: bool


class Watch:
    """Code that adds 0 times all vectors it is shown to a place of the scratch array: NaN once one is infinite or NaN."""

    def __init__(self, f: Function, place: int):
        self.f, self.at, self.total = f, f"getelementptr inbounds {f.vector}, ptr %scratch, i64 {place}", ""
        self.seen: list[str] = []

    def add(self, columns: Sequence[str]) -> None:
        if self.f.machine.checked:
            self.seen += columns
            if len(self.seen) >= TOGETHER:
                self._add()

    def keep(self) -> None:
        if self.seen:
            self._add()
        if self.total:
            self.f.store(self.total, self.f.put(self.at))

    def _add(self) -> None:
        """A short chain of operations: some are added to each other first."""
        f = self.f
        self.total = f.fma(f.sum(self.seen), f.const(0.0), self.total or f.load(f.put(self.at)))
        self.seen = []

    def found(self) -> str:
        """The sum."""
        return self.f.load(self.f.put(self.at)) if self.f.machine.checked else self.f.const(0.0)


class Values:
    """Functions that compute the values of a program in a scratch array.

    kept : values that are in the array at the end
    places : where the array has the inputs, by port and entry; by default at its beginning
    start : first place that is free for other values
    leaving : values that leave; functions then take the rows too, and keep a sum that is not finite if one of them is not.
        Those of `late` are left to the caller.
    """

    def __init__(self, program: Program, machine: Machine, constants: dict[tuple[str, str], int], prefix: str = "",
                 kept: Collection[int] = (), places: Mapping[tuple[int, int], int] | None = None, start: int = 0,
                 leaving: Sequence[Leave] = ()):
        self.program, self.machine, self.constants, self.prefix = program, machine, constants, prefix
        self.chunks = self._chunked()
        self.chunk_of = {k: number for number, chunk in enumerate(self.chunks) for k in chunk}
        self.late: list[Leave] = []
        self.leaving = self._after(leaving)
        self.kept = {*kept, *(k for leave in self.late for k in leave.values)}
        self.takes = "ptr noalias %rows, ptr noalias %scratch" if leaving else "ptr noalias %scratch"
        self.entry = {at: k for k, i in enumerate(program.code) if i.op == "input" for at in [i.args]}
        if places is None:
            places, start = {at: n for n, at in enumerate(self.entry)}, len(self.entry)
        self.slot = self._slots({k: places[at] for at, k in self.entry.items()}, start)
        self.rows: dict[int, int] = {}                          # angles of each chunk of sines and cosines

    def functions(self) -> list[str]:
        """Definitions of all functions and tables."""
        return [self._chunk(n) for n in range(len(self.chunks))]

    def calls(self) -> list[str]:
        """Lines that compute all values."""
        turns, prefix = self.machine.turns, self.prefix
        return [f"  call void @{turns}(ptr %scratch, ptr @{prefix}table{n}, i64 {self.rows[n]})" if n in self.rows
                else f"  call void @{prefix}chunk{n}({self.takes})" for n in range(len(self.chunks))]

    def at(self, f: Function, k: int) -> str:
        """Address of a value in the scratch array."""
        return f.put(f"getelementptr inbounds {f.vector}, ptr %scratch, i64 {self.slot[k]}")

    def value(self, f: Function, k: int) -> str:
        """A value that an earlier function left."""
        op, args = self.program.code[k]
        return f.const(args[0]) if op == "constant" else f.load(self.at(f, k), kind(op, f))

    def _chunked(self) -> list[list[int]]:
        """All operations in an order that respects their use: sines and cosines by themselves, as early as they can be."""
        code = self.program.code
        depth = [0] * len(code)                                 # sines and cosines on the way to a value
        for k, (op, args) in enumerate(code):
            if op not in LEAVES:
                depth[k] = max((depth[a] for a in args), default=0) + (op in TURNS)
        chunks: list[list[int]] = []
        placed = [i.op in LEAVES for i in code]

        def put(ks: Iterable[int]) -> None:
            fresh = [k for k in ks if not placed[k]]
            for k in fresh:
                placed[k] = True
            chunks.extend(_cut(fresh, self._weight))

        for level in range(1, max(depth, default=0) + 1):
            turns: dict[int, list[int]] = {}
            for k, (op, args) in enumerate(code):
                if op in TURNS and depth[k] == level:
                    turns.setdefault(args[0], []).append(k)
            put(self._needed(turns, placed))
            chunks.append([k for ks in turns.values() for k in ks])
            for k in chunks[-1]:
                placed[k] = True
        put(range(len(code)))
        return chunks

    def _needed(self, roots: Iterable[int], placed: list[bool]) -> list[int]:
        """Operations that some values need, themselves included, of those that are not placed yet."""
        found: set[int] = set()
        stack = [k for k in roots if not placed[k]]
        while stack:
            k = stack.pop()
            if k not in found:
                found.add(k)
                stack += [a for a in self.program.code[k].args if not placed[a]]
        return sorted(found)

    def _weight(self, k: int) -> int:
        """Size of a value's code in operations."""
        return 3 * self.machine.lanes if self.program.code[k].op in LIBRARY else 1

    def _after(self, leaving: Sequence[Leave]) -> dict[int, list[Leave]]:
        """What leaves after which value: the last of its own, or the first of the next chunk that is not of sines."""
        order = {k: n for n, k in enumerate(k for chunk in self.chunks for k in chunk)}
        found: dict[int, list[Leave]] = {}
        for leave in leaving:
            known = [k for k in leave.values if k in order and leave.early]
            last = max(known, key=order.__getitem__, default=None)
            if last is not None and self.program.code[last].op in TURNS:
                last = next((chunk[0] for chunk in self.chunks[self.chunk_of[last]:]
                             if self.program.code[chunk[0]].op not in TURNS), None)
            (self.late if last is None else found.setdefault(last, [])).append(leave)
        return found

    def _slots(self, slot: dict[int, int], used: int) -> dict[int, int]:
        """Scratch places of inputs (given) and of values that later chunks need; one is used again after its last reader."""
        last: dict[int, int] = {}

        def read(ks: Iterable[int], number: int) -> None:
            for k in ks:
                if self.chunk_of.get(k, number) != number:
                    last[k] = max(last.get(k, 0), number)

        for k, number in self.chunk_of.items():
            read(self.program.code[k].args, number)
            for leave in self.leaving.get(k, ()):
                read(leave.values, number)
        read(self.kept, len(self.chunks))
        free: list[int] = []
        released: dict[int, list[int]] = {}
        for number, chunk in enumerate(self.chunks):
            free += released.pop(number, [])
            for k in chunk:
                if k in last:
                    if not free:
                        free, used = [used], used + 1
                    slot[k] = free.pop()
                    released.setdefault(last[k] + 1, []).append(slot[k])
        self.unused, self.total, self.scratch = used, used + 1, used + 2
        return slot

    def _chunk(self, number: int) -> str:
        """Values of a chunk; those that later chunks need are left in the scratch array."""
        f, chunk = Function(self.machine, self.constants), self.chunks[number]
        if self.program.code[chunk[0]].op in TURNS:
            return self._table(number)
        watch = Watch(f, self.total)
        values: dict[int, str] = {}

        def get(k: int) -> str:
            if self.program.code[k].op == "constant":
                return self.value(f, k)
            if k not in values:
                values[k] = self.value(f, k)
            return values[k]

        for k in chunk:
            op, args = self.program.code[k]
            values[k] = operation(f, op, [get(a) for a in args])
            if k in self.slot:
                f.store(values[k], self.at(f, k), kind(op, f))
            for leave in self.leaving.get(k, ()):
                columns = [get(a) for a in leave.values]
                leave.put(f, columns)
                watch.add(columns)
        watch.keep()
        return self.defined(f"chunk{number}", f)

    def defined(self, name: str, f: Function) -> str:
        """Definition of a function of the scratch array, and of the rows if values leave."""
        return f"define internal void @{self.prefix}{name}({self.takes}) noinline {{\n{f.body()}\n  ret void\n}}"

    def _table(self, number: int) -> str:
        """Places of the angles of a chunk, their sines and cosines."""
        rows: dict[int, list[int]] = {}
        for k in self.chunks[number]:
            op, (angle,) = self.program.code[k]
            places = rows.setdefault(angle, [self.slot[angle], self.unused, self.unused])
            places[1 + TURNS.index(op)] = self.slot[k]
        self.rows[number] = len(rows)
        return angles(f"{self.prefix}table{number}", rows.values(), self.machine)


class _Writer:
    """Kernel of one program; the prefix is that of all functions it calls."""

    def __init__(self, program: Program, machine: Machine, constants: dict[tuple[str, str], int], prefix: str = ""):
        self.program, self.machine, self.constants, self.prefix = program, machine, constants, prefix
        self.ports, lanes = (*program.inputs, *program.outputs), machine.lanes
        self.status = [places[0] for port, places in zip(program.outputs, program.results, strict=True)
                       if port.name == STATUS]
        leaving = [Leave(tuple(program.results[output][e] for e in entries(program.outputs[output], first, lanes)),
                         partial(stored, port=len(program.inputs) + output, first=first),
                         program.outputs[output].size <= EARLY)
                   for output, first in groups(program.outputs, lanes)]
        self.values = Values(program, machine, constants, prefix, self.status, leaving=leaving)
        reads = [(port, first) for port, first in groups(program.inputs, lanes) if machine.checked
                 or any((port, e) in self.values.entry for e in entries(program.inputs[port], first, lanes))]
        self.reads = _cut(reads, lambda _: 5 * lanes)
        self.writes = _cut(self.values.late, lambda _: 5 * lanes)
        streams = [Stream(place, port, machine) for place, port in enumerate(program.outputs, len(program.inputs))
                   if port.size > EARLY and lanes > 1]
        self.streams = [s for s in streams if s.block <= streaming.BLOCK]

    def parts(self, name: str, alone: str = "") -> list[str]:
        """Definitions of the kernel, which hands single states to another if there is one, and of what it calls."""
        parts = [self._read(n) for n in range(len(self.reads))] + self.values.functions()
        parts += [streaming.functions(self.machine)] if self.streams else []
        return [*parts, *(self._write(n) for n in range(len(self.writes))), self._kernel(name, alone)]

    def function(self) -> Function:
        return Function(self.machine, self.constants)

    def _read(self, number: int) -> str:
        """Inputs into the scratch array."""
        f = self.function()
        watch = Watch(f, self.values.total)
        for port, first in self.reads[number]:
            shape = self.program.inputs[port]
            columns = loaded(f, port, first, shape.size)
            for entry, x in zip(entries(shape, first, self.machine.lanes), columns, strict=True):
                if (port, entry) in self.values.entry:
                    f.store(x, self.values.at(f, self.values.entry[port, entry]))
            watch.add(columns)
        watch.keep()
        return self.values.defined(f"read{number}", f)

    def _write(self, number: int) -> str:
        """Results that the scratch array has, to the rows of the outputs."""
        f = self.function()
        watch = Watch(f, self.values.total)
        values: dict[int, str] = {}
        for leave in self.writes[number]:
            fresh = {k: self.values.value(f, k) for k in leave.values if k not in values}
            values |= fresh
            leave.put(f, [values[k] for k in leave.values])
            watch.add(list(fresh.values()))
        watch.keep()
        return self.values.defined(f"write{number}", f)

    def _kernel(self, name: str, alone: str) -> str:
        """Inputs and whether they are finite, chunks, results and whether they are in doubt."""
        f = self.function()
        watch, zeros = Watch(f, self.values.total), f.const(0.0)

        def call(function: str, number: int) -> None:
            f.lines += [f"  call void @{self.prefix}{function}{n}({self.values.takes})" for n in range(number)]

        def read() -> str:
            for stream in self.streams:
                stream.follows(f)
            f.store(zeros, f.put(watch.at))
            call("read", len(self.reads))
            return watch.found()

        def compute() -> str:
            calls = self.values.calls()
            for part, line in enumerate(calls):
                f.lines += [line, *(stream.moves(part, len(calls)) for stream in self.streams)]
            call("write", len(self.writes))
            doubt = f.put(f"fcmp uno {f.vector} {watch.found()}, {zeros}")
            for k in self.status:
                wrong = f.put(f"fcmp une {f.vector} {self.values.value(f, k)}, {zeros}")
                doubt = f.put(f"or {f.bits} {doubt}, {wrong}")
            return doubt

        for stream in self.streams:
            stream.made(f)
        prepared, f.lines = [f"  %scratch = alloca [{self.values.scratch} x {f.vector}], align 64", *f.lines], []
        late = [line for stream in self.streams for line in stream.ends()]
        return kernel(f, name, len(self.ports), prepared, read, compute, alone, late)
