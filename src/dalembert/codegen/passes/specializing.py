"""Blocks made special: for a table's rows, whose constants are settled beforehand, for sines and
cosines that are known, for processors that multiply and add at once.
"""

from __future__ import annotations

from collections import Counter

import numpy as np

from dalembert.codegen.blocks import CONDITIONS, SOURCES, TURNS, Block, Instruction, Port
from dalembert.codegen.interpreter import block_values

# signs of x y and z in x y + z
FUSED = {
    "fma": (1, 1),
    "fms": (1, -1),
    "fnma": (-1, 1),
    "fnms": (-1, -1),
}
NAMES = {signs: name for name, signs in FUSED.items()}
SUMS = {"add": 1, "sub": -1}  # sign of the second operand


def turned(block: Block, angles: str) -> tuple[Block, tuple[int, ...]]:
    """Sine and cosine of each entry of an input that some are taken of as a new input of two
    numbers, and these entries.
    """
    turns = _entries_turned(block, angles)
    entries = tuple(sorted(set(turns.values())))
    port_of = {entry: len(block.inputs) + n for n, entry in enumerate(entries)}
    code = list(block.code)
    for k, entry in turns.items():
        code[k] = Instruction("input", (port_of[entry], TURNS.index(code[k].op)))
    inputs = (*block.inputs, *(Port(turn_of(entry), (2,)) for entry in entries))
    return Block(inputs, block.outputs, tuple(code), block.results), entries


def _entries_turned(block: Block, angles: str) -> dict[int, int]:
    """Entry of the input `angles` of which each sine and cosine is taken."""
    entry_of: dict[int, int] = {}
    turns = {}
    for k, (op, args) in enumerate(block.code):
        if op == "input" and block.inputs[args[0]].name == angles:
            entry_of[k] = args[1]
        elif op in TURNS and args[0] in entry_of:
            turns[k] = entry_of[args[0]]
    return turns


def turn_of(entry: int) -> str:
    """Name of the input of `turned` for an entry."""
    return f"turn {entry}"


def settled(block: Block, rows: np.ndarray) -> tuple[Block, np.ndarray]:
    """The program with values that depend on the first input alone computed now, for each of its
    rows: they become the first input.

    Entries that are equal in all rows become constants.
    """
    fixed = _fixed(block)
    needed = _read_by_others(block, fixed)
    frontier = [k for k in sorted(needed) if fixed[k] and block.code[k].op != "constant"]
    columns = _columns(block, fixed, frontier, rows)
    same = (columns == columns[:1]).all(axis=0)
    loaded = np.flatnonzero(~same)
    replaced = {frontier[n]: Instruction("input", (0, k)) for k, n in enumerate(loaded)}
    for n in np.flatnonzero(same):
        replaced[frontier[n]] = Instruction("constant", (float(columns[0, n]),))

    code: list[Instruction] = []
    number: dict[int, int] = {}
    for k, instruction in enumerate(block.code):
        if fixed[k] and k not in needed:  # leads to the frontier, which is computed by now
            continue
        number[k] = len(code)
        code.append(_renumbered(replaced.get(k, instruction), number))
    ports = (Port(block.inputs[0].name, (len(loaded),)), *block.inputs[1:])
    return Block(ports, block.outputs, tuple(code), _results(block, number)), columns[:, loaded]


def _fixed(block: Block) -> list[bool]:
    """Whether each value depends on the first input alone; truth values count as others."""
    fixed: list[bool] = []
    for op, args in block.code:
        if op == "constant":
            fixed.append(True)
        elif op == "input":
            fixed.append(args[0] == 0)
        else:
            fixed.append(op not in CONDITIONS and all(fixed[a] for a in args))
    return fixed


def _read_by_others(block: Block, fixed: list[bool]) -> set[int]:
    """Results, and operands of values that are not fixed."""
    read = {k for places in block.results for k in places}
    for k, (op, args) in enumerate(block.code):
        if op not in SOURCES and not fixed[k]:
            read.update(args)
    return read


def _columns(block: Block, fixed: list[bool], values: list[int], rows: np.ndarray) -> np.ndarray:
    """Fixed values (rows, values) for rows of the first input."""
    order = np.flatnonzero(fixed).tolist()
    number = {k: n for n, k in enumerate(order)}
    computed = Block(
        block.inputs[:1],
        (Port("columns", (len(values),)),),
        tuple(_renumbered(block.code[k], number) for k in order),
        (tuple(number[k] for k in values),),
    )
    columns = np.empty((len(rows), len(values)))
    with np.errstate(all="ignore"):
        for n, column in enumerate(block_values(computed, [rows])[0]):
            columns[:, n] = column
    return columns


def fused(block: Block) -> Block:
    """Sums with a product that nothing else needs as one operation, which rounds once; values keep
    their places.

    The choice is made here and not by the compiler, so that it depends neither on how a block is
    cut into functions nor on the number of lanes: a state's results have the same bits alone and in
    a batch.
    """
    code = list(block.code)
    uses = Counter(k for places in block.results for k in places)
    for op, args in block.code:
        if op not in SOURCES:
            uses.update(args)
    for k, (op, _) in enumerate(block.code):
        if op in SUMS:
            _fuse(code, uses, k)
    return Block(block.inputs, block.outputs, tuple(code), block.results)


def _fuse(code: list[Instruction], uses: Counter[int], k: int) -> None:
    """Join sum k to the first of its operands that is a product of its own."""
    op, (first, second) = code[k]
    for term, other, of_term, of_other in (
        (first, second, 1, SUMS[op]),
        (second, first, SUMS[op], 1),
    ):
        sign, product = _product(code, uses, term)
        if product:
            name = NAMES[of_term * sign, of_other]
            code[k] = Instruction(name, (*code[product[-1]].args, other))
            for value in product:
                code[value] = Instruction("constant", (0.0,))  # read by nothing
            return


def _product(code: list[Instruction], uses: Counter[int], k: int) -> tuple[int, list[int]]:
    """Sign of a product that is used once, and its values: negations, then the product; none of
    other values.
    """
    op, args = code[k]
    if uses[k] == 1 and op == "mul":
        return 1, [k]
    if uses[k] == 1 and op == "neg":
        sign, values = _product(code, uses, args[0])
        return -sign, [k, *values] if values else []
    return 1, []


def pruned(block: Block, fixed: int = 1) -> Block:
    """Without operations that no result needs, nor inputs, other than the first `fixed`, that
    nothing reads.
    """
    needed = {k for places in block.results for k in places}
    for k in reversed(range(len(block.code))):
        if k in needed and block.code[k].op not in SOURCES:
            needed.update(block.code[k].args)
    order = sorted(needed)
    read = {block.code[k].args[0] for k in order if block.code[k].op == "input"}
    ports = sorted(read | {*range(fixed)})
    code: list[Instruction] = []
    number: dict[int, int] = {}
    for k in order:
        op, args = block.code[k]
        number[k] = len(code)
        if op == "input":
            code.append(Instruction(op, (ports.index(args[0]), args[1])))
        else:
            code.append(_renumbered(block.code[k], number))
    inputs = tuple(block.inputs[p] for p in ports)
    return Block(inputs, block.outputs, tuple(code), _results(block, number))


def _results(block: Block, number: dict[int, int]) -> tuple[tuple[int, ...], ...]:
    """Results of a block with values of new numbers."""
    return tuple(tuple(number[k] for k in values) for values in block.results)


def _renumbered(instruction: Instruction, number: dict[int, int]) -> Instruction:
    """An operation on values of new numbers."""
    op, args = instruction
    return instruction if op in SOURCES else Instruction(op, tuple(number[a] for a in args))
