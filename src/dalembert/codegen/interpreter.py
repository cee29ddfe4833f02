"""The meaning of programs: each form of them, computed with NumPy. Targets must give the same."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from dalembert.codegen.march import GOAL, Item, Loop, March, Part
from dalembert.codegen.program import Program
from dalembert.codegen.rolled import Rolled, Step
from dalembert.expr.evaluation import NUMPY


def evaluated(program: Program | Rolled, *inputs: Any) -> tuple[np.ndarray, ...]:
    """Outputs (*batch, *shape) of a program without loops over time, of inputs (*batch, n), which
    broadcast.
    """
    arrays = [np.asarray(x, dtype=float) for x in inputs]
    batch = np.broadcast_shapes(*(x.shape[:-1] for x in arrays))
    with np.errstate(all="ignore"):
        outputs = (
            _scanned(program, arrays, batch)
            if isinstance(program, Rolled)
            else _straight(program, arrays)
        )
    results = []
    for port, entries in zip(program.outputs, outputs, strict=True):
        result = np.empty((*batch, port.size))
        for k, x in enumerate(entries):
            result[..., k] = x
        results.append(result.reshape((*batch, *port.shape)))
    return tuple(results)


def marched(
    march: March,
    inputs: Sequence[Sequence[float]],
    goals: Sequence[float],
    repeats: int,
    functions: Sequence[Callable[..., np.ndarray]] = (),
) -> tuple[list[list[np.ndarray]], list[np.ndarray]]:
    """Registers of one lane of a march at each record, and those left at the end."""
    registers = {r.name: np.zeros(r.size) for r in march.registers}
    registers |= {
        name: np.array(x, dtype=float) for name, x in zip(march.read, inputs, strict=True)
    }

    def take(items: Sequence[Item]) -> None:
        for item in items:
            if isinstance(item, Part):
                results = evaluated(
                    march.programs[item.program], *(registers[n] for n in item.takes)
                )
                registers.update(zip(item.gives, results, strict=True))
            elif isinstance(item, Loop):
                repeat(item)
            else:
                t, *vectors = (registers[n] for n in item.takes)
                registers[item.gives] = functions[item.function](
                    float(t[0]), *(v.copy() for v in vectors)
                )

    def repeat(loop: Loop) -> None:
        for _ in range(loop.most or repeats):
            if loop.until and registers[loop.until][0] != 0:
                break
            take(loop.parts)

    take(march.begin)
    records = []
    for goal in goals:
        if GOAL in registers:
            registers[GOAL] = np.array([goal])
        take(march.parts)
        records.append([registers[name] for name in march.recorded])
    return records, [registers[name] for name in march.left]


def _straight(program: Program, inputs: Sequence[np.ndarray]) -> list[list[Any]]:
    """Entries of each output."""
    values: list[Any] = []
    for op, args in program.code:
        if op == "constant":
            values.append(np.float64(args[0]))  # unlike a number of Python's, it never raises
        elif op == "input":
            values.append(inputs[args[0]][..., args[1]])
        else:
            values.append(NUMPY[op](*(values[a] for a in args)))
    return [[values[k] for k in places] for places in program.results]


def _scanned(
    rolled: Rolled, inputs: Sequence[np.ndarray], batch: tuple[int, ...]
) -> list[list[Any]]:
    """Entries of each output: the work array is filled, then bodies follow one another."""
    work = np.zeros((*batch, rolled.size))
    stretches = rolled.stretches()
    for stretch, x in zip(stretches, inputs, strict=False):
        work[..., stretch] = x
    work[..., rolled.cleared] = 0.0
    for angle, sine, cosine in rolled.turns.tolist():
        work[..., sine], work[..., cosine] = np.sin(work[..., angle]), np.cos(work[..., angle])
    for scan in rolled.scans:
        for number, row in scan.order.tolist():
            _step(scan.steps[number], row, work)
    return [list(np.moveaxis(work[..., stretch], -1, 0)) for stretch in stretches[len(inputs) :]]


def _step(step: Step, row: int, work: np.ndarray) -> None:
    """One body: all inputs are read before an output is stored."""
    inputs = [step.numbers[row], *(work[..., stretch].copy() for stretch in step.inputs_at(row))]
    outputs = _straight(step.program, inputs)
    for stretch, entries in zip(step.outputs_at(row), outputs, strict=True):
        for k, x in enumerate(entries):
            work[..., stretch.start + k] = x
