"""Programs: blocks run on one memory of doubles, in loops over tables and over registers.

All values of a state lie in one memory: inputs, what is carried from body to body or from step to
step, outputs. Items say in which order rows of tables are run on it. A row is a block with places
in the memory for its ports, so that the same block serves many bodies and many stages. A straight
program has one row; a scan is a run of rows; an integrator is a loop over goals whose items make
steps from record to record.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate
from math import prod
from typing import Any, NamedTuple

import numpy as np

from dalembert.codegen.blocks import Block, Port, block_of

STATUS = "status"  # name of an output that is 0 where the results are valid
INPUT_NOT_FINITE, RESULT_NOT_FINITE = (
    1000000,
    1000001,
)  # codes of a written function, beside those of that output
CODES = (
    "0: inputs and results are valid; otherwise results are computed, but mean nothing",
    f"{INPUT_NOT_FINITE}: an input is infinite or not a number",
    f"{RESULT_NOT_FINITE}: a result is infinite or not a number",
)
REPEATS = 0  # for `most` of a loop: as often as the call says


class Register(NamedTuple):
    """A named stretch of the memory, of any shape, in row-major order."""

    name: str
    shape: tuple[int, ...]
    start: int

    @property
    def size(self) -> int:
        """Number of entries."""
        return prod(self.shape)

    @property
    def stop(self) -> int:
        """End of the register in the memory."""
        return self.start + self.size

    @property
    def stretch(self) -> slice:
        """Places of the register in the memory."""
        return slice(self.start, self.stop)


@dataclass(frozen=True, eq=False)
class BlockTable:
    """A block, and rows of places in memory for its ports.

    All inputs of a row are read before an output is stored, so they may overlap.

    places : (rows, ports) where each port begins
    numbers : (rows, n) constants; if there are any, the block's first input has them and no place
    """

    block: Block
    places: np.ndarray
    numbers: np.ndarray | None = None

    @property
    def constants(self) -> int:
        """Number of the block's inputs that are rows of constants: none or one."""
        return int(self.numbers is not None)

    @property
    def inputs(self) -> tuple[Port, ...]:
        """Inputs that have places."""
        return self.block.inputs[self.constants :]

    @property
    def ports(self) -> tuple[Port, ...]:
        """Ports that have places, in the order of `places`."""
        return (*self.inputs, *self.block.outputs)

    def reads(self, row: int) -> list[slice]:
        """Stretches of the memory that a row reads."""
        return self._stretches(row)[: len(self.inputs)]

    def stores(self, row: int) -> list[slice]:
        """Stretches of the memory that a row stores."""
        return self._stretches(row)[len(self.inputs) :]

    def _stretches(self, row: int) -> list[slice]:
        return [
            slice(start, start + port.size)
            for start, port in zip(self.places[row].tolist(), self.ports, strict=True)
        ]

    @cached_property
    def apart(self) -> bool:
        """Whether no row stores to a place that it reads, so that it may store at any time."""
        count = len(self.inputs)
        starts = self.places[:, :, None]
        ends = starts + np.array([port.size for port in self.ports])[:, None]
        read, stored = starts[:, :count], starts[:, count:].transpose(0, 2, 1)
        before = ends[:, :count] <= stored
        behind = ends[:, count:].transpose(0, 2, 1) <= read
        return bool((before | behind).all())


@dataclass(frozen=True, eq=False)
class Scan:
    """Rows of tables run one after the other: (n, 2) numbers of the table and of the row."""

    order: np.ndarray

    @property
    def single(self) -> bool:
        """Whether it is one row."""
        return len(self.order) == 1

    @cached_property
    def runs(self) -> list[tuple[int, int, int]]:
        """The order as (table, first row, number of rows) of consecutive ones."""
        jumps = (np.diff(self.order, axis=0) != (0, 1)).any(axis=1)
        starts = np.concatenate([[0], 1 + np.flatnonzero(jumps), [len(self.order)]])
        return [
            (*self.order[a].tolist(), int(b - a))
            for a, b in zip(starts, starts[1:], strict=False)
            if b > a
        ]


@dataclass(frozen=True, eq=False)
class Turns:
    """Sines and cosines of many angles: (n, 3) places of an angle, its sine and its cosine."""

    places: np.ndarray


@dataclass(frozen=True)
class Clear:
    """A stretch of the memory becomes 0."""

    start: int
    stop: int


@dataclass(frozen=True)
class Callback:
    """A function outside, by its number, called with registers: the first a number, the others
    vectors. Its result goes to a register.
    """

    function: int
    takes: tuple[Register, ...]
    gives: Register


@dataclass(frozen=True)
class Loop:
    """Items repeated while the place `until` is 0 in some lane, `most` times at most; without a
    place, that many times.

    Lanes wait for each other: items must leave what counts of a lane whose place is not 0 as it is.
    """

    items: tuple[Item, ...]
    until: int | None
    most: int


