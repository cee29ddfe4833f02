"""Kernel of a program on a memory: for each block of states inputs are read, items run, and outputs
stored.

    i64 kernel(ptr addresses, i64 first, i64 end)

addresses: base and row stride [bytes] of each input, then of each record (whose rows hold one record
after the other), then of each output; then, if there is a function work_bytes, of the memory of a
block, aligned to ALIGNMENT and as large as that says; then the goals, their number, the number of
repeats, and what callbacks need.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

from dalembert.codegen.blocks import ProgramError
from dalembert.codegen.program import STATUS, Program, Register
from dalembert.codegen.targets.llvm.batches import kernel, module
from dalembert.codegen.targets.llvm.function_text import FunctionText, Zeros
from dalembert.codegen.targets.llvm.items import OUTSIDE, RAISED, ItemFunctions, by_pointer
from dalembert.codegen.targets.llvm.machine import ALIGNMENT, Machine
from dalembert.codegen.targets.llvm.rows import ALONE, groups, loaded, stored
from dalembert.codegen.targets.llvm.values import define

MOST_ON_STACK = 2**18  # bytes; a larger memory is the caller's
UNROLLED = 64  # entries of a register that is moved without a loop


def assembly(
    program: Program, machine: Machine, calls: Sequence[str] | None = None, name: str = "kernel"
) -> str:
    """LLVM assembly of a program's kernel.

    calls : definitions of void call<k>(ptr memory) for the different callbacks, and what these
        need; by default of functions in an array that the caller gives. A call that fails, or is
        made after one that failed, leaves its register and sets the place RAISED; loops then end.
    """
    return _InMemoryKernel(program, machine, name).module(calls)


class _InMemoryKernel:
    """The module of one program."""

    def __init__(self, program: Program, machine: Machine, name: str):
        self.program, self.machine, self.name = program, machine, name
        self.constants: dict[tuple[str, str], int] = {}
        self.items = ItemFunctions(program, machine, self.constants)
        if self.items.callbacks and machine.lanes > 1:
            raise ProgramError(
                f"a program with callbacks is made for one lane, not {machine.lanes}."
            )
        self.is_large = self.items.size * machine.align > MOST_ON_STACK

    def module(self, calls: Sequence[str] | None) -> str:
        """Text of the module."""
        program = self.program
        port = len(self.program.inputs)
        parts = [
            self._moves("read", program.inputs, 0, True),
            self._moves("write", program.outputs, port + len(program.records), False),
        ]
        if program.goals:
            parts += [self._moves("keep", program.records, port, False), self._record()]
        parts += by_pointer(self.program) if calls is None else calls
        parts += [*self.items.functions(), self._kernel()]
        if self.is_large:
            size = self.items.size * self.machine.align
            parts.append(f"define i64 @work_bytes() {{\n  ret i64 {size}\n}}")
        return module(self._function(), self.program.used(), parts)

    def _function(self) -> FunctionText:
        return FunctionText(self.machine, self.constants)

    def _kernel(self) -> str:
        f = self._function()
        ports = len(self.program.inputs) + len(self.program.results)
        behind = 2 * ports + 2 * self.is_large
        f.lines.append(f"  %extra = getelementptr inbounds i64, ptr %arguments, i64 {behind}")
        if self.is_large:
            work = f.put(f"getelementptr inbounds i64, ptr %arguments, i64 {2 * ports}")
            f.lines.append(f"  %scratch = load ptr, ptr {work}, align 8")
        else:
            array = f"[{self.items.size} x {f.vector}]"
            f.lines.append(f"  %scratch = alloca {array}, align {ALIGNMENT}")
        if self.items.callbacks:
            at = f.put("getelementptr inbounds i64, ptr %extra, i64 3")
            outside = f.put(f"load i64, ptr {at}, align 8")
            for place, value in ((RAISED, "0"), (OUTSIDE, outside)):
                address = self.items.place(f, self.program.size + place)
                f.lines.append(f"  store i64 {value}, ptr {address}, align 8")
        prepared, f.lines = f.lines, []

        def read() -> str:
            """Read the inputs."""
            return self._call(f, "read")

        def compute() -> str:
            """Execute the items."""
            f.lines += self.items.lines(self.program.items)
            return self._doubt(f)

        return kernel(f, self.name, ports, prepared, read, compute)

    def _doubt(self, f: FunctionText) -> str:
        """Outputs to their rows; lanes in which one is not finite or a status is not 0."""
        zeros = f.const(0.0)
        doubt = f.put(f"fcmp uno {f.vector} {self._call(f, 'write')}, {zeros}")
        for register in self.program.outputs:
            if register.name == STATUS:
                status = f.load(self.items.place(f, register.start))
                wrong = f.put(f"fcmp une {f.vector} {status}, {zeros}")
                doubt = f.put(f"or {f.bits} {doubt}, {wrong}")
        return doubt

    def _call(self, f: FunctionText, name: str) -> str:
        """Put a call of a function that moves registers; the sum of 0 times each entry."""
        v = f.vector
        return f.put(f"call {v} @{name}(ptr %rows, ptr %scratch, {v} {f.const(0.0)})")

    def _record(self) -> str:
        """Records to their rows, whose addresses go on to the next record."""
        f = self._function()
        lanes = self.machine.lanes
        records = self.program.records
        self._call(f, "keep")
        for port, register in enumerate(records, len(self.program.inputs)):
            for row in range(port * lanes, (port + 1) * lanes):
                at = f.put(f"getelementptr inbounds i64, ptr %rows, i64 {row}")
                address = f.put(f"load i64, ptr {at}, align 8")
                following = f.put(f"add i64 {address}, {self.machine.size * register.size}")
                f.lines.append(f"  store i64 {following}, ptr {at}, align 8")
        return define("record", "ptr noalias %rows, ptr noalias %scratch", f)

    # --- rows to memory and back ---

    def _moves(self, name: str, registers: Sequence[Register], port: int, reading: bool) -> str:
        """Definition of a function between rows and memory, which adds 0 times each entry to a
        vector: NaN where one is infinite or NaN.
        """
        f = self._function()
        total = "%total"
        block = "entry"
        for number, register in enumerate(registers, port):
            move = partial(self._moved, f, register, number, reading)
            if register.size > UNROLLED:
                total, block = self._looped(f, register, number, (total, block), move)
            else:
                ports, lanes = [register], self.machine.lanes
                for _, first in groups(ports, lanes):
                    total = move(first, total)
        takes = f"ptr noalias %rows, ptr noalias %scratch, {f.vector} %total"
        return (
            f"define internal {f.vector} @{name}({takes}) noinline {{\nentry:\n"
            f"{f.body()}\n  ret {f.vector} {total}\n}}"
        )

    def _moved(
        self,
        f: FunctionText,
        register: Register,
        port: int,
        reading: bool,
        first: int | str,
        total: str,
    ) -> str:
        """Put code that moves a group of entries; the sum."""
        count = register.size if first == ALONE else self.machine.lanes
        behind = 0 if first == ALONE else first
        places = [self._at(f, register.start + n, behind) for n in range(count)]
        if reading:
            columns = loaded(f, port, first, register.size)
            for x, place in zip(columns, places, strict=True):
                f.store(x, place)
        else:
            columns = [f.load(place) for place in places]
            stored(f, columns, port, first)
        zeros = Zeros(f, total)
        if self.machine.checked:
            zeros.add(columns)
        return zeros.total()

    def _at(self, f: FunctionText, place: int, behind: int | str) -> str:
        """Address of a place that lies some places behind another."""
        if isinstance(behind, int):
            return self.items.place(f, place + behind)
        return self.items.place(f, f.put(f"add i64 {behind}, {place}"))

    def _looped(
        self,
        f: FunctionText,
        register: Register,
        number: int,
        before: tuple[str, str],
        move: Callable[[int | str, str], str],
    ) -> tuple[str, str]:
        """Put a loop over a register, as many entries at a time as there are lanes; the sum and the
        block that is left.

        before : the sum and the block before
        """
        lanes = self.machine.lanes
        last = register.size - self.machine.lanes
        n = number
        total, block = before
        lines, f.lines = f.lines, []
        after = move(f"%first{n}", f"%sum{n}")
        body, f.lines = f.lines, lines
        f.lines += [
            f"  br label %loop{n}",
            f"loop{n}:",
            f"  %k{n} = phi i64 [ 0, %{block} ], [ %next{n}, %loop{n} ]",
            f"  %sum{n} = phi {f.vector} [ {total}, %{block} ], [ {after}, %loop{n} ]",
            f"  %early{n} = icmp slt i64 %k{n}, {last}",
            f"  %first{n} = select i1 %early{n}, i64 %k{n}, i64 {last}",
            *body,  # the last entries overlap their neighbours
            f"  %next{n} = add i64 %k{n}, {lanes}",
            f"  %more{n} = icmp slt i64 %next{n}, {register.size}",
            f"  br i1 %more{n}, label %loop{n}, label %done{n}",
            f"done{n}:",
        ]
        return after, f"done{n}"
