"""A rolled program: a few straight-line steps, run body after body over tables, not code that grows
with their number.

All values of a state lie in one work array: the inputs, sines and cosines of the angles among them,
what a scan carries from body to body or keeps for later scans, the outputs. A step is a program
whose first input is a row of constants, and whose other inputs and outputs are stretches of the
work array; a table says where they begin for each body.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from dalembert.codegen.program import Port, Program, ProgramError, operations, verify


@dataclass(frozen=True, eq=False)
class Step:
    """What is done for each body of a kind. All its inputs are read before an output is stored, so
    they may overlap.

    numbers : (bodies, n) constants, the program's first input
    places : (bodies, ports) in the work array of the other inputs, then of the outputs
    """

    program: Program
    numbers: np.ndarray
    places: np.ndarray

    @property
    def ports(self) -> tuple[Port, ...]:
        """Stretches of the work array, in the order of `places`."""
        return (*self.program.inputs[1:], *self.program.outputs)

    def inputs_at(self, row: int) -> list[slice]:
        """Where the step reads for a body."""
        return self._at(row)[: len(self.program.inputs) - 1]

    def outputs_at(self, row: int) -> list[slice]:
        """Where the step stores for a body."""
        return self._at(row)[len(self.program.inputs) - 1 :]

    def _at(self, row: int) -> list[slice]:
        return [
            slice(at, at + port.size)
            for at, port in zip(self.places[row].tolist(), self.ports, strict=True)
        ]


class Scan(NamedTuple):
    """Steps in an order over bodies: (bodies, 2) numbers of the step, and of the row of its tables."""

    steps: tuple[Step, ...]
    order: np.ndarray

    def runs(self) -> list[tuple[int, int, int]]:
        """The order as (step, first row, number of rows) of consecutive ones."""
        jumps = (np.diff(self.order, axis=0) != (0, 1)).any(axis=1)
        starts = np.concatenate([[0], 1 + np.flatnonzero(jumps), [len(self.order)]])
        return [
            (*self.order[a].tolist(), int(b - a))
            for a, b in zip(starts, starts[1:], strict=False)
            if b > a
        ]


@dataclass(frozen=True, eq=False)
class Rolled:
    """Inputs, outputs and where they lie in the work array of `size` numbers; what is done in
    between.

    cleared : stretch of the work array that is zero at first
    turns : (angles, 3) places of an angle, its sine and its cosine, which are found before the
        scans
    """

    inputs: tuple[Port, ...]
    outputs: tuple[Port, ...]
    places: tuple[int, ...]
    size: int
    cleared: slice
    turns: np.ndarray
    scans: tuple[Scan, ...]

    def operations(self) -> int:
        """Number of operations for one state, sines and cosines included."""
        return 2 * len(self.turns) + sum(
            operations(step.program) * len(step.places) for s in self.scans for step in s.steps
        )

    def used(self) -> set[str]:
        """Operations of the steps."""
        return {i.op for scan in self.scans for step in scan.steps for i in step.program.code}

    def text(self) -> str:
        """The same for the same program on every machine."""
        lines = [
            repr(
                (
                    self.inputs,
                    self.outputs,
                    self.places,
                    self.size,
                    self.cleared,
                    self.turns.tolist(),
                )
            )
        ]
        for scan in self.scans:
            lines.append(repr(scan.order.tolist()))
            for step in scan.steps:
                lines += [
                    step.program.text(),
                    repr(step.numbers.tolist()),
                    repr(step.places.tolist()),
                ]
        return "\n".join(lines)

    def stretches(self) -> list[slice]:
        """Where inputs and outputs lie."""
        return [
            slice(at, at + p.size)
            for at, p in zip(self.places, (*self.inputs, *self.outputs), strict=True)
        ]


def verify_rolled(rolled: Rolled) -> None:
    """Raise ProgramError unless steps are sound, tables fit them, and nothing is read that was not
    written before.
    """
    written = np.zeros(rolled.size, dtype=bool)

    def check(places: slice, reading: bool, what: str) -> None:
        if not 0 <= places.start <= places.stop <= rolled.size:
            raise ProgramError(
                f"{what} lies at {places.start}:{places.stop} of a work array of {rolled.size}."
            )
        if reading and not written[places].all():
            raise ProgramError(
                f"{what} at {places.start}:{places.stop} is read before it is written."
            )

    for places, port in zip(rolled.stretches(), (*rolled.inputs, *rolled.outputs), strict=True):
        check(places, False, f"port {port.name!r}")
    for places in [rolled.cleared, *rolled.stretches()[: len(rolled.inputs)]]:
        written[places] = True
    for angle, *found in rolled.turns.tolist():
        check(slice(angle, angle + 1), True, "an angle")
        for place in found:
            check(slice(place, place + 1), False, "a sine")
            written[place] = True
    for scan in rolled.scans:
        for step in scan.steps:
            verify(step.program)
            rows = len(step.places)
            if step.places.shape != (rows, len(step.ports)) or step.numbers.shape != (
                rows,
                step.program.inputs[0].size,
            ):
                raise ProgramError(
                    f"the tables of a step have shapes {step.places.shape} and "
                    f"{step.numbers.shape}."
                )
            if not np.isfinite(step.numbers).all():
                raise ProgramError("a constant of a step is not finite.")
        for number, row in scan.order.tolist():
            if not (0 <= number < len(scan.steps) and 0 <= row < len(scan.steps[number].places)):
                raise ProgramError(f"row {row} of step {number} is in no table.")
            step = scan.steps[number]
            for places, port in zip(step.inputs_at(row), step.program.inputs[1:], strict=True):
                check(places, True, f"input {port.name!r} of step {number}")
            for places, port in zip(step.outputs_at(row), step.program.outputs, strict=True):
                check(places, False, f"output {port.name!r} of step {number}")
                written[places] = True
    for places, port in zip(rolled.stretches()[len(rolled.inputs) :], rolled.outputs, strict=True):
        check(places, True, f"output {port.name!r}")
