"""Functions that run the items of a program on its memory, in which each number has all lanes.

A function of a table's block takes the number of the row. Where ports begin follows from it, or
from a table of places where these do not grow evenly from row to row. Values that cross from one
function to another lie behind the memory.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from dalembert.codegen.program import (
    REPEATS,
    BlockTable,
    Callback,
    Clear,
    Goals,
    Item,
    Loop,
    Program,
    Scan,
    Turns,
)
from dalembert.codegen.targets.llvm.elementary import angles
from dalembert.codegen.targets.llvm.function_text import FunctionText
from dalembert.codegen.targets.llvm.machine import Machine, literal
from dalembert.codegen.targets.llvm.values import Leave, Scratch, Values

# Places behind the memory, if there are callbacks: whether one raised; what they need.
RAISED, OUTSIDE = 0, 1
TAKES = "ptr noalias %scratch, ptr %rows, ptr noalias %extra"
EXTRA = {"goals": ("ptr", 0), "records": ("i64", 1), "repeats": ("i64", 2)}  # places in %extra
CLEARED = "declare void @llvm.memset.p0.i64(ptr, i8, i64, i1)"


class ItemFunctions:
    """Functions of the items of a program.

    size : of the memory, with what lies behind it
    """

    def __init__(self, program: Program, machine: Machine, constants: dict[tuple[str, str], int]):
        self.program, self.machine, self.constants = program, machine, constants
        self.callbacks = program.callbacks
        start = program.size + (2 if self.callbacks else 0)
        self.tables = [
            _TableFunctions(number, table, machine, constants, start)
            for number, table in enumerate(program.tables)
        ]
        self.size = max([start, *(table.values.scratch for table in self.tables)])
        self.cleared = 0  # stretches in lines

    def functions(self) -> list[str]:
        """Definitions of all functions and tables."""
        parts = [CLEARED, *(part for table in self.tables for part in table.functions())]
        for item in self.program.every_item:
            number = self.program.number(item)
            if isinstance(item, Turns):
                parts.append(angles(f"angles{number}", item.places.tolist(), self.machine))
            elif isinstance(item, Scan) and not item.single:
                parts += self._scan(number, item)
            elif isinstance(item, Loop):
                parts.append(self._loop(number, item))
            elif isinstance(item, Goals):
                parts.append(self._goals(number, item))
        return parts

    def lines(self, items: Sequence[Item]) -> list[str]:
        """Lines that run items one after the other."""
        return [line for item in items for line in self._run(item)]

    def _run(self, item: Item) -> list[str]:
        number = self.program.number(item)
        align = self.machine.align
        if isinstance(item, Scan):
            if not item.single:
                return [f"  call void @scan{number}(ptr %scratch)"]
            table, row = item.order[0].tolist()
            return self.tables[table].calls(row)
        if isinstance(item, Turns):
            table = f"@angles{number}"
            count = len(item.places)
            return [
                f"  call void @{self.machine.turns}(ptr %scratch, ptr {table}, i64 {count})"
            ] * bool(count)
        if isinstance(item, Clear):
            start = item.start * align
            size = (item.stop - item.start) * align
            self.cleared += 1
            at = f"%clear{self.cleared}"
            return [
                f"  {at} = getelementptr inbounds i8, ptr %scratch, i64 {start}",
                f"  call void @llvm.memset.p0.i64(ptr align {align} {at}, i8 0, i64 {size}, "
                "i1 false)",
            ]
        if isinstance(item, Callback):
            return [f"  call void @call{self.callbacks.index(item)}(ptr %scratch)"]
        return [f"  call void @items{number}(ptr %scratch, ptr %rows, ptr %extra)"]

    def place(self, f: FunctionText, place: int | str) -> str:
        """Address of a place in the memory."""
        return f.put(f"getelementptr inbounds {f.vector}, ptr %scratch, i64 {place}")

    def extra(self, f: FunctionText, name: str) -> str:
        """A number that the call gives beside inputs and results."""
        real, place = EXTRA[name]
        at = f.put(f"getelementptr inbounds i64, ptr %extra, i64 {place}")
        return f.put(f"load {real}, ptr {at}, align 8")

    def _going(self, f: FunctionText, more: str, until: int | None = None) -> str:
        """Whether to go on: there is more, a place is 0 in some lane, and no function raised."""
        if until is not None:
            x = f.load(self.place(f, until))
            zero = f.put(f"fcmp oeq {f.vector} {x}, {f.const(0.0)}")
            more = f.put(f"and i1 {more}, {f.any_lane(zero)}")
        if self.callbacks:
            raised = self.place(f, self.program.size + RAISED)
            raised = f.put(f"load i64, ptr {raised}, align 8")
            more = f.put(f"and i1 {more}, {f.put(f'icmp eq i64 {raised}, 0')}")
        return more

    def _loop(self, number: int, loop: Loop) -> str:
        f = FunctionText(self.machine, self.constants)
        most = self.extra(f, "repeats") if loop.most == REPEATS else str(loop.most)
        entry, f.lines = f.lines, []
        left = f.put(f"icmp slt i64 %turn, {most}")
        going = self._going(f, left, loop.until)
        return self._looped(number, entry, f.lines, going, self.lines(loop.items))

    def _goals(self, number: int, goals: Goals) -> str:
        f = FunctionText(self.machine, self.constants)
        numbers = self.extra(f, "goals")
        records = self.extra(f, "records")
        entry, f.lines = f.lines, []
        going = self._going(f, f.put(f"icmp slt i64 %turn, {records}"))
        head, f.lines = f.lines, []
        if goals.goal is not None:
            at = f.put(f"getelementptr inbounds double, ptr {numbers}, i64 %turn")
            x = f.put(f"load double, ptr {at}, align 8")
            f.store(f.everywhere(x), self.place(f, goals.goal))
        record = "  call void @record(ptr %rows, ptr %scratch)"
        body = [*f.lines, *self.lines(goals.items), record]
        return self._looped(number, entry, head, going, body)

    def _looped(
        self, number: int, entry: list[str], head: list[str], going: str, body: list[str]
    ) -> str:
        """A function that repeats its body while something holds, with the number of the turn."""
        return "\n".join(
            [
                f"define internal void @items{number}({TAKES}) noinline {{",
                "entry:",
                *entry,
                "  br label %look",
                "look:",
                "  %turn = phi i64 [ 0, %entry ], [ %next, %again ]",
                *head,
                f"  br i1 {going}, label %again, label %done",
                "again:",
                *body,
                "  %next = add i64 %turn, 1",
                "  br label %look",
                "done:",
                "  ret void",
                "}",
            ]
        )

    def _scan(self, number: int, scan: Scan) -> list[str]:
        """The loop over runs of rows, which branches to the case of each table."""
        used = sorted({table for table, _, _ in scan.runs})
        labels = " ".join([f"i32 {k}, label %case{k}" for k in used])
        lines = [
            f"define internal void @scan{number}(ptr noalias %scratch) noinline {{",
            "entry:",
            "  br label %loop",
            "loop:",
            "  %k = phi i64 [ 0, %entry ], [ %next, %done ]",
        ]
        for column, name in enumerate(("table", "from", "count")):
            lines += [
                f"  %at_{name} = getelementptr inbounds [3 x i32], ptr @runs{number}, i64 %k, "
                f"i64 {column}",
                f"  %{name} = load i32, ptr %at_{name}, align 4",
            ]
        lines += [
            "  %row = zext i32 %from to i64",
            "  %rows = zext i32 %count to i64",
            "  %end = add i64 %row, %rows",
            f"  switch i32 %table, label %never [ {labels} ]",
        ]
        for k in used:
            lines += [
                f"case{k}:",
                f"  %row{k} = phi i64 [ %row, %loop ], [ %next{k}, %case{k} ]",
                *self.tables[k].calls(f"%row{k}"),
                f"  %next{k} = add i64 %row{k}, 1",
                f"  %more{k} = icmp slt i64 %next{k}, %end",
                f"  br i1 %more{k}, label %case{k}, label %done",
            ]
        lines += [
            "never:",
            "  unreachable",
            "done:",
            "  %next = add i64 %k, 1",
            f"  %again = icmp slt i64 %next, {len(scan.runs)}",
            "  br i1 %again, label %loop, label %finished",
            "finished:",
            "  ret void",
            "}",
        ]
        return [_constants(f"runs{number}", 3, "i32", scan.runs), "\n".join(lines)]


class _TableFunctions:
    """The functions of a table's block, and the table."""

    def __init__(
        self,
        number: int,
        table: BlockTable,
        machine: Machine,
        constants: dict[tuple[str, str], int],
        start: int,
    ):
        self.number, self.table, self.real = number, table, machine.real
        places = table.places
        first = places[0]
        growth = places[min(1, len(places) - 1)] - places[0]
        even = (places == first + np.arange(len(places))[:, None] * growth).all(axis=0)
        self.uneven = np.flatnonzero(~even)  # ports whose places are in the table
        self.even = {k: (int(first[k]), int(growth[k])) for k in np.flatnonzero(even).tolist()}
        fixed = {k: place for k, (place, step) in self.even.items() if step == 0}
        inputs = {
            (port, entry): fixed[port - table.constants] + entry
            for port, shape in enumerate(table.block.inputs)
            if port - table.constants in fixed
            for entry in range(shape.size)
        }
        leaving = [
            Leave((k,), partial(self._store, port=port, entry=entry), table.apart)
            for port, results in enumerate(table.block.results, len(table.block.inputs))
            for entry, k in enumerate(results)
        ]
        self.values = Values(
            table.block,
            replace(machine, checked=False),
            constants,
            f"table{number}_",
            Scratch(inputs, start, "ptr noalias %scratch, i64 %row", self._load),
            leaving,
            closed=True,
        )

    def functions(self) -> list[str]:
        """Texts of the functions of a table."""
        parts = self.values.functions()
        if len(self.uneven):
            places = self.table.places[:, self.uneven].tolist()
            parts.append(_constants(f"places{self.number}", len(self.uneven), "i32", places))
        if self.table.numbers is not None and self.table.numbers.shape[1]:
            rows = [[literal(x, self.real) for x in row] for row in self.table.numbers.tolist()]
            parts.append(_constants(f"numbers{self.number}", len(rows[0]), self.real, rows))
        return parts

    def calls(self, row: int | str) -> list[str]:
        """Lines that run a row."""
        return self.values.calls(f"ptr %scratch, i64 {row}")

    def _row(self, f: FunctionText, name: str, columns: int, real: str) -> str:
        """Address of the row of a table of constants."""
        return f.once(
            f"%{name}",
            f"getelementptr inbounds [{columns} x {real}], ptr @{name}{self.number}, i64 %row",
        )

    def _stretch(self, f: FunctionText, port: int) -> str:
        """Address of a port's stretch of the memory."""
        column = port - self.table.constants
        if column in self.even:
            first, growth = self.even[column]
            place = str(first)
            if growth:
                place = f.once(f"%j{port}", f"mul i64 %row, {growth}")
                place = f.once(f"%k{port}", f"add i64 {place}, {first}")
            kind = "i64"
        else:
            at = int(np.searchsorted(self.uneven, column))
            row = self._row(f, "places", len(self.uneven), "i32")
            place = f.once(f"%j{port}", f"getelementptr inbounds i32, ptr {row}, i64 {at}")
            place = f.once(f"%k{port}", f"load i32, ptr {place}, align 4")
            kind = "i32"
        return f.once(
            f"%p{port}", f"getelementptr inbounds {f.vector}, ptr %scratch, {kind} {place}"
        )

    def _load(self, f: FunctionText, port: int, entry: int) -> str:
        """An entry of an input: a constant of the row in all lanes, or a value of the memory."""
        if port >= self.table.constants:
            stretch = self._stretch(f, port)
            return f.load(f.put(f"getelementptr inbounds {f.vector}, ptr {stretch}, i64 {entry}"))
        row = self._row(f, "numbers", self.table.block.inputs[0].size, self.real)
        at = f.put(f"getelementptr inbounds {self.real}, ptr {row}, i64 {entry}")
        return f.everywhere(f.put(f"load {self.real}, ptr {at}, align {f.machine.size}"))

    def _store(self, f: FunctionText, columns: list[str], port: int, entry: int) -> None:
        stretch = self._stretch(f, port)
        f.store(columns[0], f.put(f"getelementptr inbounds {f.vector}, ptr {stretch}, i64 {entry}"))


