"""Functions that compute the values of a straight-line program in a scratch array of vectors.

Each has some hundred operations: LLVM's time grows faster than linearly in the size of a function
(26 000 operations in one took 25 s). Sines and cosines are taken together, as early as their angles
are known: their long chains of operations overlap, and one branch looks after all angles beyond the
bound.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from itertools import accumulate
from typing import Any, NamedTuple

from dalembert.codegen.program import Program
from dalembert.codegen.steps import fused
from dalembert.codegen.targets.llvm.blocks import TURNS
from dalembert.codegen.targets.llvm.elementary import LIBRARY, angles, kind, operation
from dalembert.codegen.targets.llvm.function import Function, Zeros
from dalembert.codegen.targets.llvm.machine import Machine

# operations per function at most: compile time is linear, and values fit the registers and the
# stack
CHUNK = 450
LEAVES = ("constant", "input")


def cut(items: Iterable[Any], weight: Callable[[Any], int]) -> list[list[Any]]:
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
    """Code that adds 0 times all vectors it is shown to a place of the scratch array: NaN once one
    is infinite or NaN.
    """

    def __init__(self, f: Function, place: int):
        self.f, self.at = f, f"getelementptr inbounds {f.vector}, ptr %scratch, i64 {place}"
        self.zeros: Zeros | None = None

    def add(self, columns: Sequence[str]) -> None:
        if self.f.machine.checked and columns:
            self.zeros = self.zeros or Zeros(self.f, self.f.load(self.f.put(self.at)))
            self.zeros.add(columns)

    def keep(self) -> None:
        if self.zeros:
            self.f.store(self.zeros.total(), self.f.put(self.at))

    def found(self) -> str:
        """The sum."""
        return self.f.load(self.f.put(self.at)) if self.f.machine.checked else self.f.const(0.0)


class Values:
    """Functions that compute the values of a program in a scratch array.

    kept : values that are in the array at the end
    places : where the array has the inputs, by port and entry; by default at its beginning
    start : first place that is free for other values
    leaving : values that leave, if the machine is checked with a sum that is not finite if one of
        them is not. Those of `late` are left to the caller.
    beside : name of what functions take beside the array, for those that leave
    """

    def __init__(
        self,
        program: Program,
        machine: Machine,
        constants: dict[tuple[str, str], int],
        prefix: str = "",
        kept: Collection[int] = (),
        places: Mapping[tuple[int, int], int] | None = None,
        start: int = 0,
        leaving: Sequence[Leave] = (),
        beside: str = "",
    ):
        self.program, self.machine, self.constants, self.prefix = (
            program,
            machine,
            constants,
            prefix,
        )
        if machine.fused:
            self.program = fused(program)
        self.chunks = self._chunked()
        self.chunk_of = {k: number for number, chunk in enumerate(self.chunks) for k in chunk}
        self.late: list[Leave] = []
        self.leaving = self._after(leaving)
        self.kept = {*kept, *(k for leave in self.late for k in leave.values)}
        self.takes = "ptr noalias %scratch" + (f", ptr noalias {beside}" if beside else "")
        self.entry = {
            at: k for k, i in enumerate(program.code) if i.op == "input" for at in [i.args]
        }
        if places is None:
            places, start = {at: n for n, at in enumerate(self.entry)}, len(self.entry)
        self.slot = self._slots({k: places[at] for at, k in self.entry.items()}, start)
        self.rows: dict[int, int] = {}  # angles of each chunk of sines and cosines

    def functions(self) -> list[str]:
        """Definitions of all functions and tables."""
        return [self._chunk(n) for n in range(len(self.chunks))]

    def calls(self) -> list[str]:
        """Lines that compute all values."""
        turns, prefix = self.machine.turns, self.prefix
        return [
            f"  call void @{turns}(ptr %scratch, ptr @{prefix}table{n}, i64 {self.rows[n]})"
            if n in self.rows
            else f"  call void @{prefix}chunk{n}({self.takes})"
            for n in range(len(self.chunks))
        ]

    def at(self, f: Function, k: int) -> str:
        """Address of a value in the scratch array."""
        return f.put(f"getelementptr inbounds {f.vector}, ptr %scratch, i64 {self.slot[k]}")

    def value(self, f: Function, k: int) -> str:
        """A value that an earlier function left."""
        op, args = self.program.code[k]
        return f.const(args[0]) if op == "constant" else f.load(self.at(f, k), kind(op, f))

    def _chunked(self) -> list[list[int]]:
        """All operations in an order that respects their use: sines and cosines by themselves, as
        early as they can be.
        """
        code = self.program.code
        depth = [0] * len(code)  # sines and cosines on the way to a value
        for k, (op, args) in enumerate(code):
            if op not in LEAVES:
                depth[k] = max((depth[a] for a in args), default=0) + (op in TURNS)
        chunks: list[list[int]] = []
        placed = [i.op in LEAVES for i in code]

        def put(ks: Iterable[int]) -> None:
            fresh = [k for k in ks if not placed[k]]
            for k in fresh:
                placed[k] = True
            chunks.extend(cut(fresh, self._weight))

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
        """What leaves after which value: the last of its own, or the first of the next chunk that
        is not of sines.
        """
        order = {k: n for n, k in enumerate(k for chunk in self.chunks for k in chunk)}
        found: dict[int, list[Leave]] = {}
        for leave in leaving:
            known = [k for k in leave.values if k in order and leave.early]
            last = max(known, key=order.__getitem__, default=None)
            if last is not None and self.program.code[last].op in TURNS:
                last = next(
                    (
                        chunk[0]
                        for chunk in self.chunks[self.chunk_of[last] :]
                        if self.program.code[chunk[0]].op not in TURNS
                    ),
                    None,
                )
            (self.late if last is None else found.setdefault(last, [])).append(leave)
        return found

    def _slots(self, slot: dict[int, int], used: int) -> dict[int, int]:
        """Scratch places of inputs (given) and of values that later chunks need; one is used again
        after its last reader.
        """
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
        """Definition of a function of the scratch array and what is beside it."""
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
