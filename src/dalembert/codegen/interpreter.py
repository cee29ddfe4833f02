"""The meaning of programs, computed with NumPy. Targets must give the same."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

from dalembert.codegen.blocks import Block
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
from dalembert.expr.evaluation import NUMPY

Function = Callable[..., Any]


def evaluated(
    program: Program,
    *inputs: Any,
    goals: Iterable[float] = (),
    repeats: int = 1,
    functions: Sequence[Function] = (),
) -> tuple[np.ndarray, ...]:
    """Results of a program for inputs (*batch, n), which broadcast.

    Parameters
    ----------
    goals : iterable of float
        Numbers that records are made for.
    repeats : int
        Turns of loops whose number the call says.
    functions : sequence of callable
        Functions outside, called with t (*batch) and vectors (*batch, n) each.

    Returns
    -------
    Records (*batch, goals, *shape), then outputs (*batch, *shape).
    """
    arrays = [np.asarray(x, dtype=float) for x in inputs]
    batch = np.broadcast_shapes(*(x.shape[:-1] for x in arrays))
    run = _Execution(program, batch, list(goals), repeats, functions)
    for register, x in zip(program.inputs, arrays, strict=True):
        run.memory[..., register.stretch] = x
    with np.errstate(all="ignore"):
        run.items(program.items)
    columns = zip(*run.records, strict=True) if run.records else [()] * len(program.records)
    records = [
        np.reshape(
            np.stack(found, axis=len(batch)) if found else [],
            (*batch, len(run.records), *r.shape),
        )
        for found, r in zip(columns, program.records, strict=True)
    ]
    return (*records, *(run.value(register) for register in program.outputs))


def block_values(block: Block, inputs: Sequence[np.ndarray]) -> list[list[Any]]:
    """Entries of each output of a block, of inputs (*batch, n)."""
    values: list[Any] = []
    for op, args in block.code:
        if op == "constant":
            values.append(np.float64(args[0]))  # unlike a number of Python's, it never raises
        elif op == "input":
            values.append(inputs[args[0]][..., args[1]])
        else:
            values.append(NUMPY[op](*(values[a] for a in args)))
    return [[values[k] for k in places] for places in block.results]


class _Execution:
    """Memory (*batch, size), which the items change, and records."""

    def __init__(
        self,
        program: Program,
        batch: tuple[int, ...],
        goals: list[float],
        repeats: int,
        functions: Sequence[Function],
    ):
        self.program, self.goals, self.repeats, self.functions = program, goals, repeats, functions
        self.memory = np.full((*batch, program.size), np.nan)
        self.records: list[list[np.ndarray]] = []

    def value(self, register: Register) -> np.ndarray:
        """The value of a register."""
        stretch = self.memory[..., register.stretch]
        return stretch.reshape((*stretch.shape[:-1], *register.shape)).copy()

    def items(self, items: Sequence[Item]) -> None:
        """Execute items in their order."""
        memory = self.memory
        for item in items:
            if isinstance(item, Scan):
                for number, row in item.order.tolist():
                    self._row(self.program.tables[number], row)
            elif isinstance(item, Turns):
                angle, sine, cosine = item.places.T
                memory[..., sine], memory[..., cosine] = (
                    np.sin(memory[..., angle]),
                    np.cos(memory[..., angle]),
                )
            elif isinstance(item, Clear):
                memory[..., item.start : item.stop] = 0.0
            elif isinstance(item, Callback):
                self._callback(item)
            elif isinstance(item, Loop):
                self._loop(item)
            else:
                self._goals(item)

    def _row(self, table: BlockTable, row: int) -> None:
        """All inputs are read before an output is stored."""
        inputs = [] if table.numbers is None else [table.numbers[row]]
        inputs += [self.memory[..., stretch].copy() for stretch in table.reads(row)]
        outputs = block_values(table.block, inputs)
        for stretch, entries in zip(table.stores(row), outputs, strict=True):
            for k, x in enumerate(entries):
                self.memory[..., stretch.start + k] = x

    def _callback(self, callback: Callback) -> None:
        time, *vectors = callback.takes
        t = self.memory[..., time.start][()]
        result = self.functions[callback.function](t, *(self.value(v) for v in vectors))
        self.memory[..., callback.gives.stretch] = result

    def _loop(self, loop: Loop) -> None:
        for _ in range(loop.most or self.repeats):
            if loop.until is not None and not (self.memory[..., loop.until] == 0).any():
                break
            self.items(loop.items)

    def _goals(self, loop: Goals) -> None:
        for goal in self.goals:
            if loop.goal is not None:
                self.memory[..., loop.goal] = goal
            self.items(loop.items)
            self.records.append([self.value(register) for register in loop.records])