def by_pointer(program: Program) -> list[str]:
    """Definitions of the callbacks of a program for one lane: functions whose addresses are in an
    array that the caller gives.

        void function(double t, const double *vector, ..., double *result)
    """
    return [_by_pointer(program, k, c) for k, c in enumerate(program.callbacks)]


def _by_pointer(program: Program, number: int, callback: Callback) -> str:
    outside = program.size + OUTSIDE
    registers = [*callback.takes, callback.gives]
    addresses = [
        f"  %a{k} = getelementptr inbounds double, ptr %scratch, i64 {register.start}"
        for k, register in enumerate(registers)
    ]
    arguments = ", ".join(["double %t", *(f"ptr %a{k}" for k in range(1, len(registers)))])
    return "\n".join(
        [
            f"define internal void @call{number}(ptr %scratch) noinline {{",
            f"  %outside = getelementptr inbounds i64, ptr %scratch, i64 {outside}",
            "  %functions = load ptr, ptr %outside, align 8",
            f"  %at = getelementptr inbounds ptr, ptr %functions, i64 {callback.function}",
            "  %function = load ptr, ptr %at, align 8",
            *addresses,
            "  %t = load double, ptr %a0, align 8",
            f"  call void %function({arguments})",
            "  ret void",
            "}",
        ]
    )


def _constants(name: str, columns: int, real: str, rows: Sequence[Sequence[Any]]) -> str:
    """Definition of a table of constants."""
    row = f"[{columns} x {real}]"
    text = ", ".join([f"{row} [{', '.join([f'{real} {x}' for x in values])}]" for values in rows])
    return f"@{name} = internal constant [{len(rows)} x {row}] [{text}], align 8"
