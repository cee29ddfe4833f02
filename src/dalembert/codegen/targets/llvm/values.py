"""Functions that compute the values of a block in a scratch array of vectors.

Each has some hundred operations: LLVM's time grows faster than linearly in the size of a function
(26 000 operations in one took 25 s). Sines and cosines are taken together, as early as their angles
are known: their long chains of operations overlap, and one branch looks after all angles beyond the
bound.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import NamedTuple

from dalembert.codegen.blocks import SOURCES, TURNS, Block
from dalembert.codegen.passes.cutting import cut, slots
from dalembert.codegen.passes.specializing import fused
from dalembert.codegen.targets.llvm.elementary import LIBRARY, angles, kind, operation
from dalembert.codegen.targets.llvm.function_text import FunctionText, Zeros
from dalembert.codegen.targets.llvm.machine import Machine

# operations per function at most: compile time is linear, and values fit the registers and the
# stack
CHUNK = 450

Entry = tuple[int, int]  # of a block's inputs: number of the port, entry


class Leave(NamedTuple):
    """Values that leave together, the function that puts the code for it, and whether they leave as
    soon as all are known.
    """

    values: tuple[int, ...]
    put: Callable[[FunctionText, list[str]], None]
    early: bool


class Watch:
    """Code that adds 0 times all vectors it is shown to a place of the scratch array: NaN once one
    is infinite or NaN.
    """

    def __init__(self, f: FunctionText, place: int):
        self.f = f
        self.at = f"getelementptr inbounds {f.vector}, ptr %scratch, i64 {place}"
        self.zeros: Zeros | None = None

    def add(self, columns: Sequence[str]) -> None:
        """Add columns to the watch."""
        if self.f.machine.checked and columns:
            self.zeros = self.zeros or Zeros(self.f, self.f.load(self.f.put(self.at)))
            self.zeros.add(columns)

    def keep(self) -> None:
        """Store the watch."""
        if self.zeros:
            self.f.store(self.zeros.total(), self.f.put(self.at))

    def found(self) -> str:
        """The sum."""
        return self.f.load(self.f.put(self.at)) if self.f.machine.checked else self.f.const(0.0)


class Scratch(NamedTuple):
    """Inputs of a block, and the scratch array.

    places : where the array has inputs
    load : puts code that loads another input
    start : first place of the array that is free
    takes : parameters of the functions
    """

    places: Mapping[Entry, int]
    start: int
    takes: str
    load: Callable[[FunctionText, int, int], str] | None = None


class Values:
    """Functions that compute the values of a block in a scratch array.

    kept : values that are in the array at the end
    leaving : values that leave, if the machine is checked with a sum that is not finite if one of
        them is not. Those of `late` are left to the caller.
    closed : values leave at the end of the function that knows the last of them, and late ones at
        the end of the last function
    """

    def __init__(
        self,
        block: Block,
        machine: Machine,
        constants: dict[tuple[str, str], int],
        prefix: str,
        scratch: Scratch,
        leaving: Sequence[Leave],
        kept: Collection[int] = (),
        closed: bool = False,
    ):
        self.machine, self.constants, self.prefix = machine, constants, prefix
        self.outside, self.closed = scratch, closed
        self.block = fused(block) if machine.fused else block
        inputs = {k: i.args for k, i in enumerate(block.code) if i.op == "input"}
        given = {k: scratch.places[entry] for k, entry in inputs.items() if entry in scratch.places}
        self.entry = {entry: k for k, entry in inputs.items()}
        loaded = {k for k, i in enumerate(block.code) if i.op in SOURCES and k not in given}
        self.chunks = cut(self.block, CHUNK, self._weight, TURNS, loaded)
        if closed and (not self.chunks or self._turns(self.chunks[-1])):
            self.chunks.append([])
        self.chunk_of = {k: number for number, chunk in enumerate(self.chunks) for k in chunk}
        self.late: list[Leave] = []
        self.leaving: list[list[tuple[int, Leave]]] = [[] for _ in self.chunks]
        for leave in leaving:
            self._place(leave)
        read = {
            number: [k for _, leave in leaves for k in leave.values]
            for number, leaves in enumerate(self.leaving)
        }
        read[len(self.chunks)] = [*kept, *(k for leave in self.late for k in leave.values)]
        slot, used = slots(self.block, self.chunks, read, scratch.start)
        self.slot = given | slot
        self.unused = used
        self.total = used + 1
        self.scratch = used + 2
        self.rows: dict[int, int] = {}  # angles of each chunk of sines and cosines

    def functions(self) -> list[str]:
        """Definitions of all functions and tables."""
        return [
            self._table(n) if self._turns(chunk) else self._chunk(n)
            for n, chunk in enumerate(self.chunks)
        ]

    def calls(self, arguments: str = "") -> list[str]:
        """Lines that compute all values, once the functions are defined."""
        turns, prefix = self.machine.turns, self.prefix
        arguments = arguments or self.outside.takes
        return [
            f"  call void @{turns}(ptr %scratch, ptr @{prefix}table{n}, i64 {self.rows[n]})"
            if n in self.rows
            else f"  call void @{prefix}chunk{n}({arguments})"
            for n in range(len(self.chunks))
        ]

    def at(self, f: FunctionText, k: int) -> str:
        """Address of a value in the scratch array."""
        return f.put(f"getelementptr inbounds {f.vector}, ptr %scratch, i64 {self.slot[k]}")

    def value(self, f: FunctionText, k: int) -> str:
        """A value that an earlier function left, or a source."""
        op, args = self.block.code[k]
        if op == "constant":
            return f.const(args[0])
        if op == "input" and k not in self.slot:
            assert self.outside.load
            return self.outside.load(f, *args)
        return f.load(self.at(f, k), kind(op, f))

    def defined(self, name: str, f: FunctionText) -> str:
        """Definition of a function of the scratch array and what is beside it."""
        return define(f"{self.prefix}{name}", self.outside.takes, f)

    def _turns(self, chunk: Sequence[int]) -> bool:
        return bool(chunk) and self.block.code[chunk[0]].op in TURNS

    def _weight(self, k: int) -> int:
        """Size of a value's code in operations."""
        return 3 * self.machine.lanes if self.block.code[k].op in LIBRARY else 1

    def _place(self, leave: Leave) -> None:
        """Find out after which value something leaves: the last of its own, or the first of the
        next chunk that is not of sines.
        """
        known = [k for k in leave.values if k in self.chunk_of and leave.early]
        last = max(known, key=lambda k: (self.chunk_of[k], k), default=None)
        number = len(self.chunks) - 1 if self.closed else None
        if last is not None:
            number = next(
                (
                    n
                    for n in range(self.chunk_of[last], len(self.chunks))
                    if not self._turns(self.chunks[n])
                ),
                None,
            )
        if number is None:
            self.late.append(leave)
            return
        chunk = self.chunks[number]
        after = chunk[-1:] if self.closed else [last] if last in chunk else chunk[:1]
        self.leaving[number].append((after[0] if after else -1, leave))

    def _chunk(self, number: int) -> str:
        """Values of a chunk; values that later chunks need are left in the scratch array."""
        f = FunctionText(self.machine, self.constants)
        code = self.block.code
        watch = Watch(f, self.total)
        values: dict[int, str] = {}

        def get(k: int) -> str:
            """The vector of value k."""
            if code[k].op == "constant":
                return self.value(f, k)
            if k not in values:
                values[k] = self.value(f, k)
            return values[k]

        leaving: dict[int, list[Leave]] = {}
        for after, leave in self.leaving[number]:
            leaving.setdefault(after, []).append(leave)

        def leave_after(k: int) -> None:
            """All columns are read before one is stored."""
            found = [(leave, [get(a) for a in leave.values]) for leave in leaving.get(k, ())]
            for leave, columns in found:
                leave.put(f, columns)
                watch.add(columns)

        for k in self.chunks[number]:
            op, args = code[k]
            if op in SOURCES:  # an angle that sines are taken of
                values[k] = f.const(args[0]) if op == "constant" else self._loaded(f, *args)
            else:
                values[k] = operation(f, op, [get(a) for a in args])
            if k in self.slot:
                f.store(values[k], self.at(f, k), kind(op, f))
            leave_after(k)
        leave_after(-1)
        watch.keep()
        return self.defined(f"chunk{number}", f)

    def _loaded(self, f: FunctionText, port: int, entry: int) -> str:
        assert self.outside.load
        return self.outside.load(f, port, entry)

    def _table(self, number: int) -> str:
        """Places of the angles of a chunk, their sines and cosines."""
        rows: dict[int, list[int]] = {}
        for k in self.chunks[number]:
            op, (angle,) = self.block.code[k]
            places = rows.setdefault(angle, [self.slot[angle], self.unused, self.unused])
            places[1 + TURNS.index(op)] = self.slot[k]
        self.rows[number] = len(rows)
        return angles(f"{self.prefix}table{number}", rows.values(), self.machine)


def define(name: str, takes: str, f: FunctionText) -> str:
    """Definition of a function of a module."""
    return f"define internal void @{name}({takes}) noinline {{\n{f.body()}\n  ret void\n}}"
