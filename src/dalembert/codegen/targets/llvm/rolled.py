"""Kernel of a rolled program: for each block of states, loops over the bodies that call a function
per step.

The work array of a block is the caller's, since it may be large: its address, aligned to ALIGNMENT,
follows those of inputs and outputs, and `i64 work_bytes()` is its size. A step's function takes the
number of a row and addresses of rows of two tables: places in the work array that do not grow
evenly from row to row, and constants. Steps of many operations are cut into several functions,
whose crossing values lie behind the work array, as do angles that are no inputs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

from dalembert.codegen.program import STATUS
from dalembert.codegen.rolled import Rolled, Scan, Step
from dalembert.codegen.steps import fused
from dalembert.codegen.targets.llvm.blocks import TURNS, kernel, module
from dalembert.codegen.targets.llvm.elementary import LIBRARY, angles, kind, operation
from dalembert.codegen.targets.llvm.function import Function, Zeros
from dalembert.codegen.targets.llvm.machine import Machine, literal
from dalembert.codegen.targets.llvm.rows import ALONE, loaded, stored

CHUNK = 800  # operations per function
LEAVES = ("constant", "input")
ARGUMENTS = "ptr noalias %scratch, i64 %row, ptr noalias %places, ptr noalias %numbers"


def assembly(rolled: Rolled, machine: Machine, name: str = "kernel") -> str:
    """LLVM assembly of a rolled program's kernel."""
    return _Writer(rolled, machine, name).module()


class Scans:
    """Functions that compute a rolled program in its work array; the prefix is that of all their
    names.

    size : of the work array, with places behind it that steps need
    """

    def __init__(
        self,
        rolled: Rolled,
        machine: Machine,
        constants: dict[tuple[str, str], int],
        prefix: str = "",
    ):
        self.rolled, self.machine, self.constants, self.prefix = rolled, machine, constants, prefix
        self.size = rolled.size
        self.parts = (
            [angles(f"{prefix}angles", rolled.turns.tolist(), machine)] if len(rolled.turns) else []
        )
        for number, scan in enumerate(rolled.scans):
            self.parts += self._scan(number, scan)

    def calls(self, work: str = "%scratch") -> list[str]:
        """Lines that compute the outputs from the inputs in a work array."""
        count, scans = len(self.rolled.turns), range(len(self.rolled.scans))
        lines = (
            [
                f"  call void @{self.machine.turns}(ptr {work}, ptr @{self.prefix}angles, i64 "
                f"{count})"
            ]
            if count
            else []
        )
        return [
            *lines,
            *(f"  call void @{self.prefix}scan{number}(ptr {work})" for number in scans),
        ]

    def function(self) -> Function:
        return Function(self.machine, self.constants)

    def _scan(self, number: int, scan: Scan) -> list[str]:
        """The loop over bodies, the steps' tables and functions."""
        steps = [
            _StepWriter(self, step, f"{self.prefix}step{number}_{k}")
            for k, step in enumerate(scan.steps)
        ]
        parts = [_table(f"{self.prefix}runs{number}", [3], "i32", scan.runs())]
        cases = []
        for k, (step, writer) in enumerate(zip(scan.steps, steps, strict=True)):
            places, numbers = self._tables(f"{number}_{k}", step, writer)
            parts += [*writer.parts(), places, numbers]
            cases += self._case(k, f"{number}_{k}", step, writer)
        return [*parts, self._loop(number, scan, cases)]

    def _tables(self, label: str, step: Step, writer: _StepWriter) -> tuple[str, str]:
        """Definitions of the places that do not grow evenly, and of the constants."""
        places, real = step.places[:, writer.uneven].tolist(), self.machine.real
        numbers = [[literal(x, real) for x in row] for row in step.numbers.tolist()]
        return (
            _table(f"{self.prefix}places{label}", [len(writer.uneven)], "i32", places),
            _table(f"{self.prefix}numbers{label}", [step.numbers.shape[1]], real, numbers),
        )

    def _case(self, k: int, label: str, step: Step, writer: _StepWriter) -> list[str]:
        """The loop over a run of rows of step k."""
        places, numbers = (
            f"[{len(writer.uneven)} x i32]",
            f"[{step.numbers.shape[1]} x {self.machine.real}]",
        )
        row = "getelementptr inbounds"
        return [
            f"case{k}:",
            f"  %row{k} = phi i64 [ %row, %loop ], [ %next{k}, %case{k} ]",
            f"  %places{k} = {row} {places}, ptr @{self.prefix}places{label}, i64 %row{k}",
            f"  %numbers{k} = {row} {numbers}, ptr @{self.prefix}numbers{label}, i64 %row{k}",
            *writer.calls(f"i64 %row{k}, ptr %places{k}, ptr %numbers{k}"),
            f"  %next{k} = add i64 %row{k}, 1",
            f"  %more{k} = icmp slt i64 %next{k}, %end",
            f"  br i1 %more{k}, label %case{k}, label %done",
        ]

    def _loop(self, number: int, scan: Scan, cases: list[str]) -> str:
        """The loop over runs, which branches to the case of each."""
        runs = f"@{self.prefix}runs{number}"
        labels = " ".join([f"i32 {k}, label %case{k}" for k in range(len(scan.steps))])
        head = [
            f"define internal void @{self.prefix}scan{number}(ptr noalias %scratch) noinline {{",
            "entry:",
            "  br label %loop",
            "loop:",
            "  %k = phi i64 [ 0, %entry ], [ %next, %done ]",
        ]
        for column, name in enumerate(("step", "from", "count")):
            head += [
                f"  %at_{name} = getelementptr inbounds [3 x i32], ptr {runs}, i64 %k, i64 {column}",
                f"  %{name} = load i32, ptr %at_{name}, align 4",
            ]
        head += [
            "  %row = zext i32 %from to i64",
            "  %rows = zext i32 %count to i64",
            "  %end = add i64 %row, %rows",
            f"  switch i32 %step, label %never [ {labels} ]",
        ]
        tail = [
            "never:",
            "  unreachable",
            "done:",
            "  %next = add i64 %k, 1",
            f"  %more = icmp slt i64 %next, {len(scan.runs())}",
            "  br i1 %more, label %loop, label %finished",
            "finished:",
            "  ret void",
            "}",
        ]
        return "\n".join([*head, *cases, *tail])


