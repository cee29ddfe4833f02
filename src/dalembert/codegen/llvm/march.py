"""Kernel of a march: W trajectories side by side in the lanes of vectors, from their first state to their last record.

    i64 kernel(ptr addresses, i64 first, i64 end)

addresses: base and row stride [bytes] of each input, then of each record (whose rows hold one record after the other), then
of the goals (their number as stride), then the number of repeats. All registers of a block of lanes stay in a scratch
array, which the parts read and write; nothing but records leaves it.
"""

from __future__ import annotations

from collections.abc import Sequence

from dalembert.codegen.llvm.blocks import kernel, module, summing
from dalembert.codegen.llvm.function import Function
from dalembert.codegen.llvm.machine import Machine
from dalembert.codegen.llvm.rows import entries, groups, loaded, stored
from dalembert.codegen.llvm.straight import Values
from dalembert.codegen.march import GOAL, Loop, March, Part, ports


def assembly(march: March, machine: Machine, name: str = "kernel") -> str:
    """LLVM assembly of a march's kernel."""
    return _Writer(march, machine, name).module()


class _Writer:
    """The module of one march."""

    def __init__(self, march: March, machine: Machine, name: str):
        self.march, self.machine, self.name = march, machine, name
        self.constants: dict[tuple[str, str], int] = {}
        self.inputs, self.records = ports(march)
        self.places = march.places()
        self.registers = sum(r.size for r in march.registers)
        self.parts = list(march.each_part())
        self.values: list[Values] = []
        for number, part in enumerate(self.parts):
            self.values.append(self._values(number, part))
        self.scratch = max(v.scratch for v in self.values)

    def _values(self, number: int, part: Part) -> Values:
        """Values of a part, with the registers it takes as inputs; the same program on the same registers is made once."""
        for other, values in zip(self.parts, self.values, strict=False):
            if (other.program, other.takes) == (part.program, part.takes):
                return values
        places = {(port, e): at for port, name in enumerate(part.takes) for e, at in enumerate(self.places[name])}
        program = self.march.programs[part.program]
        return Values(program, self.machine, self.constants, f"part{number}_", places, self.registers)

    def module(self) -> str:
        distinct = list({id(v): v for v in self.values}.values())
        parts = [text for v in distinct for text in v.functions()]
        parts += [self._give(n, part) for n, part in enumerate(self.parts)]
        parts += [self._loop(item) for item in self.march.parts if isinstance(item, Loop)]
        parts += [self._read(), self._record(), self._march(), self._kernel()]
        return module(self._function(), {i.op for p in self.march.programs for i in p.code}, parts)

    def _function(self) -> Function:
        return Function(self.machine, self.constants)

    def _at(self, f: Function, place: int) -> str:
        return f.put(f"getelementptr inbounds {f.vector}, ptr %scratch, i64 {place}")

    def _register(self, f: Function, name: str) -> list[str]:
        return [f.load(self._at(f, place)) for place in self.places[name]]

    def _give(self, number: int, part: Part) -> str:
        """Results of a part into registers, all read before any is written."""
        f, values = self._function(), self.values[number]
        found = [[values.value(f, k) for k in ks] for ks in values.program.results]
        for name, columns in zip(part.gives, found, strict=True):
            for place, x in zip(self.places[name], columns, strict=True):
                f.store(x, self._at(f, place))
        return f"define internal void @give{number}(ptr noalias %scratch) noinline {{\n{f.body()}\n  ret void\n}}"

    def _read(self) -> str:
        """Inputs into their registers, 0 into the others; the sum is NaN in lanes with an input that is not finite."""
        f, total, zeros = self._function(), "%total", self._function().const(0.0)
        read = {place for port in self.inputs for place in self.places[port.name]}
        for place in range(self.registers):
            if place not in read:
                f.store(zeros, self._at(f, place))
        for port, first in groups(self.inputs, self.machine.lanes):
            shape = self.inputs[port]
            for entry, x in zip(entries(shape, first, self.machine.lanes), loaded(f, port, first, shape.size), strict=True):
                total = f.fma(x, zeros, total)
                f.store(x, self._at(f, self.places[shape.name][entry]))
        return summing("read", f, total)

    def _record(self) -> str:
        """Registers to the rows of the records, whose addresses go on to the next record."""
        f, zeros, total = self._function(), self._function().const(0.0), "%total"
        for record, first in groups(self.records, self.machine.lanes):
            shape = self.records[record]
            places = [self.places[shape.name][e] for e in entries(shape, first, self.machine.lanes)]
            columns = [f.load(self._at(f, place)) for place in places]
            for x in columns:
                total = f.fma(x, zeros, total)
            stored(f, len(self.inputs) + record, first, columns)
        for record, shape in enumerate(self.records):
            for lane in range(self.machine.lanes):
                row = (len(self.inputs) + record) * self.machine.lanes + lane
                at = f.put(f"getelementptr inbounds i64, ptr %rows, i64 {row}")
                address = f.put(f"load i64, ptr {at}, align 8")
                following = f.put(f"add i64 {address}, {self.machine.size * shape.size}")
                f.lines.append(f"  store i64 {following}, ptr {at}, align 8")
        return summing("record", f, total)

    def _calls(self, items: Sequence[Part | Loop]) -> list[str]:
        """Lines that run parts and loops."""
        lines = []
        for item in items:
            if isinstance(item, Loop):
                lines.append(f"  call void @loop{self.march.parts.index(item)}(ptr %scratch)")
            else:
                number = self.parts.index(item)
                lines += [*self.values[number].calls(), f"  call void @give{number}(ptr %scratch)"]
        return lines

    def _waiting(self, f: Function, register: str) -> str:
        """Whether a register is 0 in some lane."""
        (x,) = self._register(f, register)
        return f.any_lane(f.put(f"fcmp oeq {f.vector} {x}, {f.const(0.0)}"))

    def _loop(self, loop: Loop) -> str:
        """Parts until a register is 0 in no lane."""
        f = self._function()
        f.lines += self._calls(loop.parts)
        going = self._waiting(f, loop.until)
        return "\n".join([
            f"define internal void @loop{self.march.parts.index(loop)}(ptr noalias %scratch) noinline {{", "entry:",
            "  br label %again", "again:", "  %turn = phi i64 [ 0, %entry ], [ %next, %again ]", *f.lines,
            "  %next = add i64 %turn, 1", f"  %left = icmp slt i64 %next, {loop.most}", f"  %both = and i1 %left, {going}",
            "  br i1 %both, label %again, label %done", "done:", "  ret void", "}"])

    def _march(self) -> str:
        """From record to record: the goal, the parts until it is reached."""
        f = self._function()
        v, zeros = f.vector, f.const(0.0)
        goal = f.put("getelementptr inbounds double, ptr %goals, i64 %record")
        value = f.put(f"load double, ptr {goal}, align 8")
        goals = f.put(f"insertelement {v} poison, double {value}, i32 0")
        goals = f.put(f"shufflevector {v} {goals}, {v} poison, <{self.machine.lanes} x i32> zeroinitializer")
        if GOAL in self.places:
            f.store(goals, self._at(f, self.places[GOAL][0]))
        head, f.lines = f.lines, []
        going = "%unfinished"
        if self.march.until:
            going = f.put(f"and i1 %unfinished, {self._waiting(f, self.march.until)}")
        return "\n".join([
            f"define internal {v} @march(ptr noalias %rows, ptr noalias %scratch, ptr %goals, i64 %records, i64 %repeats) "
            "noinline {", "entry:", *self._calls(self.march.begin), "  %some = icmp sgt i64 %records, 0",
            "  br i1 %some, label %outer, label %finished",
            "outer:", "  %record = phi i64 [ 0, %entry ], [ %following, %store ]",
            f"  %total = phi {v} [ {zeros}, %entry ], [ %summed, %store ]", *head, "  br label %inner",
            "inner:", "  %turn = phi i64 [ 0, %outer ], [ %again, %inner ]", *self._calls(self.march.parts),
            "  %again = add i64 %turn, 1", "  %unfinished = icmp slt i64 %again, %repeats", *f.lines,
            f"  br i1 {going}, label %inner, label %store",
            "store:", f"  %summed = call {v} @record(ptr %rows, ptr %scratch, {v} %total)",
            "  %following = add i64 %record, 1", "  %more = icmp slt i64 %following, %records",
            "  br i1 %more, label %outer, label %finished", "finished:",
            f"  %all = phi {v} [ {zeros}, %entry ], [ %summed, %store ]", f"  ret {v} %all", "}"])

    def _kernel(self) -> str:
        f = self._function()
        v, zeros = f.vector, f.const(0.0)
        last = 2 * (len(self.inputs) + len(self.records))

        def argument(place: int, kind: str) -> str:
            at = f.put(f"getelementptr inbounds i64, ptr %arguments, i64 {place}")
            return f.put(f"load {kind}, ptr {at}, align 8")

        def read() -> str:
            return f.put(f"call {v} @read(ptr %rows, ptr %scratch, {v} {zeros})")

        def compute() -> str:
            goals, records, repeats = argument(last, "ptr"), argument(last + 1, "i64"), argument(last + 2, "i64")
            total = f.put(f"call {v} @march(ptr %rows, ptr %scratch, ptr {goals}, i64 {records}, i64 {repeats})")
            return f.put(f"fcmp uno {v} {total}, {zeros}")

        prepared = [f"  %scratch = alloca [{self.scratch} x {v}], align 64"]
        return kernel(f, self.name, len(self.inputs) + len(self.records), prepared, read, compute)