@dataclass(frozen=True)
class Goals:
    """Items repeated for each of a list of numbers, the goals, with records of registers after
    each.

    goal : place that becomes the next goal, if there is one
    """

    items: tuple[Item, ...]
    goal: int | None
    records: tuple[Register, ...]


Item = Scan | Turns | Clear | Callback | Loop | Goals


@dataclass(frozen=True, eq=False)
class Program:
    """Inputs and outputs in a memory of `size` numbers, and the items between them.

    Results are the records of its goals, if it has any, then its outputs.
    """

    inputs: tuple[Register, ...]
    outputs: tuple[Register, ...]
    size: int
    tables: tuple[BlockTable, ...]
    items: tuple[Item, ...]

    @staticmethod
    def of(block: Block) -> Program:
        """The program that is one block."""
        ports = (*block.inputs, *block.outputs)
        starts = [0, *accumulate(port.size for port in ports)]
        registers = tuple(
            Register(*port, start) for port, start in zip(ports, starts, strict=False)
        )
        number = len(block.inputs)
        table = BlockTable(block, np.array([starts[:-1]], dtype=np.int64))
        scan = Scan(np.zeros((1, 2), dtype=np.int64))
        return Program(registers[:number], registers[number:], starts[-1], (table,), (scan,))

    @cached_property
    def block(self) -> Block | None:
        """The block of a straight program."""
        if len(self.tables) != 1 or len(self.items) != 1:
            return None
        (table,), (item,) = self.tables, self.items
        starts = [r.start for r in (*self.inputs, *self.outputs)]
        whole = table.constants == 0 and table.places.tolist() == [starts] and table.apart
        once = isinstance(item, Scan) and item.single
        return table.block if whole and once else None

    @cached_property
    def goals(self) -> Goals | None:
        """The loop over goals, if there is one."""
        return next((item for item in self.items if isinstance(item, Goals)), None)

    @property
    def records(self) -> tuple[Register, ...]:
        """Results that there is one of for each goal."""
        return self.goals.records if self.goals else ()

    @property
    def results(self) -> tuple[Register, ...]:
        """Registers of the records and outputs."""
        return (*self.records, *self.outputs)

    @cached_property
    def every_item(self) -> tuple[Item, ...]:
        """All items, each once, in their order; a loop comes behind those that are in it."""
        return tuple({id(item): item for item in _every(self.items)}.values())

    @cached_property
    def _numbers(self) -> dict[int, int]:
        return {id(item): number for number, item in enumerate(self.every_item, 1)}

    def number(self, item: Item) -> int:
        """Number of an item among all, from 1 on."""
        return self._numbers[id(item)]

    @cached_property
    def callbacks(self) -> list[Callback]:
        """The different calls of functions outside."""
        return list(dict.fromkeys(i for i in self.every_item if isinstance(i, Callback)))

    def operations(self) -> int:
        """Number of operations where each item runs once, sines and cosines included."""
        counts = [table.block.operations() for table in self.tables]
        count = 0
        for item in _every(self.items):
            if isinstance(item, Scan):
                count += sum(counts[table] * rows for table, _, rows in item.runs)
            elif isinstance(item, Turns):
                count += 2 * len(item.places)
        return count

    def used(self) -> set[str]:
        """Operations of the blocks."""
        return {i.op for table in self.tables for i in table.block.code}

    def text(self) -> str:
        """The same for the same program on every machine."""
        if self.block:
            return self.block.text()
        lines = [repr((self.inputs, self.outputs, self.size))]
        for table in self.tables:
            constants = None if table.numbers is None else table.numbers.tolist()
            lines += [table.block.text(), repr(table.places.tolist()), repr(constants)]
        lines += [self._line(item) for item in self.every_item]
        lines.append(repr([*map(self.number, self.items)]))
        return "\n".join(lines)

    def _line(self, item: Item) -> str:
        """Text of an item, with the numbers of those that are in it."""
        if isinstance(item, Scan):
            return f"Scan {item.order.tolist()}"
        if isinstance(item, Turns):
            return f"Turns {item.places.tolist()}"
        if isinstance(item, (Clear, Callback)):
            return repr(item)
        inner = [*map(self.number, item.items)]
        if isinstance(item, Loop):
            return f"Loop {item.until} {item.most} {inner}"
        return f"Goals {item.goal} {item.records} {inner}"


def _every(items: Sequence[Item]) -> Iterator[Item]:
    for item in items:
        if isinstance(item, (Loop, Goals)):
            yield from _every(item.items)
        yield item


def program_of(inputs: Mapping[str, Iterable[Any]], outputs: Mapping[str, Any]) -> Program:
    """The straight program that computes outputs from inputs; see `block_of`."""
    return Program.of(block_of(inputs, outputs))


def results_and_status(program: Program) -> tuple[list[int], list[int]]:
    """Places among the outputs of the results, and of the status if there is one."""
    status = [k for k, register in enumerate(program.results) if register.name == STATUS]
    return [k for k in range(len(program.results)) if k not in status], status
