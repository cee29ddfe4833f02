"""Long blocks whose code repeats itself, as loops over rows of tables.

A run of operations that is like the one before it, but for what it reads, becomes a row of a table.
Values that cross from one row to another lie in the memory. Code that nothing repeats is cut into
rows of tables of their own.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from dalembert.codegen.blocks import CONDITIONS, SOURCES, TURNS, Block, Instruction, Port
from dalembert.codegen.passes.cutting import slots
from dalembert.codegen.program import BlockTable, Item, Scan, Turns
from dalembert.expr.graph import COMMUTATIVE

FROM = 25_000  # operations: shorter blocks run faster as straight code, by up to a half
GRAM = 12  # operations that are looked for again
FEWEST = 8  # rows of a loop
SMALL, LARGE = 24, 4000  # operations of a row
TRIES = 6  # periods that are tried at a place
WINDOW = 64  # operations that are compared at once, to begin with
NEAR = 8  # operations: operands that lie no further back are part of the likeness
STRAIGHT = 200  # operations of a row that nothing repeats
VALUE, NUMBER = -1, -2  # operands of a row from outside: values of the memory, constants

Key = tuple[tuple[str, tuple[int, ...]], ...]


class Rolled(NamedTuple):
    """Tables and items that compute a block, and the end of the memory that they use; the last item
    copies the results to where they belong.
    """

    tables: list[BlockTable]
    items: list[Item]
    end: int


class CodeRow(NamedTuple):
    """Code of a row, with what it reads from outside.

    own : values that it computes, by their numbers in the block
    """

    key: Key
    own: list[int]
    values: list[int]
    numbers: list[float]


def rolled(block: Block, inputs: Sequence[int], outputs: Sequence[int], start: int) -> Rolled:
    """Tables and items for a block, given where its ports begin and the memory is free."""
    return _Roller(block, inputs, outputs, start).rolled()


class _Roller:
    """Finds the rows of a block, and places of values that cross from one to another."""

    def __init__(self, block: Block, inputs: Sequence[int], outputs: Sequence[int], start: int):
        self.block, self.inputs, self.outputs, self.start = block, inputs, outputs, start
        self.turns: dict[int, dict[str, int]] = {}  # sines and cosines of inputs, by the angle
        operations = []
        for k, (op, args) in enumerate(block.code):
            if op in TURNS and block.code[args[0]].op == "input":
                self.turns.setdefault(args[0], {})[op] = k
            elif op not in SOURCES:
                operations.append(k)
        self.turned = [k for found in self.turns.values() for k in found.values()]
        self.rows = [self._row(own) for own in _cut(operations, runs(self._signs(operations)))]
        self.place, self.end = self._placed()

    def _signs(self, operations: Sequence[int]) -> np.ndarray:
        """Number of each operation, the same for those with operands at the same places near by."""
        number = {k: n for n, k in enumerate(operations)}
        signs: dict[Any, int] = {}
        found = []
        for n, k in enumerate(operations):
            op, args = self.block.code[k]
            near = sorted([min(n - number.get(a, -NEAR), NEAR) for a in args])
            found.append(signs.setdefault((op, *near), len(signs) + 1))
        return np.array(found, dtype=np.int64)

    def _row(self, own: list[int]) -> CodeRow:
        """The row that computes some values; conditions from outside are computed again."""
        at: dict[int, int] = {}
        code: list[tuple[str, tuple[int, ...]]] = []
        values: list[int] = []
        numbers: list[float] = []

        def operand(k: int) -> int:
            """Place of an operand in the row, or where it is from."""
            op, args = self.block.code[k]
            if k in at:
                return at[k]
            if op == "constant":
                numbers.append(args[0])
                return NUMBER
            if op in CONDITIONS:
                put(k)
                return at[k]
            values.append(k)
            return VALUE

        def put(k: int) -> None:
            """Put the code of a value."""
            op, args = self.block.code[k]
            if op in COMMUTATIVE:
                args = tuple(
                    sorted(args, key=lambda a: (a not in at, at.get(a, 0), self._order(a)))
                )
            operands = tuple([operand(a) for a in args])
            at[k] = len(code)
            code.append((op, operands))

        for k in own:
            put(k)
        return CodeRow(tuple(code), [*at], values, numbers)

    def _order(self, k: int) -> tuple[int, ...]:
        """Order of operands from outside: as inputs lie, then as values are computed."""
        op, args = self.block.code[k]
        return (0, *args) if op == "input" else (1, k)

    def _placed(self) -> tuple[dict[int, int], int]:
        """Places of values that are read outside the row that computes them, and their end."""
        code = self.block.code
        place = {
            k: self.inputs[args[0]] + args[1] for k, (op, args) in enumerate(code) if op == "input"
        }
        results = [k for places in self.block.results for k in places]
        read = {number: row.values for number, row in enumerate(self.rows, 1)}
        read[len(self.rows) + 1] = results
        own = [[k for k in row.own if code[k].op not in CONDITIONS] for row in self.rows]
        slot, end = slots(self.block, [self.turned, *own], read, self.start)
        return place | slot, end

    def rolled(self) -> Rolled:
        """All tables and items."""
        of_key: dict[Key, list[CodeRow]] = {}
        for row in self.rows:
            of_key.setdefault(row.key, []).append(row)
        number = {key: n for n, key in enumerate(of_key)}
        done = [0] * len(number)
        order = []
        for row in self.rows:
            table = number[row.key]
            order.append((table, done[table]))
            done[table] += 1
        items: list[Item] = [Turns(np.array(self._turn_places()))] * bool(self.turns)
        tables = [self._table(key, alike) for key, alike in of_key.items()]
        last = []
        for copies in self._copies():
            last += [(len(tables), row) for row in range(len(copies.places))]
            tables.append(copies)
        scans = [Scan(np.array(rows)) for rows in (order, last)]
        return Rolled(tables, [*items, *scans], self.end)

    def _turn_places(self) -> list[list[int]]:
        """Places of angles, sines and cosines."""
        unused = self._free(1)
        return [
            [self.place[angle], *(self.place.get(found.get(op, -1), unused) for op in TURNS)]
            for angle, found in self.turns.items()
        ]

    def _free(self, size: int) -> int:
        """A stretch of the memory that is free."""
        self.end += size
        return self.end - size

    def _table(self, key: Key, rows: list[CodeRow]) -> BlockTable:
        """The table of rows with the same code."""
        stored = sorted({n for row in rows for n, k in enumerate(row.own) if k in self.place})
        unread = self._free(len(key))
        read = _columns([[self.place[k] for k in row.values] for row in rows])
        kept = [[self.place.get(row.own[n], unread + n) for n in stored] for row in rows]
        numbers = _columns([row.numbers for row in rows])
        varying = sorted({column for column in numbers if len({*column}) > 1})
        places = sorted({*read})
        inputs = [Port("numbers", (len(varying),))] * bool(varying)
        inputs += [Port(f"read{n}", (1,)) for n in range(len(places))]
        leaves = [
            Instruction("input", (len(inputs) - len(places) + places.index(c), 0)) for c in read
        ]
        constants = [
            Instruction("input", (0, varying.index(c)))
            if c in varying
            else Instruction("constant", (c[0],))
            for c in numbers
        ]
        code, at = _straight(key, leaves, constants)
        block = Block(
            tuple(inputs),
            tuple([Port(f"kept{n}", (1,)) for n in stored]),
            tuple(code),
            tuple([(at[n],) for n in stored]),
        )
        table = np.array(
            [[*column, *k] for *column, k in zip(*places, kept, strict=True)], dtype=np.int64
        )
        return BlockTable(block, table, np.array(varying).T if varying else None)

    def _copies(self) -> list[BlockTable]:
        """Tables that copy results to the outputs, once all are known."""
        early, late = [], []
        fixed: dict[float, list[int]] = {}
        for first, results in zip(self.outputs, self.block.results, strict=True):
            for entry, k in enumerate(results, first):
                op, args = self.block.code[k]
                if op == "constant":
                    fixed.setdefault(args[0], []).append(entry)
                    continue
                place = self.place[k]
                if op == "input":
                    place = self._free(1)
                    early.append((self.place[k], place))
                late.append((place, entry))
        tables = [_copied(pairs) for pairs in (early, late) if pairs]
        return [*tables, *(_set(number, places) for number, places in fixed.items())]


def _cut(operations: list[int], found: list[tuple[int, int, int]]) -> list[list[int]]:
    """Values of each row: several periods of short ones, and pieces of code that nothing repeats."""
    rows = []
    for first, period, count in found:
        own = operations[first : first + period * count]
        size = STRAIGHT if count == 1 else period * -(-SMALL // period)
        rows += [own[k : k + size] for k in range(0, len(own), size)]
    return rows


def _columns(rows: list[list[Any]]) -> list[tuple[Any, ...]]:
    """Columns of rows."""
    return [*zip(*rows, strict=True)]


def _straight(
    key: Key, leaves: list[Instruction], constants: list[Instruction]
) -> tuple[list[Instruction], list[int]]:
    """Code of a row, and where its own values are in it."""
    code: list[Instruction] = []
    known: dict[Instruction, int] = {}
    at: list[int] = []
    from_outside = {VALUE: iter(leaves), NUMBER: iter(constants)}

    def leaf(instruction: Instruction) -> int:
        """Place of a source, which is there once."""
        if instruction not in known:
            known[instruction] = len(code)
            code.append(instruction)
        return known[instruction]

    for op, operands in key:
        args = [at[n] if n >= 0 else leaf(next(from_outside[n])) for n in operands]
        at.append(len(code))
        code.append(Instruction(op, tuple(args)))
    return code, at


def _copied(pairs: list[tuple[int, int]]) -> BlockTable:
    """The table that copies numbers from place to place."""
    ports = Port("from", (1,)), Port("to", (1,))
    block = Block(ports[:1], ports[1:], (Instruction("input", (0, 0)),), ((0,),))
    return BlockTable(block, np.array(pairs))


def _set(number: float, places: list[int]) -> BlockTable:
    """The table that sets places to a number."""
    code = Instruction("constant", (number,))
    block = Block((), (Port("to", (1,)),), (code,), ((0,),))
    return BlockTable(block, np.array(places)[:, None])


def runs(signs: np.ndarray) -> list[tuple[int, int, int]]:
    """Stretches of code as (first operation, operations of a row, rows); rows of other code are 1."""
    n = len(signs)
    weights = np.random.default_rng(0).integers(1, 2**62, GRAM, dtype=np.int64)
    grams = sum(
        weights[k] * np.concatenate([signs[k:], np.zeros(k, signs.dtype)]) for k in range(GRAM)
    )
    following = np.full(n, n)
    last: dict[int, int] = {}
    for k, gram in reversed([*enumerate(grams.tolist())]):
        following[k] = last.get(gram, n)
        last[gram] = k
    found = []
    start = first = 0
    while first < n:
        period, rows = _repeated(signs, following, first)
        if rows < FEWEST:
            first += 1
            continue
        if start < first:
            found.append((start, first - start, 1))
        found.append((first, period, rows))
        start = first = first + period * rows
    if start < n:
        found.append((start, n - start, 1))
    return found


def _repeated(signs: np.ndarray, following: np.ndarray, first: int) -> tuple[int, int]:
    """Operations of a row and rows that begin at an operation, with the most operations."""
    best = 0, 0
    at = first
    for _ in range(TRIES):
        at = int(following[at])
        period = at - first
        if at >= len(signs) or period > LARGE:
            break
        rows = 1 + _alike(signs, first, at) // period
        if rows >= FEWEST and rows * period > best[0] * best[1]:
            best = period, rows
    return best


def _alike(signs: np.ndarray, first: int, second: int) -> int:
    """Operations from two places, the second later, that are the same one by one."""
    start, size, end = 0, WINDOW, len(signs) - second
    while start < end:
        stop = min(start + size, end)
        at_first = signs[first + start : first + stop]
        differ = np.flatnonzero(at_first != signs[second + start : second + stop])
        if differ.size:
            return start + int(differ[0])
        start, size = stop, 4 * size
    return end
