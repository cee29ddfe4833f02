"""Long blocks cut into functions, and scratch memory of values that cross from one to another.

Compilers take longer than linearly in the size of a function, and of its values only so many fit the
registers of a processor.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from itertools import accumulate
from typing import Any

from dalembert.codegen.blocks import SOURCES, Block


def parted(items: Iterable[Any], weight: Callable[[Any], int], most: int) -> list[list[Any]]:
    """Runs of items, as few and as equal as they can be with some weight each at most."""
    items = list(items)
    ends = list(accumulate(map(weight, items)))
    count = -(-(ends[-1] if ends else 0) // most)
    runs: list[list[Any]] = [[] for _ in range(count)]
    for item, end in zip(items, ends, strict=True):
        runs[(end - 1) * count // ends[-1]].append(item)
    return [run for run in runs if run]


def cut(
    block: Block,
    most: int,
    weight: Callable[[int], int] = lambda _: 1,
    together: Collection[str] = (),
    loaded: Collection[int] = (),
) -> list[list[int]]:
    """Runs of the operations that the results need, in an order that respects their use.

    Parameters
    ----------
    most : int
        Weight of a run at most.
    weight : callable
        Size of a value's code.
    together : collection of str
        Operations in runs by themselves, as early as they can be, and however many they are.
    loaded : collection of int
        Sources that are in runs too where an operation of `together` has them as operands.
    """
    code = block.code
    needed = _needed(block, {k for places in block.results for k in places})
    placed = [k not in needed and k not in loaded for k in range(len(code))]
    runs: list[list[int]] = []

    def place(values: Iterable[int]) -> None:
        """Put values that have no run yet into runs."""
        fresh = [k for k in values if not placed[k]]
        for k in fresh:
            placed[k] = True
        runs.extend(parted(fresh, weight, most))

    for operands in _levels(block, needed, together):
        sources = [k for k in operands if code[k].op in SOURCES and k in loaded]
        place(sorted({*_needed(block, operands, placed), *sources}))
        level = [k for ks in operands.values() for k in ks]
        runs.append(level)
        for k in level:
            placed[k] = True
    place(k for k in range(len(code)) if code[k].op not in SOURCES)
    return runs


def _needed(block: Block, roots: Iterable[int], placed: list[bool] | None = None) -> set[int]:
    """Operations that some values need, themselves included, of those that are not placed yet."""
    found: set[int] = set()
    stack = list(roots)
    while stack:
        k = stack.pop()
        op, args = block.code[k]
        if k in found or op in SOURCES or (placed and placed[k]):
            continue
        found.add(k)
        stack += args
    return found


def _levels(
    block: Block, needed: Collection[int], together: Collection[str]
) -> list[dict[int, list[int]]]:
    """Operations of `together` by their operand, and all by how many of them lead to each."""
    levels: list[dict[int, list[int]]] = []
    depth = [0] * len(block.code)
    for k, (op, args) in enumerate(block.code):
        if op in SOURCES or k not in needed:
            continue
        depth[k] = max((depth[a] for a in args), default=0)
        if op in together:
            if depth[k] == len(levels):
                levels.append({})
            levels[depth[k]].setdefault(args[0], []).append(k)
            depth[k] += 1
    return levels


def slots(
    block: Block,
    runs: list[list[int]],
    read: Mapping[int, Iterable[int]],
    start: int = 0,
) -> tuple[dict[int, int], int]:
    """Scratch places of values that later runs need, and the first place that is not used.

    A place is used again after its last reader.

    Parameters
    ----------
    read : mapping of int to iterable of int
        Values that a run reads besides the operands of its own; those of the number behind the
        last run are in their places at the end.
    start : int
        First place that is free.
    """
    run_of = {k: number for number, run in enumerate(runs) for k in run}
    last: dict[int, int] = {}

    def reads(values: Iterable[int], number: int) -> None:
        """Note the last run that reads values."""
        for k in values:
            if run_of.get(k, number) != number:
                last[k] = max(last.get(k, 0), number)

    for k, number in run_of.items():
        if block.code[k].op not in SOURCES:
            reads(block.code[k].args, number)
    for number, values in read.items():
        reads(values, number)
    slot: dict[int, int] = {}
    free: list[int] = []
    released: dict[int, list[int]] = {}
    for number, run in enumerate(runs):
        free += released.pop(number, [])
        for k in run:
            if k in last:
                if not free:
                    free = [start]
                    start += 1
                slot[k] = free.pop()
                released.setdefault(last[k] + 1, []).append(slot[k])
    return slot, start