class _Writer:
    """The module of one rolled program."""

    def __init__(self, rolled: Rolled, machine: Machine, name: str):
        self.rolled, self.machine, self.name = rolled, machine, name
        self.constants: dict[tuple[str, str], int] = {}
        self.scans = Scans(rolled, machine, self.constants)

    def module(self) -> str:
        parts = [self._read(port) for port in range(len(self.rolled.inputs))]
        parts += [self._write(output) for output in range(len(self.rolled.outputs))]
        parts += [*self.scans.parts, self._kernel(), work_bytes(self.scans.size, self.machine)]
        return module(self._function(), self.rolled.used(), parts)

    def _function(self) -> Function:
        return Function(self.machine, self.constants)

    def _kernel(self) -> str:
        """Inputs into the work array, sines and cosines, scans, results."""
        f, rolled, ports = (
            self._function(),
            self.rolled,
            len(self.rolled.inputs) + len(self.rolled.outputs),
        )
        v, zeros = f.vector, f.const(0.0)

        def summed(function: str, count: int) -> str:
            total = zeros
            for n in range(count):
                total = f.put(f"call {v} @{function}{n}(ptr %rows, ptr %scratch, {v} {total})")
            return total

        def compute() -> str:
            for place in range(rolled.cleared.start, rolled.cleared.stop):
                f.store(zeros, _at(f, place))
            f.lines += self.scans.calls()
            doubt = f.put(f"fcmp uno {v} {summed('write', len(rolled.outputs))}, {zeros}")
            for port, place in zip(
                rolled.outputs, rolled.places[len(rolled.inputs) :], strict=True
            ):
                if port.name == STATUS:
                    doubt = f.put(
                        f"or {f.bits} {doubt}, "
                        f"{f.put(f'fcmp une {v} {f.load(_at(f, place))}, {zeros}')}"
                    )
            return doubt

        prepared = [
            f"  %work = getelementptr inbounds i64, ptr %arguments, i64 {2 * ports}",
            "  %scratch = load ptr, ptr %work, align 8",
        ]
        return kernel(
            f, self.name, ports, prepared, lambda: summed("read", len(rolled.inputs)), compute
        )

    # --- inputs and outputs ---

    def _read(self, port: int) -> str:
        """Rows of an input into the work array; the sum of 0 times each entry is NaN if one is
        infinite or NaN.
        """
        f, size, place = self._function(), self.rolled.inputs[port].size, self.rolled.places[port]

        def move(first: int | str, total: str) -> str:
            columns = loaded(f, port, first, size)
            for lane, x in enumerate(columns):
                f.store(x, _at(f, place + lane, first))
            return self._watched(f, columns, total)

        return self._looped(f"read{port}", f, size, move)

    def _write(self, output: int) -> str:
        """Results from the work array to the rows of an output; sum as for the inputs."""
        port = len(self.rolled.inputs) + output
        f, size, place = (
            self._function(),
            self.rolled.outputs[output].size,
            self.rolled.places[port],
        )

        def move(first: int | str, total: str) -> str:
            columns = [
                f.load(_at(f, place + n, first))
                for n in range(size if first == ALONE else self.machine.lanes)
            ]
            stored(f, columns, port, first)
            return self._watched(f, columns, total)

        return self._looped(f"write{output}", f, size, move)

    def _watched(self, f: Function, columns: Sequence[str], total: str) -> str:
        """The total and 0 times each vector, if the machine is checked."""
        zeros = Zeros(f, total)
        if self.machine.checked:
            zeros.add(columns)
        return zeros.total()

    def _looped(
        self, name: str, f: Function, size: int, move: Callable[[int | str, str], str]
    ) -> str:
        """A function that moves all entries of a port, as many at a time as there are lanes, and
        adds to a sum.
        """
        lanes, v = self.machine.lanes, f.vector
        if size < lanes:
            return _summing(name, f, move(ALONE, "%total"))
        after = move("%first", "%sum")
        head = [
            "entry:",
            *f.head.values(),
            "  br label %loop",
            "loop:",
            "  %k = phi i64 [ 0, %entry ], [ %next, %loop ]",
            f"  %sum = phi {v} [ %total, %entry ], [ {after}, %loop ]",
            f"  %early = icmp slt i64 %k, {size - lanes}",
            f"  %first = select i1 %early, i64 %k, i64 {size - lanes}",
        ]  # the last ones overlap their neighbours
        tail = [
            f"  %next = add i64 %k, {lanes}",
            f"  %more = icmp slt i64 %next, {size}",
            "  br i1 %more, label %loop, label %done",
            "done:",
        ]
        f.lines, f.head = [*head, *f.lines, *tail], {}
        return _summing(name, f, after)


