"""The verifier: rules that every program keeps, whoever made it."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from dalembert.codegen.blocks import ARITY, CONDITIONS, Block, ProgramError
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
    for row in range(rows):
        stored: set[int] = set()
        for stretch, port in zip([*table.reads(row), *table.stores(row)], table.ports, strict=True):
            _inside(stretch, size, f"port {port.name!r} of table {number}")
        for stretch in table.stores(row):
            places = set(range(stretch.start, stretch.stop))
            if stored & places:
                raise ProgramError(f"outputs of row {row} of table {number} overlap.")
            stored |= places


def _inside(stretch: slice, size: int, noun: str) -> None:
    if not 0 <= stretch.start <= stretch.stop <= size:
        raise ProgramError(f"{noun} lies at {stretch.start}:{stretch.stop} of a memory of {size}.")


class _Flow:
    """Places of the memory that are written for certain, followed through the items."""

    def __init__(self, program: Program):
        self.program = program
        self.written = bytearray(program.size)

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
        if 0 in self.written[stretch]:
            raise ProgramError(
                f"{noun} at {stretch.start}:{stretch.stop} is read before it is written."
            )

    def _write(self, stretch: slice, noun: str = "a value") -> None:
        _inside(stretch, self.program.size, noun)
        self.written[stretch] = b"\1" * (stretch.stop - stretch.start)

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
        tables = self.program.tables
        for number, row in scan.order.tolist():
            if not (0 <= number < len(tables) and 0 <= row < len(tables[number].places)):
                raise ProgramError(f"row {row} of table {number} is in no table.")
            table = tables[number]
            for stretch, port in zip(table.reads(row), table.inputs, strict=True):
                self._read(stretch, f"input {port.name!r} of table {number}")
            for stretch in table.stores(row):
                self._write(stretch)

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
        before = bytearray(self.written)
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
