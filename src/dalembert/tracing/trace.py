"""Registers of a program and what happens to them, while they are traced."""

from __future__ import annotations

from collections.abc import (
    Iterator,
    Mapping,
    Sequence,
)
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np

from dalembert.codegen.blocks import (
    Block,
    ProgramError,
    block_of,
)
from dalembert.codegen.passes import rolling
from dalembert.codegen.passes.specializing import pruned
from dalembert.codegen.program import (
    REPEATS,
    BlockTable,
    Callback,
    Clear,
    Goals,
    Item,
    Loop,
    Program,
    Register,
    Scan,
    Turns,
)
from dalembert.codegen.symbols import vector_of_symbols

GOAL = "goal"  # register that becomes the next goal


@dataclass
class Rows:
    """A table whose rows are not all known yet."""

    block: Block
    places: list[list[int]]
    numbers: np.ndarray | None = None

    def table(self) -> BlockTable:
        """The table of the rows."""
        places = np.array(self.places, dtype=np.int64).reshape(len(self.places), -1)
        return BlockTable(self.block, places, self.numbers)


class Trace:
    """Registers, tables and items of a program, while they are traced."""

    straight = rolling.FROM  # operations of a block that is not run in loops, at most
    copying = 0  # number of the item that copies the results of the last block that is run in loops

    def __init__(self, registers: Mapping[str, int]):
        self.registers: dict[str, Any] = {}  # symbols of each
        self.places: dict[str, Register] = {}
        self.tables: list[Rows] = []
        self.items: list[Item] = []
        self.size = 0
        for name, n in registers.items():
            self.add(name, n)

    def __getitem__(self, name: str) -> Any:
        return self.registers[name][0]

    def add(self, name: str, n: int, start: int | None = None) -> Any:
        """A new register, behind the others or at a place that is taken already."""
        self.place(name, n, start)
        self.registers[name] = vector_of_symbols(name, n)
        return self.registers[name]

    def place(self, name: str, n: int, start: int | None = None) -> None:
        """A place for results of this name; no code here reads it."""
        if start is None:
            start = self.size
            self.size += n
        self.places[name] = Register(name, (n,), start)

    def new(self, stem: str, n: int, start: int | None = None) -> tuple[str, Any]:
        """A register of a name that is not taken."""
        name = f"{stem}{len(self.registers)}"
        return name, self.add(name, n, start)

    def give(self, results: Mapping[str, Any]) -> None:
        """Registers become these values."""
        for name, values in results.items():
            if len(values) != self.places[name].size:
                raise ProgramError(f"{len(values)} values do not fit the register {name!r}.")
        block = pruned(block_of(self.inputs_of(results), results, rolling.FROM), 0)
        ports = (*block.inputs, *block.outputs)
        places = [self.places[port.name].start for port in ports]
        if block.operations() > self.straight:
            self._roll(block, places)
            return
        self.tables.append(Rows(block, []))
        self.run(len(self.tables) - 1, places)

    def _roll(self, block: Block, places: list[int]) -> None:
        """A long block is run in loops."""
        count = len(block.inputs)
        found = rolling.rolled(block, places[:count], places[count:], self.size)
        self.items += [_moved(item, 0, len(self.tables)) for item in found.items]
        self.tables += [Rows(t.block, t.places.tolist(), t.numbers) for t in found.tables]
        self.size = found.end
        self.copying = len(self.items) - 1

    def inputs_of(self, results: Mapping[str, Any]) -> Mapping[str, Any]:
        """Symbols of registers, among which are those that results are computed from."""
        return self.registers

    def run(self, table: int, places: list[int]) -> None:
        """A row of a table is run with these places."""
        rows = self.tables[table].places
        rows.append(places)
        self.items.append(Scan(np.array([[table, len(rows) - 1]])))

    def stored(self, stem: str, vectors: Sequence[np.ndarray]) -> list[np.ndarray]:
        """Vectors put into new registers, from which what follows reads them."""
        named = [self.new(stem, len(v)) if len(v) else ("", v) for v in vectors]
        self.give({name: v for (name, _), v in zip(named, vectors, strict=True) if name})
        return [register for _, register in named]

    def call(self, function: int, size: int, t: Any, *vectors: Any) -> np.ndarray:
        """Result of a function outside, by its number."""
        arguments = {self.new("a", len(v))[0]: v for v in ([t], *vectors)}
        self.give(arguments)
        name, result = self.new("u", size)
        takes = tuple([self.places[a] for a in arguments])
        self.items.append(Callback(function, takes, self.places[name]))
        return result

    def scanned(self, program: Program, *vectors: Any) -> list[np.ndarray]:
        """Outputs of a program of scans, whose memory becomes a stretch of this one."""
        memory = ScanMemory(self, program)
        memory.put(dict(zip([r.name for r in program.inputs], vectors, strict=True)))
        memory.run(program.items)
        return [memory.symbols(r) for r in program.outputs]

    def program(
        self,
        inputs: Sequence[str],
        outputs: Sequence[str],
        records: Sequence[str] = (),
        begin: tuple[Item, ...] = (),
    ) -> Program:
        """The program of these items: once, or before each record of registers for a goal, behind
        items that begin it. Registers that are no inputs are 0 at first.
        """
        items = tuple(self.items)
        if records:
            goal = self.places[GOAL].start if GOAL in self.places else None
            items = (Goals(items, goal, self._registers(records)),)
        return Program(
            self._registers(inputs),
            self._registers(outputs),
            self.size,
            tuple([rows.table() for rows in self.tables]),
            (*self._cleared(inputs), *begin, *items),
        )

    def _registers(self, names: Sequence[str]) -> tuple[Register, ...]:
        return tuple([self.places[name] for name in names])

    def _cleared(self, inputs: Sequence[str]) -> list[Clear]:
        """Stretches of registers that are no inputs, but for memory of scans."""
        free = np.zeros(self.size + 1, dtype=bool)
        for name, register in self.places.items():
            free[register.stretch] = name not in inputs
        ends = np.flatnonzero(np.diff(free, prepend=False))
        return [Clear(*pair) for pair in ends.reshape(-1, 2).tolist()]

    @contextmanager
    def loop(self, until: str, most: int = REPEATS) -> Iterator[None]:
        """Items traced inside are repeated until a register is not 0."""
        outside, self.items = self.items, []
        yield
        outside.append(Loop(tuple(self.items), self.places[until].start, most))
        self.items = outside


