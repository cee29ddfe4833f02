"""Kernel of a straight-line program: a loop over blocks of W states side by side in the lanes of vectors.

A block is loaded from rows into a scratch array of vectors, computed by functions of some hundred operations each, and
stored: LLVM's time grows faster than linearly in the size of a function (26 000 operations in one block took 25 s). Sines
and cosines are taken together, as early as their angles are known: their long chains of operations overlap, and one branch
looks after all angles beyond the bound.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from dalembert.codegen.llvm.blocks import TURNS, kernel, module, summing
from dalembert.codegen.llvm.elementary import LIBRARY, angles, kind, operation
from dalembert.codegen.llvm.function import Function
from dalembert.codegen.llvm.machine import Machine
from dalembert.codegen.llvm.rows import entries, groups, loaded, stored
from dalembert.codegen.program import STATUS, Program

ALONE = 2500            # values: programs of at most so many get code for single states too, which compiles as long again
CHUNK = 600             # operations per function: compile time is linear, and values still fit the registers and the stack
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
    """Runs of items of some CHUNK of weight each."""
    runs: list[list[Any]] = []
    total = CHUNK
    for item in items:
        if total >= CHUNK:
            runs.append([])
            total = 0
        runs[-1].append(item)
        total += weight(item)
    return runs


class Values:
    """Functions that compute the values of a program in a scratch array.

    places : where the array has the inputs, by port and entry; by default at its beginning
    start : first place that is free for other values
    """

    def __init__(self, program: Program, machine: Machine, constants: dict[tuple[str, str], int], prefix: str = "",
                 places: Mapping[tuple[int, int], int] | None = None, start: int = 0):
        self.program, self.machine, self.constants, self.prefix = program, machine, constants, prefix
        self.chunks = self._chunked()
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
                else f"  call void @{prefix}chunk{n}(ptr %scratch)" for n in range(len(self.chunks))]

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

    def _slots(self, slot: dict[int, int], used: int) -> dict[int, int]:
        """Scratch places of inputs (given) and of values that later chunks need; one is used again after its last reader."""
        code = self.program.code
        chunk_of = {k: number for number, chunk in enumerate(self.chunks) for k in chunk}
        last: dict[int, int] = {}
        for k, number in chunk_of.items():
            for a in code[k].args:
                if a in chunk_of and chunk_of[a] != number:
                    last[a] = max(last.get(a, 0), number)
        last |= {k: len(self.chunks) for places in self.program.results for k in places if k in chunk_of}
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
        self.unused, self.scratch = used, used + 1
        return slot

    def _chunk(self, number: int) -> str:
        """Values of a chunk; those that later chunks need are left in the scratch array."""
        f, chunk = Function(self.machine, self.constants), self.chunks[number]
        if self.program.code[chunk[0]].op in TURNS:
            return self._table(number)
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
        name = f"{self.prefix}chunk{number}"
        return f"define internal void @{name}(ptr noalias %scratch) noinline {{\n{f.body()}\n  ret void\n}}"

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
        self.ports = (*program.inputs, *program.outputs)
        self.values = Values(program, machine, constants, prefix)
        lanes = machine.lanes
        reads = [(port, first) for port, first in groups(program.inputs, lanes) if machine.checked
                 or any((port, e) in self.values.entry for e in entries(program.inputs[port], first, lanes))]
        self.reads = _cut(reads, lambda _: 5 * lanes)
        self.writes = _cut(groups(program.outputs, lanes), lambda _: 5 * lanes)

    def parts(self, name: str, alone: str = "") -> list[str]:
        """Definitions of the kernel, which hands single states to another if there is one, and of what it calls."""
        parts = [self._read(n) for n in range(len(self.reads))] + self.values.functions()
        return [*parts, *(self._write(n) for n in range(len(self.writes))), self._kernel(name, alone)]

    def function(self) -> Function:
        return Function(self.machine, self.constants)

    def _read(self, number: int) -> str:
        """Inputs into the scratch array; the sum of 0 times each is NaN if one is infinite or NaN."""
        f, total, zeros = self.function(), "%total", self.function().const(0.0)
        for port, first in self.reads[number]:
            shape = self.program.inputs[port]
            columns = loaded(f, port, first, shape.size)
            for entry, x in zip(entries(shape, first, self.machine.lanes), columns, strict=True):
                total = f.fma(x, zeros, total) if self.machine.checked else total
                if (port, entry) in self.values.entry:
                    f.store(x, self.values.at(f, self.values.entry[port, entry]))
        return summing(f"{self.prefix}read{number}", f, total)

    def _write(self, number: int) -> str:
        """Results from the scratch array to the rows of the outputs; sum as for the inputs."""
        f, total, zeros = self.function(), "%total", self.function().const(0.0)
        values: dict[int, str] = {}
        for output, first in self.writes[number]:
            shape, places = self.program.outputs[output], self.program.results[output]
            wanted = [places[e] for e in entries(shape, first, self.machine.lanes)]
            for k in wanted:
                if k not in values:
                    values[k] = self.values.value(f, k)
                    total = f.fma(values[k], zeros, total) if self.machine.checked else total
            stored(f, len(self.program.inputs) + output, first, [values[k] for k in wanted])
        return summing(f"{self.prefix}write{number}", f, total)

    def _kernel(self, name: str, alone: str) -> str:
        """Inputs and whether they are finite, chunks, results and whether they are in doubt."""
        f = self.function()
        v, zeros = f.vector, f.const(0.0)

        def read() -> str:
            finite = zeros
            for n in range(len(self.reads)):
                finite = f.put(f"call {v} @{self.prefix}read{n}(ptr %rows, ptr %scratch, {v} {finite})")
            return finite

        def compute() -> str:
            f.lines += self.values.calls()
            total = zeros
            for n in range(len(self.writes)):
                total = f.put(f"call {v} @{self.prefix}write{n}(ptr %rows, ptr %scratch, {v} {total})")
            doubt = f.put(f"fcmp uno {v} {total}, {zeros}")
            for port, places in zip(self.program.outputs, self.program.results, strict=True):
                if port.name == STATUS:
                    wrong = f.put(f"fcmp une {v} {self.values.value(f, places[0])}, {zeros}")
                    doubt = f.put(f"or {f.bits} {doubt}, {wrong}")
            return doubt

        prepared = [f"  %scratch = alloca [{self.values.scratch} x {v}], align 64"]
        return kernel(f, name, len(self.ports), prepared, read, compute, alone)
