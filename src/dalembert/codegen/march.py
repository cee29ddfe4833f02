"""A march: straight-line parts repeated in a loop over registers, with records on the way. Integrators become marches."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

from dalembert.codegen.numpy_source import compiled
from dalembert.codegen.program import Port, Program, ProgramError, verify

GOAL = "goal"           # register: what `until` waits for; set to the next of a list of numbers before each record


@dataclass(frozen=True)
class Part:
    """A program, by its number, and the registers that its inputs are and its results go to."""

    program: int
    takes: tuple[str, ...]
    gives: tuple[str, ...]


@dataclass(frozen=True)
class Loop:
    """Parts repeated until a register is 0 in no lane, `most` times at most.

    Lanes wait for each other: parts must leave a lane whose register is not 0 as it is.
    """

    parts: tuple[Part, ...]
    until: str
    most: int


@dataclass(frozen=True)
class March:
    """Registers (vectors of numbers, one set per lane), and what happens to them.

    The parts of `begin` run once. Then, before each record, `parts` run in turn, again and again: a given number of times,
    or until the register `until`, if there is one, is 0 in no lane, that number of times at most; lanes that are ready
    wait for the others, so that parts must leave them as they are. Then the registers of `recorded` are stored.
    """

    registers: tuple[Port, ...]
    read: tuple[str, ...]              # registers that are inputs; others start at 0
    programs: tuple[Program, ...]
    parts: tuple[Part | Loop, ...]
    recorded: tuple[str, ...]
    until: str = ""
    begin: tuple[Part, ...] = ()

    def __post_init__(self) -> None:
        sizes = {r.name: r.size for r in self.registers}
        for program in self.programs:
            verify(program)
        for part in self.each_part():
            program = self.programs[part.program]
            for names, ports in ((part.takes, program.inputs), (part.gives, program.outputs)):
                if [sizes.get(n) for n in names] != [p.size for p in ports]:
                    raise ProgramError(f"part {part} does not fit its program: {[(p.name, p.size) for p in ports]}.")
        if unknown := {*self.read, *self.recorded, *filter(None, [self.until]), *(
                loop.until for loop in self.parts if isinstance(loop, Loop))} - sizes.keys():
            raise ProgramError(f"there are no registers {', '.join(sorted(unknown))}.")

    def each_part(self) -> Iterator[Part]:
        """All parts, in order."""
        yield from self.begin
        for item in self.parts:
            yield from item.parts if isinstance(item, Loop) else (item,)

    def places(self) -> dict[str, range]:
        """Places of each register's entries, one register after the other."""
        found, at = {}, 0
        for r in self.registers:
            found[r.name] = range(at, at + r.size)
            at += r.size
        return found

    def text(self) -> str:
        """The same for the same march on every machine."""
        head = repr((self.registers, self.read, self.parts, self.recorded, self.until, self.begin))
        return "\n".join([head, *(p.text() for p in self.programs)])


def ports(march: March) -> tuple[tuple[Port, ...], tuple[Port, ...]]:
    """(inputs, records) of a march's kernel."""
    by_name = {r.name: r for r in march.registers}
    return tuple(by_name[n] for n in march.read), tuple(by_name[n] for n in march.recorded)


def run(march: March, inputs: Sequence[Sequence[float]], goals: Sequence[float], repeats: int) -> list[list[np.ndarray]]:
    """The march of one lane on plain numbers: what every target must do. For each record, the registers recorded."""
    registers = {r.name: np.zeros(r.size) for r in march.registers}
    registers |= {name: np.array(x, dtype=float) for name, x in zip(march.read, inputs, strict=True)}
    functions = [compiled(p) for p in march.programs]

    def take(items: Sequence[Part | Loop]) -> None:
        for item in items:
            if isinstance(item, Loop):
                _repeat(partial(take, item.parts), item.most, registers, item.until)
                continue
            results = functions[item.program](*(registers[n] for n in item.takes))
            registers.update({name: np.array(x) for name, x in zip(item.gives, results, strict=True)})

    take(march.begin)
    records = []
    for goal in goals:
        if GOAL in registers:
            registers[GOAL] = np.array([goal])
        _repeat(partial(take, march.parts), repeats, registers, march.until)
        records.append([registers[name] for name in march.recorded])
    return records


def _repeat(action: Callable[[], None], most: int, registers: dict[str, np.ndarray], until: str) -> None:
    for _ in range(most):
        action()
        if until and registers[until][0] != 0:
            return