class _StepWriter:
    """The functions of one step: runs of operations, and sines and cosines of angles that are no
    inputs in between.
    """

    def __init__(self, writer: Scans, step: Step, name: str):
        self.writer, self.name = writer, name
        self.program = fused(step.program) if writer.machine.fused else step.program
        first, growth = step.places[0], step.places[min(1, len(step.places) - 1)] - step.places[0]
        even = (step.places == first + np.arange(len(step.places))[:, None] * growth).all(axis=0)
        self.uneven = np.flatnonzero(~even)  # ports whose places are in the table
        self.even = {
            port: (int(first[port]), int(growth[port])) for port in np.flatnonzero(even).tolist()
        }
        self.runs = self._cut()
        code = self.program.code
        run_of = {k: n for n, (_, ks) in enumerate(self.runs) for k in ks}
        last = len(self.runs) - 1
        crossing = {
            a
            for k, n in run_of.items()
            for a in code[k].args
            if run_of.get(a, 0) != n and (a in run_of or code[k].op in TURNS)
        }
        crossing |= {
            k for places in self.program.results for k in places if run_of.get(k, last) != last
        }
        crossing |= {k for k in run_of if code[k].op in TURNS}
        self.slot = {k: writer.rolled.size + n for n, k in enumerate(sorted(crossing))}
        self.unused = writer.rolled.size + len(crossing)
        writer.size = max(writer.size, self.unused + 1)

    def _cut(self) -> list[tuple[bool, list[int]]]:
        """(whether it is sines and cosines, places of values) of each run; the first and the last
        are other operations.
        """
        code = self.program.code
        depth = [0] * len(code)  # sines and cosines on the way to a value
        for k, (op, args) in enumerate(code):
            if op not in LEAVES:
                depth[k] = max((depth[a] for a in args), default=0) + (op in TURNS)
        turn = [i.op in TURNS for i in code]
        runs: list[tuple[bool, list[int]]] = [(False, [])]
        weight = 0
        for k in sorted(
            (k for k, i in enumerate(code) if i.op not in LEAVES),
            key=lambda k: 2 * depth[k] - turn[k],
        ):
            if turn[k] != runs[-1][0] or weight >= CHUNK:
                runs.append((turn[k], []))
                weight = 0
            runs[-1][1].append(k)
            weight += 3 * self.writer.machine.lanes if code[k].op in LIBRARY else 1
        return runs if not runs[-1][0] else [*runs, (False, [])]

    def calls(self, rows: str) -> Iterable[str]:
        """Calls of the runs, given addresses of rows of the tables."""
        for n, (turns, ks) in enumerate(self.runs):
            if turns:
                count = len({self.program.code[k].args[0] for k in ks})
                yield f"  call void @{self.writer.machine.turns}(ptr %scratch, ptr @{self.name}_{n}, i64 {count})"
            else:
                yield f"  call void @{self.name}_{n}(ptr %scratch, {rows})"

    def parts(self) -> list[str]:
        return [self._turns(n) if turns else self._run(n) for n, (turns, _) in enumerate(self.runs)]

    def _turns(self, number: int) -> str:
        """Places of the angles of a run, their sines and cosines."""
        rows: dict[int, list[int]] = {}
        for k in self.runs[number][1]:
            op, (angle,) = self.program.code[k]
            rows.setdefault(angle, [self.slot[angle], self.unused, self.unused])[
                1 + TURNS.index(op)
            ] = self.slot[k]
        return angles(f"{self.name}_{number}", rows.values(), self.writer.machine)

    def _run(self, number: int) -> str:
        """Values of a run; the last one stores the outputs."""
        f, code = self.writer.function(), self.program.code
        values: dict[int, str] = {}

        def get(k: int) -> str:
            op, args = code[k]
            if op == "constant":
                return f.const(args[0])
            if k not in values:
                values[k] = (
                    self._given(f, *args)
                    if op == "input"
                    else f.load(_at(f, self.slot[k]), kind(op, f))
                )
            return values[k]

        for k in self.runs[number][1]:
            op, args = code[k]
            values[k] = operation(f, op, [get(a) for a in args])
            if k in self.slot:
                f.store(values[k], _at(f, self.slot[k]), kind(op, f))
        if number == 0:
            for k in self.slot:
                if code[k].op in LEAVES:
                    f.store(get(k), _at(f, self.slot[k]))
        if number == len(self.runs) - 1:
            found = [
                [get(k) for k in places] for places in self.program.results
            ]  # all read before any is stored
            for port, column in enumerate(found, len(self.program.inputs)):
                for entry, value in enumerate(column):
                    f.store(
                        value,
                        f.put(
                            f"getelementptr inbounds {f.vector}, ptr {self._stretch(f, port)}, i64 "
                            f"{entry}"
                        ),
                    )
        return f"define internal void @{self.name}_{number}({ARGUMENTS}) noinline {{\n{f.body()}\n  ret void\n}}"

    def _stretch(self, f: Function, port: int) -> str:
        """Address of a port's stretch of the work array for the row."""
        at = port - 1
        if at in self.even:
            first, growth = self.even[at]
            place = f.once(f"%j{port}", f"mul i64 %row, {growth}")
            place = f.once(f"%k{port}", f"add i64 {place}, {first}")
            return f.once(
                f"%p{port}", f"getelementptr inbounds {f.vector}, ptr %scratch, i64 {place}"
            )
        column = int(np.searchsorted(self.uneven, at))
        place = f.once(f"%j{port}", f"getelementptr inbounds i32, ptr %places, i64 {column}")
        place = f.once(f"%k{port}", f"load i32, ptr {place}, align 4")
        return f.once(f"%p{port}", f"getelementptr inbounds {f.vector}, ptr %scratch, i32 {place}")

    def _given(self, f: Function, port: int, entry: int) -> str:
        """An entry of an input of the step: a constant of the row in all lanes, or a value of the
        work array.
        """
        if port:
            return f.load(
                f.put(
                    f"getelementptr inbounds {f.vector}, ptr {self._stretch(f, port)}, i64 {entry}"
                )
            )
        real, v, lanes = f.machine.real, f.vector, f.machine.lanes
        at = f.put(f"getelementptr inbounds {real}, ptr %numbers, i64 {entry}")
        x = f.put(f"load {real}, ptr {at}, align {f.machine.size}")
        return f.put(
            f"shufflevector {v} {f.put(f'insertelement {v} poison, {real} {x}, i32 0')}, {v} "
            f"poison, <{lanes} x i32> zeroinitializer"
        )


