"""Kernel of a straight program: a loop over blocks of W states side by side in the lanes of
vectors.

A block is loaded from rows into a scratch array and computed there (`Values`). Few results are
stored as soon as they are known. Many are stored at the end, one after the other: processors
foresee who writes to memory in order (a regressor's results, stored as soon as they are known, took
twice as long).
"""

from __future__ import annotations

from functools import partial

from dalembert.codegen.blocks import Block
from dalembert.codegen.passes.cutting import parted
from dalembert.codegen.program import STATUS
from dalembert.codegen.targets.llvm import streams as streaming
from dalembert.codegen.targets.llvm import values as functions
from dalembert.codegen.targets.llvm.batches import kernel, module
from dalembert.codegen.targets.llvm.function_text import FunctionText
from dalembert.codegen.targets.llvm.machine import Machine
from dalembert.codegen.targets.llvm.rows import entries, groups, loaded, stored
from dalembert.codegen.targets.llvm.streams import Stream
from dalembert.codegen.targets.llvm.values import Leave, Scratch, Values, Watch

# values: programs of at most so many get code for single states too, which compiles as long again
ALONE = 2500
EARLY = 16  # entries: results that fit two lines of the cache are stored as soon as they are known


def assembly(block: Block, machine: Machine, name: str = "kernel") -> str:
    """LLVM assembly of a program's kernel."""
    constants: dict[tuple[str, str], int] = {}
    small = len(block.code) <= ALONE
    alone = (
        _StraightKernel(block, machine.alone, constants, "alone_").parts(f"alone_{name}")
        if small
        else []
    )
    writer = _StraightKernel(block, machine, constants)
    parts = writer.parts(name, f"alone_{name}" if small else "")
    return module(writer.function(), {i.op for i in block.code}, [*alone, *parts], small)


class _StraightKernel:
    """Kernel of one block; the prefix is that of all functions it calls."""

    def __init__(
        self,
        block: Block,
        machine: Machine,
        constants: dict[tuple[str, str], int],
        prefix: str = "",
    ):
        self.block, self.machine, self.constants, self.prefix = block, machine, constants, prefix
        self.ports, lanes = (*block.inputs, *block.outputs), machine.lanes
        self.status = [
            places[0]
            for port, places in zip(block.outputs, block.results, strict=True)
            if port.name == STATUS
        ]
        leaving = [
            Leave(
                tuple(
                    block.results[output][e] for e in entries(block.outputs[output], first, lanes)
                ),
                partial(stored, port=len(block.inputs) + output, first=first),
                block.outputs[output].size <= EARLY,
            )
            for output, first in groups(block.outputs, lanes)
        ]
        entries_read = [i.args for i in block.code if i.op == "input"]
        places = {entry: n for n, entry in enumerate(entries_read)}
        scratch = Scratch(places, len(places), "ptr noalias %scratch, ptr noalias %rows")
        self.values = Values(block, machine, constants, prefix, scratch, leaving, self.status)
        reads = [
            (port, first)
            for port, first in groups(block.inputs, lanes)
            if machine.checked
            or any(
                (port, e) in self.values.entry for e in entries(block.inputs[port], first, lanes)
            )
        ]
        self.reads = parted(reads, lambda _: 5 * lanes, functions.CHUNK)
        self.writes = parted(self.values.late, lambda _: 5 * lanes, functions.CHUNK)
        streams = [
            Stream(place, port, machine)
            for place, port in enumerate(block.outputs, len(block.inputs))
            if port.size > EARLY and lanes > 1
        ]
        self.streams = [s for s in streams if s.block <= streaming.BLOCK]

    def parts(self, name: str, alone: str = "") -> list[str]:
        """Definitions of the kernel, which hands single states to another if there is one, and of
        what it calls.
        """
        parts = [self._read(n) for n in range(len(self.reads))] + self.values.functions()
        parts += [streaming.functions(self.machine)] if self.streams else []
        return [
            *parts,
            *(self._write(n) for n in range(len(self.writes))),
            self._kernel(name, alone),
        ]

    def function(self) -> FunctionText:
        """An empty function."""
        return FunctionText(self.machine, self.constants)

    def _read(self, number: int) -> str:
        """Inputs into the scratch array."""
        f = self.function()
        watch = Watch(f, self.values.total)
        for port, first in self.reads[number]:
            shape = self.block.inputs[port]
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
        watch = Watch(f, self.values.total)
        zeros = f.const(0.0)

        def call(function: str, number: int) -> None:
            """Call numbered functions."""
            f.lines += [
                f"  call void @{self.prefix}{function}{n}({self.values.outside.takes})"
                for n in range(number)
            ]

        def read() -> str:
            """Read the inputs of a block."""
            for stream in self.streams:
                stream.follows(f)
            f.store(zeros, f.put(watch.at))
            call("read", len(self.reads))
            return watch.found()

        def compute() -> str:
            """Compute and write a block."""
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
        align = streaming.PAGE if self.streams else streaming.LINE
        prepared, f.lines = (
            [f"  %scratch = alloca [{self.values.scratch} x {f.vector}], align {align}", *f.lines],
            [],
        )
        late = [line for stream in self.streams for line in stream.ends()]
        return kernel(f, name, len(self.ports), prepared, read, compute, alone, late)
