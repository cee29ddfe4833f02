"""The verifier: rules that every program keeps, whoever made it."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from dalembert.codegen.blocks import ARITY, CONDITIONS, Block, Port, ProgramError
from dalembert.codegen.program import (
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
from dalembert.expr.graph import LOGIC


def verify(program: Program) -> None:
    """Raise ProgramError unless blocks are sound, tables fit them and lie in the memory, and
    nothing is read that was not written before on every path.
    """
    for number, table in enumerate(program.tables):
        verify_block(table.block)
        _verify_table(number, table, program.size)
    _Flow(program).follow()


def verify_block(block: Block) -> None:
    """Raise ProgramError unless operands come first, have the right kind and number, and results
    fit the outputs.
    """
    for k, (op, args) in enumerate(block.code):
        if op == "constant":
            ok = len(args) == 1 and isinstance(args[0], float) and np.isfinite(args[0])
        elif op == "input":
            ok = (
                len(args) == 2
                and 0 <= args[0] < len(block.inputs)
                and 0 <= args[1] < block.inputs[args[0]].size
            )
        else:
            ok = ARITY.get(op) == len(args) and all(isinstance(a, int) and 0 <= a < k for a in args)
            wanted = (
                [True] * len(args)
                if op in LOGIC
                else [i == 0 and op == "select" for i in range(len(args))]
            )
            ok = ok and all(
                (block.code[a].op in CONDITIONS) == w for a, w in zip(args, wanted, strict=True)
            )
        if not ok:
            raise ProgramError(f"value {k} = {op} {args} is malformed.")
    if len(block.outputs) != len(block.results):
        raise ProgramError(
            f"{len(block.outputs)} outputs have {len(block.results)} lists of results."
        )
    for port, places in zip(block.outputs, block.results, strict=True):
        known = all(0 <= p < len(block.code) and block.code[p].op not in CONDITIONS for p in places)
        if port.size != len(places) or not known:
            raise ProgramError(f"output {port.name!r} of shape {port.shape} has wrong results.")


def _verify_table(number: int, table: BlockTable, size: int) -> None:
    """Rows are complete and in the memory; outputs of a row do not overlap."""
    rows = len(table.places)
    constants = np.zeros((rows, 0)) if table.numbers is None else table.numbers
    first = [port.size for port in table.block.inputs[: table.constants]] or [0]
    if table.places.shape != (rows, len(table.ports)) or constants.shape != (rows, *first):
        raise ProgramError(
            f"table {number} has shapes {table.places.shape} and {constants.shape}, and its block "
            f"{len(table.ports)} ports and {first[0]} constants."
        )
    if not np.isfinite(constants).all():
        raise ProgramError(f"a constant of table {number} is not finite.")
    sizes = np.array([port.size for port in table.ports], dtype=np.int64)
    ends = table.places + sizes
    for row, k in np.argwhere((table.places < 0) | (ends > size))[:1].tolist():
        stretch = slice(int(table.places[row, k]), int(ends[row, k]))
        _inside(stretch, size, f"port {table.ports[k].name!r} of table {number}")
    outputs = np.arange(len(table.ports)) >= len(table.inputs)
    starts, ends = (places[:, outputs & (sizes > 0)] for places in (table.places, ends))
    order = np.argsort(starts, axis=1)
    starts, ends = (np.take_along_axis(places, order, axis=1) for places in (starts, ends))
    for row in np.flatnonzero((starts[:, 1:] < ends[:, :-1]).any(axis=1))[:1].tolist():
        raise ProgramError(f"outputs of row {row} of table {number} overlap.")


def _places(table: BlockTable, rows: np.ndarray) -> list[tuple[Port, np.ndarray]]:
    """Places of each port in some rows: (rows, size of the port)."""
    return [
        (port, table.places[rows, k, None] + np.arange(port.size))
        for k, port in enumerate(table.ports)
    ]


def _inside(stretch: slice, size: int, noun: str) -> None:
    if not 0 <= stretch.start <= stretch.stop <= size:
        raise ProgramError(f"{noun} lies at {stretch.start}:{stretch.stop} of a memory of {size}.")


class _Flow:
    """Places of the memory that are written for certain, followed through the items."""

    def __init__(self, program: Program):
        self.program = program
        self.written = np.zeros(program.size, dtype=bool)

    def follow(self) -> None:
        """Follow the program from its inputs to its outputs."""
        for register in (*self.program.inputs, *self.program.results):
            _inside(register.stretch, self.program.size, f"register {register.name!r}")
        for register in self.program.inputs:
            self._write(register.stretch)
        self._items(self.program.items)
        for register in self.program.outputs:
            self._read(register.stretch, f"output {register.name!r}")

    def _read(self, stretch: slice, noun: str) -> None:
        _inside(stretch, self.program.size, noun)
        if not self.written[stretch].all():
            raise ProgramError(
                f"{noun} at {stretch.start}:{stretch.stop} is read before it is written."
            )

    def _write(self, stretch: slice, noun: str = "a value") -> None:
        _inside(stretch, self.program.size, noun)
        self.written[stretch] = True

    def _items(self, items: Sequence[Item]) -> None:
        for item in items:
            if isinstance(item, Scan):
                self._scan(item)
            elif isinstance(item, Turns):
                self._turns(item)
            elif isinstance(item, Clear):
                self._write(slice(item.start, item.stop), "a stretch that is cleared")
            elif isinstance(item, Callback):
                self._callback(item)
            else:
                self._loop(item)

    def _scan(self, scan: Scan) -> None:
        """A row may read what rows before it have stored: `first` says when a place was written."""
        tables = self.program.tables
        lengths = np.array([len(table.places) for table in tables])
        numbers, rows = scan.order.T
        wrong = (numbers < 0) | (numbers >= len(tables)) | (rows < 0)
        wrong[~wrong] = rows[~wrong] >= lengths[numbers[~wrong]]
        for number, row in scan.order[wrong][:1].tolist():
            raise ProgramError(f"row {row} of table {number} is in no table.")
        first = np.where(self.written, -1, len(rows))
        times = {number: np.flatnonzero(numbers == number) for number in {*numbers.tolist()}}
        for number, at in times.items():
            for _, stored in _places(tables[number], rows[at])[len(tables[number].inputs) :]:
                np.minimum.at(first, stored, at[:, None])
        for number, at in times.items():
            for port, read in _places(tables[number], rows[at])[: len(tables[number].inputs)]:
                for row in np.flatnonzero((first[read] >= at[:, None]).any(axis=1))[:1]:
                    start = int(read[row, 0])
                    noun = f"input {port.name!r} of table {number}"
                    raise ProgramError(
                        f"{noun} at {start}:{start + port.size} is read before it is written."
                    )
        self.written |= first < len(rows)

    def _turns(self, turns: Turns) -> None:
        for angle, sine, cosine in turns.places.tolist():
            self._read(slice(angle, angle + 1), "an angle")
            self._write(slice(sine, sine + 1), "a sine")
            self._write(slice(cosine, cosine + 1), "a cosine")

    def _callback(self, callback: Callback) -> None:
        if not callback.takes or callback.takes[0].size != 1:
            raise ProgramError(f"function {callback.function} is not given a number first.")
        for register in callback.takes:
            self._read(register.stretch, f"argument {register.name!r}")
        self._write(callback.gives.stretch, f"result {callback.gives.name!r}")

    def _loop(self, loop: Loop | Goals) -> None:
        """The items, which are not run for certain if the loop may end before its first turn."""
        before = self.written.copy()
        place = loop.until if isinstance(loop, Loop) else loop.goal
        if isinstance(loop, Goals) and place is not None:
            self._write(slice(place, place + 1), "the goal")
        if isinstance(loop, Loop) and place is not None:
            self._read(slice(place, place + 1), "the end of a loop")
        self._items(loop.items)
        records: tuple[Register, ...] = loop.records if isinstance(loop, Goals) else ()
        for register in records:
            self._read(register.stretch, f"record {register.name!r}")
        if isinstance(loop, Goals) or place is not None:
            self.written = before