def work_bytes(size: int, machine: Machine) -> str:
    """Definition of a function that tells how large the caller's work array must be."""
    return f"define i64 @work_bytes() {{\n  ret i64 {size * machine.align}\n}}"


def _at(f: Function, place: int, more: int | str = ALONE) -> str:
    """Address of a place in the work array, or of one that lies some places behind it."""
    if more != ALONE:
        return f.put(
            f"getelementptr inbounds {f.vector}, ptr %scratch, i64 "
            f"{f.put(f'add i64 {more}, {place}')}"
        )
    return f.put(f"getelementptr inbounds {f.vector}, ptr %scratch, i64 {place}")


def _table(name: str, shape: list[int], kind: str, rows: Sequence[Sequence[Any]]) -> str:
    """Definition of a table of constants."""
    row = f"[{shape[0]} x {kind}]"
    if not shape[0]:
        return f"@{name} = internal constant [1 x {row}] zeroinitializer, align 8"
    text = ", ".join([f"{row} [{', '.join([f'{kind} {x}' for x in values])}]" for values in rows])
    return f"@{name} = internal constant [{len(rows)} x {row}] [{text}], align 8"


def _summing(name: str, f: Function, total: str) -> str:
    """Definition of a function of rows and scratch array that adds something to a vector."""
    return (
        f"define internal {f.vector} @{name}(ptr noalias %rows, ptr noalias %scratch, {f.vector} "
        f"%total) noinline {{\n"
        f"{f.body()}\n  ret {f.vector} {total}\n}}"
    )
