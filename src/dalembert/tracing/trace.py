"""Registers of a march and what happens to them, while they are traced."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

from dalembert.codegen.march import REPEATS, Call, Item, Loop, March, Part
from dalembert.codegen.program import Port, Program, program_of
from dalembert.codegen.rolled import Rolled
from dalembert.codegen.symbols import vector_of_symbols


class Trace:
    """Registers, programs and items of a march, while they are traced."""

    def __init__(self, registers: dict[str, int]):
        self.registers = {name: vector_of_symbols(name, n) for name, n in registers.items()}
        self.programs: list[Program | Rolled] = []
        self.items: list[Item] = []

    def __getitem__(self, name: str) -> Any:
        return self.registers[name][0]

    def new(self, stem: str, n: int) -> tuple[str, np.ndarray]:
        """A register of a name that is not taken."""
        name = f"{stem}{len(self.registers)}"
        self.registers[name] = vector_of_symbols(name, n)
        return name, self.registers[name]

    def give(self, results: dict[str, Any]) -> None:
        """Registers become these values."""
        self.programs.append(program_of(self.registers, results))
        self.items.append(Part(len(self.programs) - 1, tuple(self.registers), tuple(results)))

    def stored(self, stem: str, vectors: Sequence[np.ndarray]) -> list[np.ndarray]:
        """Vectors put into new registers, from which what follows reads them."""
        named = [self.new(stem, len(v)) if len(v) else ("", v) for v in vectors]
        self.give({name: v for (name, _), v in zip(named, vectors, strict=True) if name})
        return [register for _, register in named]

    def call(self, function: int, size: int, t: Any, *vectors: Any) -> np.ndarray:
        """What a function outside gives, by its number."""
        given = {self.new("a", len(v))[0]: v for v in ([t], *vectors)}
        self.give(given)
        name, found = self.new("u", size)
        self.items.append(Call(function, tuple(given), name))
        return found

    def scanned(self, program: Rolled, *vectors: Any) -> list[np.ndarray]:
        """Outputs of a program that stays apart."""
        inputs = {self.new("a", len(v))[0]: v for v in vectors}
        self.give(inputs)
        outputs = [self.new("b", port.size) for port in program.outputs]
        self.programs.append(program)
        self.items.append(
            Part(len(self.programs) - 1, tuple(inputs), tuple(name for name, _ in outputs))
        )
        return [symbols for _, symbols in outputs]

    def march(
        self,
        read: Sequence[str],
        recorded: Sequence[str],
        begin: tuple[Item, ...] = (),
        left: Sequence[str] = (),
    ) -> March:
        """The march of these items: registers that are inputs, recorded, and left at the end."""
        ports = tuple(Port(name, (len(x),)) for name, x in self.registers.items())
        programs, items = tuple(self.programs), tuple(self.items)
        return March(ports, tuple(read), programs, items, tuple(recorded), begin, tuple(left))

    @contextmanager
    def loop(self, until: str, most: int = REPEATS) -> Iterator[None]:
        """What is traced inside is repeated until a register is not 0."""
        outside, self.items = self.items, []
        yield
        outside.append(Loop(tuple(self.items), until, most))
        self.items = outside
