"""Blocks made special: for a table's rows, whose constants are settled beforehand, for sines and
cosines that are known, for processors that multiply and add at once.
"""

from __future__ import annotations

from collections import Counter

import numpy as np

from dalembert.codegen.blocks import CONDITIONS, SOURCES, TURNS, Block, Instruction, Port
from dalembert.codegen.interpreter import block_values

FUSED = {
    "fma": (1, 1),
    "fms": (1, -1),
    "fnma": (-1, 1),
    "fnms": (-1, -1),
}  # signs of x y and z in x y + z
NAMES = {signs: name for name, signs in FUSED.items()}
SUMS = {"add": 1, "sub": -1}  # sign of the second operand


def turned(block: Block, angles: str) -> tuple[Block, tuple[int, ...]]:
    """Sine and cosine of each entry of an input that some are taken of as a new input of two
    numbers, and these entries.
    """
    number = next((k for k, port in enumerate(block.inputs) if port.name == angles), None)
    entry_of = {
        k: args[1] for k, (op, args) in enumerate(block.code) if op == "input" and args[0] == number
    }
    turns = {
        k: entry_of[args[0]]
        for k, (op, args) in enumerate(block.code)
        if op in TURNS and args[0] in entry_of
    }
    entries = sorted(set(turns.values()))
    port_of = {entry: len(block.inputs) + n for n, entry in enumerate(entries)}
    code = list(block.code)
    for k, entry in turns.items():
        code[k] = Instruction("input", (port_of[entry], TURNS.index(code[k].op)))
    inputs = (*block.inputs, *(Port(turn_of(entry), (2,)) for entry in entries))
    return Block(inputs, block.outputs, tuple(code), block.results), tuple(entries)


def turn_of(entry: int) -> str:
    """Name of the input of `turned` for an entry."""
    return f"turn {entry}"


def settled(block: Block, rows: np.ndarray) -> tuple[Block, np.ndarray]:
    """The program with values that depend on the first input alone computed now, for each of its
    rows: they become the first input.

    Entries that are equal in all rows become constants.
    """
    fixed = _fixed(block)
    wanted = _read_by_others(block, fixed)
    frontier = [k for k in sorted(wanted) if fixed[k] and block.code[k].op != "constant"]
    columns = _columns(block, fixed, frontier, rows)
    same = (columns == columns[:1]).all(axis=0)
    loads = {k: n for n, k in enumerate(k for k, s in zip(frontier, same, strict=True) if not s)}
    equal = {k: float(columns[0, n]) for n, k in enumerate(frontier) if same[n]}

    code: list[Instruction] = []
    place: dict[int, int] = {}
    for k, instruction in enumerate(block.code):
        if k in loads:
            instruction = Instruction("input", (0, loads[k]))
        elif k in equal:
            instruction = Instruction("constant", (equal[k],))
        elif fixed[k] and k not in wanted:
            continue
        place[k] = len(code)
        code.append(_renumbered(instruction, place))
    ports = (Port(block.inputs[0].name, (len(loads),)), *block.inputs[1:])
    results = tuple(tuple(place[k] for k in places) for places in block.results)
    return Block(ports, block.outputs, tuple(code), results), columns[:, ~same]


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
    those = [k for k, is_fixed in enumerate(fixed) if is_fixed]
    moved = {k: n for n, k in enumerate(those)}
    part = Block(
        block.inputs[:1],
        (Port("columns", (len(values),)),),
        tuple(_renumbered(block.code[k], moved) for k in those),
        (tuple(moved[k] for k in values),),
    )
    columns = np.empty((len(rows), len(values)))
    with np.errstate(all="ignore"):
        for n, column in enumerate(block_values(part, [rows])[0]):
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
        uses.update(() if op in SOURCES else args)

    def product(k: int) -> tuple[int, list[int]]:
        """Sign of a product that is used once, maybe negated, and the places of it; 0 for other
        values.
        """
        op, args = code[k]
        if uses[k] != 1 or op not in ("mul", "neg"):
            return 0, []
        if op == "mul":
            return 1, [k]
        sign, places = product(args[0])
        return -sign, [k, *places]

    for k, (op, args) in enumerate(block.code):
        if op not in SUMS:
            continue
        first, second = args
        for term, other, of_term, of_other in (
            (first, second, 1, SUMS[op]),
            (second, first, SUMS[op], 1),
        ):
            sign, places = product(term)
            if sign:
                code[k] = Instruction(
                    NAMES[of_term * sign, of_other], (*code[places[-1]].args, other)
                )
                for place in places:
                    code[place] = Instruction("constant", (0.0,))  # read by nothing
                break
    return Block(block.inputs, block.outputs, tuple(code), block.results)


def pruned(block: Block, fixed: int = 1) -> Block:
    """Without operations that no result needs, nor inputs, other than the first `fixed`, that
    nothing reads.
    """
    needed = {k for places in block.results for k in places}
    for k in reversed(range(len(block.code))):
        if k in needed and block.code[k].op not in SOURCES:
            needed.update(block.code[k].args)
    kept = sorted(needed)
    read = {*range(fixed)} | {block.code[k].args[0] for k in kept if block.code[k].op == "input"}
    port = {p: n for n, p in enumerate(sorted(read))}
    moved = {k: n for n, k in enumerate(kept)}
    code = [_renumbered(block.code[k], moved) for k in kept]
    code = [
        Instruction("input", (port[i.args[0]], i.args[1])) if i.op == "input" else i for i in code
    ]
    return Block(
        tuple(block.inputs[p] for p in sorted(read)),
        block.outputs,
        tuple(code),
        tuple(tuple(moved[k] for k in places) for places in block.results),
    )


def _renumbered(instruction: Instruction, place: dict[int, int]) -> Instruction:
    op, args = instruction
    return instruction if op in SOURCES else Instruction(op, tuple(place[a] for a in args))