class ScanMemory:
    """The memory of a program of scans as a stretch of a trace's, for items that run one by one."""

    def __init__(self, trace: Trace, program: Program):
        self._trace, self._program = trace, program
        self._start, self._first = trace.size, len(trace.tables)
        trace.size += program.size
        trace.tables += [
            Rows(table.block, (table.places + self._start).tolist(), table.numbers)
            for table in program.tables
        ]

    def put(self, vectors: Mapping[str, Any]) -> None:
        """Some inputs of the program become these values."""
        registers = {r.name: r for r in self._program.inputs}
        self._trace.give({self._alias("a", registers[name])[0]: v for name, v in vectors.items()})

    def run(self, items: Sequence[Item]) -> None:
        """Run some items of the program."""
        self._trace.items += [_moved(item, self._start, self._first) for item in items]

    def symbols(self, register: Register) -> np.ndarray:
        """Symbols of an output, until it is written again."""
        return self._alias("b", register)[1]

    def read(self, *names: str) -> list[np.ndarray]:
        """Outputs as they are now."""
        registers = {r.name: r for r in self._program.outputs}
        return self._trace.stored("c", [self.symbols(registers[name]) for name in names])

    def _alias(self, stem: str, register: Register) -> tuple[str, Any]:
        return self._trace.new(stem, register.size, self._start + register.start)


def _moved(item: Item, start: int, table: int) -> Item:
    """An item of a program without loops, whose memory and tables begin elsewhere."""
    if isinstance(item, Scan):
        return Scan(item.order + [table, 0])
    if isinstance(item, Clear):
        return Clear(start + item.start, start + item.stop)
    assert isinstance(item, Turns)
    return Turns(item.places + start)
