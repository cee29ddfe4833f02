"""Traces whose long registers are computed in loops over rows of entries, not by straight code."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from dalembert.codegen.blocks import CONDITIONS, Block, ProgramError, block_of
from dalembert.codegen.program import Register, Scan
from dalembert.expr import Expr, free_symbols, substitute
from dalembert.expr.graph import LEAVES, topological
from dalembert.integrators.choice import chosen
from dalembert.tracing.entry_vectors import EntryVector, VectorEntries, VectorPiece
from dalembert.tracing.likeness import alike, terms_of
from dalembert.tracing.trace import Rows, Trace

FROM = 48  # entries: fewer are not slower as straight code, and their code is small
WIDTH = 8  # entries in a row


class EntryRange(NamedTuple):
    """Neighbouring entries of a register."""

    register: str
    first: int
    size: int

    def overlaps(self, other: EntryRange) -> bool:
        """Whether two stretches have an entry in common."""
        if self.register != other.register:
            return False
        return self.first < other.first + other.size and other.first < self.first + self.size


class Access(NamedTuple):
    """Entry of a register that a row reads or stores: the entry in row 0, and by how many entries
    it moves on from row to row.
    """

    register: str
    entry: int
    step: int


class Result(NamedTuple):
    """Entries of a register from the first on, and the expression of a row that they become."""

    register: str
    first: int
    size: int
    entry: Any

    @property
    def stretch(self) -> EntryRange:
        """The entries that it becomes."""
        return EntryRange(self.register, self.first, self.size)


Loop = list[Result]  # of one size


class LoopTrace(Trace):
    """A trace in which long vectors whose entries are alike are computed in loops.

    whole : long registers are vectors from the first, not symbols of each entry
    """

    def __init__(self, registers: Mapping[str, int], whole: bool = False):
        self.entries = VectorEntries()
        self.whole = whole
        super().__init__(registers)

    def add(self, name: str, n: int, start: int | None = None) -> Any:
        """Add a register; long ones as a whole vector."""
        if not (self.whole and n >= FROM):
            symbols = super().add(name, n, start)
            self.entries.one |= {s: (name, k) for k, s in enumerate(symbols)}
            return symbols
        self.place(name, n, start)
        self.registers[name] = EntryVector(self, [VectorPiece(n, self.entries.row(name, 0))])
        return self.registers[name]

    def vector_of(self, values: Any) -> EntryVector:
        """Values as a vector."""
        if isinstance(values, EntryVector):
            return values
        return EntryVector(self, alike(self.entries, values) or [VectorPiece(1, x) for x in values])

    def give(self, results: Mapping[str, Any]) -> None:
        """Registers become these values, all of which are computed before any of them is changed."""
        vectors = {name: self._as_vector(values) for name, values in results.items()}
        for name, values in vectors.items():
            if len(values) != self.places[name].size:
                raise ProgramError(f"{len(values)} values do not fit the register {name!r}.")
        looped = {name: v for name, v in vectors.items() if isinstance(v, EntryVector)}
        straight = {name: v for name, v in vectors.items() if name not in looped}
        loops, copies = self._kept_apart(_loops(looped), straight)
        loops = self._prepared(loops, straight, results)
        if straight:
            super().give(straight)
        for loop in [*loops, *copies]:
            self._run_loop(loop)

    def inputs_of(self, results: Mapping[str, Any]) -> Mapping[str, Any]:
        """Registers whose entries occur in results."""
        entries = self.entries.one
        symbols = free_symbols([x for values in results.values() for x in values])
        used = {entries[s][0] for s in symbols if s in entries}
        return {name: [*values] for name, values in self.registers.items() if name in used}

    def _as_vector(self, values: Any) -> Any:
        """Values as a vector if there are many, and most are alike; else one by one."""
        if isinstance(values, EntryVector):
            few = len(values.pieces) * WIDTH > len(values)
            return np.asarray(values) if few else values
        if len(values) < FROM:
            return values
        pieces = alike(self.entries, [self._summed(x) for x in values])
        return EntryVector(self, pieces) if pieces else values

    def _summed(self, x: Any) -> Any:
        """An entry; a sum of many terms that are alike as the register that a loop adds them in."""
        terms = terms_of(self.entries, x, FROM)
        pieces = alike(self.entries, terms) if terms else None
        return EntryVector(self, pieces).total() if pieces else x

    def _prepared(
        self, loops: list[Loop], straight: dict[str, Any], written: Iterable[str] = ()
    ) -> list[Loop]:
        """Loops whose expressions read registers for values that are the same in all rows; straight
        code computes these first, and so those in registers that are written.
        """
        entries = [result.entry for loop in loops for result in loop]
        nodes = _the_same_in_all_rows(self.entries, entries, {*written})
        if not nodes:
            return loops
        name, symbols = self.new("scalars", len(nodes))
        numbers: list[Any] = []
        read = {}
        for node, s in zip(nodes, symbols, strict=True):
            is_condition = node.op in CONDITIONS  # registers hold numbers, no truth values
            numbers.append(chosen(node, 1.0, 0.0) if is_condition else node)
            read[node] = s > 0 if is_condition else s
        straight[name] = numbers
        return [[r._replace(entry=substitute(r.entry, read)) for r in loop] for loop in loops]

    def _kept_apart(
        self, loops: list[Loop], straight: dict[str, Any]
    ) -> tuple[list[Loop], list[Loop]]:
        """Loops that change nothing which is read behind it, and loops that copy what they and the
        straight code before them keep elsewhere for that.
        """
        copies: list[Loop] = []
        reads = [self._reads(loop) for loop in loops]

        def elsewhere(stretch: EntryRange) -> str:
            """Name of a register that holds values until they are copied to a stretch."""
            name, _ = self.new("late", stretch.size)
            copies.append([Result(*stretch, self.entries.row(name, 0))])
            return name

        for name in {stretch.register for read in reads for stretch in read} & straight.keys():
            values = straight.pop(name)
            straight[elsewhere(EntryRange(name, 0, len(values)))] = values
        apart = []
        for number, loop in enumerate(loops):
            later = [stretch for read in reads[number + 1 :] for stretch in read]
            results = []
            for result in loop:
                # A row reads its own entry before it stores it.
                beside = [stretch for stretch in reads[number] if stretch.first != result.first]
                if any(map(result.stretch.overlaps, [*later, *beside])):
                    result = result._replace(register=elsewhere(result.stretch), first=0)
                results.append(result)
            apart.append(results)
        return apart, copies

    def _reads(self, loop: Loop) -> list[EntryRange]:
        """Stretches of registers that the rows of a loop read."""
        symbols = free_symbols([result.entry for result in loop])
        rows = self.entries.rows
        return [EntryRange(*rows[s], loop[0].size) for s in symbols if s in rows]

    def reduced(self, vector: EntryVector, combined: Callable[[Any, Any], Any]) -> Any:
        """A number made of 0 and all entries, from the first to the last."""
        name, (number,) = self.new("number", 1)
        straight: dict[str, Any] = {name: [0.0]}
        loop = [Result(name, 0, *piece) for piece in vector.pieces]
        (loop,) = self._prepared([loop], straight)
        super().give(straight)
        for result in loop:

            def outputs(start: int, width: int, entry: Any = result.entry) -> list[list[Any]]:
                """The value combined with some entries."""
                value = number
                for k in range(start, start + width):
                    value = combined(value, self.entries.moved(entry, k))
                return [[value]]

            self._run_rows(result.size, outputs, [Access(name, 0, 0)])
        return number

    def _run_loop(self, loop: Loop) -> None:
        def outputs(start: int, width: int) -> list[list[Any]]:
            """Some entries of each result."""
            rows = range(start, start + width)
            return [[self.entries.moved(result.entry, k) for k in rows] for result in loop]

        stores = [Access(result.register, result.first, 1) for result in loop]
        self._run_rows(loop[0].size, outputs, stores)

    def _run_rows(
        self,
        size: int,
        outputs: Callable[[int, int], list[list[Any]]],
        stores: Sequence[Access],
    ) -> None:
        """Run rows that compute some entries: WIDTH in each, and the last ones in one more.

        outputs : values of a row, given its first entry and their number
        stores : entry of each output, by how many it moves on with each value
        """
        order = []
        whole = size - size % WIDTH
        for first, width, rows in ((0, WIDTH, whole // WIDTH), (whole, size - whole, 1)):
            if not (rows and width):
                continue
            block, accesses = _block_of_row(self.entries, outputs(first, width), width)
            for name, entry, step in stores:
                accesses.append(Access(name, entry + first * step, width * step))
            begin = np.array([self.places[a.register].start + a.entry for a in accesses])
            steps = np.array([a.step for a in accesses])
            table = begin + np.arange(rows)[:, None] * steps
            order += [(len(self.tables), row) for row in range(rows)]
            self.tables.append(Rows(block, table.tolist()))
        self.items.append(Scan(np.array(order)))

    def moved(self, scan: Scan, register: Register, start: int) -> Scan:
        """A scan that stores to another place what it stores to a register."""
        order = []
        copies: dict[int, int] = {}
        for number, row in scan.order.tolist():
            table = self.tables[number]
            places = [*table.places[row]]
            for k in range(len(places) - len(table.block.outputs), len(places)):
                if register.start <= places[k] < register.stop:
                    places[k] += start - register.start
            if len(scan.order) > 1:  # rows of a loop stay evenly spaced in a table of their own
                if number not in copies:
                    copies[number] = len(self.tables)
                    self.tables.append(Rows(table.block, []))
                number = copies[number]
            self.tables[number].places.append(places)
            order.append((number, len(self.tables[number].places) - 1))
        return Scan(np.array(order))


def _loops(vectors: Mapping[str, EntryVector]) -> list[Loop]:
    """Loops over the pieces of vectors; pieces of the same length are cut alike and share their
    loops.
    """
    groups: dict[int, dict[str, EntryVector]] = {}
    for name, vector in vectors.items():
        groups.setdefault(len(vector), {})[name] = vector
    loops = []
    for group in groups.values():
        cuts = sorted({cut for vector in group.values() for cut in vector.starts})
        columns = [
            [Result(name, start, *piece) for start, piece in zip(cuts, v.cut(cuts), strict=False)]
            for name, v in group.items()
        ]
        loops += [list(row) for row in zip(*columns, strict=True)]
    return loops


def _the_same_in_all_rows(
    entries: VectorEntries, expressions: Sequence[Any], written: set[str]
) -> list[Expr]:
    """Greatest parts of expressions that are the same in all rows: operations, and symbols of
    registers that are written.
    """
    roots = [x for x in expressions if isinstance(x, Expr)]
    moving: set[Expr] = set()
    edge = dict.fromkeys(roots)
    for node in topological(roots):
        if node in entries.rows:
            moving.add(node)
        elif node.op not in LEAVES and not moving.isdisjoint(node.args):
            moving.add(node)
            edge |= dict.fromkeys(node.args)
    return [
        node
        for node in edge
        if node not in moving
        and (node.op not in LEAVES or entries.one.get(node, ("",))[0] in written)
    ]


def _block_of_row(
    entries: VectorEntries, values: Sequence[Sequence[Any]], width: int
) -> tuple[Block, list[Access]]:
    """The block that computes a row, and the entry of each of its inputs."""
    inputs: list[list[Any]] = []
    reads: list[Access] = []
    read: set[Any] = set()
    symbols = free_symbols([x for row in values for x in row])
    for name, first in sorted(entries.rows[s] for s in symbols if s in entries.rows):
        if entries.row(name, first) not in read:
            inputs.append([entries.row(name, first + k) for k in range(width)])
            reads.append(Access(name, first, width))
            read.update(inputs[-1])
    for s in symbols:
        if s in entries.one:
            inputs.append([s])
            reads.append(Access(*entries.one[s], 0))
    block = block_of(
        {f"in{k}": vector for k, vector in enumerate(inputs)},
        {f"out{k}": row for k, row in enumerate(values)},
    )
    return block, reads
