"""Passes over a program: sines from a table, constants settled beforehand, unneeded values left
out, products fused.
"""

from __future__ import annotations

from collections import Counter

import numpy as np

from dalembert.codegen.interpreter import evaluated
from dalembert.codegen.program import CONDITIONS, Instruction, Port, Program

TURNS = ("sin", "cos")
LEAVES = ("constant", "input")
FUSED = {
    "fma": (1, 1),
    "fms": (1, -1),
    "fnma": (-1, 1),
    "fnms": (-1, -1),
}  # signs of x y and z in x y + z
NAMES = {signs: name for name, signs in FUSED.items()}
SUMS = {"add": 1, "sub": -1}  # sign of the second operand


def turned(program: Program, angles: str) -> tuple[Program, tuple[int, ...]]:
    """Sine and cosine of each entry of an input that some are taken of as a new input of two
    numbers, and these entries.
    """
    at = next((k for k, p in enumerate(program.inputs) if p.name == angles), None)
    reads = {
        k: i.args[1] for k, i in enumerate(program.code) if i.op == "input" and i.args[0] == at
    }
    entries = sorted(
        {reads[i.args[0]] for i in program.code if i.op in TURNS and i.args[0] in reads}
    )
    port = {entry: len(program.inputs) + n for n, entry in enumerate(entries)}
    code = [
        Instruction("input", (port[reads[i.args[0]]], TURNS.index(i.op)))
        if i.op in TURNS and i.args[0] in reads
        else i
        for i in program.code
    ]
    inputs = (*program.inputs, *(Port(turn_of(entry), (2,)) for entry in entries))
    return Program(inputs, program.outputs, tuple(code), program.results), tuple(entries)


def turn_of(entry: int) -> str:
    """Name of the input of `turned` for an entry."""
    return f"turn {entry}"


def settled(program: Program, rows: np.ndarray) -> tuple[Program, np.ndarray]:
    """What depends on the first input alone is computed now, for each of its rows, and becomes the
    first input.

    Entries that are equal in all rows become constants.
    """
    fixed: list[bool] = []
    for op, args in program.code:
        fixed.append(
            op == "constant"
            or (
                args[0] == 0
                if op == "input"
                else op not in CONDITIONS and all(fixed[a] for a in args)
            )
        )
    wanted = {
        a
        for k, (op, args) in enumerate(program.code)
        if op not in LEAVES and not fixed[k]
        for a in args
    }
    wanted |= {k for places in program.results for k in places}
    frontier = [k for k in sorted(wanted) if fixed[k] and program.code[k].op != "constant"]
    kept = [k for k, is_fixed in enumerate(fixed) if is_fixed]
    moved = {k: n for n, k in enumerate(kept)}
    part = Program(
        program.inputs[:1],
        (Port("found", (len(frontier),)),),
        tuple(_renumbered(program.code[k], moved) for k in kept),
        (tuple(moved[k] for k in frontier),),
    )
    (columns,) = evaluated(part, rows)
    columns = columns.reshape(len(rows), len(frontier))
    same = (columns == columns[:1]).all(axis=0)
    loads = {k: n for n, k in enumerate(k for k, s in zip(frontier, same, strict=True) if not s)}
    equal = {k: float(columns[0, n]) for n, k in enumerate(frontier) if same[n]}

    code: list[Instruction] = []
    place: dict[int, int] = {}
    for k, instruction in enumerate(program.code):
        if k in loads:
            instruction = Instruction("input", (0, loads[k]))
        elif k in equal:
            instruction = Instruction("constant", (equal[k],))
        elif fixed[k] and k not in wanted:
            continue
        place[k] = len(code)
        code.append(_renumbered(instruction, place))
    ports = (Port(program.inputs[0].name, (len(loads),)), *program.inputs[1:])
    results = tuple(tuple(place[k] for k in places) for places in program.results)
    return Program(ports, program.outputs, tuple(code), results), columns[:, ~same]


def fused(program: Program) -> Program:
    """Sums with a product that nothing else needs as one operation, which rounds once; values keep
    their places.

    The choice is made here and not by the compiler, so that it depends neither on how a program is
    cut into functions nor on the number of lanes: a state's results have the same bits alone and in
    a batch.
    """
    code = list(program.code)
    uses = Counter(k for places in program.results for k in places)
    for op, args in program.code:
        uses.update(() if op in LEAVES else args)

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

    for k, (op, args) in enumerate(program.code):
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
                    code[place] = Instruction("constant", (0.0,))  # which nothing reads
                break
    return Program(program.inputs, program.outputs, tuple(code), program.results)


def pruned(program: Program) -> Program:
    """Without operations that no result needs, nor inputs, other than the first, that nothing
    reads.
    """
    needed = {k for places in program.results for k in places}
    for k in reversed(range(len(program.code))):
        if k in needed and program.code[k].op not in LEAVES:
            needed.update(program.code[k].args)
    kept = sorted(needed)
    read = {0} | {program.code[k].args[0] for k in kept if program.code[k].op == "input"}
    port = {p: n for n, p in enumerate(sorted(read))}
    moved = {k: n for n, k in enumerate(kept)}
    code = [_renumbered(program.code[k], moved) for k in kept]
    code = [
        Instruction("input", (port[i.args[0]], i.args[1])) if i.op == "input" else i for i in code
    ]
    return Program(
        tuple(program.inputs[p] for p in sorted(read)),
        program.outputs,
        tuple(code),
        tuple(tuple(moved[k] for k in places) for places in program.results),
    )


def _renumbered(instruction: Instruction, place: dict[int, int]) -> Instruction:
    op, args = instruction
    return instruction if op in LEAVES else Instruction(op, tuple(place[a] for a in args))
