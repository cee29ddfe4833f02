"""Kernel of a march: W trajectories side by side in the lanes of vectors, from their first state to
their last record.

    i64 kernel(ptr addresses, i64 first, i64 end)

addresses: base and row stride [bytes] of each input, then of each record (whose rows hold one
record after the other), then of what is left at the end, then, if there is a function work_bytes,
of the scratch array, then of the goals (their number as stride), then the number of repeats, then
of what calls need. All registers of a block of lanes stay in the scratch array, which the parts
read and write. Parts that are scans have their work arrays behind the registers.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

from dalembert.codegen.march import GOAL, REPEATS, Call, Item, Loop, March, Part, ports
from dalembert.codegen.program import Port, Program, ProgramError
from dalembert.codegen.rolled import Rolled
from dalembert.codegen.targets.llvm.blocks import kernel, module
from dalembert.codegen.targets.llvm.function import Function
from dalembert.codegen.targets.llvm.machine import Machine
from dalembert.codegen.targets.llvm.rolled import Scans, work_bytes
from dalembert.codegen.targets.llvm.rows import entries, groups, loaded, stored
from dalembert.codegen.targets.llvm.values import Leave, Values

MOST_ON_STACK = (
    2**18
)  # bytes; a larger scratch array is the caller's, as the work array of a rolled program
COPY = (
    "declare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1)\n"
    "declare void @llvm.memset.p0.i64(ptr, i8, i64, i1)"
)
RAISED, OUTSIDE = (
    0,
    1,
)  # places behind the registers, if there are calls: whether one raised; what they need


def assembly(
    march: March, machine: Machine, calls: Sequence[str] = (), name: str = "kernel"
) -> str:
    """LLVM assembly of a march's kernel.

    calls : definitions of void call<k>(ptr scratch) for the different calls, and what these need. A
        call that fails, or is made after one that failed, leaves its register and sets the place
        RAISED; the march then ends.
    """
    return _Writer(march, machine, name).module(calls)


class _Writer:
    """The module of one march."""

    def __init__(self, march: March, machine: Machine, name: str):
        self.march, self.machine, self.name = march, machine, name
        self.constants: dict[tuple[str, str], int] = {}
        self.inputs, self.records, self.left = ports(march)
        self.places = march.places()
        self.registers = sum(r.size for r in march.registers)
        self.calls = march.calls()
        if self.calls and machine.lanes > 1:
            raise ProgramError(f"a march with calls is made for one lane, not {machine.lanes}.")
        self.parts = [item for item in march.items() if isinstance(item, Part)]
        self.loops = [item for item in march.items() if isinstance(item, Loop)]
        self.beside = self.registers + (
            2 if self.calls else 0
        )  # places in use by all parts; those behind it are free
        self.scans = {
            n: Scans(program, replace(machine, checked=False), self.constants, f"rolled{n}_")
            for n, program in enumerate(march.programs)
            if isinstance(program, Rolled)
        }
        self.values: list[Values | None] = []  # none of parts that are scans
        self.count = 0  # of parts in lines
        for number, part in enumerate(self.parts):
            self.values.append(None if part.program in self.scans else self._values(number, part))
        self.scratch = max(
            [v.scratch for v in self.values if v]
            + [self.beside + s.size for s in self.scans.values()]
        )
        self.is_large = self.scratch * machine.align > MOST_ON_STACK

    def _values(self, number: int, part: Part) -> Values:
        """Values of a part, with the registers it takes as inputs; the same program on the same
        registers is made once.

        Results go straight to their registers where these are side by side and none of them is
        read.
        """
        places = {
            (port, e): at
            for port, name in enumerate(part.takes)
            for e, at in enumerate(self.places[name])
        }
        program = self.march.programs[part.program]
        assert isinstance(program, Program)
        read = {places[i.args] for i in program.code if i.op == "input"}
        given = self._given(part)
        direct = given == list(range(given[0], given[0] + len(given))) and not read.intersection(
            given
        )
        for other, values in zip(self.parts, self.values, strict=False):
            if (
                values
                and (other.program, other.takes) == (part.program, part.takes)
                and bool(values.leaving) == direct
            ):
                return values
        results = [k for ks in program.results for k in ks]
        leaving = (
            [Leave((k,), partial(self._leave_at, place=n), True) for n, k in enumerate(results)]
            if direct
            else []
        )
        return Values(
            program,
            replace(self.machine, checked=False),
            self.constants,
            f"part{number}_",
            () if direct else results,
            places,
            self.beside,
            leaving,
            "%given" if direct else "",
        )

    def _given(self, part: Part) -> list[int]:
        """Places of a part's results, one after the other."""
        return [place for name in part.gives for place in self.places[name]]

    def _leave_at(self, f: Function, columns: list[str], place: int) -> None:
        f.store(columns[0], f.put(f"getelementptr inbounds {f.vector}, ptr %given, i64 {place}"))

    def module(self, calls: Sequence[str]) -> str:
        distinct = list({id(v): v for v in self.values if v}.values())
        parts = [text for v in distinct for text in v.functions()]
        parts += [text for scans in self.scans.values() for text in scans.parts]
        parts += [COPY] if self.scans else []
        parts += [
            self._scanned(n, part) if part.program in self.scans else self._give(n, part)
            for n, part in enumerate(self.parts)
        ]
        parts += [*calls, *(self._loop(number, loop) for number, loop in enumerate(self.loops))]
        parts += [self._read(), self._record(), self._leave(), self._march(), self._kernel()]
        parts += [work_bytes(self.scratch, self.machine)] if self.is_large else []
        used = [
            p.used() if isinstance(p, Rolled) else {i.op for i in p.code}
            for p in self.march.programs
        ]
        return module(self._function(), set().union(*used), parts)

    def _function(self) -> Function:
        return Function(self.machine, self.constants)

    def _at(self, f: Function, place: int) -> str:
        return f.put(f"getelementptr inbounds {f.vector}, ptr %scratch, i64 {place}")

    def _register(self, f: Function, name: str) -> list[str]:
        return [f.load(self._at(f, place)) for place in self.places[name]]

    def _scanned(self, number: int, part: Part) -> str:
        """A part that is scans: registers into its work array, which lies behind them, and results
        back.
        """
        f, scans = self._function(), self.scans[part.program]
        stretches, align = scans.rolled.stretches(), self.machine.align
        work = self._at(f, self.beside)
        taken = len(part.takes)
        for name, stretch in zip(part.takes, stretches, strict=False):
            self._copy(
                f,
                self.beside + stretch.start,
                self.places[name].start,
                stretch.stop - stretch.start,
            )
        cleared = scans.rolled.cleared
        if size := align * (cleared.stop - cleared.start):
            at = self._at(f, self.beside + cleared.start)
            f.lines.append(
                f"  call void @llvm.memset.p0.i64(ptr align {align} {at}, i8 0, i64 {size}, i1 "
                "false)"
            )
        f.lines += scans.calls(work)
        for name, stretch in zip(part.gives, stretches[taken:], strict=True):
            self._copy(
                f,
                self.places[name].start,
                self.beside + stretch.start,
                stretch.stop - stretch.start,
            )
        return f"define internal void @scanned{number}(ptr noalias %scratch) noinline {{\n{f.body()}\n  ret void\n}}"

    def _copy(self, f: Function, to: int, start: int, count: int) -> None:
        """Put code that copies neighbouring places."""
        align = self.machine.align
        target, source = self._at(f, to), self._at(f, start)
        f.lines.append(
            f"  call void @llvm.memcpy.p0.p0.i64(ptr align {align} {target}, ptr align {align} "
            f"{source}, i64 {align * count}, i1 false)"
        )

    def _give(self, number: int, part: Part) -> str:
        """Results of a part that are not in their registers yet, all read before any is written."""
        f, values = self._function(), self.values[number]
        assert values is not None
        late = {k for leave in values.late for k in leave.values}
        results = [k for ks in values.program.results for k in ks]
        found = {
            place: values.value(f, k)
            for place, k in zip(self._given(part), results, strict=True)
            if k in late or not values.leaving
        }
        for place, x in found.items():
            f.store(x, self._at(f, place))
        return f"define internal void @give{number}(ptr noalias %scratch) noinline {{\n{f.body()}\n  ret void\n}}"

    def _read(self) -> str:
        """Inputs into their registers, 0 into the others; the caller has looked at them."""
        f, zeros = self._function(), self._function().const(0.0)
        read = {place for port in self.inputs for place in self.places[port.name]}
        for place in range(self.registers):
            if place not in read:
                f.store(zeros, self._at(f, place))
        for port, first in groups(self.inputs, self.machine.lanes):
            shape = self.inputs[port]
            for entry, x in zip(
                entries(shape, first, self.machine.lanes),
                loaded(f, port, first, shape.size),
                strict=True,
            ):
                f.store(x, self._at(f, self.places[shape.name][entry]))
        return _moving("read", f)

    def _write(self, f: Function, shapes: Sequence[Port], row: int) -> None:
        """Put code that stores registers to rows."""
        for port, first in groups(shapes, self.machine.lanes):
            shape = shapes[port]
            places = [self.places[shape.name][e] for e in entries(shape, first, self.machine.lanes)]
            stored(f, [f.load(self._at(f, place)) for place in places], row + port, first)

    def _record(self) -> str:
        """Registers to the rows of the records, whose addresses go on to the next record."""
        f = self._function()
        self._write(f, self.records, len(self.inputs))
        for record, shape in enumerate(self.records):
            for lane in range(self.machine.lanes):
                row = (len(self.inputs) + record) * self.machine.lanes + lane
                at = f.put(f"getelementptr inbounds i64, ptr %rows, i64 {row}")
                address = f.put(f"load i64, ptr {at}, align 8")
                following = f.put(f"add i64 {address}, {self.machine.size * shape.size}")
                f.lines.append(f"  store i64 {following}, ptr {at}, align 8")
        return _moving("record", f)

    def _leave(self) -> str:
        """Registers to the rows of what is left."""
        f = self._function()
        self._write(f, self.left, len(self.inputs) + len(self.records))
        return _moving("leave", f)

    def _run(self, items: Sequence[Item]) -> list[str]:
        """Lines that run items."""
        lines = []
        for item in items:
            if isinstance(item, Loop):
                lines.append(
                    f"  call void @loop{self.loops.index(item)}(ptr %scratch, i64 %repeats)"
                )
            elif isinstance(item, Call):
                lines.append(f"  call void @call{self.calls.index(item)}(ptr %scratch)")
            elif item.program in self.scans:
                lines.append(f"  call void @scanned{self.parts.index(item)}(ptr %scratch)")
            else:
                number, values = self.parts.index(item), self.values[self.parts.index(item)]
                assert values is not None
                self.count += 1
                given = f"%given{self.count}"
                lines.append(
                    f"  {given} = getelementptr inbounds {self.machine.vector}, ptr %scratch, i64 "
                    f"{self._given(item)[0]}"
                )
                lines += [line.replace("%given", given) for line in values.calls()]
                if values.late or not values.leaving:
                    lines.append(f"  call void @give{number}(ptr %scratch)")
        return lines

    def _going(self, f: Function, more: str, until: str = "") -> str:
        """Whether to go on: there is more, a register is 0 in some lane, and no call raised."""
        if until:
            (x,) = self._register(f, until)
            more = f.put(
                f"and i1 {more}, {f.any_lane(f.put(f'fcmp oeq {f.vector} {x}, {f.const(0.0)}'))}"
            )
        if self.calls:
            raised = f.put(f"load i64, ptr {self._at(f, self.registers + RAISED)}, align 8")
            more = f.put(f"and i1 {more}, {f.put(f'icmp eq i64 {raised}, 0')}")
        return more

    def _loop(self, number: int, loop: Loop) -> str:
        f = self._function()
        going = self._going(f, "%left", loop.until)
        return "\n".join(
            [
                f"define internal void @loop{number}(ptr noalias %scratch, i64 %repeats) noinline "
                f"{{",
                "entry:",
                "  br label %look",
                "look:",
                "  %turn = phi i64 [ 0, %entry ], [ %next, %again ]",
                f"  %left = icmp slt i64 %turn, {'%repeats' if loop.most == REPEATS else loop.most}",
                *f.lines,
                f"  br i1 {going}, label %again, label %done",
                "again:",
                *self._run(loop.parts),
                "  %next = add i64 %turn, 1",
                "  br label %look",
                "done:",
                "  ret void",
                "}",
            ]
        )

    def _march(self) -> str:
        """From record to record."""
        f = self._function()
        v = f.vector
        going = self._going(f, "%more")
        head, f.lines = f.lines, []
        if GOAL in self.places:
            goal = f.put("getelementptr inbounds double, ptr %goals, i64 %record")
            value = f.put(f"load double, ptr {goal}, align 8")
            goals = f.put(f"insertelement {v} poison, double {value}, i32 0")
            goals = f.put(
                f"shufflevector {v} {goals}, {v} poison, <{self.machine.lanes} x i32> "
                "zeroinitializer"
            )
            f.store(goals, self._at(f, self.places[GOAL][0]))
        return "\n".join(
            [
                "define internal void @march(ptr noalias %rows, ptr noalias %scratch, ptr %goals, "
                "i64 %records, i64 %repeats) noinline {",
                "entry:",
                *self._run(self.march.begin),
                "  br label %look",
                "look:",
                "  %record = phi i64 [ 0, %entry ], [ %following, %again ]",
                "  %more = icmp slt i64 %record, %records",
                *head,
                f"  br i1 {going}, label %again, label %done",
                "again:",
                *f.lines,
                *self._run(self.march.parts),
                "  call void @record(ptr %rows, ptr %scratch)",
                "  %following = add i64 %record, 1",
                "  br label %look",
                "done:",
                "  call void @leave(ptr %rows, ptr %scratch)",
                "  ret void",
                "}",
            ]
        )

    def _kernel(self) -> str:
        f = self._function()
        rows = len(self.inputs) + len(self.records) + len(self.left)

        def argument(place: int, kind: str) -> str:
            at = f.put(
                "getelementptr inbounds i64, ptr %arguments, i64 "
                f"{2 * rows + place + 2 * self.is_large}"
            )
            return f.put(f"load {kind}, ptr {at}, align 8")

        def read() -> str:
            f.lines.append("  call void @read(ptr %rows, ptr %scratch)")
            return f.const(0.0)

        def compute() -> str:
            goals, records, repeats = argument(0, "ptr"), argument(1, "i64"), argument(2, "i64")
            f.lines.append(
                f"  call void @march(ptr %rows, ptr %scratch, ptr {goals}, i64 {records}, i64 "
                f"{repeats})"
            )
            return "zeroinitializer"

        if self.is_large:
            f.lines += [
                f"  %work = getelementptr inbounds i64, ptr %arguments, i64 {2 * rows}",
                "  %scratch = load ptr, ptr %work, align 8",
            ]
        else:
            f.lines.append(f"  %scratch = alloca [{self.scratch} x {f.vector}], align 64")
        if self.calls:
            for place, value in ((RAISED, "0"), (OUTSIDE, argument(3, "i64"))):
                f.lines.append(
                    f"  store i64 {value}, ptr {self._at(f, self.registers + place)}, align 8"
                )
        prepared, f.lines = f.lines, []
        return kernel(f, self.name, rows, prepared, read, compute)


def _moving(name: str, f: Function) -> str:
    """Definition of a function between rows and scratch array."""
    return f"define internal void @{name}(ptr noalias %rows, ptr noalias %scratch) noinline {{\n{f.body()}\n  ret void\n}}"
