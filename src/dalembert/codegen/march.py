"""A march: straight-line parts repeated in a loop over registers, with records on the way.
Integrators become marches.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from dalembert.codegen.program import Port, Program, ProgramError, verify
from dalembert.codegen.rolled import Rolled, verify_rolled

GOAL = "goal"  # register: set to the next of a list of numbers before each record
REPEATS = 0  # for `most` of a loop: as often as the call says


@dataclass(frozen=True)
class Part:
    """A program, by its number, and the registers that its inputs are and its results go to."""

    program: int
    takes: tuple[str, ...]
    gives: tuple[str, ...]


@dataclass(frozen=True)
class Call:
    """A function outside, by its number, that is called with registers: the first as a number,
    others as vectors.

    Marches with calls are made for one lane.
    """

    function: int
    takes: tuple[str, ...]
    gives: str


@dataclass(frozen=True)
class Loop:
    """Items repeated while a register is 0 in some lane, `most` times at most; without a register,
    that many times.

    Lanes wait for each other: parts must leave what counts of a lane whose register is not 0 as it
    is.
    """

    parts: tuple[Item, ...]
    until: str
    most: int


Item = Part | Call | Loop


@dataclass(frozen=True)
class March:
    """Registers (vectors of numbers, one set per lane), and what happens to them.

    The items of `begin` run once, and those of `parts` before each record, which stores the
    registers of `recorded`. After the last one those of `left` are stored once.
    """

    registers: tuple[Port, ...]
    read: tuple[str, ...]  # registers that are inputs; others start at 0
    programs: tuple[Program | Rolled, ...]
    parts: tuple[Item, ...]
    recorded: tuple[str, ...]
    begin: tuple[Item, ...] = ()
    left: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        sizes = {r.name: r.size for r in self.registers}
        for program in self.programs:
            if isinstance(program, Rolled):
                verify_rolled(program)
            else:
                verify(program)
        for item in self.items():
            if isinstance(item, Part):
                program = self.programs[item.program]
                for names, ports in ((item.takes, program.inputs), (item.gives, program.outputs)):
                    if [sizes.get(n) for n in names] != [p.size for p in ports]:
                        raise ProgramError(
                            f"part {item} does not fit its program: "
                            f"{[(p.name, p.size) for p in ports]}."
                        )
        used = {*self.read, *self.recorded, *self.left}
        for item in self.items():
            used |= (
                {*filter(None, [item.until])}
                if isinstance(item, Loop)
                else {*item.takes, item.gives}
                if isinstance(item, Call)
                else set()
            )
        if unknown := used - sizes.keys():
            raise ProgramError(f"there are no registers {', '.join(sorted(unknown))}.")

    def items(self) -> Iterator[Item]:
        """All parts, calls and loops, in order, a loop behind what is in it."""
        return _items((*self.begin, *self.parts))

    def calls(self) -> list[Call]:
        """The different calls."""
        return list(dict.fromkeys(item for item in self.items() if isinstance(item, Call)))

    def places(self) -> dict[str, range]:
        """Places of each register's entries, one register after the other."""
        found, at = {}, 0
        for r in self.registers:
            found[r.name] = range(at, at + r.size)
            at += r.size
        return found

    def text(self) -> str:
        """The same for the same march on every machine."""
        head = repr((self.registers, self.read, self.parts, self.recorded, self.begin, self.left))
        return "\n".join([head, *(p.text() for p in self.programs)])


def _items(items: Sequence[Item]) -> Iterator[Item]:
    for item in items:
        if isinstance(item, Loop):
            yield from _items(item.parts)
        yield item


def ports(march: March) -> tuple[tuple[Port, ...], ...]:
    """(inputs, records, what is left at the end) of a march's kernel."""
    by_name = {r.name: r for r in march.registers}
    return tuple(
        tuple(by_name[n] for n in names) for names in (march.read, march.recorded, march.left)
    )
